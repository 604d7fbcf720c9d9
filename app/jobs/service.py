"""Runs of jobs: made, claimed by one keeper, kept alive by its heartbeat, ended. Nothing here commits.

A run is worked on by whoever claimed it last. A keeper that was killed, or whose machine went away, stops its
heartbeat; when that is older than `stale`, the run is anyone's again. Every write of a keeper names the owner that
it claimed the run under, so that one which was taken for dead cannot disturb its successor.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.jobs import repository
from app.jobs.errors import JobBusy, JobNotFound
from app.jobs.models import ALONE, INGEST, JobRun, JobState

MOST_ATTEMPTS = 5
"""A run that was cut off this often is not resumed by itself again: it may be what kills the machine."""
ENDS = (JobState.DONE, JobState.FAILED)
RESTS = (*ENDS, JobState.ASKS)
"""States in which nobody works on a run, nor is about to."""


@dataclass(frozen=True, slots=True)
class Job:
    """A run as it is shown."""

    id: int
    kind: str
    upload_id: int | None
    state: JobState
    stage: str
    done: int
    total: int
    sentence: str
    attempts: int
    created_at: datetime
    started_at: datetime | None
    heartbeat_at: datetime | None
    ended_at: datetime | None
    asks: Mapping[str, Any] | None

    @property
    def is_under_way(self) -> bool:
        """Whether it still changes by itself."""
        return self.state not in RESTS


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


# ---- reading ---------------------------------------------------------------------------------------------------------


def get(session: Session, job_id: int) -> Job:
    """A run without its report and log.

    Raises:
        JobNotFound: There is none of this number.
    """
    run = repository.find(session, job_id, light=True)
    if run is None:
        raise JobNotFound(job_id)
    return shown(run)


def report_of(session: Session, job_id: int) -> dict[str, Any] | None:
    """The report of a run; None where it has none (yet)."""
    run = _found(session, job_id)
    return None if run.report is None else json.loads(run.report)


def log_of(session: Session, job_id: int) -> str:
    """What the run said, line by line."""
    return _found(session, job_id).log


def latest(session: Session, upload_ids: Sequence[int]) -> Mapping[int, Job]:
    """The last run of each of these uploads."""
    return {key: shown(run) for key, run in repository.latest_of(session, upload_ids).items()}


def shown(run: JobRun) -> Job:
    """A row as it is shown."""
    return Job(
        id=run.id,
        kind=run.kind,
        upload_id=run.upload_id,
        state=JobState(run.state),
        stage=run.stage,
        done=run.done,
        total=run.total,
        sentence=run.sentence,
        attempts=run.attempts,
        created_at=run.created_at,
        started_at=run.started_at,
        heartbeat_at=run.heartbeat_at,
        ended_at=run.ended_at,
        asks=None if run.asks is None else json.loads(run.asks),
    )


# ---- before a run ----------------------------------------------------------------------------------------------------


def queue_ingest(session: Session, upload_id: int) -> Job:
    """A new run that reads an upload, unless one is under way. It is flushed for its number.

    Raises:
        JobBusy: One is under way.
    """
    repository.hold_claims(session)
    last = repository.latest_of(session, [upload_id]).get(upload_id)
    if last is not None:
        if shown(last).is_under_way:
            raise JobBusy(last.id)
        if last.state == JobState.ASKS:  # its questions are answered, or asked anew by the next one
            last.state, last.ended_at = JobState.FAILED, now()
            last.sentence = "Read again with more answers."
    return queue(session, INGEST, upload_id=upload_id)


def queue(session: Session, kind: str, *, upload_id: int | None = None) -> Job:
    """A new run. It is flushed for its number."""
    run = JobRun(
        kind=kind, upload_id=upload_id, state=JobState.QUEUED, stage="", done=0, total=0, sentence="",
        attempts=0, owner="", created_at=now(), log="",
    )  # fmt: skip
    session.add(run)
    session.flush()
    return shown(run)


def waiting(session: Session, *, stale: timedelta) -> Sequence[int]:
    """Numbers of the runs that nobody works on, the oldest first."""
    return repository.waiting(session, stale_before=now() - stale)


def claim(session: Session, job_id: int, *, owner: str, stale: timedelta, at_once: int) -> Job | None:
    """Take a run over; None when another works on it, it has ended, or as many as may run do so already.

    Of the kinds that stand alone one run at a time can be taken, however many others may run.
    """
    repository.hold_claims(session)
    run = repository.find(session, job_id, lock=True)
    stale_before = now() - stale
    if run is None or run.state not in (JobState.QUEUED, JobState.RUNNING):
        return None
    was_running = run.state == JobState.RUNNING
    if was_running and run.heartbeat_at is not None and run.heartbeat_at >= stale_before:
        return None
    if was_running and run.attempts >= MOST_ATTEMPTS:
        run.state, run.ended_at = JobState.FAILED, now()
        run.sentence = (
            f"{'Reading' if run.kind == INGEST else 'The run'} was cut off {run.attempts} times before it had ended, "
            "so it is not begun again by itself. "
            "The log may say why; a machine with too little memory ends processes without a word."
        )
        return None
    if repository.count_alive(session, stale_before=stale_before) >= at_once:
        return None
    if run.kind in ALONE and repository.count_alive(session, stale_before=stale_before, kinds=ALONE):
        return None
    run.state, run.owner, run.heartbeat_at, run.attempts = JobState.RUNNING, owner, now(), run.attempts + 1
    run.started_at = run.started_at or run.heartbeat_at
    run.sentence, run.stage, run.done, run.total = "", "", 0, 0
    if was_running:
        run.log += f"{_stamp()} resumed: the process that worked on this was gone (attempt {run.attempts})\n"
    session.flush()
    return shown(run)


def let_go(session: Session, job_id: int, owner: str) -> bool:
    """The keeper of this name is gone: let the run be claimed at once, not only when its heartbeat is stale."""
    return repository.change_own(session, job_id, owner, heartbeat_at=None)


def refuse(session: Session, job_id: int, sentence: str) -> None:
    """A run that waits will never begin: say why."""
    run = repository.find(session, job_id, lock=True)
    if run is not None and run.state == JobState.QUEUED:
        run.state, run.ended_at, run.sentence = JobState.FAILED, now(), sentence


# ---- during a run, by its owner --------------------------------------------------------------------------------------


def beat(
    session: Session, job_id: int, owner: str, *, stage: str, done: int, total: int, log: str,
    sentence: str | None = None,
) -> bool:  # fmt: skip
    """The owner is alive and this far; False when the run is no longer its own."""
    told = {} if sentence is None else {"sentence": sentence}
    return repository.change_own(
        session, job_id, owner, heartbeat_at=now(), stage=stage, done=done, total=total, log=log, **told
    )


def keep_report(session: Session, job_id: int, owner: str, report: Mapping[str, Any]) -> bool:
    """Keep the report while the run goes on: what is left to do need not be read for again."""
    return repository.change_own(session, job_id, owner, heartbeat_at=now(), report=_json(report))


def give_back(session: Session, job_id: int, owner: str) -> bool:
    """The owner was told to stop: the run waits again, and the attempt is not counted."""
    run = repository.find(session, job_id, lock=True)
    if run is None or run.owner != owner or run.state != JobState.RUNNING:
        return False
    run.state, run.owner, run.attempts = JobState.QUEUED, "", max(run.attempts - 1, 0)
    return True


def end(
    session: Session, job_id: int, owner: str, state: JobState, *, sentence: str = "", log: str,
    report: Mapping[str, Any] | None = None, asks: Mapping[str, Any] | None = None,
) -> bool:  # fmt: skip
    """The run rests in this state; False when it is no longer the owner's, whose work is then to be undone."""
    values: dict[str, Any] = {} if report is None else {"report": _json(report)}
    if asks is not None:
        values["asks"] = _json(asks)
    return repository.change_own(
        session, job_id, owner, state=state, sentence=sentence, log=log, heartbeat_at=now(), ended_at=now(), **values
    )  # fmt: skip


def _found(session: Session, job_id: int) -> JobRun:
    run = repository.find(session, job_id)
    if run is None:
        raise JobNotFound(job_id)
    return run


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _stamp() -> str:
    return now().strftime("%Y-%m-%d %H:%M:%S")
