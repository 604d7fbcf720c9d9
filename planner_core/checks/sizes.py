"""Checks of INITSIZE, SIZE and thresholds of a structure against its need and the published minimums."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from planner_core import names
from planner_core.document.model import (
    Structure,
)
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.sizing.shared_findings import (
    above_maximum,
    admin_below_minimum,
    auto_alter_may_shrink,
    full_threshold_zero,
    size_over_twice_initsize,
    system_structure_too_small,
)
from planner_core.sizing.structure_result import Load, StructureResult
from planner_core.sizing.system_structure import system_sizes
from planner_core.units import MIB, bytes_to_kib_ceil, format_mib, format_size

_PERCENT = 100


def check_sizes(structure: StructureResult) -> Iterator[Finding]:
    """Yield the findings on INITSIZE and SIZE."""
    sizes, at, name = structure.sizes, structure.pointer, structure.name
    maximum = limit("largest_policy_size_mib") * MIB
    for key, value in (("initsize", sizes.initsize_bytes), ("size", sizes.size_bytes)):
        if value <= maximum:
            continue
        by_factor = key == "size" and sizes.initsize_bytes <= maximum
        advice = (
            f"INITSIZE fits. Lower size_factor, now {sizes.size_factor}, or set SIZE."
            if by_factor
            else "Spread its queues over several structures, or offload."
        )
        yield from above_maximum(
            value,
            who=f"{key.upper()} of {name} is",
            advice=f". {advice}",
            field=f"{at}/{key}",
            structure=name,
        )
    given = (
        ("initsize", sizes.initsize_is_given, sizes.initsize_bytes),
        ("size", sizes.size_is_given, sizes.size_bytes),
    )
    # Computed sizes are whole increments already.
    for key, is_given, value in given:
        if is_given and value % sizes.increment_bytes:
            yield finding(
                "SIZE_NOT_WHOLE_INCREMENTS",
                f"{key.upper()} {format_size(value)} of {name} is not a multiple of {format_size(sizes.increment_bytes)}, "
                "the storage increment of this CFCC level: it is rounded up when the structure is allocated.",
                field=f"{at}/{key}",
                structure=name,
            )
    if sizes.initsize_is_given or sizes.size_is_given:
        yield from size_over_twice_initsize(name, sizes.size_bytes, sizes.initsize_bytes, field=f"{at}/size")
    if structure.admin is not None:
        yield from _check_admin_size(structure)
    elif structure.system is not None:
        yield from _check_system_size(structure)
    elif structure.role == "application":
        yield from _check_least_seen(structure)
    if structure.load is not None:
        yield from _check_load(structure, structure.load)


def _check_admin_size(structure: StructureResult) -> Iterator[Finding]:
    sizes, placement = structure.sizes, structure.placement
    yield from admin_below_minimum(
        names.ADMIN_STRUCTURE,
        sizes.size_bytes if placement.allow_auto_alter else sizes.initsize_bytes,
        sizes.need_bytes,
        structure=structure.name,
        field=f"{structure.pointer}/initsize",
    )


def _check_system_size(structure: StructureResult) -> Iterator[Finding]:
    sizes, known = structure.sizes, structure.system
    if known is None:
        return
    yield from system_structure_too_small(
        f"INITSIZE {format_size(sizes.initsize_bytes)} of {names.SYSTEM_STRUCTURE}",
        sizes.initsize_bytes,
        known,
        structure=structure.name,
        field=f"{structure.pointer}/initsize",
    )


def _check_least_seen(structure: StructureResult) -> Iterator[Finding]:
    """Report an INITSIZE below the only minimum that XCF is known to have required."""
    # It was for CSQSYSAPPL, and IBM's chart for the same level has smaller structures, so it may not apply here.
    sizes, name, level = structure.sizes, structure.name, structure.level.level
    least = system_sizes(cfcc_level=level).minimum_bytes
    if sizes.initsize_bytes < least:
        yield finding(
            "INITSIZE_BELOW_XCF_MINIMUM",
            f"INITSIZE {format_size(sizes.initsize_bytes)} of {name} is below the {format_size(least)} that XCF required "
            "for CSQSYSAPPL on one coupling facility at CFCC level 25 (IXL015I). IBM's chart for that level shows "
            "application structures of 22 to 24 MB, and "
            "no other minimum is published: try the allocation before you rely on it.",
            field=f"{structure.pointer}/initsize",
            structure=name,
        )


def _check_load(structure: StructureResult, load: Load) -> Iterator[Finding]:
    sizes, at, name = structure.sizes, structure.pointer, structure.name
    if not load.demand.messages:
        yield finding(
            "EMPTY_STRUCTURE",
            f"{name} has no backlog, so it is sized as an empty structure.",
            field=f"{at}/queues" if structure.role == "application" else at,
            structure=name,
        )
    if sizes.initsize_bytes < structure.curve.base:
        yield finding(
            "INITSIZE_BELOW_BASE",
            f"INITSIZE {format_size(sizes.initsize_bytes)} of {name} is below the {format_mib(structure.curve.base)} that "
            "an empty structure takes at this CFCC level: it holds no messages, and XCF may refuse to allocate it (IXL015I).",
            field=f"{at}/initsize",
            structure=name,
        )
    sized_with_offload = (
        isinstance(structure.definition, Structure) and structure.definition.size_with_offload
    )
    checked = (
        ("initsize", "INITSIZE_BELOW_NEED", sizes.initsize_bytes, load.bundles_in_initsize),
        ("size", "SIZE_BELOW_NEED", sizes.size_bytes, load.bundles_in_size),
    )
    for key, code, value, bundles in checked:
        # The need is rounded up to whole elements and bytes, so a size just below it may still hold the backlog.
        if (
            value < sizes.need_bytes
            and load.messages_in(bundles, offload=sized_with_offload) < load.demand.messages
        ):
            yield finding(
                code,
                f"{key.upper()} {bytes_to_kib_ceil(value)}K of {name} {_held(structure, load, bundles, is_initsize=key == 'initsize')}",
                field=f"{at}/{key}",
                structure=name,
            )


def _held(structure: StructureResult, load: Load, bundles: Fraction, *, is_initsize: bool) -> str:
    """Return a sentence on the part of the backlog that a size below the need holds, with and without offload rules."""
    planned, need = load.demand.messages, f"{bytes_to_kib_ceil(structure.sizes.need_bytes)}K"
    plain = load.messages_in(bundles, offload=False)
    with_rules = load.messages_in(bundles, offload=True)
    offloads = load.with_offload is not None and load.with_offload is not load.plain
    if load.with_offload is not None and with_rules >= planned and offloads:
        offloaded = load.with_offload.at_backlog(bundles).offloaded
        return (
            f"fits the planned {planned} messages only with offload ({offloaded} messages offloaded at the backlog): it holds {plain} "
            f"messages without offload and {with_rules} with the rules. Without offload they need {need}."
        )
    consequence = (
        "The rest depends on SETXCF START,ALTER or ALLOWAUTOALT(YES) acting in time."
        if is_initsize and structure.sizes.size_bytes >= structure.sizes.need_bytes
        else "Beyond that, applications get reason 2192."
    )
    held = f"holds {with_rules} of the planned {planned} messages"
    if with_rules > plain:
        held += f" with the offload rules active, {plain} without"
    return f"{held}; they need {need}. {consequence}"


def check_thresholds(structure: StructureResult) -> Iterator[Finding]:
    """Yield the findings on FULLTHRESHOLD and automatic alter."""
    placement, at, name = structure.placement, structure.pointer, structure.name
    if placement.full_threshold == 0:
        yield full_threshold_zero(name, field=f"{at}/full_threshold")
    elif structure.load is not None and structure.load.demand.messages:
        peak = structure.peak_usage_percent
        fits = structure.load.messages_in_initsize(offload=True) >= structure.load.demand.messages
        if placement.full_threshold < peak and fits:
            yield finding(
                "PEAK_ABOVE_FULLTHRESHOLD",
                f"At the planned backlog, INITSIZE of {name} is {float(peak):.1f} % full, above FULLTHRESHOLD({placement.full_threshold}): "
                "z/OS issues IXC585E before the backlog is reached.",
                field=f"{at}/full_threshold",
                structure=name,
            )
    if placement.allow_auto_alter and not structure.sizes.minsize_bytes:
        yield auto_alter_may_shrink(name, field=f"{at}/allow_auto_alter")
