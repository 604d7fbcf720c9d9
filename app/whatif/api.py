"""The addresses of the what-if questions. A plan document in, an answer out; nothing is stored."""

from __future__ import annotations

from functools import partial
from typing import cast

from fastapi import APIRouter
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.fits.dependencies import curves_of
from app.sizing.body import JSON, document_body
from app.web.openapi import json_response, plan_request, problems
from app.whatif import address
from app.whatif.growing import upgrade_answer
from app.whatif.losing import AT, MOST_OTHERS, loss_answer, stored_plans
from planner_core.document.reading import read_json
from planner_core.sizing.placement import At
from planner_core.whatif.growth import DEFAULT_YEARS, HIGHEST_LEVEL, MOST_MORE, MOST_YEARS

router = APIRouter(prefix="/api/v1/whatif", tags=["what if"])
PROBLEMS = problems(404, 413, 415, 422)


@router.post(
    "/cf-loss",
    summary="Lose each coupling facility and site",
    openapi_extra={**plan_request(), "parameters": [address.AT_PARAMETER, address.WITH_PARAMETER]},
    responses={
        200: json_response("CfLossAnswer", "Where structures are, and what each loss makes of it."),
        **PROBLEMS,
    },
    response_class=Response,
)
async def cf_loss(request: Request) -> Response:
    """Where XCF places the structures and by which rule; for each loss what moves where, what finds no place, what is lost.

    The white space is what must be free in the coupling facilities that remain.
    """
    at = cast(At, address.one_of(request, "at", AT))
    names = request.query_params.getlist("with")
    if len(names) > MOST_OTHERS:
        address.refuse("with", f"must not stand more than {MOST_OTHERS} times")
    body = await document_body(request)

    def work() -> bytes:
        others = stored_plans(request.app.state.database, names)
        return to_json(loss_answer(read_json(body), others, curves_of(request), at=at).as_json())

    return Response(await run_in_threadpool(work), media_type=JSON)


@router.post(
    "/upgrade",
    summary="Before and after: CFCC levels, queue managers, growth",
    openapi_extra={**plan_request(), "parameters": address.UPGRADE_PARAMETERS},
    responses={
        200: json_response(
            "UpgradeAnswerShape", "The plan before and after each change, with CFRM statements."
        ),
        **PROBLEMS,
    },
    response_class=Response,
)
async def upgrade(request: Request) -> Response:
    """The plan before and after each change and all of them together: every structure, and the statements for after."""
    years = address.whole_numbers(request, "years", lowest=0, highest=MOST_YEARS)
    answer = partial(
        upgrade_answer,
        curves=curves_of(request),
        cfcc_levels=address.whole_numbers(request, "cfcc", lowest=1, highest=HIGHEST_LEVEL),
        more_queue_managers=address.whole_number(
            request, "queue_managers", default=1, lowest=0, highest=MOST_MORE
        ),
        percent_per_year=address.percentage(request, "growth"),
        years=DEFAULT_YEARS if years is None else [year for year in years if year],
    )
    body = await document_body(request)
    return Response(
        await run_in_threadpool(lambda: to_json(answer(read_json(body)).as_json())), media_type=JSON
    )
