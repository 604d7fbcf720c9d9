"""Comparison of forecasts with later measurements: figures calculated by hand."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner_core.contracts.files import parsed, parsed_text, plain
from planner_core.contracts.forecasts import Forecast, QuantileDays
from spark_jobs.forecast import DailyPeaks, Level, forecast, score
from spark_jobs.forecast.figures import rounded
from spark_jobs.forecast.scoring import pinball, wape
from tests.spark_jobs.forecast.histories import MONDAY, busy, history

MADE_ON = MONDAY + 69


def stored(**changed: object) -> Forecast:
    """Return a forecast of ten days: 90, 100 and 110 every day, 85 % (105) on day 4 with an interval from 2 to 8."""
    found: dict[str, Any] = {
        "qsg": "SQ03",
        "structure": "APP1",
        "measure": "entries",
        "state": "forecast",
        "made_on": dt.date.fromordinal(MADE_ON).isoformat(),
        "horizon_days": 10,
        "quantiles": {"p10": [90.0] * 10, "p50": [100.0] * 10, "p90": [110.0] * 10},
        "crossings": [
            {
                "level": "85 %",
                "state": "within",
                "sentence": "",
                "value": 105.0,
                "reached": False,
                "days": {"p10": 2, "p50": 4, "p90": 8},
            },
            {
                "level": "SIZE",
                "state": "no_limit",
                "sentence": "",
                "value": None,
                "reached": True,
                "days": {"p10": None, "p50": None, "p90": None},
            },
        ],
        "baselines": {
            "last_value": 120.0,
            "last_week": [100.0, 110, 100, 100, 100, 100, 100],
            "line": {"at_made_on": 100.0, "per_day": 10.0},
        },
    }
    return parsed(Forecast, found | changed)


def actual(*peaks: float) -> DailyPeaks:
    """Return the peaks of the days after the forecast."""
    return history(np.array(peaks), first=MADE_ON + 1)


def test_score_covers_the_past_days() -> None:
    # A Monday to a Wednesday; off by 0, 20, 5 of 325.
    found = score(stored(), actual(100, 120, 105))
    assert (found.days_scored, found.days_past, found.complete) == (3, 3, False)
    assert found.wape == rounded(25 / 325)
    # p10 90: 0.1 x (10 + 30 + 15) = 5.5; p50: 0.5 x 25 = 12.5; p90 110: 0.1 x (10 + 5) + 0.9 x 10 = 10.5.
    assert found.pinball == rounded((5.5 + 12.5 + 10.5) / 9 / (325 / 3))
    assert found.coverage80 == rounded(2 / 3)
    rules = dict(found.wape_of_rules)
    assert rules["last_value"] == rounded((20 + 0 + 15) / 325)
    assert rules["seasonal_naive"] == rounded((0 + 10 + 5) / 325)
    assert rules["straight_line"] == rounded((10 + 0 + 25) / 325)
    assert "worse than the best simple rule (seasonal naive, 4.6 %)" in found.sentence
    assert found.sentence.startswith("Over 3 days, off by 7.7 % of the peaks on average")


def test_score_ignores_unmeasured_days_and_days_outside_the_horizon() -> None:
    days = MADE_ON + np.array([-3, 0, 2, 11, 30])
    found = score(stored(), history(np.array([1e9, 1e9, 100.0, 1e9, 1e9]), days=days))
    assert (found.days_scored, found.days_past, found.complete) == (1, 10, True)
    assert found.wape == 0


@pytest.mark.parametrize(
    ("peaks", "came", "error", "inside"),
    [
        ([100, 100, 100, 106], 4, 0, True),
        ([106], 1, 3, False),
        ([100, 106], 2, 2, True),
        ([100] * 7 + [106], 8, -4, True),
        ([100] * 8 + [106], 9, -5, False),
        ([100] * 7, None, None, None),
        ([100] * 8, None, None, False),
        ([105] * 4 + [105.5], 5, -1, True),
    ],
)
def test_crossing_is_compared_with_its_actual_day(
    peaks: list[float], came: int | None, error: int | None, inside: bool | None
) -> None:
    (found,) = score(stored(), actual(*peaks)).crossings
    assert (found.level, found.predicted) == ("85 %", 4)
    assert (found.actual, found.error_days, found.in_interval) == (came, error, inside)


@pytest.mark.parametrize(
    ("days", "peaks", "inside"),
    [
        ((2, 4, None), [100] * 9, None),
        ((2, 4, None), [100] * 10, True),
        ((2, 4, None), [106], False),
        ((None, None, None), [100] * 10, True),
        ((None, None, None), [100] * 9 + [106], False),
    ],
)
def test_forecast_beyond_the_horizon_is_correct_once_the_horizon_has_passed(
    days: tuple[int | None, ...], peaks: list[float], inside: bool | None
) -> None:
    first, *others = stored().crossings
    crossings = (replace(first, days=QuantileDays(*days)), *others)
    (found,) = score(replace(stored(), crossings=crossings), actual(*peaks)).crossings
    assert found.in_interval is inside


def test_backlog_does_not_count_as_a_crossing() -> None:
    peaks = busy(80, level=90, weekend=1.0, noise=0.01)
    peaks[72] = 400
    (found,) = score(stored(), history(peaks)).crossings
    assert found.actual is None
    peaks[76:] = 106
    (found,) = score(stored(), history(peaks)).crossings
    assert found.actual == 7


def test_score_is_empty_before_the_first_day_or_without_a_forecast() -> None:
    early = score(stored(), history(np.full(5, 1.0)))
    assert (early.days_scored, early.wape, early.sentence) == (
        0,
        None,
        "No day of the forecast has passed yet.",
    )
    none = score(stored(quantiles={}), actual(1.0))
    assert none.sentence == "Nothing to score: no forecast was made."
    assert score(stored(), history(np.array([]))).days_past == 0


def test_score_without_usage_has_no_percentage_error() -> None:
    found = score(stored(), actual(0.0, 0.0))
    assert (found.wape, found.pinball, found.wape_of_rules) == (None, None, {})
    assert "nothing was in use" in found.sentence
    assert wape(np.zeros(2), np.ones(2)) is None
    assert pinball(np.zeros(2), np.ones((3, 2))) is None


def test_stored_forecast_can_be_scored() -> None:
    peaks = busy(200, level=700, growth=0.003)
    made = forecast(
        history(peaks[:120]), levels=[Level("85 %", 1150.0), Level("far", 9e9)], horizon_days=60, seed=1
    )
    found = score(parsed_text(Forecast, json.dumps(plain(made))), history(peaks))
    assert found.complete
    assert found.days_scored == 60
    assert found.wape is not None
    assert found.wape < min(found.wape_of_rules.values())
    assert "better than the best simple rule" in found.sentence
    near, far = found.crossings
    assert near.in_interval is True
    assert (far.actual, far.in_interval) == (None, True)
    first = int(np.flatnonzero(peaks[120:] > 1150)[0]) + 1
    assert near.actual == first
    assert f"85 % was passed after {first} days; the forecast was in {near.predicted} days." in found.sentence
    assert json.loads(json.dumps(plain(found), allow_nan=False)) == plain(found)


def test_forecast_without_paths_has_no_score() -> None:
    made = forecast(history(busy(20)), levels=[Level("85 %", 100.0)])
    assert score(made, history(busy(60))).days_scored == 0


def test_structure_with_all_elements_in_use_counts_as_full() -> None:
    """Levels are stored exactly: a level rounded up would never be reached."""
    total = 3_438_366
    peaks = history(np.linspace(0.5, 0.9, 70) * total, first=MADE_ON - 69)
    found = forecast(peaks, levels=[Level("SIZE", total, reached=True)], horizon_days=30, seed=1)
    said = parsed_text(Forecast, json.dumps(plain(found)))
    assert said.crossings[0].value == total
    came = history(np.full(30, float(total)), first=found.made_on.toordinal() + 1)
    assert score(said, came).crossings[0].actual == 1
