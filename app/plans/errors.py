"""Errors of the plan store. Their messages are for planners; `problem` is the type of the problem in REST."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.errors import Conflict, Gone
from app.problem_types import (
    APPROVAL_MISSING,
    APPROVAL_REFUSED,
    OUTPUT_REFUSED,
    PLAN_CHANGED,
    PLAN_NAME_INVALID,
    PLAN_NOT_FOUND,
)
from planner_core.errors import PlannerError
from planner_core.findings import Finding

if TYPE_CHECKING:
    from app.plans.stored import StoredVersion


class PlanNotFound(PlannerError):
    """The plan does not exist, or it does not have the requested version."""

    problem = PLAN_NOT_FOUND

    def __init__(self, name: str, number: int | str | None = None, *, is_deleted: bool = False) -> None:
        """Store the name and the version number; `is_deleted` means that a deleted plan was requested."""
        self.name, self.number = name, number
        if number is not None:
            what = f"The plan {name} has no version {number}."
        elif is_deleted:
            what = f"There is no deleted plan called {name}, or it was removed permanently."
        else:
            what = f"There is no plan called {name}."
        super().__init__(what)


def plan_gone(name: str) -> Gone:
    """Return the error for a change to a plan that was deleted or renamed in the meantime."""
    message = f"The plan {name} no longer exists: it was deleted or renamed after it was read."
    return Gone(message, problem=PLAN_CHANGED)


def plan_conflict(current: StoredVersion, message: str = "") -> Conflict[StoredVersion]:
    """Return the error for a refused change; by default, the change is based on an earlier version."""
    message = message or (
        f"The plan {current.name} has changed since it was read: its version is now {current.number}. "
        "Nothing was overwritten. Read it again and repeat the change."
    )
    return Conflict(current, message, problem=PLAN_CHANGED)


class ApprovalMissing(PlannerError):
    """The texts of a version need an approval, which the version does not have."""

    problem = APPROVAL_MISSING

    def __init__(self, name: str, number: int) -> None:
        """Store the name and the version."""
        self.name, self.number = name, number
        super().__init__(
            f"Version {number} of the plan {name} is not approved, so its texts for z/OS are not available. A second "
            f"person must approve it first, on the page of its policy or with POST /api/v1/plans/{name}/versions/{number}/approval."
        )


class ApprovalRefused(PlannerError):
    """The actor cannot approve the version."""

    problem = APPROVAL_REFUSED


class NothingToAcknowledge(PlannerError):
    """The plan has no open finding with this code to acknowledge."""

    def __init__(self, version: StoredVersion, code: str, structure: str | None) -> None:
        """Store the version."""
        self.version = version
        of = f" of {structure[:16]}" if structure else ""
        super().__init__(
            f"Version {version.number} of the plan {version.name} has no open warning or note {code[:64]}{of}."
        )


class NothingToWithdraw(PlannerError):
    """The plan has no acknowledged finding with this code."""

    def __init__(self, version: StoredVersion, code: str, structure: str | None) -> None:
        """Store the version."""
        self.version = version
        of = f" of {structure[:16]}" if structure else ""
        super().__init__(
            f"Version {version.number} of the plan {version.name} has no acknowledged finding {code[:64]}{of}."
        )


class PlanNameInvalid(PlannerError):
    """The name is not valid for a plan."""

    problem = PLAN_NAME_INVALID

    def __init__(self, name: str) -> None:
        """Store the name."""
        self.name = name
        super().__init__(
            "The name of a plan has 1 to 64 characters: letters A to Z and a to z, digits, dots, underscores and "
            "hyphens; it does not begin with a dot."
        )


class StoredOutputRefused(PlannerError):
    """The version has no such text for z/OS; the findings give the reason."""

    problem = OUTPUT_REFUSED

    def __init__(self, message: str, findings: tuple[Finding, ...]) -> None:
        """Store the findings that prevented the text."""
        self.findings = findings
        super().__init__(message)
