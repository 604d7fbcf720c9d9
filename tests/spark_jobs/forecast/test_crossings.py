"""Days on which simulated paths pass a level."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spark_jobs.forecast.crossings import Ahead, History, crossing, day_quantiles, first_days
from spark_jobs.forecast.peaks import Level
from tests.spark_jobs.forecast.histories import MONDAY

QUIET = History(MONDAY + np.arange(50), np.full(50, 5.0), np.zeros(50, dtype=np.bool_), made_on=MONDAY + 49)


def test_first_days_returns_the_day_after_the_last_if_the_level_is_never_passed() -> None:
    paths = np.array([[1.0, 5.0, 9.0], [9.0, 1.0, 1.0], [1.0, 1.0, 1.0], [5.0, 5.0, 5.0]])
    assert first_days(paths, 5.0, reached=False).tolist() == [3, 1, 4, 4]
    assert first_days(paths, 5.0, reached=True).tolist() == [2, 1, 4, 1]


def test_interval_contains_80_percent_of_equally_likely_days() -> None:
    assert day_quantiles(np.arange(1, 101), 180) == (11, 50, 90)


def test_day_with_half_of_its_probability_inside_counts_as_inside() -> None:
    assert day_quantiles(np.array([1] * 8 + [2] * 2), 30) == (
        1,
        1,
        2,
    )  # half of the second day lies below 90 %


def test_cluster_of_days_counts_as_inside_if_at_least_half_of_it_is() -> None:
    # Ten in a hundred on day 7: their middle lies at 5 %, so the interval begins with the next lump.
    days = np.repeat([7, 14, 21, 28, 35], [10, 30, 30, 20, 10])
    assert day_quantiles(days, 180) == (14, 21, 28)
    # Their middle lies at 15 %: inside.
    days = np.repeat([7, 14, 21], [30, 40, 30])
    assert day_quantiles(days, 180) == (7, 14, 21)


@pytest.mark.parametrize(
    ("never", "expected"),
    [
        (0, (1, 1, 1)),
        (20, (1, 1, None)),
        (60, (1, None, None)),
        (91, (None, None, None)),
        (100, (None, None, None)),
    ],
)
def test_quantile_beyond_the_horizon_has_no_day(never: int, expected: tuple[int | None, ...]) -> None:
    days = np.repeat([1, 181], [100 - never, never])
    assert day_quantiles(days, 180) == expected


@given(
    arrays.arrays(np.int64, st.integers(1, 300), elements=st.integers(1, 31)),
)
def test_quantiles_are_ordered_with_those_within_the_horizon_first(days: np.ndarray) -> None:
    low, middle, high = day_quantiles(days, 30)
    found = [day for day in (low, middle, high) if day is not None]
    assert found == sorted(found)
    assert (low is None) <= (middle is None) <= (high is None)
    assert all(day in days for day in found)
    assert (middle is not None) == (np.mean(days <= 30) >= 0.5)


@given(
    arrays.arrays(np.float64, (20, 15), elements=st.floats(0, 100)),
    st.floats(0, 100),
    st.floats(0, 50),
)
def test_higher_level_is_never_passed_earlier(paths: np.ndarray, level: float, more: float) -> None:
    assert np.all(first_days(paths, level, reached=False) <= first_days(paths, level + more, reached=False))


def test_crossing_has_days_probability_and_usual_day() -> None:
    # Each path is 10 but for one day of 30: days 1 to 100. The median is above 20 from day 120 on.
    paths = np.full((100, 180), 10.0)
    paths[np.arange(100), np.arange(100)] = 30.0
    paths[:, 119:] = 25.0
    found = crossing(Level("85 %", 20.0), history=QUIET, ahead=Ahead(paths, None))
    assert (found.days.p10, found.days.p50, found.days.p90) == (11, 50, 90)
    assert found.usual_day == 120
    assert found.probability_within_horizon == 1
    assert found.state == "within"
    assert found.sentence == "85 % in 50 days, 80 % interval 11–90"  # noqa: RUF001


def test_exceptional_days_affect_only_their_probability() -> None:
    paths = np.full((100, 180), 10.0)
    spikes = paths.copy()
    spikes[:40, 3] = 99.0
    found = crossing(Level("85 %", 20.0), history=QUIET, ahead=Ahead(paths, spikes))
    assert found.probability_within_horizon == 0
    assert found.probability_with_exceptional_days == 0.4
    assert (found.state, found.days.p10) == ("beyond", None)
    assert found.sentence == "not expected to reach 85 % within 180 days"


@pytest.mark.parametrize(
    ("ago", "exceptional", "state"),
    [(0, False, "already_crossed"), (6, False, "already_crossed"), (7, False, "beyond"), (3, True, "beyond")],
)
def test_level_exceeded_on_an_ordinary_day_of_the_last_week_is_already_passed(
    ago: int, exceptional: bool, state: str
) -> None:
    peaks, flags = np.full(50, 5.0), np.zeros(50, dtype=np.bool_)
    peaks[49 - ago], flags[49 - ago] = 21.0, exceptional
    seen = History(MONDAY + np.arange(50), peaks, flags, made_on=MONDAY + 49)
    found = crossing(Level("85 %", 20.0), history=seen, ahead=Ahead(np.full((10, 180), 5.0), None))
    assert found.state == state
    assert found.days_crossed == 1
    assert found.last_crossed == date.fromordinal(MONDAY + 49 - ago)


def test_level_without_a_value_has_no_crossing() -> None:
    found = crossing(Level("SIZE", None), history=QUIET, ahead=Ahead(np.ones((2, 3)), None))
    assert (found.state, found.sentence) == ("no_limit", "SIZE: no limit known")
    assert found.probability_within_horizon is None
