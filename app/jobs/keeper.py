"""The keeper of one run of a job: it claims the run, does the work, writes progress to its row, and ends it.

Subclasses do the work. Each of their steps can be interrupted at any moment and repeated.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import socket
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session

from app.database.damage import damage_in_words, is_damaged
from app.database.engine import Database, DatabaseFull, DatabaseUnusable
from app.jobs import processes, service
from app.jobs.child import Child
from app.jobs.log import Log
from app.jobs.models import JobState
from app.jobs.service import Job
from app.jobs.starter import Starter
from app.settings import Settings
from planner_core.errors import PlannerError

BEAT_S = 1.0
"""The interval at which the row is updated while the process is alive."""
LONGEST_LAST_WORDS = 500
RESTORE = "The operator may have to restore a backup."

logger = logging.getLogger("cfplan.jobs")


class LostRun(Exception):
    """Another process has claimed the run, because this one was assumed to be dead."""


class StopRequested(Exception):
    """This process was asked to stop."""


class StepFailed(PlannerError):
    """A step failed; the message is stored in the row."""


def owner_name() -> str:
    """Return the host name, the process ID, and a random part that makes the name unique."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(8)}"


class Keeper(ABC):
    """One run of a job, from its claim to its end."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        job_id: int,
        *,
        at_once: int | None = None,
        on_progress: Callable[[str, int, int, str], None] | None = None,
        on_line: Callable[[str], None] | None = None,
        starter: Starter | None = None,
    ) -> None:
        """Prepare the keeper without claiming the run.

        Args:
            database: The database with the row of the run.
            settings: Settings of the service.
            job_id: Number of the run.
            at_once: Maximum number of runs in progress at one time; None means the limit in the settings.
            on_progress: Called with the stage, the amount done, the total, and a sentence.
            on_line: Called with every line of the log.
            starter: Starts the processes that it can start.
        """
        self._database = database
        self._settings = settings
        self._id = job_id
        self._at_once = settings.jobs_at_once if at_once is None else at_once
        self._on_progress = on_progress
        self._on_line = on_line
        self._starter = starter
        self._owner = owner_name()
        self._log = Log()
        self._lock = threading.Lock()
        self._stage, self._done, self._total = "", 0, 0
        self._sentence: str | None = None
        self._beaten_at = 0.0
        # Not a threading.Event: the signal handler would wait for ever if it interrupted a method of the event that holds its lock.
        self._is_stopped = False
        self._last_words = ""

    @property
    def is_stopped(self) -> bool:
        """Whether this process was asked to stop."""
        return self._is_stopped

    def run(self) -> bool:
        """Carry out the run; return False if another process has it."""
        with self._database.session(writes=True) as session:
            claimed = self.claim(session)
        return claimed is not None and self.work(claimed)

    def claim(self, session: Session) -> Job | None:
        """Claim the run in a transaction that the caller commits."""
        claimed = service.claim(
            session, self._id, owner=self._owner, at_once=self._at_once,
        )  # fmt: skip
        if claimed is not None:
            self._beaten_at = time.monotonic()  # the claim is a heartbeat
            self._log = Log(service.log_of(session, self._id))
        return claimed

    def work(self, claimed: Job) -> bool:
        """Carry out a claimed run; return False if another process took it over in the meantime."""
        logger.info("Job %d (%s) begins, attempt %d.", self._id, claimed.kind, claimed.attempts)
        self._say(f"attempt {claimed.attempts}, process {os.getpid()} on {socket.gethostname()}")
        try:
            self._work_to_its_end(claimed)
        except LostRun:
            return False
        return True

    def _work_to_its_end(self, claimed: Job) -> None:
        try:
            with self._told_to_stop():
                self._work(claimed)
        except StopRequested:
            self._say("stopping on request: the run continues when the service is started again")
            with self._database.session(writes=True) as session:
                service.give_back(session, self._id, self._owner)
        # Caused by the machine or the database: the next attempt may succeed.
        except (LostRun, OSError, SQLAlchemyError, DatabaseFull, DatabaseUnusable) as error:
            if not (isinstance(error, DBAPIError) and is_damaged(error)):
                raise
            # The next attempt would meet the same data.
            self._say(str(error.orig))
            self._end(JobState.FAILED, sentence=f"{damage_in_words(error)}. {RESTORE}")
        except PlannerError as error:
            self._end(JobState.FAILED, sentence=str(error))
        except Exception as error:  # noqa: BLE001 - an error in cfplan would only occur again
            # The log of the job has the traceback.
            logger.error("Job %d failed because of a defect: %s: %s", self._id, type(error).__name__, error)
            for line in traceback.format_exc().splitlines():
                self._say(line)
            sentence = (
                f"This is an error in cfplan. Please report it with the log: {type(error).__name__}: {error}"
            )
            self._end(JobState.FAILED, sentence=sentence)

    @abstractmethod
    def _work(self, claimed: Job) -> None:
        """Do the work of the run, and end the run."""

    # ---- the row -----------------------------------------------------------------------------------------------------

    def _at(self, stage: str, *, done: int = 0, total: int = 0, sentence: str | None = None) -> None:
        """Set the progress; the next heartbeat writes it."""
        self._stage, self._done, self._total, self._sentence = stage[:20], done, total, sentence
        if self._on_progress is not None:
            self._on_progress(self._stage, done, total, sentence or "")

    def _beat(self) -> None:
        if self._is_stopped:
            raise StopRequested
        # Readers report progress ten times per second, which would keep a SQLite database locked.
        if time.monotonic() - self._beaten_at < BEAT_S:
            return
        try:
            with self._database.session(writes=True) as session:
                is_own = service.beat(
                    session, self._id, self._owner, stage=self._stage, done=self._done, total=self._total,
                    sentence=self._sentence, log=self._log_text(),
                )  # fmt: skip
        # The database is busy, full or briefly unavailable: the next heartbeat may succeed.
        except (OperationalError, DatabaseFull, DatabaseUnusable) as error:
            self._say(f"the row could not be written: {getattr(error, 'orig', error)}")
        else:
            if not is_own:
                raise LostRun
        self._beaten_at = time.monotonic()

    def _end(self, state: JobState, **values: Any) -> None:  # noqa: ANN401 - the arguments of service.end
        self._say(f"{state}: {values.get('sentence', '')}")
        with self._database.session(writes=True) as session:
            if not service.end(session, self._id, self._owner, state, log=self._log_text(), **values):
                raise LostRun
        self._note_end(state)

    def _note_end(self, state: JobState) -> None:
        """Log the end of the run, after it is stored."""
        logger.info("Job %d ends: %s.", self._id, state)

    def _say(self, line: str) -> None:
        with self._lock:
            self._log.add(line)
        if self._on_line is not None:
            self._on_line(line)

    def _log_text(self) -> str:
        with self._lock:
            return self._log.text()

    def _child(self, command: list[str], *, kept_open: tuple[int, ...] = ()) -> Child:
        self._say(f"started: {command[len(processes.PYTHON)]}")
        processes.work_dir(self._settings).mkdir(parents=True, exist_ok=True)
        self._last_words = ""
        return Child(
            command, on_stderr=self._hear, kept_open=kept_open, starter=self._starter,
            environment=processes.environment(self._settings),
        )  # fmt: skip

    def _hear(self, line: str) -> None:
        self._last_words = line.strip()[:LONGEST_LAST_WORDS]
        self._say(line)

    @contextlib.contextmanager
    def _told_to_stop(self) -> Iterator[None]:
        """Handle SIGTERM, which processes receive before the machine stops. Only the main thread can handle signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(_number: int, _frame: FrameType | None) -> None:
            self._is_stopped = True

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def amount_of(value: object) -> int:
    """Return a number in an event, or 0 if it does not fit the column."""
    return int(value) if isinstance(value, (int, float)) and 0 <= value < 2**62 else 0


def how_it_ended(what: str, code: int, last_words: str) -> str:
    """Return a sentence about a process that failed: its exit code and last message, or the signal that ended it."""
    if code < 0:
        return (
            f"{what} was terminated by signal {-code}. Signal 9 often means that the machine "
            "ran out of memory. No partial results were stored; try again."
        )
    said = f" Last message: {last_words}" if last_words else ""
    return f"{what} failed with exit code {code}; no partial results were stored. The log has details.{said}"
