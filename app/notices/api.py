"""Notices over REST."""

from __future__ import annotations

from app.clock import utc_now
from app.database.session import SessionDep
from app.notices import service
from app.notices.service import NoticePage
from app.paging import ListRequest
from app.web.openapi import problems
from app.web.paging import PageParameters
from app.web.router import Router

router = Router(prefix="/api/v1")


@router.get("/notices", tags=["notices"], summary="List notices", responses=problems(422))
def list_notices(session: SessionDep, asked: PageParameters) -> NoticePage:
    """Return notices, newest first, with the state of each on every channel."""
    return service.list_notices(session, ListRequest(asked), now=utc_now())
