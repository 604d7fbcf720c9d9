"""Framing of dumps, and messages on unreadable files."""

from __future__ import annotations

import gzip
from pathlib import Path
from struct import Struct

import pytest

from spark_jobs.smf.decode import SECTIONS, DumpIndex, decode_bytes, decode_file, index_dump
from spark_jobs.smf.encode import Framing, dump, plain_record
from spark_jobs.smf.errors import NotAnSmfDump
from spark_jobs.smf.framing import detect_framing
from tests.spark_jobs.smf.made import header, rows_of, small_dump, small_records

RDW = Struct(">HH")
LATIN = bytes(range(256)).decode("cp037").encode("latin-1", "replace")


@pytest.mark.parametrize("kind", ["rdw", "bdw", "gzip+rdw", "gzip+bdw"])
def test_each_framing_is_detected(kind: str) -> None:
    data = small_dump(1, Framing(kind=kind, block_bytes=2000))
    assert detect_framing(data) == kind
    assert rows_of([decode_bytes(data, sections=SECTIONS)], "qest")


def test_framing_is_detected_from_one_plausible_record() -> None:
    assert detect_framing(dump([plain_record(2, header())])) == "rdw"


def test_extended_block_descriptor_words_are_read() -> None:
    body = dump(small_records(1), Framing(block_bytes=None))
    data = RDW.pack(0x8000 | (len(body) + 4) >> 16, (len(body) + 4) & 0xFFFF) + body
    found = decode_bytes(data, sections=SECTIONS)
    assert found.accounting.skipped["BDW"] == (1, 4)
    assert found.accounting.total_bytes == len(data)
    assert rows_of([found], "wq")


def test_concatenated_dumps_are_read_as_one_dump() -> None:
    data = small_dump(1) + small_dump(2) + small_dump(3)
    found = decode_bytes(data, sections=SECTIONS)
    assert found.accounting.quarantined == []
    assert found.records["2"] == found.records["3"] == found.records["115-2"] == 3


def test_dump_without_record_descriptor_words_is_refused_with_advice() -> None:
    data = b"".join(record[4:] for record in small_records(1))
    with pytest.raises(NotAnSmfDump, match=r"without its record descriptor words.*quote site rdw"):
        decode_bytes(data, sections=SECTIONS)


def test_translated_dump_is_refused_with_advice() -> None:
    data = small_dump(1).translate(LATIN)
    with pytest.raises(NotAnSmfDump, match=r"translated from EBCDIC to ASCII.*binary"):
        decode_bytes(data, sections=SECTIONS)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "empty"),
        (b"Date,Time,LPAR\n2016/02/27,18:01,MPX1\n" * 50, "This is text"),
        (b"PK\x03\x04" + bytes(200), "decompress it"),
        (b"\x28\xb5\x2f\xfd" + bytes(200), "decompress it"),
        (b"\\".join(["INMR01".encode("cp037"), bytes(100)]), "RECEIVE it"),
        (bytes(range(256)) * 40, "not an SMF dump"),
        (bytes(5000), "not an SMF dump"),
        (b"\x1f\x8b" + bytes(100), "damaged"),
        (gzip.compress(b"just a text\n" * 30), "This is text"),
    ],
    ids=["empty", "text", "zip", "zstd", "xmit", "noise", "zeros", "broken gzip", "gzip of a text"],
)
def test_other_files_are_refused_with_a_message(data: bytes, sentence: str) -> None:
    with pytest.raises(NotAnSmfDump, match=sentence) as refused:
        decode_bytes(data, sections=SECTIONS)
    assert str(refused.value).endswith(".")


def test_dump_with_a_damaged_first_record_is_detected() -> None:
    data = bytearray(small_dump(1))
    data[0:18] = bytes(18)
    found = decode_bytes(bytes(data), sections=SECTIONS)
    assert rows_of([found], "qest")
    assert found.accounting.total_bytes == len(data)


@pytest.mark.parametrize("kind", ["rdw", "bdw", "gzip+rdw"])
def test_index_has_framing_counts_and_splits(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "night.smf"
    data = small_dump(1, Framing(kind=kind, block_bytes=2000))
    path.write_bytes(data)
    told: list[tuple[int, int]] = []
    index = index_dump(path, split_bytes=3000, progress=lambda done, total: told.append((done, total)))
    whole = list(decode_file(path, sections=SECTIONS))
    assert index.framing == kind
    assert index.size_bytes == len(data)
    assert index.content_bytes == sum(result.accounting.total_bytes for result in whole)
    assert index.counts == {kind: count for result in whole for kind, count in result.records.items()}
    assert (len(index.splits) == 1) == kind.startswith("gzip")
    assert told[-1] == (len(data), len(data))
    assert DumpIndex.from_json(index.to_json()) == index


def test_truncated_gzip_dump_keeps_complete_records(tmp_path: Path) -> None:
    data = small_dump(1, Framing(kind="gzip+rdw"))
    path = tmp_path / "night.smf.gz"
    path.write_bytes(data[: len(data) * 2 // 3])
    found = list(decode_file(path, sections=SECTIONS))
    assert rows_of(found, "qest")
    assert sum(result.accounting.lost_bytes for result in found) > 0
    (cut,) = [item for result in found for item in result.accounting.quarantined]
    assert cut.reason.startswith("the compressed file is truncated")


def test_gzip_members_are_read_as_one_dump_and_trailing_zeros_are_ignored() -> None:
    data = small_dump(1, Framing(kind="gzip+rdw")) + small_dump(2, Framing(kind="gzip+rdw")) + bytes(500)
    found = decode_bytes(data, sections=SECTIONS)
    assert found.records["115-2"] == 2
    assert found.accounting.quarantined == []


def test_damaged_gzip_file_is_reported() -> None:
    data = bytearray(small_dump(1, Framing(kind="gzip+rdw")))
    data[len(data) * 2 // 3] ^= 0xFF
    found = decode_bytes(bytes(data), sections=SECTIONS)
    assert any("compressed file is" in item.reason for item in found.accounting.quarantined)
