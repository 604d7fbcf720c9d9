"""A forecast as coordinates for an SVG: the daily peaks, the fan of what is to come, the levels that must not be passed.

This is what is shown where no script runs, and on paper.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

from app.forecasts.service import Band, Crossing, Outlook, Peak
from app.web.axes import Dot, PlotFrame, Tick, round_values, short
from app.web.rendering import grouped

Day = TypeVar("Day", Peak, Band)

MOST_BY_DAY = 120
"""More days than this are drawn as the highest of each week: what passes a level is the high day, not the low ones."""
HISTORY_DAYS = 364
"""Days before the forecast that are drawn; the table and the file have all."""
FARTHEST = 2.5
"""A level above this many times what was and is to come is told and not drawn: it would press all else flat."""
_WEEK = 7
_STEPS_DAYS = (1, 2, 7, 14, 28, 56, 91, 182, 364)
_MOST_TICKS = {"wide": 10, "narrow": 4}
_MONDAY = date(2024, 1, 1)
_LABEL_PX = 12
_LONGEST_LABEL = {"wide": 22, "narrow": 9}
"""Characters of the labels beside the drawing; the table has the whole names."""
_LABEL_WIDTH_PX = {"wide": 132, "narrow": 50}
_PERCENT = re.compile(r"\d+(?:\.\d+)? %")
_WIDEST_DIGIT_PX = 6.2


@dataclass(frozen=True, slots=True)
class LevelLine:
    """A level, its label, and over which days it is likely to be passed first."""

    y: float
    label: str
    label_y: float
    from_x: float | None
    to_x: float | None
    middle_x: float | None


@dataclass(frozen=True, slots=True)
class ForecastChartLayout(PlotFrame):
    """One drawing, for one width."""

    lines: tuple[str, ...]
    dots: tuple[Dot, ...]
    fan: str
    middle: str
    now_x: float
    now_label_x: float
    now_anchor: str
    levels: tuple[LevelLine, ...]


@dataclass(frozen=True, slots=True)
class ForecastChart:
    """The same drawn for wide and for narrow pages, and in words."""

    id: str
    title: str
    by: str
    """day or week: what each point is the highest of."""
    unit: str
    description: str
    above: tuple[str, ...]
    """Levels that are too far up to be drawn."""
    wide: ForecastChartLayout
    narrow: ForecastChartLayout


def outlook_chart(outlook: Outlook) -> ForecastChart | None:
    """A chart of one measure; None where there is neither a measured day nor one to come."""
    forecast = outlook.forecast
    peaks = [each for each in outlook.peaks if each.value is not None]
    peaks = [each for each in peaks if each.day > forecast.made_on - timedelta(days=HISTORY_DAYS)]
    if not peaks and not forecast.bands:
        return None
    first = peaks[0].day if peaks else forecast.made_on
    data = max([*(each.value or 0 for each in peaks), *(band.p90 for band in forecast.bands)])
    near = [each for each in forecast.crossings if each.value is not None and each.value <= data * FARTHEST]
    far = [each for each in forecast.crossings if each.value is not None and each.value > data * FARTHEST]
    highest = max([data, *(each.value or 0 for each in near)])
    last = max(
        [first, *(each.day for each in peaks[-1:]), *(band.day for band in forecast.bands), forecast.made_on]
    )

    step = 1 if (last - first).days <= MOST_BY_DAY else _WEEK
    high = _highest(
        _whole_weeks(peaks, forecast.made_on, step), forecast.made_on, step, key=lambda peak: peak.value or 0
    )
    bands = [
        each
        for _, each in _highest(
            _whole_weeks(forecast.bands, forecast.made_on, step),
            forecast.made_on,
            step,
            key=lambda band: band.p50,
        )
    ]

    def drawing(kind: str, width: int, height: int) -> ForecastChartLayout:
        frame = _Frame(first, last, highest, width, height, label_px=_LABEL_WIDTH_PX[kind] if near else 0)
        now_x = frame.x(forecast.made_on)
        is_left = now_x < (frame.left + frame.right) / 2
        lines, dots = _lines(frame, high)
        return ForecastChartLayout(
            id=f"{forecast.key}-{kind}",
            kind=kind,
            width=width,
            height=height,
            left=frame.left,
            top=frame.top,
            right=frame.right,
            bottom=frame.bottom,
            x_ticks=tuple(frame.x_ticks(_MOST_TICKS[kind])),
            y_ticks=tuple(Tick(frame.y(value), short(value)) for value in frame.y_values),
            lines=lines,
            dots=dots,
            fan=_fan(frame, bands),
            middle=" ".join(frame.point(band.day, band.p50) for band in bands),
            now_x=now_x,
            now_label_x=now_x + (5 if is_left else -5),
            now_anchor="start" if is_left else "end",
            levels=tuple(_levels(frame, near, kind)),
        )

    return ForecastChart(
        id=forecast.key,
        title=forecast.title,
        by="day" if step == 1 else "week",
        unit=forecast.unit,
        description=_in_words(outlook, peaks),
        above=tuple(f"{each.level} ({grouped(round(each.value or 0))})" for each in far),
        wide=drawing("wide", 1000, 320),
        narrow=drawing("narrow", 358, 260),
    )


def _highest(
    days: Iterable[Day], made_on: date, step: int, *, key: Callable[[Day], float]
) -> list[tuple[int, Day]]:
    """The highest of each day or week with the number of that; weeks end and begin with the day of the forecast."""
    found: dict[int, Day] = {}
    for each in days:
        nth = ((each.day - made_on).days - 1) // step
        if nth not in found or key(each) > key(found[nth]):
            found[nth] = each
    return sorted(found.items(), key=lambda item: item[0])


def _whole_weeks(days: Sequence[Day], made_on: date, step: int) -> Sequence[Day]:
    """Without what begins or ends in mid-week: the highest of a few days would look like a fall."""
    if step == 1 or not days:
        return days
    first, last = (days[0].day - made_on).days - 1, (days[-1].day - made_on).days - 1
    begins, ends = -(-first // step), (last + 1) // step
    return [each for each in days if begins <= ((each.day - made_on).days - 1) // step < ends] or days


def _lines(frame: _Frame, peaks: Sequence[tuple[int, Peak]]) -> tuple[tuple[str, ...], tuple[Dot, ...]]:
    """Lines between days or weeks that follow each other, and dots for those without neighbours."""
    runs: list[list[tuple[int, Peak]]] = []
    for nth, peak in peaks:
        if runs and nth - runs[-1][-1][0] == 1:
            runs[-1].append((nth, peak))
        else:
            runs.append([(nth, peak)])
    lines = tuple(
        " ".join(frame.point(each.day, each.value or 0) for _, each in run) for run in runs if len(run) > 1
    )
    dots = tuple(Dot(frame.x(run[0][1].day), frame.y(run[0][1].value or 0)) for run in runs if len(run) == 1)
    return lines, dots


def _fan(frame: _Frame, bands: Sequence[Band]) -> str:
    upper = [frame.point(band.day, band.p90) for band in bands]
    lower = [frame.point(band.day, band.p10) for band in reversed(bands)]
    return " ".join([*upper, *lower])


def _levels(frame: _Frame, crossings: Sequence[Crossing], kind: str) -> Iterable[LevelLine]:
    """The lines from above to below, each label beside its line or, where the one above is near, a little lower."""
    taken = -math.inf
    for each in sorted(crossings, key=lambda one: -(one.value or 0)):
        y = frame.y(each.value or 0)
        taken = max(y + 4, taken + _LABEL_PX)
        first, middle, last = each.dates
        yield LevelLine(
            y=y,
            label=_label(each.level, kind),
            label_y=round(taken, 1),
            from_x=None if first is None else frame.x(first),
            to_x=None if first is None else frame.right if last is None else frame.x(last),
            middle_x=None if middle is None else frame.x(middle),
        )


def _label(level: str, kind: str) -> str:
    longest = _LONGEST_LABEL[kind]
    percent = _PERCENT.search(level)
    if kind == "narrow" and percent is not None:
        return percent[0]
    return level if len(level) <= longest else level[: longest - 3] + "..."


def _in_words(outlook: Outlook, peaks: Sequence[Peak]) -> str:
    forecast = outlook.forecast
    words = [f"{forecast.title}: no daily peaks are at hand.", forecast.sentence]
    if peaks:
        most = max(peaks, key=lambda each: each.value or 0)
        words[0] = (
            f"{forecast.title}: daily peaks from {peaks[0].day.isoformat()} to {peaks[-1].day.isoformat()}, the highest "
            f"{grouped(most.value or 0)} on {most.day.isoformat()}, the last {grouped(peaks[-1].value or 0)}."
        )
    if forecast.bands:
        end = forecast.bands[-1]
        words.append(
            f"On {end.day.isoformat()} the middle estimate is {grouped(round(end.p50))}, the 80 % interval "
            f"{grouped(round(end.p10))} to {grouped(round(end.p90))}."
        )
    return " ".join(filter(None, words))


class _Frame:
    """Places days and values in a drawing of a given width."""

    def __init__(
        self, first: date, last: date, highest: float, width: int, height: int, *, label_px: int
    ) -> None:
        self.first, self.days = first, max((last - first).days, 1)
        self.y_values = round_values(highest, is_whole=True)
        widest = max(len(short(value)) for value in self.y_values)
        self.left, self.right = 14 + round(widest * _WIDEST_DIGIT_PX), width - max(label_px, 12)
        self.top, self.bottom = 18, height - 30
        self.highest = self.y_values[-1]

    def x(self, day: date) -> float:
        share = (day - self.first).days / self.days
        return round(self.left + share * (self.right - self.left), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - value / self.highest * (self.bottom - self.top), 1)

    def point(self, day: date, value: float) -> str:
        return f"{self.x(day)},{self.y(value)}"

    def x_ticks(self, most: int) -> Iterable[Tick]:
        step = next((step for step in _STEPS_DAYS if self.days / step <= most), 364)
        at = math.ceil((self.first - _MONDAY).days / step) * step
        while (day := _MONDAY + timedelta(days=at)) <= self.first + timedelta(days=self.days):
            yield Tick(self.x(day), f"{day.day} {day:%b}")
            at += step
