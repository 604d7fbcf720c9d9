"""Values that are kept for the next time that they are needed, up to a limit of memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class LastUsed(Generic[V]):
    """The values that were used last, up to a total weight; safe for several threads."""

    def __init__(self, most: int, weight: Callable[[V], int]) -> None:
        """Keep values up to a total weight; `weight` returns that of one value, in the same unit."""
        self.most = most
        self._weight = weight
        self._found: OrderedDict[object, tuple[V, int]] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def get(self, key: object) -> V | None:
        """Return the value with this key, if it is kept."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return None if found is None else found[0]

    def keep(self, key: object, value: V) -> None:
        """Keep a value that is within the limit by itself, and drop those that were not used for the longest time."""
        weight = self._weight(value)
        with self._lock:
            if weight > self.most or key in self._found:
                return
            self._found[key] = value, weight
            self._total += weight
            while self._total > self.most:
                _, (_, dropped) = self._found.popitem(last=False)
                self._total -= dropped
