"""Errors that several features raise. Their messages are for planners; `problem` is the type of the problem in REST."""

from __future__ import annotations

from typing import Generic, TypeVar

from app.problem_types import (
    JOB_BUSY,
    NAME_TAKEN,
    NOT_FOUND,
    PRECONDITION_REQUIRED,
    REQUEST_INVALID,
    ProblemType,
)
from planner_core.errors import FieldProblem, PlannerError

Stored = TypeVar("Stored")


class NotFound(PlannerError):
    """The requested name or number does not exist."""

    def __init__(self, message: str, *, problem: ProblemType = NOT_FOUND) -> None:
        """Store the type of the problem document."""
        self.problem = problem
        super().__init__(message)


# Not a NotFound, because callers that catch NotFound would treat a lost change as a name that never existed.
class Gone(PlannerError):
    """A change is based on an object that was deleted or renamed in the meantime."""

    def __init__(self, message: str, *, problem: ProblemType) -> None:
        """Store the type of the problem document."""
        self.problem = problem
        super().__init__(f"{message} Nothing was changed.")


class Conflict(PlannerError, Generic[Stored]):
    """A change is based on a state that is no longer the latest, or would create an object that already exists."""

    def __init__(self, current: Stored, message: str, *, problem: ProblemType) -> None:
        """Store the current state."""
        self.current, self.problem = current, problem
        super().__init__(message)


class PreconditionRequired(PlannerError, Generic[Stored]):
    """A change does not name the state on which it is based."""

    problem = PRECONDITION_REQUIRED

    def __init__(self, current: Stored, message: str) -> None:
        """Store the current state."""
        self.current = current
        super().__init__(message)


class NameTaken(PlannerError):
    """A new name is already in use."""

    def __init__(self, message: str, *, problem: ProblemType = NAME_TAKEN) -> None:
        """Store the type of the problem document."""
        self.problem = problem
        super().__init__(message)


class FieldsInvalid(PlannerError):
    """Parameters or fields are invalid; each has its own message."""

    def __init__(
        self, *problems: FieldProblem, problem: ProblemType = REQUEST_INVALID, message: str | None = None
    ) -> None:
        """Store the errors by field; by default, the message joins theirs."""
        self.problems, self.problem = problems, problem
        super().__init__(message or " ".join(each.message for each in problems))


class NotKept(PlannerError):
    """The requested object does not exist yet, or no longer exists."""

    def __init__(self, message: str, *, problem: ProblemType) -> None:
        """Store the type of the problem document."""
        self.problem = problem
        super().__init__(message)


class JobBusy(PlannerError):
    """The request is not possible while a job is waiting or running."""

    problem = JOB_BUSY

    def __init__(self, number: int | None, message: str) -> None:
        """Store the number of the job or nightly run."""
        self.number = number
        super().__init__(message)
