"""Curves fitted to a site's own allocations."""

from __future__ import annotations

from fractions import Fraction

from planner_core.contracts.fits import CurveFit, Estimate
from planner_core.errors import PlanRefused
from planner_core.findings import Finding, finding
from planner_core.provenance import Basis, Source
from planner_core.sizing.structure_size import (
    Curve,
    FittedFigures,
    Interval,
    model_constant,
    published_curves,
    storage_increment_bytes,
)

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
    figures = FittedFigures(
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
    )
    source = fit_source(figures)
    return Curve(
        id=f"fitted-{version}",
        origin=_FITTED,
        cfcc_from=known,
        cfcc_to=known,
        base=_value(fit.base_bytes) or Fraction(0),
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
    to = "simulated data" if figures.is_simulated else "this site"
    level = f"CFCC level {figures.cfcc_level}" if figures.cfcc_level is not None else "CFCC level not known"
    where = f"{figures.coupling_facility}, {level}, from {figures.first_day} to {figures.last_day}"
    return Source(f"fitted to {to}, version {figures.version}", where, "")


def _value(estimate: Estimate | None) -> Fraction | None:
    # Converted through its text: the binary fraction of a float would put fifty digits into explanations.
    return None if estimate is None else Fraction(str(estimate.value))


def _interval(estimate: Estimate | None) -> Interval | None:
    return None if estimate is None else (Fraction(str(estimate.low)), Fraction(str(estimate.high)))
