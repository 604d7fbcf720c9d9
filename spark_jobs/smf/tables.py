"""The tables of the decoder, their columns, and the conversion of a section's rows to columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spark_jobs.smf import wire
from spark_jobs.smf.layouts import FieldLayout, Layout, layout
from spark_jobs.smf.wire import Bytes, Ints, Mask

INSTANT = pa.timestamp("us", tz="UTC")
LOCAL = pa.timestamp("us")


@dataclass(frozen=True)
class CommonColumn:
    """A column that does not come from the section itself."""

    name: str
    type: pa.DataType
    meaning: str


COMMON = (
    CommonColumn("file", pa.string(), "name of the dump"),
    CommonColumn(
        "offset",
        pa.int64(),
        "offset of the first byte of the record in the dump; for a compressed dump, in its uncompressed content",
    ),
    CommonColumn("record", pa.int64(), "number of the record in the dump, from 0"),
    CommonColumn(
        "section", pa.int32(), "number of the section (of the slot, for QEST) in the record, from 0"
    ),
    CommonColumn("smf_type", pa.int32(), "record type"),
    CommonColumn("subtype", pa.int32(), "record subtype"),
    CommonColumn("system_id", pa.string(), "SMF system id"),
    CommonColumn("queue_manager", pa.string(), "queue manager; null in records that are not MQ's"),
    CommonColumn(
        "qsg",
        pa.string(),
        "queue-sharing group; null if the record does not contain it (before MQ 10), empty if there is none",
    ),
    CommonColumn("release", pa.string(), "MQ release as in the record's header"),
    CommonColumn("written_at_local", LOCAL, "when the record was written, in the system's local time"),
    CommonColumn("utc_offset_minutes", pa.int32(), "local time minus UTC, in whole quarters of an hour"),
    CommonColumn("written_at", INSTANT, "when the record was written, to the hundredth of a second"),
    CommonColumn("interval_start", INSTANT, "start of the interval; null if the record does not contain it"),
    CommonColumn("interval_end", INSTANT, "end of the interval; null if the record does not contain it"),
    CommonColumn("interval_us", pa.int64(), "length of the interval"),
)
INTERVAL_START_LOCAL = CommonColumn(
    "interval_start_local", LOCAL, "start of the interval as given in the record, in local time (QWHSTIME)"
)

TABLE_LAYOUTS: dict[str, tuple[str, ...]] = {
    "qest": ("qest",),
    "qesd": ("qesd",),
    "qqst": ("qqst",),
    "qcct": ("qcct",),
    "wq": ("wtid", "wq"),
    "r744_structure": ("r744_product", "r744_cf", "r744_qsds", "r744_sreq"),
    "r744_storage": ("r744_product", "r744_cf", "r744_storage"),
    "r744_scm": ("r744_product", "r744_cf", "r744_scm"),
    "r744_cf": ("r744_product", "r744_cf"),
}
"""Table -> the sections of its columns. If two sections have the same column, the later one is preferred."""

_CF_COLUMNS_ELSEWHERE = ("coupling_facility",)
"""Columns about the coupling facility in the tables of other sections; the others are in r744_cf."""


def extra_columns(table: str) -> tuple[CommonColumn, ...]:
    """Return the columns that only some tables have in addition to the common ones."""
    return (INTERVAL_START_LOCAL,) if table in ("qest", "qesd", "qqst", "qcct") else ()


@cache
def table_fields(table: str) -> tuple[tuple[Layout, FieldLayout], ...]:
    """Return the fields of a table in the order of its columns, each column once."""
    found: dict[str, tuple[Layout, FieldLayout]] = {}
    for layout_id in TABLE_LAYOUTS[table]:
        section = layout(layout_id)
        for field in section.all_fields:
            if layout_id == "r744_cf" and table != "r744_cf" and field.column not in _CF_COLUMNS_ELSEWHERE:
                continue
            found.setdefault(field.column, (section, field))
    return tuple(found.values())


@cache
def full_schema(table: str) -> pa.Schema:
    """Return all columns of a table."""
    columns = [pa.field(c.name, c.type) for c in (*COMMON, *extra_columns(table))]
    columns += [pa.field(field.column, arrow_type(field)) for _, field in table_fields(table)]
    return pa.schema(columns)


def schema(table: str, *, columns: Sequence[str] | None = None) -> pa.Schema:
    """Return the columns of a table, or the chosen ones, in the table's order."""
    whole = full_schema(table)
    if columns is None:
        return whole
    unknown = set(columns) - set(whole.names)
    if unknown:
        message = f"table {table} has no column {', '.join(sorted(unknown))}"
        raise ValueError(message)
    return pa.schema([field for field in whole if field.name in set(columns)])


def arrow_type(field: FieldLayout) -> pa.DataType:
    """Return the type of the column that a field becomes."""
    if field.type in ("char", "hex", "code1", "code4"):
        return pa.string()
    if field.type.startswith("bit"):
        return pa.bool_()
    if field.type == "stck":
        return INSTANT
    if field.type == "float":
        return pa.float64()
    # Spark has no unsigned types, so 4 unsigned bytes need 64 bits.
    is_small = field.type in ("u1", "u2", "i2", "i4") and field.scale == 1
    return pa.int32() if is_small else pa.int64()


@dataclass(frozen=True)
class Plan:
    """The fields that a choice of columns needs."""

    schema: pa.Schema
    common: tuple[str, ...]
    fields: dict[str, tuple[FieldLayout, ...]]
    """Layout -> its fields."""


_COMMON_NAMES = frozenset(column.name for column in (*COMMON, INTERVAL_START_LOCAL))


