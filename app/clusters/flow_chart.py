"""The flow chart of a sender's messages, normally and during a failure.

Bands lead from the sender to queue managers, and from there to the queues that store the messages. The width of a band
shows its rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.web.axes import grouped
from app.web.chart_svg import ChartLayout, Sheet
from planner_core.clusters.load import FlowDuringFailure, FlowLoad, InstanceDuringFailure, InstanceLoad

MOST_INSTANCES = 16
"""Maximum number of instances in the chart; the tables list all of them."""
_WIDE_PANEL, _GAP, _NARROW = 404, 52, 358
_TOP, _LABEL, _THICK, _THIN = 30, 18, 78.0, 1.5
_NODE = 5
_SENDER, _QUEUES = 78.0, 104.0
"""Width reserved for the names at each end of the chart."""
_CHARACTERS, _LABEL_WIDE, _LABEL_NARROW = 11, 17, 14


@dataclass(frozen=True, slots=True)
class _Part:
    queue_manager: str
    physical: str
    is_shared: bool
    rate: float
    is_reached: bool


def flow_chart(flow: FlowLoad, failure: FlowDuringFailure | None, *, nth: int) -> tuple[ChartLayout, ...]:
    """Return the chart of a flow and of one failure, for wide and for narrow pages.

    The result is empty if the flow has too many instances or no messages.
    """
    before = _parts(flow.instances, shared=_shared_names(flow))
    # Bands of more instances would be too thin to tell apart.
    if not 0 < len(before) <= MOST_INSTANCES or not flow.rate_per_s:
        return ()
    panels = [("Normally", before)]
    if failure is not None:
        panels.append(
            (f"While {failure.label} is unavailable", _parts(failure.instances, shared=_shared_names(flow)))
        )
    return tuple(_draw(flow, panels, nth=nth, is_wide=is_wide) for is_wide in (True, False))


def plain_rate(value: float) -> str:
    """Return a rate with no more digits than necessary."""
    whole, _, decimal = f"{value:.1f}".partition(".")
    return grouped(int(whole)) + (f".{decimal}" if decimal != "0" else "")


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
        ", ".join([*said, *([f"{plain_rate(waiting)} a second wait at the sender"] if waiting else [])])
        or "nothing"
    )


def _draw(
    flow: FlowLoad, panels: Sequence[tuple[str, Sequence[_Part]]], *, nth: int, is_wide: bool
) -> ChartLayout:
    sheet = Sheet(_WIDE_PANEL * 2 + _GAP if is_wide else _NARROW, is_narrow=not is_wide)
    x, y, bottom = 0.0, 0.0, 0.0
    for title, parts in panels:
        sheet.text(x, y + 14, title, "strong")
        height = _panel(sheet, parts, flow=flow, at=(x, y))
        bottom = max(bottom, y + height)
        if is_wide:
            x += _WIDE_PANEL + _GAP
        else:
            y += height + 18
    description = " ".join(f"{title}: {_in_words(parts)}." for title, parts in panels)
    return sheet.layout(
        f"flow-{nth}", round(bottom + 6), f"Destinations of messages for {flow.queue} go", description
    )


def _node(
    sheet: Sheet, kind: str, at: tuple[float, float], height: float, label: str, label_at: tuple[float, float],
    anchor: str = "start",
) -> None:  # fmt: skip
    """Draw the sender, a queue manager or a queue, with its name; draw only the name if the height is zero."""
    if height:
        sheet.add("rect", f"node {kind}", x=at[0], y=at[1], width=_NODE, height=height)
    sheet.text(*label_at, label, "halo strong" if kind.startswith("queue") else "halo", anchor)


def _band(sheet: Sheet, kind: str, path: str, width: float) -> None:
    sheet.add("path", f"band {kind}", d=path, stroke_width=f"{width:.2f}")


def _panel(sheet: Sheet, parts: Sequence[_Part], *, flow: FlowLoad, at: tuple[float, float]) -> float:
    """Draw the flow in one situation, and return its height."""
    rate, (left, top) = flow.rate_per_s, at
    width = _NARROW if sheet.is_narrow else _WIDE_PANEL
    first, middle = left + _SENDER, left + _SENDER + (width - _SENDER - _QUEUES) * 0.5
    right = left + width - _QUEUES
    # A small rate must stay visible, so its band may be wider than its share.
    thick = [max(part.rate / rate * _THICK, _THIN if part.rate else 0.0) for part in parts]
    tops: list[float] = []
    y = top + _TOP
    for width_of in thick:
        y += _LABEL
        tops.append(y)
        # Destinations without messages get a bar as well, because they may have messages after a failure.
        y += max(width_of, 4.0) + 4
    whole = sum(thick)
    start = top + _TOP + _LABEL + max((y - top - _TOP - _LABEL - whole) / 2, 0)
    queues = dict.fromkeys(part.physical for part in parts)
    sums = {
        name: sum(w for p, w in zip(parts, thick, strict=True) if p.physical == name and p.is_reached)
        for name in queues
    }
    queue_tops = _queue_tops(parts, tops, thick, sums, first=top + _TOP + _LABEL)
    # SVG paints in the order of its elements: no band may cover a name.
    over = Sheet(sheet.width, is_narrow=sheet.is_narrow)
    centre = start + whole / 2
    sender = _cut(flow.sender or "sender")
    _node(over, "sender", (first, start), max(whole, 4), sender, (first - 7, centre - 1), "end")
    _node(over, "figure", (first, start), 0, f"{plain_rate(rate)}/s", (first - 7, centre + 13), "end")
    leave, enter = start, dict(queue_tops)
    for part, width_of, part_top in zip(parts, thick, tops, strict=True):
        kind = "manager" if part.is_reached else "manager is-away"
        name = _manager(part, is_wide=not sheet.is_narrow)
        _node(over, kind, (middle, part_top), max(width_of, 4), name, (middle, part_top - 5))
        if not width_of:
            continue
        centre, from_y = part_top + max(width_of, 4) / 2, leave + width_of / 2
        leave += width_of
        if not part.is_reached:
            # The band ends before the queue manager, because no channel brings the messages there.
            _band(sheet, "waits", _curve(first + _NODE, from_y, middle - 26, centre), width_of)
            over.add("path", "out", d=f"M{middle - 24.5:g} {centre - 4.5:.1f}l9 9m0 -9l-9 9")
            continue
        _band(sheet, _colour(part), _curve(first + _NODE, from_y, middle, centre), width_of)
        to_y = enter[part.physical] + width_of / 2
        enter[part.physical] += width_of
        _band(sheet, _colour(part), _curve(middle + _NODE, centre, right, to_y), width_of)
    for name, queue_top in queue_tops.items():
        amount = sum(part.rate for part in parts if part.physical == name and part.is_reached)
        is_shared = any(part.is_shared for part in parts if part.physical == name)
        bar = max(sums[name], 4)
        label_y = queue_top + bar / 2
        kind = "queue is-shared" if is_shared else "queue"
        _node(over, kind, (right, queue_top), bar, _cut(name), (right + 12, label_y - 2))
        share = f"{plain_rate(amount)}/s, {amount / rate * 100:.0f} %"
        _node(over, "figure", (right, queue_top), 0, share, (right + 12, label_y + 12))
    sheet.shapes += over.shapes
    return y - top


def _queue_tops(
    parts: Sequence[_Part],
    tops: Sequence[float],
    thick: Sequence[float],
    sums: Mapping[str, float],
    *,
    first: float,
) -> dict[str, float]:
    """Return the top edge of each queue: near the middle of its queue managers, without overlap."""
    found: dict[str, float] = {}
    free = first
    for name, whole in sums.items():
        own = [
            top + width / 2
            for part, top, width in zip(parts, tops, thick, strict=True)
            if part.physical == name
        ]
        # Next to its own queue managers, so that few bands cross.
        found[name] = max(sum(own) / len(own) - whole / 2, free)
        free = found[name] + max(whole, 4) + 30
    return found


def _manager(part: _Part, *, is_wide: bool) -> str:
    """Return the name and rate, shortened to leave room for the names of the queues."""
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
