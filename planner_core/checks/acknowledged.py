"""Findings that the document acknowledges, with the reason beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner_core.document import PlanDocument
from planner_core.findings import Finding, finding


def acknowledge(document: PlanDocument, findings: Sequence[Finding]) -> list[Finding]:
    """Write the reasons beside the findings; say which acknowledgements have nothing to accept.

    Errors are not accepted: a plan with an error gives no policy, whatever the reason.
    """
    used: set[int] = set()
    found: list[Finding] = []
    for item in findings:
        index = next(
            (
                number
                for number, given in enumerate(document.acknowledged)
                if item.severity != "error"
                and given.code == item.code
                and given.structure in (None, item.structure)
            ),
            None,
        )
        if index is None:
            found.append(item)
            continue
        used.add(index)
        found.append(replace(item, acknowledged=document.acknowledged[index].reason))
    for number, given in enumerate(document.acknowledged):
        if number not in used:
            where = f" of {given.structure}" if given.structure else ""
            found.append(
                finding(
                    "ACKNOWLEDGEMENT_UNUSED",
                    f"{given.code}{where} is acknowledged, but there is no such finding to accept.",
                    field=f"/acknowledged/{number}",
                    structure=given.structure,
                )
            )
    return found
