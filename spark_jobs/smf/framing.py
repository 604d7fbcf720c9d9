"""From a file to logical records: descriptor words, spanned segments, blocks, and what to do where they are damaged.

A dump is a chain: each segment's descriptor word (RDW: length, segment code, zero) leads to the next segment. A record of
one segment has code 0; a spanned one has a first (1), middle ones (3) and a last (2). In a dump with blocks every block
begins with four bytes more (BDW).

The walk is fast where the chain holds and careful where it breaks. It gives a record away only when what follows it is
the beginning of a record, or the end of the file: so a damaged length costs the record whose length it is. What it finds
depends on the bytes alone and not on how they are read, so ranges of a dump give what the whole dump gives.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import IO, Protocol

import numpy as np
import numpy.typing as npt

from spark_jobs.smf.errors import NotAnSmfDump
from spark_jobs.smf.results import Quarantine
from spark_jobs.smf.wire import HUNDREDTHS_A_DAY, packed_days

RDW = BDW = 4
SHORTEST_SEGMENT = 5
"""A descriptor word and one byte."""
SHORTEST_RECORD = 18
"""The standard header, without subtype."""
LOWEST_CHARACTER = 0x40
"""The blank: nothing below it is in a system id."""
LONGEST_SEGMENT = 32_767
LONGEST_RECORD = 65_535
"""SMF's own limit is 32,760; a chain of segments that grows beyond this is none."""
WHOLE, FIRST, LAST, MIDDLE = 0, 1, 2, 3
DEEP = 6
"""How many records in a row must look right where a range begins in the middle of a dump."""

CHUNK_BYTES = 16 * 2**20
LOOKAHEAD_BYTES = 2 * 2**20
"""No decision needs more bytes than these after the record in question."""
SLACK_BYTES = 8192
"""After the end of the window, so that the longest row may be copied from its last byte."""
SEARCH_BYTES = 2**16
FEW_SEGMENTS, MANY_SEGMENTS = 32, 2**30

FRAMINGS = ("rdw", "bdw", "gzip+rdw", "gzip+bdw")
GZIP_MAGIC = b"\x1f\x8b"
DETECTED_IN_BYTES = 2**20

_RDW = Struct(">HH")
_HEADER = Struct(">HBBBBIBBBB")

HOW_TO_TRANSFER = "Transfer it again in binary with the record descriptor words: in FTP, `binary` and `quote site rdw` before `get`."

Positions = npt.NDArray[np.int64]


class Source(Protocol):
    """Bytes from a position on."""

    def readinto(self, target: memoryview, /) -> int | None:
        """Fill the target as far as there are bytes."""


@dataclass
class Batch:
    """Some logical records in one array of bytes, and what was not a record."""

    data: npt.NDArray[np.uint8]
    """The window, joined records after it; beyond the last record there are SLACK_BYTES more."""
    starts: Positions
    """Where each record stands in data, joined if it was spanned."""
    lengths: Positions
    """Of the joined records, with the first segment's descriptor word."""
    extents: Positions
    """Bytes of all segments in the dump, their descriptor words included."""
    offsets: Positions
    """Where each record begins in the dump."""
    first_number: int
    """Number of the first record."""
    damage: list[Quarantine] = field(default_factory=list)
    lost_bytes: int = 0
    blocks: int = 0


# ---- what a file is ----------------------------------------------------------------------------------------------


