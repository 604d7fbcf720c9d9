"""What reading gives: tables, problems, questions, and what was assumed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import pyarrow as pa

from planner_core.errors import PlannerError
from planner_core.inputs import Kind


class NotReadable(PlannerError):
    """The file is not of the kind it was said to be; the sentence says what was missing."""


class Problem(NamedTuple):
    """A line (from 1) or record that was not taken over, and why."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Ask:
    """What the data does not say and a person has to."""

    what: Literal["qsg", "observed_at", "zone"]
    message: str
    system_id: str | None = None
    queue_manager: str | None = None


@dataclass(frozen=True, slots=True)
class ReadResult:
    """Rows by table of the history; nothing may be stored while `asks` is not empty."""

    kind: Kind
    tables: dict[str, pa.Table]
    problems: tuple[Problem, ...] = ()
    """The first problems in full; `problem_count` counts all."""
    problem_count: int = 0
    asks: tuple[Ask, ...] = ()
    notes: tuple[str, ...] = ()
    """What was assumed: formats known from memory, time zones inferred, names split by rule."""
    counts: dict[str, int] = field(default_factory=dict)
    """Lines or records: read, passed over by reason."""
