"""The table of the figures of both versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.versions.rounds import AFTER, BEFORE, Measured


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    name: str
    before: float | None
    after: float | None
    aim: float | None
    reason: str = ""


def lines(found: Mapping[str, Measured], aims: Mapping[str, float | None]) -> list[Line]:
    """Return the lines of a part with their aims; what no version has is a line as well."""
    return [
        Line(
            name,
            found[BEFORE].median(name),
            found[AFTER].median(name),
            aim,
            "; ".join(
                f"{version}: {found[version].reason or 'not in this version'}"
                for version in (BEFORE, AFTER)
                if found[version].median(name) is None
            ),
        )
        for name, aim in aims.items()
    ]


def print_lines(found: Sequence[Line]) -> None:
    """Print the table, and below it the reasons for figures that are missing."""
    width = max(len(line.name) for line in found)
    print(f"{'':<{width}}{BEFORE:>10}{AFTER:>10}{'ratio':>8}{'aim':>8}{'of aim':>8}")
    for line in found:
        ratio = None if not line.before or line.after is None else line.after / line.before
        of_aim = None if not line.aim or line.after is None else line.after / line.aim
        print(
            f"{line.name:<{width}}{_figure(line.before):>10}{_figure(line.after):>10}{_figure(ratio):>8}"
            f"{_figure(line.aim) if line.aim else '':>8}{_figure(of_aim) if line.aim else '':>8}"
        )
    reasons = dict.fromkeys(f"{line.name}: {line.reason}" for line in found if line.reason)
    print("".join(f"\n- {reason}" for reason in reasons))


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return (
        f"{value:,.0f}"
        if value >= 1000
        else f"{value:.1f}"
        if value >= 100
        else f"{value:.3f}"
        if value < 10
        else f"{value:.2f}"
    )
