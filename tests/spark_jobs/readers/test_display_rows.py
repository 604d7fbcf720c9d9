"""Displays and messages are converted to rows with the given time, and only with names that are certain."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from planner_core.inputs import Kind
from spark_jobs.history.schema import natural_key
from spark_jobs.readers import NotReadable
from tests.spark_jobs.readers import support
from tests.spark_jobs.readers.support import EAST, GROUPS, OBSERVED, read_text, rows

M, G = 1024**2, 1024**3


def test_cfstatus_gives_usage_at_the_time_of_observation(tmp_path: Path) -> None:
    result = read_text(tmp_path, support.CFSTATUS, "cfstatus", observed_at=OBSERVED, qsg_of=GROUPS)
    assert (result.asks, result.problem_count) == ((), 0)
    (row,) = rows(result, "structure_usage")
    assert row == {
        "source": "display CFSTATUS",
        "origin": "display",
        "file_record": 3,
        "piece": 0,
        "note": "size_used_bytes from a whole percentage",
        "queue_manager": "QM01",
        "qsg": "QSG1",
        "structure": "APPLICATION1",
        "xcf_structure": "QSG1APPLICATION1",
        "interval_end": OBSERVED,
        "interval_us": 0,
        "in_use_kind": "at_end",
        "entries_in_use": 1200,
        "entries_total": 229_134,
        "size_bytes": 512 * M,
        "size_used_bytes": 512 * M * 12 // 100,
        "status": "ACTIVE",
    }
    assert any("from memory" in note for note in result.notes)


def test_cfstruct_definition_is_stored_with_allocations(tmp_path: Path) -> None:
    result = read_text(tmp_path, support.CFSTRUCT, "cfstruct", observed_at=OBSERVED, qsg_of=GROUPS)
    (row,) = rows(result, "allocation")
    assert (row["source"], row["qsg"], row["structure"]) == ("display CFSTRUCT", "QSG1", "APPLICATION1")
    assert (row["mq_cflevel"], row["mq_recover"], row["mq_offload"]) == (5, True, "SMDS")
    assert row["mq_offload_rules"] == "70:32768 80:4096 90:0"
    assert (row["mq_dsblock_bytes"], row["mq_dsbufs"], row["mq_dsgroup"]) == (
        256 * 1024,
        100,
        "MQ.SMDS.*.APP1",
    )


def test_xcf_display_gives_an_allocation(tmp_path: Path) -> None:
    result = read_text(tmp_path, support.IXC360I, "xcf_str", observed_at=OBSERVED, zone=EAST)
    assert (result.asks, result.problem_count) == ((), 0)
    (row,) = rows(result, "allocation")
    wanted = {
        "source": "display XCF",
        "qsg": "QSG1",  # MQ's connection in the display shows it
        "structure": "APPLICATION1",
        "xcf_structure": "QSG1APPLICATION1",
        "interval_end": OBSERVED,
        "coupling_facility": "CF01",
        "allocated_at": datetime(2026, 3, 14, 8, 12, 44, tzinfo=UTC),
        "is_active": True,
        "policy_size_bytes": 512 * M,
        "policy_initsize_bytes": 256 * M,
        "policy_minsize_bytes": 0,
        "full_threshold_pct": 85,
        "allow_auto_alter": False,
        "preference_list": "CF01 CF02",
        "size_bytes": 256 * M,
        "entries_in_use": 1200,
        "entries_total": 111_234,
        "elements_in_use": 8100,
        "elements_total": 667_404,
    }
    assert {name: row[name] for name in wanted} == wanted


def test_all_messages_of_a_log_become_rows(tmp_path: Path) -> None:
    text = support.IXC585E + support.IXC582I + support.IXC588I + support.IXL015I
    result = read_text(tmp_path, text, "messages", observed_at=OBSERVED)
    assert (result.asks, result.problem_count) == ((), 0)
    found = rows(result, "allocation")
    assert [row["event"] for row in found] == ["IXC585E", "IXC582I", "IXC588I", "IXL015I", "IXL015I"]
    assert all(row["interval_end"] == OBSERVED and row["qsg"] == "QSG1" for row in found)
    full, made, alter, refused, not_permitted = found
    assert (full["full_threshold_pct"], full["entries_in_use"], full["elements_total"]) == (85, 4874, 4872)
    assert (made["size_bytes"], made["size_max_bytes"], made["ratio_elements"]) == (G, 2 * G, 6)
    assert (alter["size_bytes"], alter["ratio_elements"], "target" in alter["note"]) == (2 * G, 5, True)
    assert "INITSIZE MUST BE AT LEAST: 41 M" in refused["status"]
    assert not_permitted["coupling_facility"] == "CF02"
    assert all(natural_key(row["source"]).columns for row in found)


def test_structure_not_known_to_belong_to_mq_has_only_its_xcf_name(tmp_path: Path) -> None:
    result = read_text(tmp_path, support.IXC585E, "messages", observed_at=OBSERVED)
    (row,) = rows(result, "allocation")
    assert (row["xcf_structure"], "qsg" in row, "structure" in row) == ("QSG1APPLICATION1", False, False)
    assert any("QSG1APPLICATION1" in note for note in result.notes)
    result = read_text(tmp_path, support.IXC585E, "messages", observed_at=OBSERVED, qsg_of=GROUPS)
    assert rows(result, "allocation")[0]["structure"] == "APPLICATION1"


def test_structures_other_than_lists_are_skipped(tmp_path: Path) -> None:
    text = support.IXC360I.replace("SERIALIZED LIST", "LOCK")
    result = read_text(tmp_path, text, "xcf_str", observed_at=OBSERVED)
    assert (result.tables, sum(result.passed_over.values())) == ({}, 1)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (support.CFSTATUS, "cfstatus"),
        (support.CFSTRUCT, "cfstruct"),
        (support.IXC360I, "xcf_str"),
        (support.IXC585E, "messages"),
    ],
)
def test_missing_time_of_a_display_is_requested(tmp_path: Path, text: str, kind: Kind) -> None:
    result = read_text(tmp_path, text, kind, qsg_of=GROUPS)
    assert [ask.what for ask in result.asks] == ["observed_at"]
    assert result.tables == {}


def test_missing_group_of_a_display_is_requested(tmp_path: Path) -> None:
    result = read_text(tmp_path, support.CFSTATUS, "cfstatus", observed_at=OBSERVED)
    (ask,) = result.asks
    assert (ask.what, ask.system_id, ask.queue_manager) == ("qsg", "ANY", "QM01")
    told = {("ANY", "QM01"): "QSG9", **GROUPS}
    result = read_text(tmp_path, support.CFSTATUS, "cfstatus", observed_at=OBSERVED, qsg_of=told)
    assert rows(result, "structure_usage")[0]["qsg"] == "QSG9"


def test_group_is_requested_for_a_queue_manager_name_in_two_groups(tmp_path: Path) -> None:
    two = {("SYSA", "QM01"): "QSG1", ("SYSB", "QM01"): "QSG2"}
    result = read_text(tmp_path, support.CFSTATUS, "cfstatus", observed_at=OBSERVED, qsg_of=two)
    assert [ask.what for ask in result.asks] == ["qsg"]


def test_response_without_the_name_of_its_queue_manager_is_reported(tmp_path: Path) -> None:
    bare = support.CFSTATUS[support.CFSTATUS.index("CFSTATUS(") : support.CFSTATUS.index("CSQ9022I")]
    result = read_text(tmp_path, bare, "cfstatus", observed_at=OBSERVED, qsg_of=GROUPS)
    assert result.tables == {}
    assert "CSQM201I" in result.problems[0].message


def test_log_with_dates_needs_a_zone_and_no_time_of_observation(tmp_path: Path) -> None:
    text = "\n".join(
        f"SYSA 2026080 10:21:33.45 STC01234 00000090  {line}" for line in support.IXC585E.split("\n")
    )
    result = read_text(tmp_path, text, "messages")
    assert [ask.what for ask in result.asks] == ["zone"]
    result = read_text(tmp_path, text, "messages", zone=EAST)
    assert result.asks == ()
    assert rows(result, "allocation")[0]["interval_end"] == datetime(
        2026, 3, 21, 9, 21, 33, 450_000, tzinfo=UTC
    )


def test_time_without_a_date_is_dated_to_its_last_occurrence_before_the_observation(tmp_path: Path) -> None:
    morning = support.IXC585E.replace("*IXC585E", "10.21.33 STC01234 *IXC585E")
    evening = support.IXC588I.replace("IXC588I", "22.00.00 STC01234 IXC588I")
    result = read_text(tmp_path, morning + evening, "messages", observed_at=OBSERVED, zone=EAST)
    assert [row["interval_end"] for row in rows(result, "allocation")] == [
        datetime(2026, 3, 22, 9, 21, 33, tzinfo=UTC),
        datetime(2026, 3, 21, 21, 0, tzinfo=UTC),
    ]
    assert any("last such time" in note for note in result.notes)


def test_repeated_display_gives_one_row_and_a_different_one_another(tmp_path: Path) -> None:
    changed = support.IXC585E.replace("4874 TOTAL", "4800 TOTAL").replace("100% FULL", "98% FULL")
    result = read_text(tmp_path, support.IXC585E * 2 + changed, "messages", observed_at=OBSERVED)
    assert [row["piece"] for row in rows(result, "allocation")] == [0, 0, 1]


def test_text_without_displays_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotReadable, match="DISPLAY CFSTATUS"):
        read_text(tmp_path, "nothing at all\n", "cfstatus", observed_at=OBSERVED)


def test_size_too_large_to_be_stored_drops_the_row(tmp_path: Path) -> None:
    text = support.IXC360I.replace("512 M", "999999999999999 T")
    result = read_text(tmp_path, text, "xcf_str", observed_at=OBSERVED)
    assert result.tables == {}
    assert "too large" in result.problems[0].message


def test_display_rows_have_the_counts_under_space_usage(tmp_path: Path) -> None:
    """The job reads with the reader of the core: a block of storage-class memory changes no row."""
    counts = support.IXC360I.index("                IN-USE        TOTAL     %\n")
    block = "  STORAGE-CLASS MEMORY:     100 M          4 G     2\n   ENTRIES:     900 1000 90\n   ELEMENTS:    900 1000 90\n"
    with_block = support.IXC360I[:counts] + block + " SPACE USAGE" + support.IXC360I[counts:]
    plain, found = (
        read_text(tmp_path, text, "xcf_str", observed_at=OBSERVED, zone=EAST)
        for text in (support.IXC360I, with_block)
    )
    (row,) = rows(found, "allocation")
    assert (row["entries_in_use"], row["elements_total"]) == (1200, 667_404)
    assert [{**row, "file_record": 0}] == [{**each, "file_record": 0} for each in rows(plain, "allocation")]
