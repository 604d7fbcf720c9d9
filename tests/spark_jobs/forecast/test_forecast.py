"""Forecasts of all kinds of histories."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.contracts.files import plain
from spark_jobs.forecast import LEAST_DAYS, Forecast, Level, Resize, forecast
from spark_jobs.forecast.paths import with_empty_days, with_episodes
from tests.spark_jobs.forecast.histories import MONDAY, busy, history

LEVELS = (Level("70 %", 1400.0), Level("85 %", 1700.0), Level("SIZE", 2000.0, reached=True))


def forecast_of(peaks: object, *, levels: tuple[Level, ...] = LEVELS, **options: object) -> Forecast:
    return forecast(history(peaks), levels=levels, **options)  # type: ignore[arg-type]


def finite(found: object) -> bool:
    """Return whether every number in it is finite."""
    if isinstance(found, dict):
        return all(finite(value) for value in found.values())
    if isinstance(found, list):
        return all(finite(value) for value in found)
    return not isinstance(found, float) or math.isfinite(found)


def test_growing_structure_passes_levels_in_order() -> None:
    found = forecast_of(busy(270, level=700, growth=0.002))
    assert found.state == "forecast"
    days = [crossing.days.p50 for crossing in found.crossings]
    assert all(day is not None for day in days[:2])
    assert sorted(day or 999 for day in days) == [day or 999 for day in days]
    for crossing in found.crossings:
        for low, high in ((crossing.days.p10, crossing.days.p50), (crossing.days.p50, crossing.days.p90)):
            assert high is None or (low is not None and low <= high)
    assert found.growth_per_30_days is not None
    assert found.growth_per_30_days["p50"] == pytest.approx(math.expm1(0.06), abs=0.02)
    assert found.sentence.startswith(found.crossings[0].sentence)


def test_forecast_is_json_with_all_values_for_pages_and_scores() -> None:
    found = plain(forecast_of(busy(120, growth=0.002), horizon_days=90))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {name: len(values) for name, values in found["quantiles"].items()} == {
        "p10": 90,
        "p50": 90,
        "p90": 90,
    }
    assert found["made_on"] == "2026-05-04"
    first = found["crossings"][0]
    assert first["dates"]["p50"] > found["made_on"]
    assert len(found["baselines"]["last_week"]) == 7
    low, middle, high = (np.array(found["quantiles"][name]) for name in ("p10", "p50", "p90"))
    assert np.all(low <= middle)
    assert np.all(middle <= high)


def test_forecast_is_the_same_in_another_process() -> None:
    peaks = busy(100, growth=0.003)
    here = json.dumps(plain(forecast_of(peaks, seed=3)))
    program = (
        "import json; from planner_core.contracts.files import plain; from tests.spark_jobs.forecast.test_forecast import forecast_of, busy;"
        "print(json.dumps(plain(forecast_of(busy(100, growth=0.003), seed=3))))"
    )
    there = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert there.strip() == here
    assert json.dumps(plain(forecast_of(peaks, seed=4))) != here


def test_forecast_and_global_random_numbers_are_independent() -> None:
    np.random.seed(1)
    before = plain(forecast_of(busy(100)))
    state = np.random.get_state()[1].copy()  # type: ignore[index]
    assert plain(forecast_of(busy(100))) == before
    assert np.array_equal(np.random.get_state()[1], state)  # type: ignore[index]


def test_forecast_does_not_depend_on_the_order_of_days() -> None:
    peaks = busy(100, growth=0.003)
    order = np.random.default_rng(1).permutation(100)
    shuffled = history(peaks[order], days=MONDAY + order)
    assert plain(forecast(shuffled, levels=LEVELS)) == plain(forecast_of(peaks))


def test_days_without_a_peak_are_not_reported_as_without_usage() -> None:
    assert forecast_of([np.nan] * 3).sentence == "No full day was measured."


def test_unmeasured_days_are_treated_like_missing_days() -> None:
    peaks = busy(120)
    peaks[[5, 50, 51]] = np.nan
    known = np.isfinite(peaks)
    named = history(peaks[known], days=MONDAY + np.flatnonzero(known))
    assert plain(forecast(named, levels=LEVELS)) == plain(forecast_of(peaks))


@pytest.mark.parametrize("days", [0, 1, LEAST_DAYS - 1])
def test_short_history_has_no_forecast(days: int) -> None:
    found = forecast_of([1500.0] * days + [np.nan] * 3)
    assert found.state == ("too_short" if days else "not_measured")
    assert not found.quantiles
    assert found.crossings[0].days.p50 is None
    assert found.crossings[0].state == ("already_crossed" if days else "no_forecast")
    assert finite(plain(found))


def test_six_weeks_are_sufficient_for_a_forecast() -> None:
    assert forecast_of(busy(LEAST_DAYS)).state == "forecast"


def test_empty_days_before_the_first_use_do_not_count_as_history() -> None:
    short = forecast_of(np.concatenate([np.zeros(100), busy(LEAST_DAYS - 2)]))
    assert short.state == "too_short"
    assert "since its first use" in short.sentence
    long = forecast_of(np.concatenate([np.zeros(300), busy(60, growth=0.01)]))
    assert long.state == "forecast"
    assert long.growth_per_30_days is not None
    assert long.growth_per_30_days["p50"] > 0.15


def test_structure_that_is_no_longer_measured_has_no_forecast() -> None:
    found = forecast_of(busy(100), made_on=MONDAY + 99 + 46)
    assert found.state == "out_of_date"
    assert "46 days ago" in found.sentence


def test_forecast_days_are_counted_from_made_on() -> None:
    peaks = busy(200, growth=0.004, noise=0.02)
    early, late = forecast_of(peaks), forecast_of(peaks, made_on=MONDAY + 199 + 21)
    assert len(late.quantiles["p50"]) == 180
    assert early.quantiles["p50"][30] == pytest.approx(late.quantiles["p50"][9], rel=0.05)
    top = Level("x", 4000.0)
    earlier, later = (
        forecast_of(peaks, levels=(top,), made_on=MONDAY + day).crossings[0].days.p50 for day in (199, 220)
    )
    assert earlier is not None
    assert later is not None
    assert abs(earlier - 21 - later) <= 7


def test_peaks_after_made_on_are_ignored() -> None:
    peaks = busy(200)
    other = peaks.copy()
    other[150:] *= 9
    made_on = MONDAY + 149
    assert plain(forecast_of(peaks, made_on=made_on)) == plain(forecast_of(other, made_on=made_on))


@pytest.mark.parametrize("value", [0.0, 1500.0])
def test_constant_peaks_give_a_flat_forecast(value: float) -> None:
    found = forecast_of([value] * 60)
    assert found.state == "flat"
    assert found.sentence.endswith(" on all 60 days measured, with no sign of change.")
    assert set(found.quantiles["p90"]) == {value}
    assert [crossing.state for crossing in found.crossings] == (
        ["beyond"] * 3 if not value else ["already_crossed", "beyond", "beyond"]
    )


def test_identical_weeks_are_forecast_unchanged() -> None:
    week = [100.0, 110, 120, 130, 140, 50, 0]
    found = forecast_of(week * 12, levels=(Level("no", 150.0), Level("yes", 135.0)))
    assert np.abs(np.array(found.quantiles["p50"][:7]) - week).max() < 3
    no, yes = found.crossings
    assert no.state == "beyond"
    assert yes.state == "already_crossed"
    assert yes.days.p50 == 5


def test_history_of_one_weekday_gives_moderate_forecasts_for_the_others() -> None:
    days = MONDAY + 7 * np.arange(60)
    peaks = 1000 * np.exp(np.random.default_rng(1).normal(0, 0.05, 60))
    found = forecast(history(peaks, days=days), levels=LEVELS)
    assert found.state == "forecast"
    assert found.highest is not None
    assert found.highest["p50"] < 1500


def test_shrinking_structure_passes_no_level_and_stays_above_zero() -> None:
    found = forecast_of(busy(200, growth=-0.02))
    assert {crossing.state for crossing in found.crossings} == {"beyond"}
    assert found.growth_per_30_days is not None
    assert found.growth_per_30_days["p90"] < 0
    assert min(found.quantiles["p10"]) >= 0


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e9, 1e15])
def test_forecast_does_not_depend_on_the_unit(factor: float) -> None:
    peaks = busy(120, growth=0.003)
    usual = forecast_of(peaks)
    scaled = tuple(Level(level.name, (level.value or 0) * factor, level.reached) for level in LEVELS)
    found = forecast_of(peaks * factor, levels=scaled)
    for one, two in zip(usual.crossings, found.crossings, strict=True):
        pairs = [(one.days.p10, two.days.p10), (one.days.p50, two.days.p50), (one.days.p90, two.days.p90)]
        assert [a is None for a, _ in pairs] == [b is None for _, b in pairs]
        assert all(abs(a - b) <= 1 for a, b in pairs if a is not None and b is not None)


def test_usage_known_only_in_percent_can_be_forecast() -> None:
    peaks = history(busy(200, level=40.0, growth=0.003), unit="percent")
    found = forecast(peaks, levels=[Level("85 %", 85.0)])
    assert found.unit == "percent"
    assert found.crossings[0].days.p50 is not None


def test_mostly_empty_structure_has_no_growth() -> None:
    peaks = np.zeros(200)
    peaks[10::20] = 1000 + np.arange(10)
    found = forecast_of(peaks, levels=(Level("above", 1005.0), Level("never", 2000.0)))
    assert found.model == "weeks drawn from the past"
    above, never = found.crossings
    assert above.days.p50 is not None
    assert never.state == "beyond"


def test_occasional_empty_days_do_not_disturb_the_forecast() -> None:
    peaks = busy(200)
    peaks[np.random.default_rng(5).permutation(200)[:60]] = 0
    found = forecast_of(peaks, levels=(Level("far", 5000.0),))
    assert found.state == "forecast"
    assert finite(plain(found))
    assert found.highest is not None
    assert found.highest["p50"] < 1500
    assert found.quantiles["p10"][0] == 0


def test_structure_out_of_use_stays_empty() -> None:
    found = forecast_of(np.concatenate([busy(150), np.zeros(40)]))
    assert found.state == "forecast"
    assert found.crossings[1].state == "beyond"
    assert np.median(found.quantiles["p50"]) < 300


def test_backlogs_change_only_the_probability_that_includes_them() -> None:
    peaks = busy(300)
    clean = forecast_of(peaks)
    for day in (60, 150, 240):
        peaks[day] = 2600
    found = forecast_of(peaks)
    assert found.crossings[1].state == clean.crossings[1].state == "beyond"
    assert found.crossings[1].probability_within_horizon == pytest.approx(0, abs=0.01)
    chance = found.crossings[1].probability_with_exceptional_days
    assert chance is not None
    # Three in 300 days: 1.8 are to be expected in 180 days, so at least one comes with 1 - e^-1.8 = 83 %.
    assert 0.65 < chance < 0.95
    assert found.crossings[1].days_crossed == 3
    assert any("3 unusual days" in note for note in found.notes)


def test_exceptional_days_are_as_frequent_and_high_as_in_the_history() -> None:
    excess = np.zeros(100)
    excess[[10, 11, 50]] = np.log([3.0, 2.0, 5.0])
    paths = np.full((4000, 100), 10.0)
    found = with_episodes(paths, excess, span_days=100, random=np.random.default_rng(1))
    assert found is not None
    assert np.all(found >= paths)
    # Two episodes seen in 100 days: rates of 2.5 on average, of one and of two days alike.
    assert (found > 12).sum(axis=1).mean() == pytest.approx(2.5 * 1.5, rel=0.1)
    # Half of them are five times as high: none comes with (1 + 1/2) to the power of -2.5.
    assert (found > 40).any(axis=1).mean() == pytest.approx(1 - 1.5**-2.5, abs=0.03)
    assert with_episodes(paths, -excess, span_days=100, random=np.random.default_rng(1)) is None


def test_weekdays_are_empty_as_often_as_in_the_history() -> None:
    days = MONDAY + np.arange(70)
    empty = days % 7 == (MONDAY + 5) % 7
    empty[14 + np.array([1, 15, 29, 43])] = True  # every other Tuesday of the last eight weeks
    found = with_empty_days(
        np.ones((2000, 14)), days=days, empty=empty, first=MONDAY + 70, random=np.random.default_rng(1)
    )
    assert found.mean(axis=0)[:7] == pytest.approx([1, 0.5, 1, 1, 1, 0, 1], abs=0.05)
    assert found.mean(axis=0)[7:] == pytest.approx([1, 0.5, 1, 1, 1, 0, 1], abs=0.05)


def test_resize_multiplies_levels_and_delays_crossings() -> None:
    found = forecast_of(busy(270, growth=0.003), resizes=(Resize("double", 2.0), Resize("half", 0.5)))
    double, half = found.resizes
    assert [crossing.value for crossing in double.crossings] == [2800, 3400, 4000]
    for usual, larger in zip(found.crossings, double.crossings, strict=True):
        assert (usual.days.p50 or 999) <= (larger.days.p50 or 999)
    assert half.crossings[0].state == "already_crossed"
    assert double.sentence.startswith("double: 70 % ")
    direct = forecast_of(busy(270, growth=0.003), levels=(Level("85 %", 3400.0),))
    assert direct.crossings[0].days.p50 == double.crossings[1].days.p50


def test_growth_is_stated_even_without_a_limit() -> None:
    found = forecast_of(busy(100), levels=(Level("SIZE", None, reached=True),))
    assert found.sentence.startswith("No limit is known.")
    assert found.resizes == ()
    assert forecast_of(busy(100), levels=()).sentence.startswith("No limit is known.")


def test_repeated_day_and_invalid_horizon_are_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        history([1.0, 2.0], days=[MONDAY, MONDAY])
    with pytest.raises(ValueError, match="one peak for each day"):
        history([1.0, 2.0], days=[MONDAY])
    with pytest.raises(ValueError, match="at least 1"):
        forecast_of(busy(100), horizon_days=0)


def test_horizons_of_a_day_and_of_two_years_are_accepted() -> None:
    assert len(forecast_of(busy(100), horizon_days=1).quantiles["p50"]) == 1
    assert len(forecast_of(busy(100), horizon_days=730).quantiles["p50"]) == 730


WILD = st.one_of(
    st.just(math.nan),
    st.just(math.inf),
    st.just(-1.0),
    st.just(0.0),
    st.floats(0, 1e12),
    st.integers(0, 5).map(float),
)


@settings(max_examples=40)
@given(st.lists(WILD, min_size=0, max_size=70))
def test_any_history_gives_finite_figures(peaks: list[float]) -> None:
    found = plain(forecast_of(peaks, paths=20, horizon_days=30))
    assert finite(found)
    assert found["sentence"]
    json.dumps(found, allow_nan=False)
