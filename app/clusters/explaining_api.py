"""Why messages were not re-allocated, over REST. app/web/problems.py says what each error becomes."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.clusters import explaining
from app.sizing.body import JSON, document_body
from app.web.openapi import json_request, json_response, problems

router = APIRouter(prefix="/api/v1/cluster", tags=["clusters"])


@router.post(
    "/explain",
    summary="Why messages were not re-allocated",
    openapi_extra=json_request("ExplainRequest"),
    responses={
        200: json_response(
            "ExplanationOfMessages",
            "Each message with its reason, each channel with its counts, and the steps for each queue.",
        ),
        **problems(413, 415, 422),
    },
    response_class=Response,
)
async def explain_messages(request: Request) -> Response:
    """Displays of the sending queue manager and a browse of its transmission queue in; why each message is where it is out."""
    body = await document_body(request)
    return Response(await run_in_threadpool(explaining.explanation_json, body), media_type=JSON)
