"""Stage a dump for the history, range by range in this process; `by_spark` does it in Spark's tasks.

Both process a range with `take_range`, which makes rows and writes them as files that are invisible before the commit.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

import pyarrow as pa

from planner_core.contracts.ingest import Quarantine
from planner_core.contracts.smf import SECTIONS
from spark_jobs.history.facts import RowFacts
from spark_jobs.history.places import place_of
from spark_jobs.history.rows import COLUMNS, GroupMap, rows_of
from spark_jobs.history.staging import Part, Source, Stage
from spark_jobs.smf.decode import decode_file, decode_range, finish
from spark_jobs.smf.errors import LayoutError
from spark_jobs.smf.results import Accounting, LayoutCheck, Piece, RangeResult

Progress = Callable[[int, int], None]


@dataclass
class RangeOutcome:
    """The outcome of a range, or of several ranges combined."""

    parts: list[Part] = field(default_factory=list)
    facts: RowFacts = field(default_factory=RowFacts)
    passed_over: Counter[str] = field(default_factory=Counter)
    unknown: set[tuple[str, str]] = field(default_factory=set)
    used: dict[tuple[str, str], str] = field(default_factory=dict)
    accounting: Accounting = field(default_factory=Accounting)
    records: Counter[str] = field(default_factory=Counter)
    checks: dict[str, LayoutCheck] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    first_start: int = 0
    end_offset: int = 0

    def add(self, other: RangeOutcome) -> None:
        """Add another range's outcome. The caller checks that the two ranges are contiguous."""
        self.parts += other.parts
        self.facts.add(other.facts)
        self.passed_over += other.passed_over
        self.unknown |= other.unknown
        self.used |= other.used
        self.accounting.add(other.accounting)
        self.records += other.records
        for section, check in other.checks.items():
            self.checks[section] = self.checks.get(section, LayoutCheck()) + check
        self.pieces += other.pieces
        self.end_offset = other.end_offset

    def to_json(self) -> str:
        """Serialize the outcome for the transfer from a Spark task to the driver."""
        return json.dumps(
            {
                "parts": [asdict(part) for part in self.parts],
                "facts": self.facts.to_json(),
                "passed_over": self.passed_over,
                "unknown": sorted(self.unknown),
                "used": [[*who, group] for who, group in self.used.items()],
                "accounting": asdict(self.accounting),
                "records": self.records,
                "checks": {section: asdict(check) for section, check in self.checks.items()},
                "pieces": [
                    {**asdict(piece), "data": base64.b64encode(piece.data).decode()} for piece in self.pieces
                ],
                "first_start": self.first_start,
                "end_offset": self.end_offset,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> RangeOutcome:
        """Return the outcome from the output of `to_json`."""
        found = json.loads(text)
        account = found["accounting"]
        return cls(
            parts=[Part(**part) for part in found["parts"]],
            facts=RowFacts.from_json(found["facts"]),
            passed_over=Counter(found["passed_over"]),
            unknown={(system, manager) for system, manager in found["unknown"]},
            used={(system, manager): group for system, manager, group in found["used"]},
            accounting=Accounting(
                **{
                    **account,
                    "skipped": {
                        kind: (records, size) for kind, (records, size) in account["skipped"].items()
                    },
                    "quarantined": [Quarantine(**item) for item in account["quarantined"]],
                }
            ),
            records=Counter(found["records"]),
            checks={section: LayoutCheck(**check) for section, check in found["checks"].items()},
            pieces=[Piece(**{**piece, "data": base64.b64decode(piece["data"])}) for piece in found["pieces"]],
            first_start=found["first_start"],
            end_offset=found["end_offset"],
        )


@dataclass(frozen=True)
class Task:
    """The parameters of a task other than its range; sent to Spark's workers."""

    dump: str
    framing: str
    history: str
    source: Source
    groups: tuple[tuple[str, str, str], ...]
    keep_from: dt.date | None = None

    def to_json(self) -> str:
        """Serialize the task for the transfer to Spark's workers."""
        return json.dumps({**asdict(self), "keep_from": self.keep_from and self.keep_from.isoformat()})

    @classmethod
    def from_json(cls, text: str) -> Task:
        """Return the task from the output of `to_json`."""
        found = json.loads(text)
        return cls(
            dump=found["dump"],
            framing=found["framing"],
            history=found["history"],
            source=Source(**found["source"]),
            groups=tuple((system, manager, group) for system, manager, group in found["groups"]),
            keep_from=dt.date.fromisoformat(found["keep_from"]) if found["keep_from"] else None,
        )

    @property
    def group_of(self) -> dict[tuple[str, str], str]:
        """Return the map of queue managers to groups."""
        return {(system, manager): group for system, manager, group in self.groups}

    def stage(self) -> Stage:
        """Return a stage for the rows."""
        return Stage(place_of(self.history), self.source, keep_from=self.keep_from)


def take_range(found: RangeResult, stage: Stage, group_of: GroupMap) -> RangeOutcome:
    """Stage the rows of one decoded range and return its outcome; the stage's files follow when it is finished."""
    mapped = rows_of(found.batches, group_of=group_of)
    facts = RowFacts()
    for table, rows in mapped.tables.items():
        stage.add(table, rows)
        facts.see(rows)
    return RangeOutcome(
        facts=facts,
        passed_over=mapped.passed_over,
        unknown=mapped.unknown,
        used=mapped.used,
        accounting=found.accounting,
        records=Counter(found.records),
        checks=dict(found.checks),
        pieces=list(found.pieces),
        first_start=found.first_start,
        end_offset=found.end_offset,
    )


Places = Callable[[RangeResult], RangeResult]
"""Returns rows with other places of their records, for a dump that was made from another file."""


def take_in_process(task: Task, *, progress: Progress, places: Places | None = None) -> RangeOutcome:
    """Read a dump in this process, a few megabytes at a time."""
    with _systems_memory():
        return _taken(task, progress, places)


@contextmanager
def _systems_memory() -> Iterator[None]:
    """Let Arrow take memory from the system's allocator.

    For the many short-lived columns of an ingest, Arrow's own allocator spends twice the time in the kernel: 14 % of the
    processor time of a dump of 128 MB in all.
    """
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def _taken(task: Task, progress: Progress, places: Places | None) -> RangeOutcome:
    stage = task.stage()
    total = RangeOutcome()
    group_of = task.group_of
    results = decode_file(
        task.dump,
        sections=SECTIONS,
        columns=COLUMNS,
        only_shared=True,
        framing=task.framing,
        progress=progress,
    )
    for found in results:
        total.add(take_range(places(found) if places else found, stage, group_of))
    return finished(total, stage)


def take_one(task: Task, *, start: int, end: int, first_record: int) -> RangeOutcome:
    """Read one range of a dump and stage its rows."""
    found = _decoded(task.dump, task.framing, start=start, end=end, first_record=first_record)
    stage = task.stage()
    return _staged(take_range(found, stage, task.group_of), stage)


def count_rows(dump: str, framing: str, *, start: int, end: int, first_record: int) -> int:
    """Decode one range of a dump and count its rows."""
    found = _decoded(dump, framing, start=start, end=end, first_record=first_record)
    return sum(batch.num_rows for batches in found.batches.values() for batch in batches)


def check_layouts(outcome: RangeOutcome) -> None:
    """Refuse a dump if a section fails its self-check.

    Raises:
        LayoutError: more than one row in a hundred has impossible values.
    """
    # Offsets that were only inferred from IBM's field order can be wrong. Their values would look like usage, and a
    # wrong history is worse than none.
    for section, check in outcome.checks.items():
        if check.is_layout_wrong:
            message = f"{check.failed} of {check.rows} rows of {section} are not plausible: the records do not have the expected layout. Nothing was stored."
            raise LayoutError(message)


def _decoded(dump: str, framing: str, *, start: int, end: int, first_record: int) -> RangeResult:
    return decode_range(
        dump,
        start,
        end,
        framing=framing,
        sections=SECTIONS,
        first_record=first_record,
        columns=COLUMNS,
        only_shared=True,
    )


def finished(total: RangeOutcome, stage: Stage, *, group_of: GroupMap | None = None) -> RangeOutcome:
    """Decode the pieces of records that are left over from the ranges, and write the remaining rows."""
    if total.pieces:
        pieces, total.pieces = total.pieces, []
        # The pieces are decoded only now, after all ranges have delivered theirs; until then, their bytes count as
        # held.
        held = total.accounting.held_bytes
        end_offset = total.end_offset
        total.add(take_range(finish(pieces, sections=SECTIONS, columns=COLUMNS), stage, group_of or {}))
        total.accounting.held_bytes -= held
        total.end_offset = end_offset
    return _staged(total, stage)


def _staged(outcome: RangeOutcome, stage: Stage) -> RangeOutcome:
    outcome.parts += stage.finish()
    outcome.passed_over += stage.passed_over
    # Tasks finish in any order, and the commit must not depend on it.
    outcome.parts.sort(key=lambda part: (part.table, part.day, part.path))
    return outcome
