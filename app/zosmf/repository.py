"""All SQL about verified units, applied policies and drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from app.zosmf.models import ACTIVATION_UNKNOWN, AppliedPolicy, ApplyState, PolicyDrift, VerifiedUnit


def find_unit(session: Session, connection: str) -> VerifiedUnit | None:
    """Return the verified unit of a connection."""
    return session.get(VerifiedUnit, connection)


def units(session: Session) -> Sequence[VerifiedUnit]:
    """Return all verified units."""
    return session.scalars(select(VerifiedUnit)).all()


def find_applied(session: Session, connection: str, policy: str) -> AppliedPolicy | None:
    """Return what cfplan created under a name."""
    query = select(AppliedPolicy).where(
        AppliedPolicy.connection == connection, AppliedPolicy.policy == policy
    )
    return session.scalars(query).one_or_none()


def replace_applied(
    session: Session,
    connection: str,
    policy: str,
    state: str,
    changed_at: datetime,
    values: Mapping[str, Any],
) -> bool:
    """Set values of a row if it still has the state and time that were read; return whether it did."""
    changed = session.execute(
        update(AppliedPolicy)
        .where(
            AppliedPolicy.connection == connection,
            AppliedPolicy.policy == policy,
            AppliedPolicy.state == state,
            AppliedPolicy.changed_at == changed_at,
        )
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    assert isinstance(changed, CursorResult)  # noqa: S101 - an update always has one
    return changed.rowcount == 1


def last_applied(session: Session, connection: str) -> AppliedPolicy | None:
    """Return the policy that was activated last, or whose activation was sent; if none was, the one that was verified last."""
    for states in ((ApplyState.ACTIVATED, *ACTIVATION_UNKNOWN), (ApplyState.VERIFIED,)):
        query = (
            select(AppliedPolicy)
            .where(AppliedPolicy.connection == connection, AppliedPolicy.state.in_(states))
            .order_by(AppliedPolicy.changed_at.desc(), AppliedPolicy.id.desc())
            .limit(1)
        )
        if (row := session.scalars(query).one_or_none()) is not None:
            return row
    return None


def applied(session: Session, *, limit: int) -> Sequence[AppliedPolicy]:
    """Return the policies that cfplan created, newest first."""
    query = select(AppliedPolicy).order_by(AppliedPolicy.changed_at.desc(), AppliedPolicy.id.desc())
    return session.scalars(query.limit(limit)).all()


def drifts(session: Session, *, connection: str = "", limit: int) -> Sequence[PolicyDrift]:
    """Return comparisons, newest first."""
    query = select(PolicyDrift).order_by(PolicyDrift.id.desc()).limit(limit)
    if connection:
        query = query.where(PolicyDrift.connection == connection)
    return session.scalars(query).all()
