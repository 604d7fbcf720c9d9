"""Charts of usage over time and of message sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from app.usage.observed import PlannedLevels
from app.usage.periods import DAY, HOUR, Period
from app.web.axes import Linear, Time, grouped, short
from app.web.charts import (
    LABEL_ONLY,
    NO_ORIGIN,
    Bar,
    BarChart,
    Chart,
    Level,
    Line,
    Mark,
    Origin,
    Part,
    Point,
    today_marks,
    with_gaps,
)
from planner_core.contracts.rollup import SizeBucket

Moments = Sequence[tuple[datetime, float]]


def time_chart(
    name: str,
    title: str,
    *,
    unit: str,
    period: Period,
    values: Moments,
    limit: Moments = (),
    full: Sequence[tuple[datetime, int]] = (),
    planned: PlannedLevels | None = None,
    today: datetime | None = None,
    origin: Origin = NO_ORIGIN,
) -> Chart:
    """Return the chart of a measure; each limit applies until the next one, planned levels are shares of the last one."""
    step = HOUR if period.by == "hour" else DAY
    y_axis = Linear.up_to(
        max((value for _, value in (*values, *limit)), default=0.0),
        is_whole=all(isinstance(value, int) for _, value in values),
    )
    return Chart(
        id=name,
        title=title,
        unit=unit,
        description=_in_words(period, title, values, limit, [at for at, _ in full]),
        x_axis=Time(period.first, period.past),
        y_axis=y_axis,
        lines=(
            # A value is drawn in the middle of its hour or day; nothing is drawn over hours without records.
            Line(_middles(values, step), name=title),
            *([_limit(limit, period.past)] if limit else []),
        ),
        levels=tuple(_levels(limit, planned)) if limit else (),
        are_levels_beside=bool(limit),
        marks=(
            *(
                Mark(
                    at + step / 2,
                    sign="flag",
                    style="full-line",
                    sign_style="full-mark",
                    title=_times(times),
                    name="found full",
                )
                for at, times in full
            ),
            *(today_marks(Time(period.first, period.past), today) if today else ()),
        ),
        no_data="There are no measurements in this period.",
        origin=origin,
        width=1000,
        height=172,
    )


def _middles(values: Moments, step: timedelta) -> tuple[Point, ...]:
    points = [(at + step / 2, value) for at, value in values]
    return with_gaps(points, [(at - values[0][0]) / step for at, _ in values])


def _limit(limit: Moments, past: datetime) -> Line:
    # The last limit applies until the end of the period, whether or not records follow it.
    points = (*limit, (past, limit[-1][1]))
    return Line(points, name="total", style="limit", is_stepped=True, is_limit=True)


def _levels(limit: Moments, planned: PlannedLevels | None) -> Iterable[Level]:
    """Yield the label of the limit, and planned levels from its last change on, because they are shares of it."""
    begin, total = limit[-1]
    yield Level(total, f"total {grouped(round(total))}", "total", style=LABEL_ONLY, begin=begin)
    if planned is None:
        return
    full = planned.full_threshold_percent
    levels = {percent: (f"offload {percent} %", f"{percent} %") for percent in planned.offload_percents}
    # A rule and FULLTHRESHOLD may have the same percentage: then one line has both names.
    also = ", offload" if full in levels else ""
    levels[full] = (f"FULLTHRESHOLD {full} %{also}", f"FULL {full} %")
    for percent, (label, short_label) in levels.items():
        yield Level(total * percent / 100, label, short_label, style="threshold", begin=begin)


def _times(number: int) -> str:
    return f"{grouped(number)} time{'' if number == 1 else 's'}"


def size_bars(buckets: Sequence[SizeBucket], origin: Origin = NO_ORIGIN) -> BarChart | None:
    """Return the chart of messages by size; None if sizes are unknown."""
    total = sum(bucket.puts for bucket in buckets)
    if not total:
        return None
    largest = max(buckets, key=lambda bucket: bucket.puts)
    return BarChart(
        id="sizes",
        title="Messages by size",
        description=(
            f"{grouped(total)} messages in {len(buckets)} size classes; the largest class goes up to "
            f"{grouped(largest.up_to_bytes)} bytes and contains {grouped(largest.puts)} of them."
        ),
        bars=tuple(
            Bar(
                f"up to {grouped(bucket.up_to_bytes)} bytes",
                f"{grouped(bucket.puts)} ({bucket.puts / total * 100:.1f} %)",
                (Part("bar-of", bucket.puts),),
            )
            for bucket in buckets
        ),
        is_beside=True,
        origin=origin,
        width=700,
    )


def held_from(moments: Iterable[tuple[datetime, int | None]], before: int | None, first: datetime) -> Moments:
    """Return the changes of a limit; the last one before the period applies from the beginning of the period."""
    found: list[tuple[datetime, float]] = [] if before is None else [(first, before)]
    for at, value in moments:
        # Each record repeats the limit; only changes are steps of the line.
        if value is not None and (not found or found[-1][1] != value):
            found.append((at, value))
    return found


def _in_words(period: Period, title: str, values: Moments, limit: Moments, full: Sequence[datetime]) -> str:
    if values:
        at, most = max(values, key=lambda moment: moment[1])
        parts = [
            f"{title}: from {_exact(min(value for _, value in values))} to {_exact(most)}, the highest "
            f"{_when(at, period)}; last {_exact(values[-1][1])}."
        ]
    else:
        parts = [f"{title}: no measurements."]
    if limit:
        parts.append(f"Total: {_exact(limit[-1][1])}.")
    if full:
        steps = f"{len(full)} {period.by}{'' if len(full) == 1 else 's'}"
        parts.append(
            f"The structure was found full in {steps} of the period, last {_when(full[-1], period)}."
        )
    return " ".join(parts)


def _when(at: datetime, period: Period) -> str:
    return at.strftime("on %Y-%m-%d at %H:00 UTC" if period.by == "hour" else "on %Y-%m-%d")


def _exact(value: float) -> str:
    if float(value).is_integer():
        return short(value)
    whole, _, decimals = f"{value:.2f}".partition(".")
    return f"{grouped(int(whole))}.{decimals}"
