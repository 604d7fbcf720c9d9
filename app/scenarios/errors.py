"""Errors of the scenario store. Their messages are for planners; `problem` is the type of the problem in REST."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.problem_types import PRECONDITION_REQUIRED, SCENARIO_CHANGED, SCENARIO_EXISTS, SCENARIO_NOT_FOUND
from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from app.scenarios.stored import StoredScenario


class ScenarioNotFound(PlannerError):
    """The plan has no scenario of this name."""

    problem = SCENARIO_NOT_FOUND

    def __init__(self, plan: str, name: str) -> None:
        """Store both names."""
        self.plan, self.name = plan, name
        super().__init__(f"The plan {plan} has no scenario called {name}.")


class ScenarioGone(ScenarioNotFound):
    """The scenario that a change is based on was deleted in the meantime."""

    problem = SCENARIO_CHANGED

    def __init__(self, plan: str, name: str) -> None:
        """Store both names."""
        super().__init__(plan, name)
        # The message of ScenarioNotFound would state that there never was such a scenario.
        self.args = (
            f"The scenario {name} of the plan {plan} no longer exists: it was deleted after it was read. Nothing was changed.",
        )


class ScenarioExists(PlannerError):
    """A scenario of this name already exists."""

    problem = SCENARIO_EXISTS

    def __init__(self, plan: str, name: str) -> None:
        """Store both names."""
        self.plan, self.name = plan, name
        super().__init__(f"The plan {plan} already has a scenario called {name}.")


class TooManyScenarios(PlannerError):
    """The plan has the maximum number of scenarios."""

    def __init__(self, plan: str, most: int) -> None:
        """Include the limit in the message."""
        self.plan, self.most = plan, most
        super().__init__(f"The plan {plan} has {most} scenarios, which is the maximum. Delete one first.")


class ScenarioConflict(PlannerError):
    """The scenario that a change is based on has been changed since."""

    problem = SCENARIO_CHANGED

    def __init__(self, current: StoredScenario) -> None:
        """Store the current scenario."""
        self.current = current
        super().__init__(
            f"The scenario {current.name} has changed since it was read. Nothing was overwritten. Read it again and "
            "repeat the change."
        )


class ScenarioPreconditionRequired(PlannerError):
    """A change does not name the scenario it is based on."""

    problem = PRECONDITION_REQUIRED

    def __init__(self, current: StoredScenario) -> None:
        """Store the current scenario."""
        self.current = current
        super().__init__(
            f"The scenario {current.name} exists and this request would change it, so If-Match must give the ETag "
            f"of the state to change: {current.etag}. Nothing was changed."
        )
