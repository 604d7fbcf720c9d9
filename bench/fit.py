"""`python -m bench.fit`: fits of simulated allocations held against their truth; prints the table of docs/fitted-curves.md."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spark_jobs.fit import AllocationPoint, CurveFit, Estimate, fit_curve
from spark_jobs.simulate.statistics import AllocationTruth, allocation_points

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
    ("one ratio, noise of 2 MiB", {"ratios": ONE_RATIO, "noise_bytes": 2 * 2**20}),
)


@dataclass(slots=True)
class Held:
    """Fits held against their truth: errors as a share of it, and how often the interval held it."""

    errors: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    held: dict[str, list[bool]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    states: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, fit: CurveFit, truth: AllocationTruth) -> None:
        """One more fit."""
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
            if fit.state == "fitted" and estimate is not None:
                self.errors[name].append(abs(estimate.value / true[name] - 1))
                self.held[name].append(estimate.low <= true[name] <= estimate.high)

    def coverage(self, name: str) -> float:
        """How often the interval held the true figure."""
        return sum(self.held[name]) / len(self.held[name])

    def worst(self, name: str) -> float:
        """The largest error."""
        return max(self.errors[name])


def simulated(seeds: range, **how: Any) -> Held:  # noqa: ANN401 - whatever the simulator takes
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


def table(simulations: int, cases: Sequence[tuple[str, dict[str, Any]]] = CASES) -> list[str]:
    """The lines of the table, a case each."""
    lines = [
        "| simulated | figure | fits | largest error | 90 % intervals that held the truth |",
        "|---|---|---:|---:|---:|",
    ]
    for title, how in cases:
        found = simulated(range(simulations), **how)
        lines.extend(
            f"| {title} | {name} | {len(found.held[name])} | {found.worst(name):.2%} | {found.coverage(name):.1%} |"
            for name in FIGURES
            if found.held[name]
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.fit", description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    options = parser.parse_args(arguments)
    print("\n".join(table(options.simulations)))


if __name__ == "__main__":
    main()
