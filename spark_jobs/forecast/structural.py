"""The model: trend, week, end of month, breaks and persistent noise, each with its uncertainty.

On the logarithmic scale a day's peak is the sum of

- a trend that compounds, or one that is linear in the peaks themselves,
- factors of weekdays and of the days around the end of a month,
- changes of level or pace that were found in the history,
- noise that persists from day to day, and a level and a pace that may drift.

The persistence of the noise, the drift of level and pace, and the kind of trend are not decided: every combination of a
grid is fitted exactly (Gaussian, conjugate priors), and paths are drawn from each in proportion to its probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from spark_jobs.forecast.breaks import breaks_of
from spark_jobs.forecast.design import PACE, Break, Design
from spark_jobs.forecast.figures import iso
from spark_jobs.forecast.noise import (
    KEPT_DAY_SETS,
    LEVEL_WALKS,
    NOISES,
    PACE_WALKS,
    STATES,
    Distances,
    Lasting,
    distances_of,
)
from spark_jobs.forecast.paths import GROWTH_DAYS, Paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days, Peaks

    Floats = NDArray[np.float64]

KEPT_NOISES = 2
NEGLIGIBLE = 0.1
"""The share of the most probable combination's probability below which a combination is left out."""
LEAST_DEVIATION = 1e-4
"""The smallest deviation of the noise on the logarithmic scale, for a history in which every week is exactly the
same."""
PRIOR_DAYS = 4
"""The weight of the first guess of the noise, as a number of measured days."""
LARGEST_LOG = 80.0
"""Upper limit of the logarithm of all paths: 5e34, far above any count."""
LINEAR_STEPS = 3
NEAR_ZERO, NEAR_ZERO_AHEAD = 0.05, 0.02
"""The shares of the current level below which a linear trend is not continued: into the past, and into the future."""
STEEPEST = 0.9
"""The largest share of the current level that a linear trend may have gained during the history."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """One combination of the grid with one of the two trends; the values of days are whitened."""

    lasting: Lasting
    is_linear: bool
    log_evidence: float
    logs: Floats
    design: Floats
    state: Floats
    root: Floats
    """Root of the coefficients' information matrix."""
    coefficients: Floats
    variance: float
    freedom: int


def structural(
    days: Days,
    peaks: Peaks,
    *,
    last: int,
    deviation: float,
    ahead: int,
    count: int,
    random: np.random.Generator,
) -> Paths:
    """Return paths of the days after the last measured one.

    Args:
        days: Ordinary days that were not empty.
        peaks: Their peaks.
        last: The last measured day.
        deviation: A first guess of the noise's deviation.
        ahead: Number of days to draw.
        count: Number of paths.
        random: Random numbers.
    """
    logs = np.log(peaks)
    centre = float(np.median(logs))
    deviation = max(deviation, LEAST_DEVIATION)
    distances = distances_of(days, last=last)
    breaks = breaks_of(days, logs - centre, distances, last=last, deviation=deviation)
    design = Design(days, last=last, breaks=breaks)
    shared = _shared_of(days.tobytes(), last)
    fits = _Fitter(logs - centre, shared, design.of(days), design.priors(), deviation=deviation).fits()
    weights = np.array([fit.log_evidence for fit in fits])
    weights = np.exp(weights - weights.max())
    order = [int(number) for number in np.argsort(-weights, kind="stable") if weights[number] >= NEGLIGIBLE]
    shares = weights[order] / weights[order].sum()
    # Rounding the running totals, not the shares, makes the sizes add up to `count`.
    sizes = np.diff(np.rint(np.cumsum(shares) * count).astype(np.int64), prepend=0)
    coming = design.of(last + 1 + np.arange(ahead))
    parts = [
        _drawn(fits[number], distances, coming, int(size), random)
        for number, size in zip(order, sizes, strict=True)
        if size
    ]
    linear = float(sum(share for number, share in zip(order, shares, strict=True) if fits[number].is_linear))
    return Paths(
        np.exp(np.minimum(np.concatenate([drawn for drawn, _ in parts]) + centre, LARGEST_LOG)),
        np.concatenate([growth for _, growth in parts]),
        _trend_of(linear),
        tuple(_told(each) for each in breaks),
    )


def _trend_of(linear: float) -> str:
    """Return the name of the model, with the probabilities of a compounding and a linear trend in percent."""
    # A sum of shares may be slightly above 1, and the negative rest would be written as "-0 %".
    percent = round(100 * linear)
    return f"structural, {100 - percent} % compounding, {percent} % linear"


def _told(found: Break) -> str:
    what = "The level" if found.of == "level" else "The growth"
    return f"{what} changed about {iso(found.day)}."