def detect_framing(head: bytes, *, size: int | None = None) -> str:
    """Say how a dump is framed, from its first megabyte.

    Raises:
        NotAnSmfDump: it is none, or lost its descriptor words or its bytes in the transfer.
    """
    if head.startswith(GZIP_MAGIC):
        try:
            inner = zlib.decompressobj(wbits=31).decompress(head, DETECTED_IN_BYTES)
        except zlib.error as error:
            message = "The file begins like a gzip file but cannot be decompressed: it is damaged."
            raise NotAnSmfDump(message) from error
        return "gzip+" + detect_framing(inner)
    if not head:
        message = "The file is empty."
        raise NotAnSmfDump(message)
    walk = _Careful(np.frombuffer(head, dtype=np.uint8), at_end=size is None or size <= len(head))
    for framing, blocked, first in (("rdw", False, 0), ("bdw", True, BDW)):
        walk.blocked = blocked
        if walk.is_start(first) and (first == 0 or walk.is_block_word(0)):
            return framing
    refusal = _refusal(head)
    if refusal:
        raise NotAnSmfDump(refusal)
    found = walk.search(0, depth=DEEP)  # the beginning may be damaged
    if found is None:
        message = f"This is no SMF dump: nothing in its first {len(head)} bytes is a chain of SMF records. {HOW_TO_TRANSFER}"
        raise NotAnSmfDump(message)
    return "bdw" if walk.has_blocks(found) else "rdw"


_SMF_FLAGS = (
    0x1E,
    0x5E,
    0xDE,
    0x9E,
    0x0E,
    0x4E,
    0xCE,
    0x8E,
    0x02,
    0x42,
    0xC2,
    0x82,
    0x06,
    0x46,
    0x7E,
    0x3E,
    0xFE,
    0xBE,
)
_TRANSLATED_SHARE = 0.85


def _refusal(head: bytes) -> str | None:
    """The sentence for what is known to go wrong in transfers; None for all else."""
    data = np.frombuffer(head, dtype=np.uint8)
    if _has_header_at(data, 0) and head[0] in _SMF_FLAGS:
        return (
            "This SMF dump was transferred without its record descriptor words (RDW): where a record ends cannot be "
            f"known. {HOW_TO_TRANSFER}"
        )
    if head[:2] in (b"PK", b"BZ", b"7z", b"\xfd7") or head[:4] == b"\x28\xb5\x2f\xfd":
        return "The file is compressed in a way that is not read here: unpack it, or compress it with gzip."
    if b"INMR0" in head[:200] or "INMR0".encode("cp037") in head[:200]:
        return f"The file is in TSO TRANSMIT form (XMIT). RECEIVE it on z/OS first. {HOW_TO_TRANSFER}"
    if _looks_translated(head):
        return (
            "The bytes of this dump were translated from EBCDIC to ASCII in the transfer, which cannot be undone. "
            f"{HOW_TO_TRANSFER}"
        )
    if data.size and ((data >= 0x20) & (data < 0x7F) | np.isin(data, (9, 10, 13))).mean() > _TRANSLATED_SHARE:  # noqa: PLR2004
        return f"This is a text, not an SMF dump. {HOW_TO_TRANSFER}"
    return None


_EYECATCHERS = (
    b"QWHS",
    b"QEST",
    b"QMST",
    b"QJST",
    b"QESD",
    b"QPST",
    b"WTID",
    b"WTAS",
    b"WQST",
    b"QIST",
    b"QLST",
    b"Q5ST",
    b"QSST",
    b"RMF ",
)


def _looks_translated(head: bytes) -> bool:
    """Section names in ASCII, and none in EBCDIC."""
    in_ascii = sum(head.count(name) for name in _EYECATCHERS)
    in_ebcdic = sum(head.count(name.decode().encode("cp037")) for name in _EYECATCHERS)
    return in_ascii > in_ebcdic


def _has_header_at(data: npt.NDArray[np.uint8], position: int) -> bool:
    """Whether flag, type, time, date and system id stand at the position (without a descriptor word before them)."""
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


def open_source(path: str | Path | IO[bytes], *, framing: str) -> IO[bytes]:
    """Open a dump for reading, decompressed."""
    if framing.startswith("gzip"):
        return gzip.open(path, "rb")
    return Path(path).open("rb", buffering=0) if isinstance(path, str | Path) else path


def detect_file(path: str | Path) -> str:
    """Say how the dump in a file is framed."""
    path = Path(path)
    with path.open("rb") as file:
        head = file.read(DETECTED_IN_BYTES)
    return detect_framing(head, size=path.stat().st_size)


