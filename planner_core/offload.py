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

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner_core.demand import Band, Demand
from planner_core.errors import OutOfRange
from planner_core.structure_size import Curve, bundles_in, elements_for, model_constant
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
    """The structure at the moment a rule starts, at the planned backlog, or when it is full.

    `share` is the part of the planned backlog that has arrived; the other quantities are exact.
    """

    share: Fraction
    usage_percent: Fraction
    entries: Fraction
    elements: Fraction
    offloaded: Fraction
    pages: Fraction
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Fill:
    """A structure filling: the moments its rules start, and the moment it is full."""

    starts: tuple[FillPoint, ...]
    full: FillPoint
    messages: int

    @property
    def capacity(self) -> int:
        """Messages held when the structure is full."""
        return floor_fraction(self.full.share * self.messages)

    def at(self, share: Fraction) -> FillPoint:
        """The structure when that part of the planned backlog has arrived; when full at the latest."""
        before = FillPoint(*(Fraction(0),) * 6)
        for after in (*self.starts, self.full):
            if share <= after.share:
                run = after.share - before.share
                part = (share - before.share) / run if run else Fraction(0)
                return FillPoint(
                    share,
                    before.usage_percent + part * (after.usage_percent - before.usage_percent),
                    before.entries + part * (after.entries - before.entries),
                    before.elements + part * (after.elements - before.elements),
                    before.offloaded + part * (after.offloaded - before.offloaded),
                    before.pages + part * (after.pages - before.pages),
                )
            before = after
        return self.full


@dataclass(frozen=True, slots=True)
class Pool:
    """One thing that runs out: what an entry and an element draw on it, and how much there is."""

    entry_cost: Fraction
    element_cost: Fraction
    total: Fraction


def two_pools(bundles: Fraction, *, elements_per_entry: Fraction) -> tuple[Pool, ...]:
    """Entries and elements apart, at a ratio that stays as it is."""
    return (
        Pool(Fraction(1), Fraction(0), bundles),
        Pool(Fraction(0), Fraction(1), bundles * elements_per_entry),
    )


def altered_pool(size_bytes: int | Fraction, *, curve: Curve) -> tuple[Pool, ...]:
    """One storage for both, as if the ratio always followed the demand."""
    room = max(Fraction(0), size_bytes - curve.base)
    return (Pool(curve.entry_bytes, curve.element_bytes, room),)


def pools_of(
    size_bytes: int | Fraction, *, curve: Curve, ratio: tuple[int, int] | None = None, auto_alter: bool = False
) -> tuple[Pool, ...]:
    """The pools of a structure of that size."""
    if auto_alter:
        return altered_pool(size_bytes, curve=curve)
    per_entry = curve.bundle_at(ratio)[1]
    return two_pools(bundles_in(size_bytes, curve=curve, ratio=ratio), elements_per_entry=per_entry)


def fill(demand: Demand, *, rules: Sequence[Rule], pools: tuple[Pool, ...]) -> Fill:
    """Let the planned backlog arrive, and more in the same mix, until the structure is full.

    Args:
        demand: The backlog; at least one message, in bands cut at the rules' sizes.
        rules: The offload rules; those that are off are passed over.
        pools: What can run out.

    Raises:
        OutOfRange: There is no message to fill it with.
    """
    if demand.messages <= 0:
        raise OutOfRange(field="messages", value=demand.messages, lowest=1)
    two = model_constant("offloaded_message_elements")
    active = sorted((rule for rule in rules if rule.is_on), key=lambda rule: (rule.threshold, -rule.size_bytes))
    largest = demand.bands[-1].over_bytes
    entry_rate = Fraction(demand.messages)
    limit = largest
    used = [Fraction(0)] * len(pools)
    share = elements = offloaded = pages = Fraction(0)
    starts: list[FillPoint] = []
    for rule in (*active, None):
        element_rate, offload_rate, page_rate = _rates(demand.bands, limit, two)
        rates = [pool.entry_cost * entry_rate + pool.element_cost * element_rate for pool in pools]
        goal = rule.threshold if rule else _FULL
        run = min(
            ((pool.total * goal / _FULL - u) / rate for pool, u, rate in zip(pools, used, rates, strict=True) if rate),
            default=Fraction(0),
        )
        if run > 0:
            share += run
            elements += run * element_rate
            offloaded += run * offload_rate
            pages += run * page_rate
            used = [u + run * rate for u, rate in zip(used, rates, strict=True)]
        point = FillPoint(share, Fraction(goal), share * entry_rate, elements, offloaded, pages, rule)
        if rule is None:
            return Fill(tuple(starts), point, demand.messages)
        starts.append(point)
        limit = min(limit, rule.size_bytes)
    raise AssertionError  # pragma: no cover - the loop ends with None


def _rates(bands: Sequence[Band], limit: int, two: int) -> tuple[Fraction, Fraction, Fraction]:
    """Elements, offloaded messages and SMDS pages that the whole backlog would take, with data over `limit` offloaded."""
    elements = offloaded = pages = Fraction(0)
    for band in bands:
        if band.over_bytes >= limit:
            elements += two * band.messages
            offloaded += band.messages
            pages += band.pages
        else:
            elements += band.elements
    return elements, offloaded, pages


def bundles_for(demand: Demand, *, rules: Sequence[Rule], elements_per_entry: Fraction) -> Fraction:
    """Entries with their elements that hold the backlog with the rules at work.

    Thresholds are percentages, so what fits is proportional to the pools: one bundle is
    filled, and the answer is the reciprocal of the share that it held.
    """
    one = fill(demand, rules=rules, pools=two_pools(Fraction(1), elements_per_entry=elements_per_entry))
    return 1 / one.full.share


def rule_that_offloads(message_bytes: int, *, usage_percent: Fraction | int, rules: Sequence[Rule]) -> int | None:
    """Which rule (from 1) offloads a message at that usage; 0 when it is too large for the CF; None when it stays.

    Both tests are 'more than': exactly 32 KB, or exactly 70 %, does not fire OFFLD1TH(70) OFFLD1SZ(32K).
    """
    if message_bytes > model_constant("largest_message_in_cf_bytes"):
        return 0
    return next(
        (
            number
            for number, rule in enumerate(rules, start=1)
            if rule.size_bytes < RULE_OFF_BYTES and usage_percent > rule.threshold and message_bytes > rule.size_bytes
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
    bands = [Band(edge, Fraction(edge == over), Fraction(held if edge == over else 0), Fraction(0)) for edge in edges]
    return Demand(messages=1, elements=held, bands=tuple(bands))


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
    if not colon or not threshold.isascii() or not threshold.isdigit() or len(threshold) > 3 or int(threshold) > _FULL:
        raise OutOfRange(
            field="rule", value=repr(text), lowest="0:0K", highest="100:64K", advice="Write a rule as 70:32K."
        )
    size_bytes = parse_size(size, default_unit=None)
    if size_bytes > RULE_OFF_BYTES or size_bytes % KIB:
        raise OutOfRange(field="rule", value=repr(text), lowest="0K", highest="64K", advice="Sizes are whole K; 64K is off.")
    return Rule(threshold=int(threshold), size_bytes=size_bytes)


def smallest_bytes(bundles: Fraction, *, curve: Curve, ratio: tuple[int, int] | None = None) -> int:
    """The storage of that many entries with their elements [bytes, rounded up]."""
    return ceil_fraction(curve.base + curve.bundle_at(ratio)[0] * bundles)
