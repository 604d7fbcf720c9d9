"""What a day's usual peak is made of, as columns of a regression on the logarithmic scale."""

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
"""Growth a day: before anything is measured, two structures in three change less than threefold in a year."""
LEVEL_PRIOR, WEEK_PRIOR, MONTH_PRIOR, SHIFT_PRIOR = 5.0, 1.5, 0.15, 0.5
TURN_PRIOR = 2 * GROWTH_PRIOR
"""Standard deviations of logarithms before anything is measured: of the level around the median, of a weekday, of a day at
the end of a month, of a change of level, of a change of pace."""
PACE = 1
"""Which column is the pace; the level is before it, the factors after it."""


@dataclass(frozen=True, slots=True)
class Break:
    """A day from which on the level or the pace is another one."""

    day: int
    of: Literal["level", "pace"]


def design_of(days: Days, *, breaks: Sequence[Break], last: int) -> Floats:
    """Columns: level, pace, weekdays, days around the end of a month, breaks; level and pace are those of now."""
    weekday, month_day = weekdays(days), month_days(days)
    columns = [np.ones(len(days)), (days - last).astype(np.float64)]
    columns += [(weekday == day).astype(np.float64) - 1 / WEEK for day in range(WEEK)]
    columns += [(month_day == day).astype(np.float64) for day in MONTH_DAYS]
    columns += [break_of(days, each) for each in breaks]
    return np.stack(columns, axis=1)


def break_of(days: Days, found: Break) -> Floats:
    """Nought from the break on; before it, how much level or pace differed, as a multiple of the coefficient."""
    if found.of == "pace":
        turned: Floats = np.minimum(days - found.day, 0).astype(np.float64)
        return turned
    shifted: Floats = -(days < found.day).astype(np.float64)
    return shifted


def priors_of(breaks: Sequence[Break]) -> Floats:
    """Standard deviations of the coefficients before anything is measured."""
    return np.array(
        [LEVEL_PRIOR, GROWTH_PRIOR]
        + [WEEK_PRIOR] * WEEK
        + [MONTH_PRIOR] * len(MONTH_DAYS)
        + [SHIFT_PRIOR if each.of == "level" else TURN_PRIOR for each in breaks]
    )
