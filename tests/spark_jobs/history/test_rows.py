"""Conversion of decoded sections to rows of the history: selection, identity, and omissions."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from spark_jobs.history import rows as module
from spark_jobs.history.rows import COLUMNS, rows_of
from spark_jobs.history.schema import TABLES, row_schema
from spark_jobs.smf.decode import TABLES as SECTIONS
from spark_jobs.smf.decode import schema
from tests.spark_jobs.history.rows import MIDNIGHT

END = MIDNIGHT + dt.timedelta(minutes=30)
COMMON = {
    "offset": 4711,
    "record": 12,
    "subtype": 2,
    "system_id": "SYSA",
    "queue_manager": "CSQ1",
    "qsg": None,
    "written_at": END + dt.timedelta(milliseconds=20),
    "interval_start": MIDNIGHT,
    "interval_end": END,
    "interval_us": 1_800_000_000,
}
GROUPS = {("SYSA", "CSQ1"): "SQ03"}


def section(table: str, *rows: dict[str, Any]) -> dict[str, list[pa.RecordBatch]]:
    wanted = schema(table, columns=COLUMNS[table])
    complete = [{**COMMON, **row} for row in rows]
    unknown = {name for row in rows for name in row} - set(wanted.names)
    assert not unknown, unknown
    return {table: [pa.RecordBatch.from_pylist(complete, schema=wanted)]}


def qest(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - of any column
    zero = dict.fromkeys((name for name in module._QEST.values()), 0)
    return {"structure": "APPLICATION1", **zero, **values}


def wq(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - of any column
    return {
        "subtype": 1,
        "queue": "PAYMENTS.IN",
        "object_name": "PAYMENTS.IN",
        "cf_structure": "APPLICATION1",
        "disposition": "SHARED",
        "correlation": "AB" * 16,
        "puts": 3,
        "put_bytes": 300,
        "put_bytes_min": 50,
        "put_bytes_max": 200,
        "gets": 0,
        "get_bytes_max": 0,
        "persistent_puts": 1,
        "persistent_put1s": 2,
        **values,
    }


@pytest.mark.parametrize("table", SECTIONS)
def test_decoder_has_every_column_that_the_history_needs(table: str) -> None:
    assert set(COLUMNS[table]) <= set(schema(table).names)


def test_maxima_of_0_become_null() -> None:
    found = rows_of(section("qest", qest(ixllstm_calls=191), qest(entries_in_use_max=5)), group_of=GROUPS)
    first, second = found.tables["structure_usage"].to_pylist()
    assert (first["entries_in_use"], first["elements_in_use"]) == (None, None)
    assert (second["entries_in_use"], second["elements_in_use"]) == (5, None)
    assert "not observed" in first["note"]
    assert first["structure_full_count"] == 0, "a count of 0 is a count"


def test_structure_rows_have_group_and_xcf_name() -> None:
    found = rows_of(section("qest", qest(ixllste_calls=1)), group_of={("SYSA", "CSQ1"): "Q1"})
    (row,) = found.tables["structure_usage"].to_pylist()
    assert (row["qsg"], row["structure"], row["xcf_structure"]) == ("Q1", "APPLICATION1", "Q1@@APPLICATION1")
    assert found.used == {("SYSA", "CSQ1"): "Q1"}
    assert (row["file_offset"], row["file_record"], row["source"]) == (4711, 12, "115-2 QEST")


def test_group_in_the_record_overrides_the_map() -> None:
    found = rows_of(section("qest", qest(qsg="SQ09", ixllste_calls=1)), group_of=GROUPS)
    assert found.tables["structure_usage"]["qsg"].to_pylist() == ["SQ09"]
    assert found.used == {}


def test_unknown_group_is_listed_and_never_guessed() -> None:
    other = qest(queue_manager="CSQ7", ixllste_calls=1)
    found = rows_of(section("qest", qest(ixllste_calls=1), other), group_of=GROUPS)
    assert found.unknown == {("SYSA", "CSQ7")}
    assert found.tables["structure_usage"]["queue_manager"].to_pylist() == ["CSQ1"]


def test_queue_manager_in_no_group_is_skipped_and_counted() -> None:
    found = rows_of(section("qest", qest(ixllste_calls=1)), group_of={("SYSA", "CSQ1"): ""})
    assert found.tables["structure_usage"].num_rows == 0
    assert found.passed_over[module.NOT_IN_GROUP] == 1
    assert found.unknown == set()


def test_idle_slots_without_a_group_are_skipped_without_a_question() -> None:
    found = rows_of(section("qest", qest(structure="CSQ_ADMIN")), group_of={})
    assert found.unknown == set()
    assert found.passed_over[module.NO_GROUP_SLOTS] == 1


def test_private_queues_are_skipped_and_queues_in_structures_are_not() -> None:
    private = wq(cf_structure=None, disposition="QMGR", queue_manager="CSQ7")
    by_structure = wq(disposition="COPY")
    found = rows_of(section("wq", private, wq(), by_structure), group_of=GROUPS)
    assert found.tables["queue_usage"].num_rows == 2
    assert found.passed_over[module.PRIVATE_QUEUES] == 1
    assert found.unknown == set(), "nobody is asked for the group of a private queue's manager"


def test_pieces_number_the_shared_sections_of_each_record() -> None:
    rows = [
        wq(record=1),
        wq(record=1, cf_structure=None, disposition="QMGR"),
        wq(record=1),
        wq(record=2, subtype=2),
        wq(record=2, subtype=2),
    ]
    found = rows_of(section("wq", *rows), group_of=GROUPS).tables["queue_usage"]
    assert found["piece"].to_pylist() == [10_000, 10_001, 20_000, 20_001]
    assert found["source"].to_pylist() == ["116-1 WQ", "116-1 WQ", "116-2 WQ", "116-2 WQ"]


def test_requests_of_mqgets_are_those_of_readlist_and_move() -> None:
    counts = {"cf_get_readlist_requests": 31, "cf_get_move_requests": 9}
    found = rows_of(section("wq", wq(**counts), wq()), group_of=GROUPS)
    rows = found.tables["queue_usage"].to_pylist()
    assert [(row["get_readlists"], row["get_moves"]) for row in rows] == [(31, 9), (None, None)]


def test_data_set_rows_have_requests_and_waits_for_buffers() -> None:
    counts = {"buffer_gets": 900, "pool_waits": 4, "pool_wait_us": 8, "buffer_waits": 5, "buffer_wait_us": 6}
    found = rows_of(section("qesd", {"structure": "APPLICATION1", **counts}), group_of=GROUPS)
    (row,) = found.tables["smds_usage"].to_pylist()
    assert row["buffer_requests"] == 900
    assert (row["pool_waits"], row["pool_wait_us"], row["buffer_waits"], row["buffer_wait_us"]) == (
        4,
        8,
        5,
        6,
    )


def test_sizes_of_no_messages_are_unknown() -> None:
    rows = [wq(), wq(puts=0, put_bytes=0, put_bytes_min=None, put_bytes_max=0)]
    first, second = rows_of(section("wq", *rows), group_of=GROUPS).tables["queue_usage"].to_pylist()
    assert (first["put_size_min_bytes"], first["put_size_max_bytes"]) == (50, 200)
    assert (second["put_size_min_bytes"], second["put_size_max_bytes"]) == (None, None)
    assert first["get_size_max_bytes"] is None
    assert first["persistent_puts"] == 3


def test_sum_with_an_unknown_part_is_unknown() -> None:
    found = rows_of(section("wq", wq(persistent_put1s=None)), group_of=GROUPS)
    assert found.tables["queue_usage"]["persistent_puts"].to_pylist() == [None]


def test_queue_statistics_add_mqput_and_mqput1_and_skip_partial_rows() -> None:
    row = {
        "queue": "PAYMENTS.IN",
        "cf_structure": "APPLICATION1",
        "is_shared": True,
        "is_partial": False,
        "queue_qsg": "SQ05",
        "puts": 10,
        "put1s": 5,
        "put_bytes": 1000,
        "put1_bytes": 50,
        "persistent_puts": 4,
        "persistent_put1s": 1,
        "message_bytes_min": 10,
        "message_bytes_max": 500,
        "depth": 7,
        "depth_max": 9,
    }
    private = {**row, "cf_structure": None, "is_shared": False, "queue_qsg": None}
    found = rows_of(section("qqst", row, {**row, "is_partial": True}, private), group_of={})
    (got,) = found.tables["queue_usage"].to_pylist()
    assert (got["puts"], got["put_bytes"], got["persistent_puts"]) == (15, 1050, 5)
    assert (got["depth_end"], got["depth_max"], got["put_size_max_bytes"]) == (7, 9, 500)
    assert (got["qsg"], got["disposition"]) == ("SQ05", "SHARED")
    assert found.passed_over[module.PARTIAL] == 1
    assert found.passed_over[module.PRIVATE_QUEUES] == 1
    assert found.unknown == set()


def test_rmf_structures_are_lists_with_facility_and_storage() -> None:
    version = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
    common = {"queue_manager": None, "sysplex": "PLEX1", "allocated_at": version}
    listed = {
        **common,
        "xcf_structure": "SQ03APPLICATION1",
        "structure_type": "SERIALIZED LIST",
        "entries_in_use": 0,
        "entries_total": 5000,
        "elements_in_use": 12,
        "elements_total": 30_000,
        "size_bytes": 2**29,
        "sync_requests": 100.0,
        "queued_requests": 4.0,
        "queued_us": 900,
        "policy_size_bytes": 2**30,
        "is_active_instance": True,
        "is_in_rebuild": True,
    }
    cache = {**common, "xcf_structure": "DSNDB0G_GBP0", "structure_type": "CACHE"}
    only_policy = {
        **common,
        "xcf_structure": "SQ03APPLICATION2",
        "policy_size_bytes": 2**28,
        "is_active_instance": False,
    }
    batches = {
        **section("r744_structure", listed, cache, only_policy),
        **section("r744_cf", {"coupling_facility": "CF01"}),
        **section("r744_storage", {"total_bytes": 2**36, "free_bytes": 2**35}),
    }
    for name in ("r744_cf", "r744_storage"):
        assert set(batches[name][0].schema.names) >= {"record"}
    found = rows_of(batches, group_of={})
    (usage,) = found.tables["structure_usage"].to_pylist()
    assert (usage["entries_in_use"], usage["elements_total"]) == (0, 30_000)
    assert (usage["coupling_facility"], usage["cf_free_bytes"]) == ("CF01", 2**35)
    assert (usage["qsg"], usage["in_use_kind"], usage["sync_requests"]) == (None, "at_end", 100)
    assert (usage["queued_requests"], usage["queued_us"], usage["entries_written"]) == (4, 900, None)
    policies = found.tables["allocation"].to_pylist()
    assert [row["policy_size_bytes"] for row in policies] == [2**30, 2**28]
    assert [row["status"] for row in policies] == ["active, being rebuilt", None]
    assert found.passed_over[module.NOT_LISTS] == 1


def test_rows_have_the_schema_of_their_table() -> None:
    found = rows_of({**section("qest", qest(ixllste_calls=1)), **section("wq", wq())}, group_of=GROUPS)
    assert set(found.tables) <= set(TABLES)
    for table, rows in found.tables.items():
        assert rows.schema.equals(row_schema(table))


def test_no_batches_give_no_rows() -> None:
    found = rows_of({}, group_of=GROUPS)
    assert (found.tables, found.unknown, +found.passed_over) == ({}, set(), {})
