"""CSQSYSAPPL: the messages of Table 3 and IBM's sizes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.plan.evaluate import evaluate
from planner_core.sizing.demand import QueueDemand
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.system_structure import system_queues, system_sizes
from tests.planner_core.plans import plan

K, M = 1024, 1024**2


def system(**paths: Any) -> StructureResult:  # noqa: ANN401
    return next(s for s in evaluate(plan(**paths)).structures if s.role == "system")


@given(st.integers(0, 10**7), st.integers(0, 10**9))
def test_messages_on_csqsysappl_match_ibms_table_3(channels: int, units: int) -> None:
    assert system_queues(shared_channels=channels, group_ur_messages=units) == (
        QueueDemand(2 * channels, 500),
        QueueDemand(units, 2048),
    )


@pytest.mark.parametrize(
    ("level", "start", "minimum"),
    [
        (9, 20480 * K, 0),
        (14, 20480 * K, 0),
        (24, 20480 * K, 0),
        (25, 50000 * K, 41 * M),
        (26, 50000 * K, 41 * M),
        (1, 20480 * K, 0),
    ],
)
def test_system_sizes_have_a_minimum_only_from_level_25(level: int, start: int, minimum: int) -> None:
    sizes = system_sizes(cfcc_level=level)
    assert (sizes.start_bytes, sizes.minimum_bytes) == (start, minimum)
    assert (sizes.minimum_source is None) == (minimum == 0)
    assert sizes.start_source.url


def test_initsize_is_the_largest_of_need_and_known_minimum() -> None:
    # 50 000 K rounded up to whole MiB.
    assert system().sizes.initsize_bytes == 49 * M
    assert system().sizes.size_bytes == 74 * M
    many = system(system__shared_channels=100_000)
    assert many.sizes.initsize_bytes > many.sizes.need_bytes > 49 * M


def test_initsize_at_cfcc_14_is_ibms_start_value() -> None:
    sizes = system(cfcc_level=14, size_factor=1.5).sizes
    assert (sizes.initsize_bytes, sizes.size_bytes) == (20480 * K, 30720 * K)


def test_need_of_csqsysappl_counts_its_queues_as_one_mixture() -> None:
    need = system(cfcc_level=14, system__shared_channels=1000).sizes.need_bytes
    assert round(need / M, 1) == 11.9
    assert need < 20480 * K
