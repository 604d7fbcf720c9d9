"""Linear regression for few points, some of them wrong, with intervals that are valid for few points.

1. A start that up to half of the points cannot spoil: least trimmed squares over elementary subsets.
2. Points count as long as their deviation could be chance; the others are left out, each by name. The test is that of
   a new observation, at a level of one fit in a thousand (Bonferroni).
3. Generalised least squares on the points that count. Deviations may grow with the size, and those of one structure may
   be alike, as far as the data favour it (restricted likelihood).
4. Intervals by Student's t. If the data favour neither, those of least squares; else from the sandwich with the
   correction CR2 and the degrees of freedom of Bell and McCaffrey, because the differences between deviations are then
   themselves estimated from few points.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

# The quantiles of scipy.stats.t, without scipy.stats, whose import takes longer than most fits.
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

_SUBSETS = 3000
_DEVIATIONS = 3_000_000
"""The maximum number of deviations, of all subsets together, that are held in memory at once."""
_STEPS = 12
_ROUNDS = 25
LEVEL = 0.001
"""The level of the test for outliers: about one fit in a thousand leaves out a correct point."""
_SHARES = (0.0, 0.1, 0.3, 1.0, 3.0)
"""Ratio of the deviation that grows with the size to the constant one, at the median size."""
_GAIN = 1.0
"""Gain of the log-likelihood that a growing deviation must reach to be accepted."""
_LIKENESSES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95)
"""Correlation of the deviations of one structure's points."""
_GAIN_ALIKE = 0.5
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Regression:
    """Coefficients, and the basis of their intervals: rows scaled so that deviations are equal and independent."""

    coefficients: Floats
    used: Mask
    growth: float
    """Ratio of the deviation that grows with the size to the constant one, at the median size; 0 if it does not
    grow."""
    likeness: float
    """Correlation of the deviations of one structure's points."""
    design: Floats
    residuals: Floats
    groups: NDArray[np.intp]
    median_size: float

    def interval(self, contrast: Floats, *, confidence: float) -> tuple[float, float, float]:
        """Return a linear combination of the coefficients and its interval: value, low, high."""
        value = float(contrast @ self.coefficients)
        root, freedom = self._sandwich(contrast) if self.growth or self.likeness else self._plain(contrast)
        half = root * float(stdtrit(freedom, 0.5 + confidence / 2))
        return value, value - half, value + half

    def expects(self, design: Floats, values: Floats, *, sizes: Floats) -> Mask:
        """Return which of these new points could be on the same line, each tested separately."""
        scales = _scales(sizes / self.median_size, self.growth)
        points, columns = self.design.shape
        freedom = max(points - columns, 1)
        rows = design / scales[:, None] @ np.linalg.pinv(self.design)
        variance = float(self.residuals @ self.residuals) / freedom * (1 + np.einsum("ij,ij->i", rows, rows))
        off = (values - design @ self.coefficients) / scales
        expected: Mask = off**2 <= float(stdtrit(freedom, 1 - LEVEL / 2)) ** 2 * variance + _floor(values)
        return expected

    def _plain(self, contrast: Floats) -> tuple[float, float]:
        """Return the standard error and degrees of freedom for equal and independent deviations."""
        points, columns = self.design.shape
        freedom = max(points - columns, 1)
        weights = contrast @ np.linalg.pinv(self.design)
        return float(np.sqrt(weights @ weights * (self.residuals @ self.residuals) / freedom)), freedom

    def _sandwich(self, contrast: Floats) -> tuple[float, float]:
        """Return the standard error and degrees of freedom for estimated deviations: CR2, Bell and McCaffrey."""
        influence = np.linalg.pinv(self.design)
        rest = np.eye(len(self.residuals)) - self.design @ influence
        weights = contrast @ influence
        variance, columns = 0.0, []
        for group in np.unique(self.groups):
            rows = np.flatnonzero(self.groups == group)
            row = weights[rows] @ _root_inverse(rest[np.ix_(rows, rows)])
            variance += float(row @ self.residuals[rows]) ** 2
            columns.append(rest[:, rows] @ row)
        gram = np.array(columns) @ np.array(columns).T
        squares = float(np.sum(gram * gram))
        freedom = float(np.trace(gram)) ** 2 / squares if squares else 1.0
        return variance**0.5, max(freedom, 1.0)


