"""The thread of the service that finds events and sends messages. No request ever does."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import Final

from sqlalchemy.exc import DBAPIError, IntegrityError

from app.actor import SERVICE, acting_as
from app.clock import utc_now
from app.database.engine import Database
from app.notices import channels, outbox, repository
from app.notices.finding import find_events
from app.settings import Settings
from planner_core.errors import PlannerError

LOOKS_EVERY_S: Final = 20.0
STOP_S: Final = 3.0
"""Seconds for which the end of the service waits for an attempt; mail servers may take longer than a service manager."""

logger = logging.getLogger("cfplan.notices")


class _Sending(threading.Thread):
    """A thread that sends what is due on one channel, so that a slow mail server does not delay a webhook."""

    def __init__(self, send: Callable[[], int]) -> None:
        """Store the work. The thread is a daemon: a slow server must not delay the end of the service."""
        super().__init__(name="cfplan-notices-channel", daemon=True)
        self.sent = 0
        self.error: BaseException | None = None
        self._send = send
        self._actor = copy_context()

    def run(self) -> None:
        """Send, and keep the number of messages or the error."""
        try:
            self.sent = self._actor.run(self._send)
        except (PlannerError, DBAPIError, OSError) as error:  # the next look may succeed
            self.error = error
            logger.error("Notices cannot be sent now: %s", error)
        except BaseException as error:  # raised again by a look that waits
            self.error = error
            logger.exception("Notices cannot be sent now, because of a defect in cfplan.")


class Dispatcher:
    """Looks for events when a job has ended, and sends what is due. Without a channel in the settings, it does nothing."""

    def __init__(
        self, database: Database, settings: Settings, *, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._looked_at_end: datetime | None = None
        self._has_looked = False
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None
        self._sendings: dict[str, _Sending] = {}

    def start(self) -> None:
        """Start the thread, if there is a channel."""
        self._is_over.clear()
        if channels.configured(self._settings):
            self._thread = threading.Thread(target=self._run, name="cfplan-notices", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread. An attempt that a slow server delays is abandoned, and made again later."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join(STOP_S)
            self._thread = None
        self._wait(STOP_S)

    def look(self) -> int:
        """Store notices about new events, send all messages that are due, and return the number that were sent."""
        self._begin()
        self._wait()
        sendings, self._sendings = self._sendings, {}
        for each in sendings.values():
            if each.error is not None:
                raise each.error
        return sum(each.sent for each in sendings.values())

    def _wait(self, seconds: float | None = None) -> None:
        """Wait until all channels have sent, at most for some seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        # A copy: if the thread that looks did not end in time, it may add a channel meanwhile.
        for each in tuple(self._sendings.values()):
            each.join(None if end is None else max(0.0, end - time.monotonic()))

    def _begin(self) -> None:
        """Store notices about new events, and begin to send what is due on each channel that is not sending already."""
        # Events are found and sent by the service, also if a command starts the look.
        with acting_as(SERVICE):
            self._find_and_compose()
            with self._database.session(writes=False) as session:
                due = outbox.due_by_channel(session, self._clock())
            for channel, delivery_ids in due.items():
                earlier = self._sendings.get(channel)
                if earlier is None or not earlier.is_alive():
                    self._sendings[channel] = _Sending(partial(self._send, delivery_ids))
                    self._sendings[channel].start()

    def _send(self, delivery_ids: Sequence[int]) -> int:
        return outbox.send_due(
            self._database, self._settings, delivery_ids, clock=self._clock, is_stopping=self._is_over.is_set
        )

    def _find_and_compose(self) -> None:
        self._find()
        with self._database.session(writes=False) as session:
            has_due = bool(repository.due(session, self._clock(), limit=1))
        if has_due:
            with self._database.session(writes=True) as session:
                outbox.compose(session, self._settings, self._clock())

    def _find(self) -> None:
        with self._database.session(writes=False) as session:
            ended = repository.last_end(session)
        # Structures and forecasts change only by jobs, and reading all of them takes a while.
        if self._has_looked and ended == self._looked_at_end:
            return
        try:
            with self._database.session(writes=True) as session:
                found = find_events(session, self._settings, self._clock())
        except IntegrityError:  # Another service stored the same events first.
            return
        self._looked_at_end, self._has_looked = ended, True
        if found:
            logger.info("New notices: %d.", found)

    def _run(self) -> None:
        while not self._is_over.is_set():
            try:
                self._begin()
            except (PlannerError, DBAPIError, OSError) as error:  # the next look may succeed
                logger.error("Notices cannot be sent now: %s", error)
            except Exception:
                # Without this thread, no notice would be sent until the service is restarted.
                logger.exception("Notices cannot be sent now, because of a defect in cfplan.")
            self._is_over.wait(LOOKS_EVERY_S)
