"""The texts that are stored with a version, computed from its document."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from pydantic_core import to_json

from app.fits.kept import no_curves
from app.plans import computed
from app.plans.computed import canonical, compute
from app.sizing.examples import examples
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from tests.computed_plans import ComputedOnce, compute_really
from tests.planner_core.plans import documents


@given(documents())
def test_stored_explanations_equal_those_written_one_by_one(document: dict[str, Any]) -> None:
    plan = read_object(document)
    written = (to_json(each.figure) + b":" + each.json_bytes() for each in explain_result(evaluate(plan)))
    expected = b"{" + b",".join(written) + b"}"
    contents = compute(plan, no_curves)
    assert contents.explanations.text.encode() == expected
    # Equal documents have equal contents: tests compute them once.
    again = read_object(document)
    assert compute_really(again, canonical(again), no_curves) == contents


def test_contents_that_tests_keep_are_the_computed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    once = ComputedOnce()
    plans = [read_object(example.document) for example in examples().values()]
    for plan in plans * 2:
        assert once.compute(plan, canonical(plan), no_curves) == compute_really(
            plan, canonical(plan), no_curves
        )
    monkeypatch.setattr(
        computed, "evaluate", lambda document, _: replace(evaluate(document), core_version="99.0")
    )
    assert {once.compute(plan, canonical(plan), no_curves).core_version for plan in plans} == {"99.0"}
