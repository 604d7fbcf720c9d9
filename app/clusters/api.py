"""Clusters over REST. Nothing here catches an error: app/web/problems.py says what each one becomes."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.clusters import service
from app.fits.dependencies import curves_of
from app.sizing.body import JSON, DocumentBody, document_body
from app.web.openapi import json_request, json_response, plan_request, problems
from app.web.questions import check_parameters
from planner_core.clusters.answer import DecisionAnswer
from planner_core.clusters.model import EliminationOrder

router = APIRouter(prefix="/api/v1/cluster", tags=["clusters"])


@router.post(
    "/decide",
    summary="Choose among the instances of a clustered queue",
    response_description="The destinations, and each step with the candidates it eliminates and the reason.",
    openapi_extra=json_request("DecisionInput"),
    responses=problems(413, 415, 422),
    dependencies=[Depends(check_parameters)],
)
def decide(order: Annotated[EliminationOrder, Query()], body: DocumentBody) -> DecisionAnswer:
    """Take what the sender sees of a queue; return the destinations, every elimination, and where the other order differs."""
    return service.decide_json(body, mode=order.mode)


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
