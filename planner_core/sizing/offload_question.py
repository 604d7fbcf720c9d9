"""The number of messages of one size that a structure holds, with and without offload rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from planner_core import tables
from planner_core.findings import Finding, finding
from planner_core.provenance import Basis, Explanation, Input, Step
from planner_core.sizing.demand import Demand
from planner_core.sizing.explain_filling import bundle_steps, model_source, phases_of
from planner_core.sizing.filling import Fill, Pool, altered_pool, fill, two_pools
from planner_core.sizing.offload import Rule, firing, one_message, reserve_for
from planner_core.sizing.shared_findings import (
    always_offloaded,
    cfcc_level_too_low,
    offload_gains_nothing,
    size_below_base,
    usage_measure_assumed,
)
from planner_core.sizing.structure_size import (
    Curve,
    bundles_in,
    curve_inputs,
    model_constant,
    published_curve,
    with_derived_costs,
)
from planner_core.units import floor_fraction

_PERCENT = 100


@dataclass(frozen=True, slots=True)
class OffloadAnswer:
    """The figures as `cfplan offload` prints them, with findings and explanations."""

    figures: dict[str, object]
    findings: tuple[Finding, ...]
    explanations: tuple[Explanation, ...]


def offload_answer(
    size_bytes: Fraction,
    *,
    message_bytes: int,
    rules: Sequence[Rule],
    cfcc_level: int,
    auto_alter: bool = False,
    hold_messages: int | None = None,
) -> OffloadAnswer:
    """Return the number of messages that a structure holds.

    Args:
        size_bytes: Size of the structure [bytes].
        message_bytes: User data and MQ headers except the MQMD [bytes].
        rules: Up to three offload rules.
        cfcc_level: CF control code level.
        auto_alter: Assume that the ratio of entries to elements always follows the demand.
        hold_messages: Add IBM's arithmetic for the threshold that keeps room for this number of messages.
    """
    choice = published_curve(cfcc_level=cfcc_level)
    curve = choice.curve
    demand = one_message(message_bytes, rules=rules, curve=curve)
    met = firing(rules, demand)
    bundles = bundles_in(size_bytes, curve=curve)
    fixed = two_pools(curve.bundle_at(None)[1])
    pools = altered_pool(curve) if auto_alter else fixed
    plain, filled = fill(demand, rules=(), pools=pools), fill(demand, rules=met, pools=pools)
    capacity, without = filled.capacity(bundles), plain.capacity(bundles)
    starts = [
        (point.rule, filled.messages_at(point, bundles))
        for point in filled.starts
        if point.rule is not None and bundles
    ]
    cost = _offloaded_cost(curve, demand, filled, auto_alter=auto_alter)
    ibm_cost = tables.constants("element_model")["ibm_offloaded_message_bytes"].as_input()
    by_ibm = Explanation(
        "/ibm_bytes_per_offloaded_message",
        model_constant(ibm_cost.name),
        "bytes",
        ibm_cost.name,
        (ibm_cost,),
        ibm_cost.basis,
        ibm_cost.source,
    )
    figures: dict[str, object] = {
        "capacity": capacity,
        "capacity_without_offload": without,
        "steps": [
            {"threshold": rule.threshold, "size_bytes": rule.size_bytes, "at_messages": messages}
            for rule, messages in starts
        ],
        "bytes_per_offloaded_message": float(cost.value),
        "ibm_bytes_per_offloaded_message": by_ibm.value,
    }
    reserve_findings: tuple[Finding, ...] = ()
    reserve_explained: tuple[Explanation, ...] = ()
    if hold_messages is not None:
        figures["reserve"], reserve_findings, reserve_explained = _reserve(
            size_bytes, hold_messages, demand, pools, curve
        )
    derived = with_derived_costs(curve)
    by_derived = (
        fill(demand, rules=met, pools=altered_pool(derived)).capacity(bundles) if auto_alter else None
    )
    # With an altered ratio a rule starts later: what is left then may hold less than unused entries would have.
    at_fixed_ratio = fill(demand, rules=met, pools=fixed).capacity(bundles) if auto_alter else None
    gains_nothing = bool(met) and bool(bundles) and capacity == without
    findings = (
        *choice.findings,
        *cfcc_level_too_low(cfcc_level),
        *always_offloaded(message_bytes),
        *size_below_base(size_bytes, curve=curve),
        *reserve_findings,
        *_assumptions(
            curve,
            has_rules=bool(met),
            gains_nothing=gains_nothing,
            capacity=capacity,
            at_fixed_ratio=at_fixed_ratio,
            derived=derived,
            by_derived=by_derived,
        ),
    )
    explained = partial(
        _explained, demand=demand, pools=pools, size_bytes=size_bytes, curve=curve, auto_alter=auto_alter
    )
    explanations = (
        explained("/capacity", capacity, len(met), rules=met),
        explained("/capacity_without_offload", without, 0, rules=()),
        *(
            explained(f"/steps/{number}/at_messages", messages, number, rules=met)
            for number, (_, messages) in enumerate(starts)
        ),
        cost,
        by_ibm,
        *reserve_explained,
    )
    return OffloadAnswer(figures=figures, findings=findings, explanations=explanations)


def _reserve(
    size_bytes: Fraction, messages: int, demand: Demand, pools: tuple[Pool, ...], curve: Curve
) -> tuple[dict[str, object], tuple[Finding, ...], tuple[Explanation, ...]]:
    """Return the threshold that keeps room for a number of offloaded messages: by IBM's arithmetic, and by the pools.

    By the pools: when usage passes a threshold, the structure holds that share of the messages
    that fit without rules, and the rest of each pool must hold the messages that follow.
    """
    # IBM's arithmetic needs a size above 0, and the size may be a fraction of a byte.
    reserve = reserve_for(size_bytes=max(1, floor_fraction(size_bytes)), messages=messages)
    fits = reserve.reserved_percent <= _PERCENT
    by_pools = _threshold_by_pools(size_bytes, messages, demand, pools, curve)
    figures: dict[str, object] = {
        "messages": messages,
        "reserved_bytes": reserve.reserved_bytes,
        "highest_threshold": reserve.highest_threshold if fits else None,
        "advised_threshold": float(round(reserve.advised_threshold, 2)) if fits else None,
        "highest_threshold_by_pools": by_pools.value if by_pools else None,
    }
    findings = (
        ()
        if by_pools
        else (
            finding(
                "RESERVE_DOES_NOT_FIT",
                f"{messages} offloaded messages do not fit in this structure at any threshold: it has "
                f"{floor_fraction(bundles_in(size_bytes, curve=curve))} list entries at its ratio, and each message takes one. "
                "IBM's formula of 0.75 KB per message is correct only if the ratio follows the demand.",
            ),
        )
    )
    each = tables.constants("element_model")["ibm_offloaded_message_bytes"].as_input()
    advised = tables.constants("element_model")["ibm_advised_usage_percent"].as_input()
    given = (
        Input("hold_messages", messages, "messages", Basis.GIVEN),
        Input("size_bytes", max(1, floor_fraction(size_bytes)), "bytes", Basis.GIVEN),
        each,
    )
    taken = "hold_messages * ibm_offloaded_message_bytes"
    explained = [
        Explanation("/reserve/reserved_bytes", reserve.reserved_bytes, "bytes", taken, given, Basis.PUBLISHED)
    ]
    if fits:
        share = f"100 * {taken} / size_bytes"
        explained += [
            Explanation(
                "/reserve/highest_threshold",
                reserve.highest_threshold,
                "percent",
                f"max(0, floor(100 - {share}))",
                given,
                Basis.PUBLISHED,
                each.source,
            ),
            Explanation(
                "/reserve/advised_threshold",
                reserve.advised_threshold,
                "percent",
                f"max(0, ibm_advised_usage_percent - {share})",
                (*given, advised),
                Basis.PUBLISHED,
                advised.source,
            ),
        ]
    return figures, findings, (*explained, *((by_pools,) if by_pools else ()))


def _threshold_by_pools(
    size_bytes: Fraction, messages: int, demand: Demand, pools: tuple[Pool, ...], curve: Curve
) -> Explanation | None:
    """Explain the highest threshold; None if no threshold leaves room for the messages."""
    bundles = bundles_in(size_bytes, curve=curve)
    two = tables.constants("element_model")["offloaded_message_elements"].as_input()
    bundle_inputs, steps = bundle_steps(curve, size_bytes=size_bytes, ratio=None, given=True)
    inputs = [
        *bundle_inputs,
        two,
        Input("hold_messages", messages, "messages", Basis.GIVEN),
        Input("elements", demand.elements, "elements", Basis.DERIVED, model_source()),
    ]
    added, costs, totals, left = list(steps), [], [], []
    for number, pool in enumerate(pools, start=1):
        named = (("entry_cost", pool.entry_cost), ("element_cost", pool.element_cost), ("pool", pool.total))
        inputs += [
            Input(f"{name}_{number}", value, "", Basis.DERIVED, model_source()) for name, value in named
        ]
        costs.append(pool.entry_cost + pool.element_cost * demand.elements)
        totals.append(pool.total * bundles)
        left.append(totals[-1] - messages * (pool.entry_cost + model_constant(two.name) * pool.element_cost))
        later = f"hold_messages * (entry_cost_{number} + {two.name} * element_cost_{number})"
        added += [
            Step(f"cost_{number}", f"entry_cost_{number} + element_cost_{number} * elements", costs[-1]),
            Step(f"total_{number}", f"pool_{number} * bundles", totals[-1]),
            Step(f"left_{number}", f"total_{number} - {later}", left[-1]),
        ]
    if not bundles or min(left) < 0:
        return None
    fitting = min(total / cost for total, cost in zip(totals, costs, strict=True))
    numbers = range(1, len(pools) + 1)
    added.append(Step("fitting", f"min({', '.join(f'total_{n} / cost_{n}' for n in numbers)})", fitting))
    shares = [rest / (fitting * cost) for rest, cost in zip(left, costs, strict=True)]
    return Explanation(
        "/reserve/highest_threshold_by_pools",
        floor_fraction(min(Fraction(_PERCENT), _PERCENT * min(shares))),
        "percent",
        f"floor(min(100, {', '.join(f'100 * left_{n} / (fitting * cost_{n})' for n in numbers)}))",
        tuple(inputs),
        Basis.ASSUMED,
        model_source(),
        tuple(added),
    )


def _assumptions(
    curve: Curve,
    *,
    has_rules: bool,
    gains_nothing: bool,
    capacity: int,
    at_fixed_ratio: int | None,
    derived: Curve,
    by_derived: int | None,
) -> Iterator[Finding]:
    if has_rules:
        yield usage_measure_assumed()
    if gains_nothing:
        yield offload_gains_nothing()
    if at_fixed_ratio is not None:
        later = (
            f" At the fixed ratio it holds more, {at_fixed_ratio}: the rules start earlier there, and offloaded messages "
            "use spare entries."
            if at_fixed_ratio > capacity
            else ""
        )
        yield finding(
            "ENTRY_ELEMENT_COST_ASSUMED",
            f"With an altered ratio, an element is assumed to cost {float(curve.element_bytes):g} bytes and an entry "
            f"{float(curve.entry_bytes):.0f}: published figures cover them only together. IBM calls automatic alter not "
            f"very sensitive and advises planning for {model_constant('ibm_advised_usage_percent')} % of the space.{later} With the "
            f"costs derived from IBM's sizes for CSQ_ADMIN, {float(derived.element_bytes):g} and {float(derived.entry_bytes):.0f} "
            f"bytes, it would hold {by_derived} messages instead of {capacity}.",
        )


def _offloaded_cost(curve: Curve, demand: Demand, filled: Fill, *, auto_alter: bool) -> Explanation:
    """Explain the storage that one more offloaded message uses of the pool that runs out [bytes of the structure]."""
    two = tables.constants("element_model")["offloaded_message_elements"].as_input()
    each = model_constant(two.name)
    inputs = [*curve_inputs(curve), two]
    bundle = "factor * ratio_elements * element_bytes"
    if auto_alter:
        inputs.append(
            Input("element_cost_bytes", curve.element_bytes, "bytes", Basis.ASSUMED, model_source())
        )
        formula = f"{bundle} - ratio_elements * element_cost_bytes + {two.name} * element_cost_bytes"
        value = curve.entry_bytes + each * curve.element_bytes
    # A full bundle with a message or more has no free entry: one more message needs a whole bundle.
    elif Fraction(filled.full.share * demand.messages, filled.full.q) >= 1:
        formula, value = bundle, curve.bundle
    else:
        formula = f"{two.name} / ratio_elements * {bundle}"
        value = Fraction(each, curve.ratio_elements) * curve.bundle
    return Explanation(
        "/bytes_per_offloaded_message",
        value,
        "bytes",
        formula,
        tuple(inputs),
        Basis.DERIVED,
        model_source(),
    )


def _explained(
    figure: str,
    value: int,
    phase: int,
    *,
    demand: Demand,
    rules: Sequence[Rule],
    pools: tuple[Pool, ...],
    size_bytes: Fraction,
    curve: Curve,
    auto_alter: bool,
) -> Explanation:
    """Explain the messages at the end of phase `phase` (from 0)."""
    inputs, steps = bundle_steps(curve, size_bytes=size_bytes, ratio=None, given=True)
    phases = phases_of(demand, rules=rules, pools=pools, assumed=auto_alter)
    return Explanation(
        figure=figure,
        value=value,
        unit="messages",
        formula=f"floor({phases.names[phase]} * messages * bundles)",
        inputs=(*inputs, *phases.inputs),
        steps=(*steps, *phases.steps),
        basis=Basis.ASSUMED if rules or auto_alter else Basis.DERIVED,
        source=model_source(),
    )
