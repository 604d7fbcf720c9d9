"""The time until a structure is full, for outages that begin at every measured interval.

The observed days are laid out one after another. An outage begins at a time within an interval, with the fill of that
interval, and the puts of the following intervals arrive until a pool is full. A day that was not observed, and the day
after the last one, is replaced by the next observed day with its weekday. The share of outages that are still running
after N minutes is the probability of surviving N minutes.

Volumes are floating point: the result is an estimate of a probability, and sums of puts are far below 2**53.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from statistics import NormalDist
from typing import NamedTuple

from planner_core.sizing.offload import Rule
from planner_core.sizing.structure_size import model_constant
from planner_core.student import student_quantile

MINUTES_PER_DAY = 1440
LONGEST_MINUTES = 7 * MINUTES_PER_DAY
"""The longest outage that the model answers."""
_DAYS_AFTER = 8
_FULL = 100
_WEEK = 7
_LEAST_WEEKS = 4
_QUARTER_PARTS = 3
_LEAST_OUTAGES = 1_000
# Multiples of this number are spread evenly over an interval however many there are.
_GOLDEN = (math.sqrt(5) - 1) / 2
_TENTH = NormalDist().inv_cdf(0.9)


class Slot(NamedTuple):
    """The puts of one interval by band of message sizes, and the fill at its beginning."""

    puts: tuple[float, ...]
    elements: tuple[float, ...]
    """The list elements of these puts while their data stays in the coupling facility."""
    entries_in_use: float
    elements_in_use: float


@dataclass(frozen=True, slots=True)
class ObservedDay:
    """The intervals of one day, all of the same length; days given by hand have no date."""

    day: date | None
    slots: tuple[Slot, ...]


class Phase(NamedTuple):
    """The time until a usage is reached, and the number of bands whose data stays in the coupling facility until then."""

    until: float
    """The usage as a share."""
    staying: int


def phases_of(rules: Iterable[Rule], edges: Sequence[int]) -> tuple[Phase, ...]:
    """Return the phases of filling with these rules; bands lie between `edges`, of which the last is the largest that fits."""
    acting = sorted(
        (rule for rule in rules if rule.is_on), key=lambda rule: (rule.threshold, -rule.size_bytes)
    )
    size, found = edges[-1], []
    for rule in acting:
        found.append(Phase(rule.threshold / _FULL, bisect_right(edges, size)))
        size = min(size, rule.size_bytes)
    return (*found, Phase(1.0, bisect_right(edges, size)))


@dataclass(frozen=True, slots=True)
class Pools:
    """The list entries and list elements of a structure."""

    entries: float
    elements: float


class Growing(NamedTuple):
    """A growth of the volume per day as a logarithm, and its share in the probability."""

    per_day: float
    share: float


@dataclass(frozen=True, slots=True)
class SurvivalEstimate:
    """A probability with its interval; `low` and `high` are None if there are too few days for one."""

    probability: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class FillTimes:
    """The minutes until the structure is full, for each observed day and each growth, sorted."""

    weights: tuple[float, ...]
    by_growth: tuple[tuple[float, tuple[tuple[tuple[float, ...], ...], ...]], ...]
    """For each growth its share, and for each part of the quarter the sorted minutes of each day."""
    quarter_days: int

    def probability(self, minutes: float) -> float:
        """Return the share of outages during which the structure is not full after some minutes."""
        return sum(
            share * weight * each
            for share, shares in self._shares(minutes)
            for weight, each in zip(self.weights, shares, strict=True)
        )

    def by_growth_at(self, minutes: float) -> tuple[float, ...]:
        """Return the same share for each growth."""
        return tuple(self._weighted(shares) for _, shares in self._shares(minutes))

    def estimate(self, minutes: float, *, confidence: float, least_days: int) -> SurvivalEstimate:
        """Return the probability with an interval from the differences between days and between growths."""
        by_growth = list(self._shares(minutes))
        days = [
            sum(share * shares[index] for share, shares in by_growth) for index in range(len(self.weights))
        ]
        # Rounded, so that weights whose sum is not exactly 1 do not make a certain outcome uncertain.
        found = min(1.0, round(self._weighted(days), 12))
        if len(days) < least_days:
            return SurvivalEstimate(found, None, None)
        # The quarter has random days as well, so its share differs from the mean as that of so many observed days does.
        independent = self._independent(days, found) / (1 + len(days) / self.quarter_days)
        low, high = wilson(found, independent, confidence=confidence)
        # The growths are the tenth, fiftieth and ninetieth percentile, so their distance is scaled to the interval.
        widened = NormalDist().inv_cdf((1 + confidence) / 2) / _TENTH
        each = [self._weighted(shares) for _, shares in by_growth]
        low = found - math.hypot(found - low, widened * (found - min(*each, found)))
        high = found + math.hypot(high - found, widened * (max(*each, found) - found))
        return SurvivalEstimate(found, max(0.0, low), min(1.0, high))

    def longest(self, probability: float) -> float | None:
        """Return the longest outage that is survived with at least this probability [minutes]; None beyond the limit."""
        if self.probability(LONGEST_MINUTES) >= probability:
            return None
        low, high = 0.0, float(LONGEST_MINUTES)
        if self.probability(low) < probability:
            return 0.0
        # 24 halvings of a week are less than a tenth of a second.
        for _ in range(24):
            middle = (low + high) / 2
            if self.probability(middle) >= probability:
                low = middle
            else:
                high = middle
        return low

    def _shares(self, minutes: float) -> Iterator[tuple[float, list[float]]]:
        """Yield the share of each growth, and for each day the share of its outages that are survived."""
        for share, parts in self.by_growth:
            yield (
                share,
                [
                    sum(1 - bisect_right(part[index], minutes) / len(part[index]) for part in parts)
                    / len(parts)
                    for index in range(len(self.weights))
                ],
            )

    def _weighted(self, shares: Sequence[float]) -> float:
        return sum(weight * each for weight, each in zip(self.weights, shares, strict=True))

    def _independent(self, days: Sequence[float], found: float) -> float:
        """Return the number of independent outages that would differ as much as the days do."""
        # Days follow each other and are alike, so weeks may differ more than independent days would.
        spread = max(self._spread(days, found, 1), self._spread(days, found, _WEEK))
        known = found * (1 - found)
        if not spread or not known:
            return len(days)
        return min(known / spread, len(days) * 24.0)

    def _spread(self, days: Sequence[float], found: float, together: int) -> float:
        """Return the variance of the mean if groups of consecutive days are independent; 0 for too few groups."""
        groups = range(0, len(days), together)
        if len(groups) < (2 if together == 1 else _LEAST_WEEKS):
            return 0.0
        total = 0.0
        for begin in groups:
            part = slice(begin, begin + together)
            total += sum(w * (p - found) for w, p in zip(self.weights[part], days[part], strict=True)) ** 2
        return total * len(groups) / (len(groups) - 1) * _for_few(len(groups))


def _for_few(groups: int) -> float:
    """Return the factor by which a variance from few groups is larger, so that 90 % intervals keep their meaning."""
    return (student_quantile(0.95, groups - 1) / NormalDist().inv_cdf(0.95)) ** 2


def wilson(share: float, independent: float, *, confidence: float) -> tuple[float, float]:
    """Return the interval of a share by Wilson's formula, which also holds for shares of 0 and 1.

    >>> [round(each, 3) for each in wilson(1.0, 60, confidence=0.9)]
    [0.957, 1.0]
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    below = 1 + z * z / independent
    middle = (share + z * z / (2 * independent)) / below
    half = z * math.sqrt(share * (1 - share) / independent + z * z / (4 * independent**2)) / below
    return max(0.0, middle - half), min(1.0, middle + half)


