"""Results of a fit: figures, their basis, and a message if there are none."""

from __future__ import annotations

import datetime as dt
import json
import random
import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.fit import deviating
from planner_core.contracts.files import parsed_text, plain
from planner_core.contracts.fits import LeftOut
from planner_core.sizing.fitted import fitted_curve
from spark_jobs.fit import AllocationPoint, CurveFit, Estimate, fit_all, fit_curve
from spark_jobs.fit.curve import EARLIER, OTHER_RATIO, OUTLIER
from tests.spark_jobs.fit.allocations import MIB, fitting, seen, site

SIZES = (64, 128, 256, 400, 512, 1024, 2048, 4096)


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def test_one_ratio_without_noise_gives_base_and_bundle_to_a_thousandth() -> None:
    fit = fit_curve(site(SIZES))
    assert (fit.state, fit.kind, fit.ratio) == ("fitted", "bundle", (1, 6))
    assert value(fit.base_bytes) == pytest.approx(22 * MIB, rel=1e-3)
    assert value(fit.bundle_bytes) == pytest.approx(640 + 6 * 270, rel=1e-5)
    assert fit.entry_bytes is None
    assert fit.element_bytes is None
    assert fit.note is not None
    assert "one ratio of entries to elements, 1:6" in fit.note


def test_two_ratios_without_noise_give_both_costs() -> None:
    points = site(SIZES)
    for number, size in enumerate((96, 600, 3000)):
        points += seen(f"OTHER{number}", range(5), *fitting(size, ratio=2.5))
    fit = fit_curve(points)
    assert (fit.state, fit.kind) == ("fitted", "two_costs")
    assert value(fit.base_bytes) == pytest.approx(22 * MIB, rel=1e-3)
    assert value(fit.entry_bytes) == pytest.approx(640, rel=1e-4)
    assert value(fit.element_bytes) == pytest.approx(270, rel=1e-4)
    assert value(fit.bundle_bytes) == pytest.approx(2260, rel=1e-5)
    assert [(ratio.elements_per_entry, ratio.points) for ratio in fit.ratios] == [(2.5, 3), (6.0, 8)]


def test_single_structure_at_another_ratio_is_left_out_and_counted() -> None:
    fit = fit_curve([*site(SIZES), *seen("OTHER", range(7), *fitting(600, ratio=2.5))])
    assert fit.kind == "bundle"
    assert fit.points_left_out == (LeftOut(OTHER_RATIO, 7),)
    assert fit.points_used == len(SIZES)


def test_common_ratio_of_all_allocations_may_differ_from_the_published_one() -> None:
    fit = fit_curve(site(SIZES, ratio=7.3))
    assert (fit.state, fit.ratio) == ("fitted", (10, 73))
    assert value(fit.bundle_bytes) == pytest.approx(640 + 7.3 * 270, rel=1e-4)
    near = fit_curve(site(SIZES, ratio=5.95))
    assert near.ratio == (1, 6)
    assert value(near.bundle_bytes) == pytest.approx(640 + 6 * 270, rel=2e-3)


def test_one_structure_with_many_alters_is_sufficient_for_a_fit() -> None:
    points = [
        point
        for number, size in enumerate((200, 300, 450, 700, 1000))
        for point in seen("A", range(10 * number, 10 * number + 10), *fitting(size))
    ]
    fit = fit_curve(points)
    assert fit.state == "fitted"
    assert fit.structures == 1
    assert len(fit.cuts) == 4
    assert value(fit.base_bytes) == pytest.approx(22 * MIB, rel=1e-2)


