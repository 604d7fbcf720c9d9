"""Checks of the coupling facilities for a structure: PREFLIST, space, volatility, failure isolation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner_core.document.model import (
    CouplingFacility,
    PlanDocument,
    Structure,
)
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.sizing.shared_findings import preflist_single_cf
from planner_core.sizing.structure_result import StructureResult
from planner_core.units import MIB, format_mib

_MOST = 0.5
_SITES = {
    "SAMESITE": "assumed to be at the same site",
    "SAMESITEONLY": "assumed to be at the same site, so that no placement is ruled out",
    "CROSSSITE": "not assumed to be at another site",
}
"""The assumption about coupling facilities without a site, by the keyword of DUPLEX that concerns sites."""


def check_sites(structure: StructureResult, unknown: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding if DUPLEX names a site and the `unknown` coupling facilities of PREFLIST have none."""
    placement = structure.placement
    site = placement.duplex_site or ""
    if placement.duplex != "DISABLED" and site in _SITES and unknown:
        yield finding(
            "DUPLEX_SITE_NOT_STATED",
            f"{structure.cfrm_name} has DUPLEX({placement.duplex},{site}), but SITE of {', '.join(unknown)} is not stated: "
            f"{'it is' if len(unknown) == 1 else 'they are'} {_SITES[site]}.",
            field=f"{structure.pointer}/duplex_site",
            structure=structure.name,
        )


def has_no_scm(cfcc_level: int) -> bool:
    """Return whether coupling facilities of this level no longer have storage-class memory."""
    return cfcc_level > limit("highest_cfcc_level_scm")


def scm_removed(name: str, cfcc_level: int) -> Finding:
    """Return the finding on a statement or display with SCMMAXSIZE at a level that has no storage-class memory."""
    return finding(
        "SCM_REMOVED",
        f"{name} has SCMMAXSIZE, but CFCC level {cfcc_level} has no storage-class memory: it was removed after level "
        f"{limit('highest_cfcc_level_scm')}. Remove SCMMAXSIZE and SCMALGORITHM, and offload to shared message data sets.",
        structure=name,
    )


def check_scm_levels(document: PlanDocument, structure: StructureResult) -> Iterator[Finding]:
    """Yield a finding if a structure may move to a level that no longer has storage-class memory."""
    if structure.placement.scm_bytes is None:
        return
    known = {cf.name: cf.cfcc_level for cf in document.coupling_facilities}
    levels = {cf: known.get(cf) or document.cfcc_level for cf in structure.placement.preflist}
    without = [cf for cf, level in levels.items() if has_no_scm(level)]
    # A structure without a PREFLIST is sized for the plan's level, so that level counts for storage-class memory too.
    if without or (not levels and has_no_scm(document.cfcc_level)):
        where = f"in {', '.join(without)} " if without else ""
        yield finding(
            "SCM_REMOVED",
            f"{structure.name} requests {format_mib(structure.placement.scm_bytes)} of storage-class memory, but there is "
            f"none {where}"
            f"after CFCC level {limit('highest_cfcc_level_scm')}, so messages that do not fit in the structure cannot be stored. "
            "Remove SCMMAXSIZE, and offload "
            "to shared message data sets.",
            field=f"{structure.pointer}/scm/max_size",
            structure=structure.name,
        )


def check_storage(document: PlanDocument) -> Iterator[Finding]:
    """Yield findings on the changes at CFCC level 26: the minimum storage of an image, and no storage-class memory."""
    least, since = limit("least_cf_storage_mib") * MIB, limit("cfcc_level_1024_mib")
    for index, cf in enumerate(document.coupling_facilities):
        level = cf.cfcc_level or document.cfcc_level
        if cf.size is not None and cf.size < least and level >= since:
            yield finding(
                "CF_BELOW_LEAST_STORAGE",
                f"{cf.name} has {format_mib(cf.size)} at CFCC level {level}: an image of that level needs at least {format_mib(least)} to "
                "activate, and more for structures and dumps. If this is the free space that D CF shows, add the "
                "storage that the control code uses.",
                field=f"/coupling_facilities/{index}/size",
            )
        if cf.scm and has_no_scm(level):
            yield finding(
                "SCM_REMOVED",
                f"{cf.name} specifies {format_mib(cf.scm)} of storage-class memory at CFCC level {level}: there is none after level "
                f"{limit('highest_cfcc_level_scm')}.",
                field=f"/coupling_facilities/{index}/scm",
            )


