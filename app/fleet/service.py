"""The overview of everything that is stored. It reads lists; a plan is parsed once for each of its versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.fleet import repository
from app.fleet.answers import (
    Fleet,
    FleetAction,
    FleetFacility,
    FleetPlan,
    FleetRun,
    FleetStructure,
    NextLimit,
    UrgencyLevel,
    fuller,
)
from app.fleet.facilities import MeasuredPlace, PlannedGroup, placed
from app.fleet.outlooks import ForecastOutlook, outlooks
from app.fleet.planned import planned_groups
from app.jobs.models import JobState
from app.nightly import service as nightly
from app.nightly.urgency import SMDS, RankedSeries, ranked_series
from app.paging import PageRequest
from app.usage import repository as usage_rows
from app.usage.measured import share
from app.web.tables import FULL_PERCENT, HIGH_PERCENT
from planner_core.names import OWN_STRUCTURES, cfrm_structure_name
from planner_core.simulated import has_simulated_name
from planner_core.urgency import FULL_DAYS, Fullness, UrgencyKey, UsedDay, urgency_key

StructureKey = tuple[str, str]
MOST_PLANS = 20
MOST_ACTIONS = 8
MOST_OF_A_KIND = 3
"""Maximum number of actions of one kind, so that thirty full structures do not hide a failed nightly run."""
MOST_COMPARED = 10
"""Maximum number of plans in the address of a question about all of them."""
Item = TypeVar("Item")


def is_empty(session: Session) -> bool:
    """Return whether nothing is stored yet: no plan, upload, measurement or nightly run."""
    return not repository.is_anything_stored(session)


def fleet(session: Session, *, lead_time_days: int) -> Fleet:
    """Return everything that the overview shows.

    Args:
        session: The session of the request.
        lead_time_days: Days that the site needs to make a structure larger; a limit within them is urgent.
    """
    versions = repository.latest_versions(session)
    groups = planned_groups(session, versions)
    qsgs = {each.name: each.qsg for each in versions}
    measured = usage_rows.page_of_structures(
        session, search=None, offset=0, limit=repository.MOST_STRUCTURES
    ).rows
    places = {(row.qsg, row.structure): row for row in measured}
    observed = repository.last_places(session)
    found = placed(
        groups,
        {
            key: MeasuredPlace(size, _names(observed.get(key)))
            for key, row in places.items()
            if (size := row.size_bytes or (observed[key].size_bytes if key in observed else None))
        },
    )
    ranked = ranked_series(session)
    structures = _structures(session, measured, groups, qsgs, found.places, ranked, lead_time_days)
    run = _latest_run(session)
    plans = tuple(
        sorted(
            (
                FleetPlan(each.name, each.latest, each.qsg, each.errors, each.warnings)
                for each in versions
                if each.errors or each.warnings
            ),
            key=lambda plan: (-plan.errors, -plan.warnings, plan.name),
        )
    )
    return Fleet(
        actions=tuple(_actions(session, structures, ranked, found.facilities, run, plans, found.plans))[
            :MOST_ACTIONS
        ],
        coupling_facilities=found.facilities,
        structures=structures,
        nightly_run=run,
        plans=plans,
    )


def _names(place: repository.LastPlace | None) -> tuple[str, ...]:
    if place is None:
        return ()
    names = tuple(place.coupling_facilities.split())
    return names[:1] if place.is_duplexed is False else names


# ---- structures ------------------------------------------------------------------------------------------------------


def _structures(
    session: Session,
    measured: Sequence[AnyRow],
    groups: Sequence[PlannedGroup],
    qsgs: Mapping[str, str],
    places: Mapping[str, tuple[str, ...]],
    ranked: Sequence[RankedSeries],
    lead_time_days: int,
) -> tuple[FleetStructure, ...]:
    """Return measured and planned structures, the most urgent first."""
    plans: dict[StructureKey, list[str]] = {}
    sizes: dict[StructureKey, int] = {}
    for group in groups:
        for each in group.structures:
            key = (qsgs[group.plan], each.name)
            plans.setdefault(key, []).append(group.plan)
            sizes.setdefault(key, each.initsize_bytes)
    series: dict[StructureKey, RankedSeries] = {}
    for one in ranked:
        # Data sets are files of their own: the structure is not full because one of them is.
        if one.measure != SMDS:
            series.setdefault(one.structure, one)
    forecasts = outlooks(session, [each.forecast_id for each in series.values()])
    last_days: dict[str, date] = {}
    for row in measured:
        last_days[row.qsg] = max(row.last_hour.date(), last_days.get(row.qsg, date.min))
    rows = {(row.qsg, row.structure): row for row in measured}
    found = []
    for key in {**rows, **dict.fromkeys(series), **dict.fromkeys(plans)}:
        of_it = series.get(key)
        found.append(
            _structure(
                key,
                rows.get(key),
                last_days.get(key[0]),
                of_it,
                None if of_it is None else forecasts.get(of_it.forecast_id),
                tuple(sorted(plans.get(key, ()), key=str.lower)),
                sizes.get(key),
                places.get(cfrm_structure_name(qsg_name=key[0], cfstruct_name=key[1]), ()),
                lead_time_days,
            )
        )
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _structure(
    key: StructureKey,
    row: AnyRow | None,
    last_day: date | None,
    series: RankedSeries | None,
    forecast: ForecastOutlook | None,
    plans: tuple[str, ...],
    planned_bytes: int | None,
    places: tuple[str, ...],
    lead_time_days: int,
) -> tuple[UrgencyKey, FleetStructure]:
    used, pool = (None, None) if row is None else _used(row)
    full = series.full if series is not None else None
    if full is None and row is not None and last_day is not None:
        full = _full_by_hours(row, used, last_day)
    limit = None if forecast is None else forecast.limit
    has_figures = forecast is not None and forecast.has_figures
    level = _level(full, limit, used, has_figures=has_figures, lead_time_days=lead_time_days)
    of_series = series.used_percent if series is not None else None
    sorts = urgency_key(
        full,
        crossing_day=None if forecast is None else forecast.earliest_crossing_day,
        used_percent=of_series if used is None else float(used),
        names=key,
    )
    return sorts, FleetStructure(
        qsg=key[0],
        structure=key[1],
        urgency=level,
        full=full,
        used_percent=used,
        used_pool=pool,
        used_at=None if row is None or used is None else row.last_use_hour,
        size_bytes=(row.size_bytes if row is not None else None) or planned_bytes,
        last_full_hour=None if row is None else row.last_full_hour,
        next_limit=limit,
        horizon_days=None if forecast is None else forecast.horizon_days,
        outlook="" if forecast is None else forecast.sentence,
        coupling_facilities=places,
        plans=plans,
        is_measured=row is not None,
        has_forecast=forecast is not None,
    )


def _used(row: AnyRow) -> tuple[Fraction | float | None, Any]:
    return fuller(
        share(row.entries_in_use_max, row.entries_total, row.entries_in_use_pct_max),
        share(row.elements_in_use_max, row.elements_total, row.elements_in_use_pct_max),
    )


def _full_by_hours(row: AnyRow, used: Fraction | float | None, last_day: date) -> Fullness | None:
    """Return when a structure was full by its hours, for structures of which no nightly run has stored days."""
    is_now = used is not None and used >= FULL_PERCENT
    day = row.last_use_hour.date() if is_now else row.last_full_hour and row.last_full_hour.date()
    if day is None or day <= last_day - timedelta(days=FULL_DAYS):
        return None
    return Fullness(
        state="full_now" if is_now and day == last_day else "was_full", count=0, days=1, since=day, last=day
    )


def _level(
    full: Fullness | None,
    limit: NextLimit | None,
    used: Fraction | float | None,
    *,
    has_figures: bool,
    lead_time_days: int,
) -> UrgencyLevel:
    if full is not None:
        return full.state
    if limit is not None and limit.is_passed:
        return "passed"
    if limit is not None and limit.days.p50 is not None:
        return "soon" if limit.days.p50 <= lead_time_days else "later"
    if has_figures:
        return "none"
    return "high" if used is not None and used >= HIGH_PERCENT else "unknown"


# ---- the last 90 days ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DayUse:
    """The highest use of a structure on one day; None if it was not measured."""

    day: date
    used_percent: float | None


SPARK_DAYS = 90
"""Number of days in the small line of a structure."""


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
        used = {row.day: _used_on(row) for row in rows}
        days = (first + timedelta(days=nth) for nth in range(SPARK_DAYS))
        found[key] = tuple(DayUse(day, used.get(day)) for day in days)
    return found


def _used_on(row: AnyRow) -> float | None:
    pools = ((row.entries_peak, row.entries_total), (row.elements_peak, row.elements_total))
    return UsedDay(row.day, None, pools).used_percent


# ---- nightly run -----------------------------------------------------------------------------------------------------


def _latest_run(session: Session) -> FleetRun | None:
    runs = nightly.list_runs(session, PageRequest(per_page=1)).items
    if not runs:
        return None
    run = runs[0]
    return FleetRun(run.id, run.state, run.sentence, run.created_at, run.ended_at, run.finding_counts)


# ---- what to do first ------------------------------------------------------------------------------------------------


def _actions(
    session: Session,
    structures: Sequence[FleetStructure],
    ranked: Sequence[RankedSeries],
    facilities: Sequence[FleetFacility],
    run: FleetRun | None,
    plans: Sequence[FleetPlan],
    counted: Sequence[str],
) -> Iterator[FleetAction]:
    """Yield what to do, the most urgent first."""
    # Simulated structures need no action of anyone unless there is nothing else to see.
    own = [each for each in structures if not has_simulated_name(each.qsg)] or structures
    yield from _at_most(_full(own))
    yield from _at_most(_full_data_sets(ranked))
    yield from _at_most(_losses(facilities, counted))
    if run is not None and run.is_failed:
        yield FleetAction(
            "error",
            f"Nightly run {run.id}",
            f"It failed. {run.sentence}",
            "Show its log",
            f"/nights/{run.id}",
        )
    yield from _uploads(session)
    yield from _at_most(_limits(own))
    yield from _at_most(_plans(plans))
    yield from _unplanned(own)
    if not any(each.is_measured for each in structures):
        yield FleetAction(
            "info",
            "Measurements",
            "No usage of these structures has been measured.",
            "Upload a dump",
            "/new-upload",
        )


def _at_most(actions: Iterator[FleetAction]) -> Iterator[FleetAction]:
    for _, action in zip(range(MOST_OF_A_KIND), actions, strict=False):
        yield action


def _full(structures: Iterable[FleetStructure]) -> Iterator[FleetAction]:
    for each in structures:
        if each.full is not None:
            text = "Compare larger sizes" if each.has_forecast else "Show its usage"
            yield FleetAction("error", _subject(each), f"{each.full.sentence}.", text, address_of(each))


def _full_data_sets(ranked: Iterable[RankedSeries]) -> Iterator[FleetAction]:
    for each in ranked:
        qsg, name = each.structure
        if each.measure == SMDS and each.full is not None and not has_simulated_name(qsg):
            yield FleetAction(
                "error",
                f"{name} of {qsg}",
                f"Data set of {each.queue_manager}: {each.full.sentence[:1].lower()}{each.full.sentence[1:]}.",
                "Show its forecast",
                f"/forecasts/{quote(qsg, safe='')}/{quote(name, safe='')}#{SMDS}-{each.queue_manager}",
            )


def _losses(facilities: Sequence[FleetFacility], plans: Sequence[str]) -> Iterator[FleetAction]:
    names = sorted(plans, key=str.lower)[:MOST_COMPARED]
    query = urlencode([("plan", name) if not nth else ("with", name) for nth, name in enumerate(names)])
    for each in facilities:
        if each.unplaced:
            count = len(each.unplaced)
            what = "1 structure" if count == 1 else f"{count} structures"
            yield FleetAction(
                "error",
                each.name,
                f"If it is lost, {what} cannot be placed elsewhere: {_few(each.unplaced)}.",
                "Show each loss",
                f"/whatif/cf-loss?{query}",
            )


def _uploads(session: Session) -> Iterator[FleetAction]:
    for row in repository.uploads_in(session, (JobState.ASKS, JobState.FAILED), limit=MOST_OF_A_KIND):
        is_question = row.state == JobState.ASKS
        yield FleetAction(
            "warning" if is_question else "error",
            row.filename,
            "The upload needs your input." if is_question else f"The upload failed. {row.sentence}",
            "Answer" if is_question else "Show its log",
            f"/uploads/{row.id}",
        )


def _limits(structures: Iterable[FleetStructure]) -> Iterator[FleetAction]:
    for each in structures:
        if each.urgency not in ("passed", "soon", "high"):
            continue
        limit = each.next_limit
        if limit is None:
            reason = f"{float(each.used_percent or 0):.0f} % of its {each.used_pool} are in use, and it has no forecast."
        elif limit.is_passed:
            reason = f"{limit.measure}: {limit.level} has been passed."
        else:
            days = f"{limit.days.p50} day{'' if limit.days.p50 == 1 else 's'}"
            reason = f"{limit.measure}: {limit.level} in {days}, by the median estimate."
        text = "Compare larger sizes" if each.has_forecast else "Show its usage"
        yield FleetAction("warning", _subject(each), reason, text, address_of(each))


def _plans(plans: Iterable[FleetPlan]) -> Iterator[FleetAction]:
    for each in plans:
        if each.errors:
            count = f"{each.errors} error{'' if each.errors == 1 else 's'}"
            yield FleetAction(
                "error",
                f"Plan {each.name}",
                f"It has {count}; cfplan generates no texts for it.",
                "Correct the plan",
                f"/plans/{quote(each.name, safe='')}",
            )
        else:
            count = f"{each.warnings} open warning{'' if each.warnings == 1 else 's'}"
            yield FleetAction(
                "warning",
                f"Plan {each.name}",
                f"It has {count}.",
                "Review them",
                f"/plans/{quote(each.name, safe='')}",
            )


def _unplanned(structures: Iterable[FleetStructure]) -> Iterator[FleetAction]:
    """Yield an action for the first group with measured structures that are in no plan."""
    found: dict[str, list[str]] = {}
    for each in structures:
        if each.is_measured and not each.plans and each.structure not in OWN_STRUCTURES:
            found.setdefault(each.qsg, []).append(each.structure)
    for qsg, names in sorted(found.items())[:1]:
        count = "1 measured structure is" if len(names) == 1 else f"{len(names)} measured structures are"
        yield FleetAction(
            "info",
            f"Group {qsg}",
            f"{count} in no plan: {_few(sorted(names))}.",
            "Create a plan from usage",
            f"/usage/{quote(qsg, safe='')}/plan",
        )


def address_of(each: FleetStructure) -> str:
    """Return the page of a structure: its forecasts, or else its usage, or else its first plan."""
    at = f"{quote(each.qsg, safe='')}/{quote(each.structure, safe='')}"
    if each.has_forecast:
        return f"/forecasts/{at}"
    return f"/usage/{at}" if each.is_measured else f"/plans/{quote(each.plans[0], safe='')}"


def _subject(each: FleetStructure) -> str:
    return f"{each.structure} of {each.qsg}"


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_OF_A_KIND])
    return shown if len(names) <= MOST_OF_A_KIND else f"{shown} and {len(names) - MOST_OF_A_KIND} others"
