"""Structures of stored results: read once, with their sizes in bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.sizing.placement import AllocationGroup, allocate, question
from planner_core.sizing.structure_answer import stored_structures
from planner_core.units import Kib
from planner_core.wire import adapter
from tests.planner_core.plans import policy_documents, varied

OF_LATER_RELEASES = (
    "cfcc_level",
    "target_usage_percent",
    "target_messages_percent",
    "target_lowered_by",
    "coupling_facility",
    "second_copy",
    "depth_events",
    "curve",
)
"""Members that results of the first release do not have."""


def stored(document: dict[str, Any]) -> Any:  # noqa: ANN401
    return json.loads(evaluate(read_object(document)).answer().json_bytes())


@settings(max_examples=40, deadline=None)
@given(policy_documents())
def test_stored_structures_have_the_sizes_and_placement_of_the_result(document: dict[str, Any]) -> None:
    result = evaluate(read_object(document))
    read = stored_structures(stored(document))
    assert [(each.cfrm_name, each.role) for each in read] == [
        (each.cfrm_name, each.role) for each in result.structures
    ]
    for found, made in zip(read, result.structures, strict=True):
        assert (found.initsize_bytes, found.size_bytes) == (made.initsize_bytes, made.size_bytes)
        assert found.need_bytes == made.sizes.need_bytes
        assert found.placement.preflist == made.placement.preflist
        assert found.placement.augmented_bytes == made.placement.augmented_bytes
    group = AllocationGroup(
        result.document.qsg, result.document.cfcc_level, result.document.coupling_facilities, read
    )
    assert allocate(question([group])).places == result.allocation.places


def test_stored_structures_of_the_first_release_are_read() -> None:
    result = stored(varied())
    was = stored_structures(result)
    for structure in result["structures"]:
        for member in OF_LATER_RELEASES:
            structure.pop(member, None)
    assert stored_structures(result) == was


@pytest.mark.parametrize(("size_bytes", "kib"), [(0, 0), (1024, 1), (262144 * 1024, 262144)])
def test_sizes_written_in_kib_are_read_back_as_the_same_bytes(size_bytes: int, kib: int) -> None:
    written = adapter(Kib).dump_json(size_bytes)
    assert written == str(kib).encode()
    assert adapter(Kib).validate_json(written) == size_bytes
