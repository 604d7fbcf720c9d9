"""Check and store the JSON lines of `python -m spark_jobs.rollup`.

docs/contributing/ingest-protocol.md describes the lines. Storing the same lines again changes nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from sqlalchemy.orm import Session

from app.database.types import Base
from app.usage import repository
from app.usage.models import LONGEST_SOURCES, HourlyQueueUsage, HourlySmdsUsage, HourlyStructureUsage
from planner_core.contracts.rollup import Days, End, QueueHour, SmdsHour, StructureHour
from planner_core.errors import PlannerError
from planner_core.wire import adapter

BATCH = 2_000
DUPLEX = re.compile(r"(?:ENABLED|ALLOWED|DISABLED)\b")
"""Matches the first value of DUPLEX; a display lists sites and modes of copies after it."""


class RollupInvalid(PlannerError):
    """The lines are not roll-ups, because the jobs and the application differ in version, or the job was cut short."""


@dataclass(frozen=True, slots=True)
class StoredRollups:
    """The number of stored hours, and of replaced days."""

    structure_hours: int
    smds_hours: int
    queue_hours: int
    days: int


Line = TypeVar("Line")


def store_rollups(session: Session, lines: Iterable[Mapping[str, Any]]) -> StoredRollups:
    """Store roll-ups in the transaction of the session, which the caller commits.

    `lines` is the whole output of `python -m spark_jobs.rollup`, as parsed JSON, from `days` to `end`. The stored hours
    of these days are removed first; then every line replaces its hour. Lines of other events are ignored.

    Raises:
        RollupInvalid: A line cannot be stored, or the last one is missing; the transaction must be rolled back.
    """
    repository.hold_usage(session)
    store = _Store(session)
    # In batches, because the roll-ups of a whole history do not fit into memory.
    numbered = enumerate(lines, start=1)
    while batch := list(islice(numbered, BATCH)):
        store.take(batch)
    if not store.has_ended:
        message = "The roll-ups are incomplete: their last line is missing. None of them was stored; run them again."
        raise RollupInvalid(message)
    repository.update_lists(session, structures=store.structures, queues=store.queues)
    return StoredRollups(
        **{name: store.stored[name] for name in ("structure_hours", "smds_hours", "queue_hours")},
        days=store.days,
    )


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events in a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


class _Store:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.structures = set[repository.StructureKey]()
        self.queues = set[repository.QueueKey]()
        self.stored: Counter[str] = Counter()
        self.days = 0
        self.has_ended = False

    def take(self, batch: list[tuple[int, Mapping[str, Any]]]) -> None:
        """Store the lines of a batch. The line of the days comes first, so their old hours are removed before new ones."""
        structures: list[StructureHour] = []
        smds: list[SmdsHour] = []
        queues: list[QueueHour] = []
        for number, line in batch:
            event = line.get("event")
            if event == "structure_hour":
                structures.append(_read(StructureHour, number, line))
            elif event == "smds_hour":
                smds.append(_read(SmdsHour, number, line))
            elif event == "queue_hour":
                queues.append(_read(QueueHour, number, line))
            elif event == "days":
                self._remove(_read(Days, number, line).days)
            elif event == "end":
                self._end(number, _read(End, number, line))
            self.stored[f"{event}s"] += 1
        repository.put(self.session, HourlyStructureUsage, list(map(_structure_row, structures)))
        repository.put(self.session, HourlySmdsUsage, [_columns(HourlySmdsUsage, hour) for hour in smds])
        repository.put(self.session, HourlyQueueUsage, list(map(_queue_row, queues)))
        self.structures.update((hour.qsg, hour.structure) for hour in structures)
        self.structures.update((hour.qsg, hour.structure) for hour in smds)
        self.queues.update((hour.qsg, hour.structure or "", hour.queue) for hour in queues)

    def _remove(self, days: list[date]) -> None:
        structures, queues = repository.remove_days(self.session, days)
        self.structures |= structures
        self.queues |= queues
        self.days += len(days)

    def _end(self, number: int, end: End) -> None:
        # A lost line would leave an hour without figures and without any error.
        for name, announced in vars(end).items():
            if announced != self.stored[name]:
                fault = f"{name} announces {announced} rows, but {self.stored[name]} were received"
                raise _invalid(number, fault)
        self.has_ended = True


def _columns(table: type[Base], hour: StructureHour | SmdsHour | QueueHour) -> dict[str, Any]:
    """Return the values of the columns of a table; the job reports more figures than are stored."""
    return {column.name: getattr(hour, column.name) for column in table.__table__.columns}


def _structure_row(hour: StructureHour) -> dict[str, Any]:
    policy = DUPLEX.match(hour.policy_duplex or "")
    return {
        **_columns(HourlyStructureUsage, hour),
        "coupling_facilities": " ".join(hour.coupling_facilities or ()) or None,
        "policy_duplex": policy[0] if policy else None,
        "placed_by": _sources(hour.placed_by) or None,
        "sources": _sources(hour.sources),
    }


def _queue_row(hour: QueueHour) -> dict[str, Any]:
    buckets = hour.size_buckets
    return {
        **_columns(HourlyQueueUsage, hour),
        "structure": hour.structure or "",
        "source": (hour.source or "")[:LONGEST_SOURCES],
        "size_buckets": None if buckets is None else [vars(bucket) for bucket in buckets],
    }


def _sources(names: Iterable[str] | None) -> str:
    # PostgreSQL rejects a text longer than its column; SQLite stores it.
    return ", ".join(sorted(set(names or ())))[:LONGEST_SOURCES]


def _read(kind: type[Line], number: int, line: Mapping[str, Any]) -> Line:
    try:
        found: Line = adapter(kind).validate_python(line)
        return found
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise _invalid(number, f"{place}: {fault['msg']}") from None


def _invalid(line: int, fault: str) -> RollupInvalid:
    return RollupInvalid(
        f"Line {line} of the roll-ups cannot be stored: {fault}. Install the same version of the jobs and the service."
    )
