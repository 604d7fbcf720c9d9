"""What the store of plans refuses. The sentences are for planners; `problem` is the kind of problem that each is over REST."""

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
    """There is no plan of this name, or no such version of it."""

    problem = PLAN_NOT_FOUND

    def __init__(self, name: str, number: int | str | None = None, *, is_deleted: bool = False) -> None:
        """Keep what was asked for; `is_deleted`: among those that can be restored."""
        self.name, self.number = name, number
        if number is not None:
            what = f"The plan {name} has no version {number}."
        elif is_deleted:
            what = f"There is no such deleted plan called {name}, or it has been removed for good."
        else:
            what = f"There is no plan called {name}."
        super().__init__(what)


class PlanGone(PlanNotFound):
    """A change was made on top of a plan that has been deleted or renamed meanwhile."""

    problem = PLAN_CHANGED

    def __init__(self, name: str) -> None:
        """Keep the name."""
        super().__init__(name)
        self.args = (
            f"The plan {name} no longer exists: it was deleted or renamed since it was read. Nothing was changed.",
        )


class PlanConflict(PlannerError):
    """A change on top of a version that is no longer the latest; or a plan that was to be new exists."""

    problem = PLAN_CHANGED

    def __init__(
        self, current: StoredVersion, *, was_to_be_new: bool = False, was_not_to_be: bool = False
    ) -> None:
        """Keep the version that is there now."""
        self.current = current
        if was_to_be_new:
            message = f"There is a plan called {current.name} already; its version is {current.number}."
        elif was_not_to_be:
            message = (
                f"If-None-Match names version {current.number} of the plan {current.name}, and that is its latest. "
                "Nothing was changed. A change of it names it in If-Match."
            )
        else:
            message = (
                f"The plan {current.name} has been changed since it was read: its version is now {current.number}. "
                "Nothing was overwritten. Read it again, and make the change on top of it."
            )
        super().__init__(message)


class PreconditionRequired(PlannerError):
    """A change that does not say which version it is made on top of."""

    problem = PRECONDITION_REQUIRED

    def __init__(self, current: StoredVersion) -> None:
        """Keep the version that is there now."""
        self.current = current
        super().__init__(
            f"The plan {current.name} exists (version {current.number}) and this would change it. Send If-Match with "
            "the ETag of the version that the change is made on top of, so that nobody's work is lost."
        )


class NameTaken(PlannerError):
    """A plan cannot be restored, renamed or copied to a name that is in use."""

    problem = NAME_TAKEN

    def __init__(self, name: str, *, is_restoring: bool = False) -> None:
        """Keep the name."""
        self.name = name
        advice = "Restore the deleted one under another name." if is_restoring else "Choose another name."
        super().__init__(f"There is a plan called {name} already. {advice}")


class NothingToAcknowledge(PlannerError):
    """A plan has no open finding of the code that is to be accepted."""

    def __init__(self, version: StoredVersion, code: str, structure: str | None) -> None:
        """Keep the version."""
        self.version = version
        of = f" of {structure[:16]}" if structure else ""
        super().__init__(
            f"Version {version.number} of the plan {version.name} has no open warning or note {code[:64]}{of}."
        )


class PlanNameInvalid(PlannerError):
    """A name that no plan can have."""

    problem = PLAN_NAME_INVALID

    def __init__(self, name: str) -> None:
        """Keep the name."""
        self.name = name
        super().__init__(
            "The name of a plan has 1 to 64 characters: letters A to Z and a to z, digits, dots, underscores and "
            "hyphens; it does not begin with a dot."
        )


class StoredOutputRefused(PlannerError):
    """A text that was refused for a version, with the findings that are the reason."""

    problem = OUTPUT_REFUSED

    def __init__(self, message: str, findings: tuple[Finding, ...]) -> None:
        """Keep the findings as they were stored."""
        self.findings = findings
        super().__init__(message)
