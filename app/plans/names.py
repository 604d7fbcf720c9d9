"""The names in a plan by which it is found: its group, structures and queues, and the codes of its open findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from planner_core.findings import RANKS, Finding, Severity

if TYPE_CHECKING:
    from planner_core.document.model import PlanDocument

# The model of plans is imported for types only: processes that read uploads import these names and need no plans.

GROUP, STRUCTURE, QUEUE, FINDING = "group", "structure", "queue", "finding"


class PlanName(NamedTuple):
    """A name in a plan; `structure` is that of a queue, and `severity` and `occurrences` are those of a finding."""

    kind: str
    name: str
    structure: str = ""
    severity: str = ""
    occurrences: int = 1


def names_in(document: PlanDocument, findings: Iterable[Finding]) -> frozenset[PlanName]:
    """Return the names in a document, and the codes of the findings that are not acknowledged."""
    found = {PlanName(GROUP, document.qsg)}
    for structure in document.structures:
        found.add(PlanName(STRUCTURE, structure.name, structure.name))
        found.update(PlanName(QUEUE, queue.name, structure.name) for queue in structure.queues)
    opened = [each for each in findings if each.acknowledged is None]
    worst: dict[str, Severity] = {}
    # A check may report some of its findings with another severity.
    for each in sorted(opened, key=lambda one: RANKS[one.severity]):
        worst.setdefault(each.code, each.severity)
    for code, occurrences in Counter(each.code for each in opened).items():
        found.add(PlanName(FINDING, code, "", worst[code], occurrences))
    return frozenset(found)
