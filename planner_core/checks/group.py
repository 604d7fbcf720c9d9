"""Checks of the group as a whole, and the limits beyond which no group can exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from planner_core.checks.facilities import check_storage
from planner_core.checks.job import check_job
from planner_core.document.model import (
    FittedCurve,
    PlanDocument,
)
from planner_core.errors import PlanRefused
from planner_core.findings import Finding, finding
from planner_core.sizing.admin_structure import too_many_queue_managers
from planner_core.sizing.levels import SizingLevel, listed
from planner_core.sizing.shared_findings import (
    cfcc_level_too_low,
    dsgroup_twice,
    same_cf_twice,
    smds_overhead_assumed,
    too_few_structures,
    too_many_queues,
    too_many_structures,
    usage_measure_assumed,
)
from planner_core.sizing.structure_result import StructureResult


def refuse_impossible(document: PlanDocument, *, has_curve: bool) -> None:
    """Refuse a plan that cannot be calculated, or whose group cannot exist.

    Raises:
        PlanRefused: A limit is exceeded; each exceeded limit has a finding.
    """
    found = tuple(_impossible(document, has_curve=has_curve))
    if found:
        raise PlanRefused(found)


def _impossible(document: PlanDocument, *, has_curve: bool) -> Iterator[Finding]:
    yield from too_many_queue_managers(document.queue_manager_count)
    # CSQ_ADMIN is one of the 64 structures to which a group can connect.
    yield from too_many_structures(
        len(document.structures) + 1 + document.system.include,
        f"with CSQ_ADMIN{' and CSQSYSAPPL' if document.system.include else ''}",
        field="/structures",
    )
    for index, structure in enumerate(document.structures):
        yield from too_many_queues(
            structure.name,
            len(structure.queues),
            structure=structure.name,
            field=f"/structures/{index}/queues",
        )
    if isinstance(document.curve, FittedCurve) and not has_curve:
        yield finding(
            "CURVE_UNKNOWN",
            f"The plan names the fitted curve {document.curve.fitted}, which does not exist in this installation. Use "
            "'published', or evaluate the plan where that curve was fitted.",
            field="/curve/fitted",
        )


def check_plan(document: PlanDocument, structures: Sequence[StructureResult]) -> Iterator[Finding]:
    """Yield the findings on the group as a whole."""
    yield from _check_levels(document, structures)
    yield from _check_controls(structures)
    if document.qsg.endswith("@"):
        yield finding(
            "QSG_NAME_ENDS_IN_AT",
            f"{document.qsg} ends in @: MQ itself pads short names with @, and IBM asks you not to end a name with it.",
            field="/qsg",
        )
    applications = [structure for structure in structures if structure.role == "application"]
    if not applications:
        if document.system.include:
            yield finding(
                "NO_APPLICATION_STRUCTURE",
                "There is no structure for user messages: CSQ_ADMIN holds no user data, and CSQSYSAPPL is for system queues.",
                field="/structures",
            )
        else:
            yield too_few_structures(field="/structures")
    if not document.system.include and (document.system.shared_channels or document.system.group_ur_messages):
        yield finding(
            "SYSTEM_STRUCTURE_LEFT_OUT",
            "The plan omits CSQSYSAPPL. It is optional, but shared channels and group units of recovery need its queues: "
            "set shared_channels and group_ur_messages to 0 if the group uses neither.",
            field="/system/include",
        )
    yield from _check_first_cf(applications, document)
    yield from _check_isolation_between(document, applications)
    yield from check_job(document)
    if any(structure.load and structure.load.rules for structure in applications):
        yield usage_measure_assumed()
    yield from _check_hardware(document)
    yield from check_storage(document)
    yield from _check_dsgroups(document)
    if any(structure.db2 and structure.db2.lob_bytes_when_full for structure in applications):
        yield finding(
            "DB2_LOB_SPACE_ASSUMED",
            "LOB space in Db2 is calculated like SMDS space: whole 4 KB pages with the same assumed header and the same additional share. "
            "IBM publishes no figure for it.",
        )
    if any(structure.smds and structure.smds.data_set_bytes_when_full for structure in applications):
        yield smds_overhead_assumed()


def _check_dsgroups(document: PlanDocument) -> Iterator[Finding]:
    """Report a DSGROUP of several structures: each structure needs its own data sets, one for each queue manager."""
    seen: dict[str, str] = {}
    for index, structure in enumerate(document.structures):
        dsgroup = structure.offload.dsgroup
        if dsgroup is None or structure.offload.to != "SMDS":
            continue
        if dsgroup in seen:
            yield dsgroup_twice(
                structure.name,
                seen[dsgroup],
                dsgroup,
                structure=structure.name,
                field=f"/structures/{index}/offload/dsgroup",
            )
        seen.setdefault(dsgroup, structure.name)


def _check_hardware(document: PlanDocument) -> Iterator[Finding]:
    """Report two names for one partition, which is a single coupling facility."""
    seen: dict[tuple[str, ...], str] = {}
    for index, cf in enumerate(document.coupling_facilities):
        parts = (cf.type, cf.mfg, cf.plant, cf.sequence, cf.partition)
        if any(part is None for part in parts):
            continue
        # PARTITION(1) and PARTITION(01) are the same partition.
        *machine, partition = map(str, parts)
        key = (*machine, partition.lstrip("0"))
        if key in seen:
            yield same_cf_twice(seen[key], cf.name, field=f"/coupling_facilities/{index}/partition")
        seen.setdefault(key, cf.name)


def _check_levels(document: PlanDocument, structures: Sequence[StructureResult]) -> Iterator[Finding]:
    """Check levels against MQ's requirements, and report levels of structures that differ from the plan's."""
    yield from cfcc_level_too_low(document.cfcc_level)
    for index, cf in enumerate(document.coupling_facilities):
        if cf.cfcc_level is None:
            continue
        at = f"/coupling_facilities/{index}/cfcc_level"
        yield from cfcc_level_too_low(cf.cfcc_level, who=cf.name, field=at)
    sized: dict[SizingLevel, list[str]] = {}
    for structure in structures:
        is_published = structure.curve.fit is None or structure.role == "admin"
        if structure.level.level != document.cfcc_level and is_published:
            # Without the levels of the whole PREFLIST, structures with the same highest one share a finding.
            level = replace(structure.level, stated=())
            sized.setdefault(level, []).append(structure.name)
    for level, names in sized.items():
        are, their = ("are", "their PREFLISTs") if len(names) > 1 else ("is", "its PREFLIST")
        yield finding(
            "SIZED_FOR_CF_LEVEL",
            f"{listed(names)} {are} sized for CFCC level {level.level} of {level.coupling_facility}, the highest in {their}, not for "
            f"level {document.cfcc_level} of the plan.",
            field=level.field,
        )


def _check_controls(structures: Sequence[StructureResult]) -> Iterator[Finding]:
    """Report once, for all structures, that SIZE is above INITSIZE: the control storage of SIZE is not published."""
    fit = structures[0].curve.fit
    # A curve of sizing answers includes this storage, or refuses a SIZE for which it does not.
    larger = [
        each.name
        for each in structures
        if each.sizes.size_bytes > each.sizes.initsize_bytes
        and (each.role == "admin" or fit is None or fit.sources is None)
    ]
    if not larger:
        return
    if fit is None:
        learned = "A curve fitted to your own allocations includes this storage for their sizes"
    elif fit.sources is None:
        learned = f"Curve {fit.version} includes this storage for the sizes of its allocations"
    else:
        learned = f"Curve {fit.version} does not change the published size of CSQ_ADMIN"
    yield finding(
        "SIZE_CONTROLS_NOT_KNOWN",
        f"SIZE is above INITSIZE for {listed(larger)}: z/OS takes the control storage for all of SIZE from INITSIZE. IBM "
        "publishes "
        "neither the amount nor the SIZE at which its figures were measured: INITSIZE may hold less than shown here. "
        f"{learned}; setting SIZE equal to INITSIZE avoids this.",
        field="/size_factor",
    )


def _check_first_cf(applications: Sequence[StructureResult], document: PlanDocument) -> Iterator[Finding]:
    firsts = {structure.placement.preflist[0] for structure in applications if structure.placement.preflist}
    if len(applications) > 1 and len(firsts) == 1 and len(document.coupling_facilities) > 1:
        yield finding(
            "SAME_FIRST_COUPLING_FACILITY",
            f"All {len(applications)} application structures prefer {firsts.pop()}: change the order of some PREFLISTs to "
            "spread the load.",
            field="/structures",
        )


def _check_isolation_between(
    document: PlanDocument, applications: Sequence[StructureResult]
) -> Iterator[Finding]:
    # Structures with a common label may share a coupling facility: only different labels must be apart.
    labelled = []
    for index, (structure, placed) in enumerate(zip(document.structures, applications, strict=True)):
        labels = {queue.isolation for queue in structure.queues if queue.isolation}
        if len(labels) > 1:
            yield finding(
                "DATA_NOT_ISOLATED",
                f"{structure.name} holds queues that must be isolated from each other ({', '.join(sorted(labels))}): give "
                "each its own structure.",
                field=f"/structures/{index}/queues",
                structure=structure.name,
            )
        if labels:
            labelled.append((index, structure.name, labels, set(placed.placement.preflist)))
    for (_, first, first_labels, first_cfs), (index, second, second_labels, second_cfs) in combinations(
        labelled, 2
    ):
        shared = first_cfs & second_cfs
        if first_labels.isdisjoint(second_labels) and shared:
            yield finding(
                "DATA_NOT_ISOLATED",
                f"{first} and {second} must be isolated from each other, but both may be allocated in "
                f"{', '.join(sorted(shared))}.",
                field=f"/structures/{index}/preflist",
                structure=second,
            )
