"""Points of sizing services: their groups, impossible values, and the fitted line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner_core.sizing.sizing_points import (
    MixedPoints,
    SizingPoint,
    fit_points,
    grouped,
    point_problems,
)
from planner_core.units import MIB

POINT = SizingPoint(
    cfcc_level=25,
    structure_type="application",
    entry_ratio=1,
    element_ratio=6,
    size_bytes=200 * MIB,
    initsize_bytes=100 * MIB,
    entries=30_000,
    elements=180_000,
    origin="zosmf",
)


def test_points_are_grouped_by_level_and_kind() -> None:
    system = replace(POINT, structure_type="system")
    admin = replace(POINT, structure_type="admin")
    older = replace(POINT, cfcc_level=24)
    assert grouped([POINT, admin, system, older]) == {
        (25, "application"): (POINT, system),
        (25, "admin"): (admin,),
        (24, "application"): (older,),
    }


def test_mixed_points_are_refused() -> None:
    with pytest.raises(MixedPoints):
        fit_points([POINT, replace(POINT, structure_type="admin")])


def test_missing_count_follows_from_the_ratio() -> None:
    assert replace(POINT, elements=None).counts == (30_000, 180_000)
    assert replace(POINT, entries=None).counts == (30_000, 180_000)


def test_possible_point_has_no_problems() -> None:
    assert point_problems(POINT) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("entry_ratio", 0),
        ("element_ratio", 0),
        ("size_bytes", 0),
        ("initsize_bytes", 201 * MIB),
        ("entries", 0),
    ],
)
def test_impossible_value_is_reported_with_its_field(field: str, value: int) -> None:
    assert [name for name, _ in point_problems(replace(POINT, **{field: value}))][-1] in {
        field,
        "initsize_bytes",
    }


def test_point_without_counts_is_reported() -> None:
    assert [name for name, _ in point_problems(replace(POINT, entries=None, elements=None))] == ["entries"]
