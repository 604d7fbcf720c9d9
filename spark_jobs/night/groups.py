"""Groups of rows with numpy: sort once, then reduce each group's slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.int64]

NONE = np.iinfo(np.int64).min
"""The value that means unknown in columns of whole numbers; smaller than all others."""


class Rows:
    """A table as arrays of whole numbers: texts as positions in a sorted list, dates as numbers, nulls as NONE."""

    def __init__(self, table: pa.Table) -> None:
        self.count = table.num_rows
        self._columns: dict[str, Numbers] = {}
        self._texts: dict[str, list[str | None]] = {}
        for name in table.schema.names:
            column = table[name].combine_chunks()
            if pa.types.is_string(column.type):
                self._columns[name], self._texts[name] = _coded(column)
            elif not pa.types.is_floating(column.type):
                self._columns[name] = _numbers(column)

    def __getitem__(self, name: str) -> Numbers:
        return self._columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def unknown(self, name: str) -> int:
        """Return the code of an unknown text; -1 if there is none."""
        texts = self._texts[name]
        return 0 if texts and texts[0] is None else -1

    def text(self, name: str, code: int) -> str | None:
        """Return the text of a code."""
        return self._texts[name][code]


class Groups:
    """Rows in the order of some columns, and the start of each combination of the key columns."""

    def __init__(self, rows: Rows, keys: Sequence[str], *, then: Sequence[Numbers] = ()) -> None:
        columns = [_packed([rows[name] for name in keys])]
        self.order = np.lexsort([*reversed([*columns, *then])])
        changed = np.zeros(rows.count, dtype=bool)
        if rows.count:
            changed[0] = True
        for column in columns:
            ordered = column[self.order]
            changed[1:] |= ordered[1:] != ordered[:-1]
        self.starts = np.flatnonzero(changed)
        self.ends = np.append(self.starts[1:], rows.count) - 1 if rows.count else self.starts
        self._rows = rows

    def __len__(self) -> int:
        return len(self.starts)

    def first(self, name: str) -> Numbers:
        """Return a column's value in each group's first row; for a key column, the group's value."""
        return self._rows[name][self.order[self.starts]]

    def last(self, name: str) -> Numbers:
        """Return a column's value in each group's last row."""
        return self._rows[name][self.order[self.ends]]

    def most(self, name: str) -> Numbers:
        """Return each group's largest value; NONE if no value is known."""
        return self._reduced(np.maximum, self._rows[name])

    def total(self, name: str) -> Numbers:
        """Return each group's sum; NONE if no value is known."""
        values = self._rows[name]
        found = self._reduced(np.add, np.where(values == NONE, 0, values))
        return np.where(self.most(name) == NONE, NONE, found)

    def bits(self, name: str) -> Numbers:
        """Return the bits that are set in any row of each group."""
        return self._reduced(np.bitwise_or, self._rows[name])

    def _reduced(self, how: Any, values: Numbers) -> Numbers:  # noqa: ANN401 - a universal function
        if not len(self.starts):
            return np.empty(0, dtype=np.int64)
        reduced: Numbers = how.reduceat(values[self.order], self.starts)
        return reduced


def _packed(columns: Sequence[Numbers]) -> Numbers:
    """Return one column that sorts like several.

    Raises:
        OverflowError: the combinations do not fit into 64 bits.
    """
    # One sort key instead of four or five: np.lexsort sorts once for each.
    packed = np.zeros(len(columns[0]), dtype=np.int64)
    if not len(packed):
        return packed
    room = 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        width = high - low + 1
        room *= width
        if room > np.iinfo(np.int64).max // 2:
            message = "too many groups for one number"
            raise OverflowError(message)
        packed = packed * width + (column - low)
    return packed


def _coded(column: pa.Array) -> tuple[Numbers, list[str | None]]:
    coded = pc.dictionary_encode(column, null_encoding="encode")
    texts: list[str | None] = coded.dictionary.to_pylist()
    # Put null first, so that the code of an unknown text is always 0.
    ranks = sorted(range(len(texts)), key=lambda place: (texts[place] is not None, texts[place] or ""))
    place = np.zeros(len(texts), dtype=np.int64)
    place[ranks] = np.arange(len(texts))
    return place[np.asarray(coded.indices)], [texts[rank] for rank in ranks]


def _numbers(column: pa.Array) -> Numbers:
    kind = column.type
    if pa.types.is_date(kind):
        column = column.cast(pa.int32())
    numbers: Numbers = np.asarray(pc.fill_null(column.cast(pa.int64()), int(NONE)))
    return numbers
