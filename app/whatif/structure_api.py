"""Questions about one structure of a plan: how it fills, and which thresholds it should have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.fits.kept import Curves, DatabaseCurves
from app.sizing.body import JSON, document_body, flag
from app.web.openapi import EXPLAIN, json_response, plan_request, problems
from app.whatif import filling, recovering, thresholds
from app.whatif.structure_parameters import FILLING, RECOVERY, SMDS_JOB, THRESHOLDS, Parameter, read_values
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_json
from planner_core.whatif.filling_up import WHAT

router = APIRouter(prefix="/api/v1/whatif", tags=["what if"])
_EXPLAIN = "explain"


def _described(
    parameters: tuple[Parameter, ...], shape: str, about: str, *more: dict[str, Any]
) -> dict[str, Any]:
    """How an address is described: the plan in its body, the choices beside it, the answer."""
    return {
        "openapi_extra": {
            **plan_request(),
            "parameters": [*(each.described() for each in parameters), *more],
        },
        "responses": {200: json_response(shape, about), **problems(413, 415, 422)},
        "response_class": Response,
    }


@router.post(
    "/filling",
    summary="Let an outage fill a structure",
    **_described(
        FILLING,
        "FillingAnswer",
        "What happens when, how full both pools are then, and how long the structure would last.",
    ),
)
async def fill(request: Request) -> Response:
    """A plan and the outage in; the structure minute by minute out."""
    return await _answered(
        request,
        FILLING,
        lambda document, values, curves: filling.answer(document, values, curves).as_json(),
    )


@router.post(
    "/thresholds",
    summary="Advise on offload thresholds",
    **_described(
        THRESHOLDS,
        "ThresholdsAnswer",
        "Three rules with the reason for each, what the structure holds with them, and other settings beside them.",
        EXPLAIN,
    ),
)
async def advise(request: Request) -> Response:
    """A plan, what must be held and what is normal in; three pairs of OFFLDnTH and OFFLDnSZ out."""
    explain = flag(request, _EXPLAIN)
    return await _answered(
        request,
        THRESHOLDS,
        lambda document, values, curves: thresholds.answer(document, values, curves).as_json(explain=explain),
        also=(_EXPLAIN,),
    )


@router.post(
    "/recovery",
    summary="Back up and recover structures",
    **_described(
        RECOVERY,
        "RecoveryAnswer",
        "What a backup of each structure writes, what is logged between two, and how long recovery takes.",
        EXPLAIN,
    ),
)
async def recover(request: Request) -> Response:
    """A plan, a recovery time and the rate of your logs in; bytes, seconds and the longest interval out."""
    explain = flag(request, _EXPLAIN)
    return await _answered(
        request,
        RECOVERY,
        lambda document, values, curves: recovering.answer(document, values, curves).as_json(explain=explain),
        also=(_EXPLAIN,),
    )


@router.post(
    "/smds-job",
    summary="Make the job of the shared message data sets",
    **_described(
        SMDS_JOB,
        "SmdsJobAnswer",
        "IDCAMS and CSQJUFMT for every data set; empty while the plan has errors or something is missing, which the findings name.",
    ),
)
async def smds_job(request: Request) -> Response:
    """A plan in; the job that defines and formats its shared message data sets out."""
    return await _answered(
        request,
        SMDS_JOB,
        lambda document, values, curves: recovering.job(document, values, curves).as_json(),
    )


async def _answered(
    request: Request,
    parameters: tuple[Parameter, ...],
    answer: Callable[[PlanDocument, Mapping[str, Any], Curves], Mapping[str, Any]],
    *,
    also: tuple[str, ...] = (),
) -> Response:
    """Read the choices and the plan, and answer in a thread."""
    given = {name: request.query_params.getlist(name) for name in request.query_params if name not in also}
    body = await document_body(request)
    curves = DatabaseCurves(request.app.state.database)
    return Response(
        await run_in_threadpool(partial(_compute, body, parameters, given, answer, curves)), media_type=JSON
    )


def _compute(
    body: bytes,
    parameters: tuple[Parameter, ...],
    given: Mapping[str, list[str]],
    answer: Callable[[PlanDocument, Mapping[str, Any], Curves], Mapping[str, Any]],
    curves: Curves,
) -> bytes:
    document = read_json(body)
    return to_json(answer(document, read_values(parameters, given, what=WHAT), curves))
