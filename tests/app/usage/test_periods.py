"""Selection of the period of measured usage."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.usage.periods import LENGTHS, Period, choose
from tests.app.usage.support import at

FIRST, LAST = at(0), at(999)


def chosen(**asked: str) -> Period:
    asked_of = {key.rstrip("_"): text for key, text in asked.items()}
    period, error = choose(asked_of, first_hour=FIRST, last_hour=LAST)
    assert error == ""
    return period


def test_default_period_is_the_last_seven_measured_days_by_hours() -> None:
    assert chosen() == Period(at(1000 - 7 * 24), at(1000), "hour", "7d")


@pytest.mark.parametrize("word", LENGTHS)
def test_period_given_by_length_ends_with_the_last_measured_hour(word: str) -> None:
    found = chosen(period=word)
    assert found.past == at(1000)
    assert found.past - found.first == min(timedelta(days=LENGTHS[word][1]), timedelta(hours=1000))
    assert found.by == ("hour" if LENGTHS[word][1] <= 31 else "day")
    assert found.query() == {"period": word}


def test_full_period_begins_with_the_first_measured_hour() -> None:
    assert chosen(period="all") == Period(FIRST, at(1000), "day", "all")


def test_end_day_is_included() -> None:
    found = chosen(from_="2026-11-16", to="2026-11-17")
    assert (found.first, found.past, found.last_day.isoformat()) == (at(0), at(48), "2026-11-17")


def test_end_time_is_excluded() -> None:
    assert chosen(from_="2026-11-16T02:00:00Z", to="2026-11-16T06:00:00+01:00") == Period(
        at(2), at(5), "hour"
    )


def test_missing_end_of_a_period_is_the_first_or_last_measured_hour() -> None:
    assert chosen(from_="2026-11-20").past == at(1000)
    assert chosen(to="2026-11-20").first == FIRST


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"period": "fortnight"}, "'fortnight'"),
        ({"from": "20.11.2026"}, "not a day"),
        ({"from": "2026-11-31"}, "not a day"),
        ({"from": "0001-01-01"}, "not a day"),
        ({"to": "9999-12-31"}, "not a day"),
        ({"from": "2026-11-20", "to": "2026-11-19"}, "ends before it starts"),
        ({"to": "2026-11-01"}, "ends before it starts"),
    ],
)
def test_invalid_period_is_reported_and_replaced_with_the_default(asked: dict[str, str], words: str) -> None:
    period, error = choose(asked, first_hour=FIRST, last_hour=LAST)
    assert words in error
    assert period == chosen()


@given(st.integers(-50, 50), st.sampled_from(list(LENGTHS)))
def test_earlier_and_later_periods_adjoin_without_a_gap(times: int, word: str) -> None:
    period = chosen(period=word)
    moved = period.moved(times)
    assert moved.past - moved.first == period.past - period.first
    assert moved.moved(1).first == moved.past
    assert moved.moved(-times).first == period.first


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=10))
def test_any_parameters_give_a_period(first: str, past: str, word: str) -> None:
    found, _ = choose({"from": first, "to": past, "period": word}, first_hour=FIRST, last_hour=LAST)
    assert found.first < found.past
    assert choose(found.query(), first_hour=FIRST, last_hour=LAST) == (found, "")
