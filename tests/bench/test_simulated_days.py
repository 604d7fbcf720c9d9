"""Simulated daily statistics match their true values, and depend only on the seed."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from bench.simulated_allocations import AllocationSample, allocation_points
from bench.simulated_peaks import daily_peaks
from planner_core.units import MIB

TWO_RATIOS = ((1, 6), (1, 2))


def columns(sample: AllocationSample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return size, entries and elements of the rows that are not outliers."""
    rows = [row for row, is_wrong in zip(sample.rows, sample.is_outlier, strict=True) if not is_wrong]
    size, entries, elements = (
        np.array([row[name] for row in rows], dtype=float)
        for name in ("size_bytes", "entries_total", "elements_total")
    )
    return size, entries, elements


def test_sample_depends_only_on_the_seed() -> None:
    assert allocation_points(5).rows == allocation_points(5).rows
    assert allocation_points(5).rows != allocation_points(6).rows
    one, same, other = daily_peaks(5), daily_peaks(5), daily_peaks(6)
    np.testing.assert_array_equal(one.peaks, same.peaks)
    assert one.total == same.total
    assert not np.array_equal(one.peaks, other.peaks)


@pytest.mark.parametrize("seed", range(5))
def test_two_ratios_determine_the_base_and_both_costs(seed: int) -> None:
    sample = allocation_points(seed, ratios=TWO_RATIOS, structures=20)
    size, entries, elements = columns(sample)
    # Storage that is left over grows with nothing: the sizes of small structures say the base.
    base, entry, element = np.linalg.lstsq(
        np.column_stack([np.ones_like(size), entries, elements]), size, rcond=None
    )[0]
    truth = sample.truth
    assert base == pytest.approx(truth.base_bytes, rel=0.10)
    assert entry == pytest.approx(truth.entry_bytes, rel=0.02)
    assert element == pytest.approx(truth.element_bytes, rel=0.02)


def test_one_ratio_determines_the_bundle_but_not_its_costs() -> None:
    sample = allocation_points(3, structures=20)
    size, entries, elements = columns(sample)
    np.testing.assert_array_equal(elements, 6 * entries)
    bundle, base = np.polyfit(entries, size, 1)
    assert bundle == pytest.approx(sample.truth.bundle_bytes(), rel=0.01)
    assert base == pytest.approx(sample.truth.base_bytes, rel=0.10)


def test_totals_change_only_with_a_new_allocation() -> None:
    sample = allocation_points(8, outlier_share=0, days=90)
    distinct = {
        (row["structure"], row["allocated_at"], row["size_bytes"], row["entries_total"])
        for row in sample.rows
    }
    assert len(distinct) <= len(sample.changes)
    assert {change.kind for change in sample.changes} == {"allocated", "reallocated", "altered", "rebuilt"}
    both = allocation_points(8, ratios=TWO_RATIOS, outlier_share=0)
    assert "ratio_altered" in {change.kind for change in both.changes}
    assert {round(row["elements_total"] / row["entries_total"]) for row in both.rows} == {2, 6}


def test_sample_has_the_given_costs_as_its_true_costs() -> None:
    sample = allocation_points(
        1, base_bytes=20 * MIB, entry_bytes=600, element_bytes=256, noise_bytes=0, outlier_share=0
    )
    for row in sample.rows:
        room = row["size_bytes"] - 20 * MIB
        assert row["entries_total"] == int(room / (600 + 6 * 256))


def test_about_5_percent_of_rows_are_outliers() -> None:
    wrong = sum(int(allocation_points(seed).is_outlier.sum()) for seed in range(40))
    rows = sum(len(allocation_points(seed).rows) for seed in range(40))
    assert 0.045 < wrong / rows < 0.055
    assert not allocation_points(1, outlier_share=0).is_outlier.any()


def test_day_in_another_coupling_facility_is_missing() -> None:
    whole = allocation_points(2, rebuilds=0, reallocations=0, alters=0, structures=4, days=30)
    assert len(whole.rows) == 4 * 30
    assert (
        len(allocation_points(2, rebuilds=3, reallocations=0, alters=0, structures=4, days=30).rows) < 4 * 30
    )


def test_peaks_without_noise_or_events_equal_the_expected_peaks() -> None:
    sample = daily_peaks(4, noise=0, outages_per_year=0, backlogs_per_year=0, level_shift=False)
    np.testing.assert_allclose(sample.peaks, sample.truth.expected[:270], atol=0.5)
    np.testing.assert_array_equal(sample.days, np.arange(270) + dt.date(2026, 1, 5).toordinal())
    assert sample.future_days[0] == sample.days[-1] + 1


@pytest.mark.parametrize("seed", range(8))
def test_expected_crossing_is_on_the_planned_day(seed: int) -> None:
    sample = daily_peaks(seed, crossing=(40, 90), level_shift=False, backlogs_per_year=0, horizon_days=180)
    day = sample.crossing_day("full_threshold")
    assert day is not None
    assert day <= 90
    path = sample.truth.expected[len(sample.days) :]
    assert (path[: day - 1] < sample.levels["full_threshold"]).all()
    assert path[day - 1] >= sample.levels["full_threshold"]


def test_outages_are_days_without_peaks_and_by_default_only_in_the_past() -> None:
    sample = daily_peaks(2, outages_per_year=20)
    missing = np.flatnonzero(np.isnan(np.concatenate([sample.peaks, sample.future_peaks])))
    assert tuple(missing.tolist()) == sample.truth.outage_days
    assert not np.isnan(sample.future_peaks).any()
    goes_on = daily_peaks(2, outages_per_year=20, events_in_future=True)
    assert np.isnan(goes_on.future_peaks).any()


def test_peaks_are_low_on_weekends_and_high_at_month_ends() -> None:
    sample = daily_peaks(9, growth_per_year=0, noise=0, month_end=0.5, level_shift=False)
    by_day = dict(zip(sample.days.tolist(), sample.truth.expected, strict=False))
    # The same weekday, in and out of the end of a month.
    end, ordinary = dt.date(2026, 3, 31).toordinal(), dt.date(2026, 3, 24).toordinal()
    assert by_day[end] == pytest.approx(1.5 * by_day[ordinary])
    assert by_day[dt.date(2026, 4, 1).toordinal()] == pytest.approx(
        1.5 * by_day[dt.date(2026, 4, 8).toordinal()]
    )
    assert by_day[dt.date(2026, 3, 21).toordinal()] < 0.95 * max(by_day.values()) / 1.5
    flat = daily_peaks(9, growth_per_year=0, noise=0, month_end=0, weekly=False, level_shift=False)
    assert np.ptp(flat.truth.expected) == 0
