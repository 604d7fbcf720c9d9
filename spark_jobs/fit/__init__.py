"""Fits of size curves to a site's own allocations, and of its message mixes, with numpy and scipy and without Spark.

`fit_all` converts the daily allocation statistics of all structures into one `CurveFit` for each coupling facility and
CFCC level; `fit_mix` converts daily statistics of queues and structures into one `MixFit` for each structure.
"""

from __future__ import annotations

from planner_core.contracts.fits import CurveFit, Cut, Estimate, FitPoint, MixFit
from spark_jobs.fit.curve import fit_all, fit_curve
from spark_jobs.fit.mix import QueueDay, StructureDay, fit_mix
from spark_jobs.fit.points import AllocationPoint

__all__ = [
    "AllocationPoint",
    "CurveFit",
    "Cut",
    "Estimate",
    "FitPoint",
    "MixFit",
    "QueueDay",
    "StructureDay",
    "fit_all",
    "fit_curve",
    "fit_mix",
]
