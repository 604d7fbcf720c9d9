"""The tables of docs/explanation/fits-to-sizing-points.md are the output of `python -m bench.sizing_points`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.sizing_points import CASES, Case, recovered

PAGE = (Path(__file__).parents[3] / "docs/explanation/fits-to-sizing-points.md").read_text(encoding="utf-8")
FIGURE = re.compile(
    r"^\| ([^|]+) \| (base|bundle|entry|element|size cost) \| (\d+) \| ([\d.]+)% \| ([\d.]+)% \| ([\d.]+)% \| ([\d.]+)% \|$",
    re.MULTILINE,
)
STATE = re.compile(r"^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \| ([^|]*) \| (\d+) \|$", re.MULTILINE)
FIGURES = {
    (row[1], row[2]): (int(row[3]), float(row[5]) / 100, float(row[7]) / 100) for row in FIGURE.finditer(PAGE)
}
STATES = {row[1]: (int(row[2]), int(row[3]), int(row[4]), int(row[6])) for row in STATE.finditer(PAGE)}
BY_CASE = pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])


@BY_CASE
def test_page_has_1000_point_sets_of_each_case(case: Case) -> None:
    assert STATES[case.title][0] == 1000
    assert (case.title, "base") in FIGURES
    assert (case.title, "bundle") in FIGURES


@BY_CASE
def test_intervals_contain_the_truth_as_often_as_the_page_says(case: Case) -> None:
    for (title, _), (_, _, inside) in FIGURES.items():
        if title == case.title and case.noise_bytes:
            assert inside >= 0.86
        elif title == case.title:
            assert inside >= 0.98 if case.wrong else inside == 1.0


@BY_CASE
def test_errors_of_some_point_sets_are_within_the_table(case: Case) -> None:
    found = recovered(range(3), case)
    for name, errors in found.errors.items():
        if errors:
            assert max(errors) <= FIGURES[case.title, name][1] + 0.00001


@pytest.mark.soak
@BY_CASE
def test_tables_can_be_reproduced(case: Case) -> None:
    found = recovered(range(1000), case)
    sets, with_figures, by_rounding, left_out = STATES[case.title]
    assert (found.fits, found.fits - found.no_figures) == (sets, with_figures)
    assert (found.by_rounding, found.right_left_out) == (by_rounding, left_out)
    for name, errors in found.errors.items():
        if errors:
            fits, worst, inside = FIGURES[case.title, name]
            assert len(errors) == fits
            assert max(errors) == pytest.approx(worst, abs=0.00001)
            assert found.held[name] / fits == pytest.approx(inside, abs=0.0006)
