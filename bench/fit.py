"""`python -m bench.fit`: compare fits of simulated allocations with the truth; print the table of docs/explanation/fitted-curves.md."""

from __future__ import annotations

import argparse
import datetime as dt
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.simulated_allocations import AllocationTruth, allocation_points
from planner_core.units import MIB
from spark_jobs.fit import AllocationPoint, CurveFit, Estimate, fit_curve

FIGURES = ("base", "entry", "element", "bundle")
ONE_RATIO: tuple[tuple[int, int], ...] = ((1, 6),)
TWO_RATIOS: tuple[tuple[int, int], ...] = ((1, 6), (1, 2))
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("two ratios", {"ratios": TWO_RATIOS}),
    ("one ratio", {"ratios": ONE_RATIO}),
    ("two ratios, no wrong rows", {"ratios": TWO_RATIOS, "outlier_share": 0.0}),
    ("one ratio, one row in five wrong", {"ratios": ONE_RATIO, "outlier_share": 0.2}),
    ("one ratio, 5 structures", {"ratios": ONE_RATIO, "structures": 5}),
    ("two ratios, 40 structures", {"ratios": TWO_RATIOS, "structures": 40, "reallocations": 8, "alters": 16}),
    ("one ratio, noise of 2 MiB", {"ratios": ONE_RATIO, "noise_bytes": 2 * MIB}),
)


@dataclass(slots=True)
class Held:
    """Fits compared with the truth: relative errors, and whether the intervals contain it."""

    errors: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    held: dict[str, list[bool]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    states: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, fit: CurveFit, truth: AllocationTruth) -> None:
        """Add a fit to the comparison."""
        key = f"{fit.state} {fit.kind}"
        self.states[key] = self.states.get(key, 0) + 1
        true = {
            "base": truth.base_bytes,
            "entry": truth.entry_bytes,
            "element": truth.element_bytes,
            "bundle": truth.bundle_bytes(),
        }
        for name in FIGURES:
            estimate: Estimate | None = getattr(fit, f"{name}_bytes")
            # A refused fit has no figures to compare; the states are counted separately.
            if fit.state == "fitted" and estimate is not None:
                self.errors[name].append(abs(estimate.value / true[name] - 1))
                self.held[name].append(estimate.low <= true[name] <= estimate.high)

    def coverage(self, name: str) -> float:
        """Return the share of intervals that contain the true figure."""
        return sum(self.held[name]) / len(self.held[name])

    def worst(self, name: str) -> float:
        """Return the largest error."""
        return max(self.errors[name])


def simulated(seeds: range, **how: Any) -> Held:  # noqa: ANN401 - the arguments of the simulator
    """Fit one simulated coupling facility for each seed."""
    found = Held()
    for seed in seeds:
        sample = allocation_points(seed, **how)
        points = [AllocationPoint(**row) for row in sample.rows]
        begun = time.process_time()
        fit = fit_curve(points)
        found.seconds += time.process_time() - begun
        found.add(fit, sample.truth)
    return found


OTHER = AllocationTruth(
    base_bytes=22.0 * MIB, entry_bytes=640.0, element_bytes=270.0, ratios=ONE_RATIO, noise_bytes=0.0
)
DEVIATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sizes off by 0.3 MiB", {"constant": 0.3}),
    ("sizes off by 0.2 %", {"growing": 0.002}),
    ("0.3 MiB by structure, 0.1 MiB by allocation", {"alike": 0.3, "constant": 0.1}),
    ("0.25 MiB and 0.1 %", {"constant": 0.25, "growing": 0.001}),
    ("totals first, then the size rounded up to 1 MiB", {"is_rounded_up": True}),
)


