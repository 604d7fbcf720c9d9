"""Questions about one structure of a plan: how it fills, and which thresholds it should have."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from app.fits.dependencies import CurvesDep
from app.sizing.body import DocumentBody
from app.web.openapi import plan_request, problems
from app.web.questions import check_question
from app.whatif import filling, recovering, thresholds
from planner_core.document.reading import read_json
from planner_core.texts.smds_job import SmdsJob, SmdsJobQuestion
from planner_core.whatif.filling_up import FillingUp, Outage
from planner_core.whatif.recovery import Recovery, RecoveryQuestion
from planner_core.whatif.thresholds import ThresholdAdvice, ThresholdQuestion

router = APIRouter(prefix="/api/v1/whatif", tags=["what if"], dependencies=[Depends(check_question)])


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
    response_description="IDCAMS and CSQJUFMT for every data set; empty while the plan has errors or something is missing, which the "
    "findings name.",
    openapi_extra=plan_request(),
    responses=problems(413, 415, 422),
)
def smds_job(question: Annotated[SmdsJobQuestion, Query()], body: DocumentBody, curves: CurvesDep) -> SmdsJob:
    """Take a plan; return the job that defines and formats its shared message data sets."""
    return recovering.job(read_json(body), question, curves)
