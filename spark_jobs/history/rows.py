"""Convert decoded SMF sections to rows of the history.

Each range is converted from its own batches alone, so ranges may be read in any order, on any machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planner_core.names import cfrm_structure_name
from spark_jobs.history.schema import (
    ALLOCATION,
    QUEUE_USAGE,
    SMDS_USAGE,
    STRUCTURE_USAGE,
    row_schema,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Column: TypeAlias = Any
"""The type of an array or a chunked array; pyarrow publishes no types."""

NOT_OBSERVED = "maxima of 0 are treated as not observed"
NO_SCM = "storage-class memory is not reported by structure"
NO_STATISTICS = "no statistics of the coupling facility on this system (optimized gathering)"

NO_GROUP_SLOTS = "slots without activity, of queue managers without a known group"
NOT_IN_GROUP = "rows of queue managers that are in no group"
PRIVATE_QUEUES = "queues outside coupling facility structures"
PARTIAL = "queues that the queue manager could not examine (partial rows)"
NOT_LISTS = "structures other than lists"

LIST_TYPES = ("UNSERIALIZED LIST", "SERIALIZED LIST")

COMMON = (
    "offset",
    "record",
    "subtype",
    "system_id",
    "queue_manager",
    "qsg",
    "written_at",
    "interval_start",
    "interval_end",
    "interval_us",
)
_QEST = {
    "ixllste_calls": "ixllste_calls",
    "ixllste_us": "ixllste_us",
    "ixllste_redrives": "ixllste_redrives",
    "ixllstm_calls": "ixllstm_calls",
    "ixllstm_us": "ixllstm_us",
    "ixllstm_redrives": "ixllstm_redrives",
    "structure_full_count": "structure_full_count",
    "entries_in_use": "entries_in_use_max",
    "elements_in_use": "elements_in_use_max",
}
_QESD = {
    name: name
    for name in (
        "blocks_total",
        "blocks_space_map",
        "blocks_data",
        "blocks_in_use",
        "blocks_free",
        "blocks_in_use_max",
        "blocks_free_min",
        "messages",
        "messages_max",
        "allocate_requests",
        "free_requests",
        "pages_allocated",
        "pages_freed",
        "failed_allocates",
        "buffer_bytes",
        "buffers_total",
        "buffers_in_use_max",
        "buffers_free_min",
        "pool_waits",
        "buffer_waits",
        "pool_wait_us",
        "buffer_wait_us",
        "write_requests",
        "write_us",
        "read_requests",
        "read_us",
        "other_read_requests",
        "other_read_us",
        "is_encrypted",
    )
} | {
    "pages_written": "write_pages",
    "pages_read": "read_pages",
    "other_pages_read": "other_read_pages",
    "buffer_requests": "buffer_gets",
}
_QQST = {
    "queue": "queue",
    "structure": "cf_structure",
    "opens": "opens",
    "put_size_min_bytes": "message_bytes_min",
    "put_size_max_bytes": "message_bytes_max",
    "puts_to_waiting_getter": "fast_puts",
    "gets": "gets",
    "get_bytes": "get_bytes",
    "expired": "expired",
    "depth_max": "depth_max",
    "depth_min": "depth_min",
    "depth_end": "depth",
}
_QQST_SUMS = {
    "puts": ("puts", "put1s"),
    "put_bytes": ("put_bytes", "put1_bytes"),
    "persistent_puts": ("persistent_puts", "persistent_put1s"),
}
_WQ = {
    "queue": "queue",
    "open_queue": "object_name",
    "structure": "cf_structure",
    "disposition": "disposition",
    "correlation": "correlation",
    "opened_at": "opened_at",
    "opens": "opens",
    "puts": "puts",
    "put_bytes": "put_bytes",
    "put_size_min_bytes": "put_bytes_min",
    "put_size_max_bytes": "put_bytes_max",
    "gets": "gets",
    "get_bytes": "get_bytes",
    "get_readlists": "cf_get_readlist_requests",
    "get_moves": "cf_get_move_requests",
    "get_size_min_bytes": "get_bytes_min",
    "get_size_max_bytes": "get_bytes_max",
    "expired": "expired",
    "depth_max": "depth_max",
    "time_on_queue_max_us": "time_on_queue_max_us",
    "time_on_queue_us": "time_on_queue_us",
}
_WQ_SUMS = {
    "persistent_puts": ("persistent_puts", "persistent_put1s"),
    "puts_to_waiting_getter": ("puts_to_waiting_getter", "put1s_to_waiting_getter"),
}
_SREQ = {
    name: name
    for name in (
        "xcf_structure",
        "allocated_at",
        "entries_in_use",
        "entries_total",
        "elements_in_use",
        "elements_total",
        "size_bytes",
        "size_max_bytes",
        "size_min_bytes",
        "sync_requests",
        "sync_us",
        "async_requests",
        "async_us",
        "changed_requests",
        "queued_requests",
        "queued_us",
    )
}
_SREQ_FLAGS = {
    "is_duplexed": "duplexed",
    "is_primary": "primary",
    "is_secondary": "secondary",
}
_QSDS_FLAGS = {
    "is_active_instance": "active",
    "is_new_instance": "new in a rebuild",
    "is_old_instance": "old in a rebuild",
    "is_in_transition": "in transition",
    "is_in_hold": "in hold",
    "is_in_dump": "being dumped",
    "is_in_rebuild": "being rebuilt",
    "is_in_duplexing": "being duplexed",
}

COLUMNS: dict[str, Sequence[str]] = {
    "qest": (*COMMON, "structure", *_QEST.values()),
    "qesd": (*COMMON, "structure", *_QESD.values()),
    "qqst": (
        *COMMON,
        "is_shared",
        "is_partial",
        "queue_qsg",
        *_QQST.values(),
        *(name for names in _QQST_SUMS.values() for name in names),
    ),
    "qcct": ("record",),
    "wq": (*COMMON, *_WQ.values(), *(name for names in _WQ_SUMS.values() for name in names)),
    "r744_structure": (
        *COMMON,
        "sysplex",
        "structure_type",
        "policy_size_bytes",
        *_SREQ.values(),
        *_SREQ_FLAGS,
        *_QSDS_FLAGS,
    ),
    "r744_storage": ("record", "total_bytes", "free_bytes"),
    "r744_cf": ("record", "coupling_facility", "lacks_statistics"),
    "r744_scm": ("record",),
}
"""The columns that the history needs from each table of the decoder; reading fewer is faster. The groups in qcct are read with
the index of the dump, before all rows."""

Batches = Mapping[str, Sequence[pa.RecordBatch]]
GroupMap = Mapping[tuple[str, str], str]
"""(System id, queue manager) to group; an empty name means in no group."""


@dataclass
class Mapped:
    """Rows by table of the history, and the rows that were left out or lack a group."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    passed_over: Counter[str] = field(default_factory=Counter)
    unknown: set[tuple[str, str]] = field(default_factory=set)
    """Queue managers with an unknown group."""
    used: dict[tuple[str, str], str] = field(default_factory=dict)
    """Entries of the map that were used."""

    def _add(self, table: str, rows: pa.Table) -> None:
        before = self.tables.get(table)
        self.tables[table] = rows if before is None else pa.concat_tables([before, rows])


