"""Jobs on their way out: as JSON, and in words that pages and programs share."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.jobs import processes
from app.jobs.models import ALONE, JobState
from app.jobs.service import Job
from app.web.answers import Answer
from planner_core.findings import Finding

STAGES = {
    "indexing": "Finding the records",
    "decoding": "Decoding",
    "committing": "Storing in the usage history",
    "summing": "Summing up the hours",
    "simulating": "Simulating",
    "forgetting": "Removing what was simulated",
    "ingesting": "Reading what was simulated",
    "looking": "Looking for days that have changed",
    "starting": "Starting Spark",
    "reducing": "Reducing the days",
    "collecting": "Collecting the daily figures",
    "fitting": "Fitting curves",
    "forecasting": "Forecasting",
    "scoring": "Holding forecasts against what happened",
    "writing": "Writing the results",
    "storing": "Storing the results",
}
"""What a job does one after the other; a text has nothing to index."""
WAITS = "Waits until it is its turn."
BEGINS = "The reader starts."
NIGHT_BEGINS = "The job starts; Spark takes some seconds."


class AskedQueueManager(Answer):
    """A queue manager whose group the records do not say."""

    system_id: str
    queue_manager: str
    suggested: Annotated[
        str | None,
        Field(
            description="What other records of the file, or answers to other files, say. To be confirmed, not taken over."
        ),
    ]


class AsksAnswer(Answer):
    """What must be answered before anything is stored."""

    unknown_qsg: list[AskedQueueManager]
    observed_at: Annotated[bool, Field(description="When was the display taken? It does not say.")]
    zone: Annotated[bool, Field(description="In which time zone are its times?")]
    messages: Annotated[list[str], Field(description="The questions as sentences.")]


class JobMembers(Answer):
    """One run of a job."""

    id: int
    kind: Annotated[
        str,
        Field(
            description="What it does: `ingest` reads an upload into the usage history, `night` is a nightly run, "
            "`look_around` simulates data and makes a nightly run over it, `forget_simulated` takes it away again."
        ),
    ]
    upload_id: int | None
    state: Annotated[
        Literal["queued", "running", "asks", "done", "failed"],
        Field(description="`asks` waits for answers; `done` and `failed` are ends."),
    ]
    stage: Annotated[str, Field(description="Such as `decoding` or `fitting`; empty before the first.")]
    done: Annotated[int, Field(description="How much of the stage is done; bytes, where it has bytes.")]
    total: Annotated[int, Field(description="How much there is in the stage; 0 when that is not known.")]
    sentence: Annotated[str, Field(description="Where it is, or how it ended, in words.")]
    attempts: Annotated[int, Field(description="How often it was begun; more than once when it was cut off.")]
    created_at: datetime
    started_at: datetime | None
    heartbeat_at: datetime | None
    ended_at: datetime | None
    asks: AsksAnswer | None


class JobAnswer(JobMembers):
    """A run of a job, asked for by its number."""

    findings: list[Finding]


def job_members(job: Job) -> JobMembers:
    """A run as JSON."""
    return JobMembers(**_members(job))


def job_answer(job: Job) -> JobAnswer:
    """A run as an answer of its own."""
    return JobAnswer(**_members(job), findings=[])


def sentence_of(job: Job) -> str:
    """Where a run is, or how it ended."""
    if job.sentence:
        return job.sentence
    if job.state == JobState.QUEUED:
        return processes.WHAT_TO_DO if processes.missing_packages() else WAITS
    if job.state == JobState.RUNNING:
        begins = NIGHT_BEGINS if job.kind in ALONE else BEGINS
        return f"{STAGES[job.stage]}." if job.stage in STAGES else begins
    return ""


def _members(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "kind": job.kind,
        "upload_id": job.upload_id,
        "state": job.state.value,
        "stage": job.stage,
        "done": job.done,
        "total": job.total,
        "sentence": sentence_of(job),
        "attempts": job.attempts,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "heartbeat_at": job.heartbeat_at,
        "ended_at": job.ended_at,
        "asks": asks_answer(job) if job.state == JobState.ASKS else None,
    }


def asks_answer(job: Job) -> AsksAnswer:
    """The questions of a run; a reader of another version may ask more or less."""
    asks = job.asks or {}
    return AsksAnswer(
        unknown_qsg=[
            AskedQueueManager(
                system_id=str(each.get("system_id") or ""),
                queue_manager=str(each.get("queue_manager") or ""),
                suggested=each.get("suggested") or None,
            )
            for each in asks.get("unknown_qsg") or ()
        ],
        observed_at=bool(asks.get("observed_at")),
        zone=bool(asks.get("zone")),
        messages=[str(each) for each in asks.get("messages") or ()],
    )
