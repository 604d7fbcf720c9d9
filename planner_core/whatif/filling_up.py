"""One outage of a structure: messages arrive, nothing takes them off, and what that starts, minute by minute.

All getting applications stop at minute 0. Each queue's messages arrive at an even rate until its
outage ends: the planned backlog over the planned outage, both as the plan has them at its
horizon. So at the end of the planned outage the structure holds what the plan says, and a
structure that fills holds what `filling.py` says: this is the same model, told in time.

Between two moments (a rule starts, a queue's outage ends, a queue has reached its MAXDEPTH) both
pools fill in straight lines. That is exact, and rounded where it is shown; how full the structure is
when something happens to a single queue is read off the lines in floating point.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Literal, NamedTuple, Protocol

from planner_core import tables
from planner_core.demand import SECONDS_PER_MINUTE, Demand, QueueDemand, band_edges, demand_of, growth_factor
from planner_core.document import PlanDocument, Queue, Structure
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding, finding, in_order
from planner_core.limits import limit
from planner_core.offload import Rule, can_fire
from planner_core.plan import Load, StructureResult, evaluate_structure, hundredths
from planner_core.provenance import Basis
from planner_core.smds import data_set_bytes, lob_bytes, message_header_bytes, page_bytes
from planner_core.structure_size import Curve, model_constant
from planner_core.units import bytes_to_kib_ceil, ceil_div, ceil_fraction, floor_fraction, format_size

Storage = Literal["initsize", "size"]
STORAGES: tuple[Storage, ...] = ("initsize", "size")
WHAT = "The question"
_FULL = 100
_NEVER = None
_GRID = 10**6
_TICKS = 2**30
_HUNDREDTHS = 100
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Outage:
    """What is asked. Nothing given is the outage that the plan has.

    Args:
        at: The storage that fills: INITSIZE, or SIZE after an alter.
        outage_minutes: One outage for all queues; None: each queue's own [minutes].
        rate_percent: Arrival rates, as a part of the planned ones [percent].
        larger_percent: Share of the messages that come to the queues with the larger messages;
            the number of messages stays; None: as planned [percent].
        rules: Offload rules in the place of the plan's.
        data_set_bytes: Space of each shared message data set, to see whether it suffices [bytes].
    """

    at: Storage = "initsize"
    outage_minutes: Decimal | None = None
    rate_percent: Decimal = Decimal(100)
    larger_percent: Decimal | None = None
    rules: tuple[Rule, ...] | None = None
    data_set_bytes: int | None = None


class Point(NamedTuple):
    """The structure at one moment; all values exact."""

    minutes: Fraction
    messages: Fraction
    elements: Fraction
    offloaded: Fraction
    pages: Fraction


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happens: what, when, and how full the structure is then."""

    kind: str
    minutes: Fraction
    messages: int
    usage_percent: Fraction
    text: str
    rule: Rule | None = None
    queue: str | None = None

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "kind": self.kind,
            "minutes": shown_minutes(self.minutes),
            "messages": self.messages,
            "usage_percent": hundredths(self.usage_percent),
            "text": self.text,
            "rule": None
            if self.rule is None
            else {"threshold": self.rule.threshold, "size_bytes": self.rule.size_bytes},
            "queue": self.queue,
        }


@dataclass(frozen=True, slots=True)
class QueueFilling:
    """One queue of the structure in that outage."""

    name: str
    is_larger: bool
    per_minute: Fraction
    stops_minutes: Fraction
    depth: int
    maxdepth: int | None

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "name": self.name,
            "is_larger": self.is_larger,
            "messages_per_minute": float(self.per_minute),
            "outage_minutes": shown_minutes(self.stops_minutes),
            "depth_at_end": self.depth,
            "maxdepth": self.maxdepth,
        }


@dataclass(frozen=True, slots=True)
class Assumption:
    """One thing that the answer takes for granted, and what that rests on."""

    what: str
    basis: Basis
    source: str

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {"what": self.what, "basis": self.basis.value, "source": self.source}


@dataclass(frozen=True, slots=True)
class Mix:
    """Messages of the queues with larger messages: longer than the structure's mean [bytes], share [percent]."""

    mean_bytes: Fraction
    planned_percent: Fraction
    percent: Fraction
    can_change: bool


