"""Charts of usage over time and of message sizes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from app.usage.charts import held_from, size_bars, time_chart
from app.usage.observed import PlannedLevels
from app.usage.periods import Period
from app.web.charts import Chart, runs
from planner_core.contracts.rollup import SizeBucket
from tests.app.usage.support import at

DAY = Period(at(0), at(24), "hour")


def chart(
    values: dict[int, int],
    *,
    limit: dict[int, int] | None = None,
    full: tuple[int, ...] = (),
    planned: PlannedLevels | None = None,
    today: datetime | None = None,
) -> Chart:
    return time_chart(
        "entries",
        "List entries in use",
        unit="entries",
        period=DAY,
        values=[(at(hour), value) for hour, value in values.items()],
        limit=[(at(hour), value) for hour, value in (limit or {}).items()],
        full=[(at(hour), 3) for hour in full],
        planned=planned,
        today=today,
    )


def test_value_is_drawn_in_the_middle_of_its_hour_and_the_axis_ends_at_a_round_value() -> None:
    found = chart({0: 0, 1: 100, 2: 50})
    half = timedelta(minutes=30)
    assert dict(found.lines[0].points) == {at(0) + half: 0, at(1) + half: 100, at(2) + half: 50}
    assert [found.y_axis.share(value) for value in (0, 100)] == [0, 1]
    assert [found.x_axis.share(hour) for hour in (at(0), at(24))] == [0, 1]


def test_hours_without_records_leave_a_gap() -> None:
    (line,) = chart({0: 5, 1: 6, 5: 7, 9: 8, 10: 9}).lines
    assert [len(run) for run in runs(line.points)] == [2, 1, 2]


def test_limit_line_is_stepped_and_continues_to_the_end() -> None:
    _, limit = chart({0: 5}, limit={0: 100, 12: 50}).lines
    assert dict(limit.points) == {at(0): 100, at(12): 50, at(24): 50}
    assert limit.is_stepped
    assert limit.style == "limit"


def test_limit_is_labeled_with_the_last_total_from_its_last_change_on() -> None:
    (label,) = chart({0: 5}, limit={0: 100, 12: 50}).levels
    assert (label.value, label.label, label.short, label.begin) == (50, "total 50", "total", at(12))


def test_planned_levels_are_shares_of_the_last_total() -> None:
    planned = PlannedLevels("SQ03", 80, (70, 80))
    found = chart({0: 5}, limit={0: 100, 12: 50}, planned=planned)
    levels = {level.label: level.value for level in found.levels}
    assert levels == {"total 50": 50, "offload 70 %": 35, "FULLTHRESHOLD 80 %, offload": 40}
    assert {level.begin for level in found.levels} == {at(12)}
    assert chart({0: 5}, planned=planned).levels == (), "the total is unknown"


@pytest.mark.parametrize(("hour", "marks"), [(12, ["today"]), (25, [])])
def test_today_is_marked_if_the_period_includes_it(hour: int, marks: list[str]) -> None:
    assert [mark.label for mark in chart({0: 5}, today=at(hour)).marks] == marks


def test_limit_known_before_the_period_applies_until_another_is_observed() -> None:
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


def test_hours_with_a_full_structure_are_marked_and_described() -> None:
    found = chart({0: 5, 1: 6, 2: 7}, full=(1, 2))
    assert [mark.title for mark in found.marks] == ["3 times", "3 times"]
    assert "found full in 2 hours" in found.description
    assert "last on 2026-11-16 at 02:00 UTC" in found.description


def test_description_has_the_figures_of_the_chart() -> None:
    words = chart({0: 1_500, 1: 26_000, 2: 900}, limit={0: 131_072}).description
    assert "from 900 to 26\u202f000, the highest on 2026-11-16 at 01:00 UTC; last 900" in words
    assert "Total: 131\u202f072" in words


def test_empty_chart_states_that_it_is_empty() -> None:
    found = chart({}, limit={0: 100})
    assert found.is_empty, "a limit alone would need an invented axis"
    assert found.description.startswith("List entries in use: no measurements.")
    assert found.no_data == "There are no measurements in this period."


def test_message_size_bars_are_as_long_as_their_share() -> None:
    found = size_bars([SizeBucket(512, 100), SizeBucket(4096, 300)])
    assert found is not None
    small, large = found.bars
    assert [bar.name for bar in found.bars] == ["up to 512 bytes", "up to 4096 bytes"]
    assert small.extent == pytest.approx(large.extent / 3)
    assert small.text == "100 (25.0 %)"
    assert size_bars([]) is None
    assert size_bars([SizeBucket(512, 0)]) is None
