"""The project's own CSV: values are read unchanged, and impossible ones are reported."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_jobs.history.schema import row_schema
from spark_jobs.readers import NotReadable
from spark_jobs.readers.template import NOT_TAKEN, REQUIRED, template_columns
from tests.spark_jobs.readers.support import EAST, OBSERVED, read_text, rows

M = 1024**2
HEADING = (
    "qsg,structure,interval_start,interval_end,entries_in_use,entries_total,size_bytes,structure_full_count"
)


def test_row_about_a_structure_is_read(tmp_path: Path) -> None:
    text = f"# measured by hand\n{HEADING}\nQSG1,APP1,2026-03-22T11:00Z,2026-03-22 13:00+01:00,1200,111234,256M,2\n"
    result = read_text(tmp_path, text, "template")
    assert (result.asks, result.problem_count) == ((), 0)
    assert rows(result, "structure_usage") == [
        {
            "source": "template",
            "origin": "template",
            "file_record": 3,
            "piece": 0,
            "qsg": "QSG1",
            "structure": "APP1",
            "xcf_structure": "QSG1APP1",
            "interval_start": OBSERVED - timedelta(hours=1),
            "interval_end": OBSERVED,
            "interval_us": 3_600_000_000,
            "in_use_kind": "interval_maximum",
            "entries_in_use": 1200,
            "entries_total": 111_234,
            "size_bytes": 256 * M,
            "structure_full_count": 2,
        }
    ]


def test_queue_column_gives_rows_about_queues(tmp_path: Path) -> None:
    text = "qsg;structure;interval_end;queue;puts;put_bytes;depth_max\nQSG1;APP1;2026-03-22T12:00Z;ORDERS.IN;10;20K;7\n"
    (row,) = rows(read_text(tmp_path, text, "template"), "queue_usage")
    assert (row["queue"], row["puts"], row["put_bytes"], row["depth_max"]) == ("ORDERS.IN", 10, 20 * 1024, 7)


def test_written_elements_are_read_and_compared_with_their_entries(tmp_path: Path) -> None:
    text = (
        "qsg,structure,system_id,interval_end,entries_written,elements_written\n"
        "QSG1,APP1,SYSA,2026-03-22T12:00Z,1000,5200\n"
        "QSG1,APP1,SYSB,2026-03-22T12:00Z,7,7\n"
        "QSG1,APP1,SYSC,2026-03-22T12:00Z,8,7\n"
    )
    result = read_text(tmp_path, text, "template")
    assert [(row["entries_written"], row["elements_written"]) for row in rows(result, "structure_usage")] == [
        (1000, 5200),
        (7, 7),
    ]
    (problem,) = result.problems
    assert "entries_written 8 is more than elements_written 7" in problem.message


def test_times_without_an_offset_need_a_zone(tmp_path: Path) -> None:
    text = "qsg,structure,interval_end\nQSG1,APP1,2026-03-22 13:00\n"
    assert [ask.what for ask in read_text(tmp_path, text, "template").asks] == ["zone"]
    (row,) = rows(read_text(tmp_path, text, "template", zone=EAST), "structure_usage")
    assert (row["interval_end"], row["in_use_kind"]) == (OBSERVED, "at_end")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("9QSG,APP1,,2026-03-22T12:00Z,,,,", "qsg"),
        ("QSG1,app1,,2026-03-22T12:00Z,,,,", "structure"),
        ("QSG1,APP1,,,,,,", "interval_end is empty"),
        ("QSG1,APP1,,yesterday,,,,", "interval_end"),
        ("QSG1,APP1,2026-03-22T13:00Z,2026-03-22T12:00Z,,,,", "before"),
        ("QSG1,APP1,,2026-03-22T12:00Z,2,1,,", "more than"),
        ("QSG1,APP1,,2026-03-22T12:00Z,1.5,,,", "entries_in_use"),
        ("QSG1,APP1,,2026-03-22T12:00Z,-3,,,", "entries_in_use"),
        ("QSG1,APP1,,2026-03-22T12:00Z,,,big,", "not a valid size"),
        ("QSG1,APP1,,2026-03-22T12:00Z", "values under"),
        ('QSG1,"APP1,,2026-03-22T12:00Z,,,,', "quote"),
    ],
)
def test_impossible_row_is_reported_with_its_line(tmp_path: Path, row: str, said: str) -> None:
    good = "QSG1,APP1,,2026-03-22T12:00Z,1,2,3B,0"
    result = read_text(tmp_path, f"{HEADING}\n{good}\n{row}\n{good}\n", "template")
    assert [problem.line for problem in result.problems] == [3]
    assert said in result.problems[0].message
    assert [found["file_record"] for found in rows(result, "structure_usage")] == [2, 4]


def test_unknown_columns_are_reported(tmp_path: Path) -> None:
    result = read_text(
        tmp_path, "qsg,structure,interval_end,colour,note\nQSG1,APP1,2026-03-22T12:00Z,red,x\n", "template"
    )
    assert any("'colour', 'note'" in note for note in result.notes)
    assert len(rows(result, "structure_usage")) == 1


def test_missing_required_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotReadable, match="interval_end"):
        read_text(tmp_path, "qsg,structure\nQSG1,APP1\n", "template")


def test_template_has_the_columns_of_the_history() -> None:
    for table in ("structure_usage", "queue_usage"):
        assert set(template_columns(table)) | NOT_TAKEN >= set(row_schema(table).names)
        assert set(REQUIRED) <= set(template_columns(table))


COUNTS = st.integers(0, 10**17)


@settings(max_examples=40)
@given(
    COUNTS,
    COUNTS,
    st.datetimes(datetime(1991, 1, 1), datetime(2150, 1, 1)),  # noqa: DTZ001 - the strategy adds the zone
    st.integers(0, 10**9),
)
def test_any_numbers_and_times_are_read_back(first: int, second: int, end: datetime, length_us: int) -> None:
    end = end.replace(tzinfo=UTC)
    start = end - timedelta(microseconds=length_us)
    in_use, total = sorted((first, second))
    text = f"{HEADING}\nQSG1,APP1,{start.isoformat()},{end.isoformat()},{in_use},{total},{first},{second}\n"
    with tempfile.TemporaryDirectory() as folder:
        (row,) = rows(read_text(Path(folder), text, "template"), "structure_usage")
    assert (row["entries_in_use"], row["entries_total"]) == (in_use, total)
    assert (row["size_bytes"], row["structure_full_count"]) == (first, second)
    assert (row["interval_start"], row["interval_end"], row["interval_us"]) == (start, end, length_us)


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("entries_in_use", "1.000", "entries_in_use: '1.000' may have a thousands separator: write 1000."),
        ("entries_in_use", "1,000", "entries_in_use: '1,000' may have a thousands separator: write 1000."),
        ("size_bytes", "2.000M", "size_bytes: may have a thousands separator: write 2000M or 2M."),
    ],
)
def test_number_that_may_be_two_is_reported(tmp_path: Path, column: str, cell: str, words: str) -> None:
    text = f"qsg;structure;interval_end;{column}\nQSG1;APP1;2026-03-22T12:00Z;{cell}\n"
    result = read_text(tmp_path, text, "template")
    assert rows(result, "structure_usage") == []
    assert [each.message for each in result.problems] == [words]
