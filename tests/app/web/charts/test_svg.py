"""Charts as SVG: gaps in lines, separate labels, clipping, and escaping."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.web.axes import Linear, Listed, Log
from app.web.chart_svg import _INVISIBLE, NARROW, ChartLayout, Shape, _straightened, layouts
from app.web.charts import (
    LABEL_ONLY,
    Band,
    Bar,
    BarChart,
    Chart,
    Lane,
    LaneSpot,
    Level,
    Line,
    Mark,
    Origin,
    Part,
    Point,
    Spot,
)
from app.web.rendering import environment

EMPTY = Chart(
    id="specimen", title="A title", description="In words.", x_axis=Linear(0, 100), y_axis=Linear.up_to(100)
)
CHARACTER = 6.4


def with_class(drawing: ChartLayout, name: str, tag: str = "") -> list[Shape]:
    return [
        shape
        for shape in drawing.shapes
        if name in str(shape.attributes.get("class", "")).split() and tag in ("", shape.tag)
    ]


def places(shape: Shape) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in str(shape.attributes["points"]).split())
    return [(float(x), float(y)) for x, y in pairs]


def box(shape: Shape) -> tuple[float, float, float, float]:
    x, y = float(shape.attributes["x"]), float(shape.attributes["y"])
    return x, y - 9, x + len(shape.text) * CHARACTER, y + 2


def overlaps(one: Shape, other: Shape) -> bool:
    a, b = box(one), box(other)
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def shown(chart: Chart | BarChart) -> str:
    template = environment().from_string('{% from "_charts.html" import chart %}{{ chart(of) }}')
    return template.render(of=chart)


def test_chart_is_drawn_for_wide_and_narrow_pages() -> None:
    wide, narrow = layouts(EMPTY)
    assert (wide.kind, wide.width) == ("wide", EMPTY.width)
    assert (narrow.kind, narrow.width) == ("narrow", NARROW)
    assert (wide.title, wide.description) == ("A title", "In words.")
    assert wide.id != narrow.id


def test_empty_chart_has_only_a_grid() -> None:
    wide, _ = layouts(EMPTY)
    assert {shape.tag for shape in wide.shapes} == {"path", "line", "text"}
    assert len(with_class(wide, "axis")) == 1


def test_chart_without_values_is_a_sentence_without_axes() -> None:
    limits = (Line(((0, 50), (100, 50)), is_limit=True),)
    empty = replace(EMPTY, lines=limits, levels=(Level(80, "SIZE"),), no_data="No records.")
    assert "<svg" not in shown(empty)
    assert "No records." in shown(empty)
    assert "<svg" in shown(replace(empty, points=(Spot(1, 1),)))
    assert "No bars." in shown(BarChart(id="b", title="B", description="", bars=(), no_data="No bars."))


def test_saved_picture_has_the_origin_of_the_chart() -> None:
    origin = Origin("APP1 of SQ03", "2026-11-16", 'records of "SYS1"')
    text = shown(replace(EMPTY, lines=(Line(((0, 0), (9, 9))),), origin=origin))
    for part in ('data-title="A title"', 'data-subject="APP1 of SQ03"', 'data-period="2026-11-16"'):
        assert part in text
    assert 'data-source="records of &#34;SYS1&#34;"' in text


def test_legend_has_each_named_sign_once() -> None:
    line = Line(((0, 0), (9, 9)), "in use")
    band = Band(((0, 1, 2), (9, 2, 3)), "fan", name="80 % interval")
    found = replace(EMPTY, lines=(line, line), bands=(band,), points=(Spot(1, 1, name="passed"),)).legend
    assert [(item.kind, item.name) for item in found] == [
        ("line", "in use"), ("area", "80 % interval"), ("spot", "passed"),
    ]  # fmt: skip
    assert replace(EMPTY, lines=(line,)).legend == (), "a single line needs no legend"
    titled = replace(EMPTY, title="in use", lines=(line,), bands=(band,))
    assert titled.legend == (), "the title names the line"


def test_values_at_the_pointer_are_read_from_the_axes_of_each_plot() -> None:
    lines = (Line(((10, 1), (100, 5)), "need"),)
    chart = replace(EMPTY, x_axis=Log(10, 1000, "MiB"), lines=lines, below=replace(EMPTY, height=84))
    wide, _ = layouts(chart)
    upper, lower = json.loads(wide.plots)
    assert upper["x"] == ["log", 10, 1000, "MiB"]
    assert upper["y"] == ["linear", 0, 100, ""]
    assert upper["edges"][3] < lower["edges"][1]
    (curve,) = with_class(wide, "curve")
    assert curve.attributes["data-name"] == "need"
    assert places(curve)[0][0] == upper["edges"][0]
    named, _ = layouts(replace(EMPTY, x_axis=Listed.of(["a", "b"])))
    assert named.plots == ""


def test_line_breaks_at_gaps_and_a_single_point_is_a_dot() -> None:
    points: tuple[Point, ...] = ((0, 1), (10, 2), (20, None), (30, 4), (40, None), (50, 5), (60, 6), (70, 9))
    wide, _ = layouts(replace(EMPTY, lines=(Line(points),)))
    assert [len(places(shape)) for shape in with_class(wide, "curve")] == [2, 3]
    assert len(with_class(wide, "point", "circle")) == 1


@given(
    st.lists(
        st.tuples(st.sampled_from((0.0, 1.0, 2.5)), st.sampled_from((0.0, 0.01, -0.03, 1.0, -5.0))),
        min_size=1,
    )
)
def test_points_are_left_out_only_where_a_straight_line_shows_them(moves: list[tuple[float, float]]) -> None:
    points = [
        (sum(x for x, _ in moves[:end]), sum(y for _, y in moves[:end])) for end in range(len(moves) + 1)
    ]
    line = _straightened(points)
    assert (line[0], line[-1]) == (points[0], points[-1])
    for at, height in points:
        drawn = [
            y1 if x1 == x2 else y1 + (y2 - y1) * (at - x1) / (x2 - x1)
            for (x1, y1), (x2, y2) in pairwise([line[0], *line])
            if x1 <= at <= x2
        ]
        assert (at, height) in line or min(abs(y - height) for y in drawn) <= _INVISIBLE + 1e-9


def test_smooth_curve_is_drawn_with_few_points() -> None:
    points = tuple((nth / 10, 50 + 40 * math.sin(nth / 100)) for nth in range(700))
    wide, _ = layouts(replace(EMPTY, lines=(Line(points),)))
    (line,) = (shape for shape in wide.shapes if shape.tag == "polyline")
    assert len(places(line)) < 80


def test_later_points_are_further_right_and_larger_values_higher() -> None:
    wide, _ = layouts(replace(EMPTY, lines=(Line(((0, 0), (50, 100), (100, 50))),)))
    (first, second, third) = places(with_class(wide, "curve")[0])
    (axis,) = with_class(wide, "axis")
    assert first == (axis.attributes["x1"], axis.attributes["y1"])
    assert third[0] == axis.attributes["x2"]
    assert second[0] == pytest.approx((first[0] + third[0]) / 2, abs=0.1)
    assert third[1] == pytest.approx((first[1] + second[1]) / 2, abs=0.1)


def test_stepped_line_keeps_its_value_until_the_next_point() -> None:
    wide, _ = layouts(replace(EMPTY, lines=(Line(((0, 100), (50, 50), (100, 50)), is_stepped=True),)))
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = places(with_class(wide, "curve")[0])
    assert x1 < x2 == x3 < x4
    assert y1 == y2 < y3 == y4


def test_lines_outside_the_axes_are_clipped() -> None:
    wide, _ = layouts(replace(EMPTY, lines=(Line(((-50, -50), (150, 150))), Line(((0, 200), (100, 200))))))
    (line,) = with_class(wide, "curve")
    (axis,) = with_class(wide, "axis")
    (x1, y1), (x2, _) = places(line)
    assert (x1, y1, x2) == (axis.attributes["x1"], axis.attributes["y1"], axis.attributes["x2"])


def test_many_points_on_one_pixel_are_reduced_to_the_visible_ones() -> None:
    points = tuple((nth / 500, float(nth % 100)) for nth in range(50_000))
    wide, _ = layouts(replace(EMPTY, lines=(Line(points),)))
    (line,) = with_class(wide, "curve")
    assert len(places(line)) <= 4 * wide.width
    assert max(y for _, y in places(line)) - min(y for _, y in places(line)) > 0.9 * EMPTY.height


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=0, max_size=30),
    st.lists(st.floats(0, 100), max_size=3),
    st.floats(0, 100),
)
def test_labels_do_not_overlap_and_stay_inside_the_chart(
    points: list[tuple[float, float]], levels: list[float], at: float
) -> None:
    chart = replace(
        EMPTY,
        lines=(Line(tuple(sorted(points)), label="a line"),),
        levels=tuple(Level(value, f"LEVEL {nth}") for nth, value in enumerate(levels)),
        points=(Spot(at, at, "large", "point", label="a spot"),),
    )
    for drawing in layouts(chart):
        labels = with_class(drawing, "halo")
        assert not [pair for pair in combinations(labels, 2) if overlaps(*pair)]
        for shape in drawing.shapes:
            numbers = [float(shape.attributes.get(name, 0)) for name in ("x", "x1", "x2", "cx")]
            assert all(0 <= x <= drawing.width for x in numbers)
            assert all(
                0 <= float(shape.attributes.get(n, 0)) <= drawing.height for n in ("y", "y1", "y2", "cy")
            )


def test_labels_of_close_levels_are_separated_next_to_the_plot() -> None:
    levels = tuple(Level(100 - nth / 10, f"LEVEL {nth}") for nth in range(4))
    for drawing in layouts(replace(EMPTY, levels=levels, are_levels_beside=True)):
        found = [shape for shape in drawing.shapes if shape.text.startswith("LEVEL")]
        assert [shape.text for shape in found] == [level.label for level in levels]
        assert not [pair for pair in combinations(found, 2) if overlaps(*pair)]
        assert all(box(shape)[2] <= drawing.width + 8 for shape in found)


@given(st.lists(st.floats(0, 100), max_size=12))
@settings(deadline=None, max_examples=40)
def test_labels_next_to_the_plot_stay_within_its_height(values: list[float]) -> None:
    levels = tuple(Level(value, f"LEVEL {nth}", "LV") for nth, value in enumerate(values))
    for drawing in layouts(replace(EMPTY, levels=levels, are_levels_beside=True)):
        (axis,) = with_class(drawing, "axis")
        ys = sorted(
            float(shape.attributes["y"]) for shape in drawing.shapes if shape.text.startswith(("LEVEL", "LV"))
        )
        assert all(0 < y <= float(axis.attributes["y1"]) + 4.1 for y in ys)
        assert all(after - before > 13.8 for before, after in pairwise(ys))


def test_level_begins_at_its_position_and_a_label_may_have_no_line() -> None:
    levels = (Level(50, "70 %", begin=40, style="threshold"), Level(90, "total", style=LABEL_ONLY))
    wide, _ = layouts(replace(EMPTY, levels=levels, are_levels_beside=True))
    (line,) = with_class(wide, "threshold")
    (axis,) = with_class(wide, "axis")
    width = float(axis.attributes["x2"]) - float(axis.attributes["x1"])
    assert float(line.attributes["x1"]) == pytest.approx(float(axis.attributes["x1"]) + 0.4 * width, abs=0.2)
    assert with_class(wide, LABEL_ONLY) == []
    assert "total" in [shape.text for shape in wide.shapes]


def test_optional_label_without_room_is_omitted() -> None:
    lines = tuple(
        Line(
            ((0, 50 + nth), (100, 50 + nth)),
            style="context",
            label="one and the same place",
            is_label_optional=True,
        )
        for nth in range(40)
    )
    wide, _ = layouts(replace(EMPTY, lines=lines))
    labels = with_class(wide, "halo")
    assert 0 < len(labels) < len(lines)
    assert not [pair for pair in combinations(labels, 2) if overlaps(*pair)]


def test_axis_labels_do_not_overlap_at_any_width() -> None:
    chart = replace(EMPTY, x_axis=Linear(0, 98_765_432), y_axis=Log(1, 1e9))
    for drawing in layouts(chart):
        ticks = [shape for shape in drawing.shapes if shape.attributes.get("text-anchor") == "middle"]
        edges = [(float(tick.attributes["x"]), len(tick.text) * 6.0 / 2) for tick in ticks]
        for (x, half), (next_x, next_half) in pairwise(edges):
            assert x + half < next_x - next_half
        assert len(ticks) >= 2


def test_likely_days_of_a_level_are_drawn_as_a_second_line_on_it() -> None:
    wide, _ = layouts(replace(EMPTY, levels=(Level(50, "half", likely=(20, 60)),)))
    (level,), (likely,) = with_class(wide, "level"), with_class(wide, "likely")
    assert level.attributes["y1"] == likely.attributes["y1"]
    assert level.attributes["x1"] < likely.attributes["x1"] < likely.attributes["x2"] < level.attributes["x2"]  # type: ignore[operator]


def test_mark_symbols_are_stacked_and_many_marks_omit_their_lines() -> None:
    marks = tuple(
        Mark(50, str(nth), sign="bubble", sign_style="bubble", title=f"No. {nth}") for nth in range(3)
    )
    wide, _ = layouts(replace(EMPTY, marks=marks))
    circles = with_class(wide, "bubble")
    assert len({circle.attributes["cy"] for circle in circles}) == 3
    assert [circle.title for circle in circles] == ["No. 0", "No. 1", "No. 2"]
    many = tuple(Mark(nth, sign="flag", style="full-line", sign_style="full") for nth in range(60))
    wide, _ = layouts(replace(EMPTY, marks=many))
    assert len(with_class(wide, "full")) == 60
    assert with_class(wide, "full-line") == []


def test_lanes_are_between_the_plot_and_its_labels() -> None:
    lanes = (Lane("QM1", (LaneSpot(50, "cross", "none"),)), Lane("QM2", ()))
    wide, _ = layouts(replace(EMPTY, lanes=lanes))
    (axis,) = with_class(wide, "axis")
    ys = [float(lane.attributes["y1"]) for lane in with_class(wide, "lane")]
    assert float(axis.attributes["y1"]) < ys[0] < ys[1] < wide.height - 20
    assert len(with_class(wide, "none", "path")) == 1


def test_second_plot_shares_the_x_axis() -> None:
    below = replace(
        EMPTY, y_axis=Linear.up_to(5), lines=(Line(((0, 1), (100, 5)), style="second"),), height=84
    )
    wide, _ = layouts(replace(EMPTY, lines=(Line(((0, 0), (100, 100))),), below=below))
    (upper,), (lower,) = with_class(wide, "curve"), with_class(wide, "second")
    assert [x for x, _ in places(upper)] == [x for x, _ in places(lower)]
    assert max(y for _, y in places(upper)) < min(y for _, y in places(lower))


def test_texts_of_a_chart_are_escaped() -> None:
    text = '<b>&"x'
    chart = replace(
        EMPTY, title=text, description=text, lines=(Line(((0, 1), (1, 2)), label=text, style=text),),
        points=(Spot(1, 1, label=text, title=text),),
    )  # fmt: skip
    html = shown(chart)
    assert "<b>" not in html
    assert html.count("&lt;b&gt;&amp;&#34;x") >= 8


def test_bar_lengths_are_proportional_and_small_amounts_visible() -> None:
    bars = (
        Bar("A", "10 of 40", (Part("held", 10, "held: 10"), Part("keep", 0)), 40),
        Bar("B", "not known", (Part("held", 0.001),)),
        Bar(
            "C",
            "50 of 20, in many words for which a narrow page has no room",
            (Part("held", 50),),
            20,
            warning="too much",
        ),
        Bar("D", f"30 of 40, {'in many words ' * 5}", (Part("held", 30),), 40, short="30 of 40"),
    )
    chart = BarChart(id="bars", title="Bars", description="In words.", bars=bars)
    for drawing in layouts(chart):
        held = [float(shape.attributes["width"]) for shape in with_class(drawing, "held")]
        whole = [float(shape.attributes["width"]) for shape in with_class(drawing, "storage")]
        assert whole[0] == pytest.approx(held[0] * 4, abs=0.5)
        assert held[1] == 1
        assert held[2] == pytest.approx(whole[2] * 2.5, abs=0.5)
        assert held[2] <= drawing.width
        assert len(with_class(drawing, "unknown")) == 1
        assert not with_class(drawing, "keep")
        texts = [shape.text for shape in drawing.shapes]
        assert ("too much" in texts) == (drawing.kind == "narrow")
        assert ("30 of 40" in texts) == (drawing.kind == "narrow")


def test_short_bars_are_enlarged_on_request_and_their_texts_state_it() -> None:
    bars = (
        Bar("A", "90 of 100", (Part("held", 90),), 100),
        Bar("B", "1 of 4", (Part("held", 1),), 4),
        Bar("C", "empty", (), 0),
    )
    chart = BarChart(id="b", title="B", description="", bars=bars, enlarges_short=True)
    for drawing in layouts(chart):
        held = [float(shape.attributes["width"]) for shape in with_class(drawing, "held")]
        whole = [float(shape.attributes["width"]) for shape in with_class(drawing, "storage")]
        assert whole[1] == pytest.approx(0.15 * whole[0], abs=0.5)
        assert whole[1] == pytest.approx(4 * held[1], abs=0.5)
        texts = [shape.text for shape in drawing.shapes if shape.text]
        assert [text for text in texts if "enlarged" in text] == ["1 of 4 (bar enlarged)"]


def test_names_and_amounts_are_shown_next_to_bars_on_request() -> None:
    bars = (Bar("up to 512", "100", (Part("bar-of", 100),)), Bar("up to 1024", "300", (Part("bar-of", 300),)))
    for drawing in layouts(BarChart(id="b", title="B", description="", bars=bars, is_beside=True)):
        one, two = (float(shape.attributes["width"]) for shape in with_class(drawing, "bar-of"))
        assert two == pytest.approx(3 * one, abs=0.5)
        assert all(box(shape)[2] <= drawing.width for shape in drawing.shapes if shape.text in ("100", "300"))


def test_chart_without_bars_is_drawn() -> None:
    assert all(
        drawing.shapes == () for drawing in layouts(BarChart(id="b", title="B", description="", bars=()))
    )
