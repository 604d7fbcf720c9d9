"""What is refused about nights. `problem` is the kind of problem that each is over REST."""

from __future__ import annotations

from app.problem_types import JOB_BUSY, NOT_FOUND
from planner_core.errors import PlannerError


class RunNotFound(PlannerError):
    """There is no nightly run of this number."""

    problem = NOT_FOUND

    def __init__(self, number: int) -> None:
        """Keep the number."""
        self.number = number
        super().__init__(f"There is no nightly run {number}.")


class NightUnderWay(PlannerError):
    """A run is under way, or waits to begin: there is one at a time."""

    problem = JOB_BUSY

    def __init__(self, number: int | None, sentence: str) -> None:
        """Keep which."""
        self.number = number
        super().__init__(sentence)


class NoReport(PlannerError):
    """No night has ended well yet, so there is nothing to report."""

    problem = NOT_FOUND

    def __init__(self) -> None:
        super().__init__("No nightly run has ended yet, so there is no report. `cfplan nightly` makes one.")
