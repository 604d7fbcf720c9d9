"""The chart of eliminations: a line for each destination that ends at the step that eliminates it.

The table next to it has the same in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner_core.clusters.answer import CandidateValues, DecisionAnswer
from planner_core.clusters.model import Destination

MOST_LANES = 24
"""Further destinations are only in the table."""
_WIDE, _NARROW = 860, 358
_HEAD, _LANE_WIDE, _LANE_NARROW = 46, 27, 36
_LABELS, _ENDS = 178, 74
_NARROW_ENDS = 52
_SHORT: Mapping[str, tuple[str, str]] = {
    "local": ("CLWLUSEQ", "local"),
    "channel_rank": ("CLWLRANK", "channel"),
    "queue_rank": ("CLWLRANK", "queue"),
    "put": ("PUT", "queue"),
    "suspended": ("SUSPEND", ""),
    "status": ("STATUS", "channel"),
    "netprty": ("NETPRTY", "channel"),
    "channel_priority": ("CLWLPRTY", "channel"),
    "queue_priority": ("CLWLPRTY", "queue"),
    "priority": ("CLWLPRTY", "both"),
    "most_recent": ("CLWLMRUC", ""),
}
_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Column:
    """A step: its place, and the attribute it compares."""

    x: float
    number: str
    attribute: str
    of: str
    is_reached: bool


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a destination at a step."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Lane:
    """The line of a destination."""

    y: float
    label: str
    label_x: float
    label_y: float
    start: float
    end: float
    is_chosen: bool
    share: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class StepsChartLayout:
    """The chart, for one width of the page."""

    id: str
    kind: str
    width: int
    height: int
    top: float
    bottom: float
    columns: tuple[Column, ...]
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, slots=True)
class StepsChart:
    """The eliminations, for wide and narrow pages, and in words."""

    title: str
    description: str
    left_out: int
    wide: StepsChartLayout
    narrow: StepsChartLayout


def steps_chart(answer: DecisionAnswer) -> StepsChart:
    """Return the chart of an answer."""
    candidates = answer.candidates[:MOST_LANES]
    return StepsChart(
        title=f"Destinations of {answer.queue or 'the queue'}, step by step",
        description=_in_words(answer),
        left_out=max(0, len(answer.candidates) - MOST_LANES),
        wide=_draw(answer, candidates, is_wide=True),
        narrow=_draw(answer, candidates, is_wide=False),
    )


def value_at(step: str, item: CandidateValues) -> str:
    """Return the value that a step compares."""
    values = {
        "local": "local" if item.local else "remote",
        "channel_rank": item.channel_clwlrank,
        "queue_rank": item.queue_clwlrank,
        "put": item.put,
        "suspended": item.suspend,
        "status": "local" if item.local else item.status,
        "netprty": item.netprty,
        "channel_priority": item.channel_clwlprty,
        "queue_priority": item.queue_clwlprty,
        "priority": f"{item.queue_clwlprty}/{item.channel_clwlprty}",
        "most_recent": "",
    }
    return str(values[step])


def _key(item: Destination) -> tuple[object, ...]:
    return item.queue_manager, item.channel, item.cluster


def _draw(
    answer: DecisionAnswer, candidates: Sequence[CandidateValues], *, is_wide: bool
) -> StepsChartLayout:
    steps = answer.steps
    left, right = (_LABELS, _WIDE - _ENDS) if is_wide else (0, _NARROW - _NARROW_ENDS)
    pitch = (right - left) / max(len(steps), 1)
    xs = [round(left + pitch * (place + 0.5), 1) for place in range(len(steps))]
    lane = _LANE_WIDE if is_wide else _LANE_NARROW
    top = _HEAD if is_wide else 18
    outs = {_key(item): place for place, step in enumerate(steps) for item in step.eliminated}
    shares = {_key(item): item.share_percent for item in answer.destinations}
    lanes = []
    for place, item in enumerate(candidates):
        out = outs.get(_key(item))
        y = top + lane * (place + 0.5) + (0 if is_wide else 6)
        is_chosen = _key(item) in shares
        lanes.append(
            Lane(
                y=y,
                label=_cut(f"{item.queue_manager} {item.channel or 'itself'}"),
                label_x=0,
                label_y=y + 4 if is_wide else y - 9,
                start=left,
                end=right if out is None else xs[out],
                is_chosen=is_chosen,
                share=f"{shares[_key(item)]:.4g} %" if is_chosen else "",
                values=tuple(
                    Value(x, value_at(step.id, item))
                    for x, step in zip(xs, steps, strict=True)
                    if is_wide and step.reached and (out is None or x < xs[out])
                ),
            )
        )
    bottom = top + lane * len(candidates) + (0 if is_wide else 6)
    return StepsChartLayout(
        id=f"steps-{'wide' if is_wide else 'narrow'}",
        kind="wide" if is_wide else "narrow",
        width=_WIDE if is_wide else _NARROW,
        height=round(bottom + 8),
        top=top,
        bottom=bottom,
        columns=tuple(
            Column(x, step.step, *(_SHORT[step.id] if is_wide else ("", "")), step.reached)
            for x, step in zip(xs, steps, strict=True)
        ),
        lanes=tuple(lanes),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}\N{HORIZONTAL ELLIPSIS}"


def _in_words(answer: DecisionAnswer) -> str:
    parts = [
        f"Step {step.step} eliminates {', '.join(item.label for item in step.eliminated[:MOST_LANES])}."
        for step in answer.steps
        if step.eliminated
    ]
    left = ", ".join(item.label for item in answer.destinations[:MOST_LANES]) or "none"
    return " ".join([*parts, f"Remaining: {left}."])
