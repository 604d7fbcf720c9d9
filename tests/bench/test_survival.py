"""Stated probabilities of survival agree with simulated outages, here for a few structures of the page's table."""

from __future__ import annotations

import re

import numpy as np
import pytest

from app.web.rendering import ROOT
from bench import survival
from bench.outage_world import LARGEST, OutageWorld, elements

pytestmark = pytest.mark.long

PAGE = ROOT / "docs" / "explanation" / "survival.md"
STRUCTURES, OUTAGES = 3, 50


@pytest.fixture(scope="module")
def found() -> dict[str, survival.Calibration]:
    return survival.calibrate(STRUCTURES, outages=OUTAGES, first=survival.UNSEEN)


def test_stated_probabilities_agree_with_simulated_outages(found: dict[str, survival.Calibration]) -> None:
    for calibration in found.values():
        points = sum(each.points for each in calibration.bands)
        stated = sum(each.stated for each in calibration.bands) / points
        observed = sum(each.observed for each in calibration.bands) / points
        assert stated == pytest.approx(observed, abs=0.05)
        for each in calibration.bands:
            # Few points of few structures vary together.
            if each.points >= 10:
                assert each.stated / each.points == pytest.approx(each.observed / each.points, abs=0.2)


def test_intervals_contain_most_observed_frequencies(found: dict[str, survival.Calibration]) -> None:
    covered = [each for calibration in found.values() for each in calibration.covered]
    assert sum(covered) / len(covered) > 0.75


def test_world_of_a_seed_is_always_the_same() -> None:
    one, other = OutageWorld(3), OutageWorld(3)
    assert (one.entries, one.elements, one.days) == (other.entries, other.elements, other.days)
    assert one.history()[0] == other.history()[0]


def test_world_counts_whole_elements_and_two_for_offloaded_messages() -> None:
    # 1164 bytes and a header of 372 are six elements; above 63 KB only two stay.
    assert elements(np.array([1164, 1165, LARGEST, LARGEST + 1])).tolist() == [6, 7, 254, 2]


def test_page_has_ten_bands_whose_probabilities_agree() -> None:
    block = survival.BLOCK.search(PAGE.read_text(encoding="utf-8"))
    assert block is not None
    assert int(block[2]) == survival.STRUCTURES
    rows = [line.strip("| ").split(" | ") for line in block[3].splitlines() if " to " in line]
    assert [row[0] for row in rows] == [f"{10 * band} to {10 * band + 10} %" for band in range(10)]
    for row in rows:
        for points, stated, observed in (row[1:4], row[4:7]):
            assert int(points) >= 20
            assert _number(stated) == pytest.approx(_number(observed), abs=4)
    covered = re.search(r"observed frequency: ([0-9]+) %", block[3])
    assert covered is not None
    assert 85 <= int(covered[1]) <= 97


def _number(cell: str) -> float:
    return float(cell.removesuffix(" %"))
