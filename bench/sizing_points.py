"""`python -m bench.sizing_points`: fit simulated sizing points; print the tables of docs/explanation/fits-to-sizing-points.md."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

from planner_core.sizing.sizing_advice import SizingAdvice, advise
from planner_core.sizing.sizing_points import Origin, PointsFit, SizingPoint, fit_points
from planner_core.sizing.structure_size import storage_increment_bytes
from planner_core.units import MIB, ceil_fraction, round_up

FIGURES = ("base", "bundle", "entry", "element", "size cost")
Ratio = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Truth:
    """The figures of a simulated coupling facility."""

    base: Fraction
    entry: Fraction
    element: Fraction
    size: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kind of point set."""

    title: str
    points: int = 12
    ratios: tuple[Ratio, ...] = ((1, 2), (1, 6), (1, 12))
    multiples: tuple[Fraction, ...] = (Fraction(1), Fraction(3, 2), Fraction(2))
    cfcc_level: int = 25
    wrong: int = 0
    """Points with a wrong INITSIZE."""
    noise_bytes: int = 0
    """Standard deviation of another deviation than rounding."""
    origin: Origin = "zosmf"
    advised: bool = False
    """Whether the points are those of the advisor."""


ONE = (Fraction(1),)
CASES = (
    Case(title="12 sizings, three ratios, three multiples of SIZE"),
    Case(title="10 sizings of the advisor", points=10, advised=True),
    Case(title="6 sizings, three ratios, SIZE = INITSIZE", points=6, multiples=ONE),
    Case(title="5 sizings at 1:6, SIZE = INITSIZE", points=5, ratios=((1, 6),), multiples=ONE),
    Case(title="12 sizings at 1:6, SIZE twice INITSIZE", ratios=((1, 6),), multiples=(Fraction(2),)),
    Case(title="12 sizings, CFCC 14", cfcc_level=14),
    Case(title="12 displays, three ratios, three multiples", origin="display"),
    Case(title="12 sizings, two wrong", wrong=2),
    Case(title="8 sizings at 1:6, SIZE = INITSIZE, one wrong", points=8, ratios=((1, 6),), multiples=ONE, wrong=1),
    Case(title="12 sizings that deviate by 2 MiB", noise_bytes=2 * MIB),
    Case(title="30 sizings that deviate by 2 MiB", points=30, noise_bytes=2 * MIB),
    Case(title="8 sizings at 1:6, deviating by 2 MiB", points=8, ratios=((1, 6),), multiples=ONE, noise_bytes=2 * MIB),
)  # fmt: skip


@cache
def _advised(cfcc_level: int) -> SizingAdvice:
    return advise([], cfcc_level=cfcc_level)


