"""Sizes that a sizing service computed or a display shows, as points, and the line that is fitted to them.

A point states how many entries and elements an INITSIZE holds, at a given SIZE:

    INITSIZE = base + size cost x SIZE + entry cost x entries + element cost x elements

rounded up to the storage increment of the CFCC level. z/OSMF CF Sizing, SIZER, CFSizer and IXLCSP compute such points;
`D XCF,STR` and `DISPLAY CFSTATUS` show them for allocated structures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from planner_core.contracts.fits import Estimate
from planner_core.errors import PlannerError
from planner_core.names import Role
from planner_core.sizing.linear_bounds import Bounds, NotDetermined
from planner_core.sizing.points_line import CONFIDENCE, FittedLine, PointsContradict, fit_line, unexplained
from planner_core.sizing.structure_size import model_constant, storage_increment_bytes
from planner_core.units import PAGE_4K, format_size
from planner_core.wire import Answer

Origin = Literal["zosmf", "sizer", "ixlcsp", "cfsizer", "display", "published"]
"""The source of a point. `published` is a cell of an IBM table or chart."""

Kind = Literal["application", "admin"]
"""The structures that are fitted together: CSQSYSAPPL is an application structure, CSQ_ADMIN is not."""

_LEAST_POINTS = 3
_LEAST_POINTS_FOR_COSTS = 5
_DIFFERENT = Fraction(21, 20)
"""Ratios and multiples that differ by less are treated as equal."""

_RATIO_TOLERANCE = Fraction(11, 10)
"""How far the counts of a point may be from its ratio: structures are allocated at about their ratio, not exactly."""

_COST_LIMIT, _BUNDLE_LIMIT = Fraction(1, 4), Fraction(1, 10)
"""The widest interval on each side of a figure that is used, as in fits to allocations."""

_LEAST_INCREMENTS_APART = 4
_MOST_LEFT_OUT_IN_TURN = 50

OWN_RATIO: dict[Kind, tuple[int, int]] = {"application": (1, 6), "admin": (1, 2)}
"""The ratio of the bundle if entries and elements have separate costs: the one in CFSizer's form."""


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
    count_step: int | None = None
    """The number of entries to whose multiples the source rounds; None if the counts are exact."""

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
    if not found and point.entries is not None and point.elements is not None:
        counted = Fraction(point.elements, point.entries) / Fraction(point.element_ratio, point.entry_ratio)
        if not 1 / _RATIO_TOLERANCE <= counted <= _RATIO_TOLERANCE:
            found.append(
                (
                    "element_ratio",
                    f"The ratio is {point.entry_ratio}:{point.element_ratio}, but {point.elements} elements for {point.entries} entries "
                    f"are {float(Fraction(point.elements, point.entries)):.4g} for each: one of the three is wrong.",
                )
            )
    return tuple(found)


def fit_points(points: Sequence[SizingPoint]) -> PointsFit:
    """Return the line through the points of one CFCC level and kind of structure.

    Args:
        points: The points; see `grouped` and `point_problems`.

    Raises:
        MixedPoints: The points have several CFCC levels, or CSQ_ADMIN is mixed with application structures.
    """
    groups = grouped(points)
    if len(groups) != 1:
        msg = "Fit the points of each CFCC level, and those of CSQ_ADMIN, separately."
        raise MixedPoints(msg)
    return _PointsFitter(points).fit()


class _Unusable(Exception):
    """The points give no figures; the message is the reason."""


