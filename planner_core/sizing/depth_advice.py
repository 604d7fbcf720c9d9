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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from planner_core import tables
from planner_core.provenance import Basis, SourceText
from planner_core.sizing.demand import Demand
from planner_core.units import ceil_div, ceil_fraction, floor_fraction
from planner_core.wire import Answer

PERCENT = 100
SECONDS_PER_DAY = 86_400
SETS_PER_CYCLE = 2
"""A queue that goes up to QDEPTHHI and down to QDEPTHLO raises Queue Depth High and Queue Depth Low."""


@dataclass(frozen=True, slots=True)
class DepthAssumption(Answer):
    """An assumption behind an answer about queue depths."""

    assumed: str
    basis: Basis
    source: SourceText


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


@dataclass(frozen=True)
class Alone:
    """What the structure holds of one queue while the others are empty [messages], offload rules at work.

    `at_action` is met before any rule; what INITSIZE and SIZE hold is worked out when it is asked for. `without_rules` is
    what SIZE holds with all data in the CF: never more than with it offloaded.
    """

    at_action: int
    without_rules: int
    when_full: Callable[[], tuple[int, int]] = field(repr=False, compare=False)

    @cached_property
    def _full(self) -> tuple[int, int]:
        return self.when_full()

    @property
    def in_initsize(self) -> int:
        """What INITSIZE holds."""
        return self._full[0]

    @property
    def in_size(self) -> int:
        """What SIZE holds."""
        return self._full[1]

    def size_holds(self, messages: int) -> bool:
        """Whether SIZE holds so many; most often that is plain without the rules."""
        return messages <= self.without_rules or messages <= self.in_size


@dataclass(frozen=True, slots=True)
class QueueThresholds:
    """A queue of which the document says something about depth events: its thresholds in force, and what they do.

    What the document leaves open is completed with advice that fits what it says. `puts` and `gets` are the rates of the
    document; all others are those at the horizon, that is times `factor`.
    """

    given: tuple[str, ...]
    force: Thresholds
    alone: Alone
    puts: Fraction | None
    gets: Fraction | None
    factor: Fraction
    silent_high: Fraction | None
    silent_low: Fraction | None
    event_messages: int | None

    @property
    def put_rate(self) -> Fraction | None:
        """Puts at the horizon [messages/s]."""
        return None if self.puts is None else self.puts * self.factor

    @property
    def get_rate(self) -> Fraction | None:
        """Gets at the horizon [messages/s]."""
        return None if self.gets is None else self.gets * self.factor

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
    planned: QueueThresholds | None = None

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
    per_s: Fraction

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


@dataclass(frozen=True)
class DepthAdvice:
    """Advice for the queues of one structure.

    What concerns all queues at once is there. What concerns each of them is worked out when it is asked for: `said` are
    those of which the document itself says something, by their places. `together` and `lead` are there with these only.
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
    said: Mapping[int, QueueAdvice]
    together: Together | None
    lead: JointLead | None
    of_queues: Callable[[DepthAdvice], tuple[QueueAdvice, ...]] = field(repr=False, compare=False)

    @cached_property
    def queues(self) -> tuple[QueueAdvice, ...]:
        """Every queue, in the order of the document."""
        return self.of_queues(self)

    @property
    def is_planned(self) -> bool:
        """Whether the document says anything about depth events here."""
        return self.event_messages is not None or bool(self.said)

    @property
    def action_messages(self) -> int | None:
        """Messages of the planned mix in INITSIZE at the action level."""
        return None if self.action_part is None else floor_fraction(self.action_part * self.messages)

    def as_json(self, *, depths: bool = False) -> dict[str, object]:
        """JSON-ready; with `depths`, the advice for every queue and what it rests on."""
        found: dict[str, object] = {
            "action": self.action,
            "action_percent": self.action_percent,
            "action_messages": self.action_messages,
            "event_messages_per_event": self.event_messages,
            "together": self.together.as_json() if self.together else None,
            "lead": self.lead.as_json() if self.lead else None,
        }
        if depths:
            found["queues"] = [queue.as_json() for queue in self.queues]
        if depths or self.is_planned:
            found["assumptions"] = [dict(each) for each in assumptions(self)]
        return found


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
    if advice.event_messages is not None:
        said.append(
            (
                "An event detected by a queue manager with PERFMEV(DISABLED) switches the queue and gives no message: "
                "IBM's list of steps, read literally. Without queue_manager_rates all queue managers do the same.",
                "assumed",
            )
        )
    return [{"assumed": text, "basis": basis, "source": source} for text, basis in said]
