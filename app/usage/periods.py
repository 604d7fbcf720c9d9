"""Which hours are looked at: a choice of lengths before the last measured hour, or days from and to, in UTC."""

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
"""By the word in the address: how it is called, and its days."""
ALL = "all"
USUAL = "7d"
EARLIEST, LATEST = 1970, 2999
"""Years in which a period can lie."""
MOST_DAYS_BY_HOUR = 31
"""A longer period is shown by days."""

Step = Literal["hour", "day"]


@dataclass(frozen=True, slots=True)
class Period(Answer):
    """The hours that an answer covers."""

    first: datetime
    past: Annotated[datetime, Field(description="The end; not part of the period.")]
    by: Step
    choice: Hidden[str] = ""
    """The word that chose it; empty when days were given."""

    @property
    def last_day(self) -> date:
        """The last UTC day that has hours in it."""
        return (self.past - HOUR).date()

    def moved(self, times: int) -> Period:
        """The period of the same length so many lengths later; earlier when negative."""
        length = self.past - self.first
        return replace(self, first=self.first + times * length, past=self.past + times * length, choice="")

    def query(self) -> dict[str, str]:
        """The parameters of an address that choose it again."""
        if self.choice:
            return {"period": self.choice}
        return {"from": instant(self.first), "to": instant(self.past)}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A period, and what was wrong with what was asked for; empty when nothing was."""

    period: Period
    error: str = ""


def instant(value: datetime) -> str:
    """A time as addresses and answers write it: `2026-11-21T09:00:00Z`."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def step_for(first: datetime, past: datetime) -> Step:
    """Hours, as long as they can be read; days when there are more."""
    return "hour" if past - first <= MOST_DAYS_BY_HOUR * DAY else "day"


def between(first: datetime, past: datetime, by: Step | None = None) -> Period:
    """The hours from one time to another; of days, whole ones."""
    return Period(first, past, by or step_for(first, past))


def before(last_hour: datetime, choice: str, *, first_hour: datetime) -> Period:
    """The last 24 hours, 7 days ... that end with the last measured hour, as far back as anything was measured."""
    past = last_hour + HOUR
    first = first_hour if choice == ALL else max(past - LENGTHS[choice][1] * DAY, first_hour)
    return Period(first, past, step_for(first, past), choice)


def choose(asked: Mapping[str, str], *, first_hour: datetime, last_hour: datetime) -> Chosen:
    """The period that the parameters of an address ask for; without any, the usual one.

    `from` and `to` are days, of which `to` is the last one wanted, or times, of which `to` is the end.
    """
    choice = asked.get("period", "")
    if asked.get("from") or asked.get("to"):
        found = _given(asked.get("from", ""), asked.get("to", ""), first_hour, last_hour)
        if isinstance(found, Period):
            return Chosen(found)
        return Chosen(before(last_hour, USUAL, first_hour=first_hour), found)
    if choice and choice != ALL and choice not in LENGTHS:
        error = f"There is no period {choice[:20]!r}: choose one of those shown."
        return Chosen(before(last_hour, USUAL, first_hour=first_hour), error)
    return Chosen(before(last_hour, choice or USUAL, first_hour=first_hour))


def _given(first: str, past: str, first_hour: datetime, last_hour: datetime) -> Period | str:
    starts = _moment(first) if first else first_hour
    ends = _moment(past, is_end=True) if past else last_hour + HOUR
    for text, value in ((first, starts), (past, ends)):
        if value is None:
            return f"{text[:40]!r} is no day such as 2026-11-21."
    if starts is None or ends is None or starts >= ends:
        return "The period ends before it begins."
    return between(starts, ends)


def _moment(text: str, *, is_end: bool = False) -> datetime | None:
    """A day or a time as typed; a day that ends a period is in it."""
    found = _parsed(text, is_end=is_end)
    return found if found is not None and EARLIEST <= found.year <= LATEST else None


def _parsed(text: str, *, is_end: bool) -> datetime | None:
    try:
        if len(text) == len("2026-11-21"):
            day = datetime.combine(date.fromisoformat(text), time(), UTC)
            return day + DAY if is_end else day
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
