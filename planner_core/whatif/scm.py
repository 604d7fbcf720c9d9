"""Storage-class memory: what a structure may use of it where it is placed, and what is not known.

Facts and their sources: CFCC level 19 or higher; the largest amount by IXCH0257E; used from 90 %
on, with augmented space taken from the CF's storage (reason code 2192). IBM publishes no formula
for augmented space: the plan states it, or a finding says that it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner_core.document import Structure
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.units import KIB, format_mib
from planner_core.whatif.placement import Facility, Placed, Question

_BLOCK = 4 * KIB


def most_scm(facility: Facility, *, asked_bytes: int, size_bytes: int) -> int | None:
    """What a CF lets a structure use [bytes]; None where its storage-class memory is not stated.

    Args:
        facility: The coupling facility.
        asked_bytes: SCMMAXSIZE.
        size_bytes: SIZE of the structure.
    """
    if facility.cfcc_level < limit("lowest_cfcc_level_scm"):
        return 0
    if facility.scm_bytes is None:
        return None
    left = limit("scm_and_size_blocks_4k") * _BLOCK - size_bytes
    return max(0, min(asked_bytes, facility.scm_bytes, left))


def check_scm(asked: Question, placed: Sequence[Placed]) -> Iterator[Finding]:
    """Findings on structures that ask for storage-class memory, where they are placed."""
    together: dict[str, int] = {}
    for each in placed:
        result = each.wanted.result
        definition, scm = result.definition, result.placement.scm_bytes
        if scm is None or not isinstance(definition, Structure):
            continue
        at, name = f"{result.pointer}/scm", result.name
        yield finding(
            "SCM_USED_FROM_THRESHOLD",
            f"{each.wanted.structure} may use storage-class memory from {limit('scm_used_from_percent')} % of the structure on. What that "
            "makes of its capacity and of its offload rules is not computed; get and put slow down.",
            field=f"{at}/max_size",
            structure=name,
        )
        if definition.scm.augmented is None:
            yield finding(
                "SCM_AUGMENTED_NOT_STATED",
                f"{each.wanted.structure} takes CF storage beside itself for storage-class memory, and the plan does not say how much: it "
                "is counted as nothing. When it is not there, puts fail with 2192 although storage-class memory is free.",
                field=f"{at}/augmented",
                structure=name,
            )
        for facility in (asked.facilities[name_of] for name_of in each.now):
            together[facility.name] = together.get(facility.name, 0) + scm
            yield from _check_place(each, facility, scm, at)
    for name, wanted in together.items():
        there = asked.facilities[name].scm_bytes
        if there is not None and wanted > there:
            yield finding(
                "SCM_OVERCOMMITTED",
                f"Structures in {name} may use {format_mib(wanted)} of storage-class memory together, and it has {format_mib(there)}.",
            )


def _check_place(each: Placed, facility: Facility, scm: int, at: str) -> Iterator[Finding]:
    name, structure = each.wanted.result.name, each.wanted.structure
    most = most_scm(facility, asked_bytes=scm, size_bytes=each.wanted.result.sizes.size_bytes)
    if facility.cfcc_level < limit("lowest_cfcc_level_scm"):
        yield finding(
            "SCM_LEVEL_TOO_LOW",
            f"{structure} asks for storage-class memory, and {facility.name} has CFCC level {facility.cfcc_level}: it takes "
            f"{limit('lowest_cfcc_level_scm')} or higher.",
            field=f"{at}/max_size",
            structure=name,
        )
    elif most is not None and most < scm:
        yield finding(
            "SCM_LESS_THAN_ASKED",
            f"{structure} asks for {format_mib(scm)} of storage-class memory and can use {format_mib(most)} in {facility.name}.",
            field=f"{at}/max_size",
            structure=name,
        )
