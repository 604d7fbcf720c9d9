"""An outage as a picture: both pools over time with what happens on the way, and offloaded data below.

What is drawn is computed by the core; this module only places it. What happens is numbered, so that
the picture needs no room for words and the table below has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from app.web.frames import Tick, round_values, short
from app.web.rendering import grouped, plain
from planner_core.units import GIB, KIB, MIB, TIB
from planner_core.whatif.filling_up import FillingEvent, FillingUp, shown_minutes

QUEUE_KINDS = ("depth_high", "queue_full")
"""What happens to a single queue: marks on a line of their own, since there may be a thousand."""
_FULL = 100
_PERCENT_TICKS = (0, 25, 50, 75, 100)
_BUBBLE, _BUBBLE_STEP = 9, 19
_MOST_ROWS = 4
_PLOT, _LANE, _BELOW = 210, 26, 84
_STEPS_MINUTES = (1, 2, 5, 10, 15, 20, 30, 60, 120, 240, 360, 720, 1440)
_CLOSE_LABELS = 14
_NAME_PX = 58
"""Width of the longer of the two names, `elements`, in the strong face, with the room beside it."""
_MARK = 3
"""Queue marks nearer to each other than this are one."""


@dataclass(frozen=True, slots=True)
class Bubble:
    """A number at the top of the line of something that happens."""

    number: int
    kind: str
    x: float
    y: float
    line_y: float
    title: str


@dataclass(frozen=True, slots=True)
class QueueMark:
    """One or more queues at QDEPTHHI or MAXDEPTH."""

    kind: str
    x: float
    title: str


@dataclass(frozen=True, slots=True)
class LineLabel:
    """A line of the drawing and its name."""

    points: str
    label: str
    y: float


@dataclass(frozen=True, slots=True)
class FillingChartLayout:
    """One drawing, for one width."""

    id: str
    width: int
    height: int
    left: int
    right: int
    top: float
    bottom: float
    lane: float
    lower_top: float
    lower_bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lower_ticks: tuple[Tick, ...]
    unit: str
    lines: tuple[LineLabel, ...]
    threshold: Tick | None
    threshold_x: float
    threshold_anchor: str
    full_x: float | None
    offloaded: str
    data_set_y: float | None
    bubbles: tuple[Bubble, ...]
    marks: tuple[QueueMark, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture for wide and narrow pages, and what it shows in words."""

    title: str
    description: str
    has_offloaded: bool
    has_marks: bool
    wide: FillingChartLayout
    narrow: FillingChartLayout


@dataclass(frozen=True, slots=True)
class Happening:
    """A row of the table: the number in the picture, or none for what happens to a queue."""

    number: int | None
    kind: str
    minutes: float
    messages: int
    usage_percent: Fraction
    text: str


@dataclass(frozen=True, slots=True)
class Happenings:
    """Rows of the table, and how many more happen to queues."""

    rows: tuple[Happening, ...]
    omitted: int


def happenings(found: FillingUp, *, most_of_queues: int) -> Happenings:
    """What happens in its order: what concerns the whole structure, which is numbered, and the first of the queues."""
    rows, number, of_queues = [], 0, 0
    for moment in found.moments:
        if moment.kind in QUEUE_KINDS:
            of_queues += 1
            if of_queues <= most_of_queues:
                rows.append(_happening(moment, None))
        else:
            number += 1
            rows.append(_happening(moment, number))
    rows.sort(key=lambda row: (row.minutes, row.number is None))
    return Happenings(tuple(rows), max(of_queues - most_of_queues, 0))


def _happening(moment: FillingEvent, number: int | None) -> Happening:
    return Happening(
        number,
        moment.kind,
        shown_minutes(moment.minutes),
        moment.messages,
        moment.usage_percent,
        moment.text[:1].upper() + moment.text[1:] + ".",
    )


class _Seen(NamedTuple):
    """A point of the lines, as it is drawn."""

    minutes: float
    entries: float
    elements: float
    offload_bytes: int


