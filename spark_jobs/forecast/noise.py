"""The dependence of a day's noise on previous days: persistent noise, and a drifting level and pace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days

    Floats = NDArray[np.float64]

NOISES = ((0.0, 1.0), (0.3, 1.0), (0.5, 1.0), (0.7, 1.0), (0.85, 1.0), (0.9, 0.5))
"""Day-to-day correlation of the persistent part of the noise, and its share of the variance."""
LEVEL_WALKS = (0.0, 0.03, 0.08, 0.2)
"""Standard deviation of the level's daily step, in standard deviations of the noise."""
PACE_WALKS = (0.0, 0.0005, 0.002, 0.006)
"""Standard deviation of the daily step of the pace (the growth in a day), in the same unit."""
STEADY = 0.6
"""Prior probability that the level does not drift, and that the pace does not drift."""
MOST_CORRELATION = 0.9
"""The largest correlation whose root is accurate: removing persistent noise loses digits if it is close to 1. The largest error
of the determinant's logarithm, measured against extended precision: 7e-7 for the grid; for 80 combinations with shares from
1e-6 and drifts from 1e-8 over 400 days, 6e-4 at 0.9, 3e-3 at 0.95 and 3e-2 at 0.99. Above 0.99999, the root is wrong."""
STATES = 4
KEPT_DAY_SETS = 4
"""The number of sets of days whose shared parts are kept in each process: the days of most structures, and sets of structures
with gaps or exceptional days of their own. Each set of 400 days takes 5 MB, and 9 MB if all 96 combinations are needed."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """One combination of the grid: how long noise lasts, and how much level and pace drift."""

    correlation: float
    share: float
    level_walk: float = 0.0
    pace_walk: float = 0.0

    def __post_init__(self) -> None:
        if not (
            0 <= self.correlation <= MOST_CORRELATION
            and 0 < self.share <= 1
            and 0 <= self.level_walk < np.inf
            and 0 <= self.pace_walk < np.inf
        ):
            message = (
                f"{self}: the correlation must be from 0 to {MOST_CORRELATION}, the share above 0 and at most 1, "
                "and the walks finite and not negative"
            )
            raise ValueError(message)

    def log_prior(self) -> float:
        """Return the log-probability: STEADY for no drift, the rest shared by the other values of the grid."""
        found = 0.0
        for value, grid in ((self.level_walk, LEVEL_WALKS), (self.pace_walk, PACE_WALKS)):
            found += float(np.log((1 - STEADY) / (len(grid) - 1) if value else STEADY))
        return found

    @property
    def states(self) -> int:
        """Return the number of states that carry over from day to day: persistent noise, level, and pace."""
        walks = 2 if self.pace_walk else 1 if self.level_walk else 0
        return walks + bool(self.correlation)

    @property
    def width(self) -> int:
        """Return for how many days the days without what carries over (`Root.steps`) still depend on each other."""
        has_noise_of_a_day = self.share < 1 or not self.correlation
        return self.states if has_noise_of_a_day else self.states - 1


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """The inverse of the lower Cholesky factor of the days' covariance, in factors that have few diagonals.

    Noise, level and pace of a day depend on the previous days only through a few states. Subtracting a multiple of the previous
    day, once for each state, leaves values that depend only on those of the nearest days, so that the time for a column
    grows with the number of days instead of its square.
    """

    steps: tuple[Floats, ...]
    """For each state, the multiple of the previous day that is subtracted from each day."""
    band: Floats
    """The lower Cholesky factor of the covariance of the rest: diagonals in rows, as LAPACK stores them."""

    def whiten(self, columns: Floats) -> Floats:
        """Return the columns (values of the days in rows) transformed to independent noise of variance 1."""
        found = _less_previous(np.array(columns, order="F"), self.steps)
        white: Floats = lapack.dtbtrs(self.band, found, uplo="L", overwrite_b=1)[0]
        return white

    def log_det(self) -> float:
        """Return the logarithm of the determinant of the days' covariance."""
        return 2 * float(np.log(self.band[0]).sum())


def _less_previous(columns: Floats, steps: Iterable[Floats]) -> Floats:
    for step in steps:
        columns[1:] -= step[1:, None] * columns[:-1]
    return columns


