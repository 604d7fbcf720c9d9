"""Nightly runs: begun, listed, read; simulated data taken away again. Nothing here commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.jobs import repository as job_rows
from app.jobs import service as jobs
from app.jobs.models import JobRun, JobState
from app.jobs.service import Job
from app.nightly import repository
from app.nightly.errors import NightUnderWay, RunNotFound
from app.nightly.job_kinds import FORGET_SIMULATED, LOOK_AROUND, NIGHT
from app.nightly.models import NightFinding, NightlyRun, Trigger
from planner_core.findings import SEVERITIES

MOST_PER_PAGE = 200
KINDS = {Trigger.SIMULATION: LOOK_AROUND}
"""The kind of job that a run is; those that are not here are nights and nothing else."""


@dataclass(frozen=True, slots=True)
class Run:
    """A nightly run as it is shown; the counts are empty until it has ended well."""

    id: int
    trigger: Trigger
    due_on: date | None
    job: Job
    stored_at: datetime | None
    first_day: date | None
    last_day: date | None
    days_total: int | None
    days_reduced: int | None
    rows_read: int | None
    seconds: Mapping[str, float]
    counts: Mapping[str, int]
    findings: Mapping[str, int]
    """How many of each severity."""

    @property
    def duration(self) -> timedelta | None:
        """From its beginning to its end, or to the last sign of life."""
        end = self.job.ended_at or self.job.heartbeat_at
        if self.job.started_at is None or end is None:
            return None
        return max(end - self.job.started_at, timedelta())


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page of the list."""

    items: Sequence[Run]
    total: int
    page: int
    per_page: int

    @property
    def pages(self) -> int:
        """How many pages there are; at least one."""
        return max(-(-self.total // self.per_page), 1)


# ---- reading ---------------------------------------------------------------------------------------------------------


def list_runs(session: Session, *, page: int = 1, per_page: int = 50) -> RunPage:
    """Runs, the newest first."""
    per_page = min(max(per_page, 1), MOST_PER_PAGE)
    rows, total = repository.page_of_runs(session, offset=(page - 1) * per_page, limit=per_page)
    counts = repository.finding_counts(session, [run.id for run, _ in rows])
    return RunPage([_shown(run, job, counts.get(run.id, {})) for run, job in rows], total, page, per_page)


def get(session: Session, run_id: int) -> Run:
    """A run.

    Raises:
        RunNotFound: There is none of this number.
    """
    run = repository.find_run(session, run_id)
    job = None if run is None else job_rows.find(session, run.job_id, light=True)
    if run is None or job is None:
        raise RunNotFound(run_id)
    return _shown(run, job, repository.finding_counts(session, [run.id]).get(run.id, {}))


def findings_of(session: Session, run_id: int) -> Sequence[NightFinding]:
    """What a run found, in its order."""
    return repository.findings_of(session, run_id)


def newest(session: Session) -> Run | None:
    """The last run that ended well."""
    run = repository.last_stored_run(session)
    return None if run is None else get(session, run.id)


def under_way(session: Session) -> Run | None:
    """The run that works or waits; None when there is none."""
    found = repository.runs_under_way(session)
    return get(session, found[0].id) if found else None


def _shown(run: NightlyRun, job: JobRun, findings: Mapping[str, int]) -> Run:
    return Run(
        id=run.id,
        trigger=Trigger(run.trigger),
        due_on=run.due_on,
        job=jobs.shown(job),
        stored_at=run.stored_at,
        first_day=run.first_day,
        last_day=run.last_day,
        days_total=run.days_total,
        days_reduced=run.days_reduced,
        rows_read=run.rows_read,
        seconds=run.seconds or {},
        counts=run.counts or {},
        findings={severity: findings.get(severity, 0) for severity in SEVERITIES},
    )


# ---- beginning -------------------------------------------------------------------------------------------------------


def queue(session: Session, trigger: Trigger, *, due_on: date | None = None) -> NightlyRun:
    """A new run that waits for its turn. It is flushed for its number.

    Raises:
        NightUnderWay: There is one already.
    """
    job_rows.hold_claims(session)
    refuse_second(session)
    job = jobs.queue(session, KINDS.get(trigger, NIGHT))
    run = NightlyRun(job_id=job.id, trigger=trigger, due_on=due_on)
    session.add(run)
    session.flush()
    return run


def queue_forgetting(session: Session) -> Job:
    """A job that takes simulated data away again.

    Raises:
        NightUnderWay: A night is under way.
    """
    job_rows.hold_claims(session)
    refuse_second(session)
    return jobs.queue(session, FORGET_SIMULATED)


def refuse_second(session: Session) -> None:
    """Say no where a run of these kinds works or waits.

    Raises:
        NightUnderWay: It does.
    """
    found = repository.runs_under_way(session)
    if found:
        raise NightUnderWay(
            found[0].id, f"Nightly run {found[0].id} is under way. There is one at a time; nothing was begun."
        )
    if job_rows.unfinished(session, FORGET_SIMULATED):
        raise NightUnderWay(
            None, "Simulated data is being removed. Wait until that has ended; nothing was begun."
        )


# ---- simulated data --------------------------------------------------------------------------------------------------


def has_simulated(session: Session) -> bool:
    """Whether anything simulated is stored."""
    return repository.has_simulated(session)


def forget_simulated(session: Session) -> dict[str, int]:
    """Remove all rows of simulated data, and the runs that were made for it; how many of each."""
    return repository.remove_simulated(session)


def is_under_way(state: JobState) -> bool:
    """Whether a run in this state still changes by itself."""
    return state in (JobState.QUEUED, JobState.RUNNING)


def summary_of(counts: Mapping[str, Any], *, days_total: int, days_reduced: int) -> str:
    """What a run brought, in a sentence or two."""
    if not days_total:
        return "The usage history is empty, so there was nothing to do."
    parts = [
        _so_many(counts["findings"], "finding"),
        _so_many(counts["curves"], "new fit"),
        _so_many(counts["forecasts"], "new forecast"),
    ]
    days = f"{days_reduced} of {_so_many(days_total, 'day')} of the history had to be read."
    return f"{parts[0]}; {parts[1]}, {parts[2]}. {days}"


def _so_many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
