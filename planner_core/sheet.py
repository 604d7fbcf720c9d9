"""Plans of one sysplex on one sheet: what their structures take of each coupling facility.

A structure is counted in the first coupling facility of its PREFLIST, where XCF allocates
it when there is room: an assumption, shown with the sheet. A duplexed structure is counted
in the first two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner_core.plan import PlanResult
from planner_core.units import bytes_to_kib_ceil

ASSUMPTION = (
    "Structures are counted in the first coupling facility of their PREFLIST, duplexed ones in the first two. "
    "Where XCF allocates them depends on the space, level and connections it finds."
)
NOWHERE = ""
"""Structures without a PREFLIST are counted under this name."""


@dataclass(frozen=True, slots=True)
class Row:
    """One structure of one plan in one coupling facility [K]."""

    plan: str
    structure: str
    role: str
    facility: str
    initsize_kib: int
    size_kib: int
    is_second_copy: bool


@dataclass(frozen=True, slots=True)
class Facility:
    """A coupling facility on the sheet [K]; its storage is None where no plan states it, the largest where plans differ."""

    name: str
    storage_kib: int | None
    initsize_kib: int
    size_kib: int
    rows: tuple[Row, ...]
    stated_differently: bool

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "name": self.name,
            "storage_kib": self.storage_kib,
            "initsize_kib": self.initsize_kib,
            "size_kib": self.size_kib,
            "stated_differently": self.stated_differently,
            "structures": [
                {
                    "plan": row.plan,
                    "structure": row.structure,
                    "role": row.role,
                    "initsize_kib": row.initsize_kib,
                    "size_kib": row.size_kib,
                    "is_second_copy": row.is_second_copy,
                }
                for row in self.rows
            ],
        }


@dataclass(frozen=True, slots=True)
class Sheet:
    """All coupling facilities that the plans name, and names of structures that more than one plan has."""

    facilities: tuple[Facility, ...]
    same_names: tuple[str, ...]
    assumption: str = ASSUMPTION

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "facilities": [facility.as_json() for facility in self.facilities],
            "same_names": list(self.same_names),
            "assumption": self.assumption,
        }


def sheet(results: Sequence[tuple[str, PlanResult]]) -> Sheet:
    """Put plans on one sheet.

    Args:
        results: Each plan's name and its result.
    """
    rows: list[Row] = []
    stated: dict[str, set[int]] = {}
    names: dict[str, int] = {}
    for plan, result in results:
        for cf in result.document.coupling_facilities:
            stated.setdefault(cf.name, set())
            if cf.size is not None:
                stated[cf.name].add(bytes_to_kib_ceil(cf.size))
        for structure in result.structures:
            names[structure.cfrm_name] = names.get(structure.cfrm_name, 0) + 1
            copies = 2 if structure.placement.duplex == "ENABLED" else 1
            for number, facility in enumerate(structure.placement.preflist[:copies] or (NOWHERE,)):
                rows.append(
                    Row(
                        plan=plan,
                        structure=structure.cfrm_name,
                        role=structure.role,
                        facility=facility,
                        initsize_kib=bytes_to_kib_ceil(structure.sizes.initsize_bytes),
                        size_kib=bytes_to_kib_ceil(structure.sizes.size_bytes),
                        is_second_copy=number > 0,
                    )
                )
    order = sorted({*stated, *(row.facility for row in rows)}, key=lambda name: (name == NOWHERE, name))
    return Sheet(
        facilities=tuple(_facility(name, rows, stated.get(name, set())) for name in order),
        same_names=tuple(sorted(name for name, count in names.items() if count > 1)),
    )


def _facility(name: str, rows: Sequence[Row], sizes: set[int]) -> Facility:
    own = tuple(row for row in rows if row.facility == name)
    return Facility(
        name=name,
        storage_kib=max(sizes) if sizes else None,
        initsize_kib=sum(row.initsize_kib for row in own),
        size_kib=sum(row.size_kib for row in own),
        rows=own,
        stated_differently=len(sizes) > 1,
    )
