"""Charts in the units of their data: numbers, days and moments, never coordinates.

A feature builds a `Chart` or a `BarChart`. `app/web/chart_svg.py` draws it for wide and for narrow pages, and
`app/web/chart_plotly.py` converts it to the figure that readers can zoom. `style` is always a CSS class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.web.axes import Axis, Value

Point = tuple[Value, float | None]
"""A position on the x axis and its value; None breaks a line there."""

NO_DATA = "There is nothing to draw."
LABEL_ONLY = "label-only"
"""The style of a level that labels a line and draws none of its own."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Facts that a saved picture states, because it leaves the page that has them."""

    subject: str = ""
    """The structure, queue or plan."""
    period: str = ""
    """The time of the figures, or the date on which they were calculated."""
    source: str = ""
    """The records or the calculation, as a noun phrase."""


NO_ORIGIN = Origin()


@dataclass(frozen=True, slots=True)
class SavedPicture:
    """The title and the facts of a saved picture whose drawing is not made from a `Chart`."""

    title: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class LegendItem:
    """A sign of the chart with its name: a line, an area, a stroke, a spot or the sign of marks."""

    kind: str
    style: str
    name: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; a point without neighbors is a dot."""

    points: tuple[Point, ...]
    name: str = ""
    """The measured quantity, for the zoomed figure."""
    style: str = "curve"
    label: str = ""
    is_stepped: bool = False
    """Whether each value holds until the next one, so that the line has steps."""
    is_limit: bool = False
    """Whether the line is a limit for other values, and no data of its own."""
    is_label_beside: bool = False
    """Whether the label of a line that ends at the edge of the plot is outside, next to its end."""
    is_label_optional: bool = False
    """Whether the label is omitted if there is no room for it."""


@dataclass(frozen=True, slots=True)
class Band:
    """The area between two lines."""

    points: tuple[tuple[Value, float, float], ...]
    style: str
    names: tuple[str, str] = ("", "")
    """The names of the upper and the lower line, for the zoomed figure."""
    name: str = ""
    """The name of the area, for the legend."""


@dataclass(frozen=True, slots=True)
class Level:
    """A value drawn as a horizontal line."""

    value: float
    label: str
    short: str = ""
    """The label on narrow pages, if it differs."""
    style: str = "level"
    begin: Value | None = None
    """The position on the x axis at which the line begins; None means at the edge."""
    end: Value | None = None
    """The position on the x axis at which the line ends; None means at the edge."""
    likely: tuple[Value, Value] | None = None
    """The part of the line that is drawn thick."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line at a position on the x axis, with a sign or a label at its top."""

    at: Value
    label: str = ""
    style: str = "lead"
    sign: str = ""
    sign_style: str = ""
    title: str = ""
    down_to: float | None = None
    """The value at which the line ends; None means at the bottom of the plot."""
    is_label_low: bool = False
    """Whether the label is at the bottom of the plot."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """A single value with its own sign."""

    x: Value
    y: float
    sign: str = "dot"
    style: str = "spot"
    label: str = ""
    short: str = ""
    title: str = ""
    is_led: bool = False
    """Whether a line leads from the spot down to the x axis."""
    is_label_optional: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """A row below the plot, with signs at positions on the x axis."""

    name: str
    spots: tuple[LaneSpot, ...]


@dataclass(frozen=True, slots=True)
class LaneSpot:
    """A sign in a lane."""

    at: Value
    sign: str
    style: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """The specification of a chart over an x axis. Title and description are its accessible name and description."""

    id: str
    """Identifier, unique on the page."""
    title: str
    description: str
    x_axis: Axis
    y_axis: Axis
    unit: str = ""
    heading: str = ""
    """The heading above the chart, if it differs from the title."""
    lines: tuple[Line, ...] = ()
    bands: tuple[Band, ...] = ()
    levels: tuple[Level, ...] = ()
    marks: tuple[Mark, ...] = ()
    points: tuple[Spot, ...] = ()
    lanes: tuple[Lane, ...] = ()
    below: Chart | None = None
    """A second plot below the first, over the same x axis."""
    are_levels_beside: bool = False
    """Whether the labels of levels are to the right of the plot."""
    note: str = ""
    """A sentence about values that are too far away to be drawn."""
    no_data: str = NO_DATA
    """The sentence that replaces the chart if it has no values."""
    origin: Origin = NO_ORIGIN
    width: int = 860
    height: int = 200
    """Height of the plot alone, without labels."""

    @property
    def is_empty(self) -> bool:
        """Whether the chart has no values; limits alone would need an invented axis."""
        panels = (self, self.below) if self.below else (self,)
        return not any(
            panel.points
            or any(band.points for band in panel.bands)
            or any(y is not None for line in panel.lines if not line.is_limit for _, y in line.points)
            for panel in panels
        )

    @property
    def legend(self) -> tuple[LegendItem, ...]:
        """The named signs of the chart, each name once; without a line that the title names, and a single sign."""
        found = [
            *(LegendItem("line", line.style, line.name) for line in self.lines if line.name != self.title),
            *(LegendItem("area", band.style, band.name) for band in self.bands),
            *(LegendItem("spot", spot.style, spot.name) for spot in self.points),
            *(LegendItem(mark.sign, mark.sign_style, mark.name) for mark in self.marks if mark.sign),
        ]
        items = tuple({item.name: item for item in found if item.name}.values())
        return items if len(items) > 1 else ()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar."""

    style: str
    amount: float
    title: str = ""
    name: str = ""
    """The name of such parts, for the legend."""


