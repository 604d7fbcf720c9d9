"""Roll-ups on their way in: the JSON lines of `python -m spark_jobs.rollup`, checked and stored.

docs/contributing/ingest-protocol.md describes the lines. Storing the same lines again changes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy.orm import Session

from app.usage import repository
from app.usage.models import LONGEST_SOURCES
from planner_core.errors import PlannerError

BATCH = 2_000
LARGEST = 2**63 - 1

Count = Annotated[int, Field(ge=0, le=LARGEST)]
Few = Annotated[int, Field(ge=0, le=2**31 - 1)]
Percentage = Annotated[float, Field(ge=0, allow_inf_nan=False)]
StructureName = Annotated[str, Field(min_length=1, max_length=16)]
FacilityName = Annotated[str, Field(min_length=1, max_length=8, pattern=r"^\S+$")]
MOST_FACILITIES = 16
DUPLEX = re.compile(r"(?:ENABLED|ALLOWED|DISABLED)\b")
"""The first value; sites and modes of copies follow it in a display."""


class RollupInvalid(PlannerError):
    """A line that is no roll-up: the jobs and the application are of different versions."""

    def __init__(self, line: int, fault: str) -> None:
        self.line = line
        super().__init__(
            f"Line {line} of the roll-ups cannot be stored: {fault}. Install the jobs and the service of one version."
        )


class RollupsCutShort(PlannerError):
    """The lines ended before the last one: the job that writes them was ended."""

    def __init__(self) -> None:
        super().__init__(
            "The roll-ups were cut short: their last line is missing. Nothing of them is to be kept; run them again."
        )


@dataclass(frozen=True, slots=True)
class StoredRollups:
    """How many hours were stored, of how many days given anew."""

    structure_hours: int
    smds_hours: int
    queue_hours: int
    days: int


def _whole_hour(value: datetime) -> datetime:
    known = value.astimezone(UTC)
    if known.minute or known.second or known.microsecond:
        message = "an hour begins with its first minute"
        raise ValueError(message)
    return known


class _Hour(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore"
    )  # the jobs say more than is stored, and may say more still

    qsg: Annotated[str, Field(min_length=1, max_length=4)]
    hour: Annotated[AwareDatetime, AfterValidator(_whole_hour)]


class StructureHour(_Hour):
    """What was measured of a structure in one hour."""

    structure: StructureName
    entries_in_use_max: Count | None = None
    elements_in_use_max: Count | None = None
    entries_total: Count | None = None
    elements_total: Count | None = None
    entries_in_use_pct_max: Percentage | None = None
    elements_in_use_pct_max: Percentage | None = None
    scm_entries_in_use_max: Count | None = None
    scm_elements_in_use_max: Count | None = None
    size_bytes: Count | None = None
    size_max_bytes: Count | None = None
    policy_size_bytes: Count | None = None
    policy_initsize_bytes: Count | None = None
    full_threshold_pct: Annotated[int, Field(ge=0, le=100)] | None = None
    structure_full_count: Count | None = None
    coupling_facilities: Annotated[list[FacilityName], Field(max_length=MOST_FACILITIES)] | None = None
    is_duplexed: bool | None = None
    policy_duplex: str | None = None
    placed_by: list[str] | None = None
    queue_managers: Few | None = None
    observations: Count | None = None
    sources: list[str] | None = None


class SmdsHour(_Hour):
    """What was measured in one hour of a shared message data set."""

    structure: StructureName
    queue_manager: Annotated[str, Field(min_length=1, max_length=4)]
    blocks_total: Count | None = None
    blocks_data: Count | None = None
    blocks_in_use_max: Count | None = None
    messages_max: Count | None = None
    failed_allocates: Count | None = None


class SizeBucket(BaseModel):
    """So many puts of at most this size on average, and more than the bucket before."""

    up_to_bytes: Count
    puts: Count


class QueueHour(_Hour):
    """What was measured of a queue in one hour."""

    queue: Annotated[str, Field(min_length=1, max_length=48)]
    structure: StructureName | None = None
    puts: Count | None = None
    put_bytes: Count | None = None
    put_size_min_bytes: Count | None = None
    put_size_max_bytes: Count | None = None
    persistent_puts: Count | None = None
    gets: Count | None = None
    depth_max: Count | None = None
    time_on_queue_max_us: Count | None = None
    size_buckets: list[SizeBucket] | None = None
    queue_managers: Few | None = None
    source: str | None = None


class _Days(BaseModel):
    days: list[date]


class _End(BaseModel):
    structure_hours: int
    smds_hours: int
    queue_hours: int


Line = TypeVar("Line", bound=BaseModel)


def store_rollups(session: Session, lines: Iterable[Mapping[str, Any]]) -> StoredRollups:
    """Store roll-ups in the transaction of the session; the caller commits.

    All lines of `python -m spark_jobs.rollup`, as parsed JSON, from `days` to `end`: what is stored of the days goes
    first; then every line replaces what is stored of its hour. Lines of other events are passed by.

    Raises:
        RollupInvalid: A line cannot be stored; nothing of the transaction is to be kept.
        RollupsCutShort: There is no last line; the same holds.
    """
    store = _Store(session)
    numbered = enumerate(lines, start=1)
    while batch := list(islice(numbered, BATCH)):
        store.take(batch)
    if not store.has_ended:
        raise RollupsCutShort
    repository.count_anew(session, structures=store.structures, queues=store.queues)
    return StoredRollups(**store.hours, days=store.days)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The events in a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


class _Store:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.structures = set[repository.StructureKey]()
        self.queues = set[repository.QueueKey]()
        self.hours = {"structure_hours": 0, "smds_hours": 0, "queue_hours": 0}
        self.days = 0
        self.has_ended = False

    def take(self, batch: list[tuple[int, Mapping[str, Any]]]) -> None:
        """Store the lines of a batch. Days stand before the hours, so they are removed first."""
        structures: list[dict[str, Any]] = []
        smds: list[dict[str, Any]] = []
        queues: list[dict[str, Any]] = []
        for number, line in batch:
            event = line.get("event")
            if event == "structure_hour":
                structures.append(_structure_row(_read(StructureHour, number, line)))
            elif event == "smds_hour":
                smds.append(_read(SmdsHour, number, line).model_dump())
            elif event == "queue_hour":
                hour = _read(QueueHour, number, line)
                known = {"structure": hour.structure or "", "source": (hour.source or "")[:LONGEST_SOURCES]}
                queues.append({**hour.model_dump(), **known})
            elif event == "days":
                self._remove(_read(_Days, number, line).days)
            elif event == "end":
                self._end(number, _read(_End, number, line), structures, smds, queues)
        repository.put_structure_hours(self.session, structures)
        repository.put_smds_hours(self.session, smds)
        repository.put_queue_hours(self.session, queues)
        self.structures.update((row["qsg"], row["structure"]) for row in (*structures, *smds))
        self.queues.update((row["qsg"], row["structure"], row["queue"]) for row in queues)
        self._count(structures, smds, queues)

    def _remove(self, days: list[date]) -> None:
        gone = repository.remove_days(self.session, days)
        self.structures |= gone.structures
        self.queues |= gone.queues
        self.days += len(days)

    def _count(self, structures: list[Any], smds: list[Any], queues: list[Any]) -> None:
        for name, rows in zip(self.hours, (structures, smds, queues), strict=True):
            self.hours[name] += len(rows)

    def _end(self, number: int, end: _End, *rows: list[Any]) -> None:
        for (name, stored), of_batch in zip(self.hours.items(), rows, strict=True):
            if getattr(end, name) != stored + len(of_batch):
                raise RollupInvalid(
                    number, f"{name} counts {getattr(end, name)}, but {stored + len(of_batch)} came"
                )
        self.has_ended = True


def _structure_row(read: StructureHour) -> dict[str, Any]:
    policy = DUPLEX.match(read.policy_duplex or "")
    return {
        **read.model_dump(),
        "coupling_facilities": " ".join(read.coupling_facilities or ()) or None,
        "policy_duplex": policy[0] if policy else None,
        "placed_by": _sources(read.placed_by) or None,
        "sources": _sources(read.sources),
    }


def _sources(names: Iterable[str] | None) -> str:
    return ", ".join(sorted(set(names or ())))[:LONGEST_SOURCES]


def _read(kind: type[Line], number: int, line: Mapping[str, Any]) -> Line:
    try:
        return kind.model_validate(line)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise RollupInvalid(number, f"{place}: {fault['msg']}") from None
