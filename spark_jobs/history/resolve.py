"""Which of the rows that claim to be one observation is it.

Rows of one natural key are the same observation. The most trusted origin has the word; within it, each piece is told
once; of copies that differ, the one brought last is taken. The answer does not depend on the order of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.history.schema import ORIGINS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

KEY_COLUMNS = ("key_high", "key_low", "piece", "content_hash", "origin", "commit_id", "file_offset")
"""What `winners` looks at."""


def winners(rows: pa.Table) -> Numbers:
    """Return the positions of the rows that stand, ascending."""
    low = _numbers(rows, "key_low")
    count = len(low)
    if count == 0 or len(np.unique(low)) == count:
        return np.arange(count)
    order, starts = _by_key(rows)
    ranks = _ranks(rows)[order]
    # The last row of each key has the highest rank, for the order says so.
    ends = np.append(starts[1:], count)
    best = np.repeat(ranks[ends - 1], ends - starts)
    standing = order[ranks == best]
    high, low, piece = (_numbers(rows, name)[standing] for name in ("key_high", "key_low", "piece"))
    is_last = np.ones(len(standing), dtype=bool)
    is_last[:-1] = (high[1:] != high[:-1]) | (low[1:] != low[:-1]) | (piece[1:] != piece[:-1])
    return np.sort(standing[is_last])


def without(rows: pa.Table, commits: frozenset[str]) -> pa.Table:
    """Return the rows that none of these commits brought."""
    if not commits or rows.num_rows == 0:
        return rows
    dead = pc.is_in(rows["commit_id"], value_set=pa.array(sorted(commits), pa.string()))
    return rows.filter(pc.invert(dead))


def _by_key(rows: pa.Table) -> tuple[Numbers, Numbers]:
    """Return the order of the rows by key, rank, piece and precedence, and where each key starts in it."""
    high, low = _numbers(rows, "key_high"), _numbers(rows, "key_low")
    order = np.lexsort(
        (
            _numbers(rows, "file_offset"),
            _numbers(rows, "content_hash"),
            _codes(rows, "commit_id"),
            _numbers(rows, "piece"),
            _ranks(rows),
            low,
            high,
        )
    )
    high, low = high[order], low[order]
    starts = np.flatnonzero(np.append(True, (high[1:] != high[:-1]) | (low[1:] != low[:-1])))
    return order, starts


def _numbers(rows: pa.Table, name: str) -> Numbers:
    column = rows[name].combine_chunks()
    numbers: Numbers = np.asarray(pc.fill_null(column, 0)).astype(np.int64, copy=False)
    return numbers


def _ranks(rows: pa.Table) -> Numbers:
    ranks = pc.index_in(rows["origin"], value_set=pa.array(ORIGINS, pa.string())).combine_chunks()
    numbers: Numbers = np.asarray(pc.fill_null(ranks, -1)).astype(np.int64)
    return numbers


def _codes(rows: pa.Table, name: str) -> Numbers:
    """Return numbers in the order of the texts."""
    coded = pc.dictionary_encode(rows[name].combine_chunks())
    texts = coded.dictionary.to_pylist()
    place = np.zeros(len(texts), dtype=np.int64)
    place[np.argsort(np.array(texts, dtype=object))] = np.arange(len(texts))
    codes: Numbers = place[np.asarray(coded.indices)]
    return codes
