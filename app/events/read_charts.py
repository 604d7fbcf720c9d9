"""Charts of the depth that a queue had at each event, and the queue managers that wrote event messages.

The depth is known only at events; the lines between them are straight. If an event has no time, the sets are drawn in
their order, equally spaced.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.events.simulate_charts import MOST_LABELS, SHOWN_LIMIT, SIGNS, WROTE, beyond
from app.web.axes import Axis, Linear, Listed, Time, Value
from app.web.charts import Chart, Lane, LaneSpot, Level, Line, Mark, Origin, Spot
from app.web.rendering import grouped
from planner_core.depth_events.sets import EventSet, QueueFacts

_BEFORE, _AFTER = 0.16, 0.03
"""Margins before the first and after the last event, as fractions of the time between them; the labels of thresholds
need room.
"""


def chart_of(nth: int, queue: str, sets: Sequence[EventSet], facts: QueueFacts) -> Chart:
    """Return the chart of one queue, the `nth` on the page."""
    x_axis, places = _places(sets)
    known = [
        (place, each, depth)
        for place, each in zip(places, sets, strict=True)
        if (depth := each.reconciliation.depth) is not None
    ]
    deepest = max([depth for _, _, depth in known] + [1])
    limits = {"MAXDEPTH": facts.maxdepth, "QDEPTHHI": facts.high_depth, "QDEPTHLO": facts.low_depth}
    given = {name: value for name, value in limits.items() if value is not None}
    # A threshold far above the depth would flatten the curve at the bottom; a note names it instead.
    near = {name: value for name, value in given.items() if value <= deepest * SHOWN_LIMIT}
    return Chart(
        id=f"read-{nth}",
        title=f"Depth of {queue} at its events",
        description=_in_words(sets),
        x_axis=x_axis,
        y_axis=Linear.up_to(float(max([deepest, *near.values()]))),
        lines=(Line(tuple((place, depth) for place, _, depth in known)),),
        levels=tuple(
            Level(value, f"{name} {grouped(value)}", style=f"limit {name.lower()}")
            for name, value in near.items()
        ),
        marks=tuple(Mark(place, style="event-lead") for place in dict.fromkeys(places)),
        points=tuple(
            _spot(place, each, depth, has_label=len(sets) <= MOST_LABELS) for place, each, depth in known
        ),
        lanes=tuple(Lane(member, _lane_spots(member, places, sets)) for member in _members(sets)),
        note=beyond({name: value for name, value in given.items() if name not in near}),
        origin=Origin(queue, "", "event messages read by cfplan"),
        height=190,
    )


def _places(sets: Sequence[EventSet]) -> tuple[Axis, Sequence[Value]]:
    """Return the x axis and each set's position: its time, or its number if a time is missing."""
    times = [each.at for each in sets if each.at is not None]
    # With one missing time, an axis of time would need an invented one.
    if len(times) == len(sets) and times[-1] > times[0]:
        span = times[-1] - times[0]
        return Time(times[0] - span * _BEFORE, times[-1] + span * _AFTER), times
    last = max(len(sets) - 1, 1)
    axis = Listed(-last * _BEFORE, last * (1 + _AFTER), names=tuple(f"set {each.number}" for each in sets))
    return axis, range(len(sets))


def _spot(place: Value, each: EventSet, depth: int, *, has_label: bool) -> Spot:
    sign, style, name = SIGNS[each.event]
    label = name if has_label else ""
    return Spot(place, depth, sign, f"event {style}", label, title=_of_set(each), is_label_optional=True)


def _members(sets: Sequence[EventSet]) -> list[str]:
    names = {member.queue_manager for each in sets for member in each.members}
    return sorted(names | {missing.queue_manager for each in sets for missing in each.missing})


def _lane_spots(member: str, places: Sequence[Value], sets: Sequence[EventSet]) -> tuple[LaneSpot, ...]:
    found = ((place, _written(each, member)) for place, each in zip(places, sets, strict=True))
    return tuple(LaneSpot(place, WROTE[kind], f"wrote {kind}") for place, kind in found if kind)


def _written(each: EventSet, member: str) -> str:
    """Return `message`, `null` or `none`, or an empty text if no message was expected."""
    if any(found.queue_manager == member for found in each.members):
        return "null" if member in each.null_events else "message"
    return "none" if any(missing.queue_manager == member for missing in each.missing) else ""


def _of_set(each: EventSet) -> str:
    depth = each.reconciliation.depth
    words = "depth unknown" if depth is None else f"depth {grouped(depth)}"
    number = len(each.members)
    return f"Set {each.number}, {each.event.title}, {words}, {number} message{'' if number == 1 else 's'}"


def _in_words(sets: Sequence[EventSet]) -> str:
    shown = "; ".join(_of_set(each) for each in sets[:MOST_LABELS])
    more = f"; and {len(sets) - MOST_LABELS} more" if len(sets) > MOST_LABELS else ""
    return f"{shown}{more}."
