"""A linear function fitted to points that are known within bands, with intervals of its unknowns.

If one function lies within all bands, the intervals hold all such functions, and the one in the middle is used: nothing
but the bands is assumed. If none does, points that contradict the others are left out first. If the rest still has no
function within its bands, the points deviate for other reasons than rounding: least squares, with Student's t intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median

from planner_core.sizing.linear_bounds import (
    Bounds,
    NotDetermined,
    centre,
    check_determined,
    extent,
    least_excess,
)
from planner_core.student import student_quantile

CONFIDENCE = Fraction(9, 10)
"""The confidence of intervals by least squares, as in fits to allocations."""

_BISQUARE = 4.685
"""Tukey's constant: 95 % efficiency with normal deviations. Points further away have no weight."""
_MOST_SUBSETS = 500
_REFINED = 10
_ROUNDS = 50
_CONVERGED = 1e-9
_SINGULAR = 1e-12
_SIGNIFICANCE = 0.001
"""One fit in a thousand leaves out a correct point, as in fits to allocations."""

_MOST_LEFT_OUT = 3
"""At most one in this number of points may be left out."""

_UNIFORM = 1 / math.sqrt(3)
"""The standard deviation of a deviation that is uniform within a half width of 1."""

Vector = tuple[Fraction, ...]


class PointsContradict(ArithmeticError):
    """No function fits two thirds of the points."""


@dataclass(frozen=True, slots=True)
class FittedLine:
    """The fitted function."""

    values: Vector
    explains_all: bool
    """Whether it lies within the bands of all points that are used."""
    left_out: tuple[int, ...]
    """Indices of the points that contradict the others."""
    least_misfit: Fraction
    """How far the function that misses the used points least is outside a band; 0 if one lies within all of them."""
    _bands: tuple[Bounds, ...] = field(repr=False)
    _known: tuple[Bounds, ...] = field(repr=False, default=())
    _covariance: tuple[Vector, ...] = field(repr=False, default=())
    _quantile: Fraction = field(repr=False, default=Fraction(0))

    def value(self, direction: Sequence[int | Fraction]) -> Fraction:
        """Return a linear function of the unknowns."""
        return _dot(direction, self.values)

    def interval(
        self, direction: Sequence[int | Fraction], *, of_points_only: bool = False
    ) -> tuple[Fraction, Fraction]:
        """Return the interval of a linear function of the unknowns, without their known bounds if `of_points_only`."""
        aim = tuple(map(Fraction, direction))
        if self.explains_all:
            found = extent(self._bands if of_points_only else (*self._bands, *self._known), aim)
            if found is None:  # pragma: no cover - the values lie within all bands
                raise NotDetermined
            return found
        variance = _dot(aim, [_dot(row, aim) for row in self._covariance])
        half = self._quantile * _square_root(variance)
        return self.value(aim) - half, self.value(aim) + half


def fit_line(bands: Sequence[Bounds], *, known: Sequence[Bounds] = (), least_scale: Fraction) -> FittedLine:
    """Return the function through bands.

    Args:
        bands: The points, at least as many as unknowns.
        known: Bounds of the unknowns that hold in any case. Least squares does not know them.
        least_scale: The smallest half width for comparing the deviations of points.

    Raises:
        NotDetermined: The points do not determine all unknowns.
        PointsContradict: More than a third of the points contradict the others.
    """
    check_determined(bands)
    used = list(range(len(bands)))
    excess = least_excess(bands, fixed=known)
    if excess.value > 0:
        used = _agreeing(bands, float(least_scale))
        if (len(bands) - len(used)) * _MOST_LEFT_OUT > len(bands):
            raise PointsContradict
    kept = tuple(bands[index] for index in used)
    if len(kept) < len(bands):
        check_determined(kept)
        excess = least_excess(kept, fixed=known)
    left_out = tuple(index for index in range(len(bands)) if index not in set(used))
    if excess.value <= 0:
        return FittedLine(centre(kept, fixed=known), True, left_out, Fraction(0), kept, tuple(known))
    degrees = len(kept) - len(kept[0].row)
    if degrees < 1:
        raise PointsContradict
    values, covariance = _least_squares(kept, least_scale)
    quantile = Fraction(student_quantile(0.5 + float(CONFIDENCE) / 2, degrees)).limit_denominator(10**6)
    return FittedLine(values, False, left_out, excess.value, kept, (), covariance, quantile)


def _dot(left: Sequence[int | Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def _middle(band: Bounds) -> Fraction:
    return (band.low + band.high) / 2


def _square_root(value: Fraction) -> Fraction:
    """Return a square root to 15 digits."""
    return Fraction(str(math.sqrt(value)))


def solve_exactly(matrix: Sequence[Sequence[Fraction]], right: Sequence[Vector]) -> list[list[Fraction]]:
    """Return the solution of matrix x unknowns = right, one column for each of its right sides.

    Raises:
        NotDetermined: The matrix is singular.
    """
    size = len(matrix)
    rows = [[*row, *extra] for row, extra in zip(matrix, right, strict=True)]
    for place in range(size):
        pivot = next((at for at in range(place, size) if rows[at][place]), None)
        if pivot is None:
            raise NotDetermined
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [each / rows[place][place] for each in rows[place]]
        for other in range(size):
            if other != place and rows[other][place]:
                factor = rows[other][place]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[place], strict=True)]
    return [row[size:] for row in rows]