def test_wrong_allocation_is_left_out_by_name_without_effect() -> None:
    size, entries, elements = fitting(1500)
    fit = fit_curve([*site(SIZES), *seen("WRONG", range(9), size, entries // 2, elements // 2)])
    assert value(fit.base_bytes) == pytest.approx(22 * MIB, rel=1e-3)
    assert [point.structure for point in fit.points if point.left_out] == ["WRONG"]
    assert fit.points_left_out == (LeftOut(OUTLIER, 9),)
    (wrong,) = (point for point in fit.points if point.left_out)
    assert wrong.residual_bytes == pytest.approx(739 * MIB, rel=1e-2)


def test_three_wrong_allocations_of_eleven_are_left_out() -> None:
    points = site(SIZES)
    for number, size in enumerate((90, 900, 6000)):
        _, entries, elements = fitting(size)
        points += seen(f"WRONG{number}", range(9), size, entries // 10, elements // 10)
    fit = fit_curve(points)
    assert {point.structure for point in fit.points if point.left_out} == {"WRONG0", "WRONG1", "WRONG2"}
    assert value(fit.bundle_bytes) == pytest.approx(2260, rel=1e-4)


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([], "No allocation of an application structure with size"),
        (
            site((512,)),
            "Only 1 different allocation of application structures was found; at least 4 are needed.",
        ),
        (site((512, 1024, 2048)), "Only 3 different allocations of application structures were found"),
        (
            site((500, 510, 520, 530, 540)),
            "All 5 allocations have between 500.0 MiB and 540.0 MiB: too similar",
        ),
    ],
)
def test_insufficient_data_gives_a_message_without_figures(points: list[AllocationPoint], says: str) -> None:
    fit = fit_curve(points)
    assert fit.state == "too_little"
    assert fit.kind is None
    assert (fit.base_bytes, fit.bundle_bytes, fit.residuals) == (None, None, None)
    assert fit.reason is not None
    assert fit.reason.startswith(says)


def test_allocations_far_from_any_line_give_a_message_without_figures() -> None:
    chance = random.Random(4)
    points = []
    for number, size in enumerate(SIZES):
        entries = chance.randrange(50_000, 900_000)
        points += seen(f"A{number}", range(3), size, entries, 6 * entries)
    fit = fit_curve(points)
    assert fit.state == "too_little"
    assert fit.reason is not None
    assert "too far from a single line" in fit.reason


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        (
            {"element": 250.0},
            "An element comes to 250.0 bytes (.*), less than the 256 bytes of data that it holds.",
        ),
        ({"base_mib": -5.0}, r"The base comes to -5\.\d MiB, below zero"),
        ({"entry": -40.0}, r"An entry comes to -40\.\d bytes"),
    ],
)
def test_impossible_costs_give_a_rejected_fit(costs: dict[str, Any], says: str) -> None:
    points = site(SIZES, **costs)
    for number, size in enumerate((96, 600, 3000)):
        points += seen(f"OTHER{number}", range(5), *fitting(size, ratio=2.5, **costs))
    fit = fit_curve(points)
    assert (fit.state, fit.kind) == ("rejected", "two_costs")
    assert fit.base_bytes is not None, "its figures are kept"
    assert fit.reason is not None
    assert re.match(says, fit.reason), fit.reason


def test_bundle_is_rejected_only_if_it_costs_less_than_its_data() -> None:
    fit = fit_curve(site(SIZES, entry=0.0, element=255.0))
    assert fit.state == "rejected"
    assert fit.reason is not None
    assert "less than the 1536 bytes of data that these hold" in fit.reason
    assert fit_curve(site(SIZES, entry=0.0, element=257.0)).state == "fitted"


def test_each_facility_and_level_is_fitted_separately() -> None:
    points = [
        *site(SIZES),
        *(p for p in _moved(site(SIZES, base_mib=14.0), coupling_facility="CF02", cfcc_level=24)),
        *(p for p in _moved(site(SIZES, base_mib=30.0), coupling_facility="CF03", cfcc_level=None)),
        *(p for p in _moved(site(SIZES), coupling_facility=None)),
    ]
    fits = fit_all(points)
    assert [(f.coupling_facility, f.cfcc_level) for f in fits] == [("CF01", 25), ("CF02", 24), ("CF03", None)]
    assert [round(value(f.base_bytes) / MIB) for f in fits] == [22, 14, 30]


def _moved(points: list[AllocationPoint], **changes: Any) -> list[AllocationPoint]:  # noqa: ANN401
    return [replace(point, **changes) for point in points]


@pytest.mark.parametrize("noise", [{"growing": 0.002}, {"alike": 0.3, "constant": 0.1}, {"constant": 0.3}])
def test_intervals_contain_the_truth_for_all_kinds_of_deviations(noise: dict[str, Any]) -> None:
    held = []
    for seed in range(60):
        fit = fit_curve(deviating(seed, **noise))
        assert fit.state == "fitted"
        assert fit.base_bytes is not None
        assert fit.bundle_bytes is not None
        held.append(fit.base_bytes.low <= 22 * MIB <= fit.base_bytes.high)
        held.append(fit.bundle_bytes.low <= 2260 <= fit.bundle_bytes.high)
        assert fit.bundle_bytes.high - fit.bundle_bytes.low < 0.05 * 2260, "and are no wider than of use"
    assert 0.78 <= sum(held) / len(held) <= 0.99


