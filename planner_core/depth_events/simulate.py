"""A timeline of puts and gets simulated: its course, what was assumed on the way, and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner_core import CORE_VERSION
from planner_core.depth_events.course import Course, play
from planner_core.depth_events.file import DepthEventFile
from planner_core.depth_events.remarks import assumptions_of, findings_of
from planner_core.findings import Finding, in_order


@dataclass(frozen=True, slots=True)
class Simulation:
    """The answer: the course, what was assumed, what there is to say."""

    file: DepthEventFile
    course: Course
    assumptions: tuple[Mapping[str, str], ...]
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "core_version": CORE_VERSION,
            "readings": self.course.readings.as_json(),
            "events": [event.as_json() for event in self.course.events],
            "occurrences": [occurrence.as_json() for occurrence in self.course.occurrences],
            "switches": [row.as_json() for row in self.course.rows],
            "assumptions": [dict(assumption) for assumption in self.assumptions],
            "findings": [finding.as_json() for finding in self.findings],
        }


def simulate(file: DepthEventFile) -> Simulation:
    """Play the timeline.

    Raises:
        InputInvalid: A step cannot happen, such as a put through a queue manager that is not active.
    """
    course = play(file, file.readings.readings)
    return Simulation(file, course, assumptions_of(file), in_order(list(findings_of(file, course))))
