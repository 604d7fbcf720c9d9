"""Sums of rows by hour, from which roll-ups are made.

Counts of an interval are spread evenly over its duration; figures that are not counts (in use, sizes, depths) apply to
every hour that the interval touches. An overlap of less than a minute does not count, because intervals end some
hundredths of a second after the full hour.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.history import placements
from spark_jobs.history.schema import (
    ALLOCATION,
    HOUR_US,
    IN_HOURS_AT_MOST,
    QUEUE_USAGE,
    SMDS_USAGE,
    STRUCTURE_USAGE,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

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
    "queued_requests",
    "queued_us",
    "entries_written",
    "elements_written",
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
    "pool_wait_us",
    "buffer_wait_us",
    "buffer_requests",
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
TASK_COUNTS = ("get_readlists", "get_moves")
"""Counts that only accounting data (116) has: 115-216 has none of them, even where its other counts are preferred."""
QUEUE_MAXIMA = {
    "put_size_max_bytes": "put_size_max_bytes",
    "depth_max": "depth_max",
    "time_on_queue_max_us": "time_on_queue_max_us",
}
QUEUE_MINIMA = {"put_size_min_bytes": "put_size_min_bytes"}

_IDENTITY = ("qsg", "structure", "xcf_structure", "queue_manager", "source", "interval_start", "interval_end")
COLUMNS = {
    STRUCTURE_USAGE: (*_IDENTITY, *STRUCTURE_MAXIMA.values(), *STRUCTURE_COUNTS, *placements.USAGE_COLUMNS),
    ALLOCATION: (*_IDENTITY, *ALLOCATION_MAXIMA.values(), *placements.ALLOCATION_COLUMNS),
    SMDS_USAGE: (*_IDENTITY, *SMDS_MAXIMA.values(), *SMDS_MINIMA.values(), *SMDS_COUNTS),
    QUEUE_USAGE: (
        *_IDENTITY,
        "queue",
        *QUEUE_MAXIMA.values(),
        *QUEUE_MINIMA.values(),
        *QUEUE_COUNTS,
        *TASK_COUNTS,
    ),
}
"""The columns of each table that roll-ups read."""


NAMES = ("qsg", "structure", "xcf_structure")


def hour_sums(table: str, rows: pa.Table) -> tuple[pa.Table, pa.Table | None]:
    """Return the sums of rows by hour and source, and the placements by hour of tables that have them.

    Both have the names of the rows, so that a group that becomes known later can be assigned.
    """
    maxima, minima, counts, keys = _SUMS[table]
    spread = spread_over_hours(rows, counts=counts)
    if table == QUEUE_USAGE:
        spread = _with_bucket(spread)
    found = _grouped(spread, [*NAMES, *keys, "source", "queue_manager", "hour"], maxima, minima, counts)
    return found, placements.latest(spread) if table in (STRUCTURE_USAGE, ALLOCATION) else None


_SUMS: dict[str, tuple[Mapping[str, str], Mapping[str, str], tuple[str, ...], tuple[str, ...]]] = {
    STRUCTURE_USAGE: (STRUCTURE_MAXIMA, {}, STRUCTURE_COUNTS, ()),
    ALLOCATION: (ALLOCATION_MAXIMA, {}, (), ()),
    SMDS_USAGE: (SMDS_MAXIMA, SMDS_MINIMA, SMDS_COUNTS, ()),
    QUEUE_USAGE: (QUEUE_MAXIMA, QUEUE_MINIMA, (*QUEUE_COUNTS, *TASK_COUNTS), ("queue", "_bucket")),
}
"""The maxima, minima and counts of each table, and the keys of its sums that other tables do not have."""


def interval_starts(rows: pa.Table) -> pa.ChunkedArray:
    """Return the start from which the rows' counts are spread: for an instant or an overlong interval, its end."""
    starts = pc.coalesce(rows["interval_start"], rows["interval_end"])
    longest = pa.scalar(dt.timedelta(hours=IN_HOURS_AT_MOST), pa.duration("us"))
    is_odd = pc.or_(
        pc.greater(starts, rows["interval_end"]),
        pc.greater(pc.subtract(rows["interval_end"], starts), longest),
    )
    return pc.if_else(is_odd, rows["interval_end"], starts)


def hours_of_rows(rows: pa.Table) -> Numbers:
    """Return the number of hours that the interval of each row touches."""
    first, last = _first_and_last_hour(*_touched(rows))
    hours: Numbers = np.maximum(last - first + 1, 0)
    return hours


def _touched(rows: pa.Table) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Return begin and end of the time that counts are spread over [microseconds since 1970], and which are very short."""
    ends = _micros(rows["interval_end"])
    starts = _micros(interval_starts(rows))
    # Both ends of so short an interval may lie within EDGE_US of an hour, and nothing would be left of it.
    is_short = ends - starts < LEAST_US
    into_first = HOUR_US - starts % HOUR_US
    begin = np.where(~is_short & (into_first < EDGE_US), starts + into_first, starts)
    into_last = ends % HOUR_US
    end = np.where(~is_short & (into_last < EDGE_US), ends - into_last, ends)
    return begin, end, is_short


def _first_and_last_hour(
    begin: Numbers, end: Numbers, is_short: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    first = begin // HOUR_US
    return first, np.where(is_short, first, np.maximum(first, (end - 1) // HOUR_US))


def spread_over_hours(rows: pa.Table, *, counts: Iterable[str]) -> pa.Table:
    """Return each row once for each hour that its interval touches, with its share of the counts.

    The shares of a count over all its hours add up to it: each is the difference of two rounded running totals.
    """
    begin, end, is_short = _touched(rows)
    first, last = _first_and_last_hour(begin, end, is_short)
    length = np.where(is_short, 1, np.maximum(end - begin, 1)).astype(np.float64)

    hours = np.maximum(last - first + 1, 0)
    if np.all(hours == 1) and _are_exact(rows, counts):
        # Intervals of a minute lie in one hour each, so nothing is divided.
        return rows.append_column("hour", pa.array(first * HOUR_US, pa.int64()))
    position = np.repeat(np.arange(rows.num_rows), hours)
    starts_at = np.cumsum(hours) - hours
    hour = np.arange(len(position)) - np.repeat(starts_at, hours) + first[position]
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


def _are_exact(rows: pa.Table, counts: Iterable[str]) -> bool:
    """Return whether all counts are unchanged by the floating-point numbers in which shares are calculated."""
    most = (pc.max(pc.abs(rows[name])).as_py() for name in counts)
    return all(each is None or each < 2**53 for each in most)


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


def _micros(column: pa.ChunkedArray) -> Numbers:
    numbers: Numbers = np.asarray(column.cast(pa.int64()).combine_chunks())
    return numbers
