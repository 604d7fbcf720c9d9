"""Depth over time with thresholds and event messages: coordinates for an SVG, and the same in words.

Below the depth each queue manager has a line of its own, with a mark for every message that it wrote or did not write.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.web.frames import Plot, PlotFrame, Tick, round_values, short
from app.web.rendering import grouped
from planner_core.depth_events.course import Course, CourseRow, Occurrence
from planner_core.depth_events.model import Event, Rounding

MOST_LABELS = 14
"""More events than this are drawn without their names."""
_TOP, _BELOW, _LANE = 22, 34, 15
_WIDE, _NARROW, _PLOT = 860, 358, 210
_CHARACTER = 6.4
_SHOWN_LIMIT = 3
"""A threshold is drawn as long as it is not more than so many times the highest depth."""
_SHORT_NAMES = {Event.HIGH: "High", Event.LOW: "Low", Event.FULL: "Full"}
_KINDS = {Event.HIGH: "high", Event.LOW: "low", Event.FULL: "full"}
_CLOSE_X, _CLOSE_Y = 34.0, 13.0
_ROOM = Fraction(26, 25)
"""Time after the last step, so that its marks are not on the edge."""
_SECONDS = (Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), *map(Fraction, (1, 2, 5, 10, 20, 30, 60)))
_UNITS = (
    (1, "s", _SECONDS),
    (60, "min", (1, 2, 5, 10, 15, 30, 60)),
    (3600, "h", (1, 2, 3, 6, 12, 24, 48, 96, 168)),
)
_LONGEST_IN_UNIT = 300
_MOST_TICKS_WIDE, _MOST_TICKS_NARROW = 10, 5


@dataclass(frozen=True, slots=True)
class Level:
    """MAXDEPTH or a threshold: a stepped line, and its label at the right."""

    name: str
    points: str
    label: str
    label_y: float


@dataclass(frozen=True, slots=True)
class Mark:
    """An event at its time and depth. `is_silent`: switched, and nobody was told."""

    kind: str
    x: float
    y: float
    label: str
    label_y: float
    is_silent: bool
    title: str


@dataclass(frozen=True, slots=True)
class LaneMark:
    """What one queue manager did at an event: `message`, `null`, or `none`."""

    kind: str
    x: float


@dataclass(frozen=True, slots=True)
class Lane:
    """The line of a queue manager."""

    name: str
    y: float
    marks: tuple[LaneMark, ...]


@dataclass(frozen=True, slots=True)
class TimelineChartLayout(PlotFrame):
    """One drawing, for one width."""

    levels: tuple[Level, ...]
    depth: str
    marks: tuple[Mark, ...]
    leads: tuple[float, ...]
    lanes: tuple[Lane, ...]
    lanes_bottom: float


@dataclass(frozen=True, slots=True)
class TimelineChart:
    """A queue over time, for wide and narrow pages, and in words."""

    title: str
    description: str
    beyond: str
    wide: TimelineChartLayout
    narrow: TimelineChartLayout


def chart_of(course: Course, queue: str, members: Sequence[str]) -> TimelineChart:
    """The chart of one queue; `members` are the queue managers that could write of it."""
    rows = [row for row in course.rows if row.queue == queue]
    events = [occurrence for occurrence in course.occurrences if occurrence.queue == queue]
    last = (max((row.at for row in course.rows), default=Fraction(0)) or Fraction(1)) * _ROOM
    nth = list(course.queues).index(queue)
    frame = _Shared(rows, events, members, last, course.readings.rounding)
    return TimelineChart(
        title=f"Depth of {queue} over time",
        description=_in_words(rows, events),
        beyond=frame.beyond,
        wide=_draw(f"depth-{nth}-wide", "wide", _WIDE, frame, _MOST_TICKS_WIDE),
        narrow=_draw(f"depth-{nth}-narrow", "narrow", _NARROW, frame, _MOST_TICKS_NARROW),
    )


class _Shared:
    """What both drawings have in common: values, not places."""

    def __init__(
        self,
        rows: Sequence[CourseRow],
        events: Sequence[Occurrence],
        members: Sequence[str],
        last: Fraction,
        rounding: Rounding,
    ) -> None:
        self.rows, self.events, self.members, self.last = rows, events, members, last
        deepest = max([row.depth for row in rows] + [event.depth for event in events] + [1])
        limits = {
            "MAXDEPTH": [(row.at, row.limits.maxdepth) for row in rows],
            "QDEPTHHI": [(row.at, row.limits.high_depth(rounding)) for row in rows],
            "QDEPTHLO": [(row.at, row.limits.low_depth()) for row in rows],
        }
        most = deepest * _SHOWN_LIMIT
        self.limits = {name: each for name, each in limits.items() if max(value for _, value in each) <= most}
        beyond = [
            f"{name} {grouped(each[-1][1])}" for name, each in limits.items() if name not in self.limits
        ]
        self.beyond = f"Beyond the picture: {', '.join(beyond)}." if beyond else ""
        highest = max([deepest, *(value for each in self.limits.values() for _, value in each)])
        self.y_values = round_values(float(highest), is_whole=True)


def _draw(name: str, kind: str, width: int, shared: _Shared, most_ticks: int) -> TimelineChartLayout:
    widest = max(
        [len(short(value)) for value in shared.y_values] + [len(member) for member in shared.members] + [2]
    )
    left, right = 16 + round(widest * _CHARACTER), width - 14
    place = _Place(left, right, shared)
    lanes_top = place.bottom + _BELOW + 8
    lanes = tuple(_lanes(shared, place, lanes_top))
    return TimelineChartLayout(
        id=name,
        kind=kind,
        width=width,
        height=lanes_top + _LANE * len(lanes) + 2,
        left=left,
        top=place.top,
        right=right,
        bottom=place.bottom,
        x_ticks=tuple(_x_ticks(shared.last, most_ticks, place)),
        y_ticks=tuple(Tick(place.y(value), short(value)) for value in shared.y_values),
        levels=tuple(_levels(shared, place)),
        depth=_depth(shared.rows, place),
        marks=tuple(_marks(shared.events, place)),
        leads=tuple(dict.fromkeys(place.x(event.at) for event in shared.events)),
        lanes=lanes,
        lanes_bottom=lanes[-1].y if lanes else place.bottom,
    )


class _Place(Plot):
    """Places moments and depths."""

    def __init__(self, left: int, right: int, shared: _Shared) -> None:
        super().__init__(left=left, right=right, top=_TOP, bottom=_TOP + _PLOT, highest=shared.y_values[-1])
        self.last = float(shared.last)

    def x(self, at: Fraction) -> float:
        return self.across(float(at) / self.last)


def _x_ticks(last: Fraction, most: int, place: _Place) -> Iterator[Tick]:
    for size, unit, steps in _UNITS:
        if last / size > _LONGEST_IN_UNIT and size != _UNITS[-1][0]:
            continue
        step = next((step for step in steps if last / size / step <= most), None)
        if step is None:
            step = math.ceil(last / size / most)
        count = int(last / size / step)
        for nth in range(count + 1):
            value = Fraction(step) * nth
            label = f"{value.numerator if value.denominator == 1 else float(value):g}"
            yield Tick(place.x(value * size), f"{label} {unit}")
        return


def _levels(shared: _Shared, place: _Place) -> Iterator[Level]:
    taken: list[float] = []
    for name, values in shared.limits.items():
        y = place.y(values[-1][1])
        label_y = y - 5
        if any(abs(label_y - other) < _CLOSE_Y for other in taken):
            label_y = y + 13
        taken.append(label_y)
        label = f"{name} {grouped(values[-1][1])}"
        yield Level(name.lower(), _stepped(values, place), label, round(label_y, 1))


def _stepped(values: Sequence[tuple[Fraction, int]], place: _Place) -> str:
    changes = [values[0]]
    for at, value in values[1:]:
        if value != changes[-1][1]:
            changes += [(at, changes[-1][1]), (at, value)]
    points = [(place.x(at), place.y(value)) for at, value in changes]
    points.append((float(place.right), points[-1][1]))
    return _points(points)


def _depth(rows: Sequence[CourseRow], place: _Place) -> str:
    """A stepped line; of many steps on one point of the screen, only what can be seen."""
    columns: dict[int, list[tuple[float, float]]] = {}
    before = rows[0].depth
    for row in rows:
        x = place.x(row.at)
        columns.setdefault(int(x), []).extend([(x, place.y(before)), (x, place.y(row.depth))])
        before = row.depth
    points: list[tuple[float, float]] = []
    for column in columns.values():
        ys = [y for _, y in column]
        x = column[-1][0]
        points += [column[0], (x, max(ys)), (x, min(ys)), column[-1]] if len(column) > 4 else column  # noqa: PLR2004
    points.append((float(place.right), place.y(before)))
    return _points(points)


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in dict.fromkeys(points))


def _marks(events: Sequence[Occurrence], place: _Place) -> Iterator[Mark]:
    has_labels = len(events) <= MOST_LABELS
    labelled: list[tuple[float, float]] = []
    for event in events:
        x, y = place.x(event.at), place.y(event.depth)
        above = event.event is not Event.LOW
        label_y = y - 9 if above else y + 18
        is_free = all(abs(x - lx) > _CLOSE_X or abs(label_y - ly) > _CLOSE_Y for lx, ly in labelled)
        label = _SHORT_NAMES[event.event] if has_labels and is_free else ""
        if label:
            labelled.append((x, label_y))
        yield Mark(_KINDS[event.event], x, y, label, round(label_y, 1), event.is_silent, _of_event(event))


def _of_event(event: Occurrence) -> str:
    number = len(event.messages)
    messages = "no message" if not number else f"{number} message{'' if number == 1 else 's'}"
    return f"{event.event.title} at {_when(event.at)}, depth {grouped(event.depth)}, {messages}"


def _when(at: Fraction) -> str:
    return f"{float(at):g} s"


def _lanes(shared: _Shared, place: _Place, top: float) -> Iterator[Lane]:
    for nth, member in enumerate(shared.members):
        yield Lane(
            member, round(top + _LANE * (nth + 0.5), 1), tuple(_lane_marks(shared.events, member, place))
        )


def _lane_marks(events: Sequence[Occurrence], member: str, place: _Place) -> Iterator[LaneMark]:
    for event in events:
        written = next((each for each in event.messages if each.queue_manager == member), None)
        if written is not None:
            yield LaneMark("null" if written.is_null else "message", place.x(event.at))
        elif (member, "not_active") not in event.missing:
            yield LaneMark("none", place.x(event.at))


def _in_words(rows: Sequence[CourseRow], events: Sequence[Occurrence]) -> str:
    depths = [row.depth for row in rows]
    words = f"From {grouped(depths[0])} to {grouped(depths[-1])} messages, at most {grouped(max(depths))}."
    if not events:
        return f"{words} No event."
    shown = "; ".join(_of_event(event) for event in events[:MOST_LABELS])
    more = f"; and {len(events) - MOST_LABELS} more" if len(events) > MOST_LABELS else ""
    return f"{words} {shown}{more}."
