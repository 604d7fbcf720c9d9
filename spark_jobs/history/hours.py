"""Assign the figures of intervals to hours.

Counts of an interval are spread evenly over its duration; figures that are not counts (in use, sizes, depths) apply to
every hour that the interval touches. An overlap of less than a minute does not count, because intervals end some
hundredths of a second after the full hour.
"""

from __future__ import annotations

import datetime as dt
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planner_core.contracts.rollup import QueueHour, SizeBucket, SmdsHour, StructureHour
from spark_jobs.history import placements, resolve
from spark_jobs.history.compare import instant_text
from spark_jobs.history.schema import ALLOCATION, HOUR_US, QUEUE_USAGE, SMDS_USAGE, STRUCTURE_USAGE
from spark_jobs.history.staging import interval_starts, read_parts
from spark_jobs.history.store import History, Snapshot, named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

Line = dict[str, Any]

EDGE_US = 60_000_000
LEAST_US = 2 * EDGE_US
"""The shortest interval that is divided among hours; a shorter one belongs to the hour in which it starts."""

SIZE_BUCKETS = tuple(2**power for power in range(8, 28))
"""Upper limits of the size classes of puts, 256 bytes to 128 MiB; the last one also includes larger messages."""

STRUCTURE_COUNTS = (
    "structure_full_count",
    "ixllste_calls",
    "ixllste_us",
    "ixllste_redrives",
    "ixllstm_calls",
    "ixllstm_us",
    "ixllstm_redrives",
    "sync_requests",
    "sync_us",
    "async_requests",
    "async_us",
    "changed_requests",
)
STRUCTURE_MAXIMA = {
    "entries_in_use_max": "entries_in_use",
    "elements_in_use_max": "elements_in_use",
    "entries_total": "entries_total",
    "elements_total": "elements_total",
    "entries_in_use_pct_max": "entries_in_use_pct",
    "elements_in_use_pct_max": "elements_in_use_pct",
    "scm_entries_in_use_max": "scm_entries_in_use",
    "scm_elements_in_use_max": "scm_elements_in_use",
    "size_bytes": "size_bytes",
    "size_max_bytes": "size_max_bytes",
    "size_min_bytes": "size_min_bytes",
    "size_used_bytes_max": "size_used_bytes",
}
ALLOCATION_MAXIMA = {
    "entries_in_use_max": "entries_in_use",
    "elements_in_use_max": "elements_in_use",
    "entries_total": "entries_total",
    "elements_total": "elements_total",
    "size_bytes": "size_bytes",
    "size_max_bytes": "size_max_bytes",
    "policy_size_bytes": "policy_size_bytes",
    "policy_initsize_bytes": "policy_initsize_bytes",
    "policy_minsize_bytes": "policy_minsize_bytes",
    "full_threshold_pct": "full_threshold_pct",
}
SMDS_COUNTS = (
    "failed_allocates",
    "pages_allocated",
    "pages_freed",
    "write_requests",
    "pages_written",
    "read_requests",
    "pages_read",
    "other_read_requests",
    "pool_waits",
    "buffer_waits",
)
SMDS_MAXIMA = {
    "blocks_total": "blocks_total",
    "blocks_data": "blocks_data",
    "blocks_in_use_max": "blocks_in_use_max",
    "messages_max": "messages_max",
    "buffers_total": "buffers_total",
}
SMDS_MINIMA = {"buffers_free_min": "buffers_free_min"}
QUEUE_COUNTS = (
    "puts",
    "put_bytes",
    "persistent_puts",
    "puts_to_waiting_getter",
    "gets",
    "get_bytes",
    "expired",
)
QUEUE_MAXIMA = {
    "put_size_max_bytes": "put_size_max_bytes",
    "depth_max": "depth_max",
    "time_on_queue_max_us": "time_on_queue_max_us",
}
QUEUE_MINIMA = {"put_size_min_bytes": "put_size_min_bytes"}

FAMILIES = ("115-2", "115-216", "116", "74-4", "CFACT", "overview", "display", "template")
"""Sources that count the same things, in order of preference: the first one with counts is used, never their sum."""
OTHERS = len(FAMILIES)

STRUCTURE_KEYS = tuple(
    dict.fromkeys(
        (
            *STRUCTURE_MAXIMA,
            *ALLOCATION_MAXIMA,
            *STRUCTURE_COUNTS,
        )
    )
)


