"""Compressed texts in parts."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import DatabaseError

from app.database.parts import CompressedPart, PartedText

PARTS = st.lists(st.tuples(st.text(max_size=5), st.text()), unique_by=lambda part: part[0])


def parted(*parts: tuple[str, str]) -> PartedText:
    """Return a text of these parts."""
    return PartedText.of((name, CompressedPart.of([part.encode()], level=1)) for name, part in parts)


@given(PARTS, st.integers(1, 9))
def test_every_part_and_the_whole_text_are_read_unchanged(parts: list[tuple[str, str]], level: int) -> None:
    stored = PartedText.of((name, CompressedPart.of([part.encode()], level=level)) for name, part in parts)
    assert stored.text == "".join(part for _, part in parts)
    for name, part in parts:
        assert stored.part(name) == part
    assert stored.part("longer name") == ""


def test_readers_of_compressed_texts_ignore_the_index() -> None:
    stored = parted(("one", "text " * 9), ("two", "more"))
    assert zlib.decompress(stored.data) == b"text " * 9 + b"more"


@given(st.lists(st.binary(), max_size=5))
def test_pieces_of_a_part_are_one_text_with_its_checksums(pieces: list[bytes]) -> None:
    part, whole = CompressedPart.of(pieces, level=1), b"".join(pieces)
    assert part[1:] == (len(whole), zlib.crc32(whole), zlib.adler32(whole))
    assert part == CompressedPart.of(iter(pieces), level=1)


@given(st.lists(st.text(), min_size=1, max_size=5), st.data())
def test_compressed_part_can_be_in_any_text(texts: list[str], data: st.DataObject) -> None:
    parts = [CompressedPart.of([text.encode()], level=1) for text in texts]
    order = data.draw(st.permutations(range(len(texts))))
    stored = PartedText.of((str(place), parts[place]) for place in order)
    # Decompression compares the checksum at the end of the stream with the text.
    assert zlib.decompress(stored.data).decode() == stored.text == "".join(texts[place] for place in order)
    assert [stored.part(str(place)) for place in range(len(texts))] == texts


def test_text_without_index_has_no_parts() -> None:
    stored = PartedText(zlib.compress(b"text"))
    assert stored.text == "text"
    assert stored.part("one") is None


def test_two_parts_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two parts are called 'one'"):
        parted(("one", "a"), ("two", "b"), ("one", "c"))


@pytest.mark.parametrize("zeros", [8, 16, 60])
def test_index_of_zeros_is_damaged(zeros: int) -> None:
    # The checksum of an empty text is zero, so an index of this length would seem to be whole.
    data = parted(("one", "text " * 99), ("two", "more")).data
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
    stored = parted(*texts.items())
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
