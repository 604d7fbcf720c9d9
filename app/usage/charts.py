"""Figures over time as coordinates for an SVG: what is shown where no script runs, and on paper.

A line is broken where hours are missing: nothing is drawn between what was not measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.usage.measured import SizeBucket
from app.usage.periods import DAY, HOUR, Period
from app.web.axes import Dot, Plot, PlotFrame, Tick, round_values, short
from app.web.rendering import grouped

Moments = Sequence[tuple[datetime, float]]

MOST_MARK_LINES = 40
"""More marks than this are drawn without the line that leads down from each."""
_STEPS = (
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
    28 * DAY,
    56 * DAY,
    91 * DAY,
    182 * DAY,
)
_MOST_TICKS_WIDE, _MOST_TICKS_NARROW = 9, 4
_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
"""Steps of days are counted from a Monday."""


@dataclass(frozen=True, slots=True)
class UsageSeries:
    """One series: lines between neighbours, and dots for values without."""

    name: str
    nth: int
    lines: tuple[str, ...]
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """What there is of something: a stepped line with its label."""

    lines: tuple[str, ...]
    label: str
    label_y: float


@dataclass(frozen=True, slots=True)
class UsageChartLayout(PlotFrame):
    """One drawing, for one width."""

    curves: tuple[UsageSeries, ...]
    limit: Limit | None
    marks: tuple[float, ...]
    has_mark_lines: bool


@dataclass(frozen=True, slots=True)
class UsageChart:
    """A panel: the same drawn for wide and for narrow pages, and in words."""

    id: str
    title: str
    unit: str
    description: str
    wide: UsageChartLayout
    narrow: UsageChartLayout


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the distribution of sizes."""

    y: float
    width: float
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Bars:
    """Sizes as bars, one below the other."""

    title: str
    description: str
    width: int
    height: int
    left: int
    bar_height: int
    bars: tuple[Bar, ...]


def time_chart(
    name: str,
    title: str,
    *,
    unit: str,
    period: Period,
    series: Sequence[tuple[str, Moments]],
    limit: tuple[str, Moments] | None = None,
    marks: Sequence[datetime] = (),
) -> UsageChart:
    """A chart of one or more series over a period. A limit holds from each of its moments up to the next."""
    values = [value for _, moments in series for _, value in moments]
    highest = max([*values, *(value for _, value in (limit[1] if limit else ()))], default=0.0)

    is_whole = all(isinstance(value, int) for value in values)

    def drawing(kind: str, width: int, height: int) -> UsageChartLayout:
        frame = _Frame(period, highest, width, height, is_whole=is_whole)
        return UsageChartLayout(
            id=f"{name}-{kind}",
            kind=kind,
            width=width,
            height=height,
            left=frame.left,
            top=frame.top,
            right=frame.right,
            bottom=frame.bottom,
            x_ticks=tuple(frame.x_ticks(_MOST_TICKS_WIDE if kind == "wide" else _MOST_TICKS_NARROW)),
            y_ticks=tuple(Tick(frame.y(value), short(value)) for value in frame.y_values),
            curves=tuple(_curve(frame, period, nth, *each) for nth, each in enumerate(series, start=1)),
            limit=_limit(frame, period, *limit) if limit and limit[1] else None,
            marks=tuple(frame.x(at + _half(period)) for at in marks),
            has_mark_lines=len(marks) <= MOST_MARK_LINES,
        )

    return UsageChart(
        id=name,
        title=title,
        unit=unit,
        description=_in_words(period, series, limit, marks),
        wide=drawing("wide", 1000, 220),
        narrow=drawing("narrow", 358, 220),
    )


def size_bars(buckets: Sequence[SizeBucket]) -> Bars | None:
    """Messages by size; None where sizes are not known."""
    most = max((bucket.puts for bucket in buckets), default=0)
    if not most:
        return None
    total = sum(bucket.puts for bucket in buckets)
    left, right, height = 150, 560, 22
    bars = tuple(
        Bar(
            y=8 + nth * height,
            width=round(bucket.puts / most * (right - left), 1),
            label=f"up to {grouped(bucket.up_to_bytes)} bytes",
            value=f"{grouped(bucket.puts)} ({bucket.puts / total * 100:.1f} %)",
        )
        for nth, bucket in enumerate(buckets)
    )
    largest = max(buckets, key=lambda bucket: bucket.puts)
    return Bars(
        title="Messages by size",
        description=(
            f"{grouped(total)} messages in {len(buckets)} classes of size; the fullest goes up to "
            f"{grouped(largest.up_to_bytes)} bytes and has {grouped(largest.puts)} of them."
        ),
        width=700,
        height=16 + len(buckets) * height,
        left=left,
        bar_height=height - 6,
        bars=bars,
    )


