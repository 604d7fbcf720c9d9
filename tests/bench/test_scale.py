"""The table of the costs of a large history, and the page that contains it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from bench.dumps import Measured
from bench.scale import BEGIN, END, NOT_MEASURED, STEPS, Scale, lines, write_page

PAGE = Path(__file__).parents[2] / "docs/operations/scale.md"


def two_days() -> Scale:
    steps = {step: [Measured(step, 10.0, 60.0, 200.0 + day, 0, {}) for day in range(2)] for step in STEPS}
    return Scale(rows=1_000_000, days=2, dump_bytes=246_000_000, history_bytes=30_000_000, steps=steps)


def cells(table: list[str]) -> dict[str, list[str]]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {name: values for name, *values in rows[2:]}


def test_times_are_extrapolated_and_memory_is_not() -> None:
    found = cells(lines(two_days()))
    assert found["ingest, processor time"] == ["2.00 min", "5.81 min", "212.00 min", "2,120.00 min"]
    assert found["cores needed to load it in one day"] == ["0.0042", "0.012", "0.44", "4.4"]
    for name, peak in (
        ("memory of an ingest and of a roll-up, at most (dumps of 123 MB)", "201 MB"),
        ("memory of the merging", "201 MB"),
    ):
        assert found[name] == [peak, *[NOT_MEASURED] * 3]


def test_small_figures_have_at_most_two_significant_digits() -> None:
    short = replace(two_days(), steps={step: [Measured(step, 0.1, 0.12, 1, 0, {})] for step in STEPS})
    assert cells(lines(short))["ingest, processor time"] == [
        "0.002 min",
        "0.0058 min",
        "0.21 min",
        "2.12 min",
    ]


def test_page_has_the_rows_of_the_table(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.split(BEGIN)[1].split(END)[0].strip().splitlines()
    expected = lines(two_days())
    assert re.sub(r"measured: \d+ days", "measured: 2 days", table[0]) == expected[0]
    assert list(cells(table)) == list(cells(expected))
    copy = tmp_path / "scale.md"
    copy.write_text(text, encoding="utf-8")
    write_page(two_days(), copy)
    assert copy.read_text(encoding="utf-8") == text.replace("\n".join(table), "\n".join(expected))
