"""The evaluation of a plan document with a curve: figures, findings and their sources.

Each structure is evaluated on its own. This module adds the checks, clusters and placement of the whole plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypedDict

from planner_core import checks
from planner_core.clusters.load import load_of
from planner_core.document.model import PlanDocument
from planner_core.findings import Finding, in_order
from planner_core.garbage import characters_of, collection_paused
from planner_core.plan.known_structures import (
    EvaluatedStructure,
    allocated,
    evaluated_structures,
    known_plan,
)
from planner_core.plan.result import (
    CurveComparison,
    CurveStructure,
    PlanResult,
    Purpose,
    SizeDifference,
    SizeUnderBothCurves,
    SizeUnderCurve,
)
from planner_core.sizing.known_queues import KnownQueues
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve, published_curve
from planner_core.sizing.structures import size_application, size_system
from planner_core.units import bytes_to_kib_ceil


def evaluate(
    document: PlanDocument,
    *,
    curve: Curve | None = None,
    purpose: Purpose = "result",
    queues: KnownQueues | None = None,
) -> PlanResult:
    """Return the result of a plan: figures, findings and their sources.

    Args:
        document: The plan.
        curve: The fitted curve that the document names; None for published figures.
        purpose: The use of the result. For its sizes alone, there is neither advice on queue depths nor a warning about
            them.
        queues: The queues of earlier evaluations of the plan, if it is evaluated several times.

    Raises:
        PlanRefused: No such plan can exist (too many queue managers, structures or queues,
            or an unknown fitted curve).
    """
    # The results are hundreds of thousands of objects, which the collector would search again and again.
    with collection_paused(characters_of(sum(len(each.queues) for each in document.structures))):
        return _evaluate(document, curve, purpose, queues)


def _evaluate(
    document: PlanDocument, curve: Curve | None, purpose: Purpose, queues: KnownQueues | None
) -> PlanResult:
    checks.refuse_impossible(document, has_curve=curve is not None)
    evaluated = tuple(evaluated_structures(document, curve, purpose=purpose, queues=queues))
    return known_plan(document, evaluated, lambda: whole_plan(document, curve, purpose, evaluated))


def whole_plan(
    document: PlanDocument, curve: Curve | None, purpose: Purpose, evaluated: Sequence[EvaluatedStructure]
) -> PlanResult:
    """Return the result of a plan whose structures are evaluated.

    Args:
        document: The plan.
        curve: The fitted curve that the document names; None for published figures.
        purpose: The use of the result.
        evaluated: All of its structures, as `evaluated_structures` returns them.

    Raises:
        PlanRefused: No such plan can exist.
    """
    structures = tuple(each.result for each in evaluated)
    found: list[Finding] = list(_curve_findings(document, curve, structures))
    found.extend(checks.check_plan(document, structures))
    found.extend(checks.check_perfmev(document))
    found.extend(checks.check_other_structures(document))
    clusters = load_of(document, structures) if document.clusters else None
    found.extend(clusters.findings if clusters is not None else ())
    for each in evaluated:
        found.extend(each.findings)
    allocation = allocated(document, structures)
    found.extend(found_on_places(found, checks.check_allocation(allocation)))
    findings = in_order(checks.acknowledge(document, found) if document.acknowledged else found)
    highest = max(structures, key=lambda each: each.level.level)
    return PlanResult(
        document=document,
        # The curve of a structure may include the control storage for its own SIZE.
        curve=curve or highest.curve,
        structures=structures,
        allocation=allocation,
        findings=findings,
        clusters=clusters,
        purpose=purpose,
    )


_LARGER_THAN_CF = {
    "STRUCTURE_NOT_PLACED": "STRUCTURE_LARGER_THAN_CF",
    "STRUCTURE_NOT_PLACED_AT_SIZE": "SIZE_LARGER_THAN_CF",
}


def found_on_places(found: Sequence[Finding], on_places: Iterable[Finding]) -> list[Finding]:
    """Return findings on an allocation, except on structures that would not even fit in an empty coupling facility.

    Args:
        found: The other findings on the plan.
        on_places: The findings of `check_allocation`.
    """
    known = {(each.code, each.structure) for each in found}
    return [each for each in on_places if (_LARGER_THAN_CF.get(each.code), each.structure) not in known]


def _curve_findings(
    document: PlanDocument, curve: Curve | None, structures: Sequence[StructureResult]
) -> Iterator[Finding]:
    """Yield each finding on the curves of structures once: on the fitted curve, or on the published one of each level."""
    if curve is not None:
        yield from checks.check_fitted(document, curve, structures)
        return
    # Two levels without figures of their own use the same curve, and would repeat the finding on its base.
    found: dict[tuple[str, str], Finding] = {}
    for level in dict.fromkeys(structure.level for structure in structures):
        for each in published_curve(cfcc_level=level.level).findings:
            at = level.field if each.field == "/cfcc_level" else each.field
            found.setdefault((each.code, each.message), each if at == each.field else replace(each, field=at))
    yield from found.values()


def evaluate_structure(
    document: PlanDocument,
    name: str,
    *,
    curve: Curve | None = None,
    advises: bool = False,
    keeps_units: bool = False,
) -> tuple[StructureResult, tuple[Finding, ...]] | None:
    """Evaluate one application structure alone, with the findings on its curve.

    Args:
        document: The plan.
        name: The name of the structure in MQ.
        curve: The fitted curve that the document names; None for published figures.
        advises: Whether to add advice on the depths of its queues.
        keeps_units: Whether to keep the units of each queue, for callers that calculate further.

    Returns:
        None if the plan has no application structure of that name.

    Raises:
        PlanRefused: No such plan can exist.
    """
    checks.refuse_impossible(document, has_curve=curve is not None)
    for index, structure in enumerate(document.structures):
        if structure.name == name:
            found = size_application(
                document, curve, index, structure, advises=advises, keeps_units=keeps_units
            )
            return found, tuple(_curve_findings(document, curve, [found]))
    return None


def evaluate_system(document: PlanDocument, *, curve: Curve | None = None) -> StructureResult | None:
    """Evaluate CSQSYSAPPL alone; None if the plan does not include it."""
    return size_system(document, curve) if document.system.include else None


def compare_curves(
    document: PlanDocument, fitted: Curve, *, result: PlanResult | None = None
) -> CurveComparison:
    """Return need, INITSIZE and SIZE of each structure under the published and under a fitted curve.

    Args:
        document: The plan; the curve that it names is ignored.
        fitted: The fitted curve.
        result: The plan under the fitted curve, if it was evaluated already.

    Raises:
        PlanRefused: No such plan can exist.
    """
    # A document that names a fitted curve is refused without that curve.
    plain = evaluate(document.model_copy(update={"curve": "published"}))
    other = result or evaluate(document, curve=fitted)
    pairs = list(zip(plain.structures, other.structures, strict=True))
    return CurveComparison(
        plain.curve.summary,
        fitted.summary,
        tuple(CurveStructure(name=a.name, role=a.role, **_compared([a], [b])) for a, b in pairs),
        SizeUnderBothCurves(**_compared([a for a, _ in pairs], [b for _, b in pairs])),
        plain,
    )


class _Compared(TypedDict):
    published: SizeUnderCurve
    fitted: SizeUnderCurve
    difference: SizeDifference


def _compared(published: Sequence[StructureResult], fitted: Sequence[StructureResult]) -> _Compared:
    """Return the sums over structures under both curves."""
    # Differences are in bytes: sizes that the document gives, and needs, are not always whole K.
    before, after = (
        [
            sum(sizes)
            for sizes in zip(
                *((s.sizes.need_bytes, s.sizes.initsize_bytes, s.sizes.size_bytes) for s in structures),
                strict=True,
            )
        ]
        for structures in (published, fitted)
    )
    return {
        "published": SizeUnderCurve(before[0], *map(bytes_to_kib_ceil, before[1:])),
        "fitted": SizeUnderCurve(after[0], *map(bytes_to_kib_ceil, after[1:])),
        "difference": SizeDifference(*(b - a for a, b in zip(before, after, strict=True))),
    }
