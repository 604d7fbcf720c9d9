"""Database queries about the audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from app.audit.filters import AuditFilter
from app.audit.models import AuditEntry

EntrySelect: TypeAlias = Select[*tuple[Any, ...]]


def newest(session: Session, asked: AuditFilter, *, before: int | None, limit: int) -> Sequence[AuditEntry]:
    """Return matching entries, newest first, that are older than the one with the id `before`."""
    query = select(AuditEntry).where(*_conditions(asked))
    if before is not None:
        query = query.where(AuditEntry.id < before)
    return session.scalars(query.order_by(AuditEntry.id.desc()).limit(limit)).all()


def oldest(session: Session, asked: AuditFilter, *, after: int, limit: int) -> Sequence[AuditEntry]:
    """Return matching entries, oldest first, that are newer than the one with the id `after`."""
    query = select(AuditEntry).where(*_conditions(asked), AuditEntry.id > after)
    return session.scalars(query.order_by(AuditEntry.id).limit(limit)).all()


def last_id(session: Session) -> int:
    """Return the id of the last entry, 0 if there is none."""
    return session.scalar(select(func.max(AuditEntry.id))) or 0


def _conditions(asked: AuditFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if asked.since is not None:
        found.append(AuditEntry.at >= asked.since)
    if asked.until is not None:
        found.append(AuditEntry.at < asked.until)
    if asked.who:
        found.append(func.lower(AuditEntry.actor) == asked.who.lower())
    if asked.action:
        # `plan` finds all actions on plans: `plan.saved`, `plan.deleted` and so on.
        found.append(
            (AuditEntry.action == asked.action)
            | AuditEntry.action.startswith(f"{asked.action}.", autoescape=True)
        )
    if asked.object_kind:
        found.append(AuditEntry.object_kind == asked.object_kind)
    if asked.object_id is not None:
        found.append(AuditEntry.object_id == asked.object_id)
    if asked.object:
        found.append(func.lower(AuditEntry.object_name) == asked.object.lower())
    return found
