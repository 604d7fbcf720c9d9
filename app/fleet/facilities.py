"""The contents of each coupling facility, and the storage that it needs after the loss of another one.

A structure counts with its measured size and place. If they were not measured, it counts with the INITSIZE of its plan,
where XCF would allocate it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.fleet.answers import AfterLoss, FleetFacility
from app.usage.repository import StructureKey
from planner_core.limits import limit
from planner_core.names import cfrm_structure_name
from planner_core.sizing.placement import (
    AllocationGroup,
    AllocationRequest,
    Board,
    Facility,
    PlacedStructure,
    first_choice,
    question,
    second_choice,
    without_repeated_others,
)
from planner_core.sizing.structure_answer import StoredStructure
from planner_core.whatif.loss import needed_in, place_after_loss, unplaced_of

PlannedGroup = AllocationGroup[StoredStructure]
Wanted = AllocationRequest[StoredStructure]
MOST_COPIES = 2


@dataclass(frozen=True, slots=True)
class MeasuredPlace:
    """The size of a structure and its coupling facilities as last observed, the primary first."""

    size_bytes: int
    coupling_facilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """All coupling facilities by name, and the coupling facilities of each structure by its CFRM name."""

    facilities: tuple[FleetFacility, ...]
    places: Mapping[str, tuple[str, ...]]
    plans: tuple[str, ...]
    """The plans of which all structures are counted, so that no two of them have a structure in common."""
    unplaced: tuple[str, ...]
    """Structures of plans that no coupling facility has room for, even without a loss, by their CFRM names."""


def placed(plans: Sequence[PlannedGroup], measured: Mapping[StructureKey, MeasuredPlace]) -> Placed:
    """Return the coupling facilities of plans and measurements.

    Args:
        plans: The latest versions of all plans, the most recently saved first.
        measured: Measured structures by group and name.
    """
    all_structures = {each.plan: _count(each) for each in plans}
    # Places depend on the order. That of the names is the one of the linked pages, and no acknowledgement changes it.
    own = sorted(_without_repeats(plans), key=lambda each: each.plan.lower())
    groups = [*own, *_unplanned(plans, measured)]
    asked = question(groups)
    observed = {
        cfrm_structure_name(qsg_name=qsg, cfstruct_name=name): place
        for (qsg, name), place in measured.items()
    }
    facilities = dict(asked.facilities)
    for name in sorted({name for each in observed.values() for name in each.coupling_facilities}):
        facilities.setdefault(name, _undescribed(name))
    board = Board(facilities)
    order = [_as_measured(each, observed.get(each.structure)) for each in asked.wanted]
    _fill(board, order, observed)
    losses = {name: place_after_loss([name], order, board)[1] for name in facilities}
    return Placed(
        tuple(
            _facility(facility, board, order, losses, observed) for _, facility in sorted(facilities.items())
        ),
        {name: tuple(where) for name, where in board.places.items()},
        tuple(each.plan for each in groups if all_structures.get(each.plan) == _count(each)),
        tuple(each.structure for each in order if not board.places.get(each.structure)),
    )


def _without_repeats(plans: Iterable[PlannedGroup]) -> Iterable[PlannedGroup]:
    """Yield the plans with those structures that no more recently saved plan has."""
    # Several plans of a group are drafts or years of the same structures, and a sysplex has each of them once.
    seen: set[str] = set()
    plans, _ = without_repeated_others(list(plans))
    for plan in plans:
        own = [each for each in plan.structures if each.cfrm_name not in seen]
        seen.update(each.cfrm_name for each in own)
        if own:
            yield replace(plan, structures=own)


def _count(plan: PlannedGroup) -> int:
    """Return the number of structures of the plan's group."""
    return sum(1 for each in plan.structures if each.role != "other")


