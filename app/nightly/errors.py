"""Errors about nightly runs. `problem` is the type of the problem document over REST."""

from __future__ import annotations

from app.problem_types import JOB_BUSY, NOT_FOUND
from planner_core.errors import PlannerError


class NightUnderWay(PlannerError):
    """A run is in progress or waits, and only one is allowed at a time."""

    problem = JOB_BUSY

    def __init__(self, number: int | None, sentence: str) -> None:
        """Store the number of the run."""
        self.number = number
        super().__init__(sentence)


class NoReport(PlannerError):
    """No nightly run has succeeded yet."""

    problem = NOT_FOUND

    def __init__(self) -> None:
        super().__init__("There is no report yet, because no nightly run has ended. Run `cfplan nightly`.")
