"""Errors of the plan store. Their messages are for planners; `problem` is the type of the problem in REST."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.problem_types import (
    NAME_TAKEN,
    OUTPUT_REFUSED,
    PLAN_CHANGED,
    PLAN_NAME_INVALID,
    PLAN_NOT_FOUND,
    PRECONDITION_REQUIRED,
)
from planner_core.errors import PlannerError
from planner_core.findings import Finding

if TYPE_CHECKING:
    from app.plans.stored import StoredVersion


class PlanNotFound(PlannerError):
    """The plan does not exist, or it does not have the requested version."""

    problem = PLAN_NOT_FOUND

    def __init__(self, name: str, number: int | str | None = None, *, is_deleted: bool = False) -> None:
        """Store the name and the number; `is_deleted` means that a deleted plan was requested."""
        self.name, self.number = name, number
        if number is not None:
            what = f"The plan {name} has no version {number}."
        elif is_deleted:
            what = f"There is no deleted plan called {name}, or it was removed permanently."
        else:
            what = f"There is no plan called {name}."
        super().__init__(what)


class PlanGone(PlanNotFound):
    """The plan that a change is based on was deleted or renamed in the meantime."""

    problem = PLAN_CHANGED

    def __init__(self, name: str) -> None:
        """Store the name."""
        super().__init__(name)
        # The message of PlanNotFound would state that there never was such a plan.
        self.args = (
            f"The plan {name} no longer exists: it was deleted or renamed after it was read. Nothing was changed.",
        )


class PlanConflict(PlannerError):
    """A change is based on a version that is no longer the latest, or a new plan already exists."""

    problem = PLAN_CHANGED

    def __init__(
        self, current: StoredVersion, *, was_to_be_new: bool = False, was_not_to_be: bool = False
    ) -> None:
        """Store the current version."""
        self.current = current
        if was_to_be_new:
            message = f"A plan called {current.name} already exists; its version is {current.number}."
        elif was_not_to_be:
            message = (
                f"If-None-Match names version {current.number} of the plan {current.name}, which is its "
                "latest. Nothing was changed. To change that version, name it in If-Match."
            )
        else:
            message = (
                f"The plan {current.name} has changed since it was read: its version is now {current.number}. "
                "Nothing was overwritten. Read it again and repeat the change."
            )
        super().__init__(message)


class PreconditionRequired(PlannerError):
    """A change does not name the version it is based on."""

    problem = PRECONDITION_REQUIRED

    def __init__(self, current: StoredVersion) -> None:
        """Store the current version."""
        self.current = current
        super().__init__(
            f"The plan {current.name} exists (version {current.number}) and this request would change it. Send If-Match with "
            "the ETag of the version on which the change is based, so that no one's work is lost."
        )


class NameTaken(PlannerError):
    """The new name of a plan is already in use."""

    problem = NAME_TAKEN

    def __init__(self, name: str, *, is_restoring: bool = False) -> None:
        """Store the name."""
        self.name = name
        advice = "Restore the deleted plan under another name." if is_restoring else "Choose another name."
        super().__init__(f"A plan called {name} already exists. {advice}")


class NothingToAcknowledge(PlannerError):
    """A plan has no open finding of the code to acknowledge."""

    def __init__(self, version: StoredVersion, code: str, structure: str | None) -> None:
        """Store the version."""
        self.version = version
        of = f" of {structure[:16]}" if structure else ""
        super().__init__(
            f"Version {version.number} of the plan {version.name} has no open warning or note {code[:64]}{of}."
        )


class PlanNameInvalid(PlannerError):
    """A name that is not valid for a plan."""

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
