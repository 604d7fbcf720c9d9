"""A window of a dump, read with every check: descriptor words, headers, segments, and the search for a record.

A dump is a chain: each segment's descriptor word (RDW: length, segment code, zero) leads to the next segment. A record of
one segment has code 0; a spanned one has a first (1), middle ones (3) and a last (2). In a dump with blocks, each block
begins with four more bytes (BDW).
"""

from __future__ import annotations

from struct import Struct

import numpy as np
import numpy.typing as npt

from spark_jobs.smf.wire import HUNDREDTHS_A_DAY

RDW = BDW = 4
SHORTEST_SEGMENT = 5
"""The length of a descriptor word and one more byte."""
SHORTEST_RECORD = 18
"""The length of the standard header without subtype."""
NUL = 0x00
LOWEST_CHARACTER = 0x40
"""The code of a blank; no byte of a system id is lower."""
LONGEST_SEGMENT = 32_767
LONGEST_RECORD = 65_535
"""The longest chain of segments that can be a record; SMF's own limit is 32,760."""
WHOLE, FIRST, LAST, MIDDLE = 0, 1, 2, 3
DEEP = 6
"""The number of consecutive records that must look right where a range begins in the middle of a dump."""
SEARCH_BYTES = 2**16
NEAR_BYTES = 64
"""The maximum distance from its expected position at which a damaged header is searched for."""

RDW_WORD = Struct(">HH")
"""The descriptor word: length; segment code and a zero."""
_HEADER = Struct(">HBBBBIBBBB")

Segment = tuple[int, int, int]
"""Position, code and length of a segment."""


