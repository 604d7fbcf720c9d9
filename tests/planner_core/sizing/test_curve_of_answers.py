"""A curve fitted to sizing answers sizes plans with separate costs and the cost of SIZE, or refuses them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.contracts.fits import CurveFit, Estimate, SizingAnswers
from planner_core.document.reading import read_object
from planner_core.errors import PlanRefused
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.sizing.fitted import fit_of_answers, fitted_curve
from planner_core.sizing.sizing_points import NotSeparable, PointResidual, PointsFit, SizingPoint
from planner_core.sizing.structure_size import Curve
from planner_core.units import MIB, round_up
from tests.planner_core.calculator import recalculate
from tests.planner_core.plans import documents, varied
from tests.planner_core.sizing.test_fitted import TWO_COSTS, check_explanations

SOURCE = "z/OSMF CF Sizing (z/OS 3.1), 12 points, measured by J. Doe, 2026-11-03"
ANSWERS = replace(
    TWO_COSTS,
    coupling_facility=None,
    base_bytes=Estimate(20_000_000.0, 19_000_000.0, 21_000_000.0),
    answers=SizingAnswers(sources=(SOURCE,), size_cost=Estimate(0.015625, 0.0155, 0.0158)),
)
"""Separate costs of entries, elements and SIZE."""
ONE_RATIO = replace(
    ANSWERS,
    kind="bundle",
    entry_bytes=None,
    element_bytes=None,
    answers=SizingAnswers(
        sources=(SOURCE,), size_multiple=1.5, not_separable=("The points have the ratio 1:6 only.",)
    ),
)
"""Answers at one ratio, with the same SIZE for each INITSIZE."""


def curve_of(fit: CurveFit) -> Curve:
    return fitted_curve(version=17, fit=fit)


def refusal(fit: CurveFit, **changes: Any) -> tuple[str, str | None, str]:  # noqa: ANN401 - any JSON value
    with pytest.raises(PlanRefused) as refused:
        evaluate(read_object(varied(curve={"fitted": 17}, **changes)), curve=curve_of(fit))
    (item,) = refused.value.findings
    return item.code, item.field, item.message


def test_need_includes_the_control_storage_of_the_stated_size() -> None:
    document = varied(curve={"fitted": 17}, structures__0__size="1G", structures__0__initsize="400M")
    structure = evaluate(read_object(document), curve=curve_of(ANSWERS)).structures[1]
    # 100 000 messages of 1024 bytes: six elements each. 612.125 + 6 x 271.5 bytes, and a 64th of 1 GiB.
    assert structure.sizes.need_bytes == 20_000_000 + 2**30 // 64 + 224_112_500


def test_ratio_is_sized_with_the_separate_costs() -> None:
    document = varied(
        curve={"fitted": 17},
        structures__0__size="1G",
        structures__0__entry_to_element_ratio=[1, 2],
        structures__0__queues__0__message_bytes=100,
    )
    result = evaluate(read_object(document), curve=curve_of(ANSWERS))
    # (100 + 372) / 256 are two elements.
    assert result.structures[1].sizes.need_bytes == 20_000_000 + 2**30 // 64 + 61_212_500 + 54_300_000
    assert "ENTRY_ELEMENT_COST_ASSUMED" not in {each.code for each in result.findings}


@settings(max_examples=60, deadline=None)
@given(documents())
def test_size_and_the_control_storage_for_it_agree(document: dict[str, Any]) -> None:
    plan = read_object(document)
    plain = replace(ANSWERS, answers=None)
    for without, structure in zip(
        evaluate(plan, curve=curve_of(plain)).structures,
        evaluate(plan, curve=curve_of(ANSWERS)).structures,
        strict=True,
    ):
        if structure.role == "admin":
            assert structure.sizes == without.sizes
            continue
        curve, sizes = structure.curve, structure.sizes
        assert curve.policy_size_bytes == sizes.size_bytes
        assert curve.base == 20_000_000 + Fraction(sizes.size_bytes, 64)
        # Sizes are whole numbers of K, so a 64th of them is a whole number of bytes.
        assert sizes.need_bytes == without.sizes.need_bytes + sizes.size_bytes // 64


def test_computed_size_is_the_smallest_that_includes_its_own_controls() -> None:
    result = evaluate(read_object(varied(curve={"fitted": 17}, size_factor=2)), curve=curve_of(ANSWERS))
    sizes = result.structures[1].sizes
    assert sizes.size_bytes == 2 * sizes.initsize_bytes
    backlog = sizes.wanted_bytes - 20_000_000 - sizes.size_bytes // 64
    for smaller in range(0, sizes.size_bytes, 2 * MIB):
        initsize = round_up(20_000_000 + smaller // 64 + backlog, multiple=MIB)
        assert 2 * initsize > smaller, "a smaller SIZE does not fit its own INITSIZE"


@settings(max_examples=40, deadline=None)
@given(documents())
def test_figures_on_a_curve_of_answers_equal_their_explanations(document: dict[str, Any]) -> None:
    assert check_explanations(document, ANSWERS) > 10


def test_explanations_name_the_origin_of_the_points_and_the_cost_of_size() -> None:
    result = evaluate(
        read_object(varied(curve={"fitted": 17}, structures__0__size="1G")), curve=curve_of(ANSWERS)
    )
    need = {each.figure: each for each in explain_result(result)}["/structures/1/need_bytes"].as_json()
    assert recalculate(need) == result.structures[1].sizes.need_bytes
    inputs = {each["name"]: each for each in need["inputs"]}
    assert inputs["fitted_size_cost"]["source"] == f"fitted to sizing answers, version 17, {SOURCE}"
    assert inputs["fitted_base_bytes"]["value"] == 20_000_000
    assert inputs["policy_size_bytes"]["value"] == 2**30
    base = {each.figure: each for each in explain_result(result)}["/curve/base_bytes"]
    assert base.value == 20_000_000, "the curve of the plan has no SIZE"


def test_finding_names_the_points_and_the_cost_of_size() -> None:
    findings = evaluate(read_object(varied(curve={"fitted": 17})), curve=curve_of(ANSWERS)).findings
    (item,) = (each for each in findings if each.code == "FITTED_CURVE_IN_USE")
    for part in (
        f"curve 17, fitted to sizing answers for CFCC level 25: {SOURCE}. Base 19.1 MiB",
        "0.01562 bytes (0.0155 to 0.0158) of control storage for each byte of SIZE",
    ):
        assert part in item.message
    (controls,) = (each for each in findings if each.code == "SIZE_CONTROLS_NOT_KNOWN")
    assert "SIZE is above INITSIZE for CSQ_ADMIN:" in controls.message
    assert "Curve 17 does not change the published size of CSQ_ADMIN" in controls.message


def test_ratio_that_the_points_do_not_cover_is_refused() -> None:
    code, field, message = refusal(ONE_RATIO, structures__0__entry_to_element_ratio=[1, 2])
    assert (code, field) == ("CURVE_CANNOT_SUPPORT_PLAN", "/structures/0/entry_to_element_ratio")
    assert (
        "APP1 has the entry-to-element ratio 1:2, but the sizing answers of curve 17 are at 1:6 only"
        in message
    )
    same = varied(curve={"fitted": 17}, structures__0__entry_to_element_ratio=[2, 12])
    assert evaluate(read_object(same), curve=curve_of(ONE_RATIO)).structures


def test_size_above_the_multiple_of_the_points_is_refused() -> None:
    code, field, message = refusal(ONE_RATIO, structures__0__initsize="400M", structures__0__size="602M")
    assert (code, field) == ("CURVE_CANNOT_SUPPORT_PLAN", "/size_factor")
    assert "have SIZE 1.5 times INITSIZE, but APP1 has SIZE 602M and INITSIZE 400M" in message
    # SIZE of points and plans is rounded to the storage increment of 1 MiB.
    covered = varied(curve={"fitted": 17}, structures__0__initsize="400M", structures__0__size="601M")
    assert evaluate(read_object(covered), curve=curve_of(ONE_RATIO)).structures
    same_size = SizingAnswers(sources=(SOURCE,), largest_size_bytes=500 * MIB)
    _, _, message = refusal(replace(ONE_RATIO, answers=same_size), structures__0__size="502M")
    assert "have SIZE 500M, but APP1 has SIZE 502M" in message
    # A curve of allocations keeps its finding instead.
    allocations = replace(ONE_RATIO, coupling_facility="CF01", answers=None)
    assert evaluate(read_object(varied(structures__0__size="2G")), curve=curve_of(allocations)).structures


@pytest.mark.parametrize(("cost", "is_refused"), [(0.3, False), (0.34, True)])
def test_size_that_takes_most_of_initsize_is_refused(cost: float, is_refused: bool) -> None:
    costly = replace(ANSWERS, answers=SizingAnswers(sources=(SOURCE,), size_cost=Estimate(cost, cost, cost)))
    if is_refused:
        code, field, message = refusal(costly)
        assert (code, field) == ("CURVE_CANNOT_SUPPORT_PLAN", "/size_factor")
        assert "With SIZE 1.5 times INITSIZE, that is 51 % of INITSIZE" in message
        return
    sizes = evaluate(read_object(varied(curve={"fitted": 17})), curve=curve_of(costly)).structures[1].sizes
    assert sizes.size_bytes > sizes.initsize_bytes


def point(**given: Any) -> SizingPoint:  # noqa: ANN401 - any field
    return SizingPoint(
        **{
            "cfcc_level": 26,
            "structure_type": "application",
            "entry_ratio": 1,
            "element_ratio": 6,
            "size_bytes": 200 * MIB,
            "initsize_bytes": 100 * MIB,
            "entries": 1000,
            "elements": 6000,
            "origin": "zosmf",
            "measured_on": date(2026, 11, 3),
            **given,
        }
    )


def test_fit_of_points_becomes_a_fit_that_plans_can_name() -> None:
    points = [
        point(),
        point(size_bytes=300 * MIB, initsize_bytes=200 * MIB, measured_on=None),
        point(entries=9),
    ]
    found = PointsFit(
        state="fitted",
        cfcc_level=26,
        kind="application",
        increment_bytes=MIB,
        method="rounding",
        confidence=1.0,
        base_bytes=Estimate(1000.12345, 900.0, 1100.0),
        bundle_bytes=Estimate(2000.0, 1999.0, 2001.0),
        not_separable=(NotSeparable(figures=("entry", "element"), why="One ratio.", used="The bundle."),),
        residuals=(
            PointResidual(point=0, fitted_bytes=1.0, residual_bytes=300.0, beyond_rounding_bytes=0.0),
            PointResidual(point=1, fitted_bytes=2.0, residual_bytes=-500.0, beyond_rounding_bytes=0.0),
            PointResidual(
                point=2, fitted_bytes=3.0, residual_bytes=9e6, beyond_rounding_bytes=8e6, left_out="too far"
            ),
        ),
        points_used=2,
    )
    fit = fit_of_answers(found, points, labels=("A", "B", "C"), sources=(SOURCE,), today=date(2026, 11, 27))
    assert (fit.state, fit.kind, fit.cfcc_level, fit.confidence) == ("fitted", "bundle", 26, 1.0)
    assert fit.base_bytes == Estimate(1000.123, 900.0, 1100.0)
    assert (fit.first_day, fit.last_day) == (date(2026, 11, 3), date(2026, 11, 27))
    assert [(each.structure, each.left_out) for each in fit.points] == [
        ("A", None),
        ("B", None),
        ("C", "too far"),
    ]
    assert fit.residuals is not None
    assert (fit.residuals.deviation_bytes, fit.residuals.largest_bytes) == (400.0, 500.0)
    assert fit.answers is not None
    assert fit.answers.size_multiple == 1.5, "the smallest of the used points"
    assert fit.answers.not_separable == ("One ratio. The bundle.",)
    assert fitted_curve(version=3, fit=fit).bundle == 2000
    same = [replace(each, size_bytes=400 * MIB) for each in points]
    of_same = fit_of_answers(found, same, labels=("A", "B", "C"), sources=(SOURCE,), today=date(2026, 11, 27))
    assert of_same.answers is not None
    assert (of_same.answers.size_multiple, of_same.answers.largest_size_bytes) == (None, 400 * MIB)


def test_fit_without_answers_has_no_member_for_them() -> None:
    assert "answers" not in TWO_COSTS.as_json()
    assert curve_of(TWO_COSTS).at_size(2**40) == curve_of(TWO_COSTS)
