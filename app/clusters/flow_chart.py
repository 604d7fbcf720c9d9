"""The flow chart of a sender's messages, normally and during a failure.

Bands as wide as their rates lead from the sender to queue managers, and from these to the queues that store the messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planner_core.clusters.load import FlowDuringFailure, FlowLoad, InstanceDuringFailure, InstanceLoad

MOST_INSTANCES = 16
"""Limit of the chart; the tables have all instances."""
_WIDE_PANEL, _GAP, _NARROW = 404, 52, 358
_TOP, _LABEL, _THICK, _THIN = 30, 18, 78.0, 1.5
_NODE = 5
_SENDER, _QUEUES = 78.0, 104.0
"""Space for the names at both ends."""
_CHARACTERS, _LABEL_WIDE, _LABEL_NARROW = 11, 17, 14


@dataclass(frozen=True, slots=True)
class Band:
    """The flow between two nodes, as a stroke."""

    path: str
    width: float
    kind: str


@dataclass(frozen=True, slots=True)
class Node:
    """The sender, a queue manager or a queue, with its rate."""

    x: float
    y: float
    height: float
    kind: str
    label: str
    label_x: float
    label_y: float
    anchor: str


@dataclass(frozen=True, slots=True)
class Panel:
    """The flow in one situation."""

    title: str
    x: float
    y: float
    bands: tuple[Band, ...]
    nodes: tuple[Node, ...]
    stops: tuple[tuple[float, float], ...]
    """Ends of the bands that wait because no channel works."""


@dataclass(frozen=True, slots=True)
class FlowChartLayout:
    """Both panels, for one width of the page."""

    id: str
    kind: str
    width: int
    height: int
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class FlowChart:
    """The flow normally and during a failure, for wide and narrow pages, and in words."""

    title: str
    description: str
    wide: FlowChartLayout
    narrow: FlowChartLayout


@dataclass(frozen=True, slots=True)
class _Part:
    queue_manager: str
    physical: str
    is_shared: bool
    rate: float
    is_reached: bool


def flow_chart(flow: FlowLoad, failure: FlowDuringFailure | None, *, nth: int) -> FlowChart | None:
    """Return the chart of a flow and of one failure; None if it has too many instances, or no messages."""
    before = _parts(flow.instances, shared=_shared_names(flow))
    if not 0 < len(before) <= MOST_INSTANCES or not flow.rate_per_s:
        return None
    panels = [("Normally", before)]
    if failure is not None:
        panels.append(
            (f"While {failure.label} is unavailable", _parts(failure.instances, shared=_shared_names(flow)))
        )
    sender = flow.sender or "sender"
    return FlowChart(
        title=f"Where messages for {flow.queue} go",
        description=" ".join(f"{title}: {_in_words(parts)}." for title, parts in panels),
        wide=_draw(f"flow-{nth}-wide", "wide", panels, flow.rate_per_s, sender),
        narrow=_draw(f"flow-{nth}-narrow", "narrow", panels, flow.rate_per_s, sender),
    )


def plain_rate(value: float) -> str:
    """Return a rate with no more digits than necessary."""
    return f"{value:,.1f}".rstrip("0").rstrip(".").replace(",", "\N{NARROW NO-BREAK SPACE}")


def _shared_names(flow: FlowLoad) -> set[str]:
    return {item.name for item in flow.physical_queues if item.shared} | {
        item.physical_queue for item in flow.instances if item.shared
    }


def _parts(instances: Iterable[InstanceLoad | InstanceDuringFailure], *, shared: set[str]) -> list[_Part]:
    return [
        _Part(
            item.queue_manager,
            item.physical_queue,
            item.physical_queue in shared,
            item.rate_per_s,
            item.reached if isinstance(item, InstanceDuringFailure) else True,
        )
        for item in instances
    ]


def _in_words(parts: Sequence[_Part]) -> str:
    arriving: dict[str, float] = {}
    for part in parts:
        if part.is_reached:
            arriving[part.physical] = arriving.get(part.physical, 0) + part.rate
    waiting = sum(part.rate for part in parts if not part.is_reached)
    said = [f"{plain_rate(rate)} a second to {name}" for name, rate in arriving.items() if rate]
    return (
        ", ".join([*said, *([f"{plain_rate(waiting)} wait at the sender"] if waiting else [])]) or "nothing"
    )


def _draw(
    drawing_id: str, kind: str, panels: Sequence[tuple[str, Sequence[_Part]]], rate: float, sender: str
) -> FlowChartLayout:
    is_wide = kind == "wide"
    width = _WIDE_PANEL if is_wide else _NARROW
    drawn: list[Panel] = []
    x, y, bottom = 0.0, 0.0, 0.0
    for title, parts in panels:
        panel, height = _panel(title, parts, rate=rate, sender=sender, width=width, at=(x, y))
        drawn.append(panel)
        bottom = max(bottom, y + height)
        if is_wide:
            x += _WIDE_PANEL + _GAP
        else:
            y += height + 18
    return FlowChartLayout(
        id=drawing_id,
        kind=kind,
        width=_WIDE_PANEL * 2 + _GAP if is_wide else _NARROW,
        height=round(bottom + 6),
        panels=tuple(drawn),
    )


def _panel(
    title: str, parts: Sequence[_Part], *, rate: float, sender: str, width: int, at: tuple[float, float]
) -> tuple[Panel, float]:
    middle, right = _SENDER + (width - _SENDER - _QUEUES) * 0.5, width - _QUEUES
    thick = [max(part.rate / rate * _THICK, _THIN if part.rate else 0.0) for part in parts]
    nodes: list[Node] = []
    bands: list[Band] = []
    stops: list[tuple[float, float]] = []
    tops: list[float] = []
    y = float(_TOP)
    for width_of in thick:
        y += _LABEL
        tops.append(y)
        y += max(width_of, 4.0) + 4
    height = y
    whole = sum(thick)
    start = _TOP + _LABEL + max((height - _TOP - _LABEL - whole) / 2, 0)
    centre = start + whole / 2
    nodes.append(Node(_SENDER, start, max(whole, 4), "sender", _cut(sender), _SENDER - 7, centre - 1, "end"))
    nodes.append(Node(_SENDER, start, 0, "figure", f"{plain_rate(rate)}/s", _SENDER - 7, centre + 13, "end"))
    queues = dict.fromkeys(part.physical for part in parts)
    sums = {
        name: sum(w for p, w in zip(parts, thick, strict=True) if p.physical == name and p.is_reached)
        for name in queues
    }
    queue_tops = _queue_tops(parts, tops, thick, sums)
    leave, enter = start, dict(queue_tops)
    for part, width_of, top in zip(parts, thick, tops, strict=True):
        centre = top + max(width_of, 4) / 2
        state = "" if part.is_reached else " is-away"
        nodes.append(
            Node(
                middle, top, max(width_of, 4), f"manager{state}",
                _manager(part, is_wide=width == _WIDE_PANEL),
                middle, top - 5, "start",
            )
        )  # fmt: skip
        if not width_of:
            continue
        from_y = leave + width_of / 2
        leave += width_of
        if not part.is_reached:
            bands.append(Band(_curve(_SENDER + _NODE, from_y, middle - 26, centre), width_of, "waits"))
            stops.append((middle - 20, centre))
            continue
        bands.append(Band(_curve(_SENDER + _NODE, from_y, middle, centre), width_of, _colour(part)))
        to_y = enter[part.physical] + width_of / 2
        enter[part.physical] += width_of
        bands.append(Band(_curve(middle + _NODE, centre, right, to_y), width_of, _colour(part)))
    for name in queues:
        amount = sum(part.rate for part in parts if part.physical == name and part.is_reached)
        is_shared = any(part.is_shared for part in parts if part.physical == name)
        bar = max(sums[name], 4)
        label_y = queue_tops[name] + bar / 2
        kind = f"queue{' is-shared' if is_shared else ''}"
        nodes.append(Node(right, queue_tops[name], bar, kind, _cut(name), right + 12, label_y - 2, "start"))
        share = f"{plain_rate(amount)}/s, {amount / rate * 100:.0f} %"
        nodes.append(Node(right, queue_tops[name], 0, "figure", share, right + 12, label_y + 12, "start"))
    return Panel(title, at[0], at[1], tuple(bands), tuple(nodes), tuple(stops)), height


def _queue_tops(
    parts: Sequence[_Part], tops: Sequence[float], thick: Sequence[float], sums: Mapping[str, float]
) -> dict[str, float]:
    """Return the top of each queue: next to the middle of its queue managers, without overlap."""
    found: dict[str, float] = {}
    free = float(_TOP + _LABEL)
    for name, whole in sums.items():
        own = [
            top + width / 2
            for part, top, width in zip(parts, tops, thick, strict=True)
            if part.physical == name
        ]
        found[name] = max(sum(own) / len(own) - whole / 2, free)
        free = found[name] + max(whole, 4) + 30
    return found


def _manager(part: _Part, *, is_wide: bool) -> str:
    """Return name and rate, short enough to end before the names of the queues."""
    if part.is_reached:
        figure = f" {plain_rate(part.rate)}/s"
    else:
        figure = f" {plain_rate(part.rate)}/s wait" if part.rate and is_wide else " away"
    return _cut(part.queue_manager, (_LABEL_WIDE if is_wide else _LABEL_NARROW) - len(figure)) + figure


def _cut(text: str, most: int = _CHARACTERS) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _colour(part: _Part) -> str:
    return "to-shared" if part.is_shared else "to-other"


def _curve(x0: float, y0: float, x1: float, y1: float) -> str:
    middle = (x0 + x1) / 2
    return f"M{x0:.1f} {y0:.1f}C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
