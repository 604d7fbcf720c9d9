"""Checks of the allocation by XCF: structures that cannot be placed now, or cannot be placed at SIZE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner_core.checks.facilities import check_sites
from planner_core.checks.other_structures import check_counted_twice, check_other_place
from planner_core.findings import Finding, finding
from planner_core.sizing.other_structures import OtherResult
from planner_core.sizing.placement import (
    Allocation,
    AllocationQuestion,
    AllocationRequest,
    FacilityUse,
    PlacedStructure,
    PlannedResult,
    allocate,
    at_size,
    is_roomy,
)
from planner_core.units import format_mib


def check_allocation(allocation: Allocation[PlannedResult]) -> Iterator[Finding]:
    """Yield the findings on the allocation with all coupling facilities available.

    Args:
        allocation: The allocation, based on INITSIZE or on SIZE.
    """
    asked = allocation.asked
    for name in asked.stated_differently:
        yield finding(
            "CF_STATED_DIFFERENTLY",
            f"The plans describe {name} differently; the less favorable values are used.",
        )
    unknown = [each.name for each in asked.facilities.values() if each.storage_bytes is None]
    if unknown:
        yield finding(
            "CF_STORAGE_NOT_STATED",
            f"The storage of {', '.join(unknown)} is not stated, so cfplan does not check whether structures fit there.",
        )
    # A plan does not determine which structure is allocated first, and the placement is greedy. Two other orders show
    # whether that decides which structures have no place (docs/decisions/0016).
    lacking = _lacking(allocation)
    orders = () if is_roomy(asked) else other_orders(asked.wanted)
    if any(_lacking(allocate(asked, order)) != lacking for order in orders):
        yield finding(
            "PLACEMENT_ORDER_MATTERS",
            "If structures are allocated in a different order, different structures cannot be placed. A plan does not determine "
            "which queue manager connects first.",
        )
    yield from check_counted_twice(allocation)
    for each in allocation.placed:
        if isinstance(each.wanted.result, OtherResult):
            yield from check_other_place(each, each.wanted.result)
            continue
        yield from _check_placed(each, allocation)
        without_site = [name for name in each.wanted.preflist if asked.facilities[name].site is None]
        yield from check_sites(each.wanted.result, without_site)
    for use in allocation.facilities:
        yield from _check_growth(use)
    if asked.at == "initsize":
        yield from _check_at_size(allocation)


def other_orders(
    wanted: Sequence[AllocationRequest[PlannedResult]],
) -> Iterator[list[AllocationRequest[PlannedResult]]]:
    """Yield other orders of allocation to try: reversed, and the largest first."""
    yield list(wanted)[::-1]
    yield sorted(wanted, key=lambda each: -each.bytes_wanted)


def _lacking(allocation: Allocation[PlannedResult]) -> frozenset[tuple[str, bool]]:
    """Return the structures, and the second copies, that cannot be placed."""
    return frozenset(
        (each.wanted.structure, not each.now)
        for each in allocation.placed
        # One place is enough for a structure that is not duplexed, two for one that is.
        if len(each.now) <= each.wanted.is_duplexed
    )


def _check_placed(
    each: PlacedStructure[PlannedResult], allocation: Allocation[PlannedResult]
) -> Iterator[Finding]:
    wanted, result, board = each.wanted, each.wanted.result, allocation.board
    name, at = result.name, f"{result.pointer}/preflist"
    if not each.now:
        yield from _no_place(each, allocation.asked)
        return
    excluded = sorted(board.inside(each.now[0]) & set(result.placement.exclist) - {wanted.structure})
    if excluded:
        ignored = (
            " With ENFORCEORDER(YES), XCF ignores the exclusion list."
            if result.placement.enforce_order
            else ""
        )
        yield finding(
            "EXCLUSION_NOT_KEPT",
            f"{wanted.structure} is placed in {each.now[0]} together with {', '.join(excluded)}, which its EXCLLIST "
            f"excludes.{ignored}",
            field=f"{result.pointer}/exclist",
            structure=name,
        )
    if wanted.is_duplexed and len(each.now) == 1:
        yield from _no_place(each, allocation.asked)
    if len(each.now) > 1:
        one, other = (board.facilities[name] for name in each.now)
        together = (
            "the same machine"
            if one.machine and one.machine == other.machine
            else f"the same site, {one.site}"
            if one.site is not None and one.site == other.site
            else ""
        )
        if together:
            yield finding(
                "COPIES_FAIL_TOGETHER",
                f"Both copies of {wanted.structure} ({one.name} and {other.name}) are in {together}: one failure destroys both.",
                field=at,
                structure=name,
            )


def _no_place(
    each: PlacedStructure[PlannedResult], asked: AllocationQuestion[PlannedResult]
) -> Iterator[Finding]:
    """Yield the finding on a structure, or on its second copy, that fits in no coupling facility."""
    wanted, result = each.wanted, each.wanted.result
    if not wanted.preflist:
        # PREFLIST_MISSING reports it: where the structure may be allocated is not known.
        return
    choice = each.second if each.now else each.first
    reason = choice.reason if choice is not None else ""
    size = f"{'SIZE' if asked.at == 'size' else 'INITSIZE'} {format_mib(wanted.bytes_wanted)}"
    if asked.at == "size":
        code = "STRUCTURE_NOT_PLACED_AT_SIZE"
        what = f"the second copy of {wanted.structure}" if each.now else wanted.structure
        message = f"When all structures have grown to SIZE, {what} ({size}) cannot be placed. {reason}"
    elif each.now:
        code = "SECOND_COPY_NOT_PLACED"
        message = (
            f"{wanted.structure} has DUPLEX(ENABLED), but its second copy cannot be placed ({size}). {reason}"
        )
    else:
        code = "STRUCTURE_NOT_PLACED"
        message = f"{wanted.structure} cannot be placed ({size}). {reason}"
    yield finding(code, message, field=f"{result.pointer}/preflist", structure=result.name)


def _check_growth(use: FacilityUse[PlannedResult]) -> Iterator[Finding]:
    facility, room, free = use.facility, use.room_bytes, use.free_at_size_bytes
    if room is None or free is None or facility.storage_bytes is None:
        return
    if room < 0:
        yield finding(
            "CF_OVERCOMMITTED_AT_SIZE",
            f"The storage that others occupy in {facility.name} and its DUMPSPACE amount to "
            f"{format_mib(facility.taken_bytes)}, more than its size of "
            f"{format_mib(facility.storage_bytes)}: nothing can be placed there. Check `occupied`, `dumpspace` and `size`.",
        )
    elif free < 0:
        yield finding(
            "CF_OVERCOMMITTED_AT_SIZE",
            f"The structures in {facility.name} may grow to {format_mib(room - free)} together, but only {format_mib(room)} "
            "is available, so not all can reach SIZE.",
        )


def _check_at_size(allocation: Allocation[PlannedResult]) -> Iterator[Finding]:
    """Report structures that can be placed at INITSIZE, but not if all structures are allocated at SIZE."""
    # Other causes than room do not depend on sizes, and the findings on INITSIZE report them.
    if is_roomy(allocation.asked, "size"):
        return
    places, grown = allocation.places, at_size(allocation.asked)
    for each in allocate(grown).placed:
        copies = 2 if each.wanted.is_duplexed else 1
        if isinstance(each.wanted.result, OtherResult):
            continue
        if len(each.now) < copies == len(places[each.wanted.structure]):
            yield from _no_place(each, grown)
