"""Lines through bands: points that contradict the others, and intervals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from planner_core.sizing.linear_bounds import Bounds, NotDetermined
from planner_core.sizing.points_line import PointsContradict, fit_line

HALF = Fraction(1, 2)


def _bands(sizes: list[float]) -> list[Bounds]:
    """Return points at 0, 1, 2 and so on, each rounded up to a whole number."""
    return [
        Bounds((Fraction(1), Fraction(n)), Fraction(str(size)) - 1, Fraction(str(size)))
        for n, size in enumerate(sizes)
    ]


def test_line_within_all_bands_has_exact_intervals() -> None:
    line = fit_line(_bands([1, 3, 5, 7]), least_scale=HALF)
    assert line.explains_all
    assert line.left_out == ()
    # From 0 at the first point to 7 at the last one, or from 1 to 6.
    assert line.interval((0, 1)) == (Fraction(5, 3), Fraction(7, 3))
    assert line.values == (HALF, Fraction(2))


def test_point_far_from_the_others_is_left_out() -> None:
    line = fit_line(_bands([1, 3, 5, 40, 9, 11, 13, 15]), least_scale=HALF)
    assert line.left_out == (3,)
    assert line.explains_all


def test_deviations_beyond_rounding_give_least_squares_and_students_intervals() -> None:
    line = fit_line(_bands([0.5, 7.5, 0.5, 7.5]), least_scale=HALF)
    assert not line.explains_all
    # By hand: middles 0, 7, 0, 7; slope 1.4, base 1.4; residual squares 39.2; variance 19.6 with two degrees of freedom.
    assert line.values == (Fraction(7, 5), Fraction(7, 5))
    half = 2.91998558 * (19.6 / 5) ** 0.5
    low, high = line.interval((0, 1))
    assert (float(low), float(high)) == pytest.approx((1.4 - half, 1.4 + half))
    # 0, 7, 0, 7 within half each: the best line misses three of them by three.
    assert line.least_misfit == 3


def test_points_of_two_lines_contradict() -> None:
    bands = _bands([1, 3, 5, 7, 9, 11, 13]) + _bands([1001, 1003, 1005, 1007])
    with pytest.raises(PointsContradict):
        fit_line(bands, least_scale=HALF)


def test_same_row_everywhere_is_not_determined() -> None:
    with pytest.raises(NotDetermined):
        fit_line([Bounds((Fraction(1), Fraction(5)), Fraction(0), Fraction(1))] * 4, least_scale=HALF)
