"""The days on which paths of daily peaks pass levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from planner_core.contracts.forecasts import Crossing, CrossingState, QuantileDates, QuantileDays
from spark_jobs.forecast import sentences
from spark_jobs.forecast.figures import QUANTILES, date_of, rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days, Level, Peaks

RECENT_DAYS = 7
"""A level counts as passed if it was passed on one of this many most recent days."""


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The measured history from which crossings are derived."""

    days: Days
    peaks: Peaks
    exceptional: NDArray[np.bool_]
    """True for exceptional days, which the paths leave out."""
    made_on: int


class Ahead:
    """The days ahead from which crossings are derived."""

    def __init__(self, paths: NDArray[np.float64], spikes: NDArray[np.float64] | None) -> None:
        """Summarize paths in rows, from the day after the forecast is made.

        Args:
            paths: Ordinary peaks.
            spikes: The same with exceptional days; None if the history has none.
        """
        self.paths = paths
        self.quantiles: NDArray[np.float64] = np.quantile(paths, QUANTILES, axis=0)
        self.highest: NDArray[np.float64] = paths.max(axis=1)
        self.highest_spikes: NDArray[np.float64] = self.highest if spikes is None else spikes.max(axis=1)


def is_above(peaks: NDArray[np.float64], value: float, *, reached: bool) -> NDArray[np.bool_]:
    """Return whether each peak passes a level."""
    above: NDArray[np.bool_] = peaks >= value if reached else peaks > value
    return above


def first_days(paths: NDArray[np.float64], value: float, *, reached: bool) -> NDArray[np.int64]:
    """Return the first day, from 1, on which each path (row) passes the level; the day after the last if none."""
    above = is_above(paths, value, reached=reached)
    first = np.argmax(above, axis=1) + 1
    found: NDArray[np.int64] = np.where(above.any(axis=1), first, paths.shape[1] + 1)
    return found


def crossing(level: Level, *, history: History, ahead: Ahead | None) -> Crossing:
    """Return the day on which the level is first passed; `ahead` is None if there is no forecast."""
    name, reached = level.name, level.reached
    if level.value is None:
        return Crossing(level=name, reached=reached, state="no_limit", sentence=sentences.no_limit(name))
    passed = is_above(history.peaks, level.value, reached=reached)
    last = int(history.days[passed][-1]) if passed.any() else None
    # A backlog of one day says nothing about growth; its probability is stated separately.
    ordinary = history.days[passed & ~history.exceptional]
    recent = bool((ordinary > history.made_on - RECENT_DAYS).any())
    state: CrossingState = "already_crossed" if recent else "no_forecast"
    seen = Crossing(
        level=name,
        value=level.value,
        reached=reached,
        state=state,
        sentence=sentences.seen_only(name, last=last, recent=recent),
        last_crossed=None if last is None else date_of(last),
        days_crossed=int(passed.sum()),
    )
    if ahead is None:
        return seen
    horizon = ahead.paths.shape[1]
    first = first_days(ahead.paths, level.value, reached=reached)
    probability = float((first <= horizon).mean())
    with_exceptional = float(is_above(ahead.highest_spikes, level.value, reached=reached).mean())
    low, middle, high = quantiles = day_quantiles(first, horizon)
    above = np.flatnonzero(is_above(ahead.quantiles[1], level.value, reached=reached))
    if recent:
        sentence = sentences.already(name, last=last)
    elif low is None:
        state, sentence = "beyond", sentences.beyond(name, horizon_days=horizon)
    elif middle is None:
        state = "possible"
        sentence = sentences.possible(name, horizon_days=horizon, probability=probability, low=low)
    else:
        state = "within"
        sentence = sentences.within(name, low=low, middle=middle, high=high, horizon_days=horizon)
    dates = (None if day is None else date_of(history.made_on + day) for day in quantiles)
    return replace(
        seen,
        state=state,
        sentence=sentence,
        probability_within_horizon=rounded(probability),
        probability_with_exceptional_days=rounded(with_exceptional),
        days=QuantileDays(*quantiles),
        dates=QuantileDates(*dates),
        usual_day=int(above[0]) + 1 if len(above) else None,
    )


def day_quantiles(first: NDArray[np.int64], horizon: int) -> tuple[int | None, int | None, int | None]:
    """Return p10, p50 and p90 of the day; None beyond the horizon.

    Days come in clusters: in a weekly rhythm, nearly all crossings of a week fall on one weekday. So that the interval
    contains 80 % and not more, a day at its end counts as inside if at least half of its own probability is.
    """
    counts = np.bincount(first, minlength=horizon + 2)[1 : horizon + 1] / len(first)
    until = np.cumsum(counts)
    middles = until - counts / 2
    ends = np.flatnonzero(counts) + 1
    total = float(until[-1])
    low, middle, high = (total >= share for share in QUANTILES)
    p10 = int(ends[min(int((middles[ends - 1] < QUANTILES[0]).sum()), len(ends) - 1)]) if low else None
    p50 = int(np.argmax(until >= QUANTILES[1])) + 1 if middle else None
    p90 = int(ends[max(int((middles[ends - 1] <= QUANTILES[2]).sum()) - 1, 0)]) if high else None
    return p10, p50, p90
