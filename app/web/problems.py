"""Errors as people and programs see them: RFC 9457 problem documents, and pages for browsers.

The core raises sentences without knowing HTTP; this module alone says which status each one becomes. Every problem
type is described in docs/problems.md under the heading that its `type` points to.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.database.engine import DatabaseUnusable, is_unusable
from app.fits.errors import CurveNotFound, ForecastNotFound, LevelInvalid, LevelNotFound
from app.jobs.errors import JobBusy, JobNotFound
from app.nightly.errors import NightUnderWay, NoReport, RunNotFound
from app.plans.errors import (
    NameTaken,
    PlanConflict,
    PlanGone,
    PlanNameInvalid,
    PlanNotFound,
    PreconditionRequired,
    StoredOutputRefused,
)
from app.scenarios.errors import (
    ScenarioConflict,
    ScenarioExists,
    ScenarioGone,
    ScenarioNotFound,
    ScenarioPreconditionRequired,
)
from app.uploads.errors import (
    FileGone,
    MappingNotFound,
    NoRoom,
    ReportNotReady,
    UploadInvalid,
    UploadNotFound,
    UploadTooLarge,
)
from app.usage.errors import UsageNotFound, UsageRequestInvalid
from app.web.rendering import Page, render
from planner_core.errors import (
    DocumentInvalid,
    FieldProblem,
    OutOfRange,
    OutputRefused,
    PlannerError,
    PlanRefused,
)
from planner_core.findings import Finding

PROBLEM_MEDIA_TYPE = "application/problem+json"
DOCUMENTATION = "/docs/problems"
MOST_ERRORS = 200
"""A problem document names at most this many fields: a plan with 32 256 queues can have as many mistakes."""
MOST_SHOWN = 200
"""Characters of an address that an error repeats."""

logger = logging.getLogger("cfplan.errors")


@dataclass(frozen=True, slots=True)
class ProblemType:
    """One kind of refusal: its heading in docs/problems.md, its status, its title."""

    slug: str | None
    status: int
    title: str

    @property
    def uri(self) -> str:
        """Relative URI of the description; about:blank says no more than the status does."""
        return f"{DOCUMENTATION}#{self.slug}" if self.slug else "about:blank"


REQUEST_INVALID = ProblemType("request-invalid", 422, "The request is not valid")
DOCUMENT_INVALID = ProblemType("document-invalid", 422, "The plan document is not valid")
PLAN_REFUSED = ProblemType("plan-refused", 422, "No such plan can exist")
OUTPUT_REFUSED = ProblemType("output-refused", 422, "This output cannot be given for the plan as it is")
OUT_OF_RANGE = ProblemType("out-of-range", 422, "A value is outside what can be computed")
INPUT_REFUSED = ProblemType("input-refused", 422, "The input was refused")
CROSS_ORIGIN = ProblemType("cross-origin", 403, "The request comes from another site")
NOT_FOUND = ProblemType("not-found", 404, "There is nothing at this address")
METHOD_NOT_ALLOWED = ProblemType("method-not-allowed", 405, "This address does not take this method")
REQUEST_TIMEOUT = ProblemType("request-timeout", 408, "The request body took too long to arrive")
CONTENT_TOO_LARGE = ProblemType("content-too-large", 413, "The request body is too large")
UNSUPPORTED_MEDIA_TYPE = ProblemType(
    "unsupported-media-type", 415, "The request body is of another media type"
)
MISDIRECTED_REQUEST = ProblemType("misdirected-request", 421, "The service does not answer to this host name")
PLAN_NOT_FOUND = ProblemType("plan-not-found", 404, "There is no such plan")
PLAN_NAME_INVALID = ProblemType("plan-name-invalid", 422, "No plan can have this name")
NAME_TAKEN = ProblemType("name-taken", 409, "Another plan has this name")
PLAN_CHANGED = ProblemType("plan-changed", 412, "The plan is not what the request expects")
PRECONDITION_REQUIRED = ProblemType(
    "precondition-required", 428, "The request must say which version it changes"
)
SCENARIO_NOT_FOUND = ProblemType("scenario-not-found", 404, "The plan has no such scenario")
SCENARIO_EXISTS = ProblemType("scenario-exists", 409, "Another scenario of the plan has this name")
SCENARIO_CHANGED = ProblemType("scenario-changed", 412, "The scenario is not what the request expects")
UPLOAD_NOT_FOUND = ProblemType("upload-not-found", 404, "There is no such upload, job or entry")
UPLOAD_INVALID = ProblemType("upload-invalid", 422, "The upload cannot be taken as it is")
JOB_BUSY = ProblemType("job-busy", 409, "A job is under way")
REPORT_NOT_READY = ProblemType("report-not-ready", 409, "There is no report yet")
FILE_GONE = ProblemType("file-gone", 409, "The file is no longer kept")
INSUFFICIENT_STORAGE = ProblemType("insufficient-storage", 507, "There is too little room for the upload")
DATABASE_UNAVAILABLE = ProblemType("database-unavailable", 503, "The database cannot be used at present")
UNEXPECTED = ProblemType("unexpected", 500, "The service failed unexpectedly")

PROBLEM_TYPES = (
    REQUEST_INVALID, DOCUMENT_INVALID, PLAN_REFUSED, OUTPUT_REFUSED, OUT_OF_RANGE, INPUT_REFUSED, CROSS_ORIGIN,
    NOT_FOUND, METHOD_NOT_ALLOWED, REQUEST_TIMEOUT, CONTENT_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MISDIRECTED_REQUEST,
    PLAN_NOT_FOUND, PLAN_NAME_INVALID, NAME_TAKEN, PLAN_CHANGED, PRECONDITION_REQUIRED, SCENARIO_NOT_FOUND,
    SCENARIO_EXISTS, SCENARIO_CHANGED, UPLOAD_NOT_FOUND,
    UPLOAD_INVALID, JOB_BUSY, REPORT_NOT_READY, FILE_GONE, INSUFFICIENT_STORAGE, DATABASE_UNAVAILABLE, UNEXPECTED,
)  # fmt: skip

TYPE_OF_ERROR: dict[type[PlannerError], ProblemType] = {
    DocumentInvalid: DOCUMENT_INVALID,
    PlanRefused: PLAN_REFUSED,
    OutputRefused: OUTPUT_REFUSED,
    OutOfRange: OUT_OF_RANGE,
    PlanNotFound: PLAN_NOT_FOUND,
    PlanNameInvalid: PLAN_NAME_INVALID,
    NameTaken: NAME_TAKEN,
    PlanGone: PLAN_CHANGED,
    PlanConflict: PLAN_CHANGED,
    PreconditionRequired: PRECONDITION_REQUIRED,
    StoredOutputRefused: OUTPUT_REFUSED,
    ScenarioNotFound: SCENARIO_NOT_FOUND,
    ScenarioExists: SCENARIO_EXISTS,
    ScenarioGone: SCENARIO_CHANGED,
    ScenarioConflict: SCENARIO_CHANGED,
    ScenarioPreconditionRequired: PRECONDITION_REQUIRED,
    UploadNotFound: UPLOAD_NOT_FOUND,
    JobNotFound: UPLOAD_NOT_FOUND,
    MappingNotFound: UPLOAD_NOT_FOUND,
    UploadInvalid: UPLOAD_INVALID,
    UploadTooLarge: CONTENT_TOO_LARGE,
    JobBusy: JOB_BUSY,
    ReportNotReady: REPORT_NOT_READY,
    FileGone: FILE_GONE,
    NoRoom: INSUFFICIENT_STORAGE,
    DatabaseUnusable: DATABASE_UNAVAILABLE,
    UsageNotFound: NOT_FOUND,
    UsageRequestInvalid: REQUEST_INVALID,
    RunNotFound: NOT_FOUND,
    NoReport: NOT_FOUND,
    NightUnderWay: JOB_BUSY,
    CurveNotFound: NOT_FOUND,
    ForecastNotFound: NOT_FOUND,
    LevelNotFound: NOT_FOUND,
    LevelInvalid: REQUEST_INVALID,
    PlannerError: INPUT_REFUSED,
}
TYPE_OF_STATUS = {
    kind.status: kind
    for kind in (
        CROSS_ORIGIN, NOT_FOUND, METHOD_NOT_ALLOWED, REQUEST_TIMEOUT, CONTENT_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
        MISDIRECTED_REQUEST, NAME_TAKEN, PLAN_CHANGED, PRECONDITION_REQUIRED, INSUFFICIENT_STORAGE,
        DATABASE_UNAVAILABLE,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal on its way out; rendered as a problem document or as a page."""

    type: ProblemType
    detail: str
    errors: tuple[FieldProblem, ...] = ()
    findings: tuple[Finding, ...] = ()
    stored_findings: tuple[dict[str, Any], ...] = ()
    current: dict[str, Any] | None = None
    reference: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The members of the problem document."""
        document: dict[str, Any] = {
            "type": self.type.uri,
            "title": self.type.title,
            "status": self.type.status,
            "detail": self.detail,
            "errors": [{"field": e.field, "message": e.message} for e in self.errors[:MOST_ERRORS]],
            "findings": [*(finding.as_json() for finding in self.findings), *self.stored_findings],
        }
        if self.current is not None:
            document["current"] = self.current
        if len(self.errors) > MOST_ERRORS:
            document["errors_omitted"] = len(self.errors) - MOST_ERRORS
        if self.reference is not None:
            document["reference"] = self.reference
        return document


@dataclass(frozen=True, kw_only=True)
class ErrorPage(Page):
    """Context of errors/error.html."""

    status: Annotated[int, "HTTP status code"]
    detail: Annotated[
        str, "What went wrong this time, in a sentence; the title says what kind of thing it is"
    ]
    errors: Annotated[tuple[FieldProblem, ...], "The fields at fault, each with a sentence"]
    reference: Annotated[str | None, "Reference under which the failure is logged; None where nothing failed"]
    more: Annotated[str | None, "Path of the description of this kind of problem; None where there is none"]


def problem_of(error: PlannerError) -> Problem:
    """What the core or the store of plans refused, as a problem."""
    kind = next(TYPE_OF_ERROR[cls] for cls in type(error).__mro__ if cls in TYPE_OF_ERROR)
    findings: tuple[Finding, ...] = getattr(error, "findings", ())
    errors: tuple[FieldProblem, ...] = getattr(error, "problems", ())
    if isinstance(error, OutOfRange):
        errors = (FieldProblem(field=error.field, message=str(error)),)
    elif findings:
        against = [finding for finding in findings if finding.severity == "error"]
        errors = tuple(FieldProblem(field=f.field or "", message=f.message) for f in against)
    if isinstance(
        error, (PlanConflict, PreconditionRequired, ScenarioConflict, ScenarioPreconditionRequired)
    ):
        current = {"version": error.current.number, "etag": error.current.etag}
        return Problem(kind, str(error), current=current, headers={"etag": error.current.etag})
    stored: tuple[dict[str, Any], ...] = getattr(error, "stored_findings", ())
    if stored:
        errors = tuple(FieldProblem(field=f["field"] or "", message=f["message"]) for f in stored)
    return Problem(kind, str(error), errors=errors, findings=findings, stored_findings=stored)


def is_wanted_as_page(request: Request) -> bool:
    """Say whether a browser asks for a page: then an error is shown as one."""
    return not request.url.path.startswith("/api/v") and "text/html" in request.headers.get("accept", "")


def problem_response(request: Request, problem: Problem) -> Response:
    """Render a problem the way the client reads it."""
    if is_wanted_as_page(request):
        return _page(request, problem)
    return Response(
        to_json(problem.as_json()),
        status_code=problem.type.status,
        headers=problem.headers,
        media_type=PROBLEM_MEDIA_TYPE,
    )


def _page(request: Request, problem: Problem) -> Response:
    kind = problem.type
    page = ErrorPage(
        title=kind.title,
        section="",
        status=kind.status,
        detail=problem.detail,
        errors=problem.errors[:MOST_ERRORS],
        reference=problem.reference,
        more=kind.uri if kind.slug else None,
    )
    return render(request, "errors/error.html", page, status_code=kind.status, headers=problem.headers)


def unexpected(request: Request, error: Exception) -> Response:
    """Log what nobody foresaw under a reference, and tell the client the reference and nothing else."""
    reference = secrets.token_hex(6)
    logger.error("Reference %s: %s %r failed", reference, request.method, request.url.path, exc_info=error)
    detail = (
        f"This is a fault of the service. Its operator finds it in the log under the reference {reference}."
    )
    problem = Problem(UNEXPECTED, detail, reference=reference)
    try:
        return problem_response(request, problem)
    except Exception:  # the error page itself failed; an answer without it is better than none
        logger.exception("Reference %s: the error page could not be rendered", reference)
        return HTMLResponse(
            f"<!doctype html><title>{UNEXPECTED.title}</title><p>{detail}</p>", status_code=500
        )


def unavailable(request: Request, error: Exception) -> Response:
    """Log that the database did not answer; whoever asks may try again."""
    reference = secrets.token_hex(6)
    logger.error("Reference %s: the database failed: %s", reference, error)
    detail = (
        "The database did not answer, or was busy for too long. Nothing was changed. Try again; if it stays so, the "
        f"operator finds the failure in the log under the reference {reference}."
    )
    problem = Problem(DATABASE_UNAVAILABLE, detail, reference=reference, headers={"retry-after": "5"})
    return problem_response(request, problem)


class UnexpectedErrors:
    """Middleware that turns any exception nobody handled into an answer with a reference.

    Starlette's own handler stands outside all other middleware, so its answer would lack the security headers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and answer for whatever escapes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_started = False

        async def watched_send(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        except Exception as error:  # nobody else answers for it
            response = unexpected(Request(scope), error)
            if has_started:
                raise
            await response(scope, receive, send)


async def _on_planner_error(request: Request, error: PlannerError) -> Response:
    return problem_response(request, problem_of(error))


async def _on_database_error(request: Request, error: Exception) -> Response:
    if isinstance(error, DBAPIError) and not is_unusable(error):
        return unexpected(request, error)
    return unavailable(request, error)


async def _on_http_exception(request: Request, error: HTTPException) -> Response:
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    phrase = HTTPStatus(error.status_code).phrase
    kind = TYPE_OF_STATUS.get(error.status_code, ProblemType(None, error.status_code, phrase))
    detail = error.detail
    if detail == phrase:  # the framework's own words; ours say more
        path = (
            request.url.path if len(request.url.path) <= MOST_SHOWN else request.url.path[:MOST_SHOWN] + "..."
        )
        if kind is NOT_FOUND:
            detail = f"Nothing is served at {path}."
        elif kind is METHOD_NOT_ALLOWED:
            detail = f"{path} does not take {request.method}, but {headers.get('allow', 'another method')}."
    return problem_response(request, Problem(kind, detail, headers=headers))


async def _on_request_invalid(request: Request, error: RequestValidationError) -> Response:
    errors = tuple(
        FieldProblem(field=".".join(map(str, e["loc"][1:])), message=e["msg"]) for e in error.errors()
    )
    detail = "; ".join(str(problem) for problem in errors[:3])
    return problem_response(request, Problem(REQUEST_INVALID, detail, errors=errors))


def install(app: FastAPI) -> None:
    """Answer every error of the application with a problem."""
    handlers: dict[type[Exception], Callable[..., Awaitable[Response]]] = {
        PlannerError: _on_planner_error,
        HTTPException: _on_http_exception,
        RequestValidationError: _on_request_invalid,
        DBAPIError: _on_database_error,
        PoolTimeout: _on_database_error,
    }
    for error, handler in handlers.items():
        app.add_exception_handler(error, handler)
