"""The keepers that have stopped sending heartbeats, as an observer with a clock of its own sees it.

Heartbeats are times of the machine of the keeper. Its clock may differ from that of the observer, and either may be set at
any time. So an observer never compares a heartbeat with its own time: a keeper is dead if its heartbeat has not changed
while the observer looked at it for long enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.database.engine import Database
from app.jobs import repository
from app.jobs.repository import Heartbeat

LONGEST_GAP_S = 5.0
"""The longest time between two looks that counts. If the observer, its machine or the database stood still for longer,
the keepers may not have been able to send heartbeats either.
"""
LOOKS_EVERY_S = 0.5


@dataclass(slots=True)
class _Observation:
    heartbeat: Heartbeat
    looked_at: float
    unchanged_s: float = 0.0


class HeartbeatObserver:
    """Looks at the heartbeats of all keepers again and again."""

    def __init__(self, stale_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Store the arguments.

        Args:
            stale_s: Seconds after which a keeper with an unchanged heartbeat is dead.
            clock: Returns seconds and is never set.
        """
        self._stale_s = stale_s
        self._clock = clock
        self._observed: dict[int, _Observation] = {}

    def silent(self, session: Session) -> Sequence[Heartbeat]:
        """Look once; return the last heartbeats of the keepers that are dead. `repository.release` releases their runs."""
        now = self._clock()
        observed: dict[int, _Observation] = {}
        for heartbeat in repository.heartbeats(session):
            found = self._observed.get(heartbeat.job_id)
            if found is None or found.heartbeat != heartbeat:
                found = _Observation(heartbeat, now)
            found.unchanged_s += min(now - found.looked_at, LONGEST_GAP_S)
            found.looked_at = now
            observed[heartbeat.job_id] = found
        self._observed = observed
        return [each.heartbeat for each in observed.values() if each.unchanged_s >= self._stale_s]


def release_if_dead(
    database: Database, stale_s: float, *, kinds: Sequence[str], sleep: Callable[[float], None] = time.sleep
) -> bool:
    """Observe the runs of these kinds that have a keeper, and release them if all their keepers are dead.

    This takes as long as a keeper may be silent; a living keeper ends it within seconds.

    Returns:
        Whether none of the runs has a keeper any longer.
    """
    observer = HeartbeatObserver(stale_s)
    with database.session(writes=False) as session:
        first = set(repository.heartbeats(session, kinds=kinds))
    while True:
        with database.session(writes=False) as session:
            seen = set(repository.heartbeats(session, kinds=kinds))
            silent = set(observer.silent(session))
        if seen - first:
            return False
        if seen <= silent:
            with database.session(writes=True) as session:
                for each in seen:
                    repository.release(session, each)
            return True
        sleep(LOOKS_EVERY_S)
