"""How a structure fills when offload rules are at work.

A rule offloads the data of messages over a size once the structure is more than a
percentage full. An offloaded message keeps one entry and two elements. The model is fluid:
messages of all queues arrive in the proportions of the planned backlog, each pool fills in
straight lines between the thresholds, and the usage of the structure is the fuller pool's
(an assumption, reported as USAGE_MEASURE_ASSUMED). Everything is exact; whole messages are
taken once, at the end, rounded down.

With the ratio altered by the system (`auto_alter`), entries and elements draw on one
storage, at the split of the curve, which is assumed.

Source of the rules and of both of IBM's worked examples: IBM MQ, Specifying offload options
for shared messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from planner_core import tables
from planner_core.demand import Band, Demand
from planner_core.errors import OutOfRange
from planner_core.findings import Finding, finding
from planner_core.messages import always_offloaded, cfcc_level_too_low
from planner_core.provenance import Basis, Explanation, Input, Step
from planner_core.structure_size import (
    Curve,
    CurveChoice,
    bundles_in,
    curve_inputs,
    elements_for,
    model_constant,
)
from planner_core.units import KIB, ceil_fraction, floor_fraction, parse_size

RULE_OFF_BYTES = 64 * KIB
"""OFFLDnSZ(64K) switches a rule off."""
_FULL = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """Offload data of messages over `size_bytes` when the structure is more than `threshold` percent full."""

    threshold: int
    size_bytes: int

    @property
    def is_on(self) -> bool:
        """Whether the rule can fire at all: usage never passes 100 %, and 64K means off."""
        return self.size_bytes < RULE_OFF_BYTES and self.threshold < _FULL


@dataclass(frozen=True, slots=True)
class FillPoint:
    """The structure at the moment a rule starts, or when it is full, for pools of one unit.

    All quantities are numerators over `q`: the share of the planned backlog that has
    arrived, the elements it takes, the messages whose data was offloaded, their SMDS pages.
    Common denominators instead of fractions, because this is the inner loop of every plan.
    """

    q: int
    share: int
    elements: int
    offloaded: int
    pages: int
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """One thing that runs out: what an entry and an element draw on it, and how much there is."""

    entry_cost: Fraction
    element_cost: Fraction
    total: Fraction


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A structure with a part of the backlog in it; all exact."""

    entries: Fraction
    elements: Fraction
    offloaded: Fraction
    pages: Fraction
    usage_percent: Fraction


@dataclass(frozen=True, slots=True)
class Fill:
    """A structure filling, with pools of one unit.

    Thresholds are percentages, so everything is proportional to the pools: a structure of
    `units` times these pools holds `units` times as much at each of these moments.
    """

    starts: tuple[FillPoint, ...]
    full: FillPoint
    messages: int
    pools: tuple[Pool, ...]

    def capacity(self, units: Fraction) -> int:
        """Messages held when the structure is full."""
        return self.messages_at(self.full, units)

    def messages_at(self, point: FillPoint, units: Fraction) -> int:
        """Messages held at that moment, rounded down."""
        return point.share * self.messages * units.numerator // (point.q * units.denominator)

    def holds_backlog(self, units: Fraction) -> bool:
        """Whether the whole planned backlog fits."""
        return self.full.share * units.numerator >= self.full.q * units.denominator

    def at_backlog(self, units: Fraction) -> Snapshot:
        """The structure with the planned backlog in it; when it is full, if that comes first."""
        goal = 1 / units
        before = FillPoint(1, 0, 0, 0, 0)
        for after in (*self.starts, self.full):
            if goal.numerator * after.q <= after.share * goal.denominator:
                return self._between(before, after, goal, units)
            before = after
        return self._between(before, self.full, Fraction(self.full.share, self.full.q), units)

    def _between(self, before: FillPoint, after: FillPoint, share: Fraction, units: Fraction) -> Snapshot:
        start = Fraction(before.share, before.q)
        run = Fraction(after.share, after.q) - start
        part = (share - start) / run if run else Fraction(0)

        def value(first: int, last: int) -> Fraction:
            low = Fraction(first, before.q)
            return low + part * (Fraction(last, after.q) - low)

        entries, elements = share * self.messages, value(before.elements, after.elements)
        usage = max(
            (pool.entry_cost * entries + pool.element_cost * elements) / pool.total for pool in self.pools
        )
        return Snapshot(
            entries=entries * units,
            elements=elements * units,
            offloaded=value(before.offloaded, after.offloaded) * units,
            pages=value(before.pages, after.pages) * units,
            usage_percent=usage * _FULL,
        )


