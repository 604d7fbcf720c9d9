"""Days of the week and of the month, from date ordinals."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days

WEEK = 7
EPOCH = dt.date(1970, 1, 1).toordinal()
MONTH_DAYS = (-3, -2, -1, 1, 2)
"""Days around the end of a month that may be busier: -1 is the last day of a month, 1 the first of the next."""


def weekdays(days: Days) -> NDArray[np.int64]:
    """Return the weekday of each day, from 0 for Monday to 6 for Sunday."""
    # Ordinal 1, the first of January of year 1, was a Monday.
    return (days + WEEK - 1) % WEEK


def month_days(days: Days) -> NDArray[np.int64]:
    """Return each day's entry in `MONTH_DAYS`; 0 for days in the middle of a month."""
    dates = (days - EPOCH).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    since_begin = (dates - months.astype("datetime64[D]")).astype(np.int64) + 1
    until_next = (dates - (months + 1).astype("datetime64[D]")).astype(np.int64)
    found = np.where(since_begin <= max(MONTH_DAYS), since_begin, 0)
    near: NDArray[np.int64] = np.where(until_next >= min(MONTH_DAYS), until_next, found)
    return near
