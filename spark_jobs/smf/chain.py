"""The fast path through a dump: the chain of descriptor words, as far as it is unbroken."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spark_jobs.smf.careful import (
    BDW,
    FIRST,
    LAST,
    LONGEST_RECORD,
    LONGEST_SEGMENT,
    LOWEST_CHARACTER,
    MIDDLE,
    RDW,
    RDW_WORD,
    SHORTEST_RECORD,
    SHORTEST_SEGMENT,
    WHOLE,
    Careful,
    Segment,
)
from spark_jobs.smf.wire import HUNDREDTHS_A_DAY, packed_days

Positions = npt.NDArray[np.int64]


class Run:
    """The unbroken part of the chain from a record's start: whole records, each followed by the next or by the end."""

    def __init__(self, careful: Careful, position: int, *, until: int, most: int) -> None:
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
            ends = ends[:-1]  # no record follows the last one, so its own length is in doubt
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


def _sound_segments(careful: Careful, positions: Positions, codes: Positions, lengths: Positions) -> int:
    """Return the number of consecutive segments with a valid order and valid headers (time, date and system id)."""
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
    # A damaged code can make a chain of segments that never ends; no record is that long.
    joined = np.cumsum(lengths)
    before = np.zeros(count, dtype=np.int64)
    before[firsts] = joined[firsts] - lengths[firsts]
    wrong |= joined - np.maximum.accumulate(before) > LONGEST_RECORD
    found = np.flatnonzero(wrong)
    return int(found[0]) if found.size else count


Chain = tuple[Positions, Positions, Positions, list[int], int]
"""The positions, codes and lengths of segments; the block words; and the end of the chain."""


def _plain_chain(careful: Careful, position: int, until: int, most: int) -> Chain:
    """Follow descriptor words, checking only that they are possible."""
    unpack = RDW_WORD.unpack_from
    view, size = careful.view, careful.size
    positions: list[int] = []
    words: list[int] = []
    # Local names: this loop runs once for each segment, and a dump has millions of them.
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


def _blocked_chain(careful: Careful, position: int, until: int, most: int) -> Chain:
    """Follow descriptor words with block words between them; checking each record's header distinguishes the two."""
    unpack = RDW_WORD.unpack_from
    segments: list[Segment] = []
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
