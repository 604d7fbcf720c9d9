"""CSQ_ADMIN: the published figure that applies, the required entries and elements, and the findings on both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.errors import PlanRefused
from planner_core.provenance import Basis
from planner_core.sizing.admin_structure import (
    admin_need,
    check_queue_managers,
    elements_required,
    entries_required,
    explain_admin,
)

K, M = 1024, 1024**2


@pytest.mark.parametrize(
    ("level", "table"),
    [
        (1, "admin_structure_cfcc14"),
        (14, "admin_structure_cfcc14"),
        (15, "admin_structure_cfcc21"),
        (21, "admin_structure_cfcc21"),
        (24, "admin_structure_cfcc21"),
        (25, "admin_structure_cfcc25"),
        (99, "admin_structure_cfcc25"),
    ],
)
def test_level_uses_its_own_table_or_the_next_higher_one(level: int, table: str) -> None:
    assert admin_need(queue_managers=5, cfcc_level=level).table_id == table


@pytest.mark.parametrize(
    ("managers", "level", "size"),
    [
        (1, 14, 6144 * K),
        (3, 14, 7976 * K),
        (31, 14, 32256 * K),
        (32, 14, 42 * M),
        (1, 21, 14 * M),
        (32, 24, 42 * M),
        (10, 25, 31 * M),
        (32, 25, 50 * M),
    ],
)
def test_need_of_csq_admin_is_the_published_figure(managers: int, level: int, size: int) -> None:
    assert admin_need(queue_managers=managers, cfcc_level=level).published_bytes == size


def test_group_of_32_queue_managers_uses_the_chart_after_table_1() -> None:
    need = admin_need(queue_managers=32, cfcc_level=14)
    (item,) = [f for f in need.findings if f.code == "ADMIN_FIGURE_FROM_NEXT_LEVEL"]
    assert need.table_id == "admin_structure_cfcc21"
    assert need.source == item.source
    assert need.basis is Basis.READ_OFF_CHART


@given(st.integers(1, 31), st.integers(1, 99))
def test_more_queue_managers_or_a_higher_level_never_need_a_smaller_structure(
    managers: int, level: int
) -> None:
    here = admin_need(queue_managers=managers, cfcc_level=level).published_bytes
    assert admin_need(queue_managers=managers + 1, cfcc_level=level).published_bytes >= here
    assert admin_need(queue_managers=managers, cfcc_level=level + 1).published_bytes >= here


@given(st.integers(1, 32), st.integers(1, 99), st.integers(0, 40_000))
def test_entsmax_below_1000_per_queue_manager_is_reported(managers: int, level: int, entsmax: int) -> None:
    need = admin_need(queue_managers=managers, cfcc_level=level, entsmax=entsmax)
    assert need.entries_required == entries_required(queue_managers=managers) == 1000 * managers
    is_short = any(item.code == "ADMIN_ENTSMAX_TOO_LOW" for item in need.findings)
    assert is_short == (entsmax < 1000 * managers)


@given(st.integers(1, 32), st.integers(1, 99), st.integers(0, 80_000))
def test_elements_below_2000_per_queue_manager_are_reported(managers: int, level: int, elements: int) -> None:
    need = admin_need(queue_managers=managers, cfcc_level=level, elements_total=elements)
    assert need.elements_required == elements_required(queue_managers=managers) == 2000 * managers
    codes = [item.code for item in need.findings]
    assert ("ADMIN_ELEMENTS_TOO_LOW" in codes) == (elements < 2000 * managers)
    assert "ADMIN_ENTSMAX_TOO_LOW" not in codes


def test_finding_on_too_few_elements_names_size_and_growth() -> None:
    need = admin_need(queue_managers=8, cfcc_level=25, elements_total=13_999)
    (item,) = [each for each in need.findings if each.code == "ADMIN_ELEMENTS_TOO_LOW"]
    # The z16 chart for CFCC 25 has 28 MB for 8 queue managers and 26 for 6, which 13,999 elements cover.
    assert "13999, is 2001 below the 16000 elements that 8 queue managers need (2000 each)" in item.message
    assert f"at least {28 * 1024}K" in item.message
    assert f"{2 * 1024}K more than 6 queue managers need" in item.message
    assert (item.field, item.structure) == ("/admin/elements_total", "CSQ_ADMIN")


def test_published_sizes_grow_by_one_entry_and_two_elements_for_each_entry_required() -> None:
    """docs/explanation/assumptions.md: entries of about 323 and elements of about 312 bytes, 22 and 50 MB at 1 and 32."""
    grown = (
        admin_need(queue_managers=32, cfcc_level=25).published_bytes
        - admin_need(queue_managers=1, cfcc_level=25).published_bytes
    )
    assert grown == (50 - 22) * 2**20
    assert 323 + 1.9 * 312 < grown / 31_000 < 323 + 2.1 * 312


@pytest.mark.parametrize("managers", [0, -1, 33, 10**9])
def test_group_with_an_invalid_number_of_queue_managers_is_refused(managers: int) -> None:
    with pytest.raises(PlanRefused, match=f"{managers} queue managers: a queue-sharing group has 1 to 32"):
        check_queue_managers(managers)
    with pytest.raises(PlanRefused):
        admin_need(queue_managers=managers, cfcc_level=25)


def test_explanation_names_the_table_and_its_basis() -> None:
    size, entries, elements = explain_admin(admin_need(queue_managers=5, cfcc_level=25))
    assert (size.figure, size.value, size.unit, size.basis) == ("/size_kib", 25600, "K", Basis.READ_OFF_CHART)
    assert (entries.value, entries.formula) == (5000, "queue_managers * admin_entries_per_queue_manager")
    assert (entries.basis, elements.basis) == (Basis.PUBLISHED, Basis.DERIVED)
    assert (elements.figure, elements.value) == ("/elements_required", 10_000)
    assert elements.formula.endswith("* admin_elements_per_entry")
    assert "slide 32" in str(elements.source)
    assert size.source is not None
    assert "z16" in size.source.document
    printed, *_ = explain_admin(admin_need(queue_managers=5, cfcc_level=14))
    assert printed.basis is Basis.PUBLISHED