def weights_of(days: Sequence[ObservedDay]) -> tuple[float, ...]:
    """Return the weight of each day: every weekday counts the same, however often it was observed."""
    counts: dict[int | None, int] = {}
    for each in days:
        counts[_weekday(each)] = counts.get(_weekday(each), 0) + 1
    return tuple(1 / (len(counts) * counts[_weekday(each)]) for each in days)


def fill_times(
    days: Sequence[ObservedDay],
    phases: Sequence[Phase],
    pools: Pools,
    growths: Sequence[Growing],
    *,
    quarter_days: int,
) -> FillTimes:
    """Return the minutes until the structure is full for an outage from each interval of these days.

    Args:
        days: The observed days in order.
        phases: The phases of filling.
        pools: The size of the structure.
        growths: The growths with their shares; three percentiles, or one.
        quarter_days: The number of days after the last observed one in which the outage happens.
    """
    chains = list(_chains(days, phases))
    # The middles of three thirds of the quarter stand for all its days.
    ahead = [quarter_days * (2 * part + 1) / (2 * _QUARTER_PARTS) for part in range(_QUARTER_PARTS)]
    last = days[-1].day
    by_growth = []
    for growing in growths:
        parts = []
        for distance in ahead if growing.per_day else ahead[:1]:
            part: list[tuple[float, ...]] = []
            for chain in chains:
                part += chain.times(pools, growing.per_day, distance, last)
            parts.append(tuple(part))
        by_growth.append((growing.share, tuple(parts)))
    return FillTimes(weights_of(days), tuple(by_growth), quarter_days)