# ---- careful steps -----------------------------------------------------------------------------------------------


class _Careful:
    """Single steps in a window of a dump, each with every check."""

    def __init__(self, data: npt.NDArray[np.uint8], *, at_end: bool, blocked: bool = False) -> None:
        self.data = data
        self.size = int(data.size)
        self.at_end = at_end
        self.blocked = blocked
        self.view = data.data

    def is_start(self, position: int) -> bool:
        """Whether a record begins there: descriptor word, time, date and system id."""
        if position + RDW > self.size:
            return False
        length, word = _RDW.unpack_from(self.view, position)
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
        """The same for a record whose first segment ends within the header."""
        header = b""
        while len(header) < SHORTEST_RECORD - RDW:
            if position + RDW > self.size:
                return False
            length, word = _RDW.unpack_from(self.view, position)
            header += bytes(self.view[position + RDW : position + length])
            position += length
            if len(header) < SHORTEST_RECORD - RDW and (word >> 8 not in (FIRST, MIDDLE)):
                return False
            if not self.is_continuation(position) and self.blocked and self.is_block_word(position):
                position += BDW
            if len(header) < SHORTEST_RECORD - RDW and not self.is_continuation(position):
                return False
        return _has_header_at(np.frombuffer(header, dtype=np.uint8), 0)

    def is_block_word(self, position: int) -> bool:
        """Whether four bytes there could be a block's descriptor word, short or extended."""
        if position + BDW > self.size:
            return False
        high, low = _RDW.unpack_from(self.view, position)
        if high & 0x8000:
            return ((high & 0x7FFF) << 16 | low) >= BDW + SHORTEST_SEGMENT
        return high >= BDW + SHORTEST_SEGMENT and low == 0

    def is_continuation(self, position: int) -> bool:
        """Whether the descriptor word there is one of a middle or last segment."""
        if position + RDW > self.size:
            return False
        length, code = _RDW.unpack_from(self.view, position)
        return SHORTEST_SEGMENT <= length <= LONGEST_SEGMENT and code in (LAST << 8, MIDDLE << 8)

    def next_start(self, position: int) -> int | None:
        """The beginning of a record at the position, or behind the block word there."""
        if self.is_start(position):
            return position
        if self.blocked and self.is_block_word(position) and self.is_start(position + BDW):
            return position + BDW
        return None

    def is_end(self, position: int) -> bool:
        """Whether a record may end there: at the end of the file or where a record begins."""
        return (position == self.size and self.at_end) or self.next_start(position) is not None

    def segments(self, position: int) -> tuple[list[tuple[int, int, int]], int]:
        """Follow the segments of the record that begins at the position, whatever its header says.

        Returns where each segment begins, its code and its length; and where the last one ends. That the chain breaks
        shows in the last segment's code: it is no last one, and the end is where another segment should begin.
        """
        length, word = _RDW.unpack_from(self.view, position)
        found = [(position, word >> 8, length)]
        position += length
        joined = length
        while found[-1][1] in (FIRST, MIDDLE) and position < self.size and joined <= LONGEST_RECORD:
            if not self.is_continuation(position):
                if not (
                    self.blocked and self.is_block_word(position) and self.is_continuation(position + BDW)
                ):
                    break
                position += BDW
            length, word = _RDW.unpack_from(self.view, position)
            found.append((position, word >> 8, length))
            position += length
            joined += length - RDW
        return found, position

    def record_end(self, position: int) -> int | None:
        """Where the record that begins at the position ends; None if its segments break or run off the window."""
        found, end = self.segments(position)
        return end if found[-1][1] in (WHOLE, LAST) and end <= self.size else None

    def is_deep_start(self, position: int, *, depth: int) -> bool:
        """Whether `depth` records in a row begin there, or as many as there are before the file ends."""
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
        """The first beginning of a record from the position on."""
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
        """Positions whose bytes 2, 3, 10 and 13 are those of a record's beginning."""
        data = self.data
        code = data[position + 2 : stop + 2]
        zero = data[position + 3 : stop + 3]
        century = data[position + 10 : stop + 10]
        sign = data[position + 13 : stop + 13]
        hits = (code <= FIRST) & (zero == 0) & (century <= 1) & ((sign & 15) == 15)  # noqa: PLR2004
        found: list[int] = (np.flatnonzero(hits) + position).tolist()
        return found

    def damaged_record_end(self, position: int) -> int | None:
        """Where a record with a damaged header ends, if its descriptor words lead to another record."""
        if position + RDW > self.size:
            return None
        length, word = _RDW.unpack_from(self.view, position)
        if word & 0xFCFF or not SHORTEST_SEGMENT <= length <= LONGEST_SEGMENT:
            return None
        if word >> 8 in (WHOLE, FIRST):
            end = self.record_end(position)
            return end if end is not None and self.is_end(end) else None
        end = position + length
        return end if self.is_end(end) or self.is_continuation(end) else None

    def has_blocks(self, position: int) -> bool:
        """Whether block words stand in the chain from the position on."""
        for blocked in (False, True):
            self.blocked = blocked
            if self.is_deep_start(position, depth=DEEP * DEEP):
                return blocked
        return True

    def is_filling(self, position: int) -> bool:
        """Whether zeros or blanks were put between records."""
        some = set(self.view[position : position + 16])
        return some in ({0}, {0x40})

    def has_header_near(self, position: int) -> bool:
        """Whether the header of a record stands there whose descriptor word is damaged, is too short or too long."""
        return any(
            _has_header_at(self.data, position + shift + RDW) and not self.is_start(position + shift)
            for shift in (0, -1, 1, -2, 2, -3, 3, 4)
        )


