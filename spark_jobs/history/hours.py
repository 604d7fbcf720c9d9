"""Make hourly roll-ups from the sums by hour of files, or from rows if a key was delivered twice."""

from __future__ import annotations

import datetime as dt
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from planner_core.contracts.rollup import QueueHour, SizeBucket, SmdsHour, StructureHour
from spark_jobs.history import placements
from spark_jobs.history.compare import instant_text
from spark_jobs.history.days import day_sums, standing_rows
from spark_jobs.history.hour_sums import (
    ALLOCATION_MAXIMA,
    COLUMNS,
    QUEUE_COUNTS,
    QUEUE_MAXIMA,
    QUEUE_MINIMA,
    SMDS_COUNTS,
    SMDS_MAXIMA,
    SMDS_MINIMA,
    STRUCTURE_COUNTS,
    STRUCTURE_MAXIMA,
    TASK_COUNTS,
    hour_sums,
)
from spark_jobs.history.schema import ALLOCATION, HOUR_US, QUEUE_USAGE, SMDS_USAGE, STRUCTURE_USAGE
from spark_jobs.history.store import History, Snapshot, named
from spark_jobs.history.summaries import HOURS, PLACEMENTS

if TYPE_CHECKING:
    from spark_jobs.history.staging import Part

Line = dict[str, Any]

FAMILIES = ("115-2", "115-216", "116", "74-4", "CFACT", "overview", "display", "template")
"""Sources that count the same things, in order of preference: the first one with counts is used, never their sum."""
OTHERS = len(FAMILIES)

_QUEUE_SUMS = (*QUEUE_COUNTS, *TASK_COUNTS)
STRUCTURE_KEYS = tuple(
    dict.fromkeys(
        (
            *STRUCTURE_MAXIMA,
            *ALLOCATION_MAXIMA,
            *STRUCTURE_COUNTS,
        )
    )
)


Sums = tuple[pa.Table, pa.Table | None]
"""The hours of a filed day, and its placements."""


class Days:
    """A reader of the days of a history, which reads each day only once as long as neighbouring days are requested."""

    KEPT = 6

    def __init__(self, history: History, snapshot: Snapshot) -> None:
        self._history = history
        self._groups = snapshot.ledger.groups
        self._dead = snapshot.ledger.dead_commits
        self._read: OrderedDict[tuple[str, str], Sums] = OrderedDict()
        self._parts: dict[str, dict[str, list[Part]]] = {}
        for part in snapshot.parts:
            self._parts.setdefault(part.table, {}).setdefault(part.day, []).append(part)
        self._first_start = {
            (table, filed): min(part.first_start for part in parts)
            for table, days in self._parts.items()
            for filed, parts in days.items()
        }

    def sums(self, table: str, day: dt.date) -> Iterator[Sums]:
        """Yield sums that may contain hours of a UTC day, without those of other days."""
        begin = int(dt.datetime.combine(day, dt.time(), dt.UTC).timestamp()) * 1_000_000
        end = dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), dt.UTC)
        for filed in sorted(self._parts.get(table, ())):
            first = self._first_start[table, filed]
            # Rows are filed under the end of their interval or later, never under an earlier day than they belong to.
            if filed >= day.isoformat() and (not first or dt.datetime.fromisoformat(first) < end):
                hours, placed = self._of(table, filed)
                yield _between(hours, begin), None if placed is None else _between(placed, begin)

    def _of(self, table: str, filed: str) -> Sums:
        found = self._read.get((table, filed))
        if found is None:
            parts = self._parts[table][filed]
            sums = day_sums(self._history.place, parts, (HOURS, PLACEMENTS), dead=self._dead)
            if sums is not None:
                hours, placed = sums[HOURS], sums.get(PLACEMENTS)
            else:
                rows = standing_rows(self._history.place, parts, COLUMNS[table], dead=self._dead)
                hours, placed = hour_sums(table, rows)
            found = self._named(hours), None if placed is None else self._named(placed)
            self._read[table, filed] = found
        self._read.move_to_end((table, filed))
        # Intervals span several days, but a long history does not fit into memory.
        while len(self._read) > self.KEPT:
            self._read.popitem(last=False)
        return found

    def _named(self, rows: pa.Table) -> pa.Table:
        rows = named(rows, self._groups)
        # A structure cannot be assigned to a plan without its group. When the group becomes known, its days are
        # rolled up again.
        return rows.filter(pc.and_(pc.is_valid(rows["qsg"]), pc.invert(pc.equal(rows["qsg"], ""))))


def _between(rows: pa.Table, begin: int) -> pa.Table:
    """Return the rows of the 24 hours from a time [microseconds since 1970]."""
    return rows.filter(
        pc.and_(pc.greater_equal(rows["hour"], begin), pc.less(rows["hour"], begin + 24 * HOUR_US))
    )


