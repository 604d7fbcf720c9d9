"""Compare the rows of a file with those of the history: new, already there, or in conflict."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planner_core.contracts.ingest import RowCounts
from planner_core.wire import copied
from spark_jobs.history import resolve
from spark_jobs.history.schema import ORIGINS, natural_key
from spark_jobs.history.staging import Part, read_parts
from spark_jobs.history.summaries import bring_only_new_keys, has_spans, spans_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spark_jobs.history.places import Place

MOST_CONFLICTS = 20
"""The maximum number of conflicts described in full; the others are only counted."""


@dataclass(frozen=True)
class Comparison(RowCounts):
    """Counts of rows read, and the first conflicts."""

    first_conflicts: tuple[dict[str, Any], ...] = ()

    def __add__(self, other: Comparison) -> Comparison:
        """Return the sum with another day's counts."""
        added = {name: count + getattr(other, name) for name, count in asdict(self.counts).items()}
        return Comparison(
            **added, first_conflicts=(*self.first_conflicts, *other.first_conflicts)[:MOST_CONFLICTS]
        )

    @property
    def counts(self) -> RowCounts:
        """Return the counts without the conflicts."""
        return copied(RowCounts, self)


def compare(
    place: Place, table: str, *, staged: Sequence[Part], there: Sequence[Part], ignored: frozenset[str]
) -> Comparison:
    """Compare the staged rows of a table and day with the history's, without those of `ignored` commits.

    new: observations that the history did not have. replacing: rows of observations that it had only from a less
    trusted origin; these rows are read instead of the earlier ones. duplicates: the same observation, in the file or
    the history, possibly with fewer values, or already there from a more trusted origin (outranked). conflicts: the
    same observation with different values from the same kind of origin; the one stored last is read. A missing value
    contradicts nothing.
    """
    if _have_only_new_keys(place, staged, there):
        read = sum(part.rows for part in staged)
        return Comparison(read=read, new=read)
    columns = list(resolve.KEY_COLUMNS)
    new_rows = read_parts(place, staged, table=table, columns=columns)
    old_rows = resolve.without(read_parts(place, there, table=table, columns=columns), ignored)
    rows = pa.concat_tables([old_rows, new_rows])
    count, first_new = rows.num_rows, old_rows.num_rows
    if count == first_new:
        return Comparison()
    numbers = {
        name: np.asarray(rows[name].combine_chunks()) for name in ("key_high", "key_low", "content_hash")
    }
    # Most files bring only new observations. If even half of the key is unique, no row has a duplicate.
    if not resolve.has_repeats(numbers["key_low"]):
        return Comparison(read=count - first_new, new=count - first_new)
    piece = np.asarray(pc.fill_null(rows["piece"].combine_chunks(), 0))
    ranks = np.asarray(pc.index_in(rows["origin"], value_set=pa.array(ORIGINS, pa.string())).combine_chunks())
    keys = _groups(numbers["key_high"], numbers["key_low"])
    cells = _groups(keys, ranks, piece)
    is_new = np.arange(count) >= first_new

    best_there = np.full(keys.max() + 1, -1)
    np.maximum.at(best_there, keys[:first_new], ranks[:first_new])
    cell_there = np.zeros(cells.max() + 1, dtype=bool)
    cell_there[cells[:first_new]] = True
    lowest = np.full(cells.max() + 1, np.iinfo(np.int64).max)
    highest = np.full(cells.max() + 1, np.iinfo(np.int64).min)
    np.minimum.at(lowest, cells, numbers["content_hash"])
    np.maximum.at(highest, cells, numbers["content_hash"])
    differs = lowest != highest

    outranked = best_there[keys] > ranks
    # Only these rows are read in full: digests also differ if one row merely lacks a value.
    in_question = np.unique(cells[is_new & differs[cells] & ~outranked])
    parts = [*there, *staged]
    full = _rows_of_cells(place, table, parts, ignored, np.isin(cells, in_question))
    contradicting = np.zeros(cells.max() + 1, dtype=bool)
    if full is not None:
        contradicting[in_question] = _contradict(table, full, cells[np.isin(cells, in_question)], in_question)
    in_conflict = contradicting[cells]
    new_cells, firsts = np.unique(
        np.where(is_new & ~outranked & ~cell_there[cells], cells, -1), return_index=True
    )
    firsts, new_cells = firsts[new_cells >= 0], new_cells[new_cells >= 0]
    there_before = best_there[keys[firsts]]
    replacing = int(((there_before >= 0) & (there_before < ranks[firsts])).sum())
    conflicts = np.unique(cells[is_new & in_conflict & ~outranked])
    told_otherwise = int((is_new & in_conflict & ~outranked).sum())
    # One row of a conflict counts as new if there was none before; its other rows are the conflict.
    fresh = len(new_cells)
    read = count - first_new
    in_conflict_beyond = told_otherwise - len(np.intersect1d(new_cells, conflicts))
    return Comparison(
        read=read,
        new=fresh - replacing,
        replacing=replacing,
        duplicates=read - fresh - in_conflict_beyond,
        outranked=int((is_new & outranked).sum()),
        conflicts=len(conflicts),
        first_conflicts=_told(table, full, cells, np.isin(cells, in_question), conflicts, rows),
    )


