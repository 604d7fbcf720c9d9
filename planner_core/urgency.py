"""The order of structures by urgency: full ones, then those that were full recently, then by the next expected crossing.

Pages, REST, commands, the report and the findings of the nightly run share this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field, computed_field

from planner_core.wire import Answer

FULL_DAYS: Final = 7
"""The number of days, up to the last day of the group's records, for which a structure that was full counts as full."""
_PERCENT: Final = 100

FullState = Literal["full_now", "was_full"]
UrgencyKey = tuple[int, int, tuple[str, ...], date, float, tuple[str, ...]]
"""The sort key of a structure's measure, the most urgent first."""


@dataclass(frozen=True, slots=True)
class UsedDay:
    """One day of records about a structure, or about a shared message data set."""

    day: date
    full_count: int | None = None
    """Structure-full conditions that the queue managers counted (SMF 115)."""
    pools: Sequence[tuple[int | None, int | None]] = ()
    """Peak and total of each pool on that day: entries and elements, or blocks."""

    @property
    def used_percent(self) -> float | None:
        """Return the highest use of a pool; None if it was not measured."""
        used = [_PERCENT * peak / total for peak, total in self.pools if peak is not None and total]
        return max(used, default=None)

    @property
    def is_used_up(self) -> bool:
        """Return whether all of a pool was in use."""
        return (self.used_percent or 0) >= _PERCENT

    @property
    def is_full(self) -> bool:
        """Return whether a request failed because the structure was full, or all of a pool was in use."""
        return bool(self.full_count) or self.is_used_up


@dataclass(frozen=True, slots=True)
class Fullness(Answer):
    """The times at which a structure, or a shared message data set, was full in the last 7 days of its group's records."""

    state: Annotated[
        FullState, Field(description="`full_now`: all of it was in use on the last day with records.")
    ]
    count: Annotated[
        int,
        Field(
            description="Structure-full conditions that were counted; 0 if only the use of a pool shows it."
        ),
    ]
    days: Annotated[int, Field(description="Days on which it was full.")]
    since: Annotated[date, Field(description="The first of these days.")]
    last: Annotated[date, Field(description="The last of these days.")]

    @computed_field
    @property
    def sentence(self) -> str:
        """A short text: `Full now, 102 times since 2026-03-03`."""
        if self.count > 1:
            how_often = f"{times_of(self.count)} since {self.since.isoformat()}"
        elif self.days > 1:
            how_often = f"on {self.days} days since {self.since.isoformat()}"
        else:
            how_often = f"on {self.last.isoformat()}"
        return f"Full now, {how_often}" if self.state == "full_now" else f"Full {how_often}"


@dataclass(frozen=True, slots=True)
class NextLimit:
    """The next limit in the forecasts of a structure."""

    made_on: date
    horizon_days: int
    day: date | None
    """The day on which it is passed, by the median estimate: the day of the forecast if it was passed before; None if
    none is passed within the horizon.
    """

    @property
    def days(self) -> int | None:
        """The number of days from the forecast; 0 for a limit that was passed before."""
        return None if self.day is None else (self.day - self.made_on).days


def times_of(count: int) -> str:
    """Return a count of times in words: once, 2 times."""
    return "once" if count == 1 else f"{count} times"


def fullness(days: Iterable[UsedDay], *, last_day: date) -> Fullness | None:
    """Return the times at which a structure was full in the last days of its group's records; None if it was not."""
    # Counted back from the group's last day with records: how full it is today is not known.
    first = last_day - timedelta(days=FULL_DAYS - 1)
    full = sorted(
        (each for each in days if first <= each.day <= last_day and each.is_full), key=lambda each: each.day
    )
    if not full:
        return None
    newest = full[-1]
    return Fullness(
        state="full_now" if newest.day == last_day and newest.is_used_up else "was_full",
        count=sum(each.full_count or 0 for each in full),
        days=len(full),
        since=full[0].day,
        last=newest.day,
    )


def urgency_key(
    full: Fullness | None,
    *,
    crossing_day: date | None,
    used_percent: float | None,
    names: tuple[str, ...],
) -> UrgencyKey:
    """Return the sort key of a structure's measure, the most urgent first.

    Args:
        full: When the structure was full; None if it was not.
        crossing_day: The earliest day on which it is expected to pass a level; None if there is none within the horizon.
        used_percent: Its highest use in the last days, for measures without such a day.
        names: Group, structure, measure and queue manager: they keep the measures of a full structure together, and
            decide between equal measures.
    """
    rank = 2 if full is None else int(full.state != "full_now")
    return (
        rank,
        -full.count if full else 0,
        names[:2] if full else (),
        crossing_day if crossing_day and full is None else date.max,
        0.0 if crossing_day and full is None else -(used_percent or 0.0),
        names,
    )
