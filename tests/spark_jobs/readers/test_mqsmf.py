"""mq-smf-csv: quirks are corrected, values with known errors left out, and times converted."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_jobs.history.schema import natural_key
from spark_jobs.readers import NotReadable, ReadResult, detect
from tests.spark_jobs.readers import support
from tests.spark_jobs.readers.support import GROUPS, NEW_YORK_WINTER, read_text, rows

WRITTEN = datetime(2026, 1, 15, 2, 10, 4, 930_000, tzinfo=UTC)


def read_csv(
    folder: Path, heading: str, *lines: str, groups: dict[tuple[str, str], str] = GROUPS
) -> ReadResult:
    text = "\n".join((heading, *lines)) + "\n"
    return read_text(folder, text, "mqsmf_csv", zone=NEW_YORK_WINTER, qsg_of=groups)


def as_json(heading: str, row: str, table: str, *, subtype: int = 2) -> dict[str, Any]:
    """Return a row in the JSON notation: camel case, one column a duration, a table with the name of a column."""
    import csv

    names, cells = next(csv.reader([heading])), next(csv.reader([row]))
    pairs: list[tuple[str, Any]] = [("recordType", 115), ("recordSubType", subtype), ("structure", table)]
    seconds: dict[str, int] = {}
    for name, cell in zip(names, cells, strict=True):
        words = name.replace("(", " ").replace(")", " ").replace("_", " ").split()
        if not words:
            continue
        key = words[0].lower() + "".join(word.capitalize() for word in words[1:])
        value = cell.strip().removeprefix('="').removesuffix('"')
        if words[-1] == "S":
            seconds[key.removesuffix("S")] = int(value)
        elif words[-1] == "US":
            stem = key.removesuffix("Us")
            pairs.append((f"{stem}Us", seconds.pop(stem) * 1_000_000 + int(value)))
        elif words[-1] == "TIME":
            pairs.append((key, value.replace(",", ".")))
        else:
            pairs.append((key, int(value) if value.lstrip("-").isdigit() else value.ljust(12)))
    return {f"{at}:{key}": value for at, (key, value) in enumerate(pairs)}


def dumped(numbered: dict[str, Any], **how: Any) -> str:  # noqa: ANN401 - of json.dumps
    """Return JSON with duplicate keys, as the formatter writes it."""
    text = json.dumps(numbered, **how)
    for name in numbered:
        text = text.replace(json.dumps(name), json.dumps(name.split(":")[1]))
    return text


# ---- structures ---------------------------------------------------------------------------------------------


def test_structure_row_has_the_values_of_the_record(tmp_path: Path) -> None:
    result = read_csv(tmp_path, support.QEST_HEADING, support.QEST_ROW)
    assert result.problem_count == 0
    assert result.asks == ()
    (row,) = rows(result, "structure_usage")
    assert row == {
        "source": "115-2 QEST",
        "origin": "formatter",
        "file_record": 2,
        "piece": 0,
        "system_id": "SYSA",
        "queue_manager": "QM01",
        "qsg": "QSG1",
        "structure": "APPLICATION1",
        "xcf_structure": "QSG1APPLICATION1",
        "written_at": WRITTEN,
        "interval_start": datetime(2026, 1, 15, 1, 40, 12, 45_359, tzinfo=UTC),
        "interval_end": WRITTEN,
        "interval_us": 1_792_884_641,
        "ixllste_calls": 7059,
        "ixllste_us": 1_028_915,
        "ixllste_redrives": 0,
        "ixllstm_calls": 2867,
        "ixllstm_us": 116_196,
        "ixllstm_redrives": 45,
        "structure_full_count": 3,
        "in_use_kind": "interval_maximum",
        "entries_in_use": 1254,
        "elements_in_use": 6358,
    }


@pytest.mark.parametrize("minutes", [-300, 0, 60, 345])
def test_shift_by_the_formatting_machines_zone_is_removed(tmp_path: Path, minutes: int) -> None:
    printed = datetime(2026, 1, 14, 20, 40, 12, 45_359) + timedelta(minutes=minutes)  # noqa: DTZ001 - as printed
    moved = support.QEST_ROW.replace(
        '"2026/01/14","20:40:12,045359"',
        f'"{printed:%Y/%m/%d}","{printed:%H:%M:%S},{printed.microsecond:06}"',
    )
    result = read_csv(tmp_path, support.QEST_HEADING, moved)
    (row,) = rows(result, "structure_usage")
    assert row["interval_start"] == datetime(2026, 1, 15, 1, 40, 12, 45_359, tzinfo=UTC)
    assert any("shifted back" in note for note in result.notes) is (minutes != 0)


def test_start_far_from_the_record_is_left_out_and_reported(tmp_path: Path) -> None:
    result = read_csv(tmp_path, support.QEST_HEADING, support.QEST_ROW.replace(",1792,", ",1400,"))
    (row,) = rows(result, "structure_usage")
    assert "interval_start" not in row
    assert [problem.line for problem in result.problems] == [2]


def test_maxima_of_zero_become_null(tmp_path: Path) -> None:
    result = read_csv(tmp_path, support.QEST_HEADING, support.QEST_ROW.replace("1254,6358", "0,0"))
    (row,) = rows(result, "structure_usage")
    assert "entries_in_use" not in row
    assert "not observed" in row["note"]


def test_file_saved_by_a_spreadsheet_is_read(tmp_path: Path) -> None:
    text = "\n".join((support.QEST_HEADING, support.QEST_ROW)) + "\n"
    saved = text.replace('="800"', "800").replace("04,930000", "04.930000").replace("12,045359", "12.045359")
    saved = saved.replace('"', "").replace(",", ";").replace("\n", "\r\n")
    (row,) = rows(
        read_text(tmp_path, saved, "mqsmf_csv", zone=NEW_YORK_WINTER, qsg_of=GROUPS), "structure_usage"
    )
    assert row == rows(read_csv(tmp_path, support.QEST_HEADING, support.QEST_ROW), "structure_usage")[0]


def test_missing_values_are_null(tmp_path: Path) -> None:
    (row,) = rows(
        read_csv(tmp_path, support.QEST_HEADING, support.QEST_ROW.replace(",7059,", ",-1,")),
        "structure_usage",
    )
    assert "ixllste_calls" not in row


# ---- what a person has to say -------------------------------------------------------------------------------


def test_unknown_group_is_requested_and_never_guessed(tmp_path: Path) -> None:
    result = read_csv(tmp_path, support.QEST_HEADING, support.QEST_ROW, support.QEST_ROW, groups={})
    assert [(ask.what, ask.system_id, ask.queue_manager) for ask in result.asks] == [("qsg", "SYSA", "QM01")]


def test_queue_manager_in_no_group_is_skipped(tmp_path: Path) -> None:
    result = read_csv(tmp_path, support.QEST_HEADING, support.QEST_ROW, groups={("SYSA", "QM01"): ""})
    assert (result.asks, rows(result, "structure_usage")) == ((), [])
    assert list(result.passed_over.values()) == [1]


def test_mq_10_record_has_its_group_or_none(tmp_path: Path) -> None:
    ten = support.QEST_ROW.replace('"....",="800"', '="QSG7",="100000"')
    none = support.QEST_ROW.replace('"....",="800"', '="    ",="100000"')
    old = support.QEST_ROW.replace('"....",="800"', '="    ",="930"')
    result = read_csv(tmp_path, support.QEST_HEADING, ten, none, old)
    assert [row["qsg"] for row in rows(result, "structure_usage")] == ["QSG7", "QSG1"]
    assert sum(result.passed_over.values()) == 1


def test_missing_zone_is_requested_and_no_time_is_converted(tmp_path: Path) -> None:
    text = f"{support.WQ_HEADING}\n{support.wq_row()}\n"
    result = read_text(tmp_path, text, "mqsmf_csv", qsg_of=GROUPS)
    (ask,) = result.asks
    assert ask.what == "zone"
    assert (
        "-05:00" in ask.message
    )  # what the closing time beside the header shows, if it was formatted in GMT
    assert rows(result, "queue_usage") == []


def test_time_in_a_repeated_hour_is_reported(tmp_path: Path) -> None:
    text = support.QEST_ROW.replace('"2026/01/14","21:10:04', '"2026/11/01","01:10:04')
    text = text.replace('"2026/01/14","20:40:12', '"2026/11/01","00:40:12')
    result = read_text(
        tmp_path,
        f"{support.QEST_HEADING}\n{text}\n",
        "mqsmf_csv",
        zone=ZoneInfo("America/New_York"),
        qsg_of=GROUPS,
    )
    (row,) = rows(result, "structure_usage")
    assert row["written_at"] == datetime(2026, 11, 1, 5, 10, 4, 930_000, tzinfo=UTC)
    assert any("twice" in note for note in result.notes)


# ---- data sets and queues -----------------------------------------------------------------------------------


def test_data_set_row_omits_values_that_the_formatter_gets_wrong(tmp_path: Path) -> None:
    result = read_csv(tmp_path, support.QESD_HEADING, support.QESD_ROW)
    (row,) = rows(result, "smds_usage")
    assert {
        name: row[name] for name in ("blocks_total", "blocks_in_use", "blocks_in_use_max", "failed_allocates")
    } == {
        "blocks_total": 402,
        "blocks_in_use": 17,
        "blocks_in_use_max": 30,
        "failed_allocates": 2,
    }
    assert (row["pool_waits"], row["buffer_waits"], row["pool_wait_us"]) == (4, 5, 1_500_000)
    assert row["buffer_requests"] == 900
    assert "buffer_wait_us" not in row
    assert "is_encrypted" not in row
    assert any("wrong bytes" in note for note in result.notes)


def test_task_row_has_the_puts_of_a_shared_queue(tmp_path: Path) -> None:
    result = read_csv(
        tmp_path, support.WQ_HEADING, support.wq_row(), support.wq_row(scope="QMgr", structure="")
    )
    assert sum(result.passed_over.values()) == 1
    (row,) = rows(result, "queue_usage")
    assert row["opened_at"] == datetime(2026, 1, 15, 2, 3, 5, 559_301, tzinfo=UTC)
    assert row["correlation"] == "D05D49181ECC2D3A5BBA10405BB869F8"
    wanted = {
        "queue": "PAYMENTS.IN",
        "open_queue": "PAYMENTS.IN",
        "disposition": "SHARED",
        "structure": "APPLICATION1",
        "puts": 100,
        "put_bytes": 1100,
        "put_size_min_bytes": 11,
        "put_size_max_bytes": 11,
        "persistent_puts": 62,
        "puts_to_waiting_getter": 8,
        "gets": 0,
        "get_readlists": 31,
        "get_moves": 9,
        "depth_max": 5,
        "interval_end": WRITTEN,
    }
    assert {name: row[name] for name in wanted} == wanted
    assert "get_size_max_bytes" not in row


def test_sections_of_one_queue_have_different_pieces(tmp_path: Path) -> None:
    result = read_csv(tmp_path, support.WQ_HEADING, support.wq_row(), support.wq_row())
    assert [row["piece"] for row in rows(result, "queue_usage")] == [0, 1]


def test_opening_time_is_null_if_the_machines_zone_is_unknown(tmp_path: Path) -> None:
    result = read_csv(tmp_path, support.WQ_HEADING, support.wq_row(close="02:04:00,000000"))
    (row,) = rows(result, "queue_usage")
    assert "opened_at" not in row
    assert any("is unknown" in note for note in result.notes)


def test_queue_statistics_contain_their_group(tmp_path: Path) -> None:
    result = read_csv(
        tmp_path,
        support.QQST_HEADING,
        support.qqst_row(),
        support.qqst_row(disposition="PRIVATE", structure=" "),
        support.qqst_row(record="PARTIAL"),
        groups={},
    )
    assert (result.asks, sum(result.passed_over.values())) == ((), 2)
    (row,) = rows(result, "queue_usage")
    wanted = {
        "qsg": "QSG1",
        "queue": "ORDERS.IN",
        "puts": 120,
        "put_bytes": 128_000,
        "persistent_puts": 35,
        "put_size_min_bytes": 10,
        "put_size_max_bytes": 4096,
        "gets": 99,
        "get_bytes": 98_000,
        "opens": 3,
        "expired": 1,
        "puts_to_waiting_getter": 6,
        "depth_max": 90,
        "depth_min": 2,
        "depth_end": 7,
    }
    assert {name: row[name] for name in wanted} == wanted


# ---- damage -------------------------------------------------------------------------------------------------


def test_malformed_lines_lose_only_their_own_rows(tmp_path: Path) -> None:
    cut = support.QEST_ROW[:60]
    quote = support.QEST_ROW.replace('"APPLICATION1"', '"APPLICATION1')
    number = support.QEST_ROW.replace(",7059,", ",seven,")
    name = support.QEST_ROW.replace("APPLICATION1", "9APPL")
    result = read_csv(
        tmp_path, support.QEST_HEADING, cut, quote, support.QEST_ROW, number, name, support.QEST_ROW
    )
    assert [row["file_record"] for row in rows(result, "structure_usage")] == [4, 7]
    assert [problem.line for problem in result.problems] == [2, 3, 5, 6]
    assert all(problem.message for problem in result.problems)


def test_repeated_headings_are_accepted(tmp_path: Path) -> None:
    result = read_csv(
        tmp_path, support.QEST_HEADING, support.QEST_ROW, support.QESD_HEADING, support.QESD_ROW
    )
    assert (len(rows(result, "structure_usage")), len(rows(result, "smds_usage"))) == (1, 1)
    assert result.problem_count == 0


def test_file_without_headings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotReadable, match="headings"):
        read_text(tmp_path, support.QEST_ROW, "mqsmf_csv", zone=UTC, qsg_of=GROUPS)


def test_records_of_other_tables_are_counted(tmp_path: Path) -> None:
    result = read_csv(
        tmp_path, "Date,Time,LPAR,QMgr,Opens,", '"2026/01/14","21:10:04,930000","SYSA","QM01",7,'
    )
    assert (result.tables, sum(result.passed_over.values())) == ({}, 1)


def test_truncated_gzip_file_keeps_complete_lines(tmp_path: Path) -> None:
    text = "\n".join([support.QEST_HEADING, *[support.QEST_ROW] * 3_000])
    packed = gzip.compress(text.encode() + os.urandom(4_000))
    result = read_text(tmp_path, packed[:-2_000], "mqsmf_csv", zone=NEW_YORK_WINTER, qsg_of=GROUPS)
    assert len(rows(result, "structure_usage")) > 2_000
    assert any("truncated" in problem.message for problem in result.problems)


# ---- JSON ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "row", "table", "usage"),
    [
        (support.QEST_HEADING, support.QEST_ROW, "QEST", "structure_usage"),
        (support.QESD_HEADING, support.QESD_ROW, "QESD", "smds_usage"),
        (support.WQ_HEADING, support.wq_row(), "WQ", "queue_usage"),
        (support.QQST_HEADING, support.qqst_row(), "QQST", "queue_usage"),
    ],
)
@pytest.mark.parametrize("form", ["lines", "array", "pretty"])
def test_json_gives_the_same_rows_as_csv(
    tmp_path: Path, heading: str, row: str, table: str, usage: str, form: str
) -> None:
    one = dumped(as_json(heading, row, table), indent=2 if form == "pretty" else None)
    text = f"[\n{one},\n{one}\n]\n" if form == "array" else f"{one}\n{one}\n"
    assert detect(text.encode()).kind == "mqsmf_json"
    result = read_text(tmp_path, text, "mqsmf_json", zone=NEW_YORK_WINTER, qsg_of=GROUPS)
    assert result.problem_count == 0
    found = rows(result, usage)
    assert len(found) == 2
    (wanted,) = rows(read_csv(tmp_path, heading, row), usage)
    for each in found:
        del each["file_record"], each["piece"]
    del wanted["file_record"], wanted["piece"]
    assert found == [wanted, wanted]


def test_damaged_json_object_loses_only_its_own_row(tmp_path: Path) -> None:
    one = dumped(as_json(support.QEST_HEADING, support.QEST_ROW, "QEST"))
    result = read_text(
        tmp_path, f"{one}\n{one[:200]}\n{one}\n7\n", "mqsmf_json", zone=NEW_YORK_WINTER, qsg_of=GROUPS
    )
    assert [row["file_record"] for row in rows(result, "structure_usage")] == [1, 3]
    assert [problem.line for problem in result.problems] == [2, 4]


# ---- properties ---------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=7, max_size=7), st.integers(0, 2**40))
def test_any_numbers_are_read_back(counts: list[int], micro: int) -> None:
    import tempfile

    ste, stm, ste_redrives, stm_redrives, full, entries, elements = counts
    row = (
        support.QEST_ROW.split("1,7059")[0]
        + f"1,{ste},{stm},{ste_redrives},{stm_redrives},{full},{entries},{elements},"
        + f"{micro // 1_000_000}, {micro % 1_000_000} ,0, 0 ,"
    )
    with tempfile.TemporaryDirectory() as folder:
        (found,) = rows(read_csv(Path(folder), support.QEST_HEADING, row), "structure_usage")
    assert (found["ixllste_calls"], found["ixllstm_calls"]) == (ste, stm)
    assert (found["ixllste_redrives"], found["ixllstm_redrives"], found["structure_full_count"]) == (
        ste_redrives,
        stm_redrives,
        full,
    )
    assert (found.get("entries_in_use", 0), found.get("elements_in_use", 0)) == (entries, elements)
    assert found["ixllste_us"] == micro


# ---- what IBM's formatter really wrote ----------------------------------------------------------------------

EXPECTED = Path(os.environ.get("CFPLAN_SMF_SAMPLES", "../shared/data/smf")) / "expected"
REAL_ZONES = {
    "TEST115": timezone(timedelta(hours=-6)),
    "TESTCHL": timezone(timedelta(hours=-4)),
    "TEST116": UTC,
}
REAL_GROUPS = {("H019", "MQPC"): "SQ03", ("MPX1", "QML1"): "QSG1"}


@pytest.mark.parametrize(
    ("name", "usage", "count"),
    [
        ("TEST115-QEST", "structure_usage", 3),
        ("TESTCHL-QEST", "structure_usage", 19),
        ("TESTCHL-QESD", "smds_usage", 16),
        ("TESTCHL-WQ", None, 22),
        ("TEST116-WQ", None, 2),
    ],
)
def test_real_output_is_read_completely(tmp_path: Path, name: str, usage: str | None, count: int) -> None:
    path = EXPECTED / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no real output of mq-smf-csv at {EXPECTED} (CFPLAN_SMF_SAMPLES)")
    data = path.read_bytes()
    assert detect(data).kind == "mqsmf_csv"
    result = read_text(tmp_path, data, "mqsmf_csv", zone=REAL_ZONES[name.split("-")[0]], qsg_of=REAL_GROUPS)
    assert (result.problem_count, result.asks) == (0, ())
    assert sum(result.records.values()) == count
    if usage is None:
        assert result.passed_over == {"queues outside coupling facility structures": count}
        return
    found = rows(result, usage)
    assert len(found) == count
    for row in found:
        assert natural_key(row["source"]).columns
        assert timedelta(0) < row["interval_end"] - row["interval_start"] < timedelta(hours=1)
