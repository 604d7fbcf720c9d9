"""REST routes for queue depth events."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import Response

from app.events import advising, reading, service
from app.fits.dependencies import CurvesDep
from app.sizing.service import MOST_QUEUES_IN_DETAIL, refuse_long_answer
from app.web.body import JSON, DocumentBody
from app.web.openapi import json_request, problems
from app.web.router import Router
from planner_core.depth_events.advice import PlanDepthAdvice
from planner_core.depth_events.course import Simulation
from planner_core.depth_events.measured import PlanWithRates
from planner_core.depth_events.reading import EventReading
from planner_core.document.reading import read_json

router = Router(prefix="/api/v1/events", tags=["depth events"])


@router.post(
    "/simulate",
    summary="Simulate queue depth events",
    response_description="Every event message, every event, and the switches after each step.",
    openapi_extra=json_request("DepthEventFile"),
    responses=problems(413, 415, 422),
)
def simulate(body: DocumentBody) -> Simulation:
    """Take a timeline of puts and gets by queue manager; return every event message and the switches after each step."""
    return service.simulate_body(body)


@router.post(
    "/read",
    summary="Read depth event messages",
    response_description="Every message, and the sets of all queues in chronological order.",
    openapi_extra=json_request("ReadRequest"),
    responses=problems(413, 415, 422),
)
def read(body: DocumentBody) -> EventReading:
    """Take files of event messages; return sets, missing members, reconciled depths and rates."""
    return reading.read_body(body)


@router.post(
    "/advise",
    summary="Advise on queue depths",
    response_description="Advice for each structure with queues, and the findings on depth events and on structures that are too small.",
    openapi_extra=json_request("PlanDocument"),
    responses={200: {"model": PlanDepthAdvice}, **problems(413, 415, 422)},
    response_class=Response,
)
def advise(
    body: DocumentBody,
    curves: CurvesDep,
    structure: Annotated[
        str | None,
        Query(
            description="Advise on only the structure with this name in MQ. The findings are those of the whole plan. Required for a "
            f"plan with more than {MOST_QUEUES_IN_DETAIL:,} queues."
        ),
    ] = None,
) -> Response:
    """Take a plan document; return MAXDEPTH, QDEPTHHI and QDEPTHLO for its queues, compared with its own values."""
    # Written in this thread: FastAPI would write it on the event loop, which takes a second for the largest plans.
    document = read_json(body)
    refuse_long_answer(document, depths=True, structure=structure)
    advice = advising.advise(document, curves, structure=structure)
    return Response(advice.json_bytes(), media_type=JSON)


@router.post(
    "/rates",
    summary="Write measured rates into a plan",
    response_description="The plan document with the rates, and the queues with and without measured rates.",
    openapi_extra=json_request("RatesRequest"),
    responses={200: {"model": PlanWithRates}, **problems(413, 415, 422)},
    response_class=Response,
)
def rates(body: DocumentBody) -> Response:
    """Take a plan document and sets of event messages; return the document with the rates of each queue manager."""
    # Written in this thread, like advice.
    return Response(advising.rates(body).json_bytes(), media_type=JSON)
