"""One queue and its depth events: thresholds, event attributes and the counters of each queue manager.

Sources: IBM MQ, "Enabling queue depth events" (what each event switches), "Shared queues and queue depth
events" (who writes messages), "Performance event statistics" (what resets the counters), RESET QSTATS and
Reset Queue Statistics (how they count). Where these texts can be read in two ways, `Readings` holds the choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum
from fractions import Fraction
from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from planner_core.document.types import Switch
from planner_core.limits import limit
from planner_core.units import ceil_fraction, floor_fraction
from planner_core.wire import Answer, Unchecked

PERCENT: Final = 100
MOST_COUNTED: Final = limit("largest_counter")
"""The largest counter that z/OS returns; larger counts are returned as this value."""

Reason = Annotated[
    Literal[2053, 2224, 2225], Field(description="Queue Full, Queue Depth High, Queue Depth Low.")
]


class Event(Enum):
    """A queue depth event: its name, reason code and constant as IBM writes them."""

    HIGH = ("Queue Depth High", 2224, "MQRC_Q_DEPTH_HIGH")
    LOW = ("Queue Depth Low", 2225, "MQRC_Q_DEPTH_LOW")
    FULL = ("Queue Full", 2053, "MQRC_Q_FULL")

    @property
    def title(self) -> str:
        """Return the name that event displays show."""
        return self.value[0]

    @property
    def reason(self) -> Reason:
        """Return the reason code in the event message's header."""
        return self.value[1]

    @property
    def constant(self) -> str:
        """Return the name of the reason code."""
        return self.value[2]


EVENT_OF_REASON: Final[dict[int, Event]] = {event.reason: event for event in Event}
EventTitle = Annotated[Event, Unchecked(), PlainSerializer(lambda event: event.title, return_type=str)]
"""An event that is serialized as its title."""


Rounding = Literal["exact", "truncated"]


class Readings(BaseModel):
    """The chosen reading of each passage of IBM's text that can be read in two ways."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        hide_input_in_errors=True,
        json_schema_serialization_defaults_required=True,
    )

    # docs/decisions/0013 has the arguments for each default.
    disabled_detector: Annotated[
        Literal["silent", "broadcast"],
        Field(
            description="silent: if the detecting queue manager has PERFMEV(DISABLED), no queue manager writes a "
            "message. broadcast: it writes none itself, but the others write theirs."
        ),
    ] = "silent"
    statistics_of_disabled: Annotated[
        Literal["reset", "kept"],
        Field(description="Whether an event resets the counters of active members with PERFMEV(DISABLED)."),
    ] = "reset"
    rounding: Annotated[
        Rounding,
        Field(description="Whether a High threshold that is not a whole number is rounded up or down."),
    ] = "exact"

    def others(self) -> Iterator[tuple[str, Readings]]:
        """Yield variants with one reading changed, each with the name of that reading."""
        for name, values in READING_VALUES.items():
            (other,) = set(values) - {getattr(self, name)}
            yield name, self.model_copy(update={name: other})


READING_VALUES: Final[dict[str, tuple[str, ...]]] = {
    name: get_args(field.annotation) for name, field in Readings.model_fields.items()
}
"""The values of each reading, the default first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches(Answer):
    """The event attributes of a queue."""

    qdphiev: Switch
    qdploev: Switch
    qdpmaxev: Switch

    def is_armed(self, event: Event) -> bool:
        """Return whether the event occurs when its condition is met."""
        attribute = {Event.HIGH: self.qdphiev, Event.LOW: self.qdploev, Event.FULL: self.qdpmaxev}[event]
        return attribute == "ENABLED"

    def after(self, event: Event) -> Switches:
        """Return the attributes after the event: it disables itself and enables others.

        Queue Full leaves QDPHIEV as it is.
        """
        if event is Event.HIGH:
            return Switches(qdphiev="DISABLED", qdploev="ENABLED", qdpmaxev="ENABLED")
        if event is Event.LOW:
            return Switches(qdphiev="ENABLED", qdploev="DISABLED", qdpmaxev="ENABLED")
        return replace(self, qdploev="ENABLED", qdpmaxev="DISABLED")


SWITCHES: Final = tuple(each.name for each in fields(Switches))


@dataclass(frozen=True, slots=True)
class DepthLimits:
    """MAXDEPTH [messages] and the thresholds [percent of MAXDEPTH]."""

    maxdepth: int
    qdepthhi: int
    qdepthlo: int

    def high_depth(self, rounding: Rounding = "exact") -> int:
        """Return the lowest depth at which a put meets QDEPTHHI [messages].

        >>> DepthLimits(maxdepth=5, qdepthhi=80, qdepthlo=20).high_depth()
        4
        """
        # IBM's text says "greater than or equal"; integer arithmetic would drop the fraction.
        exact = Fraction(self.maxdepth * self.qdepthhi, PERCENT)
        return floor_fraction(exact) if rounding == "truncated" else ceil_fraction(exact)

    def low_depth(self) -> int:
        """Return the highest depth at which a get meets QDEPTHLO [messages]; it does not depend on rounding."""
        # Low needs depth x 100 <= QDEPTHLO x MAXDEPTH, so a fraction of a message never counts.
        return self.maxdepth * self.qdepthlo // PERCENT

    @property
    def is_high_rounded(self) -> bool:
        """Return whether QDEPTHHI is not a whole number of messages, so that rounding changes it by one message."""
        return self.maxdepth * self.qdepthhi % PERCENT != 0


@dataclass(slots=True)
class Counters:
    """The counters of one queue manager for one queue since the last reset."""

    since: Fraction
    enqueued: int = 0
    dequeued: int = 0
    high: int = 0

    @property
    def net(self) -> int:
        """Return puts minus gets."""
        return self.enqueued - self.dequeued


def counted(value: int) -> int:
    """Return a counter as an event message reports it: larger values are reported as the largest counter."""
    return min(value, MOST_COUNTED)
