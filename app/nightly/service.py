"""Nightly runs: start, list and read them, and remove simulated data. Callers commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field, computed_field
from sqlalchemy.orm import Session

from app.actor import current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.errors import JobBusy, NotFound
from app.jobs import repository as job_rows
from app.jobs import service as jobs
from app.jobs.models import JobRun, JobState
from app.jobs.service import Job
from app.nightly import repository
from app.nightly.job_kinds import FORGET_SIMULATED, LOOK_AROUND, NIGHT
from app.nightly.models import NightlyRun, Trigger
from app.nightly.results import StoredCounts
from app.paging import PageRequest, ResultPage, Sort
from planner_core.contracts.files import parsed_text
from planner_core.contracts.nightly import NightlyFinding
from planner_core.findings import Finding
from planner_core.health import StructureHealth
from planner_core.wire import Answer, Hidden

FIRST_PAGE = PageRequest()
KINDS = {Trigger.SIMULATION: LOOK_AROUND}
"""Kinds of jobs by trigger, for runs that are not plain nightly runs."""


# A nightly run never waits for answers, so it has one state fewer than other jobs.
State = Annotated[str, Field(json_schema_extra={"enum": ["queued", "running", "done", "failed"]})]


@dataclass(frozen=True, slots=True)
class SeverityCounts(Answer):
    """Number of findings of each severity."""

    error: int = 0
    warning: int = 0
    info: int = 0

    @property
    def total(self) -> int:
        """The number of all findings."""
        return self.error + self.warning + self.info


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Answer):
    """A nightly run."""

    id: int
    trigger: Annotated[
        Trigger,
        Field(
            description="What started it: the schedule, a request or a button, the command line, simulated data."
        ),
    ]
    due_on: Annotated[date | None, Field(description="The night for which the schedule started it.")]
    author: Annotated[
        str | None, Field(description="Who started it; null if the service did not record it yet.")
    ]
    job: Hidden[Job]
    job_id: Annotated[
        int, Field(description="Its job: /api/v1/jobs/… gives its log and, as events, its progress.")
    ]
    state: State
    stage: Annotated[str, Field(description="Such as `reducing` or `fitting`; empty before the first stage.")]
    done: Annotated[int, Field(description="The completed part of the stage.")]
    total: Annotated[int, Field(description="The size of the stage; 0 if it is not known.")]
    sentence: Annotated[str, Field(description="Its progress or its outcome, in words.")]
    attempts: Annotated[
        int, Field(description="Number of times it was started; more than one if it was interrupted.")
    ]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    stored_at: Hidden[datetime | None]
    first_day: Annotated[date | None, Field(description="First day of the usage history.")]
    last_day: date | None
    days_total: Annotated[int | None, Field(description="Days in the usage history; null before the end.")]
    days_reduced: Annotated[
        int | None, Field(description="Days that are new or have changed since the last nightly run.")
    ]
    rows_read: int | None
    seconds: Annotated[Mapping[str, float], Field(description="How long each stage took.")]
    brought: Annotated[StoredCounts | None, Field(description="Stored results; null before the end.")]
    finding_counts: SeverityCounts

    @property
    def duration(self) -> timedelta | None:
        """The time from the start to the end, or to the last sign of life."""
        end = self.job.ended_at or self.job.heartbeat_at
        if self.job.started_at is None or end is None:
            return None
        return max(end - self.job.started_at, timedelta())

    @computed_field(description="The time from the start to the end, or until now.")
    @property
    def duration_s(self) -> float | None:
        """The duration in seconds."""
        return None if self.duration is None else round(self.duration.total_seconds(), 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails(Run):
    """A nightly run with its findings."""

    night_findings: Annotated[tuple[NightlyFinding, ...], Field(description="Errors first.")]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class RunPage(ResultPage[Run]):
    """One page of the nightly runs, newest first."""

    items: Annotated[tuple[Run, ...], Field(serialization_alias="nightly_runs")]


# ---- reading ---------------------------------------------------------------------------------------------------------


def list_runs(session: Session, asked: PageRequest = FIRST_PAGE, *, sort: Sort | None = None) -> RunPage:
    """Return one page of runs. Without a requested order, the newest are first."""
    rows, total = repository.page_of_runs(session, offset=asked.offset, limit=asked.per_page, sort=sort)
    counts = repository.finding_counts(session, [run.id for run, _ in rows])
    runs = tuple(Run(**_members(run, job, counts.get(run.id, {}))) for run, job in rows)
    return RunPage.of(runs, total, asked)


def get(session: Session, run_id: int) -> Run:
    """Return a run.

    Raises:
        NotFound: There is no run with this number.
    """
    return Run(**_members_of(session, run_id))


def details(session: Session, run_id: int) -> RunDetails:
    """Return a run with its findings.

    Raises:
        NotFound: There is no run with this number.
    """
    return RunDetails(**_members_of(session, run_id), night_findings=findings_of(session, run_id))


def findings_of(session: Session, run_id: int, *, limit: int | None = None) -> tuple[NightlyFinding, ...]:
    """Return the findings of a run, in the order in which the job reported them."""
    return tuple(
        NightlyFinding(**{field.name: getattr(row, field.name) for field in fields(NightlyFinding)})
        for row in repository.findings_of(session, run_id, limit=limit)
    )


def newest(session: Session) -> Run | None:
    """Return the last successful run."""
    run = repository.last_stored_run(session)
    return None if run is None else get(session, run.id)


def under_way(session: Session) -> Run | None:
    """Return the run that is in progress or waiting; None if there is none."""
    found = repository.runs_under_way(session)
    return get(session, found[0].id) if found else None


def _members_of(session: Session, run_id: int) -> dict[str, Any]:
    run = repository.find_run(session, run_id)
    job = None if run is None else job_rows.find(session, run.job_id, light=True)
    if run is None or job is None:
        message = f"There is no nightly run {run_id}."
        raise NotFound(message)
    return _members(run, job, repository.finding_counts(session, [run.id]).get(run.id, {}))


def _members(run: NightlyRun, row: JobRun, findings: Mapping[str, int]) -> dict[str, Any]:
    job = jobs.job_of(row)
    of_run = (
        "id",
        "due_on",
        "stored_at",
        "first_day",
        "last_day",
        "days_total",
        "days_reduced",
        "rows_read",
        "author",
    )
    of_job = ("stage", "done", "total", "attempts", "created_at", "started_at", "ended_at")
    return (
        {name: getattr(run, name) for name in of_run}
        | {name: getattr(job, name) for name in of_job}
        | {
            "job": job,
            "job_id": job.id,
            "state": job.state.value,
            "trigger": Trigger(run.trigger),
            "sentence": job.sentence,
            "seconds": run.seconds or {},
            "brought": StoredCounts(**run.counts) if run.counts else None,
            "finding_counts": SeverityCounts(**findings),
        }
    )


def health_of(session: Session, qsg: str, structure: str) -> StructureHealth | None:
    """Return the health of a structure in the last days; None if no run has judged it."""
    row = repository.find_health(session, qsg, structure)
    return None if row is None else parsed_text(StructureHealth, row.health)


def all_healths(session: Session) -> tuple[StructureHealth, ...]:
    """Return the health of all structures that the last run judged, by group and name."""
    return tuple(parsed_text(StructureHealth, row.health) for row in repository.all_healths(session))


def healths_with_warnings(session: Session, *, limit: int) -> tuple[StructureHealth, ...]:
    """Return the health of measured structures that have a warning, by group and name."""
    rows = repository.healths_with_warnings(session, limit=limit)
    return tuple(parsed_text(StructureHealth, row.health) for row in rows)


# ---- starting -------------------------------------------------------------------------------------------------------


def queue(session: Session, trigger: Trigger, *, due_on: date | None = None) -> NightlyRun:
    """Add a run that waits for its turn, and flush it to get its number.

    Raises:
        JobBusy: A run is in progress or waiting.
    """
    job_rows.hold_claims(session)
    refuse_second(session)
    # The job comes first, because the run refers to its number.
    job = jobs.queue(session, KINDS.get(trigger, NIGHT))
    run = NightlyRun(job_id=job.id, trigger=trigger, due_on=due_on, author=current_actor().name)
    session.add(run)
    session.flush()
    action = Action.SIMULATION_STARTED if trigger is Trigger.SIMULATION else Action.NIGHTLY_STARTED
    details = {"trigger": trigger.value, "due_on": None if due_on is None else due_on.isoformat()}
    record(session, action, AuditObject("nightly run", f"Run {run.id}", id=run.id), details)
    return run


def queue_forgetting(session: Session) -> Job:
    """Add a job that removes simulated data.

    Raises:
        JobBusy: A run is in progress or waiting.
    """
    job_rows.hold_claims(session)
    refuse_second(session)
    job = jobs.queue(session, FORGET_SIMULATED)
    record(session, Action.SIMULATION_REMOVED, AuditObject("job", FORGET_SIMULATED, id=job.id))
    return job


def refuse_second(session: Session) -> None:
    """Raise an error if a run is in progress or waiting, because only one is allowed at a time.

    Raises:
        JobBusy: A run is in progress or waiting.
    """
    found = repository.runs_under_way(session)
    if found:
        raise JobBusy(
            found[0].id,
            f"Nightly run {found[0].id} is in progress. Only one run is possible at a time, so no other run was started.",
        )
    # A run would read simulated days while they are being removed.
    if job_rows.unfinished(session, FORGET_SIMULATED):
        raise JobBusy(
            None, "Simulated data is being removed. No run was started; try again after the removal."
        )


# ---- simulated data --------------------------------------------------------------------------------------------------


def is_under_way(state: JobState) -> bool:
    """Return whether a run in this state is in progress or waiting."""
    return state in (JobState.QUEUED, JobState.RUNNING)


def summary_of(counts: StoredCounts, *, days_total: int, days_reduced: int) -> str:
    """Return a summary of the results of a run as a sentence."""
    if not days_total:
        return "The usage history is empty."
    parts = [
        _so_many(counts.findings, "finding"),
        _so_many(counts.curves, "new fit"),
        _so_many(counts.forecasts, "new forecast"),
    ]
    days = f"{days_reduced} of {_so_many(days_total, 'day')} of the history were read."
    return f"{parts[0]}; {parts[1]}, {parts[2]}. {days}"


def _so_many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