@dataclass(frozen=True, slots=True)
class FillingUp:
    """The answer."""

    structure: StructureResult
    asked: Outage
    rules: tuple[Rule, ...]
    bundles: Fraction
    elements_per_entry: Fraction
    size_bytes: int
    mix: Mix
    planned_minutes: Fraction
    end_minutes: Fraction
    arriving: int
    points: tuple[Point, ...]
    moments: tuple[Moment, ...]
    full_minutes: Fraction | None
    lasts_minutes: Fraction | None
    capacity: int | None
    queues: tuple[QueueFilling, ...]
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]

    def usage_percent(self, point: Point) -> Fraction:
        """Usage of the fuller pool [percent]."""
        return max(self.entries_percent(point), self.elements_percent(point))

    def entries_percent(self, point: Point) -> Fraction:
        """List entries in use [percent]."""
        return _percent(point.messages, self.bundles)

    def elements_percent(self, point: Point) -> Fraction:
        """List elements in use [percent]."""
        return _percent(point.elements, self.bundles * self.elements_per_entry)

    def at_minutes(self, minutes: Fraction) -> Point:
        """The structure at any moment."""
        return _between(self.points, minutes)

    @property
    def offload_to(self) -> str | None:
        """Where message data goes: SMDS, DB2, or nowhere below CFLEVEL 4."""
        if self.structure.smds is not None:
            return "SMDS"
        return "DB2" if self.structure.db2 is not None else None

    def offload_bytes(self, point: Point) -> int:
        """Space of the offloaded messages: of each data set if one queue manager puts all, or in Db2 [bytes]."""
        pages = ceil_fraction(point.pages)
        definition = self.structure.definition
        if self.offload_to == "SMDS" and isinstance(definition, Structure):
            return data_set_bytes(pages, dsblock_bytes=definition.offload.dsblock)
        return lob_bytes(pages)

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        last = self.points[-1]
        return {
            "structure": self.structure.name,
            "cfrm_name": self.structure.cfrm_name,
            "at": self.asked.at,
            "size_kib": bytes_to_kib_ceil(self.size_bytes),
            "entries": floor_fraction(self.bundles),
            "elements": floor_fraction(self.bundles * self.elements_per_entry),
            "planned_outage_minutes": shown_minutes(self.planned_minutes),
            "outage_minutes": shown_minutes(self.end_minutes),
            "rate_percent": float(self.asked.rate_percent),
            "mix": {
                "larger_than_bytes": float(self.mix.mean_bytes),
                "planned_percent": float(self.mix.planned_percent),
                "percent": float(self.mix.percent),
            },
            "rules": [{"threshold": rule.threshold, "size_bytes": rule.size_bytes} for rule in self.rules],
            "full_threshold": self.structure.placement.full_threshold,
            "messages_arriving": self.arriving,
            "messages_held": floor_fraction(last.messages),
            "usage_percent_at_end": hundredths(self.usage_percent(last)),
            "offloaded_at_end": ceil_fraction(last.offloaded),
            "offload_to": self.offload_to,
            "offload_bytes_at_end": self.offload_bytes(last),
            "full_at_minutes": None if self.full_minutes is None else shown_minutes(self.full_minutes),
            "lasts_minutes": None if self.lasts_minutes is None else shown_minutes(self.lasts_minutes),
            "capacity": self.capacity,
            "events": [moment.as_json() for moment in self.moments],
            "series": [self._point_json(point) for point in self.points],
            "queues": [queue.as_json() for queue in self.queues],
            "assumptions": [each.as_json() for each in self.assumptions],
            "findings": [each.as_json() for each in self.findings],
        }

    def _point_json(self, point: Point) -> dict[str, object]:
        return {
            "minutes": shown_minutes(point.minutes),
            "messages": floor_fraction(point.messages),
            "entries_percent": hundredths(self.entries_percent(point)),
            "elements_percent": hundredths(self.elements_percent(point)),
            "usage_percent": hundredths(self.usage_percent(point)),
            "offloaded": ceil_fraction(point.offloaded),
            "offload_bytes": self.offload_bytes(point),
        }


def shown_minutes(value: Fraction) -> float:
    """Minutes for people and JSON, to a thousandth."""
    return round(float(value), 3)


def only_structure(document: PlanDocument) -> str:
    """The one application structure of a plan, for questions that name none.

    Raises:
        InputInvalid: It has none, or several.
    """
    if len(document.structures) == 1:
        return document.structures[0].name
    message = f"is required: the plan has {_named([each.name for each in document.structures])}"
    raise InputInvalid(WHAT, (FieldProblem("structure", message),))


