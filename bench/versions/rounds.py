"""Rounds in which each version is measured after the other, and the figures from them."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.versions.checkout import FAILURES, Version

BEFORE, AFTER = "before", "after"

Figures = Mapping[str, float]


@dataclass
class Measured:
    """The figures of one version by line, from each round, or the reason why there are none."""

    rounds: list[Figures] = field(default_factory=list)
    reason: str = ""

    def median(self, line: str) -> float | None:
        """Return the median of a line, or None if it was not measured."""
        found = [each[line] for each in self.rounds if line in each]
        return statistics.median(found) if found else None


@dataclass(frozen=True)
class Run:
    """The versions, the options, and a folder for everything that is stored."""

    before: Version
    after: Version
    options: argparse.Namespace
    work: Path

    @property
    def versions(self) -> Mapping[str, Version]:
        """The versions by name."""
        return {BEFORE: self.before, AFTER: self.after}

    def data(self, *names: str) -> Path:
        """Return a folder below the folder of the run."""
        return self.work.joinpath(*names)


def alternate(
    what: str,
    measure: Mapping[str, Callable[[], Figures]],
    rounds: int,
    *,
    warm_ups: int = 0,
    prepared: Mapping[str, Measured] | None = None,
) -> dict[str, Measured]:
    """Measure each version in every round; a version that fails is left out of later rounds.

    Args:
        what: What is measured, for the progress.
        measure: The functions that measure the versions once.
        rounds: The number of rounds.
        warm_ups: The number of rounds before these, whose figures are not kept.
        prepared: The results of the preparation; versions that failed then are left out.
    """
    found = {name: Measured(reason=prepared[name].reason if prepared else "") for name in measure}
    for number in range(warm_ups + rounds):
        for name, each in measure.items():
            if found[name].reason:
                continue
            report(f"{what}, {name}, round {number + 1} of {warm_ups + rounds}")
            try:
                figures = each()
            except FAILURES as error:
                found[name] = Measured(reason=f"{type(error).__name__}: {error}"[:300])
                report(f"{what}, {name}: {found[name].reason}")
            else:
                if number >= warm_ups:
                    found[name].rounds.append(figures)
    return found


def each_version(run: Run, measure: Callable[[Version], Figures]) -> dict[str, Callable[[], Figures]]:
    """Return the function that measures each version."""
    return {name: lambda each=version: measure(each) for name, version in run.versions.items()}  # type: ignore[misc]


def documents_of(run: Run, version: Version) -> dict[str, Any]:
    """Return the plans of a version, which may differ between versions."""
    size = {"structures": run.options.structures, "queues": run.options.queues}
    found: dict[str, Any] = version.probe("documents", run.work, **size)
    return found


def report(text: str) -> None:
    """Print a line about the progress."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
