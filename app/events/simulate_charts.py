"""Charts of the depth over time with thresholds and events, and a lane for the messages of each queue manager."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from app.web.axes import Duration, Linear
from app.web.charts import Chart, Lane, LaneSpot, Line, Mark, Origin, Point, Spot
from app.web.rendering import grouped
from planner_core.depth_events.course import Occurrence, QueueAfterStep, SilentMember, Simulation
from planner_core.depth_events.model import Event

MOST_LABELS = 14
"""Maximum number of events that are drawn with labels."""
SHOWN_LIMIT = 3
"""A threshold above this multiple of the highest depth is not drawn."""
SIGNS = {
    Event.HIGH: ("up", "high", "High"),
    Event.LOW: ("down", "low", "Low"),
    Event.FULL: ("square", "full", "Full"),
}
"""Sign, style and short name of each event."""
WROTE = {"message": "small", "null": "small", "none": "cross"}
"""Sign of each kind of message."""
_ROOM = Fraction(26, 25)
"""Factor that extends the time axis beyond the last step, so that its signs are not on the edge."""


def chart_of(course: Simulation, queue: str, members: Sequence[str]) -> Chart:
    """Return the chart of one queue; `members` are the queue managers that can write its messages."""
    rows = [row for row in course.switches if row.queue == queue]
    events = [occurrence for occurrence in course.occurrences if occurrence.queue == queue]
    # A timeline may consist of its start alone, at 0 seconds.
    last = (max((row.at for row in course.switches), default=Fraction(0)) or Fraction(1)) * _ROOM
    deepest = max([row.depth for row in rows] + [event.depth for event in events] + [1])
    rounding = course.readings.rounding
    limits = {
        "MAXDEPTH": [(row.at, row.limits.maxdepth) for row in rows],
        "QDEPTHHI": [(row.at, row.limits.high_depth(rounding)) for row in rows],
        "QDEPTHLO": [(row.at, row.limits.low_depth()) for row in rows],
    }
    # A threshold far above the depth would flatten the curve at the bottom; a note names it instead.
    near = {
        name: found
        for name, found in limits.items()
        if max(value for _, value in found) <= deepest * SHOWN_LIMIT
    }
    highest = max([deepest, *(value for found in near.values() for _, value in found)])
    depth: list[Point] = [(row.at, row.depth) for row in rows]
    return Chart(
        id=f"depth-{list(course.queues).index(queue)}",
        title=f"Depth of {queue} over time",
        description=_in_words(rows, events),
        x_axis=Duration(0, last),
        y_axis=Linear.up_to(float(highest)),
        lines=(
            *(_limit(name, found, last) for name, found in near.items()),
            Line((*depth, (last, rows[-1].depth)), is_stepped=True),
        ),
        marks=tuple(Mark(at, style="event-lead") for at in dict.fromkeys(event.at for event in events)),
        points=tuple(_spot(event, has_label=len(events) <= MOST_LABELS) for event in events),
        lanes=tuple(Lane(member, tuple(_lane_spots(events, member))) for member in members),
        note=beyond({name: found[-1][1] for name, found in limits.items() if name not in near}),
        origin=Origin(queue, "", "timeline simulated by cfplan"),
        height=210,
    )


def beyond(limits: dict[str, int]) -> str:
    """Return a note on the thresholds that are too high for the chart."""
    found = ", ".join(f"{name} {grouped(value)}" for name, value in limits.items())
    return f"Beyond the chart: {found}." if found else ""


def _limit(name: str, values: Sequence[tuple[Fraction, int]], last: Fraction) -> Line:
    label = f"{name} {grouped(values[-1][1])}"
    points = (*values, (last, values[-1][1]))
    return Line(points, name, f"limit {name.lower()}", label, is_stepped=True)


def _spot(event: Occurrence, *, has_label: bool) -> Spot:
    sign, style, name = SIGNS[event.event]
    silent = " silent" if not event.written else ""
    label = name if has_label else ""
    return Spot(
        event.at,
        event.depth,
        sign,
        f"event {style}{silent}",
        label,
        title=_of_event(event),
        is_label_optional=True,
    )


def _of_event(event: Occurrence) -> str:
    number = event.messages
    messages = "no message" if not number else f"{number} message{'' if number == 1 else 's'}"
    return f"{event.event.title} at {float(event.at):g} s, depth {grouped(event.depth)}, {messages}"


def _lane_spots(events: Sequence[Occurrence], member: str) -> Iterator[LaneSpot]:
    for event in events:
        written = next((each for each in event.written if each.queue_manager == member), None)
        if written is not None:
            kind = "null" if written.is_null else "message"
        # An inactive queue manager could not write a message, so its lane has no sign.
        elif SilentMember(member, "not_active") not in event.missing:
            kind = "none"
        else:
            continue
        yield LaneSpot(event.at, WROTE[kind], f"wrote {kind}")


def _in_words(rows: Sequence[QueueAfterStep], events: Sequence[Occurrence]) -> str:
    depths = [row.depth for row in rows]
    words = f"From {grouped(depths[0])} to {grouped(depths[-1])} messages, at most {grouped(max(depths))}."
    if not events:
        return f"{words} No event."
    shown = "; ".join(_of_event(event) for event in events[:MOST_LABELS])
    more = f"; and {len(events) - MOST_LABELS} more" if len(events) > MOST_LABELS else ""
    return f"{words} {shown}{more}."
