"""Stored plans over REST. app/web/problems.py converts errors to responses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Query
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import Response

from app.database.session import SessionDep
from app.plans import answers, approval, description, service
from app.plans.approval import ApprovalState
from app.plans.release import Release, ReleaseDep
from app.plans.schemas import (
    DeletedPlans,
    DeletionAnswer,
    PlanHistory,
    RestorablePlan,
    VersionDifferences,
)
from app.plans.stored import NAME_PATTERN, PlanList, SaveOutcome, StoredVersion
from app.sizing.description import OUTPUT_WORDS
from app.web.body import JSON, DocumentBody
from app.web.openapi import json_request, problems
from app.web.paging import PageParameters
from app.web.router import Router
from app.web.tables import sort_of
from planner_core.document.compare import differences
from planner_core.document.reading import read_json
from planner_core.garbage import collection_paused
from planner_core.texts.outputs import OUTPUT_KINDS

# The maxima of INTEGER and BIGINT on PostgreSQL, which raises an error for larger parameters.
MOST_VERSIONS = 2**31 - 1
MOST_PLANS = 2**63 - 1
STATUS_OF_SAVE = {"created": 201, "changed": 200, "identical": 200}

Name = Annotated[
    str,
    Path(
        description="Name of the plan.",
        # Described but not checked by FastAPI: the service has its own errors for invalid names.
        json_schema_extra={"pattern": f"^{NAME_PATTERN}$"},
        examples=["SQ03"],
    ),
]
Number = Annotated[int, Path(ge=1, le=MOST_VERSIONS, description="Number of the version.", examples=[1])]
Explain = Annotated[bool, Query(description="Explain the source of every figure.")]
OneOf = Annotated[int | None, Query(ge=1, le=MOST_VERSIONS)]

router = Router(prefix="/api/v1", tags=["stored plans"])


@router.get("/plans", summary="List plans", responses=problems(422))
def list_plans(
    session: SessionDep,
    asked: PageParameters,
    search: Annotated[
        str | None, Query(max_length=100, description="Part of the plan's or the group's name.")
    ] = None,
    sort: Annotated[
        str,
        Query(
            max_length=40,
            description=f"One of {', '.join(service.SORT_KEYS)}; a minus sign in front reverses the order.",
            examples=["-size_kib"],
        ),
    ] = "",
) -> PlanList:
    """Return plans, one page at a time, with the figures of their latest versions.

    Without `sort`, they are sorted by name.
    """
    return service.list_plans(session, asked, search=search, sort=sort_of(sort, service.SORT_KEYS))


@router.get("/deleted-plans", summary="List deleted plans", responses=problems())
def list_deleted(session: SessionDep, request: Request) -> DeletedPlans:
    """Return plans that can still be restored, most recently deleted first."""
    days = request.app.state.settings.deleted_days
    return DeletedPlans(tuple(RestorablePlan.of(plan, days=days) for plan in service.list_deleted(session)))


@router.get(
    "/plans/{name}",
    summary="Read a plan",
    responses={**description.stored_plan(), **problems(404, 422)},
    response_class=Response,
    openapi_extra=description.conditional_get(),
)
def read_plan(name: Name, session: SessionDep, request: Request, explain: Explain = False) -> Response:
    """Return the latest version as it was saved: document, result and findings, with its ETag."""
    return _read(session, request, service.get_plan(session, name), explain=explain)


def _read(session: Session, request: Request, version: StoredVersion, *, explain: bool) -> Response:
    explanations = service.get_explanations_json(session, version) if explain else None
    acknowledged = service.get_acknowledgments(session, version)
    return answers.version_response(version, request.headers, acknowledged, explanations=explanations)


@router.put(
    "/plans/{name}",
    summary="Save a plan",
    responses={**description.saved_plan(), **problems(404, 412, 413, 415, 422, 428)},
    response_class=Response,
    openapi_extra={**json_request("PlanDocument"), **description.conditional_put()},
)
def save_plan(
    name: Name,
    body: DocumentBody,
    session: SessionDep,
    request: Request,
    comment: Annotated[str | None, Query(max_length=500, description="A comment for the history.")] = None,
) -> Response:
    """Create a plan (201) or a new version of it (200). A document that is already stored changes nothing (200).

    A change must name its base version in If-Match. It is refused without If-Match (428), or if that version is no
    longer the latest (412). `If-None-Match: *` only creates.
    """
    if_none_match = answers.header_list(request.headers, "if-none-match")
    outcome = service.save_plan(
        session,
        name,
        read_json(body),
        if_match=answers.header_list(request.headers, "if-match"),
        if_none_match=if_none_match,
        create_only=(if_none_match or "").strip() == "*",
        comment=comment,
    )
    return _saved(session, request, outcome)


def _saved(session: Session, request: Request, outcome: SaveOutcome) -> Response:
    headers = {"etag": outcome.version.etag}
    if outcome.status == "created":
        headers["location"] = f"{request.scope.get('root_path', '')}/api/v1/plans/{outcome.version.name}"
    acknowledged = service.get_acknowledgments(session, outcome.version)
    content = answers.version_json(outcome.version, acknowledged, saved=outcome.status)
    return Response(content, status_code=STATUS_OF_SAVE[outcome.status], media_type=JSON, headers=headers)


@router.delete(
    "/plans/{name}",
    summary="Delete a plan",
    responses=problems(404, 412, 422),
    openapi_extra=description.conditional_delete(),
)
def delete_plan(name: Name, session: SessionDep, request: Request) -> DeletionAnswer:
    """Delete a plan with all its versions. It can be restored until `restorable_until`. If-Match is checked."""
    days = request.app.state.settings.deleted_days
    if_match = answers.header_list(request.headers, "if-match")
    deleted = service.delete_plan(session, name, if_match=if_match)
    # No job removes expired plans, so each deletion does.
    service.purge_deleted(session, timedelta(days=days))
    return DeletionAnswer.of(deleted, days=days)


@router.post(
    "/plans/{name}/restore",
    summary="Restore a deleted plan",
    responses={**description.restored_plan(), **problems(404, 409, 422)},
    response_class=Response,
)
def restore_plan(
    name: Name,
    session: SessionDep,
    request: Request,
    plan_id: Annotated[
        int | None,
        Query(
            alias="id",
            ge=1,
            le=MOST_PLANS,
            description="The deleted plan to restore; default: the one deleted last.",
        ),
    ] = None,
    new_name: Annotated[
        str | None,
        Query(
            alias="as", max_length=64, description="The name of the restored plan; default: its former name."
        ),
    ] = None,
) -> Response:
    """Restore a deleted plan with all its versions: the one that was deleted last, unless `id` names another."""
    service.purge_deleted(session, timedelta(days=request.app.state.settings.deleted_days))
    version = service.restore_plan(session, name, plan_id=plan_id, new_name=new_name)
    acknowledged = service.get_acknowledgments(session, version)
    return Response(
        answers.version_json(version, acknowledged), media_type=JSON, headers={"etag": version.etag}
    )


@router.get("/plans/{name}/versions", summary="History of a plan", responses=problems(404, 422))
def list_versions(name: Name, session: SessionDep) -> PlanHistory:
    """Return all versions with their figures, newest first."""
    return PlanHistory(name, service.list_versions(session, name))


@router.get(
    "/plans/{name}/versions/{number}",
    summary="Read a version",
    responses={**description.stored_plan(), **problems(404, 422)},
    response_class=Response,
    openapi_extra=description.conditional_get(),
)
def read_version(
    name: Name, number: Number, session: SessionDep, request: Request, explain: Explain = False
) -> Response:
    """Return a version as it was saved, even if the sizing core has changed since."""
    return _read(session, request, service.get_version(session, name, number), explain=explain)


@router.get(
    "/plans/{name}/versions/{number}/approval",
    summary="Read the approval of a version",
    responses=problems(404, 422),
)
def read_approval(name: Name, number: Number, session: SessionDep, request: Request) -> ApprovalState:
    """Return whether the version is approved, and by whom."""
    return approval.state_of(session, name, number, is_required=request.app.state.settings.approval)


@router.post(
    "/plans/{name}/versions/{number}/approval", summary="Approve a version", responses=problems(403, 404, 422)
)
def approve(name: Name, number: Number, session: SessionDep, request: Request) -> ApprovalState:
    """Approve a version that another person saved. Its texts for z/OS are then available."""
    return approval.approve(session, name, number, is_required=request.app.state.settings.approval)


@router.delete(
    "/plans/{name}/versions/{number}/approval",
    summary="Withdraw the approval of a version",
    responses=problems(404, 422),
)
def withdraw_approval(name: Name, number: Number, session: SessionDep, request: Request) -> ApprovalState:
    """Withdraw an approval. The texts of the version are not available until it is approved again."""
    return approval.withdraw(session, name, number, is_required=request.app.state.settings.approval)


@router.get("/plans/{name}/diff", summary="Compare two versions", responses=problems(404, 422))
def compare_versions(
    name: Name,
    session: SessionDep,
    before: Annotated[OneOf, Query(alias="from", description="Default: the previous version.")] = None,
    after: Annotated[OneOf, Query(alias="to", description="Default: the latest version.")] = None,
) -> VersionDifferences:
    """Compare the documents and the results of two versions. Structures, queues and findings are matched by name."""
    new = service.get_version(session, name, after) if after else service.get_plan(session, name)
    old = service.get_version(session, name, before or max(1, new.number - 1))
    with collection_paused(len(new.document_json)):
        document, result = (
            differences(*pair)
            for pair in (
                (old.comparable_object, new.comparable_object),
                (old.comparable_result, new.comparable_result),
            )
        )
    return VersionDifferences(name, old.number, new.number, document, result)


@router.get(
    "/plans/{name}/document",
    summary="Download the plan document",
    responses={**description.document(), **problems(404, 422)},
    response_class=Response,
    openapi_extra=description.conditional_get(),
)
def read_document(name: Name, session: SessionDep, request: Request) -> Response:
    """Return the document alone, complete with defaults, for PUT and for `cfplan plan`."""
    return answers.document_response(service.get_plan(session, name), request.headers)


def _text(
    session: Session, request: Request, release: Release, name: str, kind: str, *, number: int | None = None
) -> Response:
    output = service.get_output(session, name, kind, number=number)
    release.check(session, name, output)
    response = answers.output_response(output, request.headers)
    if response.status_code == HTTPStatus.OK:  # not if the client has the text already
        release.record_version(name, output, {kind: output.text})
    return response


def _text_handlers(kind: str) -> tuple[Callable[..., Response], Callable[..., Response]]:
    def latest(name: Name, session: SessionDep, request: Request, release: ReleaseDep) -> Response:
        return _text(session, request, release, name, kind)

    def of_version(
        name: Name, number: Number, session: SessionDep, request: Request, release: ReleaseDep
    ) -> Response:
        return _text(session, request, release, name, kind, number=number)

    # FastAPI derives the ids of operations from these names, and clients are generated from the ids.
    latest.__name__, of_version.__name__ = f"stored_{kind}", f"stored_{kind}_of_version"
    words = OUTPUT_WORDS[kind].description
    latest.__doc__ = f"{words} The text was generated when the latest version was saved."
    of_version.__doc__ = f"{words} The text was generated when this version was saved."
    return latest, of_version


for _kind in OUTPUT_KINDS:
    for _place, _handler in zip(("", "/versions/{number}"), _text_handlers(_kind), strict=True):
        router.add_api_route(
            f"/plans/{{name}}{_place}/{_kind}",
            _handler,
            methods=["GET"],
            summary=f"{OUTPUT_WORDS[_kind].summary} of a {'version' if _place else 'stored plan'}",
            responses={**description.output(_kind), **problems(404, 409, 422)},
            response_class=Response,
            openapi_extra=description.conditional_get(),
        )
