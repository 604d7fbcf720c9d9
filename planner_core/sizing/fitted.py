"""Curves fitted to a site's own allocations, or to answers of a sizing service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from math import sqrt

from planner_core.contracts.fits import (
    CurveFit,
    Estimate,
    FitKind,
    FitPoint,
    LeftOut,
    RatioCount,
    Residuals,
    SizingAnswers,
    rounded,
)
from planner_core.errors import PlanRefused
from planner_core.findings import Finding, finding
from planner_core.provenance import Basis, Source
from planner_core.sizing.sizing_points import PointResidual, PointsFit, SizingPoint
from planner_core.sizing.structure_size import (
    Curve,
    FittedFigures,
    Interval,
    model_constant,
    published_curves,
    storage_increment_bytes,
)
from planner_core.wire import plain

_FITTED = "fitted"
_STATES = (_FITTED, "accepted")
"""The states of a usable fit: one that the nightly run writes, and one that the application writes."""


def fitted_curve(
    *, version: int, fit: CurveFit, is_simulated: bool = False, header_bytes: int | None = None
) -> Curve:
    """Return the curve of a fit.

    Args:
        version: The number by which plans name it.
        fit: The fit, which must be accepted.
        is_simulated: Whether it was fitted to simulated data; every source then states it.
        header_bytes: Bytes that MQ adds to each message; None for the published figure.

    Raises:
        PlanRefused: The fit is in another state, or knows only the cost of an entry with its elements, at a ratio at
            which structures are not allocated: there is no curve to use.
    """
    if fit.state not in _STATES:
        raise PlanRefused((not_accepted(version=version, reason=fit.reason or ""),))
    level = fit.cfcc_level
    published = published_curves()[-1]
    known = level if level is not None else published.cfcc_to
    ratio_entries, ratio_elements = fit.ratio
    entry, element = _value(fit.entry_bytes), _value(fit.element_bytes)
    # With both costs known, the bundle can be calculated at any ratio: the ratio at which structures are allocated is
    # used.
    if element is not None:
        ratio_entries, ratio_elements = published.ratio_entries, published.ratio_elements
    per_entry = Fraction(ratio_elements, ratio_entries)
    if element is None and per_entry != published.elements_per_entry:
        # Used as it is, the bundle would size every structure at that ratio. Split by the assumed cost of an element, the
        # least possible one, it would make every structure too small.
        initial = f"{published.ratio_entries}:{published.ratio_elements}"
        reason = (
            f"It determines the cost of an entry with its elements at {ratio_entries}:{ratio_elements} only, but structures are "
            f"allocated at {initial}. Allocations at a second ratio would determine the cost there"
        )
        raise PlanRefused((not_accepted(version=version, reason=reason),))
    bundle = _value(fit.bundle_bytes) or Fraction(0)
    if entry is not None and element is not None:
        bundle = entry + per_entry * element
    answers = fit.answers
    figures = FittedFigures(
        base=_value(fit.base_bytes) or Fraction(0),
        version=version,
        coupling_facility=fit.coupling_facility or "",
        cfcc_level=level,
        first_day=str(fit.first_day),
        last_day=str(fit.last_day),
        is_simulated=is_simulated,
        confidence_percent=100 * Fraction(str(fit.confidence)),
        bundle=bundle,
        entry=entry,
        element=element,
        base_interval=_interval(fit.base_bytes) or (Fraction(0), Fraction(0)),
        bundle_interval=_interval(fit.bundle_bytes) or (Fraction(0), Fraction(0)),
        entry_interval=_interval(fit.entry_bytes),
        element_interval=_interval(fit.element_bytes),
        size_cost=_value(answers.size_cost) if answers is not None else None,
        size_cost_interval=_interval(answers.size_cost) if answers is not None else None,
        size_multiple=Fraction(str(answers.size_multiple)) if answers and answers.size_multiple else None,
        largest_size=answers.largest_size_bytes if answers is not None else None,
        sources=answers.sources if answers is not None else None,
    )
    source = fit_source(figures)
    return Curve(
        id=f"fitted-{version}",
        origin=_FITTED,
        cfcc_from=known,
        cfcc_to=known,
        base=figures.base,
        base_basis=Basis.DERIVED,
        base_source=source,
        factor=bundle / (per_entry * model_constant("element_bytes")),
        factor_basis=Basis.DERIVED,
        factor_source=source,
        header_bytes=model_constant("header_bytes") if header_bytes is None else header_bytes,
        increment_bytes=storage_increment_bytes(cfcc_level=known),
        ratio_entries=ratio_entries,
        ratio_elements=ratio_elements,
        split_basis=Basis.ASSUMED if element is None else Basis.DERIVED,
        fit=figures,
    )


def fit_of_answers(
    found: PointsFit,
    points: Sequence[SizingPoint],
    *,
    labels: Sequence[str],
    sources: Sequence[str],
    today: date,
) -> CurveFit:
    """Return the fit of sizing answers in the form of all fits, which plans name and pages show.

    Args:
        found: The line through the points.
        points: The points in the order of its residuals.
        labels: A label for each point: the name of its structure, or its origin.
        sources: The origins of the points, in words.
        today: The day of points that state none.
    """
    used = [each for each in found.residuals if each.left_out is None]
    days = sorted(point.measured_on or today for point in points)
    has_both = found.entry_cost_bytes is not None and found.element_cost_bytes is not None
    kind: FitKind = "two_costs" if has_both else "bundle"
    size_cost = found.size_cost
    size_multiple, largest_size = _covered([points[each.point] for each in used], found)
    return CurveFit(
        state=found.state,
        reason=found.reason,
        cfcc_level=found.cfcc_level,
        confidence=found.confidence,
        kind=kind if found.base_bytes is not None else None,
        note=" ".join(f"{each.why} {each.used}" for each in found.not_separable) or None,
        base_bytes=rounded(found.base_bytes),
        entry_bytes=rounded(found.entry_cost_bytes) if has_both else None,
        element_bytes=rounded(found.element_cost_bytes) if has_both else None,
        bundle_bytes=rounded(found.bundle_bytes),
        ratio=found.ratio,
        ratios=_ratio_counts(points),
        structures=len(points),
        points_used=found.points_used,
        points_left_out=_left_out(found),
        first_day=days[0] if days else None,
        last_day=days[-1] if days else None,
        residuals=_residuals(found, points),
        points=tuple(
            _answer_point(points[each.point], each, label=labels[each.point], today=today)
            for each in found.residuals
        ),
        answers=SizingAnswers(
            sources=tuple(sources),
            # A share of the size, which the three digits of bytes would round away.
            size_cost=None
            if size_cost is None
            else Estimate(
                *(float(f"{each:.9g}") for each in (size_cost.value, size_cost.low, size_cost.high))
            ),
            size_multiple=size_multiple,
            largest_size_bytes=largest_size,
            not_separable=tuple(f"{each.why} {each.used}" for each in found.not_separable),
        ),
    )


def _covered(used: Sequence[SizingPoint], found: PointsFit) -> tuple[float | None, int | None]:
    """Return up to which multiple of INITSIZE, or up to which SIZE, a fit includes the control storage for SIZE."""
    if found.size_cost is not None or not used:
        return None, None
    sizes = {point.size_bytes for point in used}
    if len(used) > 1 and len(sizes) == 1:
        return None, sizes.pop()
    # The smallest one, because points with a larger SIZE do not show how much of their size its controls are.
    least = min(Fraction(point.size_bytes, point.initsize_bytes) for point in used)
    return found.size_multiple or float(least), None


def _ratio_counts(points: Sequence[SizingPoint]) -> tuple[RatioCount, ...]:
    counted = Counter(Fraction(point.element_ratio, point.entry_ratio) for point in points)
    return tuple(RatioCount(float(ratio), number) for ratio, number in sorted(counted.items()))


def _left_out(found: PointsFit) -> tuple[LeftOut, ...]:
    counted = Counter(each.left_out for each in found.residuals if each.left_out is not None)
    return tuple(LeftOut(why, number) for why, number in counted.items())


def _residuals(found: PointsFit, points: Sequence[SizingPoint]) -> Residuals | None:
    used = [each for each in found.residuals if each.left_out is None]
    if not used:
        return None
    largest = max(used, key=lambda each: abs(each.residual_bytes))
    mean = sum(each.residual_bytes for each in used) / len(used)
    deviation = sqrt(sum((each.residual_bytes - mean) ** 2 for each in used) / len(used))
    share = abs(largest.residual_bytes) / points[largest.point].initsize_bytes
    return Residuals(round(deviation, 3), round(abs(largest.residual_bytes), 3), round(share, 9))


def _answer_point(point: SizingPoint, residual: PointResidual, *, label: str, today: date) -> FitPoint:
    entries, elements = point.counts
    day = point.measured_on or today
    return FitPoint(
        structure=label,
        first_day=day,
        last_day=day,
        days=1,
        observations=1,
        size_bytes=point.initsize_bytes,
        entries=plain(entries),
        elements=plain(elements),
        fitted_bytes=residual.fitted_bytes,
        residual_bytes=residual.residual_bytes,
        left_out=residual.left_out,
    )


def not_accepted(*, version: int, reason: str) -> Finding:
    """Return the finding on a plan that names a rejected fit, or one without a curve."""
    why = f": {reason[0].lower()}{reason[1:].rstrip('.')}" if reason else ""
    return finding(
        "CURVE_NOT_ACCEPTED",
        f"The plan names fit {version}, which was not accepted{why}. Use 'published', or an accepted curve.",
        field="/curve/fitted",
    )


def fit_source(figures: FittedFigures) -> Source:
    """Return the source of a fit's figures for explanations."""
    if figures.sources is not None:
        return Source(f"fitted to sizing answers, version {figures.version}", "; ".join(figures.sources), "")
    to = "simulated data" if figures.is_simulated else "this site"
    level = f"CFCC level {figures.cfcc_level}" if figures.cfcc_level is not None else "CFCC level not known"
    where = f"{figures.coupling_facility}, {level}, from {figures.first_day} to {figures.last_day}"
    return Source(f"fitted to {to}, version {figures.version}", where, "")


def _value(estimate: Estimate | None) -> Fraction | None:
    # Converted through its text: the binary fraction of a float would put fifty digits into explanations.
    return None if estimate is None else Fraction(str(estimate.value))


def _interval(estimate: Estimate | None) -> Interval | None:
    return None if estimate is None else (Fraction(str(estimate.low)), Fraction(str(estimate.high)))
