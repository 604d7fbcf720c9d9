"""Queue depth events over REST. Nothing here catches an error: app/errors.py says what each one becomes."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.events import reading, service
from app.events.description import file_request, simulation_response
from app.events.read_description import read_request, reading_response
from app.openapi import problems
from app.sizing.body import JSON, document_body

router = APIRouter(prefix="/api/v1/events", tags=["depth events"])


@router.post(
    "/simulate",
    summary="Simulate queue depth events",
    openapi_extra=file_request(),
    responses={200: simulation_response(), **problems(413, 415, 422)},
    response_class=Response,
)
async def simulate(request: Request) -> Response:
    """A timeline of puts and gets by queue manager in; every event message and the switches after each step out."""
    body = await document_body(request)
    return Response(await run_in_threadpool(service.simulation_json, body), media_type=JSON)


@router.post(
    "/read",
    summary="Read depth event messages",
    openapi_extra=read_request(),
    responses={200: reading_response(), **problems(413, 415, 422)},
    response_class=Response,
)
async def read(request: Request) -> Response:
    """Files of event messages in; sets, members missing, depths reconciled and rates out."""
    body = await document_body(request)
    return Response(await run_in_threadpool(reading.reading_json, body), media_type=JSON)