def _have_only_new_keys(place: Place, staged: Sequence[Part], there: Sequence[Part]) -> bool:
    """Return whether the footers of the files prove that all staged rows are new, so that no keys need to be read."""
    spans = []
    for part in (*staged, *there):
        footer = place.footer(part.path)
        if not has_spans(footer):
            return False
        spans.append(spans_in(footer))
    return bring_only_new_keys(spans[: len(staged)], spans[len(staged) :])


def _groups(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each row, equal for rows with the same combination of values."""
    order = np.lexsort(columns)
    changes = np.zeros(len(order), dtype=bool)
    for column in columns:
        ordered = column[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.cumsum(changes)
    return groups


def _rows_of_cells(
    place: Place,
    table: str,
    parts: Sequence[Part],
    ignored: frozenset[str],
    chosen: NDArray[np.bool_],
) -> pa.Table | None:
    """Read all columns of the chosen rows; return None if none are chosen."""
    if not chosen.any():
        return None
    rows = resolve.without(read_parts(place, parts, table=table), ignored)
    return rows.take(pa.array(np.flatnonzero(chosen)))


def _contradict(
    table: str, rows: pa.Table, cells: NDArray[np.int64], wanted: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return, for each cell, whether its rows have different values in any column."""
    number = np.searchsorted(wanted, cells)
    found = np.zeros(len(wanted), dtype=bool)
    for name in resolve.merged_columns(table):
        column = rows[name].combine_chunks()
        told = np.asarray(column.is_valid())
        if not told.any():
            continue
        codes = np.asarray(pc.fill_null(pc.dictionary_encode(column).indices, 0)).astype(np.int64)
        lowest = np.full(len(wanted), np.iinfo(np.int64).max)
        highest = np.full(len(wanted), -1)
        np.minimum.at(lowest, number[told], codes[told])
        np.maximum.at(highest, number[told], codes[told])
        found |= (highest >= 0) & (lowest != highest)
    return found


def _told(
    table: str,
    full: pa.Table | None,
    cells: NDArray[np.int64],
    chosen: NDArray[np.bool_],
    conflicts: NDArray[np.int64],
    keys: pa.Table,
) -> tuple[dict[str, Any], ...]:
    """Return the first conflicts: the observation, both places, and the columns that differ."""
    if full is None or len(conflicts) == 0:
        return ()
    told = []
    columns = resolve.merged_columns(table)
    of_full = cells[chosen]
    for cell in conflicts[:MOST_CONFLICTS]:
        members = keys.take(pa.array(np.flatnonzero(cells == cell)))
        winner = members.take(pa.array(resolve.winners(members)))["content_hash"][0].as_py()
        rows = full.take(pa.array(np.flatnonzero(of_full == cell))).to_pylist()
        kept = max(
            (row for row in rows if row["content_hash"] == winner), key=lambda row: str(row["commit_id"])
        )
        differing = [(row, _differing(kept, row, columns)) for row in rows]
        # If the row in use lacks a value, the contradiction may be between two of the others.
        other, names = next(
            ((row, names) for row, names in differing if names),
            next((row, []) for row in rows if row["content_hash"] != winner),
        )
        if not names:
            names = sorted({name for one in rows for two in rows for name in _differing(one, two, columns)})
        key = natural_key(kept["source"])
        told.append(
            {
                "table": table,
                "key": {name: _plain(kept.get(name)) for name in key.columns if name in kept},
                "kept": {"file": kept["file_name"], "offset": kept["file_offset"]},
                "other": {"file": other["file_name"], "offset": other["file_offset"]},
                "columns": names,
            }
        )
    return tuple(told)


def _differing(one: dict[str, Any], other: dict[str, Any], columns: Sequence[str]) -> list[str]:
    return [
        name
        for name in columns
        if one[name] is not None and other[name] is not None and one[name] != other[name]
    ]


def _plain(value: Any) -> Any:  # noqa: ANN401 - values of any column
    return value if value is None or isinstance(value, (str, int, float, bool)) else instant_text(value)


def instant_text(value: Any) -> str:  # noqa: ANN401 - a datetime or a date
    """Return a time in the form of JSON answers and CSV exports."""
    return str(value.isoformat()).replace("+00:00", "Z")
