"""Ranges of a dump give the rows of the whole dump, and gaps between them are detected."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_jobs.smf import walk
from spark_jobs.smf.decode import (
    SECTIONS,
    TABLES,
    Accounting,
    RangeResult,
    decode_bytes,
    decode_file,
    decode_range,
    finish,
    index_dump,
    meet,
)
from spark_jobs.smf.encode import Framing, dump, plain_record, rmf_record
from spark_jobs.smf.errors import BrokenChain
from tests.spark_jobs.smf.made import RowMaker, header, rows_of, small_records

FRAMINGS = (Framing(block_bytes=1500), Framing(kind="bdw", block_bytes=1500), Framing(block_bytes=None))


def dump_file(folder: Path, framing: Framing, *, copies: int = 3) -> Path:
    path = folder / "night.smf"
    path.write_bytes(dump([record for seed in range(copies) for record in small_records(seed)], framing))
    return path


def all_rows(results: Sequence[RangeResult], *, numbered: bool) -> dict[str, list[Any]]:
    """Return rows by table in the order of the dump."""
    found = {}
    for table in TABLES:
        rows = sorted(rows_of(results, table), key=lambda row: (row["offset"], row["section"]))
        found[table] = [{**row, "record": row["record"] if numbered else 0} for row in rows]
    return found


def in_ranges(path: Path, framing: Framing, bounds: Sequence[int]) -> list[RangeResult]:
    size = path.stat().st_size
    edges = sorted({0, size, *(bound for bound in bounds if 0 < bound < size)})
    results = [
        decode_range(path, start, end, framing=framing.kind, sections=SECTIONS)
        for start, end in pairwise(edges)
    ]
    meet([(result.first_start, result.end_offset) for result in results], end=size)
    held = [piece for result in results for piece in result.pieces]
    last = finish(held, sections=SECTIONS, file=str(path))
    for result in results:
        result.accounting.held_bytes = 0
    return [*results, last]


@pytest.fixture(scope="module", params=FRAMINGS, ids=["rdw", "bdw", "not spanned"])
def encoded_dump(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Framing, dict[str, list[Any]]]:
    framing = request.param
    path = dump_file(tmp_path_factory.mktemp("ranges"), framing)
    return path, framing, all_rows(list(decode_file(path, sections=SECTIONS)), numbered=False)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(bounds=st.lists(st.integers(0, 45_000), max_size=8))
def test_any_split_into_byte_ranges_gives_the_same_rows(
    encoded_dump: tuple[Path, Framing, dict[str, list[Any]]], bounds: list[int]
) -> None:
    path, framing, expected = encoded_dump
    results = in_ranges(path, framing, bounds)
    assert all_rows(results, numbered=False) == expected
    account = Accounting()
    for result in results:
        account.add(result.accounting)
    assert account.total_bytes == path.stat().st_size
    assert account.quarantined == []


@pytest.mark.parametrize("framing", FRAMINGS, ids=["rdw", "bdw", "not spanned"])
@pytest.mark.parametrize("split_bytes", [1, 4000, 20_000])
def test_index_splits_give_the_same_rows_and_record_numbers(
    framing: Framing, split_bytes: int, tmp_path: Path
) -> None:
    path = dump_file(tmp_path, framing)
    index = index_dump(path, split_bytes=split_bytes)
    results = [
        decode_range(
            path,
            split.offset,
            end,
            framing=index.framing,
            sections=SECTIONS,
            first_record=split.record_number,
        )
        for split, end in index.ranges()
    ]
    assert len(results) > 1
    meet([(result.first_start, result.end_offset) for result in results], end=index.content_bytes)
    assert [result.first_start for result in results] == [split.offset for split in index.splits]
    whole = list(decode_file(path, sections=SECTIONS))
    assert all_rows(results, numbered=True) == all_rows(whole, numbered=True)
    assert not any(result.pieces for result in results), "a broken record was split"


def test_meet_refuses_ranges_with_a_gap() -> None:
    meet([(0, 10), (10, 10), (10, 30)], end=30)
    for ranges, end in (([(0, 10), (12, 30)], 30), ([(0, 10), (10, 30)], 31), ([(3, 10)], 10)):
        with pytest.raises(BrokenChain):
            meet(ranges, end=end)


@pytest.mark.parametrize("framing", FRAMINGS, ids=["rdw", "bdw", "not spanned"])
def test_window_size_does_not_change_the_result(
    framing: Framing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dump_file(tmp_path, framing, copies=12)
    data = bytearray(path.read_bytes())
    pick = random.Random(4)
    for _ in range(20):
        data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)
    path.write_bytes(data)
    at_once = decode_bytes(bytes(data), sections=SECTIONS, framing=framing.kind, file=str(path))
    monkeypatch.setattr(walk, "LOOKAHEAD_BYTES", 20_000)
    for chunk in (1, 7_001, 50_000):
        monkeypatch.setattr("spark_jobs.smf.walk.CHUNK_BYTES", chunk)
        monkeypatch.setattr("spark_jobs.smf.decode.CHUNK_BYTES", 0)
        monkeypatch.setattr("spark_jobs.smf.decode.LOOKAHEAD_BYTES", 0)
        results = list(decode_file(path, sections=SECTIONS, framing=framing.kind))
        assert len(results) > 1
        assert all_rows(results, numbered=True) == all_rows([at_once], numbered=True)
        account = Accounting()
        for result in results:
            account.add(result.accounting)
        assert sorted(account.quarantined, key=str) == sorted(at_once.accounting.quarantined, key=str)
        assert account.skipped == at_once.accounting.skipped
        assert account.total_bytes == len(data)


def test_distant_pieces_of_a_broken_record_are_joined_at_the_end(tmp_path: Path) -> None:
    make = RowMaker(9)
    rows = make.facility(20)
    pieces = rmf_record(header(), rows, piece_bytes=2000)
    between = [plain_record(30, header(n), subtype=1, body=bytes(3000)) for n in range(10)]
    path = tmp_path / "night.smf"
    records = [plain_record(2, header())]
    for piece in pieces:
        records += [piece, *between]
    path.write_bytes(dump(records, Framing(block_bytes=None)))
    results = in_ranges(path, Framing(block_bytes=None), [path.stat().st_size // 2])
    assert [row["xcf_structure"] for row in rows_of(results, "r744_structure")] == [
        row["xcf_structure"] for row in rows["r744_structure"]
    ]
    index = index_dump(path, split_bytes=10_000)
    assert [split.record_number for split in index.splits[:2]] == [0, 1 + 11 * (len(pieces) - 1) + 1]
