"""Allocations written by hand, independent of the simulator, so that neither confirms the errors of the other."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from spark_jobs.fit import AllocationPoint

MIB = 2**20
FIRST = dt.date(2026, 3, 2)
MADE = dt.datetime(2026, 2, 1, 4, 30, tzinfo=dt.UTC)


def seen(
    structure: str,
    days: Iterable[int],
    size_mib: float,
    entries: int,
    elements: int,
    **more: Any,  # noqa: ANN401
) -> list[AllocationPoint]:
    """Return one allocation as observed on these days."""
    fixed: dict[str, Any] = {
        "qsg": "SQ03",
        "xcf_structure": None,
        "coupling_facility": "CF01",
        "cfcc_level": 25,
        "allocated_at": MADE,
        "observations": 96,
    }
    return [
        AllocationPoint(
            **{
                **fixed,
                **more,
                "structure": structure,
                "day": FIRST + dt.timedelta(days=day),
                "size_bytes": round(size_mib * MIB),
                "entries_total": entries,
                "elements_total": elements,
            }
        )
        for day in days
    ]


def fitting(
    size_mib: float,
    *,
    base_mib: float = 22.0,
    entry: float = 640.0,
    element: float = 270.0,
    ratio: float = 6.0,
) -> tuple[float, int, int]:
    """Return size, entries and elements of the largest allocation that a size has room for."""
    entries = int((size_mib - base_mib) * MIB / (entry + ratio * element))
    return size_mib, entries, int(entries * ratio)


def site(sizes: Iterable[float], days: int = 5, **costs: Any) -> list[AllocationPoint]:  # noqa: ANN401
    """Return a structure of each size, without noise."""
    return [
        point
        for number, size in enumerate(sizes)
        for point in seen(f"APP{number}", range(days), *fitting(size, **costs))
    ]
