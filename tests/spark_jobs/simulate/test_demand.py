"""A simulated backlog fills a structure as in the planner's model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner_core.sizing.structure_size import published_curve
from planner_core.units import KIB, MIB
from spark_jobs.simulate.demand import fill, messages_for_usage
from spark_jobs.simulate.site import Options, QueueModel, Site, StructureModel

OPTIONS = Options(days=3, structures=4, queue_managers=2, interval_minutes=60, seed=1)


def model(*sizes: tuple[int, float], offload: bool) -> StructureModel:
    """Return a structure with messages of these sizes."""
    queue = QueueModel("Q", 1.0, sizes, is_persistent=False, managers=(0,))
    return replace(Site(OPTIONS).structures[2], queues=(queue,), header_bytes=372, offload=offload)


def pools(size_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return entries and elements of a structure on the published curve of CFCC level 14."""
    curve = published_curve(cfcc_level=14).curve
    entries = int((size_bytes - curve.base) / curve.bundle)
    return np.array([entries]), np.array([6 * entries])


@pytest.mark.parametrize(("offload", "messages"), [(False, 157_672), (True, 220_741)])
def test_fill_matches_the_capacity_of_512_mb_for_2_kb_messages(offload: bool, messages: int) -> None:
    entries, elements = pools(512 * MIB)
    found = fill(
        model((2 * KIB, 1.0), offload=offload),
        np.array([1e6]),
        entries_total=entries,
        elements_total=elements,
    )
    assert found.entries[0] == pytest.approx(messages, abs=2)
    assert found.elements[0] == pytest.approx(elements[0])
    assert found.rejected[0] == pytest.approx(1e6 - found.entries[0])


def test_backlog_that_fits_is_not_offloaded() -> None:
    entries, elements = pools(512 * MIB)
    small = model((1000, 0.5), (3000, 0.5), offload=True)
    half = messages_for_usage(small, 0.5, entries_total=int(entries[0]), elements_total=int(elements[0]))
    found = fill(small, np.array([half]), entries_total=entries, elements_total=elements)
    assert found.taken[0] == 1.0
    assert found.offloaded.sum() == 0
    usage = max(found.entries[0] / entries[0], found.elements[0] / elements[0])
    assert usage == pytest.approx(0.5)


def test_each_offload_rule_applies_to_its_messages() -> None:
    entries, elements = pools(512 * MIB)
    mixed = model((100, 0.4), (8 * KIB, 0.3), (40 * KIB, 0.2), (100 * KIB, 0.1), offload=True)
    total = {"entries_total": int(entries[0]), "elements_total": int(elements[0])}
    messages = np.array([messages_for_usage(mixed, usage, **total) for usage in (0.6, 0.74, 1.5, 9.0)])
    offloaded = fill(mixed, messages, entries_total=entries, elements_total=elements).offloaded
    smallest, middle, large, largest = offloaded
    assert (largest > 0).all()  # more than 63 KB: always
    assert [count > 0 for count in large] == [False, True, True, True]
    assert [count > 0 for count in middle] == [False, False, True, True]
    assert [count > 0 for count in smallest] == [False, False, False, True]
