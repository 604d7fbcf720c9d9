"""Evaluations for sizes and errors alone, and several evaluations of the same queues."""

from __future__ import annotations

import gc
import weakref
from decimal import Decimal
from typing import Any

import pytest

from app.sizing.examples import examples
from bench.plans import bank, largest
from planner_core.document.model import Growth, PlanDocument
from planner_core.document.reading import read_object
from planner_core.findings import DEPTH_EVENT_CODES
from planner_core.plan.evaluate import evaluate
from planner_core.plan.known_structures import EvaluatedStructure, KnownStructures, evaluated_structures
from planner_core.plan.result import IncompleteResult, PlanResult
from planner_core.sizing.known_queues import KnownQueues
from planner_core.sizing.structure_answer import structure_answer
from planner_core.texts.outputs import errors_of, render_output

PERFMEV = frozenset({"PERFMEV_DIFFERS", "PERFMEV_NOT_STATED", "PERFMEV_OFF"})
"""Findings on the whole group, which need no advice on queue depths."""


def reversed_thresholds() -> dict[str, Any]:
    plan = largest(structures=2, queues=20, with_definitions=True)
    plan["structures"][1]["queues"][7] |= {"qdepthhi": 10, "qdepthlo": 20}
    return plan


PLANS: dict[str, dict[str, Any]] = {
    **{name: each.document for name, each in examples().items()},
    "bank": bank(),
    "largest": largest(structures=3, queues=60, with_definitions=True),
    "reversed": reversed_thresholds(),
}


def figures(result: PlanResult) -> list[tuple[object, ...]]:
    return [
        (each.name, each.sizes, each.placement, each.at_backlog, each.smds, each.db2, each.queues)
        for each in result.structures
    ]


@pytest.mark.parametrize("plan", PLANS)
def test_evaluation_for_sizes_has_the_figures_and_errors_of_the_complete_one(plan: str) -> None:
    document = read_object(PLANS[plan])
    complete, sizes = evaluate(document), evaluate(document, purpose="sizes")
    assert figures(sizes) == figures(complete)
    assert sizes.allocation.places == complete.allocation.places
    assert errors_of(sizes) == errors_of(complete)
    left_out = DEPTH_EVENT_CODES - PERFMEV - {"QDEPTHHI_BELOW_QDEPTHLO"}
    assert sizes.findings == tuple(each for each in complete.findings if each.code not in left_out)


def test_evaluation_for_sizes_finds_reversed_thresholds() -> None:
    found = errors_of(evaluate(read_object(reversed_thresholds()), purpose="sizes"))
    assert [(each.code, each.field) for each in found] == [
        ("QDEPTHHI_BELOW_QDEPTHLO", "/structures/1/queues/7/qdepthlo")
    ]


def test_evaluation_for_sizes_is_never_shown_as_a_result() -> None:
    sizes = evaluate(read_object(bank()), purpose="sizes")
    assert render_output("policy", sizes) == render_output("policy", evaluate(read_object(bank())))
    with pytest.raises(IncompleteResult):
        sizes.json_bytes()
    with pytest.raises(IncompleteResult):
        sizes.as_json()
    with pytest.raises(IncompleteResult):
        render_output("mqsc", sizes)


def fresh(document: PlanDocument, queues: KnownQueues | None = None) -> list[EvaluatedStructure]:
    return list(evaluated_structures(document, None, queues=queues, known=KnownStructures(0)))


@pytest.mark.parametrize("plan", PLANS)
def test_known_queues_do_not_change_results(plan: str) -> None:
    document, queues = read_object(PLANS[plan]), KnownQueues()
    changes: list[dict[str, object]] = [
        {},
        {"cfcc_level": 26},
        {"growth": Growth(percent_per_year=Decimal(7), years=Decimal(3))},
        {},
    ]
    for change in changes:
        changed = document.model_copy(update=change)
        for one, other in zip(fresh(changed), fresh(changed, queues), strict=True):
            assert structure_answer(one.result, depths=True) == structure_answer(other.result, depths=True)
            assert one.findings == other.findings


def test_result_is_freed_without_garbage_collection() -> None:
    document = read_object(PLANS["largest"])
    gc.collect()
    gc.disable()
    try:
        results = [each.result for each in fresh(document)]
        kept = [weakref.ref(advice) for each in results if (advice := each.depth_events) and advice.queues]
        advice = None
        assert len(kept) == 3
        del results
        assert [each() for each in kept] == [None] * 3
    finally:
        gc.enable()
