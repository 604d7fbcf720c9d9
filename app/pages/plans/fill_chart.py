"""How a structure fills: usage of INITSIZE against messages, with the offload rules and thresholds on it.

Drawn from the figures of the stored result: where each rule starts, what INITSIZE holds, what the backlog uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner_core.units import KIB

_FULL = 100
_TICKS = (0, 25, 50, 75, 100)
_CHARACTER = 6.4


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled place on an axis or across the chart."""

    at: float
    label: str
    label_x: float = 0.0
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Step:
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
    threshold_y: float
    threshold_label: str
    spot_x: float
    spot_y: float
    spot_label: str
    spot_anchor: str
    table: tuple[Step, ...]


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
        *(Step(step["at_messages"], step["threshold"], _rule(step)) for step in steps),
        Step(
            min(backlog, offloaded),
            usage,
            "the planned backlog" if backlog <= offloaded else "full before the backlog",
        ),
        Step(plain, _FULL, "full without offload"),
    ]
    if offloaded != plain:
        table.append(Step(offloaded, _FULL, "full with offload"))
    spot_x = frame.x(min(backlog, largest))
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
        rules=tuple(
            Mark(
                frame.y(step["threshold"]),
                f"{step['threshold']} %: {_rule(step)}",
                frame.left + 6,
                "start",
            )
            for step in steps
        ),
        threshold_y=frame.y(threshold),
        threshold_label=f"FULLTHRESHOLD {threshold} %",
        spot_x=spot_x,
        spot_y=frame.y(usage),
        spot_label=f"{_grouped(backlog)} messages: {usage:.1f} %",
        spot_anchor="end" if spot_x > (frame.left + frame.right) / 2 else "start",
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


def _grouped(value: int) -> str:
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
