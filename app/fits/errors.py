"""Errors about CFCC levels."""

from __future__ import annotations

from app.problem_types import REQUEST_INVALID
from planner_core.errors import FieldProblem, PlannerError


class LevelInvalid(PlannerError):
    """An invalid coupling facility name or CFCC level."""

    problem = REQUEST_INVALID

    def __init__(self, *problems: FieldProblem) -> None:
        """Store the errors by field."""
        self.problems = problems
        super().__init__(" ".join(problem.message for problem in problems))