# ---- the walk ----------------------------------------------------------------------------------------------------


class Walk:
    """Pass over a dump, or a range of it, and give its records in batches."""

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
        """Set out at the source's position, which is `start` in the dump.

        Args:
            source: bytes from `start` on.
            blocked: whether there are block words.
            start: offset in the dump.
            stop: records that begin here or later belong to the next range.
            is_begin: whether the dump begins at `start`; otherwise the first record is looked for.
            first_number: number of the first record.
            window_bytes: how much is held at a time, for sources that are known to be smaller than usual.
        """
        self._source = source
        self._blocked = blocked
        self._stop = stop
        self._is_begin = is_begin
        self._number = first_number
        self._capacity = CHUNK_BYTES + LOOKAHEAD_BYTES if window_bytes is None else window_bytes
        self._window = np.zeros(2 * self._capacity + SLACK_BYTES, dtype=np.uint8)
        self._base = start
        """Offset in the dump of the window's first byte."""
        self._filled = 0
        self._at_end = False
        self._garbage: tuple[int, str] | None = None
        """Where in the dump an unreadable stretch began whose end is not found yet, and why."""
        self._patience = MANY_SEGMENTS
        self.first_start = start
        """Where the first record of the range begins; known once the first batch has come."""
        self.end = start
        """How far the walk has come."""

    def batches(self) -> Iterator[Batch]:
        """Give the records of the range. A batch's data are only good until the next one is asked for."""
        self._fill(0)
        position, done = self._set_out()
        while not done:
            found = _Found()
            position, done = self._pass(found, position)
            self.end = self._base + position
            yield self._batch(found)
            if not done:
                self._fill(position)
                position = 0

    # ---- the window

    def _fill(self, keep_from: int) -> None:
        """Drop what is before keep_from and read more."""
        kept = self._filled - keep_from
        self._window[:kept] = self._window[keep_from : self._filled]
        self._base += keep_from
        self._filled = kept
        target = self._window.data
        while self._filled < self._capacity and not self._at_end:
            try:
                read = self._source.readinto(target[self._filled : self._capacity])
            except (EOFError, zlib.error, gzip.BadGzipFile):
                read = 0  # a compressed file that is cut short or damaged: what came out is read
            self._at_end = not read
            self._filled += read or 0

    @property
    def _horizon(self) -> int:
        """Records that begin before it may be looked at: enough is known of what comes after them."""
        return self._filled if self._at_end else max(0, self._filled - LOOKAHEAD_BYTES)

    def _careful(self) -> _Careful:
        return _Careful(self._window[: self._filled], at_end=self._at_end, blocked=self._blocked)

    def _set_out(self) -> tuple[int, bool]:
        """Find the first record; return its position, and whether there is none in the range."""
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
        """Walk through the window; return where to go on, and whether the range is done."""
        careful = self._careful()
        while position < self._horizon:
            if self._garbage is not None:
                position = self._leave_garbage(careful, found, position)
                if self._garbage is not None:
                    return position, False
            else:
                run = _Run(careful, position, until=self._until(), most=self._patience)
                found.add(run)
                position = run.end
                if run.is_sound:
                    self._patience = min(self._patience * 2, MANY_SEGMENTS)
                elif position < self._horizon and not self._is_past(position):
                    self._patience = FEW_SEGMENTS
                    position = self._step(careful, found, position)
            if self._garbage is None and self._is_past(position):
                return position, True
        return position, position == self._filled and self._at_end

    def _until(self) -> int:
        return self._horizon if self._stop is None else min(self._horizon, self._stop - self._base)

    def _step(self, careful: _Careful, found: _Found, position: int) -> int:
        """One record with every check, and what follows it if that is not another record; return where to go on."""
        begin = careful.next_start(position)
        if begin is None:
            return self._mend(careful, found, position, record=None)
        found.blocks += begin != position
        segments, end = careful.segments(begin)
        is_complete = segments[-1][1] in (WHOLE, LAST)
        if is_complete and careful.is_end(end):
            found.add_record(segments)
            return self._arrive(careful, found, end)
        if end > careful.size:
            return self._cut(careful, found, begin)
        if is_complete:
            return self._mend(careful, found, end, record=segments)
        if careful.next_start(end) is not None:
            found.damage.append(
                (self._base + begin, self._base + end, "the record's last segment is missing")
            )
            return self._arrive(careful, found, end)
        if careful.size - end < RDW + BDW and careful.at_end:
            return self._cut(careful, found, begin)
        return self._give_up(begin, begin + RDW, "the record's segments do not join")

    def _mend(
        self, careful: _Careful, found: _Found, trouble: int, *, record: list[tuple[int, int, int]] | None
    ) -> int:
        """What follows a record (or begins the dump) is none: find out which of the two is damaged."""
        if careful.size - trouble < SHORTEST_RECORD and careful.at_end:
            found.add_record(record)
            return self._tail(careful, found, trouble)
        end = careful.damaged_record_end(trouble)
        if end is not None:
            found.add_record(record)
            is_odd = careful.is_continuation(trouble)
            reason = NO_BEGIN if is_odd else NO_HEADER
            found.damage.append((self._base + trouble, self._base + end, reason))
            return self._arrive(careful, found, end)
        if careful.blocked and careful.is_start(trouble + BDW):
            found.add_record(record)
            found.damage.append((self._base + trouble, self._base + trouble + BDW, NO_BLOCK))
            return trouble + BDW
        if record is None or careful.has_header_near(trouble) or careful.is_filling(trouble):
            found.add_record(record)
            return self._give_up(trouble, trouble + 1, NO_RECORD)
        begin = record[0][0]
        return self._give_up(begin, begin + RDW, "the record's length does not lead to another record")

    def _arrive(self, careful: _Careful, found: _Found, position: int) -> int:
        """Step over the block word at the position, if a record begins behind it."""
        begin = careful.next_start(position)
        if begin is None or begin == position:
            return position
        found.blocks += 1
        return begin

    def _give_up(self, begin: int, search_from: int, reason: str) -> int:
        self._garbage = (self._base + begin, reason)
        return search_from

    def _leave_garbage(self, careful: _Careful, found: _Found, position: int) -> int:
        """Look for the next record behind an unreadable stretch."""
        begin = careful.search(position, until=None if self._at_end else self._horizon)
        if begin is None and not self._at_end:
            return max(position, self._horizon)
        end = self._filled if begin is None else begin
        if self._garbage is not None:
            found.damage.append((self._garbage[0], self._base + end, self._garbage[1]))
        self._garbage = None
        return end

    def _cut(self, careful: _Careful, found: _Found, begin: int) -> int:
        """The record ends after the dump does: the dump is cut off, or the length is damaged."""
        following = careful.search(begin + SHORTEST_RECORD)
        if following is None:
            found.lost_bytes += self._filled - begin
            return self._filled
        reason = "the record's length leads beyond the end of the dump"
        found.damage.append((self._base + begin, self._base + following, reason))
        return following

    def _tail(self, careful: _Careful, found: _Found, trouble: int) -> int:
        """Fewer bytes are left than a header has: the beginning of a record, or nothing known."""
        rest = bytes(careful.view[trouble : self._filled])
        if careful.blocked and careful.is_block_word(trouble):
            rest = rest[BDW:]
        word = rest[:RDW].ljust(RDW, b"\0")
        length = int.from_bytes(word[:2], "big")
        is_length = len(rest) < BDW // 2 or SHORTEST_RECORD <= length <= LONGEST_SEGMENT
        if is_length and word[2] <= FIRST and word[3] == 0:
            found.lost_bytes += self._filled - trouble
        else:
            found.damage.append((self._base + trouble, self._base + self._filled, NO_RECORD))
        return self._filled

    # ---- what is given away

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
        """Put the segments of spanned records together, behind the window."""
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


