from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner_core.contracts.tolerant import read


@dataclass(frozen=True)
class Inner:
    name: str = ""
    count: int = 0


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    items: tuple[Inner, ...] = ()
    by_name: Mapping[str, Inner] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    total: int | None = None


def test_valid_members_are_read() -> None:
    given = {
        "inner": {"name": "a", "count": 1}, "items": [{"name": "b"}], "by_name": {"c": {"count": 2}},
        "words": ["d"], "total": 3,
    }  # fmt: skip
    assert read(Outer, given) == Outer(Inner("a", 1), (Inner("b"),), {"c": Inner(count=2)}, ("d",), 3)


def test_missing_and_invalid_members_keep_their_defaults() -> None:
    given = {"inner": 1, "items": {}, "by_name": [], "words": [1], "total": "many", "later": True}
    assert read(Outer, given) == Outer()
    assert read(Outer, {"items": [None, {"count": "x", "name": "b"}]}) == Outer(items=(Inner("b"),))
    assert read(Outer, "no object") == Outer()