def check_facilities(document: PlanDocument, structure: StructureResult) -> Iterator[Finding]:
    """Yield the findings on PREFLIST and its coupling facilities."""
    at, name, preflist = structure.pointer, structure.name, structure.placement.preflist
    known = {cf.name: cf for cf in document.coupling_facilities}
    if not preflist:
        yield finding(
            "PREFLIST_MISSING",
            f"{name} has no PREFLIST, and the plan defines no coupling facility. PREFLIST is required. Add it "
            "before you submit the policy.",
            field=f"{at}/preflist",
            structure=name,
        )
        yield from check_scm_levels(document, structure)
        return
    if not structure.definition.preflist and structure.role == "application":
        yield finding(
            "PREFLIST_DEFAULTED",
            f"{name} has no PREFLIST of its own; the plan's coupling facilities are used in the order given "
            f"({', '.join(preflist)}).",
            field=f"{at}/preflist",
            structure=name,
        )
    # A plan may leave coupling facilities to the policy; then no name of a PREFLIST can be compared.
    unknown = [cf for cf in preflist if cf not in known] if known else []
    if unknown:
        yield finding(
            "PREFLIST_UNKNOWN_CF",
            f"PREFLIST of {name} names {', '.join(unknown)}, which the plan does not define: its space and level cannot be "
            "checked.",
            field=f"{at}/preflist",
            structure=name,
        )
    if len(preflist) == 1:
        is_duplexed = structure.placement.duplex != "DISABLED"
        yield preflist_single_cf(name, preflist[0], field=f"{at}/preflist", is_duplexed=is_duplexed)
    yield from check_scm_levels(document, structure)
    facilities = [known[cf] for cf in preflist if cf in known]
    yield from _check_space(structure, facilities, all_known=len(facilities) == len(preflist))
    if isinstance(structure.definition, Structure) and not _is_protected(structure.definition):
        yield from _check_exposure(structure, facilities)


def _is_protected(definition: Structure) -> bool:
    """Return whether all messages survive the loss of the coupling facility: duplexed, or persistent and recoverable."""
    # DUPLEX(ALLOWED) only lets an operator start duplexing, and RECOVER restores only persistent messages.
    recoverable = definition.recover and all(queue.persistent for queue in definition.queues)
    return definition.duplex == "ENABLED" or recoverable


def _check_space(
    structure: StructureResult, facilities: Sequence[CouplingFacility], *, all_known: bool
) -> Iterator[Finding]:
    at, name, sizes = structure.pointer, structure.name, structure.sizes
    spaces = {cf.name: cf.size for cf in facilities if cf.size is not None}
    if not spaces:
        return
    # A coupling facility without a stated size may be large enough, so the strongest findings need all sizes.
    complete = all_known and len(spaces) == len(facilities)
    largest_name = max(spaces, key=lambda cf: spaces[cf])
    largest = spaces[largest_name]
    if complete and sizes.initsize_bytes > largest:
        yield finding(
            "STRUCTURE_LARGER_THAN_CF",
            f"INITSIZE {format_mib(sizes.initsize_bytes)} of {name} is larger than any coupling facility in its "
            f"PREFLIST (the largest, {largest_name}, has {format_mib(largest)}). A structure must fit in one coupling facility.",
            field=f"{at}/preflist",
            structure=name,
        )
    elif complete and sizes.size_bytes > largest:
        yield finding(
            "SIZE_LARGER_THAN_CF",
            f"SIZE {format_mib(sizes.size_bytes)} of {name} is larger than any coupling facility in its PREFLIST (the "
            f"largest, {largest_name}, has {format_mib(largest)}): it can never grow that far.",
            field=f"{at}/preflist",
            structure=name,
        )
    # If none is large enough, STRUCTURE_LARGER_THAN_CF reports it.
    small = [cf for cf, space in spaces.items() if space < sizes.initsize_bytes]
    if small and sizes.initsize_bytes <= largest:
        yield finding(
            "CF_TOO_SMALL",
            f"INITSIZE {format_mib(sizes.initsize_bytes)} of {name} does not fit in {', '.join(small)}, which is in its "
            "PREFLIST: it cannot be allocated, rebuilt or duplexed there.",
            field=f"{at}/preflist",
            structure=name,
        )
    smallest_name = min(spaces, key=lambda cf: spaces[cf])
    smallest = spaces[smallest_name]
    if structure.role == "application" and smallest * _MOST < sizes.initsize_bytes <= smallest:
        yield finding(
            "STRUCTURE_FILLS_CF",
            f"{name} takes {100 * sizes.initsize_bytes // smallest} % of {smallest_name} ({format_mib(smallest)}). IBM "
            "cites queues that need most of a coupling facility as a reason for separate structures in different coupling facilities.",
            field=f"{at}/queues",
            structure=name,
        )


def _check_exposure(structure: StructureResult, facilities: Sequence[CouplingFacility]) -> Iterator[Finding]:
    name, at = structure.name, f"{structure.pointer}/preflist"
    volatile = [cf.name for cf in facilities if cf.volatile]
    exposed = [cf.name for cf in facilities if not cf.failure_isolated]
    if volatile:
        yield finding(
            "CF_VOLATILE",
            f"{name} may be allocated in {', '.join(volatile)}, which is volatile, and neither RECOVER nor DUPLEX "
            "compensates for it: a power failure loses its messages.",
            field=at,
            structure=name,
        )
    if exposed:
        yield finding(
            "CF_NOT_FAILURE_ISOLATED",
            f"{name} may be allocated in {', '.join(exposed)}, which can fail together with a system that uses it, and "
            "neither RECOVER nor DUPLEX compensates for it: a single failure loses its messages.",
            field=at,
            structure=name,
        )
