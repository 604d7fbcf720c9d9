"""Paths of daily peaks: random samples of the days ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spark_jobs.forecast.calendar import WEEK, weekdays
from spark_jobs.forecast.cleaning import episodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days, Peaks

    Floats = NDArray[np.float64]

GROWTH_DAYS = 30
"""The number of days for which growth is stated."""
RESAMPLED_DAYS = 180
"""The number of past days to draw from, if only drawing from the past is meaningful."""
EMPTY_WEEKS = 8
HALF = 0.5
SIZE_SPREAD = 0.15
"""Standard deviation of a repeated exceptional day from the observed one, on the logarithmic scale."""


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Paths in rows, days in columns, from the day after the end of the history."""

    ordinary: Floats
    growth: Floats
    """Growth of the usual peak in 30 days, as a logarithm: one figure for each path."""
    model: str
    notes: tuple[str, ...] = ()


def resampled(days: Days, peaks: Peaks, *, ahead: int, count: int, random: np.random.Generator) -> Paths:
    """Return weeks drawn from the past unchanged, for a measure that is mostly empty and has no level or growth."""
    recent = days > days[-1] - RESAMPLED_DAYS
    seen = dict(zip(days[recent].tolist(), peaks[recent].tolist(), strict=True))
    first = int(days[-1]) + 1
    # Draw whole weeks, so that a job that runs only on some weekdays keeps its rhythm.
    mondays = sorted({day - (day - first) % WEEK for day in seen})
    table = np.array([[seen.get(monday + day, np.nan) for day in range(WEEK)] for monday in mondays])
    columns = [column[~np.isnan(column)] for column in table.T]
    for number, column in enumerate(columns):
        gaps = np.isnan(table[:, number])
        table[gaps, number] = random.choice(column, int(gaps.sum())) if len(column) else 0.0
    weeks = -(-ahead // WEEK)
    drawn = random.integers(0, len(table), (count, weeks))
    ordinary = table[drawn].reshape(count, weeks * WEEK)[:, :ahead]
    return Paths(ordinary, np.zeros(count), "weeks drawn from the past")


def with_empty_days(
    paths: Floats, *, days: Days, empty: NDArray[np.bool_], first: int, random: np.random.Generator
) -> Floats:
    """Return the paths with empty days, for each weekday as often as in the last eight weeks of the history."""
    recent = days > days[-1] - EMPTY_WEEKS * WEEK
    weekday, coming = weekdays(days[recent]), weekdays(first + np.arange(paths.shape[1]))
    chances = np.zeros(WEEK)
    for day in range(WEEK):
        of_day = empty[recent][weekday == day]
        chances[day] = of_day.mean() if len(of_day) else 0.0
    if not chances.any():
        return paths
    return np.where(random.random(paths.shape) < chances[coming], 0.0, paths)


def with_episodes(
    paths: Floats, excess: Floats, *, span_days: int, random: np.random.Generator
) -> Floats | None:
    """Return the paths with exceptional days as frequent and as high as in the history; None if it has none.

    Only days above the usual count. Their rate is drawn for each path: k events in n days give a gamma variable with shape
    k + 1/2, divided by n.

    Args:
        paths: Ordinary peaks.
        excess: The logarithm of the ratio of each day's peak to the usual value; zero on ordinary days.
        span_days: Days from the first to the last of the history.
        random: Random numbers.
    """
    seen = [excess[first:last] for first, last in episodes(excess > 0)]
    if not seen:
        return None
    count, ahead = paths.shape
    # The half is Jeffreys' prior for the rate of events.
    happens = random.poisson(random.gamma(len(seen) + HALF, 1.0, count) * ahead / span_days)
    path = np.repeat(np.arange(count), happens)
    begins = random.integers(0, ahead, len(path))
    which = random.integers(0, len(seen), len(path))
    factors = random.normal(0.0, SIZE_SPREAD, len(path))
    higher = np.zeros_like(paths)
    for number, episode in enumerate(seen):
        chosen = which == number
        for day, size in enumerate(episode.tolist()):
            at = begins[chosen] + day
            inside = at < ahead
            sizes = np.maximum(size + factors[chosen][inside], 0.0)
            np.maximum.at(higher, (path[chosen][inside], at[inside]), sizes)
    return paths * np.exp(higher)