def _least_squares(bands: Sequence[Bounds], least_scale: Fraction) -> tuple[Vector, tuple[Vector, ...]]:
    """Return the unknowns with the least weighted squares, and their covariance."""
    unknowns = range(len(bands[0].row))
    weights = [1 / max(band.half_width, least_scale) ** 2 for band in bands]
    normal = [
        [
            sum((w * band.row[i] * band.row[j] for w, band in zip(weights, bands, strict=True)), Fraction(0))
            for j in unknowns
        ]
        for i in unknowns
    ]
    right = [
        sum((w * band.row[i] * _middle(band) for w, band in zip(weights, bands, strict=True)), Fraction(0))
        for i in unknowns
    ]
    identity = [tuple(Fraction(i == j) for j in unknowns) for i in unknowns]
    solved = solve_exactly(normal, [(value, *row) for value, row in zip(right, identity, strict=True)])
    values = tuple(row[0] for row in solved)
    squares = sum(
        w * (_middle(band) - _dot(band.row, values)) ** 2 for w, band in zip(weights, bands, strict=True)
    )
    variance = Fraction(squares) / (len(bands) - len(values))
    return values, tuple(tuple(variance * each for each in row[1:]) for row in solved)


# The robust step decides only which points are left out, so floats are exact enough.


def _agreeing(bands: Sequence[Bounds], least_scale: float) -> list[int]:
    """Return the points that have weight in a robust fit with Tukey's bisquare."""
    unknowns = len(bands[0].row)
    scales = [max(abs(float(band.row[k])) for band in bands) or 1.0 for k in range(unknowns)]
    units = [max(float(band.half_width), least_scale) for band in bands]
    rows = [
        [float(each) / scale / unit for each, scale in zip(band.row, scales, strict=True)]
        for band, unit in zip(bands, units, strict=True)
    ]
    sizes = [float(_middle(band)) / unit for band, unit in zip(bands, units, strict=True)]
    values = _trimmed(rows, sizes)
    residuals = _residuals(rows, sizes, values)
    # The scale of the start stays: estimated again in each round, it could grow with the points that it should find.
    correction = 1.4826 * (1 + 5 / max(1, len(rows) - unknowns))
    scale = max(_UNIFORM, correction * median(map(abs, residuals)))
    for _ in range(_ROUNDS):
        weights = [_bisquare(each / scale) for each in residuals]
        solved = _weighted(rows, sizes, weights)
        if solved is None:
            break
        changed = _residuals(rows, sizes, solved)
        done = all(abs(a - b) < _CONVERGED for a, b in zip(changed, residuals, strict=True))
        residuals = changed
        if done:
            break
    kept = {index for index, each in enumerate(residuals) if _bisquare(each / scale)}
    return sorted(_not_contradicting(rows, sizes, kept))


def _not_contradicting(rows: Sequence[Sequence[float]], sizes: Sequence[float], kept: set[int]) -> set[int]:
    """Return the kept points, and those of the others that do not deviate from the line through them significantly.

    The test is Student's for a new observation, with Bonferroni's correction over all points: a point without weight may
    deviate by chance.
    """
    unknowns = len(rows[0])
    while len(kept) < len(rows):
        degrees = len(kept) - unknowns
        fitted = _weighted(rows, sizes, [float(index in kept) for index in range(len(rows))])
        if degrees < 1 or fitted is None:
            return kept
        residuals = _residuals(rows, sizes, fitted)
        # Rounding alone deviates by this much, even if the few points agree better by chance.
        scale = max(_UNIFORM, math.sqrt(sum(residuals[index] ** 2 for index in kept) / degrees))
        limit = scale * student_quantile(1 - _SIGNIFICANCE / 2 / len(rows), degrees)
        normal = [
            [sum(rows[n][i] * rows[n][j] for n in kept) for j in range(unknowns)] for i in range(unknowns)
        ]
        more = set()
        for index in set(range(len(rows))) - kept:
            solved = _solve(normal, list(rows[index]))
            if solved is None:
                return kept
            spread = math.sqrt(1 + max(0.0, sum(a * b for a, b in zip(solved, rows[index], strict=True))))
            if abs(residuals[index]) <= limit * spread:
                more.add(index)
        if not more:
            return kept
        kept |= more
    return kept


def _bisquare(distance: float) -> float:
    return max(0.0, 1 - (distance / _BISQUARE) ** 2) ** 2


def _residuals(
    rows: Sequence[Sequence[float]], sizes: Sequence[float], values: Sequence[float]
) -> list[float]:
    return [
        size - sum(a * b for a, b in zip(row, values, strict=True))
        for row, size in zip(rows, sizes, strict=True)
    ]


