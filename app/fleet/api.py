"""The overview over REST."""

from __future__ import annotations

from fastapi import APIRouter

from app.database.session import SessionDep
from app.fleet import service
from app.fleet.answers import Fleet
from app.web.openapi import problems

router = APIRouter(prefix="/api/v1")


@router.get("/fleet", tags=["overview"], summary="Read the overview", responses=problems())
def fleet(session: SessionDep) -> Fleet:
    """Return the coupling facilities, all structures by urgency, the latest nightly run, open plans, and what to do first."""
    return service.fleet(session)
