"""One queue and its depth events: thresholds, the three switches, the counters of each queue manager.

Sources: IBM MQ, "Enabling queue depth events" (what each event switches), "Shared queues and queue depth
events" (who writes messages), "Performance event statistics" (what resets the counters), RESET QSTATS and
Reset Queue Statistics (how they count). Where these leave two readings open, `Readings` says which is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import Enum, StrEnum
from fractions import Fraction
from typing import Final, TypeVar

from planner_core.limits import limit
from planner_core.units import ceil_fraction, floor_fraction

PERCENT: Final = 100
MOST_COUNTED: Final = limit("largest_counter")
"""A counter that exceeds this is returned as this on z/OS."""


class Event(Enum):
    """A queue depth event: its name, reason code and constant as IBM writes them."""

    HIGH = ("Queue Depth High", 2224, "MQRC_Q_DEPTH_HIGH")
    LOW = ("Queue Depth Low", 2225, "MQRC_Q_DEPTH_LOW")
    FULL = ("Queue Full", 2053, "MQRC_Q_FULL")

    @property
    def title(self) -> str:
        """The name that event displays show."""
        return self.value[0]

    @property
    def reason(self) -> int:
        """The reason code in the event message's header."""
        return self.value[1]

    @property
    def constant(self) -> str:
        """The name of the reason code."""
        return self.value[2]


EVENT_OF_REASON: Final = {event.reason: event for event in Event}


class Rounding(StrEnum):
    """Which depth is meant by a percentage of MAXDEPTH that is no whole number of messages."""

    EXACT = "exact"
    TRUNCATED = "truncated"


class DisabledDetector(StrEnum):
    """What happens when the queue manager that detects an event on a shared queue has PERFMEV(DISABLED)."""

    SILENT = "silent"
    BROADCAST = "broadcast"


class StatisticsOfDisabled(StrEnum):
    """Whether an event resets the counters of active members that have PERFMEV(DISABLED)."""

    RESET = "reset"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Readings:
    """How IBM's text is read where it can be read in two ways; the first of each is the default."""

    disabled_detector: DisabledDetector = DisabledDetector.SILENT
    statistics_of_disabled: StatisticsOfDisabled = StatisticsOfDisabled.RESET
    rounding: Rounding = Rounding.EXACT

    def as_json(self) -> dict[str, str]:
        """The readings by name."""
        return {item.name: getattr(self, item.name).value for item in fields(self)}

    def others(self) -> tuple[tuple[str, Readings], ...]:
        """The same with one of them turned round, each with the name of that one."""
        detector = _other(DisabledDetector, self.disabled_detector)
        statistics = _other(StatisticsOfDisabled, self.statistics_of_disabled)
        return (
            ("disabled_detector", replace(self, disabled_detector=detector)),
            ("statistics_of_disabled", replace(self, statistics_of_disabled=statistics)),
            ("rounding", replace(self, rounding=_other(Rounding, self.rounding))),
        )


_Reading = TypeVar("_Reading", bound=StrEnum)


def _other(values: type[_Reading], value: _Reading) -> _Reading:
    (found,) = set(values) - {value}
    return found


READING_VALUES: Final = {
    "disabled_detector": tuple(value.value for value in DisabledDetector),
    "statistics_of_disabled": tuple(value.value for value in StatisticsOfDisabled),
    "rounding": tuple(value.value for value in Rounding),
}
"""The values of each reading, the default first."""


@dataclass(frozen=True, slots=True)
class Switches:
    """QDPHIEV, QDPLOEV and QDPMAXEV of a queue: which of the three events is armed."""

    high: bool
    low: bool
    full: bool

    def is_armed(self, event: Event) -> bool:
        """Whether the event occurs when its condition is met."""
        return {Event.HIGH: self.high, Event.LOW: self.low, Event.FULL: self.full}[event]

    def after(self, event: Event) -> Switches:
        """What the event leaves: it switches itself off and the others on; Queue Full leaves QDPHIEV as it is."""
        if event is Event.HIGH:
            return Switches(high=False, low=True, full=True)
        if event is Event.LOW:
            return Switches(high=True, low=False, full=True)
        return replace(self, low=True, full=False)

    def as_json(self) -> dict[str, str]:
        """The attributes as MQSC writes them."""
        return {name: enabled(getattr(self, field)) for name, field in SWITCH_FIELDS.items()}


SWITCH_FIELDS: Final = {"qdphiev": "high", "qdploev": "low", "qdpmaxev": "full"}


def enabled(value: bool) -> str:
    """ENABLED or DISABLED."""
    return "ENABLED" if value else "DISABLED"


@dataclass(frozen=True, slots=True)
class DepthLimits:
    """MAXDEPTH [messages] and the thresholds [percent of MAXDEPTH]."""

    maxdepth: int
    qdepthhi: int
    qdepthlo: int

    def high_depth(self, rounding: Rounding = Rounding.EXACT) -> int:
        """The lowest depth at which a put meets QDEPTHHI [messages].

        >>> Limits(maxdepth=5, qdepthhi=80, qdepthlo=20).high_depth()
        4
        """
        exact = Fraction(self.maxdepth * self.qdepthhi, PERCENT)
        return floor_fraction(exact) if rounding is Rounding.TRUNCATED else ceil_fraction(exact)

    def low_depth(self) -> int:
        """The highest depth at which a get meets QDEPTHLO [messages]; the same in both ways of rounding."""
        return self.maxdepth * self.qdepthlo // PERCENT

    @property
    def is_high_rounded(self) -> bool:
        """Whether QDEPTHHI is no whole number of messages, so that rounding decides by one message."""
        return self.maxdepth * self.qdepthhi % PERCENT != 0


@dataclass(slots=True)
class Counters:
    """What one queue manager has counted on one queue since the last reset."""

    since: Fraction
    enqueued: int = 0
    dequeued: int = 0
    high: int = 0

    @property
    def net(self) -> int:
        """Puts less gets."""
        return self.enqueued - self.dequeued


def counted(value: int) -> int:
    """A counter as an event message has it."""
    return min(value, MOST_COUNTED)
