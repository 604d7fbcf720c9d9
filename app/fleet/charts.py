"""Coupling facilities as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence

from app.fleet.answers import FleetFacility
from app.web.charts import Bar, BarChart, Origin, Part
from app.web.rendering import grouped, plain
from planner_core.units import MIB


def facilities_chart(facilities: Sequence[FleetFacility]) -> BarChart:
    """Return a bar for each coupling facility: its structures, second copies, and space for a loss."""
    bars = tuple(map(_bar, facilities))
    words = "; ".join(f"{bar.name}: {bar.text}" for bar in bars)
    return BarChart(
        id="coupling-facilities-chart",
        title="Storage of each coupling facility",
        description=f"Structures, second copies and white space. {words}.",
        bars=bars,
        whole_name="storage of the coupling facility",
        enlarges_short=True,
        origin=Origin(source="last measured sizes and places, and stored plans"),
    )


def _bar(each: FleetFacility) -> Bar:
    needed = each.after_loss.needed_bytes if each.after_loss else 0
    lost = each.after_loss.lost if each.after_loss else ""
    after_loss = "needed after the loss of another coupling facility"
    parts = (
        ("others", each.others_bytes, "others and dump space", ""),
        ("held", each.structures_bytes, "structures", ""),
        ("second", each.second_copies_bytes, "second copies", ""),
        ("keep short", needed, f"{after_loss}, with too little white space", f"needed if {lost} is lost")
        if each.is_short
        else ("keep", needed, after_loss, f"needed if {lost} is lost"),
    )
    return Bar(
        each.name,
        _text(each),
        tuple(
            Part(style, size, f"{words or name}: {plain(size)}", name) for style, size, name, words in parts
        ),
        each.storage_bytes,
        warning="not enough white space" if each.is_short else "",
        short=_free(each),
    )


def _text(each: FleetFacility) -> str:
    words = [f"{_amount(each.structures_bytes)} structures"]
    if each.second_copies_bytes:
        words.append(f"{_amount(each.second_copies_bytes)} second copies")
    words.append(_free(each))
    if each.after_loss is not None and each.after_loss.needed_bytes:
        words.append(f"{_amount(each.after_loss.needed_bytes)} needed without {each.after_loss.lost}")
    return ", ".join(words)


def _free(each: FleetFacility) -> str:
    if each.white_space_bytes is None:
        return "storage not stated"
    if each.white_space_bytes < 0:
        return f"{_amount(-each.white_space_bytes)} more than its {_amount(each.storage_bytes or 0)}"
    return f"{_amount(each.white_space_bytes)} free of {_amount(each.storage_bytes or 0)}"


def _amount(size_bytes: int) -> str:
    """Return a size for the text next to a bar; the table shows fractions of a MiB."""
    return f"{grouped(round(size_bytes / MIB))} MiB"
