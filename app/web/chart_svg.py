"""Charts as SVG, for wide and narrow pages, without a script and on paper.

A chart is drawn twice, because letters of 11 pixels would shrink to 5 if one layout were scaled down to a phone screen.
Each label is placed where it covers no other label, line or sign, if such a place exists.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape

from app.web.axes import Axis, Duration, Linear, Listed, Log, Tick, Time, Value, position
from app.web.charts import LABEL_ONLY, Bar, BarChart, Chart, Level, Line, Mark, Spot, runs
from planner_core.wire import JsonObject

NARROW = 358
"""The width of a page of 390 pixels without its margins."""
_HIGHEST_NARROW = 230
_CHARACTER, _CAPITAL, _STRONG = 6.2, 7.6, 1.12
_TICK_CHARACTER, _NAME_CHARACTER = 6.2, 7.2
_ABOVE, _BELOW = 11.0, 3.0
"""Height of letters above and below the baseline."""
_SIGN, _BUBBLE, _BUBBLE_STEP = 8.0, 9.0, 19
_LABEL_STEP, _COLUMN = 12, 24
LABEL_BESIDE_STEP = 14
"""Least distance of labels outside the plot, where one is directly below the other: 3 pixels between letters of 11."""
_BESIDE = 2
"""Number of places for a label next to the end of a line."""
_ON_A_LEVEL, _ON_A_LABEL, _OUTSIDE = 10**3, 10**6, 10**8
"""Cost of a place for a label that covers a level or another label, or leaves the frame; a covered line costs 1."""
_LANE, _LANE_SPACE = 16, 8
_PANEL_SPACE = 46
_TOP, _TICKS, _TITLE = 18, 24, 15
_MOST_X_TICKS, _PX_PER_TICK, _PX_PER_Y_TICK = 10, 70, 20
_MOST_MARK_LINES = 40
"""Maximum number of marks with signs that are drawn with lines."""
_PIECE = 6.0
_INVISIBLE = 0.05
"""Height by which a line may miss a point [px]: as much as the rounding of its coordinates to one decimal.

`static/js/pictures.js` reads values at the pointer from the line: on an axis of 4 decades and 256 px, both together are 0.4 %.
"""
_ROW, _BAR, _BAR_NAME = 46, 18, 16
_SHORTEST_SHARE = 0.15
"""The least length of an enlarged bar, as a share of the longest bar: parts of a tenth of it are some pixels wide."""
_ROW_BESIDE, _BAR_BESIDE = 22, 16
_SHORT_MARK, _LONG_MARK = 1, 3
_SIGNS: Mapping[str, str] = {
    "up": "M{x:g} {y:g}m0 -6l6 10h-12z",
    "down": "M{x:g} {y:g}m0 6l6 -10h-12z",
    "square": "M{x:g} {y:g}m-5 -5h10v10h-10z",
    "flag": "M{x:g} {y:g}m-4 0h8l-4 8z",
    "cross": "M{x:g} {y:g}m-3.5 -3.5l7 7m0 -7l-7 7",
}
_CENTERED = ("up", "down", "square")
"""Signs whose labels are above or below them."""
_RADII: Mapping[str, float] = {"dot": 3, "small": 4, "ring": 4, "large": 5.5, "bubble": _BUBBLE}

_NO_PLOTS = Markup("")
_NEW_LINE, _END_OF_GROUP = Markup("\n"), Markup("</g>")

Place = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom edge."""


@dataclass(frozen=True, slots=True)
class Shape:
    """An element of an SVG."""

    tag: str
    attributes: Mapping[str, str | float]
    text: str = ""
    title: str = ""

    @property
    def anchor(self) -> str | float:
        """The part of its text that is at its place: `middle` or `end`, or empty for the beginning."""
        return self.attributes.get("text-anchor", "")

    @property
    def markup(self) -> Markup:
        """The element as markup, with all texts escaped, and without its anchor: the group around it states that."""
        # Not the filter `xmlattr`: a chart has a thousand shapes, and it checks the name of each attribute again.
        named = "".join(
            [
                f' {name}="{escape(value) if isinstance(value, str) else value}"'
                for name, value in self.attributes.items()
                if name != "text-anchor"
            ]
        )
        if not self.title and not self.text:
            return Markup(f"<{self.tag}{named}/>")  # noqa: S704 - escaped above
        title = f"<title>{escape(self.title)}</title>" if self.title else ""
        return Markup(f"<{self.tag}{named}>{title}{escape(self.text)}</{self.tag}>")  # noqa: S704 - escaped above


