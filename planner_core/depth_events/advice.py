"""MAXDEPTH, QDEPTHHI and QDEPTHLO of shared queues, from what their structure holds.

The action level is the usage at which something begins to happen to the structure: the lowest of its offload
thresholds, FULLTHRESHOLD and the plan's own target. A queue's depth for Queue Depth High is its part of the messages
that INITSIZE holds at that level, in the mix of the planned backlog. So whatever mix the structure really fills with,
it cannot reach the action level before one of its queues has reached that depth. MAXDEPTH is the queue's part at
FULLTHRESHOLD, or its planned backlog where that is more; all queues at MAXDEPTH fit in INITSIZE together.

A queue raises Queue Depth High at the first depth with depth x 100 >= QDEPTHHI x MAXDEPTH, Queue Depth Low at a depth
with depth x 100 <= QDEPTHLO x MAXDEPTH; how MQ rounds is not published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Literal

from planner_core import tables
from planner_core.demand import Demand, QueueDemand, band_edges, demand_of, growth_factor
from planner_core.document import PlanDocument, Queue, Structure
from planner_core.filling import Fill, FillPoint, Pool, bundles_for, fill, two_pools
from planner_core.limits import limit
from planner_core.offload import Rule, can_fire
from planner_core.smds import message_header_bytes, page_bytes
from planner_core.structure_size import Curve, model_constant
from planner_core.units import ceil_div, ceil_fraction, floor_fraction

if TYPE_CHECKING:
    from planner_core.plan import Load

PERCENT = 100
SECONDS_PER_DAY = 86_400
SETS_PER_CYCLE = 2
"""A queue that goes up to QDEPTHHI and down to QDEPTHLO raises Queue Depth High and Queue Depth Low."""
PARTS = 10**9
"""Parts of the backlog are rounded down to so many of a whole, so that their explanations can be read."""
EVENT_KEYS = ("maxdepth", "qdepthhi", "qdepthlo", "qdphiev", "qdploev", "qdpmaxev", "qsvciev", "curdepth")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """MAXDEPTH [messages], QDEPTHHI and QDEPTHLO [percent]; None where no value serves."""

    maxdepth: int | None = None
    qdepthhi: int | None = None
    qdepthlo: int | None = None

    @property
    def high_at(self) -> int | None:
        """The lowest depth that meets QDEPTHHI [messages]."""
        if self.maxdepth is None or self.qdepthhi is None:
            return None
        return ceil_div(self.maxdepth * self.qdepthhi, PERCENT)

    @property
    def low_at(self) -> int | None:
        """The highest depth that meets QDEPTHLO [messages]."""
        if self.maxdepth is None or self.qdepthlo is None:
            return None
        return self.maxdepth * self.qdepthlo // PERCENT

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {"maxdepth": self.maxdepth, "qdepthhi": self.qdepthhi, "qdepthlo": self.qdepthlo}


@dataclass(frozen=True, slots=True)
class Lead:
    """From Queue Depth High to what follows, while only this queue grows [s]; negative: the event comes too late."""

    to_maxdepth_s: int
    to_action_s: int
    to_full_s: int

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "to_maxdepth_s": self.to_maxdepth_s,
            "to_action_s": self.to_action_s,
            "to_full_s": self.to_full_s,
        }


@dataclass(frozen=True, slots=True)
class Alone:
    """What the structure holds of one queue while the others are empty [messages], offload rules at work."""

    elements: Fraction
    at_action: int
    in_initsize: int
    in_size: int


@dataclass(frozen=True, slots=True)
class Planned:
    """A queue of which the document says something about depth events: its thresholds in force, and what they do.

    What the document leaves open is completed with advice that fits what it says. Rates are those at the horizon.
    """

    given: tuple[str, ...]
    force: Thresholds
    alone: Alone
    put_rate: Fraction | None
    get_rate: Fraction | None
    silent_high: Fraction | None
    silent_low: Fraction | None
    event_messages: int | None

    @property
    def net_rate(self) -> Fraction | None:
        """Growth of the depth [messages/s]."""
        if self.put_rate is None or self.get_rate is None:
            return None
        return self.put_rate - self.get_rate

    def lead(self, rate: Fraction | None) -> Lead | None:
        """The times from the event on at that rate; None when the queue does not grow or never gets so deep."""
        high, maxdepth = self.force.high_at, self.force.maxdepth
        if rate is None or rate <= 0 or high is None or maxdepth is None or high > self.alone.in_initsize:
            return None
        ends = (maxdepth, self.alone.at_action, self.alone.in_initsize)
        return Lead(*(floor_fraction((end - high) / rate) for end in ends))

    @property
    def high_to_low_s(self) -> int | None:
        """From QDEPTHHI down to QDEPTHLO at the net rate [s, rounded up]; None when the depth does not fall."""
        net, high, low = self.net_rate, self.force.high_at, self.force.low_at
        if net is None or net >= 0 or high is None or low is None or high < low:
            return None
        return ceil_fraction((high - low) / -net)

    @property
    def most_event_messages_per_day(self) -> int | None:
        """Event messages when it goes up with nothing got and down with nothing put, all day [rounded up]."""
        put, get, high, low = self.put_rate, self.get_rate, self.force.high_at, self.force.low_at
        if not put or not get or high is None or low is None or high <= low or self.event_messages is None:
            return None
        cycle = (high - low) / put + (high - low) / get
        return ceil_fraction(SETS_PER_CYCLE * self.event_messages * SECONDS_PER_DAY / cycle)

    def as_json(self) -> dict[str, object]:
        """JSON-ready; percentages rounded up to a hundredth."""
        at_net, at_put = self.lead(self.net_rate), self.lead(self.put_rate)
        return {
            **self.force.as_json(),
            "given": list(self.given),
            "high_at_messages": self.force.high_at,
            "low_at_messages": self.force.low_at,
            "alone_at_action_messages": self.alone.at_action,
            "alone_in_initsize_messages": self.alone.in_initsize,
            "alone_in_size_messages": self.alone.in_size,
            "put_rate_per_s": _rate(self.put_rate),
            "get_rate_per_s": _rate(self.get_rate),
            "at_net_rate": at_net.as_json() if at_net else None,
            "when_nothing_gets": at_put.as_json() if at_put else None,
            "high_to_low_s": self.high_to_low_s,
            "most_event_messages_per_day": self.most_event_messages_per_day,
            "silent_high_percent": _hundredths(self.silent_high),
            "silent_low_percent": _hundredths(self.silent_low),
        }


@dataclass(frozen=True, slots=True)
class QueueAdvice:
    """One queue: what to define, and what the document has."""

    name: str
    advised: Thresholds
    planned: Planned | None = None

    @property
    def force(self) -> Thresholds:
        """The thresholds in force: those of the document, completed; the advised ones where it has none."""
        return self.planned.force if self.planned is not None else self.advised

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        found: dict[str, object] = {"name": self.name, **self.advised.as_json()}
        if self.planned is not None:
            found["planned"] = self.planned.as_json()
        return found


@dataclass(frozen=True, slots=True)
class Together:
    """All queues of a structure at once, at the thresholds in force; parts of INITSIZE and of SIZE."""

    at_high: Fraction
    in_initsize: Fraction
    in_initsize_with_offload: Fraction
    in_size: Fraction
    in_size_with_offload: Fraction
    to_full_threshold: tuple[str, ...]
    to_full: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """JSON-ready; percentages rounded up to a hundredth."""
        return {
            "all_high_percent": _hundredths(self.at_high),
            "all_full_percent_of_initsize": _hundredths(self.in_initsize),
            "all_full_percent_of_initsize_with_offload": _hundredths(self.in_initsize_with_offload),
            "all_full_percent_of_size": _hundredths(self.in_size),
            "all_full_percent_of_size_with_offload": _hundredths(self.in_size_with_offload),
            "queues_to_full_threshold": list(self.to_full_threshold),
            "queues_to_full": list(self.to_full),
        }


@dataclass(frozen=True, slots=True)
class JointLead:
    """All queues that grow, at their net rates, from empty: the first event and the levels after it [s]."""

    first_queue: str | None
    first_high: Fraction | None
    to_action: Fraction
    to_full_threshold: Fraction
    to_full: Fraction
    demand: Demand
    per_s: int

    def as_json(self) -> dict[str, object]:
        """JSON-ready; times since the queues were empty, rounded down, and the lead between them."""
        first = self.first_high
        return {
            "first_queue": self.first_queue,
            "first_high_s": None if first is None else floor_fraction(first),
            "to_action_s": floor_fraction(self.to_action),
            "to_full_threshold_s": floor_fraction(self.to_full_threshold),
            "to_full_s": floor_fraction(self.to_full),
            "lead_to_action_s": None if first is None else floor_fraction(self.to_action - first),
            "lead_to_full_s": None if first is None else floor_fraction(self.to_full - first),
        }


@dataclass(frozen=True, slots=True)
class DepthAdvice:
    """Advice for the queues of one structure.

    `action_part`, `threshold_part` and `full_part` are how often the planned backlog fits in INITSIZE at the action
    level, at FULLTHRESHOLD and when it is full; None without a backlog.
    """

    action: str
    action_percent: int
    threshold_percent: int
    action_part: Fraction | None
    threshold_part: Fraction | None
    full_part: Fraction | None
    messages: int
    event_messages: int | None
    queues: tuple[QueueAdvice, ...]
    together: Together | None
    lead: JointLead | None

    @property
    def is_planned(self) -> bool:
        """Whether the document says anything about depth events here."""
        return self.event_messages is not None or any(queue.planned for queue in self.queues)

    @property
    def action_messages(self) -> int | None:
        """Messages of the planned mix in INITSIZE at the action level."""
        return None if self.action_part is None else floor_fraction(self.action_part * self.messages)

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "action": self.action,
            "action_percent": self.action_percent,
            "action_messages": self.action_messages,
            "event_messages_per_event": self.event_messages,
            "together": self.together.as_json() if self.together else None,
            "lead": self.lead.as_json() if self.lead else None,
            "queues": [queue.as_json() for queue in self.queues],
            "assumptions": [dict(each) for each in assumptions(self)],
        }


def _rate(value: Fraction | None) -> float | int | None:
    if value is None:
        return None
    return value.numerator if value.denominator == 1 else float(value)


def _hundredths(value: Fraction | None) -> float | None:
    return None if value is None else ceil_fraction(value * PERCENT * PERCENT) / PERCENT


def assumptions(advice: DepthAdvice) -> Sequence[Mapping[str, str]]:
    """What the figures rest on that nobody published, with the basis of each."""
    source = str(tables.source("project", "Queue depths"))
    said = [
        ("INITSIZE is what the structure has; after SETXCF ALTER the figures are others.", "assumed"),
        (
            "A depth meets QDEPTHHI when depth x 100 >= QDEPTHHI x MAXDEPTH, and QDEPTHLO likewise: the rounding is not published.",
            "assumed",
        ),
        (
            "QDEPTHHI is at most 80 and QDEPTHLO a quarter of it, as IBM's defaults of 80 and 20 are to each other.",
            "assumed",
        ),
    ]
    if advice.lead is not None:
        said.append(("Queues without rates do not grow meanwhile, and all begin empty.", "assumed"))
    if any(q.planned and q.planned.silent_high is not None for q in advice.queues):
        said.append(
            (
                "An event detected by a queue manager with PERFMEV(DISABLED) switches the queue and gives no message: "
                "IBM's list of steps, read literally. Without queue_manager_rates all queue managers do the same.",
                "assumed",
            )
        )
    return [{"assumed": text, "basis": basis, "source": source} for text, basis in said]


# ---- working it out -------------------------------------------------------------------------------------------------


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