@dataclass(frozen=True, slots=True)
class _Traced:
    """What both drawings show, worked out once: the points of the lines and what happens to queues, by minutes."""

    found: FillingUp
    points: tuple[_Seen, ...]
    of_structure: tuple[FillingEvent, ...]
    of_queues: tuple[tuple[float, FillingEvent], ...]

    @classmethod
    def of(cls, found: FillingUp) -> _Traced:
        return cls(
            found,
            tuple(
                _Seen(point.drawn_minutes, *found.drawn_percents(point), found.offload_bytes(point))
                for point in found.points
            ),
            tuple(moment for moment in found.moments if moment.kind not in QUEUE_KINDS),
            tuple((float(moment.minutes), moment) for moment in found.moments if moment.kind in QUEUE_KINDS),
        )


def picture_of(found: FillingUp) -> Picture | None:
    """The picture; None where no time passes."""
    if not found.end_minutes or not found.bundles:
        return None
    last, traced = found.points[-1], _Traced.of(found)
    full = (
        f" It is full after {shown_minutes(found.full_minutes):g} minutes."
        if found.full_minutes is not None
        else ""
    )
    return Picture(
        title=f"How {found.structure.cfrm_name} fills in {shown_minutes(found.end_minutes):g} minutes",
        description=(
            f"Entries rise to {float(found.entries_percent(last)):.1f} percent, elements to "
            f"{float(found.elements_percent(last)):.1f} percent.{full} "
            + " ".join(
                f"{row.number}: minute {row.minutes:g}, {row.text}"
                for row in happenings(found, most_of_queues=0).rows
            )
        ),
        has_offloaded=bool(last.page_parts),
        has_marks=bool(traced.of_queues),
        wide=_draw(traced, "wide", width=860),
        narrow=_draw(traced, "narrow", width=358),
    )


class _Frame:
    """Places minutes and percentages."""

    def __init__(self, found: FillingUp, width: int, rows: int) -> None:
        self.end = float(found.end_minutes)
        self.left, self.right = 46, width - 14
        self.top = 14 + rows * _BUBBLE_STEP
        self.bottom = self.top + _PLOT

    def x(self, minutes: Fraction | float) -> float:
        return round(self.left + float(minutes) / self.end * (self.right - self.left), 1)

    def y(self, percent: Fraction | float) -> float:
        return round(self.bottom - float(percent) / _FULL * (self.bottom - self.top), 1)


def _draw(traced: _Traced, name: str, *, width: int) -> FillingChartLayout:
    found, numbered = traced.found, traced.of_structure
    rows = _rows(found, numbered, width)
    frame = _Frame(found, width, max(rows, default=0) + 1)
    marks = _marks(traced, frame)
    lane = frame.bottom + (_LANE if marks else 0)
    lower_top, has_lower = lane + 46, bool(found.points[-1].page_parts)
    lower_bottom = lower_top + _BELOW if has_lower else lane
    values, unit = _offload_axis(found)
    highest = values[-1] * unit[0]

    def lower_y(size_bytes: float) -> float:
        return round(lower_bottom - size_bytes / highest * _BELOW, 1)

    threshold = found.structure.placement.full_threshold
    crossed = next((each.minutes for each in numbered if each.kind == "full_threshold"), None)
    is_late = crossed is None or crossed * 3 > found.end_minutes
    given = found.asked.data_set_bytes
    points = _thinned(traced, frame)
    return FillingChartLayout(
        id=name,
        width=width,
        height=round(lower_bottom + 34),
        left=frame.left,
        right=frame.right,
        top=frame.top,
        bottom=frame.bottom,
        lane=lane,
        lower_top=lower_top,
        lower_bottom=lower_bottom,
        x_ticks=_minute_ticks(frame, most=10 if name == "wide" else 5),
        y_ticks=tuple(Tick(frame.y(value), f"{value} %") for value in _PERCENT_TICKS),
        lower_ticks=tuple(Tick(lower_y(value * unit[0]), short(value)) for value in values)
        if has_lower
        else (),
        unit=unit[1],
        lines=_pool_lines(frame, points),
        threshold=Tick(frame.y(threshold), f"FULLTHRESHOLD {threshold} %") if threshold else None,
        threshold_x=frame.left + 6 if is_late else frame.right - 4,
        threshold_anchor="start" if is_late else "end",
        full_x=None if found.full_minutes is None else frame.x(found.full_minutes),
        offloaded=_area(frame, points, lower_y) if has_lower else "",
        data_set_y=lower_y(given) if has_lower and given is not None and given <= highest else None,
        bubbles=tuple(
            Bubble(
                number,
                moment.kind,
                frame.x(moment.minutes),
                frame.top - 16 - row * _BUBBLE_STEP,
                frame.y(moment.usage_percent),
                f"Minute {shown_minutes(moment.minutes):g}: {moment.text}",
            )
            for number, (moment, row) in enumerate(zip(numbered, rows, strict=True), start=1)
        ),
        marks=marks,
    )


