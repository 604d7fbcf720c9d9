"""Errors about fitted curves, forecasts and CFCC levels."""

from __future__ import annotations

from app.problem_types import NOT_FOUND, REQUEST_INVALID
from planner_core.errors import FieldProblem, PlannerError


class CurveNotFound(PlannerError):
    """There is no fitted curve of this version."""

    problem = NOT_FOUND

    def __init__(self, version: int | str) -> None:
        """Keep the version."""
        self.version = version
        super().__init__(f"There is no fitted curve {version}.")


class ForecastNotFound(PlannerError):
    """There is no forecast of this structure."""

    problem = NOT_FOUND

    def __init__(self, qsg: str, structure: str) -> None:
        """Keep group and structure."""
        self.qsg, self.structure = qsg, structure
        super().__init__(f"There is no forecast for structure {structure} of group {qsg}.")


class LevelNotFound(PlannerError):
    """There is no CFCC level for this coupling facility."""

    problem = NOT_FOUND

    def __init__(self, coupling_facility: str) -> None:
        """Keep the name."""
        self.coupling_facility = coupling_facility
        super().__init__(f"There is no CFCC level for the coupling facility {coupling_facility}.")


class LevelInvalid(PlannerError):
    """An invalid name of a coupling facility, or an invalid CFCC level."""

    problem = REQUEST_INVALID

    def __init__(self, *problems: FieldProblem) -> None:
        """Keep the errors by field."""
        self.problems = problems
        super().__init__(" ".join(problem.message for problem in problems))
