"""How long the service waits for its database, so that a database that does not answer cannot use up its threads."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

CONNECTIONS: Final = 10
MORE_CONNECTIONS: Final = 30
"""Number of reading connections that stay open, and number of additional ones if all are busy; the sum is the number of
threads of the service.
"""
WRITERS_AT_ONCE: Final = 10
"""Requests that may write at the same time. Writers that wait for a lock must leave most threads to readers."""
PROBE_EVERY_S: Final = 1.0
"""While the database does not answer, one request in this time tries it; the others are refused at once."""
SHORTEST_WAIT_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Waits:
    """The longest waits of one connection. None means that only the network limits the wait."""

    lock_s: float
    """For a lock of another transaction; on SQLite, for the only writer."""
    pool_s: float
    """For a connection of the pool."""
    connect_s: int
    """For a new connection to a server; PostgreSQL accepts whole seconds, at least 2."""
    statement_s: float | None = None
    """For the end of a statement, which a server then cancels."""
    answer_s: float | None = None
    """For any answer of a server. Longer than the statement: a server that is alive reports the end of its statement."""


PATIENT: Final = Waits(lock_s=15, pool_s=30, connect_s=10)
"""For commands, migrations and jobs. Their statements may take minutes, and no one else waits for their threads."""
OF_BACKGROUND: Final = Waits(lock_s=15, pool_s=30, connect_s=10, answer_s=60)
"""For the threads of the service that look for jobs. The service waits for them when it stops, so they must end even if the
database never answers.
"""
OF_REQUESTS: Final = Waits(lock_s=3, pool_s=3, connect_s=3, statement_s=3.2, answer_s=3.5)
"""For requests, which are answered within five seconds. Pages may already have waited a second for their turn."""

waited_for_turn: ContextVar[float] = ContextVar("cfplan_waited_for_turn", default=0.0)
"""Seconds for which the current request has waited before it could write; they count as waiting for the lock."""


def lock_wait_s(waits: Waits) -> float:
    """Return the seconds for which the current transaction may wait for a lock."""
    return max(waits.lock_s - waited_for_turn.get(), SHORTEST_WAIT_S)


class Outage:
    """Whether the database has stopped answering. While it has, only probes use it, so that no threads wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began_at: float | None = None
        self._probe_at = 0.0

    def begin(self) -> None:
        """Record that a wait for the database has ended without an answer."""
        with self._lock:
            self._began_at = time.monotonic()
            self._probe_at = self._began_at + PROBE_EVERY_S

    def end(self) -> None:
        """Record that the database has answered."""
        if self._began_at is not None:
            with self._lock:
                self._began_at = None

    def is_refused(self) -> bool:
        """Return whether a request must not use the database now; one in every PROBE_EVERY_S may try."""
        if self._began_at is None:
            return False
        if waited_for_turn.get() > PROBE_EVERY_S:  # a probe would make it wait for too long altogether
            return True
        with self._lock:
            now = time.monotonic()
            if self._began_at is None or now >= self._probe_at:
                self._probe_at = now + PROBE_EVERY_S
                return False
            return True

    def is_new(self) -> bool:
        """Return whether the database has stopped answering just now, so that nothing else should be tried with it."""
        began_at = self._began_at
        return began_at is not None and time.monotonic() - began_at < PROBE_EVERY_S


def server_options(waits: Waits, *, reads_only: bool = False) -> str:
    """Return the options of a connection to a PostgreSQL server."""
    options = {"timezone": "UTC"}
    if reads_only:
        options["default_transaction_read_only"] = "on"
    if waits.statement_s is not None:
        options["statement_timeout"] = f"{waits.statement_s * 1000:.0f}"
        options["lock_timeout"] = f"{waits.lock_s * 1000:.0f}"
        # A frozen service must not hold its locks for ever. No request pauses this long between two statements.
        options["idle_in_transaction_session_timeout"] = "60000"
    return " ".join(f"-c {name}={value}" for name, value in options.items())


def network_options(waits: Waits) -> dict[str, Any]:
    """Return the connection parameters with which the loss of a server or of the network is noticed."""
    return {
        "connect_timeout": waits.connect_s,
        "keepalives": 1,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 30_000,
    }
