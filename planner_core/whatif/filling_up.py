"""One outage of a structure, minute by minute: messages arrive, and no application gets them.

All getting applications stop at minute 0. The messages of each queue arrive at an even rate until its
outage ends: the planned backlog over the planned outage, both at the plan's horizon. So at the end of the
planned outage the structure holds the planned backlog, and a full structure holds the capacity that
`filling.py` calculates: this is the same model over time.

Between two events (a rule starts, a queue's outage ends, a queue reaches its MAXDEPTH) both pools fill
linearly. These lines are exact and are rounded only for output; the usage at an event of a single queue
is interpolated in floating point.

Time, messages and elements are counted in integer parts. Hundreds of queues whose outages end at different times then
take only as many integer additions. Fractions, which cost twenty times as much, are created only for the few points
that an answer needs.
"""

from __future__ import annotations

import copy
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Annotated, Literal, NamedTuple, Protocol, get_args

from pydantic import Field, PlainSerializer, computed_field

from planner_core import tables
from planner_core.document.model import PlanDocument, Queue, Structure
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding, finding, in_order
from planner_core.limits import limit
from planner_core.plan.evaluate import evaluate_structure
from planner_core.provenance import Assumption, Basis
from planner_core.questions import Absent, Label, Metavar, Number, Question, Rules, Size, StructureName
from planner_core.sizing.demand import SECONDS_PER_MINUTE, QueueDemand, Units, band_edges, growth_factor
from planner_core.sizing.offload import Rule, firing
from planner_core.sizing.shared_findings import (
    offload_needs_cflevel_5,
    smds_overhead_assumed,
    usage_measure_assumed,
)
from planner_core.sizing.smds import (
    data_set_bytes,
    lob_bytes,
    message_header_bytes,
    page_bytes,
    pages_in_data_set,
)
from planner_core.sizing.structure_result import Load, StructureResult
from planner_core.sizing.structure_size import Curve, model_constant
from planner_core.units import (
    bytes_to_kib_ceil,
    ceil_div,
    ceil_fraction,
    floor_fraction,
    format_mib,
    format_size,
    hundredths,
)
from planner_core.wire import Answer, Exact, Hidden, Unchecked

Storage = Literal["initsize", "size"]
FillingEventKind = Literal[
    "rule_starts", "depth_high", "full_threshold", "queue_full", "data_set_full", "data_sets_full",
    "data_set_expands", "data_sets_expand", "structure_full", "outage_ends",
]  # fmt: skip
_FULL = 100
_NEVER = None
_GRID = 10**6
_TICKS = 2**30
_HUNDREDTHS = 100
_SHOWN = 5
_SHOWN_DIGITS = 3


class Outage(Question):
    """One outage of a structure; without any parameter, the planned outage."""

    structure: StructureName = Field(
        None, description="CFSTRUCT name of the application structure; absent: the only one in the plan"
    )
    at: Annotated[Storage, Label("Storage")] = Field(
        "initsize", description="the storage that fills: INITSIZE, or SIZE after an alter"
    )
    outage_minutes: Annotated[
        Decimal | Absent, Number(highest=10**6), Metavar("MINUTES"), Label("Outage", "minutes", "As planned.")
    ] = Field(None, description="one outage for all queues; absent: each queue's own")
    rate_percent: Annotated[Decimal, Number(highest=10**5), Metavar("P"), Label("Rate", "% of planned")] = (
        Field(100, validate_default=True, description="arrival rates, in percent of the planned ones")
    )
    larger_percent: Annotated[
        Decimal | Absent, Number(highest=100), Metavar("P"), Label("Share of larger messages", "%")
    ] = Field(
        None,
        description="share of the messages that arrive on the queues with the larger messages; absent: as planned",
    )
    rules: Annotated[tuple[Rule, ...] | Absent, Rules(), Metavar("TH:SZ")] = Field(
        None,
        alias="rule",
        description="an offload rule that replaces the plan's, such as 70:32K; up to three",
    )
    data_set_bytes: Annotated[
        int | Absent,
        Size(),
        Metavar("SIZE"),
        Label("Space of each SMDS", hint="For example 20G. If empty, not checked."),
    ] = Field(
        None,
        alias="data_set_size",
        description="space of each shared message data set, to check whether it is sufficient",
    )


class Point(NamedTuple):
    """The structure at one time, in exact values: a minute has `clock` ticks, and a message has `parts` parts."""

    ticks: int
    clock: int
    message_parts: int
    element_parts: int
    offloaded_parts: int
    page_parts: int
    parts: int

    @property
    def minutes(self) -> Fraction:
        """Return the minutes since the getting applications stopped."""
        return Fraction(self.ticks, self.clock)

    @property
    def messages(self) -> Fraction:
        """Return the number of messages in the structure, which is that of its list entries in use."""
        return Fraction(self.message_parts, self.parts)

    @property
    def elements(self) -> Fraction:
        """Return the number of list elements in use."""
        return Fraction(self.element_parts, self.parts)

    @property
    def offloaded(self) -> Fraction:
        """Return the number of messages whose data is offloaded."""
        return Fraction(self.offloaded_parts, self.parts)

    @property
    def pages(self) -> Fraction:
        """Return the number of pages of offloaded data."""
        return Fraction(self.page_parts, self.parts)

    @property
    def values(self) -> tuple[Fraction, ...]:
        """Return the minutes, messages, elements, offloaded messages and their pages."""
        return self.minutes, self.messages, self.elements, self.offloaded, self.pages

    @property
    def drawn_minutes(self) -> float:
        """Return the minutes for a chart."""
        return self.ticks / self.clock


def shown_minutes(value: Fraction) -> float:
    """Return minutes for output, rounded to a thousandth."""
    return round(float(value), _SHOWN_DIGITS)


def tenths_down(value: Fraction) -> float:
    """Return a number rounded down to a tenth."""
    return floor_fraction(value * 10) / 10


TenthsDown = Annotated[Fraction, Unchecked(), PlainSerializer(tenths_down, return_type=float)]
Minutes = Annotated[
    Fraction,
    Unchecked(),
    PlainSerializer(shown_minutes, return_type=float),
    Field(description="Minutes from the start of the outage."),
]
Percent = Annotated[
    Fraction,
    Unchecked(),
    PlainSerializer(hundredths, return_type=float),
    Field(description="Percent, rounded up to a hundredth."),
]


