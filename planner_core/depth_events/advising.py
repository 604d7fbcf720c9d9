"""How advice on queue depths is worked out: levels of the filling, parts of the backlog, queues alone and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Literal

from planner_core.demand import Demand, QueueDemand, band_edges, demand_of, growth_factor
from planner_core.depth_events.advice import (
    PERCENT,
    Alone,
    DepthAdvice,
    JointLead,
    Planned,
    QueueAdvice,
    Thresholds,
    Together,
)
from planner_core.document import PlanDocument, Queue, Structure
from planner_core.filling import Fill, FillPoint, Pool, bundles_for, fill, two_pools
from planner_core.limits import limit
from planner_core.offload import Rule, can_fire
from planner_core.smds import message_header_bytes, page_bytes
from planner_core.structure_size import Curve, model_constant
from planner_core.units import floor_fraction

if TYPE_CHECKING:
    from planner_core.plan import Load

PARTS = 10**9
"""Parts of the backlog are rounded down to so many of a whole, so that their explanations can be read."""
EVENT_KEYS = ("maxdepth", "qdepthhi", "qdepthlo", "qdphiev", "qdploev", "qdpmaxev", "qsvciev", "curdepth")


def level_rule(percent: int) -> Rule:
    """A rule that offloads nothing, to learn what a structure holds at a usage."""
    return Rule(percent, model_constant("largest_message_in_cf_bytes"))


def action_level(structure: Structure, *, rules: Sequence[Rule], demand: Demand) -> tuple[str, int]:
    """The first usage at which something begins to happen [percent], and what that is called."""
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


def advise(
    document: PlanDocument, structure: Structure, load: Load, queues: Sequence[QueueDemand], *, curve: Curve
) -> DepthAdvice:
    """Advice for the queues of a structure of INITSIZE.

    Args:
        document: The plan.
        structure: The structure's entry in it.
        load: What the structure holds.
        queues: The backlogs of its queues at the horizon, in the order of the document.
        curve: The curve in use.
    """
    action, action_percent = action_level(structure, rules=load.rules, demand=load.demand)
    threshold = structure.full_threshold or PERCENT
    parts: tuple[Fraction | None, ...] = (None, None, None)
    if load.plain is not None:
        filled = _filled(load.demand, load.rules, load.plain.pools, (action_percent, threshold))
        bundles = load.bundles_in_initsize
        parts = tuple(
            Fraction(floor_fraction(Fraction(point.share, point.q) * bundles * PARTS), PARTS)
            for point in levels(filled, action_percent, threshold)
        )
    maker = Maker.of(document, structure, load, curve)
    members = maker.members
    advice = []
    for queue, demand in zip(structure.queues, queues, strict=True):
        advised = _advised(demand.messages, parts)
        planned = maker.planned(queue, demand, advised, parts[0]) if _says(queue, members) else None
        advice.append(QueueAdvice(queue.name, advised, planned))
    is_planned = any(each.planned for each in advice)
    return DepthAdvice(
        action=action,
        action_percent=action_percent,
        threshold_percent=threshold,
        action_part=parts[0],
        threshold_part=parts[1],
        full_part=parts[2],
        messages=load.demand.messages,
        event_messages=members.enabled_count,
        queues=tuple(advice),
        together=maker.together(advice, queues) if is_planned else None,
        lead=maker.joint_lead(advice, queues) if is_planned else None,
    )


def _says(queue: Queue, members: Members) -> bool:
    """Whether the document says anything about this queue's depth events."""
    return (
        members.is_stated
        or queue.get_rate_per_s is not None
        or queue.queue_manager_rates is not None
        or any(getattr(queue, key) is not None for key in EVENT_KEYS)
    )


def _filled(demand: Demand, rules: Sequence[Rule], pools: tuple[Pool, ...], percents: Sequence[int]) -> Fill:
    """One bundle filling, with a moment for each usage asked about."""
    met = [rule for rule in rules if rule.is_on and can_fire(rule, demand)]
    marks = [level_rule(percent) for percent in sorted(set(percents)) if percent < PERCENT]
    return fill(demand, rules=[*met, *marks], pools=pools)


