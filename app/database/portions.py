"""Keys in portions, because databases limit the number of values in a statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Key = TypeVar("Key")
KEYS_AT_ONCE = 500
"""Keys in one statement; the limits of databases are a few thousand values, and a key may have several."""


def portions(keys: Iterable[Key]) -> Iterator[list[Key]]:
    """Yield the keys in lists that are short enough for one statement."""
    rest = iter(keys)
    while portion := list(islice(rest, KEYS_AT_ONCE)):
        yield portion
