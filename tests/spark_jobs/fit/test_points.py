"""A point of a fit is a period in which an allocation did not change."""

from __future__ import annotations

import datetime as dt

from spark_jobs.fit import AllocationPoint
from spark_jobs.fit.points import (
    NO_TOTALS,
    OTHER_KIND,
    PASSING,
    REPEATED,
    SCARCE,
    cuts_of,
    gather,
    leave_out_repeated,
)
from tests.spark_jobs.fit.allocations import FIRST, MADE, seen

LATER = MADE + dt.timedelta(days=40)


def summary(points: list[AllocationPoint]) -> list[tuple[float, float, float, int]]:
    return [(s.size_bytes / 2**20, s.entries, s.elements, len(s.days)) for s in gather(points).stretches]


def test_unchanged_totals_are_one_point() -> None:
    assert summary(seen("A", range(300), 512, 240_000, 1_440_000)) == [(512, 240_000, 1_440_000, 300)]


def test_alter_splits_the_series_on_its_day() -> None:
    points = [
        *seen("A", range(11), 512, 240_000, 1_440_000),
        *seen("A", range(10, 20), 768, 360_000, 2_160_000),
    ]
    gathered = gather(points)
    assert [s.size_bytes for s in gathered.stretches] == [512 * 2**20, 768 * 2**20]
    (cut,) = cuts_of(gathered.stretches)
    assert (cut.structure, cut.day, cut.why) == (
        "A",
        FIRST + dt.timedelta(days=10),
        "altered from 512M to 768M",
    )


def test_new_instance_splits_the_series_even_with_the_same_size() -> None:
    points = [
        *seen("A", range(10), 512, 240_000, 1_440_000),
        *seen("A", range(10, 20), 512, 240_090, 1_440_540, allocated_at=LATER),
    ]
    gathered = gather(points)
    assert len(gathered.stretches) == 2
    (cut,) = cuts_of(gathered.stretches)
    assert cut.why == "reallocated with 512M"


def test_new_allocation_with_the_same_totals_splits_the_series_without_a_second_point() -> None:
    points = [
        *seen("A", range(10), 512, 240_000, 1_440_000),
        *seen("A", range(10, 30), 512, 240_000, 1_440_000, allocated_at=LATER),
        *seen("B", range(10), 512, 240_000, 1_440_000),
    ]
    stretches = gather(points).stretches
    leave_out_repeated(stretches)
    assert [(s.structure, len(s.days), s.left_out) for s in stretches] == [
        ("A", 10, REPEATED),
        ("A", 20, None),
        ("B", 10, None),
    ]
    (cut,) = cuts_of(stretches)
    assert cut.why == "reallocated with 512M"


def test_allocation_reported_by_two_sources_does_not_split_the_series() -> None:
    for told in (None, MADE + dt.timedelta(hours=2)):
        points = [
            *seen("A", range(0, 20, 2), 512, 240_000, 1_440_000),
            *seen("A", range(1, 20, 2), 512, 240_000, 1_440_000, allocated_at=told),
        ]
        stretches = gather(points).stretches
        assert cuts_of(stretches) == []
        leave_out_repeated(stretches)
        assert [s.left_out for s in stretches] == [None, REPEATED]


def test_new_ratio_at_the_same_size_splits_the_series() -> None:
    points = [
        *seen("A", range(10), 512, 240_000, 1_440_000),
        *seen("A", range(10, 20), 512, 300_000, 1_300_000),
    ]
    (cut,) = cuts_of(gather(points).stretches)
    assert cut.why == "ratio altered at 512M, from 6 to 4.33 elements per entry"


def test_return_to_an_earlier_size_gives_two_splits_and_two_points() -> None:
    points = [
        *seen("A", [*range(10), *range(20, 30)], 512, 240_000, 1_440_000),
        *seen("A", range(10, 20), 768, 360_000, 2_160_000),
    ]
    gathered = gather(points)
    assert len(gathered.stretches) == 2
    assert [(c.day - FIRST).days for c in cuts_of(gathered.stretches)] == [10, 20]


def test_single_days_between_others_are_left_out_even_if_repeated() -> None:
    wrong = seen("A", [4, 9], 512, 24_000, 144_000, observations=2)
    gathered = gather([*seen("A", range(20), 512, 240_000, 1_440_000), *wrong])
    assert len(gathered.stretches) == 1
    assert gathered.left_out == {PASSING: 2}
    assert cuts_of(gathered.stretches) == []


def test_totals_of_an_incomplete_last_day_are_left_out() -> None:
    points = [
        *seen("A", range(20), 512, 240_000, 1_440_000),
        *seen("A", [20], 768, 360_000, 2_160_000, observations=3),
    ]
    gathered = gather(points)
    assert len(gathered.stretches) == 1
    assert gathered.left_out == {SCARCE: 1}
    whole = gather([*points, *seen("A", [21], 768, 360_000, 2_160_000)])
    assert len(whole.stretches) == 2


def test_structure_displayed_once_a_day_counts_from_its_first_display() -> None:
    assert len(gather(seen("A", [0], 512, 240_000, 1_440_000, observations=1)).stretches) == 1


def test_drifting_totals_are_one_point_only_if_the_drift_is_small() -> None:
    drifting = [
        point
        for day in range(40)
        for point in seen("A", [day], 512, 240_000 - 240 * day, 1_440_000 + 600 * day)
    ]
    found = gather(drifting).stretches
    assert 2 <= len(found) <= 8
    assert sum(len(s.days) for s in found) == 40


def test_csq_admin_and_rows_without_totals_are_left_out() -> None:
    points = [
        *seen("CSQ_ADMIN", range(5), 25, 5000, 30_000),
        *seen("A", range(3), 512, 0, 1_440_000),
        *seen("A", range(5), 512, 240_000, 1_440_000),
    ]
    gathered = gather(points)
    assert [s.structure for s in gathered.stretches] == ["A"]
    assert gathered.left_out == {OTHER_KIND: 5, NO_TOTALS: 3}


def test_structures_with_the_same_name_in_two_groups_are_separate() -> None:
    points = [
        *seen("A", range(5), 512, 240_000, 1_440_000),
        *seen("A", range(5), 512, 240_000, 1_440_000, qsg="SQ04"),
    ]
    assert [s.qsg for s in gather(points).stretches] == ["SQ03", "SQ04"]