NO_BEGIN = "a segment that continues no record"
NO_HEADER = "the record's header has no valid date, time or system id"
NO_BLOCK = "a damaged block descriptor word"
NO_RECORD = "no record begins here"


class _Found:
    """What a window gave so far."""

    def __init__(self) -> None:
        self._parts: list[tuple[Positions, Positions, Positions]] = []
        self.damage: list[tuple[int, int, str]] = []
        self.lost_bytes = 0
        self.blocks = 0

    def add(self, run: _Run) -> None:
        if len(run.positions):
            self._parts.append((run.positions, run.codes, run.lengths))
        self.blocks += run.blocks

    def add_record(self, segments: list[tuple[int, int, int]] | None) -> None:
        if segments:
            table = np.array(segments, dtype=np.int64)
            self._parts.append((table[:, 0], table[:, 1], table[:, 2]))

    def arrays(self) -> tuple[Positions, Positions, Positions]:
        """Where each segment begins, its code and length."""
        if len(self._parts) == 1:
            return self._parts[0]
        if not self._parts:
            none = np.zeros(0, dtype=np.int64)
            return none, none, none
        positions, codes, lengths = zip(*self._parts, strict=True)
        return np.concatenate(positions), np.concatenate(codes), np.concatenate(lengths)


class _Run:
    """The chain from a record's beginning, as far as it holds: whole records, each followed by the next or by the end."""

    def __init__(self, careful: _Careful, position: int, *, until: int, most: int) -> None:
        """Follow the chain until the position `until` or where it breaks, but no more than about `most` segments."""
        chain = _blocked_chain if careful.blocked else _plain_chain
        positions, codes, lengths, block_words, end = chain(careful, position, until, most)
        kept = _sound_segments(careful, positions, codes, lengths)
        if kept < len(positions):
            end = int(positions[kept])
        following = careful.next_start(end)
        ends = np.flatnonzero((codes[:kept] == WHOLE) | (codes[:kept] == LAST)) + 1
        if (
            len(ends)
            and ends[-1] == kept
            and not (following is not None or (end == careful.size and careful.at_end))
        ):
            ends = ends[:-1]  # what follows the last record is none, so the record is in doubt
        whole = int(ends[-1]) if len(ends) else 0
        if whole == kept:
            self.end = end if following is None else following
        else:
            self.end = int(positions[whole])
        self.is_sound = whole == len(positions) and self.end > position
        self.positions, self.codes, self.lengths = positions[:whole], codes[:whole], lengths[:whole]
        self.blocks = sum(1 for word in block_words if word < self.end)
        if following is not None and whole == kept and following != end and end not in block_words:
            self.blocks += 1


