"""Errors of measured usage. `problem` is the type of the problem document over REST."""

from __future__ import annotations

from app.problem_types import NOT_FOUND, REQUEST_INVALID
from planner_core.errors import FieldProblem, PlannerError


class UsageNotFound(PlannerError):
    """The structure, queue or group has no measurements."""

    problem = NOT_FOUND

    def __init__(self, qsg: str, structure: str = "", queue: str = "") -> None:
        """Store the requested names."""
        self.qsg, self.structure, self.queue = qsg, structure, queue
        what = f"the queue {queue} in the structure {structure}" if queue else f"a structure {structure}"
        of_it = f"{what} of the group {qsg}" if structure else f"a group {qsg}"
        super().__init__(f"There is no measured usage of {of_it}.")


class UsageRequestInvalid(PlannerError):
    """A request for measured usage has invalid parameters."""

    problem = REQUEST_INVALID

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        """Store the invalid parameters, each with a sentence."""
        self.problems = problems
        super().__init__("; ".join(f"{each.field} {each.message}" for each in problems) + ".")
