"""Place the plan again with the merged policy, whose kept settings decide where structures are allocated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from planner_core import checks
from planner_core.checks.placement import check_allocation
from planner_core.document.model import PlanDocument
from planner_core.document.types import Duplex, DuplexSite
from planner_core.findings import Finding
from planner_core.plan.evaluate import found_on_places
from planner_core.plan.known_structures import allocated
from planner_core.plan.result import PlanResult
from planner_core.running.policy import Setting, planned_site, with_defaults
from planner_core.running.shrinking import kept_settings
from planner_core.sizing.structure_result import StructureResult

_ABOUT_THE_DOCUMENT = frozenset({"ACKNOWLEDGEMENT_UNUSED", "PREFLIST_DEFAULTED"})
"""Findings that do not depend on the policy."""


def as_merged(structure: StructureResult, merged: Mapping[str, Setting], site: str | None) -> StructureResult:
    """Return a structure of the plan with the placement that the merged policy gives it.

    Args:
        structure: The planned structure.
        merged: Its settings in the merged policy.
        site: The site in DUPLEX of the policy; a site that the plan states comes first.
    """
    placement = structure.placement
    says = with_defaults({**merged})
    duplex, preflist, exclist = says["DUPLEX"], says["PREFLIST"], says["EXCLLIST"]
    is_duplexed = duplex in {"ALLOWED", "ENABLED"}
    return replace(
        structure,
        placement=replace(
            placement,
            duplex=cast(Duplex, duplex) if is_duplexed else "DISABLED",
            # A plan that states no site leaves that of the policy, as a merge does.
            duplex_site=cast(DuplexSite | None, planned_site(structure) or site) if is_duplexed else None,
            preflist=preflist if isinstance(preflist, tuple) else placement.preflist,
            exclist=exclist if isinstance(exclist, tuple) else placement.exclist,
            enforce_order=says["ENFORCEORDER"] is True,
        ),
    )


def check_merged_places(result: PlanResult, structures: Sequence[StructureResult]) -> tuple[Finding, ...]:
    """Return the findings on placement that the merged policy has and the plan does not.

    Args:
        result: The plan.
        structures: All of its structures, from `as_merged`.
    """
    # No setting is kept that differs from the plan, so the plan's own findings on places apply.
    if tuple(structures) == result.structures:
        return ()
    found = list(_found(result.document, structures))
    if result.document.acknowledged:
        found = checks.acknowledge(result.document, found)
    known = {(each.code, each.structure, each.message) for each in result.findings}
    return tuple(
        each
        for each in found
        if each.code not in _ABOUT_THE_DOCUMENT and (each.code, each.structure, each.message) not in known
    )


def _found(document: PlanDocument, structures: Sequence[StructureResult]) -> Iterator[Finding]:
    found = [each for structure in structures for each in checks.check_facilities(document, structure)]
    yield from found
    yield from found_on_places(found, check_allocation(allocated(document, structures)))


def errors_with_kept(
    found: Sequence[Finding], result: PlanResult, says: Mapping[str, Mapping[str, Setting]]
) -> tuple[Finding, ...]:
    """Return the errors, followed by the settings that the policy keeps for the structures concerned.

    Args:
        found: Findings on the merged policy.
        result: The plan.
        says: Settings in the merged policy by CFRM name, for the plan's keywords.
    """
    errors = [each for each in found if each.severity == "error"]
    at_fault = {each.structure for each in errors}
    kept = [
        each
        for structure in result.structures
        if structure.name in at_fault and structure.cfrm_name in says
        for each in kept_settings(structure, says[structure.cfrm_name])
    ]
    return (*errors, *kept)
