"""The page of connections: what is declared, its last use, applied policies and drift. Nothing is contacted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response

from app.connections.declared import NOT_VERIFIED
from app.connections.errors import ConnectionsInvalid
from app.connections.service import ConnectionSummary, list_connections
from app.database.session import SessionDep
from app.dds.service import PollerState, states
from app.web.rendering import Page, render
from app.web.router import Router
from app.zosmf.answers import AppliedSummary, drift_list
from app.zosmf.service import Drift

router = Router(include_in_schema=False)

PATH = "/connections"
_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class ConnectionsPage(Page):
    """The declared connections, and what they were used for."""

    connections: Annotated[tuple[ConnectionSummary, ...], "All connections, by name"]
    fault: Annotated[str, "Why the file of connections cannot be used; empty if it can"]
    not_verified: Annotated[str, "Words for a connection that no real system has confirmed"]
    pollers: Annotated[tuple[PollerState, ...], "How far each data server of RMF was polled"]
    applied: Annotated[tuple[AppliedSummary, ...], "Policies that cfplan created, newest first"]
    drifts: Annotated[tuple[Drift, ...], "Comparisons of active policies, newest first"]


@router.get(PATH)
def show(request: Request, session: SessionDep) -> Response:
    """Show the connections, the policies that cfplan created, and drift."""
    fault = ""
    connections: tuple[ConnectionSummary, ...] = ()
    pollers: tuple[PollerState, ...] = ()
    try:
        connections = list_connections(session, request.app.state.settings).connections
        pollers = states(session, request.app.state.settings)
    except ConnectionsInvalid as error:
        fault = str(error)
    stored = drift_list(session, request.app.state.settings, limit=_SHOWN)
    page = ConnectionsPage(
        title="Connections",
        section="nights",
        connections=connections,
        fault=fault,
        not_verified=NOT_VERIFIED,
        pollers=pollers,
        applied=stored.applied,
        drifts=stored.drifts,
    )
    return render(request, "zosmf/connections.html", page)
