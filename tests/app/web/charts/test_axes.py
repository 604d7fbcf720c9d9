"""Axes of charts: positions of values, and round labels."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.axes import Axis, Duration, Linear, Listed, Log, Time, round_values

FIRST = datetime(2026, 11, 16, tzinfo=UTC)


def labels(axis: Axis, most: int = 10) -> list[str]:
    return [tick.label for tick in axis.ticks(most)]


@given(st.just(0.0) | st.floats(1e-6, 1e15), st.booleans())
def test_round_values_start_at_zero_and_reach_the_highest_value(highest: float, is_whole: bool) -> None:
    values = round_values(highest, is_whole=is_whole)
    assert values[0] == 0
    assert values[-1] >= highest * (1 - 1e-9)
    assert 2 <= len(values) <= 11


@given(st.integers(1, 10**15), st.integers(2, 12))
def test_linear_axis_has_few_distinct_labels(highest: int, most: int) -> None:
    found = labels(Linear.up_to(highest), most)
    assert 1 <= len(found) <= most + 1
    assert len(set(found)) == len(found)


def test_linear_axis_labels_have_unit_and_sign() -> None:
    assert labels(Linear(0, 100, steps=(25,), suffix=" %")) == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert labels(Linear(-1, 1, steps=(0.5,), is_signed=True)) == ["\u22121", "\u22120.5", "0", "+0.5", "+1"]


def test_linear_axis_uses_the_smallest_step_with_few_labels() -> None:
    assert labels(Linear(0, 90, steps=(1, 5, 15, 60)), 7) == ["0", "15", "30", "45", "60", "75", "90"]


def test_logarithmic_axis_labels_1_2_and_5_of_each_power_of_ten() -> None:
    assert labels(Log(1, 100)) == ["1", "2", "5", "10", "20", "50", "100"]
    assert labels(Log(0.1, 10_000, is_decades=True)) == ["0.1", "1", "10", "100", "1000", "10\u202f000"]
    assert labels(Log(3, 4)) == ["3.46"], "no round value, so the middle"
    assert Log(1, 100).share(10) == pytest.approx(0.5)


def test_logarithmic_axis_of_one_value_has_a_margin() -> None:
    axis = Log.around([64])
    assert axis.share(64) == pytest.approx(0.5)


@given(st.integers(1, 4000), st.integers(2, 10))
def test_time_axis_of_any_length_has_few_labels(hours: int, most: int) -> None:
    assert len(Time(FIRST, FIRST + timedelta(hours=hours)).ticks(most)) <= most + 1


def test_time_axis_labels_days_hours_and_seconds() -> None:
    assert labels(Time(FIRST, FIRST + timedelta(days=2)), 4) == [
        "16 Nov",
        "12:00",
        "17 Nov",
        "12:00",
        "18 Nov",
    ]
    assert labels(Time(FIRST + timedelta(seconds=1), FIRST + timedelta(seconds=7)), 3) == [
        "00:00:02",
        "00:00:04",
        "00:00:06",
    ]
    assert labels(Time(date(2026, 1, 1), date(2026, 12, 31)), 3) == ["29 Jun", "28 Dec"]


def test_duration_axis_chooses_a_readable_unit() -> None:
    assert labels(Duration(0, Fraction(3)), 3) == ["0 s", "1 s", "2 s", "3 s"]
    assert labels(Duration(0, 1800), 3) == ["0 min", "10 min", "20 min", "30 min"]
    assert labels(Duration(0, 86_400), 2) == ["0 h", "12 h", "24 h"]


def test_names_on_an_axis_are_evenly_spaced() -> None:
    axis = Listed.of(["a", "b", "c", "d", "e"])
    assert labels(axis, 3) == ["a", "c", "e"]
    assert [axis.share(nth) for nth in range(5)] == [0, 0.25, 0.5, 0.75, 1]
    assert labels(Listed.of(["a"])) == ["a"]
