"""Database queries about scenarios."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.scenarios.models import Scenario

_IN_LISTS = (
    Scenario.id, Scenario.name, Scenario.revision, Scenario.version, Scenario.created_at, Scenario.updated_at,
    Scenario.author, Scenario.core_version, Scenario.note, Scenario.summary,
)  # fmt: skip


def list_of(session: Session, plan_id: int) -> Sequence[AnyRow]:
    """Return the scenarios of a plan, sorted by name, without their results."""
    query = select(*_IN_LISTS).where(Scenario.plan_id == plan_id)
    return session.execute(query.order_by(func.lower(Scenario.name), Scenario.name)).all()


def find(session: Session, plan_id: int, name: str) -> Scenario | None:
    """Return the scenario with this name."""
    query = select(Scenario).where(Scenario.plan_id == plan_id, Scenario.name == name)
    # The session may have read the scenario before it waited for the lock on its plan.
    return session.scalars(query.execution_options(populate_existing=True)).one_or_none()


def count_of(session: Session, plan_id: int) -> int:
    """Count the scenarios of a plan."""
    return session.scalars(select(func.count(Scenario.id)).where(Scenario.plan_id == plan_id)).one()


def add(session: Session, scenario: Scenario) -> None:
    """Store a scenario, and assign its id."""
    session.add(scenario)
    session.flush()


def remove(session: Session, scenario: Scenario) -> None:
    """Remove a scenario permanently."""
    session.execute(delete(Scenario).where(Scenario.id == scenario.id))