def rows_of(batches: Batches, *, group_of: GroupMap) -> Mapped:
    """Return the rows of one range; rows of an unknown group are left out and their queue manager is listed."""
    mapped = Mapped()
    for section, function in (
        ("qest", _from_qest),
        ("qesd", _from_qesd),
        ("qqst", _from_qqst),
        ("wq", _from_wq),
    ):
        found = _table(batches, section)
        if found is not None:
            function(found, mapped, group_of)
    structures = _table(batches, "r744_structure")
    if structures is not None:
        _from_r744(structures, batches, mapped)
    return mapped


def _from_qest(found: pa.Table, mapped: Mapped, group_of: GroupMap) -> None:
    qsg = _groups(found, found["qsg"], group_of)
    # A queue manager outside a group also writes a slot for CSQ_ADMIN, without any activity.
    idle = _all_zero(found, [name for name in _QEST.values() if name in found.schema.names])
    skipped = pc.and_(pc.is_null(qsg), idle)
    mapped.passed_over[NO_GROUP_SLOTS] += _count(skipped)
    found, qsg = _kept(found, qsg, pc.invert(skipped))
    found, qsg = _in_groups(found, qsg, mapped, group_of)
    columns = {name: found[source] for name, source in _QEST.items()}
    nothing: Any = None
    for name in ("entries_in_use", "elements_in_use"):
        # A queue manager reports a maximum of 0 if no response from the coupling facility contained the figure, even
        # after calls.
        unseen = pc.equal(columns[name], 0)
        columns[name] = pc.if_else(unseen, None, columns[name])
        nothing = unseen if nothing is None else pc.or_(nothing, unseen)
    mapped._add(
        STRUCTURE_USAGE,
        _rows(
            STRUCTURE_USAGE,
            found,
            source="115-2 QEST",
            qsg=qsg,
            structure=found["structure"],
            xcf_structure=_xcf(qsg, found["structure"]),
            in_use_kind=_constant("interval_maximum", found.num_rows),
            note=pc.if_else(pc.fill_null(nothing, False), NOT_OBSERVED, pa.scalar(None, pa.string())),
            **columns,
        ),
    )


