"""RMF's overview conditions: shares of entries and elements, with a heading that states the object."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from spark_jobs.readers import NotReadable
from tests.spark_jobs.readers.support import EAST, GROUPS, OBSERVED, read_text, rows

HEADING = "Date,Time,Interval,LDECTR(QSG1APP1),DECTR(QSG1APP1),CFUTIL(CF01)"


def test_percentages_are_read(tmp_path: Path) -> None:
    text = f"{HEADING}\n2026/03/22,13.00.00,00.15.00,12.5,80,3\n2026/03/22,13.15.00,00.15.00,14,,3\n"
    result = read_text(tmp_path, text, "overview_csv", zone=EAST, qsg_of=GROUPS)
    assert (result.asks, result.problem_count) == ((), 0)
    first, second = rows(result, "structure_usage")
    assert (first["qsg"], first["structure"], first["source"]) == ("QSG1", "APP1", "overview")
    assert (first["entries_in_use_pct"], first["elements_in_use_pct"]) == (12.5, 80.0)
    assert (first["interval_start"], first["interval_end"]) == (
        datetime(2026, 3, 22, 11, 45, tzinfo=UTC),
        OBSERVED,
    )
    assert (second["entries_in_use_pct"], "elements_in_use_pct" in second) == (14.0, False)
    assert any("percentages" in note for note in result.notes)


@pytest.mark.parametrize(
    ("heading", "percent"), [("LDECTR(QSG1APP1) %", 0.5), ("LDECTR(QSG1APP1) ratio", 50.0)]
)
def test_heading_decides_between_ratio_and_percentage(tmp_path: Path, heading: str, percent: float) -> None:
    result = read_text(tmp_path, f"Interval End,{heading}\n2026-03-22T12:00Z,0.5\n", "overview_csv")
    (row,) = rows(result, "structure_usage")
    assert (row["entries_in_use_pct"], row["interval_end"]) == (percent, OBSERVED)


def test_ambiguous_column_is_left_out_and_reported(tmp_path: Path) -> None:
    result = read_text(tmp_path, "Interval End,LDECTR(QSG1APP1)\n2026-03-22T12:00Z,0.5\n", "overview_csv")
    assert result.tables == {}
    assert "ratio" in result.problems[0].message


def test_values_that_are_not_shares_are_left_out_and_reported(tmp_path: Path) -> None:
    text = "Interval End,LDECTR(QSG1APP1) %\n2026-03-22T12:00Z,140\nnever,3\n2026-03-22T12:00Z,lots\n"
    result = read_text(tmp_path, text, "overview_csv")
    assert result.tables == {}
    assert [problem.line for problem in result.problems] == [2, 3, 4]


def test_missing_zone_is_requested(tmp_path: Path) -> None:
    result = read_text(tmp_path, f"{HEADING}\n2026/03/22,13.00.00,00.15.00,12.5,80,3\n", "overview_csv")
    assert [ask.what for ask in result.asks] == ["zone"]


def test_unknown_headings_are_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(NotReadable, match=r"LDECTR\(SQ03APP1\)"):
        read_text(tmp_path, "Date,Time,LDECTR1\n2026/03/22,13.00.00,5\n", "overview_csv")
