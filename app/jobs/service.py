"""The life of a job run: it is queued, claimed by one keeper, kept alive by its heartbeat, and ended. Callers commit.

The last keeper that claimed a run works on it. A keeper that was killed, or whose machine stopped, sends no more
heartbeats; an observer (`heartbeats`) notices this and releases the run, and then any keeper can claim it. Every write of
a keeper names the owner under which it claimed the run, so a keeper that was wrongly assumed to be dead cannot disturb its
successor.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.errors import NotFound
from app.jobs import processes, repository
from app.jobs.kinds import kind_of, names_alone
from app.jobs.models import JobRun, JobState
from app.problem_types import UPLOAD_NOT_FOUND
from planner_core.contracts import tolerant
from planner_core.contracts.ingest import Asks
from planner_core.findings import Finding
from planner_core.wire import Answer, JsonObject, copied

MOST_ATTEMPTS = 5
"""A run that was interrupted this often is not resumed automatically, because it may be the cause of the crashes."""
ENDS = (JobState.DONE, JobState.FAILED)
RESTS = (*ENDS, JobState.ASKS)
"""States in which no keeper works on a run or will start to."""


WAITS = "The job waits for its turn."


@dataclass(frozen=True, slots=True)
class Job(Answer):
    """One run of a job."""

    id: int
    kind: Annotated[
        str,
        Field(
            description="The kind of job: `ingest` reads an upload into the usage history, `night` is a "
            "nightly run, `look_around` simulates data and starts a nightly run over it, `forget_simulated` removes it again."
        ),
    ]
    upload_id: int | None
    state: Annotated[JobState, Field(description="`asks` waits for answers; `done` and `failed` are final.")]
    stage: Annotated[str, Field(description="Such as `decoding` or `fitting`; empty before the first stage.")]
    done: Annotated[
        int, Field(description="The completed part of the stage, in bytes if the stage is measured in bytes.")
    ]
    total: Annotated[int, Field(description="The size of the stage; 0 if it is not known.")]
    sentence: Annotated[str, Field(description="Its progress or its outcome, in words.")]
    attempts: Annotated[
        int, Field(description="Number of times it was started; more than one if it was interrupted.")
    ]
    created_at: datetime
    started_at: datetime | None
    heartbeat_at: datetime | None
    ended_at: datetime | None
    asks: Asks | None

    @property
    def is_under_way(self) -> bool:
        """Whether the run is waiting or running."""
        return self.state not in RESTS


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The progress of a job for its page, or its outcome."""

    value: int
    """The progress in thousandths; -1 while it is not known."""
    words: str
    sentence: str = ""
    is_under_way: bool = False
    is_failed: bool = False
    events: str = ""
    """Path of the stream of progress events; empty when the job has ended."""


@dataclass(frozen=True, slots=True)
class JobAnswer(Job):
    """A run of a job, as REST returns it."""

    findings: tuple[Finding, ...] = ()


# ---- reading ---------------------------------------------------------------------------------------------------------


def get(session: Session, job_id: int) -> Job:
    """Return a run without its report and log.

    Raises:
        NotFound: There is no run with this number.
    """
    run = repository.find(session, job_id, light=True)
    if run is None:
        message = f"There is no job {job_id}."
        raise NotFound(message, problem=UPLOAD_NOT_FOUND)
    return job_of(run)


def report_of(session: Session, job_id: int) -> JsonObject | None:
    """Return the report of a run, or None if there is none yet."""
    run = _found(session, job_id)
    return None if run.report is None else json.loads(run.report)


def log_of(session: Session, job_id: int) -> str:
    """Return the log of a run."""
    return _found(session, job_id).log


def latest(session: Session, upload_ids: Sequence[int]) -> Mapping[int, Job]:
    """Return the last run of each of these uploads."""
    return {key: job_of(run) for key, run in repository.latest_of(session, upload_ids).items()}


def job_of(run: JobRun) -> Job:
    """Return a run as pages and programs show it."""
    asks = run.asks if run.state == JobState.ASKS else None
    return copied(
        Job,
        run,
        state=JobState(run.state),
        sentence=run.sentence or _sentence_of(run),
        asks=None if asks is None else asks_of(asks),
    )


def asks_of(text: str) -> Asks:
    """Return the stored questions of a run, which another version may have written."""
    return tolerant.read(Asks, json.loads(text))


def stage_title(job: Job) -> str:
    """Return the title of the stage of a run; empty if this version has no such stage."""
    return kind_of(job.kind).stages.get(job.stage, "")


def _sentence_of(run: JobRun) -> str:
    if run.state == JobState.QUEUED:
        return processes.WHAT_TO_DO if processes.missing_packages() else WAITS
    if run.state == JobState.RUNNING:
        kind = kind_of(run.kind)
        return f"{kind.stages[run.stage]}." if run.stage in kind.stages else kind.begins
    return ""


# ---- before a run ----------------------------------------------------------------------------------------------------


def queue(session: Session, kind: str, *, upload_id: int | None = None) -> Job:
    """Queue a new run, and flush it to get its number."""
    run = JobRun(
        kind=kind, upload_id=upload_id, state=JobState.QUEUED, stage="", done=0, total=0, sentence="",
        attempts=0, owner="", created_at=utc_now(), log="",
    )  # fmt: skip
    session.add(run)
    session.flush()
    return job_of(run)


