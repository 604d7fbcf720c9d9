"""Plans and measurements to search for."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from app.plans import service
from app.usage.models import MeasuredQueue, StoredMeasuredStructure
from tests.app.plans.support import plan
from tests.app.usage.support import at


def structure(name: str, *queues: str) -> dict[str, Any]:
    """Return a structure of a plan document with these queues."""
    held = [{"name": queue, "message_bytes": 1024, "backlog": 100, "persistent": False} for queue in queues]
    return {"name": name, "queues": held}


def save(session: Session, name: str, *structures: dict[str, Any], **members: object) -> None:
    """Store a plan, or a new version of it."""
    document = plan(structures=list(structures), **members)
    service.save_plan(session, name, document, if_match="*" if name in known(session) else None)


def known(session: Session) -> tuple[str, ...]:
    """Return the names of all plans."""
    return tuple(each.name for each in service.all_plans(session))


def measure(session: Session, qsg: str, structure: str, *queues: str) -> None:
    """Store the names of a measured structure and its queues."""
    hours = {"first_hour": at(0), "last_hour": at(1)}
    if structure:
        session.add(StoredMeasuredStructure(qsg=qsg, structure=structure, **hours))
    for queue in queues:
        session.add(MeasuredQueue(qsg=qsg, structure=structure, queue=queue, **hours))
    session.flush()
