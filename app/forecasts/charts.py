"""Charts of forecasts: daily peaks, the fan of the days ahead, and the levels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TypeVar

from app.forecasts.service import Band, MeasuredDay, Outlook
from app.web.axes import Linear, Time
from app.web.chart_plotly import ZoomedChart
from app.web.charts import Band as Area
from app.web.charts import Chart, Level, Line, Mark, Origin, Spot, today_marks, with_gaps
from app.web.rendering import grouped
from planner_core.contracts.forecasts import Crossing

Day = TypeVar("Day", MeasuredDay, Band)

MOST_BY_DAY = 120
"""Longest history that is drawn by day; longer ones show only the highest day of each week, the one that can pass a
level."""
HISTORY_DAYS = 364
"""Number of days before the forecast in the chart; the table and the file contain all of them."""
FARTHEST = 2.5
"""A level more than this many times above all peaks is only named, because it would flatten the rest of the chart."""
_WEEK = 7
_LONGEST_LABEL, _LONGEST_SHORT = 22, 9
"""Maximum number of characters in the labels next to the chart; the table shows the full names."""
_PERCENT = re.compile(r"\d+(?:\.\d+)? %")


def outlook_chart(outlook: Outlook, today: date | None = None) -> ZoomedChart | None:
    """Return the chart of one measure, or None if there are neither measured days nor days ahead."""
    peaks = [each for each in outlook.peaks if each.peak is not None]
    peaks = [each for each in peaks if each.day > outlook.made_on - timedelta(days=HISTORY_DAYS)]
    days = [*(each.day for each in peaks), *(each.day for each in outlook.bands), outlook.made_on]
    if len(days) == 1:
        return None
    x_axis = Time(min(days), max(days))
    marks = (
        Mark(outlook.made_on, "forecast", style="now"),
        # Below the other label, because most forecasts are one day old.
        *(replace(mark, is_label_low=True) for mark in (today_marks(x_axis, today) if today else ())),
    )
    by_day = _chart(outlook, peaks, x_axis, 1, marks)
    if (max(days) - min(days)).days <= MOST_BY_DAY:
        return ZoomedChart((by_day,), name=outlook.key)
    return ZoomedChart((_chart(outlook, peaks, x_axis, _WEEK, marks),), finer=(by_day,), name=outlook.key)


def _chart(
    outlook: Outlook, peaks: Sequence[MeasuredDay], x_axis: Time, step: int, marks: tuple[Mark, ...]
) -> Chart:
    data = max([*(each.peak or 0 for each in peaks), *(band.p90 for band in outlook.bands)])
    known = [each for each in outlook.crossings if each.value is not None]
    near = [each for each in known if (each.value or 0) <= data * FARTHEST]
    far = [f"{each.level} ({grouped(round(each.value or 0))})" for each in known if each not in near]
    high = _highest(
        _whole_weeks(peaks, outlook.made_on, step), outlook.made_on, step, key=lambda peak: peak.peak or 0
    )
    bands = _highest(
        _whole_weeks(outlook.bands, outlook.made_on, step),
        outlook.made_on,
        step,
        key=lambda band: band.p50,
    )
    fan = Area(
        tuple((each.day, each.p10, each.p90) for _, each in bands),
        "fan",
        ("90 % below", "10 % below"),
        name="80 % interval",
    )
    middle = Line(tuple((each.day, each.p50) for _, each in bands), "median estimate", style="middle")
    # Days without records stay a gap; a line across it would look like measurements.
    measured = with_gaps([(each.day, each.peak or 0) for _, each in high], [nth for nth, _ in high])
    return Chart(
        id=f"{outlook.key}-{step}",
        title=outlook.title,
        heading="Highest of each week" if step > 1 else "Peak of each day",
        unit=outlook.unit,
        description=_in_words(outlook, peaks),
        x_axis=x_axis,
        y_axis=Linear.up_to(max([data, *(each.value or 0 for each in near)])),
        bands=(fan,) if bands else (),
        lines=(*([middle] if bands else []), Line(measured, "measured peak")),
        levels=tuple(_level(each, x_axis) for each in near),
        marks=marks,
        points=tuple(
            Spot(
                each.dates.p50,
                each.value or 0,
                "ring",
                "cross",
                title=each.level,
                name="passed, median estimate",
            )
            for each in near
            if each.dates.p50 is not None
        ),
        are_levels_beside=True,
        note=", ".join(far),
        origin=Origin(
            f"{outlook.structure} of {outlook.qsg}",
            f"forecast of {outlook.made_on.isoformat()}",
            f"daily peaks of the uploaded records and nightly run {outlook.run_id}",
        ),
        width=1000,
        height=272,
    )


def _level(crossing: Crossing, x_axis: Time) -> Level:
    """Return a level with the interval of days in which it is likely to be passed first."""
    first, last = crossing.dates.p10, crossing.dates.p90
    name = crossing.level
    percent = _PERCENT.search(name)
    return Level(
        crossing.value or 0,
        _cut(name, _LONGEST_LABEL),
        short=percent[0] if percent else _cut(name, _LONGEST_SHORT),
        likely=None if first is None else (first, x_axis.last if last is None else last),
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"


def _highest(
    days: Iterable[Day], made_on: date, step: int, *, key: Callable[[Day], float]
) -> list[tuple[int, Day]]:
    """Return the highest value of each day or week with its number, counted from the day of the forecast."""
    found: dict[int, Day] = {}
    for each in days:
        nth = ((each.day - made_on).days - 1) // step
        if nth not in found or key(each) > key(found[nth]):
            found[nth] = each
    return sorted(found.items(), key=lambda item: item[0])


def _whole_weeks(days: Sequence[Day], made_on: date, step: int) -> Sequence[Day]:
    """Return the days of complete weeks, because the highest of a few days would look like a decline."""
    if step == 1 or not days:
        return days
    first, last = (days[0].day - made_on).days - 1, (days[-1].day - made_on).days - 1
    begins, ends = -(-first // step), (last + 1) // step
    return [each for each in days if begins <= ((each.day - made_on).days - 1) // step < ends] or days


def _in_words(outlook: Outlook, peaks: Sequence[MeasuredDay]) -> str:
    words = [f"{outlook.title}: there are no daily peaks.", outlook.sentence]
    if peaks:
        most = max(peaks, key=lambda each: each.peak or 0)
        words[0] = (
            f"{outlook.title}: daily peaks from {peaks[0].day.isoformat()} to {peaks[-1].day.isoformat()}, the highest "
            f"{grouped(most.peak or 0)} on {most.day.isoformat()}, the last {grouped(peaks[-1].peak or 0)}."
        )
    if outlook.bands:
        end = outlook.bands[-1]
        words.append(
            f"On {end.day.isoformat()} the median estimate is {grouped(round(end.p50))}, the 80 % interval "
            f"{grouped(round(end.p10))} to {grouped(round(end.p90))}."
        )
    return " ".join(filter(None, words))
