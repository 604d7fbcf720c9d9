"""The calculation of advice on queue depths: usage levels, shares of the backlog, single queues and all queues together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from operator import attrgetter
from typing import Literal, NamedTuple

from planner_core.document.model import PlanDocument, Queue, Structure
from planner_core.document.size_distribution import SizeDistribution
from planner_core.limits import limit
from planner_core.sizing.demand import Demand, QueueDemand, Units, growth_factor
from planner_core.sizing.depth_advice import (
    PERCENT,
    Alone,
    DepthAdvice,
    InForce,
    JointLead,
    QueueAdvice,
    QueuesTogether,
    QueueThresholds,
)
from planner_core.sizing.filling import Fill, FillPoint, Pool, bundles_for, fill, two_pools
from planner_core.sizing.filling_alone import FillingsAlone
from planner_core.sizing.known_queues import KnownQueues, units_of
from planner_core.sizing.offload import Rule, can_fire, firing
from planner_core.sizing.structure_result import Load
from planner_core.sizing.structure_size import Curve, model_constant
from planner_core.units import as_fraction

PARTS = 10**9
"""The precision to which shares of the backlog are rounded down, so that their explanations are readable."""
EVENT_KEYS = ("maxdepth", "qdepthhi", "qdepthlo", "qdphiev", "qdploev", "qdpmaxev", "qsvciev", "curdepth")
_THRESHOLDS: tuple[Literal["maxdepth", "qdepthhi", "qdepthlo"], ...] = ("maxdepth", "qdepthhi", "qdepthlo")
_RATE_KEYS = ("get_rate_per_s", "queue_manager_rates")
_own = attrgetter(*EVENT_KEYS, *_RATE_KEYS)
"""A function that reads everything that a document can state about the depth events of one queue."""
_SILENT = (None,) * len(EVENT_KEYS + _RATE_KEYS)
_NO_VALUES = InForce()
Parts = tuple[Fraction | None, Fraction | None, Fraction | None]
"""The number of times that the planned backlog fits in INITSIZE at the action level, at FULLTHRESHOLD, and when it is
full."""


def level_rule(percent: int) -> Rule:
    """Return a rule that offloads nothing and marks the moment at which a structure reaches a usage."""
    return Rule(percent, model_constant("largest_message_in_cf_bytes"))


def action_level(structure: Structure, *, rules: Sequence[Rule], demand: Demand) -> tuple[str, int]:
    """Return the limit that a structure meets first as it fills: its name, and its usage [percent]."""
    # Nothing begins at 0: FULLTHRESHOLD(0) turns monitoring off, and a rule with that threshold is always active.
    found = [
        (rule.threshold, f"OFFLD{number}TH")
        for number, rule in enumerate(rules, start=1)
        if rule.is_on and rule.threshold and can_fire(rule, demand)
    ]
    if structure.full_threshold:
        found.append((structure.full_threshold, "FULLTHRESHOLD"))
    if structure.event_target_percent is not None:
        found.append((structure.event_target_percent, "event_target_percent"))
    percent, name = min(found, key=lambda each: each[0], default=(PERCENT, "full"))
    return name, percent


class UsageLevels(NamedTuple):
    """The usages of a structure on which advice is based [percent], and the name of the first."""

    action: str
    action_percent: int
    threshold_percent: int

    @classmethod
    def of(cls, structure: Structure, rules: Sequence[Rule], demand: Demand) -> UsageLevels:
        """Return the levels of a structure with these offload rules and this backlog."""
        return cls(*action_level(structure, rules=rules, demand=demand), structure.full_threshold or PERCENT)

    @property
    def percents(self) -> tuple[int, int]:
        """Return both usages."""
        return self.action_percent, self.threshold_percent


def places_with_events(queues: Sequence[Queue]) -> list[int]:
    """Return the places of the queues for which the document states something about depth events."""
    return [place for place, queue in enumerate(queues) if _own(queue) != _SILENT]


def advise(
    document: PlanDocument,
    structure: Structure,
    load: Load,
    queues: Sequence[QueueDemand],
    usage: UsageLevels,
    *,
    stated: Sequence[int],
    curve: Curve,
    known: KnownQueues | None = None,
) -> DepthAdvice:
    """Return advice for the queues of a structure with its INITSIZE.

    Args:
        document: The plan.
        structure: The structure's entry in it.
        load: The load of the structure, whose filling has the moments at these levels.
        queues: The backlogs of its queues at the horizon, in the order of the document.
        usage: The levels of the structure.
        stated: The places of the queues with depth events in the document.
        curve: The curve in use.
        known: The queues of earlier evaluations of the plan, if it is evaluated several times.
    """
    advisor = QueueAdvisor.of(document, structure, load, queues, curve, known)
    parts = advisor.parts
    return DepthAdvice(
        action=usage.action,
        action_percent=usage.action_percent,
        threshold_percent=usage.threshold_percent,
        action_part=parts[0],
        threshold_part=parts[1],
        full_part=parts[2],
        messages=load.demand.messages,
        event_messages=advisor.members.enabled_count,
        stated=stated,
        together=advisor.together() if stated else None,
        lead=advisor.joint_lead(stated) if stated else None,
        advisor=advisor,
    )


def _filled(demand: Demand, rules: Sequence[Rule], pools: tuple[Pool, ...], percents: Sequence[int]) -> Fill:
    """Return the filling of one bundle, with the moments at which it reaches these usages."""
    return fill(demand, rules=firing(rules, demand), pools=pools, levels=percents)


def levels(filled: Fill, *percents: int) -> tuple[FillPoint, ...]:
    """Return the moments at which a filling has these usages, and the moment it is full."""
    return (*[filled.levels[percent] for percent in percents], filled.full)


def _advised(messages: int, parts: Parts) -> InForce:
    at_action, at_threshold, when_full = parts
    if not messages or at_action is None or at_threshold is None or when_full is None:
        return _NO_VALUES
    # MAXDEPTH covers the planned backlog even above FULLTHRESHOLD: a lower one would refuse planned messages (2053).
    most = messages * when_full.numerator // when_full.denominator
    wanted = max(messages, messages * at_threshold.numerator // at_threshold.denominator)
    maxdepth = min(most, wanted, limit("largest_maxdepth"))
    return _completed(maxdepth, messages, at_action) if maxdepth else _NO_VALUES


def _completed(
    maxdepth: int,
    messages: int,
    at_action: Fraction | None,
    *,
    qdepthhi: int | None = None,
    qdepthlo: int | None = None,
) -> InForce:
    """Return the thresholds for a MAXDEPTH: the given ones, and the highest useful values for the others."""
    if qdepthhi is None and maxdepth and at_action is not None:
        high = messages * at_action.numerator // at_action.denominator
        # Rounded down, so that the event never comes after the action level; a QDEPTHHI at or below QDEPTHLO is not
        # advised.
        advised = min(limit("default_qdepthhi_percent"), PERCENT * high // maxdepth)
        qdepthhi = advised if advised > (qdepthlo or 0) else None
    # IBM publishes no rule for QDEPTHLO, so it keeps the ratio of IBM's defaults.
    if qdepthlo is None and qdepthhi is not None:
        qdepthlo = qdepthhi * limit("default_qdepthlo_percent") // limit("default_qdepthhi_percent")
    return InForce(maxdepth, qdepthhi, qdepthlo)


@dataclass(frozen=True)
class Members:
    """The queue managers of the group and their PERFMEV, which may be unknown."""

    count: int
    enabled: frozenset[str]
    all_enabled: bool
    is_stated: bool

    @classmethod
    def of(cls, document: PlanDocument) -> Members:
        """Return the members as the document states them."""
        stated = document.perfmev
        by_name = stated if isinstance(stated, dict) else {}
        return cls(
            count=document.queue_manager_count,
            enabled=frozenset(name for name, switch in by_name.items() if switch == "ENABLED"),
            all_enabled=stated == "ENABLED",
            is_stated=stated is not None,
        )

    @property
    def enabled_count(self) -> int | None:
        """Return how many messages one event causes if all queue managers are active; None if PERFMEV is not stated."""
        # Every active queue manager with PERFMEV(ENABLED) writes its own message for an event of a shared queue.
        if not self.is_stated:
            return None
        return self.count if self.all_enabled else len(self.enabled)

    def heard(self, by_name: Mapping[str, Fraction] | None) -> tuple[Fraction, Fraction, str]:
        """Return the activity of queue managers with PERFMEV(ENABLED), the activity of all of them, and its unit."""
        # Without rates for each, all queue managers are assumed to be equally active.
        if by_name is None:
            return Fraction(self.enabled_count or 0), Fraction(self.count), "queue managers"
        heard = (rate for name, rate in by_name.items() if self.all_enabled or name in self.enabled)
        return sum(heard, Fraction(0)), sum(by_name.values(), Fraction(0)), "messages/s"

    def silent(self, queue: Queue, key: Literal["put_rate_per_s", "get_rate_per_s"]) -> Fraction | None:
        """Return the share of a queue's activity on queue managers without PERFMEV(ENABLED)."""
        by_name = members_rates(queue, key) if self.is_stated else None
        if by_name is None:
            return self.silent_members
        heard, total, _ = self.heard(by_name)
        return 1 - heard / total if total else None

    @cached_property
    def silent_members(self) -> Fraction | None:
        """Return the share of queue managers without PERFMEV(ENABLED); None if the plan does not state PERFMEV."""
        return 1 - Fraction(self.enabled_count or 0, self.count) if self.is_stated and self.count else None