def deviating(
    seed: int,
    *,
    constant: float = 0.0,
    growing: float = 0.0,
    alike: float = 0.0,
    is_rounded_up: bool = False,
) -> list[AllocationPoint]:
    """Return twelve structures of two allocations each, whose sizes deviate in ways that the simulator does not cover.

    Args:
        seed: The same seed produces the same allocations.
        constant: Standard deviation of each allocation [MiB].
        growing: The same, as a fraction of the size.
        alike: Standard deviation common to all allocations of a structure [MiB].
        is_rounded_up: Whether the size follows from entries and elements, rounded up to whole MiB.
    """
    chance = np.random.default_rng(seed)
    first, made = dt.date(2026, 3, 2), dt.datetime(2026, 2, 1, tzinfo=dt.UTC)
    points = []
    for number in range(12):
        own = chance.normal(0, alike)
        for turn in range(2):
            size: float = 64 * 2 ** chance.uniform(0, 6)
            size = size if is_rounded_up else round(size)
            room = size + own + chance.normal(0, constant) + chance.normal(0, growing) * size
            # A coupling facility allocates whole entries only.
            entries = int((room * MIB - OTHER.base_bytes) / OTHER.bundle_bytes())
            size_bytes = math.ceil(size) * MIB
            points += [
                AllocationPoint(
                    "SQ03", f"APP{number}", None, "CF01", 25, first + dt.timedelta(days=10 * turn + day), made,
                    size_bytes, entries, 6 * entries, 96,
                )
                for day in range(5)
            ]  # fmt: skip
    return points


def otherwise(seeds: range, **how: Any) -> Held:  # noqa: ANN401 - the arguments of `deviating`
    """Fit one deviating coupling facility for each seed."""
    found = Held()
    for seed in seeds:
        found.add(fit_curve(deviating(seed, **how)), OTHER)
    return found


def table(simulations: int, cases: Sequence[tuple[str, dict[str, Any]]] = CASES) -> list[str]:
    """Return the lines of the table, one for each case."""
    lines = [
        "| simulated | figure | fits | largest error | 90 % intervals that contained the true value |",
        "|---|---|---:|---:|---:|",
    ]
    runs = [
        *((title, simulated, how) for title, how in cases),
        *((title, otherwise, how) for title, how in DEVIATIONS),
    ]
    for title, run, how in runs:
        found = run(range(simulations), **how)
        lines.extend(
            f"| {title} | {name} | {len(found.held[name])} | {found.worst(name):.2%} | {found.coverage(name):.1%} |"
            for name in FIGURES
            if found.held[name]
        )
    return lines


def straight(points: Sequence[AllocationPoint]) -> float:
    """Return the bytes of an entry with its elements, by least squares through all points, for comparison."""
    entries = np.array([point.entries_total for point in points], dtype=float)
    sizes = np.array([point.size_bytes for point in points], dtype=float)
    design = np.column_stack([np.ones_like(entries), entries])
    return float(np.linalg.lstsq(design, sizes, rcond=None)[0][1])


def beside(simulations: int) -> tuple[float, float, float]:
    """Return the median errors of the bundle at one ratio, fitted and by least squares, and the seconds of a fit.

    Args:
        simulations: Number of coupling facilities.
    """
    ours, theirs, began, spent = [], [], 0.0, 0.0
    for seed in range(simulations):
        sample = allocation_points(seed, ratios=ONE_RATIO)
        points = [AllocationPoint(**row) for row in sample.rows]
        true = sample.truth.bundle_bytes()
        began = time.process_time()
        fit = fit_curve(points)
        spent += time.process_time() - began
        if fit.bundle_bytes is not None:
            ours.append(abs(fit.bundle_bytes.value / true - 1))
            theirs.append(abs(straight(points) / true - 1))
    return float(np.median(ours)), float(np.median(theirs)), spent / simulations


def print_fits(simulations: int) -> None:
    """Print the accuracy of fits, and of least squares for comparison."""
    ours, theirs, seconds = beside(simulations)
    print(f"\nFits of {simulations} simulated coupling facilities; {seconds * 1000:.1f} ms of CPU each")
    print(
        f"median error of the bundle at one ratio: fitted {ours:.4%}, least squares through all points {theirs:.4%}, "
        f"ratio {ours / theirs:.3f}"
    )
    print("\n".join(table(simulations)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.fit", description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    options = parser.parse_args(arguments)
    print("\n".join(table(options.simulations)))


if __name__ == "__main__":
    main()