@dataclass(frozen=True, slots=True)
class _Model:
    """The unknowns of a fit: base, then the costs, then the size cost if the points separate it."""

    splits: bool
    with_size: bool
    ratio: tuple[int, int]
    """Of the bundle: the points' own, unless the costs of entries and elements are separate."""

    @property
    def unknowns(self) -> int:
        return 2 + self.splits + self.with_size

    @property
    def figures(self) -> tuple[str, ...]:
        return ("base", "bundle", *(("entry", "element") * self.splits), *(("size",) * self.with_size))

    def row(self, point: SizingPoint) -> tuple[Fraction, ...]:
        entries, elements = point.counts
        per_entry = Fraction(self.ratio[1], self.ratio[0])
        # Both counts say how many bundles there are; totals at one ratio may differ by a few.
        counts = (entries, elements) if self.splits else ((entries + elements / per_entry) / 2,)
        size = (Fraction(point.size_bytes),) if self.with_size else ()
        return (Fraction(1), *counts, *size)

    def possible(self, largest_bytes: int) -> Iterator[Bounds]:
        """Yield the bounds of the unknowns that hold in any case.

        No figure is below zero or above the largest structure, an element takes the bytes that it holds at least, and the
        control storage for SIZE at most all of it.
        """
        held = Fraction(model_constant("element_bytes"))
        none, most = Fraction(0), Fraction(largest_bytes)
        yield Bounds(self.direction("base"), none, most)
        if self.splits:
            yield Bounds(self.direction("entry"), none, most)
            yield Bounds(self.direction("element"), held, most)
        else:
            yield Bounds(self.direction("bundle"), Fraction(self.ratio[1], self.ratio[0]) * held, most)
        if self.with_size:
            yield Bounds(self.direction("size"), none, Fraction(1))

    def direction(self, figure: str) -> tuple[Fraction, ...]:
        """Return the linear function of the unknowns that is a figure."""
        per_entry = Fraction(self.ratio[1], self.ratio[0])
        costs = (
            {"entry": (1, 0), "element": (0, 1), "bundle": (1, per_entry)}
            if self.splits
            else {"bundle": (1,)}
        )
        none = (0,) * (1 + self.splits)
        parts = (
            int(figure == "base"),
            *costs.get(figure, none),
            *((int(figure == "size"),) * self.with_size),
        )
        return tuple(map(Fraction, parts))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A line, its unknowns, and the points that it is fitted to."""

    used: Sequence[int]
    model: _Model
    line: FittedLine


class _PointsFitter:
    """The fit of the points of one CFCC level and kind."""

    def __init__(self, points: Sequence[SizingPoint]) -> None:
        self.points = points
        self.level, self.kind = points[0].cfcc_level, points[0].kind
        self.increment = storage_increment_bytes(cfcc_level=self.level)
        self.not_separable: list[NotSeparable] = []
        self.left_out: dict[int, str] = {}
        # The order of equal points must not change which of them comes first.
        self.order = sorted(range(len(points)), key=lambda index: _sort_key(points[index]))

    def fit(self) -> PointsFit:
        """Return the fit, or the reason why there is none."""
        try:
            return self._fit()
        except _Unusable as reason:
            return PointsFit(
                state="too_little",
                reason=str(reason),
                cfcc_level=self.level,
                kind=self.kind,
                increment_bytes=self.increment,
                not_separable=tuple(self.not_separable),
            )

    def _fit(self) -> PointsFit:
        if len(self.points) < _LEAST_POINTS:
            msg = f"{_counted(len(self.points), 'point')}: a line needs {_LEAST_POINTS}, so that one of them checks the other two."
            raise _Unusable(msg)
        why_together = self._why_costs_stay_together(self.order)
        if why_together is None:
            found = self._fitted(self.order, splits=True, ratio=OWN_RATIO[self.kind])
            # Costs that the points only nearly separate would make plans at other ratios a matter of chance.
            if all(
                _is_within(found.line, found.model.direction(name), _COST_LIMIT)
                for name in ("entry", "element")
            ):
                return self._answer(found)
            why_together = f"The points determine the costs of entries and elements only to more than {_percent(_COST_LIMIT)} of them."
        used, ratio = self._at_main_ratio()
        found = self._fitted(used, splits=False, ratio=ratio)
        self._keep_together(why_together, ratio)
        if not _is_within(found.line, found.model.direction("bundle"), _BUNDLE_LIMIT):
            msg = (
                "The sizes of the points are too similar: an entry with its elements is not known within "
                f"{_percent(_BUNDLE_LIMIT)}. Points with more entries determine it."
            )
            raise _Unusable(msg)
        return self._answer(found)

    def _fitted(self, used: Sequence[int], *, splits: bool, ratio: tuple[int, int]) -> _Fitted:
        """Return the fit with the size cost if the points separate it, otherwise with the points at one multiple."""
        model = _Model(splits=splits, with_size=False, ratio=ratio)
        self.not_separable.clear()
        self.left_out = {
            index: "Another ratio, with too few points to separate the costs."
            for index in self.order
            if index not in set(used)
        }
        together = self._why_size_stays(used, model)
        if together is None:
            with_size = _Model(splits=splits, with_size=True, ratio=ratio)
            line = self._line(used, with_size)
            if line.value(with_size.direction("size")) >= 0:
                return _Fitted(used, with_size, line)
            together = NotSeparable(
                figures=("size_cost",),
                why="The points deviate too much: they put the control storage for SIZE below zero.",
                used="A size cost of 0.",
            )
        elif "bundle" in together.figures or "entry" in together.figures:
            used = self._at_main_multiple(used)
        self.not_separable.append(together)
        return _Fitted(used, model, self._line(used, model))

    def _line(self, used: Sequence[int], model: _Model) -> FittedLine:
        bands = [
            Bounds(model.row(self.points[index]), *unrounded_between(self.points[index], self.increment))
            for index in used
        ]
        if len(bands) <= model.unknowns:
            msg = (
                f"{_counted(len(bands), 'point')} at the same ratio and multiple of SIZE: {model.unknowns} unknown figures need at "
                f"least {model.unknowns + 1}."
            )
            raise _Unusable(msg)
        known = list(model.possible(max(self.points[index].initsize_bytes for index in used)))
        try:
            return fit_line(bands, known=known, least_scale=Fraction(self.increment, 2))
        except PointsContradict:
            msg = "The points contradict each other: no line fits two thirds of them. Check their CFCC level and the columns."
            raise _Unusable(msg) from None
        except NotDetermined:
            msg = "The points do not determine base and cost: they need different numbers of entries."
            raise _Unusable(msg) from None

    # Which figures the points separate.

    def _why_costs_stay_together(self, used: Sequence[int]) -> str | None:
        """Return why the points cannot separate the costs of entries and elements; None if they can."""
        ratios = sorted(
            elements / entries for entries, elements in (self.points[index].counts for index in used)
        )
        if ratios[-1] < _DIFFERENT * ratios[0]:
            one, many = self._stated_ratio(used)
            return f"All points have the ratio {one}:{many}."
        # With one point at the second ratio, nothing would show that it is wrong.
        if ratios[-2] < _DIFFERENT * ratios[0] or ratios[-1] < _DIFFERENT * ratios[1]:
            return "Only one point has a different ratio, so nothing checks it. A second one separates the costs."
        if len(used) < _LEAST_POINTS_FOR_COSTS:
            return f"Separate costs need at least {_LEAST_POINTS_FOR_COSTS} points."
        return None

    def _keep_together(self, why: str, ratio: tuple[int, int]) -> None:
        one, many = ratio
        self.not_separable.insert(
            0,
            NotSeparable(
                figures=("entry", "element"),
                why=why,
                used=f"The cost of an entry with its elements at {one}:{many}. A plan with another ratio cannot use this curve.",
            ),
        )

    def _why_size_stays(self, used: Sequence[int], model: _Model) -> NotSeparable | None:
        """Return why the points cannot separate the cost of SIZE; None if they can."""
        points = [self.points[index] for index in used]
        sizes = {point.size_bytes for point in points}
        multiples = sorted(map(_size_multiple, points))
        if len(sizes) == 1:
            return NotSeparable(
                figures=("base", "size_cost"),
                why=f"All points have the SIZE {format_size(sizes.pop())}.",
                used="The base includes the control storage for this SIZE; a larger SIZE takes more of INITSIZE.",
            )
        if multiples[-1] >= _DIFFERENT * multiples[0] and self._separates_size(points, model):
            return None
        multiple = _common(
            map(_size_multiple, (self.points[index] for index in self._at_main_multiple(used)))
        )
        why = f"SIZE is {_times(multiple)} INITSIZE in all points."
        if multiples[-1] >= _DIFFERENT * multiples[0]:
            why = f"Too few points have another SIZE than {_times(multiple)} INITSIZE to determine its control storage and check it."
        return NotSeparable(
            figures=("base", *(("entry", "element") if model.splits else ("bundle",)), "size_cost"),
            why=why,
            used=f"Base and costs include the control storage for SIZE {_times(multiple)} INITSIZE; a structure with a larger "
            "SIZE holds less.",
        )

    def _separates_size(self, points: Sequence[SizingPoint], model: _Model) -> bool:
        """Return whether SIZE is independent of the other unknowns, whichever point is left out."""
        if len(points) < model.unknowns + 3:
            return False
        rows = [model.row(point) for point in points]
        sizes = [point.size_bytes for point in points]
        least = _LEAST_INCREMENTS_APART * self.increment
        rest = unexplained(rows, sizes)
        # With many points, no single one that explains little can be the only one that determines the cost.
        by_size = sorted(range(len(rows)), key=lambda index: abs(rest[index]), reverse=True)
        return all(
            max(map(abs, unexplained(rows[:out] + rows[out + 1 :], sizes[:out] + sizes[out + 1 :]))) > least
            for out in by_size[:_MOST_LEFT_OUT_IN_TURN]
        )

    def _at_main_multiple(self, used: Sequence[int]) -> list[int]:
        """Return the points whose SIZE is the multiple of INITSIZE that most points have."""
        kept = _main_cluster(used, lambda index: _size_multiple(self.points[index]))
        for index in used:
            if index not in kept:
                self.left_out[index] = (
                    "Another multiple of INITSIZE as SIZE, with too few points to separate its cost."
                )
        return [index for index in used if index in kept]

    def _stated_ratio(self, used: Sequence[int]) -> tuple[int, int]:
        """Return the ratio that most of the points state, reduced."""
        stated = Counter(
            Fraction(self.points[index].element_ratio, self.points[index].entry_ratio) for index in used
        )
        per_entry = max(stated, key=lambda each: (stated[each], each))
        return per_entry.denominator, per_entry.numerator

    def _at_main_ratio(self) -> tuple[list[int], tuple[int, int]]:
        """Return the points at the ratio that most points have, and that ratio."""
        kept = _main_cluster(self.order, lambda index: _per_entry(self.points[index]))
        used = [index for index in self.order if index in kept]
        return used, self._stated_ratio(used)

    # The answer.

    def _answer(self, found: _Fitted) -> PointsFit:
        model, line = found.model, found.line
        contradict = {found.used[place]: "Contradicts the other points." for place in line.left_out}
        why = {**self.left_out, **contradict}
        figures = {
            name: _estimate(line, model.direction(name), digits=8 if name == "size" else 3)
            for name in model.figures
        }
        reason = self._impossible(line, model)
        multiples = [_size_multiple(self.points[index]) for index in found.used]
        same = "size" not in figures and max(multiples) < _DIFFERENT * min(multiples)
        return PointsFit(
            state="fitted" if reason is None else "rejected",
            reason=reason,
            cfcc_level=self.level,
            kind=self.kind,
            increment_bytes=self.increment,
            method="rounding" if line.explains_all else "least_squares",
            confidence=1.0 if line.explains_all else float(CONFIDENCE),
            base_bytes=figures["base"],
            entry_cost_bytes=figures.get("entry"),
            element_cost_bytes=figures.get("element"),
            bundle_bytes=figures["bundle"],
            ratio=model.ratio,
            size_cost=figures.get("size"),
            size_multiple=float(_common(multiples)) if same else None,
            not_separable=tuple(self.not_separable),
            residuals=tuple(
                self._residual(index, line.values, model, why.get(index)) for index in range(len(self.points))
            ),
            points_used=len(found.used) - len(contradict),
            least_misfit_bytes=round(float(line.least_misfit), 3),
        )

    def _residual(
        self, index: int, values: Sequence[Fraction], model: _Model, left_out: str | None
    ) -> PointResidual:
        point = self.points[index]
        fitted = sum((a * b for a, b in zip(model.row(point), values, strict=True)), Fraction(0))
        low, high = unrounded_between(point, self.increment)
        return PointResidual(
            point=index,
            fitted_bytes=round(float(fitted), 3),
            residual_bytes=round(float(point.initsize_bytes - fitted), 3),
            beyond_rounding_bytes=round(float(max(low - fitted, fitted - high, Fraction(0))), 3),
            left_out=left_out,
        )

    def _impossible(self, line: FittedLine, model: _Model) -> str | None:
        """Return why the figures cannot be true; the figures decide, not their intervals, so that a reader can check it."""
        base, bundle = (line.value(model.direction(name)) for name in ("base", "bundle"))
        held = model_constant("element_bytes")
        if base < 0:
            return "The base is below zero. Smaller structures determine it."
        if model.splits:
            entry, element = (line.value(model.direction(name)) for name in ("entry", "element"))
            if element < held:
                return f"An element costs less than the {held} bytes that it holds."
            if entry < 0:
                return "An entry costs less than nothing."
        one, many = model.ratio
        if bundle < Fraction(many, one) * held:
            return "An entry with its elements costs less than its elements hold."
        return None


def unrounded_between(point: SizingPoint, increment_bytes: int) -> tuple[Fraction, Fraction]:
    """Return the bounds of the storage that a point's entries and elements take.

    A computed size was rounded up to the storage increment. An allocated structure is filled with entries and elements
    until less than one more entry fits; a page is added for the storage that is managed in pages.
    """
    size = Fraction(point.initsize_bytes)
    step = Fraction(increment_bytes)
    if point.origin == "display":
        # An entry with its elements cannot cost more than the structure divided by its entries.
        step = min(step, size / max(point.counts[0], Fraction(1)) + PAGE_4K)
    low = size - step if point.unrounded_from_bytes is None else Fraction(point.unrounded_from_bytes)
    high = size if point.unrounded_to_bytes is None else Fraction(point.unrounded_to_bytes)
    if point.count_step is not None:
        # Counts that are wrong by a share change the size by at most that share.
        share = Fraction(point.count_step, 2) / point.counts[0]
        low, high = low * (1 - share), high * (1 + share)
    return low, high


def _sort_key(point: SizingPoint) -> tuple[Fraction | int, ...]:
    return (point.initsize_bytes, *point.counts, point.size_bytes, *unrounded_between(point, 0))


def _estimate(line: FittedLine, direction: tuple[Fraction, ...], *, digits: int = 3) -> Estimate:
    low, high = line.interval(direction)
    return Estimate(*(round(float(each), digits) for each in (line.value(direction), low, high)))


def _is_within(line: FittedLine, direction: tuple[Fraction, ...], share: Fraction) -> bool:
    """Return whether the points alone determine a figure to within a share of it."""
    low, high = line.interval(direction, of_points_only=True)
    return (high - low) / 2 <= share * abs(line.value(direction))


def _per_entry(point: SizingPoint) -> Fraction:
    entries, elements = point.counts
    return elements / entries


def _size_multiple(point: SizingPoint) -> Fraction:
    return Fraction(point.size_bytes, point.initsize_bytes)


def _common(multiples: Iterable[Fraction]) -> Fraction:
    """Return the multiple that points have in common: the one in the middle, to a hundredth."""
    ordered = sorted(multiples)
    return Fraction(round(ordered[len(ordered) // 2] * 100), 100)


def _main_cluster(indices: Sequence[int], of: Callable[[int], Fraction]) -> set[int]:
    """Return the most indices whose values are nearly equal; the ones with the largest values if several sets are equal."""
    ordered = sorted(indices, key=of)
    values = list(map(of, ordered))
    best, first = (0, 0), 0
    for last, value in enumerate(values):
        while value >= _DIFFERENT * values[first]:
            first += 1
        # A later window of the same length has larger values.
        best = max(best, (last - first + 1, last))
    count, last = best
    return set(ordered[last - count + 1 : last + 1])


def _times(multiple: Fraction) -> str:
    return "equal to" if multiple == 1 else f"{float(multiple):g} times"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):g} %"


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
