"""The keeper of one ingest: it starts the reader, writes progress to the row, stores the roll-ups, and ends the run.

Each step can be interrupted at any moment and repeated:

1. The run is claimed: it belongs to this process until its heartbeat is stale.
2. `spark_jobs.ingest` reads the file into the usage history, which stores a file completely or not at all, and never
   twice.
3. Its report is stored in the row; from then on, the file need not be read again.
4. `spark_jobs.rollup` rolls up the changed days into a file next to the database.
5. One transaction stores the roll-ups and ends the run.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from app.jobs import processes, service
from app.jobs.keeper import BEAT_S, Keeper, LostRun, StepFailed, amount_of, how_it_ended
from app.jobs.models import JobState
from app.jobs.service import Job
from app.uploads import files, qsg_map
from app.uploads import service as uploads
from app.uploads.job_kind import NO_DATA
from app.usage.retention import drop_what_history_dropped
from app.usage.rollups import read_lines, store_rollups
from planner_core.contracts import tolerant
from planner_core.contracts.ingest import EXIT_CODES, IngestReport
from planner_core.wire import JsonObject

READ, NOTHING, NOT_READABLE, ASKS, NOT_STORED = (
    EXIT_CODES[status] for status in ("stored", "nothing", "not_readable", "needs_answers", "not_stored")
)
SUMMING = "summing"
ROLLUPS_CUT_SHORT = "The roll-ups ended before their output was complete."


@dataclass(frozen=True)
class _Report:
    """The report of a reader, as it was received."""

    event: JsonObject

    @cached_property
    def contents(self) -> IngestReport:
        """The members that this version knows."""
        return read_report(self.event)


def _outcome(report: _Report | None) -> dict[str, Any]:
    """Return the sentence and the report that are stored with the end of a run."""
    if report is None:
        return {"sentence": "", "report": None}
    return {"sentence": report.contents.sentence, "report": report.event}


class IngestKeeper(Keeper):
    """The keeper of a run that reads an upload into the usage history."""

    def _work(self, claimed: Job) -> None:
        with self._database.session(writes=False) as session:
            stored = service.report_of(session, self._id)
        report = self._ingest(claimed.upload_id) if stored is None else _Report(stored)
        if report is not None:
            self._read_answered(report.contents)
            drop_what_history_dropped(self._database, report.contents)
            self._sum_up(report)

    def _ingest(self, upload_id: int | None) -> _Report | None:
        """Read the file; return its report, or None if the run has ended or waits for answers."""
        command = self._command(upload_id)
        asks: JsonObject | None = None
        report: _Report | None = None
        with self._child(command) as child:
            for event in child.events(every_s=BEAT_S):
                kind = None if event is None else event.get("event")
                if event is not None and kind == "progress":
                    done, total = (amount_of(event.get(key)) for key in ("done", "total"))
                    self._at(str(event.get("stage", "")), done=done, total=total)
                elif kind == "asks":
                    asks = event
                elif event is not None and kind == "report":
                    report = _Report(event)
                self._beat()
            code = self._meant(child.wait(), report)
        if code == ASKS and asks is not None:
            self._end(JobState.ASKS, **_outcome(report), asks=asks)
            return None
        if code == NOT_READABLE or (code == NOT_STORED and report is not None):
            outcome = _outcome(report)
            self._end(
                JobState.FAILED, **outcome | {"sentence": outcome["sentence"] or "The file cannot be read."}
            )
            return None
        # A file without data for the history still has a report, and its QSG map may be new.
        if code not in (READ, NOTHING) or report is None:
            raise StepFailed(how_it_ended("Reading", code, self._last_words))
        with self._database.session(writes=True) as session:
            if not service.keep_report(session, self._id, self._owner, report.event):
                raise LostRun
            qsg_map.put_all(session, qsg_map.of_report(report.contents))
        return report

    def _read_answered(self, report: IngestReport) -> None:
        """Have files read that waited for the groups in a map that this file contained."""
        if qsg_map.of_report(report):
            with self._database.session(writes=True) as session:
                uploads.read_answered_again(session)

    def _meant(self, code: int, report: _Report | None) -> int:
        """Return the exit code, or the one in the report if the reader crashed after it, as libraries may at exit."""
        if code >= 0 or report is None:
            return code
        self._say(f"ended by signal {-code} after its report")
        return report.contents.exit_code

    def _command(self, upload_id: int | None) -> list[str]:
        if upload_id is None:
            message = "The run belongs to no upload."
            raise StepFailed(message)
        with self._database.session(writes=False) as session:
            upload = uploads.get(session, upload_id)
            known = qsg_map.as_arguments(session)
        path = files.path_of(self._settings.data_dir.absolute(), upload.sha256)
        if not path.exists():
            message = "The file of this upload is not in the data folder of the machine that reads it."
            raise StepFailed(message)
        return processes.ingest_command(
            self._settings, [path], names=[upload.filename], qsg=known,
            kind=upload.kind or upload.detected_kind, observed_at=upload.observed_utc, zone=upload.zone,
        )  # fmt: skip

    def _sum_up(self, report: _Report) -> None:
        """Roll up the changed days, store the results, and end the run in one transaction."""
        days = report.contents.days
        if not days:
            self._end(JobState.DONE, **_outcome(report), stage=NO_DATA)
            return
        self._at(SUMMING)
        # The random part separates this attempt from an earlier one whose orphaned process may still write its file.
        path = processes.work_dir(self._settings) / f"{self._id}-{secrets.token_hex(4)}.rollup.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._write_rollups(days, path)
            self._store(path, report)
        finally:
            path.unlink(missing_ok=True)

    def _write_rollups(self, days: Sequence[str], path: Path) -> None:
        """Write the roll-ups to a file first, so that no transaction is open while the job computes."""
        last = "{}"
        with (
            path.open("w", encoding="utf-8") as file,
            self._child(processes.rollup_command(self._settings, days)) as child,
        ):
            # There may be millions of lines, which are checked when they are stored, so they are only copied here.
            for line in child.lines(every_s=BEAT_S):
                if line is not None and line.startswith("{"):
                    file.write(line + "\n")
                    last = line
                elif line is not None:
                    self._hear(line)
                self._beat()
            code = child.wait()
        is_whole = _is_end(last)
        if code != 0 and not (code < 0 and is_whole):  # after the last line, the file is complete
            raise StepFailed(how_it_ended("Summing up", code, self._last_words))
        if not is_whole:
            raise StepFailed(ROLLUPS_CUT_SHORT)

    def _store(self, path: Path, report: _Report) -> None:
        with self._database.session(writes=True) as session:
            self._say("storing the roll-ups")
            # The row comes first: a keeper that has lost its run must notice that before it writes anything else.
            is_own = service.end(
                session, self._id, self._owner, JobState.DONE, log=self._log_text(), **_outcome(report)
            )
            if not is_own:
                raise LostRun
            store_rollups(session, read_lines(path))
        self._note_end(JobState.DONE)


def _is_end(line: str) -> bool:
    try:
        return bool(json.loads(line)["event"] == "end")
    except (ValueError, KeyError):  # the process was killed while it wrote the line
        return False


def read_report(event: JsonObject | None) -> IngestReport:
    """Return the report of a reader, which may have been written by another version."""
    return tolerant.read(IngestReport, event)
