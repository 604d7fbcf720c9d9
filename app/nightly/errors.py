"""What is refused about nights. app/web/problems.py says which status each becomes."""

from __future__ import annotations

from planner_core.errors import PlannerError


class RunNotFound(PlannerError):
    """There is no nightly run of this number."""

    def __init__(self, number: int) -> None:
        """Keep the number."""
        self.number = number
        super().__init__(f"There is no nightly run {number}.")


class NightUnderWay(PlannerError):
    """A run is under way, or waits to begin: there is one at a time."""

    def __init__(self, number: int | None, sentence: str) -> None:
        """Keep which."""
        self.number = number
        super().__init__(sentence)


class NoReport(PlannerError):
    """No night has ended well yet, so there is nothing to report."""

    def __init__(self) -> None:
        super().__init__("No nightly run has ended yet, so there is no report. `cfplan nightly` makes one.")
