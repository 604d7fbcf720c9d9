"""Base and costs of one coupling facility, from the allocations of its structures.

    size = base + entry x entries + element x elements

XES divides a size into as many entries and elements as fit, at the structure's ratio of entries to elements. If all
structures have the same ratio, entries and elements grow together: then the data determine only the cost of one entry
with its elements, the bundle.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from planner_core.contracts.fits import (
    CurveFit,
    Estimate,
    FitKind,
    FitPoint,
    LeftOut,
    RatioCount,
    Residuals,
    rounded,
)
from planner_core.sizing.structure_size import model_constant
from planner_core.units import MIB
from spark_jobs.fit.points import AllocationPoint, Gathered, Stretch, cuts_of, gather, leave_out_repeated
from spark_jobs.fit.robust import Regression, regress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FitState = Literal["fitted", "rejected", "too_little"]

FEWEST_POINTS = 4
"""The fewest points for a line; a plane (two costs) needs one more."""
FEWEST_AT_A_RATIO = 2
LEAST_SPREAD = 1.5
"""The minimum ratio of the largest size to the smallest."""
SAME_RATIO = 0.05
"""The relative difference up to which two ratios count as equal."""
NEAR_INITIAL = 0.02
"""The relative difference up to which a ratio counts as equal to the published one."""
WIDEST = 0.1
"""Limit of half the width of the bundle's interval, as a share of the bundle; a wider interval is useless for
planning."""
WIDEST_APART = 0.25
"""The same limit for the cost of an entry or of an element; if an interval is wider, only the bundle is reported."""
OUTLIER = "farther from the line of the others than chance would explain"
EARLIER = "with a different base than now: allocated before the coupling facility was empty on"
"""The beginning of a reason for leaving a point out; the day follows."""
OTHER_RATIO = "at a different ratio than most, and too few to separate the costs of entries and elements"


def fit_all(points: Iterable[AllocationPoint], *, confidence: float = 0.9) -> list[CurveFit]:
    """Fit each coupling facility and CFCC level separately, in their order; rows without a facility are ignored."""
    groups: dict[tuple[str, int], list[AllocationPoint]] = defaultdict(list)
    for point in points:
        if point.coupling_facility:
            groups[point.coupling_facility, point.cfcc_level or 0].append(point)
    return [fit_curve(group, confidence=confidence) for _, group in sorted(groups.items())]


def fit_curve(points: Iterable[AllocationPoint], *, confidence: float = 0.9) -> CurveFit:
    """Fit one coupling facility; all points must be of one facility at one CFCC level."""
    rows = list(points)
    gathered = gather(rows)
    frame = _Frame(
        coupling_facility=next((row.coupling_facility for row in rows if row.coupling_facility), None),
        cfcc_level=next((row.cfcc_level for row in rows if row.cfcc_level is not None), None),
        qsgs=tuple(sorted({row.qsg for row in rows if row.qsg})),
        days=(min((row.day for row in rows), default=None), max((row.day for row in rows), default=None)),
        confidence=confidence,
        gathered=gathered,
    )
    _part_by_base(gathered.stretches)
    leave_out_repeated(gathered.stretches)
    stretches = _in(gathered.stretches)
    ratios = _ratios(stretches)
    main = max(ratios, key=lambda ratio: ratio.points, default=None)
    if main is None:
        return frame.without(
            "No allocation of an application structure with size, entries and elements was found."
        )
    several = sum(ratio.points >= FEWEST_AT_A_RATIO for ratio in ratios) > 1
    if several and len(stretches) > FEWEST_POINTS:
        found = _two_costs(frame, stretches)
        if found is not None:
            return found
    for stretch in stretches:
        if not _same_ratio(stretch.elements_per_entry, main.elements_per_entry):
            # A few points at another ratio would distort the line, because an entry with more or fewer elements has a
            # different cost.
            stretch.left_out = OTHER_RATIO
    return _bundle(frame, _in(stretches), main.elements_per_entry)


def _in(stretches: Iterable[Stretch]) -> list[Stretch]:
    return [stretch for stretch in stretches if stretch.left_out is None]


@dataclass(frozen=True, slots=True)
class _Frame:
    """The fields that every fit of these points has, with or without figures."""

    coupling_facility: str | None
    cfcc_level: int | None
    qsgs: tuple[str, ...]
    days: tuple[dt.date | None, dt.date | None]
    confidence: float
    gathered: Gathered

    def since(self) -> str:
        """Return " since" and the first day whose points count, or an empty text if all points count."""
        day = next(
            (s.left_out for s in self.gathered.stretches if (s.left_out or "").startswith(EARLIER)), None
        )
        return f" since {day.rpartition(' ')[2]}" if day else ""

    def without(self, reason: str) -> CurveFit:
        """Return a fit without figures."""
        return self.made("too_little", reason, kind=None, note=None, fitted=None)

    def made(
        self,
        state: FitState,
        reason: str | None,
        *,
        kind: FitKind | None,
        note: str | None,
        fitted: Callable[[Stretch], float] | None,
        base: Estimate | None = None,
        entry: Estimate | None = None,
        element: Estimate | None = None,
        bundle: Estimate | None = None,
        ratio: tuple[int, int] = (1, 6),
        residuals: Residuals | None = None,
    ) -> CurveFit:
        """Return a fit with this state and these figures."""
        stretches = self.gathered.stretches
        used = _in(stretches)
        left_out = Counter(self.gathered.left_out)
        for stretch in stretches:
            if stretch.left_out is not None:
                left_out[stretch.left_out] += stretch.rows
        return CurveFit(
            state=state,
            reason=reason,
            coupling_facility=self.coupling_facility,
            cfcc_level=self.cfcc_level,
            qsgs=self.qsgs,
            confidence=self.confidence,
            kind=kind,
            note=note,
            # Round only here, because the preceding checks need the exact figures.
            base_bytes=rounded(base),
            entry_bytes=rounded(entry),
            element_bytes=rounded(element),
            bundle_bytes=rounded(bundle),
            ratio=ratio,
            ratios=tuple(_ratios(used)),
            structures=len({(stretch.qsg, stretch.structure) for stretch in used}),
            points_used=len(used),
            points_left_out=tuple(LeftOut(why, count) for why, count in sorted(left_out.items())),
            cuts=tuple(cuts_of(stretch for stretch in stretches if stretch.left_out != OUTLIER)),
            first_day=self.days[0],
            last_day=self.days[1],
            residuals=residuals,
            points=tuple(_point(each, None if fitted is None else fitted(each)) for each in stretches),
        )


def _point(stretch: Stretch, fitted_bytes: float | None) -> FitPoint:
    return FitPoint(
        qsg=stretch.qsg,
        structure=stretch.structure,
        allocated_at=stretch.allocated_at,
        first_day=stretch.first_day,
        last_day=stretch.last_day,
        days=len(stretch.days),
        observations=stretch.observations,
        size_bytes=stretch.size_bytes,
        entries=stretch.entries,
        elements=stretch.elements,
        fitted_bytes=None if fitted_bytes is None else round(fitted_bytes, 1),
        residual_bytes=None if fitted_bytes is None else round(stretch.size_bytes - fitted_bytes, 1),
        left_out=stretch.left_out,
    )


def _part_by_base(stretches: Sequence[Stretch]) -> None:
    """Leave out allocations from before an upgrade, if the later ones do not fit them.

    A coupling facility is emptied for an upgrade of its control code, and for other reasons. If the later allocations
    fit the earlier ones, all of them count.
    """
    emptied = _emptied(stretches)
    if emptied is None:
        return
    before = [s for s in stretches if s.allocated_at is not None and s.allocated_at < emptied]
    after = [s for s in stretches if s.allocated_at is not None and s.allocated_at >= emptied]
    ratio = max(_ratios(stretches), key=lambda each: each.points).elements_per_entry
    same = [[s for s in part if _same_ratio(s.elements_per_entry, ratio)] for part in (before, after)]
    if len(same[0]) < FEWEST_POINTS or not same[1]:
        return
    old, new = _arrays(same[0]), _arrays(same[1])
    unit = _unit(old.sizes, old.entries)
    fit = _regress(np.column_stack([np.ones(len(old.sizes)), old.entries * unit]), old, same[0])
    design = np.column_stack([np.ones(len(new.sizes)), new.entries * unit])
    expected = fit.expects(design, new.sizes / MIB, sizes=new.sizes)
    # The majority decides: a single later point may be wrong, and single points are left out by name anyway.
    if 2 * int(expected.sum()) < len(new.sizes):
        for stretch in before:
            stretch.left_out = f"{EARLIER} {emptied.date().isoformat()}"


def _emptied(stretches: Sequence[Stretch]) -> dt.datetime | None:
    """Return the last time at which the facility was empty, so that all structures were reallocated after it."""
    moments = sorted({s.allocated_at for s in stretches if s.allocated_at is not None}, reverse=True)
    if any(s.allocated_at is None for s in stretches):
        return None
    for moment in moments:
        before = [s for s in stretches if s.allocated_at is not None and s.allocated_at < moment]
        after = {
            (s.qsg, s.structure) for s in stretches if s.allocated_at is not None and s.allocated_at >= moment
        }
        if (
            len(before) >= FEWEST_POINTS
            and len(after) > 1
            and all(s.last_day <= moment.date() for s in before)
        ):
            return moment
    return None


def _same_ratio(one: float, other: float) -> bool:
    return abs(one - other) <= SAME_RATIO * max(one, other)


def _ratios(stretches: Iterable[Stretch]) -> list[RatioCount]:
    """Return the ratios in the data, ascending; neighbours that are nearly equal count as one."""
    groups: list[list[float]] = []
    for value in sorted(stretch.elements_per_entry for stretch in stretches):
        if groups and _same_ratio(groups[-1][0], value):
            groups[-1].append(value)
        else:
            groups.append([value])
    return [RatioCount(round(float(np.median(group)), 4), len(group)) for group in groups]


def _two_costs(frame: _Frame, stretches: list[Stretch]) -> CurveFit | None:
    """Fit base, entry and element; return None if the costs of entry and element are too uncertain."""
    per_entry = model_constant("ratio_elements")
    arrays = _arrays(stretches)
    # Columns for bundles at the published ratio and for the elements beyond it separate the two costs best.
    beyond = arrays.elements - per_entry * arrays.entries
    unit = _unit(arrays.sizes, arrays.entries)
    design = np.column_stack([np.ones(len(stretches)), arrays.entries * unit, beyond * unit / per_entry])
    fit = _regress(design, arrays, stretches)
    apart = [stretch for number, stretch in enumerate(stretches) if fit.used[number]]
    counts = [ratio.points for ratio in _ratios(apart)]
    if sum(count >= FEWEST_AT_A_RATIO for count in counts) <= 1 or len(apart) <= FEWEST_POINTS:
        return None
    base = _estimate(fit, [MIB, 0, 0], frame.confidence)
    bundle = _estimate(fit, [0, MIB * unit, 0], frame.confidence)
    element = _estimate(fit, [0, 0, MIB * unit / per_entry], frame.confidence)
    entry = _estimate(fit, [0, MIB * unit, -MIB * unit], frame.confidence)
    # Two uncertain costs would be worse than one certain bundle.
    if any(_half(each) > WIDEST_APART * abs(each.value) for each in (entry, element)):
        return None
    _mark(stretches, fit)
    refusal = _too_alike(arrays.sizes[fit.used]) or _too_wide(bundle, frame.confidence)
    if refusal:
        return frame.without(refusal)
    contradiction = _contradiction(base, bundle, per_entry, frame.confidence, entry=entry, element=element)
    return frame.made(
        "rejected" if contradiction else "fitted",
        contradiction,
        kind="two_costs",
        note="The data have several ratios of entries to elements, so the costs of both are known.",
        fitted=lambda s: base.value + entry.value * s.entries + element.value * s.elements,
        base=base,
        entry=entry,
        element=element,
        bundle=bundle,
        ratio=(1, per_entry),
        residuals=_residuals(design, fit, arrays.sizes),
    )


def _bundle(frame: _Frame, chosen: list[Stretch], measured: float) -> CurveFit:
    """Fit base and bundle of stretches with one ratio."""
    if len(chosen) < FEWEST_POINTS:
        return frame.without(
            f"Only {_number(len(chosen), 'different allocation')} of application structures "
            f"{'was' if len(chosen) == 1 else 'were'} found{frame.since()}; at least {FEWEST_POINTS} are needed."
        )
    arrays = _arrays(chosen)
    refusal = _too_alike(arrays.sizes)
    if refusal:
        return frame.without(refusal)
    ratio = _whole_ratio(measured)
    per_entry = ratio[1] / ratio[0]
    # Ratios are only nearly the same, so the elements' share of a bundle matters: use the published share first, then
    # the one from the fit.
    share = 0.7
    fit, design = None, np.empty((0, 0))
    for _ in range(2):
        bundles = (1 - share) * arrays.entries + share * arrays.elements / per_entry
        unit = _unit(arrays.sizes, bundles)
        design = np.column_stack([np.ones(len(chosen)), bundles * unit])
        fit = _regress(design, arrays, chosen)
        bundle = _estimate(fit, [0, MIB * unit], frame.confidence)
        share = min(1.0, model_constant("element_bytes") * per_entry / max(bundle.value, 1.0))
    assert fit is not None  # noqa: S101 - the loop ran
    base = _estimate(fit, [MIB, 0], frame.confidence)
    _mark(chosen, fit)
    if int(fit.used.sum()) < FEWEST_POINTS:
        return frame.without(
            f"Only {int(fit.used.sum())} of {_number(len(chosen), 'different allocation')} lie on one line; "
            f"at least {FEWEST_POINTS} are needed."
        )
    refusal = _too_alike(arrays.sizes[fit.used]) or _too_wide(bundle, frame.confidence)
    if refusal:
        return frame.without(refusal)
    contradiction = _contradiction(base, bundle, per_entry, frame.confidence)
    ratio_text = f"{ratio[0]}:{ratio[1]}"
    return frame.made(
        "rejected" if contradiction else "fitted",
        contradiction,
        kind="bundle",
        note=f"The data have one ratio of entries to elements, {ratio_text}: entries and elements grow together, so only "
        "the cost of an entry with its elements is known, not the cost of each.",
        fitted=lambda s: (
            base.value + bundle.value * ((1 - share) * s.entries + share * s.elements / per_entry)
        ),
        base=base,
        bundle=bundle,
        ratio=ratio,
        residuals=_residuals(design, fit, arrays.sizes),
    )


@dataclass(frozen=True, slots=True)
class _Arrays:
    sizes: Floats
    entries: Floats
    elements: Floats


def _arrays(stretches: Sequence[Stretch]) -> _Arrays:
    found = np.array([(s.size_bytes, s.entries, s.elements) for s in stretches], dtype=np.float64)
    return _Arrays(found[:, 0], found[:, 1], found[:, 2])


def _unit(sizes: Floats, counts: Floats) -> float:
    """Return a scale at which one unit of the counts takes about one MiB, so that coefficients are near 1."""
    return float(np.median(sizes / counts)) / MIB


def _regress(design: Floats, arrays: _Arrays, stretches: Sequence[Stretch]) -> Regression:
    # Deviations of one structure may be alike, so the regression must know which points belong together.
    numbers: dict[tuple[str | None, str], int] = {}
    groups = [numbers.setdefault((stretch.qsg, stretch.structure), len(numbers)) for stretch in stretches]
    return regress(design, arrays.sizes / MIB, sizes=arrays.sizes, groups=np.array(groups))


def _estimate(fit: Regression, contrast: Sequence[float], confidence: float) -> Estimate:
    return Estimate(*fit.interval(np.array(contrast, dtype=np.float64), confidence=confidence))


def _half(estimate: Estimate) -> float:
    return (estimate.high - estimate.low) / 2


def _mark(stretches: Sequence[Stretch], fit: Regression) -> None:
    for number, stretch in enumerate(stretches):
        if not fit.used[number]:
            stretch.left_out = OUTLIER


def _residuals(design: Floats, fit: Regression, sizes: Floats) -> Residuals:
    off = np.abs(sizes - design @ fit.coefficients * MIB)[fit.used]
    used = sizes[fit.used]
    return Residuals(
        deviation_bytes=round(float(np.sqrt(np.mean(off**2))), 1),
        largest_bytes=round(float(off.max()), 1),
        largest_share=float(f"{float((off / used).max()):.3g}"),
    )


def _whole_ratio(measured: float) -> tuple[int, int]:
    """Return entries to elements in whole numbers: the published ratio if it is close, otherwise an approximation."""
    published = (model_constant("ratio_entries"), model_constant("ratio_elements"))
    if abs(measured * published[0] / published[1] - 1) <= NEAR_INITIAL:
        return published
    # D XCF shows the ratio in whole numbers; a denominator of up to 10 is within a twentieth of an element.
    near = Fraction(measured).limit_denominator(10)
    return near.denominator, near.numerator


def _too_alike(sizes: Floats) -> str | None:
    smallest, largest = float(sizes.min()), float(sizes.max())
    if largest >= LEAST_SPREAD * smallest:
        return None
    return (
        f"All {len(sizes)} allocations have between {_mib(smallest)} and {_mib(largest)}: too similar to separate the base "
        f"from the cost of entries. The largest should be at least {LEAST_SPREAD:g} times as large as the smallest."
    )


def _too_wide(bundle: Estimate, confidence: float) -> str | None:
    if _half(bundle) <= WIDEST * abs(bundle.value):
        return None
    return (
        f"The allocations are too far from a single line: an entry with its elements would cost {bundle.value:.0f} bytes, "
        f"{bundle.low:.0f} to {bundle.high:.0f} with a confidence of {100 * confidence:g} %."
    )


def _contradiction(
    base: Estimate,
    bundle: Estimate,
    per_entry: float,
    confidence: float,
    *,
    entry: Estimate | None = None,
    element: Estimate | None = None,
) -> str | None:
    """Return the reason why the figures cannot be costs of structures; None if they can."""
    holds = model_constant("element_bytes")
    sure = f"with a confidence of {100 * confidence:g} %"
    # The estimates decide, not their intervals: a reader can check this rule (decision record 0010).
    if base.value < 0:
        return (
            f"The base comes to {_mib(base.value)}, below zero ({_mib(base.low)} to {_mib(base.high)} {sure}): "
            "no structure is small enough to determine it, or the sizes are not of one coupling facility and level."
        )
    if element is not None and element.value < holds:
        return (
            f"An element comes to {element.value:.1f} bytes ({element.low:.1f} to {element.high:.1f} {sure}), less than the "
            f"{holds} bytes of data that it holds."
        )
    if entry is not None and entry.value < 0:
        return f"An entry comes to {entry.value:.1f} bytes ({entry.low:.1f} to {entry.high:.1f} {sure}), below zero."
    if bundle.value < per_entry * holds:
        return (
            f"An entry with its {per_entry:g} elements comes to {bundle.value:.1f} bytes ({bundle.low:.1f} to {bundle.high:.1f} {sure}), "
            f"less than the {per_entry * holds:g} bytes of data that these hold."
        )
    return None


def _mib(size_bytes: float) -> str:
    return f"{size_bytes / MIB:.1f} MiB"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
