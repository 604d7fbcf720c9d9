"""The texts that are stored with a version, computed from its document."""

from __future__ import annotations

import contextlib
import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import to_json

from app.fits.kept import no_curves
from app.plans import computed, explanations, service
from app.plans.computed import DocumentText, canonical, compute
from app.plans.explanations import KnownExplanations, written_explanations
from app.sizing.examples import examples
from planner_core.document.compare import differences
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, PlanRefused
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result, explain_structure
from planner_core.plan.result import PlanResult
from planner_core.provenance import Explanation
from planner_core.sizing.fitted import fitted_curve
from tests.computed_plans import ComputedOnce, compute_really
from tests.planner_core.plans import documents, varied
from tests.planner_core.sizing.test_fitted import BUNDLE, TWO_COSTS

QUEUE = {"name": "Q2", "message_bytes": 1024, "backlog": 1}


def _one_by_one(result: PlanResult) -> bytes:
    written = (to_json(each.figure) + b":" + each.json_bytes() for each in explain_result(result))
    return b"{" + b",".join(written) + b"}"


@given(documents())
def test_stored_explanations_equal_those_written_one_by_one(document: dict[str, Any]) -> None:
    plan = read_object(document)
    contents = compute(plan, no_curves)
    assert contents.explanations.text.encode() == _one_by_one(evaluate(plan))
    # Equal documents have equal contents: tests compute them once.
    again = read_object(document)
    assert compute_really(again, DocumentText.of(again), no_curves) == contents


@given(documents())
def test_canonical_text_consists_of_those_of_its_structures(document: dict[str, Any]) -> None:
    plan = read_object(document)
    written = DocumentText.of(plan)
    assert written.text == canonical(plan)
    assert [*map(json.loads, written.structures)] == json.loads(written.text)["structures"]


@given(documents(), documents(), st.data())
def test_comparison_without_equal_structures_gives_all_differences(
    document: dict[str, Any], other: dict[str, Any], data: st.DataObject
) -> None:
    structures = [*document["structures"], *other["structures"]]
    chosen = (
        data.draw(st.lists(st.sampled_from(structures), unique_by=lambda each: each["name"]))
        if structures
        else []
    )
    renamed = [
        {**each, "queues": [{**queue, "name": f"{queue['name']}.{place}"} for queue in each["queues"]]}
        for place, each in enumerate(chosen)
    ]
    plans = []
    for each in (document, {**document, "structures": chosen}, {**other, "structures": renamed}):
        with contextlib.suppress(DocumentInvalid):
            plans.append(DocumentText.of(read_object(each)))
    for stored, new in itertools.product(plans, plans):
        compared = new.compared_with(stored.text)
        whole = json.loads(stored.text), json.loads(new.text)
        assert differences(*compared) == differences(*whole)
        assert service._surely_differs(*compared) == service._surely_differs(*whole)
        names = {each["name"] for each in compared.new["structures"]}
        if [each["name"] for each in whole[0]["structures"]] == [
            each["name"] for each in whole[1]["structures"]
        ]:
            equal = {
                each["name"]
                for each, old in zip(whole[1]["structures"], whole[0]["structures"], strict=True)
                if each == old
            }
            assert not names & equal


def test_stored_document_of_another_form_is_compared_as_a_whole() -> None:
    plan = read_object(varied())
    new = DocumentText.of(plan)
    old = json.loads(new.text)
    # As an earlier release stored it: without a key, or without any structure.
    del old["structures"][0]["recauto"]
    for stored in (json.dumps(old), json.dumps({**old, "structures": []}, separators=(",", ":"))):
        assert new.compared_with(stored) == (json.loads(stored), json.loads(new.text))
    assert new.compared_with(new.text) == ({**json.loads(new.text), "structures": []},) * 2
    with pytest.raises(ValueError, match="members qsg, structures"):  # damaged: the caller reports this
        new.compared_with('{"qsg":"SQ03"}')


# Each example evaluates five plans, and explains each of them three times.
@settings(max_examples=20)
@given(documents(), documents(), st.data())
def test_kept_explanations_equal_new_ones(
    document: dict[str, Any], other: dict[str, Any], data: st.DataObject
) -> None:
    known = KnownExplanations()
    # A plan in which one part of another one replaces its own, so that some structures stay and others do not.
    key = data.draw(st.sampled_from(sorted({*document, *other} - {"qsg"})))
    mixed = {**document, **{each: value for each, value in other.items() if each == key}}
    moved = {**document, "structures": [*document.get("structures", ())][::-1]}
    for each in (document, mixed, document, moved, {**document, "qsg": "SQ99"}):
        try:
            plan = read_object(each)
            result = evaluate(plan)
        except (DocumentInvalid, PlanRefused):
            continue
        texts = DocumentText.of(plan).structures
        written = written_explanations(result, texts, known=known)
        assert written == written_explanations(result, texts, known=KnownExplanations())
        assert written.text.encode() == _one_by_one(result)


def test_only_changed_structures_are_explained_again(monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[int] = []

    def counted(result: PlanResult, index: int) -> list[Explanation]:
        explained.append(index)
        return explain_structure(result, index)

    monkeypatch.setattr(explanations, "explain_structure", counted)
    known = KnownExplanations()

    def explain(**changes: Any) -> list[int]:  # noqa: ANN401
        explained.clear()
        plan = read_object({**varied(structures__1={"name": "APP2"}), **changes})
        written_explanations(evaluate(plan), DocumentText.of(plan).structures, known=known)
        return [*explained]

    structures = varied(structures__1={"name": "APP2", "queues": [QUEUE]})["structures"]
    # CSQ_ADMIN, APP1, APP2 and CSQSYSAPPL
    assert explain() == [0, 1, 2, 3]
    assert explain() == []
    assert explain(structures=structures) == [2]
    assert explain(acknowledged=[{"code": "NO_WHITE_SPACE", "reason": "known"}]) == []
    assert explain(growth={"percent_per_year": 10, "years": 1}) == [0, 1, 2, 3]
    assert explain(structures=structures[::-1]) == [1, 2]


def test_explanations_of_fitted_curves_are_kept_apart() -> None:
    known, plan = KnownExplanations(), read_object({**varied(), "curve": {"fitted": 3}})
    texts = DocumentText.of(plan).structures
    for fit in (BUNDLE, TWO_COSTS, BUNDLE):
        result = evaluate(plan, curve=fitted_curve(version=3, fit=fit))
        assert written_explanations(result, texts, known=known).text.encode() == _one_by_one(result)


def test_kept_explanations_are_limited_in_memory() -> None:
    known, plan = KnownExplanations(most_bytes=0), read_object(varied())
    result, texts = evaluate(plan), DocumentText.of(plan).structures
    assert written_explanations(result, texts, known=known).text.encode() == _one_by_one(result)
    assert not known._found


def test_contents_that_tests_keep_are_the_computed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    once = ComputedOnce()
    plans = [read_object(example.document) for example in examples().values()]
    for plan in plans * 2:
        assert once.compute(plan, DocumentText.of(plan), no_curves) == compute_really(
            plan, DocumentText.of(plan), no_curves
        )
    monkeypatch.setattr(
        computed, "evaluate", lambda document, _: replace(evaluate(document), core_version="99.0")
    )
    assert {once.compute(plan, DocumentText.of(plan), no_curves).core_version for plan in plans} == {"99.0"}
