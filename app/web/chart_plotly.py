"""Charts as a Plotly figure that readers can zoom and save, from the same specification as the SVG.

Colors are names of the style sheet's variables; `static/js/charts.js` replaces them with their values, so that the figure
follows the theme.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from app.web.axes import Axis, Linear, Log, Time, Value, position
from app.web.chart_svg import LABEL_BESIDE_STEP, stacked, text_width
from app.web.charts import LABEL_ONLY, Chart, LegendItem, Level, Line, Mark, Spot
from planner_core.wire import JsonObject

_PANEL_PX, _ALONE_PX, _TOP_PX, _BOTTOM_PX = 230, 380, 26, 34
_MIDDLE, _RIGHT_EDGE = 0.5, 0.9
_LABEL_SPACE_PX = 12
_MOST_DOTTED = 80
_LINES: dict[str, JsonObject] = {
    "curve": {"color": "--accent", "width": 1.5},
    "fitted": {"color": "--accent", "width": 1.5},
    "middle": {"color": "--accent", "width": 1},
    "limit": {"color": "--ink", "width": 1, "dash": "dash"},
    "published": {"color": "--ink", "width": 1, "dash": "dash"},
}
_SPOTS: dict[str, JsonObject] = {
    "spot": {"size": 7, "color": "--accent", "opacity": 0.75},
    "hollow": {"size": 7, "color": "--paper", "line": {"color": "--muted", "width": 1.25}},
    "cross": {"size": 9, "color": "--paper", "line": {"color": "--warning", "width": 2}},
}
_GRID = {"gridcolor": "--line", "zeroline": False, "linecolor": "--line-strong"}


@dataclass(frozen=True, slots=True)
class ZoomedChart:
    """Charts that a script draws again, so that readers can zoom and save them."""

    charts: tuple[Chart, ...]
    """The charts that are drawn without a script."""
    finer: tuple[Chart, ...] = ()
    """The same charts with more points, for zooming into a part of the x axis."""
    earlier: str = "Earlier"
    later: str = "Later"
    whole: str = "Everything"
    name: str = ""
    """The name of the chart in the address of the page; empty means the identifier of the first chart."""

    @property
    def figures(self) -> str:
        """The figures as JSON: the whole one and the finer one, if any; none if no chart has values."""
        charts, finer = (
            [chart for chart in each if not chart.is_empty] for each in (self.charts, self.finer)
        )
        found = [figure(charts, "; zoom in for days" if finer else "")] if charts else []
        if finer:
            found.append(figure(finer))
        return json.dumps(found, separators=(",", ":"))

    @property
    def key(self) -> str:
        """The parameter of the address of the page that has the range of a zoomed chart."""
        return f"zoom-{self.name or self.charts[0].id}"

    @property
    def legend(self) -> tuple[LegendItem, ...]:
        """The named signs of all charts, each name once."""
        return tuple({item.name: item for chart in self.charts for item in chart.legend}.values())


def figure(charts: Sequence[Chart], hint: str = "") -> JsonObject:
    """Return data and layout of charts with a common x axis; the hint follows the heading of the first."""
    height = _ALONE_PX if len(charts) == 1 else _PANEL_PX * len(charts) + 40
    axis = charts[0].x_axis
    layout: JsonObject = {
        "height": height,
        "margin": {"l": 64, "r": 12, "t": _TOP_PX, "b": 50 if axis.title else _BOTTOM_PX},
        "showlegend": False,
        "hovermode": "x unified" if isinstance(axis, Time) else "closest",
        "dragmode": "zoom",
        "separators": ". ",
        "xaxis": {
            "anchor": f"y{len(charts) if len(charts) > 1 else ''}",
            "showline": True,
            **_GRID,
            **_x_axis(axis),
        },
        "annotations": [],
        "shapes": [],
    }
    if any(chart.are_levels_beside for chart in charts):
        # Plotly does not know the member `narrow`: on narrow pages, charts.js replaces the other value with it.
        levels = [level for chart in charts for level in chart.levels if level.label]
        layout["margin"] |= {
            "r": _room([level.label for level in levels]),
            "narrow": _room([level.short or level.label for level in levels]),
        }
    traces: list[JsonObject] = []
    for nth, chart in enumerate(charts):
        _panel(chart, nth, len(charts), layout)
        if not nth:
            heading = layout["annotations"][0]
            heading |= {"text": heading["text"] + hint, "narrow": heading["text"]}
        traces += _traces(chart, f"y{nth + 1 if nth else ''}")
    return {"data": traces, "layout": layout}


def _room(labels: Sequence[str]) -> int:
    """Return the width of a margin for labels to the right of the plot [px]."""
    return round(max(map(text_width, labels), default=0)) + _LABEL_SPACE_PX


def _x_axis(axis: Axis) -> JsonObject:
    if isinstance(axis, Time):
        hours = (position(axis.last) - position(axis.first)) / 3600
        by_day = {"hoverformat": "%Y-%m-%d"}
        return {
            "type": "date",
            "range": [_x(axis.first), _x(axis.last)],
            **(by_day if hours > 31 * 24 else {"hoverformat": "%Y-%m-%d %H:%M UTC"}),
        }
    return {
        "type": "log",
        "range": [math.log10(position(axis.first)), math.log10(position(axis.last))],
        "tickformat": ",",
        "dtick": "D2",
        "title": {"text": axis.title},
    }


def _x(value: Value) -> float:
    """Return a position on the x axis: moments in milliseconds, as JavaScript counts them."""
    return position(value) * 1000 if hasattr(value, "year") else position(value)


def _panel(chart: Chart, nth: int, number: int, layout: JsonObject) -> None:
    share = 1 / number
    top = 1 - nth * share
    low, high = (0.0, 1.0) if number == 1 else (top - share * 0.86, top - share * 0.06)
    axis = chart.y_axis
    name = f"y{nth + 1 if nth else ''}"
    found: JsonObject = {"domain": [low, high], "fixedrange": True, "tickformat": ",", **_GRID}
    if isinstance(axis, Log):
        found |= {"type": "log", "dtick": "D2", "range": [axis.scaled(axis.first), axis.scaled(axis.last)]}
    elif isinstance(axis, Linear) and axis.is_signed:
        found |= {"zeroline": True, "zerolinecolor": "--accent", "zerolinewidth": 1.5, "tickformat": "~g"}
        found["range"] = [position(axis.first), position(axis.last)]
    else:
        found["rangemode"] = "tozero"
    found["automargin"] = True  # seven digits and more need more room than the margin has
    layout[f"yaxis{nth + 1 if nth else ''}"] = found
    layout["annotations"].append(
        {
            "text": _heading(chart), "xref": "paper", "yref": "paper",
            "x": 0, "y": high + (0.01 if number == 1 else 0), "xanchor": "left", "yanchor": "bottom",
            "showarrow": False, "font": {"color": "--ink"},
        }
    )  # fmt: skip
    for mark in chart.marks:
        if not mark.sign:
            at = _x(mark.at)
            layout["shapes"].append(_stroke("--line-strong", 1, x0=at, x1=at, y0=low, y1=high, yref="paper"))
            if mark.label:
                layout["annotations"].append(
                    _mark_label(mark, chart.x_axis, low if mark.is_label_low else high)
                )
    height = (layout["height"] - _TOP_PX - _BOTTOM_PX) * (high - low)
    _levels(chart, name, height, layout)


def _heading(chart: Chart) -> str:
    name = chart.heading or chart.title
    return name if not chart.unit or chart.unit in name else f"{name}, {chart.unit}"


def _levels(chart: Chart, axis: str, height_px: float, layout: JsonObject) -> None:
    """Draw horizontal lines, with labels to the right, each label below the previous one."""
    levels = sorted((each for each in chart.levels if each.label), key=lambda each: -each.value)
    # Counted from the top of the plot, as the labels are stacked downwards.
    rooms = [(1 - chart.y_axis.share(level.value)) * height_px for level in levels]
    placed = stacked(rooms, LABEL_BESIDE_STEP, height_px)
    for level, room, place in zip(levels, rooms, placed, strict=True):
        y = level.value
        if level.style != LABEL_ONLY:
            ends: dict[str, float | str] = {"xref": "paper", "x0": 0, "x1": 1}
            if level.begin is not None:
                ends = {"x0": _x(level.begin), "x1": _x(chart.x_axis.last)}
            dash = "dot" if level.style == "threshold" else "dash"
            layout["shapes"].append(_stroke("--ink", 1, **ends, y0=y, y1=y, yref=axis, dash=dash))
        if level.likely:
            first, last = map(_x, level.likely)
            layout["shapes"].append(_stroke("--warning", 4, x0=first, x1=last, y0=y, y1=y, yref=axis))
        layout["annotations"].append(_level_label(level, axis, room - place))


def _mark_label(mark: Mark, axis: Axis, y: float) -> JsonObject:
    # Low labels are to the right of their lines, so that labels of two close lines are apart.
    is_left = axis.share(mark.at) > (_RIGHT_EDGE if mark.is_label_low else _MIDDLE)
    return {
        "text": mark.label, "x": _x(mark.at), "y": y, "yref": "paper", "xanchor": "right" if is_left else "left",
        "yanchor": "bottom" if mark.is_label_low else "top", "xshift": -3 if is_left else 3, "showarrow": False, "font": {"size": 11},
    }  # fmt: skip


def _level_label(level: Level, axis: str, shift: float) -> JsonObject:
    return {
        "text": level.label, "narrow": level.short or level.label, "xref": "paper", "x": 1, "y": level.value, "yref": axis,
        "yshift": round(shift, 1), "xanchor": "left", "showarrow": False, "xshift": 4, "font": {"size": 11},
    }  # fmt: skip


def _stroke(color: str, width: float, *, dash: str = "solid", **places: float | str) -> JsonObject:
    return {"type": "line", **places, "line": {"color": color, "width": width, "dash": dash}}


def _traces(chart: Chart, axis: str) -> Iterator[JsonObject]:
    suffix = chart.y_axis.suffix if isinstance(chart.y_axis, Linear) else ""
    hover = "%{y:+.2f}" if isinstance(chart.y_axis, Linear) and chart.y_axis.is_signed else "%{y:,}"
    for band in chart.bands:
        x = [_x(at) for at, _, _ in band.points]
        line = {"type": "scatter", "mode": "lines", "x": x, "yaxis": axis, "hovertemplate": "%{y:,.0f}"}
        edge = {"width": 0, "color": "--accent"}
        yield {**line, "y": [high for _, _, high in band.points], "name": band.names[0], "line": edge}
        yield {
            **line, "y": [low for _, low, _ in band.points], "name": band.names[1], "line": edge, "fill": "tonexty",
            "fillcolor": "--accent 0.22",
        }  # fmt: skip
    for each in chart.lines:
        yield {**_line(each), "yaxis": axis, "hovertemplate": f"{hover}{suffix}"}
    signed = [mark for mark in chart.marks if mark.sign]
    if signed:
        values = [y for line in chart.lines for _, y in line.points if y is not None]
        yield {
            "type": "scatter", "mode": "markers", "name": signed[0].name, "yaxis": axis, "x": [_x(mark.at) for mark in signed],
            "y": [max(values, default=0) * 1.04] * len(signed), "text": [mark.title for mark in signed],
            "marker": {"symbol": "triangle-down", "size": 10, "color": "--error"}, "hovertemplate": "%{text}",
        }  # fmt: skip
    for style, spots in groupby(
        sorted(chart.points, key=lambda spot: spot.style), key=lambda spot: spot.style
    ):
        yield {**_spots(style, list(spots)), "yaxis": axis}


def _line(line: Line) -> JsonObject:
    has_dots = line.style == "curve"
    style = _LINES[line.style]
    return {
        "type": "scatter", "mode": "lines+markers" if has_dots else "lines", "name": line.name, "connectgaps": False,
        "x": [_x(at) for at, _ in line.points], "y": [y for _, y in line.points],
        "line": {**style, **({"shape": "hv"} if line.is_stepped else {})},
        # Full-size dots of long lines would merge and hide the line.
        **({"marker": {"size": 1 if len(line.points) > _MOST_DOTTED else 4, "color": style["color"]}} if has_dots else {}),
    }  # fmt: skip


def _spots(style: str, spots: Sequence[Spot]) -> JsonObject:
    return {
        "type": "scatter", "mode": "markers", "name": spots[0].name, "x": [_x(spot.x) for spot in spots],
        "y": [spot.y for spot in spots], "text": [spot.title for spot in spots], "marker": _SPOTS[style],
        "hovertemplate": "%{text}" if spots[0].name else "%{text}<extra></extra>",
    }  # fmt: skip