def two_pools(bundles: Fraction, *, elements_per_entry: Fraction) -> tuple[Pool, ...]:
    """Entries and elements apart, at a ratio that stays as it is."""
    return (
        Pool(Fraction(1), Fraction(0), bundles),
        Pool(Fraction(0), Fraction(1), bundles * elements_per_entry),
    )


def fill(demand: Demand, *, rules: Sequence[Rule], pools: tuple[Pool, ...]) -> Fill:
    """Let the planned backlog arrive, and more in the same mix, until the structure is full.

    Args:
        demand: The backlog; at least one message, in bands cut at the rules' sizes.
        rules: The offload rules; those that are off are passed over.
        pools: What can run out; each total above 0.

    Raises:
        OutOfRange: There is no message to fill it with.
    """
    if demand.messages <= 0:
        raise OutOfRange(field="messages", value=demand.messages, lowest=1)
    active = sorted(
        (rule for rule in rules if rule.is_on), key=lambda rule: (rule.threshold, -rule.size_bytes)
    )
    limit = demand.bands[-1].over_bytes
    scaled = [_whole(pool, demand.scale) for pool in pools]
    used = [0] * len(scaled)
    q = 1
    share = elements = offloaded = pages = 0
    starts: list[FillPoint] = []
    for rule in active:
        limit_before = limit
        q, share, elements, offloaded, pages = _advance(
            demand, limit_before, rule.threshold, scaled, used, (q, share, elements, offloaded, pages)
        )
        starts.append(FillPoint(q, share, elements, offloaded, pages, rule))
        limit = min(limit, rule.size_bytes)
    state = _advance(demand, limit, _FULL, scaled, used, (q, share, elements, offloaded, pages))
    unit = demand.scale
    return Fill(
        starts=tuple(_unscaled(point, unit) for point in starts),
        full=_unscaled(FillPoint(*state), unit),
        messages=demand.messages,
        pools=pools,
    )


def _whole(pool: Pool, scale: int) -> tuple[int, int, int]:
    """Costs and total of a pool as whole numbers; the total also by the scale of the demand."""
    common = lcm(pool.entry_cost.denominator, pool.element_cost.denominator, pool.total.denominator)
    return int(pool.entry_cost * common), int(pool.element_cost * common), int(pool.total * common) * scale


def _unscaled(point: FillPoint, scale: int) -> FillPoint:
    """Counts of a scaled demand back to messages, elements and pages; the share has no scale."""
    if scale == 1:
        return point
    return FillPoint(
        point.q * scale, point.share * scale, point.elements, point.offloaded, point.pages, point.rule
    )


def _advance(
    demand: Demand,
    limit: int,
    goal: int,
    pools: list[tuple[int, int, int]],
    used: list[int],
    state: tuple[int, int, int, int, int],
) -> tuple[int, int, int, int, int]:
    """Fill on, with data over `limit` offloaded, until the first pool is `goal` percent full.

    `used` (numerators over q, one for each pool) is brought forward in place.
    """
    q, share, elements, offloaded, pages = state
    element_rate, offload_rate, page_rate = _rates(demand.bands, limit)
    entry_rate = demand.messages * demand.scale
    rates = [entry * entry_rate + element * element_rate for entry, element, _ in pools]
    room, rate = 0, 0
    for (_, _, total), pool_used, pool_rate in zip(pools, used, rates, strict=True):
        left = total * goal * q - _FULL * pool_used
        if pool_rate and (not rate or left * rate < room * pool_rate):
            room, rate = left, pool_rate
    if room <= 0:
        return state
    # The run is room / (100 q rate): bring everything to that denominator.
    factor = _FULL * rate
    for index, pool_rate in enumerate(rates):
        used[index] = used[index] * factor + room * pool_rate
    return (
        q * factor,
        share * factor + room,
        elements * factor + room * element_rate,
        offloaded * factor + room * offload_rate,
        pages * factor + room * page_rate,
    )


def _rates(bands: Sequence[Band], limit: int) -> tuple[int, int, int]:
    """Elements, offloaded messages and SMDS pages of the whole backlog, with data over `limit` offloaded."""
    elements = offloaded = pages = 0
    for band in bands:
        if band.over_bytes >= limit:
            offloaded += band.messages
            pages += band.pages
        else:
            elements += band.elements
    return elements + offloaded * model_constant("offloaded_message_elements"), offloaded, pages


def unit_fill(demand: Demand, *, rules: Sequence[Rule], elements_per_entry: Fraction) -> Fill:
    """A structure of one bundle filling: one entry with its elements."""
    return fill(demand, rules=rules, pools=two_pools(Fraction(1), elements_per_entry=elements_per_entry))