class Careful:
    """Single steps in a window of a dump, each with every check."""

    def __init__(self, data: npt.NDArray[np.uint8], *, at_end: bool, blocked: bool = False) -> None:
        self.data = data
        self.size = int(data.size)
        self.at_end = at_end
        self.blocked = blocked
        self.view = data.data

    def is_start(self, position: int) -> bool:
        """Return whether a record begins at the position: descriptor word, time, date and system id."""
        if position + RDW > self.size:
            return False
        length, word = RDW_WORD.unpack_from(self.view, position)
        if length < SHORTEST_RECORD:
            return length >= SHORTEST_SEGMENT and word == FIRST << 8 and self._has_split_header(position)
        if (
            position + SHORTEST_RECORD > self.size
            or word > FIRST << 8
            or word & 0xFF
            or length > LONGEST_SEGMENT
        ):
            return False
        _, _, _, _, _, time, *date = _HEADER.unpack_from(self.view, position)
        return (
            time <= HUNDREDTHS_A_DAY
            and _is_date(*date)
            and min(self.view[position + 14 : position + 18]) >= LOWEST_CHARACTER
        )

    def _has_split_header(self, position: int) -> bool:
        """Return whether a record whose first segment ends within the header begins at the position."""
        header = b""
        while len(header) < SHORTEST_RECORD - RDW:
            if position + RDW > self.size:
                return False
            length, word = RDW_WORD.unpack_from(self.view, position)
            header += bytes(self.view[position + RDW : position + length])
            position += length
            if len(header) < SHORTEST_RECORD - RDW and (word >> 8 not in (FIRST, MIDDLE)):
                return False
            if not self.is_continuation(position) and self.blocked and self.is_block_word(position):
                position += BDW
            if len(header) < SHORTEST_RECORD - RDW and not self.is_continuation(position):
                return False
        return has_header_at(np.frombuffer(header, dtype=np.uint8), 0)

    def is_block_word(self, position: int) -> bool:
        """Return whether the four bytes at the position could be a block's descriptor word, short or extended."""
        if position + BDW > self.size:
            return False
        high: int
        low: int
        high, low = RDW_WORD.unpack_from(self.view, position)
        # The high bit marks an extended block descriptor word, with a length of 31 bits.
        if high & 0x8000:
            return ((high & 0x7FFF) << 16 | low) >= BDW + SHORTEST_SEGMENT
        return high >= BDW + SHORTEST_SEGMENT and low == 0

    def is_continuation(self, position: int) -> bool:
        """Return whether the descriptor word at the position is that of a middle or last segment."""
        if position + RDW > self.size:
            return False
        length, code = RDW_WORD.unpack_from(self.view, position)
        return SHORTEST_SEGMENT <= length <= LONGEST_SEGMENT and code in (LAST << 8, MIDDLE << 8)

    def next_continuation(self, position: int) -> int | None:
        """Return the position of a middle or last segment here or directly after a block word here; None if there is neither."""
        if self.is_continuation(position):
            return position
        if self.blocked and self.is_block_word(position) and self.is_continuation(position + BDW):
            return position + BDW
        return None

    def next_start(self, position: int) -> int | None:
        """Return the start of a record at the position, or after the block word there."""
        if self.is_start(position):
            return position
        if self.blocked and self.is_block_word(position) and self.is_start(position + BDW):
            return position + BDW
        return None

    def is_end(self, position: int) -> bool:
        """Return whether a record may end at the position: at the end of the file, or where another record begins."""
        return (position == self.size and self.at_end) or self.next_start(position) is not None

    def segments(self, position: int) -> tuple[list[Segment], int]:
        """Follow the segments of the record that begins at the position, whatever its header contains.

        Return position, code and length of each segment, and the end of the last one. If the chain breaks, the last segment's
        code is not that of a last segment, and the end is where another segment should begin.
        """
        length, word = RDW_WORD.unpack_from(self.view, position)
        found = [(position, word >> 8, length)]
        position += length
        joined = length
        while found[-1][1] in (FIRST, MIDDLE) and position < self.size and joined <= LONGEST_RECORD:
            following = self.next_continuation(position)
            if following is None:
                break
            position = following
            length, word = RDW_WORD.unpack_from(self.view, position)
            found.append((position, word >> 8, length))
            position += length
            joined += length - RDW
        return found, position

    def record_end(self, position: int) -> int | None:
        """Return the end of the record that begins here; None if its segments break or leave the window."""
        found, end = self.segments(position)
        return end if found[-1][1] in (WHOLE, LAST) and end <= self.size else None

    def is_deep_start(self, position: int, *, depth: int) -> bool:
        """Return whether `depth` consecutive records begin at the position, or all that remain before the file ends."""
        for _ in range(depth - 1):
            if not self.is_start(position):
                return False
            end = self.record_end(position)
            if end is None:  # cut off by the end of the file
                return self.at_end and self.size - position <= LONGEST_RECORD
            if end == self.size and self.at_end:
                return True
            following = self.next_start(end)
            if following is None:
                return self.at_end and self.size - end < SHORTEST_RECORD + BDW
            position = following
        return True

    def search(self, position: int, *, depth: int = 1, until: int | None = None) -> int | None:
        """Return the first start of a record at or after the position."""
        last = self.size - SHORTEST_RECORD + 1
        if until is not None:
            last = min(last, until)
        while position < last:
            stop = min(position + SEARCH_BYTES, last)
            for found in self._candidates(position, stop):
                if self.is_start(found) and (depth == 1 or self.is_deep_start(found, depth=depth)):
                    return int(found)
            position = stop
        return None

    def _candidates(self, position: int, stop: int) -> list[int]:
        """Return positions whose bytes 2, 3, 10 and 13 could belong to the start of a record."""
        data = self.data
        code = data[position + 2 : stop + 2]
        zero = data[position + 3 : stop + 3]
        century = data[position + 10 : stop + 10]
        sign = data[position + 13 : stop + 13]
        # Four comparisons of whole arrays leave few positions for the full check, which runs in Python.
        hits = (code <= FIRST) & (zero == 0) & (century <= 1) & ((sign & 15) == 15)  # noqa: PLR2004
        found: list[int] = (np.flatnonzero(hits) + position).tolist()
        return found

    def damaged_record_end(self, position: int) -> int | None:
        """Return the end of a record with a damaged header, if its descriptor words lead to another record."""
        if position + RDW > self.size:
            return None
        length, word = RDW_WORD.unpack_from(self.view, position)
        # A descriptor word has no other bits than the two of the segment code.
        if word & 0xFCFF or not SHORTEST_SEGMENT <= length <= LONGEST_SEGMENT:
            return None
        if word >> 8 in (WHOLE, FIRST):
            end = self.record_end(position)
            return end if end is not None and self.is_end(end) else None
        end = position + length
        return end if self.is_end(end) or self.next_continuation(end) is not None else None

    def has_blocks(self, position: int) -> bool:
        """Return whether there are block words in the chain from the position on."""
        for blocked in (False, True):
            self.blocked = blocked
            # Check deeper than elsewhere: without block words in between, the records of one block would pass as a
            # chain.
            if self.is_deep_start(position, depth=DEEP * DEEP):
                return blocked
        return True

    def is_filling(self, position: int) -> bool:
        """Return whether the rest of the dump consists only of zeros or only of blanks."""
        if not self.at_end or set(self.view[position : position + NEAR_BYTES]) not in (
            {NUL},
            {LOWEST_CHARACTER},
        ):
            return False
        rest = self.data[position:]
        return bool((rest == rest[0]).all())

    def has_header_near(self, position: int) -> bool:
        """Return whether a record begins near the position, with first bytes that are damaged, missing or inserted."""
        shifts = range(-RDW + 1, NEAR_BYTES)
        if any(
            has_header_at(self.data, position + shift + RDW) and not self.is_start(position + shift)
            for shift in shifts
        ):
            return True
        length, word = RDW_WORD.unpack_from(self.view, position) if position + RDW <= self.size else (0, 0)
        if word not in (WHOLE << 8, FIRST << 8) or not SHORTEST_RECORD <= length <= LONGEST_SEGMENT:
            return False
        return any(
            _is_date(*self.view[begin : begin + 4])
            for begin in range(position + RDW, min(position + RDW + NEAR_BYTES, self.size - 4))
        )


def has_header_at(data: npt.NDArray[np.uint8], position: int) -> bool:
    """Return whether flag, type, time, date and system id are at the position, with no descriptor word before them."""
    if position < 0 or position + SHORTEST_RECORD - RDW > data.size:
        return False
    header = data[position : position + SHORTEST_RECORD - RDW].tobytes()
    time = int.from_bytes(header[2:6], "big")
    return time <= HUNDREDTHS_A_DAY and _is_date(*header[6:10]) and min(header[10:14]) >= LOWEST_CHARACTER


def _is_date(century: int, year: int, high: int, low: int) -> bool:
    if century > 1 or low & 15 != 15:  # noqa: PLR2004
        return False
    digits = (year >> 4, year & 15, high >> 4, high & 15, low >> 4)
    return max(digits) <= 9 and 1 <= digits[2] * 100 + digits[3] * 10 + digits[4] <= 366  # noqa: PLR2004
