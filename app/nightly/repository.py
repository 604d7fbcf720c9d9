"""All SQL about nightly runs and their results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, delete, extract, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session, defer

from app.database.ordering import Expression, ordered_by
from app.database.portions import portions
from app.database.types import AnyRow
from app.jobs.models import JobRun, JobState
from app.nightly.models import (
    CfLevel,
    DailyStructureUsage,
    FitState,
    FitVersion,
    ForecastScore,
    NightlyRun,
    StoredFinding,
    StoredForecast,
    StoredHealth,
    Trigger,
)
from app.paging import Sort
from app.plans.models import Plan, PlanVersion
from app.uploads.job_kind import INGEST
from app.usage.models import HourlyQueueUsage, HourlySmdsUsage, HourlyStructureUsage, StoredMeasuredStructure
from planner_core.simulated import has_simulated_name
from planner_core.urgency import FULL_DAYS

FORECAST_STATES = ("forecast", "flat")
"""The states of forecasts that have figures."""


def _newest_first(
    number: InstrumentedAttribute[int], sort: Sort | None, expressions: Mapping[str, Expression]
) -> tuple[ColumnElement[Any], ...]:
    """Return the terms of ORDER BY for a list in which the newest rows are first, by default and between ties."""
    if sort is None:
        return (number.desc(),)
    # A negative number, because ties are sorted in ascending order.
    return ordered_by(sort, expressions, ties=(-number,))


# ---- runs ------------------------------------------------------------------------------------------------------------


def find_run(session: Session, run_id: int) -> NightlyRun | None:
    """Return a run by its number."""
    return session.get(NightlyRun, run_id)


def find_run_of_job(session: Session, job_id: int) -> NightlyRun | None:
    """Return the run of a job."""
    return session.scalars(select(NightlyRun).where(NightlyRun.job_id == job_id)).one_or_none()


_FINDING_WEIGHTS = {"error": 1_000_000_000, "warning": 100_000}
"""Any error is more urgent than any number of warnings, and a warning than any number of remarks."""
RUNS_SORTED_BY: Final[Mapping[str, Expression]] = {
    "run": NightlyRun.id,
    "state": case({JobState.RUNNING: 1, JobState.QUEUED: 2, JobState.DONE: 3}, value=JobRun.state, else_=0),
    "started_at": func.coalesce(JobRun.started_at, JobRun.created_at),
    "trigger": NightlyRun.trigger,
    "duration_s": extract("epoch", func.coalesce(JobRun.ended_at, JobRun.heartbeat_at))
    - extract("epoch", JobRun.started_at),
    "days_reduced": NightlyRun.days_reduced,
    # NULL for runs without results: they have no findings because they were not evaluated.
    "findings": case(
        (
            NightlyRun.stored_at.is_not(None),
            -select(func.coalesce(func.sum(case(_FINDING_WEIGHTS, value=StoredFinding.severity, else_=1)), 0))
            .where(StoredFinding.run_id == NightlyRun.id)
            .scalar_subquery(),
        ),
    ),
}
"""The values by which runs can be sorted, by key."""


def page_of_runs(
    session: Session, *, offset: int, limit: int, sort: Sort | None = None
) -> tuple[Sequence[tuple[NightlyRun, JobRun]], int]:
    """Return runs with their jobs, and the number of all runs.

    Without a requested order, the newest are first.
    """
    total = session.scalars(select(func.count(NightlyRun.id))).one()
    query = (
        select(NightlyRun, JobRun)
        .join(JobRun, JobRun.id == NightlyRun.job_id)
        .options(
            # A list needs none of these long columns; raiseload turns an accidental read into an error instead of a query for
            # each row.
            defer(NightlyRun.mixes, raiseload=True),
            defer(NightlyRun.published, raiseload=True),
            defer(JobRun.report, raiseload=True),
            defer(JobRun.log, raiseload=True),
        )
        .order_by(*_newest_first(NightlyRun.id, sort, RUNS_SORTED_BY))
    )
    return [(run, job) for run, job in session.execute(query.offset(offset).limit(limit))], total


def last_stored_run(session: Session) -> NightlyRun | None:
    """Return the last successful run."""
    query = (
        select(NightlyRun).where(NightlyRun.stored_at.is_not(None)).order_by(NightlyRun.id.desc()).limit(1)
    )
    return session.scalars(query).one_or_none()


def runs_under_way(session: Session) -> Sequence[NightlyRun]:
    """Return runs that are in progress or wait, oldest first; at most one is in progress."""
    query = (
        select(NightlyRun)
        .join(JobRun, JobRun.id == NightlyRun.job_id)
        .where(JobRun.state.in_((JobState.QUEUED, JobState.RUNNING)))
    )
    return session.scalars(query.order_by(NightlyRun.id)).all()


AHEAD = timedelta(days=2)
"""How far in the future a run may be because of time zones. A later one was started while a clock was wrong, and must not
prevent all runs until then.
"""


def is_run_due(session: Session, night: date, *, since: datetime) -> bool:
    """Return whether the schedule must start a run for a night that has been due since then.

    No run is due if the schedule has started one for this night, if any other run was started since, or if there is no
    data yet.
    """
    begun = (
        select(NightlyRun.id)
        .join(JobRun, JobRun.id == NightlyRun.job_id)
        .where(
            or_(
                NightlyRun.due_on.between(night, night + AHEAD),
                and_(
                    JobRun.created_at.between(since, since + AHEAD),
                    # Simulated data is no reason to skip the run over the site's own data.
                    NightlyRun.trigger != Trigger.SIMULATION,
                ),
            )
        )
    )
    has_data = or_(
        select(StoredMeasuredStructure.qsg).exists(),
        select(JobRun.id).where(JobRun.kind == INGEST, JobRun.state == JobState.DONE).exists(),
    )
    return session.scalars(begun).first() is None and bool(session.scalar(select(has_data)))


def drop_published(session: Session, *, but: int) -> None:
    """Delete `published` of all other runs, because it is as large as the history."""
    others = update(NightlyRun).where(NightlyRun.published.is_not(None), NightlyRun.id != but)
    session.execute(others.values(published=None))


# ---- facts --------------------------------------------------------------------------------------------


def latest_plans(session: Session) -> Sequence[AnyRow]:
    """Return name, number, group, document and result of the latest version of every plan, sorted by name."""
    query = (
        select(Plan.name, PlanVersion.number, PlanVersion.qsg, PlanVersion.document, PlanVersion.result)
        .join(PlanVersion, (PlanVersion.plan_id == Plan.id) & (PlanVersion.number == Plan.latest))
        .where(Plan.deleted_at.is_(None))
    )
    return session.execute(query.order_by(Plan.name)).all()


# ---- fitted curves ---------------------------------------------------------------------------------------------------


def find_curve(session: Session, version: int) -> FitVersion | None:
    """Return a fitted curve by its version."""
    return session.get(FitVersion, version)


CURVES_SORTED_BY: Final[Mapping[str, Expression]] = {
    "version": FitVersion.id,
    "coupling_facility": func.nullif(FitVersion.coupling_facility, ""),
    "cfcc_level": FitVersion.cfcc_level,
    "state": case(
        (FitVersion.state == FitState.REJECTED, 0),
        (FitVersion.state == FitState.TOO_LITTLE, 1),
        (FitVersion.is_current, 3),
        else_=2,
    ),
    "base_bytes": FitVersion.base_bytes,
    "bundle_bytes": FitVersion.bundle_bytes,
    "points": FitVersion.points,
    "made_at": FitVersion.made_at,
}
"""The values by which fitted curves can be sorted, by key."""


def page_of_curves(
    session: Session, *, offset: int, limit: int, state: FitState | None = None, current_only: bool = False,
    search: str = "", sort: Sort | None = None,
) -> tuple[Sequence[FitVersion], int]:  # fmt: skip
    """Return fitted curves, and the number of all that match; `search` is a part of the coupling facility's name.

    Without a requested order, the newest are first.
    """
    query = select(FitVersion)
    if state is not None:
        query = query.where(FitVersion.state == state)
    if current_only:
        query = query.where(FitVersion.is_current)
    if search:
        # LIKE ignores case on SQLite but not on PostgreSQL.
        name = func.lower(FitVersion.coupling_facility)
        query = query.where(name.contains(search.lower(), autoescape=True))
    total = session.scalars(select(func.count()).select_from(query.subquery())).one()
    order = _newest_first(FitVersion.id, sort, CURVES_SORTED_BY)
    return session.scalars(query.order_by(*order).offset(offset).limit(limit)).all(), total


def current_curves(session: Session, *, of_runs: bool = False) -> Sequence[FitVersion]:
    """Return the last accepted fit of each coupling facility and CFCC level, sorted by name.

    Fits of sizing answers are first, unless `of_runs` excludes them.
    """
    query = select(FitVersion).where(FitVersion.is_current)
    if of_runs:
        query = query.where(FitVersion.run_id.is_not(None))
    return session.scalars(query.order_by(FitVersion.coupling_facility, FitVersion.cfcc_level)).all()


def last_curves(session: Session) -> Mapping[str, FitVersion]:
    """Return the last fit of each scope, accepted or not."""
    last = select(func.max(FitVersion.id)).group_by(FitVersion.scope)
    return {each.scope: each for each in session.scalars(select(FitVersion).where(FitVersion.id.in_(last)))}


def curves_of_scope(session: Session, scope: str, *, limit: int = 100) -> Sequence[FitVersion]:
    """Return all fits of one coupling facility and CFCC level, newest first."""
    query = select(FitVersion).where(FitVersion.scope == scope).order_by(FitVersion.id.desc()).limit(limit)
    return session.scalars(query).all()


def curves_of_run(session: Session, run_id: int) -> Sequence[FitVersion]:
    """Return the new fits of a run, in the order in which the run stored them."""
    return session.scalars(
        select(FitVersion).where(FitVersion.run_id == run_id).order_by(FitVersion.id)
    ).all()


def unmark_current(session: Session, scope: str) -> None:
    """Remove the mark of the current fit of this scope."""
    session.execute(
        update(FitVersion).where(FitVersion.scope == scope, FitVersion.is_current).values(is_current=False)
    )


# ---- forecasts -------------------------------------------------------------------------------------------------------


def newest_curves(session: Session) -> Sequence[FitVersion]:
    """Return the newest fit of every coupling facility, accepted or not; fits of sizing answers are of none."""
    newest = (
        select(func.max(FitVersion.id))
        .where(FitVersion.run_id.is_not(None))
        .group_by(FitVersion.coupling_facility)
    )
    query = select(FitVersion).where(FitVersion.id.in_(newest))
    return session.scalars(query.order_by(FitVersion.coupling_facility)).all()


def page_of_forecasts(
    session: Session, *, offset: int, limit: int, qsg: str | None = None, structure: str | None = None,
    latest_only: bool = True,
) -> tuple[Sequence[StoredForecast], int]:  # fmt: skip
    """Return forecasts in the order in which structures run out, and the number of all forecasts."""
    query = select(StoredForecast)
    if latest_only:
        query = query.where(StoredForecast.is_latest)
    if qsg is not None:
        query = query.where(StoredForecast.qsg == qsg)
    if structure is not None:
        query = query.where(StoredForecast.structure == structure)
    total = session.scalars(select(func.count()).select_from(query.subquery())).one()
    order = (
        # SQLite and PostgreSQL sort NULL to different ends.
        StoredForecast.earliest_crossing_day.is_(None), StoredForecast.earliest_crossing_day, StoredForecast.qsg, StoredForecast.structure,
        StoredForecast.measure, StoredForecast.queue_manager, StoredForecast.id.desc(),
    )  # fmt: skip
    return session.scalars(query.order_by(*order).offset(offset).limit(limit)).all(), total


def latest_series(session: Session, *, search: str = "") -> Sequence[AnyRow]:
    """Return the latest forecast of every series whose group or structure contains a text, without its contents."""
    one = StoredForecast
    query = select(
        one.id,
        one.qsg,
        one.structure,
        one.measure,
        one.queue_manager,
        one.earliest_crossing_day,
        one.made_on,
        one.probability,
        one.growth_per_30_days,
    ).where(one.is_latest)
    if search:
        # Without escaping, the underscore of CSQ_ADMIN would match any character.
        names = (
            func.lower(name).contains(search.lower(), autoescape=True) for name in (one.qsg, one.structure)
        )
        query = query.where(or_(*names))
    return session.execute(query).all()


def latest_forecasts(session: Session) -> Sequence[StoredForecast]:
    """Return the latest forecast of every series."""
    return session.scalars(select(StoredForecast).where(StoredForecast.is_latest)).all()


def forecasts_of_series(
    session: Session, *, qsg: str, structure: str, measure: str, queue_manager: str = "", limit: int = 100
) -> Sequence[StoredForecast]:
    """Return all forecasts of one measure of a structure, newest first."""
    query = select(StoredForecast).where(
        StoredForecast.qsg == qsg, StoredForecast.structure == structure, StoredForecast.measure == measure,
        StoredForecast.queue_manager == queue_manager,
    )  # fmt: skip
    return session.scalars(query.order_by(StoredForecast.id.desc()).limit(limit)).all()


def numbers_of_series(session: Session, forecast: StoredForecast, *, limit: int) -> Sequence[int]:
    """Return the numbers of the forecasts of the same series, newest first."""
    one = StoredForecast
    query = select(one.id).where(
        one.qsg == forecast.qsg, one.structure == forecast.structure, one.measure == forecast.measure,
        one.queue_manager == forecast.queue_manager,
    )  # fmt: skip
    return session.scalars(query.order_by(one.id.desc()).limit(limit)).all()


def forecasts_to_score(session: Session, today: date) -> Sequence[StoredForecast]:
    """Return the forecasts that are due for a score today."""
    query = select(StoredForecast).where(StoredForecast.score_on <= today).order_by(StoredForecast.id)
    return session.scalars(query).all()


def drop_forecasts(session: Session, *, made_before: date) -> None:
    """Delete old forecasts with their scores, except the latest of each series and any that must still be scored."""
    session.execute(
        delete(StoredForecast).where(
            StoredForecast.made_on < made_before,
            StoredForecast.is_latest.is_(False),
            # A forecast that must still be scored stays: accuracy is stated for forecasts of all ages.
            StoredForecast.score_on.is_(None),
        )
    )


def unmark_latest(session: Session, forecast_ids: Iterable[int]) -> None:
    """Remove the mark of the latest forecast from these forecasts."""
    for ids in portions(forecast_ids):
        session.execute(update(StoredForecast).where(StoredForecast.id.in_(ids)).values(is_latest=False))


def forecasts_made_on(session: Session, days: Iterable[date]) -> Sequence[AnyRow]:
    """Return the number, series and day of all forecasts that were made on these days."""
    query = select(
        StoredForecast.id, StoredForecast.qsg, StoredForecast.structure, StoredForecast.measure, StoredForecast.queue_manager, StoredForecast.made_on
    )  # fmt: skip
    return [
        row
        for some in portions(days)
        for row in session.execute(query.where(StoredForecast.made_on.in_(some)).order_by(StoredForecast.id))
    ]


def remove_forecasts(session: Session, forecast_ids: Iterable[int]) -> None:
    """Remove these forecasts with their scores."""
    for ids in portions(forecast_ids):
        session.execute(delete(StoredForecast).where(StoredForecast.id.in_(ids)))


def forecasts_by_id(session: Session, forecast_ids: Iterable[int]) -> Mapping[int, StoredForecast]:
    """Return the forecasts with these numbers that still exist, keyed by number."""
    return {
        each.id: each
        for ids in portions(forecast_ids)
        for each in session.scalars(select(StoredForecast).where(StoredForecast.id.in_(ids)))
    }


def last_scores(session: Session, forecast_ids: Iterable[int]) -> Mapping[int, ForecastScore]:
    """Return the last score of each of these forecasts, keyed by the number of the forecast."""
    found: dict[int, ForecastScore] = {}
    for ids in portions(forecast_ids):
        last = (
            select(func.max(ForecastScore.id))
            .where(ForecastScore.forecast_id.in_(ids))
            .group_by(ForecastScore.forecast_id)
        )
        for score in session.scalars(select(ForecastScore).where(ForecastScore.id.in_(last))):
            found[score.forecast_id] = score
    return found


# ---- findings --------------------------------------------------------------------------------------------------------


def findings_of(session: Session, run_id: int, *, limit: int | None = None) -> Sequence[StoredFinding]:
    """Return the findings of a run, in the order in which the job reported them."""
    query = select(StoredFinding).where(StoredFinding.run_id == run_id).order_by(StoredFinding.position)
    return session.scalars(query.limit(limit)).all()


def finding_counts(session: Session, run_ids: Sequence[int]) -> Mapping[int, Mapping[str, int]]:
    """Return the number of findings of each severity, keyed by run."""
    query = select(StoredFinding.run_id, StoredFinding.severity, func.count()).where(
        StoredFinding.run_id.in_(run_ids)
    )
    found: dict[int, dict[str, int]] = {}
    for run_id, severity, count in session.execute(
        query.group_by(StoredFinding.run_id, StoredFinding.severity)
    ):
        found.setdefault(run_id, {})[severity] = count
    return found


# ---- daily peaks -----------------------------------------------------------------------------------------------------


def daily_usage(
    session: Session, qsg: str, structure: str, *, begin: date | None = None, end: date | None = None
) -> Sequence[DailyStructureUsage]:
    """Return the days of a structure from `begin` to `end`, both included, in order."""
    query = select(DailyStructureUsage).where(
        DailyStructureUsage.qsg == qsg, DailyStructureUsage.structure == structure
    )
    if begin is not None:
        query = query.where(DailyStructureUsage.day >= begin)
    if end is not None:
        query = query.where(DailyStructureUsage.day <= end)
    return session.scalars(query.order_by(DailyStructureUsage.day)).all()


def last_days(session: Session, qsg: str | None = None) -> dict[str, date]:
    """Return the last day with records for every group, or for one."""
    query = select(DailyStructureUsage.qsg, func.max(DailyStructureUsage.day)).group_by(
        DailyStructureUsage.qsg
    )
    if qsg is not None:
        query = query.where(DailyStructureUsage.qsg == qsg)
    return {row[0]: row[1] for row in session.execute(query)}


def recent_days(
    session: Session, last: Mapping[str, date], structures: Collection[str] | None = None
) -> Sequence[AnyRow]:
    """Return the days of structures in these groups that are recent enough to show that a structure is full.

    `structures` limits them to structures with these names; None means all.
    """
    one = DailyStructureUsage
    found: list[AnyRow] = []
    # Rows of columns, because a site has thousands of days: objects of the table would take much longer to create.
    columns = select(
        one.qsg, one.structure, one.day, one.entries_peak, one.entries_total, one.elements_peak, one.elements_total,
        one.full_count, one.smds,
    )  # fmt: skip
    if structures is not None:
        columns = columns.where(one.structure.in_(structures))
    # One statement for many groups, because a site may have hundreds of them.
    for groups in portions(last.items()):
        query = columns.where(or_(*(_is_recent(qsg, day) for qsg, day in groups)))
        found += session.execute(query.order_by(one.qsg, one.structure, one.day))
    return found


def recent_peaks(session: Session, last: Mapping[str, date]) -> Sequence[AnyRow]:
    """Return, for each structure, the highest use of its entries and elements on these days, and how often it was full."""
    one = DailyStructureUsage
    columns = select(
        one.qsg,
        one.structure,
        func.max(100.0 * one.entries_peak / func.nullif(one.entries_total, 0)).label("entries_percent"),
        func.max(100.0 * one.elements_peak / func.nullif(one.elements_total, 0)).label("elements_percent"),
        func.sum(one.full_count).label("full_count"),
    ).group_by(one.qsg, one.structure)
    return [
        row
        for groups in portions(last.items())
        for row in session.execute(columns.where(or_(*(_is_recent(qsg, day) for qsg, day in groups))))
    ]


def _is_recent(qsg: str, last_day: date) -> ColumnElement[bool]:
    usage = DailyStructureUsage
    return and_(usage.qsg == qsg, usage.day > last_day - timedelta(days=FULL_DAYS))


def next_limits(session: Session, measures: Sequence[str]) -> Sequence[AnyRow]:
    """Return, for each structure with a forecast of these measures, its earliest crossing day.

    The day is null if no level is passed within the horizon.
    """
    one = StoredForecast
    query = select(
        one.qsg,
        one.structure,
        func.max(one.made_on).label("made_on"),
        func.max(one.horizon_days).label("horizon_days"),
        func.min(one.earliest_crossing_day).label("day"),
    ).where(one.is_latest, one.measure.in_(measures), one.state.in_(FORECAST_STATES))
    return session.execute(query.group_by(one.qsg, one.structure)).all()


def remove_days(session: Session, days: Iterable[date]) -> None:
    """Remove all rows of these days."""
    for some in portions(days):
        session.execute(delete(DailyStructureUsage).where(DailyStructureUsage.day.in_(some)))


# ---- health ----------------------------------------------------------------------------------------------------------


def find_health(session: Session, qsg: str, structure: str) -> StoredHealth | None:
    """Return the health of a structure; None if no run has judged it."""
    return session.get(StoredHealth, (qsg, structure))


def healths_with_warnings(session: Session, *, limit: int) -> Sequence[StoredHealth]:
    """Return the health of measured structures that have a warning, by group and name."""
    one = StoredHealth
    query = select(one).where(one.has_warning, ~one.is_simulated).order_by(one.qsg, one.structure)
    return session.scalars(query.limit(limit)).all()


def all_healths(session: Session) -> Sequence[StoredHealth]:
    """Return the health of all structures, by group and name."""
    return session.scalars(select(StoredHealth).order_by(StoredHealth.qsg, StoredHealth.structure)).all()


def remove_health(session: Session) -> None:
    """Remove the health of all structures."""
    session.execute(delete(StoredHealth))


# ---- CFCC levels -----------------------------------------------------------------------------------------------------


def cf_levels(session: Session) -> Sequence[CfLevel]:
    """Return the known CFCC levels of all coupling facilities, sorted by name."""
    return session.scalars(select(CfLevel).order_by(CfLevel.coupling_facility)).all()


def find_cf_level(session: Session, coupling_facility: str) -> CfLevel | None:
    """Return the CFCC level of one coupling facility."""
    return session.get(CfLevel, coupling_facility)


def remove_cf_level(session: Session, coupling_facility: str) -> bool:
    """Remove the level of a coupling facility; return whether there was one."""
    query = delete(CfLevel).where(CfLevel.coupling_facility == coupling_facility)
    return bool(session.execute(query).rowcount)  # type: ignore[attr-defined]


def keep_simulated_levels(session: Session, levels: Mapping[str, int], *, at: datetime) -> None:
    """Store the levels of simulated coupling facilities, except where the site has set one."""
    known = {each.coupling_facility for each in cf_levels(session)}
    for name, level in levels.items():
        if name not in known:
            session.add(
                CfLevel(coupling_facility=name, cfcc_level=level, source=SIMULATED_DATA, updated_at=at)
            )


# ---- simulated data --------------------------------------------------------------------------------------------------

SIMULATED_DATA = "simulated data"
SIMULATED = (FitVersion, StoredForecast, StoredFinding, DailyStructureUsage, StoredHealth)


def has_simulated(session: Session) -> bool:
    """Return whether anything simulated is stored."""
    groups = session.scalars(select(StoredMeasuredStructure.qsg).distinct())
    return any(map(has_simulated_name, groups)) or any(
        session.execute(select(table.is_simulated).where(table.is_simulated).limit(1)).first() is not None
        for table in SIMULATED
    )


def days_of_simulated_groups(session: Session) -> Sequence[date]:
    """Return the days with roll-ups of simulated groups, in order."""
    groups = list(filter(has_simulated_name, session.scalars(select(StoredMeasuredStructure.qsg).distinct())))
    hours: set[datetime] = set()
    for table in (HourlyStructureUsage, HourlySmdsUsage, HourlyQueueUsage):
        hours.update(session.scalars(select(table.hour).where(table.qsg.in_(groups)).distinct()))
    return sorted({hour.date() for hour in hours})


def remove_simulated(session: Session) -> dict[str, int]:
    """Remove simulated rows and the runs that were made only for them; return the number of rows by table."""
    removed = {}
    for table in SIMULATED:
        gone = session.execute(delete(table).where(table.is_simulated))
        removed[table.__tablename__] = int(gone.rowcount)  # type: ignore[attr-defined]
    of_simulation = select(NightlyRun.job_id).where(
        NightlyRun.trigger == Trigger.SIMULATION,
        *(
            # Such a run reads the whole history, so measured results may belong to it as well.
            ~select(1).where(table.run_id == NightlyRun.id).exists()
            for table in (FitVersion, StoredForecast, ForecastScore, StoredFinding, StoredHealth)
        ),
    )
    job_ids = session.scalars(of_simulation).all()
    session.execute(delete(NightlyRun).where(NightlyRun.job_id.in_(job_ids)))
    gone = session.execute(delete(JobRun).where(JobRun.id.in_(job_ids)))
    session.execute(delete(CfLevel).where(CfLevel.source == SIMULATED_DATA))
    removed[NightlyRun.__tablename__] = int(gone.rowcount)  # type: ignore[attr-defined]
    return removed
