"""Clusters over REST. Nothing here catches an error: app/web/problems.py says what each one becomes."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.clusters import service
from app.clusters.description import decision_request
from app.fits.dependencies import curves_of
from app.sizing.body import JSON, document_body
from app.web.openapi import json_response, plan_request, problems
from planner_core.clusters.model import Mode

router = APIRouter(prefix="/api/v1/cluster", tags=["clusters"])


@router.post(
    "/decide",
    summary="Choose among the instances of a clustered queue",
    openapi_extra=decision_request(),
    responses={
        200: json_response("DecisionAnswerShape", "Who is chosen, and every step with who went out and why."),
        **problems(413, 415, 422),
    },
    response_class=Response,
)
async def decide(request: Request) -> Response:
    """What the sender sees of a queue in; the destinations, every elimination, and where the other order parts out."""
    mode = mode_of(request)
    body = await document_body(request)
    return Response(await run_in_threadpool(partial(service.decision_json, mode=mode), body), media_type=JSON)


@router.post(
    "/load",
    summary="What clusters put on the structures of a plan",
    openapi_extra=plan_request(),
    responses={
        200: json_response(
            "ClusterLoadAnswer",
            "Rates and shares, what changes when something fails, and the sizes that survive it.",
        ),
        **problems(413, 415, 422),
    },
    response_class=Response,
)
async def load(request: Request) -> Response:
    """A plan document in; the load of its `clusters` on its structures out, normally and for each failure."""
    body = await document_body(request)
    answer = partial(service.load_json, curves=curves_of(request))
    return Response(await run_in_threadpool(answer, body), media_type=JSON)


def mode_of(request: Request) -> Mode:
    """The parameter `mode`; seed when it is absent."""
    text = request.query_params.get("mode", "seed")
    for mode in service.MODES:
        if text == mode:
            return mode
    fault = {
        "type": "literal_error",
        "loc": ("query", "mode"),
        "msg": f"must be {' or '.join(service.MODES)}",
    }
    raise RequestValidationError([fault])
