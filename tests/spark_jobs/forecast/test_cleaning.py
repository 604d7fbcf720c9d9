"""Separation of ordinary from exceptional days."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from spark_jobs.forecast.calendar import month_days, weekdays
from spark_jobs.forecast.cleaning import empty_days, episodes, exceptional_days, since_first_use, usual_of
from tests.spark_jobs.forecast.histories import MONDAY, busy


def test_weekdays_match_the_calendar() -> None:
    days = MONDAY + np.arange(400)
    assert weekdays(days).tolist() == [dt.date.fromordinal(day).weekday() for day in days.tolist()]


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026-01-28", 0), ("2026-01-29", -3), ("2026-01-31", -1), ("2026-02-01", 1), ("2026-02-02", 2), ("2026-02-03", 0),
        ("2028-02-29", -1), ("2028-02-28", -2), ("2026-02-28", -1), ("2026-12-31", -1), ("2027-01-01", 1),
    ],
)  # fmt: skip
def test_days_around_the_end_of_a_month_are_numbered(date: str, expected: int) -> None:
    assert month_days(np.array([dt.date.fromisoformat(date).toordinal()])).tolist() == [expected]


def test_backlogs_are_exceptional_and_busy_days_are_not() -> None:
    peaks = busy(200)
    peaks[50:52] *= 3
    peaks[130] *= 0.1
    days = MONDAY + np.arange(200)
    found = usual_of(days, np.log(peaks))
    assert np.flatnonzero(found.exceptional).tolist() == [50, 51, 130]
    assert found.excess[50] == pytest.approx(np.log(3), abs=0.25)
    assert found.excess[130] == pytest.approx(np.log(0.1), abs=0.25)
    assert found.deviation == pytest.approx(0.05, rel=0.3)


def test_quiet_weekends_and_busy_month_ends_are_usual() -> None:
    days = MONDAY + np.arange(300)
    peaks = busy(300, noise=0.01, weekend=0.05) * np.where(np.isin(month_days(days), (-1, 1)), 1.6, 1.0)
    assert not usual_of(days, np.log(peaks)).exceptional.any()


def test_deviation_longer_than_a_week_becomes_usual() -> None:
    days = MONDAY + np.arange(200)
    for length, exceptional in ((5, 5), (9, 0)):
        peaks = busy(200)
        peaks[100 : 100 + length] *= 3
        assert int(usual_of(days, np.log(peaks)).exceptional.sum()) == exceptional, length


def test_new_level_and_growth_are_not_exceptional() -> None:
    peaks = busy(200, growth=0.01)
    peaks[90:] *= 2.5
    assert usual_of(MONDAY + np.arange(200), np.log(peaks)).exceptional.mean() < 0.02


def test_no_day_is_exceptional_if_many_days_are_far_from_usual() -> None:
    peaks = busy(200)
    peaks[np.random.default_rng(3).permutation(200)[:60]] *= 20
    found = usual_of(MONDAY + np.arange(200), np.log(peaks))
    assert not found.exceptional.any()
    assert not found.excess.any()


def test_fewer_than_three_weeks_have_no_exceptional_days() -> None:
    peaks = busy(20)
    peaks[10] *= 50
    assert not usual_of(MONDAY + np.arange(20), np.log(peaks)).exceptional.any()


def test_episodes_returns_runs_of_days() -> None:
    assert episodes(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert episodes(np.zeros(3, dtype=np.bool_)) == []


def test_nearly_empty_day_is_empty_and_not_exceptional() -> None:
    peaks = busy(100)
    peaks[[3, 50]] = 0.0, 5.0
    peaks[60] *= 5
    assert np.flatnonzero(empty_days(peaks)).tolist() == [3, 50]
    assert np.flatnonzero(exceptional_days(MONDAY + np.arange(100), peaks)).tolist() == [60]
    assert empty_days(np.zeros(3)).all()
    assert not exceptional_days(MONDAY + np.arange(30), np.zeros(30)).any()


def test_empty_days_before_the_first_use_are_dropped() -> None:
    days, peaks = since_first_use(np.arange(5), np.array([0.0, 0.0, 3.0, 0.0, 2.0]))
    assert days.tolist() == [2, 3, 4]
    assert peaks.tolist() == [3, 0, 2]
