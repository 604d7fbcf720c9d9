"""The CFCC level that a structure is sized for: the highest of the coupling facilities in its PREFLIST.

A structure takes more on a higher level, and XCF may allocate it in any coupling facility of its PREFLIST.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner_core.document.model import Admin, PlanDocument, Structure, System
from planner_core.limits import limit


@dataclass(frozen=True, slots=True)
class SizingLevel:
    """A CFCC level, and what states it: a coupling facility, or the plan.

    `stated` are all levels that the structure may meet, by coupling facility; None is the plan's own level.
    """

    level: int
    coupling_facility: str | None
    field: str
    stated: tuple[tuple[str | None, int], ...]


def preflist_of(document: PlanDocument, definition: Structure | Admin | System) -> tuple[str, ...]:
    """The coupling facilities of a structure: its PREFLIST, or the first of the plan's."""
    names = definition.preflist or [
        each.name for each in document.coupling_facilities[: limit("preflist_names")]
    ]
    return tuple(names)


def sizing_level(document: PlanDocument, definition: Structure | Admin | System) -> SizingLevel:
    """The level that a structure is sized for.

    A coupling facility without a level, or one that the plan does not describe, counts with the plan's level.
    """
    places = {each.name: place for place, each in enumerate(document.coupling_facilities)}
    stated: dict[str | None, int] = {}
    for name in preflist_of(document, definition):
        known = document.coupling_facilities[places[name]].cfcc_level if name in places else None
        if known is None:
            stated.setdefault(None, document.cfcc_level)
        else:
            stated.setdefault(name, known)
    if not stated:
        stated[None] = document.cfcc_level
    highest = max(stated.values())
    plans = highest == document.cfcc_level
    source = None if plans else next(name for name, level in stated.items() if level == highest)
    field = "/cfcc_level" if source is None else f"/coupling_facilities/{places[source]}/cfcc_level"
    return SizingLevel(highest, source, field, tuple(stated.items()))


def definitions_of(document: PlanDocument) -> Iterator[Structure | Admin | System]:
    """The structures of a plan as it defines them."""
    yield document.admin
    yield from document.structures
    if document.system.include:
        yield document.system


def lowest_level(document: PlanDocument) -> int:
    """The lowest level that a structure of the plan is sized for, or the plan's own where that is lower."""
    return min(
        document.cfcc_level, *(sizing_level(document, each).level for each in definitions_of(document))
    )


def listed(names: Sequence[str], *, most: int = 5) -> str:
    """Names in a sentence; the number of the rest where there are many."""
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