@dataclass(frozen=True, slots=True)
class ChartLayout:
    """A chart laid out for one page width."""

    id: str
    kind: str
    width: int
    height: int
    title: str
    description: str
    shapes: tuple[Shape, ...]
    plots: Markup = _NO_PLOTS
    """The axes of each plot, from which a script reads values at the pointer: JSON for an attribute in single quotes.

    It is empty without axes.
    """

    @property
    def markup(self) -> Markup:
        """The shapes as markup. Successive labels with the same anchor are in a group that states it once."""
        parts: list[Markup] = []
        for anchor, found in groupby(self.shapes, key=lambda shape: shape.anchor):
            shapes = [shape.markup for shape in found]
            if anchor:
                shapes = [Markup('<g text-anchor="{}">').format(anchor), *shapes, _END_OF_GROUP]
            parts += shapes
        return _NEW_LINE.join(parts)


def layouts(chart: Chart | BarChart) -> tuple[ChartLayout, ChartLayout]:
    """Return the chart for wide and for narrow pages."""
    if isinstance(chart, BarChart):
        return _draw_bars(chart, "wide", chart.width), _draw_bars(chart, "narrow", NARROW)
    return _draw(chart, "wide", chart.width), _draw(chart, "narrow", NARROW)


# ---- plots -----------------------------------------------------------------------------------------------------------


def _draw(chart: Chart, kind: str, width: int) -> ChartLayout:
    panels = [chart, *([chart.below] if chart.below else [])]
    is_narrow = kind == "narrow"
    sheet = Sheet(width, is_narrow=is_narrow)
    left, right = _sides(panels, width, is_narrow=is_narrow)
    rows = _bubble_rows(chart, left, right)
    y = float(_TOP + (max(rows, default=-1) + 1) * _BUBBLE_STEP)
    plots = []
    for panel in panels:
        plot = _Plot(panel, sheet, left, right, y, y + _height(panel, is_narrow=is_narrow))
        plots.append(plot)
        y = plot.lanes_bottom + _PANEL_SPACE
    foot = plots[-1].lanes_bottom
    ticks = plots[0].x_ticks()
    for plot in plots:
        # SVG paints in the order of its elements, so areas and grids of all plots come before lines.
        plot.areas()
        plot.grid(ticks)
    for plot in plots:
        plot.lines_and_signs(rows if plot is plots[0] else [])
    for plot in plots:
        # Labels come last, when all lines and signs that they must not cover are known.
        plot.labels()
    _x_labels(sheet, ticks, plots[0], foot, chart.x_axis)
    height = foot + _TICKS + (_TITLE if chart.x_axis.title else 0)
    found = sheet.layout(chart.id, math.ceil(height), chart.title, chart.description)
    scales = [scale for plot in plots if (scale := plot.scale())]
    return replace(found, plots=htmlsafe_json_dumps(scales, separators=(",", ":"))) if scales else found


def _sides(panels: Sequence[Chart], width: int, *, is_narrow: bool) -> tuple[float, float]:
    """Return the left and right edges of the plots, with room for the labels outside them."""
    names = [tick.label for panel in panels for tick in panel.y_axis.ticks(_y_ticks(panel))]
    names += [lane.name for panel in panels for lane in panel.lanes] + [
        panel.y_axis.title for panel in panels[:1]
    ]
    beside = [
        _label(level, is_narrow=is_narrow)
        for panel in panels
        if panel.are_levels_beside
        for level in panel.levels
    ]
    beside += [line.label for panel in panels for line in panel.lines if line.is_label_beside]
    left = 14 + round(max(map(len, names), default=0) * _TICK_CHARACTER)
    room = max(map(text_width, beside), default=0)
    return left, width - (round(room) + 14 if beside else 12)


def _label(item: Spot | Level, *, is_narrow: bool) -> str:
    """Return the label for this width of the page."""
    return item.short if is_narrow and item.short else item.label


def _height(panel: Chart, *, is_narrow: bool) -> int:
    return min(panel.height, _HIGHEST_NARROW) if is_narrow else panel.height


