"""Storage-class memory: the amount that a structure can use at its location, and missing values.

CFCC levels 19 to 25 support it, and IXCH0257E documents the largest amount. A structure uses it at 90 % usage and above,
and takes augmented space for it from the CF's storage; without that space, puts fail with reason code 2192. IBM
publishes no formula for augmented space: the plan states it, or a finding reports that it is missing. Whether a coupling facility has storage-class memory is not among the criteria
by which XCF chooses one: a structure may move to a coupling facility without it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from planner_core.checks.facilities import has_no_scm
from planner_core.document.model import Structure
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.sizing.placement import (
    AllocationQuestion,
    AllocationRequest,
    Facility,
    PlacedStructure,
    PlannedResult,
)
from planner_core.units import KIB, Mib, format_mib
from planner_core.wire import Answer

_BLOCK = 4 * KIB


def most_scm(facility: Facility, *, asked_bytes: int, size_bytes: int) -> int | None:
    """Return the storage-class memory that a structure can use in a CF [bytes]; None if the CF does not state its amount.

    Args:
        facility: The coupling facility.
        asked_bytes: SCMMAXSIZE.
        size_bytes: SIZE of the structure.
    """
    if facility.cfcc_level < limit("lowest_cfcc_level_scm") or has_no_scm(facility.cfcc_level):
        return 0
    if facility.scm_bytes is None:
        return None
    # IXCH0257E: the blocks of SIZE and of storage-class memory are limited together.
    left = limit("scm_and_size_blocks_4k") * _BLOCK - size_bytes
    return max(0, min(asked_bytes, facility.scm_bytes, left))


def asked_of(wanted: AllocationRequest[PlannedResult]) -> int | None:
    """Return SCMMAXSIZE of an application structure [bytes]; None without storage-class memory."""
    return wanted.result.placement.scm_bytes if isinstance(wanted.result.definition, Structure) else None


def usable_scm(each: PlacedStructure[PlannedResult], facilities: Mapping[str, Facility]) -> int | None:
    """Return the storage-class memory that a structure can use now, the least of its copies [bytes].

    None if it uses none, or if a coupling facility does not state its amount.
    """
    asked = asked_of(each.wanted)
    if asked is None or not each.now:
        return None
    size = each.wanted.result.size_bytes
    found = [most_scm(facilities[name], asked_bytes=asked, size_bytes=size) for name in each.now]
    known = [most for most in found if most is not None]
    # Both copies hold all messages, so the copy with less decides.
    return min(known) if len(known) == len(found) else None


@dataclass(frozen=True, slots=True)
class StorageClassMemory(Answer):
    """Storage-class memory of a structure at its current location."""

    asked_bytes: Annotated[Mib, Field(alias="asked_mib", description="SCMMAXSIZE.")]
    usable_bytes: Annotated[
        Mib | None,
        Field(
            alias="usable_mib",
            description="The part that it can use there, the smallest among its copies; null if not known.",
        ),
    ]
    augmented_bytes: Annotated[
        Mib | None,
        Field(
            alias="augmented_mib",
            description="CF storage counted for it in `size_mib`; null if it is not stated.",
        ),
    ]


def scm_of(
    each: PlacedStructure[PlannedResult], facilities: Mapping[str, Facility]
) -> StorageClassMemory | None:
    """Return the storage-class memory of a structure; None without SCMMAXSIZE."""
    asked = asked_of(each.wanted)
    definition = each.wanted.result.definition
    if asked is None or not isinstance(definition, Structure):
        return None
    return StorageClassMemory(asked, usable_scm(each, facilities), definition.scm.augmented)


def check_scm(
    asked: AllocationQuestion[PlannedResult], placed: Sequence[PlacedStructure[PlannedResult]]
) -> Iterator[Finding]:
    """Yield findings on structures that ask for storage-class memory, at their location."""
    unknown: dict[str, list[str]] = {}
    for each in placed:
        result = each.wanted.result
        definition, scm = result.definition, asked_of(each.wanted)
        if scm is None or not isinstance(definition, Structure):
            continue
        at, name = f"{result.pointer}/scm", result.name
        yield finding(
            "SCM_USED_FROM_THRESHOLD",
            f"{each.wanted.structure} may use storage-class memory once {limit('scm_used_from_percent')} % of the "
            "structure is in use. This needs control storage, so the structure has fewer entries and elements than this plan counts; "
            "how many fewer, and the effect on its offload rules, is not published. Gets and puts slow down.",
            field=f"{at}/max_size",
            structure=name,
        )
        if definition.scm.augmented is None:
            yield finding(
                "SCM_AUGMENTED_NOT_STATED",
                f"{each.wanted.structure} needs additional CF storage for storage-class memory, and the plan does not state "
                "how much: it is counted as zero. Without that storage, puts fail with reason 2192 although storage-class memory "
                "is free.",
                field=f"{at}/augmented",
                structure=name,
            )
        for place in each.now:
            yield from _check_place(each, asked.facilities[place], scm)
        for place in each.wanted.preflist:
            facility = asked.facilities[place]
            has_some = facility.cfcc_level >= limit("lowest_cfcc_level_scm")
            if facility.scm_bytes is None and has_some and not has_no_scm(facility.cfcc_level):
                unknown.setdefault(place, []).append(each.wanted.structure)
    for name, structures in unknown.items():
        yield finding(
            "SCM_OF_CF_NOT_STATED",
            f"The storage-class memory of {name} is not stated, and {', '.join(structures)} may be placed there: it is "
            "unknown whether all of SCMMAXSIZE can be used there.",
        )
    yield from _overcommitted(asked.facilities, placed, among=asked.facilities)


def check_scm_after_loss(
    facilities: Mapping[str, Facility], placed: Sequence[PlacedStructure[PlannedResult]], what: str
) -> Iterator[Finding]:
    """Yield findings on structures that a loss moves to a CF with less storage-class memory than they ask for.

    Args:
        facilities: All coupling facilities by name.
        placed: Every structure after the loss.
        what: The loss, in words.
    """
    reached: set[str] = set()
    for each in placed:
        scm = asked_of(each.wanted)
        if scm is None:
            continue
        for name in each.now:
            # Other places are covered by the findings of the plan itself.
            if name not in each.before:
                reached.add(name)
                yield from _check_place(each, facilities[name], scm, without=what)
    yield from _overcommitted(facilities, placed, among=reached, without=what)


def _overcommitted(
    facilities: Mapping[str, Facility],
    placed: Sequence[PlacedStructure[PlannedResult]],
    *,
    among: Container[str],
    without: str = "",
) -> Iterator[Finding]:
    """Yield the finding on coupling facilities with less storage-class memory than their structures may use together (IXCH0259E)."""
    together: dict[str, int] = {}
    for each in placed:
        asked, size = asked_of(each.wanted) or 0, each.wanted.result.size_bytes
        for name in each.now:
            # SCM_OF_CF_NOT_STATED reports coupling facilities that state none.
            most = most_scm(facilities[name], asked_bytes=asked, size_bytes=size) or 0
            together[name] = together.get(name, 0) + most
    for name, wanted in together.items():
        there = facilities[name].scm_bytes
        if name in among and there is not None and wanted > there:
            who = f"Without {without}, structures" if without else "Structures"
            yield finding(
                "SCM_OVERCOMMITTED",
                f"{who} in {name} may use {format_mib(wanted)} of storage-class memory together, but it has only {format_mib(there)}.",
            )


def _check_place(
    each: PlacedStructure[PlannedResult], facility: Facility, scm: int, *, without: str = ""
) -> Iterator[Finding]:
    result, structure = each.wanted.result, each.wanted.structure
    at = f"{result.pointer}/scm/max_size"
    comes = f"Without {without}, {structure} is placed in {facility.name}. It" if without else structure
    most = most_scm(facility, asked_bytes=scm, size_bytes=result.size_bytes)
    if facility.cfcc_level < limit("lowest_cfcc_level_scm"):
        yield finding(
            "SCM_LEVEL_TOO_LOW",
            f"{comes} requests storage-class memory, but {facility.name} has CFCC level {facility.cfcc_level}: level "
            f"{limit('lowest_cfcc_level_scm')} or higher is needed.",
            field=at,
            structure=result.name,
        )
    elif has_no_scm(facility.cfcc_level):
        yield finding(
            "SCM_REMOVED",
            f"{comes} requests storage-class memory, but {facility.name} has CFCC level {facility.cfcc_level}: there is "
            "none after level "
            f"{limit('highest_cfcc_level_scm')}. Offload to shared message data sets instead.",
            field=at,
            structure=result.name,
        )
    elif most is not None and most < scm:
        can = f"can use {format_mib(most)} in {facility.name}" if most else f"{facility.name} has none for it"
        yield finding(
            "SCM_LESS_THAN_ASKED",
            f"{comes} requests {format_mib(scm)} of storage-class memory{' and ' if most else ', and '}{can}.",
            field=at,
            structure=result.name,
        )