_IDENTITY = ("qsg", "structure", "xcf_structure", "queue_manager", "source", "interval_start", "interval_end")
COLUMNS = {
    STRUCTURE_USAGE: (*_IDENTITY, *STRUCTURE_MAXIMA.values(), *STRUCTURE_COUNTS, *placements.USAGE_COLUMNS),
    ALLOCATION: (*_IDENTITY, *ALLOCATION_MAXIMA.values(), *placements.ALLOCATION_COLUMNS),
    SMDS_USAGE: (*_IDENTITY, *SMDS_MAXIMA.values(), *SMDS_MINIMA.values(), *SMDS_COUNTS),
    QUEUE_USAGE: (*_IDENTITY, "queue", *QUEUE_MAXIMA.values(), *QUEUE_MINIMA.values(), *QUEUE_COUNTS),
}
"""The columns of each table that roll-ups read."""


class Days:
    """A reader of the days of a history, which reads each day only once as long as neighbouring days are requested."""

    KEPT = 6

    def __init__(self, history: History, snapshot: Snapshot) -> None:
        self._history = history
        self._snapshot = snapshot
        self._groups = snapshot.ledger.groups
        self._dead = snapshot.ledger.dead_commits
        self._read: OrderedDict[tuple[str, str], pa.Table] = OrderedDict()

    def rows(self, table: str, day: dt.date) -> Iterator[pa.Table]:
        """Yield the tables of rows that may contain rows of a UTC day."""
        end = dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), dt.UTC)
        for filed in self._snapshot.days(table):
            # Rows are filed under the end of their interval or later, never under an earlier day than they belong to.
            if filed >= day.isoformat() and self._snapshot.may_start_before(table, filed, end):
                yield self._of(table, filed)

    def _of(self, table: str, filed: str) -> pa.Table:
        found = self._read.get((table, filed))
        if found is None:
            parts = self._snapshot.of(table, filed)
            columns = list(dict.fromkeys((*resolve.KEY_COLUMNS, *COLUMNS[table])))
            found = read_parts(self._history.place, parts, table=table, columns=columns)
            found = resolve.without(found, self._dead)
            merged = [name for name in resolve.merged_columns(table) if name in COLUMNS[table]]
            found = resolve.standing(found, columns=merged)
            found = named(found.select(COLUMNS[table]), self._groups)
            # A structure cannot be assigned to a plan without its group. When the group becomes known, its days are
            # rolled up again.
            found = found.filter(pc.and_(pc.is_valid(found["qsg"]), pc.invert(pc.equal(found["qsg"], ""))))
            self._read[table, filed] = found
        self._read.move_to_end((table, filed))
        # Intervals span several days, but a long history does not fit into memory.
        while len(self._read) > self.KEPT:
            self._read.popitem(last=False)
        return found


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
        for rows in reader.rows(table, day):
            rows = rows.filter(pc.is_valid(rows["structure"]))
            spread = spread_over_hours(rows, day=day, counts=counted)
            placed.add(spread)
            grouped = _grouped(spread, [*keys, "source", "queue_manager"], maxima, {}, counted)
            for found in grouped.to_pylist():
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
    for rows in reader.rows(SMDS_USAGE, day):
        rows = rows.filter(pc.and_(pc.is_valid(rows["structure"]), pc.is_valid(rows["queue_manager"])))
        spread = spread_over_hours(rows, day=day, counts=SMDS_COUNTS)
        for found in _grouped(spread, [*keys, "source"], SMDS_MAXIMA, SMDS_MINIMA, SMDS_COUNTS).to_pylist():
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
    for rows in reader.rows(QUEUE_USAGE, day):
        rows = rows.filter(pc.is_valid(rows["queue"]))
        spread = _with_bucket(spread_over_hours(rows, day=day, counts=QUEUE_COUNTS))
        by = [*keys, "source", "queue_manager", "_bucket"]
        grouped = _grouped(spread, by, {**QUEUE_MAXIMA, "structure": "structure"}, QUEUE_MINIMA, QUEUE_COUNTS)
        for found in grouped.to_pylist():
            key = tuple(found[name] for name in keys)
            families = hours.setdefault(key, {}).setdefault(found["queue_manager"] or "", {})
            family = _family(found["source"])
            line = families.setdefault(
                family, {**_empty((*QUEUE_COUNTS, *QUEUE_MAXIMA, *QUEUE_MINIMA, "structure")), "_sizes": {}}
            )
            for name in (*QUEUE_MAXIMA, "structure"):
                line[name] = _larger(line[name], found[name])
            for name in QUEUE_MINIMA:
                line[name] = _smaller(line[name], found[name])
            for name in QUEUE_COUNTS:
                line[name] = _total(line[name], found[name])
            if found["_bucket"] is not None and found["puts"]:
                sizes = line["_sizes"]
                sizes[found["_bucket"]] = sizes.get(found["_bucket"], 0) + found["puts"]
    for key in sorted(hours):
        yield _queue_line(key, hours[key])


