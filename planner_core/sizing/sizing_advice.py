"""The sizings to run next: those that narrow the intervals of a fit to sizing points most.

Each sizing is a row of the design matrix of the fit. The advisor adds the row that increases the determinant of the
information most, one after the other (a greedy D-optimal design), and ends with rows between the others, which show
whether the line is straight. It uses no random numbers: the same points give the same advice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Annotated

from pydantic import Field

from planner_core import names
from planner_core.errors import OutOfRange
from planner_core.findings import Finding
from planner_core.limits import limit
from planner_core.sizing.admin_structure import entries_required
from planner_core.sizing.sizing_points import (
    OWN_RATIO,
    Kind,
    PointsFit,
    SizingPoint,
    fit_points,
    unrounded_between,
)
from planner_core.sizing.structure_size import (
    Curve,
    model_constant,
    published_curve,
    storage_increment_bytes,
)
from planner_core.units import GIB, MIB, format_size, round_up
from planner_core.wire import Answer

ADVISED_SIZINGS = 10
"""The number of sizings that the advisor proposes at once."""

LARGEST_BYTES = 16 * GIB
_LEAST_LARGEST = 256 * MIB
_CHECKS = 2
"""The number of sizings that only check whether the line is straight."""

_RATIOS: dict[Kind, tuple[tuple[int, int], ...]] = {
    "application": ((1, 2), (1, 6), (1, 12), (1, 20)),
    "admin": ((1, 1), (1, 2), (1, 4), (1, 6)),
}
_MULTIPLES = (Fraction(1), Fraction(3, 2), Fraction(2))
_CHECK_RATIO: dict[Kind, tuple[int, int]] = {"application": (1, 9), "admin": (1, 3)}
_UNCERTAINTY = (20.0 * MIB, 500.0, 100.0, 0.05)
"""How uncertain base, entry cost, element cost and size cost are without any points: only their order of magnitude affects the advice."""

_NOTHING = 1e-9

_REASONS = {
    "base": "a small structure determines the base",
    "bundle": "a large structure determines the cost of an entry with its elements",
    "element": "another ratio separates the costs of entries and elements",
    "size": "SIZE as another multiple of INITSIZE shows its control storage",
    "check": "between the others: shows whether the line is straight",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedSizing(Answer):
    """A sizing to run next.

    IXLCSP and forms for list structures take `entries` and `elements`. The form for MQ takes messages: `messages` of
    `message_bytes` need the same entries and elements at the same ratio.
    """

    number: int
    entry_ratio: int
    element_ratio: int
    entries: int
    elements: int
    size_multiple: Annotated[float, Field(description="SIZE as a multiple of INITSIZE.")]
    expected_size_bytes: int
    expected_initsize_bytes: int
    messages: Annotated[
        int | None, Field(description="For the form for MQ; null for CSQ_ADMIN, whose form takes no counts.")
    ]
    message_bytes: int | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedInterval(Answer):
    """Half the width of the interval of a figure, before and after the advised sizings.

    In bytes; for the size cost, in bytes for each byte of SIZE.
    """

    figure: Annotated[str, Field(description="base, bundle, entry, element or size_cost.")]
    now: Annotated[float | None, Field(description="Null if the points do not determine it yet.")]
    afterwards: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingAdvice(Answer):
    """The sizings to run next, and the expected effect on the intervals."""

    cfcc_level: int
    kind: Kind
    sizings: tuple[AdvisedSizing, ...]
    expected: Annotated[
        tuple[ExpectedInterval, ...], Field(description="If rounding is the only deviation of the answers.")
    ]
    text: Annotated[str, Field(description="The list as text, to take to z/OSMF.")]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A possible sizing, and its expected answer."""

    ratio: tuple[int, int]
    multiple: Fraction
    point: SizingPoint

    @property
    def row(self) -> list[float]:
        return _row_of(self.point)


@dataclass(frozen=True, slots=True)
class _Costs:
    """The figures by which the answers are expected; their exact values do not matter."""

    base: Fraction
    entry: Fraction
    element: Fraction
    size: Fraction


