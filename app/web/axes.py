"""The axes of charts: positions of values, and the round values that are labeled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

Value = float | Fraction | date
"""A value in the data's own unit: a number, a day, or a moment."""

_FEWEST_Y_TICKS = 3
_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3600, 86_400
_TIME_STEPS_S = (
    *(step * _SECOND for step in (1, 2, 5, 10, 15, 30)),
    *(step * _MINUTE for step in (1, 2, 5, 10, 15, 30)),
    *(step * _HOUR for step in (1, 3, 6, 12)),
    # Above two days, only whole weeks, so that all labels name the same weekday: usage has a weekly rhythm.
    *(step * _DAY for step in (1, 2, 7, 14, 28, 56, 91, 182, 364)),
)
_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
"""A Monday, from which steps of days are counted."""
_DURATIONS: tuple[tuple[int, str, Sequence[Fraction]], ...] = (
    (1, "s", (Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), *map(Fraction, (1, 2, 5, 10, 20, 30, 60)))),
    (60, "min", tuple(map(Fraction, (1, 2, 5, 10, 15, 30, 60)))),
    (3600, "h", tuple(map(Fraction, (1, 2, 3, 6, 12, 24, 48, 96, 168)))),
)
_GROUPED_FROM = 10_000
_LONGEST_IN_UNIT = 300
_HALF = 0.5 + 1e-9
"""Distance from the middle of an axis to its end, with a tolerance for rounding."""


def grouped(value: int) -> str:
    """Return a whole number in groups of three, for sentences and charts, where no markup can separate the groups.

    Four digits read well as they are, as in tables (app/web/rendering.py).
    """
    if abs(value) < _GROUPED_FROM:
        return str(value)
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def short(value: float) -> str:
    """Return the label of a value on an axis."""
    return grouped(int(value)) if float(value).is_integer() else f"{value:g}"


def round_values(highest: float, *, is_whole: bool) -> tuple[float, ...]:
    """Return zero and three to six round values above it; the last is not below the highest value."""
    if highest <= 0:
        return (0.0, 1.0)
    size = 10.0 ** math.floor(math.log10(highest))
    step = next(step for part in (2, 1, 0.5, 0.2, 0.1) if highest / (step := size * part) >= _FEWEST_Y_TICKS)
    if is_whole:
        step = max(step, 1.0)
    return tuple(
        # 1.1 / 0.1 is 11.000000000000002, whose ceiling would add a step; 3 * 0.1 would be labeled 0.30000000000000004.
        float(f"{nth * step:.12g}")
        for nth in range(max(math.ceil(round(highest / step, 9)), 1) + 1)
    )


def position(value: Value) -> float:
    """Return a value as a number; moments become seconds."""
    # First, because a chart asks for thousands of numbers; a union would be built again for each of them.
    if isinstance(value, (float, int)):
        return value
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    return float(value)


