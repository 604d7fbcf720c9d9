"""Digests of rows, computed column by column.

They do not resist a deliberate search for collisions; 128 bits make accidental ones negligible. A null adds nothing, so
a column that a later release adds, null in older rows, does not change the digest of a row.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

LANE_SEEDS = (0x243F6A8885A308D3, 0x13198A2E03707344)
"""Seeds of the two halves of a digest: the first fractional digits of pi, which were not chosen for any property."""

SHORT_BYTES = 64
"""The maximum length of a text that is digested directly; longer ones are replaced by a digest of their own first."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def row_digest(
    columns: Iterable[tuple[str, pa.ChunkedArray | pa.Array]], *, rows: int, lane: int
) -> NDArray[np.int64]:
    """Return a digest of each row's column names and values; the order of the columns does not matter."""
    total = np.zeros(rows, dtype=np.uint64)
    for name, column in columns:
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if array.null_count == len(array):
            continue
        # The words are added up. Without the name, exchanging the values of two columns would not change the sum.
        seed = np.uint64(_seed(name, lane))
        words = _mixed(_value_words(array) + seed)
        if array.null_count:
            words = np.where(np.asarray(array.is_valid()), words, np.uint64(0))
        total += words
    return _mixed(total + np.uint64(LANE_SEEDS[lane])).view(np.int64)


def _seed(name: str, lane: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{lane} {name}".encode(), digest_size=8).digest(), "little")


def _mixed(words: Words) -> Words:
    """Return words with every bit spread over the whole word (the finaliser of splitmix64)."""
    mixed = words + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


def _value_words(array: pa.Array) -> Words:
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        coded = pc.dictionary_encode(array)
        words = _text_words(coded.dictionary.to_pylist())
        places: NDArray[np.int32] = np.asarray(pc.fill_null(coded.indices, 0))
        return words[places]
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.int64())
    elif pa.types.is_date(kind):
        array = array.cast(pa.int32()).cast(pa.int64())
    elif pa.types.is_floating(kind):
        numbers: NDArray[np.float64] = np.asarray(pc.fill_null(array, 0.0)) + 0.0  # -0.0 is 0.0
        return numbers.view(np.uint64)
    else:
        array = array.cast(pa.int64())
    return np.asarray(pc.fill_null(array, 0), dtype=np.int64).view(np.uint64)


def _text_words(texts: list[str]) -> Words:
    if not texts:
        return np.zeros(1, dtype=np.uint64)
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