def _sound_segments(careful: _Careful, positions: Positions, codes: Positions, lengths: Positions) -> int:
    """How many segments in a row are in order: first, middle, last, and headers with time, date and system id."""
    count = len(positions)
    if not count:
        return 0
    is_open = (codes == FIRST) | (codes == MIDDLE)
    wrong = codes >= LAST
    firsts = np.flatnonzero(~wrong)
    wrong[1:] ^= is_open[:-1]
    if not firsts.size:
        return 0
    is_inside = positions[firsts] + SHORTEST_RECORD <= careful.size
    headers = np.lib.stride_tricks.sliding_window_view(careful.data, SHORTEST_RECORD)
    header = headers[np.where(is_inside, positions[firsts], 0)]
    good = (
        is_inside
        & (lengths[firsts] <= LONGEST_SEGMENT)
        & (header[:, 6:10].view(">u4")[:, 0] <= HUNDREDTHS_A_DAY)
        & packed_days(header, 10)[1]
        & (header[:, 14:18].min(axis=1) >= LOWEST_CHARACTER)
    )
    for short in np.flatnonzero(lengths[firsts] < SHORTEST_RECORD).tolist():
        good[short] = careful.is_start(int(positions[firsts[short]]))
    wrong[firsts] |= ~good
    joined = np.cumsum(lengths)
    before = np.zeros(count, dtype=np.int64)
    before[firsts] = joined[firsts] - lengths[firsts]
    wrong |= joined - np.maximum.accumulate(before) > LONGEST_RECORD
    found = np.flatnonzero(wrong)
    return int(found[0]) if found.size else count