@dataclass(frozen=True, slots=True)
class FillingEvent(Answer):
    """An event during the outage."""

    kind: FillingEventKind
    minutes: Minutes
    messages: Annotated[int, Field(description="Messages on the structure at that moment.")]
    usage_percent: Percent
    text: Annotated[str, Field(description="The event as a sentence.")]
    rule: Rule | None = None
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class FillingPoint(Answer):
    """The structure at one time; between two points all values change linearly."""

    minutes: float
    messages: int
    entries_percent: Annotated[float, Field(description="Rounded up to a hundredth.")]
    elements_percent: Annotated[float, Field(description="Rounded up to a hundredth.")]
    usage_percent: Annotated[float, Field(description="Of the fuller pool.")]
    offloaded: Annotated[int, Field(description="Messages whose data was offloaded.")]
    offload_bytes: Annotated[
        int, Field(description="In each data set if one queue manager puts all messages; or in Db2.")
    ]


@dataclass(frozen=True, slots=True)
class FillingQueue(Answer):
    """One queue during the outage."""

    name: str
    is_larger: Annotated[bool, Field(description="Whether its messages are larger than the mean.")]
    messages_per_minute: Exact[Fraction]
    outage_minutes: Minutes
    depth_at_end: Annotated[
        int, Field(description="Depth at the end of the outage, or when the structure is full.")
    ]
    maxdepth: int | None


@dataclass(frozen=True, slots=True)
class Mix(Answer):
    """The queues with larger messages, and their share of all arriving messages, planned and simulated."""

    larger_than_bytes: Annotated[Exact[Fraction], Field(description="The mean message of the structure.")]
    planned_percent: Exact[Fraction]
    percent: Exact[Fraction]
    can_change: Hidden[bool]


@dataclass(frozen=True)
class FillingUp(Answer):
    """One outage of a structure."""

    result: Hidden[StructureResult]
    question: Hidden[Outage]
    bundles: Hidden[Fraction]
    elements_per_entry: Hidden[Fraction]
    size_bytes: Hidden[int]
    points: Hidden[tuple[Point, ...]]
    planned_outage_minutes: Minutes
    outage_minutes: Minutes
    mix: Mix
    rules: tuple[Rule, ...]
    messages_arriving: int
    full_at_minutes: Annotated[
        Minutes | None, Field(description="When puts begin to fail with reason 2192; null if they do not.")
    ]
    lasts_minutes: Annotated[
        Minutes | None,
        Field(description="When they would begin to fail if the outage continued; null if never."),
    ]
    capacity: Annotated[int | None, Field(description="Messages on the structure at that moment.")]
    queues: tuple[FillingQueue, ...]
    events: tuple[FillingEvent, ...]
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]

    @computed_field
    @property
    def structure(self) -> str:
        """The CFSTRUCT name."""
        return self.result.name

    @computed_field
    @property
    def cfrm_name(self) -> str:
        """The name in the CFRM policy."""
        return self.result.cfrm_name

    @computed_field
    @property
    def at(self) -> Storage:
        """The size that is filled: INITSIZE or SIZE."""
        return self.question.at

    @computed_field
    @property
    def size_kib(self) -> int:
        """Size of the storage that is filled [KiB]."""
        return bytes_to_kib_ceil(self.size_bytes)

    @computed_field
    @property
    def entries(self) -> int:
        """Number of list entries in the storage."""
        return floor_fraction(self.bundles)

    @computed_field
    @property
    def elements(self) -> int:
        """Number of list elements in the storage."""
        return floor_fraction(self.bundles * self.elements_per_entry)

    @computed_field
    @property
    def rate_percent(self) -> float:
        """Arrival rates, as a percentage of the planned ones."""
        return float(self.question.rate_percent)

    @computed_field
    @property
    def full_threshold(self) -> int:
        """FULLTHRESHOLD [percent]."""
        return self.result.placement.full_threshold

    @computed_field
    @property
    def messages_held(self) -> int:
        """Number of messages in the structure at the end of the outage."""
        return floor_fraction(self.points[-1].messages)

    @computed_field
    @property
    def usage_percent_at_end(self) -> float:
        """Usage of the fuller pool at the end, rounded up to a hundredth."""
        return hundredths(self.usage_percent(self.points[-1]))

    @computed_field
    @property
    def offloaded_at_end(self) -> int:
        """Number of messages whose data was offloaded by the end of the outage."""
        return ceil_fraction(self.points[-1].offloaded)

    @computed_field
    @property
    def offload_to(self) -> Literal["SMDS", "DB2"] | None:
        """The destination of offloaded message data; null below CFLEVEL(4), which has no offload."""
        if self.result.smds is not None:
            return "SMDS"
        return "DB2" if self.result.db2 is not None else None

    @computed_field
    @property
    def offload_bytes_at_end(self) -> int:
        """Space for the offloaded messages at the end of the outage [bytes]."""
        return self.offload_bytes(self.points[-1])

    @computed_field
    @property
    def series(self) -> tuple[FillingPoint, ...]:
        """The structure at each time when a rate changes."""
        return tuple(map(self._shown_point, self.points))

    def usage_percent(self, point: Point) -> Fraction:
        """Return the usage of the fuller pool [percent]."""
        return max(self.entries_percent(point), self.elements_percent(point))

    def entries_percent(self, point: Point) -> Fraction:
        """Return the list entries in use [percent]."""
        return Fraction(*self._parts_percent(point)[0])

    def elements_percent(self, point: Point) -> Fraction:
        """Return the list elements in use [percent]."""
        return Fraction(*self._parts_percent(point)[1])

    def drawn_percents(self, point: Point) -> tuple[float, float]:
        """Return entries and elements in use, for a chart [percent]."""
        (entries, all_entries), (elements, all_elements) = self._parts_percent(point)
        return entries / all_entries, elements / all_elements

    def _parts_percent(self, point: Point) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return entries and elements in use, each as its parts and the number of parts in one percent."""
        (entries, of_entry), (elements, of_element) = self._pools
        return (
            (point.message_parts * _FULL * of_entry, point.parts * entries) if entries else (0, 1),
            (point.element_parts * _FULL * of_element, point.parts * elements) if elements else (0, 1),
        )

    @cached_property
    def _pools(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the entries and elements of the storage."""
        return self.bundles.as_integer_ratio(), (self.bundles * self.elements_per_entry).as_integer_ratio()

    def at_minutes(self, minutes: Fraction) -> Point:
        """Return the structure at any time of the outage."""
        return _between(self.points, minutes)

    def offload_bytes(self, point: Point) -> int:
        """Return the space of the offloaded messages: in each data set if one queue manager puts all, or in Db2 [bytes]."""
        pages = ceil_div(point.page_parts, point.parts)
        definition = self.result.definition
        if self.offload_to == "SMDS" and isinstance(definition, Structure):
            return data_set_bytes(
                pages, dsblock_bytes=definition.offload.dsblock, queues=len(definition.queues)
            )
        return lob_bytes(pages)

    def _shown_point(self, point: Point) -> FillingPoint:
        entries, elements = (_hundredths_up(*each) for each in self._parts_percent(point))
        return FillingPoint(
            minutes=round(point.drawn_minutes, _SHOWN_DIGITS),
            messages=point.message_parts // point.parts,
            entries_percent=entries,
            elements_percent=elements,
            usage_percent=max(entries, elements),
            offloaded=ceil_div(point.offloaded_parts, point.parts),
            offload_bytes=self.offload_bytes(point),
        )

    def lines(self) -> Iterator[str]:
        """Yield a heading, one line for each event of the outage, and a closing line."""
        last = self.points[-1]
        storage = "INITSIZE" if self.question.at == "initsize" else "SIZE"
        yield f"{self.result.cfrm_name}, {storage} {format_mib(self.size_bytes)}: {self.messages_arriving} messages arrive in {shown_minutes(self.outage_minutes):g} minutes"
        for moment in self.events:
            # Rounded up: the structure must not appear emptier than it is.
            yield f"{shown_minutes(moment.minutes):>10.1f} min  {moment.messages:>12} messages  {math.ceil(moment.usage_percent * 10) / 10:5.1f} %  {moment.text}"
        if self.lasts_minutes is None:
            yield (
                "It would never be full: every queue stops at its MAXDEPTH."
                if self.messages_arriving
                else "It never fills."
            )
        else:
            lasts = f"full after {math.floor(self.lasts_minutes * 10) / 10:.1f} minutes, with {self.capacity} messages."
            yield (
                f"It is {lasts}"
                if self.full_at_minutes is not None
                else f"If no queue's outage ended, it would be {lasts}"
            )
        if last.pages:
            where = (
                "in each data set, if one queue manager puts all messages"
                if self.offload_to == "SMDS"
                else "in Db2"
            )
            yield f"Offloaded data takes {format_mib(self.offload_bytes(last))} {where}."


