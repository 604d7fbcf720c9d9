"""Records of one kind as arrays: their headers, triplets and times, and which of them are damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planner_core.contracts.ingest import Quarantine
from spark_jobs.smf import wire
from spark_jobs.smf.tables import COMMON, INTERVAL_START_LOCAL, Rows, cut
from spark_jobs.smf.wire import Bytes, Ints, Mask

TRIPLET_BYTES = 8
FARTHEST_OFFSET_MINUTES = 18 * 60
"""The largest difference of a local time from UTC."""
_COMMON_TYPES = {column.name: column.type for column in (*COMMON, INTERVAL_START_LOCAL)}


@dataclass
class Records:
    """Some records of a batch, and their positions in the dump."""

    data: npt.NDArray[np.uint8]
    starts: Ints
    lengths: Ints
    extents: Ints
    offsets: Ints
    numbers: Ints
    file: str
    reasons: npt.NDArray[np.object_] = field(init=False)
    """The reason why each record is quarantined, or None."""

    def __post_init__(self) -> None:
        """Mark all records as sound."""
        self.reasons = np.full(len(self.starts), None, dtype=object)
        self._sound = np.ones(len(self.starts), dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.starts)

    def reject(self, which: Mask, reason: str) -> None:
        """Quarantine records, with the first reason found."""
        hits = which & self._sound
        if hits.any():
            self.reasons[hits] = reason
            self._sound &= ~hits

    @property
    def sound(self) -> Mask:
        """Return which records are not quarantined."""
        return self._sound

    def take(self, which: Ints) -> Records:
        """Return the selected records."""
        return Records(
            self.data,
            self.starts[which],
            self.lengths[which],
            self.extents[which],
            self.offsets[which],
            self.numbers[which],
            self.file,
        )

    def quarantined(self) -> list[Quarantine]:
        """Return the rejected records."""
        return [
            Quarantine(int(self.offsets[i]), int(self.extents[i]), self.reasons[i])
            for i in np.flatnonzero(~self._sound)
        ]

    def read(self, at: Ints | int, width: int) -> Bytes:
        """Return a copy of the bytes at an offset in each record; an offset beyond the record is treated as 0."""
        offsets = np.broadcast_to(np.asarray(at, dtype=np.int64), self.starts.shape)
        fits = (offsets >= 0) & (offsets + width <= self.lengths)
        return cut(self.data, self.starts + np.where(fits, offsets, 0), width)

    def triplets(self, at: Ints | int) -> tuple[Ints, Ints, Ints]:
        """Return offset, length and number of sections, from the triplet at an offset in each record."""
        found = self.read(at, TRIPLET_BYTES)
        return wire.unsigned(found, 0, 4), wire.unsigned(found, 4, 2), wire.unsigned(found, 6, 2)

    def rows(self, offset: Ints, length: Ints, count: Ints, *, among: Mask, row_bytes: int) -> Rows:
        """Return the sections to which the triplets of the records in `among` point."""
        counts = np.where(among & (length > 0), count, 0)
        record = np.repeat(np.arange(len(self)), counts)
        first = np.cumsum(counts) - counts
        section = np.arange(len(record)) - first[record]
        return Rows(
            data=self.data,
            # Use the length in the triplet, because sections become longer from release to release.
            positions=(self.starts + offset)[record] + section * length[record],
            lengths=np.minimum(length[record], row_bytes),
            record=record,
            section=section,
        )

    def reject_overrun(
        self, offset: Ints, length: Ints, count: Ints, *, first: Ints | int, name: str
    ) -> None:
        """Quarantine the records with sections that extend outside of them, or into their headers."""
        present = (length > 0) & (count > 0)
        outside = (offset < first) | (offset + length * count > self.lengths)
        self.reject(present & outside, f"section {name} is not within the record")

    def reject_by_rows(self, rows: Rows, wrong: Mask, reason: str) -> None:
        """Quarantine the records of some rows."""
        hit = np.zeros(len(self), dtype=np.bool_)
        hit[rows.record[wrong]] = True
        self.reject(hit, reason)


def has_eyecatcher(rows: Rows, word: str) -> Mask:
    """Return which sections contain their name after the identifier and length."""
    expected = np.frombuffer(word.encode("cp037"), dtype=np.uint8)
    found: Mask = (cut(rows.data, rows.positions + 4, 4) == expected).all(axis=1)
    return found


@dataclass
class Times:
    """Times at which records were written, and their intervals."""

    written_local_us: Ints
    offset_minutes: Ints
    interval_start_us: Ints
    interval_end_us: Ints
    interval_us: Ints
    interval_start_local_us: Ints
    has_interval: Mask

    @property
    def written_us(self) -> Ints:
        """Return the times at which records were written, in UTC."""
        return self.written_local_us - self.offset_minutes * wire.US_A_MINUTE


def written_local(records: Records) -> Ints:
    """Return the time in the header of each record, in microseconds since 1970, local time."""
    header = records.read(0, 18)
    days, is_date = wire.packed_days(header, 10)
    hundredths = wire.unsigned(header, 6, 4)
    records.reject(~is_date | (hundredths > wire.HUNDREDTHS_A_DAY), "the header has no valid date or time")
    return days * wire.US_A_DAY + hundredths * wire.US_A_HUNDREDTH


def quarters_between(local_us: Ints, utc_us: Ints) -> Ints:
    """Return local time less UTC in minutes, rounded to quarters of an hour."""
    # Time zones are whole quarters of an hour; the rest is the time between the readings of the two clocks.
    return (local_us - utc_us + wire.QUARTER_US // 2) // wire.QUARTER_US * 15


def common_columns(
    records: Records,
    rows: Rows,
    times: Times,
    *,
    wanted: Sequence[str],
    texts: dict[str, pa.Array],
    subtypes: Ints,
) -> dict[str, pa.Array]:
    """Return the common columns for rows of some records; `texts` has the names by record."""
    makers: dict[str, Any] = {
        "offset": records.offsets,
        "record": records.numbers,
        "subtype": subtypes,
        "written_at_local": times.written_local_us,
        "utc_offset_minutes": times.offset_minutes,
        "written_at": times.written_us,
    }
    of_interval = {
        "interval_start": times.interval_start_us,
        "interval_end": times.interval_end_us,
        "interval_us": times.interval_us,
        "interval_start_local": times.interval_start_local_us,
    }
    made: dict[str, pa.Array] = {}
    index = pa.array(rows.record)
    for name in wanted:
        type_ = _COMMON_TYPES[name]
        if name == "file":
            made[name] = pa.repeat(pa.scalar(records.file, pa.string()), len(rows))
        elif name == "section":
            made[name] = wire.numbers(rows.section, type_)
        elif name == "smf_type":
            made[name] = wire.numbers(records.data[records.starts + 5][rows.record], type_)
        elif name in makers:
            made[name] = wire.numbers(makers[name][rows.record], type_)
        elif name in of_interval:
            missing = ~times.has_interval[rows.record]
            made[name] = wire.numbers(of_interval[name][rows.record], type_, missing=missing)
        else:
            made[name] = texts[name].take(index)
    return made
