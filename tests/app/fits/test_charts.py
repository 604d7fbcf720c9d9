"""Charts of forecasts and fits."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from datetime import date, timedelta

import pytest

from app.database.engine import Database, database_url
from app.fits import fits
from app.fits.charts import fit_charts, published_in_words
from app.fits.fits import Fit
from app.forecasts.charts import outlook_chart
from app.forecasts.service import MeasuredDay, Outlook, outlooks
from app.web.chart_svg import layouts
from app.web.charts import Chart, Line, Spot, runs
from planner_core.contracts.files import plain
from planner_core.units import MIB
from tests.app.fits.support import (
    MADE_ON,
    QSG,
    STRUCTURE,
    daily,
    fit_json,
    forecast_json,
    store_night,
    versions,
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return Database(database_url("", data_dir=tmp_path_factory.mktemp("data")))


@pytest.fixture(scope="module")
def outlook(small: Database) -> Outlook:
    """Return a forecast for 180 days from 120 days of history."""
    store_night(small, forecasts=[forecast_json()], days=daily())
    with small.session(writes=False) as session:
        return outlooks(session, QSG, STRUCTURE)[0]


def fit_of(database: Database, **members: object) -> Fit:
    store_night(database, curves=[fit_json(**members)])  # type: ignore[arg-type]
    with database.session(writes=False) as session:
        return fits.get_fit(session, versions(database)[-1])


def chart_of(outlook: Outlook) -> Chart:
    found = outlook_chart(outlook)
    assert found is not None
    (chart,) = found.charts
    return chart


def values(line: Line) -> list[float]:
    return [y for _, y in line.points if y is not None]


# ---- forecasts -------------------------------------------------------------------------------------------------------


def test_long_span_is_drawn_with_weekly_maxima(outlook: Outlook) -> None:
    chart = chart_of(outlook)
    middle, peak = chart.lines
    assert chart.heading == "Highest of each week"
    assert len(values(middle)) == 180 // 7
    assert len(values(peak)) == 120 // 7
    weekend = {each.day for each in outlook.peaks if each.day.weekday() >= 5}
    assert weekend
    assert not weekend & {day for day, _ in peak.points}, "lower than the other days of its week"
    short = chart_of(replace(outlook, peaks=outlook.peaks[-30:], quantiles={}))
    assert short.heading == "Peak of each day"
    assert len(values(short.lines[0])) == 30


def test_long_span_has_an_interactive_chart_with_every_day(outlook: Outlook) -> None:
    found = outlook_chart(outlook)
    assert found is not None
    (days,) = found.finer
    middle, peak = days.lines
    measured = [each for each in outlook.peaks if each.peak is not None]
    assert (len(values(middle)), len(values(peak))) == (180, len(measured))


def test_unmeasured_days_leave_a_gap(outlook: Outlook) -> None:
    first = MADE_ON - timedelta(days=10)
    peaks = [
        MeasuredDay(first + timedelta(days=nth), None if nth in (3, 5) else 100 + nth, 1000)
        for nth in range(10)
    ]
    (peak,) = chart_of(replace(outlook, quantiles={}, peaks=tuple(peaks))).lines
    assert [len(run) for run in runs(peak.points)] == [3, 1, 4]


def test_points_are_inside_the_axes_and_the_median_inside_the_fan(outlook: Outlook) -> None:
    chart = chart_of(outlook)
    (fan,) = chart.bands
    middle, peak = chart.lines
    days = [day for day, _ in (*middle.points, *peak.points)]
    assert all(0 <= chart.x_axis.share(day) <= 1 for day in days)
    assert all(0 <= chart.y_axis.share(y) <= 1 for y in (*values(middle), *values(peak)))
    assert all(low < y < high for (_, low, high), y in zip(fan.points, values(middle), strict=True))
    assert values(middle) == sorted(values(middle)), "it grows"
    (made_on,) = chart.marks
    assert (made_on.at, made_on.label) == (MADE_ON, "forecast")
    assert all(day > MADE_ON for day, _ in middle.points)  # type: ignore[operator]


def test_level_line_marks_the_days_when_the_level_is_likely_first_passed(outlook: Outlook) -> None:
    chart = chart_of(outlook)
    levels = {level.label: level for level in chart.levels}
    assert set(levels) == {"SIZE", "85 %", "70 %"}
    middles = {spot.y: spot.x for spot in chart.points}
    full, size = levels["85 %"], levels["SIZE"]
    assert full.likely is not None
    first, last = full.likely
    assert MADE_ON < first < middles[full.value] < last < chart.x_axis.last  # type: ignore[operator]
    assert size.likely is not None
    assert size.value not in middles
    assert size.likely[1] == chart.x_axis.last, "the end lies beyond the horizon"


def test_level_beyond_the_chart_is_mentioned_but_not_drawn(outlook: Outlook) -> None:
    far = tuple(replace(each, value=(each.value or 0) * 100) for each in outlook.crossings)
    chart = chart_of(replace(outlook, crossings=far))
    assert chart.levels == ()
    assert all(each.level in chart.note for each in far)


def test_today_is_marked_below_the_day_of_the_forecast(outlook: Outlook) -> None:
    found = outlook_chart(outlook, MADE_ON + timedelta(days=1))
    assert found is not None
    (chart,) = found.charts
    assert [(mark.label, mark.is_label_low) for mark in chart.marks] == [("forecast", False), ("today", True)]
    old = outlook_chart(outlook, MADE_ON + timedelta(days=1000))
    assert old is not None
    assert len(old.charts[0].marks) == 1


def test_charts_have_a_description(outlook: Outlook) -> None:
    words = chart_of(outlook).description
    assert "daily peaks from 2026-07-24 to 2026-11-20" in words
    assert "On 2027-05-19 the median estimate is" in words


def test_chart_without_history_shows_the_forecast_only(outlook: Outlook) -> None:
    names = [line.name for line in chart_of(replace(outlook, peaks=())).lines]
    assert names == ["median estimate", "measured peak"]
    assert values(chart_of(replace(outlook, peaks=())).lines[1]) == []
    assert outlook_chart(replace(outlook, peaks=(), quantiles={})) is None


# ---- fits ------------------------------------------------------------------------------------------------------------


def charts_of(fit: Fit) -> tuple[Chart, ...]:
    found = fit_charts(fit)
    assert found is not None
    return found.charts


def spots(chart: Chart, style: str) -> list[Spot]:
    return [spot for spot in chart.points if spot.style == style]


def test_curve_chart_shows_points_near_the_line_and_residuals_within_the_axis(small: Database) -> None:
    entries, residuals = charts_of(fit_of(small))
    (line,) = entries.lines
    for spot in spots(entries, "spot"):
        (_, near) = min(line.points, key=lambda point: abs(math.log(point[0] / spot.x)))  # type: ignore[operator]
        assert abs(entries.y_axis.share(near or 0) - entries.y_axis.share(spot.y)) < 0.03
    assert (len(spots(entries, "spot")), len(spots(entries, "hollow"))) == (11, 1)
    assert [level.value for level in residuals.levels] == [0]
    assert residuals.y_axis.first == -residuals.y_axis.last  # type: ignore[operator]
    assert all(0 <= residuals.y_axis.share(spot.y) <= 1 for spot in spots(residuals, "spot"))


def test_fitted_line_is_inside_its_confidence_band(small: Database) -> None:
    fit = fit_of(small)
    entries, residuals = charts_of(fit)
    (band,), (line,) = entries.bands, entries.lines
    middle = dict(line.points)
    assert len(band.points) > 10
    assert all(low < (middle[size] or 0) < high for size, low, high in band.points)
    assert band.name == "90 % intervals of base and costs"
    (around,) = residuals.bands
    assert fit.residuals is not None
    assert {round(high * MIB) for _, _, high in around.points} == {
        round(1.644854 * fit.residuals.deviation_bytes)
    }
    without = replace(fit, base_bytes=None)
    assert charts_of(without)[0].bands == ()


def test_excluded_distant_point_is_drawn_at_the_edge_of_the_chart(small: Database) -> None:
    fit = fit_of(small)
    far = tuple(replace(point, residual_bytes=1e12) if point.left_out else point for point in fit.points)
    _, residuals = charts_of(replace(fit, points=far))
    (hollow,) = spots(residuals, "hollow")
    assert hollow.y > residuals.y_axis.last  # type: ignore[operator]
    wide, _ = layouts(residuals)
    (drawn,) = [shape for shape in wide.shapes if shape.attributes.get("class") == "hollow"]
    (grid,) = [shape for shape in wide.shapes if shape.attributes.get("class") == "grid"]
    heights = [float(y) for y in re.findall(r"M\S+ (\S+)L", str(grid.attributes["d"]))]
    assert float(drawn.attributes["cy"]) == min(heights)


def test_curve_with_two_costs_has_a_line_for_each_ratio(small: Database) -> None:
    ratios = [{"elements_per_entry": 6.0, "points": 6}, {"elements_per_entry": 12.0, "points": 6}]
    entries, _ = charts_of(fit_of(small, element=290.0, ratios=ratios))
    assert [line.label for line in entries.lines] == ["1:6", "1:12"]
    six, twelve = (dict(line.points) for line in entries.lines)
    largest = max(six)
    assert (twelve[largest] or 0) < (six[largest] or 0), (
        "more elements for an entry leave room for fewer entries"
    )


def test_published_curve_is_compared_for_the_same_entries(small: Database) -> None:
    fit = fit_of(small)
    smallest = min((point for point in fit.points if not point.left_out), key=lambda point: point.size_bytes)
    assert fit.published is not None
    assert smallest.fitted_bytes is not None
    more = (
        float(fit.published.base) + float(fit.published.bundle) * smallest.entries - smallest.fitted_bytes
    ) / 2**20
    assert f"gives {more:.2f} MiB more at 64 MiB" in published_in_words(fit)
    assert published_in_words(fit_of(small, cfcc_level=None)) == ""


def test_fit_with_too_little_data_still_shows_its_points(small: Database) -> None:
    (entries,) = charts_of(fit_of(small, state="too_little", reason="One size.", points=3))
    assert entries.lines == ()
    assert len(entries.points) == 3
    assert fit_charts(replace(fit_of(small), points=())) is None


# ---- what the jobs really write --------------------------------------------------------------------------------------


def test_results_of_real_jobs_are_drawn(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Draw a real fit and a real forecast of the jobs after storing them."""
    import numpy as np

    from bench.simulated_allocations import allocation_points
    from bench.simulated_peaks import daily_peaks
    from spark_jobs.fit import AllocationPoint, fit_curve
    from spark_jobs.forecast import DailyPeaks, Level, forecast

    database = Database(database_url("", data_dir=tmp_path_factory.mktemp("real")))
    sample = allocation_points(3, ratios=((1, 6), (1, 12)), days=40)
    fit = plain(fit_curve([AllocationPoint(**row) for row in sample.rows]))
    peaks = np.asarray(daily_peaks(4, days=200).peaks[:200])
    first = MADE_ON - timedelta(days=199)
    total = float(np.nanmax(peaks)) * 1.2
    made = forecast(
        DailyPeaks(QSG, STRUCTURE, "entries", first.toordinal() + np.arange(200), peaks, "entries"),
        levels=[Level("FULLTHRESHOLD 85 %", total * 0.85), Level("SIZE", total, reached=True)],
        made_on=MADE_ON.toordinal(), paths=100,
    )  # fmt: skip
    days = [
        {
            "qsg": QSG, "structure": STRUCTURE, "day": (first + timedelta(days=nth)).isoformat(),
            "entries_peak": None if np.isnan(peak) else int(peak), "entries_total": int(total),
        }
        for nth, peak in enumerate(peaks)
    ]  # fmt: skip
    store_night(database, curves=[json.loads(json.dumps(fit))], forecasts=[plain(made)], days=days)
    with database.session(writes=False) as session:
        (outlook,) = outlooks(session, QSG, STRUCTURE)
        kept = fits.get_fit(session, 1)
    assert kept.base_bytes is not None
    assert kept.base_bytes.low < sample.truth.base_bytes * 1.1
    assert [chart.id for chart in charts_of(kept)] == ["entries", "residuals"]
    assert [each.level for each in outlook.crossings] == ["FULLTHRESHOLD 85 %", "SIZE"]
    assert len(outlook.bands) == 180
    assert outlook.bands[0].day == date(2026, 11, 21)
    chart = chart_of(outlook)
    assert chart.heading == "Highest of each week"
    assert len(chart.levels) == 2
    database.close()
