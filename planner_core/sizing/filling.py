"""The filling of a structure with active offload rules.

An offloaded message keeps one entry and two elements. The model is fluid: messages of all queues arrive in the
proportions of the planned backlog, each pool fills linearly between the thresholds, and the usage of the structure is
that of the fuller pool (an assumption, reported as USAGE_MEASURE_ASSUMED). The arithmetic of that model is exact; the
number of messages is rounded down once, at the end. Compared with a message-by-message count, each rule can start one
message early.

Thresholds are percentages, so capacity is proportional to the pools: one bundle (an entry
with its elements) is filled, and a structure of n bundles holds n times as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import NamedTuple

from planner_core.errors import OutOfRange
from planner_core.sizing.demand import Band, Demand
from planner_core.sizing.offload import Rule, firing
from planner_core.sizing.structure_size import Curve, model_constant
from planner_core.units import ceil_div, ceil_fraction

_FULL = 100


@dataclass(frozen=True, slots=True)
class Pool:
    """A resource that can run out: the amount that an entry and an element use of it, and the amount in a bundle.

    `whole` has the same three amounts as integers over the denominator `common`, for the inner loop.
    """

    entry_cost: Fraction
    element_cost: Fraction
    total: Fraction
    whole: tuple[int, int, int] = field(init=False)
    common: int = field(init=False)

    def __post_init__(self) -> None:
        """Convert the three amounts to a common denominator."""
        common = lcm(self.entry_cost.denominator, self.element_cost.denominator, self.total.denominator)
        scaled = (int(self.entry_cost * common), int(self.element_cost * common), int(self.total * common))
        object.__setattr__(self, "whole", scaled)
        object.__setattr__(self, "common", common)


@lru_cache(maxsize=64)
def two_pools(elements_per_entry: Fraction) -> tuple[Pool, ...]:
    """Return separate pools of entries and elements, at a fixed ratio."""
    return (Pool(Fraction(1), Fraction(0), Fraction(1)), Pool(Fraction(0), Fraction(1), elements_per_entry))


@lru_cache(maxsize=64)
def altered_pool(curve: Curve) -> tuple[Pool, ...]:
    """Return one pool for both, as if the ratio always followed the demand; it uses the curve's assumed split."""
    # With automatic alter, freed elements become entries, so only the storage of a bundle can run out.
    return (Pool(curve.entry_bytes, curve.element_bytes, curve.bundle),)


