"""Compressed texts in parts."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import DatabaseError

from app.database.parts import PartedText

PARTS = st.lists(st.tuples(st.text(max_size=5), st.text()), unique_by=lambda part: part[0])


@given(PARTS, st.integers(1, 9))
def test_every_part_and_the_whole_text_are_read_unchanged(parts: list[tuple[str, str]], level: int) -> None:
    stored = PartedText.of(((name, part.encode()) for name, part in parts), level=level)
    assert stored.text == "".join(part for _, part in parts)
    for name, part in parts:
        assert stored.part(name) == part
    assert stored.part("longer name") == ""


def test_readers_of_compressed_texts_ignore_the_index() -> None:
    stored = PartedText.of([("one", b"text " * 9), ("two", b"more")], level=1)
    assert zlib.decompress(stored.data) == b"text " * 9 + b"more"


def test_pieces_of_one_name_are_one_part() -> None:
    stored = PartedText.of([("one", b"a"), ("one", b"b"), ("two", b"c")], level=1)
    assert (stored.part("one"), stored.part("two")) == ("ab", "c")


def test_text_without_index_has_no_parts() -> None:
    stored = PartedText(zlib.compress(b"text"))
    assert stored.text == "text"
    assert stored.part("one") is None


def test_part_in_two_places_is_refused() -> None:
    with pytest.raises(ValueError, match="'one' is in two places"):
        PartedText.of([("one", b"a"), ("two", b"b"), ("one", b"c")], level=1)


@pytest.mark.parametrize("zeros", [8, 16, 60])
def test_index_of_zeros_is_damaged(zeros: int) -> None:
    # The checksum of an empty text is zero, so an index of this length would seem to be whole.
    data = PartedText.of([("one", b"text " * 99), ("two", b"more")], level=1).data
    magic = b"parts/2"
    assert data.endswith(magic)
    damaged = PartedText(data[: -zeros - len(magic)] + bytes(zeros) + magic)
    with pytest.raises(DatabaseError):
        damaged.part("one")


@pytest.mark.parametrize("data", [b"parts/2", b"\0parts/2"])
def test_text_shorter_than_an_index_is_damaged(data: bytes) -> None:
    with pytest.raises(DatabaseError):
        PartedText(data).part("one")


def test_damaged_text_is_never_read_as_another_one() -> None:
    texts = {name: "".join(f"{name}{n * n} " for n in range(40)) for name in ("one", "two", "three")}
    stored = PartedText.of([(name, text.encode()) for name, text in texts.items()], level=1)
    refused = 0
    for position in range(len(stored.data)):
        for bit in range(8):
            changed = bytearray(stored.data)
            changed[position] ^= 1 << bit
            damaged = PartedText(bytes(changed))
            for name, text in texts.items():
                try:
                    # None if the mark of the index is damaged: then the whole text is read, which has its own checksum.
                    assert damaged.part(name) in (text, None)
                except DatabaseError:
                    refused += 1
            try:
                assert damaged.text == "".join(texts.values())
            except DatabaseError:
                refused += 1
    assert refused > len(stored.data)
