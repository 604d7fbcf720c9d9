"""Hourly and daily sums of the rows of one Parquet file, stored in the file's footer.

They are written with the rows, so they become visible with them, and are removed, dropped or rewritten with them. Sums
of several files can be merged if no natural key is in two of their rows. A file of an older release has none; its
rows are read instead. A footer also has the range of times of each stream of records, from which readers see that two
files cannot have a key in common without reading their rows.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planner_core.simulated import FILE_PREFIX
from spark_jobs.history.hour_sums import COLUMNS, NAMES, hour_sums, hours_of_rows, interval_starts
from spark_jobs.history.resolve import has_repeats
from spark_jobs.history.schema import (
    ALLOCATION,
    DAY_US,
    HOUR_US,
    INSTANT,
    QUEUE_USAGE,
    SMDS_USAGE,
    STRUCTURE_USAGE,
    natural_key,
)
from spark_jobs.night.measures import LARGEST, LARGEST_WORST, LAST_SECOND, MEASURED, TIME_SHIFT, WORST_UNIT
from spark_jobs.night.statistics import ENTRIES_SHIFT, FAMILIES, OTHER_FAMILIES, REDUCTION, STEP_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

RULES = 2
"""The version of the rules and columns; sums by other rules are ignored, and the rows are read instead."""
PREFIX = f"cfplan.{RULES}.{REDUCTION}."
SPANS = "spans"
HOURS, PLACEMENTS, STATES, POLICIES, JUDGED = "hours", "placements", "states", "policies", "judged"
SUMS_OF: dict[str, tuple[str, ...]] = {
    STRUCTURE_USAGE: (HOURS, PLACEMENTS, STATES, JUDGED),
    ALLOCATION: (HOURS, PLACEMENTS, STATES, POLICIES),
    SMDS_USAGE: (HOURS, STATES, JUDGED),
    QUEUE_USAGE: (HOURS, STATES, JUDGED),
}
"""The sums of each table. `hours` and `placements` are merged to roll-ups, the others to daily statistics."""

LARGEST_SUM = 2.0**62
"""Sums that might exceed this are not stored, because whole numbers overflow at twice as much."""
MOST_PUTS = 2**50
MOST_HOURS_OF_A_ROW, MOST_HOURS = 2, 100_000
"""Sums are not stored if the intervals of the rows touch more hours than this number for each row and this number in all:
they would be longer than the rows."""
MOST_SUMS_BYTES = 20_000_000
"""Longer sums are not stored, because readers refuse footers of more than 100 MB."""

_SEEN = (("observations", "sum"), ("first_at", "min"), ("last_at", "max"), ("is_simulated", "max"))
_MEASURED: dict[str, tuple[tuple[str, str], ...]] = {
    STRUCTURE_USAGE: (
        ("entries_in_use", "max"), ("elements_in_use", "max"), ("entries_in_use_pct", "max"),
        ("elements_in_use_pct", "max"), ("fullest", "max"), ("structure_full_count", "sum"), ("size_max_bytes", "max"),
        ("entries_written", "sum"), ("elements_written", "sum"),
    ),
    ALLOCATION: (("entries_in_use", "max"), ("elements_in_use", "max"), ("fullest", "max"), ("size_max_bytes", "max")),
    SMDS_USAGE: (
        ("blocks_peak", "max"), ("blocks_data", "max"), ("messages_peak", "max"), ("failed_allocates", "sum"),
    ),
    QUEUE_USAGE: (
        ("puts", "sum"), ("put_bytes", "sum"), ("put_size_squares", "sum"), ("persistent_puts", "sum"),
        ("puts_to_waiting_getter", "sum"), ("put_size_min_bytes", "min"), ("put_size_max_bytes", "max"),
        ("depth_max", "max"),
    ),
}  # fmt: skip
_ALLOCATED = ("coupling_facility", "allocated_at", "size_bytes", "entries_total", "elements_total")
_POLICY = ("policy_size_bytes", "policy_initsize_bytes", "full_threshold_pct", "mq_offload_rules")
STATE_KEYS: dict[str, tuple[str, ...]] = {
    STRUCTURE_USAGE: ("day", *NAMES, "family", *_ALLOCATED),
    ALLOCATION: ("day", *NAMES, "family", *_ALLOCATED),
    SMDS_USAGE: ("day", *NAMES, "family", "queue_manager"),
    QUEUE_USAGE: ("day", *NAMES, "family", "queue_manager", "queue"),
}
POLICY_KEYS = ("day", *NAMES, *_POLICY)
JUDGED_KEYS = ("day", *NAMES, "measure", "reporter", "coupling_facility", "queue")
_JUDGED = (("intervals", "sum"), ("above_good", "sum"), ("above_limit", "sum"), ("worst", "max"))


class NotSummable(Exception):
    """Rows whose sums might differ from those of other engines (negative figures, figures that overflow), or would be too long."""


@dataclass(frozen=True, slots=True)
class Spans:
    """The times of the rows of a file, by stream of records, and whether each of its keys occurs once."""

    is_unique: bool
    streams: Mapping[str, tuple[int, int]]


# ---- writing ---------------------------------------------------------------------------------------------------------


def footer_of(table: str, rows: pa.Table) -> dict[str, str]:
    """Return the entries for the footer of a file with these stored rows; without sums if they could be wrong or too long."""
    entries = {PREFIX + SPANS: json.dumps(_spans(rows))}
    try:
        sums = sums_of(table, rows)
    except NotSummable:
        return entries
    texts = {PREFIX + name: _encoded(found) for name, found in sums.items()}
    if sum(map(len, texts.values())) > MOST_SUMS_BYTES:
        return entries
    return entries | texts


def sums_of(table: str, rows: pa.Table) -> dict[str, pa.Table]:
    """Return the sums of rows.

    Raises:
        NotSummable: the rows have figures that cannot be summed up exactly, or intervals of very many hours.
    """
    hours_in_all = int(hours_of_rows(rows).sum())
    if hours_in_all > MOST_HOURS_OF_A_ROW * rows.num_rows + MOST_HOURS:
        message = f"{rows.num_rows} rows touch {hours_in_all} hours"
        raise NotSummable(message)
    hours, placed = hour_sums(table, rows.select(COLUMNS[table]))
    found = {HOURS: hours, **daily_sums(table, rows)}
    if placed is not None:
        found[PLACEMENTS] = placed
    return found


def daily_sums(table: str, rows: pa.Table) -> dict[str, pa.Table]:
    """Return the sums of rows that are merged to daily statistics.

    Raises:
        NotSummable: the rows have figures that cannot be summed up exactly.
    """
    told = _with_days(rows)
    found = {STATES: _states(table, told)}
    if table == ALLOCATION:
        found[POLICIES] = _policies(told)
    if table in MEASURED:
        found[JUDGED] = _judged(table, told)
    return found


def _spans(rows: pa.Table) -> dict[str, Any]:
    low = np.asarray(rows["key_low"].combine_chunks())
    streams: dict[str, tuple[int, int]] = {}
    by = ["source", "system_id", "queue_manager"]
    instants = {name: rows[name].cast(pa.int64()) for name in ("interval_end", "written_at")}
    keyed = pa.table({**{name: rows[name] for name in by}, **instants})
    ranges = [(name, how) for name in instants for how in ("min", "max")]
    for row in keyed.group_by(by).aggregate(ranges).to_pylist():
        key = natural_key(row["source"])
        instant = "written_at" if "written_at" in key.columns else "interval_end"
        # Only values of the key separate streams: rows of one key must be in one stream.
        stream = json.dumps([key.family, *(row[name] for name in by[1:] if name in key.columns)])
        first, last = row[f"{instant}_min"], row[f"{instant}_max"]
        if stream in streams:
            first, last = min(first, streams[stream][0]), max(last, streams[stream][1])
        streams[stream] = first, last
    return {"is_unique": not has_repeats(low), "streams": streams}


def _states(table: str, rows: pa.Table) -> pa.Table:
    if table in (STRUCTURE_USAGE, ALLOCATION):
        entries, elements = (rows[name] for name in ("entries_in_use", "elements_in_use"))
        fits = pc.and_(pc.less(entries, ENTRIES_SHIFT // 2), pc.less(elements, ENTRIES_SHIFT))
        fits = pc.and_(fits, pc.and_(pc.greater_equal(entries, 0), pc.greater_equal(elements, 0)))
        # Where a figure is too large for the sum, it is replaced before it is multiplied.
        both = pc.add(pc.multiply(pc.if_else(fits, entries, 0), ENTRIES_SHIFT), pc.if_else(fits, elements, 0))
        rows = rows.append_column("fullest", pc.if_else(fits, both, pa.scalar(None, pa.int64())))
    elif table == SMDS_USAGE:
        rows = rows.append_column(
            "blocks_peak", pc.max_element_wise(rows["blocks_in_use_max"], rows["blocks_in_use"])
        ).append_column("messages_peak", pc.max_element_wise(rows["messages_max"], rows["messages"]))
    else:
        rows = rows.append_column("put_size_squares", _squares(rows))
    return _by_state(rows, STATE_KEYS[table], _MEASURED[table])


def _policies(rows: pa.Table) -> pa.Table:
    told = [pc.is_valid(rows[name]) for name in _POLICY]
    rows = rows.filter(pc.or_(pc.or_(told[0], told[1]), pc.or_(told[2], told[3])))
    return _by_state(rows, POLICY_KEYS, ())


def _judged(table: str, rows: pa.Table) -> pa.Table:
    """Return the rows judged by the guidelines for the health of structures, as in SQL in `spark_jobs.night.reduce`."""
    nothing = pa.nulls(rows.num_rows, pa.string())
    seconds = np.asarray(rows["last_at"].cast(pa.int64()).combine_chunks()) // 1_000_000
    seconds = np.clip(seconds, 0, LAST_SECOND)
    found = []
    for each in MEASURED[table]:
        limits = each.limits
        part, whole = (_added(rows, names) for names in (each.parts, each.wholes))
        told = pc.and_(
            pc.equal(rows["family"], FAMILIES.index(each.family)), pc.is_valid(rows[each.reporter])
        )
        told = np.asarray(pc.fill_null(told, False).combine_chunks()) & (part >= 0) & (whole >= 0)
        scaled = limits.scale * part
        judged = whole + (part if limits.adds_part else 0) >= limits.least
        is_above = scaled > limits.limit * whole
        is_not_good = is_above if limits.good is None else scaled >= limits.good * whole
        value = np.minimum(scaled * WORST_UNIT // np.maximum(whole, 1), LARGEST_WORST)
        columns = (
            {
                "intervals": pa.array(judged.astype(np.int64)),
                "above_good": pa.array((judged & is_not_good).astype(np.int64)),
                "above_limit": pa.array((judged & is_above).astype(np.int64)),
                "worst": pa.array(value * TIME_SHIFT + seconds, pa.int64(), mask=~judged),
                "measure": pa.repeat(pa.scalar(each.measure, pa.string()), rows.num_rows),
                "reporter": rows[each.reporter],
            }
            | {
                name: rows[name] if name in rows.schema.names else nothing
                for name in ("coupling_facility", "queue")
            }
            | {name: rows[name] for name in ("day", *NAMES, "hours", *(name for name, _ in _SEEN))}
        )
        found.append(pa.table(columns).filter(pa.array(told)))
    return _by_state(pa.concat_tables(found), JUDGED_KEYS, _JUDGED)


def _added(rows: pa.Table, names: Sequence[str]) -> Numbers:
    """Return the sums of columns; -1 where one of them is unknown or not plausible, and 1 for no columns."""
    total = np.zeros(rows.num_rows, dtype=np.int64) if names else np.ones(rows.num_rows, dtype=np.int64)
    for name in names:
        values = np.asarray(pc.fill_null(rows[name], -1).combine_chunks())
        fits = (values >= 0) & (values <= LARGEST) & (total >= 0)
        total = np.where(fits, total + np.where(fits, values, 0), -1)
    return total


def _with_days(rows: pa.Table) -> pa.Table:
    """Add the day, the hour and the other figures that all statistics have."""
    ends = np.asarray(rows["interval_end"].cast(pa.int64()).combine_chunks())
    starts = np.asarray(interval_starts(rows).cast(pa.int64()).combine_chunks())
    if len(starts) and int(starts.min()) < 0:
        raise NotSummable
    middle = (starts + ends) // 2
    sources = pc.dictionary_encode(rows["source"].combine_chunks())
    families = [_family(source) for source in sources.dictionary.to_pylist()]
    simulated = pc.fill_null(pc.starts_with(rows["file_name"], FILE_PREFIX), False)
    added = {
        "day": pa.array((middle // DAY_US).astype(np.int32), pa.date32()),
        "hours": pa.array(np.left_shift(1, middle // HOUR_US % 24)),
        "family": pa.array(np.array(families, dtype=np.int32)[np.asarray(sources.indices)], pa.int32()),
        "observations": pa.repeat(pa.scalar(1, pa.int64()), rows.num_rows),
        "first_at": pa.array(starts).cast(INSTANT),
        "last_at": rows["interval_end"],
        "is_simulated": simulated.cast(pa.int32()),
    }
    for name, column in added.items():
        place = rows.schema.get_field_index(name)
        rows = rows.append_column(name, column) if place < 0 else rows.set_column(place, name, column)
    return rows


def _family(source: str) -> int:
    return next(
        (number for number, family in enumerate(FAMILIES) if source.startswith(family)), OTHER_FAMILIES
    )


def _squares(rows: pa.Table) -> pa.Array:
    """Return the puts of each row x the square of their mean size in steps; null if that exceeds 64 bits."""
    known = pc.and_(pc.is_valid(rows["put_bytes"]), pc.greater(rows["puts"], 0))
    is_known = np.asarray(pc.fill_null(known, False).combine_chunks())
    puts = np.where(is_known, np.asarray(pc.fill_null(rows["puts"], 1).combine_chunks()), 1).astype(np.int64)
    size = np.where(is_known, np.asarray(pc.fill_null(rows["put_bytes"], 0).combine_chunks()), 0).astype(
        np.int64
    )
    if len(puts) and (int(puts.max()) > MOST_PUTS or int(size.min()) < 0 or float(size.max()) > LARGEST_SUM):
        raise NotSummable
    steps = (size + STEP_BYTES * puts - 1) // (STEP_BYTES * puts)
    about = puts.astype(np.float64) * steps.astype(np.float64) ** 2
    squares = np.where(about < LARGEST_SUM, steps, 0) ** 2 * puts
    is_exact = is_known.copy()
    for place in np.flatnonzero(about >= LARGEST_SUM):
        exact = int(puts[place]) * int(steps[place]) ** 2
        is_exact[place] &= exact < 2**63
        squares[place] = exact if exact < 2**63 else 0
    return pa.array(squares, pa.int64(), mask=~is_exact)


def _by_state(rows: pa.Table, keys: Sequence[str], measured: Sequence[tuple[str, str]]) -> pa.Table:
    figures = (*_SEEN, *measured)
    check_sums(rows, figures)
    fine = rows.select(list(dict.fromkeys((*keys, "hours", *(name for name, _ in figures)))))
    return merged(fine, keys, figures)


def check_sums(rows: pa.Table, figures: Iterable[tuple[str, str]]) -> None:
    """Check that no sum of rows can overflow, and that maxima are numbers.

    Raises:
        NotSummable: a sum might overflow, or a figure is negative or not a number.
    """
    for name, how in figures:
        column = rows[name]
        if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
            raise NotSummable
        if how != "sum" or column.null_count == len(column):
            continue
        if pc.min(column).as_py() < 0 or pc.sum(column.cast(pa.float64(), safe=False)).as_py() > LARGEST_SUM:
            raise NotSummable


def merged(rows: pa.Table, keys: Sequence[str], figures: Iterable[tuple[str, str]]) -> pa.Table:
    """Return rows of sums merged by their keys; `hours` is the union of bits."""
    figures = tuple(figures)
    found = rows.group_by(list(keys)).aggregate([*figures, ("hours", "list")])
    found = found.rename_columns([*keys, *(name for name, _ in figures), "hours"])
    # Arrow has no union of bits. No list is empty, so each union ends where the next list begins.
    lists = found["hours"].combine_chunks()
    hours = np.bitwise_or.reduceat(np.asarray(lists.flatten()), np.asarray(lists.offsets)[:-1])
    return found.set_column(found.num_columns - 1, "hours", pa.array(hours))


def _encoded(table: pa.Table) -> str:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks())
    return base64.b64encode(sink.getvalue()).decode()


# ---- reading ---------------------------------------------------------------------------------------------------------


def has_spans(footer: Mapping[str, str]) -> bool:
    """Return whether a footer has the times of the rows; those of an older release have none."""
    return PREFIX + SPANS in footer


def spans_in(footer: Mapping[str, str]) -> Spans:
    """Return the times of the rows of a file from its footer."""
    found = json.loads(footer[PREFIX + SPANS])
    streams = {stream: (first, last) for stream, (first, last) in found["streams"].items()}
    return Spans(found["is_unique"], streams)


def sums_in(footer: Mapping[str, str], table: str, names: Sequence[str]) -> dict[str, pa.Table] | None:
    """Return those of the named sums that the table has; None if the footer has none, or those of other rules."""
    wanted = [name for name in SUMS_OF[table] if name in names]
    if any(PREFIX + name not in footer for name in wanted):
        return None
    return {name: _decoded(footer[PREFIX + name]) for name in wanted}


def are_apart(spans: Sequence[Spans]) -> bool:
    """Return whether the times of files prove that no key is in two rows. If not, the rows may still be different."""
    if not all(each.is_unique for each in spans):
        return False
    times: dict[str, list[tuple[int, int]]] = {}
    for each in spans:
        for stream, span in each.streams.items():
            times.setdefault(stream, []).append(span)
    return all(
        earlier[1] < later[0]
        for of_stream in times.values()
        for earlier, later in pairwise(sorted(of_stream))
    )


def bring_only_new_keys(new: Sequence[Spans], there: Sequence[Spans]) -> bool:
    """Return whether the times of files prove that no key of the new ones is in two rows, or in one of the others."""
    if not are_apart(new):
        return False
    return all(
        begin > last or end < first
        for each in new
        for stream, (begin, end) in each.streams.items()
        for first, last in (other.streams[stream] for other in there if stream in other.streams)
    )


def _decoded(text: str) -> pa.Table:
    with pa.ipc.open_stream(base64.b64decode(text)) as reader:
        return reader.read_all()
