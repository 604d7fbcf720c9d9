"""All SQL about runs of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.orm import Session, defer

from app.database.transactions import hold_lock
from app.jobs.kinds import kind_of, names_alone
from app.jobs.models import JobRun, JobState

CLAIM_LOCK = 0x6366706A6F62  # "cfpjob"
"""Advisory lock on PostgreSQL for claims; without it, two processes could both claim the last free slot."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last sign of life of the keeper of a run. A living keeper replaces it about every second."""

    job_id: int
    owner: str
    at: datetime


def hold_claims(session: Session) -> None:
    """Prevent claims by other processes until the transaction ends. On SQLite, a writer has the database to itself."""
    hold_lock(session, CLAIM_LOCK)


def find(session: Session, job_id: int, *, lock: bool = False, light: bool = False) -> JobRun | None:
    """Return a run; with `light`, its report and its log are not read."""
    query = select(JobRun).where(JobRun.id == job_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    if light:
        query = query.options(defer(JobRun.report, raiseload=True), defer(JobRun.log, raiseload=True))
    return session.scalars(query).one_or_none()


def latest_of(session: Session, upload_ids: Iterable[int]) -> Mapping[int, JobRun]:
    """Return the last run of each of these uploads, without report and log."""
    last = (
        select(func.max(JobRun.id)).where(JobRun.upload_id.in_(list(upload_ids))).group_by(JobRun.upload_id)
    )
    query = select(JobRun).where(JobRun.id.in_(last))
    # Reports and logs can be megabytes long for each row of a list; raiseload turns an accidental read into an error.
    query = query.options(defer(JobRun.report, raiseload=True), defer(JobRun.log, raiseload=True))
    return {run.upload_id: run for run in session.scalars(query) if run.upload_id is not None}


def alive() -> ColumnElement[bool]:
    """Return the condition for runs that have a keeper.

    The heartbeat of a dead keeper is removed (`release`). It is never compared with a clock, because the clocks of two
    machines may differ, and a clock may be set.
    """
    return and_(JobRun.state == JobState.RUNNING, JobRun.heartbeat_at.is_not(None))


def waiting(session: Session) -> Sequence[int]:
    """Return the numbers of the runs that wait for a keeper, oldest first.

    Runs of the kinds that run alone are not included while one of those kinds is running.
    """
    is_released = and_(JobRun.state == JobState.RUNNING, JobRun.heartbeat_at.is_(None))
    query = select(JobRun.id, JobRun.kind).where(or_(JobRun.state == JobState.QUEUED, is_released))
    is_taken = count_alive(session, kinds=names_alone()) > 0
    found = []
    for job_id, kind in session.execute(query.order_by(JobRun.id)):
        if kind_of(kind).is_alone:
            if is_taken:
                continue
            is_taken = True
        found.append(job_id)
    return found


def count_alive(session: Session, *, kinds: Sequence[str] = ()) -> int:
    """Count the runs that have a keeper; `kinds` limits the count to these kinds."""
    query = select(func.count(JobRun.id)).where(alive())
    return session.scalars(query.where(JobRun.kind.in_(kinds)) if kinds else query).one()


def unfinished(session: Session, kind: str) -> Sequence[int]:
    """Return the numbers of the waiting and running runs of a kind, oldest first."""
    under_way = JobRun.state.in_((JobState.QUEUED, JobState.RUNNING))
    return session.scalars(select(JobRun.id).where(JobRun.kind == kind, under_way).order_by(JobRun.id)).all()


def last_of_kind(session: Session, kind: str) -> JobRun | None:
    """Return the last run of a kind, without report and log."""
    query = select(JobRun).where(JobRun.kind == kind).order_by(JobRun.id.desc()).limit(1)
    query = query.options(defer(JobRun.report, raiseload=True), defer(JobRun.log, raiseload=True))
    return session.scalars(query).one_or_none()


def last_reports(session: Session, kind: str, *, most: int) -> Sequence[str]:
    """Return the last reports of runs of a kind, newest first."""
    query = select(JobRun.report).where(JobRun.kind == kind, JobRun.report.is_not(None))
    reports = session.scalars(query.order_by(JobRun.id.desc()).limit(most))
    return [report for report in reports if report is not None]


def running_owners(session: Session) -> Sequence[tuple[int, str]]:
    """Return the number and the owner of every run in the state RUNNING."""
    query = select(JobRun.id, JobRun.owner).where(JobRun.state == JobState.RUNNING)
    return [(row.id, row.owner) for row in session.execute(query)]


def heartbeats(session: Session, *, kinds: Sequence[str] = ()) -> Sequence[Heartbeat]:
    """Return the last heartbeat of every run that has a keeper; `kinds` limits the runs to these kinds."""
    query = select(JobRun.id, JobRun.owner, JobRun.heartbeat_at).where(alive())
    if kinds:
        query = query.where(JobRun.kind.in_(kinds))
    return [Heartbeat(row.id, row.owner, row.heartbeat_at) for row in session.execute(query)]


def release(session: Session, heartbeat: Heartbeat) -> bool:
    """Remove the heartbeat of a dead keeper, unless the run has another one by now; return whether it was removed."""
    query = update(JobRun).where(
        JobRun.id == heartbeat.job_id,
        JobRun.owner == heartbeat.owner,
        JobRun.heartbeat_at == heartbeat.at,
        JobRun.state == JobState.RUNNING,
    )
    changed = session.execute(
        query.values(heartbeat_at=None), execution_options={"synchronize_session": False}
    )
    return bool(changed.rowcount)  # type: ignore[attr-defined]


def change_own(session: Session, job_id: int, owner: str, **values: Any) -> bool:  # noqa: ANN401 - any column
    """Write to a run if this owner still has it; return whether the run was changed."""
    query = update(JobRun).where(JobRun.id == job_id, JobRun.owner == owner, JobRun.state == JobState.RUNNING)
    changed = session.execute(query.values(**values), execution_options={"synchronize_session": False})
    return bool(changed.rowcount)  # type: ignore[attr-defined]


def counts(session: Session) -> Sequence[tuple[str, str, int]]:
    """Return the kinds and states of all runs, with the number of runs."""
    query = select(JobRun.kind, JobRun.state, func.count(JobRun.id)).group_by(JobRun.kind, JobRun.state)
    return [(kind, state, count) for kind, state, count in session.execute(query)]


def queued_since(session: Session) -> datetime | None:
    """Return the time since which the oldest run in the state QUEUED has waited; None if no run waits."""
    return session.scalars(select(func.min(JobRun.created_at)).where(JobRun.state == JobState.QUEUED)).one()


def last_success(session: Session, kind: str) -> datetime | None:
    """Return the time at which a run of a kind last ended in the state DONE."""
    query = select(func.max(JobRun.ended_at)).where(JobRun.kind == kind, JobRun.state == JobState.DONE)
    return session.scalars(query).one()
