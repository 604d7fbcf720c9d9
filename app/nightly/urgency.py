"""The latest forecasts by urgency; recent records show which structures are full."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.nightly import repository
from app.nightly.models import StoredForecast
from app.paging import ListRequest, in_order
from planner_core.urgency import Fullness, UsedDay, fullness, urgency_key

Structure = tuple[str, str]
SMDS = "smds_blocks"
PORTION = 100
"""The number of forecasts that are in memory at a time while all are read."""


class RankedForecast(NamedTuple):
    """The latest forecast of a series, with the recent usage that its place in lists depends on."""

    forecast: StoredForecast
    full: Fullness | None
    """The fullness of its structure or data set."""
    used_percent: float | None
    """The highest use of its measure in the last days."""


class RankedSeries(NamedTuple):
    """The latest forecast of a measure of a structure by its number, without its contents."""

    number: int
    row: AnyRow
    """The names of the series, and the earliest day on which it is expected to pass a level."""
    full: Fullness | None
    used_percent: float | None

    @property
    def structure(self) -> Structure:
        """The group and the name of the structure."""
        return self.row.qsg, self.row.structure


FORECAST_SORT_KEYS: Final[Mapping[str, Callable[[RankedSeries], Any]]] = {
    "urgency": lambda one: _urgency_of(one),
    "structure": lambda one: one.row.structure,
    "qsg": lambda one: one.row.qsg,
    "measure": lambda one: (one.row.measure, one.row.queue_manager),
    "used_percent": lambda one: one.used_percent,
    "crossing_day": lambda one: one.row.earliest_crossing_day,
    "probability": lambda one: one.row.probability,
    "growth_per_30_days": lambda one: one.row.growth_per_30_days,
}
"""The values by which forecasts can be sorted, by key."""


def ranked_forecasts(session: Session, asked: ListRequest) -> tuple[list[RankedForecast], int]:
    """Return part of the latest forecasts of all series in the requested order, and their total number.

    Without a requested order, the most urgent forecasts are first.
    """
    ranked = _in_requested_order(session, asked)
    part = ranked[asked.page.offset : asked.page.offset + asked.page.per_page]
    return _with_forecasts(session, part), len(ranked)


def all_ranked_forecasts(session: Session, asked: ListRequest) -> Iterator[RankedForecast]:
    """Yield the latest forecasts of all series in the requested order, regardless of the page.

    Only a portion of the forecasts is in memory at a time, because each has the quantiles of every day.
    """
    ranked = _in_requested_order(session, asked)
    for start in range(0, len(ranked), PORTION):
        yield from _with_forecasts(session, ranked[start : start + PORTION])


def _in_requested_order(session: Session, asked: ListRequest) -> list[RankedSeries]:
    ranked = ranked_series(session, search=asked.search)
    if asked.sort is not None:
        ranked = in_order(ranked, asked.sort, FORECAST_SORT_KEYS[asked.sort.key])
    return ranked


def ranked_series(session: Session, *, search: str = "") -> list[RankedSeries]:
    """Return the series whose group or structure contains a text, most urgent first."""
    known = RecentUsage.of(session)
    series = []
    for row in repository.latest_series(session, search=search):
        of = (row.qsg, row.structure), row.measure, row.queue_manager
        series.append(RankedSeries(row.id, row, known.full(*of), known.used_percent(*of)))
    # Sorted here and not in SQL: fullness comes from the days of the structure, by the same rule as in the job.
    series.sort(key=_urgency_of)
    return series


def _with_forecasts(session: Session, series: Sequence[RankedSeries]) -> list[RankedForecast]:
    forecasts = repository.forecasts_by_id(session, [each.number for each in series])
    return [RankedForecast(forecasts[each.number], each.full, each.used_percent) for each in series]


def _urgency_of(one: RankedSeries) -> tuple[Any, ...]:
    row = one.row
    return urgency_key(
        one.full,
        crossing_day=row.earliest_crossing_day,
        used_percent=one.used_percent,
        names=(row.qsg, row.structure, row.measure, row.queue_manager),
    )


def most_urgent(
    session: Session, *, offset: int, limit: int
) -> tuple[list[tuple[StoredForecast, Fullness | None]], int]:
    """Return part of the latest forecasts of all series, most urgent first, and their total number.

    Each forecast is returned with the fullness of its structure or data set.
    """
    ranked = ranked_series(session)
    return [
        (each.forecast, each.full) for each in _with_forecasts(session, ranked[offset : offset + limit])
    ], len(ranked)


class RecentUsage:
    """The usage of structures and data sets in the last days of every group."""

    def __init__(self, last_days: Mapping[str, date], rows: Mapping[Structure, Sequence[AnyRow]]) -> None:
        self._last_days = last_days
        self._rows = rows

    @classmethod
    def of(cls, session: Session, qsg: str | None = None) -> RecentUsage:
        """Read the usage of all groups, or of one."""
        # Each group has its own last day: dumps of two groups may be uploaded weeks apart.
        last_days = repository.last_days(session, qsg)
        rows: dict[Structure, list[AnyRow]] = defaultdict(list)
        for row in repository.recent_days(session, last_days):
            rows[row.qsg, row.structure].append(row)
        return cls(last_days, rows)

    def full(self, structure: Structure, measure: str, queue_manager: str) -> Fullness | None:
        """Return the fullness of the structure, or of the data set of a queue manager."""
        last_day = self._last_days.get(structure[0])
        rows = self._rows.get(structure, ())
        if last_day is None:
            return None
        if measure == SMDS:
            return fullness((_data_set(row, queue_manager) for row in rows), last_day=last_day)
        return fullness(map(used_day, rows), last_day=last_day)

    def used_percent(self, structure: Structure, measure: str, queue_manager: str) -> float | None:
        """Return the highest percentage of the measure that was in use on these days."""
        used = [
            percent
            for row in self._rows.get(structure, ())
            if (percent := _of_measure(row, measure, queue_manager).used_percent) is not None
        ]
        return max(used, default=None)


def used_day(row: AnyRow) -> UsedDay:
    """Return one day of a structure, without its data sets."""
    pools = ((row.entries_peak, row.entries_total), (row.elements_peak, row.elements_total))
    return UsedDay(row.day, row.full_count, pools)


def _of_measure(row: AnyRow, measure: str, queue_manager: str) -> UsedDay:
    if measure == SMDS:
        return _data_set(row, queue_manager)
    pool = (
        (row.entries_peak, row.entries_total)
        if measure == "entries"
        else (row.elements_peak, row.elements_total)
    )
    return UsedDay(row.day, None, (pool,))


def _data_set(row: AnyRow, queue_manager: str) -> UsedDay:
    own = [each for each in row.smds or () if each.get("queue_manager") == queue_manager]
    return UsedDay(row.day, None, tuple((each.get("blocks_peak"), each.get("blocks_total")) for each in own))
