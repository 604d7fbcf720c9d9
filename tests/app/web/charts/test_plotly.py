"""The zoomable figure has the same data as the SVG."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise

from app.web.axes import Linear, Log, Time
from app.web.chart_plotly import ZoomedChart, figure
from app.web.chart_script import ChartScript
from app.web.charts import LABEL_ONLY, Band, Chart, Level, Line, Mark, Spot
from app.web.rendering import environment

DAY = datetime(2026, 11, 16, tzinfo=UTC)
NEXT = datetime(2026, 11, 17, tzinfo=UTC)
CHART = Chart(
    id="specimen",
    title="List entries in use",
    unit="entries",
    description="In words.",
    x_axis=Time(DAY, NEXT),
    y_axis=Linear.up_to(100),
    lines=(
        Line(((DAY, 10), (DAY, None), (NEXT, 50)), "in use"),
        Line(((DAY, 90), (NEXT, 90)), "of", "limit", is_stepped=True),
    ),
    marks=(Mark(DAY, sign="flag", title="3 times", name="found full"),),
)


def test_lines_keep_their_data_and_gaps() -> None:
    first, second, full = figure([CHART])["data"]
    assert first["name"] == "in use"
    assert first["y"] == [10, None, 50]
    assert first["x"][0] == DAY.timestamp() * 1000
    assert second["line"]["shape"] == "hv"
    assert full["text"] == ["3 times"]
    assert full["y"] == [90 * 1.04]


def test_charts_are_stacked_over_a_shared_x_axis() -> None:
    found = figure([CHART, CHART])
    upper, lower = found["layout"]["yaxis"]["domain"], found["layout"]["yaxis2"]["domain"]
    assert 0 <= lower[0] < lower[1] < upper[0] < upper[1] <= 1
    assert {trace["yaxis"] for trace in found["data"]} == {"y", "y2"}
    assert found["layout"]["xaxis"]["range"] == [DAY.timestamp() * 1000, NEXT.timestamp() * 1000]
    assert found["layout"]["annotations"][0]["text"] == "List entries in use"


def test_levels_have_separate_labels_and_bands_are_filled() -> None:
    chart = Chart(
        id="ahead", title="Entries", description="", x_axis=Time(date(2026, 11, 16), date(2026, 11, 20)), y_axis=Linear.up_to(100),
        bands=(Band(((date(2026, 11, 16), 1, 2), (date(2026, 11, 17), 2, 4)), "fan", ("90 % below", "10 % below")),),
        levels=(Level(90, "SIZE"), Level(89, "FULLTHRESHOLD 85 %", "85 %", likely=(date(2026, 11, 17), date(2026, 11, 18)))),
        points=(Spot(date(2026, 11, 17), 89, "ring", "cross", title="85 %", name="passed"),), are_levels_beside=True,
    )  # fmt: skip
    found = figure([chart])
    assert [trace["name"] for trace in found["data"]] == ["90 % below", "10 % below", "passed"]
    assert found["data"][1]["fill"] == "tonexty"
    _, size, full = found["layout"]["annotations"]
    assert (size["yshift"], full["narrow"]) == (0, "85 %")
    assert full["yshift"] < -5
    assert len(found["layout"]["shapes"]) == 3


def test_logarithmic_axes_have_logarithmic_ranges() -> None:
    chart = Chart(
        id="fit", title="Fit", description="", x_axis=Log(10, 1000, "size, MiB"), y_axis=Log(1, 100)
    )
    layout = figure([chart])["layout"]
    assert layout["xaxis"]["range"] == [1, 3]
    assert layout["yaxis"]["range"] == [0, 2]


def test_figures_of_a_zoomed_chart_are_valid_json() -> None:
    whole, finer = json.loads(ZoomedChart((CHART,), finer=(CHART,)).figures)
    assert whole["layout"]["annotations"][0]["text"].endswith("zoom in for days")
    assert finer["layout"]["annotations"][0]["text"] == "List entries in use"
    assert len(json.loads(ZoomedChart((CHART,)).figures)) == 1


def test_marks_have_labels_and_levels_begin_where_they_apply() -> None:
    chart = replace(
        CHART,
        marks=(Mark(NEXT, "today", style="now"),),
        levels=(
            Level(70, "offload 70 %", begin=NEXT, style="threshold"),
            Level(90, "total", style=LABEL_ONLY),
        ),
    )
    layout = figure([chart])["layout"]
    texts = {each["text"]: each for each in layout["annotations"]}
    assert texts["today"]["x"] == NEXT.timestamp() * 1000
    assert texts["today"]["xanchor"] == "right", "there is no room to the right"
    assert {"offload 70 %", "total"} <= texts.keys()
    _, threshold = layout["shapes"]
    assert threshold["x0"] == NEXT.timestamp() * 1000
    assert "xref" not in threshold


def test_labels_of_many_levels_stay_within_their_plot() -> None:
    levels = tuple(Level(nth, f"LEVEL {nth}") for nth in range(8))
    chart = replace(CHART, levels=levels, marks=(), are_levels_beside=True)
    layout = figure([chart])["layout"]
    height = layout["height"] - 26 - 34
    found = [
        each["y"] / 100 * height + each["yshift"] for each in layout["annotations"] if "LEVEL" in each["text"]
    ]
    assert min(found) >= -0.1
    assert all(before - after > 12.8 for before, after in pairwise(sorted(found, reverse=True)))


def test_empty_charts_are_sentences_next_to_the_others() -> None:
    empty = replace(CHART, title="Depth", lines=(), marks=(), no_data="Not measured.")
    found = ZoomedChart((CHART, empty))
    (only,) = json.loads(found.figures)
    assert "yaxis2" not in only["layout"]
    assert json.loads(ZoomedChart((empty,)).figures) == []
    template = environment().from_string(
        '{% set url = "".join %}{% from "_charts.html" import zoomed with context %}{{ zoomed(of, script, "f") }}'
    )
    script = ChartScript("/script", ())
    assert "Depth: Not measured." in template.render(of=found, script=script)
    assert "plotted" not in template.render(of=ZoomedChart((empty,)), script=script)


def test_zoomed_chart_has_a_parameter_of_the_address() -> None:
    assert ZoomedChart((CHART,)).key == "zoom-specimen"
    assert ZoomedChart((CHART,), name="entries").key == "zoom-entries"
