"""Findings as pages show them, from the core's JSON: fresh or stored, they look the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from planner_core.provenance import Source

_ADDRESS = re.compile(r"(?P<document>.*) \((?P<url>https?://\S+)\)", re.DOTALL)
_OWN = re.compile(r"(?P<document>cfplan, docs/[\w/-]+\.md)(?:, (?P<section>.*))?", re.DOTALL)


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


def source_of(text: str | None) -> Source:
    """A source from the line it is stored as."""
    text = text or ""
    if found := _OWN.fullmatch(text):
        return Source(found["document"], found["section"] or "", "")
    if found := _ADDRESS.fullmatch(text):
        return Source(found["document"], "", found["url"])
    return Source(text, "", "")


def findings_shown(
    items: Iterable[Mapping[str, Any]],
    *,
    target_of: Callable[[str], str] = str,
    label_of: Callable[[str], str] = lambda pointer: "to the field",
) -> tuple[FindingView, ...]:
    """Arrange findings; `target_of` gives the place in a form for a pointer into the document."""
    shown = []
    for number, item in enumerate(items):
        target = target_of(item["field"]) if item.get("field") else ""
        shown.append(
            FindingView(
                id=str(number),
                severity=item["severity"],
                code=item["code"],
                message=item["message"],
                source=source_of(item.get("source")),
                structure=item.get("structure"),
                acknowledged=item.get("acknowledged"),
                target=target,
                target_label=label_of(target) if target else "",
            )
        )
    return tuple(shown)
