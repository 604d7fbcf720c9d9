"""The evaluation of each structure of a plan, kept for the next evaluation in which the structure has not changed.

The result of a plan is kept for the next evaluation of a document that states the same.

A planner who edits a plan, and a what-if question, evaluate the same structures again and again. The result of a structure
depends on its own entry in the document, on its place there, on the fitted curve, and on the parts of the document that
apply to the whole group. All of these are in the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel

from planner_core import checks
from planner_core.document.model import PlanDocument, Structure
from planner_core.findings import Finding
from planner_core.last_used import LastUsed
from planner_core.plan.result import PlanResult, Purpose
from planner_core.sizing.known_queues import KnownQueues
from planner_core.sizing.other_structures import other_results
from planner_core.sizing.placement import Allocation, AllocationGroup, PlannedResult, allocate, question
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve
from planner_core.sizing.structures import size_admin, size_application, size_system

MOST_QUEUES_KEPT = 4_000
"""The number of queues in kept structures, and in kept plans; together about 25 MB without measured rates of queue managers."""
_QUEUES_OF_A_STRUCTURE = 8
"""The memory that a structure needs without its queues, in queues."""
_ELSEWHERE: dict[str, Any] = {
    "structures": [], "acknowledged": [], "clusters": [], "other_structures": [], "db2_group": None,
}  # fmt: skip
"""The parts of a document that do not affect the result of a single structure."""
_BESIDE = _ELSEWHERE.keys() - {"structures"}
_CHARACTERS_OF_A_QUEUE = 70
"""The length of these parts in JSON that needs as much memory as a queue, 1.7 KB; measured with other structures."""
_PLAIN = frozenset({int, str, bool, type(None)})
Place = int | Literal["admin", "system"]


@dataclass(frozen=True, slots=True)
class EvaluatedStructure:
    """The result of one structure, and the findings on it that do not depend on other structures."""

    result: StructureResult
    findings: tuple[Finding, ...]


def _weight(structures: Iterable[StructureResult]) -> int:
    return sum([_QUEUES_OF_A_STRUCTURE + len(structure.queues) for structure in structures])


def _plan_weight(found: PlanResult) -> int:
    # Acknowledgments and clusters can be much longer than the structures.
    beside = found.document.model_dump_json(include=_BESIDE)
    return _weight(found.structures) + len(beside) // _CHARACTERS_OF_A_QUEUE


class KnownStructures(LastUsed[EvaluatedStructure]):
    """The structures that were evaluated last, up to a total number of queues."""

    def __init__(self, most_queues: int = MOST_QUEUES_KEPT) -> None:
        super().__init__(most_queues, lambda found: _weight([found.result]))


class KnownPlans(LastUsed[PlanResult]):
    """The plans that were evaluated last, up to a total number of queues."""

    def __init__(self, most_queues: int = MOST_QUEUES_KEPT) -> None:
        super().__init__(most_queues, _plan_weight)


_known = KnownStructures()
_known_plans = KnownPlans()


def allocation_group(
    name: str, document: PlanDocument, structures: Sequence[StructureResult]
) -> AllocationGroup[PlannedResult]:
    """Return a plan's structures, other structures and coupling facilities, under this name of the plan."""
    others = other_results(document.other_structures, [cf.name for cf in document.coupling_facilities])
    return AllocationGroup(name, document.cfcc_level, document.coupling_facilities, (*others, *structures))


def allocated(document: PlanDocument, structures: Sequence[StructureResult]) -> Allocation[PlannedResult]:
    """Allocate the structures of a document in its coupling facilities, based on INITSIZE."""
    return allocate(question([allocation_group(document.qsg, document, structures)]))


