"""MQ's records: statistics 115-2, 115-216 and 115-231, accounting 116-1 and 116-2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from spark_jobs.smf import wire
from spark_jobs.smf.layouts import Layout, layout
from spark_jobs.smf.records import (
    FARTHEST_OFFSET_MINUTES,
    TRIPLET_BYTES,
    Records,
    Times,
    common_columns,
    has_eyecatcher,
    quarters_between,
    written_local,
)
from spark_jobs.smf.tables import Rows, columns_of, cut, plan
from spark_jobs.smf.wire import Bytes, Ints, Mask

TRIPLETS_AT = 28
RELEASE_AT = 24
QWHS_BYTES, QWHS_SHORT_BYTES = 52, 36
QWHC_BYTES = 92
QWHX_BYTES = 16
QWHX_FLAG = 0x40
QWHX_SINCE = "946"
"""The first release whose flag for QWHX can be trusted: older queue managers leave undefined data in it."""
WTAS_INTERVAL_AT = 664
LONGEST_INTERVAL_US = 400 * 24 * 3600 * 1_000_000
"""The longest plausible interval, which is more than a year; a longer one means a damaged value."""

CLOCK_DURATIONS = ("115-231",)
"""Records whose QWHSDURN has the unit of the hardware clock; it has microseconds in the others."""

BATCHES = dict[str, pa.RecordBatch]


def decode_115_2(records: Records, *, tables: Sequence[str], columns: Mapping[str, Sequence[str]]) -> BATCHES:
    """Return the rows of QEST and QESD in 115-2 records."""
    heads = _Heads(records, "115-2")
    sections = {table: heads.section(layout(table)) for table in ("qest", "qesd")}
    made: BATCHES = {}
    for table in tables:
        rows = sections[table].take(records.sound[sections[table].record])
        if table == "qest":
            rows = _slots(rows, layout("qest"))
        _add(made, table, heads, rows, columns)
    return made


def decode_115_216(records: Records, *, columns: Mapping[str, Sequence[str]], only_shared: bool) -> BATCHES:
    """Return the rows of QQST in 115-216 records."""
    heads = _Heads(records, "115-216")
    section = layout("qqst")
    rows = heads.section(section)
    rows = rows.take(records.sound[rows.record])
    if only_shared:
        rows = rows.take(_has_name(rows, section, "cf_structure"))
    made: BATCHES = {}
    _add(made, "qqst", heads, rows, columns)
    return made


def decode_115_231(records: Records, *, columns: Mapping[str, Sequence[str]]) -> BATCHES:
    """Return the rows of QCCT in 115-231 records."""
    heads = _Heads(records, "115-231")
    rows = heads.section(layout("qcct"))
    made: BATCHES = {}
    _add(made, "qcct", heads, rows.take(records.sound[rows.record]), columns)
    return made


def decode_116(records: Records, *, columns: Mapping[str, Sequence[str]], only_shared: bool) -> BATCHES:
    """Return the rows of WQ in 116-1 and 116-2, with the identity from WTID and, in 116-1, the interval from WTAS."""
    heads = _Heads(records, "116-1", "116-2")
    section = layout("wq")
    rows = heads.section(section)
    identity = heads.section(layout("wtid"))
    heads.read_task_interval()
    records.reject_by_rows(rows, ~np.isin(rows.record, identity.record), "section WTID is missing")
    rows = rows.take(records.sound[rows.record])
    if only_shared:
        rows = rows.take(_has_name(rows, section, "cf_structure"))
    made: BATCHES = {}
    _add(made, "wq", heads, rows, columns, identity=identity)
    return made


class _Heads:
    """The heads of MQ records: product section, release, group, times and triplets."""

    def __init__(self, records: Records, *kinds: str) -> None:
        self.records = records
        self.kinds = kinds
        head = records.read(0, TRIPLETS_AT)
        records.reject(records.lengths < TRIPLETS_AT + TRIPLET_BYTES, "the record is too short")
        self.head = head
        self.subtypes = wire.unsigned(head, 22, 2)
        self.is_accounting = kinds[0].startswith("116")
        offset, length, count = records.triplets(TRIPLETS_AT)
        least = QWHS_SHORT_BYTES if self.is_accounting else QWHS_BYTES
        records.reject((count != 1) | (length < least), "the product section QWHS is missing")
        self.qwhs_at, self.qwhs_length = offset, length
        qwhs = records.read(offset, least)
        self.triplets = wire.unsigned(qwhs, 6, 1)
        self.first_section = TRIPLETS_AT + TRIPLET_BYTES * self.triplets
        records.reject(
            (offset < self.first_section) | (offset + length > records.lengths) | (self.triplets < 1),
            "section QWHS is not within the record",
        )
        self._read_times(qwhs)
        self.texts = {
            "system_id": wire.text(head[:, 14:18]),
            "queue_manager": wire.text(head[:, 18:22]),
            "release": wire.text(head[:, RELEASE_AT : RELEASE_AT + 3]),
        }
        self.texts["qsg"] = self._group(qwhs)

    def _read_times(self, qwhs: Bytes) -> None:
        records = self.records
        local = written_local(records)
        end = wire.stck_unix_us(qwhs, 16)
        minutes = quarters_between(local, end)
        records.reject(
            np.abs(minutes) > FARTHEST_OFFSET_MINUTES, "the header's time and the clock value are days apart"
        )
        zeros = np.zeros(len(records), dtype=np.int64)
        if self.is_accounting:
            self.times = Times(local, minutes, zeros, zeros, zeros, zeros, zeros.astype(np.bool_))
            return
        length = wire.unsigned(qwhs, 44, 8)
        if self.kinds[0] in CLOCK_DURATIONS:
            length >>= wire.STCK_SHIFT
        begin_local = wire.stck_unix_us(qwhs, 36)
        records.reject((length < 0) | (length > LONGEST_INTERVAL_US), "the interval is longer than a year")
        # QWHSTIME is local time, so the start is calculated from the end and the length, which are not.
        self.times = Times(local, minutes, end - length, end, length, begin_local, zeros == 0)

    def _group(self, qwhs: Bytes) -> pa.Array:
        """Return the queue-sharing group of records whose release and flag show that they have one."""
        records = self.records
        at = self.qwhs_at + (QWHS_SHORT_BYTES + QWHC_BYTES if self.is_accounting else QWHS_BYTES)
        release = self.texts["release"]
        late = np.array([bool(text) and text >= QWHX_SINCE for text in release.to_pylist()], dtype=np.bool_)
        has_group = (
            late
            & ((qwhs[:, 32] & QWHX_FLAG) != 0)
            & (at + QWHX_BYTES <= self.qwhs_at + self.qwhs_length)
            & (at + QWHX_BYTES <= records.lengths)
        )
        name = records.read(at + 4, 4)
        return wire.text(name, blank_is_null=False, missing=~has_group)

    def _triplet(self, section: Layout) -> tuple[Ints, Ints, Ints]:
        """Return offset, length and count of a section in each record; zeros if its triplet is missing."""
        number = np.full(len(self.records), section.triplet_of(self.kinds[0]), dtype=np.int64)
        for kind in self.kinds[1:]:
            number[self.subtypes == int(kind.split("-")[1])] = section.triplet_of(kind)
        offset, length, count = self.records.triplets(TRIPLETS_AT + TRIPLET_BYTES * number)
        there = (number < self.triplets) & self.records.sound
        return np.where(there, offset, 0), np.where(there, length, 0), np.where(there, count, 0)

    def section(self, section: Layout) -> Rows:
        """Return the rows of a section; records whose triplet leads elsewhere are quarantined."""
        offset, length, count = self._triplet(section)
        name = section.eyecatcher
        records = self.records
        records.reject_overrun(offset, length, count, first=self.first_section, name=name)
        records.reject((count > 0) & (length > 0) & (length < 8), f"section {name} is too short")  # noqa: PLR2004
        rows = records.rows(offset, length, count, among=records.sound, row_bytes=_longest(section))
        records.reject_by_rows(
            rows, ~has_eyecatcher(rows, name), f"the triplet does not lead to section {name}"
        )
        return rows

    def read_task_interval(self) -> None:
        """Read the task's accounting interval from WTAS of 116-1; 116-2 has none."""
        records = self.records
        offset, length, count = records.triplets(TRIPLETS_AT + TRIPLET_BYTES * 2)
        there = (
            (self.subtypes == 1)
            & (self.triplets > 2)  # noqa: PLR2004
            & (count == 1)
            & (length >= WTAS_INTERVAL_AT + 16)
            & (offset + length <= records.lengths)
        )
        at = np.where(there, offset, 0)
        clocks = records.read(at + WTAS_INTERVAL_AT, 16)
        begin, end = wire.stck_us(clocks, 0), wire.stck_us(clocks, 8)
        times = self.times
        times.has_interval = there & (begin > 0) & (end >= begin)
        times.interval_start_us = begin - wire.UNIX_EPOCH_STCK_US
        times.interval_end_us = end - wire.UNIX_EPOCH_STCK_US
        times.interval_us = end - begin


