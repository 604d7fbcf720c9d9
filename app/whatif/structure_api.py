"""Questions about one structure of a plan: how it fills, and which thresholds it should have."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic_core import to_json
from starlette.responses import Response

from app.fits.dependencies import CurvesDep
from app.sizing.body import JSON, DocumentBody
from app.web.openapi import json_response, plan_request, problems
from app.web.questions import check_question
from app.whatif import filling, recovering, thresholds
from planner_core.document.reading import read_json
from planner_core.texts.smds_job import SmdsJobQuestion
from planner_core.whatif.filling_up import FillingUp, Outage
from planner_core.whatif.recovery import Recovery, RecoveryQuestion
from planner_core.whatif.thresholds import ThresholdAdvice, ThresholdQuestion

router = APIRouter(prefix="/api/v1/whatif", tags=["what if"], dependencies=[Depends(check_question)])


def _described(shape: str, about: str) -> dict[str, Any]:
    """How an address is described: the plan in its body, the answer."""
    return {
        "openapi_extra": plan_request(),
        "responses": {200: json_response(shape, about), **problems(413, 415, 422)},
        "response_class": Response,
    }


@router.post(
    "/filling",
    summary="Simulate an outage of one structure",
    response_description="Each event of the outage, the use of both pools then, and how long the structure lasts.",
    openapi_extra=plan_request(),
    responses=problems(413, 415, 422),
)
def fill(question: Annotated[Outage, Query()], body: DocumentBody, curves: CurvesDep) -> FillingUp:
    """Take a plan and an outage; return the structure minute by minute."""
    return filling.answer(read_json(body), question, curves)


@router.post(
    "/thresholds",
    summary="Advise on offload thresholds",
    response_description="Three rules with the reason for each, what the structure holds with them, and other settings for comparison.",
    openapi_extra=plan_request(),
    responses=problems(413, 415, 422),
)
def advise(
    question: Annotated[ThresholdQuestion, Query()], body: DocumentBody, curves: CurvesDep
) -> ThresholdAdvice:
    """Take a plan, the messages to hold and the normal ones; return three pairs of OFFLDnTH and OFFLDnSZ."""
    return thresholds.answer(read_json(body), question, curves)


@router.post(
    "/recovery",
    summary="Back up and recover structures",
    response_description="Size of a backup of each structure, the log between two backups, and the time that recovery takes.",
    openapi_extra=plan_request(),
    responses=problems(413, 415, 422),
)
def recover(
    question: Annotated[RecoveryQuestion, Query()], body: DocumentBody, curves: CurvesDep
) -> Recovery:
    """Take a plan, a recovery time and the rate of your logs; return bytes, seconds and the longest interval."""
    return recovering.answer(read_json(body), question, curves)


@router.post(
    "/smds-job",
    summary="Make the job of the shared message data sets",
    **_described(
        "SmdsJobAnswer",
        "IDCAMS and CSQJUFMT for every data set; empty while the plan has errors or something is missing, which the findings name.",
    ),
)
def smds_job(
    question: Annotated[SmdsJobQuestion, Query()], body: DocumentBody, curves: CurvesDep
) -> Response:
    """A plan in; the job that defines and formats its shared message data sets out."""
    return _json(recovering.job(read_json(body), question, curves).as_json())


def _json(answer: dict[str, object]) -> Response:
    return Response(to_json(answer), media_type=JSON)
