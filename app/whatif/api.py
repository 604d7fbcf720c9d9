"""The addresses of the what-if questions. A plan document in, an answer out; nothing is stored."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic_core import to_json
from starlette.responses import Response

from app.database.session import DatabaseDep
from app.fits.dependencies import CurvesDep
from app.sizing.body import JSON, DocumentBody
from app.web.openapi import json_response, plan_request, problems
from app.web.questions import check_parameters
from app.whatif.growing import upgrade_answer
from app.whatif.losing import loss_answer, stored_plans
from planner_core.document.reading import read_json
from planner_core.whatif.growth import UpgradeQuestion
from planner_core.whatif.loss import LossAnswer, LossQuestion

router = APIRouter(prefix="/api/v1/whatif", tags=["what if"], dependencies=[Depends(check_parameters)])
PROBLEMS = problems(404, 413, 415, 422)


@router.post(
    "/cf-loss",
    summary="Lose each coupling facility and site",
    response_description="The coupling facilities of each structure, and the effects of each loss.",
    openapi_extra=plan_request(),
    responses=PROBLEMS,
)
def cf_loss(
    question: Annotated[LossQuestion, Query()], body: DocumentBody, curves: CurvesDep, database: DatabaseDep
) -> LossAnswer:
    """Return where XCF places the structures and by which rule; for each loss, moves, unplaced structures and lost messages.

    The white space is the storage that must be free in the coupling facilities that remain.
    """
    others = stored_plans(database, question.others)
    return loss_answer(read_json(body), others, curves, at=question.at)


@router.post(
    "/upgrade",
    summary="Before and after: CFCC levels, queue managers, growth",
    openapi_extra=plan_request(),
    responses={
        200: json_response(
            "UpgradeAnswerShape", "The plan before and after each change, with CFRM statements."
        ),
        **PROBLEMS,
    },
    response_class=Response,
)
def upgrade(question: Annotated[UpgradeQuestion, Query()], body: DocumentBody, curves: CurvesDep) -> Response:
    """The plan before and after each change and all of them together: every structure, and the statements for after."""
    answer = upgrade_answer(read_json(body), question, curves)
    return Response(to_json(answer.as_json()), media_type=JSON)
