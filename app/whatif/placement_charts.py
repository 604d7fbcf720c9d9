"""Storage of coupling facilities as bars; the table below contains the figures."""

from __future__ import annotations

from collections.abc import Sequence

from app.web.charts import Bar, BarChart, Origin, Part
from app.web.rendering import grouped, plain
from planner_core.units import MIB
from planner_core.whatif.loss import WhiteSpace


def chart_of(space: Sequence[WhiteSpace]) -> BarChart:
    """Return a chart of the used storage and the white space of each coupling facility."""
    return bar_chart(
        "space",
        "Storage and white space of each coupling facility",
        "Bars of storage.",
        list(map(_bar, space)),
        whole_name="its storage",
    )


def bar_chart(name: str, title: str, about: str, bars: Sequence[Bar], *, whole_name: str) -> BarChart:
    """Return a bar chart whose description consists of the texts of its bars."""
    words = "; ".join(f"{bar.name}: {bar.text}" for bar in bars)
    return BarChart(
        id=name,
        title=title,
        description=f"{about} {words}.",
        bars=tuple(bars),
        whole_name=whole_name,
        origin=Origin(source="the plan, calculated by cfplan"),
    )


def _bar(each: WhiteSpace) -> Bar:
    is_short = each.is_enough is False
    parts = (
        ("others", each.taken_bytes, "other structures and dump space"),
        ("held", each.used_bytes, "structures of the plan"),
        (
            "keep short" if is_short else "keep",
            each.keep_bytes,
            f"white space to keep{', but there is not enough' if is_short else ''}",
        ),
    )
    return Bar(
        each.name,
        _text(each),
        tuple(Part(style, size, f"{words}: {plain(size)}", words) for style, size, words in parts),
        each.storage_bytes,
        warning="not enough free space" if is_short else "",
        short=_short(each),
    )


def _text(each: WhiteSpace) -> str:
    used = _amount(each.used_bytes + each.taken_bytes)
    keep = _amount(each.keep_bytes) if each.keep_bytes else "nothing"
    if each.free_bytes is None:
        return f"{used} used, {keep} to keep free; storage not stated"
    return f"{used} used, {keep} to keep free, of {_amount(each.storage_bytes or 0)}"


def _short(each: WhiteSpace) -> str:
    keep = f"{_amount(each.keep_bytes) if each.keep_bytes else 'nothing'} to keep free"
    return keep if each.storage_bytes is None else f"{keep}, of {_amount(each.storage_bytes)}"


def _amount(size_bytes: int) -> str:
    """Return a size for the text next to a bar; the table shows fractions of a MiB."""
    return f"{grouped(round(size_bytes / MIB))} MiB"