def _unplanned(
    plans: Iterable[PlannedGroup], measured: Mapping[StructureKey, MeasuredPlace]
) -> Iterable[PlannedGroup]:
    """Yield a group with the measured structures that no plan has, if there are any."""
    planned = {each.cfrm_name for plan in plans for each in plan.structures}
    of_group: dict[str, dict[str, None]] = {}
    for (qsg, _), place in measured.items():
        of_group.setdefault(qsg, {}).update(dict.fromkeys(place.coupling_facilities))
    found = [
        _structure(qsg, name, place, sorted(of_group[qsg]))
        for (qsg, name), place in sorted(measured.items())
        # Without a plan and an observation, nothing is known about where the structure is.
        if place.coupling_facilities and cfrm_structure_name(qsg_name=qsg, cfstruct_name=name) not in planned
    ]
    if found:
        yield AllocationGroup("", limit("lowest_cfcc_level_duplex"), (), found)


def _structure(qsg: str, name: str, place: MeasuredPlace, allowed: Sequence[str]) -> StoredStructure:
    """Return a measured structure that may be in every coupling facility in which its group was observed."""
    first, *others = place.coupling_facilities
    return StoredStructure(
        name=name,
        cfrm_name=cfrm_structure_name(qsg_name=qsg, cfstruct_name=name),
        role="application",
        need_bytes=0,
        initsize_bytes=place.size_bytes,
        size_bytes=place.size_bytes,
        full_threshold=0,
        allow_auto_alter=False,
        preflist=tuple(sorted(allowed, key=lambda each: each != first)),
        exclist=(),
        duplex="ENABLED" if others else "DISABLED",
    )


def _undescribed(name: str) -> Facility:
    """Return a coupling facility that was observed and that no plan describes."""
    level = limit("lowest_cfcc_level_duplex")
    return Facility(name, None, 0, 0, level, None, False, True, (), None, is_described=False)


def _as_measured(wanted: Wanted, place: MeasuredPlace | None) -> Wanted:
    return wanted if place is None else replace(wanted, bytes_wanted=place.size_bytes)


def _fill(board: Board, order: Sequence[Wanted], observed: Mapping[str, MeasuredPlace]) -> None:
    """Put measured structures where they were observed, and then the others where XCF would allocate them."""
    for wanted in order:
        place = observed.get(wanted.structure)
        for name in place.coupling_facilities[:MOST_COPIES] if place else ():
            board.put(wanted, name)
    for wanted in order:
        if board.places.get(wanted.structure):
            continue
        first = first_choice(wanted, board)
        if first.facility is None:
            continue
        board.put(wanted, first.facility)
        if wanted.is_duplexed:
            second = second_choice(wanted, board)
            if second.facility is not None:
                board.put(wanted, second.facility)


def _facility(
    facility: Facility,
    board: Board,
    order: Sequence[Wanted],
    losses: Mapping[str, Sequence[PlacedStructure[StoredStructure]]],
    observed: Mapping[str, MeasuredPlace],
) -> FleetFacility:
    name = facility.name
    here = [
        (each, board.places[each.structure]) for each in order if name in board.places.get(each.structure, ())
    ]
    needed = {lost: needed_in(name, after) for lost, after in losses.items() if lost != name}
    worst = max(needed, key=lambda lost: needed[lost], default=None)
    free = board.free_bytes(name)
    return FleetFacility(
        name=name,
        storage_bytes=facility.storage_bytes,
        others_bytes=facility.taken_bytes,
        structures_bytes=sum(each.bytes_wanted for each, where in here if where[0] == name),
        second_copies_bytes=sum(each.bytes_wanted for each, where in here if where[0] != name),
        structures=len(here),
        measured=sum(
            name in observed[each.structure].coupling_facilities
            for each, _ in here
            if each.structure in observed
        ),
        after_loss=None
        if worst is None
        else AfterLoss(worst, needed[worst], None if free is None else free >= needed[worst]),
        # Without a plan, PREFLIST is not known, and with it whether the structure has a place.
        unplaced=tuple(each.wanted.structure for each in unplaced_of(losses[name]) if each.wanted.plan),
    )
