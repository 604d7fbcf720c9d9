"""Many records of one shape at once: the encoder makes one record, and numpy fills the columns of all."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from spark_jobs.smf import mq, rmf
from spark_jobs.smf.encode import Header, Row, mq_record, packed_date, rmf_record, stck, unix_us
from spark_jobs.smf.layouts import Layout, layout
from spark_jobs.smf.wire import STCK_SHIFT, US_A_HUNDREDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

SLOTS_HEAD: Final = 8
"""The length of the head of QEST, after which its slots begin."""


class Records:
    """Records of one shape as rows, in the order of time."""

    def __init__(self, template: bytes, count: int) -> None:
        """Create copies of one record."""
        self.bytes: Bytes = np.tile(np.frombuffer(template, dtype=np.uint8), (count, 1))

    def __iter__(self) -> Iterator[bytes]:
        """Yield the records."""
        return (row.tobytes() for row in self.bytes)

    def section(self, at: int, section: Layout, *, rows: int, stride: int | None = None) -> Section:
        """Return a section's rows, the first of which begins at an offset."""
        step = stride or section.row_bytes
        part = self.bytes[:, at : at + rows * step].reshape(len(self.bytes), rows, step)
        if not np.shares_memory(part, self.bytes):  # values written to a copy would be lost
            message = "the section is no view of its records"
            raise ValueError(message)
        return Section(part, section)

    def triplet(self, at: int) -> tuple[int, int, int]:
        """Return offset, length and count from the first record; they are the same in all."""
        data = self.bytes[0, at : at + 8].tobytes()
        return (
            int.from_bytes(data[:4], "big"),
            int.from_bytes(data[4:6], "big"),
            int.from_bytes(data[6:], "big"),
        )

    def stamp_written(self, written: Sequence[dt.datetime], *, utc_offset_minutes: int) -> None:
        """Set the time of writing in the standard header."""
        for number, instant in enumerate(written):
            local = instant + dt.timedelta(minutes=utc_offset_minutes)
            midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
            hundredths = (local - midnight) // dt.timedelta(microseconds=US_A_HUNDREDTH)
            stamp = hundredths.to_bytes(4, "big") + packed_date(local)
            self.bytes[number, 6:14] = np.frombuffer(stamp, dtype=np.uint8)

    def stamp_mq(self, ends: Sequence[dt.datetime], *, interval_us: int, utc_offset_minutes: int) -> None:
        """Set end and local start of the interval in MQ's product section."""
        at, _, _ = self.triplet(mq.TRIPLETS_AT)
        us = np.array([unix_us(end) for end in ends], dtype=np.uint64)
        begins = us - np.uint64(interval_us) + np.uint64(utc_offset_minutes * 60_000_000)
        _put(self.bytes[:, at + 16 : at + 24], _clock(us), ">u8")
        _put(self.bytes[:, at + 36 : at + 44], _clock(begins), ">u8")

    def stamp_rmf(self, ends: Sequence[dt.datetime]) -> None:
        """Set the end of the interval in RMF's product section."""
        at, _, _ = self.triplet(rmf.PRODUCT_TRIPLET_AT)
        _put(
            self.bytes[:, at + 80 : at + 88],
            _clock(np.array([unix_us(end) for end in ends], dtype=np.uint64)),
            ">u8",
        )


class Section:
    """Rows of one section in many records: (record, row, byte)."""

    def __init__(self, part: Bytes, section: Layout) -> None:
        """Create a view of the records."""
        self._part = part
        self._fields = {field.column: field for field in section.fields}

    def put(self, column: str, values: NDArray[Any]) -> None:
        """Fill a column with values by (row, record), with one value for each record, or with one value for all."""
        field = self._fields[column]
        at = self._part[:, :, field.offset : field.end]
        shape = at.shape[1], at.shape[0]
        given = np.asarray(values)
        wide = np.broadcast_to(given if given.ndim != 1 else given[None, :], shape).T
        if field.type == "float":
            at[...] = _hexadecimal(wide)
        elif field.type == "stck_us":
            _put(at, wide.astype(np.uint64) << np.uint64(STCK_SHIFT), ">u8")
        elif field.type in ("u4", "i4", "u8", "i8", "us"):
            if wide.min() < 0 or int(wide.max()) // field.scale >= 2 ** (8 * field.size):
                message = f"{column}: {wide.min()} to {wide.max()} does not fit into {field.size} bytes"
                raise ValueError(message)
            _put(at, wide // field.scale, f">u{field.size}")
        else:
            message = f"{column}: fields of the type {field.type} are put by the encoder"
            raise ValueError(message)


def _put(at: Bytes, values: NDArray[Any], kind: str) -> None:
    made = np.ascontiguousarray(values.astype(kind))
    at[...] = made.view(np.uint8).reshape(at.shape)


def _clock(us: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (us << np.uint64(STCK_SHIFT)) + np.uint64(stck(0))


def _hexadecimal(values: NDArray[Any]) -> Bytes:
    """Return whole numbers as long hexadecimal floating point."""
    numbers = values.astype(np.float64)
    fraction, exponent = np.frexp(numbers)
    power = -(-exponent // 4)
    digits = np.ldexp(fraction, exponent - 4 * power + 56).astype(np.uint64)
    heads = (64 + power).astype(np.uint64) << np.uint64(56)
    made = np.where(numbers == 0, np.uint64(0), heads | digits).astype(">u8")
    return np.ascontiguousarray(made).view(np.uint8).reshape(*values.shape, 8)


def mq_records(
    kind: str,
    header: Header,
    rows: Mapping[str, Sequence[Row]],
    count: int,
    *,
    lengths: Mapping[str, int] | None = None,
) -> Records:
    """Return copies of one MQ record."""
    return Records(mq_record(kind, header, rows, lengths=lengths), count)


def mq_section(records: Records, section: str, triplet: int, rows: int) -> Section:
    """Return a section of MQ records by its triplet; QEST has slots after a head."""
    at, length, _ = records.triplet(mq.TRIPLETS_AT + 8 * triplet)
    if section == "qest":
        return records.section(at + SLOTS_HEAD, layout(section), rows=rows, stride=layout(section).row_bytes)
    return records.section(at, layout(section), rows=rows, stride=length)


def rmf_records(header: Header, rows: Mapping[str, Sequence[Row]], count: int) -> Records:
    """Return copies of one 74-4 record.

    Raises:
        ValueError: The record would exceed the maximum record length.
    """
    made = rmf_record(header, rows)
    if len(made) != 1:
        message = "a record 74-4 of so many structures would be broken"
        raise ValueError(message)
    return Records(made[0], count)


def rmf_section(records: Records, section: str, triplet: int) -> Section:
    """Return a section of 74-4 records by its triplet."""
    at, length, count = records.triplet(rmf.TRIPLETS_AT + 8 * triplet)
    return records.section(at, layout(section), rows=count, stride=length)
