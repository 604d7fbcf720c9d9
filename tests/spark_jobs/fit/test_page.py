"""The table of docs/explanation/fitted-curves.md is the output of `python -m bench.fit`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.fit import CASES, DEVIATIONS, FIGURES, Held, otherwise, simulated
from spark_jobs.fit.curve import (
    EARLIER,
    FEWEST_POINTS,
    LEAST_SPREAD,
    WIDEST,
    WIDEST_APART,
)

PAGE = (Path(__file__).parents[3] / "docs/explanation/fitted-curves.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| ([^|]+) \| (base|entry|element|bundle) \| (\d+) \| ([\d.]+)% \| ([\d.]+)% \|$", re.MULTILINE
)
ROWS = {
    (row[1], row[2]): (int(row[3]), float(row[4]) / 100, float(row[5]) / 100) for row in ROW.finditer(PAGE)
}


def test_accuracy_table_has_every_case_with_1000_fits() -> None:
    titles = {title for title, _ in (*CASES, *DEVIATIONS)}
    assert {title for title, _ in ROWS} == titles
    assert {fits for fits, _, _ in ROWS.values()} == {1000}
    for title in titles:
        assert (title, "base") in ROWS
        assert (title, "bundle") in ROWS
        assert ((title, "entry") in ROWS) == ("two ratios" in title)


@pytest.mark.parametrize("figure", FIGURES)
def test_intervals_at_90_percent_contain_the_truth_in_87_to_93_percent(figure: str) -> None:
    for title in ("two ratios", "one ratio"):
        if (title, figure) in ROWS:
            assert 0.87 <= ROWS[title, figure][2] <= 0.93
            assert ROWS[title, figure][1] < (0.10 if figure == "base" else 0.01)


def test_errors_of_a_simulated_case_are_within_the_table() -> None:
    for title, how in CASES[:2]:
        found = simulated(range(20), **how)
        for figure in FIGURES:
            if found.held[figure]:
                assert found.worst(figure) <= ROWS[title, figure][1] + 0.00005


def test_limits_on_the_page_match_the_code() -> None:
    assert FEWEST_POINTS == 4
    assert "at least four allocations" in PAGE.replace("\n   ", " ")
    assert f"at least {LEAST_SPREAD:g} times the size of the smallest" in PAGE.replace("\n   ", " ")
    assert f"within {WIDEST_APART:.0%} of them".replace("%", " %") in PAGE
    assert f"not known within {WIDEST:.0%}".replace("%", " %") in PAGE.replace("\n", " ")
    assert "with a different base than now" in EARLIER
    assert "points with a base that differs from the current one" in PAGE


@pytest.mark.soak
@pytest.mark.parametrize(("title", "how"), CASES[:2])
def test_accuracy_table_can_be_reproduced(title: str, how: dict[str, object]) -> None:
    compare(title, simulated(range(1000), **how))


@pytest.mark.soak
@pytest.mark.parametrize(("title", "how"), DEVIATIONS)
def test_table_of_other_deviations_can_be_reproduced(title: str, how: dict[str, bool]) -> None:
    compare(title, otherwise(range(1000), **how))


def compare(title: str, found: Held) -> None:
    for figure in FIGURES:
        if found.held[figure]:
            _, error, coverage = ROWS[title, figure]
            assert found.worst(figure) == pytest.approx(error, abs=0.001)
            assert found.coverage(figure) == pytest.approx(coverage, abs=0.005)
