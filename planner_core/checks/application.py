"""Checks of CFLEVEL, recovery, offload and queues of an application structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from planner_core import tables
from planner_core.document.model import (
    MessageSizes,
    Offload,
    Structure,
)
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.provenance import Basis
from planner_core.sizing.shared_findings import (
    always_offloaded,
    dsgroup_missing,
    offload_db2,
    offload_gains_nothing,
    offload_needs_cflevel_5,
    persistent_needs_recover,
    recover_needs_cflevel_3,
)
from planner_core.sizing.structure_result import Load, StructureResult
from planner_core.sizing.structure_size import Curve, model_constant, size_for, with_derived_costs
from planner_core.units import ceil_div, format_mib

_MOST = 0.5


def check_application(structure: StructureResult, definition: Structure, load: Load) -> Iterator[Finding]:
    """Yield the findings on CFLEVEL, recovery, offload, queues and ratio of an application structure."""
    yield from _check_cflevel(structure, definition)
    yield from _check_offload(structure, definition, load)
    yield from _check_queues(structure, definition)
    yield from _check_shape(structure, definition, load)
    if structure.curve.bundle_at(load.ratio)[0] != structure.curve.bundle:
        yield from _check_costs(structure, definition, load)


def _check_costs(structure: StructureResult, definition: Structure, load: Load) -> Iterator[Finding]:
    """Report the costs of entries and elements at a ratio other than that of the curve, and the effect of other costs."""
    curve = structure.curve
    if load.ratio is None or (curve.fit is not None and curve.split_basis is not Basis.ASSUMED):
        return
    sized = f"{definition.name} is sized for an entry-to-element ratio of {load.ratio[0]}:{load.ratio[1]}"
    element, entry = f"{float(curve.element_bytes):g} bytes", f"{float(curve.entry_bytes):.0f}"
    at = f"{structure.pointer}/entry_to_element_ratio"
    if curve.separate_costs is not None:
        low, high = map(float, curve.separate_costs.interval)
        assumed = replace(curve, separate_costs=None, split_basis=Basis.ASSUMED)
        yield finding(
            "ENTRY_ELEMENT_COST_DERIVED",
            f"{sized}, with costs derived from IBM's sizes for CSQ_ADMIN: an element costs {element} ({low:g} to {high:g}) and an "
            f"entry {entry}. With the costs that are assumed otherwise, {_need_with(assumed, structure, load)}",
            field=at,
            structure=definition.name,
        )
        return
    other = ""
    if curve.fit is None:
        derived = with_derived_costs(curve)
        other = (
            " With the costs derived from IBM's sizes for CSQ_ADMIN (separate_costs: derived), "
            f"{float(derived.element_bytes):g} and {float(derived.entry_bytes):.0f} bytes, {_need_with(derived, structure, load)}"
        )
    yield finding(
        "ENTRY_ELEMENT_COST_ASSUMED",
        f"{sized}. {_known_ratio(curve)}; for other ratios, an element is assumed to cost {element} and an entry {entry}.{other}",
        field=at,
        structure=definition.name,
    )


def _need_with(other: Curve, structure: StructureResult, load: Load) -> str:
    """Return the end of a sentence about the need with other costs, compared with the calculated one."""
    curve, need = structure.curve, structure.sizes.need_bytes
    # The number of bundles stays the same, so everything above the base changes by the same factor.
    factor = other.bundle_at(load.ratio)[0] / curve.bundle_at(load.ratio)[0]
    changed = curve.base + (need - curve.base) * factor
    percent = float(abs(changed / need - 1) * 100)
    return (
        f"the need would be {format_mib(changed)} instead of {format_mib(need)} ({percent:.1f} % "
        f"{'more' if changed > need else 'less'})."
    )


def _largest(message_bytes: int | MessageSizes) -> int:
    return message_bytes if isinstance(message_bytes, int) else message_bytes.max


def _known_ratio(curve: Curve) -> str:
    if curve.fit is None:
        return "Published figures exist for 1:6 only"
    return f"The data of curve {curve.fit.version} covers {curve.ratio_entries}:{curve.ratio_elements} only"


def _check_cflevel(structure: StructureResult, definition: Structure) -> Iterator[Finding]:
    at, name, level = structure.pointer, definition.name, definition.cflevel
    persistent = [index for index, queue in enumerate(definition.queues) if queue.persistent]
    if persistent and level < limit("cflevel_persistent"):
        yield finding(
            "PERSISTENT_NEEDS_CFLEVEL_3",
            f"{name} has CFLEVEL({level}) and {len(persistent)} persistent queue(s): persistent messages need CFLEVEL(3) or higher.",
            field=f"{at}/cflevel",
            structure=name,
        )
    if definition.recover:
        yield from recover_needs_cflevel_3(name, level, structure=name, field=f"{at}/recover")
    # RECOVER(YES) needs CFLEVEL(3) itself, so below that level the findings above come first.
    elif persistent and not definition.recover:
        first = definition.queues[persistent[0]].name
        yield persistent_needs_recover(
            name,
            f"{len(persistent)} of its queues hold persistent messages, the first {first}",
            structure=name,
            field=f"{at}/recover",
        )
    in_cf = model_constant("largest_message_in_cf_bytes")
    large = [index for index, queue in enumerate(definition.queues) if _largest(queue.message_bytes) > in_cf]
    if large and level < limit("cflevel_large_messages"):
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
            f"Queues of {name} specify the mean, p95 and max of their message sizes. While no offload rule is active, "
            "their elements suffice for any distribution with that mean; while rules are active, the sizes are assumed to be "
            "lognormal and truncated at the maximum.",
            field=f"{at}/queues",
            structure=name,
        )


def _check_shape(structure: StructureResult, definition: Structure, load: Load) -> Iterator[Finding]:
    """Report a computed INITSIZE far above the need for the assumed distribution of message sizes."""
    # A given INITSIZE is not the result of the bound, and with size_with_offload the need has the assumed shape already.
    demand, target = load.demand, structure.sizes.target_in_use
    if target is None or target.with_offload or not demand.beyond:
        return
    assumed = size_for(
        entries=demand.entries,
        elements=ceil_div(sum(band.elements for band in demand.bands), demand.scale),
        curve=structure.curve,
        ratio=load.ratio,
        percent=target.percent,
    )
    least = tables.constants("sizing_choices")["any_shape_reported_from_percent"].value
    if structure.sizes.initsize_bytes * 100 >= assumed * least:
        yield finding(
            "SIZED_FOR_ANY_SHAPE",
            f"INITSIZE of {definition.name}, {format_mib(structure.sizes.initsize_bytes)}, suffices for any distribution of message sizes with the "
            f"stated mean, p95 and max: about {format_mib(assumed)} suffices for the assumed distribution. To reduce it, define "
            "each size class as a separate queue.",
            field=f"{structure.pointer}/queues",
            structure=definition.name,
        )


def _check_offload(structure: StructureResult, definition: Structure, load: Load) -> Iterator[Finding]:
    at, name, offload = f"{structure.pointer}/offload", definition.name, definition.offload
    if definition.cflevel < limit("cflevel_offload"):
        if offload != Offload() or definition.size_with_offload:
            yield from offload_needs_cflevel_5(
                name,
                definition.cflevel,
                "OFFLOAD and its rules",
                structure=name,
                field=at,
                effect=" and are omitted from its definition and sizing",
            )
        if definition.cfconlos != "ASQMGR":
            yield finding(
                "CFCONLOS_NEEDS_CFLEVEL_5",
                f"{name} has CFLEVEL({definition.cflevel}): CFCONLOS needs CFLEVEL(5) and is omitted from its definition. "
                "Queue managers "
                "that lose the structure end.",
                field=f"{structure.pointer}/cfconlos",
                structure=name,
            )
        return
    if offload.to == "DB2":
        yield offload_db2(name, structure=name, field=f"{at}/to")
    elif offload.dsgroup is None:
        yield dsgroup_missing(name, structure=name, field=f"{at}/dsgroup")
    # If INITSIZE does not hold the backlog without rules, INITSIZE_BELOW_NEED states the offloaded messages.
    by_rules = structure.offloaded_by_rules
    if (
        by_rules
        and not definition.size_with_offload
        and load.messages_in_initsize(offload=False) >= load.demand.messages
    ):
        yield finding(
            "OFFLOADED_AT_BACKLOG",
            f"INITSIZE would hold the whole backlog of {name}, but the offload rules start earlier: {by_rules} of "
            f"{load.demand.messages} messages are offloaded by the time the backlog is complete.",
            field=f"{at}/rules",
            structure=name,
        )
    gains = load.messages_in_size(offload=True) > load.messages_in_size(offload=False)
    if load.with_offload is not None and load.with_offload.starts and not gains:
        yield offload_gains_nothing(name, "mix", "", structure=name, field=f"{at}/rules")


def _check_use(structure: StructureResult, definition: Structure) -> Iterator[Finding]:
    """Check queue attributes that limit applications: MAXMSGL and NOSHARE."""
    name = definition.name
    for index, queue in enumerate(definition.queues):
        most = queue.max_message_length
        if most is not None and (largest := _largest(queue.message_bytes)) > most:
            yield finding(
                "MESSAGES_ABOVE_MAXMSGL",
                f"{queue.name} has messages of up to {largest} bytes, but MAXMSGL({most}): puts of larger messages fail with reason 2030. "
                "Raise max_message_length.",
                field=f"{structure.pointer}/queues/{index}/max_message_length",
                structure=name,
            )
    alone = [(index, queue) for index, queue in enumerate(definition.queues) if not queue.share]
    if alone:
        more = f" and {len(alone) - 1} more queues of {name}" if len(alone) > 1 else f" of {name}"
        yield finding(
            "QUEUE_WITHOUT_SHARE",
            f"{alone[0][1].name}{more}: NOSHARE allows only one application in the whole group to get messages at a time. "
            "If it stops, no other application can get them.",
            field=f"{structure.pointer}/queues/{alone[0][0]}/share",
            structure=name,
        )


def _check_queues(structure: StructureResult, definition: Structure) -> Iterator[Finding]:
    at, name = f"{structure.pointer}/queues", definition.name
    persistent = sum(queue.persistent for queue in definition.queues)
    if 0 < persistent < len(definition.queues):
        yield finding(
            "MIXED_PERSISTENCE",
            f"{name} holds {persistent} persistent and {len(definition.queues) - persistent} nonpersistent queues. "
            "Structures with only one kind are simpler to back up and recover.",
            field=at,
            structure=name,
        )
    yield from _check_use(structure, definition)
    weights = structure.queue_weights
    # A single queue always takes all of its structure, so only other queues make that a risk.
    if len(weights) <= 1 or structure.load is None:
        return
    index = max(range(len(weights)), key=weights.__getitem__)
    part = Fraction(weights[index], sum(weights))
    if part > _MOST:
        yield finding(
            "QUEUE_FILLS_MOST",
            f"{definition.queues[index].name} takes {float(100 * part):.0f} % of the {structure.load.binding} that {name} "
            "holds: when it fills the structure, puts to the other queues fail too. Consider a separate structure for it.",
            field=f"{at}/{index}",
            structure=name,
        )
