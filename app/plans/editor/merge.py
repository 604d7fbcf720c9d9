"""Compare two changes to one version, and merge changes to different places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.plans.changes_pages import place_words
from planner_core.document.compare import Difference, differences
from planner_core.wire import JsonObject

_NOTHING = object()


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """One changed place: its value before, in the other version, and in the user's own version."""

    pointer: str
    base: object
    theirs: object
    yours: object
    is_both: bool

    @property
    def place(self) -> str:
        """The changed place in words."""
        return place_words(self.pointer)


def conflict_rows(base: object, theirs: object, mine: object) -> tuple[ConflictRow, ...]:
    """Return every place that either version changed: first those in `theirs`, then those only in `mine`."""
    of_theirs = {difference.pointer: difference for difference in differences(base, theirs)}
    of_mine = {difference.pointer: difference for difference in differences(base, mine)}
    rows = []
    for pointer in (*of_theirs, *(pointer for pointer in of_mine if pointer not in of_theirs)):
        their, my = of_theirs.get(pointer), of_mine.get(pointer)
        before = next(change.before for change in (their, my) if change is not None)
        rows.append(
            ConflictRow(
                pointer=pointer,
                base=before,
                theirs=their.after if their else before,
                yours=my.after if my else before,
                is_both=_touches(pointer, of_theirs)
                and _touches(pointer, of_mine)
                and not (their and my and their.after == my.after),
            )
        )
    return tuple(rows)


def _touches(pointer: str, changed: Mapping[str, Difference]) -> bool:
    return any(
        other == pointer or other.startswith(f"{pointer}/") or pointer.startswith(f"{other}/")
        for other in changed
    )


def merged(base: Any, theirs: Any, mine: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Merge two changes to `base`. If both changed a value, `mine` wins; a change takes precedence over a removal."""
    if mine == base:
        return theirs
    if theirs in (base, mine):
        return mine
    if isinstance(theirs, dict) and isinstance(mine, dict):
        return _merged_objects(base if isinstance(base, dict) else {}, theirs, mine)
    if isinstance(theirs, list) and isinstance(mine, list):
        # Lists are merged by name: positions shift when one side adds or removes an item.
        was, their, my = (_named(items) for items in (base, theirs, mine))
        if was is not None and their is not None and my is not None:
            return list(_merged_objects(was, their, my).values())
    return mine


def _merged_objects(base: JsonObject, theirs: JsonObject, mine: JsonObject) -> JsonObject:
    found: JsonObject = {}
    for key in (*theirs, *(key for key in mine if key not in theirs)):
        was, their, my = base.get(key, _NOTHING), theirs.get(key, _NOTHING), mine.get(key, _NOTHING)
        if my is _NOTHING:
            # Removed by one side: it stays removed unless the other side changed it.
            value = _NOTHING if their == was else their
        elif their is _NOTHING:
            value = _NOTHING if my == was else my
        else:
            value = merged(None if was is _NOTHING else was, their, my)
        if value is not _NOTHING:
            found[key] = value
    return found


def _named(items: object) -> JsonObject | None:
    if not isinstance(items, list) or not all(isinstance(item, dict) and "name" in item for item in items):
        return None
    found = {str(item["name"]): item for item in items}
    # If a name occurs twice, an item could be merged with the wrong one.
    return found if len(found) == len(items) else None
