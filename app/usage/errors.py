"""What the store of measured usage refuses. `problem` is the kind of problem that each is over REST."""

from __future__ import annotations

from app.problem_types import NOT_FOUND, REQUEST_INVALID
from planner_core.errors import FieldProblem, PlannerError


class UsageNotFound(PlannerError):
    """Nothing was measured of this structure, queue or group."""

    problem = NOT_FOUND

    def __init__(self, qsg: str, structure: str = "", queue: str = "") -> None:
        """Keep what was asked for."""
        self.qsg, self.structure, self.queue = qsg, structure, queue
        what = f"the queue {queue} in the structure {structure}" if queue else f"a structure {structure}"
        of_it = f"{what} of the group {qsg}" if structure else f"a group {qsg}"
        super().__init__(f"There is no measured usage of {of_it}.")


class UsageRequestInvalid(PlannerError):
    """What was asked of the measured usage cannot be answered as it was asked."""

    problem = REQUEST_INVALID

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        """Keep the parameters at fault, each with a sentence."""
        self.problems = problems
        super().__init__("; ".join(f"{each.field} {each.message}" for each in problems) + ".")
