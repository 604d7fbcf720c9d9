"""Storage of coupling facilities, and what a loss needs."""

from __future__ import annotations

from app.fleet.facilities import MeasuredPlace, PlannedGroup, placed
from planner_core.document.model import CouplingFacility
from planner_core.sizing.placement import AllocationGroup
from planner_core.sizing.structure_answer import StoredStructure
from planner_core.units import MIB


def structure(name: str, size_mib: int, preflist: str = "CF01 CF02", **members: object) -> StoredStructure:
    given = {
        "duplex": "DISABLED", "exclist": (), "full_threshold": 85, "allow_auto_alter": False, "need_bytes": 0,
        "role": "application",
    }  # fmt: skip
    return StoredStructure(
        name=name,
        cfrm_name=f"SQ03{name}",
        initsize_bytes=size_mib * MIB,
        size_bytes=size_mib * MIB,
        preflist=tuple(preflist.split()),
        **{**given, **members},  # type: ignore[arg-type]
    )


def plan(*structures: StoredStructure, name: str = "P", size_mib: int | None = 1000) -> PlannedGroup:
    facilities = [
        CouplingFacility(name=cf, size=None if size_mib is None else f"{size_mib}M")
        for cf in ("CF01", "CF02")
    ]
    return AllocationGroup(name, 25, facilities, structures)


def place(size_mib: int, names: str) -> MeasuredPlace:
    return MeasuredPlace(size_mib * MIB, tuple(names.split()))


def test_planned_structure_counts_with_initsize_where_xcf_allocates_it() -> None:
    first, second = placed([plan(structure("A", 400))], {}).facilities
    assert (first.structures_bytes, first.white_space_bytes) == (400 * MIB, 600 * MIB)
    assert (second.structures_bytes, second.structures, second.measured) == (0, 0, 0)
    assert second.after_loss is not None
    assert (second.after_loss.lost, second.after_loss.needed_bytes, second.after_loss.is_enough) == (
        "CF01",
        400 * MIB,
        True,
    )


def test_measured_size_and_place_replace_those_of_the_plan() -> None:
    found = placed([plan(structure("A", 400))], {("SQ03", "A"): place(700, "CF02")})
    first, second = found.facilities
    assert (first.structures_bytes, second.structures_bytes) == (0, 700 * MIB)
    assert (second.structures, second.measured) == (1, 1)
    assert found.places == {"SQ03A": ("CF02",)}


def test_second_copies_are_counted_apart_and_need_nothing_after_a_loss() -> None:
    first, second = placed([plan(structure("A", 400))], {("SQ03", "A"): place(300, "CF02 CF01")}).facilities
    assert (first.structures_bytes, first.second_copies_bytes) == (0, 300 * MIB)
    assert (second.structures_bytes, second.second_copies_bytes) == (300 * MIB, 0)
    assert first.after_loss is not None
    assert first.after_loss.needed_bytes == 0
    assert (first.unplaced, second.unplaced) == ((), ())


def test_structure_without_room_elsewhere_is_unplaced_after_the_loss() -> None:
    first, second = placed([plan(structure("A", 700), structure("B", 600, "CF02 CF01"))], {}).facilities
    assert (first.unplaced, second.unplaced) == (("SQ03A",), ("SQ03B",))
    assert first.is_short
    assert second.is_short


def test_structure_in_several_plans_counts_once_as_in_the_latest() -> None:
    latest, earlier = plan(structure("A", 100), name="NEW"), plan(structure("A", 900), name="OLD")
    found = placed([latest, earlier], {})
    assert sum(each.structures_bytes for each in found.facilities) == 100 * MIB
    assert found.plans == ("NEW",)


def test_plan_that_shares_structures_with_a_later_one_is_counted_but_not_listed() -> None:
    latest = plan(structure("A", 100), name="NEW")
    earlier = plan(structure("A", 900), structure("B", 50), name="OLD")
    found = placed([latest, earlier], {})
    assert sum(each.structures_bytes for each in found.facilities) == 150 * MIB
    # The page about losses refuses plans with a structure in common.
    assert found.plans == ("NEW",)


def test_structure_in_no_plan_moves_to_facilities_of_its_group_and_is_never_unplaced() -> None:
    measured = {
        ("SQ03", "A"): place(100, "CF01"),
        ("SQ03", "B"): place(200, "CF02"),
        ("SQ04", "C"): place(50, "CF03"),
    }
    first, second, third = placed([], measured).facilities
    assert first.storage_bytes is None
    assert first.white_space_bytes is None
    assert first.after_loss is not None
    assert (first.after_loss.needed_bytes, first.after_loss.is_enough) == (200 * MIB, None)
    assert third.unplaced == ()
    assert second.structures_bytes == 200 * MIB


def test_structure_without_plan_and_place_is_not_counted() -> None:
    assert placed([], {("SQ03", "A"): place(100, "")}).facilities == ()


def test_single_facility_has_no_other_loss() -> None:
    (only,) = placed([AllocationGroup("P", 25, (), [structure("A", 10, "CF01")])], {}).facilities
    assert only.after_loss is None
    assert only.unplaced == ("SQ03A",)


def test_places_do_not_depend_on_which_plan_was_saved_last() -> None:
    plans = [plan(structure(name, 700), name=name) for name in ("A", "B", "C")]
    first, last = (placed(each, {}) for each in (plans, plans[::-1]))
    assert first.unplaced == last.unplaced == ("SQ03C",)
    assert first.facilities == last.facilities
