"""What the store of jobs refuses. The sentences are for planners; `problem` is the kind of problem that each is over REST."""

from __future__ import annotations

from app.problem_types import JOB_BUSY, UPLOAD_NOT_FOUND
from planner_core.errors import PlannerError


class JobNotFound(PlannerError):
    """There is no run of this number."""

    problem = UPLOAD_NOT_FOUND

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"There is no job {number}.")


class JobBusy(PlannerError):
    """Something was asked that cannot be done while the job is under way."""

    problem = JOB_BUSY

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"Job {number} is under way. Wait until it has ended; nothing was changed.")
