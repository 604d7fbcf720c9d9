"""Several plans on one sheet."""

from __future__ import annotations

from planner_core.plan import evaluate
from planner_core.sheet import ASSUMPTION, sheet
from tests.core.plans import plan


def test_structures_are_counted_in_the_first_coupling_facility_of_their_list() -> None:
    one, two = evaluate(plan()), evaluate(plan(qsg="SQ04", structures__0__preflist=["CF02", "CF01"]))

    found = sheet([("one", one), ("two", two)])

    by_name = {facility.name: facility for facility in found.facilities}
    assert [row.structure for row in by_name["CF02"].rows] == ["SQ04APP1"]
    assert by_name["CF02"].initsize_kib == two.structures[1].sizes.initsize_bytes // 1024
    everything = sum(s.sizes.initsize_bytes // 1024 for result in (one, two) for s in result.structures)
    assert sum(facility.initsize_kib for facility in found.facilities) == everything
    assert by_name["CF01"].storage_kib == 64 * 1024 * 1024
    assert found.as_json()["assumption"] == ASSUMPTION


def test_a_duplexed_structure_is_counted_in_two() -> None:
    found = sheet([("one", evaluate(plan(structures__0__duplex="ENABLED")))])

    rows = [(f.name, row.structure, row.is_second_copy) for f in found.facilities for row in f.rows]
    assert ("CF01", "SQ03APP1", False) in rows
    assert ("CF02", "SQ03APP1", True) in rows


def test_structures_without_a_list_are_counted_nowhere_and_last() -> None:
    found = sheet([("one", evaluate(plan(coupling_facilities=[], structures__0__preflist=[])))])

    assert found.facilities[-1].name == ""
    assert len(found.facilities[-1].rows) == 3


def test_a_name_that_two_plans_have_is_told_and_so_is_a_storage_they_state_differently() -> None:
    other = plan(coupling_facilities=[{"name": "CF01", "size": "32G"}])

    found = sheet([("one", evaluate(plan())), ("two", evaluate(other))])

    assert "SQ03APP1" in found.same_names
    assert [f.stated_differently for f in found.facilities if f.name == "CF01"] == [True]
