"""Amounts as bars, drawn by the server, such as the storage of coupling facilities; a table beside them has the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.web.rendering import grouped, plain
from planner_core.units import MIB
from planner_core.whatif.loss import WhiteSpace

_ROW_PX, _BAR_PX, _LABEL_PX, _TOP_PX = 46, 18, 16, 4
_LEAST_PX = 1.0
"""What is there at all can be seen."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What one bar is to show; all amounts of a chart have one unit."""

    name: str
    said: str
    whole: int | Fraction | None
    """What there is; None where that is not known."""
    parts: tuple[tuple[str, int | Fraction, str], ...]
    """What is taken of it: kind, amount, words."""
    short: str
    """What is wrong, where the parts are too much; else empty."""

    @property
    def extent(self) -> int | Fraction:
        """How far the bar goes: what there is, or what its parts come to."""
        return max(self.whole or 0, sum(amount for _, amount, _ in self.parts))


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar."""

    kind: str
    x: float
    width: float
    words: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One measure."""

    name: str
    said: str
    y: float
    label_y: float
    width: float
    is_known: bool
    short: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class PlacementChartLayout:
    """The bars for one width."""

    kind: str
    width: int
    height: int
    bar_px: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class PlacementChart:
    """The same for wide and narrow pages, and in words."""

    title: str
    description: str
    wide: PlacementChartLayout
    narrow: PlacementChartLayout


def chart_of(space: Sequence[WhiteSpace]) -> PlacementChart:
    """What each coupling facility has, holds, and must keep free."""
    return chart_of_measures(
        "Storage and white space of each coupling facility",
        "Bars of storage.",
        [
            Measure(
                each.facility.name,
                _said(each),
                each.facility.storage_bytes,
                tuple(
                    (kind, size, f"{words}: {plain(size)}")
                    for kind, size, words in (
                        ("others", each.facility.taken_bytes, "other structures and dump space"),
                        ("held", each.used_bytes, "structures of the plan"),
                        ("keep", each.keep_bytes, "white space to keep"),
                    )
                ),
                "too little free" if each.is_enough is False else "",
            )
            for each in space
        ],
    )


def chart_of_measures(title: str, about: str, measures: Sequence[Measure]) -> PlacementChart:
    """A bar for each measure, all to one scale."""
    words = "; ".join(f"{each.name}: {each.said}" for each in measures)
    return PlacementChart(
        title=title,
        description=f"{about} {words}.",
        wide=_drawing("wide", measures, 760),
        narrow=_drawing("narrow", measures, 358),
    )


def _said(each: WhiteSpace) -> str:
    used = _amount(each.used_bytes + each.facility.taken_bytes)
    keep = _amount(each.keep_bytes) if each.keep_bytes else "nothing"
    if each.free_bytes is None:
        return f"{used} used, {keep} to keep free; storage not stated"
    return f"{used} used, {keep} to keep free, of {_amount(each.facility.storage_bytes or 0)}"


def _amount(size_bytes: int) -> str:
    """A size beside a bar: parts of a MiB are in the table."""
    return f"{grouped(round(size_bytes / MIB))} MiB"


def _drawing(kind: str, measures: Sequence[Measure], width: int) -> PlacementChartLayout:
    longest = max((each.extent for each in measures), default=1) or 1
    scale = (width - 2) / float(longest)
    bars = tuple(_bar(each, at, scale) for at, each in enumerate(measures))
    return PlacementChartLayout(kind, width, _TOP_PX + _ROW_PX * len(measures), _BAR_PX, bars)


def _bar(each: Measure, at: int, scale: float) -> Bar:
    top = _TOP_PX + at * _ROW_PX
    segments, x = [], 0.0
    for kind, amount, words in each.parts:
        if amount:
            width = max(float(amount) * scale, _LEAST_PX)
            segments.append(Segment(kind, round(x + 1, 1), round(width, 1), words))
            x += width
    return Bar(
        name=each.name,
        said=each.said,
        y=top + _LABEL_PX,
        label_y=top + 11,
        width=round(float(each.extent if each.whole is None else each.whole) * scale, 1),
        is_known=each.whole is not None,
        short=each.short,
        segments=tuple(segments),
    )
