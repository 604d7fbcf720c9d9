"""Errors of the scenario store, with messages for planners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.errors import Conflict
from app.problem_types import SCENARIO_CHANGED
from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from app.scenarios.stored import StoredScenario


class TooManyScenarios(PlannerError):
    """The plan has the maximum number of scenarios."""

    def __init__(self, plan: str, most: int) -> None:
        """Include the limit in the message."""
        self.plan, self.most = plan, most
        super().__init__(f"The plan {plan} has {most} scenarios, which is the maximum. Delete one first.")


def scenario_changed(current: StoredScenario) -> Conflict[StoredScenario]:
    """Return the error for a change that is based on an earlier state."""
    message = (
        f"The scenario {current.name} has changed since it was read. Nothing was overwritten. Read it again and "
        "repeat the change."
    )
    return Conflict(current, message, problem=SCENARIO_CHANGED)
