"""The simplest forecasting rules, which a forecast must outperform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner_core.contracts.forecasts import Baselines, StraightLine
from spark_jobs.forecast.calendar import WEEK, weekdays
from spark_jobs.forecast.figures import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days, Peaks


def baselines_of(days: Days, peaks: Peaks, *, made_on: int) -> Baselines:
    """Return the last value, the last week and the straight line through all points."""
    last = float(peaks[-1])
    week = [last] * WEEK
    for day, peak in zip(weekdays(days).tolist(), peaks.tolist(), strict=True):
        week[day] = peak
    since = (days - made_on).astype(np.float64)
    centred = since - since.mean()
    spread = float(centred @ centred)
    slope = float(centred @ peaks) / spread if spread else 0.0
    line = StraightLine(rounded(float(peaks.mean() - slope * since.mean())), rounded(slope))
    return Baselines(rounded(last), tuple(map(rounded, week)), line)


def last_value(found: Baselines, days: Days) -> NDArray[np.float64]:
    """Return the last measured peak for every day."""
    return np.full(len(days), found.last_value)


def seasonal_naive(found: Baselines, days: Days) -> NDArray[np.float64]:
    """Return the last measured peak of the same weekday."""
    return np.array(found.last_week)[weekdays(days)]


def straight_line(found: Baselines, days: Days, *, made_on: int) -> NDArray[np.float64]:
    """Return the straight line through all points of the history; never below zero."""
    # A falling line would otherwise predict negative use.
    line: NDArray[np.float64] = np.maximum(found.line.at_made_on + found.line.per_day * (days - made_on), 0.0)
    return line
