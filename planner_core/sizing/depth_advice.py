"""MAXDEPTH, QDEPTHHI and QDEPTHLO of shared queues, from the capacity of their structure.

The action level is the usage at which something begins to happen to the structure: the lowest of its offload
thresholds, FULLTHRESHOLD and the plan's own target. A queue's depth for Queue Depth High is its part of the messages
that INITSIZE holds at that level, in the mix of the planned backlog. So with any mix of messages, the structure
cannot reach the action level before one of its queues has reached that depth. MAXDEPTH is the queue's part at
FULLTHRESHOLD, or its planned backlog if that is larger; all queues at MAXDEPTH fit in INITSIZE together.

A queue raises Queue Depth High at the first depth with depth x 100 >= QDEPTHHI x MAXDEPTH, Queue Depth Low at a depth
with depth x 100 <= QDEPTHLO x MAXDEPTH; how MQ rounds is not published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field, PlainSerializer, computed_field
from pydantic.json_schema import SkipJsonSchema

from planner_core import tables
from planner_core.provenance import Basis, SourceText
from planner_core.sizing.demand import Demand
from planner_core.sizing.filling_alone import FillingsAlone
from planner_core.units import ceil_div, floor_fraction, hundredths
from planner_core.wire import Answer, Hidden, Omittable, Plain, Unchecked

PERCENT = 100
SECONDS_PER_DAY = 86_400
SETS_PER_CYCLE = 2
"""The events of a queue that fills up to QDEPTHHI and drains to QDEPTHLO: Queue Depth High and Queue Depth Low."""

Depth = Annotated[int | None, Field(description="Messages; null if the threshold is not known.")]
PercentOfMaxdepth = Annotated[
    int | None, Field(description="Percent of MAXDEPTH; null if no value is suitable.")
]
LeadSeconds = Annotated[
    int, Field(description="Seconds, rounded down; negative if the event comes too late.")
]
FloorSeconds = Annotated[Fraction, Unchecked(), PlainSerializer(floor_fraction, return_type=int)]


Hundredths = Annotated[
    Fraction, Unchecked(), PlainSerializer(lambda part: hundredths(part * PERCENT), return_type=float)
]
"""A part of a whole, written as a percentage and rounded up to a hundredth."""
SilentPart = Annotated[
    Hundredths | None, Field(description="Percent; null if PERFMEV or the rates are not known.")
]


@dataclass(frozen=True, slots=True)
class DepthAssumption(Answer):
    """An assumption behind an answer about queue depths."""

    assumed: str
    basis: Literal[Basis.PUBLISHED, Basis.DERIVED, Basis.ASSUMED]
    source: SourceText


class InForce(NamedTuple):
    """MAXDEPTH, QDEPTHHI and QDEPTHLO of a queue: those of the document, completed by advice, otherwise the advised ones.

    A tuple, because calculations and checks need it for all queues of a plan, and answers show it only for some of them.
    """

    maxdepth: int | None = None
    qdepthhi: int | None = None
    qdepthlo: int | None = None

    @property
    def high_at(self) -> int | None:
        """Return the lowest depth that meets QDEPTHHI [messages]."""
        maxdepth, qdepthhi, _ = self
        return None if maxdepth is None or qdepthhi is None else -(-maxdepth * qdepthhi // PERCENT)

    @property
    def low_at(self) -> int | None:
        """Return the highest depth that meets QDEPTHLO [messages]."""
        maxdepth, _, qdepthlo = self
        return None if maxdepth is None or qdepthlo is None else maxdepth * qdepthlo // PERCENT


@dataclass(frozen=True, slots=True)
class Thresholds(Answer):
    """MAXDEPTH, QDEPTHHI and QDEPTHLO."""

    maxdepth: Depth = None
    qdepthhi: PercentOfMaxdepth = None
    qdepthlo: PercentOfMaxdepth = None

    @property
    def high_at(self) -> int | None:
        """Return the lowest depth that meets QDEPTHHI [messages]."""
        return InForce(self.maxdepth, self.qdepthhi).high_at

    @property
    def low_at(self) -> int | None:
        """Return the highest depth that meets QDEPTHLO [messages]."""
        return InForce(self.maxdepth, None, self.qdepthlo).low_at


@dataclass(frozen=True, slots=True)
class DepthLead(Answer):
    """Times from Queue Depth High until a level is reached, while only this queue grows."""

    to_maxdepth_s: LeadSeconds
    to_action_s: LeadSeconds
    to_full_s: LeadSeconds


class Alone(NamedTuple):
    """The capacity of the structure for one queue while the others are empty [messages], with offload rules.

    `initsize` and `size` are the storage in bundles.
    """

    fillings: FillingsAlone
    place: int
    initsize: Fraction
    size: Fraction

    # Few callers need these, and each takes a simulated filling to calculate.
    @property
    def at_action(self) -> int:
        """Return the number of messages that bring INITSIZE to the action level."""
        return self.fillings.moments(self.place)[0].messages(self.initsize)

    @property
    def in_initsize(self) -> int:
        """Return the capacity of INITSIZE."""
        return self.fillings.moments(self.place)[1].messages(self.initsize)

    @property
    def in_size(self) -> int:
        """Return the capacity of SIZE."""
        return self.fillings.moments(self.place)[1].messages(self.size)


# Without slots, because the rates are kept: an answer about a large plan uses each of them several times for 32,000 queues.
@dataclass(frozen=True, kw_only=True)
class QueueThresholds(Thresholds):
    """The thresholds of a queue with depth events in the document, their effects, and the rates at the horizon.

    They are completed with advice that fits the values of the document. `puts` and `gets` are the rates of the
    document; all other rates are those at the horizon, multiplied by `factor`.
    """

    given: Annotated[
        tuple[Literal["maxdepth", "qdepthhi", "qdepthlo"], ...],
        Field(description="Thresholds that the document specifies; the others are advice that fits them."),
    ]
    alone: Hidden[Alone]
    puts: Hidden[Fraction | None]
    gets: Hidden[Fraction | None]
    factor: Hidden[Fraction]
    silent_high: Annotated[SilentPart, Field(alias="silent_high_percent")]
    silent_low: Annotated[SilentPart, Field(alias="silent_low_percent")]
    event_messages: Hidden[int | None]

    @computed_field
    @property
    def high_at_messages(self) -> int | None:
        """The lowest depth that meets QDEPTHHI; null if it is not known."""
        return self.high_at

    @computed_field
    @property
    def low_at_messages(self) -> int | None:
        """The highest depth that meets QDEPTHLO; null if it is not known."""
        return self.low_at

    @computed_field
    @property
    def alone_at_action_messages(self) -> int:
        """Messages of this queue alone that bring INITSIZE to the action level."""
        return self.alone.at_action

    @computed_field
    @property
    def alone_in_initsize_messages(self) -> int:
        """Capacity of INITSIZE for this queue alone, with offload rules."""
        return self.alone.in_initsize

    @computed_field
    @property
    def alone_in_size_messages(self) -> int:
        """Capacity of SIZE for this queue alone."""
        return self.alone.in_size

    @computed_field
    @cached_property
    def put_rate_per_s(self) -> Plain | None:
        """Puts per second at the horizon."""
        return None if self.puts is None else self.puts * self.factor

    @computed_field
    @cached_property
    def get_rate_per_s(self) -> Plain | None:
        """Gets per second at the horizon."""
        return None if self.gets is None else self.gets * self.factor

    @cached_property
    def net_rate(self) -> Fraction | None:
        """Return the growth of the depth [messages/s]."""
        if self.put_rate_per_s is None or self.get_rate_per_s is None:
            return None
        return self.put_rate_per_s - self.get_rate_per_s

    @computed_field
    @property
    def at_net_rate(self) -> DepthLead | None:
        """Lead times at the net rate; null if the queue does not grow."""
        return self.lead(self.net_rate)

    @computed_field
    @property
    def when_nothing_gets(self) -> DepthLead | None:
        """Lead times at the put rate alone."""
        return self.lead(self.put_rate_per_s)

    def lead(self, rate: Fraction | None) -> DepthLead | None:
        """Return the lead times at a rate; None if the depth does not grow or never reaches QDEPTHHI."""
        # A High depth above the capacity is never reached: the structure is full before the event.
        high, maxdepth = self.high_at, self.maxdepth
        if rate is None or rate <= 0 or high is None or maxdepth is None or high > self.alone.in_initsize:
            return None
        ends = (maxdepth, self.alone.at_action, self.alone.in_initsize)
        # Integers here and below: a growth factor for parts of a year has 40 digits, and fractions would be reduced each
        # time.
        per, messages = rate.denominator, rate.numerator
        return DepthLead(*[(end - high) * per // messages for end in ends])

    @computed_field
    @property
    def high_to_low_s(self) -> int | None:
        """Seconds from QDEPTHHI down to QDEPTHLO at the net rate, rounded up; null if the depth does not fall."""
        net, high, low = self.net_rate, self.high_at, self.low_at
        if net is None or net >= 0 or high is None or low is None or high < low:
            return None
        return ceil_div((high - low) * net.denominator, -net.numerator)

    @computed_field
    @property
    def most_event_messages_per_day(self) -> int | None:
        """Event messages in a day in which the depth moves between the thresholds as fast as the rates allow; rounded up."""
        put, get, high, low = self.put_rate_per_s, self.get_rate_per_s, self.high_at, self.low_at
        if not put or not get or high is None or low is None or high <= low or self.event_messages is None:
            return None
        # The fastest cycle fills without gets and drains without puts, so real queues cause fewer messages.
        cycles = put.numerator * get.numerator
        of = (high - low) * (put.numerator * get.denominator + get.numerator * put.denominator)
        return ceil_div(SETS_PER_CYCLE * self.event_messages * SECONDS_PER_DAY * cycles, of)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAdvice(Thresholds):
    """Advised thresholds of one queue."""

    name: str
    planned: Annotated[
        Omittable[QueueThresholds],
        Field(description="Present if the document states something about the depth events of the queue."),
    ] = None


class Advisor(Protocol):
    """A calculator of advice on the queues of one structure."""

    @property
    def in_force(self) -> Sequence[InForce]:
        """Return the thresholds in force of every queue, in the order of the document."""
        ...

    def alone(self, place: int) -> Alone:
        """Return the capacity of the structure for the queue at this place alone."""
        ...

    def size_holds(self, place: int, messages: int) -> bool:
        """Return whether SIZE holds this number of messages of the queue at this place alone."""
        ...

    def is_over_action(self, place: int, messages: int) -> bool:
        """Return whether INITSIZE exceeds the action level with this number of messages of the queue at this place alone."""
        ...

    def advice(self, place: int) -> QueueAdvice:
        """Return the advice for the queue at this place."""
        ...


@dataclass(frozen=True, slots=True)
class QueuesTogether(Answer):
    """All queues of a structure at their thresholds at once, in percent of the structure."""

    at_high: Annotated[
        Hundredths,
        Field(
            alias="all_high_percent", description="Percent of INITSIZE at QDEPTHHI, with all data in the CF."
        ),
    ]
    in_initsize: Annotated[
        Hundredths,
        Field(alias="all_full_percent_of_initsize", description="At MAXDEPTH, with all data in the CF."),
    ]
    in_initsize_with_offload: Annotated[Hundredths, Field(alias="all_full_percent_of_initsize_with_offload")]
    in_size: Annotated[Hundredths, Field(alias="all_full_percent_of_size")]
    in_size_with_offload: Annotated[Hundredths, Field(alias="all_full_percent_of_size_with_offload")]
    queues_to_full_threshold: Annotated[
        tuple[str, ...],
        Field(
            description="The smallest set of queues that fills INITSIZE to FULLTHRESHOLD at MAXDEPTH, with all data in the CF."
        ),
    ]
    queues_to_full: Annotated[
        tuple[str, ...], Field(description="The smallest set of queues that fills INITSIZE at MAXDEPTH.")
    ]


@dataclass(frozen=True, slots=True)
class JointLead(Answer):
    """The times until all growing queues, at their net rates, reach levels of the structure, rounded down."""

    first_queue: str | None
    first_high: Annotated[FloorSeconds | None, Field(alias="first_high_s")]
    to_action: Annotated[FloorSeconds, Field(alias="to_action_s")]
    to_full_threshold: Annotated[FloorSeconds, Field(alias="to_full_threshold_s")]
    to_full: Annotated[FloorSeconds, Field(alias="to_full_s")]
    demand: Hidden[Demand]
    per_s: Hidden[Fraction]

    @computed_field
    @property
    def lead_to_action_s(self) -> int | None:
        """Seconds from the first event to the action level."""
        return None if self.first_high is None else floor_fraction(self.to_action - self.first_high)

    @computed_field
    @property
    def lead_to_full_s(self) -> int | None:
        """Seconds from the first event until the structure is full."""
        return None if self.first_high is None else floor_fraction(self.to_full - self.first_high)


@dataclass(frozen=True)
class DepthAdvice(Answer):
    """Advice on the depths of the queues of a structure.

    `stated` has the places of the queues with depth events in the document; without any, `together` and `lead` are null.
    `action_part`, `threshold_part` and `full_part` are the number of times that the planned backlog fits in INITSIZE at
    the action level, at FULLTHRESHOLD and when it is full; null without a backlog.
    """

    action: Annotated[
        str,
        Field(
            description="OFFLDnTH, FULLTHRESHOLD, event_target_percent or full: the first limit that the structure meets."
        ),
    ]
    action_percent: Annotated[int, Field(description="The usage at which it is met.")]
    threshold_percent: Hidden[int]
    action_part: Hidden[Fraction | None]
    threshold_part: Hidden[Fraction | None]
    full_part: Hidden[Fraction | None]
    messages: Hidden[int]
    event_messages: Annotated[
        int | None,
        Field(
            alias="event_messages_per_event",
            description="Queue managers with PERFMEV(ENABLED); null if the document does not specify PERFMEV.",
        ),
    ]
    stated: Hidden[Sequence[int]]
    together: QueuesTogether | None
    lead: JointLead | None
    advisor: Hidden[Advisor] = field(repr=False, compare=False)
    written_queues: Annotated[
        Omittable[tuple[QueueAdvice, ...]],
        Field(alias="queues", description="Only in a result with depths=true."),
    ] = None

    # Advice for every queue was most of a large result and its computing time (docs/decisions/0019).
    @cached_property
    def queues(self) -> tuple[QueueAdvice, ...]:
        """Return the advice for every queue, in the order of the document."""
        return tuple([self.advisor.advice(place) for place in range(len(self.advisor.in_force))])

    def with_queues(self) -> DepthAdvice:
        """Return this advice, with the advice for every queue included in its JSON."""
        return replace(self, written_queues=self.queues)

    @property
    def is_planned(self) -> bool:
        """Return whether the document states PERFMEV, or depth events for one of these queues."""
        return self.event_messages is not None or bool(self.stated)

    @computed_field
    @property
    def action_messages(self) -> int | None:
        """Messages of the planned mix in INITSIZE at the action level; null without a backlog."""
        return None if self.action_part is None else floor_fraction(self.action_part * self.messages)

    @computed_field(exclude_if=lambda found: found is None)
    @property
    def assumptions(self) -> tuple[DepthAssumption, ...] | SkipJsonSchema[None]:
        """The assumptions behind the advice; present with `queues`, or if the document states anything about depth events."""
        if self.written_queues is None and not self.is_planned:
            return None
        return tuple(_assumptions(self))


def _assumptions(advice: DepthAdvice) -> Iterator[DepthAssumption]:
    source = tables.source("project", "Queue depths")
    texts = [
        "INITSIZE is the size of the structure; after SETXCF ALTER the figures differ.",
        "A depth meets QDEPTHHI when depth x 100 >= QDEPTHHI x MAXDEPTH, and QDEPTHLO likewise: the rounding is not published.",
        "QDEPTHHI is at most 80 and QDEPTHLO a quarter of it, the ratio of IBM's defaults of 80 and 20.",
    ]
    if advice.lead is not None:
        texts.append("Queues without rates do not grow during that time, and all queues begin empty.")
    if advice.event_messages is not None:
        texts.append(
            "An event detected by a queue manager with PERFMEV(DISABLED) changes the queue's event attributes and causes no message: "
            "IBM's list of steps, read literally. Without queue_manager_rates, all queue managers are equally active."
        )
    for text in texts:
        yield DepthAssumption(text, Basis.ASSUMED, source)
