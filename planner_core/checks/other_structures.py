"""Checks of structures that are not the group's: those of Db2 that are missing, storage counted twice, and places."""

from __future__ import annotations

from collections.abc import Iterator, Sized

from planner_core.document.model import PlanDocument
from planner_core.findings import Finding, finding
from planner_core.sizing.other_structures import OtherResult, db2_structure
from planner_core.sizing.placement import Allocation, PlacedStructure, PlannedResult
from planner_core.units import format_mib

_REQUIRED = ("LOCK1", "SCA")
"""The structures that every Db2 data-sharing group has, next to its group buffer pools."""


def check_other_structures(document: PlanDocument) -> Iterator[Finding]:
    """Yield a finding if structures of the group's Db2 data-sharing group are not counted."""
    counted = {found for each in document.other_structures if (found := db2_structure(each.name))}
    groups = {group for group, _ in counted}
    if document.db2_group is not None:
        missing = [
            f"{document.db2_group}_{kind}" for kind in _REQUIRED if (document.db2_group, kind) not in counted
        ]
        if missing:
            yield _not_counted(
                f"The Db2 data-sharing group is {document.db2_group}, but other_structures has no {' and no '.join(missing)}"
            )
        return
    # Without a size, no coupling facility has free storage that could be wrong; `occupied` may include Db2.
    open_facilities = [
        cf.name for cf in document.coupling_facilities if cf.size is not None and cf.occupied is None
    ]
    if open_facilities and not any({(group, kind) for kind in _REQUIRED} <= counted for group in groups):
        yield _not_counted(
            f"The free storage of {', '.join(open_facilities)} is calculated without structures of Db2: neither other_structures "
            "nor `occupied` states them"
        )


def _not_counted(fact: str) -> Finding:
    return finding(
        "DB2_STRUCTURES_NOT_COUNTED",
        f"{fact}. A queue-sharing group needs a Db2 data-sharing group with LOCK1, SCA and group buffer pools, which take storage in the "
        "same sysplex. Import them from the policy or from D XCF,STR.",
        field="/other_structures",
    )


def check_counted_twice(allocation: Allocation[PlannedResult]) -> Iterator[Finding]:
    """Yield a finding for each coupling facility with other structures and with occupied storage."""
    for use in allocation.facilities:
        if use.others and use.facility.occupied_bytes:
            yield finding(
                "OTHER_STRUCTURES_AND_OCCUPIED",
                f"{use.facility.name} has {format_mib(use.facility.occupied_bytes)} occupied, and {len(use.others)} other {_structures(use.others)} with "
                f"{format_mib(use.others_bytes)}, which are counted in addition. Reduce `occupied` by those that it includes.",
                field="/other_structures",
            )


def _structures(others: Sized) -> str:
    return "structure" if len(others) == 1 else "structures"


def check_other_place(each: PlacedStructure[PlannedResult], result: OtherResult) -> Iterator[Finding]:
    """Yield a finding if no coupling facility has room for another structure, or for its second copy."""
    wanted = each.wanted
    if len(each.now) > wanted.is_duplexed:
        return
    choice = each.second if each.now else each.first
    what = f"The second copy of {wanted.structure}" if each.now else wanted.structure
    yield finding(
        "OTHER_STRUCTURE_NOT_PLACED",
        f"{what}, which is not a structure of the group, cannot be placed ({format_mib(wanted.bytes_wanted)}). "
        f"{choice.reason if choice is not None else ''} Check the sizes of the coupling facilities and of other_structures.",
        field=f"{result.pointer}/preflist",
        structure=result.name,
    )
