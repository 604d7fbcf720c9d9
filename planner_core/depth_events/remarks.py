"""What there is to say about a simulated timeline: findings, and what was assumed on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner_core.depth_events.file import DepthEventFile
from planner_core.depth_events.simulate import Course
from planner_core.findings import Finding


def findings_of(file: DepthEventFile, course: Course) -> Iterator[Finding]:
    """Findings of a course of events."""
    del file, course
    yield from ()


def assumptions_of(file: DepthEventFile) -> tuple[Mapping[str, str], ...]:
    """What was assumed for this file, each with its basis and where that stands."""
    del file
    return ()
