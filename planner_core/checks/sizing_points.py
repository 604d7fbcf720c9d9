"""Findings on the fit of sizing points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from planner_core.findings import Finding, finding
from planner_core.sizing.levels import listed
from planner_core.sizing.sizing_points import PointsFit

FIGURES: Final = {
    "base": "base",
    "bundle": "cost of an entry with its elements",
    "entry": "cost of an entry",
    "element": "cost of an element",
    "size_cost": "cost of SIZE",
}
"""The figures of a fit in words."""


def check_points_fit(fit: PointsFit) -> Iterator[Finding]:
    """Yield the findings on a fit: why it has no curve, what its points cannot separate, and points that were left out."""
    if fit.state != "fitted":
        why = "too few" if fit.state == "too_little" else "impossible figures"
        reason = f" {fit.reason.rstrip('.')}." if fit.reason else ""
        yield finding(
            "SIZING_POINTS_WITHOUT_CURVE",
            f"The points at CFCC level {fit.cfcc_level} give no curve: {why}.{reason} Add the sizings that the advice lists.",
        )
    for each in fit.not_separable:
        figures = listed([FIGURES.get(name, name) for name in each.figures])
        yield finding(
            "SIZING_POINTS_NOT_SEPARABLE",
            f"The points do not separate {figures}. {each.why} {each.used}".rstrip(),
        )
    for why, number in Counter(each.left_out for each in fit.residuals if each.left_out).items():
        points = "1 point is" if number == 1 else f"{number} points are"
        yield finding("SIZING_POINTS_LEFT_OUT", f"{points} not in the fit. {why}")