Chain = tuple[Positions, Positions, Positions, list[int], int]
"""Segments: where they begin, codes, lengths; block words; where the chain ends."""


def _plain_chain(careful: _Careful, position: int, until: int, most: int) -> Chain:
    """Follow descriptor words; nothing is checked but that they could be some."""
    unpack = _RDW.unpack_from
    view, size = careful.view, careful.size
    positions: list[int] = []
    words: list[int] = []
    add_position, add_word = positions.append, words.append
    last = size - RDW
    is_open = 0
    while ((position < until and most > 0) or is_open) and position <= last:
        length, word = unpack(view, position)
        if word & 0xFCFF or length < SHORTEST_SEGMENT or position + length > size:
            break
        add_position(position)
        add_word(word)
        is_open = word & 0x0100
        position += length
        most -= 1
    found = np.array(positions, dtype=np.int64)
    return found, np.array(words, dtype=np.int64) >> 8, np.diff(found, append=position), [], position


def _blocked_chain(careful: _Careful, position: int, until: int, most: int) -> Chain:
    """The same where there are block words: each record's header is looked at, to know the two kinds of words apart."""
    unpack = _RDW.unpack_from
    segments: list[tuple[int, int, int]] = []
    block_words: list[int] = []
    is_open = 0
    while True:
        begins = careful.is_continuation if is_open else careful.is_start
        begin = position
        if not begins(position):
            begin = position + BDW
            if not (careful.is_block_word(position) and begins(begin)):
                break
        if not is_open and (begin >= until or most <= 0):
            break
        length, word = unpack(careful.view, begin)
        if begin + length > careful.size:
            break
        if begin != position:
            block_words.append(position)
        segments.append((begin, word >> 8, length))
        is_open = word & 0x0100
        position = begin + length
        most -= 1
    table = np.array(segments, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2], block_words, position
