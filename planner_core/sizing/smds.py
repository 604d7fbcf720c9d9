"""Shared message data sets and Db2: space for offloaded messages, and their buffers.

IBM publishes neither the header of a message in SMDS nor the share of the space map; both
are assumed (tables/smds.toml) and reported. The queue manager that puts a message owns its
space, so each data set is sized for the whole load: all puts may go to one member. Queues get
space in whole blocks of DSBLOCK, so each queue can leave a block partly empty.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from planner_core import tables
from planner_core.units import ceil_div, round_up

_PERCENT = 100


@cache
def page_bytes() -> int:
    """Return the size of a page of message data in SMDS [bytes]."""
    return tables.constants("smds")["page_bytes"].value


@cache
def message_header_bytes() -> int:
    """Return the assumed header of a message in SMDS [bytes]."""
    return tables.constants("smds")["message_header_bytes"].value


def data_set_bytes(pages: int, *, dsblock_bytes: int, queues: int) -> int:
    """Return the space of one data set [bytes]: whole blocks with the assumed space map, and a block for each queue.

    Args:
        pages: Pages of message data in it.
        dsblock_bytes: DSBLOCK [bytes].
        queues: Queues of the structure.
    """
    # A queue has data in the data set only if it has a page there, so few pages bound the blocks that are partly empty.
    percent = _PERCENT + tables.constants("smds")["space_map_percent"].value
    space = ceil_div(pages * page_bytes() * percent, _PERCENT)
    return round_up(space, multiple=dsblock_bytes) + min(queues, pages) * dsblock_bytes


def pages_in_data_set(size_bytes: int, *, dsblock_bytes: int, queues: int) -> int:
    """Return the number of pages of message data that a data set holds: the inverse of `data_set_bytes`."""
    # Blocks, space map and the blocks of queues are rounded up one after another, which no formula inverts; but more
    # pages never take less space, so a binary search finds the largest number that fits.
    candidates = range(size_bytes // page_bytes() + 1)
    return (
        bisect_right(
            candidates,
            size_bytes,
            key=lambda pages: data_set_bytes(pages, dsblock_bytes=dsblock_bytes, queues=queues),
        )
        - 1
    )


def lob_bytes(pages: int) -> int:
    """Return the space for pages of message data in Db2, once for the whole group [bytes].

    The assumptions are those for SMDS: whole 4 KB pages, the same header, and the same additional share.
    """
    percent = _PERCENT + tables.constants("smds")["space_map_percent"].value
    return ceil_div(pages * page_bytes() * percent, _PERCENT)


def buffer_bytes(*, dsbufs: int, dsblock_bytes: int) -> int:
    """Return the storage for buffers in each queue manager, for one structure [bytes].

    >>> from planner_core.units import parse_size
    >>> buffer_bytes(dsbufs=800, dsblock_bytes=parse_size("256K")) == parse_size("200M")
    True
    """
    return dsbufs * dsblock_bytes
