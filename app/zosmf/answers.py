"""Stored results about policies on z/OSMF, for REST and pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.connections.declared import verified_connections
from app.settings import Settings
from app.zosmf import repository
from app.zosmf.models import ApplyState
from app.zosmf.service import Drift, IsVerifiedNow, list_drifts
from planner_core.findings import Finding
from planner_core.wire import Answer


@dataclass(frozen=True, slots=True)
class AppliedSummary(Answer):
    """A policy that cfplan created, or tried to create."""

    connection: str
    is_verified: IsVerifiedNow
    policy: str
    base: Annotated[str, Field(description="The policy from which it was made.")]
    plan: str
    version: int
    state: ApplyState
    changed_at: datetime
    author: str

    @property
    def state_words(self) -> str:
        """The state in words."""
        return STATE_WORDS[self.state]


STATE_WORDS = {
    ApplyState.SENDING: "being sent; whether it arrived is not known",
    ApplyState.UNANSWERED: "sent; whether it arrived is not known",
    ApplyState.REFUSED: "refused by the server",
    ApplyState.CREATED: "created; not read back",
    ApplyState.VERIFIED: "created; every value read back as sent",
    ApplyState.DIFFERENT: "created; values differ from those sent",
    ApplyState.ACTIVATING: "being activated; whether it is active is not known",
    ApplyState.UNCONFIRMED: "activation sent; whether it is active is not known",
    ApplyState.ACTIVATED: "activated",
}


@dataclass(frozen=True, slots=True)
class DriftList(Answer):
    """The latest comparisons of active policies, newest first, and the policies that cfplan created."""

    drifts: tuple[Drift, ...]
    applied: tuple[AppliedSummary, ...]
    findings: tuple[Finding, ...] = ()


def drift_list(session: Session, settings: Settings, *, connection: str = "", limit: int) -> DriftList:
    """Return the latest comparisons, and the policies that cfplan created."""
    verified = verified_connections(settings)
    applied = tuple(
        AppliedSummary(
            row.connection, verified.get(row.connection), row.policy, row.base, row.plan, row.version,
            ApplyState(row.state), row.changed_at, row.author,
        )
        for row in repository.applied(session, limit=limit)
        if connection in ("", row.connection)
    )  # fmt: skip
    return DriftList(list_drifts(session, verified, connection=connection, limit=limit), applied)