class FillPoint(NamedTuple):
    """One bundle at the moment a rule starts, or when it is full.

    All quantities are numerators over `q`: the share of the planned backlog that has
    arrived, the elements it uses, the messages whose data was offloaded, their SMDS pages.
    Common denominators instead of fractions, because this is the inner loop of every plan.
    """

    q: int
    share: int
    elements: int
    offloaded: int
    pages: int
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A structure with the planned backlog, or the part of it that fits; messages and pages are rounded up."""

    offloaded: int
    pages: int
    usage_percent: Fraction


@dataclass(frozen=True, slots=True)
class Fill:
    """The filling of one bundle: the moments when its rules start, and the moment when it is full.

    `levels` has the moments at which it reaches some usages, by percentage.
    """

    starts: tuple[FillPoint, ...]
    full: FillPoint
    messages: int
    pools: tuple[Pool, ...]
    levels: Mapping[int, FillPoint] = field(default_factory=dict)

    def capacity(self, bundles: Fraction) -> int:
        """Return the number of messages in a full structure."""
        return self.messages_at(self.full, bundles)

    def pages(self, bundles: Fraction) -> int:
        """Return the number of SMDS pages of a full structure, rounded up."""
        return ceil_div(self.full.pages * bundles.numerator, self.full.q * bundles.denominator)

    def messages_at(self, point: FillPoint, bundles: Fraction) -> int:
        """Return the number of messages at a moment, rounded down."""
        # One division of integers rounds exactly once; a float would lose digits from 2**53 on.
        return point.share * self.messages * bundles.numerator // (point.q * bundles.denominator)

    def at_backlog(self, bundles: Fraction, *, messages: int | None = None) -> Snapshot:
        """Return the state of the structure at the planned backlog, or when it is full if it cannot hold the backlog.

        `messages` of the same mix replace the planned ones: a structure with twice the backlog
        is like one of half the size with the backlog, counted twice.
        """
        if messages is not None:
            bundles = bundles * self.messages / messages
        times = (messages or self.messages, self.messages)
        whole, part = bundles.numerator, bundles.denominator
        before = FillPoint(1, 0, 0, 0, 0)
        for after in (*self.starts, self.full):
            # One bundle has its part of the backlog, 1 / bundles, before this moment.
            if part * after.q <= after.share * whole:
                return self._between(before, after, bundles, times)
            before = after
        return self._between(self.full, self.full, bundles, times)

    def _between(
        self, before: FillPoint, after: FillPoint, bundles: Fraction, times: tuple[int, int]
    ) -> Snapshot:
        """Return the values on the straight line between two moments, at the point where all of the backlog has arrived.

        Counts are multiplied by `times`, a numerator and a denominator.
        """
        whole, part = bundles.numerator, bundles.denominator
        up = after.q // before.q
        start = before.share * up
        run, gone = (after.share - start) * whole, part * after.q - start * whole
        if after is before:
            run, gone = 1, 0
        below = run * after.q * part

        def value(first: int, last: int) -> int:
            low = first * up
            return (low * run + gone * (last - low)) * whole

        entries = value(before.share, after.share) * self.messages
        elements = value(before.elements, after.elements)
        # Usage is that of the fuller pool: the first to run out fills the structure (reason code 2192).
        most, of = 0, 1
        for entry_cost, element_cost, total in (pool.whole for pool in self.pools):
            used = entry_cost * entries + element_cost * elements
            if used * of > most * total:
                most, of = used, total
        return Snapshot(
            offloaded=ceil_div(value(before.offloaded, after.offloaded) * times[0], below * times[1]),
            pages=ceil_div(value(before.pages, after.pages) * times[0], below * times[1]),
            usage_percent=Fraction(most * _FULL * part, of * below * whole),
        )


def fill(
    demand: Demand, *, rules: Sequence[Rule], pools: tuple[Pool, ...], levels: Sequence[int] = ()
) -> Fill:
    """Fill a bundle with the planned backlog, and with more of the same mix, until it is full.

    Args:
        demand: The backlog; at least one message, in bands cut at the rules' sizes.
        rules: The offload rules; rules that are off are ignored.
        pools: The pools, each with a total above 0.
        levels: Usages whose moments are wanted [percent, at most 100].

    Raises:
        OutOfRange: The demand has no messages.
    """
    if demand.messages <= 0:
        raise OutOfRange(field="messages", value=demand.messages, lowest=1)
    active = sorted([rule for rule in rules if rule.is_on], key=order)
    limit, scale = demand.bands[-1].over_bytes, demand.scale
    # While the structure fills, entries arrive at one rate, and only the rate of elements changes.
    entry_rate = demand.messages * scale
    costs = [
        (entry * entry_rate, element, total * scale) for entry, element, total in [p.whole for p in pools]
    ]
    used = [0] * len(costs)
    q, share, elements, offloaded, pages = 1, 0, 0, 0, 0
    starts: list[FillPoint] = []
    reached: dict[int, FillPoint] = {}
    # Without offload the bound on elements holds for any shape of message sizes. A rule separates messages by size, which
    # needs the assumed shape (docs/explanation/assumptions.md, "Message size distributions").
    beyond = 0 if firing(active, demand) else demand.beyond
    element_rate, offload_rate, page_rate = rates_over(demand.bands, limit)
    element_rate += beyond
    for goal in sorted({*[rule.threshold for rule in active], *levels, _FULL}):
        # The pool that reaches its goal first, and the room left in it, in parts of 100 q.
        room, rate, rates = 0, 0, []
        for place, (entries, element, total) in enumerate(costs):
            pool_rate = entries + element * element_rate
            left = total * goal * q - _FULL * used[place]
            rates.append(pool_rate)
            if not rate or left * rate < room * pool_rate:
                room, rate = left, pool_rate
        # No room is left at a threshold of 0.
        if room > 0:
            # The run is room / (100 q rate): bring everything to that denominator.
            factor = _FULL * rate
            for place, pool_rate in enumerate(rates):
                used[place] = used[place] * factor + room * pool_rate
            q, share = q * factor, share * factor + room
            elements = elements * factor + room * element_rate
            offloaded = offloaded * factor + room * offload_rate
            pages = pages * factor + room * page_rate
        # Counts of a scaled demand are brought back to messages; the share has no scale.
        if goal in levels or goal == _FULL:
            reached[goal] = FillPoint(q * scale, share * scale, elements, offloaded, pages)
        for rule in active:
            if rule.threshold == goal:
                starts.append(FillPoint(q * scale, share * scale, elements, offloaded, pages, rule))
                # A rule adds to those before it: a later one for larger messages changes nothing.
                if rule.size_bytes < limit:
                    limit = rule.size_bytes
                    element_rate, offload_rate, page_rate = rates_over(demand.bands, limit)
                    element_rate += beyond
    return Fill(
        starts=tuple(starts),
        full=reached[_FULL],
        messages=demand.messages,
        pools=pools,
        levels=reached,
    )


def order(rule: Rule) -> tuple[int, int]:
    """Return the key that sorts rules by threshold, and rules with the same threshold by size, the largest first."""
    return rule.threshold, -rule.size_bytes


def rates_over(bands: Sequence[Band], limit: int) -> tuple[int, int, int]:
    """Return elements, offloaded messages and SMDS pages of the whole backlog, with data over `limit` offloaded."""
    elements = offloaded = pages = 0
    for band in bands:
        if band.over_bytes >= limit:
            offloaded += band.messages
            pages += band.pages
        else:
            elements += band.elements
    return elements + offloaded * model_constant("offloaded_message_elements"), offloaded, pages


def bundles_for(filled: Fill) -> Fraction:
    """Return the number of bundles that hold the whole backlog: the reciprocal of the share that one of them holds."""
    return Fraction(filled.full.q, filled.full.share)


def smallest_bytes(bundles: Fraction, *, curve: Curve, ratio: tuple[int, int] | None = None) -> int:
    """Return the storage of a number of bundles [bytes, rounded up]."""
    return ceil_fraction(curve.base + curve.bundle_at(ratio)[0] * bundles)