# ---- fits ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Whitened:
    """The columns of one combination that depend only on the days, transformed to independent noise of variance 1."""

    log_det: float
    design: Floats
    """The design without breaks."""
    state: Floats


class _Shared:
    """The part of the fits that structures measured on the same days share; it does not depend on their peaks."""

    def __init__(self, days: Days, *, last: int) -> None:
        self.distances = distances_of(days, last=last)
        self._design = Design(days, last=last).of(days)
        self._found: dict[Lasting, _Whitened] = {}

    def of(self, lasting: Lasting) -> _Whitened:
        """Return the columns of a combination, which are kept."""
        found = self._found.get(lasting)
        if found is None:
            width = self._design.shape[1]
            columns = np.concatenate([self._design, self.distances.with_state(lasting)], axis=1)
            white = self.distances.whiten(lasting, columns)
            log_det = self.distances.log_det(lasting)
            found = self._found[lasting] = _Whitened(log_det, white[:, :width], white[:, width:])
        return found


@lru_cache(maxsize=KEPT_DAY_SETS)
def _shared_of(days: bytes, last: int) -> _Shared:
    return _Shared(np.frombuffer(days, dtype=np.int64), last=last)


class _Fitter:
    def __init__(
        self, logs: Floats, shared: _Shared, design: Floats, priors: Floats, *, deviation: float
    ) -> None:
        self._logs, self._shared, self._design, self._deviation = logs, shared, design, deviation
        self._precision = (deviation / priors) ** 2
        self._pace = 0.0

    def fits(self) -> list[_Fit]:
        """Fit all combinations: noises without drift first, then drifts with the noises that explain the days best."""
        found: list[_Fit] = []
        best: dict[Lasting, float] = {}
        for correlation, share in NOISES:
            lasting = Lasting(correlation, share)
            both = self._both(lasting, steps=LINEAR_STEPS)
            found += both
            best[lasting] = max(fit.log_evidence for fit in both)
        top = max(best.values())
        # All drifts with all noises would be 96 combinations instead of 36.
        for noise in sorted(best, key=lambda lasting: -best[lasting])[:KEPT_NOISES]:
            if best[noise] < top + np.log(NEGLIGIBLE):
                continue
            for level_walk in LEVEL_WALKS:
                for pace_walk in PACE_WALKS:
                    if level_walk or pace_walk:
                        lasting = Lasting(noise.correlation, noise.share, level_walk, pace_walk)
                        found += self._both(lasting, steps=1)
        return found

    def _both(self, lasting: Lasting, *, steps: int) -> list[_Fit]:
        """Fit the compounding trend and the linear one, which is approached in steps."""
        white, whiten = self._shared.of(lasting), self._shared.distances.whiten
        # Breaks are the last columns of a design; the columns before them are shared.
        own = whiten(lasting, np.column_stack([self._design[:, white.design.shape[1] :], self._logs]))
        design, logs = np.concatenate([white.design, own[:, :-1]], axis=1), own[:, -1]
        products = design.T @ design
        found = [self._fit(lasting, logs, design, products, white, is_linear=False)]
        changed = design.copy()
        if steps > 1:
            self._pace = float(found[0].coefficients[PACE])
        for _ in range(steps):
            bent = whiten(lasting, self._bent(self._pace))
            changed[:, PACE] = bent[:, 0]
            products[:, PACE] = products[PACE] = bent[:, 0] @ changed
            linear = self._fit(lasting, logs - bent[:, 1], changed, products, white, is_linear=True)
            self._pace = float(linear.coefficients[PACE])
        return [*found, linear]

    def _bent(self, pace: float) -> Floats:
        """Return the column of a linear trend's pace, and the part of the trend that does not depend on it, near this pace.

        On the logarithmic scale the linear trend is not a linear function of its pace, so it is expanded.
        """
        ahead = self._design[:, PACE]
        steepest = STEEPEST / max(-float(ahead.min()), 1.0)
        pace = min(max(pace, -10 * steepest), steepest)
        ratio = np.maximum(1 + pace * ahead, NEAR_ZERO)
        return np.stack([ahead / ratio, np.log(ratio) - pace * ahead / ratio], axis=1)

    def _fit(
        self,
        lasting: Lasting,
        logs: Floats,
        design: Floats,
        products: Floats,
        white: _Whitened,
        *,
        is_linear: bool,
    ) -> _Fit:
        """Fit the coefficients to the whitened days; the noise's variance is integrated out.

        `products` are those of the design's columns with one another.
        """
        information = products.copy()
        information.flat[:: len(information) + 1] += self._precision
        root = lapack.dpotrf(information, lower=1)[0]
        half = lapack.dtrtrs(root, design.T @ logs, lower=1)[0]
        coefficients = lapack.dtrtrs(root, half, lower=1, trans=1)[0]
        freedom = len(logs) + PRIOR_DAYS
        squares = float(logs @ logs - half @ half) + PRIOR_DAYS * self._deviation**2
        squares = max(squares, freedom * LEAST_DEVIATION**2)
        log_evidence = (
            lasting.log_prior()
            - white.log_det / 2
            - float(np.log(np.diag(root)).sum())
            - freedom / 2 * float(np.log(squares))
        )
        return _Fit(
            lasting,
            is_linear,
            log_evidence,
            logs,
            design,
            white.state,
            root,
            coefficients,
            squares / freedom,
            freedom,
        )


