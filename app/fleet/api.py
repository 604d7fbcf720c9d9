"""The overview over REST."""

from __future__ import annotations

from fastapi import Request

from app.database.session import SessionDep
from app.fleet import service
from app.fleet.answers import Fleet
from app.settings import Settings
from app.web.openapi import problems
from app.web.router import Router

router = Router(prefix="/api/v1")


@router.get("/fleet", tags=["overview"], summary="Read the overview", responses=problems())
def fleet(request: Request, session: SessionDep) -> Fleet:
    """Return the coupling facilities, all structures by urgency, the latest nightly run, open plans, and what to do first."""
    settings: Settings = request.app.state.settings
    return service.fleet(session, lead_time_days=settings.lead_time_days)