def regress(
    design: Floats, values: Floats, *, sizes: Floats, groups: NDArray[np.intp], seed: int = 0
) -> Regression:
    """Fit values by columns of the design.

    Args:
        design: One row for each point, one column for each coefficient; columns of similar magnitude.
        values: The values to fit.
        sizes: The sizes with which deviations may grow.
        groups: Points with the same number may have similar deviations.
        seed: The seed for choosing among the subsets if there are too many.
    """
    relative = sizes / np.median(sizes)
    # Start from both extremes, because what counts as an outlier depends on how deviations grow, and vice versa.
    fits = [_grown(design, values, relative, share=share, seed=seed) for share in (_SHARES[0], _SHARES[-1])]
    used, share = max(fits, key=lambda fit: (int(fit[0].sum()), _likelihood(design, values, relative, *fit)))
    scales = _scales(relative, share)[used]
    x, y, of = design[used] / scales[:, None], values[used] / scales, groups[used]
    likeness = max(_LIKENESSES, key=lambda each: _alike_likelihood(x, y, of, each))
    x, y = _unlike(x, of, likeness), _unlike(y[:, None], of, likeness)[:, 0]
    coefficients = np.linalg.pinv(x) @ y
    return Regression(
        coefficients, used, share, likeness, x, y - x @ coefficients, of, float(np.median(sizes))
    )


def _floor(values: Floats) -> float:
    """Return a squared deviation below which a point is on the line: the rounding errors of the arithmetic."""
    return float((_TINY**0.5 * np.median(np.abs(values))) ** 2)


def _scales(relative: Floats, share: float) -> Floats:
    scales: Floats = np.sqrt(1 + (share * relative) ** 2) / np.sqrt(1 + share**2)
    return scales


def _unlike(rows: Floats, groups: NDArray[np.intp], likeness: float) -> Floats:
    """Return rows whose deviations have this correlation within groups, transformed to be uncorrelated."""
    if not likeness:
        return rows
    found: Floats = rows / np.sqrt(1 - likeness)
    for group in np.unique(groups):
        at = np.flatnonzero(groups == group)
        part = 1 - np.sqrt((1 - likeness) / (1 - likeness + len(at) * likeness))
        found[at] -= part * found[at].mean(axis=0)
    return found


def _alike_likelihood(x: Floats, y: Floats, groups: NDArray[np.intp], likeness: float) -> float:
    """Return the restricted log-likelihood of a correlation within groups, less the gain expected by chance."""
    if not likeness:
        return _restricted(x, y)
    counts = np.unique(groups, return_counts=True)[1]
    determinant = float(
        np.sum((counts - 1) * np.log(1 - likeness) + np.log(1 - likeness + counts * likeness))
    )
    uncorrelated = _restricted(_unlike(x, groups, likeness), _unlike(y[:, None], groups, likeness)[:, 0])
    return uncorrelated - determinant / 2 - _GAIN_ALIKE


def _restricted(x: Floats, y: Floats) -> float:
    """Return the restricted log-likelihood of equal and independent deviations with estimated variance."""
    count, columns = x.shape
    if count <= columns:
        return -np.inf
    residuals = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    floor = (_TINY * float(np.median(np.abs(y)))) ** 2
    variance = max(float(residuals @ residuals) / (count - columns), floor)
    determinant = float(np.linalg.slogdet(x.T @ x)[1])
    return float(-0.5 * (count - columns) * np.log(variance) - 0.5 * determinant)