@dataclass(frozen=True, slots=True)
class BarMark:
    """A stroke across a bar; a long one extends further above and below it."""

    at: float
    style: str = "mark"
    is_long: bool = False
    name: str = ""
    """The name of such strokes, for the legend."""


@dataclass(frozen=True, slots=True)
class Bar:
    """An amount drawn as a bar of consecutive parts."""

    name: str
    text: str
    parts: tuple[Part, ...]
    whole: float | None = None
    """The available amount, drawn behind the parts; None if unknown."""
    warning: str = ""
    """A warning for narrow pages, which have no room for the text."""
    short: str = ""
    """The text on narrow pages without a warning, if the whole text is too long."""
    marks: tuple[BarMark, ...] = ()
    is_heading: bool = False
    """Whether it is the heading of the bars below it, and has no parts."""

    @property
    def extent(self) -> float:
        """The length of the bar: the largest of the available amount, the sum of its parts, and its marks."""
        return max(
            self.whole or 0.0, sum(part.amount for part in self.parts), *(mark.at for mark in self.marks)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """A chart of amounts as bars on one scale."""

    id: str
    title: str
    description: str
    bars: tuple[Bar, ...]
    is_beside: bool = False
    """Whether names and texts are next to the bars instead of above them."""
    x_axis: Axis | None = None
    """The axis below the bars; None if each bar states its amount. Without one, bars that are below their names use the full width."""
    no_data: str = NO_DATA
    """The sentence that replaces the chart if it has no bars."""
    whole_name: str = ""
    """The name of the available amount, for the legend."""
    enlarges_short: bool = False
    """Whether bars that would be too short to read are drawn on a larger scale, which their texts state."""
    origin: Origin = NO_ORIGIN
    width: int = 760

    @property
    def is_empty(self) -> bool:
        """Whether there are no bars."""
        return not self.bars

    @property
    def legend(self) -> tuple[LegendItem, ...]:
        """The named parts and strokes of all bars, and the end of the available amount, each name once."""
        found = [
            *(
                LegendItem("area", part.style, part.name)
                for bar in self.bars
                for part in bar.parts
                if part.amount
            ),
            *(LegendItem("stroke", mark.style, mark.name) for bar in self.bars for mark in bar.marks),
            *([LegendItem("stroke", "end", self.whole_name)] if any(bar.whole for bar in self.bars) else []),
        ]
        return tuple({item.name: item for item in found if item.name}.values())


def today_marks(x_axis: Axis, at: Value) -> tuple[Mark, ...]:
    """Return the line that marks today, or nothing if today is not on the axis."""
    return (Mark(at, "today", style="now"),) if 0 <= x_axis.share(at) <= 1 else ()


def runs(points: Sequence[Point]) -> list[list[tuple[Value, float]]]:
    """Return the parts of a line between its gaps."""
    found: list[list[tuple[Value, float]]] = [[]]
    for x, y in points:
        if y is not None:
            found[-1].append((x, y))
        elif found[-1]:
            found.append([])
    return [run for run in found if run]


def with_gaps(points: Sequence[tuple[Value, float]], numbers: Sequence[float]) -> tuple[Point, ...]:
    """Return points with a gap between those whose numbers are not consecutive."""
    found: list[Point] = []
    for nth, point in enumerate(points):
        if nth and numbers[nth] - numbers[nth - 1] > 1:
            found.append((point[0], None))
        found.append(point)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A row of the table below a chart whose x axis counts messages."""

    messages: int
    value: float
    remark: str


@dataclass(frozen=True, slots=True)
class ChartWithTable:
    """A chart, with its figures as a table."""

    chart: Chart
    table: tuple[ChartRow, ...]
