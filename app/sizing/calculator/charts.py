"""The curve of one message size, with the plan's point on it: coordinates for an SVG, and the same as a table.

Logarithmic both ways, MiB against messages, as in the figure on IBM's planning page. What is
drawn here is computed by the core; this module only places it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.web.rendering import grouped, plain
from planner_core.sizing.structure_size import Curve, elements_held, messages_that_fit, size_for
from planner_core.units import KIB, MIB

CONTEXT_SIZES_BYTES = (1 * KIB, 4 * KIB, 16 * KIB, 63 * KIB)
"""Message sizes of IBM's Table 2 that are drawn faintly beside the plan's own."""
STEPS_PER_DECADE = 24
DECADES_SHOWN = 5
_CHARACTER_WIDTH, _LABEL_WIDTH, _LABEL_HEIGHT = 6.6, 36, 12


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled value on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """A curve as SVG points, with its label and where that stands."""

    points: str
    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Level:
    """A size as a line across; `label_y` keeps the labels of close lines apart."""

    y: float
    label: str
    label_y: float


@dataclass(frozen=True, slots=True)
class Spot:
    """The plan's point, and how its label is placed."""

    x: float
    y: float
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class SizeChartLayout:
    """One drawing of the chart, for one width."""

    id: str
    width: int
    height: int
    left: int
    top: int
    right: int
    bottom: int
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    context: tuple[Line, ...]
    curve: Line
    levels: tuple[Level, ...]
    spot: Spot | None


@dataclass(frozen=True, slots=True)
class Capacity:
    """A row of the table under the chart: so many messages need so much."""

    messages: int
    need_bytes: int
    remark: str


@dataclass(frozen=True, slots=True)
class SizeChart:
    """The chart for wide and narrow pages, what it shows in words, and its data."""

    title: str
    description: str
    wide: SizeChartLayout
    narrow: SizeChartLayout
    table: tuple[Capacity, ...]


def chart_of(
    *, curve: Curve, message_bytes: int, messages: int, need_bytes: int, initsize_bytes: int, size_bytes: int
) -> SizeChart:
    """The chart of one application structure with one size of messages."""
    scale = _Scale.around(curve, message_bytes=message_bytes, messages=messages, size_bytes=size_bytes)
    levels = (("SIZE", size_bytes), ("INITSIZE", initsize_bytes))

    spot = (messages, need_bytes)

    def drawing(name: str, *, width: int, height: int) -> SizeChartLayout:
        return _draw(
            name, _Frame(scale, width, height), curve, message_bytes, spot, levels, is_narrow=name == "narrow"
        )

    return SizeChart(
        title=f"Size against number of messages of {message_bytes} bytes",
        description=(
            f"On logarithmic axes the need rises from {plain(size_for(entries=1, elements=1, curve=curve))} for an almost "
            f"empty structure. {messages} messages need {plain(need_bytes)}; INITSIZE is {plain(initsize_bytes)} and SIZE "
            f"{plain(size_bytes)}."
        ),
        wide=drawing("wide", width=760, height=310),
        narrow=drawing("narrow", width=358, height=320),
        table=tuple(_capacities(curve, scale, message_bytes, messages, need_bytes, levels)),
    )