def _from_qesd(found: pa.Table, mapped: Mapped, group_of: GroupMap) -> None:
    qsg = _groups(found, found["qsg"], group_of)
    found, qsg = _in_groups(found, qsg, mapped, group_of)
    mapped._add(
        SMDS_USAGE,
        _rows(
            SMDS_USAGE,
            found,
            source="115-2 QESD",
            qsg=qsg,
            structure=found["structure"],
            xcf_structure=_xcf(qsg, found["structure"]),
            **{name: found[source] for name, source in _QESD.items()},
        ),
    )


def _from_qqst(found: pa.Table, mapped: Mapped, group_of: GroupMap) -> None:
    structure = _named(found["cf_structure"])
    shared = pc.or_(pc.fill_null(found["is_shared"], False), pc.is_valid(structure))
    mapped.passed_over[PRIVATE_QUEUES] += _count(pc.invert(shared))
    found = _filtered(found, shared)
    # The queue manager could not inspect such a queue, so its depth and age are 0.
    partial = pc.fill_null(found["is_partial"], False)
    mapped.passed_over[PARTIAL] += _count(partial)
    found = _filtered(found, pc.invert(partial))
    qsg = _groups(found, pc.coalesce(_named(found["queue_qsg"]), found["qsg"]), group_of)
    found, qsg = _in_groups(found, qsg, mapped, group_of)
    columns = {name: found[source] for name, source in _QQST.items()}
    columns |= {name: _sum(found, names) for name, names in _QQST_SUMS.items()}
    columns["structure"] = _named(columns["structure"])
    _no_sizes_without_puts(columns)
    mapped._add(
        QUEUE_USAGE,
        _rows(
            QUEUE_USAGE,
            found,
            source="115-216 QQST",
            qsg=qsg,
            xcf_structure=_xcf(qsg, columns["structure"]),
            disposition=_constant("SHARED", found.num_rows),
            **columns,
        ),
    )