def known_plan(
    document: PlanDocument,
    evaluated: Sequence[EvaluatedStructure],
    evaluate: Callable[[], PlanResult],
    *,
    known: KnownPlans = _known_plans,
) -> PlanResult:
    """Return the result of a plan, which is kept for the next document that states the same.

    Args:
        document: The plan.
        evaluated: All of its structures, as `evaluated_structures` returns them.
        evaluate: A function that returns the result.
        known: The plans that were evaluated before.
    """
    # A result that was found again is the same object, and belongs to the same parts of a document, curve and purpose.
    # Comparing whole results would take longer than placing the structures. A kept entry refers to its results, so none of
    # their ids can be reused.
    key = (
        *[id(each.result) for each in evaluated],
        *[_content(getattr(document, name)) for name in _BESIDE],
        frozenset(document.model_fields_set),
    )
    found = known.get(key)
    if found is None:
        found = evaluate()
        known.keep(key, found)
    return found


def evaluated_structures(
    document: PlanDocument,
    curve: Curve | None,
    *,
    purpose: Purpose = "result",
    queues: KnownQueues | None = None,
    known: KnownStructures = _known,
) -> Iterator[EvaluatedStructure]:
    """Yield the evaluation of each structure: CSQ_ADMIN, those of the document in its order, CSQSYSAPPL.

    Args:
        document: The plan.
        curve: The fitted curve that the document names; None for published figures.
        purpose: The use of the results; for sizes alone, there is no advice on queue depths.
        queues: The queues of earlier evaluations of the plan.
        known: The structures that were evaluated before.
    """
    # Structures are evaluated with this copy, so that their results cannot depend on anything that is not in the key.
    around = around_structures(document)
    weight = sum([_QUEUES_OF_A_STRUCTURE + len(structure.queues) for structure in document.structures])
    # A plan beyond the limit would drop each structure before it is needed again.
    group = _first_equal((_content(around), curve, purpose)) if weight <= known.most else None
    places: tuple[Place, ...] = ("admin", *range(len(document.structures)))
    for place in (*places, "system") if document.system.include else places:
        structure = document.structures[place] if isinstance(place, int) else None
        if group is None:
            yield _evaluated(around, curve, place, structure, purpose, queues)
            continue
        key = (group, place, structure and _content(structure))
        found = known.get(key)
        if found is None:
            found = _evaluated(around, curve, place, structure, purpose, queues)
            known.keep(key, found)
        yield found


def _evaluated(
    around: PlanDocument,
    curve: Curve | None,
    place: Place,
    structure: Structure | None,
    purpose: Purpose,
    queues: KnownQueues | None,
) -> EvaluatedStructure:
    if isinstance(place, int) and structure is not None:
        result = size_application(around, curve, place, structure, advises=purpose == "result", known=queues)
    else:
        result = size_admin(around, curve) if place == "admin" else size_system(around, curve)
    return EvaluatedStructure(result, tuple(checks.check_structure(around, result)))


def around_structures(document: PlanDocument) -> PlanDocument:
    """Return the parts of a document that affect the result of every single structure, without the structures."""
    return document.model_copy(update=_ELSEWHERE)


@lru_cache(maxsize=64)
def _first_equal(group: tuple[object, Curve | None, Purpose]) -> tuple[object, Curve | None, Purpose]:
    """Return the first of equal groups, because keys with the same object are compared much faster."""
    return group


def _content(value: object) -> object:
    """Return everything that a part of a document states, in a form that can be a key."""
    # Without the calls for plain values, which most are, this takes a third of the time.
    if isinstance(value, BaseModel):
        # Fields that the document does not state have their defaults. Comparisons with running structures distinguish a
        # default from the same value in the document.
        stated = value.model_fields_set
        values = [
            each if type(each) in _PLAIN else _content(each)
            for name, each in value.__dict__.items()
            if name in stated
        ]
        return (*values, frozenset(stated))
    if isinstance(value, list):
        return tuple([each if type(each) in _PLAIN else _content(each) for each in value])
    if isinstance(value, dict):
        return tuple([(key, _content(each)) for key, each in value.items()])
    if isinstance(value, Decimal):
        # Findings show the number as it was entered, and 1.50 equals 1.5.
        return value.as_tuple()
    if type(value) in _PLAIN or isinstance(value, StrEnum):
        return value
    message = f"{type(value).__name__} cannot be part of a key"
    raise TypeError(message)
