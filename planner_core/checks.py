"""The rules of IBM MQ and z/OS, and the advice of their manuals, held against a plan.

A bad value raises when the document is read; what is legal but risky, or impossible only as
a whole, is a finding here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from planner_core import tables
from planner_core.demand import SizeDistribution
from planner_core.document import (
    CouplingFacility,
    FittedCurve,
    MessageSizes,
    Offload,
    PlanDocument,
    Structure,
)
from planner_core.errors import PlanRefused
from planner_core.findings import Finding, finding
from planner_core.messages import always_offloaded, cfcc_level_too_low
from planner_core.structure_size import model_constant, published_curve
from planner_core.units import MIB, bytes_to_kib_ceil, format_mib, format_size

if TYPE_CHECKING:
    from planner_core.plan import Load, StructureResult

_MOST = 0.5
_PERCENT = 100
_SHOWN = 6


def _limit(name: str) -> int:
    return tables.constants("limits")[name].value


def refuse_impossible(document: PlanDocument, *, has_curve: bool) -> None:
    """Stop where nothing can be computed, or no such group can exist.

    Raises:
        PlanRefused: With every limit that is passed.
    """
    found = tuple(_impossible(document, has_curve=has_curve))
    if found:
        raise PlanRefused(found)


def _impossible(document: PlanDocument, *, has_curve: bool) -> Iterator[Finding]:
    managers, most_managers = document.queue_manager_count, _limit("queue_managers_per_group")
    if managers > most_managers:
        yield finding(
            "TOO_MANY_QUEUE_MANAGERS",
            f"{managers} queue managers: a queue-sharing group has 1 to {most_managers}.",
            field="/queue_managers",
        )
    structures = len(document.structures) + 1 + document.system.include
    most_structures = _limit("structures_per_group")
    if structures > most_structures:
        yield finding(
            "TOO_MANY_STRUCTURES",
            f"{structures} structures with CSQ_ADMIN{' and CSQSYSAPPL' if document.system.include else ''}: "
            f"a queue-sharing group connects to at most {most_structures}.",
            field="/structures",
        )
    most_queues = _limit("queues_per_structure")
    for index, structure in enumerate(document.structures):
        if len(structure.queues) > most_queues:
            yield finding(
                "TOO_MANY_QUEUES",
                f"{structure.name} has {len(structure.queues)} queues: a structure holds at most {most_queues}.",
                field=f"/structures/{index}/queues",
                structure=structure.name,
            )
    if isinstance(document.curve, FittedCurve) and not has_curve:
        yield finding(
            "CURVE_UNKNOWN",
            f"The plan names the fitted curve {document.curve.fitted}, which is not known here. "
            "Use 'published', or evaluate it where that curve was fitted.",
            field="/curve/fitted",
        )


def check_plan(document: PlanDocument, structures: Sequence[StructureResult]) -> Iterator[Finding]:
    """Findings on the group as a whole."""
    yield from _check_levels(document)
    applications = [structure for structure in structures if structure.role == "application"]
    if not applications:
        if document.system.include:
            yield finding(
                "NO_APPLICATION_STRUCTURE",
                "There is no structure for user messages: CSQ_ADMIN holds no user data, and CSQSYSAPPL is for system queues.",
                field="/structures",
            )
        else:
            yield finding(
                "TOO_FEW_STRUCTURES",
                f"A queue-sharing group needs at least {_limit('structures_required')} structures: CSQ_ADMIN and one for messages.",
                field="/structures",
            )
    if not document.system.include and (document.system.shared_channels or document.system.group_ur_messages):
        yield finding(
            "SYSTEM_STRUCTURE_LEFT_OUT",
            "CSQSYSAPPL is left out of the plan. It is optional, but shared channels and group units of recovery need its queues: "
            "set shared_channels and group_ur_messages to 0 if the group uses neither.",
            field="/system/include",
        )
    yield from _check_first_cf(applications, document)
    yield from _check_isolation_between(document)
    yield from _check_job(document)
    if any(structure.load and structure.load.rules for structure in applications):
        yield finding(
            "USAGE_MEASURE_ASSUMED",
            "Offload rules compare structure usage with their thresholds. IBM does not publish how usage is measured; "
            "the fuller of entries and elements is taken.",
        )
    if any(structure.smds and structure.smds.when_full_bytes for structure in applications):
        header, share = (
            tables.constants("smds")["message_header_bytes"],
            tables.constants("smds")["space_map_percent"],
        )
        yield finding(
            "SMDS_OVERHEAD_ASSUMED",
            f"SMDS space rests on an assumed header of {header.value} bytes a message and an assumed {share.value} % for the "
            "space map; IBM publishes neither.",
        )


def _check_levels(document: PlanDocument) -> Iterator[Finding]:
    yield from cfcc_level_too_low(document.cfcc_level)
    for index, cf in enumerate(document.coupling_facilities):
        if cf.cfcc_level is None:
            continue
        at = f"/coupling_facilities/{index}/cfcc_level"
        yield from cfcc_level_too_low(cf.cfcc_level, who=cf.name, field=at)
        same = (
            published_curve(cfcc_level=cf.cfcc_level).curve
            == published_curve(cfcc_level=document.cfcc_level).curve
        )
        if cf.cfcc_level > document.cfcc_level and not same:
            yield finding(
                "CF_LEVEL_ABOVE_PLAN",
                f"{cf.name} has CFCC level {cf.cfcc_level}, but the plan is sized for level {document.cfcc_level}: "
                "structures need more on the higher level. Size for the highest level that a structure may be allocated on.",
                field=at,
            )


def _check_first_cf(applications: Sequence[StructureResult], document: PlanDocument) -> Iterator[Finding]:
    firsts = {structure.placement.preflist[0] for structure in applications if structure.placement.preflist}
    if len(applications) > 1 and len(firsts) == 1 and len(document.coupling_facilities) > 1:
        yield finding(
            "SAME_FIRST_COUPLING_FACILITY",
            f"All {len(applications)} application structures prefer {firsts.pop()}: order some PREFLISTs differently to spread the load.",
            field="/structures",
        )


def _check_isolation_between(document: PlanDocument) -> Iterator[Finding]:
    labelled = []
    for index, structure in enumerate(document.structures):
        labels = {queue.isolation for queue in structure.queues if queue.isolation}
        if len(labels) > 1:
            yield finding(
                "DATA_NOT_ISOLATED",
                f"{structure.name} holds queues that are to be kept apart ({', '.join(sorted(labels))}): give each its own structure.",
                field=f"/structures/{index}/queues",
                structure=structure.name,
            )
        if labels:
            preflist = structure.preflist or [cf.name for cf in document.coupling_facilities]
            labelled.append((index, structure.name, labels, set(preflist)))
    for (_, first, first_labels, first_cfs), (index, second, second_labels, second_cfs) in pairwise(labelled):
        shared = first_cfs & second_cfs
        if first_labels.isdisjoint(second_labels) and shared:
            yield finding(
                "DATA_NOT_ISOLATED",
                f"{first} and {second} are to be kept apart, but both may be allocated in {', '.join(sorted(shared))}.",
                field=f"/structures/{index}/preflist",
                structure=second,
            )


def missing_for_job(document: PlanDocument) -> tuple[str, ...]:
    """JSON pointers of what the complete job still needs."""
    missing = [] if document.policy.name else ["/policy/name"]
    if not document.coupling_facilities:
        missing.append("/coupling_facilities")
    for index, cf in enumerate(document.coupling_facilities):
        missing.extend(
            f"/coupling_facilities/{index}/{key}"
            for key in ("type", "mfg", "plant", "sequence", "partition")
            if getattr(cf, key) is None
        )
    known = {cf.name for cf in document.coupling_facilities}
    lists = {"/admin": document.admin.preflist}
    lists |= {
        f"/structures/{index}": structure.preflist for index, structure in enumerate(document.structures)
    }
    if document.system.include:
        lists["/system"] = document.system.preflist
    missing.extend(f"{at}/preflist" for at, names in lists.items() if known and not known.issuperset(names))
    return tuple(missing)


def job_incomplete(document: PlanDocument) -> tuple[Finding, ...]:
    """The finding that names what the complete job lacks; empty when it lacks nothing."""
    missing = missing_for_job(document)
    if not missing:
        return ()
    rest = len(missing) - _SHOWN
    shown = ", ".join(missing[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
    return (
        finding(
            "JOB_INCOMPLETE",
            f"The complete job needs the policy name, and the hardware of every coupling facility that a PREFLIST names; missing: {shown}.",
            field=missing[0],
        ),
    )


def _check_job(document: PlanDocument) -> Iterator[Finding]:
    if not document.policy.job:
        return
    yield from job_incomplete(document)
    yield finding(
        "JOB_HOLDS_ONLY_THIS_PLAN",
        "The policy in the job holds only the structures of this plan. Activating a policy that leaves out an allocated "
        "structure makes that structure pending deletion: merge the fragment unless this sysplex has no other structures.",
        field="/policy/job",
    )


def check_structure(document: PlanDocument, structure: StructureResult) -> Iterator[Finding]:
    """Findings on one structure."""
    yield from _check_sizes(structure)
    yield from _check_thresholds(structure)
    yield from _check_facilities(document, structure)
    if structure.admin is not None:
        yield from structure.admin.findings
        if not document.admin.headroom_percent and not structure.sizes.initsize_is_given:
            yield finding(
                "ADMIN_NO_ROOM_FOR_LARGE_UNITS_OF_WORK",
                "CSQ_ADMIN is planned at its minimum for the number of queue managers. IBM asks for room for large units of "
                "work on top: set the headroom of the administrative structure if you have any.",
                field="/admin/headroom_percent",
                structure=structure.name,
            )
    if isinstance(structure.definition, Structure) and structure.load is not None:
        yield from _check_application(structure, structure.definition, structure.load)


def _check_sizes(structure: StructureResult) -> Iterator[Finding]:
    sizes, at, name = structure.sizes, structure.pointer, structure.name
    for key, value in (("initsize", sizes.initsize_bytes), ("size", sizes.size_bytes)):
        if value > published_maximum_bytes():
            yield finding(
                "SIZE_ABOVE_MAXIMUM",
                f"{name} needs {key.upper()} of {format_mib(value)}, above the {format_mib(published_maximum_bytes())} that a "
                "policy can state: spread its queues over several structures, or offload.",
                field=f"{at}/{key}",
                structure=name,
            )
    given = (
        ("initsize", sizes.initsize_is_given, sizes.initsize_bytes),
        ("size", sizes.size_is_given, sizes.size_bytes),
    )
    for key, is_given, value in given:
        if is_given and value % sizes.increment_bytes:
            yield finding(
                "SIZE_NOT_WHOLE_INCREMENTS",
                f"{key.upper()} {format_size(value)} of {name} is no whole number of {format_size(sizes.increment_bytes)}, the "
                "storage increment of this CFCC level: it is rounded up when the structure is allocated.",
                field=f"{at}/{key}",
                structure=name,
            )
    if (sizes.initsize_is_given or sizes.size_is_given) and sizes.size_bytes > _limit(
        "initsize_to_size_factor"
    ) * sizes.initsize_bytes:
        yield finding(
            "SIZE_OVER_TWICE_INITSIZE",
            f"SIZE {format_size(sizes.size_bytes)} of {name} is more than twice INITSIZE {format_size(sizes.initsize_bytes)}: the health "
            "check XCF_CF_STR_POLICYSIZE raises IXCH0255E, because controls for SIZE are carved out of INITSIZE.",
            field=f"{at}/size",
            structure=name,
        )
    if structure.admin is not None:
        yield from _check_admin_size(structure)
    elif structure.system is not None:
        yield from _check_system_size(structure)
    if structure.load is not None:
        yield from _check_load(structure, structure.load)


def published_maximum_bytes() -> int:
    """The largest SIZE that a CFRM policy can state [bytes]."""
    return _limit("largest_policy_size_mib") * MIB


def _check_admin_size(structure: StructureResult) -> Iterator[Finding]:
    sizes, placement = structure.sizes, structure.placement
    available = sizes.size_bytes if placement.allow_auto_alter else sizes.initsize_bytes
    if available < sizes.need_bytes:
        yield finding(
            "ADMIN_BELOW_MINIMUM",
            f"CSQ_ADMIN is given {format_size(available)}, below the {bytes_to_kib_ceil(sizes.need_bytes)}K that its queue managers "
            "need: they would not start (CSQE022E, reason 00C53000).",
            field=f"{structure.pointer}/initsize",
            structure=structure.name,
        )


def _check_system_size(structure: StructureResult) -> Iterator[Finding]:
    sizes, known = structure.sizes, structure.system
    if known is None:
        return
    at = f"{structure.pointer}/initsize"
    if sizes.initsize_bytes < known.minimum_bytes:
        yield finding(
            "SYSTEM_STRUCTURE_BELOW_MINIMUM",
            f"INITSIZE {format_size(sizes.initsize_bytes)} of CSQSYSAPPL is below the {format_size(known.minimum_bytes)} that XCF demanded "
            "at this CFCC level: the structure would not be allocated (IXL015I, INITSIZE MUST BE AT LEAST).",
            field=at,
            structure=structure.name,
        )
    elif sizes.initsize_bytes < known.start_bytes and known.minimum_bytes:
        yield finding(
            "SYSTEM_STRUCTURE_BELOW_ADVICE",
            f"INITSIZE {format_size(sizes.initsize_bytes)} of CSQSYSAPPL is below the {bytes_to_kib_ceil(known.start_bytes)}K that IBM advises "
            "at this CFCC level.",
            field=at,
            structure=structure.name,
        )


def _check_load(structure: StructureResult, load: Load) -> Iterator[Finding]:
    sizes, at, name = structure.sizes, structure.pointer, structure.name
    if not load.demand.messages:
        yield finding(
            "EMPTY_STRUCTURE",
            f"{name} has no backlog to hold: it is sized for an empty structure.",
            field=f"{at}/queues" if structure.role == "application" else at,
            structure=name,
        )
    if sizes.initsize_bytes < structure.curve.base:
        yield finding(
            "INITSIZE_BELOW_BASE",
            f"INITSIZE {format_size(sizes.initsize_bytes)} of {name} is below the {format_mib(structure.curve.base)} that an empty "
            "structure takes on this CFCC level: it holds no message, and XCF may refuse to allocate it (IXL015I).",
            field=f"{at}/initsize",
            structure=name,
        )
    offloaded = isinstance(structure.definition, Structure) and structure.definition.size_with_offload
    checked = (
        (
            "initsize",
            "INITSIZE_BELOW_NEED",
            sizes.initsize_bytes,
            load.messages_in_initsize(offload=offloaded),
        ),
        ("size", "SIZE_BELOW_NEED", sizes.size_bytes, load.messages_in_size(offload=offloaded)),
    )
    for key, code, value, held in checked:
        if value < sizes.need_bytes and held < load.demand.messages:
            consequence = (
                "the rest depends on SETXCF START,ALTER or ALLOWAUTOALT(YES) in time"
                if key == "initsize" and sizes.size_bytes >= sizes.need_bytes
                else "beyond it applications get reason 2192"
            )
            yield finding(
                code,
                f"{key.upper()} {bytes_to_kib_ceil(value)}K of {name} holds {held} messages of the planned {load.demand.messages}; "
                f"they need {bytes_to_kib_ceil(sizes.need_bytes)}K. {consequence[0].upper()}{consequence[1:]}.",
                field=f"{at}/{key}",
                structure=name,
            )


def _check_thresholds(structure: StructureResult) -> Iterator[Finding]:
    placement, at, name = structure.placement, structure.pointer, structure.name
    if placement.full_threshold == 0:
        yield finding(
            "FULLTHRESHOLD_ZERO",
            f"FULLTHRESHOLD(0) switches structure full monitoring off for {name}: no IXC585E, and no automatic alter.",
            field=f"{at}/full_threshold",
            structure=name,
        )
    elif structure.load is not None and structure.load.demand.messages:
        peak = structure.peak_usage_percent
        if placement.full_threshold < peak < _PERCENT:
            yield finding(
                "PEAK_ABOVE_FULLTHRESHOLD",
                f"At the planned backlog INITSIZE of {name} is {float(peak):.1f} % full, above FULLTHRESHOLD({placement.full_threshold}): "
                "z/OS issues IXC585E before the backlog is reached.",
                field=f"{at}/full_threshold",
                structure=name,
            )
    if placement.allow_auto_alter and not structure.sizes.minsize_bytes:
        yield finding(
            "AUTO_ALTER_MAY_SHRINK",
            f"ALLOWAUTOALT(YES) lets the system shrink {name} when the coupling facility is short of storage: set MINSIZE to keep what it needs.",
            field=f"{at}/allow_auto_alter",
            structure=name,
        )


def _check_facilities(document: PlanDocument, structure: StructureResult) -> Iterator[Finding]:
    at, name, preflist = structure.pointer, structure.name, structure.placement.preflist
    known = {cf.name: cf for cf in document.coupling_facilities}
    if not preflist:
        yield finding(
            "PREFLIST_MISSING",
            f"{name} has no PREFLIST and the plan names no coupling facility. PREFLIST is required: add it before the policy is submitted.",
            field=f"{at}/preflist",
            structure=name,
        )
        return
    if not structure.definition.preflist and structure.role == "application":
        yield finding(
            "PREFLIST_DEFAULTED",
            f"{name} has no PREFLIST of its own; the plan's coupling facilities are taken in their order ({', '.join(preflist)}).",
            field=f"{at}/preflist",
            structure=name,
        )
    unknown = [cf for cf in preflist if cf not in known] if known else []
    if unknown:
        yield finding(
            "PREFLIST_UNKNOWN_CF",
            f"PREFLIST of {name} names {', '.join(unknown)}, which the plan does not describe: space and level cannot be checked there.",
            field=f"{at}/preflist",
            structure=name,
        )
    if len(preflist) == 1:
        yield finding(
            "PREFLIST_SINGLE_CF",
            f"{name} can be allocated in {preflist[0]} only: when it is lost, the structure has nowhere to go.",
            field=f"{at}/preflist",
            structure=name,
        )
    facilities = [known[cf] for cf in preflist if cf in known]
    yield from _check_space(structure, facilities, all_known=len(facilities) == len(preflist))
    if (
        isinstance(structure.definition, Structure)
        and not structure.definition.recover
        and structure.definition.duplex == "DISABLED"
    ):
        yield from _check_exposure(structure, facilities)


def _check_space(
    structure: StructureResult, facilities: Sequence[CouplingFacility], *, all_known: bool
) -> Iterator[Finding]:
    at, name, sizes = structure.pointer, structure.name, structure.sizes
    spaces = {cf.name: cf.size for cf in facilities if cf.size is not None}
    if not spaces:
        return
    complete = all_known and len(spaces) == len(facilities)
    largest_name = max(spaces, key=lambda cf: spaces[cf])
    largest = spaces[largest_name]
    if complete and sizes.initsize_bytes > largest:
        yield finding(
            "STRUCTURE_LARGER_THAN_CF",
            f"INITSIZE {format_mib(sizes.initsize_bytes)} of {name} is larger than any coupling facility of its PREFLIST "
            f"(the largest, {largest_name}, has {format_mib(largest)}). A structure lies in one coupling facility.",
            field=f"{at}/preflist",
            structure=name,
        )
    elif complete and sizes.size_bytes > largest:
        yield finding(
            "SIZE_LARGER_THAN_CF",
            f"SIZE {format_mib(sizes.size_bytes)} of {name} is larger than any coupling facility of its PREFLIST "
            f"(the largest, {largest_name}, has {format_mib(largest)}): it can never grow that far.",
            field=f"{at}/preflist",
            structure=name,
        )
    smallest_name = min(spaces, key=lambda cf: spaces[cf])
    smallest = spaces[smallest_name]
    if structure.role == "application" and smallest * _MOST < sizes.initsize_bytes <= largest:
        yield finding(
            "STRUCTURE_FILLS_CF",
            f"{name} takes {100 * sizes.initsize_bytes // smallest} % of {smallest_name} ({format_mib(smallest)}). Queues that need most of a "
            "coupling facility are a reason for structures of their own, placed apart.",
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
            f"{name} may be allocated in {', '.join(volatile)}, which is volatile, with RECOVER(NO) and DUPLEX(DISABLED): "
            "a power failure loses its messages.",
            field=at,
            structure=name,
        )
    if exposed:
        yield finding(
            "CF_NOT_FAILURE_ISOLATED",
            f"{name} may be allocated in {', '.join(exposed)}, which can fail together with a system that uses it, with RECOVER(NO) "
            "and DUPLEX(DISABLED): one failure loses its messages.",
            field=at,
            structure=name,
        )


def _check_application(structure: StructureResult, definition: Structure, load: Load) -> Iterator[Finding]:
    yield from _check_cflevel(structure, definition)
    yield from _check_offload(structure, definition, load)
    yield from _check_queues(structure, definition)
    if (
        definition.entry_to_element_ratio
        and structure.curve.bundle_at(load.ratio)[0] != structure.curve.bundle
    ):
        yield finding(
            "ENTRY_ELEMENT_COST_ASSUMED",
            f"{definition.name} is sized for an entry-to-element ratio of {definition.entry_to_element_ratio[0]}:"
            f"{definition.entry_to_element_ratio[1]}. Published figures know 1:6 only; away from it an element is assumed to cost "
            f"{float(structure.curve.element_bytes):g} bytes and an entry {float(structure.curve.entry_bytes):.0f}.",
            field=f"{structure.pointer}/entry_to_element_ratio",
            structure=definition.name,
        )


def _largest(message_bytes: int | MessageSizes) -> int:
    return message_bytes if isinstance(message_bytes, int) else message_bytes.max


def _check_cflevel(structure: StructureResult, definition: Structure) -> Iterator[Finding]:
    at, name, level = structure.pointer, definition.name, definition.cflevel
    persistent = [index for index, queue in enumerate(definition.queues) if queue.persistent]
    if persistent and level < _limit("cflevel_persistent"):
        yield finding(
            "PERSISTENT_NEEDS_CFLEVEL_3",
            f"{name} has CFLEVEL({level}) and {len(persistent)} persistent queue(s): persistent messages need CFLEVEL(3) or higher.",
            field=f"{at}/cflevel",
            structure=name,
        )
    if definition.recover and level < _limit("cflevel_recover"):
        yield finding(
            "RECOVER_NEEDS_CFLEVEL_3",
            f"{name} has CFLEVEL({level}): RECOVER(YES) needs CFLEVEL(3) or higher.",
            field=f"{at}/recover",
            structure=name,
        )
    elif persistent and not definition.recover:
        yield finding(
            "PERSISTENT_NEEDS_RECOVER",
            f"{name} has RECOVER(NO), but {len(persistent)} of its queues hold persistent messages, the first "
            f"{definition.queues[persistent[0]].name}: puts of persistent messages fail with reason 2048. Set RECOVER(YES).",
            field=f"{at}/recover",
            structure=name,
        )
    in_cf = model_constant("largest_message_in_cf_bytes")
    large = [index for index, queue in enumerate(definition.queues) if _largest(queue.message_bytes) > in_cf]
    if large and level < _limit("cflevel_large_messages"):
        yield finding(
            "LARGE_MESSAGES_NEED_CFLEVEL_4",
            f"{name} has CFLEVEL({level}), but {definition.queues[large[0]].name} has messages over 63 KB: "
            "they need CFLEVEL(4) or higher and fail with reason 2366.",
            field=f"{at}/queues/{large[0]}/message_bytes",
            structure=name,
        )
    elif large:
        more = f" and {len(large) - 1} more queues" if len(large) > 1 else ""
        yield from always_offloaded(
            in_cf + 1,
            who=f"{definition.queues[large[0]].name}{more} of {name} {'have' if more else 'has'}",
            field=f"{at}/queues/{large[0]}/message_bytes",
            structure=name,
        )
    if any(not isinstance(queue.message_bytes, int) for queue in definition.queues):
        yield finding(
            "SIZE_DISTRIBUTION_ASSUMED",
            f"Queues of {name} give mean, p95 and max of their message sizes. Their elements are counted so that they suffice for any "
            "shape with that mean; how many messages are over an offload size, or over 63 KB, rests on an assumed shape.",
            field=f"{at}/queues",
            structure=name,
        )


def _check_offload(structure: StructureResult, definition: Structure, load: Load) -> Iterator[Finding]:
    at, name, offload = f"{structure.pointer}/offload", definition.name, definition.offload
    if definition.cflevel < _limit("cflevel_offload"):
        if offload != Offload() or definition.size_with_offload:
            yield finding(
                "OFFLOAD_NEEDS_CFLEVEL_5",
                f"{name} has CFLEVEL({definition.cflevel}): OFFLOAD and its rules need CFLEVEL(5) and are left out of its definition and its sizing.",
                field=at,
                structure=name,
            )
        return
    if offload.to == "DB2":
        yield finding(
            "OFFLOAD_DB2",
            f"{name} offloads to Db2. IBM supports OFFLOAD(DB2) primarily for migration; SMDS performs better.",
            field=f"{at}/to",
            structure=name,
        )
    elif offload.dsgroup is None:
        yield finding(
            "DSGROUP_MISSING",
            f"{name} offloads to SMDS but names no DSGROUP: DEFINE CFSTRUCT needs it, such as DSGROUP('MQ.SMDS.*.{name[:8]}').",
            field=f"{at}/dsgroup",
            structure=name,
        )
    gains = load.messages_in_size(offload=True) > load.messages_in_size(offload=False)
    if load.with_offload is not None and load.with_offload.starts and not gains:
        yield finding(
            "OFFLOAD_GAINS_NOTHING",
            f"Offloading does not let {name} hold more messages of this mix: entries run out, not elements, unless the "
            "entry-to-element ratio is altered.",
            field=f"{at}/rules",
            structure=name,
        )


def _check_queues(structure: StructureResult, definition: Structure) -> Iterator[Finding]:
    at, name = f"{structure.pointer}/queues", definition.name
    persistent = sum(queue.persistent for queue in definition.queues)
    if 0 < persistent < len(definition.queues):
        yield finding(
            "MIXED_PERSISTENCE",
            f"{name} holds {persistent} persistent and {len(definition.queues) - persistent} nonpersistent queues. "
            "Structures of one kind are simpler to back up and recover.",
            field=at,
            structure=name,
        )
    if len(definition.queues) <= 1 or structure.load is None:
        return
    shares = [_weight(queue.messages, queue.message_bytes, structure) for queue in structure.queues]
    total = sum(shares)
    index = max(range(len(shares)), key=shares.__getitem__)
    if total and shares[index] > _MOST * total:
        yield finding(
            "QUEUE_FILLS_MOST",
            f"{definition.queues[index].name} takes {100 * shares[index] / total:.0f} % of what {name} holds: when it fills the "
            "structure, puts to the other queues fail too. Consider a structure of its own.",
            field=f"{at}/{index}",
            structure=name,
        )


def _weight(messages: int, message_bytes: int | SizeDistribution, structure: StructureResult) -> float:
    """About how much of the structure a queue takes: the larger of its entries and its elements over the ratio."""
    size = message_bytes if isinstance(message_bytes, int) else int(message_bytes.mean)
    element = model_constant("element_bytes")
    held = min(size, model_constant("largest_message_in_cf_bytes")) + structure.curve.header_bytes
    return max(messages, messages * held / element / structure.curve.ratio_elements)
