"""Daily peaks of fictitious structures with a known truth, with which forecasts are compared.

The same seed produces the same figures. A sample takes milliseconds and needs no files and no Spark.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.simulated_allocations import structure_name
from planner_core.simulated import QSG
from spark_jobs.simulate.series import DAYS_A_YEAR, FIRST_DAY, WEEK, autocorrelated, growth_path, rhythm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PeaksTruth:
    """The components of the peaks. Arrays cover history and horizon."""

    expected: Floats
    """The peaks without noise, outages and spikes: trend x week x end of month."""
    trend: Floats
    """The trend alone, including the level shift."""
    growth_kind: str
    """The kind of growth: linear or compounding."""
    growth_per_year: float
    """Growth per year, as a fraction of the first day's level."""
    week: tuple[float, ...]
    """Factors of the weekdays from Monday to Sunday; the largest is 1."""
    month_end: float
    """Increase on the last two days and the first day of a month, as a fraction."""
    noise: float
    """Standard deviation of the logarithm of the noise, and its autocorrelation from day to day."""
    noise_autocorrelation: float
    shift_day: int | None
    """Index of the day of the level shift, if there is one."""
    shift: float
    """Factor by which the level shift changes the level."""
    outage_days: tuple[int, ...]
    """Days without figures."""
    backlog_days: tuple[int, ...]
    """Days of a backlog far above the ordinary peaks."""


@dataclass(frozen=True, slots=True)
class PeaksSample:
    """Daily peaks of one structure, and the days after them."""

    qsg: str
    structure: str
    unit: str
    days: Whole
    """Ordinals (date.toordinal) of the days of the history, without gaps."""
    peaks: Floats
    """Peaks of the history; nan on days without a measurement."""
    future_days: Whole
    future_peaks: Floats
    total: float
    """Total number of entries of the structure."""
    levels: dict[str, float]
    """Values by name: offload_70, offload_80, offload_90, full_threshold (85 %), size (100 %)."""
    truth: PeaksTruth

    def crossing_day(self, level: str, *, of: str = "expected") -> int | None:
        """Return the days from the end of the history (1 is the next) to the first at or above a level, or None.

        Args:
            level: A name of `levels`.
            of: `expected` is the truth without noise, `actual` includes noise and backlogs, `trend` is the trend alone.
        """
        history = len(self.days)
        path = {
            "expected": self.truth.expected[history:],
            "trend": self.truth.trend[history:],
            "actual": self.future_peaks,
        }[of]
        above = np.flatnonzero(np.nan_to_num(path, nan=-1.0) >= self.levels[level])
        return int(above[0]) + 1 if len(above) else None


LEVELS = {"offload_70": 0.70, "offload_80": 0.80, "full_threshold": 0.85, "offload_90": 0.90, "size": 1.0}


