"""The result of reading: tables, problems, questions, and assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, NamedTuple

import pyarrow as pa

from planner_core.errors import PlannerError
from planner_core.inputs import Kind
from spark_jobs.history.schema import row_schema

SHOWN_PROBLEMS: Final = 200
_BATCH_ROWS: Final = 16_384
_LARGEST: Final = 2**63 - 1

Value = str | int | float | bool | datetime | None


class NotReadable(PlannerError):
    """A file that is not of the stated kind; the message states which part is missing."""


class Problem(NamedTuple):
    """A line (from 1) that was not read, or only in part, and the reason."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A question that the data does not answer."""

    what: Literal["qsg", "observed_at", "zone"]
    message: str
    system_id: str | None = None
    """For a group: the system, or ANY if the text does not name it."""
    queue_manager: str | None = None


@dataclass(frozen=True, slots=True)
class ReadResult:
    """Rows by table of the history; nothing may be stored while `asks` is not empty."""

    kind: Kind
    tables: dict[str, pa.Table]
    problems: tuple[Problem, ...] = ()
    """The first problems; `problem_count` counts all."""
    problem_count: int = 0
    asks: tuple[Ask, ...] = ()
    notes: tuple[str, ...] = ()
    """Assumptions: formats recalled from memory, inferred zones, values left out on purpose."""
    records: dict[str, int] = field(default_factory=dict)
    """Number of records or lines that were read, by kind."""
    passed_over: dict[str, int] = field(default_factory=dict)
    """Records that do not belong to the history, by reason."""


class Collector:
    """A collector of rows, problems, questions and assumptions while a file is read."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self._rows: dict[str, list[Mapping[str, Value]]] = {}
        self._batches: dict[str, list[pa.RecordBatch]] = {}
        self._problems: list[Problem] = []
        self._problem_count = 0
        self._asks: dict[tuple[str, str | None, str | None], Ask] = {}
        self._notes: dict[str, None] = {}
        self._records: dict[str, int] = {}
        self._passed_over: dict[str, int] = {}

    def add(self, table: str, row: Mapping[str, Value]) -> None:
        """Add a row to a table of the history; missing columns are null.

        A row without its time is not added: the user is asked for the time, or the line is reported.
        """
        if row.get("interval_end") is None:
            # Once the zone or the time has been asked for, one question covers all of these rows.
            if not any(ask.what != "qsg" for ask in self._asks.values()):
                self.problem(_line_of(row), "The row has no time: left out.")
            return
        for name, value in row.items():
            if isinstance(value, int) and value > _LARGEST:
                self.problem(_line_of(row), f"{name} is too large to be stored: the row is left out.")
                return
        rows = self._rows.setdefault(table, [])
        rows.append(row)
        if len(rows) >= _BATCH_ROWS:
            self._flush(table)

    def problem(self, line: int, message: str) -> None:
        """Report a line that was not read, or only in part."""
        self._problem_count += 1
        if len(self._problems) < SHOWN_PROBLEMS:
            self._problems.append(Problem(line, message))

    def ask(self, ask: Ask) -> None:
        """Ask the user a question, once."""
        self._asks.setdefault((ask.what, ask.system_id, ask.queue_manager), ask)

    def note(self, message: str) -> None:
        """Record an assumption, once."""
        self._notes[message] = None

    def count(self, what: str) -> None:
        """Count a record that was read."""
        self._records[what] = self._records.get(what, 0) + 1

    def pass_over(self, reason: str) -> None:
        """Count a record that does not belong to the history."""
        self._passed_over[reason] = self._passed_over.get(reason, 0) + 1

    def result(self) -> ReadResult:
        """Return all rows so far, with problems, questions and assumptions."""
        for table in self._rows:
            self._flush(table)
        return ReadResult(
            kind=self.kind,
            tables={
                table: pa.Table.from_batches(batches, schema=row_schema(table))
                for table, batches in self._batches.items()
            },
            problems=tuple(self._problems),
            problem_count=self._problem_count,
            asks=tuple(self._asks.values()),
            notes=tuple(self._notes),
            records=self._records,
            passed_over=self._passed_over,
        )

    def _flush(self, table: str) -> None:
        rows = self._rows[table]
        if rows:
            batch = pa.RecordBatch.from_pylist(rows, schema=row_schema(table))
            self._batches.setdefault(table, []).append(batch)
            rows.clear()


def _line_of(row: Mapping[str, Value]) -> int:
    line = row.get("file_record")
    return line if isinstance(line, int) else 0
