"""Shared message data sets: space for the whole load in each of them, and buffers in each queue manager."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_core.plan.evaluate import evaluate
from planner_core.sizing.smds import (
    buffer_bytes,
    data_set_bytes,
    message_header_bytes,
    page_bytes,
    pages_in_data_set,
)
from planner_core.sizing.structure_result import Db2Need, SmdsNeed
from tests.planner_core.plans import plan

K, M = 1024, 1024**2
blocks = st.sampled_from([8 * K, 64 * K, 256 * K, M])


def smds(**paths: Any) -> SmdsNeed | None:  # noqa: ANN401
    return next(s for s in evaluate(plan(**paths)).structures if s.role == "application").smds


@given(st.integers(0, 10**12), blocks)
def test_space_is_the_fewest_blocks_for_pages_and_space_map(pages: int, block: int) -> None:
    space = data_set_bytes(pages, dsblock_bytes=block, queues=0)
    wanted = math.ceil(Fraction(pages * 4096 * 102, 100))
    assert space % block == 0
    assert wanted <= space < wanted + block


@given(st.lists(st.integers(1, 10**6), max_size=20), blocks)
def test_space_includes_a_block_for_each_queue(pages: list[int], block: int) -> None:
    """DSBLOCK is the unit in which space is given to a queue: each queue leaves part of its last block empty."""
    taken = sum(math.ceil(Fraction(each * 4096 * 102, 100 * block)) * block for each in pages)
    space = data_set_bytes(sum(pages), dsblock_bytes=block, queues=len(pages))
    assert taken <= space <= taken + (len(pages) + 1) * block


@given(st.integers(0, 10**9), st.integers(0, 10**6), blocks, st.integers(0, 512))
def test_more_pages_never_need_less_space(pages: int, more: int, block: int, queues: int) -> None:
    larger = data_set_bytes(pages + more, dsblock_bytes=block, queues=queues)
    assert larger >= data_set_bytes(pages, dsblock_bytes=block, queues=queues)


@given(st.integers(0, 10**12), blocks, st.integers(0, 512))
def test_pages_in_data_set_is_the_largest_number_that_fits(size: int, block: int, queues: int) -> None:
    pages = pages_in_data_set(size, dsblock_bytes=block, queues=queues)
    assert data_set_bytes(pages, dsblock_bytes=block, queues=queues) <= size
    assert data_set_bytes(pages + 1, dsblock_bytes=block, queues=queues) > size


def test_data_set_without_pages_needs_no_space() -> None:
    assert data_set_bytes(0, dsblock_bytes=256 * K, queues=5) == 0
    assert (page_bytes(), message_header_bytes()) == (4096, 512)


def test_buffer_storage_is_buffers_times_blocks() -> None:
    assert buffer_bytes(dsbufs=800, dsblock_bytes=256 * K) == 200 * M
    assert buffer_bytes(dsbufs=100, dsblock_bytes=256 * K) == 25 * M


def test_all_messages_over_63_kb_are_in_the_data_set_at_the_backlog() -> None:
    # 65 000 + 512 bytes are 16 pages.
    need = smds(structures__0__queues__0__message_bytes=65_000, structures__0__queues__0__backlog=1000)
    assert need is not None
    assert need.data_set_bytes_at_backlog == math.ceil(16_000 * 4096 * 1.02 / (256 * K)) * 256 * K + 256 * K
    assert need.data_set_bytes_when_full >= need.data_set_bytes_at_backlog
    assert need.buffer_bytes_per_queue_manager == 25 * M


def test_structure_sized_without_offload_needs_space_only_above_its_backlog() -> None:
    need = smds(headroom_percent=100)
    assert need is not None
    assert need.data_set_bytes_at_backlog == 0
    assert need.data_set_bytes_when_full > 0


def test_each_data_set_is_sized_for_the_whole_load() -> None:
    assert smds(queue_managers=1) == smds(queue_managers=32)


def test_db2_and_cflevels_below_5_have_no_data_sets() -> None:
    assert smds(structures__0__offload__to="DB2") is None
    assert smds(structures__0__cflevel=4) is None


def db2(**paths: Any) -> Db2Need | None:  # noqa: ANN401
    return next(s for s in evaluate(plan(**paths)).structures if s.role == "application").db2


def test_db2_space_is_counted_once_for_the_group() -> None:
    # 65 000 + 512 bytes are 16 pages of 4096 bytes; 2 % on top. No blocks, no data set for each queue manager.
    big = {"structures__0__queues__0__message_bytes": 65_000, "structures__0__queues__0__backlog": 1000}
    on_db2 = db2(**big, structures__0__offload={"to": "DB2"})
    assert on_db2 is not None
    assert on_db2.lob_bytes_at_backlog == 16_000 * 4096 * 102 // 100
    assert on_db2.lob_bytes_when_full >= on_db2.lob_bytes_at_backlog
    assert smds(**big, structures__0__offload={"to": "DB2"}) is None
    assert db2(**big) is None


def test_cflevel_4_keeps_messages_over_63_kb_in_db2() -> None:
    big = {"structures__0__queues__0__message_bytes": 65_000, "structures__0__queues__0__backlog": 1000}
    at_four = db2(**big, structures__0__cflevel=4)
    assert at_four is not None
    assert at_four.lob_bytes_at_backlog == 16_000 * 4096 * 102 // 100
