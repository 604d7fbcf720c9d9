"""All SQL about the nights and what they brought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, defer

from app.jobs.models import JobRun, JobState
from app.night.models import (
    CfLevel,
    DailyStructureUsage,
    FitState,
    FittedCurve,
    Forecast,
    ForecastScore,
    NightFinding,
    NightlyRun,
)

# ---- runs ------------------------------------------------------------------------------------------------------------


def find_run(session: Session, run_id: int) -> NightlyRun | None:
    """A run by its number."""
    return session.get(NightlyRun, run_id)


def find_run_of_job(session: Session, job_id: int) -> NightlyRun | None:
    """The run that a job is."""
    return session.scalars(select(NightlyRun).where(NightlyRun.job_id == job_id)).one_or_none()


def page_of_runs(
    session: Session, *, offset: int, limit: int
) -> tuple[Sequence[tuple[NightlyRun, JobRun]], int]:
    """Runs with their jobs, the newest first, and how many there are in all."""
    total = session.scalars(select(func.count(NightlyRun.id))).one()
    query = (
        select(NightlyRun, JobRun)
        .join(JobRun, JobRun.id == NightlyRun.job_id)
        .options(
            defer(NightlyRun.mixes, raiseload=True),
            defer(JobRun.report, raiseload=True),
            defer(JobRun.log, raiseload=True),
        )
        .order_by(NightlyRun.id.desc())
    )
    return [(run, job) for run, job in session.execute(query.offset(offset).limit(limit))], total


def last_stored_run(session: Session) -> NightlyRun | None:
    """The last run that ended well: what is shown as the newest comes from it or from before."""
    query = (
        select(NightlyRun).where(NightlyRun.stored_at.is_not(None)).order_by(NightlyRun.id.desc()).limit(1)
    )
    return session.scalars(query).one_or_none()


def runs_under_way(session: Session) -> Sequence[NightlyRun]:
    """Runs that wait or work, the oldest first; at most one works at a time."""
    query = (
        select(NightlyRun)
        .join(JobRun, JobRun.id == NightlyRun.job_id)
        .where(JobRun.state.in_((JobState.QUEUED, JobState.RUNNING)))
    )
    return session.scalars(query.order_by(NightlyRun.id)).all()


def has_run_due(session: Session, night: date) -> bool:
    """Whether the schedule has begun a run for this night."""
    return session.scalars(select(NightlyRun.id).where(NightlyRun.due_on == night)).first() is not None


# ---- fitted curves ---------------------------------------------------------------------------------------------------


def find_curve(session: Session, version: int) -> FittedCurve | None:
    """A fitted curve by the version that plans name."""
    return session.get(FittedCurve, version)


def page_of_curves(
    session: Session, *, offset: int, limit: int, state: FitState | None = None, current_only: bool = False
) -> tuple[Sequence[FittedCurve], int]:
    """Fitted curves, the newest first, and how many there are in all."""
    query = select(FittedCurve)
    if state is not None:
        query = query.where(FittedCurve.state == state)
    if current_only:
        query = query.where(FittedCurve.is_current)
    total = session.scalars(select(func.count()).select_from(query.subquery())).one()
    return session.scalars(query.order_by(FittedCurve.id.desc()).offset(offset).limit(limit)).all(), total


def current_curves(session: Session) -> Sequence[FittedCurve]:
    """The last accepted fit of each coupling facility and CFCC level, by their names."""
    query = select(FittedCurve).where(FittedCurve.is_current)
    return session.scalars(query.order_by(FittedCurve.coupling_facility, FittedCurve.cfcc_level)).all()


def last_curves(session: Session) -> Mapping[str, FittedCurve]:
    """The last fit of each scope, whatever became of it."""
    last = select(func.max(FittedCurve.id)).group_by(FittedCurve.scope)
    return {each.scope: each for each in session.scalars(select(FittedCurve).where(FittedCurve.id.in_(last)))}


def curves_of_scope(session: Session, scope: str, *, limit: int = 100) -> Sequence[FittedCurve]:
    """All fits of one coupling facility and CFCC level, the newest first."""
    query = select(FittedCurve).where(FittedCurve.scope == scope).order_by(FittedCurve.id.desc()).limit(limit)
    return session.scalars(query).all()


def lay_down_current(session: Session, scope: str) -> None:
    """No fit of this scope is the current one any more."""
    session.execute(
        update(FittedCurve).where(FittedCurve.scope == scope, FittedCurve.is_current).values(is_current=False)
    )


# ---- forecasts -------------------------------------------------------------------------------------------------------


def find_forecast(session: Session, forecast_id: int) -> Forecast | None:
    """A forecast by its number."""
    return session.get(Forecast, forecast_id)


def page_of_forecasts(
    session: Session, *, offset: int, limit: int, qsg: str | None = None, structure: str | None = None,
    latest_only: bool = True,
) -> tuple[Sequence[Forecast], int]:  # fmt: skip
    """Forecasts, those first whose structure runs out first, and how many there are in all."""
    query = select(Forecast)
    if latest_only:
        query = query.where(Forecast.is_latest)
    if qsg is not None:
        query = query.where(Forecast.qsg == qsg)
    if structure is not None:
        query = query.where(Forecast.structure == structure)
    total = session.scalars(select(func.count()).select_from(query.subquery())).one()
    order = (
        Forecast.earliest_crossing_day.is_(None), Forecast.earliest_crossing_day, Forecast.qsg, Forecast.structure,
        Forecast.measure, Forecast.queue_manager, Forecast.id.desc(),
    )  # fmt: skip
    return session.scalars(query.order_by(*order).offset(offset).limit(limit)).all(), total


def latest_forecasts(session: Session) -> Sequence[Forecast]:
    """The latest forecast of every series."""
    return session.scalars(select(Forecast).where(Forecast.is_latest)).all()


def forecasts_of_series(
    session: Session, *, qsg: str, structure: str, measure: str, queue_manager: str = "", limit: int = 100
) -> Sequence[Forecast]:
    """All forecasts of one measure of a structure, the newest first."""
    query = select(Forecast).where(
        Forecast.qsg == qsg, Forecast.structure == structure, Forecast.measure == measure,
        Forecast.queue_manager == queue_manager,
    )  # fmt: skip
    return session.scalars(query.order_by(Forecast.id.desc()).limit(limit)).all()


def forecasts_to_score(session: Session, today: date) -> Sequence[Forecast]:
    """Forecasts that are to be held against the days that followed."""
    query = select(Forecast).where(Forecast.score_on <= today).order_by(Forecast.id)
    return session.scalars(query).all()


def last_scores(session: Session, forecast_ids: Iterable[int]) -> Mapping[int, ForecastScore]:
    """The last score of each of these forecasts, by the forecast's number."""
    last = (
        select(func.max(ForecastScore.id))
        .where(ForecastScore.forecast_id.in_(list(forecast_ids)))
        .group_by(ForecastScore.forecast_id)
    )
    found = session.scalars(select(ForecastScore).where(ForecastScore.id.in_(last)))
    return {score.forecast_id: score for score in found}


