"""Forecasts of structures whose future is known; docs/explanation/forecasts.md states the same figures.

A table of the page may differ from the calculated one in the last digits, because libraries of linear algebra round differently.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bench import forecast as bench

if TYPE_CHECKING:
    from bench.forecast import Tally

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "forecasts.md"
STRUCTURES, UNSEEN, MODELS, LENGTH_STRUCTURES = 200, 1000, 100, 200
MEDIAN_ERROR_DAYS = 18
"""With other seeds than that of the benchmark, the median of the 1000 unseen simulated structures is 16 or 17 days."""
COVERED = (0.72, 0.88)
FIGURE = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def measured() -> tuple[Tally, dict[str, Tally]]:
    """Return the forecasts of the simulated structures, made once for all tests."""
    return bench.measure_ours("simulated", STRUCTURES)


def assert_as_on_the_page(name: str, lines: list[str]) -> None:
    """Assert equal text, and figures that differ by at most one step of the last digit or 3 %."""
    on_page = bench.blocks_of(PAGE.read_text("utf-8"))[name].splitlines()
    assert [FIGURE.sub("#", line) for line in on_page] == [FIGURE.sub("#", line) for line in lines]
    for there, here in zip(on_page, lines, strict=True):
        for told, computed in zip(FIGURE.findall(there), FIGURE.findall(here), strict=True):
            step = 10.0 ** -len(told.partition(".")[2])
            assert float(told) == pytest.approx(float(computed), rel=0.03, abs=1.01 * step), (there, here)


def assert_good(tally: Tally, rules: dict[str, Tally]) -> None:
    """Assert the accuracy that the page states."""
    assert np.median(tally.errors) <= MEDIAN_ERROR_DAYS
    assert COVERED[0] <= np.mean(tally.covered) <= COVERED[1]
    assert set(rules) == {"last value", "seasonal naive", "straight line through all points"}
    for rule, found in rules.items():
        assert np.mean(tally.wape) < np.mean(found.wape), rule
        assert np.mean(tally.pinball) < np.mean(found.pinball), rule


def test_crossings_of_simulated_structures_are_within_the_stated_accuracy(
    measured: tuple[Tally, dict[str, Tally]],
) -> None:
    tally, rules = measured
    assert len(tally.covered) == STRUCTURES
    assert len(tally.errors) > STRUCTURES / 2
    assert_good(tally, rules)
    assert np.median(tally.usual_errors) <= MEDIAN_ERROR_DAYS
    assert 0.72 <= np.mean(tally.days_covered) <= 0.88


def test_intervals_err_on_both_sides(measured: tuple[Tally, dict[str, Tally]]) -> None:
    tally, _ = measured
    assert 0.03 < np.mean(tally.early) < 0.17
    assert 0.03 < np.mean(tally.late) < 0.17


def test_table_of_simulated_structures_matches_the_page(
    measured: tuple[Tally, dict[str, Tally]],
) -> None:
    tally, rules = measured
    lines = bench.tables_of("simulated", tally, rules, STRUCTURES)
    assert_as_on_the_page(f"simulated, {STRUCTURES} structures", lines)


def test_different_table_is_detected() -> None:
    name = f"simulated, {STRUCTURES} structures"
    lines = bench.blocks_of(PAGE.read_text("utf-8"))[name].splitlines()
    assert_as_on_the_page(name, lines)
    wrong = [re.sub(r"absolute error of p50 \| (\d+)", "absolute error of p50 | 99", line) for line in lines]
    with pytest.raises(AssertionError):
        assert_as_on_the_page(name, wrong)
    with pytest.raises(AssertionError):
        assert_as_on_the_page(name, lines[:-1])


def test_crossings_of_other_structures_are_within_the_stated_accuracy() -> None:
    tally, rules = bench.measure_ours("other", 60)
    assert_good(tally, rules)


def test_page_has_exactly_the_tables_of_the_benchmark() -> None:
    names = [f"{world}, {STRUCTURES} structures" for world in bench.WORLDS]
    names += [f"{world}, unseen, {UNSEEN} structures" for world in bench.WORLDS]
    names += [f"histories, {LENGTH_STRUCTURES} structures"]
    names += [f"models, {world}, {MODELS} structures" for world in bench.WORLDS]
    found = bench.blocks_of(PAGE.read_text("utf-8"))
    assert list(found) == names
    assert all(len(table.splitlines()) > 3 for table in found.values())


def test_benchmark_writes_its_tables_into_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    empty = "".join(f"<!-- forecasts: {world}, 2 structures -->\n<!-- end -->\n" for world in bench.WORLDS)
    page.write_text(f"Before\n{empty}after\n", "utf-8")
    bench.print_tables(structures=2, unseen=0, models=0, lengths=0, page=page)
    printed, text = capsys.readouterr().out, page.read_text("utf-8")
    assert text.startswith("Before\n")
    assert text.endswith("<!-- end -->\nafter\n")
    for table in bench.blocks_of(text).values():
        assert "| structures | 2 |" in table
        assert table in printed
    assert bench.with_blocks(text, {}) == text
    with pytest.raises(ValueError, match="no place"):
        bench.with_blocks("nothing", {"simulated, 2 structures": ["x"]})


@pytest.mark.soak
@pytest.mark.parametrize("name", ["simulated", "other"])
def test_structures_not_used_for_tuning_are_as_accurate(name: str) -> None:
    tally, rules = bench.measure_ours(name, UNSEEN, first=bench.UNSEEN)
    assert_good(tally, rules)
    lines = bench.tables_of(name, tally, rules, UNSEEN, first=bench.UNSEEN)
    assert_as_on_the_page(f"{name}, unseen, {UNSEEN} structures", lines)


@pytest.mark.soak
def test_table_of_other_structures_matches_the_page() -> None:
    tally, rules = bench.measure_ours("other", STRUCTURES)
    assert_good(tally, rules)
    lines = bench.tables_of("other", tally, rules, STRUCTURES)
    assert_as_on_the_page(f"other, {STRUCTURES} structures", lines)


@pytest.mark.soak
def test_table_by_length_of_history_matches_the_page() -> None:
    assert_as_on_the_page(f"histories, {LENGTH_STRUCTURES} structures", bench.length_table(LENGTH_STRUCTURES))


@pytest.mark.soak
@pytest.mark.parametrize("name", ["simulated", "other"])
def test_table_of_models_matches_the_page_and_no_model_is_better(name: str) -> None:
    tallies = bench.candidates_of(name, MODELS)
    assert_as_on_the_page(f"models, {name}, {MODELS} structures", bench.candidate_table(tallies))
    ours = tallies[bench.OURS]
    for candidate, tally in tallies.items():
        if candidate not in (bench.OURS, bench.KNOWING):
            assert np.mean(ours.wape) < np.mean(tally.wape), candidate
            assert np.mean(ours.pinball) < np.mean(tally.pinball), candidate
            assert np.median(ours.errors) <= np.median(tally.errors), candidate
