"""Routes that take a plan document.

The handlers read the request themselves, because reading parameters in FastAPI would take a tenth of the total time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache, partial

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from app.fits.dependencies import curves_of
from app.sizing.description import DEPTHS, EXPLAIN, OUTPUT_WORDS, STRUCTURE, schema_response, text_response
from app.sizing.service import compute, size_answer, text_output
from app.web.body import JSON, document_body, flag
from app.web.openapi import json_request, problems
from app.web.router import Router
from planner_core.document.schema import json_schema
from planner_core.plan.result import PlanAnswer
from planner_core.texts.outputs import OUTPUT_KINDS

SCHEMA_MEDIA_TYPE = "application/schema+json"
FINDINGS_HEADER = "x-cfplan-findings"
RESULT = "Figures and findings of the plan; with `explain`, the explanation of every figure."
PLAN_PROBLEMS = problems(413, 415, 422)

router = Router(prefix="/api/v1", tags=["plans"])


@router.post(
    "/size",
    summary="Size a plan",
    openapi_extra={**json_request("PlanDocument"), "parameters": [EXPLAIN, DEPTHS, STRUCTURE]},
    responses={200: {"model": PlanAnswer, "description": RESULT}, **PLAN_PROBLEMS},
    response_class=Response,
)
async def size(request: Request) -> Response:
    """Return the sizes of all structures, the pool that sets each size, and findings, even for plans with errors."""
    explain, depths = flag(request, "explain"), flag(request, "depths")
    structure = request.query_params.get("structure")
    body = await document_body(request)
    answer = await size_answer(
        body, curves=curves_of(request), explain=explain, depths=depths, structure=structure
    )
    return Response(answer, media_type=JSON)


@router.get(
    "/schema",
    summary="JSON Schema of the plan document",
    responses={200: schema_response(), **problems()},
    response_class=Response,
)
async def schema() -> Response:
    """Return the schema (draft 2020-12) with which editors and programs can check a plan document."""
    return Response(_schema_text(), media_type=SCHEMA_MEDIA_TYPE)


@cache
def _schema_text() -> bytes:
    return to_json({**json_schema(), "findings": []}, indent=2)


def _text_handler(kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def handler(request: Request) -> Response:
        output, findings = await compute(
            partial(text_output, curves=curves_of(request), kind=kind), await document_body(request)
        )
        headers = {
            "content-disposition": f'attachment; filename="{output.filename}"',
            FINDINGS_HEADER: findings,
        }
        return Response(output.text, media_type=OUTPUT_WORDS[kind].media_type, headers=headers)

    handler.__name__, handler.__doc__ = kind, OUTPUT_WORDS[kind].description
    return handler


# Registered in a loop, so that each text has its own operation in OpenAPI.
for _kind in OUTPUT_KINDS:
    router.add_api_route(
        f"/{_kind}",
        _text_handler(_kind),
        methods=["POST"],
        summary=OUTPUT_WORDS[_kind].summary,
        openapi_extra=json_request("PlanDocument"),
        responses={200: text_response(_kind), **PLAN_PROBLEMS},
        response_class=Response,
    )
