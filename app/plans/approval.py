"""The approval of a version of a plan by a second person, which its texts for z/OS can require (CFPLAN_APPROVAL)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.actor import Actor, ActorKind, Role, current_actor
from app.audit.actions import Action
from app.audit.recording import record
from app.clock import utc_now
from app.plans import repository
from app.plans.errors import ApprovalMissing, ApprovalRefused, PlanNotFound
from app.plans.models import PlanApproval
from app.plans.service import living_plan
from app.plans.stored import StoredVersion
from app.plans.trail import plan_object
from planner_core.findings import Finding
from planner_core.wire import Answer

_COMMAND = "command:"


@dataclass(frozen=True, slots=True)
class Approval(Answer):
    """The approval of a version."""

    approver: str
    approved_at: datetime


@dataclass(frozen=True, slots=True)
class ApprovalState(Answer):
    """Whether a version is approved."""

    name: str
    version: int
    author: Annotated[
        str | None, Field(description="Who saved the version; null if the service did not record it yet.")
    ]
    is_required: Annotated[bool, Field(description="Whether the texts for z/OS need the approval.")]
    approval: Annotated[Approval | None, Field(description="Null if the version is not approved.")]
    findings: tuple[Finding, ...] = ()


def state_of(session: Session, name: str, number: int, *, is_required: bool) -> ApprovalState:
    """Return whether a version is approved, and by whom.

    Raises:
        PlanNotFound: There is no such plan or version.
    """
    plan = living_plan(session, name)
    return _state(session, plan.id, name, number, is_required=is_required)


def approval_of(session: Session, version: StoredVersion) -> Approval | None:
    """Return the approval of a version, or None."""
    row = repository.find_approval(session, version.plan_id, version.number)
    return None if row is None else Approval(row.approver, row.approved_at)


def refusal_of(state: ApprovalState) -> str:
    """Return why the current actor cannot approve a version; empty if this is possible."""
    try:
        _check_approver(current_actor(), state)
    except ApprovalRefused as error:
        return str(error)
    return ""


def approve(session: Session, name: str, number: int, *, is_required: bool) -> ApprovalState:
    """Approve a version as the current actor. A version that is approved already keeps its approval.

    Raises:
        PlanNotFound: There is no such plan or version.
        ApprovalRefused: Approval is not in use, or the actor is not a second person who may approve.
    """
    plan = living_plan(session, name, lock=True)
    state = _state(session, plan.id, name, number, is_required=is_required)
    actor = current_actor()
    _check_approver(actor, state)
    if state.approval is not None:
        return state
    at = utc_now()
    session.add(PlanApproval(plan_id=plan.id, number=number, approver=actor.name, approved_at=at))
    record(session, Action.PLAN_APPROVED, plan_object(plan, number), {"author": state.author})
    session.flush()
    return _state(session, plan.id, name, number, is_required=is_required)


def withdraw(session: Session, name: str, number: int, *, is_required: bool) -> ApprovalState:
    """Withdraw the approval of a version. Any planner may do so, because it only makes the service stricter.

    Raises:
        PlanNotFound: There is no such plan or version.
    """
    plan = living_plan(session, name, lock=True)
    state = _state(session, plan.id, name, number, is_required=is_required)
    if state.approval is not None:
        repository.remove_approval(session, plan.id, number)
        record(
            session,
            Action.PLAN_APPROVAL_WITHDRAWN,
            plan_object(plan, number),
            {"approver": state.approval.approver},
        )
    return _state(session, plan.id, name, number, is_required=is_required)


def require_approved(session: Session, plan_id: int, name: str, number: int) -> None:
    """Check that a version is approved.

    Raises:
        ApprovalMissing: It is not.
    """
    if repository.find_approval(session, plan_id, number) is None:
        raise ApprovalMissing(name, number)


def _state(session: Session, plan_id: int, name: str, number: int, *, is_required: bool) -> ApprovalState:
    found = repository.author_of(session, plan_id, number)
    if found is None:
        raise PlanNotFound(name, number)
    row = repository.find_approval(session, plan_id, number)
    approval = None if row is None else Approval(row.approver, row.approved_at)
    return ApprovalState(name, number, found.author, is_required, approval)


def _check_approver(actor: Actor, state: ApprovalState) -> None:
    which = f"version {state.version} of the plan {state.name}"
    if not state.is_required:
        message = f"This service does not require approvals (CFPLAN_APPROVAL), so {which} was not approved."
        raise ApprovalRefused(message)
    if actor.kind not in (ActorKind.USER, ActorKind.TOKEN) or not actor.may(Role.PLANNER):
        message = f"Only a signed-in user with the role planner or higher can approve {which}."
        raise ApprovalRefused(message)
    if state.author is not None and _person(actor.name) == _person(state.author):
        message = f"{state.author} saved {which}, so another person must approve it."
        raise ApprovalRefused(message)


def _person(name: str) -> str:
    """Return the name of the person behind an actor: a user and a command of the same name are one person."""
    return name.removeprefix(_COMMAND).casefold()
