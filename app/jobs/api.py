"""Jobs over REST, and as a stream of events while they run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Path
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.calls import Overseer
from app.database.engine import Database
from app.database.session import SessionDep
from app.database.types import LARGEST_KEY
from app.jobs import service
from app.jobs.service import Job, JobAnswer
from app.web.openapi import problems
from app.web.router import Router
from planner_core.wire import copied

LOOKS_EVERY_S = 0.5
LONGEST_STREAM_S = 50.0
"""Streams end after this time, so that a service can stop quickly; browsers reconnect by themselves."""
RETRY_MS = 1_000

JobId = Annotated[int, Path(ge=1, le=LARGEST_KEY, description="Number of the job.", examples=[1])]

router = Router(prefix="/api/v1/jobs", tags=["uploads"])


def existing_job(number: JobId, request: Request) -> Job:
    """Return the run that an address names. The session is closed before anything is streamed."""
    database: Database = request.app.state.database
    with database.session(writes=False) as session:
        return service.get(session, number)


@router.get("/{number}", summary="Read a job", responses=problems(404, 422))
def read_job(number: JobId, session: SessionDep) -> JobAnswer:
    """Return the state, stage and progress of a job, and its last sign of life."""
    return copied(JobAnswer, service.get(session, number))


@router.get(
    "/{number}/log",
    summary="Read the log of a job",
    responses={
        200: {"description": "The lines of the log, with their times in UTC.", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **problems(404, 422),
    },
    response_class=Response,
)  # fmt: skip
def read_log(number: JobId, session: SessionDep) -> Response:
    """Return the log of a job; for a very long log, only its beginning and end."""
    return Response(service.log_of(session, number), media_type="text/plain")


@router.get(
    "/{number}/events",
    summary="Follow a job",
    responses=problems(404, 422),
    response_class=EventSourceResponse,
)
async def follow_job(
    job: Annotated[Job, Depends(existing_job)], request: Request
) -> AsyncIterator[ServerSentEvent]:
    """Send server-sent events: `progress` whenever the job has advanced, and `end` when it has ended or needs answers.

    The data of both events is the job, as `GET /api/v1/jobs/{number}` returns it. A stream ends after 50 seconds at the
    latest; reconnect.
    """
    database: Database = request.app.state.database
    overseer: Overseer = request.app.state.overseer
    before = None
    for _ in range(int(LONGEST_STREAM_S / LOOKS_EVERY_S)):
        if job != before:
            is_first, before = before is None, job
            kind = "progress" if job.is_under_way else "end"
            # Given as `data`, the answer would be encoded without the serializers of its fields.
            answer = copied(JobAnswer, job).json_bytes().decode()
            yield ServerSentEvent(raw_data=answer, event=kind, retry=RETRY_MS if is_first else None)
        if not job.is_under_way:
            return
        await asyncio.sleep(LOOKS_EVERY_S)
        # A process that stops or is replaced would otherwise wait for the streams that it has started.
        if overseer.is_stopping or overseer.is_leaving:
            return
        job = await run_in_threadpool(_read, database, job.id)


def _read(database: Database, job_id: int) -> Job:
    with database.session(writes=False) as session:
        return service.get(session, job_id)
