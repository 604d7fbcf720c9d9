"""REST routes for clusters; app/web/problems.py converts errors to responses."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from app.clusters import explaining, service
from app.fits.dependencies import CurvesDep
from app.web.body import DocumentBody
from app.web.openapi import json_request, problems
from app.web.questions import check_parameters
from app.web.router import Router
from planner_core.clusters.answer import DecisionAnswer
from planner_core.clusters.explain import WaitingExplanation
from planner_core.clusters.load import ClusterLoadAnswer
from planner_core.clusters.model import EliminationOrder
from planner_core.document.reading import read_json

router = Router(prefix="/api/v1/cluster", tags=["clusters"])


@router.post(
    "/decide",
    summary="Choose among the instances of a clustered queue",
    response_description="The destinations, and each step with the candidates it eliminates and the reason.",
    openapi_extra=json_request("DecisionInput"),
    responses=problems(413, 415, 422),
    dependencies=[Depends(check_parameters)],
)
def decide(order: Annotated[EliminationOrder, Query()], body: DocumentBody) -> DecisionAnswer:
    """Take the sender's view of a queue; return destinations, all eliminations, and how the other order differs."""
    return service.decide_body(body, mode=order.mode)


@router.post(
    "/load",
    summary="Calculate the load of clusters on structures",
    response_description="Rates and shares, the effects of each failure, and the sizes that survive it.",
    openapi_extra=json_request("PlanDocument"),
    responses=problems(413, 415, 422),
)
def load(body: DocumentBody, curves: CurvesDep) -> ClusterLoadAnswer:
    """Take a plan document; return the load of its `clusters` on its structures, normally and during each failure."""
    return service.load_answer(read_json(body), curves)


@router.post(
    "/explain",
    summary="Explain why messages were not re-allocated",
    response_description="Each message with its reason, each channel with its counts, and the steps for each queue.",
    openapi_extra=json_request("ExplainRequest"),
    responses=problems(413, 415, 422),
)
def explain_messages(body: DocumentBody) -> WaitingExplanation:
    """Take displays of the sending queue manager and a browse of its transmission queue; return the reason for each message."""
    return explaining.explain_body(body)
