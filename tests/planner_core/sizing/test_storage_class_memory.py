"""The estimate for messages in storage-class memory."""

from __future__ import annotations

import pytest

from planner_core.sizing.storage_class_memory import overflow_of
from planner_core.sizing.structure_size import published_curve

CURVE = published_curve(cfcc_level=25).curve


@pytest.mark.parametrize(
    ("message_bytes", "elements"),
    [(1164, 6), (1165, 7), (64_512, 254), (64_513, 2)],
)
def test_overflow_takes_whole_elements_of_256_bytes(message_bytes: int, elements: int) -> None:
    found = overflow_of(1000, message_bytes=message_bytes, cfcc_level=25, curve=CURVE)
    assert (found.messages, found.element_bytes) == (1000, 1000 * elements * 256)


@pytest.mark.parametrize(("level", "is_available"), [(18, False), (19, True), (25, True), (26, False)])
def test_storage_class_memory_exists_at_levels_19_to_25(level: int, is_available: bool) -> None:
    assert overflow_of(1, message_bytes=1, cfcc_level=level, curve=CURVE).is_available is is_available
