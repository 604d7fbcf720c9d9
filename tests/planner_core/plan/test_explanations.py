"""Comparison of every figure of a result with its explanation, calculated independently."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result, plan_answer
from planner_core.sizing.admin_structure import admin_need, explain_admin
from planner_core.sizing.offload import Rule, default_rules
from planner_core.sizing.offload_question import offload_answer
from planner_core.sizing.structure_size import (
    explain_backlog,
    explain_messages,
    messages_that_fit,
    published_curve,
)
from tests.planner_core.calculator import calculate, recalculate
from tests.planner_core.plans import BASE, documents, varied

# What the document said or which table was taken: echoed, not computed.
ECHOED = re.compile(
    r"/(queue_managers|cfcc_level|curve/cfcc_(from|to)|curve/entry_to_element_ratio/\d)"
    r"|/structures/\d+/offload_steps/\d/(threshold|size_bytes)"
    r"|/finding_groups/\d+/count"
)


def numbers(value: Any, at: str = "") -> Iterator[tuple[str, int | float]]:  # noqa: ANN401
    """Yield every number in a JSON value, with its pointer."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield at, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, f"{at}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from numbers(item, f"{at}/{index}")


def check(document: dict[str, Any], *, depths: bool = False) -> int:
    """Compare every figure of the plan with its explanation, and return the number of figures."""
    result = plan_answer(evaluate(read_object(document)), depths=depths, explain=True).as_json()
    explanations: Any = result.pop("explanations")
    compared = 0
    for at, figure in numbers(result):
        if ECHOED.fullmatch(at):
            continue
        assert at in explanations, f"{at} = {figure} has no explanation"
        again = recalculate(explanations[at])
        assert again == Fraction(str(explanations[at]["value"])), at
        assert again == Fraction(str(figure)) or abs(again - Fraction(str(figure))) < Fraction(1, 10**6), at
        compared += 1
    unused = set(explanations) - {at for at, _ in numbers(result)}
    assert not unused
    return compared


def test_every_figure_of_a_plan_equals_its_explanation() -> None:
    assert check(BASE) > 30


def test_figures_with_offload_growth_and_ratio_equal_their_explanations() -> None:
    queues = [
        {
            "name": "A",
            "message_bytes": {"mean": 3500, "p95": 12000, "max": 90000},
            "put_rate_per_s": 40,
            "outage_minutes": 90,
        },
        {"name": "B", "message_bytes": 20000, "backlog": 5000},
        {"name": "C", "message_bytes": 70000, "backlog": 300},
    ]
    check(
        varied(
            growth={"percent_per_year": 12.5, "years": 3},
            structures__0__queues=queues,
            structures__0__size_with_offload=True,
            structures__0__entry_to_element_ratio=[2, 21],
        )
    )


@settings(max_examples=150, deadline=None)
@given(documents())
def test_every_figure_of_any_plan_equals_its_explanation(document: dict[str, Any]) -> None:
    check(document)


@pytest.mark.parametrize("cfcc", [14, 21, 25])
@pytest.mark.parametrize("message_bytes", [0, 1024, 1165, 64512, 64513])
def test_answers_on_single_structures_equal_their_explanations(cfcc: int, message_bytes: int) -> None:
    curve = published_curve(cfcc_level=cfcc).curve
    for item in explain_backlog(messages=12345, message_bytes=message_bytes, curve=curve):
        assert recalculate(item.as_json()) == Fraction(str(item.as_json()["value"])), item.figure
    explained = explain_messages("/messages", size_bytes=2**30, message_bytes=message_bytes, curve=curve)
    assert recalculate(explained.as_json()) == messages_that_fit(
        2**30, message_bytes=message_bytes, curve=curve
    )
    for item in explain_admin(admin_need(queue_managers=7, cfcc_level=cfcc)):
        assert recalculate(item.as_json()) == Fraction(str(item.as_json()["value"])), item.figure


@pytest.mark.parametrize("auto_alter", [False, True])
@pytest.mark.parametrize(
    "rules", [default_rules(), (), (Rule(0, 4096), Rule(50, 0)), (Rule(80, 0), Rule(30, 32768))]
)
@pytest.mark.parametrize("message_bytes", [100, 1024, 2048, 40000, 64513])
def test_offload_answer_equals_its_explanation(
    message_bytes: int, rules: tuple[Rule, ...], auto_alter: bool
) -> None:
    answer = offload_answer(
        Fraction(2**29), message_bytes=message_bytes, rules=rules, cfcc_level=25, auto_alter=auto_alter
    )
    by_figure = {item.figure: recalculate(item.as_json()) for item in answer.explanations}
    assert by_figure["/capacity"] == answer.figures["capacity"]
    assert by_figure["/capacity_without_offload"] == answer.figures["capacity_without_offload"]
    steps: Any = answer.figures["steps"]
    for number, step in enumerate(steps):
        assert by_figure[f"/steps/{number}/at_messages"] == step["at_messages"]


def test_calculator_detects_a_wrong_formula() -> None:
    assert calculate("ceil(7 / 2) + round_up(5, 4) - floor(7 / 2) * min(1, 2)", {}) == 4 + 8 - 3
    with pytest.raises(AssertionError):
        recalculate({"inputs": [], "steps": [{"name": "a", "formula": "1 + 1", "value": 3}], "formula": "a"})