def levels(filled: Fill, *percents: int) -> tuple[FillPoint, ...]:
    """The moments of a filling at which the usage is so high, and the moment it is full."""
    found = {point.rule: point for point in filled.starts}
    at = (found[level_rule(percent)] if percent < PERCENT else filled.full for percent in percents)
    return (*at, filled.full)


def _advised(messages: int, parts: Sequence[Fraction | None]) -> Thresholds:
    at_action, at_threshold, when_full = parts
    if not messages or at_action is None or at_threshold is None or when_full is None:
        return Thresholds()
    most = messages * when_full.numerator // when_full.denominator
    wanted = max(messages, messages * at_threshold.numerator // at_threshold.denominator)
    maxdepth = min(most, wanted, limit("largest_maxdepth"))
    return _completed(maxdepth, messages, at_action) if maxdepth else Thresholds()


def _completed(
    maxdepth: int,
    messages: int,
    at_action: Fraction | None,
    *,
    qdepthhi: int | None = None,
    qdepthlo: int | None = None,
) -> Thresholds:
    """Thresholds for a MAXDEPTH: those given, and for others the highest that serve."""
    if qdepthhi is None and maxdepth and at_action is not None:
        high = messages * at_action.numerator // at_action.denominator
        advised = min(limit("default_qdepthhi_percent"), PERCENT * high // maxdepth)
        qdepthhi = advised if advised > (qdepthlo or 0) else None
    if qdepthlo is None and qdepthhi is not None:
        qdepthlo = qdepthhi * limit("default_qdepthlo_percent") // limit("default_qdepthhi_percent")
    return Thresholds(maxdepth, qdepthhi, qdepthlo)


@dataclass(frozen=True, slots=True)
class Members:
    """The queue managers of the group and their PERFMEV. Those of which the plan does not say it have none."""

    count: int
    enabled: frozenset[str]
    all_enabled: bool
    is_stated: bool

    @classmethod
    def of(cls, document: PlanDocument) -> Members:
        """The members as the document states them."""
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
        """Event messages of one event while all are active; None where the plan does not say PERFMEV."""
        if not self.is_stated:
            return None
        return self.count if self.all_enabled else len(self.enabled)

    def heard(self, by_name: Mapping[str, Fraction] | None) -> tuple[Fraction, Fraction, str]:
        """The activity of queue managers with PERFMEV(ENABLED), that of all, and its unit."""
        if by_name is None:
            return Fraction(self.enabled_count or 0), Fraction(self.count), "queue managers"
        heard = (rate for name, rate in by_name.items() if self.all_enabled or name in self.enabled)
        return sum(heard, Fraction(0)), sum(by_name.values(), Fraction(0)), "messages/s"

    def silent(self, by_name: Mapping[str, Fraction] | None) -> Fraction | None:
        """The part of the activity that is not of queue managers with PERFMEV(ENABLED)."""
        heard, total, _ = self.heard(by_name)
        return 1 - heard / total if self.is_stated and total else None


def rates_of(queue: Queue) -> tuple[Fraction | None, Fraction | None]:
    """Puts and gets a second in normal times, as the document has them."""
    if queue.get_rate_per_s is not None and queue.put_rate_per_s is not None:
        return Fraction(queue.put_rate_per_s), Fraction(queue.get_rate_per_s)
    if queue.queue_manager_rates:
        found = queue.queue_manager_rates.values()
        return (
            sum((Fraction(each.put_rate_per_s) for each in found), Fraction(0)),
            sum((Fraction(each.get_rate_per_s) for each in found), Fraction(0)),
        )
    return (None if queue.put_rate_per_s is None else Fraction(queue.put_rate_per_s)), None


def members_rates(
    queue: Queue, key: Literal["put_rate_per_s", "get_rate_per_s"]
) -> dict[str, Fraction] | None:
    """Puts, or gets, a second by queue manager; None where the document does not say."""
    if not queue.queue_manager_rates:
        return None
    return {name: Fraction(getattr(each, key)) for name, each in queue.queue_manager_rates.items()}


@dataclass(frozen=True, slots=True)
class Maker:
    """What the figures of one structure's queues are made from."""

    structure: Structure
    load: Load
    curve: Curve
    action_percent: int
    threshold_percent: int
    factor: Fraction
    members: Members
    known: dict[object, Alone] = field(default_factory=dict)

    @classmethod
    def of(cls, document: PlanDocument, structure: Structure, load: Load, curve: Curve) -> Maker:
        """For one structure of a plan."""
        growth = document.growth
        return cls(
            structure,
            load,
            curve,
            action_level(structure, rules=load.rules, demand=load.demand)[1],
            structure.full_threshold or PERCENT,
            growth_factor(percent_per_year=growth.percent_per_year, years=growth.years),
            Members.of(document),
        )

    def demand(self, queues: Sequence[QueueDemand]) -> Demand:
        """The demand of other backlogs on this structure."""
        return demand_of(
            queues,
            edges=band_edges([rule.size_bytes for rule in self.load.rules]),
            header_bytes=self.curve.header_bytes,
            page_bytes=page_bytes(),
            page_header_bytes=message_header_bytes(),
        )

    @property
    def pools(self) -> tuple[Pool, ...]:
        """What can run out in one bundle."""
        return two_pools(self.curve.bundle_at(self.load.ratio)[1])

    def planned(
        self, queue: Queue, demand: QueueDemand, advised: Thresholds, at_action: Fraction | None
    ) -> Planned:
        """A queue with what the document says of it."""
        maxdepth = queue.maxdepth if queue.maxdepth is not None else advised.maxdepth
        given = tuple(key for key in ("maxdepth", "qdepthhi", "qdepthlo") if getattr(queue, key) is not None)
        force = (
            Thresholds(None, queue.qdepthhi, queue.qdepthlo)
            if maxdepth is None
            else _completed(
                maxdepth, demand.messages, at_action, qdepthhi=queue.qdepthhi, qdepthlo=queue.qdepthlo
            )
        )
        put, get = rates_of(queue)
        return Planned(
            given=given,
            force=force,
            alone=self.alone(demand),
            put_rate=None if put is None else put * self.factor,
            get_rate=None if get is None else get * self.factor,
            silent_high=self.members.silent(members_rates(queue, "put_rate_per_s")),
            silent_low=self.members.silent(members_rates(queue, "get_rate_per_s")),
            event_messages=self.members.enabled_count,
        )

    def alone(self, queue: QueueDemand) -> Alone:
        """What fits of one queue alone; worked out once for each message size."""
        found = self.known.get(queue.message_bytes)
        if found is None:
            found = self.known[queue.message_bytes] = self._alone(queue)
        return found

    def _alone(self, queue: QueueDemand) -> Alone:
        one = self.demand((QueueDemand(1, queue.message_bytes),))
        filled = _filled(one, self.load.rules, self.pools, (self.action_percent,))
        at_action, full = levels(filled, self.action_percent)
        return Alone(
            elements=elements_of(one),
            at_action=filled.messages_at(at_action, self.load.bundles_in_initsize),
            in_initsize=filled.messages_at(full, self.load.bundles_in_initsize),
            in_size=filled.messages_at(full, self.load.bundles_in_size),
        )

    def together(self, advice: Sequence[QueueAdvice], queues: Sequence[QueueDemand]) -> Together | None:
        """All queues at their thresholds at once; None for a structure that holds nothing."""
        initsize, size = self.load.bundles_in_initsize, self.load.bundles_in_size
        if not initsize or not size:
            return None
        high = self.demand(_at([each.force.high_at for each in advice], queues))
        depths = [each.force.maxdepth or 0 for each in advice]
        full = self.demand(_at(depths, queues))
        plain, relieved = self.bundles(full, offload=False), self.bundles(full, offload=True)
        return Together(
            at_high=self.bundles(high, offload=False) / initsize,
            in_initsize=plain / initsize,
            in_initsize_with_offload=relieved / initsize,
            in_size=plain / size,
            in_size_with_offload=relieved / size,
            to_full_threshold=self.fewest(advice, queues, Fraction(self.threshold_percent, PERCENT)),
            to_full=self.fewest(advice, queues, Fraction(1)),
        )

    def bundles(self, demand: Demand, *, offload: bool) -> Fraction:
        """Entries with their elements that a backlog takes, with the rules at work or with all data in the CF."""
        if not demand.messages:
            return Fraction(0)
        met = [rule for rule in self.load.rules if offload and rule.is_on and can_fire(rule, demand)]
        return bundles_for(fill(demand, rules=met, pools=self.pools))

    def fewest(
        self, advice: Sequence[QueueAdvice], queues: Sequence[QueueDemand], part: Fraction
    ) -> tuple[str, ...]:
        """The fewest queues at MAXDEPTH that take this part of INITSIZE, all data in the CF; empty when all do not."""
        if not any(each.planned and "maxdepth" in each.planned.given for each in advice):
            return ()
        best: list[str] | None = None
        room = self.load.bundles_in_initsize * part
        for entry_cost, element_cost, total in ((p.entry_cost, p.element_cost, p.total) for p in self.pools):
            costs = []
            for each, queue in zip(advice, queues, strict=True):
                one = entry_cost + element_cost * self.alone(queue).elements
                costs.append(((each.force.maxdepth or 0) * one, each.name))
            costs.sort(key=lambda cost: (-cost[0], cost[1]))
            used, names = Fraction(0), []
            for cost, name in costs:
                if used >= room * total:
                    break
                used += cost
                names.append(name)
            if used >= room * total and names and (best is None or len(names) < len(best)):
                best = names
        return tuple(best or ())

    def joint_lead(self, advice: Sequence[QueueAdvice], queues: Sequence[QueueDemand]) -> JointLead | None:
        """All queues that grow, growing at once; None when none is known to."""
        growing = [
            (each, queue, each.planned.net_rate)
            for each, queue in zip(advice, queues, strict=True)
            if each.planned is not None and each.planned.net_rate is not None and each.planned.net_rate > 0
        ]
        if not growing or not self.load.bundles_in_initsize:
            return None
        seconds = lcm(*(rate.denominator for _, _, rate in growing))
        demand = self.demand(
            [QueueDemand(int(rate * seconds), queue.message_bytes) for _, queue, rate in growing]
        )
        filled = _filled(demand, self.load.rules, self.pools, (self.action_percent, self.threshold_percent))
        to_action, to_threshold, to_full = (
            Fraction(point.share, point.q) * self.load.bundles_in_initsize * seconds
            for point in levels(filled, self.action_percent, self.threshold_percent)
        )
        switched_on = {queue.name for queue in self.structure.queues if queue.qdphiev != "DISABLED"}
        first = min(
            (
                (Fraction(each.force.high_at) / rate, each.name)
                for each, _, rate in growing
                if each.force.high_at is not None and each.name in switched_on
            ),
            default=None,
        )
        return JointLead(
            first_queue=first[1] if first else None,
            first_high=first[0] if first else None,
            to_action=to_action,
            to_full_threshold=to_threshold,
            to_full=to_full,
            demand=demand,
            per_s=seconds,
        )


def elements_of(demand: Demand) -> Fraction:
    """Elements of a demand with all data in the CF, but for messages that are too large for it."""
    return Fraction(sum(band.elements for band in demand.bands), demand.scale)


def _at(depths: Sequence[int | None], queues: Sequence[QueueDemand]) -> list[QueueDemand]:
    return [QueueDemand(depth or 0, queue.message_bytes) for depth, queue in zip(depths, queues, strict=True)]