def _rows(found: FillingUp, moments: Sequence[FillingEvent], width: int) -> list[int]:
    """In which row above the plot each number stands, so that none covers another."""
    frame, ends, rows = _Frame(found, width, 0), [-1e9] * _MOST_ROWS, []
    for moment in moments:
        x = frame.x(moment.minutes)
        row = next((row for row, end in enumerate(ends) if x - end >= 2 * _BUBBLE + 1), _MOST_ROWS - 1)
        ends[row] = x
        rows.append(row)
    return rows


def _thinned(traced: _Traced, frame: _Frame) -> list[tuple[float, _Seen]]:
    """The points that can be told apart in the drawing, and where they are."""
    kept: list[tuple[float, _Seen]] = []
    for point in traced.points:
        x = frame.x(point.minutes)
        if len(kept) < 2 or x - kept[-1][0] >= 1:  # noqa: PLR2004
            kept.append((x, point))
        elif point is traced.points[-1]:
            kept[-1] = x, point
    return kept


def _pool_lines(frame: _Frame, points: Sequence[tuple[float, _Seen]]) -> tuple[LineLabel, ...]:
    """The two pools, the fuller one last and strongest."""
    pools = sorted(
        (
            ("entries", [(x, frame.y(point.entries)) for x, point in points], points[-1][1].entries),
            ("elements", [(x, frame.y(point.elements)) for x, point in points], points[-1][1].elements),
        ),
        key=lambda pool: pool[2],
    )
    (low, low_before), (end, end_before) = (
        (line[-1][1], _height_before(frame, line)) for _, line, _ in pools
    )
    # A line that rises is crossed by no name that stands above its end, or below where the name begins.
    upper = end - 9 if end - 9 >= frame.top + 10 else end_before + 13
    lower = max(low_before + 13, upper + _CLOSE_LABELS)
    if lower > frame.bottom - 4:
        lower = low - 6
        upper = min(upper, lower - _CLOSE_LABELS)
    return tuple(
        LineLabel(" ".join(f"{x},{height}" for x, height in line), label, y)
        for (label, line, _), y in zip(pools, (lower, upper), strict=True)
    )


def _height_before(frame: _Frame, line: Sequence[tuple[float, float]]) -> float:
    """How high a line is where the name at its end begins."""
    at = frame.right - _NAME_PX
    for (x, height), (next_x, next_height) in pairwise(line):
        if next_x >= at:
            share = (at - x) / (next_x - x) if next_x > x else 1.0
            return round(height + share * (next_height - height), 1)
    return line[-1][1]