class Distances:
    """The distances between the measured days, and the roots of their covariances.

    They depend only on the days, so structures with the same days share them: see `distances_of`.
    """

    def __init__(self, days: Days, *, last: int) -> None:
        self.at: Floats = (days - days[0]).astype(np.float64)
        self.last = last - int(days[0])
        self._roots: dict[Lasting, Root] = {}

    def root(self, lasting: Lasting) -> Root:
        """Return the root of the days' covariance, in units of the noise's variance."""
        found = self._roots.get(lasting)
        if found is None:
            found = self._roots[lasting] = self._decomposed(lasting)
        return found

    def whiten(self, lasting: Lasting, columns: Floats) -> Floats:
        """Return the columns (values of the days in rows) transformed to independent noise of variance 1."""
        return self.root(lasting).whiten(columns)

    def log_det(self, lasting: Lasting) -> float:
        """Return the logarithm of the determinant of the days' covariance, in units of the noise's variance."""
        return self.root(lasting).log_det()

    def _decomposed(self, lasting: Lasting) -> Root:
        steps = self._steps(lasting)
        states, width = lasting.states, lasting.width
        # The factor of each of the last days in what is left of a day.
        factors = np.zeros((len(self.at), states + 1))
        factors[:, 0] = 1.0
        for step in steps:
            factors[1:, 1:] -= step[1:, None] * factors[:-1, :-1]
        # Days before the first one have the factor zero.
        day = np.maximum(np.arange(len(self.at))[:, None] - np.arange(states + width + 1), 0)
        # The steps remove all that happened to level and pace before the earliest of these days, except for the first days,
        # for which the earliest is the first day of all. Including it would lose digits.
        since = self.at[day[:, -1:, None]]
        covariance = self._covariance(lasting, day[:, : states + 1, None], day[:, None, :], since)
        with_days = np.einsum("ta,tam->tm", factors, covariance)
        band = np.zeros((width + 1, len(self.at)), order="F")
        for apart in range(min(width + 1, len(self.at))):
            earlier = factors[: len(self.at) - apart]
            band[apart, : len(earlier)] = np.einsum(
                "tb,tb->t", earlier, with_days[apart:, apart : apart + states + 1]
            )
        root, info = lapack.dpbtrf(band, lower=1, overwrite_ab=1)
        if info:
            message = f"the covariance of {lasting} is not positive"
            raise ArithmeticError(message)
        return Root(steps, root)

    def _steps(self, lasting: Lasting) -> tuple[Floats, ...]:
        """Return for each state the multiple of the previous day that removes it, from the first day that has enough before it."""
        apart = np.diff(self.at, prepend=0.0)
        has_noise = bool(lasting.correlation)
        kept = lasting.correlation**apart if has_noise else np.zeros(len(apart))
        # What the step before leaves of a constant level, and the growth of the pace in its units. Differences of the days
        # themselves would lose digits in long histories.
        level = 1.0 - kept
        behind = np.divide(apart * kept, level, out=np.zeros(len(apart)), where=level > 0)
        pace = level * (apart + np.diff(behind, prepend=0.0))
        steps: list[Floats] = [kept] if has_noise else []
        for left in (level, pace)[: lasting.states - has_noise]:
            step = np.zeros(len(apart))
            begin = len(steps) + 1
            step[begin:] = left[begin:] / left[begin - 1 : -1]
            steps.append(step)
        return tuple(steps)

    def _covariance(self, lasting: Lasting, one: Days, other: Days, since: Floats) -> Floats:
        """Return the covariances of days, given by their positions, with the level and the pace known at some time."""
        at = self.at
        table = lasting.share * lasting.correlation ** np.arange(int(at[-1]) + 1)
        # The rest of the variance is noise of a single day, which no other day shares.
        table[0] = 1.0
        earlier, later = at[np.minimum(one, other)] - since, at[np.maximum(one, other)] - since
        found = np.asarray(table[(later - earlier).astype(np.int64)], dtype=np.float64)
        if lasting.level_walk:
            found += lasting.level_walk**2 * earlier
        if lasting.pace_walk:
            found += lasting.pace_walk**2 * earlier**2 * (3 * later - earlier) / 6
        return found

    def with_state(self, lasting: Lasting) -> Floats:
        """Return the covariance of the days (rows) with the state at the end.

        The state: the drift of the level, the level's change from the drift of the pace, the drift of the pace itself, and the
        persistent part of the last noise.
        """
        at, last = self.at, self.last
        return np.stack(
            [
                lasting.level_walk**2 * at,
                lasting.pace_walk**2 * at**2 * (3 * last - at) / 6,
                lasting.pace_walk**2 * at**2 / 2,
                lasting.share * lasting.correlation ** (last - at),
            ],
            axis=1,
        )

    def of_state(self, lasting: Lasting) -> Floats:
        """Return the prior covariance of the state."""
        last = float(self.last)
        found = np.zeros((STATES, STATES))
        found[0, 0] = lasting.level_walk**2 * last
        found[1:3, 1:3] = lasting.pace_walk**2 * np.array([[last**3 / 3, last**2 / 2], [last**2 / 2, last]])
        found[3, 3] = lasting.share
        return found


def distances_of(days: Days, *, last: int) -> Distances:
    """Return the distances of some days; recent ones are kept, because structures of a site are measured on the same days."""
    return _distances_of(days.tobytes(), last)


@lru_cache(maxsize=KEPT_DAY_SETS)
def _distances_of(days: bytes, last: int) -> Distances:
    return Distances(np.frombuffer(days, dtype=np.int64), last=last)
