"""Find the logical records in the bytes of a dump.

The walk is fast where the chain of descriptor words is unbroken, and careful where it breaks. It yields a record only
if the start of a record, or the end of the dump, follows it, so a damaged length causes the loss of only its own
record. The result depends only on the bytes and not on how they are read, so ranges of a dump give the same records as
the whole dump.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from planner_core.contracts.ingest import Quarantine
from spark_jobs.smf.careful import (
    BDW,
    DEEP,
    FIRST,
    LAST,
    LONGEST_SEGMENT,
    RDW,
    SHORTEST_RECORD,
    SHORTEST_SEGMENT,
    WHOLE,
    Careful,
    Segment,
)
from spark_jobs.smf.chain import Positions, Run

CHUNK_BYTES = 16 * 2**20
LOOKAHEAD_BYTES = 2 * 2**20
"""The maximum number of bytes after a record that are needed to judge it."""
SLACK_BYTES = 8192
"""The number of bytes after the end of the window, so that the longest row can be copied from its last byte."""
FEW_SEGMENTS, MANY_SEGMENTS = 32, 2**30

NO_BEGIN = "a segment without the beginning of its record"
NO_HEADER = "the record's header has no valid date, time or system id"
NO_BLOCK = "a damaged block descriptor word"
NO_RECORD = "no record begins here"


Source = io.RawIOBase | io.BufferedIOBase


@dataclass
class Batch:
    """Some logical records in one array of bytes, and the parts that were not records."""

    data: npt.NDArray[np.uint8]
    """The window, followed by the joined records; at least SLACK_BYTES more follow the last record."""
    starts: Positions
    """The position of each record in data, joined if it was spanned."""
    lengths: Positions
    """Lengths of the joined records, including the first segment's descriptor word."""
    extents: Positions
    """Bytes of all segments in the dump, including their descriptor words."""
    offsets: Positions
    """The offset of each record in the dump."""
    first_number: int
    """Number of the first record."""
    damage: list[Quarantine] = field(default_factory=list)
    lost_bytes: int = 0
    blocks: int = 0


