"""Fits recover the true costs from allocations with noise, reallocations and wrong rows, and from IBM's Table 2."""

from __future__ import annotations

import datetime as dt

import pytest

from bench.fit import ONE_RATIO, TWO_RATIOS, Held, simulated
from spark_jobs.fit import AllocationPoint, fit_curve
from tests.golden.test_table_2_application_structures import MESSAGE_KB, TABLE_2

MIB = 2**20
BASE, COST, BUNDLE = 0.10, 0.02, 0.01


def check_errors(two: Held, one: Held, simulations: int) -> None:
    assert two.states == {"fitted two_costs": simulations}
    assert one.states == {"fitted bundle": simulations}
    assert two.worst("base") < BASE
    assert two.worst("entry") < COST
    assert two.worst("element") < COST
    assert one.worst("base") < BASE
    assert one.worst("bundle") < BUNDLE


def test_fit_recovers_the_truth_in_200_simulations() -> None:
    two = simulated(range(200), ratios=TWO_RATIOS)
    one = simulated(range(200), ratios=ONE_RATIO)
    check_errors(two, one, 200)
    # Of 200 intervals at 90 %, 180 hold the truth give or take 13 (three standard deviations).
    for name in ("base", "entry", "element", "bundle"):
        assert 0.835 <= two.coverage(name) <= 0.965, name
    for name in ("base", "bundle"):
        assert 0.835 <= one.coverage(name) <= 0.965, name


@pytest.mark.soak
def test_fit_recovers_the_truth_in_1000_simulations_within_its_intervals() -> None:
    two = simulated(range(1000), ratios=TWO_RATIOS)
    one = simulated(range(1000), ratios=ONE_RATIO)
    check_errors(two, one, 1000)
    for name in ("base", "entry", "element", "bundle"):
        assert 0.87 <= two.coverage(name) <= 0.93, name
    for name in ("base", "bundle"):
        assert 0.87 <= one.coverage(name) <= 0.93, name


def test_fit_of_the_28_cells_of_table_2_gives_its_bundle_and_base() -> None:
    """Each cell is an allocation at 1:6 with the bundles of its messages and the printed MB."""
    day = dt.date(2026, 1, 5)
    points = []
    cells = [(n, kb, mb) for n, row in TABLE_2.items() for kb, mb in zip(MESSAGE_KB, row, strict=True)]
    for number, (messages, kb, mb) in enumerate(cells):
        elements = -(-(1024 * kb + 372) // 256)
        bundles = max(messages, -(-messages * elements // 6))
        points.append(
            AllocationPoint(
                "SIM1", f"APPL{number}", None, "CF01", 14, day, None, mb * MIB, bundles, 6 * bundles, 96
            )
        )
    assert len(points) == 28
    fit = fit_curve(points)
    assert fit.state == "fitted"
    assert fit.points_used == 28
    assert fit.bundle_bytes is not None
    assert fit.base_bytes is not None
    assert abs(fit.bundle_bytes.value / 2018.688 - 1) < 0.005
    assert abs(fit.base_bytes.value / (6.089 * MIB) - 1) < 0.05
    assert fit.base_bytes.low < 6.089 * MIB < fit.base_bytes.high
