"""Digests of rows, computed column by column.

They do not resist a deliberate search for collisions; 128 bits make accidental ones negligible. A null adds nothing, so
a column that a later release adds, null in older rows, does not change the digest of a row.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

LANE_SEEDS = (0x243F6A8885A308D3, 0x13198A2E03707344)
"""Seeds of the two halves of a digest: the first fractional digits of pi, which were not chosen for any property."""

SHORT_BYTES = 64
"""The maximum length of a text that is digested directly; longer ones are replaced by a digest of their own first."""

MOST_KEPT_TEXTS = 16
"""The maximum number of different texts of a column whose words are kept for further columns. 1,024 columns of 16 texts of
100 bytes are less than 2 MB."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class ValueWords:
    """The values of a column as words, computed once for all digests of its rows."""

    words: Words
    """One word for each row, or one for each different value if there are places."""
    places: NDArray[np.int32] | None = None
    """The word of each row; -1 for a null."""
    is_known: NDArray[np.bool_] | None = None
    """Which rows have a value; None if all have one, or if there are places."""

    def take(self, chosen: NDArray[np.int64]) -> ValueWords:
        """Return the values of the selected rows."""
        if self.places is not None:
            return ValueWords(self.words, self.places[chosen])
        return ValueWords(
            self.words[chosen], is_known=None if self.is_known is None else self.is_known[chosen]
        )

    def mixed(self, seed: np.uint64) -> Words:
        """Return what the values add to a digest: 0 for a null."""
        words = _mixed(self.words + seed)
        if self.places is not None:
            return np.append(words, np.uint64(0))[self.places]
        return words if self.is_known is None else np.where(self.is_known, words, np.uint64(0))


def value_words(column: pa.ChunkedArray | pa.Array) -> ValueWords | None:
    """Return the values of a column for digests; None if all are null."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if array.null_count == len(array):
        return None
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        coded = pc.dictionary_encode(array)
        return ValueWords(
            _text_words(coded.dictionary.to_pylist()), places=np.asarray(_without_nulls(coded.indices, -1))
        )
    is_known = np.asarray(array.is_valid()) if array.null_count else None
    return ValueWords(_number_words(array), is_known=is_known)


def text_words(text: str) -> ValueWords:
    """Return the words of a column with the same text in each row."""
    return ValueWords(_text_words([text]))


def row_digest(
    columns: Iterable[tuple[str, pa.ChunkedArray | pa.Array]], *, rows: int, lane: int
) -> NDArray[np.int64]:
    """Return a digest of each row's column names and values; the order of the columns does not matter."""
    return words_digest(((name, value_words(column)) for name, column in columns), rows=rows, lane=lane)


def words_digest(
    columns: Iterable[tuple[str, ValueWords | None]], *, rows: int, lane: int
) -> NDArray[np.int64]:
    """Return the digest of each row from the words of its columns."""
    total = np.zeros(rows, dtype=np.uint64)
    for name, values in columns:
        if values is not None:
            # The words are added up. Without the name, exchanging the values of two columns would not change the sum.
            total += values.mixed(np.uint64(_seed(name, lane)))
    return _mixed(total + np.uint64(LANE_SEEDS[lane])).view(np.int64)


@cache
def _seed(name: str, lane: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{lane} {name}".encode(), digest_size=8).digest(), "little")


def _mixed(words: Words) -> Words:
    """Return words with every bit spread over the whole word (the finaliser of splitmix64)."""
    mixed = words + _GOLDEN
    # In place, because new arrays would take longer than the arithmetic.
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _number_words(array: pa.Array) -> Words:
    kind = array.type
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.int64())
    elif pa.types.is_date(kind):
        array = array.cast(pa.int32()).cast(pa.int64())
    elif pa.types.is_floating(kind):
        numbers: NDArray[np.float64] = np.asarray(_without_nulls(array, 0.0)) + 0.0  # -0.0 is 0.0
        return numbers.view(np.uint64)
    else:
        array = array.cast(pa.int64())
    return np.asarray(_without_nulls(array, 0), dtype=np.int64).view(np.uint64)


def _without_nulls(array: pa.Array, value: float) -> pa.Array:
    return pc.fill_null(array, value) if array.null_count else array


def _text_words(texts: list[str]) -> Words:
    """Return the words of texts, which must not be changed."""
    # The columns of one dump after another have the same few names.
    if len(texts) <= MOST_KEPT_TEXTS:
        return _kept_text_words(tuple(texts))
    return _new_text_words(texts)


@lru_cache(maxsize=1_024)
def _kept_text_words(texts: tuple[str, ...]) -> Words:
    return _new_text_words(texts)


def _new_text_words(texts: Sequence[str]) -> Words:
    encoded = [text.encode() for text in texts]
    encoded = [
        text if len(text) <= SHORT_BYTES else hashlib.blake2b(text, digest_size=SHORT_BYTES).digest()
        for text in encoded
    ]
    matrix = np.array(encoded, dtype=f"S{SHORT_BYTES}").view(np.uint64).reshape(len(encoded), -1)
    # NumPy pads texts with zero bytes; the length separates texts that differ only in trailing ones.
    words = np.array([len(text) for text in encoded], dtype=np.uint64)
    for position in range(matrix.shape[1]):
        words = _mixed(words ^ matrix[:, position])
    return words
