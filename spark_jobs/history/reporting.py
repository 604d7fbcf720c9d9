"""The JSON lines that ingest prints, as docs/contributing/ingest-protocol.md describes them."""

from __future__ import annotations

import datetime as dt
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from planner_core.contracts.ingest import (
    EXIT_CODES,
    ByteAccount,
    FileReport,
    QuarantineReport,
    RowSource,
    SkippedRecords,
)
from spark_jobs.history.compare import MOST_CONFLICTS, instant_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spark_jobs.history.compare import Comparison
    from spark_jobs.history.facts import RowFacts
    from spark_jobs.smf.results import Accounting

MOST_QUARANTINED = 100
MOST_PROBLEMS = 100
PROGRESS_PAUSE_S = 0.1


def say(event: str, /, **values: Any) -> None:  # noqa: ANN401 - whatever JSON has
    """Print an event and its values as one line of JSON."""
    sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
    # The application shows progress while the job runs; a pipe would hold lines back until its buffer is full.
    sys.stdout.flush()


def verdict_of(files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the status and exit code of the worst file, and the number of files by status."""
    statuses = [str(file["status"]) for file in files]
    worst = max(statuses, key=list(EXIT_CODES).index)
    counts = {status: statuses.count(status) for status in EXIT_CODES if status in statuses}
    return {"status": worst, "exit_code": EXIT_CODES[worst], "counts": counts}


@dataclass
class ProgressReporter:
    """A reporter of progress, which prints at most a few lines per second."""

    file: str
    number: int
    files: int
    wanted: bool
    seconds: dict[str, float] = field(default_factory=dict)
    _said: float = 0.0
    _stage: str = ""
    _began: float = 0.0

    def begin(self, stage: str) -> None:
        """Start a stage and its clock."""
        self.end()
        self._stage, self._began, self._said = stage, time.monotonic(), 0.0

    def end(self) -> None:
        """Stop the clock of the stage."""
        if self._stage:
            spent = time.monotonic() - self._began
            self.seconds[self._stage] = round(self.seconds.get(self._stage, 0.0) + spent, 3)
        self._stage = ""

    def __call__(self, done: int, total: int) -> None:
        """Report the progress of the stage."""
        now = time.monotonic()
        if not self.wanted or (now - self._said < PROGRESS_PAUSE_S and done < total):
            return
        self._said = now
        say(
            "progress",
            file=self.file,
            number=self.number,
            files=self.files,
            stage=self._stage,
            done=done,
            total=total,
        )


def empty_report(file: str) -> dict[str, Any]:
    """Return a file's report with every key and no values."""
    return asdict(FileReport(file=file))


def facts_report(facts: RowFacts) -> dict[str, Any]:
    """Return the objects of the rows. Structures that MQ's rows name are not repeated with RMF's name alone."""
    named = {xcf for qsg, structure, xcf in facts.structures if qsg and structure}
    structures = {each for each in facts.structures if (each[0] and each[1]) or each[2] not in named}
    return {
        "first_interval_end": _text(facts.first_interval_end),
        "last_interval_end": _text(facts.last_interval_end),
        "days": sorted(facts.days),
        "structures": [
            {"qsg": qsg or None, "structure": structure or None, "xcf_structure": xcf or None}
            for qsg, structure, xcf in sorted(structures)
        ],
        "queue_managers": [
            {"system_id": system or None, "queue_manager": manager, "qsg": qsg or None}
            for system, manager, qsg in sorted(facts.queue_managers)
        ],
        "sources": [
            asdict(RowSource(source, system or None, manager or None, rows, round(longest_us / 1_000_000)))
            for (source, system, manager), (rows, longest_us) in sorted(facts.sources.items())
        ],
        "queues": len(facts.queues),
    }


def decoded_records(records: Mapping[str, int], account: Accounting) -> dict[str, int]:
    """Return the number of records by type, without the skipped ones, which the report lists separately."""
    found = {kind: count - account.skipped.get(kind, (0, 0))[0] for kind, count in sorted(records.items())}
    return {kind: count for kind, count in found.items() if count > 0}


def accounting_report(account: Accounting) -> dict[str, Any]:
    """Return how every byte of a dump was used."""
    # Ranges are read in parallel, so their items arrive in any order.
    quarantined = sorted(account.quarantined, key=lambda item: item.offset)
    return {
        "bytes": asdict(
            ByteAccount(
                account.decoded_bytes, account.skipped_bytes, account.quarantined_bytes, account.lost_bytes
            )
        ),
        "skipped": [
            asdict(SkippedRecords(kind, *counts)) for kind, counts in sorted(account.skipped.items())
        ],
        "quarantined": asdict(
            QuarantineReport(
                len(quarantined), account.quarantined_bytes, tuple(quarantined[:MOST_QUARANTINED])
            )
        ),
    }


def rows_report(comparisons: Mapping[str, Comparison]) -> dict[str, Any]:
    """Return how many rows were new, and the first conflicts."""
    conflicts = [conflict for found in comparisons.values() for conflict in found.first_conflicts]
    return {
        "rows": {table: asdict(found.counts) for table, found in comparisons.items() if found.read},
        "conflicts": conflicts[:MOST_CONFLICTS],
    }


def _text(instant: dt.datetime | None) -> str | None:
    return None if instant is None else instant_text(instant)
