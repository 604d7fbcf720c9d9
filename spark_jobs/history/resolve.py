"""Choose among rows that describe the same observation.

Rows of one natural key are the same observation. The most trusted origin is used; within it, each piece counts once. If
copies differ, the one ingested last is used, and its missing values are taken from the previous one: a missing value
contradicts nothing. The result does not depend on the order of the rows.

`spark_jobs.history.days` implements the same rules in SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.history.schema import ORIGINS, PROVENANCE, row_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

KEY_COLUMNS = ("key_high", "key_low", "piece", "content_hash", "origin", "commit_id", "file_offset")
"""The columns that `winners` reads."""


def winners(rows: pa.Table) -> Numbers:
    """Return the positions of the rows that count, ascending."""
    low = _numbers(rows, "key_low")
    if not has_repeats(low):
        return np.arange(len(low))
    ordered, _, ends = _cells(rows)
    return np.sort(ordered[ends])


def merged_columns(table: str) -> list[str]:
    """Return the columns in which a missing value is taken from another row of the cell."""
    own = {column.name for column in PROVENANCE}
    return [name for name in row_schema(table).names if name not in own]


def standing(rows: pa.Table, *, columns: Sequence[str]) -> pa.Table:
    """Return the rows that count, in the order of `rows`, with these columns filled from other rows of their cell."""
    if not has_repeats(_numbers(rows, "key_low")):
        return rows
    ordered, starts, ends = _cells(rows)
    last = ordered[ends]
    hashes = _numbers(rows, "content_hash")[ordered]
    changes = np.append(0, np.cumsum(hashes[1:] != hashes[:-1]))
    differs = changes[ends] != changes[starts]
    order = np.argsort(last)
    found = rows.take(pa.array(last[order]))
    if not differs.any():
        return found
    # Only cells whose rows differ can have values to merge: all their rows, in the order of their ingests.
    lengths = (ends - starts + 1)[differs]
    inside = np.repeat(starts[differs] - np.append(0, np.cumsum(lengths)[:-1]), lengths)
    few = rows.take(pa.array(ordered[inside + np.arange(lengths.sum())]))
    few_starts = np.repeat(np.append(0, np.cumsum(lengths)[:-1]), lengths)
    few_ends = np.cumsum(lengths) - 1
    target = np.argsort(order)[differs]
    for name in columns:
        column = few[name].combine_chunks()
        told = np.asarray(column.is_valid())
        if told[few_ends].all() or not told.any():
            continue
        seen = np.maximum.accumulate(np.where(told, np.arange(len(told)), -1))
        source = np.where(seen >= few_starts, seen, -1)[few_ends]
        values = column.take(pa.array(source, mask=source < 0))
        spread = np.full(found.num_rows, -1)
        spread[target] = np.arange(len(target))
        places = pa.array(spread, mask=spread < 0)
        place = found.schema.get_field_index(name)
        filled = pc.coalesce(values.take(places), found[name].combine_chunks())
        found = found.set_column(place, found.schema.field(name), filled)
    return found


def has_repeats(numbers: Numbers) -> bool:
    """Return whether a number occurs more than once."""
    # Sorting digests takes a thirtieth of the time of np.unique.
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())


def without(rows: pa.Table, commits: frozenset[str]) -> pa.Table:
    """Return the rows that do not belong to any of these commits."""
    if not commits or rows.num_rows == 0:
        return rows
    dead = pc.is_in(rows["commit_id"], value_set=pa.array(sorted(commits), pa.string()))
    return rows.filter(pc.invert(dead))


def _cells(rows: pa.Table) -> tuple[Numbers, Numbers, Numbers]:
    """Return the rows of the most trusted origins, piece by piece, and where each piece's rows start and end.

    Within a piece they are in the order in which they were ingested.
    """
    order, starts = _by_key(rows)
    ranks = _ranks(rows)[order]
    # The order puts the highest rank of each key last.
    ends = np.append(starts[1:], len(order))
    best = np.repeat(ranks[ends - 1], ends - starts)
    trusted = order[ranks == best]
    high, low, piece = (_numbers(rows, name)[trusted] for name in ("key_high", "key_low", "piece"))
    is_last = np.ones(len(trusted), dtype=bool)
    is_last[:-1] = (high[1:] != high[:-1]) | (low[1:] != low[:-1]) | (piece[1:] != piece[:-1])
    lasts = np.flatnonzero(is_last)
    return trusted, np.append(0, lasts[:-1] + 1), lasts


def _by_key(rows: pa.Table) -> tuple[Numbers, Numbers]:
    """Return the order of the rows by key, rank, piece and precedence, and where each key starts in it."""
    high, low = _numbers(rows, "key_high"), _numbers(rows, "key_low")
    order = np.lexsort(
        (
            # The last two only break ties, so that the result does not depend on the order of the rows.
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
    """Return a number for each row that sorts like the text of the column."""
    coded = pc.dictionary_encode(rows[name].combine_chunks())
    texts = coded.dictionary.to_pylist()
    place = np.zeros(len(texts), dtype=np.int64)
    place[np.argsort(np.array(texts, dtype=object))] = np.arange(len(texts))
    codes: Numbers = place[np.asarray(coded.indices)]
    return codes
