"""74-4: self-checks, pieces of broken records, and the join with sections of the master gatherer."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.smf.decode import decode_bytes
from spark_jobs.smf.encode import dump, rmf_record
from tests.spark_jobs.smf.made import RowMaker, agrees, header, rows_of


def decoded(records: list[bytes]) -> Any:  # noqa: ANN401
    return decode_bytes(dump(records), sections=["r744"])


WRONG = (
    {"elements_in_use": 10, "elements_total": 9},
    {"entries_in_use": 10, "entries_total": 9},
    {"size_bytes": 4096, "size_max_bytes": 0, "size_min_bytes": 0},
    {"size_bytes": 4096, "size_max_bytes": 8192, "size_min_bytes": 8192},
    {"xcf_structure": "lower"},
    {"async_requests": 0.5},
    {"sync_requests": -1.0},
    {"structure_type": "code 9"},
)


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_impossible_row_fails_the_self_check(wrong: dict[str, Any]) -> None:
    make = RowMaker(1)
    sound = make.facility(3)
    damaged = make.facility(3)
    damaged["r744_structure"][1] |= wrong
    found = decoded([*rmf_record(header(), sound), *rmf_record(header(1), damaged)])
    check = found.checks["r744"]
    assert (check.rows, check.failed) == (6, 1)
    assert check.is_layout_wrong
    assert [item.reason.split()[0] for item in found.accounting.quarantined] == ["impossible"]
    assert {row["record"] for row in rows_of([found], "r744_structure")} == {0}, (
        "only the record with that row is left out"
    )


def test_layout_is_accepted_if_1_percent_of_rows_fail() -> None:
    make = RowMaker(2)
    records = []
    for number in range(100):
        rows = make.facility(1)
        if number == 7:
            rows["r744_structure"][0] |= WRONG[0]
        records += rmf_record(header(number), rows)
    found = decoded(records)
    assert found.checks["r744"].failed == 1
    assert not found.checks["r744"].is_layout_wrong
    assert len(rows_of([found], "r744_structure")) == 99


def patched(record: bytes, section: int, at: int, content: bytes) -> bytes:
    """Return the record with other bytes at an offset of the first section that a triplet leads to."""
    begin = int.from_bytes(record[36 + 8 * section : 40 + 8 * section], "big") + at
    return record[:begin] + content + record[begin + len(content) :]


FLAGS = {
    0x80: "is_connected", 0x40: "became_active", 0x20: "has_gatherer_error", 0x10: "has_dynamic_dispatching",
    0x08: "has_thin_interrupts", 0x04: "lacks_statistics", 0x02: None, 0x01: None,
}  # fmt: skip


@pytest.mark.parametrize("bit", FLAGS)
def test_each_bit_of_the_status_of_a_coupling_facility_is_one_flag(bit: int) -> None:
    (record,) = rmf_record(header(), RowMaker(9).facility(0))
    (row,) = rows_of([decoded([patched(record, 0, 16, bytes([bit]))])], "r744_cf")
    assert [name for name in FLAGS.values() if name and row[name]] == ([FLAGS[bit]] if FLAGS[bit] else [])


# R744SLEL, SLEM, SSIZ, SMAS, SMIS, SNLH, SMAE, SCUE: their offsets, and the columns.
INVALID = {
    28: "entries_total", 32: "entries_in_use", 236: "size_bytes", 240: "size_max_bytes", 244: "size_min_bytes",
    256: "list_headers", 260: "elements_total", 264: "elements_in_use",
}  # fmt: skip
INVALID_FLAGS = ("is_duplexed", "is_primary", "is_secondary", "is_encrypted")


def without_statistics(record: bytes, *, flag: int = 0x84) -> bytes:
    """Return the record with R744FNOHW and with undefined data in all fields that are not valid then."""
    record = patched(record, 0, 16, bytes([flag]))
    for number, at in enumerate(INVALID):
        record = patched(record, 4, at, bytes([0xE0 - number, 0xFF, 0, number]))
    return patched(record, 4, 25, bytes([0xFF]))


def test_fields_without_statistics_of_the_coupling_facility_are_null_and_not_checked() -> None:
    rows = RowMaker(10).facility(1)
    (record,) = rmf_record(header(), rows)
    found = decoded([without_statistics(record)])
    (row,) = rows_of([found], "r744_structure")
    assert found.checks["r744"].failed == 0
    assert {name: row[name] for name in (*INVALID.values(), *INVALID_FLAGS)} == dict.fromkeys(
        (*INVALID.values(), *INVALID_FLAGS)
    )
    assert (row["is_connected"], row["became_active"]) == (True, True), "bits 0 and 1 remain valid"
    valid = ("sync_requests", "async_requests", "changed_requests", "queued_requests", "policy_size_bytes")
    assert {name: row[name] for name in valid} == {name: rows["r744_structure"][0][name] for name in valid}, (
        "counts of the system itself and the policy are valid"
    )


def test_the_same_undefined_data_fails_the_self_check_of_a_record_with_statistics() -> None:
    (record,) = rmf_record(header(), RowMaker(10).facility(1))
    found = decoded([without_statistics(record, flag=0x80)])
    assert found.checks["r744"].failed == 1
    assert rows_of([found], "r744_structure") == []


def test_only_records_without_statistics_lack_the_values() -> None:
    make = RowMaker(11)
    rows = [make.facility(3), make.facility(2)]
    records = [rmf_record(header(number), of)[0] for number, of in enumerate(rows)]
    found = rows_of([decoded([without_statistics(records[0]), records[1]])], "r744_structure")
    assert [row["entries_total"] for row in found] == [
        *[None] * 3,
        *[row["entries_total"] for row in rows[1]["r744_structure"]],
    ]


def test_cache_and_lock_structures_have_no_list_to_check() -> None:
    make = RowMaker(3)
    rows = make.facility(1)
    rows["r744_structure"][0] |= {"structure_type": "CACHE", "elements_in_use": 10, "elements_total": 0}
    assert decoded(rmf_record(header(), rows)).checks["r744"].failed == 0


def test_master_gatherer_sections_are_joined_to_requests_of_the_same_instance() -> None:
    make = RowMaker(4)
    rows = make.facility(4)
    both, only_requests, only_policy, other = rows["r744_structure"]
    only_requests |= dict.fromkeys(("policy_size_bytes",))
    only_policy |= dict.fromkeys(("structure_type",))
    other["xcf_structure"] = both["xcf_structure"]  # the other instance of it, in a rebuild
    found = rows_of([decoded(rmf_record(header(), rows))], "r744_structure")
    assert len(found) == 4
    by_size = {row["policy_size_bytes"]: row for row in found}
    assert agrees(by_size[both["policy_size_bytes"]], both)
    assert agrees(by_size[other["policy_size_bytes"]], other)
    assert by_size[None]["entries_total"] == only_requests["entries_total"]
    assert by_size[None]["is_active_instance"] is None
    assert by_size[only_policy["policy_size_bytes"]]["entries_total"] is None


@pytest.mark.parametrize("piece_bytes", [700, 1000, 3000])
def test_broken_record_is_assembled_from_any_pieces(piece_bytes: int) -> None:
    make = RowMaker(5)
    rows = make.facility(12)
    pieces = rmf_record(header(), rows, piece_bytes=piece_bytes)
    assert len(pieces) > 1
    found = decoded(pieces)
    structures = rows_of([found], "r744_structure")
    assert len(structures) == 12
    assert all(map(agrees, structures, rows["r744_structure"]))
    assert len(rows_of([found], "r744_cf")) == 1, "the facility is counted once"
    assert found.accounting.quarantined == []


def test_pieces_of_two_facilities_in_one_interval_are_not_mixed() -> None:
    make = RowMaker(6)
    one, two = make.facility(8), make.facility(8)
    found = decoded(
        [*rmf_record(header(), one, piece_bytes=1500), *rmf_record(header(), two, piece_bytes=1500)]
    )
    facilities = [row["coupling_facility"] for row in rows_of([found], "r744_structure")]
    assert (
        facilities
        == [one["r744_cf"][0]["coupling_facility"]] * 8 + [two["r744_cf"][0]["coupling_facility"]] * 8
    )


@pytest.mark.parametrize("missing", [0, 1, -1])
def test_broken_record_with_a_missing_piece_is_quarantined_completely(missing: int) -> None:
    make = RowMaker(7)
    pieces = rmf_record(header(), make.facility(8), piece_bytes=1500)
    del pieces[missing]
    whole = make.facility(2)
    found = decoded([*pieces, *rmf_record(header(9), whole)])
    assert len(rows_of([found], "r744_structure")) == 2
    assert len(found.accounting.quarantined) == len(pieces)
    assert found.accounting.total_bytes == sum(map(len, pieces)) + len(rmf_record(header(9), whole)[0])


def test_rmf_interval_is_in_utc() -> None:
    make = RowMaker(8)
    head = header(zone=60)
    (row,) = rows_of([decoded(rmf_record(head, make.facility(0)))], "r744_cf")
    assert row["interval_end"] == head.written_at
    assert row["utc_offset_minutes"] == 60
    assert (row["interval_end"] - row["interval_start"]).total_seconds() * 1_000_000 == row["interval_us"]
