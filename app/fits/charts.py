"""A fit as coordinates for an SVG: entries by size with the fitted lines, and how far each point is from them.

Both axes of the first are logarithmic, and so is the size in the second. This is what is shown where no script runs, and
on paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.fits.fits import Fit, FitPoint
from app.web.axes import Dot, PlotFrame, Tick
from app.web.rendering import grouped, plain
from planner_core.units import MIB

MOST_POINTS = 600
"""Drawn; the table and the file have all."""
MOST_LINES = 4
_STEPS = 48
"""Points along a line that is bent by its axes."""
_LABEL_PX = 13
_ROOM = 1.25
_SAME_RATIO = 0.02


@dataclass(frozen=True, slots=True)
class Line:
    """A line, what it is called, and where that stands."""

    points: str
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class FitChartLayout(PlotFrame):
    """One drawing, for one width."""

    zero_y: float | None
    lines: tuple[Line, ...]
    published: Line | None
    dots: tuple[Dot, ...]
    left_out: tuple[Dot, ...]
    x_title: str


@dataclass(frozen=True, slots=True)
class FitChart:
    """The same drawn for wide and for narrow pages, and in words."""

    id: str
    title: str
    unit: str
    description: str
    wide: FitChartLayout
    narrow: FitChartLayout


def fit_charts(fit: Fit) -> tuple[FitChart, ...]:
    """The charts of a fit: entries by size, and what is left when the curve is taken away; empty without points."""
    points = [each for each in fit.points if each.entries > 0 and each.size_bytes > 0]
    if not points:
        return ()
    charts = [_entries(fit, points)]
    if any(point.residual_bytes is not None and point.left_out is None for point in points):
        charts.append(_residuals(fit, points))
    return tuple(charts)


# ---- entries by size -------------------------------------------------------------------------------------------------


def _entries(fit: Fit, points: Sequence[FitPoint]) -> FitChart:
    x_scale = _Log.over([point.size_bytes / MIB for point in points])
    y_scale = _Log.over([point.entries for point in points])
    ratios = [each for each, _ in fit.ratios][:MOST_LINES] or [fit.ratio[1] / fit.ratio[0]]

    def drawing(kind: str, width: int, height: int) -> FitChartLayout:
        frame = _Frame(width, height, widest=max(len(label) for _, label in y_scale.ticks))
        drawn = points[:MOST_POINTS]

        def place(point: FitPoint) -> Dot:
            return Dot(frame.x(x_scale.share(point.size_bytes / MIB)), frame.y(y_scale.share(point.entries)))

        return FitChartLayout(
            id=f"entries-{kind}",
            kind=kind,
            width=width,
            height=height,
            left=frame.left,
            top=frame.top,
            right=frame.right,
            bottom=frame.bottom,
            x_ticks=tuple(
                Tick(frame.x(share), label) for share, label in x_scale.few(8 if kind == "wide" else 4)
            ),
            y_ticks=tuple(Tick(frame.y(share), label) for share, label in y_scale.few(7)),
            zero_y=None,
            lines=tuple(_fitted_lines(fit, ratios, frame, x_scale, y_scale)),
            published=None,
            dots=tuple(place(point) for point in drawn if point.left_out is None),
            left_out=tuple(place(point) for point in drawn if point.left_out is not None),
            x_title="size, MiB",
        )

    return FitChart(
        id="entries",
        title="List entries",
        unit="by size",
        description=_entries_in_words(fit, points),
        wide=drawing("wide", 1000, 320),
        narrow=drawing("narrow", 358, 280),
    )


def _fitted_lines(
    fit: Fit, ratios: Sequence[float], frame: _Frame, x_scale: _Log, y_scale: _Log
) -> Iterable[Line]:
    if fit.base is None or fit.bundle is None:
        return
    taken: list[float] = []
    for ratio in sorted(ratios):
        cost = fit.bundle.value
        if fit.entry is not None and fit.element is not None:
            cost = fit.entry.value + ratio * fit.element.value
        places = []
        for nth in range(_STEPS + 1):
            entries = (x_scale.value(nth / _STEPS) * MIB - fit.base.value) / cost
            share = y_scale.share(entries) if entries > 0 else -1.0
            if 0 <= share <= 1:
                places.append((frame.x(nth / _STEPS), frame.y(share)))
        if not places:
            continue
        at_x, at_y = places[len(places) * 4 // 5]
        label_y = at_y - 8  # above the line, which rises to the right
        while any(abs(label_y - other) < _LABEL_PX for other in taken):
            label_y += _LABEL_PX
        taken.append(label_y)
        label = f"1:{ratio:.3g}" if len(ratios) > 1 else "fitted"
        yield Line(" ".join(f"{x},{y}" for x, y in places), label, round(at_x, 1), round(label_y, 1))


def _entries_in_words(fit: Fit, points: Sequence[FitPoint]) -> str:
    sizes = [point.size_bytes for point in points]
    words = [
        f"{len(points)} allocations from {plain(round(min(sizes)))} to {plain(round(max(sizes)))}, with "
        f"{grouped(round(min(point.entries for point in points)))} to "
        f"{grouped(round(max(point.entries for point in points)))} list entries."
    ]
    if fit.base is not None and fit.bundle is not None:
        words.append(
            f"The fitted curve begins at a base of {plain(round(fit.base.value))} and rises by "
            f"{fit.bundle.value:.1f} bytes for each entry with {fit.ratio[1] / fit.ratio[0]:g} elements."
        )
    out = sum(point.left_out is not None for point in points)
    if out:
        words.append(f"{out} of the allocations are not in the fit; they are drawn hollow.")
    return " ".join(words)


# ---- what is left when the curve is taken away -----------------------------------------------------------------------


def _residuals(fit: Fit, points: Sequence[FitPoint]) -> FitChart:
    known = [point for point in points if point.residual_bytes is not None]
    used = [point for point in known if point.left_out is None]
    x_scale = _Log.over([point.size_bytes / MIB for point in known])
    most = max(max(abs(point.residual_bytes or 0) for point in used) / MIB * _ROOM, 0.05)
    step = _round_step(most)
    most = math.ceil(most / step) * step
    y_values = [nth * step for nth in range(-round(most / step), round(most / step) + 1)]

    def drawing(kind: str, width: int, height: int) -> FitChartLayout:
        frame = _Frame(width, height, widest=max(len(_signed(value)) for value in y_values))

        def y(value_mib: float) -> float:
            return frame.y((max(-most, min(most, value_mib)) + most) / (2 * most))

        def place(point: FitPoint) -> Dot:
            return Dot(frame.x(x_scale.share(point.size_bytes / MIB)), y((point.residual_bytes or 0) / MIB))

        return FitChartLayout(
            id=f"residuals-{kind}",
            kind=kind,
            width=width,
            height=height,
            left=frame.left,
            top=frame.top,
            right=frame.right,
            bottom=frame.bottom,
            x_ticks=tuple(
                Tick(frame.x(share), label) for share, label in x_scale.few(8 if kind == "wide" else 4)
            ),
            y_ticks=tuple(Tick(y(value), _signed(value)) for value in y_values),
            zero_y=y(0),
            lines=(),
            published=_published_line(fit, frame, x_scale, most),
            dots=tuple(place(point) for point in known[:MOST_POINTS] if point.left_out is None),
            left_out=tuple(place(point) for point in known[:MOST_POINTS] if point.left_out is not None),
            x_title="size, MiB",
        )

    return FitChart(
        id="residuals",
        title="Distance from the fitted curve",
        unit="MiB",
        description=_residuals_in_words(fit, used),
        wide=drawing("wide", 1000, 260),
        narrow=drawing("narrow", 358, 240),
    )


def _published_line(fit: Fit, frame: _Frame, x_scale: _Log, most_mib: float) -> Line | None:
    """What the published curve gives for the same entries less what the fitted one does, as far as it is in the drawing."""
    published = fit.published
    if published is None or fit.base is None or fit.bundle is None or fit.ratio != (1, 6):
        return None
    places = []
    for nth in range(4 * _STEPS + 1):
        size = x_scale.value(nth / (4 * _STEPS)) * MIB
        entries = max(size - fit.base.value, 0.0) / fit.bundle.value
        less = (float(published.base) + float(published.bundle) * entries - size) / MIB
        if abs(less) <= most_mib:
            places.append((frame.x(nth / (4 * _STEPS)), frame.y((less + most_mib) / (2 * most_mib))))
        elif places:
            break
    if len(places) < 2:  # noqa: PLR2004 - a line has two ends
        return None
    end_x, end_y = places[-1]
    label_x = min(end_x + 6, frame.right - 66)
    return Line(
        " ".join(f"{x},{y}" for x, y in places),
        "published",
        round(label_x, 1),
        round(min(max(end_y + 4, frame.top + 10), frame.bottom - 6), 1),
    )


def _residuals_in_words(fit: Fit, used: Sequence[FitPoint]) -> str:
    words = [
        f"Of {len(used)} allocations in the fit the farthest is "
        f"{_megabytes(max(abs(point.residual_bytes or 0) for point in used))} from the curve."
    ]
    if fit.deviation_bytes is not None:
        words.append(f"Their standard deviation is {_megabytes(fit.deviation_bytes)}.")
    return " ".join(words)


def _megabytes(value: float) -> str:
    return f"{value / MIB:.2f} MiB"


def published_in_words(fit: Fit) -> str:
    """What the published curve gives for the smallest and the largest allocation in the fit; empty where that is not known."""
    published = fit.published
    if published is None:
        return ""
    used = [
        point
        for point in fit.points
        if point.left_out is None
        and point.fitted_bytes is not None
        and math.isclose(
            point.elements_per_entry or 0, float(published.elements_per_entry), rel_tol=_SAME_RATIO
        )
    ]
    if not used:
        return ""
    ends = []
    for point in (min(used, key=lambda each: each.size_bytes), max(used, key=lambda each: each.size_bytes)):
        less = float(published.base) + float(published.bundle) * point.entries - (point.fitted_bytes or 0)
        word = "more" if less >= 0 else "less"
        ends.append(f"{_megabytes(abs(less))} {word} at {plain(round(point.size_bytes))}")
    return f"For the same entries at 1:6 the published curve gives {' and '.join(dict.fromkeys(ends))}."


def _signed(value: float) -> str:
    if not value:
        return "0"
    return f"{value:+g}".replace("-", "\N{MINUS SIGN}")


def _round_step(most: float) -> float:
    """A round step of which two to four make up the most."""
    size = 10.0 ** math.floor(math.log10(most))
    return next(step for part in (2, 1, 0.5, 0.2, 0.1) if most / (step := size * part) >= 2)  # noqa: PLR2004


# ---- scales ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Log:
    """A logarithmic scale over values, with room at its ends."""

    first: float
    last: float

    @classmethod
    def over(cls, values: Sequence[float]) -> _Log:
        low, high = math.log10(min(values)), math.log10(max(values))
        room = max((high - low) * 0.06, 0.1)
        return cls(low - room, high + room)

    def share(self, value: float) -> float:
        return (math.log10(value) - self.first) / (self.last - self.first)

    def value(self, share: float) -> float:
        return float(10 ** (self.first + share * (self.last - self.first)))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """1, 2 and 5 of every power of ten within."""
        found = []
        for power in range(math.floor(self.first), math.ceil(self.last) + 1):
            for part in (1, 2, 5):
                value = part * 10.0**power
                if 0 <= self.share(value) <= 1:
                    label = grouped(round(value)) if value >= 1 else f"{value:g}"
                    found.append((self.share(value), label))
        return found or [(0.5, f"{self.value(0.5):.3g}")]

    def few(self, most: int) -> list[tuple[float, str]]:
        """At most so many of them, evenly chosen."""
        ticks = self.ticks
        step = math.ceil(len(ticks) / most)
        return ticks[::step]


class _Frame:
    """Places shares of both axes in a drawing of a given width."""

    def __init__(self, width: int, height: int, *, widest: int) -> None:
        self.left, self.right = 14 + round(widest * 6.2), width - 12
        self.top, self.bottom = 12, height - 40

    def x(self, share: float) -> float:
        return round(self.left + share * (self.right - self.left), 1)

    def y(self, share: float) -> float:
        return round(self.bottom - share * (self.bottom - self.top), 1)
