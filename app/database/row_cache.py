"""Values of rows that never change, such as versions of plans, kept in memory so that each is parsed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Engine
from sqlalchemy.orm import Session

Key = TypeVar("Key")
Value = TypeVar("Value")


class RowCache(Generic[Key, Value]):
    """The values of the last request, for each database."""

    def __init__(self, most: int) -> None:
        """Keep at most this number of values for each database."""
        self._most = most
        self._values: WeakKeyDictionary[Engine, dict[Key, Value]] = WeakKeyDictionary()

    def read(
        self,
        session: Session,
        keys: Sequence[Key],
        load: Callable[[Sequence[Key]], Iterable[tuple[Key, Value]]],
    ) -> Mapping[Key, Value]:
        """Return the values of these keys. `load` yields those that are not in memory; it may leave out deleted rows.

        Keys must identify rows that never change, and must not be reused.
        """
        engine = session.get_bind().engine
        before = self._values.get(engine, {})
        known = {key: before[key] for key in keys if key in before}
        missing = [key for key in keys if key not in known]
        if missing:
            known.update(load(missing))
        # Replaced as a whole, because requests run in several threads; values that were not requested are dropped.
        self._values[engine] = dict(list(known.items())[: self._most])
        return known