def _area(frame: _Frame, points: Sequence[tuple[float, _Seen]], lower_y: Callable[[float], float]) -> str:
    """Offloaded data over time, closed at the bottom."""
    line = [f"{x},{lower_y(point.offload_bytes)}" for x, point in points]
    return " ".join([f"{points[0][0]},{lower_y(0)}", *line, f"{points[-1][0]},{lower_y(0)}"])


def _offload_axis(found: FillingUp) -> tuple[tuple[float, ...], tuple[int, str]]:
    """Round values and their unit for the offloaded data; a data set that is given is in sight if it is near."""
    highest = found.offload_bytes(found.points[-1])
    given = found.asked.data_set_bytes
    if given is not None and given <= 3 * highest:
        highest = max(highest, given)
    unit = next(
        ((size, name) for size, name in ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB")) if highest >= 2 * size),
        (KIB, "KiB"),
    )
    values = round_values(highest / unit[0], is_whole=False)
    step = max(1, math.ceil((len(values) - 1) / 3))
    shown = tuple(value for index, value in enumerate(values) if index % step == 0)
    return (shown if shown[-1] * unit[0] >= highest else (*shown, shown[-1] + shown[1])), unit


def _marks(traced: _Traced, frame: _Frame) -> tuple[QueueMark, ...]:
    """Marks of queues; those at one place are one mark."""
    at: dict[tuple[str, int], list[FillingEvent]] = {}
    for minutes, moment in traced.of_queues:
        at.setdefault((moment.kind, round(frame.x(minutes) / _MARK) * _MARK), []).append(moment)
    words = {"depth_high": "at QDEPTHHI", "queue_full": "at MAXDEPTH"}
    return tuple(
        QueueMark(
            kind,
            x,
            f"Minute {shown_minutes(moments[0].minutes):g}: "
            + (
                f"{moments[0].queue} {words[kind]}"
                if len(moments) == 1
                else f"{grouped(len(moments))} queues {words[kind]}"
            ),
        )
        for (kind, x), moments in at.items()
    )


def _minute_ticks(frame: _Frame, *, most: int) -> tuple[Tick, ...]:
    step = next((step for step in _STEPS_MINUTES if frame.end / step <= most), None)
    if step is None:
        days = math.ceil(frame.end / 1440 / most)
        step = 1440 * days
    if frame.end < 2:  # noqa: PLR2004 - less than two whole minutes: parts of one
        values = round_values(frame.end, is_whole=False)
        return tuple(Tick(frame.x(value), short(value)) for value in values if value <= frame.end)
    return tuple(Tick(frame.x(value), short(value)) for value in range(0, math.floor(frame.end) + 1, step))


def said(found: FillingUp) -> str:
    """The answer in two sentences."""
    name, end = found.structure.cfrm_name, shown_minutes(found.end_minutes)
    if not found.arriving:
        if not found.queues:
            return f"Nothing arrives on {name}: the plan gives it no queue. Give it one with a rate or a backlog."
        return f"Nothing arrives on {name}: its queues, or the outage and the rate asked about, come to no message."
    if found.full_minutes is not None:
        held = math.floor(found.points[-1].messages)
        return (
            f"{name} is full after {_tenth(found.full_minutes)} of {end:g} minutes, with {grouped(held)} of "
            f"{grouped(found.arriving)} messages: puts fail with 2192."
        )
    last = found.points[-1]
    words = f"{name} holds the {grouped(math.floor(last.messages))} messages of {end:g} minutes, {_up(found.usage_percent(last))} % full."
    if found.lasts_minutes is not None:
        words += f" If no queue's outage ended, it would be full after {_tenth(found.lasts_minutes)} minutes."
    if last.page_parts:
        words += f" {plain(found.offload_bytes(last))} are offloaded."
    return words


def _tenth(minutes: Fraction) -> str:
    """Minutes in a sentence."""
    return f"{math.floor(minutes * 10) / 10:g}"


def _up(percent: Fraction) -> str:
    """A share in a sentence, rounded up as on the rest of the page."""
    return f"{math.ceil(percent * 10) / 10:.1f}"
