"""All SQL about scenarios."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.plans.repository import AnyRow
from app.scenarios.models import Scenario

_IN_LISTS = (
    Scenario.id, Scenario.name, Scenario.revision, Scenario.version, Scenario.created_at, Scenario.updated_at,
    Scenario.core_version, Scenario.note, Scenario.summary,
)  # fmt: skip


def list_of(session: Session, plan_id: int) -> Sequence[AnyRow]:
    """The scenarios of a plan by name, without what they led to."""
    query = select(*_IN_LISTS).where(Scenario.plan_id == plan_id)
    return session.execute(query.order_by(func.lower(Scenario.name), Scenario.name)).all()


def find(session: Session, plan_id: int, name: str) -> Scenario | None:
    """A scenario by its name."""
    query = select(Scenario).where(Scenario.plan_id == plan_id, Scenario.name == name)
    return session.scalars(query.execution_options(populate_existing=True)).one_or_none()


def count_of(session: Session, plan_id: int) -> int:
    """How many scenarios a plan has."""
    return session.scalars(select(func.count(Scenario.id)).where(Scenario.plan_id == plan_id)).one()


def add(session: Session, scenario: Scenario) -> None:
    """Store a scenario. It is flushed for its number."""
    session.add(scenario)
    session.flush()


def remove(session: Session, scenario: Scenario) -> None:
    """Remove a scenario for good."""
    session.execute(delete(Scenario).where(Scenario.id == scenario.id))