def test_fit_agrees_with_the_robust_estimator_of_statsmodels() -> None:
    from statsmodels.robust.resistant_linear_model import RLMDetSMM

    for seed in range(5):
        points = deviating(seed, constant=0.3)
        size, entries, elements = fitting(1500)
        fit = fit_curve([*points, *seen("WRONG", range(9), size, entries // 2, elements // 2)])
        assert fit.base_bytes is not None
        assert fit.bundle_bytes is not None
        sizes = np.array([point.size_bytes / MIB for point in fit.points])
        bundles = np.array([point.entries * 2000 / MIB for point in fit.points])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = RLMDetSMM(sizes, np.column_stack([np.ones(len(sizes)), bundles])).fit()
        # One estimator's deviations against the other's interval: they see the same points.
        assert abs(other.params[0] * MIB - fit.base_bytes.value) < fit.base_bytes.high - fit.base_bytes.value
        assert (
            abs(other.params[1] * 2000 - fit.bundle_bytes.value)
            < fit.bundle_bytes.high - fit.bundle_bytes.value
        )


def test_fit_does_not_depend_on_row_order() -> None:
    points = deviating(1, constant=0.3)
    shuffled = random.Random(2).sample(points, len(points))
    assert plain(fit_curve(shuffled)) == plain(fit_curve(points))


def test_fit_describes_its_data_and_converts_to_json() -> None:
    fit = fit_curve(deviating(3, constant=0.3))
    shown = json.loads(json.dumps(plain(fit), allow_nan=False))
    assert shown["state"] == "fitted"
    assert shown["coupling_facility"] == "CF01"
    assert shown["cfcc_level"] == 25
    assert shown["qsgs"] == ["SQ03"]
    assert shown["points_used"] == len([p for p in shown["points"] if not p["left_out"]])
    assert shown["first_day"] == "2026-03-02"
    assert shown["last_day"] == "2026-03-16"
    assert len(shown["cuts"]) == 12
    assert shown["base_bytes"]["low"] < shown["base_bytes"]["value"] < shown["base_bytes"]["high"]
    for point in shown["points"]:
        assert point["residual_bytes"] == pytest.approx(point["size_bytes"] - point["fitted_bytes"], abs=0.2)
    assert 0 < shown["residuals"]["deviation_bytes"] <= shown["residuals"]["largest_bytes"]


def test_core_converts_the_fit_to_a_curve() -> None:
    ratio = 6.0
    fit: CurveFit = fit_curve(site(SIZES, ratio=ratio))
    curve = fitted_curve(version=4, fit=parsed_text(CurveFit, json.dumps(plain(fit))))
    assert float(curve.base) == pytest.approx(22 * MIB, rel=1e-3)
    assert float(curve.elements_per_entry) == ratio
    assert float(curve.bundle) == pytest.approx(640 + ratio * 270, rel=1e-4)


def upgraded(base_mib: float, *, after: tuple[int, ...] = SIZES) -> list[AllocationPoint]:
    """Return a site whose structures leave their coupling facility on day 10 and are reallocated on day 11."""
    points = []
    for number, size in enumerate(SIZES):
        points += seen(f"APP{number}", range(10), *fitting(size + number + 1))
    for number, size in enumerate(after):
        again = dt.datetime(2026, 3, 2, 4, tzinfo=dt.UTC) + dt.timedelta(days=11, minutes=number)
        allocated = fitting(size, base_mib=base_mib)
        points += seen(f"APP{number}", range(12, 20), *allocated, allocated_at=again)
    return points


def test_only_allocations_after_an_upgrade_count() -> None:
    fit = fit_curve(upgraded(30.0))
    assert fit.state == "fitted"
    assert value(fit.base_bytes) == pytest.approx(30 * MIB, rel=1e-3)
    (left_out,) = fit.points_left_out
    assert left_out == LeftOut(f"{EARLIER} 2026-03-13", 10 * len(SIZES))


def test_emptied_facility_with_unchanged_costs_keeps_its_points() -> None:
    fit = fit_curve(upgraded(22.0))
    assert fit.points_left_out == ()
    assert fit.points_used == 2 * len(SIZES)


def test_insufficient_data_since_an_upgrade_gives_no_curve() -> None:
    fit = fit_curve(upgraded(30.0, after=(64, 512)))
    assert fit.state == "too_little"
    assert fit.reason is not None
    assert fit.reason.startswith(
        "Only 2 different allocations of application structures were found since 2026-03-13;"
    )
