"""The structures of the overview: measured and planned ones, the most urgent first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.fleet import repository
from app.fleet.answers import FleetStructure, UrgencyLevel, fuller
from app.fleet.facilities import PlannedGroup
from app.fleet.outlooks import ForecastOutlook, outlooks
from app.nightly.urgency import SMDS, RankedSeries, used_day
from app.usage import repository as usage_rows
from app.usage.measured import StructureUrgency, share
from app.usage.repository import StructureKey
from app.usage.urgency import urgency_of_structures
from app.web.tables import HIGH_PERCENT
from app.web.urgency import urgency_cell
from planner_core.names import cfrm_structure_name
from planner_core.urgency import NextLimit

SPARK_DAYS = 90
"""Number of days in the small line of a structure."""


@dataclass(slots=True)
class PlansOfStructure:
    """The plans with a structure, and its INITSIZE in the one that was saved last."""

    initsize_bytes: int
    plans: list[str] = field(default_factory=list)


def measured_rows(session: Session) -> Sequence[AnyRow]:
    """Return all measured structures with their latest figures."""
    most = repository.MOST_STRUCTURES
    return usage_rows.page_of_structures(session, search=None, sort=None, offset=0, limit=most).rows


def planned_structures(
    groups: Iterable[PlannedGroup], qsgs: Mapping[str, str]
) -> dict[StructureKey, PlansOfStructure]:
    """Return the structures of plans, the most recently saved plan first; `qsgs` has the group of each plan."""
    found: dict[StructureKey, PlansOfStructure] = {}
    for group in groups:
        for each in group.structures:
            if each.role == "other":  # of Db2 or another group: only counted in the coupling facilities
                continue
            key = (qsgs[group.plan], each.name)
            found.setdefault(key, PlansOfStructure(each.initsize_bytes)).plans.append(group.plan)
    return found


def structures_of(
    session: Session,
    measured: Sequence[AnyRow],
    planned: Mapping[StructureKey, PlansOfStructure],
    places: Mapping[str, tuple[str, ...]],
    ranked: Sequence[RankedSeries],
    lead_time_days: int,
) -> tuple[FleetStructure, ...]:
    """Return measured and planned structures, the most urgent first.

    Args:
        session: The session of the request.
        measured: Measured structures with their latest figures.
        planned: Structures of plans.
        places: Coupling facilities by CFRM name.
        ranked: All series with a forecast, the most urgent first.
        lead_time_days: Days that the site needs to make a structure larger.
    """
    series = _first_series(ranked)
    forecasts = outlooks(session, [each.number for each in series.values()])
    urgencies = {each.key: each for each in urgency_of_structures(session)}
    rows = {(row.qsg, row.structure): row for row in measured}
    found = []
    for key in {**rows, **dict.fromkeys(series), **dict.fromkeys(planned)}:
        one = series.get(key)
        forecast = None if one is None else forecasts.get(one.number)
        urgency = urgencies.get(key) or _urgency_without_hours(key, one, forecast)
        structure = _structure(
            urgency,
            rows.get(key),
            forecast,
            planned.get(key),
            places.get(cfrm_structure_name(qsg_name=key[0], cfstruct_name=key[1]), ()),
            lead_time_days,
        )
        found.append((urgency.order, structure))
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _first_series(ranked: Iterable[RankedSeries]) -> dict[StructureKey, RankedSeries]:
    """Return the series of each structure that passes a limit first."""
    found: dict[StructureKey, RankedSeries] = {}
    for each in ranked:
        # Data sets are files of their own: the structure is not full because one of them is.
        if each.row.measure == SMDS:
            continue
        known = found.get(each.structure)
        if known is None or _crossing_day(each) < _crossing_day(known):
            found[each.structure] = each
    return found


def _crossing_day(series: RankedSeries) -> date:
    found: date | None = series.row.earliest_crossing_day
    return found or date.max


def _urgency_without_hours(
    key: StructureKey, series: RankedSeries | None, forecast: ForecastOutlook | None
) -> StructureUrgency:
    """Return the urgency of a structure of which no hours are stored: it is only planned, or its hours are too old."""
    limit = None
    if forecast is not None and forecast.has_figures:
        limit = NextLimit(forecast.made_on, forecast.horizon_days, forecast.earliest_crossing_day)
    return StructureUrgency(
        key=key,
        full=None if series is None else series.full,
        limit=limit,
        used_percent=None if series is None else series.used_percent,
    )


def _structure(
    urgency: StructureUrgency,
    row: AnyRow | None,
    forecast: ForecastOutlook | None,
    planned: PlansOfStructure | None,
    places: tuple[str, ...],
    lead_time_days: int,
) -> FleetStructure:
    used, pool = (None, None) if row is None else _used(row)
    level = _level(urgency, used, lead_time_days)
    cell = urgency_cell(urgency.full, urgency.limit, lead_time_days=lead_time_days)
    text, severity = str(cell.text or cell.value), cell.severity
    if level == "high":
        text, severity = "high use, no forecast", "warning"
    elif urgency.limit is None and row is None and forecast is None:
        text = "not measured"
    size = None if row is None else row.size_bytes
    return FleetStructure(
        qsg=urgency.key[0],
        structure=urgency.key[1],
        urgency=level,
        urgency_text=text,
        severity=severity,
        full=urgency.full,
        used_percent=used,
        used_pool=pool,
        used_at=None if row is None or used is None else row.last_use_hour,
        size_bytes=size or (None if planned is None else planned.initsize_bytes),
        last_full_hour=None if row is None else row.last_full_hour,
        next_limit=None if forecast is None else forecast.limit,
        horizon_days=None if forecast is None else forecast.horizon_days,
        outlook="" if forecast is None else forecast.sentence,
        coupling_facilities=places,
        plans=() if planned is None else tuple(sorted(planned.plans, key=str.lower)),
        is_measured=row is not None,
        has_forecast=forecast is not None,
    )


def _used(row: AnyRow) -> tuple[Fraction | float | None, Any]:
    return fuller(
        share(row.entries_in_use_max, row.entries_total, row.entries_in_use_pct_max),
        share(row.elements_in_use_max, row.elements_total, row.elements_in_use_pct_max),
    )


def _level(urgency: StructureUrgency, used: Fraction | float | None, lead_time_days: int) -> UrgencyLevel:
    if urgency.full is not None:
        return urgency.full.state
    if urgency.limit is None:
        return "high" if used is not None and used >= HIGH_PERCENT else "unknown"
    days = urgency.limit.days
    if days is None:
        return "none"
    return "passed" if days <= 0 else "soon" if days <= lead_time_days else "later"


# ---- the last 90 days ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DayUse:
    """The highest use of a structure on one day; None if it was not measured."""

    day: date
    used_percent: float | None


def recent_use(
    session: Session, structures: Iterable[FleetStructure]
) -> Mapping[StructureKey, tuple[DayUse, ...]]:
    """Return the daily use of structures in the 90 days up to the last day of daily peaks."""
    last = repository.last_day(session)
    if last is None:
        return {}
    first = last - timedelta(days=SPARK_DAYS - 1)
    keys = [(each.qsg, each.structure) for each in structures if each.is_measured or each.has_forecast]
    found = {}
    for key, rows in repository.days_of(session, keys, since=first).items():
        used = {row.day: used_day(row).used_percent for row in rows}
        days = (first + timedelta(days=nth) for nth in range(SPARK_DAYS))
        found[key] = tuple(DayUse(day, used.get(day)) for day in days)
    return found
