"""Keeps one run: starts the reader, writes its progress to the row, stores the roll-ups, ends the run.

The steps, each of which may be cut off at any instant and done again:

1. The run is claimed: it is this process's until its heartbeat is stale.
2. `spark_jobs.ingest` reads the file into the usage history, where a file is whole or not at all and is never in it twice.
3. Its report is kept in the row: from now on the file need not be read again.
4. `spark_jobs.rollup` sums up the days that were touched, into a file beside the database.
5. One transaction stores the roll-ups and ends the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

from sqlalchemy.exc import OperationalError

from app.db import Database
from app.jobs import processes, service
from app.jobs.child import Child
from app.jobs.log import Log
from app.jobs.models import JobState
from app.settings import Settings
from app.uploads import files, qsg_map
from app.uploads import service as uploads
from app.usage.rollups import store_rollups
from planner_core.errors import PlannerError

BEAT_S = 1.0
"""The row is written at most this often, and at least this often while the process lives."""
READ, NOTHING, NOT_READABLE, ASKS = 0, 1, 3, 4
"""Exit codes of the reader: docs/contributing/ingest-protocol.md."""
EXIT_CODES = {
    "stored": READ, "already_stored": READ, "nothing": NOTHING, "not_readable": NOT_READABLE, "needs_answers": ASKS,
}  # fmt: skip
SUMMING = "summing"
LONGEST_LAST_WORDS = 500
ROLLUPS_CUT_SHORT = "The roll-ups ended in the middle of their output."


class Lost(Exception):
    """The run is another's: this process was taken for dead."""


class Stopped(Exception):
    """This process was told to stop."""


class Failed(PlannerError):
    """A step did not end well; the sentence is for the row."""


