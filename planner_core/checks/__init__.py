"""Checks of a plan against the rules of IBM MQ and z/OS, and the advice in their manuals.

Invalid values are refused when the document is read. Legal but risky values, and impossible
combinations, are findings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner_core import names
from planner_core.checks.acknowledged import acknowledge, entry_of, index_of
from planner_core.checks.application import check_application
from planner_core.checks.depth_events import check_depth_events, check_perfmev
from planner_core.checks.facilities import check_facilities
from planner_core.checks.fitted import check_fitted
from planner_core.checks.group import check_plan, refuse_impossible
from planner_core.checks.name_prefixes import NamesInText, prefixed
from planner_core.checks.other_structures import check_other_structures
from planner_core.checks.placement import check_allocation
from planner_core.checks.sizes import check_sizes, check_thresholds
from planner_core.document.model import PlanDocument, Structure
from planner_core.findings import Finding, finding
from planner_core.sizing.shared_findings import admin_duplexed
from planner_core.sizing.structure_result import StructureResult

__all__ = [
    "acknowledge",
    "check_allocation",
    "check_facilities",
    "check_fitted",
    "check_other_structures",
    "check_perfmev",
    "check_plan",
    "check_structure",
    "entry_of",
    "index_of",
    "refuse_impossible",
]


def check_structure(document: PlanDocument, structure: StructureResult) -> Iterator[Finding]:
    """Yield the findings on one structure."""
    yield from check_sizes(structure)
    yield from check_thresholds(structure)
    yield from check_facilities(document, structure)
    if structure.admin is not None:
        yield from structure.admin.findings
        if structure.placement.duplex != "DISABLED":
            yield admin_duplexed(
                structure.cfrm_name,
                structure=structure.name,
                field=f"{structure.pointer}/duplex",
                duplex=structure.placement.duplex,
            )
        # A given INITSIZE may include that room already; a plan cannot tell.
        if not document.admin.headroom_percent and not structure.sizes.initsize_is_given:
            yield finding(
                "ADMIN_NO_ROOM_FOR_LARGE_UNITS_OF_WORK",
                "CSQ_ADMIN is planned at its minimum for the number of queue managers. IBM asks you to add room for large "
                "units of "
                "work: set admin.headroom_percent if you have any.",
                field="/admin/headroom_percent",
                structure=structure.name,
            )
    if isinstance(structure.definition, Structure):
        group = names.cfrm_structure_name(qsg_name=document.qsg, cfstruct_name="")
        for each in prefixed(structure.name, NamesInText(groups=frozenset({group}))):
            yield replace(each, field=f"{structure.pointer}/name")
    if isinstance(structure.definition, Structure) and structure.load is not None:
        yield from check_application(structure, structure.definition, structure.load)
        yield from check_depth_events(document, structure)
