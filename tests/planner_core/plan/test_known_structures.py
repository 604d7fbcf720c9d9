"""Structures that are kept between evaluations: their results equal those of a fresh evaluation."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_json, read_object
from planner_core.plan.evaluate import evaluate, whole_plan
from planner_core.plan.explain import plan_answer, plan_json
from planner_core.plan.known_structures import (
    EvaluatedStructure,
    KnownPlans,
    KnownStructures,
    evaluated_structures,
    known_plan,
)
from planner_core.sizing.fitted import fitted_curve
from planner_core.sizing.structure_size import Curve
from tests.planner_core.plans import documents, plan, varied
from tests.planner_core.sizing.test_fitted import BUNDLE, TWO_COSTS

Json = dict[str, Any]

CHANGES: tuple[Json, ...] = (
    {"qsg": "MQ"},
    {"queue_managers": 9},
    {"cfcc_level": 17},
    {"growth": {"percent_per_year": 10, "years": 2}},
    {"target_usage_percent": 60},
    {"headroom_percent": 25},
    {"size_factor": 2},
    {"perfmev": "ENABLED"},
    {"admin__headroom_percent": 50},
    {"admin__entsmax": 10},
    {"system__shared_channels": 10**6},
    {"system__include": False},
    {"coupling_facilities__0__cfcc_level": 26},
    {"coupling_facilities__0__size": "400M"},
    {"coupling_facilities__1__volatile": True},
    {"structures__0__preflist": ["CF02", "CF01"]},
    {"structures__0__cflevel": 4},
    {"structures__0__recover": False},
    {"structures__0__size": "1G"},
    {"structures__0__initsize": "500M"},
    {"structures__0__full_threshold": 60},
    {"structures__0__entry_to_element_ratio": [1, 9]},
    {"structures__0__event_target_percent": 40},
    {"structures__0__size_with_offload": True},
    {"structures__0__offload__to": "DB2"},
    {"structures__0__offload__rules": [{"usage_over": 60, "size_over": "0K"}]},
    {"structures__0__scm": {"max_size": "1G", "augmented": "10M"}},
    {"structures__0__queues__0__backlog": 100_001},
    {"structures__0__queues__0__message_bytes": 1165},
    {"structures__0__queues__0__message_bytes": {"mean": 1024, "p95": 4096, "max": 9000}},
    {"structures__0__queues__0__persistent": True},
    {"structures__0__queues__0__maxdepth": 1000},
    {"structures__0__queues__1": {"name": "Q2", "message_bytes": 10, "backlog": 5}},
)


def fresh(document: PlanDocument, curve: Curve | None = None) -> list[EvaluatedStructure]:
    """Evaluate the structures without any that are kept."""
    return list(evaluated_structures(document, curve, known=KnownStructures(0)))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_change_of_a_document_gives_the_result_of_a_fresh_evaluation(change: Json) -> None:
    known = KnownStructures()
    base = {"structures__0__queues__0__persistent": False}
    before, after = plan(**base), plan(**{**base, **change})
    list(evaluated_structures(before, None, known=known))

    found = list(evaluated_structures(after, None, known=known))

    assert found == fresh(after)
    assert found != fresh(before)


@settings(max_examples=150, deadline=None)
@given(st.data(), documents(), documents())
def test_mixed_documents_give_the_results_of_fresh_evaluations(
    data: st.DataObject, one: Json, other: Json
) -> None:
    known = KnownStructures()
    mixed = copy.deepcopy(one)
    for key in data.draw(st.sets(st.sampled_from(sorted(one)))):
        mixed[key] = other[key]
    for document in (one, other, mixed, one):
        read = read_object(document)
        assert list(evaluated_structures(read, None, known=known)) == fresh(read)


@settings(max_examples=60, deadline=None)
@given(documents())
def test_second_evaluation_gives_the_same_bytes(document: Json) -> None:
    first, second = (
        plan_answer(evaluate(read_object(document)), explain=True, depths=True).json_bytes() for _ in range(2)
    )

    assert first == second


@settings(max_examples=60, deadline=None)
@given(documents(), st.booleans(), st.booleans())
def test_text_with_kept_structures_equals_the_text_of_the_whole_answer(
    document: Json, explain: bool, depths: bool
) -> None:
    result = evaluate(read_object(document))
    expected = plan_answer(result, explain=explain, depths=depths).json_bytes()

    # The second text uses the structures that the first one left.
    for _ in range(2):
        assert plan_json(result, explain=explain, depths=depths) == expected


def test_kept_text_states_the_coupling_facility_in_this_plan() -> None:
    # The sizes of the first structure decide where the second, which is the same in both plans, is allocated.
    second = {"name": "APP2", "preflist": ["CF01", "CF02"], "initsize": "2G", "queues": []}
    found = []
    for size in ("1G", "63G"):
        document = plan(structures__0__initsize=size, structures__0__size="63G", structures__1=second)
        found.append(json.loads(plan_json(evaluate(document)))["structures"][2]["coupling_facility"])
    known = evaluate(plan(structures__0__initsize="1G", structures__0__size="63G", structures__1=second))

    assert found == ["CF01", "CF02"]
    assert set(known.structures[2].written) >= {("CF01",), ("CF02",)}


def test_kept_text_states_the_second_copy_in_this_plan() -> None:
    # The sizes of the first structure decide where the second copy of the other is allocated.
    facilities = [{"name": name, "size": "64G", "cfcc_level": 25} for name in ("CF01", "CF02", "CF03")]
    second = {"name": "APP2", "preflist": ["CF01", "CF02", "CF03"], "initsize": "2G", "duplex": "ENABLED"}
    found = []
    for size in ("1G", "63G"):
        document = plan(
            coupling_facilities=facilities,
            structures__0__preflist=["CF02"],
            structures__0__initsize=size,
            structures__0__size="63G",
            structures__1={**second, "queues": []},
        )
        answer = json.loads(plan_json(evaluate(document)))["structures"][2]
        found.append((answer["coupling_facility"], answer["second_copy"]))

    assert found == [("CF01", "CF02"), ("CF01", "CF03")]


def test_text_with_advice_for_each_queue_is_not_kept() -> None:
    document = plan(
        perfmev="ENABLED",
        structures__0__queues__0__qdphiev="ENABLED",
        structures__0__queues__0__maxdepth=1000,
    )
    result = evaluate(document)
    texts = [plan_json(result, depths=depths) for depths in (False, True, False)]

    assert texts == [plan_answer(result, depths=depths).json_bytes() for depths in (False, True, False)]
    assert texts[0] != texts[1]


CLUSTER = {
    "name": "HUB",
    "queue": "Q1",
    "rate_per_s": 5.50,
    "instances": [
        {"queue_manager": "QM01", "shared": True, "channels": [{"status": "RETRYING"}]},
        {"queue_manager": "QM02", "put": "DISABLED"},
    ],
}
ACKNOWLEDGED = [{"code": "USAGE_MEASURE_ASSUMED", "reason": "agreed"}]
OTHER_STRUCTURE = {"name": "DSNDB0A_LOCK1", "size": "1G", "preflist": ["CF01"]}
BESIDE: tuple[Json, ...] = (
    {"acknowledged": ACKNOWLEDGED},
    {"acknowledged": [{**ACKNOWLEDGED[0], "reason": "known"}]},
    {"clusters": [CLUSTER]},
    {"clusters": [{**CLUSTER, "rate_per_s": 6}]},
    {"other_structures": [OTHER_STRUCTURE]},
    {"other_structures": [{**OTHER_STRUCTURE, "size": "2G"}]},
    {"db2_group": "DSNDB0A"},
)
"""Changes of parts that affect no result of a single structure, but that of the plan."""


def fresh_plan(document: PlanDocument) -> bytes:
    """Return the answer of a plan of which nothing is kept."""
    evaluated = fresh(document)
    return plan_answer(whole_plan(document, None, "result", evaluated)).json_bytes()


@settings(max_examples=150, deadline=None)
@given(st.data(), documents(), documents())
def test_kept_plans_give_the_answers_of_fresh_evaluations(
    data: st.DataObject, one: Json, other: Json
) -> None:
    # The facilities of the other plan change the places, but not necessarily the sizes.
    mixed = {**one, "coupling_facilities": other["coupling_facilities"]}
    beside = {**one, **data.draw(st.sampled_from(BESIDE))}
    for document in map(read_object, (one, mixed, other, beside, one)):
        assert plan_json(evaluate(document)) == fresh_plan(document)


@pytest.mark.parametrize("before", [{}, *BESIDE], ids=str)
def test_parts_that_affect_no_structure_are_in_the_result_of_the_plan(before: Json) -> None:
    evaluate(plan(**before))

    for after in ({}, *BESIDE):
        document = plan(**after)
        assert plan_json(evaluate(document)) == fresh_plan(document)
        assert evaluate(document).document == document


def test_result_of_an_unchanged_plan_is_not_determined_again() -> None:
    first, again, changed = (
        evaluate(each) for each in (plan(), plan(), plan(structures__0__queues__0__backlog=100_001))
    )

    assert again is first
    assert changed.allocation is not first.allocation


def test_stated_default_beside_the_structures_is_kept_apart_from_a_missing_one() -> None:
    evaluate(plan())
    stated = plan(acknowledged=[])

    assert evaluate(stated).document.model_fields_set == stated.model_fields_set


def test_result_for_sizes_alone_is_kept_apart() -> None:
    document = plan()
    assert [evaluate(document, purpose=purpose).purpose for purpose in ("result", "sizes", "result")] == [
        "result",
        "sizes",
        "result",
    ]


@pytest.mark.parametrize(
    ("most_queues", "reason", "is_kept"),
    [(10, "agreed", False), (80, "agreed", True), (80, "x" * 500, False)],
)
def test_plan_beyond_the_limit_is_not_kept(most_queues: int, reason: str, is_kept: bool) -> None:
    known = KnownPlans(most_queues=most_queues)
    acknowledged = [{"code": "USAGE_MEASURE_ASSUMED", "reason": reason} for _ in range(10)]
    document = plan(acknowledged=acknowledged)
    evaluated = list(evaluated_structures(document, None))
    first, again = (
        known_plan(document, evaluated, lambda: whole_plan(document, None, "result", evaluated), known=known)
        for _ in range(2)
    )

    assert (again is first) == is_kept
    assert again == first


def test_unchanged_structures_are_not_evaluated_again() -> None:
    known = KnownStructures()
    second = {"name": "APP2", "queues": [{"name": "Q2", "message_bytes": 10, "backlog": 5}]}
    before, after = plan(structures__1=second), plan(structures__1={**second, "recover": False})
    admin, first, _, system = evaluated_structures(before, None, known=known)

    found = list(evaluated_structures(after, None, known=known))

    assert found[0] is admin
    assert found[1] is first
    assert found[3] is system


def test_acknowledgments_and_other_structures_do_not_change_a_structure() -> None:
    known = KnownStructures()
    first = list(evaluated_structures(plan(), None, known=known))[1]
    other = plan(
        acknowledged=[{"code": "USAGE_MEASURE_ASSUMED", "reason": "agreed"}],
        structures__1={"name": "APP2", "queues": []},
    )

    assert list(evaluated_structures(other, None, known=known))[1] is first


def test_numbers_that_are_equal_but_written_differently_are_shown_as_written() -> None:
    # An INITSIZE near the maximum, so that the message on SIZE names the factor.
    text = '{"qsg": "SQ03", "queue_managers": 2, "size_factor": %s, "structures": [{"name": "A", "initsize": "900G"}]}'

    messages = [
        next(
            each.message
            for each in evaluate(read_json(text % factor)).findings
            if "size_factor, now" in each.message
        )
        for factor in ("1.5", "1.50")
    ]

    assert "now 1.5," in messages[0]
    assert "now 1.50," in messages[1]


def test_value_that_equals_its_default_is_kept_apart_from_a_missing_one() -> None:
    known = KnownStructures()
    list(evaluated_structures(plan(), None, known=known))
    stated = plan(structures__0__recover=True)

    found = list(evaluated_structures(stated, None, known=known))[1].result.definition

    assert found.model_fields_set == stated.structures[0].model_fields_set


def test_fitted_curves_are_kept_apart() -> None:
    known = KnownStructures()
    document = plan(curve={"fitted": 3})
    one, other = (fitted_curve(version=3, fit=fit) for fit in (BUNDLE, TWO_COSTS))
    list(evaluated_structures(document, one, known=known))

    assert list(evaluated_structures(document, other, known=known)) == fresh(document, other)
    assert list(evaluated_structures(document, None, known=known)) == fresh(document)


def test_structures_beyond_the_limit_are_dropped_oldest_first() -> None:
    queues = [{"name": f"Q{number}", "message_bytes": 10, "backlog": 5} for number in range(10)]
    # CSQ_ADMIN, the application structure and CSQSYSAPPL of one plan, with 12 queues in all, but not those of two plans.
    known = KnownStructures(most_queues=3 * 8 + 12)
    one, other = (read_object(varied(qsg=qsg, structures__0__queues=queues)) for qsg in ("QSG1", "QSG2"))
    first = list(evaluated_structures(one, None, known=known))
    assert list(evaluated_structures(one, None, known=known))[1] is first[1]

    list(evaluated_structures(other, None, known=known))

    assert list(evaluated_structures(one, None, known=known))[1] is not first[1]


def test_plan_beyond_the_limit_drops_nothing() -> None:
    known = KnownStructures(most_queues=3 * 8 + 12)
    small = plan()
    first = list(evaluated_structures(small, None, known=known))
    queues = [{"name": f"Q{number}", "message_bytes": 10, "backlog": 5} for number in range(100)]

    list(evaluated_structures(plan(structures__0__queues=queues), None, known=known))

    assert list(evaluated_structures(small, None, known=known))[1] is first[1]


def test_threads_get_the_results_of_fresh_evaluations() -> None:
    known = KnownStructures(most_queues=60)
    plans = [plan(structures__0__queues__0__backlog=number) for number in range(12)]
    expected = [fresh(each) for each in plans]

    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda at: list(evaluated_structures(plans[at % 12], None, known=known)), range(240))
        )

    assert all(each == expected[at % 12] for at, each in enumerate(found))
