"""Answers to errors: RFC 9457 problem documents, or pages for browsers.

The core does not know HTTP; only this module assigns a status to each of its errors. docs/reference/problems.md
describes every problem type under the heading that its `type` points to.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import Field, WrapSerializer, computed_field
from pydantic.json_schema import SkipJsonSchema
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.database.damage import begin_request, damage_behind_failure, damage_in_words, end_checks, is_damaged
from app.database.engine import is_unusable
from app.database.full_disk import is_out_of_space
from app.logs import current_request_id
from app.problem_types import (
    CONTENT_TOO_LARGE,
    CROSS_ORIGIN,
    DATABASE_UNAVAILABLE,
    DOCUMENT_INVALID,
    INPUT_REFUSED,
    INSUFFICIENT_STORAGE,
    METHOD_NOT_ALLOWED,
    MISDIRECTED_REQUEST,
    NAME_TAKEN,
    NOT_FOUND,
    OUT_OF_RANGE,
    OUTPUT_REFUSED,
    PLAN_CHANGED,
    PLAN_REFUSED,
    PRECONDITION_REQUIRED,
    REQUEST_INVALID,
    REQUEST_TIMEOUT,
    UNAUTHORIZED,
    UNEXPECTED,
    UNSUPPORTED_MEDIA_TYPE,
    ProblemType,
)
from app.web.rendering import MOST_SEARCHED, NavItem, Page, nearest_item, render
from planner_core.errors import (
    DocumentInvalid,
    FieldProblem,
    OutOfRange,
    OutputRefused,
    PlannerError,
    PlanRefused,
)
from planner_core.findings import Finding
from planner_core.wire import Answer, Hidden, Omittable

PROBLEM_MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 200
"""Maximum number of errors in one problem document; a plan with 32,256 queues can have more."""
RETRY_LATER = {"retry-after": "5"}
MOST_SHOWN = 200
"""Maximum number of characters of an address that an error repeats."""

logger = logging.getLogger("cfplan.errors")


PROBLEM_OF_CORE_ERROR: dict[type[PlannerError], ProblemType] = {
    DocumentInvalid: DOCUMENT_INVALID,
    PlanRefused: PLAN_REFUSED,
    OutputRefused: OUTPUT_REFUSED,
    OutOfRange: OUT_OF_RANGE,
    PlannerError: INPUT_REFUSED,
}
"""Problem types of the core's errors, because the core does not know HTTP; errors of the application name their own."""
TYPE_OF_STATUS = {
    kind.status: kind
    for kind in (
        UNAUTHORIZED, CROSS_ORIGIN, NOT_FOUND, METHOD_NOT_ALLOWED, REQUEST_TIMEOUT, CONTENT_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
        MISDIRECTED_REQUEST, NAME_TAKEN, PLAN_CHANGED, PRECONDITION_REQUIRED, INSUFFICIENT_STORAGE,
        DATABASE_UNAVAILABLE,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CurrentVersion(Answer):
    """The current version of a plan."""

    version: int
    etag: str


@dataclass(frozen=True, slots=True)
class Problem(Answer):
    """A problem document (RFC 9457)."""

    kind: Hidden[ProblemType]
    type: Annotated[
        str,
        Field(
            description="Address of the description of this kind of problem.",
            examples=["/docs/problems#document-invalid"],
        ),
    ] = field(init=False, default="")
    title: Annotated[str, Field(description="The kind of problem; the wording never changes.")] = field(
        init=False, default=""
    )
    status: Annotated[int, Field(description="The HTTP status.", ge=400, le=599)] = field(
        init=False, default=0
    )
    detail: Annotated[str, Field(description="Description of this occurrence, in a sentence.")]
    errors: Annotated[
        tuple[FieldProblem, ...],
        # A lambda, because pydantic would use the declared return type of a function instead of the type of the field.
        WrapSerializer(lambda errors, write: write(errors[:MOST_ERRORS])),
        Field(description="The first errors, by field."),
    ] = ()
    findings: tuple[Finding, ...] = ()
    current: Annotated[
        Omittable[CurrentVersion],
        Field(description="With 412 and 428: the current version of the plan."),
    ] = None
    reference: Annotated[
        Omittable[str],
        Field(
            description="Identifier of the request, under which the operator can find the failure in the log; also in the header X-Request-Id."
        ),
    ] = None
    headers: Hidden[dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Copy type, title and status from the kind of problem."""
        for name, value in (
            ("type", self.kind.uri),
            ("title", self.kind.title),
            ("status", self.kind.status),
        ):
            object.__setattr__(self, name, value)

    @computed_field(exclude_if=lambda omitted: omitted is None)
    @property
    def errors_omitted(self) -> int | SkipJsonSchema[None]:
        """The number of further errors, which are not listed."""
        return len(self.errors) - MOST_ERRORS if len(self.errors) > MOST_ERRORS else None


@dataclass(frozen=True, kw_only=True)
class ErrorPage(Page):
    """Context of errors/error.html."""

    status: Annotated[int, "HTTP status code"]
    detail: Annotated[str, "Description of this occurrence; the title names the kind of error"]
    errors: Annotated[tuple[FieldProblem, ...], "The fields in error, each with a message"]
    reference: Annotated[str | None, "Reference under which the failure is logged; None if nothing failed"]
    more: Annotated[str | None, "Path of the description of this kind of problem; None if there is none"]
    nearby: Annotated[NavItem | None, "The page of the navigation that the address is below; None for others"]
    search: Annotated[str, "The name at the end of an address that does not exist, to search for; else empty"]


def problem_of(error: PlannerError) -> Problem:
    """Return an error of the core or of the application as a problem."""
    kind: ProblemType | None = getattr(error, "problem", None)
    if kind is None:
        mro = type(error).__mro__
        # The nearest class takes precedence; PlannerError, the last one, covers errors without a kind of their own.
        kind = next(PROBLEM_OF_CORE_ERROR[cls] for cls in mro if cls in PROBLEM_OF_CORE_ERROR)
    findings: tuple[Finding, ...] = getattr(error, "findings", ())
    errors: tuple[FieldProblem, ...] = getattr(error, "problems", ())
    if isinstance(error, OutOfRange):
        errors = (FieldProblem(field=error.field, message=str(error)),)
    elif findings:
        against = [finding for finding in findings if finding.severity == "error"]
        errors = tuple(FieldProblem(field=f.field or "", message=f.message) for f in against)
    version = getattr(error, "current", None)
    if version is not None:
        current = CurrentVersion(version.number, version.etag)
        return Problem(kind, str(error), current=current, headers={"etag": version.etag})
    headers: dict[str, str] = getattr(error, "headers", RETRY_LATER if kind is DATABASE_UNAVAILABLE else {})
    return Problem(kind, str(error), errors=errors, findings=findings, headers=headers)


def is_wanted_as_page(request: Request) -> bool:
    """Return whether the client is a browser that requests a page, so that errors are shown as a page."""
    # /api/docs, the description of the interface, is a page.
    return not request.url.path.startswith("/api/v") and "text/html" in request.headers.get("accept", "")


def problem_response(request: Request, problem: Problem) -> Response:
    """Render a problem in the format that the client reads."""
    if is_wanted_as_page(request):
        return _page(request, problem)
    return Response(
        problem.json_bytes(),
        status_code=problem.status,
        headers=problem.headers,
        media_type=PROBLEM_MEDIA_TYPE,
    )


def _page(request: Request, problem: Problem) -> Response:
    kind = problem.kind
    path = request.url.path
    nearby = nearest_item(path)
    page = ErrorPage(
        title=kind.title,
        section=nearby.section if nearby is not None else "",
        status=kind.status,
        detail=problem.detail,
        errors=problem.errors[:MOST_ERRORS],
        reference=problem.reference,
        more=kind.page,
        nearby=nearby,
        search=path.rpartition("/")[2][:MOST_SEARCHED] if kind is NOT_FOUND and nearby is not None else "",
    )
    return render(request, "errors/error.html", page, status_code=kind.status, headers=problem.headers)


def _reference() -> str:
    """Return the identifier of the request, which is the reference in the log and in the answer."""
    return current_request_id() or secrets.token_hex(8)


def unexpected(request: Request, error: Exception) -> Response:
    """Log an unexpected error under the identifier of the request, and send the client only the identifier."""
    reference = _reference()
    # `scope`, because the URL may be invalid, and without the query, which may contain secrets.
    logger.error(
        "Reference %s: %s %s failed", reference, request.method, request.scope["path"], exc_info=error
    )
    detail = f"This is an error in the service. Its operator can find it in the log under the reference {reference}."
    problem = Problem(UNEXPECTED, detail, reference=reference)
    try:
        return problem_response(request, problem)
    except Exception:  # the error page itself failed, so send one without a template
        logger.exception("Reference %s: the error page could not be rendered", reference)
        return HTMLResponse(
            f"<!doctype html><title>{UNEXPECTED.title}</title><p>{detail}</p>", status_code=500
        )


def unavailable(request: Request, error: Exception) -> Response:
    """Log that the database failed, and ask the client to try again, or to tell the operator if data is damaged."""
    reference = _reference()
    # The driver's message alone: that of SQLAlchemy adds the statement.
    logger.error("Reference %s: the database failed: %s", reference, getattr(error, "orig", None) or error)
    if isinstance(error, DBAPIError) and is_damaged(error):
        # Values that a session returned are also parsed after it has ended.
        request.app.state.database.damage.remember(error)
        detail = (
            f"{damage_in_words(error)}. Nothing was changed. Tell the operator, who can find the failure in the log under the reference "
            f"{reference}, and may have to restore a backup."
        )
    else:
        detail = (
            "The database did not answer, or was busy for too long. Nothing was changed. Try again; if the problem persists, "
            f"the operator can find the failure in the log under the reference {reference}."
        )
    problem = Problem(DATABASE_UNAVAILABLE, detail, reference=reference, headers=RETRY_LATER)
    return problem_response(request, problem)


def _after_failure(request: Request, error: Exception) -> Response:
    """Answer an unexpected error, for which damage deep inside of a stored text is the reason more often than a defect."""
    damaged = damage_behind_failure()
    return unexpected(request, error) if damaged is None else unavailable(request, damaged)


class UnexpectedErrors:
    """Middleware that converts unhandled exceptions to a response with a reference.

    Starlette's own handler is outside all other middleware, so its answer would lack the security headers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and answer with an error if an exception is not handled."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin_request()
        has_started = False

        async def watched_send(message: Message) -> None:
            nonlocal has_started
            has_started = True
            end_checks()
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        except Exception as error:  # any exception that no other handler covers
            if has_started and isinstance(error.__cause__, PlannerError):
                raise  # a refusal that came too late for an answer, such as the end of a stream that was stopped
            response = await run_in_threadpool(_after_failure, Request(scope), error)
            # A second status cannot be sent, so the server closes the connection and the client sees an incomplete
            # answer.
            if has_started:
                raise
            await response(scope, receive, send)


async def _on_planner_error(request: Request, error: PlannerError) -> Response:
    return problem_response(request, problem_of(error))


async def on_database_error(request: Request, error: Exception) -> Response:
    """Answer a failure of the database, which is a defect if a statement is wrong."""
    if isinstance(error, DBAPIError) and not is_unusable(error):
        return unexpected(request, error)
    return unavailable(request, error)


async def _on_os_error(request: Request, error: OSError) -> Response:
    if not is_out_of_space(error):
        return unexpected(request, error)
    logger.error("%s %r failed: %s", request.method, request.url.path, error)
    detail = "There is no space left on the disk of the data folder. Nothing was changed. Free some space, and then try again."
    return problem_response(request, Problem(INSUFFICIENT_STORAGE, detail))


async def _on_http_exception(request: Request, error: HTTPException) -> Response:
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    phrase = HTTPStatus(error.status_code).phrase
    kind = TYPE_OF_STATUS.get(error.status_code, ProblemType(None, error.status_code, phrase))
    detail = error.detail
    if detail == phrase:  # replace the framework's standard phrase with a more helpful message
        path = (
            request.url.path if len(request.url.path) <= MOST_SHOWN else request.url.path[:MOST_SHOWN] + "..."
        )
        if kind is NOT_FOUND:
            detail = f"Nothing is served at {path}."
        elif kind is METHOD_NOT_ALLOWED:
            detail = f"{path} does not support {request.method}. Supported: {headers.get('allow', 'other methods')}."
    return problem_response(request, Problem(kind, detail, headers=headers))


async def _on_request_invalid(request: Request, error: RequestValidationError) -> Response:
    errors = tuple(
        FieldProblem(field=".".join(map(str, e["loc"][1:])), message=e["msg"])
        for e in error.errors()  # loc begins with query, path or body
    )
    detail = "; ".join(str(problem) for problem in errors[:3])
    return problem_response(request, Problem(REQUEST_INVALID, detail, errors=errors))


def install(app: FastAPI) -> None:
    """Answer every error of the application with a problem."""
    handlers: dict[type[Exception], Callable[..., Awaitable[Response]]] = {
        PlannerError: _on_planner_error,
        HTTPException: _on_http_exception,
        RequestValidationError: _on_request_invalid,
        DBAPIError: on_database_error,
        OSError: _on_os_error,
        PoolTimeout: on_database_error,
    }
    for error, handler in handlers.items():
        app.add_exception_handler(error, handler)
