"""Times of the last use of sessions and tokens, written in the background.

A request does not wait for a writer, and reading pages must work while the database accepts no writes.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from sqlalchemy.exc import SQLAlchemyError

from app.accounts import sessions, tokens
from app.actor import Actor
from app.database.engine import Database
from planner_core.errors import PlannerError

logger = logging.getLogger("cfplan.accounts")


class LastUses:
    """Writes times of last use, one after another, in a thread of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="last-use")
        self._waiting: set[tuple[int | None, int | None]] = set()

    def note(self, actor: Actor, before: datetime | None, now: datetime) -> None:
        """Write the time if the stored one is older than a minute, and none is waiting to be written."""
        key = (actor.session_id, actor.token_id)
        if (before is not None and now < before + sessions.LAST_USE_EVERY) or key in self._waiting:
            return
        # Before the thread gets it: otherwise, the thread could be done first, and the key would stay here.
        self._waiting.add(key)
        try:
            self._thread.submit(self._write, key, now)
        except RuntimeError:  # the service is stopping
            self._waiting.discard(key)

    def wait(self) -> None:
        """Wait until everything is written."""
        self._thread.submit(lambda: None).result()

    def close(self) -> None:
        """Stop the thread; times that are still waiting are lost."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _write(self, key: tuple[int | None, int | None], now: datetime) -> None:
        session_id, token_id = key
        try:
            with self._database.session(writes=True) as session:
                if session_id is not None:
                    sessions.note_use(session, session_id, now)
                if token_id is not None:
                    tokens.note_use(session, token_id, now)
        except (SQLAlchemyError, PlannerError) as error:  # the database is busy, full or does not answer
            logger.warning("The time of the last use could not be written: %s", error)
        finally:
            self._waiting.discard(key)