def _hundredths_up(parts: int, of_percent: int) -> float:
    """Return a percentage rounded up to a hundredth, as `hundredths` does, without a fraction."""
    return ceil_div(parts * _HUNDREDTHS, of_percent) / _HUNDREDTHS


def only_structure(document: PlanDocument) -> str:
    """Return the name of the only application structure of a plan, for questions that do not name one.

    Raises:
        InputInvalid: The plan has none, or several.
    """
    if len(document.structures) == 1:
        return document.structures[0].name
    message = f"is required: the plan has {_named([each.name for each in document.structures])}"
    raise InputInvalid(Outage.what, (FieldProblem("structure", message),))


def _named(known: Sequence[str]) -> str:
    """Return the first names, and the number of remaining ones."""
    if not known:
        return "no application structure"
    return ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")


def fill_up(document: PlanDocument, asked: Outage | None = None, *, curve: Curve | None = None) -> FillingUp:
    """Simulate one outage of one application structure of a plan.

    Args:
        document: The plan.
        asked: The structure, unless the plan has only one, and the differences from the planned outage.
        curve: The fitted curve that the document names; None for published figures.

    Raises:
        InputInvalid: The plan has no such application structure, several while none is named, or a mix that cannot be
            changed.
        PlanRefused: No such plan can exist.
    """
    asked = asked or Outage()
    structure, said = structure_of(document, asked.structure or only_structure(document), curve=curve)
    return fill_structure(document, structure, asked, said=said)


def structure_of(
    document: PlanDocument, name: str, *, curve: Curve | None = None
) -> tuple[StructureResult, tuple[Finding, ...]]:
    """Return the result of one application structure, and the findings on its curve.

    Raises:
        InputInvalid: The plan has no such application structure.
        PlanRefused: No such plan can exist.
    """
    # Distributions are expensive to read, so the simulation takes the units of the plan (`_units`).
    found = evaluate_structure(document, name, curve=curve, keeps_units=True)
    if found is None:
        known = [each.name for each in document.structures]
        message = f"the plan has no application structure {name[:20]!r}; it has {_named(known) if known else 'none'}"
        raise InputInvalid(Outage.what, (FieldProblem("structure", message),))
    return found


@dataclass(frozen=True, slots=True)
class PlannedOutage:
    """The planned outage of a structure: the longest of its queues, whether all have the same, and the mix."""

    minutes: Fraction
    is_common: bool
    mix: Mix


def planned_outage(document: PlanDocument, structure: StructureResult) -> PlannedOutage:
    """Return the planned outage of a structure, for the initial values of forms."""
    planned = _planned(document, structure)
    outages = {pace.stop for pace in planned.paces}
    return PlannedOutage(planned.minutes, len(outages) <= 1, _mix_of(planned, None)[0])


def parts_of(structure: StructureResult) -> tuple[Load, Structure]:
    """Return the load of an application structure, and its entry in the document."""
    if structure.load is None or not isinstance(structure.definition, Structure):
        message = "is not an application structure"
        raise InputInvalid(Outage.what, (FieldProblem("structure", message),))
    return structure.load, structure.definition