def _longest(section: Layout) -> int:
    return max(section.row_bytes, *section.known_lengths)


def _slots(rows: Rows, section: Layout) -> Rows:
    """Return the used slots of a section that is a table of slots."""
    if section.slots is None:
        return rows
    first, stride, count = section.slots.first, section.slots.stride, section.slots.count
    numbers = np.arange(count)
    positions = rows.positions[:, None] + first + stride * numbers
    inside = first + stride * (numbers + 1) <= rows.lengths[:, None]
    # A slot whose name begins with a zero byte is not used.
    used = inside & (rows.data[np.where(inside, positions, 0)] != 0)
    which, slot = np.nonzero(used)
    return Rows(
        data=rows.data,
        positions=positions[which, slot],
        lengths=np.full(len(which), stride, dtype=np.int64),
        record=rows.record[which],
        section=rows.section[which] * count + slot,
    )


def _has_name(rows: Rows, section: Layout, column: str) -> Mask:
    """Return a mask of the rows whose column of this name is not empty."""
    field = next(field for field in section.fields if field.column == column)
    first = cut(rows.data, rows.positions + field.offset, 1)[:, 0]
    is_filled: Mask = (rows.lengths >= field.end) & (first != wire.BLANK) & (first != wire.NUL)
    return is_filled


def _add(
    made: BATCHES,
    table: str,
    heads: _Heads,
    rows: Rows,
    columns: Mapping[str, Sequence[str]],
    *,
    identity: Rows | None = None,
) -> None:
    """Add a batch with these rows of a table, if there are any."""
    if not len(rows):
        return
    wanted = plan(table, columns.get(table))
    arrays = common_columns(
        heads.records, rows, heads.times, wanted=wanted.common, texts=heads.texts, subtypes=heads.subtypes
    )
    arrays |= columns_of(rows, wanted.fields.get(table, ()))
    if identity is not None and "wtid" in wanted.fields:
        of_record = np.zeros(len(heads.records), dtype=np.int64)
        # Reverse the order, so that the first of several sections is assigned last and remains.
        of_record[identity.record[::-1]] = np.arange(len(identity))[::-1]
        arrays |= columns_of(identity.take(of_record[rows.record]), wanted.fields["wtid"])
    names = wanted.schema.names
    made[table] = pa.RecordBatch.from_arrays([arrays[name] for name in names], schema=wanted.schema)
