"""Findings of new and stored results, arranged for pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.plans.trail import StoredAcknowledgment, acknowledgment_of
from planner_core.findings import SEVERITIES, Finding, comparable_message, finding_groups
from planner_core.provenance import Source

FEW_FINDINGS = 8
"""Up to this number, all groups of a page are expanded."""


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
    acknowledged_by: str | None = None
    """Who acknowledged it; None if it is open, or if the service did not record it yet."""
    acknowledged_at: datetime | None = None


def findings_shown(
    items: Iterable[Finding],
    *,
    target_of: Callable[[str], str] = str,
    label_of: Callable[[str], str] = lambda pointer: "to the field",
    acknowledged: Sequence[StoredAcknowledgment] = (),
) -> tuple[FindingView, ...]:
    """Return findings, arranged for pages.

    Args:
        items: The findings.
        target_of: Returns the field of a form for a pointer into the document.
        label_of: Returns the text of the link to a field.
        acknowledged: The acknowledgments of the document with their authors, if it is stored.
    """
    shown = []
    for number, item in enumerate(items):
        target = target_of(item.field) if item.field else ""
        by = acknowledgment_of(acknowledged, item)
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
                acknowledged_by=None if by is None else by.author,
                acknowledged_at=None if by is None else by.acknowledged_at,
            )
        )
    return tuple(shown)


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """The findings that a page shows: those of one severity, structure or code; empty for all."""

    severity: str = ""
    structure: str = ""
    code: str = ""

    def includes(self, item: Finding) -> bool:
        """Return whether the page shows a finding."""
        return (
            self.severity in ("", item.severity)
            and self.structure in ("", item.structure)
            and self.code in ("", item.code)
        )


def read_filter(severity: str, structure: str, code: str) -> FindingFilter:
    """Return the filter in an address; an unknown severity means all."""
    return FindingFilter(severity if severity in SEVERITIES else "", structure[:100], code[:100])


@dataclass(frozen=True, slots=True)
class FindingGroupView:
    """Findings with one code and severity."""

    id: str
    severity: str
    code: str
    title: str
    """The message of a single finding; otherwise the rule, without the number of structures."""
    extent: str
    """The number of structures or findings; empty for a single finding."""
    structures: tuple[str, ...]
    count: int
    open_count: int
    findings: tuple[FindingView, ...]
    """The findings; only the first ones if the page has very many."""
    is_expanded: bool

    @property
    def acknowledged_count(self) -> int:
        """The number of acknowledged findings."""
        return self.count - self.open_count


def group_id(severity: str, code: str) -> str:
    """Return the id of a group on its page."""
    return f"group-{severity}-{code}"


def grouped_findings(
    items: Sequence[Finding], shown: Sequence[FindingView], *, is_expanded: bool = False, expanded: str = ""
) -> tuple[FindingGroupView, ...]:
    """Return the groups of findings.

    Args:
        items: The findings.
        shown: The views of these findings, or of the first ones.
        is_expanded: Whether all groups are expanded.
        expanded: The id of a group or finding that is expanded in any case.
    """
    views: dict[tuple[str, str], list[FindingView]] = {}
    for view in shown:
        views.setdefault((view.severity, view.code), []).append(view)
    still_open: dict[tuple[str, str], int] = {}
    for item in items:
        key = (item.severity, item.code)
        still_open[key] = still_open.get(key, 0) + (not item.acknowledged)
    found = []
    for group in finding_groups(items):
        key = (group.severity, group.code)
        of_group = views.get(key, [])
        name = group_id(*key)
        title, _, extent = group.message.rpartition(": ") if group.count > 1 else (group.message, "", "")
        found.append(
            FindingGroupView(
                id=name,
                severity=group.severity,
                code=group.code,
                title=title,
                extent=extent.removesuffix("."),
                structures=group.structures,
                count=group.count,
                open_count=still_open[key],
                findings=tuple(of_group),
                is_expanded=is_expanded
                or len(items) <= FEW_FINDINGS
                or expanded in (name, *(view.id for view in of_group)),
            )
        )
    return tuple(found)


def only_in(here: Iterable[Finding], there: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that only the first result has, regardless of their place in the document."""
    # The message is compared too, because the same code with other figures is a new finding.
    known = set(map(_compared, there))
    return tuple(each for each in here if _compared(each) not in known)


def _compared(item: Finding) -> tuple[str, str | None, str]:
    # Two versions may be of different releases.
    return item.code, item.structure, comparable_message(item.message)