def _from_wq(found: pa.Table, mapped: Mapped, group_of: GroupMap) -> None:
    structure = _named(found["cf_structure"])
    shared = pc.or_(pc.fill_null(pc.equal(found["disposition"], "SHARED"), False), pc.is_valid(structure))
    mapped.passed_over[PRIVATE_QUEUES] += _count(pc.invert(shared))
    found = _filtered(found, shared)
    if found.num_rows == 0:
        return
    subtype = np.asarray(found["subtype"].cast(pa.int32()).combine_chunks())
    piece = subtype * 10_000 + _number_in_record(found)
    found = found.append_column("_piece", pa.array(piece.astype(np.int32)))
    qsg = _groups(found, found["qsg"], group_of)
    found, qsg = _in_groups(found, qsg, mapped, group_of)
    columns = {name: found[source] for name, source in _WQ.items()}
    columns |= {name: _sum(found, names) for name, names in _WQ_SUMS.items()}
    columns["structure"] = _named(columns["structure"])
    _no_sizes_without_puts(columns)
    is_first = pc.equal(found["subtype"].cast(pa.int32()), 1)
    mapped._add(
        QUEUE_USAGE,
        _rows(
            QUEUE_USAGE,
            found,
            source=pc.if_else(is_first, "116-1 WQ", "116-2 WQ"),
            qsg=qsg,
            xcf_structure=_xcf(qsg, columns["structure"]),
            piece=found["_piece"],
            **columns,
        ),
    )


def _from_r744(found: pa.Table, batches: Batches, mapped: Mapped) -> None:
    is_list = pc.is_in(found["structure_type"], value_set=pa.array(LIST_TYPES, pa.string()))
    # Every system writes request sections, which have the type; only the sysplex master writes structure sections.
    untold = pc.is_null(found["structure_type"])
    mapped.passed_over[NOT_LISTS] += _count(pc.invert(pc.or_(is_list, untold)))
    found = _filtered(found, pc.or_(is_list, untold))
    if found.num_rows == 0:
        return
    facilities = _by_record(found, _table(batches, "r744_cf"), ["coupling_facility", "lacks_statistics"])
    facility = facilities["coupling_facility"]
    storage = _by_record(found, _table(batches, "r744_storage"), ["total_bytes", "free_bytes"])
    told = np.asarray(pc.is_valid(found["structure_type"]).combine_chunks())
    chosen = pa.array(np.flatnonzero(told))
    usage = found.take(chosen)
    has_scm = _by_record_exists(usage, _table(batches, "r744_scm"))
    lacks = pc.fill_null(facilities["lacks_statistics"].take(chosen), False)
    mapped._add(
        STRUCTURE_USAGE,
        _rows(
            STRUCTURE_USAGE,
            usage,
            source="74-4 R744SREQ",
            queue_manager=pa.nulls(usage.num_rows, pa.string()),
            sysplex=usage["sysplex"],
            coupling_facility=facility.take(chosen),
            in_use_kind=pc.if_else(lacks, pa.scalar(None, pa.string()), "at_end"),
            cf_total_bytes=storage["total_bytes"].take(chosen),
            cf_free_bytes=storage["free_bytes"].take(chosen),
            status=_flags(usage, _SREQ_FLAGS),
            note=_words([has_scm, lacks], [NO_SCM, NO_STATISTICS], separator="; "),
            **{name: usage[source] for name, source in _SREQ.items()},
        ),
    )
    in_qsds = pa.array(np.flatnonzero(np.asarray(pc.is_valid(found["policy_size_bytes"]).combine_chunks())))
    policy = found.take(in_qsds)
    mapped._add(
        ALLOCATION,
        _rows(
            ALLOCATION,
            policy,
            source="74-4 R744QSDS",
            queue_manager=pa.nulls(policy.num_rows, pa.string()),
            sysplex=policy["sysplex"],
            coupling_facility=facility.take(in_qsds),
            xcf_structure=policy["xcf_structure"],
            allocated_at=policy["allocated_at"],
            is_active=policy["is_active_instance"],
            status=_flags(policy, _QSDS_FLAGS),
            policy_size_bytes=policy["policy_size_bytes"],
            size_bytes=policy["size_bytes"],
            size_max_bytes=policy["size_max_bytes"],
            entries_in_use=policy["entries_in_use"],
            entries_total=policy["entries_total"],
            elements_in_use=policy["elements_in_use"],
            elements_total=policy["elements_total"],
        ),
    )


# ---- groups ----------------------------------------------------------------------------------------------------------


