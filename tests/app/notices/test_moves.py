"""Whether the date of a limit has moved since it was last reported."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from app.forecasts.limits import ExpectedLimit, ForecastLimits
from app.notices.moves import Reported, move_of, sentence_of
from planner_core.contracts.forecasts import QuantileDates

MADE_ON = date(2026, 11, 20)
HORIZON = 180


def limit(days: int | None, *, passed: bool = False) -> ExpectedLimit:
    day = None if days is None else MADE_ON + timedelta(days=days)
    return ExpectedLimit("SIZE", 100.0, passed, QuantileDates(p10=day, p50=day, p90=None))


def forecast_of(*limits: ExpectedLimit) -> ForecastLimits:
    return ForecastLimits(MADE_ON, MADE_ON, HORIZON, limits)


def before(days: int | None, *, passed: bool = False) -> Reported:
    return Reported(None if days is None else MADE_ON + timedelta(days=days), passed)


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        (before(60), limit(60), None),
        (before(60), limit(46), None),
        (before(60), limit(45), ("earlier", 15)),
        (before(60), limit(74), None),
        (before(60), limit(75), ("later", 15)),
        (before(None), limit(170), ("into the horizon", None)),
        (None, limit(170), ("into the horizon", None)),
        (None, limit(None), None),
        (before(None), limit(None), None),
        (before(175), limit(None), None),
        (before(100), limit(None), ("later", None)),
        (before(60), limit(None, passed=True), ("earlier", 60)),
        (before(10), limit(None, passed=True), None),
        (before(None), limit(None, passed=True), ("into the horizon", None)),
        (before(-200, passed=True), limit(None, passed=True), None),
        (before(-5, passed=True), limit(60), ("later", 65)),
    ],
)
def test_moves_by_more_than_the_days_are_reported(
    was: Reported | None, now: ExpectedLimit, expected: tuple[str, int | None] | None
) -> None:
    found = move_of(now, forecast_of(now), was, least_days=14)
    assert (None if found is None else (found.direction, found.days)) == expected


def test_sentence_has_both_dates_and_the_interval() -> None:
    now = limit(45)
    move = move_of(now, forecast_of(now), before(60), least_days=14)
    assert move is not None
    assert sentence_of(move, forecast_of(now)) == (
        "SIZE: expected on 2027-01-04 (80 % interval: 2027-01-04 to beyond the 180 days of the forecast), 15 days earlier. "
        "Last reported: 2027-01-19."
    )
