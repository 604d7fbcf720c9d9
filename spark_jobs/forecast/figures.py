"""The quantiles of forecasts, and figures and days in the form in which they are stored."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from planner_core.contracts.forecasts import Quantiles

QUANTILES = (0.1, 0.5, 0.9)
NAMES = ("p10", "p50", "p90")
DIGITS = 6
"""Significant digits of stored figures."""


def rounded(value: float) -> float:
    """Return a figure with the significant digits that are stored."""
    # Convert through text, because a quotient of powers of ten would be rounded a second time, in binary.
    return float(f"{value:.{DIGITS}g}")


def quantiles_of(values: Sequence[float]) -> Quantiles:
    """Return rounded quantiles by their names."""
    return dict(zip(NAMES, map(rounded, values), strict=True))


def date_of(ordinal: int | np.int64) -> dt.date:
    """Return the date of a date ordinal."""
    return dt.date.fromordinal(int(ordinal))


def iso(ordinal: int | np.int64) -> str:
    """Return a date ordinal as YYYY-MM-DD."""
    return date_of(ordinal).isoformat()