def _groups(found: pa.Table, told: Column, group_of: GroupMap) -> Column:
    """Return each row's group from the record or, if it has none, from the map; null if neither has one."""
    told = _named(told)
    if told.null_count == 0 or not group_of:
        return told
    who = _who(found)
    names = pa.array([f"{system}:{manager}" for system, manager in group_of], pa.string())
    mapped = pa.array(list(group_of.values()), pa.string()).take(pc.index_in(who, value_set=names))
    return pc.coalesce(told, mapped)


def _in_groups(found: pa.Table, qsg: Column, mapped: Mapped, group_of: GroupMap) -> tuple[pa.Table, Column]:
    """Return the rows of known groups; record unknown queue managers and the entries of the map that were used."""
    unknown = pc.is_null(qsg)
    out = pc.fill_null(pc.equal(qsg, ""), False)
    mapped.passed_over[NOT_IN_GROUP] += _count(out)
    # Entries that the records made unnecessary are not stored as answers: changing them must not replace the file.
    own = _named(found["qsg"]) if "qsg" in found.schema.names else pa.nulls(found.num_rows, pa.string())
    mapped.unknown.update(_pairs(found, unknown))
    for who in _pairs(found, pc.and_(pc.is_null(own), pc.is_valid(qsg))):
        if who in group_of:
            mapped.used[who] = group_of[who]
    return _kept(found, qsg, pc.invert(pc.or_(unknown, out)))


def _pairs(found: pa.Table, condition: Column) -> list[tuple[str, str]]:
    """Return the systems and queue managers of the rows that meet a condition."""
    who = _filtered(found.select(["system_id", "queue_manager"]), condition)
    pairs = who.group_by(who.schema.names).aggregate([])
    return sorted((row["system_id"] or "", row["queue_manager"] or "") for row in pairs.to_pylist())


def _who(found: pa.Table) -> Column:
    return pc.binary_join_element_wise(
        pc.fill_null(found["system_id"], ""), pc.fill_null(found["queue_manager"], ""), ":"
    )


# ---- columns ---------------------------------------------------------------------------------------------------------


def _rows(table: str, found: pa.Table, **columns: Any) -> pa.Table:  # noqa: ANN401 - arrays, or a constant text
    """Return rows of a table of the history with the common columns and the given ones; other columns are null."""
    count = found.num_rows
    given: dict[str, Any] = {
        "origin": _constant("binary", count),
        "file_offset": found["offset"],
        "file_record": found["record"],
        "piece": pa.repeat(pa.scalar(0, pa.int32()), count),
        "system_id": found["system_id"],
        "queue_manager": found["queue_manager"],
        "written_at": found["written_at"],
        "interval_start": found["interval_start"],
        # Accounting records (116-0 to 116-2) have no interval in their header.
        "interval_end": pc.coalesce(found["interval_end"], found["written_at"]),
        "interval_us": found["interval_us"],
        **columns,
    }
    if isinstance(given["source"], str):
        given["source"] = _constant(given["source"], count)
    schema = row_schema(table)
    unknown = set(given) - set(schema.names)
    if unknown:
        message = f"{table} has no columns {sorted(unknown)}"
        raise ValueError(message)
    arrays = [
        _cast(given[one.name], one.type) if one.name in given else pa.nulls(count, one.type) for one in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _cast(column: Column, kind: pa.DataType) -> Column:
    # RMF stores counts as hexadecimal floating-point numbers.
    if pa.types.is_floating(column.type) and pa.types.is_integer(kind):
        return pc.round(column).cast(kind)
    return column.cast(kind)


def _table(batches: Batches, name: str) -> pa.Table | None:
    found = [batch for batch in batches.get(name, ()) if batch.num_rows]
    if not found:
        return None
    table = pa.Table.from_batches(found)
    return (
        table.unify_dictionaries() if any(pa.types.is_dictionary(one.type) for one in table.schema) else table
    )


def _named(column: Column) -> Column:
    """Return names, with null instead of an empty name."""
    column = column.cast(pa.string())
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)


def _xcf(qsg: Column, structure: Column) -> Column:
    padded = pc.utf8_rpad(qsg, width=len(cfrm_structure_name(qsg_name="", cfstruct_name="")), padding="@")
    return pc.binary_join_element_wise(padded, structure, "")