def simulated(seed: int, case: Case) -> tuple[list[SizingPoint], Truth]:
    """Return the points of a simulated coupling facility, and its figures."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    truth = Truth(
        base=Fraction(chance.randint(5 * MIB, 25 * MIB)),
        entry=Fraction(chance.randint(200_000, 500_000), 1000),
        element=Fraction(chance.randint(260_000, 320_000), 1000),
        size=Fraction(chance.choice((0, 2, 5, 10, 20)), 1000),
    )
    if case.advised:
        asked = [
            (each.entries, (each.entry_ratio, each.element_ratio), Fraction(str(each.size_multiple)))
            for each in _advised(case.cfcc_level).sizings
        ]
    else:
        asked = [
            (int(10 ** chance.uniform(3.5, 7)), case.ratios[n % len(case.ratios)], chance.choice(case.multiples))
            for n in range(case.points)
        ]  # fmt: skip
    points = [
        _answer(truth, case, entries, ratio, multiple, round(chance.gauss(0, case.noise_bytes)))
        for entries, ratio, multiple in asked
    ]
    increment = storage_increment_bytes(cfcc_level=case.cfcc_level)
    for index in range(case.wrong):
        # A size from the wrong row or level.
        wrong = round(points[index].initsize_bytes * chance.choice((0.5, 0.9, 1.1, 2.0)))
        wrong = round_up(wrong, multiple=increment)
        points[index] = replace(
            points[index], initsize_bytes=wrong, size_bytes=max(wrong, points[index].size_bytes)
        )
    return points, truth


def _answer(
    truth: Truth, case: Case, entries: int, ratio: Ratio, multiple: Fraction, noise: int
) -> SizingPoint:
    """Return the answer to one question, rounded as its origin rounds it."""
    increment = storage_increment_bytes(cfcc_level=case.cfcc_level)
    elements = entries * ratio[1] // ratio[0]
    counts = truth.entry * entries + truth.element * elements
    left = 1 - truth.size * multiple
    about = round_up(ceil_fraction((truth.base + counts + noise) / left), multiple=increment)
    size = round_up(ceil_fraction(about * multiple), multiple=increment)
    initsize = round_up(ceil_fraction(truth.base + counts + noise + truth.size * size), multiple=increment)
    if multiple == 1:
        # Rounding SIZE may need one more increment, and INITSIZE equals SIZE.
        size = initsize = max(initsize, about)
    if case.origin == "display":
        # An allocated structure is filled to the last entry that fits.
        bundle = truth.entry + Fraction(ratio[1], ratio[0]) * truth.element
        entries = int((initsize - truth.base - noise - truth.size * size) / bundle)
        elements = entries * ratio[1] // ratio[0]
    return SizingPoint(
        cfcc_level=case.cfcc_level,
        structure_type="application",
        entry_ratio=ratio[0],
        element_ratio=ratio[1],
        size_bytes=max(size, initsize),
        initsize_bytes=initsize,
        entries=entries,
        elements=elements,
        origin=case.origin,
    )


@dataclass(slots=True)
class Recovery:
    """Fits compared with the truth."""

    fits: int = 0
    no_figures: int = 0
    by_rounding: int = 0
    wrong_left_out: int = 0
    right_left_out: int = 0
    errors: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    widths: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    held: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FIGURES, 0))

    def add(self, fit: PointsFit, truth: Truth, *, wrong: int) -> None:
        """Add a fit to the comparison."""
        self.fits += 1
        left_out = [each.point for each in fit.residuals if each.left_out is not None]
        self.wrong_left_out += sum(index < wrong for index in left_out)
        self.right_left_out += sum(index >= wrong for index in left_out)
        if fit.state != "fitted":
            self.no_figures += 1
            return
        self.by_rounding += fit.method == "rounding"
        # Without a size cost, the figures include the control storage for the multiple that the points have.
        multiple = Fraction(str(fit.size_multiple or 0)) if fit.size_cost is None else Fraction(0)
        left = 1 - truth.size * multiple
        per_entry = Fraction(fit.ratio[1], fit.ratio[0])
        true = {
            "base": truth.base / left,
            "bundle": (truth.entry + per_entry * truth.element) / left,
            "entry": truth.entry / left,
            "element": truth.element / left,
            "size cost": truth.size,
        }
        estimates = {
            "base": fit.base_bytes,
            "bundle": fit.bundle_bytes,
            "entry": fit.entry_cost_bytes,
            "element": fit.element_cost_bytes,
            "size cost": fit.size_cost,
        }
        for name, estimate in estimates.items():
            if estimate is not None:
                # A size cost is a share already, and may be zero.
                unit = 1.0 if name == "size cost" else float(true[name])
                self.errors[name].append(abs(estimate.value - float(true[name])) / unit)
                self.widths[name].append((estimate.high - estimate.low) / 2 / unit)
                # Estimates are rounded to a thousandth of a byte.
                rounding = 1e-8 if name == "size cost" else 1e-3
                self.held[name] += estimate.low - rounding <= float(true[name]) <= estimate.high + rounding


def recovered(seeds: range, case: Case) -> Recovery:
    """Fit one simulated point set for each seed."""
    found = Recovery()
    for seed in seeds:
        points, truth = simulated(seed, case)
        found.add(fit_points(points), truth, wrong=case.wrong)
    return found


def table(simulations: int, cases: Sequence[Case] = CASES) -> Iterator[str]:
    """Return the lines of the table of figures, and those of the table of states."""
    figures = [
        "| simulated | figure | fits with it | median error | largest error | median half interval | true value inside |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    states = [
        "| simulated | point sets | with figures | explained by rounding | wrong points left out | correct points left out |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for case in cases:
        found = recovered(range(simulations), case)
        for name in FIGURES:
            if errors := sorted(found.errors[name]):
                widths = sorted(found.widths[name])
                figures.append(
                    f"| {case.title} | {name} | {len(errors)} | {_percent(errors[len(errors) // 2])} | {_percent(errors[-1])} | "
                    f"{_percent(widths[len(widths) // 2])} | {found.held[name] / len(errors):.1%} |"
                )
        wrong = f"{found.wrong_left_out} of {case.wrong * found.fits}" if case.wrong else ""
        states.append(
            f"| {case.title} | {found.fits} | {found.fits - found.no_figures} | {found.by_rounding} | {wrong} | {found.right_left_out} |"
        )
    yield from figures
    yield ""
    yield from states


def _percent(share: float) -> str:
    return f"{share:.3%}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="bench.sizing_points", description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000, help="point sets for each case")
    parser.add_argument(
        "--case", type=int, action="append", choices=range(len(CASES)), help="only this case, from 0"
    )
    options = parser.parse_args(arguments)
    cases = CASES if options.case is None else [CASES[number] for number in options.case]
    print("\n".join(table(options.simulations, cases)))


if __name__ == "__main__":
    main()
