"""The element model of a list structure, and its inverse.

A list structure is divided into list entries and 256-byte list elements, two pools in the entry-to-element ratio. A
message uses one entry, and its length plus a header in whole elements. The structure is full when either pool is, so a
size is always set by one of them:

    size = base + bundle x max(entries, elements / 6)

where a bundle is one entry with its six elements. Base and bundle depend on the CFCC level;
`tables/element_profiles.toml` lists them with their sources. The model reproduces all 28 cells of IBM's Table 2 and all
rows of the 4 GB table in the z16 report.

A curve fitted to a site's own allocations (`fitted.py`) replaces the published one
everywhere: formulas differ only in the names of their inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, PlainSerializer, PlainValidator, computed_field

from planner_core import tables
from planner_core.errors import OutOfRange
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.provenance import Basis, Explanation, Input, Source, Step
from planner_core.sizing.levels import level_without_figures
from planner_core.units import KIB, MIB, ceil_div, ceil_fraction, floor_fraction, round_up
from planner_core.wire import Answer, Hidden, Omittable

ENTRIES, ELEMENTS = "entries", "elements"
BYTES_PER_KIB = Input("bytes_per_kib", KIB, "bytes", Basis.PUBLISHED)
_FULL = Fraction(100)


def _exact(value: object) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(str(value))


def _exact_pair(values: Sequence[object]) -> tuple[Fraction, Fraction]:
    low, high = values
    return _exact(low), _exact(high)


Interval = tuple[Fraction, Fraction]
# Stored results are read again: the validator turns the float that was written into an exact number.
ExactBytes = Annotated[Fraction, PlainValidator(_exact), PlainSerializer(float, return_type=float)]
IntervalBytes = Annotated[
    Interval,
    PlainValidator(_exact_pair),
    PlainSerializer(
        lambda interval: list(map(float, interval)),
        return_type=Annotated[list[float], Field(min_length=2, max_length=2)],
    ),
    Field(description="Lower and upper bound in bytes, at the stated confidence."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedFigures(Answer):
    """The data of a fitted curve, and the confidence intervals of its figures.

    `element` is null if the data has only one entry-to-element ratio: then only the bundle is known.
    """

    base: Hidden[Fraction] = Fraction(0)
    """Bytes of an empty structure, without the control storage for SIZE."""

    version: int
    coupling_facility: str
    cfcc_level: int | None
    first_day: str
    last_day: str
    is_simulated: bool
    confidence_percent: ExactBytes
    bundle: Hidden[Fraction] = Fraction(0)
    """Bytes of an entry with its elements. Stored results have it only as part of the curve."""
    entry: Annotated[ExactBytes | None, Field(alias="entry_bytes")]
    element: Annotated[ExactBytes | None, Field(alias="element_bytes")]
    base_interval: Annotated[IntervalBytes, Field(alias="base_interval_bytes")]
    bundle_interval: Annotated[IntervalBytes, Field(alias="bundle_interval_bytes")]
    entry_interval: Annotated[IntervalBytes | None, Field(alias="entry_interval_bytes")]
    element_interval: Annotated[IntervalBytes | None, Field(alias="element_interval_bytes")]
    size_cost: Annotated[
        Omittable[ExactBytes],
        Field(
            description="Bytes of control storage that z/OS takes from INITSIZE for each byte of SIZE; only if the data "
            "determines it. The base is then without this storage."
        ),
    ] = None
    size_cost_interval: Annotated[
        Omittable[IntervalBytes], Field(description="Lower and upper bound of `size_cost`.")
    ] = None
    size_multiple: Annotated[
        Omittable[ExactBytes],
        Field(
            description="SIZE as a multiple of INITSIZE up to which the curve includes its control storage, if the curve was "
            "fitted to sizing answers that do not determine `size_cost`."
        ),
    ] = None
    largest_size: Annotated[
        Omittable[int],
        Field(
            alias="largest_size_bytes",
            description="The SIZE of all sizing answers of the curve, whose control storage the base includes.",
        ),
    ] = None
    sources: Annotated[
        Omittable[tuple[str, ...]],
        Field(description="Origin of the sizing points, if the curve was fitted to sizing answers."),
    ] = None

    @computed_field(
        description="Whether the data held several ratios, so that entries and elements are known separately."
    )
    @property
    def kind(self) -> Literal["bundle", "two_costs"]:
        """The costs that the fit determines."""
        return "bundle" if self.element is None else "two_costs"


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSummary(Answer):
    """The curve on which the sizes are based."""

    id: str
    origin: Annotated[str, Field(description="`published` or `fitted`.")]
    cfcc_from: Annotated[
        int | None,
        Field(description="Lowest CFCC level it applies to; null if a fitted curve's level is unknown."),
    ]
    cfcc_to: Annotated[
        int | None, Field(description="Highest CFCC level it applies to; null in the same case.")
    ]
    base_bytes: Annotated[int, Field(description="Storage of an empty structure.")]
    bundle_bytes: Annotated[
        float, Field(description="Storage of one entry with its elements, at the curve's ratio.")
    ]
    header_bytes: Annotated[int, Field(description="Bytes that MQ adds to the data of each message.")]
    increment_kib: Annotated[int, Field(description="Storage increment of the coupling facility.")]
    entry_to_element_ratio: Annotated[tuple[int, int], Field(description="Entries and elements.")]
    fitted: Annotated[Omittable[FittedFigures], Field(description="For a fitted curve: its data.")] = None


@dataclass(frozen=True, slots=True)
class SeparateCosts:
    """The cost of an element that is derived from published figures, its interval [bytes], and its source."""

    element: Fraction
    interval: Interval
    source: Source


@dataclass(frozen=True, slots=True)
class Curve:
    """The storage that structures use on one kind of coupling facility.

    Published curves, and those fitted to one ratio, have only the cost of a bundle (one entry with its elements);
    `entry_bytes` and `element_bytes` are then an assumed split, used only where the ratio differs.
    """

    id: str
    origin: str
    cfcc_from: int
    cfcc_to: int
    base: Fraction
    base_basis: Basis
    base_source: Source
    factor: Fraction
    factor_basis: Basis
    factor_source: Source
    header_bytes: int
    increment_bytes: int
    ratio_entries: int
    ratio_elements: int
    split_basis: Basis = Basis.ASSUMED
    fit: FittedFigures | None = None
    separate_costs: SeparateCosts | None = None
    """The costs that replace the assumed split of a published curve."""
    policy_size_bytes: int | None = None
    """SIZE in the policy, whose control storage is part of the base; None if the curve does not separate it."""
    bundle: Fraction = field(init=False)
    elements_per_entry: Fraction = field(init=False)
    element_bytes: Fraction = field(init=False)
    entry_bytes: Fraction = field(init=False)
    summary: CurveSummary = field(init=False, repr=False, compare=False)
    """The curve as results state it."""

    def __post_init__(self) -> None:
        """Derive the bundle and its split from the factor, or use those of the fit."""
        model = tables.constants("element_model")
        per_entry = Fraction(self.ratio_elements, self.ratio_entries)
        bundle = self.factor * self.ratio_elements * model["element_bytes"].value
        # An element cannot cost less than the 256 bytes that it holds; nothing else is published (assumptions.md, "Entry
        # and element cost apart").
        element = Fraction(model["assumed_element_cost_bytes"].value)
        if self.separate_costs is not None:
            element = self.separate_costs.element
        if self.fit is not None:
            bundle, element = self.fit.bundle, self.fit.element or element
        object.__setattr__(self, "bundle", bundle)
        object.__setattr__(self, "elements_per_entry", per_entry)
        object.__setattr__(self, "element_bytes", element)
        object.__setattr__(self, "entry_bytes", bundle - per_entry * element)
        # Kept, because every result states it, and few curves have many results.
        object.__setattr__(self, "summary", self._summary())

    @property
    def split_source(self) -> Source:
        """Return the source of the separate costs of entries and elements."""
        if self.split_basis is Basis.ASSUMED:
            return tables.source("project", "Separate costs of entries and elements")
        return self.factor_source if self.separate_costs is None else self.separate_costs.source

    @property
    def base_formula(self) -> str:
        """Return the formula of the base, with the names of `curve_inputs`."""
        if self.fit is None:
            return "base_mib * bytes_per_mib"
        if self.policy_size_bytes is None:
            return "fitted_base_bytes"
        return "(fitted_base_bytes + fitted_size_cost * policy_size_bytes)"

    @property
    def bundle_formula(self) -> str:
        """Return the formula of the bundle, with the names of `curve_inputs`."""
        if self.fit is None:
            return "factor * ratio_elements * element_bytes"
        if self.fit.element is None:
            return "fitted_bundle_bytes"
        return "fitted_entry_bytes + ratio_elements * fitted_element_bytes"

    @property
    def entry_formula(self) -> str:
        """Return the formula of an entry without elements, with the names of `curve_inputs` and element_cost_bytes."""
        if self.fit is not None and self.fit.element is not None:
            return "fitted_entry_bytes"
        return f"{self.bundle_formula} - ratio_elements * element_cost_bytes"

    def at_size(self, size_bytes: int) -> Curve:
        """Return the curve for structures with this SIZE: z/OS takes control storage for all of SIZE from INITSIZE.

        A curve that does not know the cost of SIZE is returned unchanged.
        """
        if self.fit is None or self.fit.size_cost is None:
            return self
        base = self.fit.base + self.fit.size_cost * size_bytes
        return replace(self, base=base, policy_size_bytes=size_bytes)

    def is_own_ratio(self, ratio: tuple[int, int] | None) -> bool:
        """Return whether a ratio, or None for that of the curve, needs no split of the bundle."""
        # Compared crosswise, so that 2:12 equals 1:6.
        return ratio is None or ratio[0] * self.ratio_elements == ratio[1] * self.ratio_entries

    def bundle_at(self, ratio: tuple[int, int] | None) -> tuple[Fraction, Fraction]:
        """Return bytes and elements for one entry, at an entry-to-element ratio.

        Args:
            ratio: (entries, elements); None for the ratio of the curve.

        Returns:
            Bytes per entry with its elements [bytes], elements per entry. At a ratio other
            than the curve's own, the bytes depend on the assumed split.
        """
        if ratio is None or self.is_own_ratio(ratio):
            return self.bundle, self.elements_per_entry
        per_entry = Fraction(ratio[1], ratio[0])
        return self.entry_bytes + per_entry * self.element_bytes, per_entry

    def _summary(self) -> CurveSummary:
        # A fit without a known level is sized with that of the published figures, but results must not claim it.
        return CurveSummary(
            id=self.id,
            origin=self.origin,
            cfcc_from=self.cfcc_from if self.fit is None else self.fit.cfcc_level,
            cfcc_to=self.cfcc_to if self.fit is None else self.fit.cfcc_level,
            base_bytes=ceil_fraction(self.base),
            bundle_bytes=float(self.bundle),
            header_bytes=self.header_bytes,
            increment_kib=self.increment_bytes // KIB,
            entry_to_element_ratio=(self.ratio_entries, self.ratio_elements),
            fitted=self.fit,
        )


@dataclass(frozen=True, slots=True)
class CurveChoice:
    """A curve, and the findings on its choice."""

    curve: Curve
    findings: tuple[Finding, ...]


@cache
def published_curves() -> tuple[Curve, ...]:
    """Return the curves of published figures, in ascending order of CFCC level."""
    model = tables.constants("element_model")
    return tuple(
        Curve(
            id=f"published-cfcc{row['cfcc_from']}",
            origin="published",
            cfcc_from=int(row["cfcc_from"]),
            cfcc_to=int(row["cfcc_to"]),
            base=tables.exact(row["base_mib"]) * MIB,
            base_basis=Basis(str(row["base_basis"])),
            base_source=tables.source(str(row["base_source"]), str(row["base_section"])),
            factor=tables.exact(row["factor"]),
            factor_basis=Basis(str(row["factor_basis"])),
            factor_source=tables.source(str(row["factor_source"]), str(row["factor_section"])),
            header_bytes=model["header_bytes"].value,
            increment_bytes=storage_increment_bytes(cfcc_level=int(row["cfcc_to"])),
            ratio_entries=model["ratio_entries"].value,
            ratio_elements=model["ratio_elements"].value,
        )
        for row in tables.table("element_profiles").records()
    )


@cache
def storage_increment_bytes(*, cfcc_level: int) -> int:
    """Return the unit in which a CF of that level allocates structures [bytes]; 1 MiB for a level beyond the table."""
    rows = tables.table("storage_increments").records()
    row = next((row for row in rows if int(row["cfcc_from"]) <= cfcc_level <= int(row["cfcc_to"])), rows[-1])
    return int(row["increment_kib"]) * KIB


@cache
def published_curve(*, cfcc_level: int) -> CurveChoice:
    """Return the published curve for a CFCC level.

    A level without figures uses the next higher one, which errs on the large side; a level
    above the highest uses the highest, which may be too small. A finding reports either.

    Raises:
        OutOfRange: The level is below 1.
    """
    if cfcc_level < 1:
        raise OutOfRange(field="cfcc_level", value=cfcc_level, lowest=limit("lowest_cfcc_level"))
    curves = published_curves()
    findings: list[Finding] = []
    curve = next((curve for curve in curves if cfcc_level <= curve.cfcc_to), curves[-1])
    findings += level_without_figures(cfcc_level, lowest=curve.cfcc_from, highest=curve.cfcc_to)
    if curve.base_basis is Basis.ASSUMED:
        measured = measured_base(curve)
        smaller = float((curve.base - measured) / MIB)
        findings.append(
            finding(
                "CURVE_BASE_ASSUMED",
                f"The base of {float(curve.base / MIB):g} MiB for CFCC levels {curve.cfcc_from} to {curve.cfcc_to} is "
                "inferred from the 8 MB that IBM says CFCC 25 adds, not published. A structure measured at an unknown level agrees "
                f"with {float(measured / MIB):.1f} MiB, with which each structure would be {smaller:.1f} MiB smaller; the larger base "
                "is used.",
                source=curve.base_source,
            )
        )
    # A level without figures uses a curve of a higher level, but its own increment: CFCC 15 allocates in 512K, 17 in 1M.
    increment = storage_increment_bytes(cfcc_level=cfcc_level)
    if increment != curve.increment_bytes:
        curve = replace(curve, increment_bytes=increment)
    return CurveChoice(curve=curve, findings=tuple(findings))


def measured_base(curve: Curve) -> Fraction:
    """Return the base with which the bundle of a curve agrees with the application structure of the measured group."""
    row = tables.table("measured_structures").records()[0]
    return Fraction(int(row["size_max_kb"]) * KIB) - int(row["entries_max"]) * curve.bundle


@cache
def with_derived_costs(curve: Curve) -> Curve:
    """Return a published curve with the costs of entries and elements that are derived from CSQ_ADMIN.

    The cost of an entry with six elements stays the same, so only sizes at other ratios change. A fitted curve is
    returned unchanged.
    """
    if curve.fit is not None:
        return curve
    rows = tables.table("entry_element_costs").records()
    row = next(row for row in rows if int(row["cfcc_from"]) == curve.cfcc_from)
    costs = SeparateCosts(
        element=tables.exact(row["element"]),
        interval=(tables.exact(row["element_from"]), tables.exact(row["element_to"])),
        source=tables.source(str(row["admin_source"]), str(row["admin_section"])),
    )
    return replace(curve, split_basis=Basis.DERIVED, separate_costs=costs)


def elements_for(message_bytes: int, *, header_bytes: int) -> int:
    """Return the number of list elements of one message while its data is in the CF.

    Args:
        message_bytes: User data and MQ headers except the MQMD, 0 to 64,512 [bytes].
        header_bytes: Header that MQ adds [bytes].

    >>> elements_for(1164, header_bytes=372), elements_for(1165, header_bytes=372)
    (6, 7)
    """
    return ceil_div(message_bytes + header_bytes, model_constant("element_bytes"))


def elements_held(message_bytes: int, *, header_bytes: int) -> int:
    """Return the list elements of one message without offload rules [elements]; oversized messages are offloaded."""
    if message_bytes > model_constant("largest_message_in_cf_bytes"):
        return model_constant("offloaded_message_elements")
    return elements_for(message_bytes, header_bytes=header_bytes)


@cache
def model_constant(name: str) -> int:
    """Return a number of the element model by its name in tables/element_model.toml."""
    return tables.constants("element_model")[name].value


def binding_pool(*, entries: int, elements: int, ratio: tuple[int, int] | None = None, curve: Curve) -> str:
    """Return the pool that sets the size: `entries` or `elements`; if both do, `entries`."""
    one, many = ratio or (curve.ratio_entries, curve.ratio_elements)
    return ENTRIES if entries * many >= elements * one else ELEMENTS


def size_for(
    *,
    entries: int,
    elements: int,
    curve: Curve,
    ratio: tuple[int, int] | None = None,
    percent: Fraction = _FULL,
) -> int:
    """Return the storage in which these entries and elements use a share of the fuller pool.

    Returns:
        Storage [bytes, rounded up to a whole byte]. The base holds no entries, so it does not grow with a lower share.
    """
    return ceil_div(*_size_parts(entries, elements, curve, ratio, percent))


def exact_size_for(
    *, entries: int, elements: int, curve: Curve, ratio: tuple[int, int] | None = None
) -> Fraction:
    """Return the storage that holds these entries and elements at once [bytes, not rounded]."""
    return Fraction(*_size_parts(entries, elements, curve, ratio))


def _size_parts(
    entries: int, elements: int, curve: Curve, ratio: tuple[int, int] | None, percent: Fraction = _FULL
) -> tuple[int, int]:
    """Return base + bundle x max(entries, elements / elements per entry) x 100 / percent, as numerator and denominator."""
    bundle, per_entry = curve.bundle_at(ratio)
    bundles = max(entries * per_entry.numerator, elements * per_entry.denominator)
    of = bundle.denominator * per_entry.numerator
    # Numerator and denominator instead of fractions: every fraction would be reduced, and this runs for each structure.
    # Compared by identity, because comparing fractions takes as long as this whole function.
    if percent is not _FULL:
        bundles, of = bundles * 100 * percent.denominator, of * percent.numerator
    return (
        curve.base.numerator * of + bundle.numerator * bundles * curve.base.denominator,
        curve.base.denominator * of,
    )


def bundles_in(size_bytes: int | Fraction, *, curve: Curve, ratio: tuple[int, int] | None = None) -> Fraction:
    """Return the number of entries (each with its elements) in a structure of that size; 0 below the base."""
    bundle = curve.bundle_at(ratio)[0]
    room = size_bytes.numerator * curve.base.denominator - curve.base.numerator * size_bytes.denominator
    if room <= 0:
        return Fraction(0)
    return Fraction(
        room * bundle.denominator, size_bytes.denominator * curve.base.denominator * bundle.numerator
    )


def messages_that_fit(
    size_bytes: int | Fraction, *, message_bytes: int, curve: Curve, ratio: tuple[int, int] | None = None
) -> int:
    """Return how many messages of one size a structure holds before a pool runs out; 0 if it is below the base."""
    elements = elements_held(message_bytes, header_bytes=curve.header_bytes)
    # A message takes one entry, so a bundle never holds more than one, however few elements it uses.
    per_entry = curve.bundle_at(ratio)[1]
    return floor_fraction(
        bundles_in(size_bytes, curve=curve, ratio=ratio) * min(Fraction(1), per_entry / elements)
    )


def allocated_bytes(need_bytes: int, *, curve: Curve) -> int:
    """Return a need rounded up to the storage increment of the CF [bytes]."""
    return round_up(need_bytes, multiple=curve.increment_bytes)


def curve_inputs(curve: Curve) -> tuple[Input, ...]:
    """Return base and costs of a curve as inputs of an explanation.

    `ratio_elements` is the number of elements for one entry.
    """
    constants = tables.constants("element_model")
    mib = Input("bytes_per_mib", MIB, "bytes", Basis.PUBLISHED)
    if curve.fit is not None:
        fit, basis, source = curve.fit, curve.factor_basis, curve.factor_source
        costs = {"bundle": fit.bundle, "entry": fit.entry, "element": fit.element}
        chosen = ("bundle",) if fit.element is None else ("entry", "element")
        return (
            Input("fitted_base_bytes", fit.base, "bytes", curve.base_basis, curve.base_source),
            *(Input(f"fitted_{name}_bytes", costs[name] or 0, "bytes", basis, source) for name in chosen),
            constants["element_bytes"].as_input(),
            Input("ratio_elements", curve.elements_per_entry, "elements", basis, source),
            mib,
            *_size_cost_inputs(curve),
        )
    return (
        Input("base_mib", curve.base / MIB, "MiB", curve.base_basis, curve.base_source),
        Input("factor", curve.factor, "", curve.factor_basis, curve.factor_source),
        constants["element_bytes"].as_input(),
        constants["ratio_elements"].as_input(),
        mib,
    )


def _size_cost_inputs(curve: Curve) -> Iterator[Input]:
    """Yield the cost of SIZE and the SIZE that the base includes, if the curve separates them."""
    if curve.fit is None or curve.fit.size_cost is None or curve.policy_size_bytes is None:
        return
    yield Input("fitted_size_cost", curve.fit.size_cost, "", curve.base_basis, curve.base_source)
    yield Input("policy_size_bytes", curve.policy_size_bytes, "bytes", Basis.DERIVED)


def increment_input(increment_bytes: int) -> Input:
    """Return a storage increment as an input of an explanation."""
    source = tables.table("storage_increments").source
    return Input("increment_bytes", increment_bytes, "bytes", Basis.PUBLISHED, source)


def element_cost_input(curve: Curve) -> Input:
    """Return the storage of an element as an input of an explanation: fitted, derived or assumed."""
    if curve.split_basis is Basis.ASSUMED:
        return tables.constants("element_model")["assumed_element_cost_bytes"].as_input("element_cost_bytes")
    return Input("element_cost_bytes", curve.element_bytes, "bytes", curve.split_basis, curve.split_source)


def explain_size(
    figure: str,
    *,
    entries: int,
    elements: int,
    curve: Curve,
    ratio: tuple[int, int] | None = None,
    value: int | None = None,
) -> Explanation:
    """Explain the need of a structure by its entries and elements."""
    need = size_for(entries=entries, elements=elements, curve=curve, ratio=ratio) if value is None else value
    bundle, per_entry = curve.bundle_at(ratio)
    counts = (
        Input("entries", entries, "entries", Basis.DERIVED),
        Input("elements", elements, "elements", Basis.DERIVED),
    )
    steps: tuple[Step, ...]
    if bundle == curve.bundle:
        steps = (Step("bundle_bytes", curve.bundle_formula, bundle),)
        inputs = (*curve_inputs(curve), *counts)
        formula = f"ceil({curve.base_formula} + bundle_bytes * max(entries, elements / ratio_elements))"
        basis = Basis.ASSUMED if curve.base_basis is Basis.ASSUMED else Basis.DERIVED
    else:
        steps = (
            Step("entry_cost_bytes", curve.entry_formula, curve.entry_bytes),
            Step("bundle_bytes", "entry_cost_bytes + elements_per_entry * element_cost_bytes", bundle),
        )
        given = Input("elements_per_entry", per_entry, "elements", Basis.GIVEN)
        inputs = (*curve_inputs(curve), element_cost_input(curve), given, *counts)
        formula = f"ceil({curve.base_formula} + bundle_bytes * max(entries, elements / elements_per_entry))"
        basis = curve.split_basis
    return Explanation(
        figure=figure,
        value=need,
        unit="bytes",
        formula=formula,
        inputs=inputs,
        steps=steps,
        basis=basis,
        source=tables.source("project", "The element model"),
    )


def explain_backlog(*, messages: int, message_bytes: int, curve: Curve) -> tuple[Explanation, ...]:
    """Explain size, entries and elements of a backlog of messages of one size."""
    elements = messages * elements_held(message_bytes, header_bytes=curve.header_bytes)
    need = explain_size("/size_mib", entries=messages, elements=elements, curve=curve)
    size = size_for(entries=messages, elements=elements, curve=curve)
    exact = exact_size_for(entries=messages, elements=elements, curve=curve)
    in_mib = f"({need.formula.removeprefix('ceil(').removesuffix(')')}) / bytes_per_mib"
    rounded = f"round_up({need.formula}, increment_bytes) / bytes_per_kib"
    given = Input("messages", messages, "messages", Basis.GIVEN)
    return (
        Explanation(
            "/size_mib", exact / MIB, "MiB", in_mib, need.inputs, need.basis, need.source, need.steps
        ),
        Explanation(
            "/size_kib",
            allocated_bytes(size, curve=curve) // KIB,
            "K",
            rounded,
            (*need.inputs, increment_input(curve.increment_bytes), BYTES_PER_KIB),
            need.basis,
            need.source,
            need.steps,
        ),
        Explanation("/entries", messages, "entries", "messages", (given,), Basis.DERIVED),
        _explain_elements(elements, message_bytes=message_bytes, curve=curve, counted=given),
    )


def _explain_elements(elements: int, *, message_bytes: int, curve: Curve, counted: Input) -> Explanation:
    constants = tables.constants("element_model")
    if message_bytes > model_constant("largest_message_in_cf_bytes"):
        two = constants["offloaded_message_elements"]
        return Explanation(
            "/elements",
            elements,
            "elements",
            "messages * offloaded_message_elements",
            (counted, two.as_input()),
            two.basis,
            two.source,
        )
    return Explanation(
        "/elements",
        elements,
        "elements",
        "messages * ceil((message_bytes + header_bytes) / element_bytes)",
        (
            counted,
            Input("message_bytes", message_bytes, "bytes", Basis.GIVEN),
            constants["header_bytes"].as_input(),
            constants["element_bytes"].as_input(),
        ),
        Basis.DERIVED,
        tables.source("project", "The element model"),
    )


def explain_messages(
    figure: str, *, size_bytes: Fraction | int, message_bytes: int, curve: Curve
) -> Explanation:
    """Explain the number of messages of one size that fit."""
    elements = elements_held(message_bytes, header_bytes=curve.header_bytes)
    return Explanation(
        figure=figure,
        value=messages_that_fit(size_bytes, message_bytes=message_bytes, curve=curve),
        unit="messages",
        formula="floor(bundles * min(1, ratio_elements / elements_per_message))",
        inputs=(
            *curve_inputs(curve),
            Input("size_bytes", Fraction(size_bytes), "bytes", Basis.GIVEN),
            Input(
                "elements_per_message",
                elements,
                "elements",
                Basis.DERIVED,
                tables.source("project", "The element model"),
            ),
        ),
        steps=(
            Step("bundle_bytes", curve.bundle_formula, curve.bundle),
            Step(
                "bundles",
                f"max(0, (size_bytes - {curve.base_formula}) / bundle_bytes)",
                bundles_in(size_bytes, curve=curve),
            ),
        ),
        basis=Basis.ASSUMED if curve.base_basis is Basis.ASSUMED else Basis.DERIVED,
        source=tables.source("project", "The element model"),
    )