def advise(
    points: Sequence[SizingPoint],
    *,
    cfcc_level: int,
    kind: Kind = "application",
    sizings: int = ADVISED_SIZINGS,
    largest_bytes: int = LARGEST_BYTES,
    vary_size: bool = True,
) -> SizingAdvice:
    """Return the sizings that narrow the intervals of a fit most, the most useful first.

    Args:
        points: The points that are known already, possibly none; those of other levels and kinds are ignored.
        cfcc_level: The CFCC level to size for.
        kind: The kind of structure.
        sizings: The number of sizings to propose, 1 to 10.
        largest_bytes: The largest INITSIZE to propose [bytes], at least 256 MiB.
        vary_size: Whether SIZE can be chosen independently of INITSIZE, as in IXLCSP.

    Raises:
        OutOfRange: A number outside its range.
    """
    for name, value, lowest, highest in (
        ("sizings", sizings, 1, ADVISED_SIZINGS),
        ("cfcc_level", cfcc_level, limit("lowest_cfcc_level"), 999),
    ):
        if not lowest <= value <= highest:
            raise OutOfRange(field=name, value=value, lowest=lowest, highest=highest)
    if largest_bytes < _LEAST_LARGEST:
        raise OutOfRange(field="largest_bytes", value=largest_bytes, lowest=_LEAST_LARGEST)
    known = [point for point in points if (point.cfcc_level, point.kind) == (cfcc_level, kind)]
    fit = fit_points(known) if known else None
    if fit is not None:
        used = {each.point for each in fit.residuals if each.left_out is None}
        known = [point for number, point in enumerate(known) if number in used or not fit.residuals]
    costs = _expected_costs(fit, cfcc_level)
    expect = partial(_candidate, cfcc_level=cfcc_level, kind=kind, costs=costs)
    multiples = _MULTIPLES if vary_size else _MULTIPLES[:1]
    totals = _sizes(kind, costs, largest_bytes)
    candidates = [
        expect(ratio, multiple, total) for ratio, multiple, total in product(_RATIOS[kind], multiples, totals)
    ]
    increment = storage_increment_bytes(cfcc_level=cfcc_level)
    design = _Design(increment, vary_size=vary_size)
    for point in known:
        design.add(_row_of(point), float(_half_width(point, increment)))
    checks = min(_CHECKS, sizings // 5)
    chosen: list[tuple[_Candidate, str]] = []
    while len(chosen) < sizings - checks:
        # Each sizing once: the same question has the same answer.
        best = max(candidates, key=lambda each: design.gain(each.row))
        candidates.remove(best)
        chosen.append((best, design.add(best.row, increment / 2)))
    middle = [math.isqrt(totals[0] * totals[1]), math.isqrt(totals[1] * totals[2])]
    chosen += [
        (expect(_CHECK_RATIO[kind], multiples[len(multiples) // 2], total), "check")
        for total in middle[len(middle) - checks :]
    ]
    advised = tuple(
        _advised(number, candidate, reason) for number, (candidate, reason) in enumerate(chosen, start=1)
    )
    # Without figures, the expected answers are those of the published curve, which known points may contradict.
    agreeing = known if fit is not None and fit.state == "fitted" else []
    after = fit_points([*agreeing, *(candidate.point for candidate, _ in chosen)])
    expected = tuple(_expected(fit, after))
    return SizingAdvice(
        cfcc_level=cfcc_level,
        kind=kind,
        sizings=advised,
        expected=expected,
        text=_text(cfcc_level, kind, advised, expected, increment),
    )


def _row_of(point: SizingPoint) -> list[float]:
    entries, elements = point.counts
    return [1.0, float(entries), float(elements), float(point.size_bytes)]


def _half_width(point: SizingPoint, increment: int) -> Fraction:
    low, high = unrounded_between(point, increment)
    return max((high - low) / 2, Fraction(1))


def _expected_costs(fit: PointsFit | None, cfcc_level: int) -> _Costs:
    """Return the figures of a fit as far as it has them, otherwise the published ones."""
    curve: Curve = published_curve(cfcc_level=cfcc_level).curve
    if fit is None or fit.state != "fitted" or fit.base_bytes is None or fit.bundle_bytes is None:
        return _Costs(curve.base, curve.entry_bytes, curve.element_bytes, Fraction(0))
    size = Fraction(0) if fit.size_cost is None else Fraction(str(fit.size_cost.value))
    base = Fraction(str(fit.base_bytes.value))
    if fit.entry_cost_bytes is not None and fit.element_cost_bytes is not None:
        return _Costs(
            base, Fraction(str(fit.entry_cost_bytes.value)), Fraction(str(fit.element_cost_bytes.value)), size
        )
    bundle = Fraction(str(fit.bundle_bytes.value))
    held = min(curve.element_bytes, bundle * fit.ratio[0] / fit.ratio[1])
    return _Costs(base, bundle - Fraction(fit.ratio[1], fit.ratio[0]) * held, held, size)


def _sizes(kind: Kind, costs: _Costs, largest_bytes: int) -> tuple[int, ...]:
    """Return the INITSIZEs to size for, in ascending order; entries and elements take what is above the base [bytes]."""
    if kind == "admin":
        one, many = OWN_RATIO[kind]
        bundle = costs.entry + Fraction(many, one) * costs.element
        managers = (1, 8, limit("queue_managers_per_group"))
        return tuple(round(costs.base + bundle * entries_required(queue_managers=each)) for each in managers)
    least = round(costs.base) + 4 * MIB
    largest = max(largest_bytes, 4 * least)
    # Equal steps of a factor: each order of magnitude shows whether the line is straight there.
    step = (largest / least) ** (1 / 3)
    return least, round(least * step), round(least * step * step), largest


def _candidate(
    ratio: tuple[int, int],
    multiple: Fraction,
    total_bytes: int,
    *,
    cfcc_level: int,
    kind: Kind,
    costs: _Costs,
) -> _Candidate:
    per_entry = Fraction(ratio[1], ratio[0])
    bundle = costs.entry + per_entry * costs.element
    left = 1 - costs.size * multiple
    # Control storage for SIZE also comes out of the total.
    room = max(Fraction(0), total_bytes * max(left, Fraction(1, 10)) - costs.base)
    entries = _rounded(max(1000, math.floor(room / bundle)))
    elements = math.floor(entries * per_entry)
    increment = storage_increment_bytes(cfcc_level=cfcc_level)
    need = costs.base + costs.entry * entries + costs.element * elements
    initsize = round_up(math.ceil(need / max(left, Fraction(1, 10))), multiple=increment)
    point = SizingPoint(
        cfcc_level=cfcc_level,
        structure_type=kind,
        entry_ratio=ratio[0],
        element_ratio=ratio[1],
        size_bytes=round_up(math.ceil(initsize * multiple), multiple=increment),
        initsize_bytes=initsize,
        entries=entries,
        elements=elements,
        origin="ixlcsp",
    )
    # SIZE is rounded too, and its control storage with it.
    need += costs.size * point.size_bytes
    point = replace(point, initsize_bytes=round_up(math.ceil(need), multiple=increment))
    return _Candidate(ratio, multiple, point)


def _rounded(count: int) -> int:
    """Return a count with three digits, which is easier to enter and as useful."""
    scale: int = 10 ** max(0, len(str(count)) - 3)
    return count // scale * scale


class _Design:
    """The information that sizings give about the unknowns, as the inverse of their covariance."""

    def __init__(self, increment: int, *, vary_size: bool) -> None:
        self.noise = increment / math.sqrt(12)
        # If SIZE follows INITSIZE, its cost is part of the others.
        uncertainty = (*_UNCERTAINTY[:-1], _UNCERTAINTY[-1] if vary_size else 0.0)
        self.covariance = [
            [(each / self.noise) ** 2 if i == j else 0.0 for j in range(len(uncertainty))]
            for i, each in enumerate(uncertainty)
        ]

    def gain(self, row: Sequence[float]) -> float:
        """Return how much a sizing increases the determinant of the information."""
        # Ties are broken by rounding, not by differences in the last bits.
        return float(f"{self._spread(row):.9g}")

    def add(self, row: Sequence[float], half_width: float) -> str:
        """Add a sizing, and return the figure whose interval it narrows most."""
        before = self._deviations()
        weight = (self.noise * math.sqrt(3) / half_width) ** 2
        times = self._times(row)
        divisor = 1 / weight + self._spread(row)
        self.covariance = [
            [each - times[i] * times[j] / divisor for j, each in enumerate(line)]
            for i, line in enumerate(self.covariance)
        ]
        after = self._deviations()
        return min(after, key=lambda name: after[name] / before[name])

    def _times(self, row: Sequence[float]) -> list[float]:
        return [sum(a * b for a, b in zip(line, row, strict=True)) for line in self.covariance]

    def _spread(self, row: Sequence[float]) -> float:
        return max(0.0, sum(a * b for a, b in zip(row, self._times(row), strict=True)))

    def _deviations(self) -> dict[str, float]:
        directions = {
            "base": (1.0, 0.0, 0.0, 0.0),
            "bundle": (0.0, 1.0, 6.0, 0.0),
            "element": (0.0, 0.0, 1.0, 0.0),
            "size": (0.0, 0.0, 0.0, 1.0),
        }
        return {name: math.sqrt(self._spread(row)) or _NOTHING for name, row in directions.items()}


def _advised(number: int, candidate: _Candidate, reason: str) -> AdvisedSizing:
    point = candidate.point
    one, many = candidate.ratio
    # Messages of this size take the elements of the ratio, so both pools fill up at the same time. It is the middle of
    # the sizes that do: the form may add a slightly different number of bytes to a message than we do.
    element_bytes = model_constant("element_bytes")
    message = many // one * element_bytes - model_constant("header_bytes") - element_bytes // 2
    is_application = point.kind == "application"
    return AdvisedSizing(
        number=number,
        entry_ratio=one,
        element_ratio=many,
        entries=point.entries or 0,
        elements=point.elements or 0,
        size_multiple=float(candidate.multiple),
        expected_size_bytes=point.size_bytes,
        expected_initsize_bytes=point.initsize_bytes,
        messages=point.entries if is_application else None,
        message_bytes=message if is_application else None,
        why=_REASONS[reason],
    )


def _expected(fit: PointsFit | None, after: PointsFit) -> Iterator[ExpectedInterval]:
    def half(of: PointsFit | None, name: str) -> float | None:
        estimate = None if of is None or of.state == "too_little" else getattr(of, name)
        return None if estimate is None else (estimate.high - estimate.low) / 2

    for figure, name in (
        ("base", "base_bytes"),
        ("bundle", "bundle_bytes"),
        ("entry", "entry_cost_bytes"),
        ("element", "element_cost_bytes"),
        ("size_cost", "size_cost"),
    ):
        yield ExpectedInterval(figure=figure, now=half(fit, name), afterwards=half(after, name))


def _text(
    cfcc_level: int,
    kind: Kind,
    advised: Sequence[AdvisedSizing],
    expected: Sequence[ExpectedInterval],
    increment: int,
) -> str:
    """Return the list as lines of at most 80 characters."""
    what = names.ADMIN_STRUCTURE if kind == "admin" else "application structures"
    lines = [
        f"{len(advised)} sizings for CFCC level {cfcc_level}, {what}",
        "",
        "Run each one in z/OSMF (Sysplex Management, CFRM Policy Editor, CF Sizing)",
        "or with IXLCSP, and write down SIZE, INITSIZE, entries and elements of the",
        "answer, with the release and the date.",
        "",
        "As a list structure, enter entries, elements and SIZE.",
    ]
    if kind == "application":
        lines += [
            "In the form for MQ, enter the messages as arrival rate per minute, their",
            "size, 1 minute of CF storage message capacity, 0 minutes of overflow, no",
            "messages of 63 KB or more, and the ratio. SIZE cannot be chosen there: note",
            "the one in the answer.",
        ]
    else:
        lines += ["The form for MQ takes queue managers and shows no counts: do not use it."]
    for each in advised:
        ratio = f"{each.entry_ratio}:{each.element_ratio}"
        times = "SIZE = INITSIZE" if each.size_multiple == 1 else f"SIZE = {each.size_multiple:g} x INITSIZE"
        lines += [
            "",
            f"{each.number:2}. ratio {ratio}, {each.entries} entries, {each.elements} elements",
            f"    {times}, SIZE about {format_size(each.expected_size_bytes)}, INITSIZE about "
            f"{format_size(each.expected_initsize_bytes)}",
        ]
        if each.messages is not None:
            lines.append(f"    form for MQ: {each.messages} messages of {each.message_bytes} bytes")
        lines.append(f"    {each.why}")
    lines += ["", f"Expected intervals (answers are rounded up to {format_size(increment)}):"]
    for interval in expected:
        before, after = (_shown(interval.figure, value) for value in (interval.now, interval.afterwards))
        lines.append(f"    {interval.figure:<10} now {before:<18} afterwards {after}")
    return "\n".join((*lines, ""))


def _shown(figure: str, half: float | None) -> str:
    if half is None:
        return "not known"
    if figure == "size_cost":
        return f"+- {half:.5f}"
    return f"+- {half / MIB:.3f} MiB" if figure == "base" else f"+- {half:.3f} bytes"
