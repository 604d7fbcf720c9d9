"""Encoding and decoding gives the same rows, regardless of segmentation, mixture and splits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_jobs.smf.decode import SECTIONS, TABLES, decode_bytes, schema
from spark_jobs.smf.encode import Framing, Header, dump, mq_record, plain_record, rmf_record
from spark_jobs.smf.layouts import layout
from tests.spark_jobs.smf.made import RowMaker, agrees, header, rows_of

KINDS = ("115-1", "115-2", "115-216", "115-231", "116-1", "116-2", "74-4", "74-4 broken", "30", "2", "99")
Expected = dict[str, list[dict[str, Any]]]

framings = st.builds(
    Framing,
    kind=st.sampled_from(["rdw", "bdw", "gzip+rdw", "gzip+bdw"]),
    block_bytes=st.integers(120, 32_000),
    segment_bytes=st.lists(st.integers(5, 4000), max_size=4).map(tuple),
) | st.builds(
    Framing, block_bytes=st.none(), segment_bytes=st.lists(st.integers(5, 9000), max_size=3).map(tuple)
)
plans = st.tuples(st.integers(0, 2**32), st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))


def random_records(seed: int, kinds: list[str]) -> tuple[list[bytes], Expected]:
    """Return records of these kinds in any release, and their rows."""
    make = RowMaker(seed)
    records: list[bytes] = [plain_record(2, header())]
    expected: Expected = {table: [] for table in TABLES}
    for number, kind in enumerate(kinds):
        late = make.random.random() < 0.5
        head = header(
            number, release="946" if late else "910", qsg=make.random.choice(["SQ03", ""]) if late else None,
            zone=make.random.choice([-720, -300, 0, 345, 840]),
        )  # fmt: skip
        for record, rows in _one(make, kind, head):
            records.append(record)
            for table, found in rows.items():
                expected[table] += [row | _common(kind, head, table) for row in found]
    return records, expected


def _common(kind: str, head: Header, table: str) -> dict[str, Any]:
    common = {
        "system_id": head.system_id,
        "written_at": head.written_at,
        "utc_offset_minutes": head.utc_offset_minutes,
        "smf_type": int(kind.split("-")[0]),
    }
    if kind != "116-2":
        common |= {"interval_end": head.written_at, "interval_us": head.interval_us}
    if not table.startswith("r744"):
        common |= {"queue_manager": head.queue_manager, "qsg": head.qsg, "release": head.release}
    return common


def _one(make: RowMaker, kind: str, head: Header) -> list[tuple[bytes, Expected]]:
    pick = make.random
    if kind.startswith("74-4"):
        rows = make.facility(pick.randint(0, 9))
        pieces = rmf_record(
            head, rows, piece_bytes=pick.randint(700, 3000) if kind.endswith("broken") else None
        )
        return [(piece, {} if number else rows) for number, piece in enumerate(pieces)]
    if kind in ("30", "99", "2"):
        return [
            (
                plain_record(
                    int(kind), head, subtype=pick.choice([None, 7]), body=pick.randbytes(pick.randint(0, 900))
                ),
                {},
            )
        ]
    tables = {
        "115-1": (),
        "115-2": ("qest", "qesd"),
        "115-216": ("qqst",),
        "115-231": ("qcct",),
        "116-1": ("wq",),
        "116-2": ("wq",),
    }[kind]
    lengths = {table: pick.choice(layout(table).known_lengths) for table in tables if table != "qest"}
    found: Expected = {}
    for table in tables:
        count = pick.randint(0, 4)
        if table == "wq":
            found[table] = make.task_rows(count, length=lengths[table]) if count else []
        else:
            found[table] = [make.row(table, length=lengths.get(table)) for _ in range(count)]
    return [
        (
            mq_record(kind, head, {table: rows for table, rows in found.items() if rows}, lengths=lengths),
            found,
        )
    ]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(plans, framings)
def test_rows_are_unchanged_after_a_round_trip_in_any_framing_release_and_mixture(
    plan: tuple[int, list[str]], framing: Framing
) -> None:
    records, expected = random_records(*plan)
    data = dump(records, framing)
    found = decode_bytes(data, sections=SECTIONS)
    for table in TABLES:
        rows = rows_of([found], table)
        assert len(rows) == len(expected[table]), table
        assert all(map(agrees, rows, expected[table])), table
    assert found.accounting.quarantined == []
    assert found.accounting.lost_bytes == 0
    if not framing.kind.startswith("gzip"):
        assert found.accounting.total_bytes == len(data)
    assert sum(found.records.values()) == len(records)


@pytest.mark.parametrize("table", TABLES)
def test_choosing_columns_changes_no_value(table: str) -> None:
    records, _ = random_records(7, [kind for kind in KINDS for _ in range(2)])
    data = dump(records)
    whole = rows_of([decode_bytes(data, sections=SECTIONS)], table)
    assert whole
    names = schema(table).names
    for chosen in (names[::2], names[1::3], names[-1:], ["record"]):
        rows = rows_of([decode_bytes(data, sections=SECTIONS, columns={table: chosen})], table)
        assert rows == [{name: row[name] for name in names if name in chosen} for row in whole]


def test_only_shared_omits_queues_without_a_structure() -> None:
    make = RowMaker(3)
    rows = [make.row("qqst") | {"cf_structure": structure} for structure in ("A", None, "B", None)]
    tasks = [
        row | {"cf_structure": structure}
        for row, structure in zip(make.task_rows(2), (None, "C"), strict=True)
    ]
    data = dump(
        [mq_record("115-216", header(), {"qqst": rows}), mq_record("116-1", header(1), {"wq": tasks})]
    )
    found = decode_bytes(data, sections=["qqst", "wq"], only_shared=True)
    assert [row["cf_structure"] for row in rows_of([found], "qqst")] == ["A", "B"]
    assert [row["cf_structure"] for row in rows_of([found], "wq")] == ["C"]
    assert [row["section"] for row in rows_of([found], "qqst")] == [0, 2]


def test_rows_have_the_number_of_their_record() -> None:
    records, _ = random_records(1, ["99", "115-2", "30", "115-216", "116-2"])
    data = dump(records, Framing(block_bytes=None))
    found = decode_bytes(data, sections=SECTIONS, file="night.smf")
    for table, number in (("qqst", 4), ("wq", 5)):
        for row in rows_of([found], table):
            assert row["record"] == number
            assert row["offset"] == sum(len(record) for record in records[:number])
            assert row["file"] == "night.smf"


def test_group_is_ignored_in_releases_that_leave_garbage_in_its_field() -> None:
    make = RowMaker(2)
    rows = {"qest": [make.row("qest")]}
    early = dump([mq_record("115-2", header(release="945", qsg="SQ03"), rows)])
    late = dump([mq_record("115-2", header(release="946", qsg="SQ03"), rows)])
    assert rows_of([decode_bytes(early, sections=["qest"])], "qest")[0]["qsg"] is None
    assert rows_of([decode_bytes(late, sections=["qest"])], "qest")[0]["qsg"] == "SQ03"
