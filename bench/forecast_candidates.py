"""Other models of daily peaks, from statsmodels, among which the forecasting model was chosen.

Each candidate uses the same ordinary days on the same logarithmic scale as the chosen model, and returns paths of
peaks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import statsmodels.api as sm
from statsmodels.tsa.exponential_smoothing.ets import ETSModel
from statsmodels.tsa.statespace.structural import UnobservedComponents

from spark_jobs.forecast.calendar import WEEK, month_days, weekdays
from spark_jobs.forecast.cleaning import usual_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Days = NDArray[np.int64]

Candidate = Callable[["Days", "Floats", int, int, np.random.Generator], "Floats"]
"""A function of logarithms of consecutive days (nan without an ordinary measurement), days ahead, number of paths and
random numbers, which returns paths."""

BLOCK_DAYS = 14
LARGEST_LOG = 80.0


def smoothing(*, damped: bool) -> Candidate:
    """Return exponential smoothing with additive trend and week; gaps are filled by linear interpolation."""

    def paths(days: Days, logs: Floats, ahead: int, count: int, random: np.random.Generator) -> Floats:
        known = np.isfinite(logs)
        filled = np.interp(days, days[known], logs[known])
        model = ETSModel(
            filled, error="add", trend="add", damped_trend=damped, seasonal="add", seasonal_periods=WEEK
        )
        found = model.fit(disp=False)
        drawn = found.simulate(ahead, anchor="end", repetitions=count, rng=random)
        return np.asarray(drawn, dtype=np.float64).T

    return paths


def components(days: Days, logs: Floats, ahead: int, count: int, random: np.random.Generator) -> Floats:
    """Forecast by unobserved components: drifting level and slope, autocorrelated noise, weekdays, and ends of months."""
    coming = days[-1] + 1 + np.arange(ahead)
    used = _used(days)
    model = UnobservedComponents(logs, level="lltrend", autoregressive=1, exog=_dummies(days, used))
    found = model.fit(disp=False, maxiter=60)
    drawn = found.simulate(ahead, anchor="end", repetitions=count, exog=_dummies(coming, used), rng=random)
    return np.asarray(drawn, dtype=np.float64).reshape(ahead, count).T


def regression(days: Days, logs: Floats, ahead: int, count: int, random: np.random.Generator) -> Floats:
    """Forecast by robust regression on day, weekdays and month ends, with residuals drawn in blocks of two weeks.

    The coefficients are those of the history and of histories resampled from its residuals.
    """
    known = np.isfinite(logs)
    coming = days[-1] + 1 + np.arange(ahead)
    used = _used(days[known])
    now, later = _with_trend(days, days, used), _with_trend(coming, days, used)
    fitted = sm.RLM(logs[known], now[known]).fit()
    rest = np.asarray(fitted.resid)
    redrawn = 20
    drawn = []
    for _ in range(redrawn):
        noise = _blocks(rest, int(known.sum()), 1, random)[0]
        again = np.linalg.lstsq(now[known], now[known] @ fitted.params + noise, rcond=None)[0]
        drawn.append(later @ again + _blocks(rest, ahead, count // redrawn, random))
    return np.concatenate(drawn)


def _blocks(rest: Floats, length: int, count: int, random: np.random.Generator) -> Floats:
    blocks = -(-length // BLOCK_DAYS)
    begins = random.integers(0, max(len(rest) - BLOCK_DAYS, 1), (count, blocks))
    at = begins[:, :, None] + np.arange(BLOCK_DAYS)
    found: Floats = rest[np.minimum(at, len(rest) - 1)].reshape(count, -1)[:, :length]
    return found


def _used(days: Days) -> list[int]:
    """Return days of the month that occur at least three times."""
    seen = month_days(days)
    return [day for day in np.unique(seen).tolist() if day and int((seen == day).sum()) > 2]


def _dummies(days: Days, used: list[int]) -> Floats:
    weekday, month_day = weekdays(days), month_days(days)
    # Six columns for seven days: with all seven, the level would not be determined.
    columns = [(weekday == day) - 1 / WEEK for day in range(WEEK - 1)]
    columns += [(month_day == day).astype(np.float64) for day in used]
    return np.stack(columns, axis=1).astype(np.float64)


def _with_trend(days: Days, history: Days, used: list[int]) -> Floats:
    years = (days - history[-1]) / 365.25
    return np.concatenate([np.ones((len(days), 1)), years[:, None], _dummies(days, used)], axis=1)


CANDIDATES: dict[str, Candidate] = {
    "exponential smoothing": smoothing(damped=False),
    "exponential smoothing, damped": smoothing(damped=True),
    "unobserved components": components,
    "robust regression, blocks drawn": regression,
}


def candidate_paths(
    name: str, days: Days, peaks: Floats, *, ahead: int, count: int, random: np.random.Generator
) -> Floats:
    """Return paths of peaks by one of the candidates."""
    known = np.isfinite(peaks)
    days, peaks = days[known], peaks[known]
    days, peaks = days[peaks > 0], peaks[peaks > 0]
    logs = np.log(peaks)
    ordinary = ~usual_of(days, logs).exceptional
    every = np.arange(days[0], days[-1] + 1)
    series = np.full(len(every), np.nan)
    series[days[ordinary] - days[0]] = logs[ordinary]
    with warnings.catch_warnings():
        # Some histories do not converge; the scores show it, and hundreds of warnings would hide the table.
        warnings.simplefilter("ignore")
        drawn = CANDIDATES[name](every, series, ahead, count, random)
    # A diverging path must count as a bad forecast instead of overflowing to infinity.
    found: Floats = np.exp(np.minimum(np.nan_to_num(drawn, nan=0.0, posinf=LARGEST_LOG), LARGEST_LOG))
    return found