def bundles_for(filled: Fill) -> Fraction:
    """Bundles that hold the whole backlog: the reciprocal of the share that one of them holds."""
    return Fraction(filled.full.q, filled.full.share)


def can_fire(rule: Rule, demand: Demand) -> bool:
    """Whether the backlog has messages that this rule offloads and that are not offloaded anyway."""
    return any(band.messages and band.over_bytes >= rule.size_bytes for band in demand.bands[:-1])


def rule_that_offloads(
    message_bytes: int, *, usage_percent: Fraction | int, rules: Sequence[Rule]
) -> int | None:
    """Which rule (from 1) offloads a message at that usage; 0 when it is too large for the CF; None when it stays.

    Both tests are 'more than': exactly 32 KB, or exactly 70 %, does not fire OFFLD1TH(70) OFFLD1SZ(32K).
    """
    if message_bytes > model_constant("largest_message_in_cf_bytes"):
        return 0
    return next(
        (
            number
            for number, rule in enumerate(rules, start=1)
            if rule.size_bytes < RULE_OFF_BYTES
            and usage_percent > rule.threshold
            and message_bytes > rule.size_bytes
        ),
        None,
    )


def one_message(message_bytes: int, *, rules: Sequence[Rule], curve: Curve) -> Demand:
    """The demand of one message of that size, for asking how many such messages fit."""
    largest = model_constant("largest_message_in_cf_bytes")
    edges = (-1, *sorted({rule.size_bytes for rule in rules if rule.size_bytes < largest}), largest)
    over = max(edge for edge in edges if edge < message_bytes)
    is_large = over == largest
    held = (
        model_constant("offloaded_message_elements")
        if is_large
        else elements_for(message_bytes, header_bytes=curve.header_bytes)
    )
    bands = [Band(edge, int(edge == over), held if edge == over else 0, 0) for edge in edges]
    return Demand(messages=1, elements=held, bands=tuple(bands), scale=1)


@dataclass(frozen=True, slots=True)
class Reserve:
    """IBM's way to choose the threshold from which everything is offloaded."""

    reserved_bytes: int
    reserved_percent: Fraction
    highest_threshold: int
    advised_threshold: Fraction


def reserve_for(*, size_bytes: int, messages: int) -> Reserve:
    """The threshold of the last rule that leaves room for a number of offloaded messages.

    IBM's arithmetic: each takes 0.75 KB, so the threshold is at most 100 % less their share
    of the structure, and better 90 % less it, because one pool may run out first.

    References:
        IBM MQ, Specifying offload options for shared messages: 10 GB and 1 M messages give
        92 or lower, better around 80; 4 GB and 1 M messages give around 80.

    >>> reserve_for(size_bytes=parse_size("10G"), messages=1_000_000).highest_threshold
    92
    """
    if size_bytes <= 0:
        raise OutOfRange(field="size_bytes", value=size_bytes, lowest=1)
    reserved = messages * model_constant("ibm_offloaded_message_bytes")
    percent = Fraction(reserved * _FULL, size_bytes)
    return Reserve(
        reserved_bytes=reserved,
        reserved_percent=percent,
        highest_threshold=max(0, floor_fraction(_FULL - percent)),
        advised_threshold=max(Fraction(0), model_constant("ibm_advised_usage_percent") - percent),
    )


def parse_rule(text: str) -> Rule:
    """Read `TH:SZ`, such as `70:32K`.

    Raises:
        OutOfRange: No threshold from 0 to 100, or no size from 0K to 64K.
        SizeSyntax: The size cannot be read.
    """
    threshold, colon, size = text.partition(":")
    if not colon or not re.fullmatch(r"[0-9]{1,3}", threshold) or int(threshold) > _FULL:
        raise OutOfRange(
            field="rule", value=repr(text), lowest="0:0K", highest="100:64K", advice="Write a rule as 70:32K."
        )
    size_bytes = parse_size(size, default_unit=None)
    if size_bytes > RULE_OFF_BYTES or size_bytes % KIB:
        raise OutOfRange(
            field="rule",
            value=repr(text),
            lowest="0K",
            highest="64K",
            advice="Sizes are whole K; 64K is off.",
        )
    return Rule(threshold=int(threshold), size_bytes=size_bytes)


def smallest_bytes(bundles: Fraction, *, curve: Curve, ratio: tuple[int, int] | None = None) -> int:
    """The storage of that many entries with their elements [bytes, rounded up]."""
    return ceil_fraction(curve.base + curve.bundle_at(ratio)[0] * bundles)


