"""One application structure of a stored plan, for the pages that ask questions about it."""

from __future__ import annotations

from fastapi import HTTPException

from app.plans.stored import StoredVersion
from planner_core.document.model import PlanDocument


def plan_with(stored: StoredVersion, structure: str) -> PlanDocument:
    """Return the plan with only this application structure."""
    found = stored.document_object
    kept = [each for each in found["structures"] if each["name"] == structure]
    if not kept:
        raise HTTPException(
            404,
            f"Version {stored.number} of the plan {stored.name} has no application structure {structure[:40]}.",
        )
    # Reading all structures of a large plan takes seconds, and the question concerns one.
    return PlanDocument.model_validate({**found, "structures": kept})


def path_of(stored: StoredVersion, structure: str) -> str:
    """Return the path of the page of this structure."""
    return f"/plans/{stored.name}/versions/{stored.number}/structures/{structure}"