class Walk:
    """A pass over a dump, or a range of it, that yields its records in batches."""

    def __init__(
        self,
        source: Source,
        *,
        blocked: bool,
        start: int = 0,
        stop: int | None = None,
        is_begin: bool = True,
        first_number: int = 0,
        window_bytes: int | None = None,
    ) -> None:
        """Start at the source's position, which is `start` in the dump.

        Args:
            source: bytes from `start` on.
            blocked: whether there are block words.
            start: offset in the dump.
            stop: records that begin here or later belong to the next range.
            is_begin: whether the dump begins at `start`; otherwise the walk searches for the first record.
            first_number: number of the first record.
            window_bytes: size of the window, for sources that are known to be smaller than usual.
        """
        self._source = source
        self._blocked = blocked
        self._stop = stop
        self._is_begin = is_begin
        self._number = first_number
        self._capacity = CHUNK_BYTES + LOOKAHEAD_BYTES if window_bytes is None else window_bytes
        # Twice the capacity: spanned records are joined behind the window, and all of them may be spanned.
        self._window = np.zeros(2 * self._capacity + SLACK_BYTES, dtype=np.uint8)
        self._base = start
        """Offset in the dump of the window's first byte."""
        self._filled = 0
        self._at_end = False
        self._garbage: tuple[int, str] | None = None
        """The offset in the dump of an unreadable stretch whose end has not been found yet, and the reason."""
        self._patience = MANY_SEGMENTS
        self.first_start = start
        """The start of the first record of the range; known after the first batch."""
        self.end = start
        """The position that the walk has reached."""

    def batches(self) -> Iterator[Batch]:
        """Yield the records of the range. A batch's data are valid only until the next one is requested."""
        self._fill(0)
        position, done = self._set_out()
        while not done:
            found = _Found()
            position, done = self._pass(found, position)
            self.end = self._base + position
            # A truncated gzip file ends like a complete one; only its source knows that bytes are missing.
            problem = getattr(self._source, "problem", None)
            if done and self._at_end and problem:
                found.damage.append((self.end, self.end, problem))
            yield self._batch(found)
            if not done:
                self._fill(position)
                position = 0

    def is_deep_start(self, offset: int, *, depth: int) -> bool:
        """Return whether `depth` consecutive records begin at an offset in the last batch."""
        return self._careful().is_deep_start(offset - self._base, depth=depth)

    # ---- the window

    def _fill(self, keep_from: int) -> None:
        """Drop the bytes before `keep_from`, and read more into the window."""
        kept = self._filled - keep_from
        self._window[:kept] = self._window[keep_from : self._filled]
        self._base += keep_from
        self._filled = kept
        target = self._window.data
        while self._filled < self._capacity and not self._at_end:
            read = self._source.readinto(target[self._filled : self._capacity])
            self._at_end = not read
            self._filled += read or 0

    @property
    def _horizon(self) -> int:
        """Return the end of the records that can be judged, because enough bytes after them are known."""
        return self._filled if self._at_end else max(0, self._filled - LOOKAHEAD_BYTES)

    def _careful(self) -> Careful:
        return Careful(self._window[: self._filled], at_end=self._at_end, blocked=self._blocked)

    def _set_out(self) -> tuple[int, bool]:
        """Find the first record; return its position, and whether the range has none."""
        if self._is_begin:
            return 0, False
        while True:
            found = self._careful().search(0, depth=DEEP, until=None if self._at_end else self._horizon)
            if found is not None or self._at_end:
                break
            self._fill(self._horizon)
        position = self._filled if found is None else found
        self.first_start = self.end = self._base + position
        return position, found is None or self._is_past(position)

    def _is_past(self, position: int) -> bool:
        return (self._stop is not None and self._base + position >= self._stop) or (
            position == self._filled and self._at_end
        )

    # ---- one window

    def _pass(self, found: _Found, position: int) -> tuple[int, bool]:
        """Process the window; return where to continue, and whether the range is finished."""
        careful = self._careful()
        while position < self._horizon:
            if self._garbage is not None:
                position = self._leave_garbage(careful, found, position)
                if self._garbage is not None:
                    return position, False
            else:
                run = Run(careful, position, until=self._until(), most=self._patience)
                found.add(run)
                position = run.end
                if run.is_sound:
                    self._patience = min(self._patience * 2, MANY_SEGMENTS)
                elif position < self._horizon and not self._is_past(position):
                    # Damage often comes in clusters, so following the whole window again after each break would be
                    # wasted work.
                    self._patience = FEW_SEGMENTS
                    position = self._step(careful, found, position)
            if self._garbage is None and self._is_past(position):
                return position, True
        return position, position == self._filled and self._at_end

    def _until(self) -> int:
        return self._horizon if self._stop is None else min(self._horizon, self._stop - self._base)

    def _step(self, careful: Careful, found: _Found, position: int) -> int:
        """Process one record with every check, and any other bytes after it; return where to continue."""
        begin = careful.next_start(position)
        if begin is None:
            return self._diagnose(careful, found, position, record=None)
        found.blocks += begin != position
        segments, end = careful.segments(begin)
        is_complete = segments[-1][1] in (WHOLE, LAST)
        if is_complete and careful.is_end(end):
            found.add_record(segments)
            return self._arrive(careful, found, end)
        if end > careful.size:
            return self._cut(careful, found, begin)
        if is_complete:
            return self._diagnose(careful, found, end, record=segments)
        if careful.next_start(end) is not None:
            found.damage.append(
                (self._base + begin, self._base + end, "the record's last segment is missing")
            )
            return self._arrive(careful, found, end)
        if careful.size - end < RDW + BDW and careful.at_end:
            return self._cut(careful, found, begin)
        return self._give_up(begin, begin + RDW, "the record's segments do not join")

    def _diagnose(
        self, careful: Careful, found: _Found, trouble: int, *, record: list[Segment] | None
    ) -> int:
        """Determine whether a record is damaged, or the bytes after it that are not a record."""
        if careful.size - trouble < SHORTEST_RECORD and careful.at_end:
            found.add_record(record)
            return self._tail(careful, found, trouble)
        # Check before the chain is followed: a damaged block word leads to the next block like a segment's word.
        if careful.blocked and careful.is_start(trouble + BDW):
            found.add_record(record)
            found.damage.append((self._base + trouble, self._base + trouble + BDW, NO_BLOCK))
            return trouble + BDW
        # A block word may look like that of a whole record, and lead to the next block as that leads to the next record.
        segment = careful.next_continuation(trouble)
        end = careful.damaged_record_end(trouble if segment is None else segment)
        if end is not None:
            found.add_record(record)
            reason = NO_HEADER if segment is None else NO_BEGIN
            found.damage.append((self._base + trouble, self._base + end, reason))
            return self._arrive(careful, found, end)
        if record is None or careful.has_header_near(trouble) or careful.is_filling(trouble):
            found.add_record(record)
            return self._give_up(trouble, trouble + 1, NO_RECORD)
        begin = record[0][0]
        return self._give_up(begin, begin + RDW, "the record's length does not lead to another record")

    def _arrive(self, careful: Careful, found: _Found, position: int) -> int:
        """Skip the block word at the position if a record begins after it."""
        begin = careful.next_start(position)
        if begin is None or begin == position:
            return position
        found.blocks += 1
        return begin

    def _give_up(self, begin: int, search_from: int, reason: str) -> int:
        self._garbage = (self._base + begin, reason)
        return search_from

    def _leave_garbage(self, careful: Careful, found: _Found, position: int) -> int:
        """Search for the next record after an unreadable stretch."""
        begin = careful.search(position, until=None if self._at_end else self._horizon)
        if begin is None and not self._at_end:
            return max(position, self._horizon)
        end = self._filled if begin is None else begin
        if self._garbage is not None:
            found.damage.append((self._garbage[0], self._base + end, self._garbage[1]))
        self._garbage = None
        return end

    def _cut(self, careful: Careful, found: _Found, begin: int) -> int:
        """Decide whether a record that ends after the dump is cut off or has a damaged length."""
        following = careful.search(begin + SHORTEST_RECORD)
        if following is None:
            found.lost_bytes += self._filled - begin
            return self._filled
        reason = "the record's length leads beyond the end of the dump"
        found.damage.append((self._base + begin, self._base + following, reason))
        return following

    def _tail(self, careful: Careful, found: _Found, trouble: int) -> int:
        """Classify remaining bytes that are fewer than a header: the beginning of a record, or unknown bytes."""
        rest = bytes(careful.view[trouble : self._filled])
        may_begin = _may_begin_record(rest) or (
            careful.blocked and careful.is_block_word(trouble) and _may_begin_record(rest[BDW:])
        )
        if may_begin:
            found.lost_bytes += self._filled - trouble
        else:
            found.damage.append((self._base + trouble, self._base + self._filled, NO_RECORD))
        return self._filled

    # ---- batches

    def _batch(self, found: _Found) -> Batch:
        positions, codes, lengths = found.arrays()
        firsts = np.flatnonzero(codes <= FIRST)
        counts = np.diff(firsts, append=len(codes))
        extents = np.add.reduceat(lengths, firsts) if firsts.size else lengths
        starts = positions[firsts]
        batch = Batch(
            data=self._window,
            starts=starts.copy(),
            lengths=extents - RDW * (counts - 1),
            extents=extents,
            offsets=self._base + starts,
            first_number=self._number,
            damage=[Quarantine(begin, end - begin, reason) for begin, end, reason in found.damage],
            lost_bytes=found.lost_bytes,
            blocks=found.blocks,
        )
        self._number += len(starts)
        self._join(batch, positions, lengths, firsts, np.flatnonzero(counts > 1))
        return batch

    def _join(
        self, batch: Batch, positions: Positions, lengths: Positions, firsts: Positions, spanned: Positions
    ) -> None:
        """Join the segments of spanned records in the space after the window."""
        window = self._window
        target = self._capacity
        for record in spanned.tolist():
            first = int(firsts[record])
            batch.starts[record] = target
            last = int(firsts[record + 1]) if record + 1 < len(firsts) else len(positions)
            for segment in range(first, last):
                skipped = 0 if segment == first else RDW
                begin, length = int(positions[segment]) + skipped, int(lengths[segment]) - skipped
                window[target : target + length] = window[begin : begin + length]
                target += length


