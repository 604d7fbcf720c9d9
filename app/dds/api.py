"""The states of polled connections over REST; nothing is contacted."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from app.database.session import SessionDep
from app.dds import service
from app.dds.service import PollerState
from app.web.router import Router
from planner_core.findings import Finding
from planner_core.wire import Answer

router = Router(prefix="/api/v1", tags=["connections"])


@dataclass(frozen=True, slots=True)
class PollerList(Answer):
    """How far each connection to a data server was polled."""

    pollers: tuple[PollerState, ...]
    findings: tuple[Finding, ...] = ()


@router.get("/dds-pollers", summary="List the polled data servers of RMF")
def list_pollers(request: Request, session: SessionDep) -> PollerList:
    """Return for each connection of the kind dds how far it was polled, and the gaps; no other system is contacted."""
    return PollerList(service.states(session, request.app.state.settings))
