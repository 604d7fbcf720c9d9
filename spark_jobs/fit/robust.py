"""Linear regression for few points of which some are wrong, with intervals that hold for few points.

1. A start that up to half of the points cannot spoil: least trimmed squares over elementary subsets.
2. Points enter one after the other as long as their deviation could be chance; those that remain are left out, so that
   each can be named. The test is that of a new observation, at a level of one fit in a hundred (Bonferroni).
3. Least squares on the points that are in. Their deviation may be the same for all sizes or grow with the size: whichever
   the data favour (restricted likelihood).
4. Intervals from the sandwich with the correction CR2 and the degrees of freedom of Bell and McCaffrey: they
   ask neither for equal deviations nor for independent points of one structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

_SUBSETS = 3000
_STEPS = 12
_ROUNDS = 25
LEVEL = 0.01
"""One fit in a hundred leaves out a point that is right."""
_SHARES = (0.0, *np.logspace(-2, 2, 9).tolist())
"""Deviation that grows with the size against the constant one, at the median size."""
_GAIN = 3.0
"""Logarithm of the likelihood that a growing deviation must gain: chance does so in about one fit of a hundred."""
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Regression:
    """Coefficients, their covariance by the sandwich, and which points they rest on."""

    coefficients: Floats
    used: Mask
    deviation: float
    """Standard deviation of the points used, at the median size."""
    _design: Floats
    _influence: Floats
    _residuals: Floats
    _blocks: tuple[tuple[Any, Any], ...]

    def interval(self, contrast: Floats, *, confidence: float) -> tuple[float, float, float]:
        """A linear combination of the coefficients, and the interval that holds it: value, low, high."""
        value = float(contrast @ self.coefficients)
        root, freedom = self._spread(contrast)
        if not root:
            return value, value, value
        half = root * float(stats.t.ppf(0.5 + confidence / 2, freedom))
        return value, value - half, value + half

    def _spread(self, contrast: Floats) -> tuple[float, float]:
        """Standard error (CR2) and degrees of freedom (Bell and McCaffrey) of a combination."""
        count = len(self._residuals)
        rest = np.eye(count) - self._design @ self._influence
        weights = contrast @ self._influence
        columns = np.empty((count, len(self._blocks)))
        variance = 0.0
        for number, (rows, adjusted) in enumerate(self._blocks):
            row = weights[rows] @ adjusted
            variance += float(row @ self._residuals[rows]) ** 2
            columns[:, number] = rest[:, rows] @ row
        gram = columns.T @ columns
        total, squares = float(np.trace(gram)), float(np.sum(gram * gram))
        freedom = total * total / squares if squares > 0 else 1.0
        return variance**0.5, max(freedom, 1.0)


def regress(
    design: Floats, values: Floats, *, sizes: Floats, clusters: NDArray[np.intp], seed: int = 0
) -> Regression:
    """Fit values by columns of the design.

    Args:
        design: A row a point, a column a coefficient; columns of like magnitude.
        values: What is to be met.
        sizes: By which deviations may grow.
        clusters: Points with one number may deviate together.
        seed: For the choice of subsets where there are too many.
    """
    relative = sizes / np.median(sizes)
    fits = [_grown(design, values, relative, share=share, seed=seed) for share in (0.0, 100.0)]
    used, share = max(fits, key=lambda fit: (int(fit[0].sum()), _likelihood(design, values, relative, *fit)))
    scales = _scales(relative, share)[used]
    x, y = design[used] / scales[:, None], values[used] / scales
    influence = np.linalg.pinv(x)
    coefficients = influence @ y
    residuals = y - x @ coefficients
    freedom = max(len(y) - x.shape[1], 1)
    hat = x @ influence
    blocks = []
    for cluster in np.unique(clusters[used]):
        rows = np.flatnonzero(clusters[used] == cluster)
        blocks.append((rows, _root_inverse(np.eye(len(rows)) - hat[np.ix_(rows, rows)])))
    return Regression(
        coefficients=coefficients,
        used=used,
        deviation=float(np.sqrt(residuals @ residuals / freedom)),
        _design=x,
        _influence=influence,
        _residuals=residuals,
        _blocks=tuple(blocks),
    )


def _scales(relative: Floats, share: float) -> Floats:
    scales: Floats = np.sqrt(1 + (share * relative) ** 2) / np.sqrt(1 + share**2)
    return scales


def _root_inverse(matrix: Floats) -> Floats:
    """The inverse of the symmetric root; directions in which a cluster alone decides are left out."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.where(values > _TINY**0.5, 1 / np.sqrt(np.maximum(values, _TINY)), 0.0)
    inverse: Floats = (vectors * roots) @ vectors.T
    return inverse


def _grown(
    design: Floats, values: Floats, relative: Floats, *, share: float, seed: int
) -> tuple[Mask, float]:
    """The points that belong together, and how their deviation grows, from one guess of the latter."""
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
    """Half of the points, those that lie closest together along one fit (least trimmed squares), and all near them."""
    count, columns = design.shape
    half = (count + columns + 1) // 2
    if count <= columns + 1:
        return np.ones(count, dtype=bool)
    if comb(count, columns) <= _SUBSETS:
        subsets = np.array(list(combinations(range(count), columns)))
    else:
        random = np.random.default_rng(seed)
        subsets = np.argsort(random.random((_SUBSETS, count)), axis=1)[:, :columns]
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
    # The half is closer together than chance would have it: begin with all that are near it.
    spread = 1.4826 * float(np.sqrt(np.median(best)))
    core |= best <= (2.5 * spread) ** 2
    return core


def _belonging(design: Floats, values: Floats, used: Mask) -> Mask:
    """All points whose deviation from the fit of those used could be chance."""
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
    floor = (_TINY**0.5 * float(np.median(np.abs(values)))) ** 2
    outside = ~used
    # A point outside: as a new observation. A point inside: as if it had not been there (externally studentised).
    expected = variance * (1 + spread)
    inner = np.maximum(1 - spread[used], _TINY)
    without = np.maximum(variance * freedom - residuals[used] ** 2 / inner, 0) / max(freedom - 1, 1)
    expected[used] = without * inner
    critical = np.empty(len(values))
    total = len(values)
    critical[outside] = stats.t.ppf(1 - LEVEL / 2 / total, freedom)
    critical[used] = stats.t.ppf(1 - LEVEL / 2 / total, max(freedom - 1, 1))
    belongs: Mask = residuals**2 <= critical**2 * expected + floor
    return belongs if belongs.sum() > columns else used


def _likelihood(design: Floats, values: Floats, relative: Floats, used: Mask, share: float) -> float:
    """Restricted logarithmic likelihood of the points used, the scale estimated."""
    scales = _scales(relative, share)[used]
    x, y = design[used] / scales[:, None], values[used] / scales
    count, columns = x.shape
    if count <= columns:
        return -np.inf
    residuals = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    floor = (_TINY * float(np.median(np.abs(values)))) ** 2
    variance = max(float(residuals @ residuals) / (count - columns), floor)
    determinant = float(np.linalg.slogdet(x.T @ x)[1])
    return float(-0.5 * (count - columns) * np.log(variance) - np.log(scales).sum() - 0.5 * determinant)


def _gain(design: Floats, values: Floats, relative: Floats, used: Mask, share: float) -> float:
    return _likelihood(design, values, relative, used, share) - (_GAIN if share else 0.0)
