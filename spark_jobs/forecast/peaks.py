"""The input of a forecast: the daily peaks of one measure, and the levels that they are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Days = NDArray[np.int64]
    Peaks = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DailyPeaks:
    """The highest value of each day of one measure of one structure.

    `days` are date ordinals (`datetime.date.toordinal`), in any order; missing days, and days whose peak is nan, were not
    measured. `unit` is the unit of the peaks: entries, elements, blocks, percent. `queue_manager` is the owner of a shared
    message data set.
    """

    qsg: str
    structure: str
    measure: str
    days: Days
    peaks: Peaks
    unit: str
    queue_manager: str | None = None

    def __post_init__(self) -> None:
        if self.days.ndim != 1 or self.days.shape != self.peaks.shape:
            message = (
                f"{self.days.shape} days and {self.peaks.shape} peaks: there must be one peak for each day"
            )
            raise ValueError(message)
        if len(np.unique(self.days)) != len(self.days):
            message = f"{self.structure}: a day occurs twice"
            raise ValueError(message)

    def measured(self) -> tuple[Days, Peaks]:
        """Return the measured days in order, and their peaks; negative and infinite peaks count as not measured."""
        usable = np.isfinite(self.peaks) & (self.peaks >= 0)
        days, peaks = self.days[usable].astype(np.int64), self.peaks[usable].astype(np.float64)
        order = np.argsort(days, kind="stable")
        return days[order], peaks[order]


@dataclass(frozen=True, slots=True)
class Level:
    """A level that peaks should not pass: a name such as "85 %", and its value, None if unknown.

    A level is passed on a day whose peak is above it. If nothing can be above it, because it is the total (`reached`),
    reaching it counts.
    """

    name: str
    value: float | None
    reached: bool = False


@dataclass(frozen=True, slots=True)
class Resize:
    """A larger or smaller total: every level is multiplied by `factor`."""

    name: str
    factor: float