def default_rules() -> tuple[Rule, ...]:
    """IBM's default rules: 70 % and 32K, 80 % and 4K, 90 % and 0K."""
    return tuple(
        Rule(int(row["usage_over_percent"]), int(row["size_over_kb"]) * KIB)
        for row in tables.table("offload_defaults").records()
    )


@dataclass(frozen=True, slots=True)
class OffloadAnswer:
    """What a structure holds of messages of one size, with and without rules."""

    figures: dict[str, object]
    findings: tuple[Finding, ...]
    explanations: tuple[Explanation, ...]


def offload_answer(
    size_bytes: Fraction,
    *,
    message_bytes: int,
    rules: Sequence[Rule],
    choice: CurveChoice,
    cfcc_level: int,
    auto_alter: bool = False,
    hold_messages: int | None = None,
) -> OffloadAnswer:
    """Answer the question `cfplan offload` asks.

    Args:
        size_bytes: Size of the structure [bytes].
        message_bytes: User data and MQ headers except the MQMD [bytes].
        rules: Up to three offload rules.
        choice: The curve, with what there is to say about it.
        cfcc_level: CF control code level, for its own finding.
        auto_alter: As if the ratio of entries to elements always followed the demand.
        hold_messages: Add IBM's arithmetic for the threshold that keeps room for so many [messages].
    """
    curve = choice.curve
    demand = one_message(message_bytes, rules=rules, curve=curve)
    met = [rule for rule in rules if rule.is_on and can_fire(rule, demand)]
    bundles = bundles_in(size_bytes, curve=curve)
    pools = two_pools(Fraction(1), elements_per_entry=curve.bundle_at(None)[1])
    if auto_alter:
        pools = (Pool(curve.entry_bytes, curve.element_bytes, curve.bundle),)
    plain, filled = fill(demand, rules=(), pools=pools), fill(demand, rules=met, pools=pools)
    steps = [
        {
            "threshold": p.rule.threshold,
            "size_bytes": p.rule.size_bytes,
            "at_messages": filled.messages_at(p, bundles),
        }
        for p in filled.starts
        if p.rule is not None
    ]
    figures: dict[str, object] = {
        "capacity": filled.capacity(bundles),
        "capacity_without_offload": plain.capacity(bundles),
        "steps": steps,
        "bytes_per_offloaded_message": float(_offloaded_cost(curve, demand, filled, auto_alter=auto_alter)),
        "ibm_bytes_per_offloaded_message": model_constant("ibm_offloaded_message_bytes"),
    }
    findings = [*choice.findings, *cfcc_level_too_low(cfcc_level), *always_offloaded(message_bytes)]
    if met:
        findings.append(
            finding(
                "USAGE_MEASURE_ASSUMED",
                "IBM does not publish how structure usage is measured; the fuller of entries and elements is taken.",
            )
        )
        if figures["capacity"] == figures["capacity_without_offload"] and bundles:
            findings.append(
                finding(
                    "OFFLOAD_GAINS_NOTHING",
                    "Offloading does not let the structure hold more messages of this size: entries run out, not elements, "
                    "unless the entry-to-element ratio is altered (--auto-alter).",
                )
            )
    if auto_alter:
        findings.append(
            finding(
                "ENTRY_ELEMENT_COST_ASSUMED",
                f"With an altered ratio an element is assumed to cost {float(curve.element_bytes):g} bytes and an entry "
                f"{float(curve.entry_bytes):.0f}: published figures know them only together. IBM calls automatic alter not very "
                f"sensitive and advises to plan on {model_constant('ibm_advised_usage_percent')} % of the space.",
            )
        )
    if hold_messages is not None:
        reserve = reserve_for(size_bytes=max(1, floor_fraction(size_bytes)), messages=hold_messages)
        figures["reserve"] = {
            "messages": hold_messages,
            "reserved_bytes": reserve.reserved_bytes,
            "highest_threshold": reserve.highest_threshold,
            "advised_threshold": float(reserve.advised_threshold),
        }
    explanations = _explain_answer(figures, demand, met, pools, size_bytes, curve, auto_alter=auto_alter)
    return OffloadAnswer(figures=figures, findings=tuple(findings), explanations=explanations)


def _offloaded_cost(curve: Curve, demand: Demand, filled: Fill, *, auto_alter: bool) -> Fraction:
    """What one more offloaded message takes of the pool that runs out, in bytes of the structure."""
    two = model_constant("offloaded_message_elements")
    if auto_alter:
        return curve.entry_bytes + two * curve.element_bytes
    entries = Fraction(filled.full.share * demand.messages, filled.full.q)
    return curve.bundle if entries >= 1 else Fraction(two, curve.ratio_elements) * curve.bundle


