"""The CFCC level that a structure is sized for: the highest of the coupling facilities in its PREFLIST.

A structure needs more storage on a higher level, and XCF may allocate it in any coupling facility of its PREFLIST.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner_core.findings import Finding, finding
from planner_core.limits import limit

if TYPE_CHECKING:
    # Sizing one structure needs no plan, and importing the model of plans takes a quarter of the time of `cfplan structure`.
    from planner_core.document.model import Admin, PlanDocument, Structure, System


@dataclass(frozen=True, slots=True)
class SizingLevel:
    """A CFCC level, and its origin: a coupling facility, or the plan.

    `stated` are all levels that the structure may meet, by coupling facility; None is the plan's own level.
    """

    level: int
    coupling_facility: str | None
    field: str
    stated: tuple[tuple[str | None, int], ...]


def preflist_of(document: PlanDocument, definition: Structure | Admin | System) -> tuple[str, ...]:
    """Return the coupling facilities of a structure: its PREFLIST, or the first ones of the plan."""
    # The CFRM policy that is written must have a PREFLIST, which names 8 coupling facilities at most.
    names = definition.preflist or [
        each.name for each in document.coupling_facilities[: limit("preflist_names")]
    ]
    return tuple(names)


def sizing_level(document: PlanDocument, definition: Structure | Admin | System) -> SizingLevel:
    """Return the level that a structure is sized for.

    A coupling facility without a level, or one that the plan does not describe, has the plan's level.
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
    # XCF may allocate or rebuild it in any of them, and the same size holds less at a higher level.
    highest = max(stated.values())
    plans = highest == document.cfcc_level
    source = None if plans else next(name for name, level in stated.items() if level == highest)
    field = "/cfcc_level" if source is None else f"/coupling_facilities/{places[source]}/cfcc_level"
    return SizingLevel(highest, source, field, tuple(stated.items()))


def definitions_of(document: PlanDocument) -> Iterator[Structure | Admin | System]:
    """Yield the definitions of all structures of a plan."""
    yield document.admin
    yield from document.structures
    if document.system.include:
        yield document.system


def lowest_level(document: PlanDocument) -> int:
    """Return the lowest level that a structure of the plan is sized for, or the plan's own level if that is lower."""
    return min(
        document.cfcc_level, *(sizing_level(document, each).level for each in definitions_of(document))
    )


def listed(names: Sequence[str], *, most: int = 5) -> str:
    """Return names for a sentence; names beyond `most` are only counted."""
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def level_without_figures(
    cfcc_level: int, *, lowest: int, highest: int, structure: str | None = None
) -> Iterator[Finding]:
    """Yield the finding on a level above or below those that a published figure covers."""
    figures = (
        f"No figures{f' for {structure}' if structure else ''} are published for CFCC level {cfcc_level}."
    )
    if cfcc_level > highest:
        yield finding(
            "CFCC_LEVEL_ABOVE_FIGURES",
            f"{figures} The figures for level {highest} are used. Earlier increases in level made structures larger, so the result may be "
            "too small.",
            field="/cfcc_level",
            structure=structure,
        )
    elif cfcc_level < lowest:
        yield finding(
            "CFCC_LEVEL_WITHOUT_FIGURES",
            f"{figures} The figures for the next higher level, {lowest}, are used, which errs on the large side.",
            field="/cfcc_level",
            structure=structure,
        )