def fill_structure(
    document: PlanDocument, structure: StructureResult, asked: Outage, *, said: Sequence[Finding] = ()
) -> FillingUp:
    """Simulate an outage of a structure that is already evaluated; `said` are findings to add to the answer."""
    load, _ = parts_of(structure)
    rules = load.rules if asked.rules is None or not _offloads(structure) else asked.rules
    size = structure.sizes.initsize_bytes if asked.at == "initsize" else structure.sizes.size_bytes
    bundles = load.bundles_in_initsize if asked.at == "initsize" else load.bundles_in_size
    per_entry = structure.curve.bundle_at(load.ratio)[1]
    planned = _planned(document, structure)
    flowing = _flowing(planned, asked)
    flows = flowing.flows
    end = max((pace.stop for pace in flowing.paces), default=planned.minutes)
    run = _Run(_Arrivals(flowing, structure, rules), bundles=bundles, per_entry=per_entry)
    points, starts, full = run.until_end(end)
    last, lasts = points[-1], full
    if run.goes_on is not None:
        # A queue's outage has ended, so the time until the structure is full follows from the run in which none ends.
        lasts = run.goes_on.until_full()
        last = run.goes_on.points[-1]
    until = end if full is None else full
    answer = FillingUp(
        result=structure,
        question=asked,
        rules=rules,
        bundles=bundles,
        elements_per_entry=per_entry,
        size_bytes=size,
        mix=flowing.mix,
        planned_outage_minutes=planned.minutes,
        outage_minutes=end,
        messages_arriving=ceil_fraction(flowing.arriving()),
        points=points,
        events=(),
        full_at_minutes=full,
        lasts_minutes=lasts,
        capacity=None if lasts is None else floor_fraction(last.messages),
        queues=tuple(
            FillingQueue(
                name=flow.queue.name,
                is_larger=flow.is_larger,
                messages_per_minute=flow.per_minute,
                outage_minutes=flow.pace.stop,
                depth_at_end=flow.depth_at(until, flowing.clock),
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
            # Comparing fractions takes several times as long, and there may be events of hundreds of queues.
            key=lambda each: (float(each.minutes), _RANK[each.kind]),
        )
    )
    return replace(
        answer,
        events=moments,
        assumptions=tuple(_assumptions(answer, is_assumed=planned.is_assumed)),
        findings=in_order([*said, *_findings(answer, document, moments, is_assumed=planned.is_assumed)]),
    )


def _offloads(structure: StructureResult) -> bool:
    return parts_of(structure)[1].cflevel >= limit("cflevel_offload")


# ---- arrivals --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pace:
    """Rate and duration of arrivals: `factor` times a queue's weight arrives per minute, until `stop`.

    Queues with the same outage share a pace, and most queues have one of a few outages. `stop_at` is `stop` in parts
    of a minute.
    """

    factor: Fraction
    stop: Fraction
    stop_at: int


class _Flow(NamedTuple):
    """The messages of one queue: `weight` times the pace's factor per minute.

    `full_at` is the time when the queue reaches its MAXDEPTH, if the outage is long enough; `limited` is the time when
    it stops growing, because its outage ends or MAXDEPTH is reached. Both are in parts of a minute.
    """

    queue: Queue
    message: QueueDemand
    weight: int
    pace: _Pace
    is_larger: bool
    full_at: int | None
    limited: int

    @property
    def numerator(self) -> int:
        """Return the messages per minute, times the denominator of the pace's factor."""
        return self.weight * self.pace.factor.numerator

    @property
    def per_minute(self) -> Fraction:
        """Return the messages per minute."""
        return Fraction(self.numerator, self.pace.factor.denominator)

    def depth_comes(self, depth: int) -> Fraction:
        """Return the minutes until the queue reaches this depth."""
        return Fraction(depth * self.pace.factor.denominator, self.numerator)

    def depth_at(self, minutes: Fraction, clock: int) -> int:
        """Return the number of messages in the queue, rounded up."""
        at, of = minutes.as_integer_ratio()
        if self.limited * of < at * clock:
            at, of = self.limited, clock
        depth = ceil_div(self.numerator * at, self.pace.factor.denominator * of)
        return depth if self.queue.maxdepth is None else min(depth, self.queue.maxdepth)


class _PlannedQueue(NamedTuple):
    """The backlog of one queue in the plan, and the index of its pace."""

    queue: Queue
    message: QueueDemand
    weight: int
    pace: int


@dataclass(frozen=True, slots=True)
class _Planned:
    """The plan: its queues, their paces, the longest outage, and whether that is assumed."""

    queues: list[_PlannedQueue]
    paces: list[_Pace]
    minutes: Fraction
    is_assumed: bool


@dataclass(frozen=True, slots=True)
class _Flowing:
    """The arrivals of the simulated outage; `clock` parts are a minute."""

    flows: list[_Flow]
    paces: list[_Pace]
    clock: int
    mix: Mix

    def arriving(self) -> Fraction:
        """Return the number of messages for all queues up to the end, as if no queue had a MAXDEPTH."""
        weights = dict.fromkeys(map(id, self.paces), 0)
        for flow in self.flows:
            weights[id(flow.pace)] += flow.weight
        return sum(
            (
                pace.factor * pace.stop * weight
                for pace, weight in zip(self.paces, weights.values(), strict=True)
            ),
            Fraction(0),
        )


def _planned(document: PlanDocument, structure: StructureResult) -> _Planned:
    """Return the pace and the backlog of each queue in the plan."""
    queues = parts_of(structure)[1].queues
    assumed = tables.constants("whatif_filling")["assumed_outage_minutes"].value
    # A backlog without a rate arrives over the longest outage of the other queues, else over the assumed one.
    reference = Fraction(
        max((queue.outage_minutes for queue in queues if queue.outage_minutes), default=assumed)
    )
    growth = growth_factor(percent_per_year=document.growth.percent_per_year, years=document.growth.years)
    found: list[_PlannedQueue] = []
    places: dict[tuple[Decimal | None, Decimal | int | None], int] = {}
    paces: list[_Pace] = []
    for queue, demand in zip(queues, structure.queues, strict=True):
        outage, weight, rate = queue.outage_minutes, demand.messages, None
        if not weight or (outage is not None and not outage):
            # Without an outage in the plan there is no backlog, but the rate arrives in an outage that the question
            # gives.
            weight, rate = 1, queue.put_rate_per_s or 0
        place = places.setdefault((outage, rate), len(paces))
        if place == len(paces):
            lasts = reference if outage is None else Fraction(outage)
            # A backlog in the result includes growth; a rate in the document does not.
            factor = 1 / lasts if rate is None else Fraction(rate) * SECONDS_PER_MINUTE * growth
            paces.append(_Pace(factor, lasts, 0))
        found.append(_PlannedQueue(queue, demand, weight, place))
    return _Planned(found, paces, reference, any(queue.outage_minutes is None for queue in queues))


def _flowing(planned: _Planned, asked: Outage) -> _Flowing:
    """Return the arrivals of the requested outage."""
    mix, larger = _mix_of(planned, asked.larger_percent)
    rate = Fraction(asked.rate_percent) / _FULL
    times = {True: rate, False: rate}
    if mix.can_change and mix.percent != mix.planned_percent:
        # The mix changes, and not the number of messages: what one kind gains, the other loses.
        times[True] *= mix.percent / mix.planned_percent
        times[False] *= (_FULL - mix.percent) / (_FULL - mix.planned_percent)
    stop = None if asked.outage_minutes is None else Fraction(asked.outage_minutes)
    stops = [stop] if stop is not None else [pace.stop for pace in planned.paces]
    clock = math.lcm(_TICKS, *(each.denominator for each in stops))
    paces: dict[tuple[int, bool], _Pace] = {}
    flows: list[_Flow] = []
    for each, is_larger in zip(planned.queues, larger, strict=True):
        pace = paces.get((each.pace, is_larger))
        if pace is None:
            as_planned = planned.paces[each.pace]
            ends = as_planned.stop if stop is None else stop
            pace = paces[each.pace, is_larger] = _Pace(
                as_planned.factor * times[is_larger], ends, ends.numerator * (clock // ends.denominator)
            )
        full_at, maxdepth = None, each.queue.maxdepth
        if maxdepth is not None and pace.factor:
            # Rounded up to one of 2**30 parts of a minute: MAXDEPTHs of hundreds of queues have no bounded common
            # denominator.
            many, of = maxdepth * pace.factor.denominator, each.weight * pace.factor.numerator
            full_at = ceil_div(many * _TICKS, of) * (clock // _TICKS)
        limited = pace.stop_at if full_at is None else min(pace.stop_at, full_at)
        flows.append(_Flow(each.queue, each.message, each.weight, pace, is_larger, full_at, limited))
    return _Flowing(flows, list(paces.values()), clock, mix)


def _mix_of(planned: _Planned, wanted: Decimal | None) -> tuple[Mix, list[bool]]:
    """Return the mix, and whether each queue has the larger messages."""
    common = math.lcm(*(pace.factor.denominator for pace in planned.paces))
    factors = [pace.factor.numerator * (common // pace.factor.denominator) for pace in planned.paces]
    rates = [each.weight * factors[each.pace] for each in planned.queues]
    together = sum(rates)
    means = [mean_bytes(each.message) for each in planned.queues]
    unit = math.lcm(*{of for _, of in means})
    sizes = [mean * (unit // of) for mean, of in means]
    weighted = sum(map(mul, sizes, rates))
    larger = [size * together > weighted for size in sizes] if together else [size > 0 for size in sizes]
    many = sum(rate for rate, is_larger in zip(rates, larger, strict=True) if is_larger)
    # Rounded to a millionth: exact shares of hundreds of queues would have no bounded denominator.
    share = Fraction(round(Fraction(many * _FULL, together) * _GRID), _GRID) if together else Fraction(0)
    can_change = 0 < share < _FULL
    if wanted is not None and not can_change:
        message = (
            "cannot be set: all messages of this structure have the same size, or nothing is planned for it"
        )
        raise InputInvalid(Outage.what, (FieldProblem("larger_percent", message),))
    mean = Fraction(weighted, unit * together) if together else Fraction(0)
    return Mix(mean, share, share if wanted is None else Fraction(wanted), can_change), larger


def mean_bytes(demand: QueueDemand) -> tuple[int, int]:
    """Return the mean message size of a queue as numerator and denominator [bytes]."""
    sizes = demand.message_bytes
    return (sizes, 1) if isinstance(sizes, int) else (sizes.mean, sizes.mean_of)


# ---- simulation ------------------------------------------------------------------------------------------------------

_Rates = tuple[int, int, int, int]
"""Messages, elements, offloaded messages and pages, in parts that each arrive within a fraction of a minute."""


class _Stream:
    """Queues that stop growing at the same time, with the use and the rate of their messages; `full_stop`: by MAXDEPTH."""

    def __init__(self, stop: int, full_stop: int | None, scale: int) -> None:
        self.stop, self.full_stop, self.scale = stop, full_stop, scale
        self.members: list[tuple[tuple[tuple[int, int, int], ...], int]] = []
        self.beyond = 0
        self._rates: dict[int, _Rates] = {}

    def rates(self, staying: int) -> _Rates:
        """Return the arrivals while the data of the first `staying` bands stays in the CF; both runs need them."""
        found = self._rates.get(staying)
        if found is None:
            messages, elements, offloaded, pages = 0, self.beyond, 0, 0
            two = model_constant("offloaded_message_elements")
            for bands, times in self.members:
                messages += times
                for _, band_elements, _ in bands[:staying]:
                    elements += times * band_elements
                for share, _, band_pages in bands[staying:]:
                    offloaded += times * share
                    pages += times * band_pages
            found = messages * self.scale, elements + two * offloaded, offloaded, pages
            self._rates[staying] = found
        return found


class _Arrivals:
    """The arrivals of all queues, shared by both runs."""

    def __init__(self, flowing: _Flowing, structure: StructureResult, rules: Sequence[Rule]) -> None:
        edges = band_edges([rule.size_bytes for rule in rules])
        units = _units(structure, edges)
        total = units.demand([1 if flow.pace.factor else 0 for flow in flowing.flows])
        self.rules = sorted(
            firing(rules, total),
            key=lambda rule: (rule.threshold, -rule.size_bytes),
        )
        overs, size = (-1, *edges), edges[-1]
        self.staying = [bisect_left(overs, size)]
        for rule in self.rules:
            size = min(size, rule.size_bytes)
            self.staying.append(bisect_left(overs, size))
        self.clock = flowing.clock
        common = math.lcm(*(pace.factor.denominator for pace in flowing.paces))
        self.unit = common * units.scale
        streams: dict[tuple[int, int | None], _Stream] = {}
        is_relieved = bool(firing(self.rules, total))
        for flow, bands, beyond in zip(flowing.flows, units.bands, units.beyond, strict=True):
            if not flow.pace.factor:
                continue
            key = (flow.limited, flow.full_at)
            if key not in streams:
                streams[key] = _Stream(*key, units.scale)
            times = flow.numerator * (common // flow.pace.factor.denominator)
            streams[key].members.append((bands, times))
            if not is_relieved:
                # Only where no rule offloads anything does the bound for every shape hold (docs/decisions/0020).
                streams[key].beyond += times * beyond
        self.streams = tuple(streams.values())


def _units(structure: StructureResult, edges: tuple[int, ...]) -> Units:
    """Return the use of one message of each queue: as calculated for the plan, if the rules have the same sizes."""
    known = None if structure.load is None else structure.load.units
    if known is not None and known.edges == edges:
        return known
    return Units.of(
        [queue.message_bytes for queue in structure.queues],
        edges=edges,
        header_bytes=structure.curve.header_bytes,
        page_bytes=page_bytes(),
        page_header_bytes=message_header_bytes(),
    )


class _Run:
    """The simulation of one outage. `goes_on` continues it from the first end of a queue's outage, as if none ended.

    Contents are counted in parts: a message has as many parts as a minute, times the arrivals' unit. If a rule starts
    between two parts of a minute, the parts become finer.
    """

    def __init__(self, arrivals: _Arrivals, *, bundles: Fraction, per_entry: Fraction) -> None:
        self.arrivals, self.rules = arrivals, arrivals.rules
        self.totals = (bundles, bundles * per_entry)
        self.streams = _by_stop((each.stop, each) for each in arrivals.streams)
        self.started, self.finer, self.ticks = 0, 1, 0
        self.held = (0, 0, 0, 0)
        self.flowing = self._all_flowing()
        self.points = [self._here()]
        self.starts: list[tuple[Rule, Point]] = []
        self.goes_on: _Run | None = None

    def until_end(self, end: Fraction) -> tuple[tuple[Point, ...], list[tuple[Rule, Point]], Fraction | None]:
        """Return the points up to the end of the outage, the start of each rule, and the time when the structure is full."""
        full = self.until_full()
        last = self.points[-1]
        if last.minutes < end:
            # Nothing arrives after reason 2192, or when all queues have stopped growing.
            self.points.append(last._replace(ticks=end.numerator, clock=end.denominator))
        return tuple(self.points), self.starts, full

    def until_full(self) -> Fraction | None:
        """Run until nothing changes, and return the time when the structure is full."""
        if not self.streams:
            return _NEVER
        if not self.totals[0]:
            return self.points[-1].minutes
        while self.streams:
            # The contents are a whole number of parts, so a goal is reached at the first part at or above it.
            goals = self._goals()
            many_messages, many_elements = map(ceil_fraction, goals)
            while self.streams:
                stop, stream = self.streams[-1]
                if stop is None:
                    break
                run = stop * self.finer - self.ticks
                after = self._after(run)
                if after[0] >= many_messages or after[1] >= many_elements:
                    break
                if self.goes_on is None and stop != stream.full_stop:
                    self.goes_on = self._endless()
                self._go(run, after)
                self._stop_one()
            if not self.streams or not self._go_to(goals):
                break
            if self.started == len(self.rules):
                return self.points[-1].minutes
            self.starts.append((self.rules[self.started], self.points[-1]))
            self.started += 1
            self.flowing = self._all_flowing()
        return _NEVER

    def _endless(self) -> _Run:
        """Return a run from this time on that ends when the structure is full or no queue grows."""
        other = copy.copy(self)
        other.streams = _by_stop((each.full_stop, each) for _, each in self.streams)
        other.points, other.starts = [self._here()], []
        return other

    def _all_flowing(self) -> _Rates:
        """Return the puts of all queues that still grow, with the rules that have started."""
        staying = self.arrivals.staying[self.started]
        rates = [stream.rates(staying) for _, stream in self.streams]
        messages, elements, offloaded, pages = map(sum, zip(*rates, strict=True)) if rates else (0, 0, 0, 0)
        return messages, elements, offloaded, pages

    def _stop_one(self) -> None:
        _, stopped = self.streams.pop()
        messages, elements, offloaded, pages = self.flowing
        # Subtracting one stream costs less than adding up all others, of which there may be hundreds.
        gone = stopped.rates(self.arrivals.staying[self.started])
        self.flowing = (messages - gone[0], elements - gone[1], offloaded - gone[2], pages - gone[3])

    def _goals(self) -> tuple[Fraction, Fraction]:
        """Return the next limit, a rule's start or the full structure, as messages or elements in parts."""
        goal = self.rules[self.started].threshold if self.started < len(self.rules) else _FULL
        parts = self.arrivals.clock * self.finer * self.arrivals.unit
        entries, elements = self.totals
        return entries * goal * parts / _FULL, elements * goal * parts / _FULL

    def _go_to(self, goals: tuple[Fraction, Fraction]) -> bool:
        """Run until the first pool reaches its goal; return False if it never does."""
        runs = [
            # A rule whose threshold is passed when another one starts begins at once.
            max(Fraction(0), (goal - used) / rate)
            for used, goal, rate in zip(self.held[:2], goals, self.flowing[:2], strict=True)
            if rate
        ]
        if not runs:
            return False
        run, finer = min(runs).as_integer_ratio()
        self.finer, self.ticks = self.finer * finer, self.ticks * finer
        messages, elements, offloaded, pages = self.held
        self.held = (messages * finer, elements * finer, offloaded * finer, pages * finer)
        self._go(run, self._after(run))
        return True

    def _after(self, run: int) -> _Rates:
        """Return the contents after `run` parts of a minute."""
        messages, elements, offloaded, pages = self.held
        rates = self.flowing
        return (
            messages + run * rates[0],
            elements + run * rates[1],
            offloaded + run * rates[2],
            pages + run * rates[3],
        )

    def _go(self, run: int, held: _Rates) -> None:
        self.ticks, self.held = self.ticks + run, held
        if not run:
            # Several events at one time are one point of the line.
            self.points.pop()
        self.points.append(self._here())

    def _here(self) -> Point:
        clock = self.arrivals.clock * self.finer
        return Point(self.ticks, clock, *self.held, clock * self.arrivals.unit)


def _by_stop(streams: Iterable[tuple[int | None, _Stream]]) -> list[tuple[int | None, _Stream]]:
    """Return the streams sorted by stop, the next one last; streams that never stop come first."""
    return sorted(streams, key=lambda each: (each[0] is None, each[0] or 0), reverse=True)


def _between(points: Sequence[Point], minutes: Fraction) -> Point:
    """Return the interpolated point at a time."""
    ticks, clock = minutes.as_integer_ratio()
    index = bisect_left(points, True, key=lambda point: point.ticks * clock >= ticks * point.clock)
    if index == len(points):
        # Nothing arrives after the last point.
        return points[-1]._replace(ticks=ticks, clock=clock)
    after = points[index]
    if after.ticks * clock == ticks * after.clock:
        return after
    before = points[index - 1]
    part = (minutes - before.minutes) / (after.minutes - before.minutes)
    messages, elements, offloaded, pages = (
        low + part * (high - low) for low, high in zip(before.values[1:], after.values[1:], strict=True)
    )
    parts = math.lcm(messages.denominator, elements.denominator, offloaded.denominator, pages.denominator)
    return Point(
        ticks,
        clock,
        int(messages * parts),
        int(elements * parts),
        int(offloaded * parts),
        int(pages * parts),
        parts,
    )


# ---- events ----------------------------------------------------------------------------------------------------------

_RANK = {kind: rank for rank, kind in enumerate(get_args(FillingEventKind))}


def _moments(
    answer: FillingUp, flows: Sequence[_Flow], starts: Sequence[tuple[Rule, Point]], queue_managers: int
) -> Iterator[FillingEvent]:
    def moment(
        kind: FillingEventKind, point: Point, text: str, *, rule: Rule | None = None, queue: str | None = None
    ) -> FillingEvent:
        return FillingEvent(
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
    threshold = answer.result.placement.full_threshold
    # FULLTHRESHOLD(0) turns monitoring off.
    crossed = _first_at(answer, threshold) if threshold else None
    if crossed is not None:
        yield moment("full_threshold", crossed, f"FULLTHRESHOLD({threshold}) is reached: IXC585E")
    last = answer.outage_minutes if answer.full_at_minutes is None else answer.full_at_minutes
    if len(answer.points) > 1:
        lines, high = _Floats(answer), limit("default_qdepthhi_percent")
        for flow in flows:
            if flow.queue.maxdepth is not None and flow.numerator:
                yield from _depth_moments(flow, flow.queue.maxdepth, high, last, lines)
    yield from _data_set_moments(answer, queue_managers, moment)
    if answer.full_at_minutes is not None:
        point = answer.at_minutes(answer.full_at_minutes)
        pool = "entries" if answer.entries_percent(point) >= answer.elements_percent(point) else "elements"
        text = f"all {pool} are in use: puts fail with reason 2192 from now on"
        yield moment("structure_full", point, text)
    yield moment("outage_ends", answer.points[-1], "the outage ends")


def _depth_moments(
    flow: _Flow, maxdepth: int, default_high: int, last: Fraction, lines: _Floats
) -> Iterator[FillingEvent]:
    """Yield Queue Depth High and Queue Full of one queue; both need MAXDEPTH in the plan."""
    queue = flow.queue
    high = default_high if queue.qdepthhi is None else queue.qdepthhi
    if high:
        at = flow.depth_comes(ceil_div(maxdepth * high, _FULL))
        if not _is_before(last, at) and not _is_before(flow.pace.stop, at):
            text = f"{queue.name} is at QDEPTHHI({high}) of MAXDEPTH({maxdepth}): Queue Depth High"
            yield lines.moment("depth_high", at, text, queue.name)
    # The put that fills a queue succeeds. Reason 2053 needs one more put before the outage ends.
    at = flow.depth_comes(maxdepth)
    if _is_before(at, last) and _is_before(at, flow.pace.stop):
        text = f"{queue.name} is at MAXDEPTH({maxdepth}): puts to it fail with reason 2053"
        yield lines.moment("queue_full", at, text, queue.name)


def _is_before(minutes: Fraction, other: Fraction) -> bool:
    """Return whether one fraction is less than another; `<` of Fraction takes several times as long."""
    return minutes.numerator * other.denominator < other.numerator * minutes.denominator


class _Floats:
    """The points in floating point, to interpolate the usage of the structure at an event of a queue."""

    def __init__(self, answer: FillingUp) -> None:
        self.minutes = [point.drawn_minutes for point in answer.points]
        self.messages = [point.message_parts / point.parts for point in answer.points]
        self.usage = [max(answer.drawn_percents(point)) for point in answer.points]

    def moment(self, kind: FillingEventKind, minutes: Fraction, text: str, queue: str) -> FillingEvent:
        at = float(minutes)
        index = min(max(bisect_left(self.minutes, at), 1), len(self.minutes) - 1)
        before, after = self.minutes[index - 1], self.minutes[index]
        part = min(max((at - before) / (after - before), 0.0), 1.0)
        messages = self.messages[index - 1] + part * (self.messages[index] - self.messages[index - 1])
        usage = self.usage[index - 1] + part * (self.usage[index] - self.usage[index - 1])
        return FillingEvent(
            kind,
            minutes,
            round(messages),
            Fraction(round(usage * _HUNDREDTHS), _HUNDREDTHS),
            text,
            None,
            queue,
        )


_WHILE_IT_EXPANDS = "puts may fail with reason 2192 while it expands, and fail if it has no secondary space"


def _data_set_moments(answer: FillingUp, queue_managers: int, moment: _Maker) -> Iterator[FillingEvent]:
    """Yield the events at which data sets of the given size are full, or expand with DSEXPAND(YES)."""
    given, definition = answer.question.data_set_bytes, answer.result.definition
    if given is None or answer.offload_to != "SMDS" or not isinstance(definition, Structure):
        return
    pages = pages_in_data_set(given, dsblock_bytes=definition.offload.dsblock, queues=len(definition.queues))
    size = format_size(given)
    # Each queue manager writes to its own data set, and all puts may go to one of them.
    alone = _first(answer, pages)
    if alone is not None:
        puts = "if one queue manager puts all messages"
        if definition.offload.dsexpand:
            text = f"a data set of {size} must expand by its secondary space, {puts}: {_WHILE_IT_EXPANDS}"
            yield moment("data_set_expands", alone, text)
        else:
            text = f"a data set of {size} is full, {puts}: its puts fail with reason 2192"
            yield moment("data_set_full", alone, text)
    together = _first(answer, pages * queue_managers) if queue_managers > 1 else None
    if together is not None:
        kind: FillingEventKind = "data_sets_expand" if definition.offload.dsexpand else "data_sets_full"
        state = "must expand" if definition.offload.dsexpand else "are full"
        text = f"all {queue_managers} data sets of {size} {state}, if all queue managers put the same amount"
        yield moment(kind, together, text)


def _first_at(answer: FillingUp, threshold: int) -> Point | None:
    """Return the point at which usage reaches a percentage; None if it does not."""
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
    """Return the point at which offloaded data exceeds this number of pages; None if it does not."""
    points = answer.points
    index = bisect_left(points, True, key=lambda point: point.pages > pages)
    if not 0 < index < len(points):
        return None
    before, after = points[index - 1], points[index]
    part = (pages - before.pages) / (after.pages - before.pages)
    return answer.at_minutes(before.minutes + part * (after.minutes - before.minutes))


class _Maker(Protocol):
    """The function that creates events."""

    def __call__(
        self,
        kind: FillingEventKind,
        point: Point,
        text: str,
        *,
        rule: Rule | None = None,
        queue: str | None = None,
    ) -> FillingEvent: ...


# ---- assumptions and findings --------------------------------------------------------------------------------------------


def _assumptions(answer: FillingUp, *, is_assumed: bool) -> Iterator[Assumption]:
    model, outage = tables.source("project", "Two pools"), tables.source("project", "An outage in time")
    yield Assumption(
        "Messages arrive on all queues at a constant rate from the first minute, and no application gets them.",
        Basis.ASSUMED,
        outage,
    )
    if is_assumed:
        yield Assumption(
            f"A backlog without a rate arrives over {shown_minutes(answer.planned_outage_minutes):g} minutes.",
            Basis.ASSUMED,
            outage,
        )
    yield Assumption(
        "Entries and elements are two pools at a fixed ratio; messages that are in the structure when a rule starts stay "
        "there.",
        Basis.ASSUMED,
        model,
    )
    yield Assumption(
        "The usage is that of the fuller pool.",
        Basis.ASSUMED,
        tables.source("project", "Structure usage"),
    )
    if answer.points[-1].page_parts:
        place = "SMDS space" if answer.offload_to == "SMDS" else "Db2 LOB space"
        yield Assumption(
            "Offloaded data takes whole 4 KB pages with a header, plus a share for the space map.",
            Basis.ASSUMED,
            tables.source("project", place),
        )
    if any(queue.maxdepth is not None for queue in answer.queues):
        yield Assumption(
            "Queue Depth High occurs when depth x 100 is at least QDEPTHHI x MAXDEPTH; the rounding is not published.",
            Basis.ASSUMED,
            outage,
        )


def _findings(
    answer: FillingUp, document: PlanDocument, moments: Sequence[FillingEvent], *, is_assumed: bool
) -> Iterator[Finding]:
    structure, name = answer.result, answer.structure
    at = structure.pointer
    if answer.full_at_minutes is not None:
        yield finding(
            "FULL_DURING_OUTAGE",
            f"{name} is full {_minutes(answer.full_at_minutes)} into an outage of {_minutes(answer.outage_minutes)}, with "
            f"{floor_fraction(answer.points[-1].messages)} of {answer.messages_arriving} messages: puts fail with reason 2192 after that.",
            field=f"{at}/{'initsize' if answer.question.at == 'initsize' else 'size'}",
            structure=name,
        )
    if is_assumed:
        yield finding(
            "OUTAGE_ASSUMED",
            f"Queues of {name} have a backlog but no rate: the backlog is assumed to arrive evenly over "
            f"{_minutes(answer.planned_outage_minutes)}.",
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
    kinds = ("data_set_full", "data_set_expands")
    data_set = next((moment for moment in moments if moment.kind in kinds), None)
    if data_set is not None:
        state, then = ("is full", "")
        if data_set.kind == "data_set_expands":
            state, then = "must expand", f" With DSEXPAND(YES), {_WHILE_IT_EXPANDS}."
        yield finding(
            "DATA_SET_FULL_DURING_OUTAGE",
            f"A shared message data set of {format_size(answer.question.data_set_bytes or 0)} for {name} {state} after "
            f"{_minutes(data_set.minutes)} if one queue manager puts all messages.{then}",
            field=f"{at}/offload/dsgroup",
            structure=name,
        )
    if any(moment.kind == "rule_starts" for moment in moments):
        yield usage_measure_assumed(structure=name)
    if answer.points[-1].page_parts and answer.offload_to == "SMDS":
        yield smds_overhead_assumed(structure=name)
    if answer.question.rules is not None and not _offloads(structure):
        yield from offload_needs_cflevel_5(
            name,
            parts_of(structure)[1].cflevel,
            "offload rules",
            structure=name,
            field=f"{at}/cflevel",
            effect=" and have no effect",
        )
    if not answer.messages_arriving:
        yield finding(
            "EMPTY_STRUCTURE",
            f"Nothing arrives on {name}: it has no backlog.",
            field=f"{at}/queues",
            structure=name,
        )


def _minutes(value: Fraction) -> str:
    """Return minutes as text."""
    shown = round(float(value), 1)
    return f"{shown:g} minute{'' if shown == 1 else 's'}"
