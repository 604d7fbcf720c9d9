"""Figures of the roll-ups, as pages and the REST interface show them. They can be used after the session ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Annotated, TypeVar

from pydantic import Field, PlainSerializer, computed_field

from planner_core.simulated import has_simulated_name
from planner_core.urgency import Fullness, NextLimit, urgency_key
from planner_core.wire import Answer, Hidden, Unchecked

SECONDS_PER_HOUR = 3600
_DIGITS = 4

T = TypeVar("T")
Number = TypeVar("Number", int, float)

Known = Annotated[int | None, Field(description="Null if not measured.")]


def _rounded(value: Fraction | float | None) -> float | None:
    return None if value is None else round(float(value), _DIGITS)


# The REST interface has always shown four decimals; pages and plans need the exact figure.
Rounded = Annotated[T, Unchecked(), PlainSerializer(_rounded, return_type=float | None)]
Percent = Annotated[
    Rounded[Fraction | float | None], Field(description="Null if not measured, or if the limit is not known.")
]


@dataclass(frozen=True, slots=True)
class Simulatable(Answer):
    """A result about a queue-sharing group."""

    qsg: str

    @computed_field(description="The group has the name that the simulator uses.")
    @property
    def is_simulated(self) -> bool:
        """Whether the name of the group is one that only the simulator uses."""
        return has_simulated_name(self.qsg)


@dataclass(frozen=True, slots=True)
class ObservedTotals(Answer):
    """The limits of entries and elements, each with its own hour, because a display may show only one of them."""

    entries_total: Known = None
    entries_at: Annotated[
        datetime | None, Field(description="The hour in which the entries were last observed.")
    ] = None
    elements_total: Known = None
    elements_at: Annotated[
        datetime | None, Field(description="The hour in which the elements were last observed.")
    ] = None

    @computed_field(description="The last hour in which either was observed.")
    @property
    def at(self) -> datetime | None:
        """The last hour in which either limit was observed."""
        return max((at for at in (self.entries_at, self.elements_at) if at is not None), default=None)

    @property
    def are_of_one_hour(self) -> bool:
        """Whether all known limits were observed in the same hour."""
        return None in (self.entries_at, self.elements_at) or self.entries_at == self.elements_at


@dataclass(frozen=True, slots=True)
class StructureUrgency:
    """When a structure was full in the last days, and the next limit of its forecasts."""

    key: tuple[str, str]
    """Group and name."""
    full: Fullness | None
    limit: NextLimit | None
    used_percent: float | None
    """Highest use of entries or elements in the last days."""

    @property
    def order(self) -> tuple[object, ...]:
        """The sort key: the most urgent structure first, as in the list of forecasts."""
        return urgency_key(
            self.full,
            crossing_day=self.limit.day if self.limit else None,
            used_percent=self.used_percent,
            names=self.key,
        )


@dataclass(frozen=True, slots=True)
class MeasuredStructure(Simulatable):
    """A measured structure with its latest figures."""

    structure: Annotated[str, Field(description="Name without the group's, as MQ has it.")]
    first_hour: datetime
    last_hour: datetime
    use_hour: Annotated[datetime | None, Field(description="The hour of the usage figures below.")]
    entries_in_use: Known
    elements_in_use: Known
    entries_pct: Hidden[float | None]
    elements_pct: Hidden[float | None]
    entries_in_use_of_week: Annotated[
        int | None, Field(description="Highest number in use in the last seven days.")
    ]
    elements_in_use_of_week: Annotated[
        int | None, Field(description="Highest number in use in the last seven days.")
    ]
    limits: ObservedTotals | None
    size_bytes: Known
    last_full_hour: Annotated[
        datetime | None, Field(description="The last hour in which the structure was found full.")
    ]
    queues: Annotated[int, Field(description="Queues with figures.")]
    plans: Annotated[tuple[str, ...], Field(description="Plans whose latest version contains the structure.")]
    urgency: Hidden[StructureUrgency | None] = None

    @property
    def entries_percent_of_week(self) -> Fraction | float | None:
        """Largest number of entries in use in the last seven days, as a percentage of the limit last observed."""
        return share(self.entries_in_use_of_week, self.limits.entries_total if self.limits else None)

    @property
    def elements_percent_of_week(self) -> Fraction | float | None:
        """Largest number of elements in use in the last seven days, as a percentage of the limit last observed."""
        return share(self.elements_in_use_of_week, self.limits.elements_total if self.limits else None)

    @computed_field
    @property
    def entries_percent(self) -> Percent:
        """Entries in use, as a percentage of the limit last observed."""
        return share(
            self.entries_in_use, self.limits.entries_total if self.limits else None, self.entries_pct
        )

    @computed_field
    @property
    def elements_percent(self) -> Percent:
        """Elements in use, as a percentage of the limit last observed."""
        limit = self.limits.elements_total if self.limits else None
        return share(self.elements_in_use, limit, self.elements_pct)


@dataclass(frozen=True, slots=True)
class UsagePoint(Answer):
    """The usage of a structure in one hour, or its highest usage on one UTC day."""

    at: datetime
    entries_in_use_max: Known
    entries_total: Known
    elements_in_use_max: Known
    elements_total: Known
    entries_pct: Hidden[float | None]
    elements_pct: Hidden[float | None]
    scm_entries_in_use_max: Known
    scm_elements_in_use_max: Known
    size_bytes: Known
    structure_full_count: Known
    queue_managers: Known
    sources: Annotated[str, Field(description="The records this is based on.")]

    @computed_field
    @property
    def entries_percent(self) -> Percent:
        """Entries in use, as a percentage of the limit."""
        return share(self.entries_in_use_max, self.entries_total, self.entries_pct)

    @computed_field
    @property
    def elements_percent(self) -> Percent:
        """Elements in use, as a percentage of the limit."""
        return share(self.elements_in_use_max, self.elements_total, self.elements_pct)


@dataclass(frozen=True, slots=True)
class QueuePoint(Answer):
    """The usage of a queue in one hour, or over one UTC day."""

    at: datetime
    hours: int
    puts: Known
    busiest_hour_puts: Known
    mean_bytes: Rounded[Fraction | None]
    size_min_bytes: Known
    size_max_bytes: Known
    persistent_puts: Known
    depth_max: Known

    @computed_field(description="Average of the busiest hour.")
    @property
    def puts_per_s(self) -> Rounded[Fraction | None]:
        """Puts per second, averaged over the busiest hour."""
        return per_second(self.busiest_hour_puts)


@dataclass(frozen=True, slots=True)
class QueueFigures(Answer):
    """The usage of a queue over a period."""

    structure: Hidden[str]
    queue: str
    hours: Annotated[int, Field(description="Hours in which it was measured.")]
    first_hour: Hidden[datetime]
    last_hour: Hidden[datetime]
    puts: Known
    mean_bytes: Annotated[
        Rounded[Fraction | None], Field(description="Average message [bytes], without the MQMD.")
    ]
    size_min_bytes: Known
    size_max_bytes: Known
    persistent_puts: Known
    persistent_of: Hidden[int | None]
    """Number of puts in the hours in which persistent puts were counted."""
    busiest_hour_puts: Known
    busiest_hour: datetime | None
    depth_max: Known
    depth_hour: datetime | None

    @property
    def peak_puts_per_s(self) -> Fraction | None:
        """Puts per second, averaged over the busiest hour."""
        return per_second(self.busiest_hour_puts)

    @property
    def is_persistent(self) -> bool | None:
        """Whether any message was persistent; None if that was not measured, or no message was put."""
        if self.persistent_puts is None or not self.persistent_of:
            return None
        return self.persistent_puts > 0

    @property
    def persistent_percent(self) -> Fraction | None:
        """Percentage of persistent messages."""
        if self.persistent_puts is None or not self.persistent_of:
            return None
        # Hours in which persistent messages were not counted would make the percentage too small.
        return Fraction(self.persistent_puts * 100, self.persistent_of)


@dataclass(frozen=True, slots=True)
class SmdsFigures(Answer):
    """The usage of the shared message data set of one queue manager over a period."""

    queue_manager: str
    blocks_data: Known
    blocks_in_use_max: Known
    messages_max: Known
    failed_allocates: Known


def share(part: int | None, whole: int | None, given: float | None = None) -> Fraction | float | None:
    """Return a percentage: calculated if both figures are known, otherwise as reported."""
    # A reported percentage is rounded, while counts are exact.
    if part is not None and whole:
        return Fraction(part * 100, whole)
    return given


def per_second(puts: int | None) -> Fraction | None:
    """Return puts per hour as puts per second."""
    return None if puts is None else Fraction(puts, SECONDS_PER_HOUR)


def added(values: Iterable[int | None]) -> int | None:
    """Return the sum of the known values; None if there are none."""
    # The sum of nothing is unknown, not 0: hours without records are not hours without messages.
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def highest(values: Iterable[Number | None]) -> Number | None:
    """Return the largest known value; None if there are none."""
    return max((value for value in values if value is not None), default=None)


def lowest(values: Iterable[int | None]) -> int | None:
    """Return the smallest known value; None if there are none."""
    return min((value for value in values if value is not None), default=None)
