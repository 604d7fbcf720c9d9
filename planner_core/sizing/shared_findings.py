"""Findings that single sizing questions and whole plans share."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.sizing.structure_size import Curve, model_constant
from planner_core.units import MIB, format_mib, format_size


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
            f"{format_mib(size_bytes, digits=3)} is below the {format_mib(curve.base, digits=3)} that an empty structure takes at this CFCC "
            "level: it holds no message.",
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


def above_maximum(size_bytes: int) -> Iterator[Finding]:
    """Yield the finding on a structure that is larger than a policy allows."""
    maximum = limit("largest_policy_size_mib") * MIB
    if size_bytes > maximum:
        yield finding(
            "SIZE_ABOVE_MAXIMUM",
            f"This backlog needs {format_mib(size_bytes)}, above the {format_mib(maximum)} that a policy allows for one "
            "structure: spread it over several structures, or offload.",
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
        "IBM does not publish how structure usage is measured; cfplan uses the fuller of entries and elements.",
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
        "to the least size it needs.",
        field=field,
        structure=name,
    )


def offload_db2(name: str, *, structure: str | None, field: str | None = None) -> Finding:
    """Return the finding on a structure that offloads to Db2."""
    message = (
        f"{name} offloads to Db2. IBM supports OFFLOAD(DB2) primarily for migration; SMDS performs better."
    )
    return finding("OFFLOAD_DB2", message, field=field, structure=structure)