def test_explanations_mark_assumed_numbers() -> None:
    result = plan_answer(evaluate(read_object(varied(cfcc_level=21))), explain=True).as_json()
    explanations: Any = result["explanations"]
    assert explanations["/structures/1/need_bytes"]["basis"] == "assumed"
    assert explanations["/curve/base_bytes"]["basis"] == "assumed"
    for item in explanations.values():
        for given_input in item["inputs"]:
            assert (
                given_input["basis"] == "given"
                or given_input["basis"] == "derived"
                or given_input["source"]
                or given_input["name"].startswith("bytes_per")
                or given_input["name"] in FIGURES
            ), given_input


FIGURES = {"need_bytes", "initsize_bytes", "size_bytes"} | {
    f"{key}_{number}" for key in ("initsize_kib", "size_kib") for number in (1, 2, 3)
}
FIGURES |= {"planned_initsize_kib", "planned_size_kib", "second_copies_kib", "second_copies_size_kib"}
"""Inputs that are explained themselves, by the figure of that name."""


@settings(max_examples=40)
@given(documents())
def test_basis_of_a_figure_is_the_weakest_of_its_inputs(document: dict[str, Any]) -> None:
    trust = ["given", "published", "read_off_chart", "derived", "assumed"]
    explanations: Any = plan_answer(evaluate(read_object(document)), explain=True).as_json()["explanations"]
    for figure, item in explanations.items():
        text = " ".join([item["formula"], *(step["formula"] for step in item["steps"])])
        used = {i["basis"] for i in item["inputs"] if re.search(rf"\b{i['name']}\b", text)}
        if item["basis"] != "given":
            assert trust.index(item["basis"]) >= max(map(trust.index, used), default=0), figure
    for index in range(len(document.get("structures", [])) + 1):
        need = explanations.get(f"/structures/{index}/need_bytes")
        size = explanations[f"/structures/{index}/initsize_kib"]
        if need and size["basis"] != "given":
            assert trust.index(size["basis"]) >= trust.index(need["basis"])


@pytest.mark.parametrize("minsize", [None, "1K", "600M"])
def test_explanation_of_initsize_includes_a_given_minsize(minsize: str | None) -> None:
    result = plan_answer(
        evaluate(read_object(varied(structures__0__minsize=minsize))), explain=True
    ).as_json()
    explanations: Any = result["explanations"]
    structures: Any = result["structures"]
    assert recalculate(explanations["/structures/1/initsize_kib"]) == structures[1]["initsize_kib"]


@pytest.mark.parametrize("auto_alter", [False, True])
@pytest.mark.parametrize("message_bytes", [100, 2048, 40000, 64513])
@pytest.mark.parametrize("hold", [0, 1000, 200_000])
def test_reserve_equals_its_explanation(message_bytes: int, hold: int, auto_alter: bool) -> None:
    answer = offload_answer(
        Fraction(2**29),
        message_bytes=message_bytes,
        rules=(),
        cfcc_level=25,
        auto_alter=auto_alter,
        hold_messages=hold,
    )
    by_figure = {item.figure: recalculate(item.as_json()) for item in answer.explanations}
    reserve: Any = answer.figures["reserve"]
    for name in ("reserved_bytes", "highest_threshold", "highest_threshold_by_pools"):
        assert by_figure.get(f"/reserve/{name}") == reserve[name], name
    assert float(by_figure["/bytes_per_offloaded_message"]) == answer.figures["bytes_per_offloaded_message"]
    assert by_figure["/ibm_bytes_per_offloaded_message"] == answer.figures["ibm_bytes_per_offloaded_message"]


@pytest.mark.parametrize("auto_alter", [False, True])
@pytest.mark.parametrize(("message_bytes", "hold"), [(2048, 100_000), (1024, 60_000), (20_000, 150_000)])
def test_highest_threshold_by_pools_is_the_highest_that_holds_the_reserve(
    message_bytes: int, hold: int, auto_alter: bool
) -> None:
    def offloaded(threshold: int) -> int:
        figures: Any = offload_answer(
            Fraction(2**29),
            message_bytes=message_bytes,
            rules=(Rule(threshold, 0),),
            cfcc_level=25,
            auto_alter=auto_alter,
            hold_messages=hold,
        ).figures
        highest.add(figures["reserve"]["highest_threshold_by_pools"])
        return int(figures["capacity"] - figures["steps"][0]["at_messages"])

    highest: set[int] = set()
    offloaded(50)
    (threshold,) = highest
    assert offloaded(threshold) >= hold > offloaded(threshold + 1)


def test_explanations_without_details_lack_only_entries_elements_and_depth_events() -> None:
    result = evaluate(read_object(BASE))
    complete = {each.figure: each for each in explain_result(result)}
    found = {each.figure: each for each in explain_result(result, details=False)}
    assert found == {
        figure: each
        for figure, each in complete.items()
        if "/depth_events/" not in figure
        # Those of CSQ_ADMIN are inputs of its size.
        and (not figure.endswith(("/entries", "/elements")) or figure.startswith("/structures/0/"))
    }
    assert len(found) < len(complete)
