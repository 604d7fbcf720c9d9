"""Findings on the use of a fitted curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner_core.document.model import FittedCurve, PlanDocument
from planner_core.findings import Finding, finding
from planner_core.sizing.filling import smallest_bytes
from planner_core.sizing.levels import listed
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import (
    Curve,
    FittedFigures,
    Interval,
    bundles_in,
    published_curve,
    with_derived_costs,
)
from planner_core.units import as_fraction, ceil_fraction, format_mib, round_up

_ALL_PERCENT = 100


def check_fitted(
    document: PlanDocument, curve: Curve, structures: Sequence[StructureResult]
) -> Iterator[Finding]:
    """Yield the findings on a curve fitted to a site's own allocations, which replaces the published one."""
    fit = curve.fit
    if fit is None:
        return
    at = "/curve/fitted" if isinstance(document.curve, FittedCurve) else "/curve"
    intervals = f"the {float(fit.confidence_percent):g} % intervals are in parentheses"
    if fit.confidence_percent == _ALL_PERCENT:
        intervals = "the intervals in parentheses hold every curve that the rounding of the answers allows"
    costs = _cost(curve.bundle, fit.bundle_interval)
    apart = ""
    if fit.entry is not None and fit.element is not None and fit.entry_interval and fit.element_interval:
        entry, element = _cost(fit.entry, fit.entry_interval), _cost(fit.element, fit.element_interval)
        apart = f", or {entry} for an entry and {element} for an element counted separately"
    level = "not known" if fit.cfcc_level is None else str(fit.cfcc_level)
    controls = ""
    if fit.size_cost is not None and fit.size_cost_interval is not None:
        low, high = (float(each) for each in fit.size_cost_interval)
        controls = f", and {float(fit.size_cost):.4g} bytes ({low:.4g} to {high:.4g}) of control storage for each byte of SIZE"
    yield finding(
        "FITTED_CURVE_IN_USE",
        f"The sizes are based on curve {fit.version}, fitted to {_data_of(fit, level)}. Base {format_mib(fit.base)} "
        f"({_from_to(fit.base_interval)} MiB), {costs} bytes for an entry with {_plain(curve.elements_per_entry)} elements{apart}"
        f"{controls}; {intervals}. CSQ_ADMIN uses its published size.",
        field=at,
    )
    smaller = tuple(_smaller_than_published(document, structures))
    if smaller:
        yield _smaller(fit, smaller, field=at)
    if fit.cfcc_level is None:
        return
    others: dict[int, list[str]] = {}
    for structure in structures:
        # CSQ_ADMIN keeps its published size, which follows its own level.
        if structure.role != "admin" and structure.level.level != fit.cfcc_level:
            others.setdefault(structure.level.level, []).append(structure.name)
    for highest, names in others.items():
        may = (
            "Earlier increases in level made structures larger, so the sizes may be too small there"
            if highest > fit.cfcc_level
            else "The cost of structures changes with the level"
        )
        yield finding(
            "FITTED_CURVE_OF_OTHER_LEVEL",
            f"Curve {fit.version} was fitted at CFCC level {fit.cfcc_level}, but the highest level in the PREFLIST of {listed(names)} is "
            f"{highest}. {may}: use a curve for level {highest}, or the published one.",
            field=at,
        )


@dataclass(frozen=True, slots=True)
class _Smaller:
    """A structure whose calculated INITSIZE is smaller than with published figures [bytes]."""

    structure: StructureResult
    published_bytes: int

    @property
    def share(self) -> Fraction:
        return Fraction(self.structure.initsize_bytes, self.published_bytes)


def _smaller_than_published(
    document: PlanDocument, structures: Sequence[StructureResult]
) -> Iterator[_Smaller]:
    """Yield the structures whose calculated INITSIZE is smaller than with published figures by more than rounding."""
    for structure in structures:
        if structure.load is None or structure.sizes.initsize_is_given:
            continue
        found = _published_initsize(document, structure, structure.load.ratio)
        if found - structure.initsize_bytes > structure.sizes.increment_bytes:
            yield _Smaller(structure, found)


def _published_initsize(
    document: PlanDocument, structure: StructureResult, ratio: tuple[int, int] | None
) -> int:
    """Return INITSIZE for the same entries and elements with published figures [bytes]."""
    sizes = structure.sizes
    published = published_curve(cfcc_level=structure.level.level).curve
    if document.separate_costs == "derived":
        published = with_derived_costs(published)
    headroom = as_fraction(sizes.headroom_percent or 0) / _ALL_PERCENT
    held = sizes.wanted_bytes if sizes.headroom_percent is None else sizes.need_bytes
    bundles = bundles_in(held, curve=structure.curve, ratio=ratio)
    wanted = ceil_fraction(smallest_bytes(bundles, curve=published, ratio=ratio) * (1 + headroom))
    initsize = round_up(
        max(wanted, sizes.minimum_bytes, sizes.minsize_bytes or 0), multiple=sizes.increment_bytes
    )
    return min(initsize, sizes.size_bytes) if sizes.size_is_given else initsize


def _smaller(fit: FittedFigures, found: Sequence[_Smaller], *, field: str) -> Finding:
    worst = min(found, key=lambda each: each.share)
    most, together = "", ""
    if len(found) > 1:
        total = sum(each.published_bytes - each.structure.initsize_bytes for each in found)
        most, together = " differs most and", f" Together, they are {format_mib(total)} smaller."
    return finding(
        "FITTED_CURVE_SMALLER",
        f"On curve {fit.version}, INITSIZE of {listed([each.structure.name for each in found])} is smaller than with the published "
        f"figures. {worst.structure.name}{most} has {format_mib(worst.structure.initsize_bytes)} instead of "
        f"{format_mib(worst.published_bytes)} for CFCC level {worst.structure.level.level}.{together} Confirm the smaller sizes with "
        "an allocated structure before you use them.",
        field=field,
    )


def _data_of(fit: FittedFigures, level: str) -> str:
    if fit.sources is not None:
        return f"sizing answers for CFCC level {level}: {'; '.join(fit.sources)}"
    to = "simulated data, not to a site" if fit.is_simulated else "this site's own allocations"
    return f"{to}: {fit.coupling_facility}, CFCC level {level}, from {fit.first_day} to {fit.last_day}"


def _cost(value: Fraction, interval: Interval) -> str:
    return f"{float(value):.1f} ({float(interval[0]):.1f} to {float(interval[1]):.1f})"


def _from_to(interval: Interval) -> str:
    low, high = (format_mib(each, digits=2).removesuffix(" MiB") for each in interval)
    return f"{low} to {high}"


def _plain(number: Fraction) -> str:
    return f"{float(number):.4g}"
