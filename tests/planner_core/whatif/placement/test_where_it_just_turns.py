"""Boundary cases of placement and loss, for which a neighboring rule would give a different result."""

from __future__ import annotations

from planner_core.whatif.loss import losses_of
from tests.planner_core.whatif.placement.scenes import MACHINE, cf, result, structure
from tests.planner_core.whatif.placement.test_loss import answer, codes, loss, placement_of
from tests.planner_core.whatif.placement.test_placement import placed

DUPLEXED = {"duplex": "ENABLED"}


def test_facility_below_the_duplexing_level_comes_after_one_without_room_for_the_copy() -> None:
    # From CF01 (level 10) nothing is ever duplexed; from CF02 it is, once CF03 has room.
    facilities = [cf("CF01", cfcc_level=10), cf("CF02"), cf("CF03", "2G")]
    found = placed(facilities, [structure("A", preflist=["CF01", "CF02", "CF03"], **DUPLEXED)])["A"]
    assert found.now == ("CF02",)
    assert found.first is not None
    assert found.first.rule == "duplex_candidacy"


def test_samesite_prefers_the_site_of_the_first_copy() -> None:
    near = [cf("CF01", site="SITE1"), cf("CF02", site="SITE2"), cf("CF03", site="SITE1")]
    asked = structure("A", preflist=["CF01", "CF02", "CF03"], duplex_site="SAMESITE", **DUPLEXED)
    found = placed(near, [asked])["A"]
    assert found.now == ("CF01", "CF03")
    assert found.second is not None
    assert found.second.rule == "duplex_site"
    assert placed(near[:2], [{**asked, "preflist": ["CF01", "CF02"]}])["A"].now == ("CF01", "CF02")


def test_lost_facility_gets_no_second_copy() -> None:
    facilities = [cf("CF01"), cf("CF02")]
    found = loss(answer(facilities, [structure("A", duplex="ALLOWED")]), "CF01")
    (a,) = [each for each in found.placed if each.wanted.result.name == "A"]
    assert placement_of(found, "A") == ("moves", ("CF02",))
    assert a.first is not None
    assert a.first.candidates[0].fails == ("duplex_candidacy",)
    assert "it leaves less room for a second copy" in a.first.reason


def test_simplex_structure_gets_no_second_copy_after_another_loss() -> None:
    facilities = [cf("CF01"), cf("CF02", "2G"), cf("CF03")]
    asked = structure("A", preflist=["CF01", "CF02"], **DUPLEXED)
    found = answer(facilities, [asked, structure("B", preflist=["CF03"])])
    assert "SECOND_COPY_NOT_PLACED" in codes(found)
    (a,) = [each for each in loss(found, "CF03").placed if each.wanted.result.name == "A"]
    assert (a.action, a.second) == ("stays", None)


def test_loss_of_a_machine_with_one_facility_is_not_listed_separately() -> None:
    other = {**MACHINE, "sequence": "0000000D3E4F"}
    found = losses_of([("SQ03", result([cf("CF01", **MACHINE), cf("CF02", **other)], [structure("A")]))])
    assert [(each.kind, each.name) for each in found.losses] == [
        ("coupling_facility", "CF01"),
        ("coupling_facility", "CF02"),
    ]
