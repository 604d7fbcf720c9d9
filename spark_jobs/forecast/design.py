"""The components of a day's usual peak, as columns of a regression on the logarithmic scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from spark_jobs.forecast.calendar import MONTH_DAYS, WEEK, month_days, weekdays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days

    Floats = NDArray[np.float64]

YEAR = 365.25
GROWTH_PRIOR = np.log(3.0) / YEAR
"""Prior growth for each day: two structures in three change less than threefold in a year."""
LEVEL_PRIOR, WEEK_PRIOR, MONTH_PRIOR, SHIFT_PRIOR = 5.0, 1.5, 0.15, 0.5
TURN_PRIOR = 2 * GROWTH_PRIOR
"""Prior standard deviations of logarithms: of the level around the median, of a weekday, of a day at the end of a month,
of a change of level, of a change of pace."""
PACE = 1
"""The column of the pace; the level is before it, the factors are after it."""


@dataclass(frozen=True, slots=True)
class Break:
    """A day on which the level or the pace changes."""

    day: int
    of: Literal["level", "pace"]


class Design:
    """The columns of a history: level, pace, weekdays, days around the end of a month, breaks.

    Level and pace are the current ones. A weekday or a day of the month that was never measured has no column: it is assumed
    to be like the average of the others.
    """

    def __init__(self, days: Days, *, last: int, breaks: Sequence[Break] = ()) -> None:
        self._last, self._breaks = last, breaks
        seen, month_seen = weekdays(days), month_days(days)
        self._weekdays = [day for day in range(WEEK) if bool((seen == day).any())]
        self._month_days = [day for day in MONTH_DAYS if bool((month_seen == day).any())]

    def of(self, days: Days) -> Floats:
        """Return the values of the columns on the given days."""
        weekday, month_day = weekdays(days), month_days(days)
        mean = 1 / len(self._weekdays)
        known = np.isin(weekday, self._weekdays)
        columns = [np.ones(len(days)), (days - self._last).astype(np.float64)]
        # The mean is subtracted, so that the weekdays add up to zero and the level remains the average of a week.
        columns += [np.where(known, (weekday == day) - mean, 0.0) for day in self._weekdays]
        columns += [(month_day == day).astype(np.float64) for day in self._month_days]
        columns += [break_of(days, each) for each in self._breaks]
        return np.stack(columns, axis=1)

    def priors(self) -> Floats:
        """Return the prior standard deviations of the coefficients."""
        return np.array(
            [LEVEL_PRIOR, GROWTH_PRIOR]
            + [WEEK_PRIOR] * len(self._weekdays)
            + [MONTH_PRIOR] * len(self._month_days)
            + [SHIFT_PRIOR if each.of == "level" else TURN_PRIOR for each in self._breaks]
        )


def break_of(days: Days, found: Break) -> Floats:
    """Return the column of a break: zero from the break on; before it, the difference in multiples of the coefficient."""
    if found.of == "pace":
        turned: Floats = np.minimum(days - found.day, 0).astype(np.float64)
        return turned
    shifted: Floats = -(days < found.day).astype(np.float64)
    return shifted
