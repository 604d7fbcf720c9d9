"""What the store of jobs refuses. The sentences are for planners; app/web/problems.py says which status each becomes."""

from __future__ import annotations

from planner_core.errors import PlannerError


class JobNotFound(PlannerError):
    """There is no run of this number."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"There is no job {number}.")


class JobBusy(PlannerError):
    """Something was asked that cannot be done while the job is under way."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"Job {number} is under way. Wait until it has ended; nothing was changed.")
