"""Errors of the job queue. The messages are for planners; `problem` is the type of the problem document over REST."""

from __future__ import annotations

from app.problem_types import JOB_BUSY
from planner_core.errors import PlannerError


class JobBusy(PlannerError):
    """The request is not possible while the job is running."""

    problem = JOB_BUSY

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"Job {number} is under way. Wait until it has ended; nothing was changed.")
