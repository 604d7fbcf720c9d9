"""What the service draws by itself."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.usage.charts import UsageChart, UsageChartLayout, held_from, size_bars, time_chart
from app.usage.measured import SizeBucket
from app.usage.periods import Period
from tests.usage.support import at

DAY = Period(at(0), at(24), "hour")


def chart(
    values: dict[int, int], *, limit: dict[int, int] | None = None, marks: tuple[int, ...] = ()
) -> UsageChart:
    return time_chart(
        "entries",
        "List entries in use",
        unit="entries",
        period=DAY,
        series=[("List entries in use", [(at(hour), value) for hour, value in values.items()])],
        limit=("of", [(at(hour), value) for hour, value in limit.items()]) if limit else None,
        marks=[at(hour) for hour in marks],
    )


def points(line: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in line.split())]


@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_a_value_stands_in_the_middle_of_its_hour_at_its_height(kind: str) -> None:
    drawing: UsageChartLayout = getattr(chart({0: 0, 1: 100, 2: 50}), kind)
    ((first, second, third),) = [points(line) for line in drawing.curves[0].lines]
    assert first[1] == drawing.bottom
    assert second[1] == drawing.top  # 100 is the last value of the axis
    assert third[1] == pytest.approx((drawing.top + drawing.bottom) / 2)
    hour = (drawing.right - drawing.left) / 24
    assert first[0] == pytest.approx(drawing.left + hour / 2, abs=0.1)
    assert second[0] - first[0] == pytest.approx(hour, abs=0.1)


def test_nothing_is_drawn_across_hours_without_records() -> None:
    curve = chart({0: 5, 1: 6, 5: 7, 9: 8, 10: 9}).wide.curves[0]
    assert [len(points(line)) for line in curve.lines] == [2, 2]
    assert len(curve.dots) == 1


def test_a_limit_is_a_step_and_holds_to_the_end() -> None:
    drawing = chart({0: 5}, limit={0: 100, 12: 50}).wide
    assert drawing.limit is not None
    (line,) = drawing.limit.lines
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = points(line)
    assert (x1, x4) == (drawing.left, drawing.right)
    assert x2 == x3 == pytest.approx((drawing.left + drawing.right) / 2)
    assert y1 == y2 < y3 == y4
    assert drawing.limit.label == "of 50"


def test_a_limit_holds_from_before_the_period_until_another_is_observed() -> None:
    observed: list[tuple[datetime, int | None]] = [
        (at(1), None),
        (at(2), 10),
        (at(3), 20),
        (at(4), None),
        (at(5), 20),
    ]
    assert held_from(observed, 10, at(0)) == [(at(0), 10), (at(3), 20)]
    assert held_from(observed, None, at(0)) == [(at(2), 10), (at(3), 20)]
    assert held_from([], None, at(0)) == []


def test_when_it_was_full_is_marked_and_said() -> None:
    found = chart({0: 5, 1: 6, 2: 7}, marks=(1, 2))
    assert len(found.wide.marks) == 2
    assert "found full in 2 hours" in found.description
    assert "last on 2026-11-16 at 02:00 UTC" in found.description


def test_the_words_have_the_figures_that_the_drawing_has() -> None:
    words = chart({0: 1_500, 1: 26_000, 2: 900}, limit={0: 131_072}).description
    assert "from 900 to 26\u202f000, the highest on 2026-11-16 at 01:00 UTC; last 900" in words
    assert "of: 131\u202f072" in words


def test_a_chart_of_nothing_says_so() -> None:
    assert chart({}).description == "List entries in use: nothing was measured."


@given(
    st.dictionaries(st.integers(0, 23), st.integers(0, 10**12), max_size=24),
    st.integers(0, 10**12),
)
def test_everything_lies_within_the_frame(values: dict[int, int], limit: int) -> None:
    found = chart(dict(sorted(values.items())), limit={0: limit}, marks=tuple(sorted(values)))
    for drawing in (found.wide, found.narrow):
        assert drawing.limit is not None
        lines = [*drawing.limit.lines, *(line for curve in drawing.curves for line in curve.lines)]
        spots = [spot for line in lines for spot in points(line)]
        spots += [(dot.x, dot.y) for curve in drawing.curves for dot in curve.dots]
        for x, y in spots:
            assert drawing.left <= x <= drawing.right
            assert drawing.top <= y <= drawing.bottom
        assert 2 <= len(drawing.y_ticks) <= 9
        labels = [tick.label for tick in drawing.y_ticks]
        assert len(set(labels)) == len(labels)


@given(st.integers(1, 4000))
def test_an_axis_of_any_length_has_a_few_labels(hours: int) -> None:
    period = Period(at(0), at(hours), "hour")
    drawing = time_chart("rate", "Rate", unit="1/s", period=period, series=[("Rate", [])])
    assert len(drawing.narrow.x_ticks) <= 5
    assert len(drawing.wide.x_ticks) <= 10


def test_sizes_are_bars_as_long_as_their_share() -> None:
    bars = size_bars([SizeBucket(512, 100), SizeBucket(4096, 300)])
    assert bars is not None
    assert [bar.label for bar in bars.bars] == ["up to 512 bytes", "up to 4\u202f096 bytes"]
    assert bars.bars[0].width == pytest.approx(bars.bars[1].width / 3, abs=0.1)
    assert bars.bars[0].value == "100 (25.0 %)"
    assert size_bars([]) is None
    assert size_bars([SizeBucket(512, 0)]) is None
