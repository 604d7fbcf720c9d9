"""The order of urgency: full structures, then recently full ones, then those that fill soonest."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import permutations

import pytest

from planner_core.urgency import Fullness, UsedDay, fullness, urgency_key

LAST = date(2026, 3, 5)


def ago(days: int) -> date:
    return LAST - timedelta(days=days)


@pytest.mark.parametrize(
    ("days", "state", "sentence"),
    [
        ([UsedDay(LAST, 15, ((99, 100),)), UsedDay(ago(2), 87)], "was_full", "Full 102 times since 2026-03-03"),
        ([UsedDay(LAST, 15, ((50, 100), (60, 60)))], "full_now", "Full now, 15 times since 2026-03-05"),
        ([UsedDay(LAST, 0, ((100, 100),))], "full_now", "Full now, on 2026-03-05"),
        ([UsedDay(LAST, None, ((101, 100),)), UsedDay(ago(6), 0, ((9, 9),))], "full_now", "Full now, on 2 days since 2026-02-27"),
        ([UsedDay(ago(1), 1)], "was_full", "Full on 2026-03-04"),
        ([UsedDay(ago(1), None, ((100, 100), (None, None)))], "was_full", "Full on 2026-03-04"),
    ],
)  # fmt: skip
def test_full_structures_are_detected_by_counts_and_by_usage(
    days: list[UsedDay], state: str, sentence: str
) -> None:
    found = fullness(days, last_day=LAST)
    assert found is not None
    assert (found.state, found.sentence) == (state, sentence)


@pytest.mark.parametrize(
    "days",
    [
        [],
        [UsedDay(LAST)],
        [UsedDay(LAST, 0, ((99, 100), (None, 100), (5, None), (0, 0)))],
        [UsedDay(ago(7), 3, ((100, 100),))],
    ],
)
def test_structures_with_room_or_full_long_ago_are_not_full(days: list[UsedDay]) -> None:
    assert fullness(days, last_day=LAST) is None


def test_urgency_sorts_full_structures_then_recent_ones_then_crossings() -> None:
    now = Fullness("full_now", 0, 1, LAST, LAST)
    often = Fullness("was_full", 102, 2, ago(2), LAST)
    once = Fullness("was_full", 1, 1, ago(6), ago(6))
    ordered = [
        urgency_key(now, crossing_day=None, used_percent=100, names=("Z", "Z", "elements", "")),
        urgency_key(often, crossing_day=None, used_percent=100, names=("Q", "TRADES", "elements", "")),
        urgency_key(often, crossing_day=ago(1), used_percent=8, names=("Q", "TRADES", "entries", "")),
        urgency_key(once, crossing_day=None, used_percent=None, names=("A", "A", "elements", "")),
        urgency_key(None, crossing_day=ago(-27), used_percent=10, names=("Q", "PAYMENTS", "entries", "")),
        urgency_key(None, crossing_day=ago(-36), used_percent=90, names=("A", "A", "entries", "")),
        urgency_key(None, crossing_day=None, used_percent=90, names=("Z", "A", "entries", "")),
        urgency_key(None, crossing_day=None, used_percent=20, names=("A", "A", "entries", "")),
        urgency_key(None, crossing_day=None, used_percent=None, names=("A", "A", "entries", "")),
        urgency_key(None, crossing_day=None, used_percent=None, names=("A", "A", "entries", "QM1")),
    ]
    assert all(sorted(each) == ordered[:5] for each in permutations(ordered[:5]))
    assert all(sorted(each) == ordered[5:] for each in permutations(ordered[5:]))
    assert ordered[4] < ordered[5]
