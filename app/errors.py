"""Errors that several features raise."""

from __future__ import annotations

from app.problem_types import NOT_FOUND, ProblemType
from planner_core.errors import PlannerError


class NotFound(PlannerError):
    """The requested name or number does not exist."""

    def __init__(self, name: str | int, *, kind: str, problem: ProblemType = NOT_FOUND) -> None:
        """Store the name in the message, and the type of the problem document over REST."""
        self.problem = problem
        super().__init__(f"There is no {kind} {name}.")
