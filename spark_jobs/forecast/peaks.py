"""What a forecast is made from: the daily peaks of one measure, and the levels that they are held against."""

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

    `days` are date ordinals (`datetime.date.toordinal`), in any order; days that are not named were not measured, and neither
    were those whose peak is nan. `unit` is what the peaks count: entries, elements, blocks, percent. `queue_manager`
    is that of a shared message data set.
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
            message = f"{self.days.shape} days and {self.peaks.shape} peaks: one peak for each day is needed"
            raise ValueError(message)
        if len(np.unique(self.days)) != len(self.days):
            message = f"{self.structure}: a day is named twice"
            raise ValueError(message)

    def measured(self) -> tuple[Days, Peaks]:
        """The days that were measured, in order, and their peaks; what is below nought or infinite was not measured."""
        usable = np.isfinite(self.peaks) & (self.peaks >= 0)
        days, peaks = self.days[usable].astype(np.int64), self.peaks[usable].astype(np.float64)
        order = np.argsort(days, kind="stable")
        return days[order], peaks[order]


@dataclass(frozen=True, slots=True)
class Level:
    """What a peak must not pass: `name` as people read it ("85 %"), `value` in the unit of the peaks, None if not known.

    A level is crossed on a day whose peak is above it. Where nothing can be above it, because it is all there is
    (`reached`), reaching it counts.
    """

    name: str
    value: float | None
    reached: bool = False


@dataclass(frozen=True, slots=True)
class Resize:
    """A larger (or smaller) total: every level is taken `factor` times as high."""

    name: str
    factor: float