def _trimmed(rows: Sequence[Sequence[float]], sizes: Sequence[float]) -> list[float]:
    """Return the start of the robust fit: least trimmed squares over subsets with as many points as unknowns."""
    unknowns = len(rows[0])
    kept = (len(rows) + unknowns + 1) // 2

    def trimmed(values: Sequence[float]) -> float:
        return sum(sorted(each * each for each in _residuals(rows, sizes, values))[:kept])

    starts: list[tuple[float, list[float]]] = []
    for subset in _subsets(len(rows), unknowns):
        values = _solve([list(rows[index]) for index in subset], [sizes[index] for index in subset])
        if values is not None:
            starts.append((trimmed(values), values))
    if not starts:
        raise NotDetermined
    starts.sort()
    best = starts[0]
    for found, start in starts[:_REFINED]:
        score, values = found, start
        while True:
            residuals = _residuals(rows, sizes, values)
            order = sorted(range(len(rows)), key=lambda index: abs(residuals[index]))
            chosen = set(order[:kept])
            solved = _weighted(rows, sizes, [float(index in chosen) for index in range(len(rows))])
            if solved is None or (after := trimmed(solved)) >= score * (1 - _CONVERGED):
                break
            score, values = after, solved
        best = min(best, (score, values))
    return best[1]


def _subsets(points: int, size: int) -> Iterator[tuple[int, ...]]:
    """Yield all subsets of a size if there are few, otherwise some that are spread evenly over all of them."""
    total = math.comb(points, size)
    # A step near the golden section spreads any number of subsets evenly; it must not divide the total.
    step = 1
    if total > _MOST_SUBSETS:
        step = round(total * 0.6180339887)
        while math.gcd(step, total) > 1:
            step += 1
    for number in range(min(total, _MOST_SUBSETS)):
        yield _subset(points, size, number * step % total)


def _subset(points: int, size: int, rank: int) -> tuple[int, ...]:
    """Return the subset with a rank in lexicographic order."""
    chosen: list[int] = []
    for index in range(points):
        without_rest = math.comb(points - index - 1, size - len(chosen) - 1)
        if rank < without_rest:
            chosen.append(index)
            if len(chosen) == size:
                break
        else:
            rank -= without_rest
    return tuple(chosen)


def _weighted(
    rows: Sequence[Sequence[float]], sizes: Sequence[float], weights: Sequence[float]
) -> list[float] | None:
    """Return the unknowns with the least weighted squares; None if the points with weight do not determine them.

    Orthogonalized columns (modified Gram-Schmidt) instead of normal equations, which would square the condition number.
    """
    roots = list(map(math.sqrt, weights))
    columns = [[root * row[k] for root, row in zip(roots, rows, strict=True)] for k in range(len(rows[0]))]
    rest = [root * size for root, size in zip(roots, sizes, strict=True)]
    upper = [[0.0] * len(columns) for _ in columns]
    right = [0.0] * len(columns)
    for k, column in enumerate(columns):
        length = math.sqrt(sum(each * each for each in column))
        before = math.sqrt(sum(w * row[k] ** 2 for w, row in zip(weights, rows, strict=True)))
        if length <= _SINGULAR * before or not length:
            return None
        unit = [each / length for each in column]
        upper[k][k] = length
        for j in range(k + 1, len(columns)):
            upper[k][j] = sum(a * b for a, b in zip(unit, columns[j], strict=True))
            columns[j] = [b - upper[k][j] * a for a, b in zip(unit, columns[j], strict=True)]
        right[k] = sum(a * b for a, b in zip(unit, rest, strict=True))
        rest = [b - right[k] * a for a, b in zip(unit, rest, strict=True)]
    values = [0.0] * len(columns)
    for k in reversed(range(len(columns))):
        known = sum(upper[k][j] * values[j] for j in range(k + 1, len(columns)))
        values[k] = (right[k] - known) / upper[k][k]
    return values


def _solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Return the solution of a small square system; None if it is close to singular."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    largest = max(abs(each) for row in matrix for each in row)
    for place in range(size):
        pivot = max(range(place, size), key=lambda at: abs(rows[at][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        first = rows[place]
        if abs(first[place]) <= _SINGULAR * largest:
            return None
        for other in range(place + 1, size):
            factor = rows[other][place] / first[place]
            if factor:
                rows[other] = [a - factor * b for a, b in zip(rows[other], first, strict=True)]
    values = [0.0] * size
    for place in reversed(range(size)):
        row = rows[place]
        known = sum(row[at] * values[at] for at in range(place + 1, size))
        values[place] = (row[size] - known) / row[place]
    return values


def unexplained(rows: Sequence[Sequence[Fraction]], values: Sequence[Fraction | int]) -> list[float]:
    """Return the residuals of least squares of values on rows; zeros if the rows leave an unknown free."""
    scales = [max(abs(float(row[k])) for row in rows) or 1.0 for k in range(len(rows[0]))]
    scaled = [[float(each) / scale for each, scale in zip(row, scales, strict=True)] for row in rows]
    sizes = list(map(float, values))
    solved = _weighted(scaled, sizes, [1.0] * len(rows))
    return [0.0] * len(rows) if solved is None else _residuals(scaled, sizes, solved)
