"""What the service draws itself: coordinates of forecasts and of fits."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

import pytest

from app.database.engine import Database, database_url
from app.fits import fits
from app.fits.charts import fit_charts, published_in_words
from app.fits.fits import Fit
from app.forecasts.charts import ForecastChart, outlook_chart
from app.forecasts.service import Outlook, Peak, outlooks
from tests.curves.support import (
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
    """120 days of history, and 180 to come."""
    store_night(small, forecasts=[forecast_json()], days=daily())
    with small.session(writes=False) as session:
        return outlooks(session, QSG, STRUCTURE)[0]


def fit_of(database: Database, **members: object) -> Fit:
    store_night(database, curves=[fit_json(**members)])  # type: ignore[arg-type]
    with database.session(writes=False) as session:
        return fits.get_fit(session, versions(database)[-1])


def chart_of(outlook: Outlook) -> ForecastChart:
    found = outlook_chart(outlook)
    assert found is not None
    return found


def points(text: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in text.split())]


# ---- forecasts -------------------------------------------------------------------------------------------------------


def test_a_long_span_is_drawn_by_the_highest_of_each_whole_week(outlook: Outlook) -> None:
    chart = chart_of(outlook)
    assert chart.by == "week"
    assert len(points(chart.wide.middle)) == 180 // 7
    drawn = [point for line in chart.wide.lines for point in points(line)]
    assert len(drawn) == 120 // 7
    weekend = [each for each in outlook.peaks if each.day.weekday() >= 5]
    assert weekend  # lower than the other days, so that none of them is the highest of its week
    heights = {y for _, y in drawn}
    short = chart_of(
        replace(outlook, peaks=outlook.peaks[-30:], forecast=replace(outlook.forecast, bands=()))
    )
    assert short.by == "day"
    assert len([point for line in short.wide.lines for point in points(line)]) == 30
    assert max(heights) < chart.wide.bottom


def test_nothing_is_drawn_over_days_that_were_not_measured(outlook: Outlook) -> None:
    forecast = replace(outlook.forecast, bands=())
    first = MADE_ON - timedelta(days=10)
    peaks = [
        Peak(first + timedelta(days=nth), None if nth in (3, 5) else 100 + nth, 1000) for nth in range(10)
    ]
    wide = chart_of(replace(outlook, forecast=forecast, peaks=tuple(peaks))).wide
    assert [len(points(line)) for line in wide.lines] == [3, 4]
    assert len(wide.dots) == 1


def test_everything_lies_inside_the_drawing_and_later_lies_right_and_more_lies_higher(
    outlook: Outlook,
) -> None:
    chart = chart_of(outlook)
    for drawing in (chart.wide, chart.narrow):
        everything = [*points(drawing.fan), *points(drawing.middle)]
        everything += [point for line in drawing.lines for point in points(line)]
        assert all(drawing.left <= x <= drawing.right for x, _ in everything)
        assert all(drawing.top <= y <= drawing.bottom for _, y in everything)
        middle = points(drawing.middle)
        assert middle == sorted(middle)
        assert [y for _, y in middle] == sorted((y for _, y in middle), reverse=True), "it grows"
        assert all(x > drawing.now_x for x, _ in middle)
        assert [level.y for level in drawing.levels] == sorted(level.y for level in drawing.levels)
        labels = [level.label_y for level in drawing.levels]
        assert all(after - before >= 12 for before, after in pairwise(labels))


def test_a_level_shows_over_which_days_it_is_likely_passed_first(outlook: Outlook) -> None:
    wide = chart_of(outlook).wide
    size, full, offload = wide.levels
    assert (size.label, full.label, offload.label) == ("SIZE", "85 %", "70 %")
    assert full.from_x is not None
    assert full.middle_x is not None
    assert full.to_x is not None
    assert wide.now_x < full.from_x < full.middle_x < full.to_x < wide.right
    assert size.from_x is not None
    assert size.middle_x is None
    assert size.to_x == wide.right, "the end lies beyond the horizon"


def test_a_level_that_is_far_away_is_told_and_not_drawn(outlook: Outlook) -> None:
    far = tuple(replace(each, value=(each.value or 0) * 100) for each in outlook.forecast.crossings)
    chart = chart_of(replace(outlook, forecast=replace(outlook.forecast, crossings=far)))
    assert chart.wide.levels == ()
    assert len(chart.above) == 3


def test_a_drawing_says_in_words_what_it_shows(outlook: Outlook) -> None:
    words = chart_of(outlook).description
    assert "daily peaks from 2026-07-24 to 2026-11-20" in words
    assert "On 2027-05-19 the middle estimate is" in words


def test_without_history_the_days_to_come_are_drawn_and_without_both_nothing(outlook: Outlook) -> None:
    assert chart_of(replace(outlook, peaks=())).wide.lines == ()
    assert outlook_chart(replace(outlook, peaks=(), forecast=replace(outlook.forecast, bands=()))) is None


# ---- fits ------------------------------------------------------------------------------------------------------------


def test_points_lie_on_the_fitted_line_as_far_as_they_fit(small: Database) -> None:
    entries, residuals = fit_charts(fit_of(small))
    (line,) = entries.wide.lines
    on_it = dict(points(line.points))
    for dot in entries.wide.dots:
        nearest = min(on_it, key=lambda x: abs(x - dot.x))
        assert on_it[nearest] == pytest.approx(dot.y, abs=8)
    assert len(entries.wide.dots) == 11
    assert len(entries.wide.left_out) == 1
    assert residuals.wide.zero_y is not None
    middle = (residuals.wide.top + residuals.wide.bottom) / 2
    assert residuals.wide.zero_y == pytest.approx(middle, abs=0.1)
    assert all(residuals.wide.top <= dot.y <= residuals.wide.bottom for dot in residuals.wide.dots)


def test_a_point_that_is_far_out_and_left_out_stays_at_the_edge_of_the_drawing(small: Database) -> None:
    fit = fit_of(small)
    far = tuple(replace(point, residual_bytes=1e12) if point.left_out else point for point in fit.points)
    _, residuals = fit_charts(replace(fit, points=far))
    assert [dot.y for dot in residuals.wide.left_out] == [residuals.wide.top]


def test_two_costs_give_a_line_for_each_ratio(small: Database) -> None:
    ratios = [{"elements_per_entry": 6.0, "points": 6}, {"elements_per_entry": 12.0, "points": 6}]
    entries, _ = fit_charts(fit_of(small, element=290.0, ratios=ratios))
    assert [line.label for line in entries.wide.lines] == ["1:6", "1:12"]
    six, twelve = (points(line.points) for line in entries.wide.lines)
    assert dict(twelve)[six[-1][0]] > six[-1][1], "more elements for an entry leave room for fewer entries"


def test_the_published_curve_is_told_for_the_same_entries(small: Database) -> None:
    fit = fit_of(small)
    smallest = min((point for point in fit.points if not point.left_out), key=lambda point: point.size_bytes)
    assert fit.published is not None
    assert smallest.fitted_bytes is not None
    more = (
        float(fit.published.base) + float(fit.published.bundle) * smallest.entries - smallest.fitted_bytes
    ) / 2**20
    assert f"gives {more:.2f} MiB more at 64 MiB" in published_in_words(fit)
    assert published_in_words(fit_of(small, cfcc_level=None)) == ""


def test_too_little_data_still_shows_its_points(small: Database) -> None:
    (entries,) = fit_charts(fit_of(small, state="too_little", reason="One size.", points=3))
    assert entries.wide.lines == ()
    assert len(entries.wide.dots) == 3
    assert fit_charts(replace(fit_of(small), points=())) == ()


# ---- what the jobs really write --------------------------------------------------------------------------------------


def test_what_the_jobs_write_is_read_and_drawn(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A real fit and a real forecast, as they come out of the jobs, through the store."""
    import numpy as np

    from bench.simulated_allocations import allocation_points
    from bench.simulated_peaks import daily_peaks
    from spark_jobs.fit import AllocationPoint, fit_curve
    from spark_jobs.forecast import DailyPeaks, Level, forecast

    database = Database(database_url("", data_dir=tmp_path_factory.mktemp("real")))
    sample = allocation_points(3, ratios=((1, 6), (1, 12)), days=40)
    fit = fit_curve([AllocationPoint(**row) for row in sample.rows]).as_json()
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
    store_night(database, curves=[json.loads(json.dumps(fit))], forecasts=[made.as_json()], days=days)
    with database.session(writes=False) as session:
        (outlook,) = outlooks(session, QSG, STRUCTURE)
        kept = fits.get_fit(session, 1)
    assert kept.base is not None
    assert kept.base.low < sample.truth.base_bytes * 1.1
    assert [chart.id for chart in fit_charts(kept)] == ["entries", "residuals"]
    assert [each.level for each in outlook.forecast.crossings] == ["FULLTHRESHOLD 85 %", "SIZE"]
    assert len(outlook.forecast.bands) == 180
    assert outlook.forecast.bands[0].day == date(2026, 11, 21)
    chart = chart_of(outlook)
    assert chart.by == "week"
    assert len(chart.wide.levels) == 2
    database.close()