def _explain_answer(
    figures: dict[str, object],
    demand: Demand,
    met: Sequence[Rule],
    pools: tuple[Pool, ...],
    size_bytes: Fraction,
    curve: Curve,
    *,
    auto_alter: bool,
) -> tuple[Explanation, ...]:
    """The same arithmetic as formulas: what each phase adds until the first pool is full."""
    source = tables.source("project", "Two pools")
    costs = ("entry_cost", "element_cost")
    inputs = [
        *curve_inputs(curve),
        Input("size_bytes", size_bytes, "bytes", Basis.GIVEN),
        Input(
            "elements_in_cf",
            demand.elements,
            "elements",
            Basis.DERIVED,
            tables.source("project", "The element model"),
        ),
        tables.constants("element_model")["offloaded_message_elements"].as_input(),
    ]
    for number, pool in enumerate(pools, start=1):
        basis = Basis.ASSUMED if auto_alter else Basis.DERIVED
        for name, value in zip(costs, (pool.entry_cost, pool.element_cost), strict=True):
            inputs.append(Input(f"{name}_{number}", value, "", basis, source))
        inputs.append(Input(f"pool_{number}", pool.total, "", basis, source))
    bundles = bundles_in(size_bytes, curve=curve)
    bundle_steps = (
        Step("bundle_bytes", "factor * ratio_elements * element_bytes", curve.bundle),
        Step("bundles", "max(0, (size_bytes - base_mib * bytes_per_mib) / bundle_bytes)", bundles),
    )

    def explained(figure: str, value: int, rules: Sequence[Rule], stop: int) -> Explanation:
        steps, total, elements = list(bundle_steps), Fraction(0), demand.elements
        used = [Fraction(0)] * len(pools)
        ordered = sorted(rules, key=lambda rule: (rule.threshold, -rule.size_bytes))
        goals = [*(rule.threshold for rule in ordered), _FULL]
        name = "0"
        for phase, goal in enumerate(goals[: stop + 1], start=1):
            held = "elements_in_cf" if phase == 1 else "offloaded_message_elements"
            elements = (
                demand.elements
                if phase == 1
                else min(demand.elements, model_constant("offloaded_message_elements"))
            )
            rates = [pool.entry_cost + pool.element_cost * elements for pool in pools]
            parts = []
            run: Fraction | None = None
            for number, (pool, rate, before) in enumerate(zip(pools, rates, used, strict=True), start=1):
                if not rate:
                    continue
                left = goal * pool.total / _FULL - before
                steps.append(
                    Step(
                        f"left_{number}_{phase}",
                        f"{goal} * pool_{number} / 100 - "
                        + (f"used_{number}_{phase - 1}" if phase > 1 else "0"),
                        left,
                    )
                )
                parts.append(
                    f"left_{number}_{phase} / (entry_cost_{number} + element_cost_{number} * {held})"
                )
                run = left / rate if run is None else min(run, left / rate)
            now = max(Fraction(0), run or Fraction(0))
            steps.append(
                Step(
                    f"more_{phase}",
                    f"max(0, min({', '.join(parts)}))" if len(parts) > 1 else f"max(0, {parts[0]})",
                    now,
                )
            )
            used = [before + now * rate for before, rate in zip(used, rates, strict=True)]
            for number, value_used in enumerate(used, start=1):
                before_name = f"used_{number}_{phase - 1}" if phase > 1 else "0"
                steps.append(
                    Step(
                        f"used_{number}_{phase}",
                        f"{before_name} + more_{phase} * (entry_cost_{number} + element_cost_{number} * {held})",
                        value_used,
                    )
                )
            total += now
            steps.append(Step(f"held_{phase}", f"{name} + more_{phase}", total))
            name = f"held_{phase}"
        return Explanation(
            figure,
            value,
            "messages",
            f"floor({name} * bundles)",
            tuple(inputs),
            Basis.ASSUMED if rules or auto_alter else Basis.DERIVED,
            source,
            tuple(steps),
        )

    found = [
        explained("/capacity", int(str(figures["capacity"])), met, len(met)),
        explained("/capacity_without_offload", int(str(figures["capacity_without_offload"])), (), 0),
    ]
    starts = figures["steps"]
    if isinstance(starts, list):
        found.extend(
            explained(f"/steps/{index}/at_messages", start["at_messages"], met, index)
            for index, start in enumerate(starts)
        )
    return tuple(found)
