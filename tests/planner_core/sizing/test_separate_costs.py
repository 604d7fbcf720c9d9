"""Plans at ratios other than 1:6: the assumed costs of entries and elements, and those derived from CSQ_ADMIN."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from planner_core.document.reading import read_object
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.plan.result import PlanResult
from planner_core.provenance import Basis
from planner_core.sizing.offload_question import offload_answer
from planner_core.units import GIB
from tests.planner_core.calculator import recalculate
from tests.planner_core.plans import varied

RATIO = "structures__0__entry_to_element_ratio"


def _plan(**paths: Any) -> PlanResult:  # noqa: ANN401 - any JSON value
    return evaluate(read_object(varied(**paths)))


def _need(result: PlanResult) -> int:
    return result.structures[1].sizes.need_bytes


def _cost_findings(result: PlanResult) -> list[Finding]:
    return [each for each in result.findings if each.code.startswith("ENTRY_ELEMENT_COST_")]


# 100 000 messages of 1024 bytes: 100 000 entries, 600 000 elements. At CFCC 25, base 22 MiB = 23 068 672 bytes.
def test_default_keeps_the_assumed_costs() -> None:
    # 300 000 entries of 660.48 with 600 000 elements of 256 bytes.
    assert _need(_plan(**{RATIO: [1, 2]})) == 23_068_672 + 300_000 * 660.48 + 600_000 * 256


def test_derived_costs_are_used_if_the_plan_states_them() -> None:
    # 300 000 entries of 318.36 with 600 000 elements of 313.02 bytes.
    result = _plan(separate_costs="derived", **{RATIO: [1, 2]})
    assert _need(result) == 23_068_672 + 300_000 * 318.36 + 600_000 * 313.02


def test_derived_costs_change_nothing_at_1_6() -> None:
    assert _need(_plan(separate_costs="derived")) == _need(_plan())
    assert _cost_findings(_plan(separate_costs="derived")) == []


@pytest.mark.parametrize(("elements", "direction"), [(2, "less"), (20, "more")])
def test_finding_states_the_need_with_the_derived_costs(elements: int, direction: str) -> None:
    assumed, derived = (
        _plan(separate_costs=costs, **{RATIO: [1, elements]}) for costs in ("assumed", "derived")
    )
    (said,) = _cost_findings(assumed)
    change = abs(Fraction(_need(derived), _need(assumed)) - 1) * 100
    assert f"the need would be {_need(derived) / 2**20:,.1f} MiB instead of" in said.message
    assert f"({float(change):.1f} % {direction})" in said.message


def test_finding_on_derived_costs_states_the_need_with_the_assumed_ones() -> None:
    assumed, derived = (_plan(separate_costs=costs, **{RATIO: [1, 2]}) for costs in ("assumed", "derived"))
    (said,) = _cost_findings(derived)
    assert said.code == "ENTRY_ELEMENT_COST_DERIVED"
    assert f"the need would be {_need(assumed) / 2**20:,.1f} MiB instead of" in said.message


def test_explanations_of_derived_costs_can_be_recalculated() -> None:
    result = _plan(separate_costs="derived", **{RATIO: [1, 12]})
    explained = {each.figure: each for each in explain_result(result)}
    need = explained["/structures/1/need_bytes"]
    assert need.basis is Basis.DERIVED
    (cost,) = (each for each in need.inputs if each.name == "element_cost_bytes")
    assert cost.value == Fraction("313.02")
    assert cost.source is not None
    assert "CSQ_ADMIN" in str(cost.source)
    assert recalculate(need.as_json()) == _need(result)


def test_altered_ratio_states_the_messages_with_the_derived_costs() -> None:
    answer = offload_answer(Fraction(4 * GIB), message_bytes=1024, rules=(), cfcc_level=25, auto_alter=True)
    (said,) = (each for each in answer.findings if each.code == "ENTRY_ELEMENT_COST_ASSUMED")
    # One entry with six elements costs the same in both: the numbers of messages are equal.
    assert (
        f"it would hold {answer.figures['capacity']} messages instead of {answer.figures['capacity']}"
        in said.message
    )
