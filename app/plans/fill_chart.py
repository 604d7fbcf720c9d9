"""How a structure fills: usage of INITSIZE against messages, with the offload rules and thresholds on it.

Drawn from the figures of the stored result: where each rule starts, what INITSIZE holds, what the backlog uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from planner_core.units import KIB

_FULL = 100
_TICKS = (0, 25, 50, 75, 100)
_CHARACTER = 6.9
"""Width of a character, generously: labels are set apart by it."""
_ABOVE, _BELOW = 11.0, 3.0
"""How far a letter reaches above and below its line."""
_STRONG = 1.12
_POINT = 8.0

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled place on an axis or across the chart; `end` is where its line ends."""

    at: float
    label: str
    label_x: float = 0.0
    anchor: str = "middle"
    label_y: float = 0.0
    end: float = 0.0


@dataclass(frozen=True, slots=True)
class FillStepRow:
    """A row of the table under the chart."""

    messages: int
    usage_percent: float
    remark: str


@dataclass(frozen=True, slots=True)
class FillChart:
    """The chart, what it shows in words, and its figures."""

    title: str
    description: str
    width: int
    height: int
    left: int
    top: int
    right: int
    bottom: int
    x_ticks: tuple[Mark, ...]
    y_ticks: tuple[Mark, ...]
    plain: str
    offloaded: str
    rules: tuple[Mark, ...]
    threshold: Mark
    spot_x: float
    spot_y: float
    spot: Mark
    table: tuple[FillStepRow, ...]


def fill_chart(found: Mapping[str, Any]) -> FillChart | None:
    """The chart of an application structure; None where nothing is planned for it or it holds nothing."""
    backlog, plain = found.get("messages") or 0, found.get("messages_in_initsize") or 0
    offloaded = found.get("messages_in_initsize_with_offload") or plain
    if not backlog or not plain:
        return None
    usage = min(float(found["peak_usage_percent"]), float(_FULL))
    steps = [step for step in found["offload_steps"] if step["at_messages"] <= offloaded]
    largest = max(backlog, plain, offloaded)
    frame = _Frame(largest)
    points = [
        (0, 0.0),
        *((step["at_messages"], float(step["threshold"])) for step in steps),
        (offloaded, 100.0),
    ]
    is_bent = offloaded > plain and bool(steps)
    curve = " ".join(frame.point(*point) for point in sorted(points)) if is_bent else ""
    threshold = found["full_threshold"]
    table = [
        *(FillStepRow(step["at_messages"], step["threshold"], _rule(step)) for step in steps),
        FillStepRow(
            min(backlog, offloaded),
            usage,
            "the planned backlog" if backlog <= offloaded else "full before the backlog",
        ),
        FillStepRow(plain, _FULL, "full without offload"),
    ]
    if offloaded != plain:
        table.append(FillStepRow(offloaded, _FULL, "full with offload"))
    drawn = [frame.spot(*point) for point in (sorted(points) if is_bent else [(0, 0.0), (plain, 100.0)])]
    placed = _Labels(frame, drawn)
    spot_x, spot_y = frame.x(min(backlog, largest)), frame.y(usage)
    marks = [(frame.x(step["at_messages"]), frame.y(step["threshold"])) for step in steps]
    for end, y in marks:
        placed.line(y, end)
    placed.line(frame.y(threshold), frame.right)
    placed.add((spot_x - _POINT, spot_y - _POINT, spot_x + _POINT, spot_y + _POINT))
    spot = placed.beside(spot_x, spot_y, f"{_grouped(backlog)} messages: {usage:.1f} %")
    threshold_mark = placed.across(frame.y(threshold), f"FULLTHRESHOLD {threshold} %", frame.right)
    rules = tuple(
        placed.across(y, f"{step['threshold']} %: {_rule(step)}", end)
        for step, (end, y) in zip(steps, marks, strict=True)
    )
    return FillChart(
        title=f"How {found['cfrm_name']} fills",
        description=(
            f"INITSIZE is full with {plain} messages without offload and {offloaded} with it. "
            f"The planned backlog of {backlog} messages uses {usage:.1f} percent."
        ),
        width=frame.width,
        height=frame.height,
        left=frame.left,
        top=frame.top,
        right=frame.right,
        bottom=frame.bottom,
        x_ticks=frame.ticks(),
        y_ticks=tuple(Mark(frame.y(value), f"{value} %") for value in _TICKS),
        plain=f"{frame.point(0, 0)} {frame.point(plain, _FULL)}",
        offloaded=curve,
        rules=rules,
        threshold=threshold_mark,
        spot_x=spot_x,
        spot_y=spot_y,
        spot=spot,
        table=tuple(sorted(table, key=lambda step: (step.messages, step.usage_percent))),
    )


