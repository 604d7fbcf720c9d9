"""Nightly runs and their report over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from app.database.session import SessionDep
from app.database.types import LARGEST_KEY
from app.nightly import report, service
from app.nightly.models import Trigger
from app.nightly.report import NightlyReport
from app.nightly.service import RunDetails, RunPage
from app.uploads.arrivals import start_after_commit
from app.web.openapi import problems
from app.web.paging import PageParameters
from app.web.router import Router

MARKDOWN = "text/markdown"

RunId = Annotated[int, Path(ge=1, le=LARGEST_KEY, description="Number of the nightly run.", examples=[1])]

router = Router(prefix="/api/v1")
NIGHTS = "nightly runs"


@router.get("/nightly-runs", tags=[NIGHTS], summary="List nightly runs", responses=problems(422))
def list_runs(session: SessionDep, asked: PageParameters) -> RunPage:
    """Return runs, newest first, with their times, results and number of findings."""
    return service.list_runs(session, asked)


@router.post(
    "/nightly-runs",
    tags=[NIGHTS],
    summary="Run now",
    status_code=202,
    responses={
        202: {
            "description": "The run waits for its turn, because only one run is possible at a time.",
            "headers": {"Location": {"description": "Address of the run.", "schema": {"type": "string"}}},
        },
        **problems(409),
    },
)
def run_now(session: SessionDep, request: Request, response: Response) -> RunDetails:
    """Start a nightly run at once. If one is in progress or waiting, the answer is 409."""
    run = service.queue(session, Trigger.REQUEST)
    start_after_commit(request, session)
    response.headers["location"] = f"{request.scope.get('root_path', '')}/api/v1/nightly-runs/{run.id}"
    return service.details(session, run.id)


@router.get(
    "/nightly-runs/{number}", tags=[NIGHTS], summary="Read a nightly run", responses=problems(404, 422)
)
def read_run(number: RunId, session: SessionDep) -> RunDetails:
    """Return the progress of a run, or its results and findings."""
    return service.details(session, number)


@router.get(
    "/night/report", tags=[NIGHTS], summary="Read the report of the latest run", responses=problems(404)
)
@router.get("/night/report.json", include_in_schema=False)
def read_report(session: SessionDep) -> NightlyReport:
    """Return findings, structures that run out, and fits of the last successful run."""
    return report.newest(session)


@router.get(
    "/night/report.md",
    tags=[NIGHTS],
    summary="Read the report of the latest run as text",
    responses={
        200: {
            "description": "Markdown for an email.",
            "content": {MARKDOWN: {"schema": {"type": "string"}}},
        },
        **problems(404),
    },
    response_class=Response,
)
def read_report_text(session: SessionDep) -> Response:
    """Return the report as Markdown for mail. It is also a file in the data folder."""
    return Response(report.as_markdown(report.newest(session)), media_type=MARKDOWN)
