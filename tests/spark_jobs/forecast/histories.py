"""Histories written by hand for individual tests."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import numpy as np

from spark_jobs.forecast import DailyPeaks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MONDAY = dt.date(2026, 1, 5).toordinal()


def history(
    peaks: Sequence[float] | NDArray[np.float64],
    *,
    first: int = MONDAY,
    structure: str = "APPL1",
    unit: str = "entries",
    days: Sequence[int] | NDArray[np.int64] | None = None,
) -> DailyPeaks:
    """Return a history with peaks of consecutive days, or of the given days."""
    values = np.asarray(peaks, dtype=np.float64)
    on = first + np.arange(len(values)) if days is None else np.asarray(days, dtype=np.int64)
    return DailyPeaks("SQ03", structure, "entries", on, values, unit)


def busy(
    length: int,
    *,
    level: float = 1000.0,
    growth: float = 0.0,
    noise: float = 0.05,
    weekend: float = 0.5,
    seed: int = 1,
) -> NDArray[np.float64]:
    """Return working weeks with noise; `growth` is the logarithm of the daily growth."""
    random = np.random.default_rng(seed)
    day = np.arange(length)
    week = np.where(day % 7 >= 5, weekend, 1.0)
    peaks: NDArray[np.float64] = level * week * np.exp(growth * day + random.normal(0, noise, length))
    return peaks
