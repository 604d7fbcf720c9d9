"""Findings on the fit of sizing points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from planner_core.findings import Finding, finding
from planner_core.sizing.levels import listed
from planner_core.sizing.sizing_points import PointResidual, PointsFit, SizingPoint
from planner_core.units import format_mib, format_size

FIGURES: Final = {
    "base": "base",
    "bundle": "cost of an entry with its elements",
    "entry": "cost of an entry",
    "element": "cost of an element",
    "size_cost": "cost of SIZE",
}
"""The figures of a fit in words."""


_SHOWN: Final = 3


def check_points_fit(
    fit: PointsFit, points: Sequence[SizingPoint], *, labels: Sequence[str] = ()
) -> Iterator[Finding]:
    """Yield the findings on a fit: why it has no curve, what its points cannot separate, and points that contradict others.

    Args:
        fit: The fit.
        points: Its points, in the order of its residuals.
        labels: A label for each point; without them, points are numbered from 1.
    """
    named = _named_by(points, labels or [f"point {number}" for number in range(1, len(points) + 1)])
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
    left_out: dict[str, list[PointResidual]] = {}
    for residual in fit.residuals:
        if residual.left_out:
            left_out.setdefault(residual.left_out, []).append(residual)
    for why, those in left_out.items():
        count = "1 point is" if len(those) == 1 else f"{len(those)} points are"
        yield finding("SIZING_POINTS_LEFT_OUT", f"{count} not in the fit. {why} {_listed(those, named)}")
    used = [residual for residual in fit.residuals if residual.left_out is None]
    if fit.method == "least_squares" and used:
        farthest = max(used, key=lambda each: each.beyond_rounding_bytes)
        yield finding(
            "SIZING_POINTS_NOT_ON_LINE",
            f"No line explains the {fit.points_used} points by rounding: the best one misses a point by "
            f"{format_mib(round(fit.least_misfit_bytes), digits=2)} more than that. The figures are averages, and one wrong point can move "
            f"all of them. Farthest from the curve: {named(farthest)}. Compare it with its answer first.",
        )


def _listed(found: Sequence[PointResidual], named: Callable[[PointResidual], str]) -> str:
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(map(named, found[:_SHOWN])) + f"{more}."


def _named_by(points: Sequence[SizingPoint], labels: Sequence[str]) -> Callable[[PointResidual], str]:
    """Return a function that names a point with the figures with which it is found in a file, and the curve's INITSIZE."""

    def named(residual: PointResidual) -> str:
        point = points[residual.point]
        counts = ((point.entries, "entries"), (point.elements, "elements"))
        stated = [f"{count} {unit}" for count, unit in counts if count is not None]
        sizes = f"SIZE {format_size(point.size_bytes)}, INITSIZE {format_size(point.initsize_bytes)}"
        return f"{labels[residual.point]} ({', '.join(stated)}, {sizes}; {format_mib(round(residual.fitted_bytes))} on the curve)"

    return named