def rates_of(queue: Queue) -> tuple[Fraction | None, Fraction | None]:
    """Return puts and gets per second in normal running, as the document states them."""
    if queue.get_rate_per_s is not None and queue.put_rate_per_s is not None:
        return as_fraction(queue.put_rate_per_s), as_fraction(queue.get_rate_per_s)
    if queue.queue_manager_rates:
        found = queue.queue_manager_rates.values()
        return (
            sum((as_fraction(each.put_rate_per_s) for each in found), Fraction(0)),
            sum((as_fraction(each.get_rate_per_s) for each in found), Fraction(0)),
        )
    return (None if queue.put_rate_per_s is None else as_fraction(queue.put_rate_per_s)), None


def members_rates(
    queue: Queue, key: Literal["put_rate_per_s", "get_rate_per_s"]
) -> dict[str, Fraction] | None:
    """Return puts, or gets, per second by queue manager; None if the document does not state them."""
    if not queue.queue_manager_rates:
        return None
    return {name: as_fraction(getattr(each, key)) for name, each in queue.queue_manager_rates.items()}


@dataclass(frozen=True)
class QueueAdvisor:
    """A calculator of the figures of one structure's queues, from its load."""

    structure: Structure
    load: Load
    queues: Sequence[QueueDemand]
    curve: Curve
    factor: Fraction
    members: Members
    known_fillings: FillingsAlone | None = None
    known: dict[int | SizeDistribution, Alone] = field(default_factory=dict)

    # The parts of the document instead of the document, because structures are kept with their advice.
    @classmethod
    def of(
        cls,
        document: PlanDocument,
        structure: Structure,
        load: Load,
        queues: Sequence[QueueDemand],
        curve: Curve,
        known: KnownQueues | None = None,
    ) -> QueueAdvisor:
        """Return the calculator for one structure of a plan; `known` has the queues of its earlier evaluations."""
        growth = document.growth
        advisor = cls(
            structure,
            load,
            queues,
            curve,
            growth_factor(percent_per_year=growth.percent_per_year, years=growth.years),
            Members.of(document),
        )
        # Only the fillings, because structures are kept with their advice, and `known` has the queues of the whole plan.
        return advisor if known is None else replace(advisor, known_fillings=advisor.fillings_in(known))

    # Calculated when needed, because most plans state nothing about depth events.
    @cached_property
    def usage(self) -> UsageLevels:
        """Return the levels of the structure."""
        return UsageLevels.of(self.structure, self.load.rules, self.load.demand)

    @property
    def action_percent(self) -> int:
        """Return the action level."""
        return self.usage.action_percent

    @property
    def threshold_percent(self) -> int:
        """Return FULLTHRESHOLD."""
        return self.usage.threshold_percent

    @cached_property
    def units(self) -> Units:
        """Return the entries and elements of one message of each queue."""
        return self.load.units or units_of(self.queues, self.load.rules, self.curve)

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """Return the pools of one bundle."""
        return two_pools(self.curve.bundle_at(self.load.ratio)[1])

    @cached_property
    def parts(self) -> Parts:
        """Return how often the planned backlog fits in INITSIZE at each level."""
        if self.load.with_offload is None:
            return None, None, None
        whole, part = self.load.bundles_in_initsize.as_integer_ratio()
        at_action, at_threshold, when_full = [
            Fraction(point.share * whole * PARTS // (point.q * part), PARTS)
            for point in levels(self.load.with_offload, *self.usage.percents)
        ]
        return at_action, at_threshold, when_full

    @cached_property
    def in_force(self) -> tuple[InForce, ...]:
        """Return the thresholds in force of every queue, in the order of the document."""
        # All of the queues, because those without depth events fill the structure together with the others.
        return tuple(
            [
                self._in_force(queue, demand.messages)
                for queue, demand in zip(self.structure.queues, self.queues, strict=True)
            ]
        )

    def _in_force(self, queue: Queue, messages: int) -> InForce:
        """Return the thresholds that the document states for a queue, completed by advice."""
        maxdepth, qdepthhi, qdepthlo = queue.maxdepth, queue.qdepthhi, queue.qdepthlo
        if maxdepth is None:
            maxdepth = _advised(messages, self.parts).maxdepth
        if maxdepth is None or (qdepthhi is not None and qdepthlo is not None):
            return InForce(maxdepth, qdepthhi, qdepthlo)
        return _completed(maxdepth, messages, self.parts[0], qdepthhi=qdepthhi, qdepthlo=qdepthlo)

    def advice(self, place: int) -> QueueAdvice:
        """Return the advice for the queue at this place."""
        queue = self.structure.queues[place]
        maxdepth, qdepthhi, qdepthlo = _advised(self.queues[place].messages, self.parts)
        says = self.members.is_stated or _own(queue) != _SILENT
        # Named one by one: `asdict` would copy each value, which takes most of the time of a large plan.
        return QueueAdvice(
            name=queue.name,
            planned=self._planned(place, queue) if says else None,
            maxdepth=maxdepth,
            qdepthhi=qdepthhi,
            qdepthlo=qdepthlo,
        )

    def _planned(self, place: int, queue: Queue) -> QueueThresholds:
        """Return the thresholds in force of a queue, and their effects."""
        maxdepth, qdepthhi, qdepthlo = self.in_force[place]
        puts, gets = rates_of(queue)
        return QueueThresholds(
            maxdepth=maxdepth,
            qdepthhi=qdepthhi,
            qdepthlo=qdepthlo,
            given=tuple([key for key in _THRESHOLDS if getattr(queue, key) is not None]),
            alone=self.alone(place),
            puts=puts,
            gets=gets,
            factor=self.factor,
            silent_high=self.members.silent(queue, "put_rate_per_s"),
            silent_low=self.members.silent(queue, "get_rate_per_s"),
            event_messages=self.members.enabled_count,
        )

    def alone(self, place: int) -> Alone:
        """Return the capacity for one queue alone, the same for all queues with these message sizes."""
        sizes = self.queues[place].message_bytes
        found = self.known.get(sizes)
        if found is None:
            initsize, size = self.load.bundles_in_initsize, self.load.bundles_in_size
            # Without a reference to this object, which refers to the capacity: such a cycle would keep the whole plan in
            # memory until the next garbage collection.
            found = self.known[sizes] = Alone(self.fillings, place, initsize, size)
        return found

    # Checks ask these about every queue with depth events. Usually plain arithmetic, for all queues at once, decides.
    def size_holds(self, place: int, messages: int) -> bool:
        """Return whether SIZE holds this number of messages of the queue at this place alone."""
        # With offloaded data, the structure never holds less.
        if messages <= self._without_rules[place]:
            return True
        most = self._in_size.get(place)
        if most is None:
            most = self._in_size[place] = self.alone(place).in_size
        return messages <= most

    def is_over_action(self, place: int, messages: int) -> bool:
        """Return whether INITSIZE exceeds the action level with this number of messages of the queue at this place alone."""
        most = self._at_action[place]
        return messages > (self.alone(place).at_action if most is None else most)

    @cached_property
    def _in_size(self) -> dict[int, int]:
        return {}

    @cached_property
    def _without_rules(self) -> tuple[int, ...]:
        return self.fillings.without_rules(self.load.bundles_in_size)

    @cached_property
    def _at_action(self) -> tuple[int | None, ...]:
        return self.fillings.at_usage(self.load.bundles_in_initsize)

    @cached_property
    def fillings(self) -> FillingsAlone:
        """Return the fillings of the structure by each queue alone."""
        return self.known_fillings or self.fillings_in(KnownQueues())

    def fillings_in(self, known: KnownQueues) -> FillingsAlone:
        """Return the fillings from those of earlier evaluations."""
        elements = self.curve.bundle_at(self.load.ratio)[1]
        return known.fillings(self.units, self.load.rules, elements, self.action_percent)

    def together(self) -> QueuesTogether | None:
        """Return the figures for all queues at their thresholds at once; None for a structure that holds nothing."""
        initsize, size = self.load.bundles_in_initsize, self.load.bundles_in_size
        if not initsize or not size:
            return None
        high = self.units.demand([each.high_at or 0 for each in self.in_force])
        full = self.units.demand([each.maxdepth or 0 for each in self.in_force])
        plain, relieved = self.bundles(full, offload=False), self.bundles(full, offload=True)
        to_full_threshold, to_full = self.fewest(full)
        return QueuesTogether(
            at_high=self.bundles(high, offload=False) / initsize,
            in_initsize=plain / initsize,
            in_initsize_with_offload=relieved / initsize,
            in_size=plain / size,
            in_size_with_offload=relieved / size,
            queues_to_full_threshold=to_full_threshold,
            queues_to_full=to_full,
        )

    def bundles(self, demand: Demand, *, offload: bool) -> Fraction:
        """Return the number of bundles that a backlog uses, with active rules or with all data in the CF."""
        if not demand.messages:
            return Fraction(0)
        met = firing(self.load.rules, demand) if offload else ()
        return bundles_for(fill(demand, rules=met, pools=self.pools))

    def fewest(self, full: Demand) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the smallest sets of queues that, at MAXDEPTH, fill INITSIZE to FULLTHRESHOLD or completely.

        All data is in the CF. A set is empty if not even all queues together fill it that far.
        """
        # Advised values of MAXDEPTH fit in INITSIZE together, so only given ones can be too large.
        if all(queue.maxdepth is None for queue in self.structure.queues):
            return (), ()
        bundles, scale = self.load.bundles_in_initsize, self.units.scale
        best: list[tuple[str, ...]] = [(), ()]
        for entry_cost, element_cost, total in (pool.whole for pool in self.pools):
            # Multiplied by the scales of pool and demand, so that everything is an integer. Negative, because the largest
            # queues come first and equal ones follow in the order of their names.
            costs = sorted(
                (-(entry_cost * scale * (each.maxdepth or 0) + element_cost * taken), queue.name)
                for queue, each, taken in zip(self.structure.queues, self.in_force, full.taken, strict=True)
            )
            for nth, percent in enumerate((self.threshold_percent, PERCENT)):
                room = -(-bundles.numerator * total * scale * percent // (bundles.denominator * PERCENT))
                names = _until(costs, room)
                if names and (not best[nth] or len(names) < len(best[nth])):
                    best[nth] = names
        return best[0], best[1]

    def joint_lead(self, stated: Iterable[int]) -> JointLead | None:
        """Return the times if all growing queues grow together; None if no queue is known to grow.

        Args:
            stated: The places of the queues with depth events in the document.
        """
        # A queue without rates counts as one that does not grow, which the answer lists among its assumptions.
        growing = {}
        for place in stated:
            put_rate, get_rate = rates_of(self.structure.queues[place])
            if put_rate is None or get_rate is None:
                continue
            # The difference in lowest terms, as a fraction would have it, in a fifth of the time.
            puts, of_puts = put_rate.as_integer_ratio()
            gets, of_gets = get_rate.as_integer_ratio()
            rate, of_rate = puts * of_gets - gets * of_puts, of_puts * of_gets
            if rate > 0:
                common = gcd(rate, of_rate)
                growing[place] = rate // common, of_rate // common
        if not growing or not self.load.bundles_in_initsize:
            return None
        common = lcm(*{of_rate for _, of_rate in growing.values()})
        counts = [0] * len(self.queues)
        for place, (rate, of_rate) in growing.items():
            counts[place] = rate * (common // of_rate)
        demand, seconds = self.units.demand(counts), common / self.factor
        filled = _filled(demand, self.load.rules, self.pools, (self.action_percent, self.threshold_percent))
        to_action, to_threshold, to_full = (
            Fraction(point.share, point.q) * self.load.bundles_in_initsize * seconds
            for point in levels(filled, self.action_percent, self.threshold_percent)
        )
        first: tuple[int, int, str] | None = None
        for place in growing:
            queue, speed = self.structure.queues[place], counts[place]
            high = self.in_force[place].high_at
            if high is None or queue.qdphiev == "DISABLED":
                continue
            # high / speed, compared without fractions; of equal times, that of the first name counts.
            if first is None or (high * first[1], queue.name) < (first[0] * speed, first[2]):
                first = high, speed, queue.name
        return JointLead(
            first_queue=first[2] if first else None,
            first_high=Fraction(first[0], first[1]) * seconds if first else None,
            to_action=to_action,
            to_full_threshold=to_threshold,
            to_full=to_full,
            demand=demand,
            per_s=seconds,
        )


def _until(costs: Sequence[tuple[int, str]], room: int) -> tuple[str, ...]:
    """Return the names of the first costs (negative numbers) that together reach the room; empty if even all do not."""
    used, names = 0, []
    for cost, name in costs:
        if used >= room:
            break
        used -= cost
        names.append(name)
    return tuple(names) if used >= room else ()