def scores_of(session: Session, forecast_id: int) -> Sequence[ForecastScore]:
    """All scores of a forecast, the newest first."""
    query = select(ForecastScore).where(ForecastScore.forecast_id == forecast_id)
    return session.scalars(query.order_by(ForecastScore.id.desc())).all()


# ---- findings --------------------------------------------------------------------------------------------------------


def findings_of(session: Session, run_id: int, *, limit: int | None = None) -> Sequence[NightFinding]:
    """What a run found, in its order."""
    query = select(NightFinding).where(NightFinding.run_id == run_id).order_by(NightFinding.position)
    return session.scalars(query.limit(limit)).all()


def finding_counts(session: Session, run_id: int) -> Mapping[str, int]:
    """How many findings of each severity a run has."""
    query = select(NightFinding.severity, func.count()).where(NightFinding.run_id == run_id)
    counted = session.execute(query.group_by(NightFinding.severity))
    return {row[0]: row[1] for row in counted}


# ---- daily peaks -----------------------------------------------------------------------------------------------------


def daily_usage(
    session: Session, qsg: str, structure: str, *, begin: date | None = None, end: date | None = None
) -> Sequence[DailyStructureUsage]:
    """The days of a structure in their order; `begin` and `end` are among them."""
    query = select(DailyStructureUsage).where(
        DailyStructureUsage.qsg == qsg, DailyStructureUsage.structure == structure
    )
    if begin is not None:
        query = query.where(DailyStructureUsage.day >= begin)
    if end is not None:
        query = query.where(DailyStructureUsage.day <= end)
    return session.scalars(query.order_by(DailyStructureUsage.day)).all()


def remove_days(session: Session, days: Iterable[date]) -> None:
    """Remove all rows of these days."""
    session.execute(delete(DailyStructureUsage).where(DailyStructureUsage.day.in_(list(days))))


# ---- CFCC levels -----------------------------------------------------------------------------------------------------


def cf_levels(session: Session) -> Sequence[CfLevel]:
    """The CFCC levels of all coupling facilities that are known, by name."""
    return session.scalars(select(CfLevel).order_by(CfLevel.coupling_facility)).all()


def find_cf_level(session: Session, coupling_facility: str) -> CfLevel | None:
    """The CFCC level of one coupling facility."""
    return session.get(CfLevel, coupling_facility)


def remove_cf_level(session: Session, coupling_facility: str) -> bool:
    """Forget the level of a coupling facility; say whether it was known."""
    query = delete(CfLevel).where(CfLevel.coupling_facility == coupling_facility)
    return bool(session.execute(query).rowcount)  # type: ignore[attr-defined]
