"""The chart of eliminations: one line for each destination, up to the step that eliminates it.

The table next to it gives the same information in words.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.web.chart_svg import ChartLayout, Sheet
from planner_core.clusters.answer import CandidateValues, DecisionAnswer
from planner_core.clusters.model import Destination

MOST_LANES = 24
"""Maximum number of destinations in the chart; the table lists all of them."""
_WIDE, _NARROW = 860, 358
_HEAD, _HEAD_NARROW, _LANE_WIDE, _LANE_NARROW = 46, 18, 27, 36
_LABELS, _ENDS = 178.0, 74.0
_NARROW_ENDS = 52.0
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


def steps_chart(answer: DecisionAnswer) -> tuple[ChartLayout, ChartLayout]:
    """Return the chart of an answer, for wide and for narrow pages."""
    return _draw(answer, is_wide=True), _draw(answer, is_wide=False)


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


def _draw(answer: DecisionAnswer, *, is_wide: bool) -> ChartLayout:
    sheet = Sheet(_WIDE if is_wide else _NARROW, is_narrow=not is_wide)
    steps, candidates = answer.steps, answer.candidates[:MOST_LANES]
    left, right = (_LABELS, _WIDE - _ENDS) if is_wide else (0.0, _NARROW - _NARROW_ENDS)
    pitch = (right - left) / max(len(steps), 1)
    xs = [round(left + pitch * (place + 0.5), 1) for place in range(len(steps))]
    lane = _LANE_WIDE if is_wide else _LANE_NARROW
    top, space = (_HEAD, 0) if is_wide else (_HEAD_NARROW, 6)
    bottom = top + lane * len(candidates) + space
    for x, step in zip(xs, steps, strict=True):
        sheet.line("grid", x, top, x, bottom)
        sheet.text(x, 12, step.step, "strong" if step.reached else "", "middle")
        if is_wide:
            for line_y, text in zip((26, 39), _SHORT[step.id], strict=True):
                sheet.text(x, line_y, text, anchor="middle")
    outs = {_key(item): place for place, step in enumerate(steps) for item in step.eliminated}
    shares = {_key(item): item.share_percent for item in answer.destinations}
    for place, item in enumerate(candidates):
        out, share = outs.get(_key(item)), shares.get(_key(item))
        y = top + lane * (place + 0.5) + space
        end = right if out is None else xs[out]
        sheet.line("run" if share is None else "run is-chosen", left, y, end, y)
        label = _cut(f"{item.queue_manager} {item.channel or 'itself'}")
        sheet.text(0, y + 4 if is_wide else y - 9, label, "halo" if share is None else "halo strong")
        for x, step in zip(xs, steps, strict=True):
            # Narrow pages have no room for values; the table has them.
            if is_wide and step.reached and (out is None or x < xs[out]):
                sheet.text(x, y + 4, value_at(step.id, item), "halo", "middle")
        if share is None:
            sheet.add("path", "out", d=f"M{end - 4.5:g} {y - 4.5:g}l9 9m0 -9l-9 9")
        else:
            sheet.add("circle", "end", cx=end, cy=y, r=4.5)
            sheet.text(end + 9, y + 4, f"{share:.4g} %", "strong")
    title = f"Destinations of {answer.queue or 'the queue'}, step by step"
    return sheet.layout("steps", round(bottom + 8), title, _in_words(answer))


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