def roll_up(history: History, days: Sequence[dt.date] | None = None) -> Iterator[Line]:
    """Yield the lines of the roll-up: the days, their hours and the end line."""
    snapshot = history.snapshot()
    if days is None:
        days = _all_days(history, snapshot)
    days = sorted(set(days))
    yield {"event": "days", "days": [day.isoformat() for day in days]}
    counted = {"structure_hour": 0, "smds_hour": 0, "queue_hour": 0}
    reader = Days(history, snapshot)
    for day in days:
        for event, hours in (
            ("structure_hour", structure_hours(reader, day)),
            ("smds_hour", smds_hours(reader, day)),
            ("queue_hour", queue_hours(reader, day)),
        ):
            for hour in hours:
                counted[event] += 1
                yield {"event": event, **vars(hour), "hour": instant_text(hour.hour), **_buckets(hour)}
    yield {"event": "end", **{f"{event}s": count for event, count in counted.items()}}


def _buckets(hour: StructureHour | SmdsHour | QueueHour) -> Line:
    if not isinstance(hour, QueueHour):
        return {}
    return {"size_buckets": [vars(bucket) for bucket in hour.size_buckets or ()]}


def structure_hours(reader: Days, day: dt.date) -> Iterator[StructureHour]:
    """Yield the hourly usage of each structure on a day."""
    keys = ["qsg", "structure", "hour"]
    hours: dict[tuple[Any, ...], Line] = {}
    spoken: dict[tuple[Any, ...], set[str]] = {}
    counts: dict[tuple[Any, ...], dict[int, Line]] = {}
    placed = placements.Placements()
    for table, maxima, counted in (
        (STRUCTURE_USAGE, STRUCTURE_MAXIMA, STRUCTURE_COUNTS),
        (ALLOCATION, ALLOCATION_MAXIMA, ()),
    ):
        for sums, places in reader.sums(table, day):
            if places is not None:
                placed.add(places.filter(pc.is_valid(places["structure"])))
            for found in sums.filter(pc.is_valid(sums["structure"])).to_pylist():
                key = tuple(found[name] for name in keys)
                line = hours.setdefault(key, _empty(STRUCTURE_KEYS))
                line["observations"] = line.get("observations", 0) + found["_rows"]
                line.setdefault("sources", set()).add(found["source"])
                if found["queue_manager"]:
                    spoken.setdefault(key, set()).add(found["queue_manager"])
                for name in maxima:
                    line[name] = _larger(line[name], found[name])
                _add_counts(counts.setdefault(key, {}), found, counted)
    for key in sorted(hours):
        line = hours[key]
        _take_first_family(line, counts.get(key, {}), STRUCTURE_COUNTS)
        yield StructureHour(
            qsg=key[0],
            structure=key[1],
            hour=_hour(key[2]),
            **{name: line[name] for name in STRUCTURE_KEYS},
            **placed.of(key),
            queue_managers=len(spoken.get(key, ())),
            observations=line["observations"],
            sources=sorted(line["sources"]),
        )


def smds_hours(reader: Days, day: dt.date) -> Iterator[SmdsHour]:
    """Yield the hours of shared message data sets on a day."""
    keys = ["qsg", "structure", "queue_manager", "hour"]
    names = (*SMDS_MAXIMA, *SMDS_MINIMA, *SMDS_COUNTS)
    hours: dict[tuple[Any, ...], Line] = {}
    counts: dict[tuple[Any, ...], dict[int, Line]] = {}
    for sums, _ in reader.sums(SMDS_USAGE, day):
        told = sums.filter(pc.and_(pc.is_valid(sums["structure"]), pc.is_valid(sums["queue_manager"])))
        for found in told.to_pylist():
            key = tuple(found[name] for name in keys)
            line = hours.setdefault(key, _empty(names))
            for name in SMDS_MAXIMA:
                line[name] = _larger(line[name], found[name])
            for name in SMDS_MINIMA:
                line[name] = _smaller(line[name], found[name])
            _add_counts(counts.setdefault(key, {}), found, SMDS_COUNTS)
    for key in sorted(hours):
        line = hours[key]
        _take_first_family(line, counts.get(key, {}), SMDS_COUNTS)
        yield SmdsHour(
            qsg=key[0],
            structure=key[1],
            queue_manager=key[2],
            hour=_hour(key[3]),
            **{name: line[name] for name in names},
        )


