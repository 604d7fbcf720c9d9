"""No reader takes long for any text: 1 MB of each of more than 200 hostile shapes, in CPU time of this process."""

from __future__ import annotations

from contextlib import suppress

import pytest
from fastapi import HTTPException

from tests.cpu import at_most_cpu_seconds
from tests.hostile.readers import READERS, read
from tests.hostile.shapes import MEGABYTE, SHAPES, Shape

MOST_SECONDS = 2.0
ENOUGH_SHAPES = 200


def read_within_bounds(name: str, text: str) -> None:
    """Let a reader read a text; it answers or refuses with a sentence, and in time."""
    with at_most_cpu_seconds(MOST_SECONDS, name), suppress(HTTPException):  # too many fields of a form
        read(name, text)


def test_there_are_200_shapes_of_a_megabyte_and_no_two_are_alike() -> None:
    assert len(SHAPES) >= ENOUGH_SHAPES
    assert len({shape.name for shape in SHAPES}) == len({shape.text(500) for shape in SHAPES}) == len(SHAPES)
    for shape in SHAPES[::7]:
        assert MEGABYTE * 0.99 < len(shape.text().encode()) <= MEGABYTE + 100


@pytest.mark.parametrize("name", list(READERS)[:24])
def test_each_reader_reads_every_shape_in_bounded_cpu_time(name: str) -> None:
    """Short texts, so that every run can afford all of them: work that grows faster than the text shows in them as well."""
    for shape in SHAPES:
        read_within_bounds(name, shape.text(5_000))


@pytest.mark.soak
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("name", READERS)
def test_every_reader_reads_a_megabyte_of_every_shape_in_bounded_cpu_time(name: str, shape: Shape) -> None:
    read_within_bounds(name, shape.text())