def _may_begin_record(rest: bytes) -> bool:
    """Return whether these few bytes could be the beginning of a record."""
    word = rest[:RDW].ljust(RDW, b"\0")
    length = int.from_bytes(word[:2], "big")
    is_length = len(rest) < len(word[:2]) or SHORTEST_SEGMENT <= length <= LONGEST_SEGMENT
    return is_length and word[2] <= FIRST and word[3] == 0


class _Found:
    """The records and damage found in a window so far."""

    def __init__(self) -> None:
        self._parts: list[tuple[Positions, Positions, Positions]] = []
        self.damage: list[tuple[int, int, str]] = []
        self.lost_bytes = 0
        self.blocks = 0

    def add(self, run: Run) -> None:
        if len(run.positions):
            self._parts.append((run.positions, run.codes, run.lengths))
        self.blocks += run.blocks

    def add_record(self, segments: list[Segment] | None) -> None:
        if segments:
            table = np.array(segments, dtype=np.int64)
            self._parts.append((table[:, 0], table[:, 1], table[:, 2]))
            begin, end = segments[0][0], segments[-1][0] + segments[-1][2]
            self.blocks += (end - begin - int(table[:, 2].sum())) // BDW

    def arrays(self) -> tuple[Positions, Positions, Positions]:
        """Return position, code and length of each segment."""
        if len(self._parts) == 1:
            return self._parts[0]
        if not self._parts:
            none = np.zeros(0, dtype=np.int64)
            return none, none, none
        positions, codes, lengths = zip(*self._parts, strict=True)
        return np.concatenate(positions), np.concatenate(codes), np.concatenate(lengths)
