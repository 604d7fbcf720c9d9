"""Damaged dumps: no crash, no hang, every byte accounted for, and only the damaged records are lost."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from spark_jobs.smf.decode import SECTIONS, TABLES, RangeResult, decode_bytes
from spark_jobs.smf.encode import Framing, dump
from tests.spark_jobs.smf.made import rows_of, small_records

pytestmark = pytest.mark.long

FEW_COLUMNS = dict.fromkeys(TABLES, ("record",))
FRAMINGS = {
    "rdw": Framing(block_bytes=1500),
    "short segments": Framing(block_bytes=70),
    "not spanned": Framing(block_bytes=None),
    "bdw": Framing(kind="bdw", block_bytes=1500),
    "short blocks": Framing(kind="bdw", block_bytes=300),
}
BROKEN = 8
"""The first of the records that are pieces of one; damage to a piece loses the whole record."""
MUTATIONS = 600
SOAK = int(os.environ.get("CFPLAN_SOAK_MUTATIONS", "1000000"))

Mutation = Callable[[random.Random, bytes], bytes]


def flip_a_bit(pick: random.Random, data: bytes) -> bytes:
    made = bytearray(data)
    made[pick.randrange(len(made))] ^= 1 << pick.randrange(8)
    return bytes(made)


def change_bytes(pick: random.Random, data: bytes) -> bytes:
    at = pick.randrange(len(data))
    size = min(pick.randint(1, 40), len(data) - at)
    return data[:at] + pick.choice([bytes(size), pick.randbytes(size), b"\x40" * size]) + data[at + size :]


def insert_bytes(pick: random.Random, data: bytes) -> bytes:
    at = pick.randint(0, len(data))
    return data[:at] + pick.randbytes(pick.randint(1, 3000)) + data[at:]


def delete_bytes(pick: random.Random, data: bytes) -> bytes:
    at = pick.randrange(len(data))
    return data[:at] + data[at + pick.randint(1, 3000) :]


def cut_off(pick: random.Random, data: bytes) -> bytes:
    return data[: pick.randrange(len(data))]


def repeat_a_stretch(pick: random.Random, data: bytes) -> bytes:
    begin, end = sorted((pick.randrange(len(data)), pick.randrange(len(data))))
    at = pick.randint(0, len(data))
    return data[:at] + data[begin:end] + data[at:]


MUTATE: tuple[Mutation, ...] = (
    flip_a_bit,
    change_bytes,
    insert_bytes,
    delete_bytes,
    cut_off,
    repeat_a_stretch,
)


def decoded(data: bytes, framing: Framing) -> RangeResult:
    return decode_bytes(data, sections=SECTIONS, columns=FEW_COLUMNS, framing=framing.kind)


def check(data: bytes, framing: Framing) -> RangeResult:
    found = decoded(data, framing)
    assert found.accounting.total_bytes == len(data)
    assert found.end_offset == len(data)
    assert not found.pieces
    stretches = sorted((item.offset, item.offset + item.length) for item in found.accounting.quarantined)
    assert all(0 <= begin <= end <= len(data) for begin, end in stretches)
    return found


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)
@pytest.mark.parametrize("mutate", MUTATE, ids=lambda mutate: mutate.__name__)
def test_damaged_dump_is_read_with_every_byte_accounted_for(mutate: Mutation, framing: Framing) -> None:
    pick = random.Random(f"{mutate.__name__} {framing}")
    data = dump(small_records(11), framing)
    for _ in range(MUTATIONS // len(MUTATE)):
        damaged = mutate(pick, data)
        for _ in range(pick.choice([0, 0, 1, 5])):
            damaged = pick.choice(MUTATE)(pick, damaged) if damaged else damaged
        check(damaged, framing)


@pytest.mark.soak
@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)
def test_one_million_damaged_dumps_are_read_with_every_byte_accounted_for(framing: Framing) -> None:
    pick = random.Random(f"soak {framing}")
    dumps = [dump(pick.sample(small_records(seed), 4), framing) for seed in range(50)]
    for _ in range(SOAK // len(FRAMINGS)):
        damaged = pick.choice(dumps)
        for _ in range(pick.choice([1, 1, 1, 2, 8])):
            damaged = pick.choice(MUTATE)(pick, damaged) if damaged else damaged
        check(damaged, framing)


# ---- what damage costs -------------------------------------------------------------------------------------------


def places(records: list[bytes], framing: Framing) -> list[tuple[int, int]]:
    """Return start and end of each record in the dump."""
    ends = [len(dump(records[:count], framing)) for count in range(1, len(records) + 1)]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def stretches_of(records: list[bytes]) -> Iterator[tuple[list[bytes], int]]:
    """Return each record before the pieces with the previous and some later ones, and its position there.

    Several records are needed to detect where the next one starts.
    """
    for number in range(BROKEN):
        begin = max(0, number - 1)
        end = number + 4 if number + 4 <= BROKEN else len(records)
        yield records[begin:end], number - begin


def rows_by_record(found: RangeResult) -> Counter[int]:
    return Counter(
        record
        for table in TABLES
        for batch in found.batches[table]
        for record in batch.column("record").to_pylist()
    )


def counted(found: RangeResult) -> list[int]:
    """Return the number of rows of each record with rows, in the order of the dump."""
    return [count for _, count in sorted(rows_by_record(found).items())]


@pytest.mark.parametrize("name", ["rdw", "bdw", "not spanned"])
def test_flipped_bit_in_a_header_causes_the_loss_of_only_that_record(name: str) -> None:
    framing = FRAMINGS[name]
    records = small_records(11)
    data = dump(records, framing)
    whole = rows_by_record(decoded(data, framing))
    unharmed = [count for _, count in sorted(whole.items())]
    pick = random.Random(name)
    for number, (begin, end) in enumerate(places(records, framing)):
        others = [whole[record] for record in sorted(whole) if record != number]
        if BROKEN <= number < len(records) - 1:
            others = [whole[record] for record in sorted(whole) if record < BROKEN]
        for at in range(begin, min(begin + 26, end)):
            damaged = bytearray(data)
            damaged[at] ^= 1 << pick.randrange(8)
            found = check(bytes(damaged), framing)
            assert counted(found) in (others, unharmed), (number, at - begin)


@pytest.mark.parametrize("name", ["rdw", "bdw", "short blocks"])
@pytest.mark.parametrize(("begin", "end"), [(0, 4), (2, 7)])
def test_flipped_bit_in_a_descriptor_word_causes_the_loss_of_only_one_record(
    name: str, begin: int, end: int
) -> None:
    framing = FRAMINGS[name]
    records = small_records(11)[begin:end]
    data = dump(records, framing)
    whole = rows_by_record(decoded(data, framing))
    unharmed = [count for _, count in sorted(whole.items())]
    for number, (place, _) in enumerate(places(records, framing)):
        others = [whole[record] for record in sorted(whole) if record != number]
        for bit in range(64):  # the block's word and the record's, or the record's and the flags behind it
            damaged = bytearray(data)
            damaged[place + bit // 8] ^= 1 << bit % 8
            assert counted(check(bytes(damaged), framing)) in (others, unharmed), (number, bit)


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)
def test_truncated_dump_keeps_complete_records_and_reports_lost_bytes(framing: Framing) -> None:
    records = small_records(11)
    data = dump(records, framing)
    whole = rows_by_record(decoded(data, framing))
    spans = places(records, framing)
    for length in range(spans[0][1], len(data), 37):
        found = check(data[:length], framing)
        complete = [number for number, (_, end) in enumerate(spans) if end <= length]
        if BROKEN in complete and len(records) - 2 not in complete:
            complete = [number for number in complete if number < BROKEN]
        assert counted(found) == [whole[number] for number in complete if number in whole]
        last = max(end for _, end in spans if end <= length)
        if length > last + 4:
            assert found.accounting.lost_bytes > 0
            assert found.accounting.lost_bytes <= length - last


def test_inserted_or_removed_bytes_cause_the_loss_of_only_that_record() -> None:
    framing = FRAMINGS["rdw"]
    pick = random.Random(5)
    for records, number in stretches_of(small_records(11)):
        data = dump(records, framing)
        begin, end = places(records, framing)[number]
        if end - begin < 100:
            continue
        whole = rows_by_record(decoded(data, framing))
        kept = [whole[record] for record in sorted(whole) if record != number]
        for _ in range(60):
            at, size = pick.randrange(begin + 30, end - 45), pick.randint(1, 40)
            for damaged in (data[:at] + pick.randbytes(size) + data[at:], data[:at] + data[at + size :]):
                assert counted(check(damaged, framing)) == kept, (number, at - begin, size)


def test_quarantined_record_has_a_position_and_a_reason() -> None:
    framing = FRAMINGS["not spanned"]
    records = small_records(11)
    data = bytearray(dump(records, framing))
    begin, end = places(records, framing)[1]
    data[begin + 13] &= 0xF0  # the sign of the date
    found = check(bytes(data), framing)
    (item,) = found.accounting.quarantined
    assert (item.offset, item.length) == (begin, end - begin)
    assert item.reason == "the record's header has no valid date, time or system id"


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (28, b"\xff\xff\xff\xff", "QWHS"),
        (28 + 8 * 6, b"\x00\x7f\xff\xff", "section QEST is not within the record"),
        (28 + 8 * 6 + 6, b"\xff\xff", "section QEST is not within the record"),
        (28 + 8 * 6 + 3, b"\x01", "the triplet does not lead to section QEST"),
        (28 + 8 * 8 + 4, b"\x00\x02", "section QESD is too short"),
    ],
)
def test_record_with_wrong_triplets_is_quarantined(place: int, value: bytes, reason: str) -> None:
    framing = FRAMINGS["not spanned"]
    records = small_records(11)
    damaged = bytearray(records[1])
    damaged[place : place + len(value)] = value
    found = check(dump([records[0], bytes(damaged), *records[2:]], framing), framing)
    assert [item for item in found.accounting.quarantined if reason in item.reason]
    assert not rows_of([found], "qest")
    assert not rows_of([found], "qesd")
    assert rows_of([found], "wq")


def test_bytes_without_records_are_all_quarantined_or_lost() -> None:
    pick = random.Random(1)
    for data in (bytes(100_000), b"\xff" * 100_000, pick.randbytes(100_000), b"\x00\x12\x00\x00" * 25_000):
        found = check(data, FRAMINGS["rdw"])
        assert found.accounting.quarantined_bytes + found.accounting.lost_bytes == len(data)
        assert not any(found.records.values())


def test_dump_with_only_damaged_records_is_read() -> None:
    framing = FRAMINGS["not spanned"]
    records = [record for seed in range(300) for record in small_records(seed % 3)]
    data = bytearray(dump(records, framing))
    for begin, _ in places_fast(records):
        data[begin + 2] = 0xFF
    found = check(bytes(data), framing)
    assert not any(found.records.values())


def places_fast(records: list[bytes]) -> Iterator[tuple[int, int]]:
    at = 0
    for record in records:
        yield at, at + len(record)
        at += len(record)
