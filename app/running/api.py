"""The addresses about what runs. app/web/problems.py says what each error becomes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.fits.dependencies import curves_of
from app.running import service
from app.sizing.body import JSON, document_body
from app.web.openapi import json_request, json_response, problems

router = APIRouter(prefix="/api/v1", tags=["what runs"])


def _described(asked: str, answer: str, about: str) -> dict[str, Any]:
    return {
        "openapi_extra": json_request(asked),
        "responses": {200: json_response(answer, about), **problems(413, 415, 422)},
        "response_class": Response,
    }


async def _answer(function: Callable[[bytes], bytes], request: Request) -> Response:
    return Response(await run_in_threadpool(function, await document_body(request)), media_type=JSON)


@router.post(
    "/lint",
    summary="Check a policy, MQSC or displays",
    **_described("LintRequest", "LintAnswer", "Every finding with its line."),
)
async def lint(request: Request) -> Response:
    """A CFRM policy, MQSC definitions or displays checked without a plan, damaged ones as well."""
    return await _answer(service.lint_json, request)


@router.post(
    "/merge",
    summary="Merge a plan into a policy",
    **_described("MergeRequest", "MergeAnswer", "The merged policy, what was changed, and the difference."),
)
async def merge(request: Request) -> Response:
    """The whole current policy in, the whole merged policy out; every other statement untouched, to the byte."""
    return await _answer(partial(service.merge_json, curves=curves_of(request)), request)


@router.post(
    "/diff",
    summary="Compare what runs with a plan",
    **_described(
        "DiffRequest", "RunningDiffAnswer", "Each structure today, needed and planned; the ordered commands."
    ),
)
async def diff(request: Request) -> Response:
    """What runs beside a plan, and the ordered commands that lead there, each with when it takes effect."""
    return await _answer(partial(service.diff_json, curves=curves_of(request)), request)


@router.post(
    "/plan-from-running",
    summary="Make a plan from what runs",
    **_described("FromRunningRequest", "FromRunningAnswer", "The plan document, and what nothing displays."),
)
async def plan_from_running(request: Request) -> Response:
    """A plan document of policy, displays and definitions; with it, nothing changes until it is edited."""
    return await _answer(service.from_running_json, request)
