"""What happened, held against what was said."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spark_jobs.forecast.baselines import last_value, seasonal_naive, straight_line
from spark_jobs.forecast.cleaning import exceptional_days
from spark_jobs.forecast.crossings import is_above
from spark_jobs.forecast.result import NAMES, QUANTILES, Baselines, rounded
from spark_jobs.forecast.sentences import days as in_days

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import DailyPeaks, Days, Peaks

    Floats = NDArray[np.float64]

RULES = ("last_value", "seasonal_naive", "straight_line")


@dataclass(frozen=True, slots=True)
class CrossingScore:
    """One level: what was said and what came."""

    level: str
    predicted: int | None
    """p50, in days from the day the forecast was made on."""
    actual: int | None
    """The first ordinary day above the level; None: not so far."""
    error_days: int | None
    """How much later it was predicted than it came; None unless both are within the horizon."""
    in_interval: bool | None
    """Whether it came between p10 and p90; None: too early to tell."""

    def as_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "level": self.level,
            "predicted": self.predicted,
            "actual": self.actual,
            "error_days": self.error_days,
            "in_interval": self.in_interval,
        }


@dataclass(frozen=True, slots=True)
class Score:
    """How good a forecast was, as far as its days are past."""

    days_scored: int
    days_past: int
    """Days of the horizon up to the last measured one, measured or not."""
    complete: bool
    """Whether the whole horizon is past."""
    sentence: str
    wape: float | None = None
    """Sum of the absolute errors of p50 over the sum of the peaks."""
    pinball: float | None = None
    """Mean pinball loss of p10, p50 and p90 over the mean peak."""
    coverage80: float | None = None
    """Share of the days between p10 and p90."""
    wape_of_rules: tuple[tuple[str, float], ...] = ()
    """The same figure for the simplest rules."""
    crossings: tuple[CrossingScore, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "days_scored": self.days_scored,
            "days_past": self.days_past,
            "complete": self.complete,
            "sentence": self.sentence,
            "wape": rounded(self.wape),
            "pinball": rounded(self.pinball),
            "coverage80": rounded(self.coverage80),
            "wape_of_rules": {name: rounded(value) for name, value in self.wape_of_rules},
            "crossings": [crossing.as_json() for crossing in self.crossings],
        }


def score(forecast_json: Mapping[str, Any], actual_peaks: DailyPeaks) -> Score:
    """A stored forecast against the peaks that were measured since.

    Args:
        forecast_json: What `Forecast.as_json` gave.
        actual_peaks: What was measured; days outside the horizon are passed over, days before it help to tell what is
            exceptional.
    """
    made_on = dt.date.fromisoformat(forecast_json["made_on"]).toordinal()
    horizon = int(forecast_json["horizon_days"])
    days, peaks = actual_peaks.measured()
    past = int(np.clip(int(days[-1]) - made_on, 0, horizon)) if len(days) else 0
    inside = (days > made_on) & (days <= made_on + horizon)
    count, complete = int(inside.sum()), past >= horizon
    quantiles = forecast_json["quantiles"]
    if not count or not quantiles:
        sentence = "Nothing to score: no forecast was made." if not quantiles else "No day of it is past yet."
        return Score(0, past, complete, sentence)
    at = days[inside] - made_on - 1
    said = np.array([quantiles[name] for name in NAMES], dtype=np.float64)[:, at]
    actual = peaks[inside]
    crossings = tuple(
        _crossing(each, days, peaks, made_on=made_on, past=past, horizon=horizon)
        for each in forecast_json["crossings"]
        if each["value"] is not None
    )
    error, rules = wape(actual, said[1]), _rules(forecast_json["baselines"], days[inside], actual, made_on)
    covered = float(((actual >= said[0]) & (actual <= said[2])).mean())
    found = Score(
        days_scored=count,
        days_past=past,
        complete=complete,
        sentence="",
        wape=error,
        pinball=pinball(actual, said),
        coverage80=covered,
        wape_of_rules=rules,
        crossings=crossings,
    )
    return _with_sentence(found)


def wape(actual: Floats, said: Floats) -> float | None:
    """Weighted absolute percentage error as a share; None where nothing was in use."""
    total = float(actual.sum())
    return float(np.abs(actual - said).sum()) / total if total else None


def pinball(actual: Floats, said: Floats) -> float | None:
    """Mean pinball loss of the quantiles (rows of `said`), relative to the mean peak; None where nothing was in use."""
    mean = float(actual.mean())
    if not mean:
        return None
    levels = np.array(QUANTILES)[:, None]
    off = actual[None, :] - said
    return float(np.maximum(levels * off, (levels - 1) * off).mean()) / mean


def _rules(
    found: Mapping[str, Any], days: Days, actual: Peaks, made_on: int
) -> tuple[tuple[str, float], ...]:
    line = found["line"]
    simple = Baselines(found["last_value"], tuple(found["last_week"]), line["at_made_on"], line["per_day"])
    said = (
        last_value(simple, days),
        seasonal_naive(simple, days),
        straight_line(simple, days, made_on=made_on),
    )
    errors = [(name, wape(actual, each)) for name, each in zip(RULES, said, strict=True)]
    return tuple((name, error) for name, error in errors if error is not None)


def first_crossing(
    days: Days, peaks: Peaks, *, value: float, reached: bool, made_on: int, horizon: int
) -> int | None:
    """Days from `made_on` to the first ordinary day above a level, within the horizon."""
    inside = (days > made_on) & (days <= made_on + horizon)
    above = inside & is_above(peaks, value, reached=reached)
    if above.any():
        above &= ~exceptional_days(days, peaks)
    return int(days[above][0]) - made_on if above.any() else None


def _crossing(
    said: Mapping[str, Any], days: Days, peaks: Peaks, *, made_on: int, past: int, horizon: int
) -> CrossingScore:
    actual = first_crossing(
        days,
        peaks,
        value=float(said["value"]),
        reached=bool(said["reached"]),
        made_on=made_on,
        horizon=horizon,
    )
    low, middle, high = (said["days"][name] for name in NAMES)
    error = None if actual is None or middle is None else middle - actual
    return CrossingScore(said["level"], middle, actual, error, _is_inside(low, high, actual, past, horizon))


def _is_inside(low: int | None, high: int | None, actual: int | None, past: int, horizon: int) -> bool | None:
    """Whether it came in the interval; None while it has neither come nor failed to come."""
    beyond = horizon + 1
    begins, ends = (beyond if low is None else low), (beyond if high is None else high)
    if actual is not None:
        return begins <= actual <= ends
    if past >= ends and ends <= horizon:
        return False
    return ends == beyond if past >= horizon else None


def _with_sentence(found: Score) -> Score:
    parts = [f"Over {in_days(found.days_scored)}"]
    if found.wape is None:
        parts.append("nothing was in use")
    else:
        parts.append(f"off by {100 * found.wape:.1f} % of the peaks on average")
    parts.append(f"{100 * (found.coverage80 or 0):.0f} % of the days in the 80 % interval")
    rules = dict(found.wape_of_rules)
    if found.wape is not None and rules:
        best = min(rules, key=lambda name: rules[name])
        verb = "better" if found.wape < rules[best] else "worse"
        parts.append(
            f"{verb} than the best simple rule ({best.replace('_', ' ')}, {100 * rules[best]:.1f} %)"
        )
    told = ", ".join(parts) + "."
    for crossing in found.crossings:
        if crossing.actual is not None:
            said = "beyond the horizon" if crossing.predicted is None else f"in {in_days(crossing.predicted)}"
            told += f" {crossing.level} came after {in_days(crossing.actual)}; predicted {said}."
    return replace(found, sentence=told)


__all__ = ["CrossingScore", "Score", "first_crossing", "pinball", "score", "wape"]
