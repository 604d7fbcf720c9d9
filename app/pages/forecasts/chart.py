"""A forecast as coordinates for an SVG: the daily peaks, the fan of what is to come, the levels that must not be passed.

This is what is shown where no script runs, and on paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from app.curves.forecasts import Band, Crossing, Outlook, Peak
from app.pages.usage.chart import Dot, Tick, round_values, short
from app.templating import grouped

HISTORY_DAYS = 366
"""Days before the forecast that are drawn; the table and the file have all."""
FARTHEST = 2.5
"""A level above this many times what was and is to come is told and not drawn: it would press all else flat."""
_STEPS_DAYS = (1, 2, 7, 14, 28, 56, 91, 182, 364)
_MOST_TICKS = {"wide": 10, "narrow": 4}
_MONDAY = date(2024, 1, 1)
_LABEL_PX = 12
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
class Drawing:
    """One drawing, for one width."""

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
    lines: tuple[str, ...]
    dots: tuple[Dot, ...]
    fan: str
    middle: str
    now_x: float
    now_label_x: float
    now_anchor: str
    levels: tuple[LevelLine, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The same drawn for wide and for narrow pages, and in words."""

    id: str
    title: str
    unit: str
    description: str
    above: tuple[str, ...]
    """Levels that are too far up to be drawn."""
    wide: Drawing
    narrow: Drawing


def outlook_chart(outlook: Outlook) -> Chart | None:
    """A chart of one measure; None where nothing was measured."""
    forecast = outlook.forecast
    peaks = [each for each in outlook.peaks if each.value is not None]
    peaks = [each for each in peaks if each.day > forecast.made_on - timedelta(days=HISTORY_DAYS)]
    if not peaks:
        return None
    data = max([*(each.value or 0 for each in peaks), *(band.p90 for band in forecast.bands)])
    near = [each for each in forecast.crossings if each.value is not None and each.value <= data * FARTHEST]
    far = [each for each in forecast.crossings if each.value is not None and each.value > data * FARTHEST]
    highest = max([data, *(each.value or 0 for each in near)])
    last = max([peaks[-1].day, *(band.day for band in forecast.bands), forecast.made_on])

    def drawing(kind: str, width: int, height: int) -> Drawing:
        frame = _Frame(peaks[0].day, last, highest, width, height)
        now_x = frame.x(forecast.made_on)
        is_left = now_x < (frame.left + frame.right) / 2
        lines, dots = _lines(frame, peaks)
        return Drawing(
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
            fan=_fan(frame, forecast.bands),
            middle=" ".join(frame.point(band.day, band.p50) for band in forecast.bands),
            now_x=now_x,
            now_label_x=now_x + (5 if is_left else -5),
            now_anchor="start" if is_left else "end",
            levels=tuple(_levels(frame, near, is_narrow=kind == "narrow")),
        )

    return Chart(
        id=forecast.key,
        title=forecast.title,
        unit=forecast.unit,
        description=_in_words(outlook, peaks),
        above=tuple(f"{each.level} ({grouped(round(each.value or 0))})" for each in far),
        wide=drawing("wide", 1000, 300),
        narrow=drawing("narrow", 358, 260),
    )


def _lines(frame: _Frame, peaks: Sequence[Peak]) -> tuple[tuple[str, ...], tuple[Dot, ...]]:
    """Lines between days that follow each other, and dots for days without neighbours."""
    runs: list[list[Peak]] = []
    for peak in peaks:
        if runs and peak.day - runs[-1][-1].day == timedelta(days=1):
            runs[-1].append(peak)
        else:
            runs.append([peak])
    lines = tuple(
        " ".join(frame.point(each.day, each.value or 0) for each in run) for run in runs if len(run) > 1
    )
    dots = tuple(Dot(frame.x(run[0].day), frame.y(run[0].value or 0)) for run in runs if len(run) == 1)
    return lines, dots


def _fan(frame: _Frame, bands: Sequence[Band]) -> str:
    upper = [frame.point(band.day, band.p90) for band in bands]
    lower = [frame.point(band.day, band.p10) for band in reversed(bands)]
    return " ".join([*upper, *lower])


def _levels(frame: _Frame, crossings: Sequence[Crossing], *, is_narrow: bool) -> Iterable[LevelLine]:
    """The lines from above to below; a label that would run into the one above it is left out."""
    taken = -math.inf
    for each in sorted(crossings, key=lambda one: -(one.value or 0)):
        value = each.value or 0
        y = frame.y(value)
        fits = y - taken >= _LABEL_PX
        taken = y if fits else taken
        first, middle, last = each.dates
        label = each.level if is_narrow else f"{each.level}: {grouped(round(value))}"
        yield LevelLine(
            y=y,
            label=label if fits else "",
            label_y=round(y - 4, 1),
            from_x=None if first is None else frame.x(first),
            to_x=None if first is None else frame.right if last is None else frame.x(last),
            middle_x=None if middle is None else frame.x(middle),
        )


def _in_words(outlook: Outlook, peaks: Sequence[Peak]) -> str:
    forecast = outlook.forecast
    most = max(peaks, key=lambda each: each.value or 0)
    words = [
        f"{forecast.title}: daily peaks from {peaks[0].day.isoformat()} to {peaks[-1].day.isoformat()}, the highest "
        f"{grouped(most.value or 0)} on {most.day.isoformat()}, the last {grouped(peaks[-1].value or 0)}.",
        forecast.sentence,
    ]
    if forecast.bands:
        end = forecast.bands[-1]
        words.append(
            f"On {end.day.isoformat()} the middle estimate is {grouped(round(end.p50))}, the 80 % interval "
            f"{grouped(round(end.p10))} to {grouped(round(end.p90))}."
        )
    return " ".join(filter(None, words))


class _Frame:
    """Places days and values in a drawing of a given width."""

    def __init__(self, first: date, last: date, highest: float, width: int, height: int) -> None:
        self.first, self.days = first, max((last - first).days, 1)
        self.y_values = round_values(highest, is_whole=True)
        widest = max(len(short(value)) for value in self.y_values)
        self.left, self.right = 14 + round(widest * _WIDEST_DIGIT_PX), width - 12
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
