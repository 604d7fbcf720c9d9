"""Answers about collected data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from planner_core.findings import Finding
from planner_core.wire import Answer


@dataclass(frozen=True, slots=True)
class MissingData(Answer):
    """The figures that the usage history lacks."""

    structures: Annotated[int, Field(description="Number of structures in the usage history.")]
    findings: Annotated[
        tuple[Finding, ...],
        Field(description="One for each group and kind of figure that a forecast, a fit or a plan needs."),
    ]
