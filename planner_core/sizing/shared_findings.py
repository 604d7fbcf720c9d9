"""Findings that plans, policies, MQSC, displays and single questions share; each text is written only here."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from planner_core import tables
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.sizing.structure_size import Curve, model_constant
from planner_core.sizing.system_structure import SystemSizes
from planner_core.units import MIB, bytes_to_kib_ceil, format_mib, format_size


def cfcc_level_too_low(cfcc_level: int, *, who: str = "", field: str = "/cfcc_level") -> Iterator[Finding]:
    """Yield the finding on a CFCC level below 9, the lowest that IBM MQ supports."""
    lowest = limit("lowest_cfcc_level")
    if cfcc_level < lowest:
        has = f"{who} has CFCC level {cfcc_level}" if who else f"CFCC level {cfcc_level}"
        yield finding("CFCC_LEVEL_TOO_LOW", f"{has}: IBM MQ needs level {lowest} or higher.", field=field)


def size_below_base(size_bytes: Fraction, *, curve: Curve) -> Iterator[Finding]:
    """Yield the finding on a structure that is smaller than an empty one, so that it holds nothing."""
    if size_bytes < curve.base:
        yield finding(
            "SIZE_BELOW_BASE",
            f"{format_mib(size_bytes, digits=3)} is below the {format_mib(curve.base, digits=3)} that an empty structure takes at this "
            "CFCC level: it cannot hold any messages.",
            source=curve.base_source,
        )


def always_offloaded(
    largest_bytes: int, *, who: str = "There are", field: str | None = None, structure: str | None = None
) -> Iterator[Finding]:
    """Yield the finding on messages over 63 KB, which never stay in the CF."""
    if largest_bytes > model_constant("largest_message_in_cf_bytes"):
        yield finding(
            "MESSAGES_ALWAYS_OFFLOADED",
            f"{who} messages over 63 KB: their data is always offloaded, and each keeps one entry and "
            f"{model_constant('offloaded_message_elements')} elements in the structure.",
            field=field,
            structure=structure,
        )


def above_maximum(
    size_bytes: int,
    *,
    who: str = "This backlog needs",
    advice: str = " for one structure: spread it over several structures, or offload.",
    field: str | None = None,
    structure: str | None = None,
) -> Iterator[Finding]:
    """Yield the finding on a size that is larger than a policy allows."""
    maximum = limit("largest_policy_size_mib") * MIB
    if size_bytes > maximum:
        yield finding(
            "SIZE_ABOVE_MAXIMUM",
            f"{who} {format_mib(size_bytes)}, above the {format_mib(maximum)} that a policy allows{advice}",
            field=field,
            structure=structure,
        )


def admin_duplexed(
    cfrm_name: str, *, structure: str | None = None, field: str | None = None, duplex: str = ""
) -> Finding:
    """Return the finding on a CSQ_ADMIN that is duplexed, or may be according to the plan.

    Args:
        cfrm_name: Name of the structure in CFRM.
        structure: Its name in the finding; None for the CFRM name.
        field: The key of the plan that sets it.
        duplex: DUPLEX of the plan; empty where a policy or a display shows that it is duplexed.
    """
    how = f"is planned with DUPLEX({duplex})" if duplex else "is duplexed"
    return finding(
        "ADMIN_DUPLEXED",
        f"{cfrm_name} {how}. After an outage, queue managers with failed-persistent connections to a duplexed CSQ_ADMIN can loop "
        "while they connect: check that the fix for APAR PH67936 is applied, or set DUPLEX(DISABLED).",
        field=field,
        structure=structure or cfrm_name,
    )


def usage_measure_assumed(*, structure: str | None = None) -> Finding:
    """Return the finding that IBM does not define the usage that offload rules compare."""
    return finding(
        "USAGE_MEASURE_ASSUMED",
        "Offload rules compare structure usage with their thresholds. IBM does not publish how usage is measured; cfplan uses "
        "the fuller of entries and elements.",
        structure=structure,
    )


def size_over_twice_initsize(
    name: str, size_bytes: int, initsize_bytes: int, *, field: str | None = None
) -> Iterator[Finding]:
    """Yield the finding on a SIZE that the health check of z/OS reports."""
    if size_bytes > limit("initsize_to_size_factor") * initsize_bytes:
        yield finding(
            "SIZE_OVER_TWICE_INITSIZE",
            f"SIZE {format_size(size_bytes)} of {name} is more than twice INITSIZE {format_size(initsize_bytes)}: the health check "
            "XCF_CF_STR_POLICYSIZE raises IXCH0255E, because the controls for SIZE are taken from INITSIZE.",
            field=field,
            structure=name,
        )


def full_threshold_zero(name: str, *, field: str | None = None) -> Finding:
    """Return the finding on FULLTHRESHOLD(0)."""
    message = f"FULLTHRESHOLD(0) turns structure full monitoring off for {name}: no IXC585E, and no automatic alter."
    return finding("FULLTHRESHOLD_ZERO", message, field=field, structure=name)


def auto_alter_may_shrink(name: str, *, field: str | None = None) -> Finding:
    """Return the finding on ALLOWAUTOALT(YES) without MINSIZE."""
    return finding(
        "AUTO_ALTER_MAY_SHRINK",
        f"ALLOWAUTOALT(YES) lets the system shrink {name} when the coupling facility is short of storage: set MINSIZE "
        "to the smallest size that it needs.",
        field=field,
        structure=name,
    )


def offload_db2(name: str, *, structure: str | None, field: str | None = None) -> Finding:
    """Return the finding on a structure that offloads to Db2."""
    message = (
        f"{name} offloads to Db2. IBM supports OFFLOAD(DB2) primarily for migration; SMDS performs better."
    )
    return finding("OFFLOAD_DB2", message, field=field, structure=structure)


# ---- a queue-sharing group ----------------------------------------------------------------------------------


def too_many_structures(count: int, which: str, *, field: str | None = None) -> Iterator[Finding]:
    """Yield the finding on more structures than a group connects to; `which` names those that are counted."""
    most = limit("structures_per_group")
    if count > most:
        yield finding(
            "TOO_MANY_STRUCTURES",
            f"{count} structures {which}: a queue-sharing group connects to at most {most}.",
            field=field,
        )


def too_few_structures(has: str = "", *, field: str | None = None) -> Finding:
    """Return the finding on a group without a structure for messages; `has` is a sentence on the existing structures."""
    return finding(
        "TOO_FEW_STRUCTURES",
        f"{has}A queue-sharing group needs at least {limit('structures_required')} structures: CSQ_ADMIN and one for messages.",
        field=field,
    )


def same_cf_twice(first: str, second: str, *, field: str | None = None) -> Finding:
    """Return the finding on two names for one partition."""
    return finding(
        "SAME_CF_TWICE",
        f"{first} and {second} have the same type, manufacturer, plant, sequence and partition: they are the same "
        "coupling facility, so both are lost together.",
        field=field,
    )


def preflist_single_cf(
    name: str, coupling_facility: str, *, field: str | None = None, is_duplexed: bool = False
) -> Finding:
    """Return the finding on a PREFLIST with one name."""
    more = ", and it cannot be duplexed" if is_duplexed else ""
    return finding(
        "PREFLIST_SINGLE_CF",
        f"{name} can be allocated in {coupling_facility} only: if {coupling_facility} is lost, the structure cannot be placed "
        f"elsewhere{more}.",
        field=field,
        structure=name,
    )


def admin_below_minimum(
    cfrm_name: str,
    available_bytes: int,
    need_bytes: int,
    *,
    who: str = "its queue managers",
    structure: str | None = None,
    field: str | None = None,
) -> Iterator[Finding]:
    """Yield the finding on a CSQ_ADMIN that is too small for its queue managers to start."""
    if available_bytes < need_bytes:
        yield finding(
            "ADMIN_BELOW_MINIMUM",
            f"{cfrm_name} has {format_size(available_bytes)}, below the {bytes_to_kib_ceil(need_bytes)}K that {who} need: they "
            "would not start (CSQE022E, reason 00C53000).",
            field=field,
            structure=structure or cfrm_name,
        )


def system_structure_too_small(
    what: str,
    initsize_bytes: int,
    known: SystemSizes,
    *,
    structure: str | None,
    level: str = "this CFCC level",
    field: str | None = None,
) -> Iterator[Finding]:
    """Yield the finding on a CSQSYSAPPL below the size that XCF required, or below the one that IBM advises.

    Args:
        what: Its initial size in words, such as INITSIZE 10M of CSQSYSAPPL.
        initsize_bytes: The same in bytes.
        known: The published sizes at its CFCC level.
        structure: Its name in the finding.
        level: The level in words.
        field: The key of the plan that sets it.
    """
    if initsize_bytes < known.minimum_bytes:
        yield finding(
            "SYSTEM_STRUCTURE_BELOW_MINIMUM",
            f"{what} is below the {format_size(known.minimum_bytes)} that XCF required at {level}: the structure would not be "
            "allocated (IXL015I, INITSIZE MUST BE AT LEAST).",
            field=field,
            structure=structure,
        )
    elif initsize_bytes < known.start_bytes and known.minimum_bytes:
        yield finding(
            "SYSTEM_STRUCTURE_BELOW_ADVICE",
            f"{what} is below the {bytes_to_kib_ceil(known.start_bytes)}K that IBM advises at {level}.",
            field=field,
            structure=structure,
        )


# ---- CFSTRUCT objects and their queues -----------------------------------------------------------------------


def too_many_queues(
    name: str, count: int, *, structure: str | None, field: str | None = None
) -> Iterator[Finding]:
    """Yield the finding on more queues than a structure holds."""
    most = limit("queues_per_structure")
    if count > most:
        message = f"{name} has {count} queues: a structure holds at most {most}."
        yield finding("TOO_MANY_QUEUES", message, field=field, structure=structure)


def recover_needs_cflevel_3(
    name: str, level: int, *, structure: str | None, is_default: bool = False, field: str | None = None
) -> Iterator[Finding]:
    """Yield the finding on RECOVER(YES) at a level that does not support it."""
    if level < limit("cflevel_recover"):
        message = (
            f"{_has_level(name, level, is_default=is_default)}: RECOVER(YES) needs CFLEVEL(3) or higher."
        )
        yield finding("RECOVER_NEEDS_CFLEVEL_3", message, field=field, structure=structure)


def offload_needs_cflevel_5(
    name: str,
    level: int,
    what: str,
    *,
    structure: str | None,
    is_default: bool = False,
    field: str | None = None,
    effect: str = "",
) -> Iterator[Finding]:
    """Yield the finding on offload attributes at a level that does not support them; `effect` states the result."""
    if level < limit("cflevel_offload"):
        message = f"{_has_level(name, level, is_default=is_default)}: {what} need CFLEVEL(5){effect}."
        yield finding("OFFLOAD_NEEDS_CFLEVEL_5", message, field=field, structure=structure)


def _has_level(name: str, level: int, *, is_default: bool) -> str:
    return f"{name} has CFLEVEL({level}){', the default' if is_default else ''}"


def persistent_needs_recover(
    name: str, holders: str, *, structure: str | None, field: str | None = None
) -> Finding:
    """Return the finding on queues with persistent messages, `holders`, on a structure with RECOVER(NO)."""
    return finding(
        "PERSISTENT_NEEDS_RECOVER",
        f"{name} has RECOVER(NO), but {holders}: puts of persistent messages fail with reason 2048. Set RECOVER(YES).",
        field=field,
        structure=structure,
    )


def dsgroup_missing(name: str, *, structure: str | None, field: str | None = None) -> Finding:
    """Return the finding on a structure that offloads to SMDS and names no data sets."""
    return finding(
        "DSGROUP_MISSING",
        f"{name} offloads to SMDS but has no DSGROUP: DEFINE CFSTRUCT needs one, such as DSGROUP('MQ.SMDS.*.{name[:8]}').",
        field=field,
        structure=structure,
    )


def dsgroup_twice(
    name: str, other: str, dsgroup: str, *, structure: str | None, field: str | None = None
) -> Finding:
    """Return the finding on two structures with the same data sets."""
    return finding(
        "DSGROUP_TWICE",
        f"{name} and {other} have the same DSGROUP {dsgroup}: each structure needs its own data sets.",
        field=field,
        structure=structure,
    )


def smds_overhead_assumed(*, structure: str | None = None) -> Finding:
    """Return the finding that the overhead of messages in shared message data sets is assumed."""
    constants = tables.constants("smds")
    return finding(
        "SMDS_OVERHEAD_ASSUMED",
        f"SMDS space includes an assumed header of {constants['message_header_bytes'].value} bytes per message and an assumed "
        f"{constants['space_map_percent'].value} % for the space map; IBM publishes neither.",
        structure=structure,
    )


def offload_gains_nothing(
    name: str = "the structure",
    of: str = "size",
    how: str = " (--auto-alter)",
    *,
    structure: str | None = None,
    field: str | None = None,
) -> Finding:
    """Return the finding on rules that free no room, because entries run out first.

    Args:
        name: The structure in words.
        of: The property that the messages share: their size or their mix.
        how: The way to have the ratio altered.
        structure: Its name in the finding.
        field: The key of the plan that sets the rules.
    """
    return finding(
        "OFFLOAD_GAINS_NOTHING",
        f"Offload does not let {name} hold more messages of this {of}: entries run out before elements, unless the "
        f"entry-to-element ratio is altered{how}.",
        field=field,
        structure=structure,
    )
