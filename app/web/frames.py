"""What drawings of charts have in common: a frame with labelled axes, round values, places of values in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from app.web.rendering import grouped

_FEWEST_Y_TICKS = 3


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled value on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A value that has no neighbours."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class PlotFrame:
    """A drawing for one width: its size, where the plot stands in it, and what stands at the axes."""

    id: str
    kind: str
    width: int
    height: int
    left: int
    top: int
    right: int
    bottom: int
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


class Plot:
    """Where values stand in a drawing; the horizontal place is a share of the width."""

    def __init__(self, *, left: int, right: int, top: int, bottom: int, highest: float) -> None:
        """The edges of the plot, and the value at its top."""
        self.left, self.right, self.top, self.bottom, self.highest = left, right, top, bottom, highest

    def across(self, share: float) -> float:
        """The place of a share, from 0 at the left to 1 at the right."""
        return round(self.left + share * (self.right - self.left), 1)

    def y(self, value: float) -> float:
        """The place of a value, with 0 at the bottom."""
        return round(self.bottom - value / self.highest * (self.bottom - self.top), 1)


def short(value: float) -> str:
    """A value on an axis."""
    return grouped(int(value)) if float(value).is_integer() else f"{value:g}"


def round_values(highest: float, *, is_whole: bool) -> tuple[float, ...]:
    """Nought and three to six round values above it; the last is not below the highest."""
    if highest <= 0:
        return (0.0, 1.0)
    size = 10.0 ** math.floor(math.log10(highest))
    step = next(step for part in (2, 1, 0.5, 0.2, 0.1) if highest / (step := size * part) >= _FEWEST_Y_TICKS)
    if is_whole:
        step = max(step, 1.0)
    return tuple(round(nth * step, 6) for nth in range(math.ceil(round(highest / step, 9)) + 1))
