"""Acknowledged findings, with the reason that the document gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner_core.document.model import Acknowledgment, PlanDocument
from planner_core.findings import Finding, comparable_message, finding


def acknowledge(document: PlanDocument, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with the reasons for accepting them, and a finding on each unused acknowledgment."""
    used: set[int] = set()
    found: list[Finding] = []
    for item in findings:
        index = entry_of(document, item)
        if index is None:
            found.append(item)
            continue
        used.add(index)
        found.append(replace(item, acknowledged=document.acknowledged[index].reason))
    # A reason must not outlive its subject: unused entries would accept the finding if it came back.
    for number, given in enumerate(document.acknowledged):
        if number not in used:
            found.append(
                finding(
                    "ACKNOWLEDGEMENT_UNUSED",
                    _why_unused(given, findings),
                    field=f"/acknowledged/{number}",
                    structure=given.structure,
                )
            )
    return found


def entry_of(document: PlanDocument, item: Finding) -> int | None:
    """Return the index of the first acknowledgment that accepts a finding; None if the finding is open."""
    return index_of(document.acknowledged, item)


def index_of(entries: Sequence[Acknowledgment], item: Finding) -> int | None:
    """Return the index of the first of these acknowledgments that accepts a finding; None if none does."""
    return next((number for number, given in enumerate(entries) if _accepts(given, item)), None)


def _accepts(given: Acknowledgment, item: Finding) -> bool:
    # Word for word, because figures in a message change with the plan: an accepted warning must not hide a new one.
    return _is_about(given, item) and (given.message is None or _is_same(given.message, item.message))


def _is_same(one: str, other: str) -> bool:
    # Most are equal as they are; a size in a message of an earlier release may have separators.
    return one == other or comparable_message(one) == comparable_message(other)


def _is_about(given: Acknowledgment, item: Finding) -> bool:
    # Errors are never accepted: a plan with an error gives no policy, whatever the reason.
    return item.severity != "error" and given.code == item.code and given.structure in (None, item.structure)


def _why_unused(given: Acknowledgment, findings: Sequence[Finding]) -> str:
    what = f"{given.code} of {given.structure}" if given.structure else given.code
    if any(_is_about(given, item) for item in findings):
        return f"{what} was acknowledged with a different message: it is open again."
    return f"{what} is acknowledged, but the plan has no such finding."