def need_of(messages: float, *, message_bytes: int, curve: Curve) -> int:
    """The need of so many messages of one size [bytes]."""
    entries = max(round(messages), 0)
    elements = entries * elements_held(message_bytes, header_bytes=curve.header_bytes)
    return size_for(entries=entries, elements=elements, curve=curve)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Decades shown: messages from 10**x0 to 10**x1, MiB from 10**y0 to 10**y1."""

    x0: int
    x1: int
    y0: int
    y1: int

    @classmethod
    def around(cls, curve: Curve, *, message_bytes: int, messages: int, size_bytes: int) -> _Scale:
        x1 = max(_decade(messages) + 2, DECADES_SHOWN)
        x0 = x1 - DECADES_SHOWN
        lowest = need_of(10**x0, message_bytes=CONTEXT_SIZES_BYTES[0], curve=curve)
        highest = max(need_of(10**x1, message_bytes=message_bytes, curve=curve), size_bytes)
        y0 = math.floor(math.log10(lowest / MIB))
        return cls(x0, x1, y0, max(math.ceil(math.log10(highest / MIB)), y0 + 1))


class _Frame:
    """Places messages and bytes in a drawing of a given width."""

    def __init__(self, scale: _Scale, width: int, height: int) -> None:
        self.scale = scale
        self.width, self.height = width, height
        self.left, self.top, self.right, self.bottom = 56, 20, width - 46, height - 34

    def x(self, messages: float) -> float:
        share = (math.log10(messages) - self.scale.x0) / (self.scale.x1 - self.scale.x0)
        return self.left + share * (self.right - self.left)

    def y(self, size_bytes: float) -> float:
        share = (math.log10(size_bytes / MIB) - self.scale.y0) / (self.scale.y1 - self.scale.y0)
        return self.bottom - share * (self.bottom - self.top)


def _draw(
    name: str,
    frame: _Frame,
    curve: Curve,
    message_bytes: int,
    spot: tuple[int, int],
    levels: Sequence[tuple[str, int]],
    *,
    is_narrow: bool,
) -> SizeChartLayout:
    scale, x_label_every = frame.scale, 2 if is_narrow else 1
    ours = _line(frame, curve, message_bytes, label=f"{grouped(message_bytes)} bytes")
    return SizeChartLayout(
        id=name,
        width=frame.width,
        height=frame.height,
        left=frame.left,
        top=frame.top,
        right=frame.right,
        bottom=frame.bottom,
        x_ticks=tuple(
            Tick(
                round(frame.x(10**decade), 1),
                grouped(10**decade) if (scale.x1 - decade) % x_label_every == 0 else "",
            )
            for decade in range(scale.x0, scale.x1 + 1)
        ),
        y_ticks=tuple(
            Tick(round(frame.y(float(MIB) * 10**decade), 1), _mib_label(decade))
            for decade in range(scale.y0, scale.y1 + 1)
        ),
        context=_context(frame, curve, message_bytes),
        curve=ours,
        levels=_levels(frame, levels),
        spot=_spot(frame, *spot, is_short=is_narrow) if spot[0] > 0 else None,
    )


def _context(frame: _Frame, curve: Curve, message_bytes: int) -> tuple[Line, ...]:
    """The faint curves; a label that would run into the one before it is left out."""
    lines: list[Line] = []
    for size in sorted(CONTEXT_SIZES_BYTES, reverse=True):
        if size == message_bytes:
            continue
        line = _line(frame, curve, size, label=f"{size // KIB} KB")
        labelled = [other for other in lines if other.label]
        if any(abs(line.x - o.x) < _LABEL_WIDTH and abs(line.y - o.y) < _LABEL_HEIGHT for o in labelled):
            line = replace(line, label="")
        lines.append(line)
    return tuple(lines)


def _line(frame: _Frame, curve: Curve, message_bytes: int, *, label: str) -> Line:
    points: list[tuple[float, float]] = []
    for messages in _steps(frame.scale.x0, frame.scale.x1):
        x, y = frame.x(messages), frame.y(need_of(messages, message_bytes=message_bytes, curve=curve))
        if y < frame.top:
            x, y = _cut(points[-1], (x, y), at=frame.top) if points else (x, float(frame.top))
            points.append((x, y))
            break
        points.append((x, y))
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    end_x, end_y = points[-1]
    if end_x >= frame.right - 1:
        return Line(text, label, round(end_x + 5, 1), round(end_y + 4, 1))
    return Line(text, label, round(end_x + 4, 1), round(end_y + 10, 1))


def _steps(first: int, last: int) -> Iterator[float]:
    for step in range((last - first) * STEPS_PER_DECADE + 1):
        yield 10.0 ** (first + step / STEPS_PER_DECADE)


def _cut(before: tuple[float, float], after: tuple[float, float], *, at: float) -> tuple[float, float]:
    share = (before[1] - at) / (before[1] - after[1])
    return before[0] + share * (after[0] - before[0]), at


def _levels(frame: _Frame, levels: Sequence[tuple[str, int]]) -> tuple[Level, ...]:
    # The larger size has its label above its line, the smaller one below: they are often close.
    ordered = sorted(levels, key=lambda level: -level[1])
    return tuple(
        Level(
            round(frame.y(size), 1),
            f"{name} {plain(size)}",
            round(frame.y(size) + (-5 if nth == 0 else 14), 1),
        )
        for nth, (name, size) in enumerate(ordered)
    )


def _spot(frame: _Frame, messages: int, need_bytes: int, *, is_short: bool) -> Spot:
    x, y = round(frame.x(messages), 1), round(frame.y(need_bytes), 1)
    label = plain(need_bytes) if is_short else f"{grouped(messages)} messages: {plain(need_bytes)}"
    # Right of the point and below the curve there is room; near the edge the label moves left.
    label_x = min(x + 12, frame.right - len(label) * _CHARACTER_WIDTH)
    return Spot(x, y, label, round(label_x, 1), round(min(y + 26, frame.bottom - 8), 1))


def _capacities(
    curve: Curve,
    scale: _Scale,
    message_bytes: int,
    messages: int,
    need_bytes: int,
    levels: Sequence[tuple[str, int]],
) -> Iterator[Capacity]:
    rows = {10**decade: "" for decade in range(scale.x0, scale.x1 + 1)}
    for name, size in levels:
        held = messages_that_fit(size, message_bytes=message_bytes, curve=curve)
        if held:
            rows[held] = f"as many as {name} holds"
    if messages:
        rows[messages] = "this plan"
    for count in sorted(rows):
        need = need_bytes if count == messages else need_of(count, message_bytes=message_bytes, curve=curve)
        yield Capacity(count, need, rows[count])


def _decade(messages: int) -> int:
    return math.floor(math.log10(messages)) if messages else 0


def _mib_label(decade: int) -> str:
    return grouped(10**decade) if decade >= 0 else f"{10.0**decade:g}"
