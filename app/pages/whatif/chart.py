"""The storage of coupling facilities as bars: coordinates for an SVG, drawn by the server; the table beside it has the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.templating import plain
from planner_core.whatif.loss import WhiteSpace

_ROW_PX, _BAR_PX, _LABEL_PX, _TOP_PX = 46, 18, 16, 4
_LEAST_PX = 1.0
"""What is there at all can be seen."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar."""

    kind: str
    x: float
    width: float
    words: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One coupling facility."""

    name: str
    said: str
    y: float
    label_y: float
    width: float
    is_known: bool
    is_short: bool
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The bars for one width."""

    kind: str
    width: int
    height: int
    bar_px: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The same for wide and narrow pages, and in words."""

    title: str
    description: str
    wide: Drawing
    narrow: Drawing


def chart_of(space: Sequence[WhiteSpace]) -> Chart:
    """What each coupling facility has, holds, and must keep free."""
    words = "; ".join(f"{each.facility.name}: {_said(each)}" for each in space)
    return Chart(
        title="Storage and white space of each coupling facility",
        description=f"Bars of storage. {words}.",
        wide=_drawing("wide", space, 760),
        narrow=_drawing("narrow", space, 358),
    )


def _said(each: WhiteSpace) -> str:
    used, keep = plain(each.used_bytes + each.facility.taken_bytes), plain(each.keep_bytes)
    if each.free_bytes is None:
        return f"{used} used, {keep} to keep free; storage not stated"
    return f"{used} used, {keep} to keep free, of {plain(each.facility.storage_bytes or 0)}"


def _drawing(kind: str, space: Sequence[WhiteSpace], width: int) -> Drawing:
    longest = max((_extent(each) for each in space), default=1) or 1
    scale = (width - 2) / longest
    bars = tuple(_bar(each, at, scale) for at, each in enumerate(space))
    return Drawing(kind, width, _TOP_PX + _ROW_PX * len(space), _BAR_PX, bars)


def _extent(each: WhiteSpace) -> int:
    """How far the bar goes: its storage, or what it would have to hold."""
    wanted = each.facility.taken_bytes + each.used_bytes + each.keep_bytes
    return max(each.facility.storage_bytes or 0, wanted)


def _bar(each: WhiteSpace, at: int, scale: float) -> Bar:
    top = _TOP_PX + at * _ROW_PX
    parts = (
        ("others", each.facility.taken_bytes, "other structures and dump space"),
        ("held", each.used_bytes, "structures of the plan"),
        ("keep", each.keep_bytes, "white space to keep"),
    )
    segments, x = [], 0.0
    for kind, size, words in parts:
        if size:
            width = max(size * scale, _LEAST_PX)
            segments.append(Segment(kind, round(x + 1, 1), round(width, 1), f"{words}: {plain(size)}"))
            x += width
    storage = each.facility.storage_bytes
    return Bar(
        name=each.facility.name,
        said=_said(each),
        y=top + _LABEL_PX,
        label_y=top + 11,
        width=round((storage if storage is not None else _extent(each)) * scale, 1),
        is_known=storage is not None,
        is_short=each.is_enough is False,
        segments=tuple(segments),
    )
