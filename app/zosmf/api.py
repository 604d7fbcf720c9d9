"""Stored comparisons of active policies over REST; no other system is contacted."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from app.connections.models import LONGEST_NAME
from app.database.session import SessionDep
from app.web.openapi import problems
from app.web.router import Router
from app.zosmf.answers import DriftList, drift_list

router = Router(prefix="/api/v1", tags=["connections"])
MOST = 100


@router.get("/policy-drifts", summary="List comparisons of active CFRM policies", responses=problems(422))
def list_drifts(
    request: Request,
    session: SessionDep,
    connection: Annotated[
        str, Query(max_length=LONGEST_NAME, description="Only those of this connection.", examples=["PLEX1"])
    ] = "",
    limit: Annotated[int, Query(ge=1, le=MOST, description="Maximum number of comparisons.")] = 20,
) -> DriftList:
    """Return what changed by hand in active policies, and the policies that cfplan created, as stored."""
    return drift_list(session, request.app.state.settings, connection=connection, limit=limit)
