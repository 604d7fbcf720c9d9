"""The simulation of a timeline of puts and gets, with assumptions and findings."""

from __future__ import annotations

from dataclasses import replace

from planner_core.depth_events.course import Simulation, play
from planner_core.depth_events.file import DepthEventFile
from planner_core.depth_events.remarks import assumptions_of, findings_of
from planner_core.findings import in_order


def simulate(file: DepthEventFile) -> Simulation:
    """Simulate the timeline, and add its assumptions and findings.

    Raises:
        InputInvalid: A step cannot happen, such as a put through a queue manager that is not active.
    """
    # Separate from `course`, because some findings play the timeline again under other readings.
    course = play(file, file.readings)
    return replace(
        course,
        assumptions=tuple(assumptions_of(file)),
        findings=in_order(list(findings_of(file, course))),
    )
