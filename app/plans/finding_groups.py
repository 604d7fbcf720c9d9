"""Findings of new and stored results, arranged for pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from planner_core.findings import Finding
from planner_core.provenance import Source


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding, and the field that causes it."""

    id: str
    severity: str
    code: str
    message: str
    source: Source
    structure: str | None
    acknowledged: str | None
    target: str
    target_label: str


def findings_shown(
    items: Iterable[Finding],
    *,
    target_of: Callable[[str], str] = str,
    label_of: Callable[[str], str] = lambda pointer: "to the field",
) -> tuple[FindingView, ...]:
    """Return findings, arranged for pages; `target_of` returns the field of a form for a pointer into the document."""
    shown = []
    for number, item in enumerate(items):
        target = target_of(item.field) if item.field else ""
        shown.append(
            FindingView(
                id=str(number),
                severity=item.severity,
                code=item.code,
                message=item.message,
                source=item.source,
                structure=item.structure,
                acknowledged=item.acknowledged,
                target=target,
                target_label=label_of(target) if target else "",
            )
        )
    return tuple(shown)


def only_in(here: Iterable[Finding], there: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that only the first result has, regardless of their place in the document."""
    # The message is compared too, because the same code with other figures is a new finding.
    known = {(each.code, each.structure, each.message) for each in there}
    return tuple(each for each in here if (each.code, each.structure, each.message) not in known)
