"""Roll-ups on their way in: the JSON lines of `python -m spark_jobs.rollup`, checked and stored.

docs/contributing/ingest-protocol.md describes the lines. Storing the same lines again changes nothing: a line replaces
the hour that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy.orm import Session

from app.usage import repository
from app.usage.models import LONGEST_SOURCES
from planner_core.errors import PlannerError

BATCH = 2_000
LARGEST = 2**63 - 1

Count = Annotated[int, Field(ge=0, le=LARGEST)]


class RollupInvalid(PlannerError):
    """A line that is no roll-up: the jobs and the application are of different versions."""

    def __init__(self, line: int, fault: str) -> None:
        self.line = line
        super().__init__(
            f"Line {line} of the roll-ups cannot be stored: {fault}. Install the jobs and the service of one version."
        )


@dataclass(frozen=True, slots=True)
class StoredRollups:
    """How many hours were stored."""

    structure_hours: int
    queue_hours: int
    days: int


def _whole_hour(value: datetime) -> datetime:
    known = value.astimezone(UTC)
    if known.minute or known.second or known.microsecond:
        message = "an hour begins with its first minute"
        raise ValueError(message)
    return known


class _Hour(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")  # a later version of the jobs may say more

    qsg: Annotated[str, Field(min_length=1, max_length=4)]
    hour: Annotated[AwareDatetime, AfterValidator(_whole_hour)]
    intervals: Count | None = None
    sources: list[str] = []

    def row(self) -> dict[str, Any]:
        """The columns."""
        return {**self.model_dump(), "sources": ",".join(sorted(set(self.sources)))[:LONGEST_SOURCES]}


class StructureHour(_Hour):
    """What was measured of a structure in one hour."""

    structure: Annotated[str, Field(min_length=1, max_length=12)]
    entries_in_use_max: Count | None = None
    elements_in_use_max: Count | None = None
    entries_total: Count | None = None
    elements_total: Count | None = None
    size_bytes: Count | None = None
    max_size_bytes: Count | None = None
    full_threshold_percent: Annotated[int, Field(ge=0, le=100)] | None = None
    structure_full_count: Count | None = None


class QueueHour(_Hour):
    """What was measured of a queue in one hour."""

    queue: Annotated[str, Field(min_length=1, max_length=48)]
    structure: Annotated[str, Field(min_length=1, max_length=12)] | None = None
    puts: Count | None = None
    put_bytes: Count | None = None
    persistent_puts: Count | None = None
    peak_puts_per_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    message_bytes_min: Count | None = None
    message_bytes_max: Count | None = None
    sizes: list[tuple[Count, Count]] | None = None
    depth_high: Count | None = None


class _Days(BaseModel):
    days: list[date]


Line = TypeVar("Line", bound=BaseModel)


def store_rollups(session: Session, lines: Iterable[Mapping[str, Any]]) -> StoredRollups:
    """Store roll-ups in the transaction of the session; the caller commits.

    A line with `event` `structure_hour` or `queue_hour` replaces what is stored of its hour. A line `days`, before them,
    names UTC days that are given anew in whole: what is stored of these days goes first. Lines of other events are
    passed by.

    Raises:
        RollupInvalid: A line cannot be stored; nothing of the transaction should be kept.
    """
    counted = {"structure_hour": 0, "queue_hour": 0, "days": 0}
    structures, queues = set[tuple[str, str]](), set[tuple[str, str]]()
    numbered = enumerate(lines, start=1)
    while batch := list(islice(numbered, BATCH)):
        structure_rows, queue_rows = [], []
        for number, line in batch:
            event = line.get("event")
            if event == "structure_hour":
                structure_rows.append(_read(StructureHour, number, line).row())
            elif event == "queue_hour":
                queue_rows.append(_read(QueueHour, number, line).row())
            elif event == "days":
                days = _read(_Days, number, line).days
                gone = repository.remove_days(session, days)
                structures |= gone.structures
                queues |= gone.queues
                counted["days"] += len(days)
        repository.put_structure_hours(session, structure_rows)
        repository.put_queue_hours(session, queue_rows)
        structures |= {(row["qsg"], row["structure"]) for row in structure_rows}
        queues |= {(row["qsg"], row["queue"]) for row in queue_rows}
        counted["structure_hour"] += len(structure_rows)
        counted["queue_hour"] += len(queue_rows)
    repository.count_anew(session, structures=structures, queues=queues)
    return StoredRollups(counted["structure_hour"], counted["queue_hour"], counted["days"])


def _read(kind: type[Line], number: int, line: Mapping[str, Any]) -> Line:
    try:
        return kind.model_validate(line)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise RollupInvalid(number, f"{place}: {fault['msg']}") from None
