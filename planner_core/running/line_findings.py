"""Findings on texts with their lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from planner_core.findings import Finding, finding


@dataclass(frozen=True, slots=True)
class LineFinding(Finding):
    """A finding on a text, with its line."""

    line: Annotated[
        int | None, Field(description="Line number in the text, starting at 1; null: the entire text.")
    ] = None

    @property
    def finding(self) -> Finding:
        """Return the finding without its line, for answers about a plan."""
        return Finding(
            self.code,
            self.severity,
            self.message,
            self.source,
            self.field,
            self.structure,
            self.acknowledged,
        )


def at_line(found: Finding, line: int | None = None) -> LineFinding:
    """Return a finding with its line; `line` is None for findings on the whole text."""
    # `dataclasses.replace` could not change the class.
    return LineFinding(
        found.code,
        found.severity,
        found.message,
        found.source,
        found.field,
        found.structure,
        found.acknowledged,
        line,
    )


def finding_at(
    code: str,
    message: str,
    line: int | None = None,
    structure: str | None = None,
    *,
    field: str | None = None,
) -> LineFinding:
    """Return a finding with a code of the catalog, on a line of a text."""
    return at_line(finding(code, message, field=field, structure=structure), line)