@dataclass(frozen=True, slots=True)
class Tick:
    """A labeled value of an axis."""

    value: Value
    label: str


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from its first to its last value; subclasses define the scale and the labels."""

    first: Value
    last: Value
    title: str = ""
    """The unit, shown next to the axis; empty if the heading of the chart names it."""

    def share(self, value: Value) -> float:
        """Return the position of a value along the axis: 0 at the first, 1 at the last."""
        return self.shares()(value)

    def shares(self) -> Callable[[Value], float]:
        """Return a function for the positions of many values."""
        first, last, scaled = self.scaled(self.first), self.scaled(self.last), self.scaled
        return lambda value: (scaled(value) - first) / (last - first) if last != first else 0.0

    def scaled(self, value: Value) -> float:
        """Return the value on the scale of the axis."""
        return position(value)

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """Return at most this number of round values."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Linear(Axis):
    """An axis of numbers."""

    steps: tuple[float, ...] = ()
    """Possible steps between labeled values, smallest first; if empty, any round step is possible."""
    suffix: str = ""
    is_whole: bool = True
    is_signed: bool = False

    def shares(self) -> Callable[[Value], float]:
        """Return a function for the positions of many values."""
        first = position(self.first)
        span = position(self.last) - first
        return (lambda value: (position(value) - first) / span) if span else (lambda _: 0.0)

    @classmethod
    def up_to(cls, highest: float, *, is_whole: bool = True, title: str = "", suffix: str = "") -> Linear:
        """Return an axis from zero to the next round value."""
        values = round_values(highest, is_whole=is_whole)
        return cls(0.0, values[-1], title, steps=(values[1],), suffix=suffix)

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """Return multiples of the smallest step that is large enough."""
        first, last = position(self.first), position(self.last)
        steps = self.steps or (round_values(last - first, is_whole=self.is_whole)[1],)
        step = next((step for step in steps if (last - first) / step < most + 1e-9), steps[-1])
        begin, end = math.ceil(round(first / step, 9)), math.floor(round(last / step, 9))
        every = math.ceil((end - begin + 1) / max(most, 1))
        return tuple(
            Tick(value := float(f"{nth * step:.12g}"), self.label(value))
            for nth in range(begin, end + 1)
            if (nth - begin) % every == 0
        )

    def label(self, value: float) -> str:
        """Return the label of a value: rounded, with its sign and unit."""
        text = short(abs(value)) if self.is_signed else short(value)
        sign = "" if not self.is_signed or not value else "+" if value > 0 else "\N{MINUS SIGN}"
        return f"{sign}{text}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Log(Axis):
    """An axis of numbers above zero on a logarithmic scale."""

    is_decades: bool = False
    """Whether only powers of ten are labeled; otherwise, also twice and five times each power."""

    @classmethod
    def around(cls, values: Sequence[float], *, title: str = "") -> Log:
        """Return an axis that includes the values with a margin on both sides."""
        low, high = math.log10(min(values)), math.log10(max(values))
        room = max((high - low) * 0.06, 0.1)
        return cls(10 ** (low - room), 10 ** (high + room), title)

    def scaled(self, value: Value) -> float:
        """Return the logarithm of the value."""
        return math.log10(position(value))

    def value(self, share: float) -> float:
        """Return the value at a position of the axis."""
        first, last = self.scaled(self.first), self.scaled(self.last)
        return float(10 ** (first + share * (last - first)))

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """Return 1, 2 and 5 times each power of ten, or some of these values."""
        first, last = self.scaled(self.first), self.scaled(self.last)
        found = [
            Tick(value, grouped(round(value)) if value >= 1 else f"{value:g}")
            for power in range(math.floor(first), math.ceil(last) + 1)
            for part in ((1,) if self.is_decades else (1, 2, 5))
            if abs(self.share(value := part * 10.0**power) - 0.5) <= _HALF
        ]
        # An axis from 1.2 to 1.8 contains none of the round values.
        if not found:
            middle = self.value(0.5)
            return (Tick(middle, f"{middle:.3g}"),)
        return tuple(found[:: math.ceil(len(found) / most)])


@dataclass(frozen=True, slots=True)
class Time(Axis):
    """An axis of days or moments, in UTC."""

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """Return round moments, counted from a Monday."""
        first, last = position(self.first), position(self.last)
        step = next((step for step in _TIME_STEPS_S if (last - first) / step <= most), _TIME_STEPS_S[-1])
        while (last - first) / step > most:
            step *= 2
        found, at = [], math.ceil((first - _MONDAY.timestamp()) / step)
        while (moment := _MONDAY + timedelta(seconds=at * step)).timestamp() <= last:
            is_day = step >= _DAY or (moment.hour, moment.minute, moment.second) == (0, 0, 0)
            label = f"{moment.day} {moment:%b}" if is_day else f"{moment:%H:%M}"
            found.append(Tick(moment, label if is_day or step >= _MINUTE else f"{moment:%H:%M:%S}"))
            at += 1
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Duration(Axis):
    """An axis of seconds since a start, labeled in a readable unit."""

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """Return round times with their unit."""
        last = position(self.last)
        size, unit, steps = next(
            (each for each in _DURATIONS if last / each[0] <= _LONGEST_IN_UNIT), _DURATIONS[-1]
        )
        step = next((step for step in steps if last / size / step <= most), None)
        step = step if step is not None else Fraction(math.ceil(last / size / most))
        return tuple(
            Tick(step * nth * size, f"{float(step * nth):g} {unit}")
            for nth in range(int(last / size / step) + 1)
        )


@dataclass(frozen=True, slots=True)
class Listed(Axis):
    """An axis of names in their order, equally spaced."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str]) -> Listed:
        """Return an axis of these names; values are their numbers from 0."""
        return cls(0, max(len(names) - 1, 1), names=tuple(names))

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """Return every name, or every second, third and so on."""
        every = math.ceil(len(self.names) / max(most, 1))
        return tuple(Tick(nth, name) for nth, name in enumerate(self.names) if nth % every == 0)
