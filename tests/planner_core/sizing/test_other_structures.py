"""Structures of Db2 and others: counted in coupling facilities, placed, lost with them, and never written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core import names
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.plan.sheet import sheet
from planner_core.sizing.other_structures import db2_structure
from planner_core.sizing.placement import FacilityUse, question
from planner_core.texts.outputs import render_output
from planner_core.units import KIB, MIB
from planner_core.whatif.loss import group_of, losses_of

LOCK1 = {"name": "DSNDB0A_LOCK1", "size": "512M", "initsize": "256M", "preflist": ["CF01", "CF02"]}
SCA = {"name": "DSNDB0A_SCA", "size": "128M", "preflist": ["CF02", "CF01"]}
GBP0 = {
    "name": "DSNDB0A_GBP0", "size": "1G", "initsize": "256M", "allocated": "300M", "preflist": ["CF01", "CF02"],
    "duplex": "ENABLED",
}  # fmt: skip


def plan(*others: dict[str, Any], qsg: str = "SQ03", **keys: Any) -> PlanDocument:  # noqa: ANN401
    return read_object(
        {
            "qsg": qsg,
            "queue_managers": 2,
            "coupling_facilities": [{"name": name, "size": "4G"} for name in ("CF01", "CF02")],
            "structures": [
                {
                    "name": "APP1",
                    "initsize": "64M",
                    "size": "128M",
                    "preflist": ["CF01", "CF02"],
                    "offload": {"dsgroup": "MQ.*.APP1"},
                    "queues": [{"name": "Q1", "message_bytes": 1024, "backlog": 100, "persistent": True}],
                }
            ],
            "other_structures": list(others),
            **keys,
        }
    )


def uses(result: PlanResult) -> dict[str, FacilityUse[Any]]:
    return {use.facility.name: use for use in result.allocation.facilities}


def codes(document: PlanDocument) -> set[str]:
    return {each.code for each in evaluate(document).findings}


def test_other_structures_reduce_free_storage_by_their_stated_sizes() -> None:
    plain, counted = uses(evaluate(plan())), uses(evaluate(plan(LOCK1, SCA)))
    assert [use.others_bytes // MIB for use in counted.values()] == [256, 128]
    assert [use.others_size_bytes // MIB for use in counted.values()] == [512, 128]
    for name, use in counted.items():
        storage, before = use.storage(), plain[name].storage()
        assert storage.planned_initsize_kib == before.planned_initsize_kib
        assert storage.free_kib is not None
        assert before.free_kib is not None
        assert before.free_kib - storage.free_kib == (storage.other_structures_kib or 0)
        assert before.free_at_size_kib - storage.free_at_size_kib == storage.other_structures_size_kib  # type: ignore[operator]
        assert before.other_structures_kib is None
        assert "other_structures_kib" not in before.as_json()


def test_both_copies_count_with_the_current_size() -> None:
    counted = uses(evaluate(plan(GBP0)))
    assert [use.others_bytes // MIB for use in counted.values()] == [300, 300]
    shrunk = uses(evaluate(plan({**GBP0, "size": "260M"})))
    assert shrunk["CF01"].others_size_bytes == 300 * MIB


def test_structure_without_preflist_may_be_in_every_coupling_facility() -> None:
    result = evaluate(plan({"name": "ISGLOCK", "size": "8M"}))
    (other,) = (each for each in result.allocation.placed if each.wanted.structure == "ISGLOCK")
    assert other.wanted.preflist == ("CF01", "CF02")


def test_other_structures_are_in_no_text_and_in_no_total_of_the_group() -> None:
    plain, counted = evaluate(plan()), evaluate(plan(LOCK1, SCA, GBP0))
    for kind in ("policy", "mqsc", "setxcf"):
        assert render_output(kind, counted) == render_output(kind, plain)
    assert counted.answer().totals == plain.answer().totals
    assert [each.cfrm_name for each in counted.answer().structures] == [
        each.cfrm_name for each in plain.answer().structures
    ]
    assert b"DSNDB0A" not in counted.answer().structures[0].json_bytes()


def test_changed_other_structures_are_placed_again() -> None:
    first = uses(evaluate(plan(LOCK1)))
    second = uses(evaluate(plan({**LOCK1, "initsize": "300M"})))
    assert [use.others_bytes for use in (first["CF01"], second["CF01"])] == [256 * MIB, 300 * MIB]


def test_loss_moves_other_structures_and_counts_them_in_white_space() -> None:
    without, counted = (losses_of([("P", evaluate(each))]) for each in (plan(), plan(LOCK1, SCA, GBP0)))
    lost, before = counted.losses[0], without.losses[0]
    assert lost.name == before.name == "CF01"
    # LOCK1 moves with 256 MiB; GBP0 keeps its copy in CF02, and there is no place for another.
    assert lost.white_space_bytes - before.white_space_bytes == 256 * MIB
    actions = {each.structure: each.action for each in lost.placements}
    assert (actions["DSNDB0A_LOCK1"], actions["DSNDB0A_GBP0"]) == ("moves", "switches")
    assert {each.role for each in lost.placements} == {"other", "admin", "system", "application"}
    assert [each.structure for each in lost.lost] == [each.structure for each in before.lost]
    space = {each.name: each for each in counted.white_space}
    assert space["CF02"].keep_bytes - before.white_space_bytes == 256 * MIB


def test_other_structure_without_room_is_a_warning_and_not_an_error() -> None:
    document = plan({**LOCK1, "size": "8G", "initsize": "5G"})
    found = {each.code: each for each in evaluate(document).findings}
    assert found["OTHER_STRUCTURE_NOT_PLACED"].severity == "warning"
    assert found["OTHER_STRUCTURE_NOT_PLACED"].field == "/other_structures/0/preflist"
    assert "STRUCTURE_NOT_PLACED" not in found
    assert "OTHER_STRUCTURE_NOT_PLACED" not in codes(plan(LOCK1))
    # DUPLEX(ENABLED) needs two coupling facilities.
    assert "OTHER_STRUCTURE_NOT_PLACED" in codes(plan({**GBP0, "preflist": ["CF01"]}))


def test_structure_of_the_group_that_no_longer_fits_is_reported() -> None:
    large = {**LOCK1, "size": "4G", "initsize": "4G"}
    full = [large, {**large, "name": "DSNDB0A_SCA", "preflist": ["CF02", "CF01"]}]
    assert "STRUCTURE_NOT_PLACED" in codes(plan(*full))
    assert "STRUCTURE_NOT_PLACED" not in codes(plan(large))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"other_structures": [LOCK1, SCA]}, False),
        ({"other_structures": [LOCK1]}, True),
        ({"other_structures": [LOCK1, {**SCA, "name": "DSNDB0B_SCA"}]}, True),
        ({"coupling_facilities": [{"name": "CF01"}, {"name": "CF02"}]}, False),
        (
            {"coupling_facilities": [{"name": "CF01", "size": "4G", "occupied": "1G"}, {"name": "CF02"}]},
            False,
        ),
        ({"coupling_facilities": [{"name": "CF01", "size": "4G", "occupied": 0}, {"name": "CF02"}]}, False),
        ({"db2_group": "DSNDB0A", "coupling_facilities": [{"name": "CF01"}, {"name": "CF02"}]}, True),
        ({"db2_group": "DSNDB0B", "other_structures": [LOCK1, SCA]}, True),
        ({"db2_group": "DSNDB0A", "other_structures": [LOCK1, SCA]}, False),
    ],
)
def test_missing_structures_of_db2_are_reported(changes: dict[str, Any], expected: bool) -> None:
    found = {each.code: each for each in evaluate(plan(**changes)).findings}
    assert ("DB2_STRUCTURES_NOT_COUNTED" in found) == expected
    if expected:
        assert found["DB2_STRUCTURES_NOT_COUNTED"].severity == "info"


def test_occupied_storage_next_to_other_structures_is_reported() -> None:
    occupied = [{"name": "CF01", "size": "4G", "occupied": "1G"}, {"name": "CF02", "size": "4G"}]
    assert "OTHER_STRUCTURES_AND_OCCUPIED" in codes(plan(LOCK1, coupling_facilities=occupied))
    assert "OTHER_STRUCTURES_AND_OCCUPIED" not in codes(plan(SCA, coupling_facilities=occupied))
    assert "OTHER_STRUCTURES_AND_OCCUPIED" not in codes(plan(LOCK1))


@pytest.mark.parametrize(
    ("others", "pointer", "words"),
    [
        ([LOCK1, LOCK1], "/other_structures/1/name", "occurs twice"),
        ([{**LOCK1, "name": "SQ03APP1"}], "/other_structures/0/name", "is a structure of this group"),
        ([{**LOCK1, "name": "SQ03CSQ_ADMIN"}], "/other_structures/0/name", "is a structure of this group"),
        ([{**LOCK1, "initsize": "1G"}], "/other_structures/0/initsize", "above SIZE"),
        ([{**LOCK1, "name": "DSN) SIZE(1"}], "/other_structures/0/name", "not allowed"),
        ([{"name": "ISGLOCK"}], "/other_structures/0/size", "required"),
    ],
)
def test_invalid_other_structures_are_refused(others: list[dict[str, Any]], pointer: str, words: str) -> None:
    with pytest.raises(DocumentInvalid) as caught:
        plan(*others)
    (problem,) = caught.value.problems
    assert problem.field == pointer
    assert words in problem.message


def test_invalid_name_of_a_db2_group_is_refused() -> None:
    with pytest.raises(DocumentInvalid, match="Db2 data-sharing group"):
        plan(db2_group="DSN_DB0A")


def test_plans_with_the_same_db2_structures_count_them_once() -> None:
    one, other = evaluate(plan(LOCK1, SCA)), evaluate(plan(LOCK1, {**SCA, "size": "200M"}, qsg="SQ04"))
    asked = question([group_of("ONE", one), group_of("OTHER", other)])
    sizes = {
        each.structure: each.initsize_bytes // MIB for each in asked.wanted if each.result.role == "other"
    }
    # Where plans state different sizes, the larger one counts, and a finding reports it.
    assert sizes == {"DSNDB0A_LOCK1": 256, "DSNDB0A_SCA": 200}
    assert asked.stated_differently == ("DSNDB0A_SCA",)
    shown = sheet([group_of("ONE", one), group_of("OTHER", other)])
    assert shown.same_names == ()
    assert sum(row.structure == "DSNDB0A_LOCK1" for cf in shown.facilities for row in cf.rows) == 1


def test_structure_of_another_plan_is_not_counted_again() -> None:
    imported = {"name": "SQ04APP1", "size": "1G", "preflist": ["CF01"]}
    one, other = evaluate(plan(imported)), evaluate(plan(qsg="SQ04"))
    for groups in ([group_of("A", one), group_of("B", other)], [group_of("B", other), group_of("A", one)]):
        wanted = [each for each in question(groups).wanted if each.structure == "SQ04APP1"]
        assert [(each.result.role, each.initsize_bytes // MIB) for each in wanted] == [("application", 64)]


def test_names_of_db2_are_those_of_its_documentation() -> None:
    """Db2 13 for z/OS, Coupling facility structure names: DSNDB0A_GBP0, _LOCK1, _SCA, and all names of buffer pools."""
    pools = ["GBP0", "GBP49", "GBP8K0", "GBP8K9", "GBP16K0", "GBP16K9", "GBP32K", "GBP32K1", "GBP32K9"]
    for kind in ("LOCK1", "SCA", *pools):
        assert db2_structure(f"DSNDB0A_{kind}") == ("DSNDB0A", kind)
    for name in ("SQ03APP1", "DSNDB0A_LOCK2", "_SCA", "IXCLINKS", "LONGNAME9_SCA", "DSNDB0A_GBPX"):
        assert db2_structure(name) is None


@given(st.integers(1, 2**21), st.integers(1, 2**21))
def test_free_storage_never_grows_with_other_structures(size_kib: int, initsize_kib: int) -> None:
    low, high = sorted((size_kib, initsize_kib))
    other = {"name": "ISGLOCK", "size": f"{high}K", "initsize": f"{low}K"}
    for name, use in uses(evaluate(plan(other))).items():
        plain = uses(evaluate(plan()))[name]
        assert (plain.free_bytes or 0) - (use.free_bytes or 0) in (0, low * KIB)
        assert names.structure("ISGLOCK")


def test_complete_job_that_would_delete_known_structures_names_them() -> None:
    def said(*others: dict[str, Any]) -> str:
        document = plan(*others, policy={"name": "POLICY1", "job": True})
        (found,) = (each for each in evaluate(document).findings if each.code == "JOB_HOLDS_ONLY_THIS_PLAN")
        return found.message

    assert said().endswith("merge the fragment unless this sysplex has no other structures.")
    assert said(LOCK1, SCA).endswith(
        "other_structures lists DSNDB0A_LOCK1 and DSNDB0A_SCA, which this job omits, so merge the fragment instead."
    )
