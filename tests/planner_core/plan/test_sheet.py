"""Several plans on one sheet."""

from __future__ import annotations

from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.plan.sheet import ASSUMPTION, Sheet, sheet
from planner_core.whatif.loss import group_of
from tests.planner_core.plans import plan
from tests.planner_core.whatif.placement.scenes import Json, cf, result, structure


def on_sheet(**results: PlanResult) -> Sheet:
    return sheet([group_of(name, each) for name, each in results.items()])


def test_sheet_lists_structures_where_they_are_placed() -> None:
    one, two = evaluate(plan()), evaluate(plan(qsg="SQ04", structures__0__preflist=["CF02", "CF01"]))
    found = on_sheet(one=one, two=two)
    by_name = {facility.name: facility for facility in found.facilities}
    assert [row.structure for row in by_name["CF02"].rows] == ["SQ04APP1"]
    assert by_name["CF02"].use.initsize_bytes == two.structures[1].sizes.initsize_bytes
    everything = sum(each.sizes.initsize_bytes for result in (one, two) for each in result.structures)
    assert sum(facility.use.initsize_bytes for facility in found.facilities) == everything
    assert found.assumption == ASSUMPTION


def test_structure_of_a_second_plan_is_placed_in_the_remaining_storage() -> None:
    facilities = [cf("CF01", "8G"), cf("CF02", "8G")]
    one = result(facilities, [structure("A", "6G")])
    two = result(facilities, [structure("B", "4G"), structure("C", "9G")], qsg="SQ04")
    found = on_sheet(one=one, two=two)
    rows = {row.structure: facility.name for facility in found.facilities for row in facility.rows}
    assert rows == {"SQ03CSQ_ADMIN": "CF01", "SQ03A": "CF01", "SQ04CSQ_ADMIN": "CF01", "SQ04B": "CF02"}
    assert [(row.plan, row.structure, row.is_second_copy) for row in found.unplaced] == [
        ("two", "SQ04C", False)
    ]


def test_duplexed_structure_is_counted_in_two_coupling_facilities() -> None:
    found = on_sheet(one=evaluate(plan(structures__0__duplex="ENABLED")))
    rows = [(f.name, row.structure, row.is_second_copy) for f in found.facilities for row in f.rows]
    assert ("CF01", "SQ03APP1", False) in rows
    assert ("CF02", "SQ03APP1", True) in rows
    assert found.facilities[1].use.second_copies_bytes > 0


def test_second_copy_that_cannot_be_placed_is_listed_as_unplaced() -> None:
    one = result([cf("CF01", "8G"), cf("CF02", "3G")], [structure("A", "4G", duplex="ENABLED")])
    assert [(row.structure, row.is_second_copy) for row in on_sheet(one=one).unplaced] == [("SQ03A", True)]


def test_structures_without_a_preflist_are_listed_separately() -> None:
    found = on_sheet(one=evaluate(plan(coupling_facilities=[], structures__0__preflist=[])))
    assert not found.facilities
    assert not found.unplaced
    assert len(found.without_preflist) == 3


def test_structure_in_two_plans_is_reported_and_counted_once() -> None:
    one = evaluate(plan())
    found = on_sheet(one=one, two=evaluate(plan(coupling_facilities=[{"name": "CF01", "size": "32G"}])))
    assert "SQ03APP1" in found.same_names
    rows = [row.plan for facility in found.facilities for row in facility.rows if row.structure == "SQ03APP1"]
    assert rows == ["one"]


def test_plans_that_differ_use_the_least_favorable_storage() -> None:
    stated: list[Json] = [
        cf("CF01", "64G", occupied="1G", dumpspace="3G"),
        cf("CF01", "32G", occupied="2G", dumpspace="3G"),
        cf("CF01", "48G", dumpspace="2G"),
    ]
    for order in (stated, stated[::-1]):
        plans = {f"plan{number}": result([each], [], qsg=f"SQ0{number}") for number, each in enumerate(order)}
        (facility,) = on_sheet(**plans).facilities
        shown = facility.use.storage()
        gib = 1024 * 1024
        assert (shown.size_kib, shown.occupied_kib, shown.dumpspace_kib) == (
            32 * gib,
            2 * gib,
            3 * gib,
        )
        # Each plan has a CSQ_ADMIN of 1 GiB.
        assert shown.free_kib == (32 - 2 - 3 - 3) * gib
        assert facility.stated_differently == ("size", "occupied storage", "dump space")


def test_storage_stated_by_only_one_plan_is_not_a_difference() -> None:
    one, two = result([cf("CF01", "64G")], []), result([{"name": "CF01"}], [], qsg="SQ04")
    (facility,) = on_sheet(one=one, two=two).facilities
    assert facility.stated_differently == ()
    assert facility.use.facility.storage_bytes == 64 * 1024**3
