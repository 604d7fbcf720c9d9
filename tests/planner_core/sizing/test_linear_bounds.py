"""Linear programs over bands, compared with all vertices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.sizing.linear_bounds import Bounds, NotDetermined, centre, extent, least_excess
from planner_core.sizing.points_line import solve_exactly


def _band(row: Sequence[int | Fraction], low: Fraction | int, high: Fraction | int) -> Bounds:
    return Bounds(tuple(map(Fraction, row)), Fraction(low), Fraction(high))


def _value(row: tuple[Fraction, ...], unknowns: tuple[Fraction, ...]) -> Fraction:
    return sum((a * b for a, b in zip(row, unknowns, strict=True)), Fraction(0))


def _vertices(bands: list[Bounds]) -> list[tuple[Fraction, ...]]:
    """Return the corners of the set within all bands, by trying every pair of bounds."""
    found = []
    for chosen in combinations(bands, len(bands[0].row)):
        for bounds in product(*((band.low, band.high) for band in chosen)):
            try:
                solved = solve_exactly([band.row for band in chosen], [(bound,) for bound in bounds])
            except NotDetermined:
                continue
            corner = tuple(row[0] for row in solved)
            if all(band.low <= _value(band.row, corner) <= band.high for band in bands):
                found.append(corner)
    return found


_NUMBERS = st.fractions(min_value=-20, max_value=20, max_denominator=7)
_BANDS = st.lists(
    st.tuples(st.tuples(*[st.integers(-9, 9)] * 2), _NUMBERS, st.fractions(0, 12, max_denominator=5)),
    min_size=2,
    max_size=6,
).map(lambda rows: [_band(row, low, low + width) for row, low, width in rows])


@settings(max_examples=150, deadline=None)
@given(bands=_BANDS, direction=st.tuples(_NUMBERS, _NUMBERS))
def test_extent_is_that_of_the_corners(bands: list[Bounds], direction: tuple[Fraction, Fraction]) -> None:
    try:
        found = extent(bands, direction)
    except NotDetermined:
        assert all(a.row[0] * b.row[1] == a.row[1] * b.row[0] for a, b in combinations(bands, 2))
        return
    values = [_value(direction, corner) for corner in _vertices(bands)]
    assert found == ((min(values), max(values)) if values else None)


@settings(max_examples=100, deadline=None)
@given(bands=_BANDS)
def test_bands_widened_by_the_least_excess_just_leave_a_solution(bands: list[Bounds]) -> None:
    try:
        excess = least_excess(bands)
    except NotDetermined:
        return
    for more, leaves in ((Fraction(0), True), (Fraction(-1, 1000), False)):
        by = excess.value + more
        widened = [_band(b.row, b.low - by, b.high + by) for b in bands]
        holds = all(w.low <= w.high for w in widened) and bool(_vertices(widened))
        assert holds is leaves
    assert all(b.low - excess.value <= _value(b.row, excess.solution) <= b.high + excess.value for b in bands)


@settings(max_examples=100, deadline=None)
@given(bands=_BANDS)
def test_centre_lies_within_all_bands_that_have_a_common_solution(bands: list[Bounds]) -> None:
    bands = [band for band in bands if band.half_width]
    try:
        if not bands or least_excess(bands).value > 0:
            return
        found = centre(bands)
    except NotDetermined:
        return
    assert all(band.low <= _value(band.row, found) <= band.high for band in bands)


def test_excess_names_the_bands_that_contradict_each_other() -> None:
    bands = [_band((1, 0), 0, 1), _band((1, 1), 10, 11), _band((1, 2), 40, 41), _band((0, 1), -99, 99)]
    # The lowest line within the outer bands is at (0 + 40) / 2 in the middle, 9 above its band: each one gives 4.5.
    found = least_excess(bands)
    assert found.value == Fraction(9, 2)
    assert found.determined_by == (0, 1, 2)


def test_fixed_bands_are_not_widened() -> None:
    bands = [_band((1,), 5, 6)]
    assert least_excess(bands, fixed=[_band((1,), 0, 1)]).value == 4
    assert centre(bands, fixed=[_band((1,), Fraction(51, 10), 99)]) == (Fraction(11, 2),)


def test_unknown_without_a_row_is_not_determined() -> None:
    with pytest.raises(NotDetermined):
        extent([_band((1, 2), 0, 1), _band((2, 4), 0, 2)], (Fraction(1), Fraction(0)))
