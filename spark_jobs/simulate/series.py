"""Growth, weekly rhythm and noise of simulated days, for the simulated site and for samples in tests."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

FIRST_DAY = dt.date(2026, 1, 5)
"""The first simulated day, a Monday."""
INITIAL_RATIO = (1, 6)
"""List entries to list elements of a new structure."""
WEEK = 7
DAYS_A_YEAR = 365.25


def growth_path(moment: NDArray[Any], *, kind: str, growth_per_year: float) -> Floats:
    """Return the level relative to the first day, at times in days from it, including fractions."""
    years = np.asarray(moment, dtype=np.float64) / DAYS_A_YEAR
    path: Floats = (1 + growth_per_year) ** years if kind == "compounding" else 1 + growth_per_year * years
    return path


def rhythm(calendar: Whole, *, week: Floats, month_end: float) -> Floats:
    """Return the factor of each date ordinal, from its weekday and from the days around the end of a month."""
    factors: Floats = week[(calendar + WEEK - 1) % WEEK]
    dates = (calendar - dt.date(1970, 1, 1).toordinal()).astype("datetime64[D]")
    of_month = [(dates + before).astype("datetime64[M]") for before in (-1, 0, 2)]
    is_end = (of_month[0] != of_month[1]) | (of_month[1] != of_month[2])
    return factors * np.where(is_end, 1 + month_end, 1.0)


def autocorrelated(
    random: np.random.Generator, length: int, *, deviation: float, correlation: float
) -> Floats:
    """Return normal noise in which each value depends on the previous one."""
    steps = random.normal(0, deviation, length)
    steps[1:] *= np.sqrt(1 - correlation**2)
    noise = np.empty(length)
    last = 0.0
    for number, step in enumerate(steps.tolist()):
        last = correlation * last + step
        noise[number] = last
    return noise