def held_from(moments: Iterable[tuple[datetime, int | None]], before: int | None, first: datetime) -> Moments:
    """When a limit changed: what was known before the period holds from its beginning."""
    found: list[tuple[datetime, float]] = [] if before is None else [(first, before)]
    for at, value in moments:
        if value is not None and (not found or found[-1][1] != value):
            found.append((at, value))
    return found


def _curve(frame: _Frame, period: Period, nth: int, name: str, moments: Moments) -> UsageSeries:
    lines: list[str] = []
    dots: list[Dot] = []
    for run in _runs(moments, _step(period)):
        points = [(frame.x(at + _half(period)), frame.y(value)) for at, value in run]
        if len(points) == 1:
            dots.append(Dot(*points[0]))
        else:
            lines.append(" ".join(f"{x},{y}" for x, y in points))
    return UsageSeries(name, nth, tuple(lines), tuple(dots))


def _runs(moments: Moments, step: timedelta) -> Iterable[Moments]:
    """Values that follow each other without a gap."""
    run: list[tuple[datetime, float]] = []
    for at, value in moments:
        if run and at - run[-1][0] > step:
            yield run
            run = []
        run.append((at, value))
    if run:
        yield run


def _limit(frame: _Frame, period: Period, name: str, moments: Moments) -> Limit:
    points: list[str] = []
    ends = [*(at for at, _ in moments[1:]), period.past]
    for (at, value), end in zip(moments, ends, strict=True):
        points += [f"{frame.x(at)},{frame.y(value)}", f"{frame.x(end)},{frame.y(value)}"]
    last = frame.y(moments[-1][1])
    # Below the line: above it is the edge, or the marks.
    return Limit((" ".join(points),), f"{name} {grouped(round(moments[-1][1]))}", round(last + 13, 1))


def _in_words(
    period: Period,
    series: Sequence[tuple[str, Moments]],
    limit: tuple[str, Moments] | None,
    marks: Sequence[datetime],
) -> str:
    parts = []
    for name, moments in series:
        if not moments:
            parts.append(f"{name}: nothing was measured.")
            continue
        values = [value for _, value in moments]
        at, most = max(moments, key=lambda moment: moment[1])
        parts.append(
            f"{name}: from {_exact(min(values))} to {_exact(most)}, the highest {_when(at, period)}; "
            f"last {_exact(values[-1])}."
        )
    if limit and limit[1]:
        parts.append(f"{limit[0]}: {_exact(limit[1][-1][1])}.")
    if marks:
        steps = f"{len(marks)} {period.by}{'' if len(marks) == 1 else 's'}"
        parts.append(
            f"The structure was found full in {steps} of the period, last {_when(marks[-1], period)}."
        )
    return " ".join(parts)


def _when(at: datetime, period: Period) -> str:
    return at.strftime("on %Y-%m-%d at %H:00 UTC" if period.by == "hour" else "on %Y-%m-%d")


def _exact(value: float) -> str:
    return (
        grouped(int(value))
        if float(value).is_integer()
        else f"{value:,.2f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    )


def _step(period: Period) -> timedelta:
    return HOUR if period.by == "hour" else DAY


def _half(period: Period) -> timedelta:
    """A value stands in the middle of its hour or day."""
    return _step(period) / 2


class _Frame(Plot):
    """Places times and values in a drawing of a given width."""

    def __init__(self, period: Period, highest: float, width: int, height: int, *, is_whole: bool) -> None:
        self.period = period
        self.y_values = round_values(highest, is_whole=is_whole)
        widest = max(len(short(value)) for value in self.y_values)
        left = 14 + round(widest * 6.2)
        super().__init__(left=left, right=width - 12, top=18, bottom=height - 30, highest=self.y_values[-1])

    def x(self, at: datetime) -> float:
        return self.across((at - self.period.first) / (self.period.past - self.period.first))

    def x_ticks(self, most: int) -> Iterable[Tick]:
        first, past = self.period.first, self.period.past
        step = next((step for step in _STEPS if (past - first) / step <= most), 364 * DAY)
        at = _MONDAY + math.ceil((first - _MONDAY) / step) * step
        while at <= past:
            is_day = step >= DAY or at.hour == 0
            yield Tick(self.x(at), f"{at.day} {at:%b}" if is_day else f"{at:%H:%M}")
            at += step
