"""Periods: a length of time up to the last measured hour, or a range of days, in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import Field

from planner_core.wire import Answer, Hidden

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LENGTHS: Mapping[str, tuple[str, int]] = {
    "1d": ("24 hours", 1),
    "7d": ("7 days", 7),
    "31d": ("31 days", 31),
    "92d": ("92 days", 92),
    "366d": ("1 year", 366),
}
"""Title and number of days of each choice, keyed by its name in the address."""
ALL = "all"
CHOICES = {word: label for word, (label, _) in LENGTHS.items()} | {ALL: "everything"}
"""Title of each choice, in the order of the links."""
USUAL = "7d"
EARLIEST, LATEST = 1970, 2999
"""The first and last year of a period."""
MOST_DAYS_BY_HOUR = 31
"""Maximum number of days that are shown by hour; longer periods are shown by day."""

Step = Literal["hour", "day"]


@dataclass(frozen=True, slots=True)
class Period(Answer):
    """The hours that an answer covers."""

    first: datetime
    past: Annotated[datetime, Field(description="The end; not part of the period.")]
    by: Step
    choice: Hidden[str] = ""
    """The choice that selected the period; empty if days were given."""

    @property
    def last_day(self) -> date:
        """The last UTC day with hours in the period."""
        return (self.past - HOUR).date()

    def moved(self, times: int) -> Period:
        """Return the period moved by a multiple of its length; a negative number moves it back."""
        length = self.past - self.first
        return replace(self, first=self.first + times * length, past=self.past + times * length, choice="")

    def query(self) -> dict[str, str]:
        """Return the parameters of an address that select this period."""
        if self.choice:
            return {"period": self.choice}
        return {"from": instant(self.first), "to": instant(self.past)}


def instant(value: datetime) -> str:
    """Return a time as text for addresses and answers: `2026-11-21T09:00:00Z`."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def step_for(first: datetime, past: datetime) -> Step:
    """Return the step of a period: hours for short periods, days for longer ones."""
    return "hour" if past - first <= MOST_DAYS_BY_HOUR * DAY else "day"


def between(first: datetime, past: datetime, by: Step | None = None) -> Period:
    """Return the period between two times."""
    return Period(first, past, by or step_for(first, past))


def before(last_hour: datetime, choice: str, *, first_hour: datetime) -> Period:
    """Return the period of a chosen length up to the last measured hour, but not before the first one."""
    # Not up to now, because a site uploads its dumps days later, and the newest hours would look empty.
    past = last_hour + HOUR
    first = first_hour if choice == ALL else max(past - LENGTHS[choice][1] * DAY, first_hour)
    return Period(first, past, step_for(first, past), choice)


def choose(asked: Mapping[str, str], *, first_hour: datetime, last_hour: datetime) -> tuple[Period, str]:
    """Return the period that the parameters of an address select, and their error; empty if there is none.

    The default is a period of the usual length.

    `from` and `to` are days, both included, or times, of which `to` is the end.
    """
    choice = asked.get("period", "")
    if asked.get("from") or asked.get("to"):
        found = _given(asked.get("from", ""), asked.get("to", ""), first_hour, last_hour)
        if isinstance(found, Period):
            return found, ""
        return before(last_hour, USUAL, first_hour=first_hour), found
    if choice and choice != ALL and choice not in LENGTHS:
        error = f"There is no period {choice[:20]!r}: choose one from the list."
        return before(last_hour, USUAL, first_hour=first_hour), error
    return before(last_hour, choice or USUAL, first_hour=first_hour), ""


def _given(first: str, past: str, first_hour: datetime, last_hour: datetime) -> Period | str:
    starts = _moment(first) if first else first_hour
    ends = _moment(past, is_end=True) if past else last_hour + HOUR
    for text, value in ((first, starts), (past, ends)):
        if value is None:
            return f"{text[:40]!r} is not a day such as 2026-11-21."
    if starts is None or ends is None or starts >= ends:
        return "The period ends before it starts."
    return between(starts, ends)


def _moment(text: str, *, is_end: bool = False) -> datetime | None:
    """Return a day or a time as an instant; a day that ends a period is part of it."""
    found = _parsed(text, is_end=is_end)
    return found if found is not None and EARLIEST <= found.year <= LATEST else None


def _parsed(text: str, *, is_end: bool) -> datetime | None:
    try:
        # datetime.fromisoformat also reads a day, as its midnight, which would exclude the last day of a period.
        if len(text) == len("2026-11-21"):
            day = datetime.combine(date.fromisoformat(text), time(), UTC)
            return day + DAY if is_end else day
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
