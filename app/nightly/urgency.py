"""The latest forecasts by urgency; recent records show which structures are full."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.nightly import repository
from app.nightly.models import StoredForecast
from planner_core.urgency import Fullness, UrgencyKey, UsedDay, fullness, urgency_key

Structure = tuple[str, str]
SMDS = "smds_blocks"


class RankedSeries(NamedTuple):
    """The latest forecast of one measure of a structure, by its number, and its place in the order of urgency."""

    key: UrgencyKey
    forecast_id: int
    structure: Structure
    measure: str
    queue_manager: str
    full: Fullness | None
    used_percent: float | None


def most_urgent(
    session: Session, *, offset: int, limit: int
) -> tuple[list[tuple[StoredForecast, Fullness | None]], int]:
    """Return part of the latest forecasts of all series, most urgent first, and their total number.

    Each forecast is returned with the fullness of its structure or data set.
    """
    ranked = ranked_series(session)
    part = ranked[offset : offset + limit]
    forecasts = repository.forecasts_by_id(session, [each.forecast_id for each in part])
    return [(forecasts[each.forecast_id], each.full) for each in part], len(ranked)


def ranked_series(session: Session) -> list[RankedSeries]:
    """Return all series that have a forecast, most urgent first."""
    query = select(
        StoredForecast.id, StoredForecast.qsg, StoredForecast.structure, StoredForecast.measure, StoredForecast.queue_manager,
        StoredForecast.earliest_crossing_day,
    ).where(StoredForecast.is_latest)  # fmt: skip
    rows = session.execute(query).all()
    known = RecentUsage.of(session)
    # Sorted here and not in SQL: fullness comes from the days of the structure, by the same rule as in the job.
    ranked = []
    for number, qsg, structure, measure, queue_manager, crossing_day in rows:
        full = known.full((qsg, structure), measure, queue_manager)
        used_percent = known.used_percent((qsg, structure), measure, queue_manager)
        key = urgency_key(
            full,
            crossing_day=crossing_day,
            used_percent=used_percent,
            names=(qsg, structure, measure, queue_manager),
        )
        ranked.append(RankedSeries(key, number, (qsg, structure), measure, queue_manager, full, used_percent))
    return sorted(ranked, key=lambda each: each.key)


class RecentUsage:
    """The usage of structures and data sets in the last days of every group."""

    def __init__(self, last_days: Mapping[str, date], rows: Mapping[Structure, Sequence[AnyRow]]) -> None:
        self._last_days = last_days
        self._rows = rows

    @classmethod
    def of(cls, session: Session, qsg: str | None = None, *, with_data_sets: bool = True) -> RecentUsage:
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