def _y_ticks(panel: Chart) -> int:
    return max(panel.height // _PX_PER_Y_TICK, 3)


def _bubble_rows(chart: Chart, left: float, right: float) -> list[int]:
    """Return the row of each numbered mark above the plot, chosen so that no mark covers another."""
    ends: list[float] = []
    found = []
    for mark in chart.marks:
        if mark.sign != "bubble":
            continue
        x = left + chart.x_axis.share(mark.at) * (right - left)
        row = next((row for row, end in enumerate(ends) if x - end >= 2 * _BUBBLE + 1), len(ends))
        ends[row:] = [x, *ends[row + 1 :]]
        found.append(row)
    return found


def _x_labels(sheet: Sheet, ticks: Sequence[Tick], plot: _Plot, foot: float, axis: Axis) -> None:
    for tick in ticks:
        half = len(tick.label) * _TICK_CHARACTER / 2
        # The first and the last label would otherwise be cut off at the edge of the chart.
        x = min(max(plot.x(tick.value), half), sheet.width - half)
        sheet.text(x, foot + 16, tick.label, anchor="middle")
    if axis.title:
        sheet.text(plot.right, foot + 31, axis.title, anchor="end")


class Sheet:
    """The shapes of a chart, and the places they occupy."""

    def __init__(self, width: int, *, is_narrow: bool) -> None:
        self.width, self.is_narrow = width, is_narrow
        self.shapes: list[Shape] = []
        self.taken: list[Box] = []
        self.ruled: list[Box] = []
        self.labelled: list[Box] = []

    def layout(self, chart_id: str, height: int, title: str, description: str) -> ChartLayout:
        """Return the drawing with the size and the texts of its chart."""
        kind = "narrow" if self.is_narrow else "wide"
        return ChartLayout(
            f"{chart_id}-{kind}", kind, self.width, height, title, description, tuple(self.shapes)
        )

    def add(
        self, tag: str, style: str = "", *, text: str = "", title: str = "", **attributes: str | float
    ) -> None:
        """Draw an element; underscores in the names of attributes become hyphens."""
        named = {name.replace("_", "-"): _number(value) for name, value in attributes.items() if value != ""}
        self.shapes.append(Shape(tag, {**({"class": style} if style else {}), **named}, text, title))

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "") -> None:
        """Draw a text, unless it is empty."""
        if text:
            self.add("text", style, text=text, x=x, y=y, text_anchor=anchor)

    def line(self, style: str, x1: float, y1: float, x2: float, y2: float, *, title: str = "") -> None:
        """Draw a straight line."""
        self.add("line", style, title=title, x1=x1, x2=x2, y1=y1, y2=y2)

    def grid(self, lines: Iterable[Box]) -> None:
        """Draw straight lines, each from a point to another, as one element: a chart has many of them."""
        ends = [[_number(place) for place in line] for line in lines]
        if ends:
            self.add("path", "grid", d="".join(f"M{x1} {y1}L{x2} {y2}" for x1, y1, x2, y2 in ends))

    def sign(self, sign: str, style: str, x: float, y: float, *, title: str = "") -> None:
        """Draw a sign, or nothing if `sign` is empty."""
        if sign in _RADII:
            self.add("circle", style, title=title, cx=x, cy=y, r=_RADII[sign])
        elif sign:
            self.add("path", style, title=title, d=_SIGNS[sign].format(x=round(x, 1), y=round(y, 1)))

    def take_line(self, points: Sequence[Place]) -> None:
        """Record a line that labels must not cover."""
        for (x1, y1), (x2, y2) in pairwise(_spaced(points)):
            # One box around a slanted line would keep labels out of its whole rectangle.
            pieces = max(int(min(abs(x2 - x1), abs(y2 - y1)) / _PIECE), 1)
            for piece in range(pieces):
                a, b = piece / pieces, (piece + 1) / pieces
                xs = sorted((x1 + (x2 - x1) * a, x1 + (x2 - x1) * b))
                ys = sorted((y1 + (y2 - y1) * a, y1 + (y2 - y1) * b))
                self.taken.append((xs[0] - 1, ys[0] - 1, xs[1] + 1, ys[1] + 1))

    def label(
        self,
        text: str,
        places: Iterable[Place],
        frame: Box,
        *,
        style: str = "halo",
        is_optional: bool = False,
    ) -> None:
        """Add a label at the first free place, or where it covers least; a place is a left end and a base line."""
        if not text:
            return
        width = text_width(text) * (_STRONG if "strong" in style else 1)
        tried = []
        for nth, (x, y) in enumerate(places):
            tried.append((self.cost(x, y, width, frame), nth, (x, y)))
            if not tried[-1][0]:
                break
        cost, _, best = min(tried)
        if cost >= _ON_A_LABEL and is_optional:
            return
        if cost >= _ON_A_LABEL:  # if no preferred place is free, use the nearest free one in the plot
            cost, _, best = min([(cost, 0.0, best), *self.anywhere(best, width, frame)])
        x = min(max(best[0], 0.0), max(self.width - width, 0.0))
        self.labelled.append((x, best[1] - _ABOVE, x + width, best[1] + _BELOW))
        self.text(x, best[1], text, style)

    def cost(self, x: float, y: float, width: float, frame: Box) -> int:
        """Return the cost of the marks that a label in this position would cover."""
        box = (x, y - _ABOVE, x + width, y + _BELOW)
        is_outside = box[0] < frame[0] - 1 or box[1] < frame[1] or box[2] > frame[2] + 1 or box[3] > frame[3]
        on_labels = sum(_touch(box, other) for other in self.labelled)
        on_lines = sum(_touch(box, other) for other in self.taken)
        on_levels = sum(_touch(box, other) for other in self.ruled)
        return on_lines + _ON_A_LEVEL * on_levels + _ON_A_LABEL * on_labels + _OUTSIDE * is_outside

    def on_labels(self, place: Place, text: str, frame: Box) -> bool:
        """Return whether a label in this position would cover another or leave the frame."""
        return self.cost(*place, text_width(text) * _STRONG, frame) >= _ON_A_LABEL

    def anywhere(self, wanted: Place, width: float, frame: Box) -> Iterator[tuple[int, float, Place]]:
        """Yield places across the whole frame, with their cost and their distance from the preferred place."""
        for row in range(int((frame[3] - frame[1]) // _LABEL_STEP)):
            y = frame[1] + _ABOVE + 1 + row * _LABEL_STEP
            for column in range(int((frame[2] - frame[0] - width) // _COLUMN) + 1):
                x = frame[0] + column * _COLUMN
                yield self.cost(x, y, width, frame), math.hypot(x - wanted[0], y - wanted[1]), (x, y)


def _number(value: str | float) -> str | float:
    if isinstance(value, str):
        return value
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def text_width(text: str) -> float:
    """Return an upper estimate of the width of a label, to keep labels apart."""
    return sum(_CAPITAL if character.isupper() else _CHARACTER for character in text)


def _touch(box: Box, other: Box) -> int:
    return int(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3])


class _Plot:
    """One plot of a chart: it positions values, draws lines and signs, then labels."""

    def __init__(
        self, chart: Chart, sheet: Sheet, left: float, right: float, top: float, bottom: float
    ) -> None:
        self.chart, self.sheet = chart, sheet
        self.left, self.right, self.top, self.bottom = left, right, top, bottom
        rows = len(chart.lanes)
        self.lanes_bottom = bottom + (rows * _LANE + _LANE_SPACE if rows else 0)
        self.drawn: list[tuple[Line, list[Place]]] = []
        self._share_x, self._share_y = chart.x_axis.shares(), chart.y_axis.shares()

    # ---- places

    def x(self, value: Value) -> float:
        return self.left + self._share_x(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - self._share_y(value) * (self.bottom - self.top)

    def within(self, x: float, y: float) -> Place:
        """Return the place in the plot that is nearest to a point."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)

    def x_ticks(self) -> Sequence[Tick]:
        """Return as many ticks as have room for their labels."""
        most = max(min(_MOST_X_TICKS, int((self.right - self.left) // _PX_PER_TICK)), 2)
        for number in range(most, 2, -1):
            ticks = self.chart.x_axis.ticks(number)
            if all(
                self.x(after.value) - self.x(before.value)
                >= (len(before.label) + len(after.label)) / 2 * _TICK_CHARACTER + 6
                for before, after in pairwise(ticks)
            ):
                return ticks
        return self.chart.x_axis.ticks(2)

    def scale(self) -> JsonObject | None:
        """Return the edges and the axes of the plot; None if its x axis lists names."""
        if isinstance(self.chart.x_axis, Listed):
            return None
        edges = (self.left, self.top, self.right, self.bottom)
        return {
            "edges": [round(edge, 1) for edge in edges],
            "x": _scale(self.chart.x_axis),
            "y": _scale(self.chart.y_axis),
        }

    # ---- what is drawn

    def areas(self) -> None:
        for band in self.chart.bands:
            xs = [self.x(x) for x, _, _ in band.points]
            upper = [self.within(x, self.y(high)) for x, (_, _, high) in zip(xs, band.points, strict=True)]
            lower = [self.within(x, self.y(low)) for x, (_, low, _) in zip(xs, band.points, strict=True)]
            edges = [*_straightened(_thinned(upper)), *reversed(_straightened(_thinned(lower)))]
            self.sheet.add("polygon", band.style, points=_text_of(edges))

    def grid(self, x_ticks: Sequence[Tick]) -> None:
        y_ticks = self.chart.y_axis.ticks(_y_ticks(self.chart))
        ys = [self.y(position(tick.value)) for tick in y_ticks]
        across = [(self.left, y, self.right, y) for y in ys]
        xs = [self.x(tick.value) for tick in x_ticks]
        self.sheet.grid([*across, *((x, self.top, x, self.lanes_bottom) for x in xs)])
        for tick, y in zip(y_ticks, ys, strict=True):
            self.sheet.text(self.left - 6, y + 4, tick.label, anchor="end")
        self.sheet.line("axis", self.left, self.bottom, self.right, self.bottom)

    def lines_and_signs(self, rows: Sequence[int]) -> None:
        self.marks(rows)
        for level in self.chart.levels:
            self.level(level)
        for line in self.chart.lines:
            self.line(line)
        for spot in self.chart.points:
            self.spot(spot)
        for nth, lane in enumerate(self.chart.lanes):
            self.lane(lane.name, nth)
            for each in lane.spots:
                self.sheet.sign(each.sign, each.style, self.x(each.at), self.lane_y(nth), title=each.title)

    def marks(self, rows: Sequence[int]) -> None:
        signed = [mark for mark in self.chart.marks if mark.sign]
        waiting = list(rows)
        for mark in self.chart.marks:
            x = self.x(mark.at)
            if mark.sign == "bubble":
                top = self.top - 16 - waiting.pop(0) * _BUBBLE_STEP
                self.sheet.line(
                    mark.style, x, top, x, self.y(mark.down_to) if mark.down_to is not None else self.bottom
                )
                self.sheet.sign("bubble", mark.sign_style, x, top, title=mark.title)
                self.sheet.text(x, top + 4, mark.label, "bubble-text", "middle")
                foot = self.y(mark.down_to) if mark.down_to is not None else self.bottom
                self.sheet.take_line([(x, top), (x, foot)])
                self.sheet.labelled.append((x - _BUBBLE, top - _BUBBLE, x + _BUBBLE, top + _BUBBLE))
                continue
            bottom = self.lanes_bottom if self.chart.lanes and not mark.sign else self.bottom
            if not mark.sign or len(signed) <= _MOST_MARK_LINES:
                self.sheet.line(
                    mark.style, x, self.top - (6 if mark.label and not mark.is_label_low else 0), x, bottom
                )
                if mark.label or mark.sign:
                    self.sheet.take_line([(x, self.top), (x, self.bottom)])
            self.sheet.sign(mark.sign, mark.sign_style, x, self.top - 9, title=mark.title)

    def level(self, level: Level) -> None:
        y, end = self.y(level.value), self.right if level.end is None else self.x(level.end)
        begin = self.left if level.begin is None else self.x(level.begin)
        if level.style == LABEL_ONLY:
            return
        self.sheet.line(level.style, begin, y, end, y)
        self.sheet.ruled.append((begin, y - 1, end, y + 1))
        if level.likely:
            first, last = (self.within(self.x(at), y) for at in level.likely)
            self.sheet.line("likely", *first, *last)

    def line(self, line: Line) -> None:
        for run in runs(line.points):
            places = [(self.x(x), self.y(y)) for x, y in run]
            if len(places) == 1:
                self.sheet.sign("dot", "point", *self.within(*places[0]))
                self.drawn.append((line, [self.within(*places[0])]))
                continue
            if line.is_stepped:
                places = _stepped(places)
            for piece in _clipped(places, (self.left, self.top, self.right, self.bottom)):
                thin = _thinned(piece)
                drawn = _text_of(_straightened(thin))
                self.sheet.add("polyline", line.style, points=drawn, data_name=line.name or line.label)
                if line.style != "context":  # a label may be on a faint line
                    self.sheet.take_line(thin)
                self.drawn.append((line, thin))

    def spot(self, spot: Spot) -> None:
        x, y = self.within(self.x(spot.x), self.y(spot.y))
        if spot.is_led:
            self.sheet.line("lead", x, y, x, self.bottom)
            self.sheet.take_line([(x, y), (x, self.bottom)])
        self.sheet.sign(spot.sign, spot.style, x, y, title=spot.title)
        if spot.sign == "bubble":
            self.sheet.text(x, y + 4, spot.label, "bubble-text", "middle")
        if spot.sign in ("dot", "small") and not spot.label:
            return
        half = _BUBBLE if spot.sign == "bubble" else _SIGN - 2
        self.sheet.taken.append((x - half, y - half, x + half, y + half))

    def lane_y(self, nth: int) -> float:
        return self.bottom + _LANE_SPACE + _LANE * (nth + 0.5)

    def lane(self, name: str, nth: int) -> None:
        y = self.lane_y(nth)
        self.sheet.line("lane", self.left, y, self.right, y)
        self.sheet.text(self.left - 6, y + 4, name, anchor="end")

    # ---- labels

    def labels(self) -> None:
        # There is room for a label above the plot, unless numbered marks are there.
        has_bubbles = any(mark.sign == "bubble" for mark in self.chart.marks)
        top = self.top - 2 if has_bubbles else self.top - _TOP - 4
        frame = (self.left, top, self.right, self.bottom)
        if self.chart.y_axis.title:
            if self.sheet.is_narrow or self.top > _TOP:
                self.sheet.text(self.left, self.top - 8, self.chart.y_axis.title, "name")
            else:
                self.sheet.text(self.left - 6, self.top - 9, self.chart.y_axis.title, anchor="end")
        self.level_labels([level for level in self.chart.levels if level.end is None], frame)
        for spot in self.chart.points:
            if spot.label and spot.sign != "bubble":
                text = _label(spot, is_narrow=self.sheet.is_narrow)
                box = (0.0, -4.0, float(self.sheet.width), self.bottom)
                places = self.spot_places(spot)
                if spot.sign in _CENTERED:  # in any other place, the label would be farther from its sign
                    places = iter([min(places, key=lambda place: self.sheet.on_labels(place, text, box))])
                self.sheet.label(text, places, box, style="strong halo", is_optional=spot.is_label_optional)
        self.level_labels([level for level in self.chart.levels if level.end is not None], frame)
        for mark in self.chart.marks:
            if mark.label and mark.sign != "bubble":
                self.sheet.label(mark.label, self.mark_places(mark), (self.left, 0, self.right, self.bottom))
        for line in sorted(
            {id(each): each for each, _ in self.drawn}.values(), key=lambda each: each.is_label_optional
        ):
            if line.label:
                style = "halo strong" if line.style == "curve" and not line.is_stepped else "halo"
                box = (self.left, top, self.sheet.width if line.is_label_beside else self.right, self.bottom)
                places = self.line_places(line)
                if line.is_label_beside:  # elsewhere, the label would seem to belong to another line
                    places = islice(places, _BESIDE)
                self.sheet.label(line.label, places, box, style=style, is_optional=line.is_label_optional)

    def spot_places(self, spot: Spot) -> Iterator[Place]:
        """Yield places next to the spot, the side with more room first, or centered above and below a sign."""
        x, y = self.within(self.x(spot.x), self.y(spot.y))
        width = text_width(_label(spot, is_narrow=self.sheet.is_narrow)) * _STRONG
        if spot.sign in ("up", "square"):
            yield x - width / 2, y - 9
            yield x - width / 2, y + 18
            return
        if spot.sign == "down":
            yield x - width / 2, y + 18
            yield x - width / 2, y - 9
            return
        sides = [min(x + 12, self.right - width), max(x - 12 - width, self.left)]
        if x > (self.left + self.right) / 2:
            sides.reverse()
        for dy in (18, 34, 50, -10, -26, 26, 66):
            for side in sides:
                yield side, y + dy

    def level_labels(self, levels: Sequence[Level], frame: Box) -> None:
        """Label levels at the line inside the plot, or outside to the right, each label below the previous one."""
        if self.chart.are_levels_beside:
            ordered = sorted((level for level in levels if level.label), key=lambda each: -each.value)
            ys = stacked([self.y(level.value) + 4 for level in ordered], LABEL_BESIDE_STEP, self.bottom)
            for level, y in zip(ordered, ys, strict=True):
                self.sheet.text(self.right + 6, y, _label(level, is_narrow=self.sheet.is_narrow))
            return
        for level in sorted(levels, key=lambda each: -each.value):
            text, y = _label(level, is_narrow=self.sheet.is_narrow), self.y(level.value)
            width, left = text_width(text), self.left + 6
            at_right = self.right - width - 2
            xs = [left, at_right]
            if level.end is not None:
                xs = [left, self.x(level.end) + 8, at_right]
            middle = [self.left + (self.right - self.left) * share for share in (0.25, 0.5, 0.65)]
            self.sheet.label(text, [(x, y + dy) for x in [*xs, *middle] for dy in (-4, 13)], frame)

    def mark_places(self, mark: Mark) -> Iterator[Place]:
        x, width = self.x(mark.at), text_width(mark.label)
        sides = [x + 5, x - 5 - width]
        if mark.is_label_low:
            for row in range(8):
                for side in sides:
                    yield side, self.bottom - 8 - 15 * row
            return
        if x > (self.left + self.right) / 2:
            sides.reverse()
        for dy in (-2, 11, 24):
            for side in sides:
                yield side, self.top + dy

    def line_places(self, line: Line) -> Iterator[Place]:
        """Yield places next to the line's end outside the plot, or along the line from its end, above and below it."""
        points = max((points for each, points in self.drawn if each is line), key=lambda run: run[-1][0])
        width = text_width(line.label) * _STRONG
        end_x, end_y = points[-1]
        if line.is_label_beside:
            yield (end_x + 5, end_y + 4) if end_x >= self.right - 1 else (end_x + 5, end_y + 11)
            yield end_x + 5, end_y + 18
        if line.is_stepped:
            has_signs = any(mark.sign for mark in self.chart.marks)
            for x, y in (points[0], points[len(points) // 2], (end_x - width - 8, end_y)):
                for dy in (13, -5) if has_signs else (-5, 13):
                    yield x + 6, y + dy
        for share in (1.0, 0.8, 0.6, 0.4, 0.2):
            x, y = points[round((len(points) - 1) * share)]
            for dy in (-8, 16, -22, 30):
                yield x - width - 4, y + dy
                yield x + 8, y + dy


_KINDS: Mapping[type[Axis], str] = {Log: "log", Time: "time", Duration: "duration"}


def _scale(axis: Axis) -> list[str | float]:
    """Return the kind of an axis, its ends (moments in seconds) and its unit."""
    unit = axis.suffix if isinstance(axis, Linear) and axis.suffix else axis.title
    return [_KINDS.get(type(axis), "linear"), position(axis.first), position(axis.last), unit.strip()]


def stacked(places: Sequence[float], step: float, last: float) -> list[float]:
    """Return places in rising order, moved so that they are a step apart and none is beyond the last."""
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + step) if found else place)
    # A label pushed out of the plot would be next to another chart: it moves up and pushes those above it.
    for nth in range(len(found) - 1, -1, -1):
        found[nth] = min(found[nth], last - step * (len(found) - 1 - nth))
    return found


def _text_of(points: Sequence[Place]) -> str:
    return " ".join([f"{x:.1f},{y:.1f}" for x, y in points]).replace(".0", "")


def _stepped(points: Sequence[Place]) -> list[Place]:
    found = [points[0]]
    for (_, y), (next_x, next_y) in pairwise(points):
        if y != next_y:
            found += [(next_x, y), (next_x, next_y)]
    return [*found, points[-1]] if points[-1] != found[-1] else found


def _spaced(points: Sequence[Place]) -> Iterator[Place]:
    """Yield the points of a line that are at least a piece apart, and its last point.

    A curve has a point for each pixel; with a box for each of them, placing labels took most of the time of a page.
    """
    last: Place | None = None
    for x, y in points[:-1]:
        if last is None or abs(x - last[0]) >= _PIECE or abs(y - last[1]) >= _PIECE:
            last = (x, y)
            yield last
    yield points[-1]


def _thinned(points: Sequence[Place]) -> list[Place]:
    """Return only visible points: of all points on one pixel's width, the first, the extremes beyond it, and the last.

    If their heights also differ by less than a pixel, only the last is returned.
    """
    columns: dict[int, list[Place]] = defaultdict(list)
    for point in points:
        columns[int(point[0])].append(point)
    found: list[Place] = []
    for column in columns.values():
        if len(column) > 1:
            first, last, ys = column[0], column[-1], [y for _, y in column]
            low, high = min(ys), max(ys)
            if high - low < 1:
                # The very first point stays: the line begins there, and its label may be placed by it.
                column = [last] if found else [first, last]
            else:
                ends = (first[1], last[1])
                column = [first, *((last[0], y) for y in (high, low) if y not in ends), last]
        found += column
    return found


def _straightened(points: Sequence[Place]) -> list[Place]:
    """Return a line without the points that a straight line between others passes within `_INVISIBLE` pixels.

    Each part is extended to the last point for which the straight line from its beginning stays close enough to all points
    between them: the slopes allowed by each point narrow a cone. This takes one pass over the points.
    """
    if not points:
        return []
    found = [points[0]]
    (from_x, from_y), least, most = points[0], -math.inf, math.inf
    for previous, (x, y) in pairwise(points):
        if not least * (x - from_x) <= y - from_y <= most * (x - from_x):
            if previous != found[-1]:
                found.append(previous)
            (from_x, from_y), least, most = previous, -math.inf, math.inf
        if x > from_x:
            least = max(least, (y - from_y - _INVISIBLE) / (x - from_x))
            most = min(most, (y - from_y + _INVISIBLE) / (x - from_x))
        else:
            # The end of a vertical part stays: no slope leads from here to a later point.
            least, most = math.inf, -math.inf
    return [*found, points[-1]] if len(points) > 1 else found


def _clipped(points: Sequence[Place], frame: Box) -> Iterator[list[Place]]:
    """Yield the parts of a line inside a frame."""
    left, top, right, bottom = frame
    # The tolerance prevents cuts in lines along the frame, whose coordinates have rounding errors.
    if all(left - 0.05 <= x <= right + 0.05 and top - 0.05 <= y <= bottom + 0.05 for x, y in points):
        yield list(points)
        return
    piece: list[Place] = []
    for start, end in pairwise(points):
        inside = _segment(start, end, frame)
        if inside is None:
            if piece:
                yield piece
            piece = []
            continue
        if piece and piece[-1] != inside[0]:
            yield piece
            piece = []
        piece = [*piece, inside[1]] if piece else [*inside]
        if inside[1] != end:
            yield piece
            piece = []
    if piece:
        yield piece


def _segment(start: Place, end: Place, frame: Box) -> tuple[Place, Place] | None:
    """Return the part of a straight line inside a frame, or None."""
    (x1, y1), (x2, y2) = start, end
    first, last = 0.0, 1.0
    for delta, room in (
        (x1 - x2, x1 - frame[0]), (x2 - x1, frame[2] - x1), (y1 - y2, y1 - frame[1]), (y2 - y1, frame[3] - y1),
    ):  # fmt: skip
        if not delta:
            if room < 0:
                return None
            continue
        if delta < 0:
            first = max(first, room / delta)
        else:
            last = min(last, room / delta)
    if first >= last:
        return None

    def at(share: float) -> Place:
        return (x1 + share * (x2 - x1), y1 + share * (y2 - y1))

    return (start if first == 0 else at(first)), (end if last == 1 else at(last))


# ---- bars ------------------------------------------------------------------------------------------------------------


def _draw_bars(chart: BarChart, kind: str, width: int) -> ChartLayout:
    sheet = Sheet(width, is_narrow=kind == "narrow")
    longest = max((bar.extent for bar in chart.bars), default=1) or 1
    if chart.is_beside:
        left = round(max((text_width(bar.name) for bar in chart.bars if not bar.is_heading), default=0)) + 10
        right = width - round(max((len(bar.text) for bar in chart.bars), default=0) * _TICK_CHARACTER) - 8
        height = _bar_axis(
            sheet, chart, left, 4, 12 + len(chart.bars) * _ROW_BESIDE, (right - left) / longest
        )
        for nth, bar in enumerate(chart.bars):
            _bar_beside(sheet, bar, left, 8 + nth * _ROW_BESIDE, (right - left) / longest)
        return sheet.layout(chart.id, height, chart.title, chart.description)
    bottom, scale = 4 + _ROW * len(chart.bars), (width - 2) / longest
    height = _bar_axis(sheet, chart, 1, 4, bottom, scale)
    for nth, bar in enumerate(chart.bars):
        factor = _enlargement(bar.extent / longest) if chart.enlarges_short else 1
        drawn = bar if factor == 1 else _stating_enlargement(bar)
        _bar_below(sheet, drawn, 4 + nth * _ROW, scale * factor, text_style="halo" if chart.x_axis else "")
    return sheet.layout(chart.id, height, chart.title, chart.description)


def _bar_axis(sheet: Sheet, chart: BarChart, left: int, top: int, bottom: int, scale: float) -> int:
    """Draw the axis below bars, if they have one, and return the height of the chart."""
    if chart.x_axis is None:
        return bottom if not chart.is_beside else bottom + 4
    for tick in chart.x_axis.ticks(min(_MOST_X_TICKS, round(sheet.width - left) // _PX_PER_TICK)):
        x = left + position(tick.value) * scale
        half = len(tick.label) * _TICK_CHARACTER / 2
        sheet.line("grid", x, top, x, bottom)
        sheet.text(min(max(x, half), sheet.width - half), bottom + 16, tick.label, anchor="middle")
    sheet.text(sheet.width, bottom + 31, chart.x_axis.title, anchor="end")
    return bottom + _TICKS + _TITLE


def _enlargement(share: float) -> float:
    """Return the factor by which a bar is enlarged that has this share of the longest one."""
    return _SHORTEST_SHARE / share if 0 < share < _SHORTEST_SHARE else 1


def _stating_enlargement(bar: Bar) -> Bar:
    def enlarged(text: str) -> str:
        return f"{text} (bar enlarged)" if text else ""

    return replace(bar, text=enlarged(bar.text), warning=enlarged(bar.warning), short=enlarged(bar.short))


def _bar_beside(sheet: Sheet, bar: Bar, left: float, y: float, scale: float) -> None:
    if bar.is_heading:
        sheet.text(0, y + _BAR_BESIDE - 4, bar.name, "strong")
        return
    sheet.text(left - 8, y + _BAR_BESIDE - 4, bar.name, anchor="end")
    end = _parts(sheet, bar, left, y, _BAR_BESIDE, scale)
    _marks(sheet, bar, left, y, _BAR_BESIDE, scale)
    # A mark beyond the parts would cross the text.
    end = max(end, *(left + mark.at * scale for mark in bar.marks)) if bar.marks else end
    sheet.text(end + 6, y + _BAR_BESIDE - 4, bar.text, "halo" if bar.marks else "")


def _bar_below(sheet: Sheet, bar: Bar, top: float, scale: float, *, text_style: str) -> None:
    y = top + _BAR_NAME
    sheet.text(0, top + 11, bar.name, f"name {text_style}".rstrip())
    begin = len(bar.name) * _NAME_CHARACTER + 8
    has_room = begin + len(bar.text) * _TICK_CHARACTER <= sheet.width
    sheet.text(begin, top + 11, bar.text if has_room else bar.warning or bar.short, text_style)
    width = (bar.extent if bar.whole is None else bar.whole) * scale
    sheet.add(
        "rect", f"storage{'' if bar.whole is not None else ' unknown'}", x=1, y=y, width=width, height=_BAR
    )
    _parts(sheet, bar, 1, y, _BAR, scale)
    if bar.whole is not None:
        sheet.line("end", width + 1, y - 3, width + 1, y + _BAR + 3)
    _marks(sheet, bar, 1, y, _BAR, scale)


def _marks(sheet: Sheet, bar: Bar, left: float, y: float, height: float, scale: float) -> None:
    for mark in bar.marks:
        x, reach = left + mark.at * scale, _LONG_MARK if mark.is_long else _SHORT_MARK
        sheet.line(mark.style, x, y - reach, x, y + height + reach)


def _parts(sheet: Sheet, bar: Bar, left: float, y: float, height: float, scale: float) -> float:
    x = left
    for part in bar.parts:
        if part.amount:
            width = max(part.amount * scale, 1.0)  # even the smallest amount must be visible
            sheet.add("rect", part.style, title=part.title, x=x, y=y, width=width, height=height)
            x += width
    return x
