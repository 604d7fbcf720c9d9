"""Readers handle any text in bounded CPU time: 1 MB of each of more than 200 hostile shapes."""

from __future__ import annotations

from contextlib import suppress

import pytest
from fastapi import HTTPException

from app.running import service as running_service
from tests.cpu import at_most_cpu_seconds
from tests.hostile.readers import READERS, example_result, read
from tests.hostile.shapes import MEGABYTE, SHAPES

pytestmark = pytest.mark.long

POLICY_HEAD = (
    "  DATA TYPE(CFRM)\n  DEFINE POLICY NAME(P1) REPLACE(YES)\n"
    "  CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(000000012345) PARTITION(01) CPCID(00)\n"
    "  CF NAME(CF02) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(000000012346) PARTITION(01) CPCID(00)\n"
)
MOST_SECONDS = 2.0
ENOUGH_SHAPES = 200


def read_within_bounds(what: str, text: str, name: str) -> None:
    """Let a reader read a text; it must answer, or refuse it with a message, in time."""
    with at_most_cpu_seconds(MOST_SECONDS, what), suppress(HTTPException):  # too many fields of a form
        read(name, text)


def test_shapes_are_at_least_200_distinct_texts_of_a_megabyte() -> None:
    assert len(SHAPES) >= ENOUGH_SHAPES
    assert len({shape.name for shape in SHAPES}) == len({shape.text(500) for shape in SHAPES}) == len(SHAPES)
    for shape in SHAPES[::7]:
        assert MEGABYTE * 0.99 < len(shape.text().encode()) <= MEGABYTE + 100


@pytest.mark.parametrize("name", READERS)
def test_every_reader_reads_short_texts_of_every_shape_in_bounded_cpu_time(name: str) -> None:
    """Use short texts to keep the run short; they also reveal work that grows faster than the text."""
    for shape in SHAPES:
        read_within_bounds(f"{name} with {shape.name}", shape.text(5_000), name)


@pytest.mark.parametrize("name", READERS)
def test_every_reader_reads_a_megabyte_of_some_shapes_in_bounded_cpu_time(name: str) -> None:
    """Each shape is read by one of the readers at this length; `make soak` sends every shape to each reader."""
    example_result()
    place = list(READERS).index(name)
    for shape in SHAPES[place :: len(READERS)]:
        read_within_bounds(f"{name} with {shape.name}", shape.text(), name)


SLOWEST = (
    ("policy text", "opening parentheses"),
    ("policy text", "single letters"),
    ("merge", "unknown keywords"),
    ("merge", "PREFLIST names"),
    ("merge", "quotes and blanks"),
    ("merge", "structures of a policy"),
    ("lint", "newlines"),
    ("lint", "single letters"),
    ("lint", "unknown keywords"),
    ("what runs", "newlines"),
    ("what runs", "single letters"),
    ("displays of XCF", "newlines"),
    ("displays of MQ", "single letters"),
    ("console text", "newlines"),
    ("tables of queues", "single letters"),
    ("kinds of uploads", "newlines"),
)
"""Pairs that used more than 2 s of CPU for a megabyte before texts were bounded."""


@pytest.mark.parametrize(("name", "shape_name"), SLOWEST)
def test_a_megabyte_of_formerly_slow_shapes_is_read_in_bounded_cpu_time(name: str, shape_name: str) -> None:
    shape = next(each for each in SHAPES if each.name == shape_name)
    example_result()  # the plan itself is computed once, outside the time
    read_within_bounds(f"{name} with {shape.name}", shape.text(), name)


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_every_reader_reads_a_megabyte_of_every_shape_in_bounded_cpu_time(name: str) -> None:
    example_result()
    for shape in SHAPES:
        read_within_bounds(f"{name} with {shape.name}", shape.text(), name)


def test_policy_with_4095_structures_is_merged() -> None:
    structures = "".join(
        f"  STRUCTURE NAME(SQ99S{number:05}) SIZE(1M) INITSIZE(1M) ALLOWAUTOALT(NO)\n"
        "            FULLTHRESHOLD(80) DUPLEX(DISABLED) REBUILDPERCENT(1)\n            PREFLIST(CF01,CF02)\n"
        for number in range(4_095)
    )
    merged = running_service.merged(
        example_result(), f"{POLICY_HEAD}{structures}", unstated="plan", policy_name=None
    )
    assert merged.policy.count("STRUCTURE NAME(SQ99S") == 4_095
