"""Differences between two JSON values: two versions of a document, or of a result.

Objects in lists are matched by name, so moving a queue within its list is not a difference. Their pointers have the
name instead of the index: `/structures/APP1/queues/Q1/backlog`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from planner_core.document.problems import escape_pointer
from planner_core.wire import Answer

_KEYS = ("name", "code")


@dataclass(frozen=True, slots=True)
class Difference(Answer):
    """One difference; `before` or `after` is null if that side lacks the value."""

    pointer: Annotated[
        str,
        Field(
            description="JSON pointer; list items that have a name are identified by it.",
            examples=["/structures/APP1/queues/Q1/backlog"],
        ),
    ]
    kind: Literal["added", "removed", "changed"]
    before: object
    after: object


def differences(before: object, after: object) -> tuple[Difference, ...]:
    """Return all differences in the order of `before`, then the members that only `after` has."""
    found: list[Difference] = []
    _compare("", before, after, found)
    return tuple(found)


_PLAIN = frozenset({str, int, float, bool, type(None)})


def _compare(at: str, before: object, after: object, found: list[Difference]) -> None:
    if isinstance(before, dict) and isinstance(after, dict):
        _compare_objects(at, before, after, found)
    elif isinstance(before, list) and isinstance(after, list):
        old, new = _named(before), _named(after)
        if old is not None and new is not None:
            _compare_objects(at, old, new, found)
        else:
            _compare_lists(at, before, after, found)
    # Python treats true as 1, and 1.0 as 1; in a document they are different values.
    elif type(before) is not type(after) or before != after:
        found.append(Difference(at, "changed", before, after))


def _compare_objects(
    at: str, before: dict[str, object], after: dict[str, object], found: list[Difference]
) -> None:
    for key, value in before.items():
        if key not in after:
            found.append(Difference(f"{at}/{escape_pointer(key)}", "removed", value, None))
            continue
        other = after[key]
        if value is other:
            continue
        # Most members are equal plain values. A plan has hundreds of thousands, so no pointer is made for them.
        kind = type(value)
        if kind is not type(other) or kind not in _PLAIN or value != other:
            _compare(f"{at}/{escape_pointer(key)}", value, other, found)
    if after.keys() <= before.keys():
        return
    for key, value in after.items():
        if key not in before:
            found.append(Difference(f"{at}/{escape_pointer(key)}", "added", None, value))


def _compare_lists(
    at: str, before: Sequence[object], after: Sequence[object], found: list[Difference]
) -> None:
    """Compare lists of objects item by item."""
    # A list of plain values, such as a PREFLIST, is one setting, so its items are not compared one by one.
    if not any(isinstance(item, (dict, list)) for item in (*before, *after)):
        if list(before) != list(after):
            found.append(Difference(at, "changed", list(before), list(after)))
        return
    for index in range(max(len(before), len(after))):
        place = f"{at}/{index}"
        if index >= len(after):
            found.append(Difference(place, "removed", before[index], None))
        elif index >= len(before):
            found.append(Difference(place, "added", None, after[index]))
        else:
            _compare(place, before[index], after[index], found)


def _named(items: Sequence[object]) -> dict[str, object] | None:
    """Return the objects of a list by name; None unless all have different names."""
    # Items without unique names are compared by position: any match by name would be arbitrary.
    found: dict[str, object] = {}
    for item in items:
        if not isinstance(item, dict):
            return None
        key = next((key for key in _KEYS if isinstance(item.get(key), str)), None)
        if key is None:
            return None
        label = str(item[key])
        if key == "code":
            # A code of a finding or an acknowledgment can occur for several structures and fields.
            label = " ".join(str(item[part]) for part in ("code", "structure", "field") if item.get(part))
        if label in found:
            return None
        found[label] = item
    return found