# ---- one run of consecutive days -------------------------------------------------------------------------------------


class _Chain:
    """Consecutive observed days, and the days that follow them, with running totals."""

    def __init__(
        self, days: Sequence[ObservedDay], own: int, phases: Sequence[Phase], *, first: int, outages: int
    ) -> None:
        self.days, self.own, self.first, self.outages = days, own, first, outages
        slots = [slot for each in days for slot in each.slots]
        two = model_constant("offloaded_message_elements")
        self.entries = [0.0, *accumulate(sum(slot.puts) for slot in slots)]
        self.phases = [
            (
                phase.until,
                [
                    0.0,
                    *accumulate(
                        sum(slot.elements[: phase.staying]) + two * sum(slot.puts[phase.staying :])
                        for slot in slots
                    ),
                ],
            )
            for phase in phases
        ]

    def times(
        self, pools: Pools, per_day: float, distance: float, last: date | None
    ) -> Iterator[tuple[float, ...]]:
        """Yield the sorted minutes of each of its own days."""
        start = 0
        for each in self.days[: self.own]:
            age = 0 if last is None or each.day is None else (last - each.day).days
            factor = math.exp(per_day * (age + distance))
            length = MINUTES_PER_DAY / len(each.slots)
            found = []
            for place, slot in enumerate(each.slots):
                for number in range(self.outages):
                    offset = ((self.first + start + place) * self.outages + number) * _GOLDEN % 1
                    found.append(length * self._time(start + place + offset, slot, pools, factor))
            yield tuple(sorted(found))
            start += len(each.slots)

    def _time(self, begin: float, slot: Slot, pools: Pools, factor: float) -> float:
        """Return the number of intervals until the structure is full."""
        entries, elements = slot.entries_in_use * factor, slot.elements_in_use * factor
        at = begin
        for until, totals in self.phases:
            missing = (until * pools.entries - entries) / factor, (until * pools.elements - elements) / factor
            if min(missing) <= 0:
                continue
            reached = min(_reach(self.entries, at, missing[0]), _reach(totals, at, missing[1]))
            if reached == math.inf:
                return math.inf
            entries += factor * (_value(self.entries, reached) - _value(self.entries, at))
            elements += factor * (_value(totals, reached) - _value(totals, at))
            at = reached
        return at - begin


def _chains(days: Sequence[ObservedDay], phases: Sequence[Phase]) -> Iterator[_Chain]:
    """Yield the runs of consecutive days, each with the days that follow it."""
    begin, slots, outages = 0, 0, outages_per_interval(days)
    for index in range(len(days)):
        if index + 1 < len(days) and _follows(days[index], days[index + 1]):
            continue
        own = days[begin : index + 1]
        after: list[ObservedDay] = []
        at = index
        while len(after) < _DAYS_AFTER:
            at = _next(days, at, (days[index].day, len(after) + 1))
            after.append(days[at])
        yield _Chain([*own, *after], len(own), phases, first=slots, outages=outages)
        slots += sum(len(each.slots) for each in own)
        begin = index + 1


def outages_per_interval(days: Sequence[ObservedDay]) -> int:
    """Return the number of outages that begin in each interval: one, or more if there are few intervals."""
    return max(1, math.ceil(_LEAST_OUTAGES / sum(len(each.slots) for each in days)))


def _follows(one: ObservedDay, other: ObservedDay) -> bool:
    if one.day is None or other.day is None:
        return True
    return other.day - one.day == timedelta(days=1)


def _next(days: Sequence[ObservedDay], at: int, since: tuple[date | None, int]) -> int:
    """Return the next observed day with the weekday of the day that should follow; any day, if none has it."""
    day, distance = since
    if day is None:
        return (at + 1) % len(days)
    wanted = (day.weekday() + distance) % _WEEK
    for step in range(1, len(days) + 1):
        index = (at + step) % len(days)
        if _weekday(days[index]) == wanted:
            return index
    return (at + 1) % len(days)


def _weekday(each: ObservedDay) -> int | None:
    return None if each.day is None else each.day.weekday()


def _value(totals: Sequence[float], at: float) -> float:
    """Return the running total within an interval, whose puts arrive evenly."""
    index = min(int(at), len(totals) - 2)
    return totals[index] + (at - index) * (totals[index + 1] - totals[index])


def _reach(totals: Sequence[float], at: float, missing: float) -> float:
    """Return the place at which a running total has grown by an amount; infinity if it does not."""
    goal = _value(totals, at) + missing
    index = bisect_left(totals, goal, int(at) + 1)
    if index == len(totals):
        return math.inf
    before = totals[index - 1]
    return max(at, index - 1 + (goal - before) / (totals[index] - before))