def owner_name() -> str:
    """Where and what this process is, and something that nobody else ever was."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(8)}"


class Supervisor:
    """One run of a job, from its claim to its end."""

    def __init__(self, database: Database, settings: Settings, job_id: int) -> None:
        self._database = database
        self._settings = settings
        self._id = job_id
        self._owner = owner_name()
        self._log = Log()
        self._lock = threading.Lock()
        self._stage, self._done, self._total = "", 0, 0
        self._beaten_at = 0.0
        self._is_stopped = threading.Event()
        self._last_words = ""

    def run(self) -> bool:
        """Work on the run to its end; say whether it was this process's to work on."""
        with self._database.session(writes=True) as session:
            claimed = service.claim(
                session, self._id, owner=self._owner, stale=timedelta(seconds=self._settings.job_stale_s),
                at_once=self._settings.jobs_at_once,
            )  # fmt: skip
            if claimed is None:
                return False
            self._log = Log(service.log_of(session, self._id))
            report: Mapping[str, Any] | None = service.report_of(session, self._id)
        self._say(f"attempt {claimed.attempts}, process {os.getpid()} on {socket.gethostname()}")
        try:
            with self._told_to_stop():
                if report is None:
                    report = self._ingest(claimed.upload_id)
                if report is not None:
                    self._sum_up(report)
        except Lost:
            return False
        except Stopped:
            self._say("told to stop: the run waits until the service is started again")
            with self._database.session(writes=True) as session:
                service.give_back(session, self._id, self._owner)
        except PlannerError as error:
            self._end(JobState.FAILED, sentence=str(error))
        return True

    # ---- the steps ---------------------------------------------------------------------------------------------------

    def _ingest(self, upload_id: int | None) -> Mapping[str, Any] | None:
        """Read the file; the report where the run goes on, None where it has come to rest."""
        command = self._command(upload_id)
        asks: Mapping[str, Any] | None = None
        report: Mapping[str, Any] | None = None
        with self._child(command) as child:
            for event in child.events(every_s=BEAT_S):
                kind = None if event is None else event.get("event")
                if event is not None and kind == "progress":
                    self._stage = str(event.get("stage", ""))[:20]
                    self._done, self._total = (_number(event.get(key)) for key in ("done", "total"))
                elif kind == "asks":
                    asks = event
                elif kind == "report":
                    report = event
                self._beat()
            code = self._meant(child.wait(), report)
        if code == ASKS and asks is not None:
            self._end(JobState.ASKS, sentence=_sentence(report), asks=asks, report=report)
            return None
        if code == NOT_READABLE:
            self._end(
                JobState.FAILED, sentence=_sentence(report) or "The file cannot be read.", report=report
            )
            return None
        if code not in (READ, NOTHING) or report is None:
            raise Failed(_how_it_ended("Reading", code, self._last_words))
        with self._database.session(writes=True) as session:
            if not service.keep_report(session, self._id, self._owner, report):
                raise Lost
        return report

    def _meant(self, code: int, report: Mapping[str, Any] | None) -> int:
        """The exit code; that of its report where the reader was ended after its last line, as libraries may at exit."""
        if code >= 0 or report is None:
            return code
        self._say(f"ended by signal {-code} after its report")
        return exit_code_of(report)

    def _command(self, upload_id: int | None) -> list[str]:
        if upload_id is None:
            message = "The run belongs to no upload."
            raise Failed(message)
        with self._database.session(writes=False) as session:
            upload = uploads.get(session, upload_id)
            known = qsg_map.as_arguments(session)
        path = files.path_of(self._settings.data_dir.absolute(), upload.sha256)
        if not path.exists():
            message = "The file of this upload is not in the data folder of the machine that reads it."
            raise Failed(message)
        return processes.ingest_command(
            self._settings, [path], names=[upload.filename], qsg=known,
            kind=upload.kind or upload.detected_kind, observed_at=upload.observed_at, zone=upload.zone,
        )  # fmt: skip

    def _sum_up(self, report: Mapping[str, Any]) -> None:
        """Sum up the days that were touched, and end the run with them in one transaction."""
        days = days_of(report)
        if not days:
            self._end(JobState.DONE, sentence=_sentence(report), report=report)
            return
        self._stage, self._done, self._total = SUMMING, 0, 0
        path = processes.work_dir(self._settings) / f"{self._id}-{secrets.token_hex(4)}.rollup.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._write_rollups(days, path)
            self._store(path, report)
        finally:
            path.unlink(missing_ok=True)

    def _write_rollups(self, days: Sequence[str], path: Path) -> None:
        """To a file first: the database is not held while Spark or Arrow compute."""
        is_whole = False
        with (
            path.open("w", encoding="utf-8") as file,
            self._child(processes.rollup_command(self._settings, days)) as child,
        ):
            for event in child.events(every_s=BEAT_S):
                if event is not None:
                    file.write(json.dumps(event) + "\n")
                    is_whole = event.get("event") == "end"
                self._beat()
            code = child.wait()
        if code != 0 and not (code < 0 and is_whole):  # with its last line, all is said
            raise Failed(_how_it_ended("Summing up", code, self._last_words))
        if not is_whole:
            raise Failed(ROLLUPS_CUT_SHORT)

    def _store(self, path: Path, report: Mapping[str, Any]) -> None:
        with self._database.session(writes=True) as session:
            self._say("storing the roll-ups")
            # First the row, then the rest: whoever lost the run learns it before it writes anything.
            is_own = service.end(
                session, self._id, self._owner, JobState.DONE, sentence=_sentence(report),
                log=self._log_text(), report=report,
            )  # fmt: skip
            if not is_own:
                raise Lost
            store_rollups(session, read_lines(path))

    # ---- the row -----------------------------------------------------------------------------------------------------

    def _beat(self) -> None:
        if self._is_stopped.is_set():
            raise Stopped
        if time.monotonic() - self._beaten_at < BEAT_S:
            return
        try:
            with self._database.session(writes=True) as session:
                is_own = service.beat(
                    session, self._id, self._owner, stage=self._stage, done=self._done, total=self._total,
                    log=self._log_text(),
                )  # fmt: skip
        except OperationalError as error:  # busy, or away for a moment: the next beat may do
            self._say(f"the row could not be written: {error.orig}")
        else:
            if not is_own:
                raise Lost
        self._beaten_at = time.monotonic()

    def _end(self, state: JobState, **values: Any) -> None:  # noqa: ANN401 - those of service.end
        self._say(f"{state}: {values.get('sentence', '')}")
        with self._database.session(writes=True) as session:
            service.end(session, self._id, self._owner, state, log=self._log_text(), **values)

    def _say(self, line: str) -> None:
        with self._lock:
            self._log.add(line)

    def _log_text(self) -> str:
        with self._lock:
            return self._log.text()

    def _child(self, command: list[str]) -> Child:
        self._say(f"started: {command[len(processes.PYTHON)]}")
        processes.work_dir(self._settings).mkdir(parents=True, exist_ok=True)
        self._last_words = ""
        return Child(command, on_stderr=self._hear)

    def _hear(self, line: str) -> None:
        self._last_words = line.strip()[:LONGEST_LAST_WORDS]
        self._say(line)

    @contextlib.contextmanager
    def _told_to_stop(self) -> Iterator[None]:
        """Heed SIGTERM, as a machine sends it before it stops. In a thread nobody sends signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(_number: int, _frame: FrameType | None) -> None:
            self._is_stopped.set()

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The events in a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def days_of(report: Mapping[str, Any]) -> list[str]:
    """The days whose roll-ups may have changed."""
    found = [part.get("days") for part in _files(report)]
    return sorted({str(day) for days in found if isinstance(days, list) for day in days})


def exit_code_of(report: Mapping[str, Any]) -> int:
    """How a reader with this report ends."""
    return EXIT_CODES.get(str(report.get("status")), NOTHING)


def _sentence(report: Mapping[str, Any] | None) -> str:
    return " ".join(filter(None, (str(part.get("message") or "") for part in _files(report))))


def _files(report: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    found = (report or {}).get("files")
    return [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []


def _number(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 <= value < 2**62 else 0


def _how_it_ended(what: str, code: int, last_words: str) -> str:
    if code < 0:
        return (
            f"{what} was ended from outside, by signal {-code}. Signal 9 often means that the machine had too little "
            "memory. Nothing was stored in part; it can be tried again."
        )
    said = f" It said: {last_words}" if last_words else ""
    return f"{what} failed with exit code {code}; nothing was stored in part. The log has more.{said}"