def _root_inverse(matrix: Floats) -> Floats:
    """Return the inverse of the symmetric root, without directions that a single group determines."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.where(values > _TINY**0.5, 1 / np.sqrt(np.maximum(values, _TINY)), 0.0)
    inverse: Floats = (vectors * roots) @ vectors.T
    return inverse


def _grown(
    design: Floats, values: Floats, relative: Floats, *, share: float, seed: int
) -> tuple[Mask, float]:
    """Return the points that belong together, and how their deviation grows, starting from a guess of this growth."""
    scales = _scales(relative, share)
    used = _core(design / scales[:, None], values / scales, seed=seed)
    for _ in range(_ROUNDS):
        share = max(_SHARES, key=lambda each: _gain(design, values, relative, used, each))
        scales = _scales(relative, share)
        now = _belonging(design / scales[:, None], values / scales, used)
        if np.array_equal(now, used):
            break
        used = now
    return used, share


def _core(design: Floats, values: Floats, *, seed: int) -> Mask:
    """Return the half of the points closest to one fit (least trimmed squares), and all points near them."""
    count, columns = design.shape
    half = (count + columns + 1) // 2
    if count <= columns + 1:
        return np.ones(count, dtype=bool)
    most = min(_SUBSETS, _DEVIATIONS // count)
    if comb(count, columns) <= most:
        subsets = np.array(list(combinations(range(count), columns)))
    else:
        # The generator is seeded, because the same data must give the same fit every night.
        random = np.random.default_rng(seed)
        subsets = np.argsort(random.random((most, count)), axis=1)[:, :columns]
    squares, sides = design[subsets], values[subsets]
    regular = np.abs(np.linalg.det(squares)) > _TINY * np.prod(np.linalg.norm(squares, axis=2), axis=1)
    if not regular.any():
        return np.ones(count, dtype=bool)
    found = np.linalg.solve(squares[regular], sides[regular][..., None])[..., 0]
    deviations = (values - found @ design.T) ** 2
    sums = np.partition(deviations, half - 1, axis=1)[:, :half].sum(axis=1)
    best = deviations[int(np.argmin(sums))]
    for _ in range(_STEPS):
        chosen = np.argsort(best, kind="stable")[:half]
        coefficients = np.linalg.lstsq(design[chosen], values[chosen], rcond=None)[0]
        best = (values - design @ coefficients) ** 2
    core = np.zeros(count, dtype=bool)
    core[np.argsort(best, kind="stable")[:half]] = True
    # The chosen half is closer together than chance would make it, so begin with all points near it.
    spread = 1.4826 * float(np.sqrt(np.median(best)))
    core |= best <= (2.5 * spread) ** 2
    return core


def _belonging(design: Floats, values: Floats, used: Mask) -> Mask:
    """Return all points whose deviation from the fit of the used ones could be chance."""
    x, y = design[used], values[used]
    count, columns = x.shape
    if count <= columns:
        return used
    influence = np.linalg.pinv(x)
    coefficients = influence @ y
    residuals = values - design @ coefficients
    freedom = count - columns
    variance = float(residuals[used] @ residuals[used]) / freedom
    spread = np.einsum("ij,ij->i", design @ influence, design @ influence)
    floor = _floor(values)
    outside = ~used
    # A point outside is tested as a new observation, a point inside as if it were absent (externally studentised):
    # otherwise it would have pulled the line towards itself.
    expected = variance * (1 + spread)
    inner = np.maximum(1 - spread[used], _TINY)
    without = np.maximum(variance * freedom - residuals[used] ** 2 / inner, 0) / max(freedom - 1, 1)
    expected[used] = without * inner
    critical = np.empty(len(values))
    total = len(values)
    critical[outside] = stdtrit(freedom, 1 - LEVEL / 2 / total)
    critical[used] = stdtrit(max(freedom - 1, 1), 1 - LEVEL / 2 / total)
    belongs: Mask = residuals**2 <= critical**2 * expected + floor
    return belongs if belongs.sum() > columns else used


def _likelihood(design: Floats, values: Floats, relative: Floats, used: Mask, share: float) -> float:
    """Return the restricted log-likelihood of the points used."""
    scales = _scales(relative, share)[used]
    return _restricted(design[used] / scales[:, None], values[used] / scales) - float(np.log(scales).sum())


def _gain(design: Floats, values: Floats, relative: Floats, used: Mask, share: float) -> float:
    return _likelihood(design, values, relative, used, share) - (_GAIN if share else 0.0)