def claim(session: Session, job_id: int, *, owner: str, at_once: int) -> Job | None:
    """Claim a run; return None if another keeper has it, it has ended, or too many runs are in progress.

    Of all kinds that run alone, only one run can be claimed at a time, regardless of the limit.
    """
    # The lock comes first: two claims that counted at the same time would both find the last free slot.
    repository.hold_claims(session)
    run = repository.find(session, job_id, lock=True)
    if run is None or run.state not in (JobState.QUEUED, JobState.RUNNING):
        return None
    kind = kind_of(run.kind)
    was_running = run.state == JobState.RUNNING
    if was_running and run.heartbeat_at is not None:
        return None
    if was_running and run.attempts >= MOST_ATTEMPTS:
        run.state, run.ended_at = JobState.FAILED, utc_now()
        run.sentence = (
            f"{kind.title} was interrupted {run.attempts} times before it "
            "ended, so it is not restarted automatically. The "
            "log may show the reason; a machine that runs out of memory ends processes without a message."
        )
        _record_end(session, run.id, run.kind, JobState.FAILED, run.sentence)
        return None
    if repository.count_alive(session) >= at_once:
        return None
    if kind.is_alone and repository.count_alive(session, kinds=names_alone()):
        return None
    run.state, run.owner, run.heartbeat_at, run.attempts = (
        JobState.RUNNING,
        owner,
        utc_now(),
        run.attempts + 1,
    )
    run.started_at = run.started_at or run.heartbeat_at
    # Progress of the interrupted attempt would otherwise be shown until the first heartbeat of this one.
    run.sentence, run.stage, run.done, run.total = "", "", 0, 0
    if was_running:
        run.log += f"{_stamp()} resumed: the process that worked on this had ended (attempt {run.attempts})\n"
    session.flush()
    return job_of(run)


def let_go(session: Session, job_id: int, owner: str) -> bool:
    """Release the run of a keeper that is known to be dead."""
    return repository.change_own(session, job_id, owner, heartbeat_at=None)


def refuse(session: Session, job_id: int, sentence: str) -> None:
    """Mark a run that waits for a keeper as failed, with the reason."""
    run = repository.find(session, job_id, lock=True)
    if run is None:
        return
    # A run whose keeper has died waits for the next one.
    is_released = run.state == JobState.RUNNING and run.heartbeat_at is None
    if is_released or run.state == JobState.QUEUED:
        run.state, run.ended_at, run.sentence = JobState.FAILED, utc_now(), sentence
        _record_end(session, run.id, run.kind, JobState.FAILED, sentence)


# ---- during a run, by its owner --------------------------------------------------------------------------------------


def beat(
    session: Session, job_id: int, owner: str, *, stage: str, done: int, total: int, log: str,
    sentence: str | None = None,
) -> bool:  # fmt: skip
    """Store the heartbeat and the progress; return False if the owner has lost the run."""
    told = {} if sentence is None else {"sentence": sentence}
    return repository.change_own(
        session, job_id, owner, heartbeat_at=utc_now(), stage=stage, done=done, total=total, log=log, **told
    )


def keep_report(session: Session, job_id: int, owner: str, report: JsonObject) -> bool:
    """Store the report during the run, so that a resumed run need not read the file again."""
    return repository.change_own(session, job_id, owner, heartbeat_at=utc_now(), report=_json(report))


def give_back(session: Session, job_id: int, owner: str) -> bool:
    """Put a run back into the queue because its owner stops; the attempt is not counted."""
    run = repository.find(session, job_id, lock=True)
    if run is None or run.owner != owner or run.state != JobState.RUNNING:
        return False
    # A service that is restarted often must not use up the attempts of a long run.
    run.state, run.owner, run.attempts = JobState.QUEUED, "", max(run.attempts - 1, 0)
    return True


def end(
    session: Session, job_id: int, owner: str, state: JobState, *, sentence: str = "", log: str,
    report: JsonObject | None = None, asks: JsonObject | None = None, stage: str | None = None,
) -> bool:  # fmt: skip
    """End the run in this state; return False if the owner has lost it and must roll back.

    `stage` replaces the last stage, for outcomes that lists distinguish without reading reports.
    """
    values: dict[str, str] = {} if report is None else {"report": _json(report)}
    if stage is not None:
        values["stage"] = stage
    if asks is not None:
        values["asks"] = _json(asks)
    is_own = repository.change_own(
        session, job_id, owner, state=state, sentence=sentence, log=log, heartbeat_at=utc_now(), ended_at=utc_now(), **values
    )  # fmt: skip
    if is_own:
        run = repository.find(session, job_id, light=True)
        _record_end(session, job_id, "" if run is None else run.kind, state, sentence)
    return is_own


def _record_end(session: Session, job_id: int, kind: str, state: JobState, sentence: str) -> None:
    details = {"state": state.value, "sentence": sentence}
    record(session, Action.JOB_FINISHED, AuditObject("job", kind, id=job_id), details)


def _found(session: Session, job_id: int) -> JobRun:
    run = repository.find(session, job_id)
    if run is None:
        message = f"There is no job {job_id}."
        raise NotFound(message, problem=UPLOAD_NOT_FOUND)
    return run


def _json(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _stamp() -> str:
    return utc_now().strftime("%Y-%m-%d %H:%M:%S")
