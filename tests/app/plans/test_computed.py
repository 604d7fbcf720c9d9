"""The texts that are stored with a version, computed from its document."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from pydantic_core import to_json

from app.fits.kept import no_curves
from app.plans.computed import compute
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from tests.planner_core.plans import documents


@given(documents())
def test_stored_explanations_equal_those_written_one_by_one(document: dict[str, Any]) -> None:
    plan = read_object(document)
    written = (to_json(each.figure) + b":" + each.json_bytes() for each in explain_result(evaluate(plan)))
    expected = b"{" + b",".join(written) + b"}"
    assert compute(plan, no_curves).explanations.text.encode() == expected
