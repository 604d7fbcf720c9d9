"""Linear programs over the bands of points, in exact arithmetic.

A band states that a linear function of a few unknowns lies between two bounds. All unknowns that keep within every band
form a convex set: `extent` returns the smallest and largest value of a linear function over it, `least_excess` how far
the bands must be widened until the set is not empty, and `centre` the unknowns that keep the most distance from the
bounds.

The dual simplex method needs a basis of as many bands as there are unknowns, four or five here. Whole numbers with one
common denominator replace fractions (Edmonds' integer pivoting), so nothing is rounded and the same bands always give the
same answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a linear function: low <= row x unknowns <= high."""

    row: tuple[Fraction, ...]
    low: Fraction
    high: Fraction

    @property
    def half_width(self) -> Fraction:
        """Return half the distance between the bounds."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Excess:
    """The smallest widening of all bands that leaves a solution, and the bands that determine it."""

    value: Fraction
    solution: tuple[Fraction, ...]
    determined_by: tuple[int, ...]
    """Indices of the bands that cannot all be kept with less; those of the fixed bands follow the others."""


class NotDetermined(ArithmeticError):
    """The rows of the bands leave some unknown free."""


def check_determined(bands: Sequence[Bounds]) -> None:
    """Check that the rows of the bands leave no unknown free.

    Raises:
        NotDetermined: They have fewer independent rows than unknowns.
    """
    _independent(list(_constraints(bands, None)), len(bands[0].row))


def least_excess(bands: Sequence[Bounds], *, fixed: Sequence[Bounds] = ()) -> Excess:
    """Return the least number by which every band must be widened on both sides; it is negative if they have room.

    Bands in `fixed` are not widened; they must not contradict each other.

    Raises:
        NotDetermined: The bands have fewer independent rows than unknowns.
    """
    return _widened(bands, [Fraction(1)] * len(bands), fixed)


def centre(bands: Sequence[Bounds], *, fixed: Sequence[Bounds] = ()) -> tuple[Fraction, ...]:
    """Return the unknowns that come least close to a bound, each measured in half widths of its band.

    Any distance from the bounds of bands in `fixed` is enough.

    Raises:
        NotDetermined: The bands have fewer independent rows than unknowns.
    """
    return _widened(bands, [band.half_width for band in bands], fixed).solution


def extent(bands: Sequence[Bounds], direction: Sequence[Fraction]) -> tuple[Fraction, Fraction] | None:
    """Return the smallest and the largest value of direction x unknowns within all bands; None if there are none.

    Raises:
        NotDetermined: The bands have fewer independent rows than unknowns.
    """
    constraints = list(_constraints(bands, None))
    found = []
    for sign in (-1, 1):
        aim, scale = _whole([sign * each for each in direction])
        solution = _Simplex(constraints, aim).solve(_independent(constraints, len(aim)))
        if solution is None:
            return None
        found.append(sign * sum((a * b for a, b in zip(aim, solution, strict=True)), Fraction(0)) / scale)
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class _Constraint:
    """row x unknowns <= bound, in whole numbers; the two of a band follow each other."""

    row: tuple[int, ...]
    bound: int


def _whole(values: Sequence[Fraction]) -> tuple[tuple[int, ...], int]:
    scale = math.lcm(*(value.denominator for value in values))
    return tuple(value.numerator * (scale // value.denominator) for value in values), scale


def _constraints(bands: Sequence[Bounds], widths: Sequence[Fraction] | None) -> Iterator[_Constraint]:
    for number, band in enumerate(bands):
        width = () if widths is None else (widths[number],)
        # Both sides have the same scale, so that one row is the other one with the opposite sign.
        whole, _ = _whole((*band.row, *width, band.high, band.low))
        row, extra = whole[: len(band.row)], tuple(-each for each in whole[len(band.row) : -2])
        yield _Constraint((*row, *extra), whole[-2])
        yield _Constraint((*(-each for each in row), *extra), -whole[-1])


def _independent(constraints: Sequence[_Constraint], unknowns: int) -> list[int]:
    """Return the first constraints with independent rows, one of each band."""
    reduced: list[tuple[int, list[Fraction]]] = []
    chosen = []
    for index in range(0, len(constraints), 2):
        row = [Fraction(each) for each in constraints[index].row]
        for pivot, other in reduced:
            if row[pivot]:
                factor = row[pivot] / other[pivot]
                row = [a - factor * b for a, b in zip(row, other, strict=True)]
        pivot = next((place for place, each in enumerate(row) if each), -1)
        if pivot >= 0:
            reduced.append((pivot, row))
            chosen.append(index)
            if len(chosen) == unknowns:
                return chosen
    raise NotDetermined


def _widened(bands: Sequence[Bounds], widths: Sequence[Fraction], fixed: Sequence[Bounds]) -> Excess:
    """Minimize t such that all bands, widened by t x width on both sides, have a solution within the fixed ones."""
    unknowns = len(bands[0].row)
    bands, widths = [*bands, *fixed], [*widths, *(Fraction(0) for _ in fixed)]
    plain = list(_constraints(bands, None))
    first, *others = _independent(plain, unknowns)
    constraints = list(_constraints(bands, widths))
    # Both sides of one band determine t, with equal weight; the others enter with a weight of zero.
    simplex = _Simplex(constraints, (*(0,) * unknowns, -1))
    solution = simplex.solve([first, first + 1, *others])
    if solution is None:  # pragma: no cover - widening by enough always leaves a solution
        raise NotDetermined
    active = tuple(sorted({index // 2 for index in simplex.weighted()}))
    return Excess(solution[-1], solution[:-1], active)


class _Simplex:
    """Maximize aim x unknowns within constraints: the dual simplex method over bases of constraints.

    The inverse of the basis is `inverse` divided by `determinant`, which stays positive.
    """

    def __init__(self, constraints: Sequence[_Constraint], aim: Sequence[int]) -> None:
        self.constraints, self.aim = constraints, aim
        size = len(aim)
        self.basis = [-1] * size
        self.inverse = [[int(row == column) for column in range(size)] for row in range(size)]
        self.determinant = 1

    def solve(self, basis: Sequence[int]) -> tuple[Fraction, ...] | None:
        """Return the best unknowns, starting with a basis; None if no unknowns keep within all constraints.

        The aim must be a combination of the rows of the basis in which the sign of each band's row may be chosen.
        """
        for index in basis:
            self._enter_first(index)
        # A negative weight belongs to the other side of the band.
        for place, weight in enumerate(self._weights()):
            if weight < 0:
                self.inverse[place] = [-each for each in self.inverse[place]]
                self.basis[place] ^= 1
        was_degenerate = False
        while True:
            scaled = self._scaled_solution()
            entering = self._most_violated(scaled, takes_first=was_degenerate)
            if entering is None:
                return tuple(Fraction(each, self.determinant) for each in scaled)
            column = self._column(entering)
            leaving = self._leaving(column)
            if leaving is None:
                return None
            was_degenerate = self._weights()[leaving] == 0
            self._pivot(leaving, entering, column)

    def weighted(self) -> list[int]:
        """Return the constraints of the basis that determine the value."""
        return [index for index, weight in zip(self.basis, self._weights(), strict=True) if weight > 0]

    def _enter_first(self, index: int) -> None:
        column = self._column(index)
        place = next(at for at, each in enumerate(column) if each and self.basis[at] < 0)
        if column[place] < 0:
            # Multiplying the place by -1 keeps the determinant positive; its artificial constraint has no meaning.
            self.inverse[place] = [-each for each in self.inverse[place]]
            column[place] = -column[place]
        self._pivot(place, index, column)

    def _weights(self) -> list[int]:
        return [sum(a * b for a, b in zip(row, self.aim, strict=True)) for row in self.inverse]

    def _scaled_solution(self) -> list[int]:
        bounds = [self.constraints[index].bound for index in self.basis]
        return [
            sum(row[k] * bound for row, bound in zip(self.inverse, bounds, strict=True))
            for k in range(len(bounds))
        ]

    def _column(self, index: int) -> list[int]:
        row = self.constraints[index].row
        return [sum(a * b for a, b in zip(each, row, strict=True)) for each in self.inverse]

    def _most_violated(self, scaled: Sequence[int], *, takes_first: bool) -> int | None:
        """Return the constraint that the solution violates most; the first one after a step without progress (Bland)."""
        worst, found = 0, None
        for index, constraint in enumerate(self.constraints):
            beyond = (
                sum(a * b for a, b in zip(constraint.row, scaled, strict=True))
                - constraint.bound * self.determinant
            )
            if beyond > worst:
                if takes_first:
                    return index
                worst, found = beyond, index
        return found

    def _leaving(self, column: Sequence[int]) -> int | None:
        best: tuple[Fraction, int, int] | None = None
        for place, (weight, step) in enumerate(zip(self._weights(), column, strict=True)):
            if step > 0:
                key = (Fraction(weight, step), self.basis[place], place)
                best = key if best is None else min(best, key)
        return None if best is None else best[-1]

    def _pivot(self, place: int, index: int, column: Sequence[int]) -> None:
        step, pivot_row = column[place], self.inverse[place]
        for other, row in enumerate(self.inverse):
            if other != place:
                self.inverse[other] = [
                    (a * step - column[other] * b) // self.determinant
                    for a, b in zip(row, pivot_row, strict=True)
                ]
        self.basis[place], self.determinant = index, step
