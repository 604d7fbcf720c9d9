"""Points of sizing services: their groups, impossible values, and the fitted line."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from bench.sizing_points import CASES, FIGURES, Case, recovered
from planner_core.checks.sizing_points import check_points_fit
from planner_core.contracts.fits import Estimate
from planner_core.sizing.sizing_points import (
    MixedPoints,
    SizingPoint,
    costs_at,
    fit_points,
    grouped,
    point_problems,
    unrounded_between,
)
from planner_core.units import KIB, MIB, ceil_fraction, format_size, round_up

POINT = SizingPoint(
    cfcc_level=25,
    structure_type="application",
    entry_ratio=1,
    element_ratio=6,
    size_bytes=200 * MIB,
    initsize_bytes=100 * MIB,
    entries=30_000,
    elements=180_000,
    origin="zosmf",
)


def test_points_are_grouped_by_level_and_kind() -> None:
    system = replace(POINT, structure_type="system")
    admin = replace(POINT, structure_type="admin")
    older = replace(POINT, cfcc_level=24)
    assert grouped([POINT, admin, system, older]) == {
        (25, "application"): (POINT, system),
        (25, "admin"): (admin,),
        (24, "application"): (older,),
    }


def test_mixed_points_are_refused() -> None:
    with pytest.raises(MixedPoints):
        fit_points([POINT, replace(POINT, structure_type="admin")])


def test_missing_count_follows_from_the_ratio() -> None:
    assert replace(POINT, elements=None).counts == POINT.counts
    assert replace(POINT, entries=None).counts == POINT.counts


def test_possible_point_has_no_problems() -> None:
    assert point_problems(POINT) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("entry_ratio", 0),
        ("element_ratio", 0),
        ("size_bytes", 0),
        ("initsize_bytes", 201 * MIB),
        ("entries", 0),
    ],
)
def test_impossible_value_is_reported_with_its_field(field: str, value: int) -> None:
    wrong = replace(POINT, **{field: value})  # type: ignore[arg-type]
    assert field in {name for name, _ in point_problems(wrong)}


def test_point_without_counts_is_reported() -> None:
    assert [name for name, _ in point_problems(replace(POINT, entries=None, elements=None))] == ["entries"]


# Fits: the figures and what the points cannot separate.

BASE, ENTRY, ELEMENT, SIZE_COST = 20 * MIB, 400, 300, Fraction(1, 100)


def _point(
    entries: int, elements_per_entry: int, *, multiple: Fraction = Fraction(1), level: int = 25
) -> SizingPoint:
    """Return the answer for a coupling facility with the costs above."""
    increment = MIB if level > 15 else 256 * KIB
    counts = BASE + entries * (ENTRY + elements_per_entry * ELEMENT)
    size = round_up(ceil_fraction(counts * multiple / (1 - SIZE_COST * multiple)), multiple=increment)
    initsize = round_up(ceil_fraction(counts + SIZE_COST * size), multiple=increment)
    return replace(
        POINT,
        cfcc_level=level,
        element_ratio=elements_per_entry,
        entries=entries,
        elements=entries * elements_per_entry,
        size_bytes=max(size, initsize),
        initsize_bytes=initsize,
    )


ONE_RATIO = [_point(count, 6) for count in (3000, 20_000, 400_000, 5_000_000)]
TWO_RATIOS = [*ONE_RATIO, *(_point(count, 2) for count in (3000, 20_000, 400_000, 5_000_000))]
TWO_MULTIPLES = [
    *TWO_RATIOS,
    *(_point(count, 6, multiple=Fraction(2)) for count in (3000, 400_000, 5_000_000)),
    *(_point(count, 2, multiple=Fraction(3, 2)) for count in (20_000, 5_000_000)),
]


def _holds(estimate: Estimate | None, true: float) -> bool:
    assert estimate is not None
    assert estimate.low <= estimate.value <= estimate.high
    return estimate.low <= true <= estimate.high


def test_two_ratios_and_two_multiples_separate_all_figures() -> None:
    fit = fit_points(TWO_MULTIPLES)
    assert (fit.state, fit.method, fit.confidence) == ("fitted", "rounding", 1.0)
    assert fit.not_separable == ()
    assert _holds(fit.base_bytes, BASE)
    assert _holds(fit.entry_cost_bytes, ENTRY)
    assert _holds(fit.element_cost_bytes, ELEMENT)
    assert _holds(fit.bundle_bytes, ENTRY + 6 * ELEMENT)
    assert _holds(fit.size_cost, float(SIZE_COST))
    assert all(each.beyond_rounding_bytes == 0 for each in fit.residuals)


def test_one_ratio_leaves_entry_and_element_together() -> None:
    fit = fit_points(ONE_RATIO)
    assert fit.entry_cost_bytes is None
    assert fit.element_cost_bytes is None
    assert fit.ratio == (1, 6)
    together = fit.not_separable[0]
    assert together.figures == ("entry", "element")
    assert together.why == "All points have the ratio 1:6."
    # The control storage for SIZE is in all figures.
    assert _holds(fit.bundle_bytes, (ENTRY + 6 * ELEMENT) / 0.99)


def test_single_point_at_a_second_ratio_is_left_out() -> None:
    fit = fit_points([*ONE_RATIO, _point(400_000, 2)])
    assert fit.points_used == 4
    assert fit.residuals[-1].left_out == "Another ratio, with too few points to separate the costs."
    assert "nothing checks it" in fit.not_separable[0].why


def test_point_that_is_left_out_is_named_with_its_figures() -> None:
    points = [_point(count, 6) for count in (3000, 20_000, 100_000, 400_000, 1_000_000)]
    points[2] = replace(points[2], entries=200_000, elements=1_200_000)
    fit = fit_points(points)
    size = format_size(points[2].initsize_bytes)
    (found,) = (each for each in check_points_fit(fit, points) if each.code == "SIZING_POINTS_LEFT_OUT")
    assert found.message.startswith(
        "1 point is not in the fit. Contradicts the other points. point 3 (200000 entries, 1200000 elements, "
        f"SIZE {size}, INITSIZE {size}; "
    )
    labels = [f"answer {number}" for number in range(5)]
    assert any("answer 2 (" in each.message for each in check_points_fit(fit, points, labels=labels))


def test_wrong_point_among_too_few_to_find_it_is_reported() -> None:
    points = [_point(count, 6) for count in (3000, 20_000, 100_000, 400_000)]
    assert "SIZING_POINTS_NOT_ON_LINE" not in {
        each.code for each in check_points_fit(fit_points(points), points)
    }
    # Entries that are twice as many as the answer has: the base falls by several MiB.
    points[0] = replace(points[0], entries=6000, elements=36_000)
    fit = fit_points(points)
    assert (fit.method, fit.points_used) == ("least_squares", 4)
    (found,) = (each for each in check_points_fit(fit, points) if each.code == "SIZING_POINTS_NOT_ON_LINE")
    assert found.severity == "warning"
    assert "Farthest from the curve: point 1 (6000 entries, 36000 elements, SIZE " in found.message


def test_one_multiple_leaves_the_size_cost_in_all_figures() -> None:
    points = [_point(count, 6, multiple=Fraction(2)) for count in (3000, 20_000, 400_000, 5_000_000)]
    fit = fit_points(points)
    assert fit.size_cost is None
    assert fit.size_multiple == 2.0
    (found,) = (each for each in fit.not_separable if "size_cost" in each.figures)
    assert found.figures == ("base", "bundle", "size_cost")
    assert found.why == "SIZE is 2 times INITSIZE in all points."
    assert _holds(fit.base_bytes, BASE / 0.98)
    assert _holds(fit.bundle_bytes, (ENTRY + 6 * ELEMENT) / 0.98)


def test_one_size_leaves_its_control_storage_in_the_base() -> None:
    size = 4096 * MIB
    points = []
    for count in (3000, 20_000, 400_000, 1_000_000):
        need = BASE + count * (ENTRY + 6 * ELEMENT) + int(SIZE_COST * size)
        initsize = round_up(need, multiple=MIB)
        points.append(
            replace(POINT, entries=count, elements=6 * count, size_bytes=size, initsize_bytes=initsize)
        )
    fit = fit_points(points)
    assert fit.size_cost is None
    assert fit.size_multiple is None
    assert fit.not_separable[1].figures == ("base", "size_cost")
    assert fit.not_separable[1].why == "All points have the SIZE 4G."
    assert _holds(fit.base_bytes, BASE + float(SIZE_COST * size))
    assert _holds(fit.bundle_bytes, ENTRY + 6 * ELEMENT)


def test_single_point_with_another_multiple_is_left_out() -> None:
    fit = fit_points([*TWO_RATIOS, _point(400_000, 6, multiple=Fraction(2))])
    assert fit.size_cost is None
    assert (
        fit.residuals[-1].left_out
        == "Another multiple of INITSIZE as SIZE, with too few points to separate its cost."
    )
    assert _holds(fit.entry_cost_bytes, ENTRY / 0.99)


def test_wrong_size_is_named_and_left_out() -> None:
    wrong = replace(ONE_RATIO[2], initsize_bytes=ONE_RATIO[2].initsize_bytes + 90 * MIB, size_bytes=10**10)
    points = [*ONE_RATIO, *(_point(count, 6) for count in (9000, 60_000, 1_000_000, 2_000_000))]
    points[2] = replace(wrong, size_bytes=wrong.initsize_bytes)
    fit = fit_points(points)
    assert [each.point for each in fit.residuals if each.left_out] == [2]
    assert fit.residuals[2].left_out == "Contradicts the other points."
    assert fit.residuals[2].beyond_rounding_bytes > 80 * MIB
    assert fit.method == "rounding"


def test_two_points_give_no_figures() -> None:
    fit = fit_points(ONE_RATIO[:2])
    assert fit.state == "too_little"
    assert fit.base_bytes is None
    assert fit.reason == "2 points: a line needs 3, so that one of them checks the other two."


def test_equal_sizes_give_no_figures() -> None:
    fit = fit_points([_point(count, 6) for count in (400_000, 400_500, 401_000, 401_500)])
    assert fit.state == "too_little"


def test_element_below_the_bytes_that_it_holds_is_rejected() -> None:
    points = []
    for count, ratio in ((3000, 6), (400_000, 6), (5_000_000, 6), (3000, 2), (400_000, 2), (5_000_000, 2)):
        need = BASE + count * (400 + ratio * 200)
        size = round_up(need, multiple=MIB)
        points.append(
            replace(
                POINT,
                element_ratio=ratio,
                entries=count,
                elements=count * ratio,
                size_bytes=size,
                initsize_bytes=size,
            )
        )
    fit = fit_points(points)
    assert fit.state == "rejected"
    assert fit.reason == "An element costs less than the 256 bytes that it holds."


def test_order_of_the_points_does_not_change_the_figures() -> None:
    there, back = fit_points(TWO_MULTIPLES), fit_points(TWO_MULTIPLES[::-1])
    assert replace(there, residuals=()) == replace(back, residuals=())
    assert [each.fitted_bytes for each in there.residuals] == [each.fitted_bytes for each in back.residuals][
        ::-1
    ]


@pytest.mark.parametrize(("level", "increment"), [(14, 256 * KIB), (15, 512 * KIB), (16, MIB), (25, MIB)])
def test_rounding_is_the_increment_of_the_level(level: int, increment: int) -> None:
    point = replace(POINT, cfcc_level=level)
    assert fit_points([point] * 3).increment_bytes == increment
    low, high = unrounded_between(point, increment)
    assert (low, high) == (Fraction(point.initsize_bytes - increment), Fraction(point.initsize_bytes))


def test_display_is_filled_to_the_last_entry() -> None:
    low, high = unrounded_between(replace(POINT, origin="display"), MIB)
    assert high == POINT.initsize_bytes
    # 100 MiB by 30 000 entries, and a page.
    assert high - low == Fraction(100 * MIB, 30_000) + 4096


def test_costs_at_a_multiple_include_the_control_storage() -> None:
    fit = fit_points(TWO_MULTIPLES)
    assert fit.base_bytes is not None
    assert fit.size_cost is not None
    found = costs_at(fit, size_multiple=Fraction(2))
    assert found is not None
    assert float(found.base) == pytest.approx(fit.base_bytes.value / (1 - 2 * fit.size_cost.value))
    assert costs_at(fit_points(ONE_RATIO[:2]), size_multiple=Fraction(1)) is None


# Recovery of known figures; docs/explanation/fits-to-sizing-points.md has the results of 1000 point sets for each case.


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_simulated_figures_are_recovered(case: Case) -> None:
    found = recovered(range(6), case)
    assert found.right_left_out <= 2
    for name in FIGURES:
        held, fits = found.held[name], len(found.errors[name])
        # Without another deviation than rounding, the intervals hold every possible line.
        assert held == fits if not case.noise_bytes and not case.wrong else held >= fits - 3
    assert found.no_figures <= 1
