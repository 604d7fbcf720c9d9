"""Advised thresholds beside the plan's: usage against messages, with what is normal and what must be held."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from app.web.frames import Tick, round_values
from app.web.rendering import grouped
from planner_core.whatif.thresholds import Setting, ThresholdAdvice

_FULL = 100
_PERCENT_TICKS = (0, 25, 50, 75, 100)
_MOST_BACKLOGS = 3
"""Beyond so many times what must be held nothing is drawn."""
_CHARACTER = 6.4
_WIDEST_NAME, _LINE = 80, 16


@dataclass(frozen=True, slots=True)
class Line:
    """Usage with one set of rules."""

    points: str
    label: str
    is_advised: bool
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Level:
    """A number of messages, as a line from the bottom to the top."""

    x: float
    label: str
    label_x: float
    anchor: str
    y: float


@dataclass(frozen=True, slots=True)
class Rung:
    """Where an advised rule begins."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class ThresholdChartLayout:
    """One drawing, for one width."""

    id: str
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    levels: tuple[Level, ...]
    rungs: tuple[Rung, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture for wide and narrow pages, and what it shows in words."""

    title: str
    description: str
    wide: ThresholdChartLayout
    narrow: ThresholdChartLayout


def picture_of(advice: ThresholdAdvice) -> Picture | None:
    """The picture; None where the structure holds nothing."""
    if not advice.capacity:
        return None
    planned = advice.compared[1]
    return Picture(
        title=f"Usage of {advice.structure.cfrm_name} with the advised thresholds and with the plan's",
        description=(
            f"With the advised rules {advice.capacity} messages fit, with the plan's {planned.capacity}; {advice.hold} must be "
            f"held, {advice.typical} are there in normal running. "
            + " ".join(
                f"Rule {number} begins at {rule.threshold} percent, {messages} messages."
                for number, (rule, messages) in enumerate(advice.setting.starts, start=1)
            )
        ),
        wide=_draw(advice, "wide", width=760),
        narrow=_draw(advice, "narrow", width=358),
    )


def _points(setting: Setting) -> list[tuple[float, float]]:
    steps = [(float(messages), float(rule.threshold)) for rule, messages in setting.starts]
    return [(0.0, 0.0), *steps, (float(setting.capacity), float(_FULL))]


def _cut(points: Sequence[tuple[float, float]], most: float) -> list[tuple[float, float]]:
    """What of a line lies to the left of a number of messages."""
    kept = [points[0]]
    for (x1, y1), (x2, y2) in pairwise(points):
        if x2 > most:
            kept.append((most, y1 + (y2 - y1) * (most - x1) / (x2 - x1)))
            break
        kept.append((x2, y2))
    return kept


def _apart(planned: Line, advised: Line, left: int) -> tuple[Line, Line]:
    """Both names end where their lines end, the plan's below its line where they would cover each other."""
    planned, advised = (
        replace(each, x=max(each.x, left + len(each.label) * _CHARACTER)) for each in (planned, advised)
    )
    if abs(planned.x - advised.x) < _WIDEST_NAME and abs(planned.y - advised.y) < _LINE:
        planned = replace(planned, y=advised.y + 24)
    return planned, advised


def _draw(advice: ThresholdAdvice, name: str, *, width: int) -> ThresholdChartLayout:
    left, right, top, bottom = 46, width - 14, 30, 250
    planned = advice.compared[1]
    most = float(
        max(
            advice.hold,
            advice.typical,
            min(max(advice.capacity, planned.capacity), advice.hold * _MOST_BACKLOGS),
        )
    )
    values = round_values(most, is_whole=True)

    def x(messages: float) -> float:
        return round(left + messages / most * (right - left), 1)

    def y(percent: float) -> float:
        return round(bottom - percent / _FULL * (bottom - top), 1)

    def level(messages: int, label: str, row: int) -> Level:
        at, width_px = x(messages), len(label) * _CHARACTER
        is_left = at + 6 + width_px > right
        return Level(
            at, label, at - 6 if is_left else at + 6, "end" if is_left else "start", bottom - 8 - 15 * row
        )

    def line(setting: Setting, label: str, *, is_advised: bool) -> Line:
        points = _cut(_points(setting), most)
        drawn = " ".join(f"{x(messages)},{y(percent)}" for messages, percent in points)
        return Line(drawn, label, is_advised, x(points[-1][0]), y(points[-1][1]) - 8)

    is_one = _points(planned) == _points(advice.setting)
    lines: tuple[Line, ...] = _apart(
        line(planned, "the plan's", is_advised=False),
        line(advice.setting, "advised, as the plan's" if is_one else "advised", is_advised=True),
        left,
    )
    if is_one:
        lines = lines[1:]
    spread = max(1, math.ceil(len(values) / (8 if name == "wide" else 4)))
    levels = [level(advice.hold, f"to hold: {grouped(advice.hold)}", 0)]
    if advice.typical:
        levels.append(level(advice.typical, f"normal: {grouped(advice.typical)}", 1))
    return ThresholdChartLayout(
        id=name,
        width=width,
        height=bottom + 34,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        x_ticks=tuple(Tick(x(value), grouped(int(value))) for value in values[::spread] if value <= most),
        y_ticks=tuple(Tick(y(value), f"{value} %") for value in _PERCENT_TICKS),
        lines=lines,
        levels=tuple(levels),
        rungs=tuple(
            Rung(x(messages), y(rule.threshold), str(advice.rules.index(rule) + 1))
            for rule, messages in advice.setting.starts
            if messages <= most
        ),
    )
