"""The urgency of measured structures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.nightly import repository as nights
from app.nightly.urgency import used_day
from app.usage import repository
from app.usage.measured import StructureUrgency
from app.usage.repository import StructureKey
from planner_core.urgency import FULL_DAYS, Fullness, NextLimit, UsedDay, fullness

MEASURES = ("entries", "elements")
_ALL = 100


def urgency_of_structures(session: Session, *, search: str | None = None) -> list[StructureUrgency]:
    """Return the urgency of all measured structures whose group or name contains a text, sorted by group and name."""
    rows = sorted(repository.latest_use(session, search=search), key=lambda row: (row.qsg, row.structure))
    read_to = nights.last_days(session)
    peaks = {(row.qsg, row.structure): row for row in nights.recent_peaks(session, read_to)}
    full = _full_structures(session, rows, peaks, read_to)
    limits = {
        (row.qsg, row.structure): NextLimit(row.made_on, row.horizon_days, row.day)
        for row in nights.next_limits(session, MEASURES)
    }
    return [
        StructureUrgency(
            key=(key := (row.qsg, row.structure)),
            full=full.get(key),
            limit=limits.get(key),
            used_percent=max(_percentages(row, peaks.get(key)), default=None),
        )
        for row in rows
    ]


def _percentages(row: AnyRow, peaks: AnyRow | None) -> Iterable[float]:
    """Yield the use of entries and elements in the last hour, and its peaks of the last days."""
    found = [*_last_use(row)]
    if peaks is not None:
        found += (peaks.entries_percent, peaks.elements_percent)
    return (each for each in found if each is not None)


def _last_use(row: AnyRow) -> tuple[float | None, float | None]:
    """Return the use of entries and of elements in the last hour, as a percentage, by the rule of `share`."""
    # Floats, because exact fractions of thousands of structures would take as long as their queries. Only equal counts
    # give exactly 100.
    entries, elements = row.entries_in_use_pct_max, row.elements_in_use_pct_max
    if row.entries_in_use_max is not None and row.entries_total:
        entries = _ALL * row.entries_in_use_max / row.entries_total
    if row.elements_in_use_max is not None and row.elements_total:
        elements = _ALL * row.elements_in_use_max / row.elements_total
    return entries, elements


def _full_structures(
    session: Session,
    rows: Sequence[AnyRow],
    peaks: Mapping[StructureKey, AnyRow],
    read_to: Mapping[str, date],
) -> dict[StructureKey, Fullness]:
    """Return the structures that were full in the last days of their groups.

    The days come from the last nightly run, and for later hours from the roll-ups, so that a structure does not wait
    for the next run to be listed first. Few structures are full, so only their days are read.
    """
    days: dict[StructureKey, list[UsedDay]] = defaultdict(list)
    candidates = {key for key, row in peaks.items() if row.full_count or _is_used_up(row)}
    if candidates:
        names = {structure for _, structure in candidates}
        groups = {qsg: day for qsg, day in read_to.items() if any(key[0] == qsg for key in candidates)}
        for row in nights.recent_days(session, groups, names):
            days[row.qsg, row.structure].append(used_day(row))
    for key, each in _later_days(session, rows, read_to):
        days[key].append(each)
    last_days = {
        qsg: max(hour.date(), read_to.get(qsg, date.min))
        for qsg, hour in repository.last_measured_hours(session).items()
    }
    found = {}
    for key, used in days.items():
        if (full := fullness(used, last_day=last_days.get(key[0]) or read_to[key[0]])) is not None:
            found[key] = full
    for row in rows:
        key, day = (row.qsg, row.structure), row.last_use_hour and row.last_use_hour.date()
        # The nightly run may have read only some hours of the last day, before this one was uploaded.
        if key not in found and day == last_days[row.qsg] and _is_full(row):
            found[key] = Fullness(state="full_now", count=0, days=1, since=day, last=day)
    return found


def _is_full(row: AnyRow) -> bool:
    return max((each or 0 for each in _last_use(row)), default=0) >= _ALL


def _is_used_up(row: AnyRow) -> bool:
    return max(row.entries_percent or 0, row.elements_percent or 0) >= _ALL


def _later_days(
    session: Session, rows: Sequence[AnyRow], read_to: Mapping[str, date]
) -> Iterable[tuple[StructureKey, UsedDay]]:
    """Yield the days since the last nightly run on which structures were full, one entry for each day."""
    since: dict[StructureKey, date] = {}
    used_up: dict[tuple[StructureKey, date], bool] = {}
    for row in rows:
        key = (row.qsg, row.structure)
        first = row.last_hour.date() - timedelta(days=FULL_DAYS)
        if row.qsg in read_to:
            first = max(first, read_to[row.qsg] + timedelta(days=1))
        if row.last_full_hour is not None and row.last_full_hour.date() >= first:
            since[key] = first
        if row.last_use_hour is not None and row.last_use_hour.date() >= first and _is_full(row):
            used_up[key, row.last_use_hour.date()] = True
    counts: dict[tuple[StructureKey, date], int] = defaultdict(int)
    if since:
        start = datetime.combine(min(since.values()), time(), UTC)
        for hour in repository.full_counts_since(session, start, list(since)):
            key = (hour.qsg, hour.structure)
            if hour.hour.date() >= since[key]:
                counts[key, hour.hour.date()] += hour.structure_full_count
    for key, day in sorted({*counts, *used_up}):
        # Which pool was used up does not matter here, so it is a pool of one.
        pools = ((1, 1),) if (key, day) in used_up else ()
        yield key, UsedDay(day, counts.get((key, day)), pools)
