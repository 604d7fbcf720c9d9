"""Base and costs of one coupling facility out of what its structures were allocated."""

from __future__ import annotations

from collections.abc import Iterable

from spark_jobs.fit.points import AllocationPoint
from spark_jobs.fit.result import CurveFit


def fit_curve(points: Iterable[AllocationPoint], *, confidence: float = 0.9) -> CurveFit:
    """Fit one coupling facility; all points are taken to be of one facility at one CFCC level."""
    raise NotImplementedError


def fit_all(points: Iterable[AllocationPoint], *, confidence: float = 0.9) -> list[CurveFit]:
    """Fit each coupling facility and CFCC level on its own, in their order."""
    raise NotImplementedError
