"""Errors about fitted curves, forecasts and CFCC levels."""

from __future__ import annotations

from app.problem_types import NOT_FOUND, REQUEST_INVALID
from planner_core.errors import FieldProblem, PlannerError


class CurveNotFound(PlannerError):
    """There is no fitted curve of this version."""

    problem = NOT_FOUND

    def __init__(self, version: int | str) -> None:
        """Keep the version that was asked for."""
        self.version = version
        super().__init__(f"There is no fitted curve {version}.")


class ForecastNotFound(PlannerError):
    """There is no forecast of this structure."""

    problem = NOT_FOUND

    def __init__(self, qsg: str, structure: str) -> None:
        """Keep what was asked for."""
        self.qsg, self.structure = qsg, structure
        super().__init__(f"There is no forecast for a structure {structure} of the group {qsg}.")


class LevelNotFound(PlannerError):
    """No CFCC level is kept for this coupling facility."""

    problem = NOT_FOUND

    def __init__(self, coupling_facility: str) -> None:
        """Keep the name."""
        self.coupling_facility = coupling_facility
        super().__init__(f"No CFCC level is kept for the coupling facility {coupling_facility}.")


class LevelInvalid(PlannerError):
    """A name that no coupling facility has, or a number that is no CFCC level."""

    problem = REQUEST_INVALID

    def __init__(self, *problems: FieldProblem) -> None:
        """Keep the fields at fault."""
        self.problems = problems
        super().__init__(" ".join(problem.message for problem in problems))
