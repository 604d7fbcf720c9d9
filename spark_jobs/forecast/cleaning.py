"""Separate ordinary days from exceptional ones; models learn from ordinary days only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spark_jobs.forecast.calendar import MONTH_DAYS, WEEK, month_days, weekdays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days, Peaks

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

NORMAL_MAD = 1.4826
"""Standard deviation of a normal variable with a median absolute deviation of 1."""
FAR = 4.5
"""The number of standard deviations from the usual above which a day is exceptional."""
LEAST_FAR = np.log(1.2)
"""The smallest deviation of an exceptional day: a fifth above or below the usual, however quiet the history is."""
WINDOW_DAYS = 21
"""The number of days around a day that determine the usual value: three weeks."""
LONGEST_EPISODE_DAYS = 7
"""The longest run of exceptional days; a deviation that lasts longer is a new usual value."""
MOST_EXCEPTIONAL = 0.15
"""The maximum share of exceptional days; if more days are far from the usual, no day is exceptional."""
ROUNDS = 2
LEAST_FOR_USUAL = 21
"""The number of measured days below which no day can be called exceptional."""
LEAST_MONTH_DAYS = 3
SMALL_SHARE = 0.02
"""The share of the median positive peak up to which a peak counts as zero."""


def empty_days(peaks: Peaks) -> Mask:
    """Return days with almost no use: at most a fiftieth of the median of the days in use."""
    used = peaks[peaks > 0]
    least = SMALL_SHARE * float(np.median(used)) if len(used) else 0.0
    empty: Mask = peaks <= least
    return empty


def since_first_use(days: Days, peaks: Peaks) -> tuple[Days, Peaks]:
    """Return the days without the empty weeks before the first use, which would hide the growth."""
    used = np.flatnonzero(peaks > 0)
    begin = int(used[0]) if len(used) else 0
    return days[begin:], peaks[begin:]


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """The exceptional days, and their deviation on the logarithmic scale."""

    exceptional: Mask
    excess: Floats
    """The deviation of each day from the usual, zero on ordinary days."""
    deviation: float
    """Standard deviation of ordinary days around the usual."""


def all_usual(days: Days, *, deviation: float = 0.0) -> Usual:
    """Return the result for days that are all ordinary."""
    return Usual(np.zeros(len(days), dtype=np.bool_), np.zeros(len(days)), deviation)


def exceptional_days(days: Days, peaks: Peaks) -> Mask:
    """Return the exceptional days; empty days are never exceptional."""
    used = ~empty_days(peaks)
    found = np.zeros(len(days), dtype=np.bool_)
    found[used] = usual_of(days[used], np.log(peaks[used])).exceptional
    return found


def usual_of(days: Days, logs: Floats) -> Usual:
    """Return days far from the usual value around them, allowing for weekdays and ends of months.

    The usual value is the median of three weeks around a day, times the factors of the weekday and of the day of the month. A
    day is exceptional if it deviates by more than 4.5 robust standard deviations and more than a fifth. A run of such
    days that lasts longer than a week is a new usual value, not an exception; if more than one day in seven deviates,
    no day is exceptional.
    """
    if len(days) < LEAST_FOR_USUAL:
        return all_usual(days)
    weekday, month_day = weekdays(days), month_days(days)
    rhythm = np.zeros(len(days))
    # The first trend still contains the rhythm, so both are estimated again.
    for _ in range(ROUNDS):
        trend = _around(days, logs - rhythm)
        rhythm = _medians(logs - trend, weekday, range(WEEK), least=2)
        rhythm += _medians(logs - trend - rhythm, month_day, MONTH_DAYS, least=LEAST_MONTH_DAYS)
    off = logs - _around(days, logs - rhythm) - rhythm
    off -= np.median(off)
    deviation = NORMAL_MAD * float(np.median(np.abs(off)))
    far = np.abs(off) > max(FAR * deviation, LEAST_FAR)
    # A change that lasts longer than a week is the new usual value: without these days, the model would not learn it.
    far &= ~_lasting(days, far)
    if float(far.mean()) > MOST_EXCEPTIONAL:
        return all_usual(days, deviation=deviation)
    return Usual(far, np.where(far, off, 0.0), deviation)


def _around(days: Days, values: Floats) -> Floats:
    """Return the median of the values around each day."""
    half = WINDOW_DAYS // 2
    begin = np.searchsorted(days, days - half, side="left")
    end = np.searchsorted(days, days + half, side="right")
    widest = int((end - begin).max())
    at = begin[:, None] + np.arange(widest)[None, :]
    inside = at < end[:, None]
    # Like np.nanmedian, which takes a multiple of the time for many short rows.
    windows = np.sort(np.where(inside, values[np.minimum(at, len(values) - 1)], np.inf), axis=1)
    row, count = np.arange(len(days)), end - begin
    medians: Floats = (windows[row, (count - 1) // 2] + windows[row, count // 2]) / 2
    return medians


def _medians(
    values: Floats, groups: NDArray[np.int64], which: range | tuple[int, ...], *, least: int
) -> Floats:
    """Return each value's group median; zero for values in no group or in a group of fewer than `least` values."""
    found = np.zeros(len(values))
    for group in which:
        members = groups == group
        if int(members.sum()) >= least:
            found[members] = np.median(values[members])
    return found


def _lasting(days: Days, far: Mask) -> Mask:
    """Return the exceptional days that are part of a run longer than an episode."""
    found = np.zeros(len(far), dtype=np.bool_)
    for first, last in episodes(far):
        if days[last - 1] - days[first] >= LONGEST_EPISODE_DAYS:
            found[first:last] = True
    return found


def episodes(mask: Mask) -> list[tuple[int, int]]:
    """Return the start of each run of true values, and the position after its end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]