def _constant(text: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), count)


def _count(condition: Column) -> int:
    return int(pc.sum(condition).as_py() or 0)


def _kept(found: pa.Table, qsg: Column, condition: Column) -> tuple[pa.Table, Column]:
    return _filtered(found, condition), _filtered(qsg, condition)


def _filtered(found: Any, condition: Column) -> Any:  # noqa: ANN401 - a table or a column
    """Return the rows that meet a condition; usually all do, and are not copied."""
    return found if pc.all(condition, skip_nulls=False).as_py() else found.filter(condition)


def _all_zero(found: pa.Table, names: list[str]) -> Column:
    idle = None
    for name in names:
        zero = pc.fill_null(pc.equal(found[name], 0), True)
        idle = zero if idle is None else pc.and_(idle, zero)
    return idle


def _sum(found: pa.Table, names: tuple[str, ...]) -> Column:
    """Return the sum of columns; null if any of them is null."""
    total = found[names[0]].cast(pa.int64())
    for name in names[1:]:
        total = pc.add(total, found[name].cast(pa.int64()))
    return total


def _no_sizes_without_puts(columns: dict[str, Column]) -> None:
    """Change the largest and smallest message to null, not 0 bytes, if there was no message."""
    for count, sizes in (("puts", "put_size"), ("gets", "get_size")):
        for name in (f"{sizes}_min_bytes", f"{sizes}_max_bytes"):
            if name in columns:
                none = pc.fill_null(pc.equal(columns[count], 0), False)
                columns[name] = pc.if_else(none, pa.scalar(None, columns[name].type), columns[name])


def _number_in_record(found: pa.Table) -> NDArray[np.int64]:
    """Return the number of each row in its record, from 0; the rows of a record are adjacent."""
    record = np.asarray(found["record"].combine_chunks())
    starts = np.flatnonzero(np.append(True, record[1:] != record[:-1]))
    lengths = np.diff(np.append(starts, len(record)))
    return np.arange(len(record)) - np.repeat(starts, lengths)


_KINDS = {"coupling_facility": pa.string(), "lacks_statistics": pa.bool_()}
"""Types of columns of sections that a record may lack, other than int64."""


def _by_record(found: pa.Table, other: pa.Table | None, names: list[str]) -> dict[str, Column]:
    """Return columns of another section of the same records, row by row; null if a record lacks it."""
    if other is None:
        kinds = {name: _KINDS.get(name, pa.int64()) for name in names}
        return {name: pa.nulls(found.num_rows, kind) for name, kind in kinds.items()}
    places = pc.index_in(found["record"], value_set=other["record"].combine_chunks())
    places = places.combine_chunks() if isinstance(places, pa.ChunkedArray) else places
    return {name: other[name].combine_chunks().take(places) for name in names}


def _by_record_exists(found: pa.Table, other: pa.Table | None) -> Column:
    if other is None:
        return pa.repeat(pa.scalar(value=False), found.num_rows)
    return pc.is_in(found["record"], value_set=other["record"].combine_chunks())


def _flags(found: pa.Table, flags: Mapping[str, str]) -> Column:
    """Return the names of the flags that are set; null if none is."""
    return _words([found[name] for name in flags], list(flags.values()), separator=", ")


def _words(conditions: Sequence[Column], words: Sequence[str], *, separator: str) -> Column:
    """Return the words of the conditions that each row meets; null if it meets none."""
    code = np.zeros(len(conditions[0]), dtype=np.int64)
    for bit, condition in enumerate(conditions):
        code |= np.asarray(pc.fill_null(condition, False)).astype(np.int64) << bit
    # Only a few combinations occur, so their texts are built once and not for each row.
    codes, places = np.unique(code, return_inverse=True)
    texts = [
        separator.join(word for bit, word in enumerate(words) if one >> bit & 1) or None
        for one in codes.tolist()
    ]
    return pa.array(texts, pa.string()).take(pa.array(places))
