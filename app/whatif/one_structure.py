"""One application structure of a stored plan, for the pages that ask questions about it."""

from __future__ import annotations

import re

from fastapi import HTTPException
from sqlalchemy.orm import Session

from app.plans import service
from app.plans.errors import PlanNotFound
from app.plans.stored import StoredVersion
from planner_core.document.model import PlanDocument

_WHOLE = re.compile(r"[1-9]\d{0,8}", re.ASCII)


def version_of(session: Session, name: str, number: str) -> StoredVersion:
    """Return a version by the number in an address.

    Raises:
        PlanNotFound: There is no such plan, or no such version of it.
    """
    if not _WHOLE.fullmatch(number):
        service.get_plan(session, name)  # A missing plan is reported before a wrong number.
        raise PlanNotFound(name, number[:20])
    return service.get_version(session, name, int(number))


def plan_with(stored: StoredVersion, structure: str) -> PlanDocument:
    """Return the plan with only this application structure, because reading all of a large plan takes long."""
    found = stored.document_object
    kept = [each for each in found["structures"] if each["name"] == structure]
    if not kept:
        raise HTTPException(
            404,
            f"Version {stored.number} of the plan {stored.name} has no application structure {structure[:40]}.",
        )
    return PlanDocument.model_validate({**found, "structures": kept})


def path_of(stored: StoredVersion, structure: str) -> str:
    """Return the path of the page of this structure."""
    return f"/plans/{stored.name}/versions/{stored.number}/structures/{structure}"