def _queue_line(key: tuple[Any, ...], managers: Mapping[str, Mapping[int, Line]]) -> QueueHour:
    line = _empty((*QUEUE_COUNTS, *QUEUE_MAXIMA, *QUEUE_MINIMA, "structure"))
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
        **{name: line[name] for name in (*QUEUE_COUNTS, *QUEUE_MINIMA, *QUEUE_MAXIMA)},
        put_size_avg_bytes=average,
        size_buckets=[SizeBucket(bucket, sizes[bucket]) for bucket in sorted(sizes)],
        queue_managers=sum(1 for manager in managers if manager),
        source=" and ".join(sorted(sources)),
    )


def spread_over_hours(rows: pa.Table, *, day: dt.date, counts: Iterable[str]) -> pa.Table:
    """Return each row once for each hour of a UTC day that its interval touches, with its share of the counts.

    The shares of a count over all its hours add up to it: each is the difference of two rounded running totals.
    """
    ends = _micros(rows["interval_end"])
    starts = _micros(interval_starts(rows))
    # Both ends of so short an interval may lie within EDGE_US of an hour, and nothing would be left of it.
    short = ends - starts < LEAST_US
    into_first = HOUR_US - starts % HOUR_US
    begin = np.where(~short & (into_first < EDGE_US), starts + into_first, starts)
    into_last = ends % HOUR_US
    end = np.where(~short & (into_last < EDGE_US), ends - into_last, ends)
    first = begin // HOUR_US
    last = np.where(short, first, np.maximum(first, (end - 1) // HOUR_US))
    length = np.where(short, 1, np.maximum(end - begin, 1)).astype(np.float64)

    midnight = int(dt.datetime.combine(day, dt.time(), dt.UTC).timestamp()) * 1_000_000 // HOUR_US
    from_hour = np.maximum(first, midnight)
    hours = np.maximum(np.minimum(last, midnight + 23) - from_hour + 1, 0)
    position = np.repeat(np.arange(rows.num_rows), hours)
    starts_at = np.cumsum(hours) - hours
    hour = np.arange(len(position)) - np.repeat(starts_at, hours) + from_hour[position]
    share_before = np.clip((hour * HOUR_US - begin[position]) / length[position], 0, 1)
    share_after = np.clip(((hour + 1) * HOUR_US - begin[position]) / length[position], 0, 1)
    share_before = np.where(hour == first[position], 0.0, share_before)
    share_after = np.where(hour == last[position], 1.0, share_after)

    spread = rows.take(pa.array(position)).append_column("hour", pa.array(hour * HOUR_US, pa.int64()))
    for name in counts:
        column = spread[name].combine_chunks()
        known = np.asarray(column.is_valid())
        whole = np.asarray(pc.fill_null(column, 0)).astype(np.float64)
        share = (np.rint(whole * share_after) - np.rint(whole * share_before)).astype(np.int64)
        spread = spread.set_column(
            spread.schema.get_field_index(name), name, pa.array(share, pa.int64(), mask=~known)
        )
    return spread


def _grouped(
    rows: pa.Table,
    by: list[str],
    maxima: Mapping[str, str],
    minima: Mapping[str, str],
    counts: Iterable[str],
) -> pa.Table:
    aggregations = [(source, "max") for source in maxima.values()]
    aggregations += [(source, "min") for source in minima.values()]
    aggregations += [(name, "sum") for name in counts]
    found = rows.group_by(by).aggregate([*aggregations, ([], "count_all")])
    names = {f"{source}_max": target for target, source in maxima.items()}
    names |= {f"{source}_min": target for target, source in minima.items()}
    names |= {f"{name}_sum": name for name in counts}
    return found.rename_columns([names.get(name, name) for name in found.column_names]).rename_columns(
        {"count_all": "_rows"}
    )


def _with_bucket(rows: pa.Table) -> pa.Table:
    """Add the size bucket of each row's average message."""
    puts = np.asarray(pc.fill_null(rows["puts"].combine_chunks(), 0))
    # No record has the sizes of single messages, so all puts of a row count in the class of their mean.
    size = np.asarray(pc.fill_null(rows["put_bytes"].combine_chunks(), 0)) / np.maximum(puts, 1)
    place = np.minimum(np.searchsorted(SIZE_BUCKETS, size, side="left"), len(SIZE_BUCKETS) - 1)
    unknown = (puts <= 0) | ~np.asarray(rows["put_bytes"].combine_chunks().is_valid())
    return rows.append_column("_bucket", pa.array(np.array(SIZE_BUCKETS)[place], pa.int64(), mask=unknown))


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


def _micros(column: pa.ChunkedArray) -> Numbers:
    numbers: Numbers = np.asarray(column.cast(pa.int64()).combine_chunks())
    return numbers


def _hour(us: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(us // 1_000_000, dt.UTC)
