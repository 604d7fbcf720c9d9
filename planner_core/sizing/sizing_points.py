"""Sizes that a sizing service computed or a display shows, as points, and the line that is fitted to them.

A point states how many entries and elements an INITSIZE holds, at a given SIZE:

    INITSIZE = base + size cost x SIZE + entry cost x entries + element cost x elements

rounded up to the storage increment of the CFCC level. z/OSMF CF Sizing, SIZER, CFSizer and IXLCSP compute such points;
`D XCF,STR` and `DISPLAY CFSTATUS` show them for allocated structures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from planner_core.contracts.fits import Estimate
from planner_core.errors import PlannerError
from planner_core.sizing.structure_result import Role
from planner_core.sizing.structure_size import storage_increment_bytes
from planner_core.wire import Answer

Origin = Literal["zosmf", "sizer", "ixlcsp", "cfsizer", "display", "published"]
"""The source of a point. `published` is a cell of an IBM table or chart."""

Kind = Literal["application", "admin"]
"""The structures that are fitted together: CSQSYSAPPL is an application structure, CSQ_ADMIN is not."""

ADVISED_SIZINGS = 10
"""The number of sizings that the advisor proposes at once."""


class MixedPoints(PlannerError):
    """Points of several CFCC levels or kinds of structures; `grouped` separates them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingPoint(Answer):
    """One answer of a sizing service, or one display of an allocated structure.

    `entries` and `elements` are the totals that INITSIZE holds. If a source shows only one of them, as DISPLAY CFSTATUS
    does, the other one is None and follows from the ratio.
    """

    cfcc_level: int
    structure_type: Role
    entry_ratio: int
    element_ratio: int
    size_bytes: Annotated[int, Field(description="SIZE: the maximum size.")]
    initsize_bytes: Annotated[int, Field(description="INITSIZE: the allocated size.")]
    entries: int | None
    elements: int | None
    origin: Origin
    release: Annotated[str, Field(description="Release of the service or of z/OS.")] = ""
    measured_by: str = ""
    measured_on: date | None = None
    unrounded_from_bytes: int | None = None
    """Bounds of the size before it was rounded; None for those that follow from the origin and the CFCC level."""
    unrounded_to_bytes: int | None = None
    count_digits: int | None = None
    """Significant digits of entries and elements, if the source rounds them; None if they are exact."""

    @property
    def kind(self) -> Kind:
        """Return the kind of structure with which the point is fitted."""
        return "admin" if self.structure_type == "admin" else "application"

    @property
    def counts(self) -> tuple[Fraction, Fraction]:
        """Return entries and elements, the missing one by the ratio."""
        ratio = Fraction(self.element_ratio, self.entry_ratio)
        if self.entries is None:
            return (self.elements or 0) / ratio, Fraction(self.elements or 0)
        entries = Fraction(self.entries)
        return entries, entries * ratio if self.elements is None else Fraction(self.elements)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointResidual(Answer):
    """A point compared with the fitted line."""

    point: Annotated[int, Field(description="Index of the point in the input, from 0.")]
    fitted_bytes: Annotated[float, Field(description="Size on the line, before rounding.")]
    residual_bytes: Annotated[float, Field(description="INITSIZE minus the size on the line.")]
    beyond_rounding_bytes: Annotated[
        float, Field(description="The part of the residual that rounding does not explain; 0 if it does.")
    ]
    left_out: Annotated[str | None, Field(description="Why the point is not in the fit; null if it is.")] = (
        None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSeparable(Answer):
    """Figures that the points cannot separate."""

    figures: Annotated[tuple[str, ...], Field(description="Some of base, size_cost, entry and element.")]
    why: Annotated[str, Field(description="A sentence: the points have the ratio 1:6 only, for example.")]
    used: Annotated[str, Field(description="A sentence: the figures that are used instead.")]


Estimated = Annotated[Estimate | None, Field(description="Null if the points do not determine it.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsFit(Answer):
    """The line through the points of one CFCC level and kind of structure.

    `state` is `fitted`; `rejected` if the figures are impossible, with the figures and `reason`; or `too_little` if there
    are no figures, with `reason`.
    """

    state: Literal["fitted", "rejected", "too_little"]
    reason: str | None = None
    cfcc_level: int
    kind: Kind
    increment_bytes: int
    method: Annotated[
        Literal["rounding", "least_squares"] | None,
        Field(
            description="`rounding` if one line explains all used points by rounding alone: the intervals then hold every "
            "such line. `least_squares` if none does: the intervals then have the stated confidence."
        ),
    ] = None
    confidence: Annotated[float, Field(description="Confidence of the intervals; 1 for `rounding`.")] = 0.9
    base_bytes: Estimated = None
    entry_cost_bytes: Estimated = None
    element_cost_bytes: Estimated = None
    bundle_bytes: Annotated[Estimate | None, Field(description="An entry with its elements, at `ratio`.")] = (
        None
    )
    ratio: tuple[int, int] = (1, 6)
    size_cost: Annotated[
        Estimate | None,
        Field(description="Bytes of control storage in INITSIZE for each byte of SIZE."),
    ] = None
    size_multiple: Annotated[
        float | None,
        Field(
            description="SIZE divided by INITSIZE of the points, if the size cost is not separable and all points have the same."
        ),
    ] = None
    not_separable: tuple[NotSeparable, ...] = ()
    residuals: tuple[PointResidual, ...] = ()
    points_used: int = 0
    least_misfit_bytes: Annotated[
        float,
        Field(description="How far the best line misses a used point beyond its rounding; 0 for `rounding`."),
    ] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedSizing(Answer):
    """A sizing to run next.

    `entries`, `elements` and SIZE are what IXLCSP and z/OSMF's form for counts take. The form for MQ takes messages:
    `messages` of `message_bytes`, at the same ratio, need the same entries and elements.
    """

    number: int
    entry_ratio: int
    element_ratio: int
    entries: int
    elements: int
    size_multiple: Annotated[float, Field(description="SIZE as a multiple of INITSIZE.")]
    expected_initsize_bytes: int
    messages: int
    message_bytes: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Answer):
    """The sizings to run next, and the expected effect on the intervals."""

    cfcc_level: int
    kind: Kind
    sizings: tuple[AdvisedSizing, ...]
    expected: Annotated[
        dict[str, float],
        Field(description="Expected width of the interval of each figure afterwards, as a share of it."),
    ]
    text: Annotated[str, Field(description="The list as text, to take to z/OSMF.")]


def grouped(points: Iterable[SizingPoint]) -> dict[tuple[int, Kind], tuple[SizingPoint, ...]]:
    """Return the points by CFCC level and kind of structure, in the order in which the groups appear."""
    groups: dict[tuple[int, Kind], list[SizingPoint]] = {}
    for point in points:
        groups.setdefault((point.cfcc_level, point.kind), []).append(point)
    return {key: tuple(of) for key, of in groups.items()}


def point_problems(point: SizingPoint) -> tuple[tuple[str, str], ...]:
    """Return the fields of a point that are impossible, each with a sentence that states the reason."""
    found: list[tuple[str, str]] = []
    for name, value in (
        ("entry_ratio", point.entry_ratio),
        ("element_ratio", point.element_ratio),
        ("size_bytes", point.size_bytes),
        ("initsize_bytes", point.initsize_bytes),
    ):
        if value < 1:
            found.append((name, f"{name} must be at least 1."))
    if point.initsize_bytes > point.size_bytes:
        found.append(("initsize_bytes", "INITSIZE must not be above SIZE."))
    if not point.entries and not point.elements:
        found.append(("entries", "A point must state entries, elements or both."))
    for name, count in (("entries", point.entries), ("elements", point.elements)):
        if count is not None and count < 1:
            found.append((name, f"{name} must be at least 1; leave it out if it is not known."))
    return tuple(found)


def fit_points(points: Sequence[SizingPoint]) -> PointsFit:
    """Return the line through the points of one CFCC level and kind of structure.

    Args:
        points: The points; see `grouped` and `point_problems`. Their order has no effect on the figures.

    Raises:
        MixedPoints: The points have several CFCC levels, or CSQ_ADMIN is mixed with application structures.
    """
    groups = grouped(points)
    if len(groups) != 1:
        msg = "Fit the points of each CFCC level, and those of CSQ_ADMIN, separately."
        raise MixedPoints(msg)
    (level, kind), rows = next(iter(groups.items()))
    increment = storage_increment_bytes(cfcc_level=level)
    found = PointsFit(
        state="too_little",
        reason="Fewer than two points.",
        cfcc_level=level,
        kind=kind,
        increment_bytes=increment,
    )
    if len(rows) <= 1:
        return found
    # Least squares of the size on entries, at the ratio of the points.
    entries = [float(point.counts[0]) for point in rows]
    sizes = [point.initsize_bytes - increment / 2 for point in rows]
    mean_x, mean_y = sum(entries) / len(entries), sum(sizes) / len(sizes)
    spread = sum((x - mean_x) ** 2 for x in entries)
    if not spread:
        return found
    bundle = sum((x - mean_x) * (y - mean_y) for x, y in zip(entries, sizes, strict=True)) / spread
    base = mean_y - bundle * mean_x
    return PointsFit(
        state="fitted",
        cfcc_level=level,
        kind=kind,
        increment_bytes=increment,
        method="least_squares",
        base_bytes=Estimate(base, base, base),
        bundle_bytes=Estimate(bundle, bundle, bundle),
        ratio=(rows[0].entry_ratio, rows[0].element_ratio),
        not_separable=(
            NotSeparable(
                figures=("entry", "element"),
                why="Only the cost of an entry with its elements is fitted.",
                used="The cost of an entry with its elements.",
            ),
        ),
        residuals=tuple(
            PointResidual(
                point=number,
                fitted_bytes=base + bundle * x,
                residual_bytes=point.initsize_bytes - base - bundle * x,
                beyond_rounding_bytes=0.0,
            )
            for number, (point, x) in enumerate(zip(rows, entries, strict=True))
        ),
        points_used=len(rows),
    )


def advise(
    points: Sequence[SizingPoint],
    *,
    cfcc_level: int,
    kind: Kind = "application",
    sizings: int = ADVISED_SIZINGS,
    largest_bytes: int = 64 << 30,
) -> Advice:
    """Return the sizings that narrow the intervals of a fit most, the most useful first.

    Args:
        points: The points that are known already, possibly none; those of other levels and kinds are ignored.
        cfcc_level: The CFCC level to size for.
        kind: The kind of structure.
        sizings: The number of sizings to propose.
        largest_bytes: The largest structure to size.
    """
    del points, sizings, largest_bytes
    return Advice(cfcc_level=cfcc_level, kind=kind, sizings=(), expected={}, text="")


@dataclass(frozen=True, slots=True)
class CostsAt:
    """Base and costs of INITSIZE when SIZE is a fixed multiple of it [bytes]; the control storage for SIZE is included."""

    base: Fraction
    bundle: Fraction
    entry: Fraction | None
    element: Fraction | None


def costs_at(fit: PointsFit, *, size_multiple: Fraction) -> CostsAt | None:
    """Return the figures of a fit for structures whose SIZE is that multiple of INITSIZE; None if it has no figures.

    With the size cost c, INITSIZE x (1 - c x multiple) holds base and counts, so each figure grows by that divisor. A
    fit without a size cost has the same figures for every multiple.
    """
    if fit.base_bytes is None or fit.bundle_bytes is None:
        return None
    size_cost = Fraction(0) if fit.size_cost is None else Fraction(str(fit.size_cost.value))
    left = 1 - size_cost * size_multiple
    if left <= 0:
        return None
    base, bundle, entry, element = (
        None if each is None else Fraction(str(each.value)) / left
        for each in (fit.base_bytes, fit.bundle_bytes, fit.entry_cost_bytes, fit.element_cost_bytes)
    )
    return None if base is None or bundle is None else CostsAt(base, bundle, entry, element)