def _named(known: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    if not known:
        return "no application structure"
    return ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")


def fill_up(
    document: PlanDocument, name: str, asked: Outage | None = None, *, curve: Curve | None = None
) -> FillingUp:
    """Let one outage happen to one application structure of a plan.

    Args:
        document: The plan.
        name: The structure, as its CFSTRUCT is named.
        asked: How the outage differs from the planned one.
        curve: The fitted curve that the document names; None for published figures.

    Raises:
        InputInvalid: The plan has no such application structure, or the mix cannot be changed.
        PlanRefused: No such plan can exist.
    """
    asked = asked or Outage()
    structure, said = structure_of(document, name, curve=curve)
    return fill_structure(document, structure, asked, said=said)


def structure_of(
    document: PlanDocument, name: str, *, curve: Curve | None = None
) -> tuple[StructureResult, tuple[Finding, ...]]:
    """One application structure, worked out.

    Raises:
        InputInvalid: The plan has no such application structure.
        PlanRefused: No such plan can exist.
    """
    found = evaluate_structure(document, name, curve=curve)
    if found is None:
        known = [each.name for each in document.structures]
        message = f"the plan has no application structure {name[:20]!r}; it has {_named(known) if known else 'none'}"
        raise InputInvalid(WHAT, (FieldProblem("structure", message),))
    return found


@dataclass(frozen=True, slots=True)
class PlannedOutage:
    """The outage that a plan has for a structure: the longest of its queues, whether all have it, and the mix."""

    minutes: Fraction
    is_common: bool
    mix: Mix


def planned_outage(document: PlanDocument, structure: StructureResult) -> PlannedOutage:
    """What a question about a structure starts from."""
    flows, mix, minutes, _ = _flows(document, structure, Outage())
    return PlannedOutage(minutes, len({flow.stop for flow in flows}) <= 1, mix)


def parts_of(structure: StructureResult) -> tuple[Load, Structure]:
    """What an application structure holds, and its entry in the document."""
    if structure.load is None or not isinstance(structure.definition, Structure):
        message = "is no application structure"
        raise InputInvalid(WHAT, (FieldProblem("structure", message),))
    return structure.load, structure.definition


def fill_structure(
    document: PlanDocument, structure: StructureResult, asked: Outage, *, said: Sequence[Finding] = ()
) -> FillingUp:
    """The same for a structure that is worked out already; `said` are findings to go with the answer."""
    load, _ = parts_of(structure)
    rules = load.rules if asked.rules is None or not _offloads(structure) else asked.rules
    size = structure.sizes.initsize_bytes if asked.at == "initsize" else structure.sizes.size_bytes
    bundles = load.bundles_in_initsize if asked.at == "initsize" else load.bundles_in_size
    per_entry = structure.curve.bundle_at(load.ratio)[1]
    flows, mix, planned_minutes, is_assumed = _flows(document, structure, asked)
    end = max((flow.stop for flow in flows), default=planned_minutes)
    arrivals = _Arrivals(flows, structure.curve, rules)
    run = _Run(arrivals, bundles=bundles, per_entry=per_entry)
    points, starts, full = run.until_end(end)
    later, lasts = points, full
    if run.goes_on is not None:
        # Something would be different if the outage went on.
        later, _, lasts = run.goes_on.until_full()
    answer = FillingUp(
        structure=structure,
        asked=asked,
        rules=rules,
        bundles=bundles,
        elements_per_entry=per_entry,
        size_bytes=size,
        mix=mix,
        planned_minutes=planned_minutes,
        end_minutes=end,
        arriving=ceil_fraction(sum((flow.per_minute * flow.stop for flow in flows), Fraction(0))),
        points=points,
        moments=(),
        full_minutes=full,
        lasts_minutes=lasts,
        capacity=None if lasts is None else floor_fraction(later[-1].messages),
        queues=tuple(
            QueueFilling(
                name=flow.queue.name,
                is_larger=flow.is_larger,
                per_minute=flow.per_minute,
                stops_minutes=flow.stop,
                depth=flow.depth_at(end if full is None else full),
                maxdepth=flow.queue.maxdepth,
            )
            for flow in flows
        ),
        assumptions=(),
        findings=(),
    )
    moments = tuple(
        sorted(
            _moments(answer, flows, starts, document.queue_manager_count),
            key=lambda each: (float(each.minutes), _RANK[each.kind]),
        )
    )
    return replace(
        answer,
        moments=moments,
        assumptions=tuple(_assumptions(answer, is_assumed=is_assumed)),
        findings=in_order([*said, *_findings(answer, document, moments, is_assumed=is_assumed)]),
    )


def _offloads(structure: StructureResult) -> bool:
    definition = structure.definition
    return isinstance(definition, Structure) and definition.cflevel >= limit("cflevel_offload")


def _percent(used: Fraction, total: Fraction) -> Fraction:
    return used * _FULL / total if total else Fraction(0)


# ---- what arrives ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Flow:
    """The messages of one queue: `weight` of them in each `1 / factor` minutes, until `stop`.

    `full_at` is when it has reached its MAXDEPTH, if it goes on for so long; `limited` is when it
    stops growing: its outage ends, or MAXDEPTH is reached. Kept, since each is a division of
    large fractions.
    """

    queue: Queue
    message: QueueDemand
    weight: int
    factor: Fraction
    per_minute: Fraction
    stop: Fraction
    is_larger: bool
    full_at: Fraction | None
    limited: Fraction

    @classmethod
    def of(
        cls, planned: _Planned, *, times: Fraction, outage_minutes: Decimal | None, is_larger: bool
    ) -> _Flow:
        """The flow of a queue at so many times its planned rate."""
        queue, same = planned.queue, times == 1
        factor = planned.factor if same else planned.factor * times
        per_minute = planned.per_minute if same else planned.per_minute * times
        stop = planned.lasts if outage_minutes is None else Fraction(outage_minutes)
        full_at = None
        if queue.maxdepth is not None and per_minute:
            full_at = _up_to_tick(queue.maxdepth / per_minute)
        limited = stop if full_at is None else min(stop, full_at)
        return cls(
            queue, planned.message, planned.weight, factor, per_minute, stop, is_larger, full_at, limited
        )

    def depth_at(self, minutes: Fraction) -> int:
        """Messages in the queue, rounded up."""
        depth = ceil_fraction(self.per_minute * min(minutes, self.limited))
        return depth if self.queue.maxdepth is None else min(depth, self.queue.maxdepth)


def _up_to_tick(minutes: Fraction) -> Fraction:
    """The next of 2**30 parts of a minute: MAXDEPTHs of hundreds of queues have no bounded common denominator."""
    return Fraction(-(-minutes.numerator * _TICKS // minutes.denominator), _TICKS)


class _Planned(NamedTuple):
    """What the plan says of one queue: its backlog over its outage."""

    queue: Queue
    message: QueueDemand
    weight: int
    factor: Fraction
    per_minute: Fraction
    lasts: Fraction


def _flows(
    document: PlanDocument, structure: StructureResult, asked: Outage
) -> tuple[list[_Flow], Mix, Fraction, bool]:
    """What arrives in each queue, the mix, the planned outage, and whether that is assumed."""
    queues = parts_of(structure)[1].queues
    own = [None if queue.outage_minutes is None else Fraction(queue.outage_minutes) for queue in queues]
    reference = max((each for each in own if each), default=Fraction(_assumed_minutes()))
    is_assumed = any(each is None for each in own)
    growth = growth_factor(percent_per_year=document.growth.percent_per_year, years=document.growth.years)
    rate = Fraction(asked.rate_percent) / _FULL
    planned: list[_Planned] = []
    for queue, demand, minutes in zip(queues, structure.queues, own, strict=True):
        lasts = reference if minutes is None else minutes
        if lasts and demand.messages:
            weight, factor = demand.messages, 1 / lasts
        else:
            weight, factor = 1, Fraction(queue.put_rate_per_s or 0) * SECONDS_PER_MINUTE * growth
        planned.append(_Planned(queue, demand, weight, factor, weight * factor, lasts))
    mix, larger = _mix_of(planned, asked)
    parts = {True: Fraction(1), False: Fraction(1)}
    if mix.can_change and mix.percent != mix.planned_percent:
        parts = {
            True: mix.percent / mix.planned_percent,
            False: (_FULL - mix.percent) / (_FULL - mix.planned_percent),
        }
    flows = [
        _Flow.of(
            each, times=rate * parts[is_larger], outage_minutes=asked.outage_minutes, is_larger=is_larger
        )
        for each, is_larger in zip(planned, larger, strict=True)
    ]
    return flows, mix, reference, is_assumed


def _assumed_minutes() -> int:
    return int(tables.constants("whatif_filling")["assumed_outage_minutes"].value)


def _mix_of(planned: Sequence[_Planned], asked: Outage) -> tuple[Mix, list[bool]]:
    """Which queues have the larger messages, and their share of what arrives."""
    sizes = [_mean_bytes(each.message) for each in planned]
    rates = [each.per_minute for each in planned]
    together = sum(rates, Fraction(0))
    mean = (
        sum((size * rate for size, rate in zip(sizes, rates, strict=True)), Fraction(0)) / together
        if together
        else Fraction(0)
    )
    larger = [size > mean for size in sizes]
    many = sum((rate for rate, is_larger in zip(rates, larger, strict=True) if is_larger), Fraction(0))
    share = _on_grid(many * _FULL / together) if together else Fraction(0)
    can_change = 0 < share < _FULL
    if asked.larger_percent is not None and not can_change:
        message = (
            "cannot be given: all messages of this structure have one size, or nothing is planned for it"
        )
        raise InputInvalid(WHAT, (FieldProblem("larger_percent", message),))
    wanted = share if asked.larger_percent is None else Fraction(asked.larger_percent)
    return Mix(mean, share, wanted, can_change), larger


def _on_grid(percent: Fraction) -> Fraction:
    """To a millionth: exact shares of hundreds of queues would have no bounded denominator."""
    return Fraction(round(percent * _GRID), _GRID)


def _mean_bytes(demand: QueueDemand) -> Fraction:
    sizes = demand.message_bytes
    return Fraction(sizes) if isinstance(sizes, int) else Fraction(sizes.mean, sizes.mean_of)


# ---- how it fills ----------------------------------------------------------------------------------------------------


class _Stream(NamedTuple):
    """Queues that arrive and stop alike, in whole numbers for each limit; `full_stop` is when MAXDEPTH stops them."""

    stop: Fraction | None
    full_stop: Fraction | None
    rates: dict[int, tuple[int, ...]]


class _Arrivals:
    """All that arrives, added up once for both runs."""

    def __init__(self, flows: Sequence[_Flow], curve: Curve, rules: Sequence[Rule]) -> None:
        edges = band_edges([rule.size_bytes for rule in rules])
        groups: dict[tuple[Fraction, Fraction | None, Fraction | None], list[_Flow]] = {}
        for flow in flows:
            if flow.factor:
                groups.setdefault((flow.factor, flow.limited, flow.full_at), []).append(flow)
        demands = {key: _demand(members, edges, curve) for key, members in groups.items()}
        self.rules = sorted(
            (rule for rule in rules if rule.is_on and any(can_fire(rule, each) for each in demands.values())),
            key=lambda rule: (rule.threshold, -rule.size_bytes),
        )
        self.limits = [edges[-1]]
        for rule in self.rules:
            self.limits.append(min(self.limits[-1], rule.size_bytes))
        scale = max((demand.scale for demand in demands.values()), default=1)
        common = lcm(*(factor.denominator for factor, _, _ in groups)) if groups else 1
        self.unit = common * scale
        self.streams = tuple(
            _Stream(
                stop,
                full_stop,
                {
                    each: _rates(demand, each, int(factor * common) * (scale // demand.scale))
                    for each in set(self.limits)
                },
            )
            for (factor, stop, full_stop), demand in demands.items()
        )


class _Run:
    """One outage running. `goes_on` is the same from the first end of a queue's outage on, as if none ended."""

    def __init__(self, arrivals: _Arrivals, *, bundles: Fraction, per_entry: Fraction) -> None:
        self.unit, self.limits, self.rules = arrivals.unit, arrivals.limits, arrivals.rules
        self.totals = (bundles, bundles * per_entry)
        self.streams = _by_stop((each.stop, each) for each in arrivals.streams)
        self.flowing = {
            edge: tuple(map(sum, zip(*(each.rates[edge] for each in arrivals.streams), strict=True)))
            for edge in set(self.limits)
        }
        self.waiting = list(self.rules)
        self.points = [Point(Fraction(0), Fraction(0), Fraction(0), Fraction(0), Fraction(0))]
        self.starts: list[tuple[Rule, Point]] = []
        self.goes_on: _Run | None = None

    def _endless(self) -> _Run:
        """This run from here on, until the structure is full or no queue grows any more."""
        other = copy.copy(self)
        other.streams = _by_stop((each.full_stop, each) for _, each in self.streams)
        other.flowing = dict(self.flowing)
        other.waiting, other.points, other.starts = list(self.waiting), list(self.points), list(self.starts)
        return other

    def until_end(self, end: Fraction) -> tuple[tuple[Point, ...], list[tuple[Rule, Point]], Fraction | None]:
        """Points up to the end of the outage, where each rule starts, and when the structure is full."""
        points, starts, full = self.until_full()
        if points[-1].minutes < end:
            points = (*points, points[-1]._replace(minutes=end))
        return points, starts, full

    def until_full(self) -> tuple[tuple[Point, ...], list[tuple[Rule, Point]], Fraction | None]:
        """The same up to where nothing changes any more."""
        points, starts, waiting = self.points, self.starts, self.waiting
        here = points[-1]
        if not self.streams:
            return tuple(points), starts, _NEVER
        if not self.totals[0]:
            return tuple(points), starts, here.minutes
        while self.streams:
            rates = self.flowing[self.limits[len(self.rules) - len(waiting)]]
            goal = waiting[0].threshold if waiting else _FULL
            stop, stream = self.streams[-1]
            if stop is not None:
                after = self._after(here, stop - here.minutes, rates)
                if not self._is_at(goal, after):
                    if self.goes_on is None and stop != stream.full_stop:
                        self.goes_on = self._endless()
                    here = after
                    _append(points, here)
                    self._stop_one()
                    continue
            run = self._time_to(goal, here, rates)
            if run is None:
                break
            here = self._after(here, run, rates)
            _append(points, here)
            if not waiting:
                return tuple(points), starts, here.minutes
            starts.append((waiting.pop(0), here))
        return tuple(points), starts, _NEVER

    def _is_at(self, goal: int, point: Point) -> bool:
        """Whether a pool has come to a percentage."""
        entries, elements = self.totals
        return point.messages * _FULL >= entries * goal or point.elements * _FULL >= elements * goal

    def _time_to(self, goal: int, here: Point, rates: tuple[int, ...]) -> Fraction | None:
        """Minutes until the first pool has come to a percentage; None when none ever does."""
        found = None
        for used, total, rate in zip((here.messages, here.elements), self.totals, rates[:2], strict=True):
            if rate:
                run = max(Fraction(0), (total * goal / _FULL - used) * self.unit / rate)
                found = run if found is None else min(found, run)
        return found

    def _after(self, here: Point, run: Fraction, rates: tuple[int, ...]) -> Point:
        part = run / self.unit
        messages, elements, offloaded, pages = rates
        return Point(
            here.minutes + run,
            here.messages + part * messages,
            here.elements + part * elements,
            here.offloaded + part * offloaded,
            here.pages + part * pages,
        )

    def _stop_one(self) -> None:
        _, stopped = self.streams.pop()
        for each, rates in stopped.rates.items():
            self.flowing[each] = tuple(
                now - gone for now, gone in zip(self.flowing[each], rates, strict=True)
            )


def _by_stop(streams: Iterable[tuple[Fraction | None, _Stream]]) -> list[tuple[Fraction | None, _Stream]]:
    """The next to stop last. In floating point first: fractions are compared only where that does not tell them apart."""
    return sorted(
        streams, key=lambda each: (each[0] is None, float(each[0] or 0), each[0] or 0), reverse=True
    )


def _append(points: list[Point], point: Point) -> None:
    if points[-1].minutes == point.minutes:
        points.pop()
    points.append(point)


def _demand(flows: Sequence[_Flow], edges: tuple[int, ...], curve: Curve) -> Demand:
    return demand_of(
        [QueueDemand(flow.weight, flow.message.message_bytes) for flow in flows],
        edges=edges,
        header_bytes=curve.header_bytes,
        page_bytes=page_bytes(),
        page_header_bytes=message_header_bytes(),
    )


def _rates(demand: Demand, limit_bytes: int, times: int) -> tuple[int, int, int, int]:
    """Messages, elements, offloaded messages and pages of a demand with data over a size offloaded."""
    elements = offloaded = pages = 0
    for band in demand.bands:
        if band.over_bytes >= limit_bytes:
            offloaded += band.messages
            pages += band.pages
        else:
            elements += band.elements
    elements += offloaded * model_constant("offloaded_message_elements")
    return demand.messages * demand.scale * times, elements * times, offloaded * times, pages * times


def _between(points: Sequence[Point], minutes: Fraction) -> Point:
    """On the straight line between two points."""
    index = bisect_left(points, minutes, key=lambda point: point.minutes)
    if index == len(points):
        return points[-1]._replace(minutes=minutes)
    after = points[index]
    if after.minutes == minutes:
        return after
    before = points[index - 1]
    part = (minutes - before.minutes) / (after.minutes - before.minutes)
    values = (low + part * (high - low) for low, high in zip(before[1:], after[1:], strict=True))
    return Point(minutes, *values)


# ---- what it starts --------------------------------------------------------------------------------------------------

_RANK = {
    kind: rank
    for rank, kind in enumerate(
        (
            "rule_starts",
            "depth_high",
            "full_threshold",
            "queue_full",
            "data_set_full",
            "data_sets_full",
            "structure_full",
            "outage_ends",
        )
    )
}


def _moments(
    answer: FillingUp, flows: Sequence[_Flow], starts: Sequence[tuple[Rule, Point]], queue_managers: int
) -> Iterator[Moment]:
    def moment(
        kind: str, point: Point, text: str, *, rule: Rule | None = None, queue: str | None = None
    ) -> Moment:
        return Moment(
            kind,
            point.minutes,
            floor_fraction(point.messages),
            answer.usage_percent(point),
            text,
            rule,
            queue,
        )

    for rule, point in starts:
        size = "all messages" if not rule.size_bytes else f"messages over {format_size(rule.size_bytes)}"
        text = f"usage passes {rule.threshold} %: data of {size} is offloaded from now on"
        yield moment("rule_starts", point, text, rule=rule)
    threshold = answer.structure.placement.full_threshold
    crossed = _first_at(answer, threshold) if threshold else None
    if crossed is not None:
        yield moment("full_threshold", crossed, f"FULLTHRESHOLD({threshold}) is reached: IXC585E")
    last = answer.end_minutes if answer.full_minutes is None else answer.full_minutes
    if len(answer.points) > 1:
        lines = _Floats(answer)
        for flow in flows:
            yield from _depth_moments(flow, last, lines)
    yield from _data_set_moments(answer, queue_managers, moment)
    if answer.full_minutes is not None:
        point = answer.at_minutes(answer.full_minutes)
        pool = "entries" if answer.entries_percent(point) >= answer.elements_percent(point) else "elements"
        text = f"all {pool} are in use: puts fail with reason 2192 from now on"
        yield moment("structure_full", point, text)
    yield moment("outage_ends", answer.points[-1], "the outage ends")


def _depth_moments(flow: _Flow, last: Fraction, lines: _Floats) -> Iterator[Moment]:
    """Queue Depth High and Queue Full of one queue; both need MAXDEPTH in the plan."""
    queue, maxdepth = flow.queue, flow.queue.maxdepth
    if maxdepth is None or not flow.per_minute:
        return
    until = min(last, flow.stop)
    high = limit("default_qdepthhi_percent") if queue.qdepthhi is None else queue.qdepthhi
    if high:
        at = Fraction(ceil_div(maxdepth * high, _FULL)) / flow.per_minute
        if at <= until:
            text = f"{queue.name} is at QDEPTHHI({high}) of MAXDEPTH({maxdepth}): Queue Depth High"
            yield lines.moment("depth_high", at, text, queue.name)
    at = maxdepth / flow.per_minute
    if at < until:
        text = f"{queue.name} is at MAXDEPTH({maxdepth}): puts to it fail with reason 2053"
        yield lines.moment("queue_full", at, text, queue.name)


class _Floats:
    """The lines in floating point, to read off how full the structure is when something happens to a queue."""

    def __init__(self, answer: FillingUp) -> None:
        self.minutes = [float(point.minutes) for point in answer.points]
        self.messages = [float(point.messages) for point in answer.points]
        self.usage = [float(answer.usage_percent(point)) for point in answer.points]

    def moment(self, kind: str, minutes: Fraction, text: str, queue: str) -> Moment:
        at = float(minutes)
        index = min(max(bisect_left(self.minutes, at), 1), len(self.minutes) - 1)
        before, after = self.minutes[index - 1], self.minutes[index]
        part = min(max((at - before) / (after - before), 0.0), 1.0)
        messages = self.messages[index - 1] + part * (self.messages[index] - self.messages[index - 1])
        usage = self.usage[index - 1] + part * (self.usage[index] - self.usage[index - 1])
        return Moment(
            kind,
            minutes,
            round(messages),
            Fraction(round(usage * _HUNDREDTHS), _HUNDREDTHS),
            text,
            None,
            queue,
        )


def _data_set_moments(answer: FillingUp, queue_managers: int, moment: _Maker) -> Iterator[Moment]:
    """When shared message data sets of a given size are full."""
    given, definition = answer.asked.data_set_bytes, answer.structure.definition
    if given is None or answer.offload_to != "SMDS" or not isinstance(definition, Structure):
        return
    pages = _pages_in(given, dsblock_bytes=definition.offload.dsblock)
    size = format_size(given)
    alone = _first(answer, pages)
    if alone is not None:
        text = f"a data set of {size} is full, if one queue manager puts everything: its puts fail with reason 2192"
        yield moment("data_set_full", alone, text)
    together = _first(answer, pages * queue_managers) if queue_managers > 1 else None
    if together is not None:
        text = f"all {queue_managers} data sets of {size} are full, if all queue managers put equally much"
        yield moment("data_sets_full", together, text)


def _pages_in(size_bytes: int, *, dsblock_bytes: int) -> int:
    """Pages of messages in a data set of that size: the inverse of `data_set_bytes`."""
    usable = size_bytes // dsblock_bytes * dsblock_bytes
    percent = _FULL + tables.constants("smds")["space_map_percent"].value
    return usable * _FULL // (page_bytes() * percent)


def _first_at(answer: FillingUp, threshold: int) -> Point | None:
    """When usage comes to a percentage; None when it does not."""
    points = answer.points
    goals = (
        answer.bundles * threshold / _FULL,
        answer.bundles * answer.elements_per_entry * threshold / _FULL,
    )
    index = bisect_left(points, True, key=lambda p: p.messages >= goals[0] or p.elements >= goals[1])
    if not 0 < index < len(points):
        return None
    before, after = points[index - 1], points[index]
    pools = ((before.messages, after.messages, goals[0]), (before.elements, after.elements, goals[1]))
    part = min((goal - low) / (high - low) for low, high, goal in pools if low < goal <= high)
    return answer.at_minutes(before.minutes + part * (after.minutes - before.minutes))


def _first(answer: FillingUp, pages: int) -> Point | None:
    """When there are more pages of offloaded data than so many."""
    points = answer.points
    index = bisect_left(points, True, key=lambda point: point.pages > pages)
    if not 0 < index < len(points):
        return None
    before, after = points[index - 1], points[index]
    part = (pages - before.pages) / (after.pages - before.pages)
    return answer.at_minutes(before.minutes + part * (after.minutes - before.minutes))


class _Maker(Protocol):
    """The function that makes moments."""

    def __call__(
        self, kind: str, point: Point, text: str, *, rule: Rule | None = None, queue: str | None = None
    ) -> Moment: ...


# ---- what there is to say --------------------------------------------------------------------------------------------


def _assumptions(answer: FillingUp, *, is_assumed: bool) -> Iterator[Assumption]:
    model, outage = tables.source("project", "Two pools"), tables.source("project", "An outage in time")
    yield Assumption(
        "Messages of all queues arrive at an even rate from the first minute on, and nothing takes them off.",
        Basis.ASSUMED,
        str(outage),
    )
    if is_assumed:
        yield Assumption(
            f"A backlog without a rate arrives over {shown_minutes(answer.planned_minutes):g} minutes.",
            Basis.ASSUMED,
            str(outage),
        )
    yield Assumption(
        "Entries and elements are two pools at a fixed ratio; messages that are there when a rule starts stay as they are.",
        Basis.ASSUMED,
        str(model),
    )
    yield Assumption(
        "Usage is that of the fuller pool.", Basis.ASSUMED, str(tables.source("project", "Structure usage"))
    )
    if answer.points[-1].pages:
        place = "SMDS space" if answer.offload_to == "SMDS" else "Db2 LOB space"
        yield Assumption(
            "Offloaded data takes whole 4 KB pages with a header, and a share for the space map.",
            Basis.ASSUMED,
            str(tables.source("project", place)),
        )
    if any(queue.maxdepth is not None for queue in answer.queues):
        yield Assumption(
            "Queue Depth High comes when depth x 100 is at least QDEPTHHI x MAXDEPTH; the rounding is not published.",
            Basis.ASSUMED,
            str(outage),
        )


def _findings(
    answer: FillingUp, document: PlanDocument, moments: Sequence[Moment], *, is_assumed: bool
) -> Iterator[Finding]:
    structure, name = answer.structure, answer.structure.name
    at = structure.pointer
    if answer.full_minutes is not None:
        yield finding(
            "FULL_DURING_OUTAGE",
            f"{name} is full {_minutes(answer.full_minutes)} into an outage of {_minutes(answer.end_minutes)}, with "
            f"{floor_fraction(answer.points[-1].messages)} of {answer.arriving} messages: puts fail with reason 2192 from then on.",
            field=f"{at}/{'initsize' if answer.asked.at == 'initsize' else 'size'}",
            structure=name,
        )
    if is_assumed:
        yield finding(
            "OUTAGE_ASSUMED",
            f"Queues of {name} give a backlog and no rate: it is taken to arrive evenly over "
            f"{_minutes(answer.planned_minutes)}.",
            field=f"{at}/queues",
            structure=name,
        )
    full = [moment for moment in moments if moment.kind == "queue_full"]
    if full:
        more = ""
        if len(full) > 1:
            more = f", and {len(full) - 1} more queue{'s' if len(full) > 2 else ''} later"  # noqa: PLR2004
        yield finding(
            "MAXDEPTH_DURING_OUTAGE",
            f"{full[0].queue} on {name} reaches its MAXDEPTH after {_minutes(full[0].minutes)}{more}: puts to it fail with "
            "reason 2053 while the structure still has room.",
            field=f"{at}/queues",
            structure=name,
        )
    data_set = next((moment for moment in moments if moment.kind == "data_set_full"), None)
    if data_set is not None:
        yield finding(
            "DATA_SET_FULL_DURING_OUTAGE",
            f"A shared message data set of {format_size(answer.asked.data_set_bytes or 0)} for {name} is full after "
            f"{_minutes(data_set.minutes)} if one queue manager puts everything.",
            field=f"{at}/offload/dsgroup",
            structure=name,
        )
    if any(moment.kind == "rule_starts" for moment in moments):
        yield finding(
            "USAGE_MEASURE_ASSUMED",
            "IBM does not publish how structure usage is measured; the fuller of entries and elements is taken.",
            structure=name,
        )
    if answer.points[-1].pages and answer.offload_to == "SMDS":
        constants = tables.constants("smds")
        yield finding(
            "SMDS_OVERHEAD_ASSUMED",
            f"SMDS space rests on an assumed header of {constants['message_header_bytes'].value} bytes a message and an assumed "
            f"{constants['space_map_percent'].value} % for the space map; IBM publishes neither.",
            structure=name,
        )
    if answer.asked.rules is not None and not _offloads(structure):
        yield finding(
            "OFFLOAD_NEEDS_CFLEVEL_5",
            f"{name} has CFLEVEL({_cflevel(structure)}): offload rules need CFLEVEL(5) and have no effect.",
            field=f"{at}/cflevel",
            structure=name,
        )
    if not answer.arriving:
        yield finding(
            "EMPTY_STRUCTURE",
            f"Nothing arrives on {name}: it has no backlog.",
            field=f"{at}/queues",
            structure=name,
        )


def _cflevel(structure: StructureResult) -> int:
    definition = structure.definition
    return definition.cflevel if isinstance(definition, Structure) else 0


def _minutes(value: Fraction) -> str:
    """Minutes in words."""
    shown = round(float(value), 1)
    return f"{shown:g} minute{'' if shown == 1 else 's'}"