def daily_peaks(
    seed: int,
    *,
    days: int = 270,
    horizon_days: int = 180,
    unit: str = "entries",
    growth_kind: str | None = None,
    growth_per_year: float | None = None,
    noise: float | None = None,
    weekly: bool = True,
    month_end: float | None = None,
    level_shift: bool | None = None,
    outages_per_year: float = 3.0,
    backlogs_per_year: float = 2.0,
    events_in_future: bool = False,
    crossing: tuple[int, int] = (15, 260),
    first_day: dt.date = FIRST_DAY,
) -> PeaksSample:
    """Return daily peaks of a structure's entries (or elements, or SMDS blocks), and the days after them.

    A peak is trend x week x month end x noise. Missing values are drawn from the seed: half of the structures grow
    linearly and half compounding, by 25 to 130 % a year; weekends have 25 to 85 % of the peaks of working days; up to
    12 % more at the end of a month; noise of 2 to 9 % with an autocorrelation of 0.2 to 0.7; one structure in five has
    a level shift of -30 to +40 % in its history. The structure's total is set so that the expected peaks reach 85 % of
    it no later than on a day after the history that is drawn from `crossing` (a month end may be earlier).

    Args:
        seed: The same seed produces the same sample.
        days: Length of the history.
        horizon_days: Number of days after it.
        unit: The counted unit.
        growth_kind: linear or compounding.
        growth_per_year: Growth as a fraction of the first day's level; 0 for none.
        noise: Standard deviation of the noise's logarithm; 0 for none.
        weekly: Whether there is a weekly rhythm.
        month_end: Increase at month ends, as a fraction.
        level_shift: Whether the level changes abruptly on one day.
        outages_per_year: Outages of one to three days without figures.
        backlogs_per_year: Days (one or two) on which a backlog of 1.5 to 4 times the ordinary peak was built up.
        events_in_future: Whether outages and backlogs continue after the history, which cannot predict them.
        crossing: First and last day after the history on which 85 % may be reached.
        first_day: The first day of the history.
    """
    random = np.random.default_rng((seed, 2))
    length = days + horizon_days
    linear = bool(random.random() < 0.5)
    drawn = random.uniform((0.25, 0.0, 0.02, 0.2, np.log(2_000)), (1.3, 0.12, 0.09, 0.7, np.log(2_000_000)))
    kind = growth_kind or ("linear" if linear else "compounding")
    growth = float(drawn[0]) if growth_per_year is None else growth_per_year
    high = float(drawn[1]) if month_end is None else month_end
    spread = float(drawn[2]) if noise is None else noise
    shifts = bool(random.random() < 0.2) if level_shift is None else level_shift
    shift_day = int(random.integers(days // 4, max(days - 21, days // 4 + 1)))
    shift = float(random.uniform(0.7, 1.4))

    week = _week(random) if weekly else np.ones(WEEK)
    crossed_after = int(random.integers(crossing[0], crossing[1] + 1))
    moment = np.arange(max(length, days + crossed_after))
    trend = np.exp(drawn[4]) * growth_path(moment, kind=kind, growth_per_year=growth)
    if shifts:
        trend[shift_day:] *= shift
    calendar = first_day.toordinal() + moment
    expected = trend * rhythm(calendar, week=week, month_end=high)
    total = float(np.floor(expected[days : days + crossed_after].max() / LEVELS["full_threshold"]))
    trend, expected, calendar = trend[:length], expected[:length], calendar[:length]
    noisy = expected * np.exp(autocorrelated(random, length, deviation=spread, correlation=float(drawn[3])))
    last_event = length if events_in_future else days
    backlog_days = _happenings(random, backlogs_per_year, last_event, longest=2)
    noisy[backlog_days] *= random.uniform(1.5, 4, len(backlog_days))
    outage_days = _happenings(random, outages_per_year, last_event, longest=3)
    peaks = np.minimum(np.rint(noisy), total)  # a full structure holds no more than its total
    peaks[outage_days] = np.nan
    truth = PeaksTruth(
        expected=expected,
        trend=trend,
        growth_kind=kind,
        growth_per_year=growth,
        week=tuple(week.tolist()),
        month_end=high,
        noise=spread,
        noise_autocorrelation=float(drawn[3]),
        shift_day=shift_day if shifts else None,
        shift=shift if shifts else 1.0,
        outage_days=tuple(outage_days.tolist()),
        backlog_days=tuple(backlog_days.tolist()),
    )
    return PeaksSample(
        qsg=QSG,
        structure=structure_name(seed % 999),
        unit=unit,
        days=calendar[:days],
        peaks=peaks[:days],
        future_days=calendar[days:],
        future_peaks=peaks[days:],
        total=total,
        levels={name: share * total for name, share in LEVELS.items()},
        truth=truth,
    )


def _week(random: np.random.Generator) -> Floats:
    week = random.uniform(0.9, 1.0, WEEK)
    week[5:] = random.uniform(0.25, 0.85, 2)
    week[int(random.integers(0, 5))] = 1.0
    found: Floats = week / week.max()
    return found


def _happenings(random: np.random.Generator, per_year: float, length: int, *, longest: int) -> Whole:
    """Return the days of events that each last from one day to the longest."""
    count = int(random.poisson(per_year * length / DAYS_A_YEAR))
    begins = random.integers(0, max(length, 1), count)
    lasts = random.integers(1, longest + 1, count)
    days = {
        day
        for begin, last in zip(begins.tolist(), lasts.tolist(), strict=True)
        for day in range(begin, min(begin + last, length))
    }
    return np.array(sorted(days), dtype=np.int64)
