"""Whether the expected date of a limit has moved since it was last reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from app.forecasts.limits import ExpectedLimit, ForecastLimits

Direction = Literal["earlier", "later", "into the horizon"]


@dataclass(frozen=True, slots=True)
class Reported:
    """The date of a limit as it was last reported."""

    day: date | None
    """The median; None is beyond the horizon."""
    is_passed: bool
    value: float | None = None
    """The value of the limit for which the date was calculated, if it is known."""


@dataclass(frozen=True, slots=True)
class Move:
    """A limit whose expected date has moved."""

    limit: ExpectedLimit
    before: Reported | None
    """None for a limit that was in no forecast before."""
    direction: Direction
    days: int | None
    """The number of days; None if one of the dates is beyond the horizon."""


def move_of(
    limit: ExpectedLimit, forecast: ForecastLimits, before: Reported | None, *, least_days: int
) -> Move | None:
    """Return how a limit has moved; None if it has not, or by fewer days than are reported.

    A limit that is passed counts as expected on the day of the forecast, and one beyond the horizon as expected on the
    first day after it, so that dates near the horizon do not go back and forth.

    Args:
        limit: The limit in the latest forecast.
        forecast: The forecast.
        before: The date as it was last reported; None if the limit was in no forecast.
        least_days: Number of days by which a date must move, at least.
    """
    day = day_of(limit, forecast)
    if before is None or (before.day is None and not before.is_passed):
        return None if day is None else Move(limit, before, "into the horizon", None)
    if before.is_passed and limit.is_passed:
        return None
    was = before.day or forecast.made_on
    beyond = forecast.made_on + timedelta(days=forecast.horizon_days + 1)
    moved = ((day or beyond) - was).days
    if abs(moved) <= least_days:
        return None
    return Move(limit, before, "later" if moved > 0 else "earlier", None if day is None else abs(moved))


def day_of(limit: ExpectedLimit, forecast: ForecastLimits) -> date | None:
    """Return the expected day of a limit: the median, or the day of the forecast if it is passed already."""
    return forecast.made_on if limit.is_passed else limit.dates.p50


def sentence_of(move: Move, forecast: ForecastLimits) -> str:
    """Return the move of one limit in words, with the interval."""
    limit = move.limit
    now = _expected(limit, forecast)
    if move.before is None:
        return f"{limit.level}: {now}. No earlier forecast contained this limit."
    if move.before.is_passed:
        was = "passed already"
    elif move.before.day is None:
        was = "beyond the horizon of the forecast"
    else:
        was = move.before.day.isoformat()
    by = f", {move.days} days {move.direction}" if move.days is not None else ""
    return f"{limit.level}: {now}{by}. Last reported: {was}.{_new_value(move)}"


def _new_value(move: Move) -> str:
    """Return the sentence about a limit that has another value than the one whose date was reported; empty if it has not."""
    before, now = None if move.before is None else move.before.value, move.limit.value
    if before is None or now is None or round(before) == round(now):
        return ""
    return f" The limit itself changed from {before:,.0f} to {now:,.0f}, which also moves its date."


def _expected(limit: ExpectedLimit, forecast: ForecastLimits) -> str:
    if limit.is_passed:
        return "passed on usual days"
    horizon = f"beyond the {forecast.horizon_days} days of the forecast"
    if limit.dates.p50 is None:
        return f"now {horizon}"
    bounds = [each.isoformat() if each else horizon for each in (limit.dates.p10, limit.dates.p90)]
    return f"expected on {limit.dates.p50.isoformat()} (80 % interval: {bounds[0]} to {bounds[1]})"


def severity_of(moves: Sequence[Move]) -> str:
    """Return the severity of moves together: dates that only move away are information."""
    return "info" if all(each.direction == "later" for each in moves) else "warning"
