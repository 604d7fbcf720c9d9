"""Compare forecasts with the peaks that were measured later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner_core.contracts.forecasts import CrossingScore, Score
from spark_jobs.forecast.baselines import last_value, seasonal_naive, straight_line
from spark_jobs.forecast.cleaning import exceptional_days
from spark_jobs.forecast.crossings import is_above
from spark_jobs.forecast.figures import NAMES, QUANTILES, rounded
from spark_jobs.forecast.sentences import days as in_days

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from planner_core.contracts.forecasts import Baselines, Crossing, Forecast
    from spark_jobs.forecast.peaks import DailyPeaks, Days, Peaks

    Floats = NDArray[np.float64]

RULES = ("last_value", "seasonal_naive", "straight_line")


def score(forecast: Forecast, actual_peaks: DailyPeaks, *, forecast_id: int = 0) -> Score:
    """Return the scores of a stored forecast against the peaks that were measured later.

    Args:
        forecast: The forecast.
        actual_peaks: The measured peaks. Days outside the horizon are not scored; days before it help to recognize
            exceptional days.
        forecast_id: The number under which the application stored the forecast.
    """
    made_on, horizon = forecast.made_on.toordinal(), forecast.horizon_days
    days, peaks = actual_peaks.measured()
    past = int(np.clip(int(days[-1]) - made_on, 0, horizon)) if len(days) else 0
    inside = (days > made_on) & (days <= made_on + horizon)
    count, complete = int(inside.sum()), past >= horizon
    if not count or not forecast.quantiles or forecast.baselines is None:
        no_forecast = "Nothing to score: no forecast was made."
        return Score(
            forecast_id=forecast_id,
            days_past=past,
            complete=complete,
            sentence="No day of the forecast has passed yet." if forecast.quantiles else no_forecast,
        )
    at = days[inside] - made_on - 1
    predicted = np.array([forecast.quantiles[name] for name in NAMES], dtype=np.float64)[:, at]
    actual = peaks[inside]
    error, loss = wape(actual, predicted[1]), pinball(actual, predicted)
    covered = float(((actual >= predicted[0]) & (actual <= predicted[2])).mean())
    rules = _rules(forecast.baselines, days[inside], actual, made_on)
    crossings = tuple(
        _crossing(each, days, peaks, made_on=made_on, past=past, horizon=horizon)
        for each in forecast.crossings
        if each.value is not None
    )
    return Score(
        forecast_id=forecast_id,
        days_scored=count,
        days_past=past,
        complete=complete,
        sentence=_sentence(count, error, covered, rules, crossings),
        wape=None if error is None else rounded(error),
        pinball=None if loss is None else rounded(loss),
        coverage80=rounded(covered),
        wape_of_rules={name: rounded(value) for name, value in rules.items()},
        crossings=crossings,
    )


def wape(actual: Floats, said: Floats) -> float | None:
    """Return the weighted absolute percentage error as a share; None if nothing was in use."""
    total = float(actual.sum())
    return float(np.abs(actual - said).sum()) / total if total else None


def pinball(actual: Floats, said: Floats) -> float | None:
    """Return the mean pinball loss of the quantiles, relative to the mean peak; None if nothing was in use."""
    mean = float(actual.mean())
    if not mean:
        return None
    levels = np.array(QUANTILES)[:, None]
    off = actual[None, :] - said
    return float(np.maximum(levels * off, (levels - 1) * off).mean()) / mean


def _rules(simple: Baselines, days: Days, actual: Peaks, made_on: int) -> dict[str, float]:
    predicted = (
        last_value(simple, days),
        seasonal_naive(simple, days),
        straight_line(simple, days, made_on=made_on),
    )
    errors = {name: wape(actual, each) for name, each in zip(RULES, predicted, strict=True)}
    return {name: error for name, error in errors.items() if error is not None}


def first_crossing(
    days: Days, peaks: Peaks, *, value: float, reached: bool, made_on: int, horizon: int
) -> int | None:
    """Return the days from `made_on` to the first ordinary day above a level, within the horizon."""
    inside = (days > made_on) & (days <= made_on + horizon)
    above = inside & is_above(peaks, value, reached=reached)
    if above.any():
        # The forecast is of ordinary days, so an exceptional one must not count as a hit or a miss.
        above &= ~exceptional_days(days, peaks)
    return int(days[above][0]) - made_on if above.any() else None


def _crossing(
    said: Crossing, days: Days, peaks: Peaks, *, made_on: int, past: int, horizon: int
) -> CrossingScore:
    value = said.value or 0.0
    actual = first_crossing(days, peaks, value=value, reached=said.reached, made_on=made_on, horizon=horizon)
    low, middle, high = said.days.p10, said.days.p50, said.days.p90
    error = None if actual is None or middle is None else middle - actual
    return CrossingScore(said.level, middle, actual, error, _is_inside(low, high, actual, past, horizon))


def _is_inside(low: int | None, high: int | None, actual: int | None, past: int, horizon: int) -> bool | None:
    """Return whether the crossing was in the interval; None while this is undecided."""
    beyond = horizon + 1
    begins, ends = (beyond if low is None else low), (beyond if high is None else high)
    if actual is not None:
        return begins <= actual <= ends
    if past >= ends and ends <= horizon:
        return False
    return ends == beyond if past >= horizon else None


def _sentence(
    days_scored: int,
    error: float | None,
    covered: float,
    rules: Mapping[str, float],
    crossings: Iterable[CrossingScore],
) -> str:
    parts = [f"Over {in_days(days_scored)}"]
    if error is None:
        parts.append("nothing was in use")
    else:
        parts.append(f"off by {100 * error:.1f} % of the peaks on average")
    parts.append(f"{100 * covered:.0f} % of the days in the 80 % interval")
    if error is not None and rules:
        best = min(rules, key=lambda name: rules[name])
        verb = "better" if error < rules[best] else "worse"
        parts.append(
            f"{verb} than the best simple rule ({best.replace('_', ' ')}, {100 * rules[best]:.1f} %)"
        )
    sentence = ", ".join(parts) + "."
    for crossing in crossings:
        if crossing.actual is not None:
            said = "beyond the horizon" if crossing.predicted is None else f"in {in_days(crossing.predicted)}"
            sentence += (
                f" {crossing.level} was passed after {in_days(crossing.actual)}; the forecast was {said}."
            )
    return sentence
