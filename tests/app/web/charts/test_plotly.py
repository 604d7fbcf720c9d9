"""The zoomable figure has the same data as the SVG."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

from app.web.axes import Linear, Log, Time
from app.web.chart_plotly import ZoomedChart, figure
from app.web.charts import Band, Chart, Level, Line, Mark, Spot

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
