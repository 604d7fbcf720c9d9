"""What is read from the roll-ups: plain values that outlive the session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

SECONDS_PER_HOUR = 3600
GENERATED = ("CSQ_ADMIN", "CSQSYSAPPL")
"""Structures that every plan has by itself."""


@dataclass(frozen=True, slots=True)
class ObservedTotals:
    """How many entries and elements a structure had, each as last observed: a display may know but one of the two."""

    entries: int | None = None
    entries_at: datetime | None = None
    elements: int | None = None
    elements_at: datetime | None = None

    @property
    def at(self) -> datetime | None:
        """The last hour in which either was observed."""
        return max((at for at in (self.entries_at, self.elements_at) if at is not None), default=None)

    @property
    def are_of_one_hour(self) -> bool:
        """Whether all that is known was observed in one hour."""
        return None in (self.entries_at, self.elements_at) or self.entries_at == self.elements_at


@dataclass(frozen=True, slots=True)
class MeasuredStructure:
    """A structure with its latest figures. What no record said is None."""

    qsg: str
    structure: str
    first_hour: datetime
    last_hour: datetime
    last_full_hour: datetime | None
    use_hour: datetime | None
    entries: int | None
    elements: int | None
    entries_pct: float | None
    elements_pct: float | None
    limits: ObservedTotals | None
    size_bytes: int | None
    entries_of_week: int | None
    """Most in use in the last seven days."""
    elements_of_week: int | None
    queues: int
    plans: tuple[str, ...]

    @property
    def is_generated(self) -> bool:
        """Whether every plan has this structure by itself."""
        return self.structure in GENERATED

    @property
    def entries_percent_of_week(self) -> Fraction | float | None:
        """Most entries in use in the last seven days, of those that it had when last observed."""
        return share(self.entries_of_week, self.limits.entries if self.limits else None)

    @property
    def elements_percent_of_week(self) -> Fraction | float | None:
        """Most elements in use in the last seven days, of those that it had when last observed."""
        return share(self.elements_of_week, self.limits.elements if self.limits else None)

    @property
    def entries_percent(self) -> Fraction | float | None:
        """Entries in use, of those that it had when last observed."""
        return share(self.entries, self.limits.entries if self.limits else None, self.entries_pct)

    @property
    def elements_percent(self) -> Fraction | float | None:
        """Elements in use, of those that it had when last observed."""
        return share(self.elements, self.limits.elements if self.limits else None, self.elements_pct)


@dataclass(frozen=True, slots=True)
class UsagePoint:
    """A structure in one hour, or the highest of one day. What no record said is None."""

    at: datetime
    entries: int | None
    entries_total: int | None
    elements: int | None
    elements_total: int | None
    entries_pct: float | None
    elements_pct: float | None
    scm_entries: int | None
    scm_elements: int | None
    size_bytes: int | None
    structure_full: int | None
    queue_managers: int | None
    sources: str

    @property
    def entries_percent(self) -> Fraction | float | None:
        """Entries in use, of those that there were."""
        return share(self.entries, self.entries_total, self.entries_pct)

    @property
    def elements_percent(self) -> Fraction | float | None:
        """Elements in use, of those that there were."""
        return share(self.elements, self.elements_total, self.elements_pct)


@dataclass(frozen=True, slots=True)
class QueuePoint:
    """A queue in one hour, or over one day. What no record said is None."""

    at: datetime
    hours: int
    puts: int | None
    busiest_hour_puts: int | None
    mean_bytes: Fraction | None
    size_min_bytes: int | None
    size_max_bytes: int | None
    persistent_puts: int | None
    depth_max: int | None

    @property
    def puts_per_s(self) -> Fraction | None:
        """Puts in a second, on the average of the busiest hour."""
        return per_second(self.busiest_hour_puts)


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """A queue over a period: what a plan can rest on."""

    structure: str
    queue: str
    hours: int
    first_hour: datetime
    last_hour: datetime
    puts: int | None
    mean_bytes: Fraction | None
    size_min_bytes: int | None
    size_max_bytes: int | None
    persistent_puts: int | None
    persistent_of: int | None
    """The puts of those hours in which persistent ones were counted."""
    busiest_hour_puts: int | None
    busiest_hour: datetime | None
    depth_max: int | None
    depth_hour: datetime | None

    @property
    def peak_puts_per_s(self) -> Fraction | None:
        """Puts in a second, on the average of the busiest hour."""
        return per_second(self.busiest_hour_puts)

    @property
    def is_persistent(self) -> bool | None:
        """Whether any message was persistent; None where that was not measured, or nothing was put."""
        if self.persistent_puts is None or not self.persistent_of:
            return None
        return self.persistent_puts > 0

    @property
    def persistent_percent(self) -> Fraction | None:
        """Share of the persistent messages."""
        if self.persistent_puts is None or not self.persistent_of:
            return None
        return Fraction(self.persistent_puts * 100, self.persistent_of)


@dataclass(frozen=True, slots=True)
class SizeBucket:
    """So many puts whose average size is at most this, and above that of the bucket before."""

    up_to_bytes: int
    puts: int


@dataclass(frozen=True, slots=True)
class SmdsFigures:
    """The shared message data set of one queue manager over a period."""

    queue_manager: str
    blocks_data: int | None
    blocks_in_use_max: int | None
    messages_max: int | None
    failed_allocates: int | None


def share(part: int | None, whole: int | None, given: float | None = None) -> Fraction | float | None:
    """A percentage: computed from both figures where they are known, else as it was reported."""
    if part is not None and whole:
        return Fraction(part * 100, whole)
    return given


def per_second(puts: int | None) -> Fraction | None:
    """Puts of an hour → puts in a second."""
    return None if puts is None else Fraction(puts, SECONDS_PER_HOUR)


def added(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def highest(values: Iterable[int | None]) -> int | None:
    """The largest of what is known; None when nothing is."""
    return max((value for value in values if value is not None), default=None)


def lowest(values: Iterable[int | None]) -> int | None:
    """The smallest of what is known; None when nothing is."""
    return min((value for value in values if value is not None), default=None)