def _rule(step: Mapping[str, Any]) -> str:
    size = step["size_bytes"]
    return f"messages over {size // KIB}K are offloaded" if size else "all messages are offloaded"


class _Frame:
    def __init__(self, largest: int) -> None:
        self.width, self.height = 760, 300
        self.left, self.top, self.right, self.bottom = 52, 14, 724, 258
        self.largest = largest

    def x(self, messages: float) -> float:
        return round(self.left + messages / self.largest * (self.right - self.left), 1)

    def y(self, percent: float) -> float:
        return round(self.bottom - percent / _FULL * (self.bottom - self.top), 1)

    def spot(self, messages: float, percent: float) -> tuple[float, float]:
        return self.x(messages), self.y(percent)

    def point(self, messages: float, percent: float) -> str:
        return f"{self.x(messages)},{self.y(percent)}"

    def ticks(self) -> tuple[Mark, ...]:
        """Three to six round numbers."""
        step = 10 ** max(len(str(self.largest)) - 1, 0)
        for divisor in (1, 2, 5):
            if self.largest // (step // divisor or 1) >= 3:  # noqa: PLR2004 - three are enough to read by
                step = step // divisor or 1
                break
        return tuple(Mark(self.x(value), _grouped(value)) for value in range(0, self.largest + 1, step))


class _Labels:
    """Finds a place for each label where no other label, no line and not the curve runs through it."""

    def __init__(self, frame: _Frame, curve: Sequence[tuple[float, float]]) -> None:
        self.frame = frame
        self.taken: list[Box] = []
        for (x1, y1), (x2, y2) in pairwise(curve):
            pieces = max(int(max(abs(x2 - x1), abs(y2 - y1)) / 6), 1)
            for piece in range(pieces + 1):
                x, y = x1 + (x2 - x1) * piece / pieces, y1 + (y2 - y1) * piece / pieces
                self.add((x - 2, y - 2, x + 2, y + 2))

    def add(self, box: Box) -> None:
        self.taken.append(box)

    def line(self, y: float, end: float) -> None:
        self.add((self.frame.left, y - 0.5, end, y + 0.5))

    def across(self, y: float, label: str, end: float) -> Mark:
        """A label at a line from the axis to `end`: at its begin, at its end or right of it, above or below."""
        width = len(label) * _CHARACTER
        left, right = self.frame.left + 6, self.frame.right
        xs = [right - width, left] if end == right else [left, end + 8, right - width]
        best = self._best([(x, y + dy, width) for x in xs for dy in (-4, 13)])
        return Mark(y, label, round(best[0], 1), "start", round(best[1], 1), end)

    def beside(self, x: float, y: float, label: str) -> Mark:
        """A label at a point: on the side where there is room, as near as can be."""
        width = len(label) * _CHARACTER * _STRONG
        sides = (
            [x - 12 - width, x + 12]
            if x > (self.frame.left + self.frame.right) / 2
            else [x + 12, x - 12 - width]
        )
        best = self._best([(side, y + dy, width) for dy in (18, 34, 50, -10, -26) for side in sides])
        return Mark(y, label, round(best[0], 1), "start", round(best[1], 1), x)

    def _best(self, places: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
        """The first free one of places given as begin, baseline and width; else the one that is touched least."""

        def box(place: tuple[float, float, float]) -> Box:
            x, y, width = place
            return x, y - _ABOVE, x + width, y + _BELOW

        def touched(place: tuple[float, float, float]) -> int:
            x1, y1, x2, y2 = box(place)
            outside = x1 < self.frame.left or x2 > self.frame.right or y1 < 0 or y2 > self.frame.bottom
            hit = sum(x1 < r and left < x2 and y1 < b and t < y2 for left, t, r, b in self.taken)
            return hit + 1000 * outside

        best = min(places, key=touched)  # of equals the first
        self.add(box(best))
        return best[0], best[1]


def _grouped(value: int) -> str:
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
