"""The audit trail over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import StreamingResponse

from app.audit import service
from app.audit.filters import LONGEST_TEXT, read_filter
from app.audit.responses import csv_response
from app.audit.service import EntryPage
from app.database.session import DatabaseDep, SessionDep
from app.database.types import LARGEST_KEY
from app.paging import MOST_PER_PAGE, USUAL_PER_PAGE
from app.web.openapi import problems
from app.web.router import Router

router = Router(prefix="/api/v1", tags=["audit trail"])

_TIME = "A day such as 2026-11-27, or a time in UTC such as 2026-11-27T09:30."
Since = Annotated[
    str, Query(max_length=40, description=f"Only entries from then on. {_TIME}", examples=["2026-11-27"])
]
Until = Annotated[
    str,
    Query(
        max_length=40,
        description=f"Only entries before then, or until the end of a day. {_TIME}",
        examples=["2026-11-27"],
    ),
]
Who = Annotated[str, Query(max_length=LONGEST_TEXT, description="Name of the user who did it.")]
What = Annotated[
    str,
    Query(
        alias="action",
        max_length=LONGEST_TEXT,
        description="Code of the action, or its first part: `plan` finds plan.saved, plan.deleted and so on.",
        examples=["plan.saved"],
    ),
]
ObjectName = Annotated[
    str,
    Query(
        alias="object",
        max_length=LONGEST_TEXT,
        description="Name of the object at that time.",
        examples=["SQ03"],
    ),
]


@router.get("/audit", summary="List the audit trail", responses=problems(422))
def list_audit(
    session: SessionDep,
    since: Since = "",
    until: Until = "",
    who: Who = "",
    action: What = "",
    name: ObjectName = "",
    before: Annotated[
        int | None,
        Query(ge=1, le=LARGEST_KEY, description="Only entries with a lower id: `next` of the last answer."),
    ] = None,
    per_page: Annotated[int, Query(ge=1, le=MOST_PER_PAGE)] = USUAL_PER_PAGE,
) -> EntryPage:
    """Return who did what, newest first. For administrators."""
    asked = read_filter({"since": since, "until": until, "who": who, "action": action, "object": name})
    return service.list_entries(session, asked, before=before, limit=per_page)


@router.get(
    "/audit/export",
    summary="Export the audit trail",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "All matching entries as CSV, oldest first.",
            "content": {"text/csv": {"schema": {"type": "string"}}},
        },
        **problems(422),
    },
)
def export_audit(
    database: DatabaseDep,
    since: Since = "",
    until: Until = "",
    who: Who = "",
    action: What = "",
    name: ObjectName = "",
) -> StreamingResponse:
    """Return all matching entries as a file that is sent while it is read. For administrators."""
    asked = read_filter({"since": since, "until": until, "who": who, "action": action, "object": name})
    return csv_response(service.each_entry(database, asked))
