"""The dependence of a day's noise on previous days: persistent noise, and a drifting level and pace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

if TYPE_CHECKING:
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
STATES = 4
FEW_COLUMNS = 5
"""The number of columns up to which OpenBLAS solves a triangular system faster one by one: for a single column, it copies
no part of the matrix."""
KEPT_DAY_SETS = 1
"""The number of sets of days whose roots are kept in each process. The roots of 400 days take 50 to 130 MB."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """One combination of the grid: how long noise lasts, and how much level and pace drift."""

    correlation: float
    share: float
    level_walk: float = 0.0
    pace_walk: float = 0.0

    def log_prior(self) -> float:
        """Return the log-probability: STEADY for no drift, the rest shared by the other values of the grid."""
        found = 0.0
        for value, grid in ((self.level_walk, LEVEL_WALKS), (self.pace_walk, PACE_WALKS)):
            found += float(np.log((1 - STEADY) / (len(grid) - 1) if value else STEADY))
        return found

    def is_autoregressive(self) -> bool:
        """Return whether the noise of a day depends on the previous day only, and neither level nor pace drift."""
        return self.share == 1 and not self.level_walk and not self.pace_walk


class Distances:
    """The distances between the measured days, and the roots of their covariances.

    They depend only on the days, so structures with the same days share them: see `distances_of`.
    """

    def __init__(self, days: Days, *, last: int) -> None:
        self.at: Floats = (days - days[0]).astype(np.float64)
        self.last = last - int(days[0])
        self._days = days
        self._roots: dict[Lasting, Floats] = {}

    def root(self, lasting: Lasting) -> Floats:
        """Return the lower Cholesky factor of the days' covariance, in units of the noise's variance."""
        found = self._roots.get(lasting)
        if found is None:
            found = self._roots[lasting] = self._decomposed(lasting)
        return found

    @cached_property
    def _apart(self) -> Days:
        apart: Days = np.abs(self._days[:, None] - self._days[None, :])
        return apart

    @cached_property
    def _earlier(self) -> Floats:
        return np.minimum(self.at[:, None], self.at[None, :])

    @cached_property
    def _twice(self) -> Floats:
        later = np.maximum(self.at[:, None], self.at[None, :])
        found: Floats = self._earlier**2 * (3 * later - self._earlier) / 6
        return found

    def _decomposed(self, lasting: Lasting) -> Floats:
        table = lasting.share * lasting.correlation ** np.arange(int(self.at[-1]) + 1)
        # The rest of the variance is noise of a single day, which is on the diagonal only.
        table[0] = 1.0
        found = np.take(table, self._apart)
        if lasting.level_walk:
            found += lasting.level_walk**2 * self._earlier
        if lasting.pace_walk:
            found += lasting.pace_walk**2 * self._twice
        # Transposing a symmetric matrix does not change it, and lets LAPACK use its memory without a copy.
        root, info = lapack.dpotrf(found.T, lower=1, overwrite_a=1)
        if info:
            message = f"the covariance of {lasting} is not positive"
            raise ArithmeticError(message)
        lower: Floats = root
        return lower

    def whiten(self, lasting: Lasting, columns: Floats) -> Floats:
        """Return the columns (values of the days in rows) transformed to independent noise of variance 1."""
        if not lasting.is_autoregressive():
            return whitened(self.root(lasting), columns)
        # Such noise depends on the previous day only, so that its root has an inverse with two diagonals.
        correlation, new = self._previous(lasting)
        found = columns / new[:, None]
        found[1:] -= (correlation / new)[1:, None] * columns[:-1]
        return found

    def log_det(self, lasting: Lasting) -> float:
        """Return the logarithm of the determinant of the days' covariance, in units of the noise's variance."""
        if lasting.is_autoregressive():
            return 2 * float(np.log(self._previous(lasting)[1]).sum())
        return 2 * float(np.log(np.diag(self.root(lasting))).sum())

    def _previous(self, lasting: Lasting) -> tuple[Floats, Floats]:
        """Return, for each day, the correlation with the previous day and the standard deviation of the innovation."""
        apart = np.diff(self.at, prepend=self.at[0])
        correlation = np.where(apart > 0, lasting.correlation**apart, 0.0)
        return correlation, np.sqrt(1 - correlation**2)

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


def whitened(root: Floats, columns: Floats) -> Floats:
    """Return the columns transformed to independent noise of variance 1."""
    if columns.shape[1] > FEW_COLUMNS:
        found: Floats = lapack.dtrtrs(root, columns, lower=1)[0]
        return found
    found = np.empty(columns.shape, order="F")
    for number, column in enumerate(columns.T):
        found[:, number] = lapack.dtrtrs(root, column, lower=1)[0]
    return found
