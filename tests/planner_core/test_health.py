"""Guidelines for the health of structures, on both sides of each limit."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.health import (
    MEASURES,
    Balance,
    HealthFigures,
    Level,
    Measure,
    balancing_ratio,
    guidelines,
    level_of,
)

WORST = dt.datetime(2026, 3, 2, 14, 15, tzinfo=dt.UTC)

# The numbers of the guidelines are entered again here: 20 % redrives and 3 READLIST for each GETMOVE (IBM Washington
# Systems Center), 40 and 60, 250 and 400 microseconds, 10 % (RMF Spreadsheet Reporter, z/OS Setting Up a Sysplex).
JUDGED: list[tuple[Measure, int, int, Level | None]] = [
    ("redrives", 200, 1000, "good"),
    ("redrives", 201, 1000, "above_limit"),
    ("redrives", 99, 99, None),
    ("redrives", 21, 100, "above_limit"),
    ("structure_full", 0, 1, "good"),
    ("structure_full", 1, 1, "above_limit"),
    ("sync_time", 39_999, 1000, "good"),
    ("sync_time", 40_000, 1000, "above_good"),
    ("sync_time", 60_000, 1000, "above_good"),
    ("sync_time", 60_001, 1000, "above_limit"),
    ("sync_time", 60_001, 99, None),
    ("async_time", 249_999, 1000, "good"),
    ("async_time", 250_000, 1000, "above_good"),
    ("async_time", 400_000, 1000, "above_good"),
    ("async_time", 400_001, 1000, "above_limit"),
    ("changed", 100, 1000, "good"),
    ("changed", 101, 1000, "above_limit"),
    ("delayed", 100, 1000, "good"),
    ("delayed", 101, 1000, "above_limit"),
    ("read_lists", 300, 100, "good"),
    ("read_lists", 301, 100, "above_limit"),
    ("read_lists", 100, 0, "above_limit"),
    ("read_lists", 75, 24, None),
    ("read_lists", 75, 25, "good"),
    ("pool_waits", 0, 1, "good"),
    ("pool_waits", 1, 1, "above_limit"),
    ("buffer_waits", 0, 1, "good"),
    ("buffer_waits", 1, 1, "above_limit"),
]


@pytest.mark.parametrize(("measure", "part", "whole", "level"), JUDGED)
def test_interval_is_judged_by_its_guideline(
    measure: Measure, part: int, whole: int, level: Level | None
) -> None:
    assert level_of(measure, part, whole) == level


def test_every_measure_is_judged_on_both_sides() -> None:
    for measure in MEASURES:
        levels = {level for each, _, _, level in JUDGED if each == measure}
        assert levels >= {"good", "above_limit"}


@given(st.sampled_from(MEASURES), st.integers(0, 10**6), st.integers(1, 10**6), st.integers(0, 10**6))
def test_interval_is_never_better_with_a_larger_figure(
    measure: Measure, part: int, whole: int, more: int
) -> None:
    order = ("good", "above_good", "above_limit")
    before, after = level_of(measure, part, whole), level_of(measure, part + more, whole)
    if before is not None:
        assert after is not None
        assert order.index(after) >= order.index(before)


@pytest.mark.parametrize(
    ("above_good", "above_limit", "state"), [(2, 0, "good"), (3, 0, "above_good"), (3, 2, "above_good"), (3, 3, "above_limit")]
)  # fmt: skip
def test_state_needs_three_intervals(above_good: int, above_limit: int, state: str) -> None:
    found = HealthFigures(
        measure="sync_time", records=700, intervals=672, above_good=above_good, above_limit=above_limit
    )
    assert found.state == state


def test_one_interval_in_which_the_structure_was_full_is_enough() -> None:
    found = HealthFigures(measure="structure_full", records=9, intervals=9, above_good=1, above_limit=1)
    assert found.state == "above_limit"


def test_measure_without_records_states_what_is_missing() -> None:
    found = HealthFigures(measure="sync_time")
    assert found.state == "not_measured"
    assert found.sentence == "Not measured: no record of SMF 74 subtype 4 (R744SREQ) has these figures."


def test_measure_with_few_requests_is_not_judged() -> None:
    found = HealthFigures(measure="redrives", records=1)
    assert found.state == "too_few"
    assert found.sentence == "Not judged: fewer than 100 requests in each of 1 interval."


def test_sentence_states_count_and_worst_interval() -> None:
    found = HealthFigures(
        measure="sync_time", records=672, intervals=670, above_good=40, above_limit=12, worst=83.25, worst_at=WORST,
        reporter="SYSA", coupling_facility="CF01",
    )  # fmt: skip
    assert found.sentence == (
        "12 of 670 intervals were above the guideline; the worst had 83.2 µs and ended at 2026-03-02 14:15 UTC "
        "(SYSA, coupling facility CF01)."
    )
    queue = HealthFigures(
        measure="read_lists", records=5, intervals=5, worst=2.5, worst_at=WORST, reporter="MQ01", queue="Q1"
    )
    assert queue.sentence == (
        "None of 5 intervals was above the guideline; the worst had 2.5 to 1 and ended at 2026-03-02 14:15 UTC "
        "(MQ01, queue Q1)."
    )
    few = HealthFigures(measure="redrives", records=2, intervals=2, above_limit=2)
    assert few.state == "good"
    assert few.sentence == "2 of 2 intervals were above the guideline (3 are needed for a finding)."
    none = HealthFigures(
        measure="pool_waits", records=5, intervals=5, worst=0, worst_at=WORST, reporter="MQ01"
    )
    assert none.sentence == "None of 5 intervals was above the guideline."


def test_guidelines_state_their_limits_in_words() -> None:
    assert {measure: each.words for measure, each in guidelines().items()} == {
        "redrives": "at most 20 %",
        "structure_full": "never",
        "sync_time": "below 40 µs good, above 60 µs critical",
        "async_time": "below 250 µs good, above 400 µs critical",
        "changed": "at most 10 %",
        "delayed": "at most 10 %",
        "read_lists": "at most 3 to 1",
        "pool_waits": "never",
        "buffer_waits": "never",
    }


@pytest.mark.parametrize(
    ("entries", "elements", "ratio"),
    [(1000, 6000, (1, 6)), (1000, 5900, (1, 6)), (1000, 2500, (2, 5)), (1000, 1000, (1, 1)), (3000, 1000, (3, 1)), (1000, 49, (61, 3))],
)  # fmt: skip
def test_balancing_ratio_has_small_numbers(entries: int, elements: int, ratio: tuple[int, int]) -> None:
    assert balancing_ratio(entries, elements) == ratio


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_balancing_ratio_is_close_to_the_ratio_in_use(entries: int, elements: int) -> None:
    found = balancing_ratio(entries, elements)
    assert min(found) in range(1, 5)
    exact, stated = max(entries / elements, elements / entries), max(found) / min(found)
    assert abs(stated - exact) <= 1 / 8 + 1e-9


def test_balance_states_the_ratio_that_would_fill_both_pools() -> None:
    found = Balance(
        entries_total=200_000, elements_total=1_200_000, entries_peak=100_000, elements_peak=250_000
    )
    assert found.sentence == (
        "6.0 elements for each entry are allocated, 2.5 are used at the peaks. "
        "An entry-to-element ratio of 2:5 would balance them."
    )
