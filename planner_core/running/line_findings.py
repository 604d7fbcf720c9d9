"""Findings on texts: what a finding says, and the line that it is about."""

from __future__ import annotations

from dataclasses import dataclass

from planner_core.findings import Finding


@dataclass(frozen=True, slots=True)
class LineFinding:
    """A finding on a text, and the line (from 1) that it is about; None: the text as a whole."""

    finding: Finding
    line: int | None = None

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {**self.finding.as_json(), "line": self.line}