@cache
def _plan(table: str, columns: tuple[str, ...] | None) -> Plan:
    wanted = schema(table, columns=columns)
    names = frozenset(wanted.names)
    fields: dict[str, tuple[FieldLayout, ...]] = {}
    for section, field in table_fields(table):
        if field.column in names:
            fields[section.id] = (*fields.get(section.id, ()), field)
    return Plan(wanted, tuple(name for name in wanted.names if name in _COMMON_NAMES), fields)


def plan(table: str, columns: Sequence[str] | None) -> Plan:
    """Return the fields that a choice of columns needs."""
    return _plan(table, None if columns is None else tuple(columns))


# ---- rows of a section -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """The positions of a section's rows in an array of bytes."""

    data: npt.NDArray[np.uint8]
    positions: Ints
    lengths: Ints
    """The length of each row; fields beyond it are missing."""
    record: Ints
    """The record that each row belongs to."""
    section: Ints
    """The row's number in its record."""

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, which: npt.NDArray[Any]) -> Rows:
        """Return the selected rows."""
        return Rows(
            self.data, self.positions[which], self.lengths[which], self.record[which], self.section[which]
        )


def cut(data: npt.NDArray[np.uint8], positions: Ints, width: int) -> Bytes:
    """Return a copy of `width` bytes from each position, as a matrix with one row for each."""
    # sliding_window_view returns the same view, but takes 60 µs instead of 3 each time.
    windows: Bytes = np.ndarray((data.size - width + 1, width), dtype=np.uint8, buffer=data, strides=(1, 1))
    return windows[positions]


GAP_BYTES = 96
"""The gap beyond which fields are copied separately, so that a few fields of a wide section cost little."""


def columns_of(rows: Rows, fields: Iterable[FieldLayout]) -> dict[str, pa.Array]:
    """Return the columns of the fields."""
    made: dict[str, pa.Array] = {}
    # Usually no row is too short for a field, and the mask of missing values is not needed.
    least = int(rows.lengths.min()) if len(rows) else 0
    for span in _spans(tuple(sorted(fields, key=lambda field: field.offset))):
        begin, end = span[0].offset, max(field.end for field in span)
        matrix = cut(rows.data, rows.positions + begin, end - begin)
        for field in span:
            missing = rows.lengths < field.end if least < field.end else None
            made[field.column] = _MAKERS[field.type](matrix, field, field.offset - begin, missing)
    return made


def _spans(fields: tuple[FieldLayout, ...]) -> list[list[FieldLayout]]:
    spans: list[list[FieldLayout]] = []
    end = 0
    for field in fields:
        if spans and field.offset - end <= GAP_BYTES:
            spans[-1].append(field)
        else:
            spans.append([field])
        end = max(end, field.end) if len(spans[-1]) > 1 else field.end
    return spans


Maker = Callable[[Bytes, FieldLayout, int, Mask | None], pa.Array]


def _unsigned(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    values = wire.unsigned(matrix, at, field.size)
    if field.size == 8:  # noqa: PLR2004 - no count needs the 64th bit
        missing = _or(missing, (values < 0) | (values > np.iinfo(np.int64).max // field.scale))
    return _number(values, field, missing)


def _signed(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    return _number(wire.signed(matrix, at, field.size), field, missing)


def _number(values: Ints, field: FieldLayout, missing: Mask | None) -> pa.Array:
    if field.none is not None:
        missing = _or(missing, values == field.none)
    if field.scale != 1:
        values = values * field.scale
    return wire.numbers(values, arrow_type(field), missing=missing)


def _instant(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    clock = wire.stck_us(matrix, at)
    # A clock value of 0 is a missing time, not the year 1900.
    missing = _or(missing, clock == 0)
    return wire.numbers(clock - wire.UNIX_EPOCH_STCK_US, INSTANT, missing=missing)


def _duration(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    return wire.numbers(wire.stck_us(matrix, at), pa.int64(), missing=missing)


def _float(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    return wire.numbers(wire.hexadecimal_float(matrix, at), pa.float64(), missing=missing)


def _bit(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    return wire.truths((wire.unsigned(matrix, at, field.size) & field.mask) != 0, missing=missing)


def _code(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    codes = (wire.unsigned if field.size == 1 else wire.signed)(matrix, at, field.size)
    known = {int(code): word for code, word in field.values.items()}
    found, index = np.unique(codes, return_inverse=True)
    words = pa.array([known.get(code, unknown_code(code)) for code in found.tolist()], pa.string())
    if missing is not None:
        return words.take(pa.array(index, mask=missing))
    return words.take(pa.array(index))


def unknown_code(code: int) -> str:
    """Return the text for a code without a known name."""
    return f"code {code}"


def _char(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    return wire.text(matrix[:, at : at + field.size], missing=missing)


def _hex(matrix: Bytes, field: FieldLayout, at: int, missing: Mask | None) -> pa.Array:
    return wire.hex_text(matrix[:, at : at + field.size], missing=missing)


def _or(one: Mask | None, other: Mask) -> Mask:
    return other if one is None else one | other


_MAKERS: dict[str, Maker] = {
    "u1": _unsigned,
    "u2": _unsigned,
    "u4": _unsigned,
    "u8": _unsigned,
    "us": _unsigned,
    "i2": _signed,
    "i4": _signed,
    "i8": _signed,
    "stck": _instant,
    "stck_us": _duration,
    "float": _float,
    "bit1": _bit,
    "bit4": _bit,
    "code1": _code,
    "code4": _code,
    "char": _char,
    "hex": _hex,
}
