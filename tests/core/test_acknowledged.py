"""Findings that the planners accept, with their reasons."""

from __future__ import annotations

import pytest

from planner_core.errors import DocumentInvalid
from planner_core.plan import evaluate
from tests.core.plans import findings_of, plan

PATH: dict[str, object] = {"structures__0__offload": {}}


def test_an_acknowledged_warning_carries_its_reason() -> None:
    found = findings_of(
        **PATH, acknowledged=[{"code": "DSGROUP_MISSING", "reason": "defined by the storage team"}]
    )

    assert found["DSGROUP_MISSING"].acknowledged == "defined by the storage team"
    assert found["DSGROUP_MISSING"].severity == "warning"
    assert "ACKNOWLEDGEMENT_UNUSED" not in found


def test_it_is_for_the_named_structure_only() -> None:
    accepted = {"code": "DSGROUP_MISSING", "structure": "OTHER", "reason": "x"}

    found = findings_of(**PATH, acknowledged=[accepted])

    assert found["DSGROUP_MISSING"].acknowledged is None
    assert found["ACKNOWLEDGEMENT_UNUSED"].field == "/acknowledged/0"


def test_an_error_is_not_accepted() -> None:
    found = findings_of(
        structures__0__recover=False, acknowledged=[{"code": "PERSISTENT_NEEDS_RECOVER", "reason": "x"}]
    )

    assert found["PERSISTENT_NEEDS_RECOVER"].acknowledged is None
    assert "ACKNOWLEDGEMENT_UNUSED" in found


@pytest.mark.parametrize("reason", ["", "   ", "a\nb", "a\x00b", "x" * 501, 5, None])
def test_a_reason_is_a_sentence_on_one_line(reason: object) -> None:
    with pytest.raises(DocumentInvalid) as caught:
        plan(acknowledged=[{"code": "DSGROUP_MISSING", "reason": reason}])

    assert caught.value.problems[0].field == "/acknowledged/0/reason"


def test_a_reason_appears_in_no_output() -> None:
    from planner_core.outputs import OUTPUT_KINDS, render_output

    document = plan(**PATH, acknowledged=[{"code": "DSGROUP_MISSING", "reason": ") /* SIZE(1) ZZZ"}])
    result = evaluate(document)

    for kind in OUTPUT_KINDS:
        if kind != "job":
            assert "ZZZ" not in render_output(kind, result).text
