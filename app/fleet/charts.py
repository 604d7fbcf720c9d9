"""Coupling facilities as stacked bars, and the last days of a structure as a small line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from app.fleet.answers import FleetFacility
from app.fleet.service import SPARK_DAYS, DayUse
from app.web.charts import Bar, BarChart, Part
from app.web.rendering import grouped, plain
from planner_core.units import MIB

SPARK_WIDTH, SPARK_HEIGHT = 90, 20
_FULL = 100.0


def facilities_chart(facilities: Sequence[FleetFacility]) -> BarChart:
    """Return a bar for each coupling facility: its structures, second copies, and space for a loss."""
    bars = tuple(map(_bar, facilities))
    words = "; ".join(f"{bar.name}: {bar.text}" for bar in bars)
    return BarChart(
        id="coupling-facilities-chart",
        title="Storage of each coupling facility",
        description=f"Structures, second copies and white space. {words}.",
        bars=bars,
    )


def _bar(each: FleetFacility) -> Bar:
    needed = each.after_loss.needed_bytes if each.after_loss else 0
    lost = each.after_loss.lost if each.after_loss else ""
    parts = (
        ("others", each.others_bytes, "other structures and dump space"),
        ("held", each.structures_bytes, "structures"),
        ("second", each.second_copies_bytes, "second copies"),
        ("keep short" if each.is_short else "keep", needed, f"needed if {lost} is lost"),
    )
    return Bar(
        each.name,
        _text(each),
        tuple(Part(style, size, f"{words}: {plain(size)}") for style, size, words in parts),
        each.storage_bytes,
        warning="not enough white space" if each.is_short else "",
    )


def _text(each: FleetFacility) -> str:
    words = [f"{_amount(each.structures_bytes)} structures"]
    if each.second_copies_bytes:
        words.append(f"{_amount(each.second_copies_bytes)} second copies")
    if each.white_space_bytes is not None:
        words.append(f"{_amount(each.white_space_bytes)} free of {_amount(each.storage_bytes or 0)}")
    else:
        words.append("storage not stated")
    if each.after_loss is not None and each.after_loss.needed_bytes:
        words.append(f"{_amount(each.after_loss.needed_bytes)} needed without {each.after_loss.lost}")
    return ", ".join(words)


def _amount(size_bytes: int) -> str:
    """Return a size for the text next to a bar; the table shows fractions of a MiB."""
    return f"{grouped(round(size_bytes / MIB))} MiB"


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The daily use of a structure as lines in a small drawing, and in words."""

    lines: tuple[str, ...]
    """Points of each part between days that were not measured."""
    dots: tuple[tuple[float, float], ...]
    """Measured days without measured neighbors."""
    description: str
    width: int = SPARK_WIDTH
    height: int = SPARK_HEIGHT


def sparkline(days: Sequence[DayUse], *, last: date) -> Sparkline | None:
    """Return the drawing of the days up to the last day; None if none was measured."""
    known = [(each.day, each.used_percent) for each in days if each.used_percent is not None]
    if not known:
        return None
    first = last - timedelta(days=SPARK_DAYS - 1)
    runs: list[list[tuple[date, float]]] = []
    for day, used in known:
        if runs and (day - runs[-1][-1][0]).days == 1:
            runs[-1].append((day, used))
        else:
            runs.append([(day, used)])

    def at(day: date, used: float) -> tuple[float, float]:
        x = 1 + (day - first).days * (SPARK_WIDTH - 2) / (SPARK_DAYS - 1)
        return round(x, 1), round(1 + (SPARK_HEIGHT - 2) * (1 - min(used, _FULL) / _FULL), 1)

    highest = max(known, key=lambda pair: pair[1])
    return Sparkline(
        lines=tuple(" ".join("{},{}".format(*at(*point)) for point in run) for run in runs if len(run) > 1),
        dots=tuple(at(*run[0]) for run in runs if len(run) == 1),
        description=(
            f"Daily peaks from {known[0][0].isoformat()} to {known[-1][0].isoformat()}: {known[0][1]:.0f} % at first, "
            f"{known[-1][1]:.0f} % at last, at most {highest[1]:.0f} % on {highest[0].isoformat()}."
        ),
    )
