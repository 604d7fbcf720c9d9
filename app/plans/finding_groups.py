"""Findings of new and stored results, arranged for pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from planner_core.provenance import Source, read_source
from planner_core.wire import JsonObject


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding and the field that causes it."""

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
    items: Iterable[JsonObject],
    *,
    target_of: Callable[[str], str] = str,
    label_of: Callable[[str], str] = lambda pointer: "to the field",
) -> tuple[FindingView, ...]:
    """Return findings, arranged for pages; `target_of` returns the field of a form for a pointer into the document."""
    shown = []
    for number, item in enumerate(items):
        target = target_of(item["field"]) if item.get("field") else ""
        shown.append(
            FindingView(
                id=str(number),
                severity=item["severity"],
                code=item["code"],
                message=item["message"],
                source=read_source(item.get("source")),
                structure=item.get("structure"),
                acknowledged=item.get("acknowledged"),
                target=target,
                target_label=label_of(target) if target else "",
            )
        )
    return tuple(shown)
