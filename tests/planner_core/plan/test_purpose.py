"""Evaluations for sizes and errors alone, and several evaluations of the same queues."""

from __future__ import annotations

import copy
import gc
import random
import weakref
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from app.sizing.examples import examples
from bench.plans import bank, largest
from planner_core.document.model import Growth, PlanDocument, Structure
from planner_core.document.reading import read_object
from planner_core.findings import DEPTH_EVENT_CODES
from planner_core.plan.evaluate import evaluate
from planner_core.plan.known_structures import EvaluatedStructure, KnownStructures, evaluated_structures
from planner_core.plan.result import IncompleteResult, PlanResult
from planner_core.sizing.demand import QueueDemand, Units
from planner_core.sizing.filling_alone import FillingsAlone
from planner_core.sizing.known_queues import KnownQueues
from planner_core.sizing.offload import Rule
from planner_core.sizing.structure_answer import structure_answer
from planner_core.sizing.structure_size import Curve
from planner_core.texts.outputs import errors_of, render_output
from planner_core.whatif import growth

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


class Forgetful(KnownQueues):
    """Queues that are calculated again in each evaluation, as if it were the only one."""

    def demands(self, structure: Structure, factor: Fraction) -> tuple[QueueDemand, ...]:
        return KnownQueues().demands(structure, factor)

    def units(
        self, structure: Structure, queues: Sequence[QueueDemand], rules: Sequence[Rule], curve: Curve
    ) -> Units:
        return KnownQueues().units(structure, queues, rules, curve)

    def fillings(
        self, units: Units, rules: Sequence[Rule], elements_per_entry: Fraction, usage_percent: int
    ) -> FillingsAlone:
        return KnownQueues().fillings(units, rules, elements_per_entry, usage_percent)


def random_plan(seed: int) -> dict[str, Any]:
    """Return the bank with other message sizes, offload rules, rates and depth events."""
    chosen, plan = random.Random(seed), copy.deepcopy(bank())
    plan["structures"] = chosen.sample(plan["structures"], 5)
    for structure in plan["structures"]:
        if chosen.random() < 0.5:
            structure["full_threshold"] = chosen.randrange(50, 100)
        if chosen.random() < 0.5:
            rules = sorted(chosen.sample(range(20, 95), 3))
            structure["offload"] |= {
                "rules": [
                    {"usage_over": at, "size_over": size}
                    for at, size in zip(rules, ("32K", "4K", "0K"), strict=True)
                ]
            }
        for queue in structure["queues"]:
            mean = chosen.randrange(100, 60_000)
            queue["message_bytes"] = chosen.choice(
                (mean, mean, {"mean": mean, "p95": 3 * mean, "max": 10 * mean})
            )
            queue |= {"qdphiev": "ENABLED", "maxdepth": chosen.choice((5_000, 300_000, 999_999_999))}
            queue |= {
                "put_rate_per_s": chosen.choice((0.25, 3, 7.5)),
                "get_rate_per_s": chosen.choice((0.2, 3, 1.75)),
            }
            queue |= {"outage_minutes": 30.5}
            del queue["backlog"]
    return plan


@pytest.mark.parametrize("plan", [*PLANS, *range(6)])
def test_upgrade_answers_are_those_of_separate_evaluations(
    plan: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = read_object(PLANS[plan] if isinstance(plan, str) else random_plan(plan))
    question = growth.UpgradeQuestion(queue_managers=1, years=(1, 3))
    shared = growth.upgrades(document, question).json_bytes()
    monkeypatch.setattr(growth, "KnownQueues", Forgetful)
    assert growth.upgrades(document, question).json_bytes() == shared


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