# ---- paths -----------------------------------------------------------------------------------------------------------


def _drawn(
    fit: _Fit, distances: Distances, design: Floats, count: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return logarithms of paths, and their growth in 30 days."""
    ahead, width = design.shape
    rest = fit.logs - fit.design @ fit.coefficients
    # The noise's variance is itself uncertain: without drawing it, intervals from short histories would be too narrow.
    deviation = np.sqrt(fit.variance * fit.freedom / random.chisquare(fit.freedom, count))[:, None]
    mean = np.concatenate([fit.coefficients, fit.state.T @ rest])
    drawn = mean + deviation * (random.normal(size=(count, len(mean))) @ _root(fit, distances).T)
    coefficients, state = drawn[:, :width], drawn[:, width:]
    steps = np.arange(1, ahead + 1)
    pace = coefficients[:, PACE : PACE + 1]
    trend = np.log(np.maximum(1 + pace * steps, NEAR_ZERO_AHEAD)) if fit.is_linear else pace * steps
    trend += state[:, 2:3] * steps
    lasting = fit.lasting
    if lasting.level_walk:
        trend += lasting.level_walk * deviation * random.normal(size=(count, ahead)).cumsum(axis=1)
    if lasting.pace_walk:
        paces = random.normal(size=(count, ahead)).cumsum(axis=1)
        trend += lasting.pace_walk * deviation * paces.cumsum(axis=1)
    at = min(GROWTH_DAYS, ahead)
    growth = trend[:, at - 1] * (GROWTH_DAYS / at)
    factors = np.delete(coefficients, PACE, axis=1) @ np.delete(design, PACE, axis=1).T
    shocks = rest - rest.mean()
    shocks /= max(float(shocks.std()), np.finfo(np.float64).tiny)
    noise = _noise(lasting, shocks, state[:, 3], deviation, ahead, random)
    return factors + trend + state[:, :1] + state[:, 1:2] + noise, growth


def _root(fit: _Fit, distances: Distances) -> Floats:
    """Return a root of the covariance of coefficients and state, in units of the noise's variance."""
    width = fit.design.shape[1]
    inverse = lapack.dtrtrs(fit.root, np.eye(width), lower=1)[0]
    spread = inverse.T @ inverse
    gain = fit.state.T @ fit.design
    covariance = np.empty((width + STATES, width + STATES))
    covariance[:width, :width] = spread
    covariance[width:, :width] = -gain @ spread
    covariance[:width, width:] = covariance[width:, :width].T
    of_state = distances.of_state(fit.lasting) - fit.state.T @ fit.state
    covariance[width:, width:] = of_state + gain @ spread @ gain.T
    # Decompose the correlations, because units differ by orders of magnitude; use eigenvalues, because the state may be
    # known exactly, which a Cholesky factor does not allow. The symmetric root is the only one that hardly changes with the
    # last digits of the covariance: eigenvectors of equal eigenvalues may turn, and would draw other paths on another machine.
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(np.float64).tiny))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    root: Floats = scale[:, None] * (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root


def _noise(
    lasting: Lasting,
    shocks: Floats,
    begins: Floats,
    deviation: Floats,
    ahead: int,
    random: np.random.Generator,
) -> Floats:
    """Return noise drawn from the history's own shocks, so that it has the same skewness and the same extremes."""
    count = len(begins)
    drawn = shocks[random.integers(0, len(shocks), (count, ahead))] * deviation
    if not lasting.correlation:
        return drawn
    fresh = (drawn * np.sqrt(lasting.share * (1 - lasting.correlation**2))).T.copy()
    now = begins
    for day in range(ahead):
        now = lasting.correlation * now + fresh[day]
        fresh[day] = now
    noise: Floats = fresh.T
    if lasting.share < 1:
        more = shocks[random.integers(0, len(shocks), (count, ahead))] * deviation
        noise = noise + np.sqrt(1 - lasting.share) * more
    return noise