def queue_hours(reader: Days, day: dt.date) -> Iterator[QueueHour]:
    """Yield the hours of queues on a day.

    115-216 and 116 count the same messages: for each queue manager, the counts of 115-216 are used if there are any. 116 has
    a row for each task and shows more of the size distribution, so buckets prefer its sizes.
    """
    keys = ["qsg", "queue", "hour"]
    hours: dict[tuple[Any, ...], dict[str, dict[int, Line]]] = {}
    for sums, _ in reader.sums(QUEUE_USAGE, day):
        for found in sums.filter(pc.is_valid(sums["queue"])).to_pylist():
            key = tuple(found[name] for name in keys)
            families = hours.setdefault(key, {}).setdefault(found["queue_manager"] or "", {})
            family = _family(found["source"])
            line = families.setdefault(
                family, {**_empty((*_QUEUE_SUMS, *QUEUE_MAXIMA, *QUEUE_MINIMA, "structure")), "_sizes": {}}
            )
            for name in (*QUEUE_MAXIMA, "structure"):
                line[name] = _larger(line[name], found[name])
            for name in QUEUE_MINIMA:
                line[name] = _smaller(line[name], found[name])
            for name in _QUEUE_SUMS:
                line[name] = _total(line[name], found[name])
            if found["_bucket"] is not None and found["puts"]:
                sizes = line["_sizes"]
                sizes[found["_bucket"]] = sizes.get(found["_bucket"], 0) + found["puts"]
    for key in sorted(hours):
        yield _queue_line(key, hours[key])


def _queue_line(key: tuple[Any, ...], managers: Mapping[str, Mapping[int, Line]]) -> QueueHour:
    line = _empty((*_QUEUE_SUMS, *QUEUE_MAXIMA, *QUEUE_MINIMA, "structure"))
    sizes: dict[int, int] = {}
    sources = set()
    for families in managers.values():
        for found in families.values():
            for name in (*QUEUE_MAXIMA, "structure"):
                line[name] = _larger(line[name], found[name])
            for name in QUEUE_MINIMA:
                line[name] = _smaller(line[name], found[name])
        first = min(families)
        sources.add(FAMILIES[first] if first < OTHERS else "other")
        for name in QUEUE_COUNTS:
            line[name] = _total(line[name], families[first][name])
        for name in TASK_COUNTS:
            told = (families[family][name] for family in sorted(families))
            line[name] = _total(line[name], next((value for value in told if value is not None), None))
        by_task = families.get(FAMILIES.index("116"), {}).get("_sizes")
        for bucket, puts in (by_task or families[first]["_sizes"]).items():
            sizes[bucket] = sizes.get(bucket, 0) + puts
    average = None
    if line["puts"] and line["put_bytes"] is not None:
        # Round up, because a plan must never assume less than was measured.
        average = -(-line["put_bytes"] // line["puts"])
    return QueueHour(
        qsg=key[0],
        queue=key[1],
        structure=line["structure"],
        hour=_hour(key[2]),
        **{name: line[name] for name in (*_QUEUE_SUMS, *QUEUE_MINIMA, *QUEUE_MAXIMA)},
        put_size_avg_bytes=average,
        size_buckets=[SizeBucket(bucket, sizes[bucket]) for bucket in sorted(sizes)],
        queue_managers=sum(1 for manager in managers if manager),
        source=" and ".join(sorted(sources)),
    )


def _add_counts(families: dict[int, Line], found: Line, names: Iterable[str]) -> None:
    line = families.setdefault(_family(found["source"]), {})
    for name in names:
        line[name] = _total(line.get(name), found[name])


def _take_first_family(line: Line, families: Mapping[int, Line], names: Iterable[str]) -> None:
    for name in names:
        told = (families[family].get(name) for family in sorted(families))
        line[name] = next((value for value in told if value is not None), None)


def _family(source: str) -> int:
    for place, family in enumerate(FAMILIES):
        # 116 includes 116-1 and 116-2, but 115-2 must not include 115-216.
        if source == family or source.startswith((f"{family} ", f"{family}-")):
            return place
    return OTHERS


def _all_days(history: History, snapshot: Snapshot) -> list[dt.date]:
    days: set[str] = set()
    for entry in snapshot.ledger.entries:
        if entry.entry == "ingest" and entry.commit_id not in snapshot.ledger.dead_commits:
            days |= history.days_of(entry)
    return [dt.date.fromisoformat(day) for day in days]


def _empty(names: Iterable[str]) -> Line:
    return dict.fromkeys(names)


def _larger(one: Any, other: Any) -> Any:  # noqa: ANN401 - of any one column
    return other if one is None else one if other is None else max(one, other)


def _smaller(one: Any, other: Any) -> Any:  # noqa: ANN401 - of any one column
    return other if one is None else one if other is None else min(one, other)


def _total(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


def _hour(us: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(us // 1_000_000, dt.UTC)
