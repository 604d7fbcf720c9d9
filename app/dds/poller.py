"""The thread of the service that polls connections once a minute, if their declaration asks for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from app.database.engine import Database
from app.settings import Settings
from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler

EVERY_S = 60

logger = logging.getLogger("cfplan.dds")


class Poller:
    """A thread of the service. The database records how far each connection was polled."""

    def __init__(self, database: Database, settings: Settings, *, on_queued: Callable[[], None]) -> None:
        """Store the arguments; `start` starts the thread.

        Args:
            database: The database of the intervals.
            settings: Settings of the service.
            on_queued: Called when an upload has been made.
        """
        self._database = database
        self._settings = settings
        self._on_queued = on_queued
        self._scheduler: BackgroundScheduler | None = None
        self._is_stopping = threading.Event()
        self._refused: dict[str, object] = {}
        """The declaration and the credentials of each connection whose user was refused."""

    def start(self) -> None:
        """Start the thread, unless no connections are declared."""
        if not self._settings.connections_file:
            return
        # Imported only if connections are declared, and only by the process of the service that starts jobs.
        from apscheduler.schedulers.background import BackgroundScheduler
        from apscheduler.triggers.interval import IntervalTrigger

        self._is_stopping.clear()
        scheduler = BackgroundScheduler(
            # A poll that takes longer than a minute, or a machine that was asleep, is followed by a single one.
            timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )  # fmt: skip
        every = IntervalTrigger(seconds=EVERY_S, timezone=UTC)
        scheduler.add_job(self.look, every, id="dds", next_run_time=datetime.now(UTC))
        scheduler.start()
        self._scheduler = scheduler

    def stop(self) -> None:
        """Stop the thread, after the request under way."""
        self._is_stopping.set()
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=True)
            self._scheduler = None

    def look(self) -> None:
        """Poll all connections that ask for it; a failure is stored and logged, and the next one is polled."""
        # Imported only if connections are declared, because the HTTP client takes a while to load.
        from app.connections.credentials import credentials_of
        from app.dds import service

        try:
            names = service.polled(self._settings)
        except PlannerError as error:
            logger.error("No connection is polled: %s", error)
            return
        for name in names:
            if self._is_stopping.is_set():
                return
            try:
                connection = service.dds_connection(self._settings, name)
                used = (connection, credentials_of(name, connection))
                if self._refused.get(name) == used:
                    continue
                found = service.poll(
                    self._database, self._settings, name, is_stopping=self._is_stopping.is_set
                )
            except (PlannerError, DBAPIError, OSError) as error:
                logger.error("Connection %s was not polled: %s", name, error)
                if service.is_unauthorized(error):
                    self._refused[name] = used
                    logger.error("%s", service.NOT_AGAIN)
            except Exception:
                # Without this thread, nothing is polled until the service is restarted.
                logger.exception("Connection %s was not polled, because of a defect in cfplan.", name)
            else:
                if found.uploads:
                    self._on_queued()
