"""The time of an observation: a local time and its zone, converted to one instant.

A clock that is put forward skips an hour, and one that is put back repeats an hour. A local time in the skipped hour does
not exist, and one in the repeated hour is ambiguous. Both are refused, because only the user can correct them. The zone
and the current time are arguments: this module has neither.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from planner_core.errors import PlannerError

AHEAD_AT_MOST: Final = timedelta(days=1)
"""Clocks and time zones differ by less than this, so no observation can be further ahead."""
FIRST_YEAR: Final = 1990


class TimeNotMeant(PlannerError):
    """A time at which nothing can have been observed; the message suggests a correction."""


def instant_of(time: datetime, zone: tzinfo | None = None, *, zone_name: str = "") -> datetime:
    """Return the instant in UTC; a time with its own offset needs no zone.

    >>> from datetime import timezone
    >>> instant_of(datetime(2026, 11, 21, 9, 30), timezone(timedelta(hours=1))).isoformat()
    '2026-11-21T08:30:00+00:00'

    Raises:
        TimeNotMeant: The zone skipped that time, or repeated it.
    """
    if time.tzinfo is not None:
        return _in_utc(time)
    # The offset differs between the two folds only in an hour that is skipped or repeated.
    first = time.replace(tzinfo=zone or UTC, fold=0)
    second = first.replace(fold=1)
    before, after = (each.utcoffset() or timedelta(0) for each in (first, second))
    if before == after:
        return _in_utc(first)
    where = f"{time.isoformat(sep=' ', timespec='minutes')} in {zone_name or zone}"
    if before < after:
        left_out = "the clock was moved forward and skipped that hour"
        message = f"There was no {where}: {left_out}. Enter the time that the clock showed, or the time with its offset."
        raise TimeNotMeant(message)
    either = " or ".join(
        f"{time.isoformat(timespec='minutes')}{offset_text(each)}" for each in (before, after)
    )
    message = f"The clock showed {where} twice, because it was moved back. Specify which one by its offset: {either}."
    raise TimeNotMeant(message)


def check_observed(instant: datetime, *, now: datetime) -> None:
    """Refuse an instant at which nothing can have been observed.

    Raises:
        TimeNotMeant: It is more than a day after `now`, or earlier than any usage data.
    """
    if instant.year < FIRST_YEAR:
        message = (
            f"{_shown(instant)} is before {FIRST_YEAR}: no supported data is that old. Correct the year."
        )
        raise TimeNotMeant(message)
    if is_ahead(instant, now=now):
        message = f"{_shown(instant)} is in the future: the clock of this machine shows {_shown(now)}. Enter the time at which the display was taken. If it is already correct, correct the clock of this machine."
        raise TimeNotMeant(message)


def is_ahead(instant: datetime, *, now: datetime) -> bool:
    """Return whether a time is so far ahead that the clock that wrote it must have been wrong."""
    return instant - now > AHEAD_AT_MOST


def offset_text(offset: timedelta) -> str:
    """Return an offset in the notation of ISO 8601.

    >>> offset_text(timedelta(hours=-3, minutes=-30))
    '-03:30'
    """
    minutes = offset // timedelta(minutes=1)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def _in_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    # The first and the last day of the calendar have no neighbor in another zone.
    except OverflowError:
        message = f"{time.isoformat()} is not a possible time of observation."
        raise TimeNotMeant(message) from None


def _shown(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
