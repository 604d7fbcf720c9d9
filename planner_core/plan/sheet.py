"""Several plans of one sysplex on one sheet: storage of each coupling facility, and the structures that XCF allocates there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from planner_core.document.model import CouplingFacility
from planner_core.sizing.placement import (
    AllocationGroup,
    AllocationRequest,
    FacilityUse,
    PlaceableStructure,
    allocate,
    question,
)
from planner_core.units import bytes_to_kib_ceil

ASSUMPTION = (
    "cfplan places each structure with INITSIZE as XCF would, with every coupling facility available. Where XCF allocates a structure "
    "depends on the space, level and connections that it finds."
)
NOWHERE = ""
"""The name under which structures without a PREFLIST are listed."""
_STATED = {"size": "size", "occupied": "occupied storage", "dumpspace": "dump space"}


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One copy of a structure of one plan [K]."""

    plan: str
    structure: str
    role: str
    facility: str
    initsize_kib: int
    size_kib: int
    is_second_copy: bool


@dataclass(frozen=True, slots=True)
class SheetFacility:
    """A coupling facility on the sheet.

    `stated_differently` lists the kinds of storage for which plans state different values. The sheet uses the smallest
    size, and the largest value of each other kind.
    """

    use: FacilityUse[PlaceableStructure]
    rows: tuple[SheetRow, ...]
    stated_differently: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the coupling facility in the policy."""
        return self.use.facility.name


@dataclass(frozen=True, slots=True)
class Sheet:
    """All coupling facilities that the plans name, and the structures without a place.

    `same_names` lists structures in more than one plan; only the one in the first plan is used.
    """

    facilities: tuple[SheetFacility, ...]
    unplaced: tuple[SheetRow, ...]
    without_preflist: tuple[SheetRow, ...]
    same_names: tuple[str, ...]
    assumption: str = ASSUMPTION


def sheet(groups: Sequence[AllocationGroup[PlaceableStructure]]) -> Sheet:
    """Return one sheet for all plans, with their structures placed together.

    Args:
        groups: The structures and coupling facilities of each plan.
    """
    counted, same_names = _each_once(groups)
    allocation = allocate(question(counted))
    stated: dict[str, list[CouplingFacility]] = {}
    for group in groups:
        for cf in group.coupling_facilities:
            stated.setdefault(cf.name, []).append(cf)
    # A duplexed structure lacks a place for its second copy if it has only one.
    lacking = [
        _row(each.wanted, NOWHERE, is_second_copy=bool(each.now))
        for each in allocation.placed
        if each.wanted.preflist and len(each.now) <= each.wanted.is_duplexed
    ]
    return Sheet(
        facilities=tuple(
            SheetFacility(use, _rows(use), tuple(_differences(stated.get(use.facility.name, []))))
            for use in sorted(allocation.facilities, key=lambda use: use.facility.name)
        ),
        unplaced=tuple(lacking),
        without_preflist=tuple(
            _row(each.wanted, NOWHERE, is_second_copy=False)
            for each in allocation.placed
            if not each.wanted.preflist
        ),
        same_names=tuple(sorted(same_names)),
    )


def _each_once(
    groups: Iterable[AllocationGroup[PlaceableStructure]],
) -> tuple[list[AllocationGroup[PlaceableStructure]], set[str]]:
    """Return the groups, with each structure only in the first plan that has it, and the names in several plans."""
    # A sysplex has one structure of a name, and `question` refuses two; a sheet must still show plans that overlap.
    seen: set[str] = set()
    twice: set[str] = set()
    found = []
    for group in groups:
        # Plans may list the same structures of Db2; `question` counts each of them once.
        names = {each.cfrm_name for each in group.structures if each.role != "other"}
        twice |= names & seen
        own = tuple(each for each in group.structures if each.role == "other" or each.cfrm_name not in seen)
        found.append(replace(group, structures=own))
        seen |= names
    return found, twice


def _rows(use: FacilityUse[PlaceableStructure]) -> tuple[SheetRow, ...]:
    name = use.facility.name
    first = [_row(each, name, is_second_copy=False) for each in use.first]
    others = [_row(each, name, is_second_copy=False) for each in use.others]
    return (*others, *first, *(_row(each, name, is_second_copy=True) for each in use.second))


def _row(wanted: AllocationRequest[PlaceableStructure], facility: str, *, is_second_copy: bool) -> SheetRow:
    return SheetRow(
        plan=wanted.plan,
        structure=wanted.structure,
        role=wanted.result.role,
        facility=facility,
        initsize_kib=bytes_to_kib_ceil(wanted.initsize_bytes),
        size_kib=bytes_to_kib_ceil(wanted.size_bytes),
        is_second_copy=is_second_copy,
    )


def _differences(stated: Sequence[CouplingFacility]) -> list[str]:
    """Return the kinds of storage, in words, for which plans state different values; a plan without a value agrees."""
    values: Mapping[str, set[int]] = {
        key: {value for cf in stated if (value := getattr(cf, key)) is not None} for key in _STATED
    }
    return [words for key, words in _STATED.items() if len(values[key]) > 1]
