"""The declared connections over REST; nothing is contacted."""

from __future__ import annotations

from fastapi import Request

from app.connections import service
from app.connections.service import ConnectionList
from app.database.session import SessionDep
from app.web.router import Router

router = Router(prefix="/api/v1", tags=["connections"])


@router.get("/connections", summary="List the declared connections")
def list_connections(request: Request, session: SessionDep) -> ConnectionList:
    """Return all connections that the file of the settings declares, with their last use; no other system is contacted."""
    return service.list_connections(session, request.app.state.settings)
