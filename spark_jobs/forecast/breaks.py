"""Days on which level or pace changed suddenly, such as when an application was added."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from spark_jobs.forecast.cleaning import NORMAL_MAD
from spark_jobs.forecast.design import YEAR, Break, Design, break_of
from spark_jobs.forecast.noise import KEPT_DAY_SETS, Distances, Lasting, distances_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days

    Floats = NDArray[np.float64]

AT_MOST = 4
STRENGTH = 20.0
"""The minimum reduction of the squared error that makes a break count, in variances of the noise."""
LEAST_SHIFT, LEAST_TURN = 0.08, 0.0005
"""The smallest breaks of level (logarithm) and of pace (a day); smaller changes are attributed to the drift of the
level."""
EDGE_DAYS, TURN_EDGE_DAYS, TURN_STEP_DAYS = 6, 18, 3
LEAST_WEIGHT = 1e-6
BEND_PRIOR = 1.0
SCAN = Lasting(0.5, 1.0, 0.05)
"""The noise model of the search for breaks: noise that lasts, and a level that drifts a little."""


def breaks_of(days: Days, logs: Floats, distances: Distances, *, last: int, deviation: float) -> list[Break]:
    """Return the breaks one after another; each is the one that explains most of the remaining error.

    All days are tried at once: after removing noise and explained parts from the columns, the part that a break would explain
    is a product of two columns.
    """
    of_days = _candidates_of(days.tobytes(), last)
    steps = of_days.columns
    # The part of the columns that is left to explain is steps - basis @ explained. It is never written out: for a year of
    # days, this would take most of the time of the search.
    basis, explained = _explained(of_days, deviation)
    weight = of_days.squares - (explained**2).sum(axis=0)
    rest = distances.whiten(SCAN, logs[:, None])[:, 0]
    rest = rest - basis @ (basis.T @ rest)
    found: list[Break] = []
    while len(found) < AT_MOST:
        usable = weight > LEAST_WEIGHT
        size = np.where(usable, rest @ steps / np.where(usable, weight, 1.0), 0.0)
        # Use the median, because breaks that have not been found yet would inflate a standard deviation.
        variance = max(NORMAL_MAD * float(np.median(np.abs(rest))), LEAST_WEIGHT) ** 2
        strength = np.where(np.abs(size) >= of_days.least, size**2 * weight / variance, 0.0)
        best = int(np.argmax(strength))
        if strength[best] < STRENGTH:
            break
        found.append(of_days.breaks[best])
        direction = steps[:, best] - basis @ explained[:, best]
        direction = direction / np.sqrt(float(direction @ direction))
        rest = rest - direction * float(direction @ rest)
        along = direction @ steps
        of_direction = along - (direction @ basis) @ explained
        weight = weight - along * of_direction
        basis = np.column_stack([basis, direction])
        explained = np.vstack([explained, of_direction])
    return sorted(found, key=lambda each: each.day)


def _explained(of_days: _Candidates, deviation: float) -> tuple[Floats, Floats]:
    """Return an orthonormal basis of the design, and its products with the columns of all breaks.

    The priors of the design are further rows (ridge); the basis is limited to the rows of days.
    """
    scale = of_days.priors / deviation
    design = of_days.design * scale
    basis, upper = np.linalg.qr(np.vstack([design, np.eye(design.shape[1])]))
    # The same as basis.T @ columns, without touching the many columns again.
    explained: Floats = lapack.dtrtrs(upper, scale[:, None] * of_days.products, trans=1)[0]
    return basis[: len(design)], explained


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """The breaks that are possible in a history, which depend only on its days; the values of days are whitened."""

    breaks: tuple[Break, ...]
    least: Floats
    """The smallest size of each break."""
    columns: Floats
    design: Floats
    """The design without breaks, and the bend of a linear trend."""
    priors: Floats
    products: Floats
    """The products of the design's columns (rows) with those of the breaks."""
    squares: Floats
    """The squared length of the column of each break."""


@lru_cache(maxsize=KEPT_DAY_SETS)
def _candidates_of(of_days: bytes, last: int) -> _Candidates:
    days = np.frombuffer(of_days, dtype=np.int64)
    breaks = [Break(int(day), "level") for day in days[EDGE_DAYS : len(days) - EDGE_DAYS]]
    least = np.full(len(breaks), LEAST_SHIFT)
    turns = days[TURN_EDGE_DAYS : len(days) - TURN_EDGE_DAYS : TURN_STEP_DAYS]
    breaks += [Break(int(day), "pace") for day in turns]
    least = np.concatenate([least, np.full(len(turns), LEAST_TURN)])
    # A trend that is linear in the peaks is bent on the logarithmic scale, which must not count as a break.
    bend = ((days - last) / YEAR)[:, None] ** 2
    plain = Design(days, last=last)
    design = np.concatenate([plain.of(days), bend], axis=1)
    columns = np.stack([break_of(days, each) for each in breaks], axis=1)
    width = design.shape[1]
    white = distances_of(days, last=last).whiten(SCAN, np.concatenate([design, columns], axis=1))
    priors = np.append(plain.priors(), BEND_PRIOR)
    design, columns = white[:, :width], white[:, width:]
    return _Candidates(
        tuple(breaks), least, columns, design, priors, design.T @ columns, (columns**2).sum(axis=0)
    )
