"""Queue depth events over REST. Nothing here catches an error: app/web/problems.py says what each one becomes."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.events import advising, reading, service
from app.events.advise_description import advice_response, rates_request, rates_response
from app.fits.dependencies import curves_of
from app.sizing.body import JSON, DocumentBody, document_body
from app.web.openapi import json_request, plan_request, problems
from planner_core.depth_events.course import Simulation
from planner_core.depth_events.reading import EventReading

router = APIRouter(prefix="/api/v1/events", tags=["depth events"])


@router.post(
    "/simulate",
    summary="Simulate queue depth events",
    response_description="Every event message, every occurrence, and the switches after each step.",
    openapi_extra=json_request("DepthEventFile"),
    responses=problems(413, 415, 422),
)
def simulate(body: DocumentBody) -> Simulation:
    """Take a timeline of puts and gets by queue manager; return every event message and the switches after each step."""
    return service.simulate_body(body)


@router.post(
    "/read",
    summary="Read depth event messages",
    response_description="Every message, and the sets of all queues in the order of time.",
    openapi_extra=json_request("ReadRequest"),
    responses=problems(413, 415, 422),
)
def read(body: DocumentBody) -> EventReading:
    """Take files of event messages; return sets, missing members, reconciled depths and rates."""
    return reading.read_body(body)


@router.post(
    "/advise",
    summary="Advise on queue depths",
    openapi_extra=plan_request(),
    responses={200: advice_response(), **problems(413, 415, 422)},
    response_class=Response,
)
async def advise(request: Request) -> Response:
    """A plan document in; MAXDEPTH, QDEPTHHI and QDEPTHLO for its queues out, with what it has held against them."""
    body, curves = await document_body(request), curves_of(request)
    return Response(await run_in_threadpool(advising.advice_json, body, curves=curves), media_type=JSON)


@router.post(
    "/rates",
    summary="Take measured rates into a plan",
    openapi_extra=rates_request(),
    responses={200: rates_response(), **problems(413, 415, 422)},
    response_class=Response,
)
async def rates(request: Request) -> Response:
    """A plan document and sets of event messages in; the document with the rates of each queue manager out."""
    body = await document_body(request)
    return Response(await run_in_threadpool(advising.rates_json, body), media_type=JSON)
