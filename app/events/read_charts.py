"""The depth of a queue at its events, with who wrote a message of each: coordinates for the drawing of depth events.

The depth is known at events only; what is between is a straight line. Where no message has a time, sets stand side by
side in their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.events.simulate_charts import Lane, LaneMark, Level, Mark, TimelineChart, TimelineChartLayout
from app.web.frames import Tick, round_values, short
from app.web.rendering import grouped
from planner_core.depth_events.model import Event
from planner_core.depth_events.sets import EventSet, QueueFacts

MOST_LABELS = 14
"""More events than this are drawn without their names."""
_TOP, _BELOW, _LANE, _PLOT = 22, 34, 15, 190
_WIDE, _NARROW = 860, 358
_CHARACTER = 6.4
_SHOWN_LIMIT = 3
_SHORT_NAMES = {Event.HIGH: "High", Event.LOW: "Low", Event.FULL: "Full"}
_KINDS = {Event.HIGH: "high", Event.LOW: "low", Event.FULL: "full"}
_CLOSE_X, _CLOSE_Y = 34.0, 13.0
_RIGHT_MARGIN, _LABEL_MARGIN = 18, 26
"""Around the first and the last mark; the labels of thresholds stand before the first."""
_STEPS_S = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600,
    2419200,
)  # fmt: skip
_DAY_S, _MINUTE_S = 86400, 60
_MOST_TICKS_WIDE, _MOST_TICKS_NARROW = 9, 4


def chart_of(nth: int, queue: str, sets: Sequence[EventSet], facts: QueueFacts) -> TimelineChart:
    """The chart of one queue, the `nth` of the page."""
    times = _Times(sets)
    depths = [each.reconciliation.depth for each in sets]
    limits = [
        (name, value)
        for name, value in (
            ("MAXDEPTH", facts.maxdepth),
            ("QDEPTHHI", facts.high_depth),
            ("QDEPTHLO", facts.low_depth),
        )
        if value is not None
    ]
    deepest = max([depth for depth in depths if depth is not None] + [1])
    shown = [(name, value) for name, value in limits if value <= deepest * _SHOWN_LIMIT]
    beyond = [f"{name} {grouped(value)}" for name, value in limits if (name, value) not in shown]
    highest = round_values(float(max([deepest, *(value for _, value in shown)])), is_whole=True)

    def drawing(kind: str, width: int, ticks: int) -> TimelineChartLayout:
        return _draw(f"read-{nth}-{kind}", kind, width, ticks, sets, times, shown, highest)

    return TimelineChart(
        title=f"Depth of {queue} at its events",
        description=_in_words(sets),
        beyond=f"Beyond the picture: {', '.join(beyond)}." if beyond else "",
        wide=drawing("wide", _WIDE, _MOST_TICKS_WIDE),
        narrow=drawing("narrow", _NARROW, _MOST_TICKS_NARROW),
    )


class _Times:
    """Where on the axis sets stand: by their times, or one after the other where a time is missing."""

    def __init__(self, sets: Sequence[EventSet]) -> None:
        known = [each.at for each in sets if each.at is not None]
        self.first = known[0] if len(known) == len(sets) else None
        self.is_timed = self.first is not None and known[-1] > known[0]
        if self.is_timed and self.first is not None:
            self.span = (known[-1] - self.first).total_seconds()
            self.places = {each.number: (at - self.first).total_seconds() / self.span for each, at in zip(sets, known, strict=True)}  # fmt: skip
        else:
            self.span = 0.0
            last = max(len(sets) - 1, 1)
            self.places = {each.number: at / last for at, each in enumerate(sets)}

    def ticks(self, sets: Sequence[EventSet], most: int) -> Iterator[tuple[float, str]]:
        """Shares of the axis and their labels."""
        if not self.is_timed or self.first is None:
            every = math.ceil(len(sets) / most)
            yield from ((self.places[each.number], f"set {each.number}") for each in sets[::every])
            return
        step = next((step for step in _STEPS_S if self.span / step <= most), _STEPS_S[-1])
        if self.span / step > most:
            step *= math.ceil(self.span / step / most)
        midnight = datetime(self.first.year, self.first.month, self.first.day, tzinfo=UTC)
        past = (self.first - midnight).total_seconds()
        at = math.ceil(past / step) * step
        while at <= past + self.span:
            when = midnight + timedelta(seconds=at)
            pattern = "%m-%d" if step >= _DAY_S else "%H:%M" if step >= _MINUTE_S else "%H:%M:%S"
            yield (at - past) / self.span, f"{when:{pattern}}"
            at += step


@dataclass(frozen=True, slots=True)
class _Place:
    left: int
    first: float
    right: int
    bottom: int
    highest: float

    def x(self, share: float) -> float:
        return round(self.first + share * (self.right - _RIGHT_MARGIN - self.first), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - value / self.highest * (self.bottom - _TOP), 1)


def _draw(
    name: str,
    kind: str,
    width: int,
    most_ticks: int,
    sets: Sequence[EventSet],
    times: _Times,
    limits: Sequence[tuple[str, int]],
    y_values: Sequence[float],
) -> TimelineChartLayout:
    members = _members(sets)
    widest = max([len(short(value)) for value in y_values] + [len(member) for member in members])
    left, right, bottom = 16 + round(widest * _CHARACTER), width - 14, _TOP + _PLOT
    longest = max((len(f"{name} {grouped(value)}") for name, value in limits), default=0)
    place = _Place(left, left + _LABEL_MARGIN + longest * _CHARACTER, right, bottom, y_values[-1])
    lanes_top = bottom + _BELOW + 8
    lanes = tuple(_lanes(members, sets, times, place, lanes_top))
    points = [
        (place.x(times.places[each.number]), place.y(each.reconciliation.depth))
        for each in sets
        if each.reconciliation.depth is not None
    ]
    return TimelineChartLayout(
        id=name,
        kind=kind,
        width=width,
        height=lanes_top + _LANE * len(lanes) + 2,
        left=left,
        top=_TOP,
        right=right,
        bottom=bottom,
        x_ticks=tuple(Tick(place.x(share), label) for share, label in times.ticks(sets, most_ticks)),
        y_ticks=tuple(Tick(place.y(value), short(value)) for value in y_values),
        levels=tuple(_levels(limits, place)),
        depth=" ".join(f"{x},{y}" for x, y in points),
        marks=tuple(_marks(sets, times, place)),
        leads=tuple(dict.fromkeys(place.x(times.places[each.number]) for each in sets)),
        lanes=lanes,
        lanes_bottom=lanes[-1].y if lanes else bottom,
    )


def _members(sets: Sequence[EventSet]) -> list[str]:
    names = {member.queue_manager for each in sets for member in each.members}
    return sorted(names | {missing.queue_manager for each in sets for missing in each.missing})


def _levels(limits: Sequence[tuple[str, int]], place: _Place) -> Iterator[Level]:
    taken: list[float] = []
    for name, value in limits:
        y = place.y(value)
        label_y = y - 5
        if any(abs(label_y - other) < _CLOSE_Y for other in taken):
            label_y = y + 13
        taken.append(label_y)
        points = f"{place.left},{y} {place.right},{y}"
        yield Level(name.lower(), points, f"{name} {grouped(value)}", round(label_y, 1))


def _marks(sets: Sequence[EventSet], times: _Times, place: _Place) -> Iterator[Mark]:
    has_labels = len(sets) <= MOST_LABELS
    labelled: list[tuple[float, float]] = []
    for each in sets:
        depth = each.reconciliation.depth
        if depth is None:
            continue
        x, y = place.x(times.places[each.number]), place.y(depth)
        label_y = y + 18 if each.event is Event.LOW else y - 9
        is_free = all(abs(x - lx) > _CLOSE_X or abs(label_y - ly) > _CLOSE_Y for lx, ly in labelled)
        label = _SHORT_NAMES[each.event] if has_labels and is_free else ""
        if label:
            labelled.append((x, label_y))
        yield Mark(_KINDS[each.event], x, y, label, round(label_y, 1), False, _of_set(each))


def _lanes(
    members: Sequence[str], sets: Sequence[EventSet], times: _Times, place: _Place, top: float
) -> Iterator[Lane]:
    for nth, member in enumerate(members):
        marks = tuple(
            LaneMark(kind, place.x(times.places[each.number]))
            for each in sets
            if (kind := _written(each, member))
        )
        yield Lane(member, round(top + _LANE * (nth + 0.5), 1), marks)


def _written(each: EventSet, member: str) -> str:
    """A message, a null event, none; empty where nobody expected one."""
    if any(found.queue_manager == member for found in each.members):
        return "null" if member in each.null_events else "message"
    return "none" if any(missing.queue_manager == member for missing in each.missing) else ""


def _of_set(each: EventSet) -> str:
    depth = each.reconciliation.depth
    told = "depth not known" if depth is None else f"depth {grouped(depth)}"
    number = len(each.members)
    return f"Set {each.number}, {each.event.title}, {told}, {number} message{'' if number == 1 else 's'}"


def _in_words(sets: Sequence[EventSet]) -> str:
    shown = "; ".join(_of_set(each) for each in sets[:MOST_LABELS])
    more = f"; and {len(sets) - MOST_LABELS} more" if len(sets) > MOST_LABELS else ""
    return f"{shown}{more}."
