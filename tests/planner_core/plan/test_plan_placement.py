"""Plans that need more storage than their coupling facilities have: placement, findings, and refused texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from app.cli import main
from planner_core.document.reading import read_object
from planner_core.errors import OutputRefused
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.texts.outputs import OUTPUT_KINDS, render_output
from planner_core.whatif.loss import losses_of
from tests.planner_core.plans import plan
from tests.planner_core.whatif.placement.scenes import Json, cf, document, result, structure
from tests.planner_core.whatif.placement.test_placement import scenes

GIB_IN_KIB = 1024 * 1024


def three_duplexed() -> Json:
    """Return a plan with 6 GiB left in each of two coupling facilities, for three duplexed structures of 5.5 GiB.

    CSQ_ADMIN takes 1 GiB of CF01, so ORDERS fits in CF02 only, and its second copy nowhere.
    """
    facilities = [cf(name, "16G", occupied="10G") for name in ("CF01", "CF02")]
    names = ("ORDERS", "TRADES", "CLAIMS")
    return document(facilities, [structure(name, "5632M", duplex="ENABLED") for name in names])


def bank() -> Json:
    """Return a plan with 20 structures of 569 GiB, five of them with second copies of 142 GiB, for 352 GiB.

    Each coupling facility has room for CSQ_ADMIN and six structures: five pairs, BANK05 and BANK06.
    """
    facilities = [cf("CF01", "176G"), cf("CF02", "176G")]
    structures = [
        structure(f"BANK{number:02}", f"{number % 2 * 913 + 28676}M", duplex="ENABLED" if number < 5 else "DISABLED")
        for number in range(20)
    ]  # fmt: skip
    return document(facilities, structures)


def codes(found: PlanResult, code: str) -> list[Finding]:
    return [each for each in found.findings if each.code == code]


@pytest.mark.parametrize(("make", "unplaced"), [(three_duplexed, 2), (bank, 13)])
def test_plan_without_enough_storage_has_errors_and_no_text(make: Any, unplaced: int) -> None:  # noqa: ANN401
    found = evaluate(read_object(make()))
    not_placed = codes(found, "STRUCTURE_NOT_PLACED")
    assert len(not_placed) == unplaced
    assert {each.severity for each in not_placed} == {"error"}
    assert all(each.structure is not None for each in not_placed)
    for kind in OUTPUT_KINDS:
        with pytest.raises(OutputRefused) as refused:
            render_output(kind, found)
        assert set(not_placed) <= set(refused.value.findings)


@pytest.mark.parametrize("make", [three_duplexed, bank])
def test_plan_command_for_an_unplaced_structure_exits_with_1_and_prints_no_statement(
    make: Any,  # noqa: ANN401
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(make()), encoding="utf-8")
    for kind in ("policy", "job", "mqsc", "setxcf"):
        assert main(["plan", str(path), "--output", kind]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert "cannot be placed" in err


def test_structure_that_fits_exactly_is_placed() -> None:
    """CSQ_ADMIN takes 1 GiB of CF01; the structure of 4 GiB and storage of others fill the rest."""
    others = {"occupied": "2G", "dumpspace": "1G"}
    exact = evaluate(read_object(document([cf("CF01", "8G", **others)], [structure("A", "4G")])))
    short = evaluate(read_object(document([cf("CF01", "8388607K", **others)], [structure("A", "4G")])))
    assert not codes(exact, "STRUCTURE_NOT_PLACED")
    assert codes(short, "STRUCTURE_NOT_PLACED")


def test_second_copy_without_room_is_an_error_only_with_duplex_enabled() -> None:
    facilities = [cf("CF01", "8G"), cf("CF02", "3G")]
    enabled = result(facilities, [structure("A", "4G", duplex="ENABLED")])
    (found,) = codes(enabled, "SECOND_COPY_NOT_PLACED")
    assert (found.severity, found.structure) == ("error", "A")
    assert "CF02: it has 3072.0 MiB free, but 4096.0 MiB is needed" in found.message
    with pytest.raises(OutputRefused):
        render_output("policy", enabled)
    allowed = result(facilities, [structure("A", "4G", duplex="ALLOWED")])
    assert not [each for each in allowed.findings if each.severity == "error"]
    assert render_output("policy", allowed).text


def test_structures_that_do_not_fit_at_size_are_a_warning() -> None:
    facilities = [cf("CF01", "8G"), cf("CF02", "8G")]
    grows = {"size": "6G", "preflist": ["CF01", "CF02"]}
    found = result(facilities, [structure(name, "2G") | grows for name in "ABC"])
    # A, B and C are in CF01 with INITSIZE (7 GiB with CSQ_ADMIN) and come to 19 GiB there with SIZE.
    (overcommitted,) = codes(found, "CF_OVERCOMMITTED_AT_SIZE")
    assert "CF01 may grow to 19.0 GiB together, but only 8192.0 MiB is available" in overcommitted.message
    (no_place,) = codes(found, "STRUCTURE_NOT_PLACED_AT_SIZE")
    assert (no_place.severity, no_place.structure) == ("warning", "C")
    assert render_output("policy", found).text
    fits = result(facilities, [structure(name, "2G") | grows for name in "AB"] + [structure("C", "1G")])
    assert not codes(fits, "STRUCTURE_NOT_PLACED_AT_SIZE")


def test_structure_larger_than_every_coupling_facility_has_one_error() -> None:
    found = result([cf("CF01", "4G")], [structure("A", "5G")])
    assert [each.code for each in found.findings if each.severity == "error"] == ["STRUCTURE_LARGER_THAN_CF"]


def test_coupling_facilities_without_a_size_have_one_finding() -> None:
    facilities = [{"name": "CF01"}, {"name": "CF02"}, cf("CF03")]
    found = result(facilities, [structure("A", "900G", preflist=["CF01", "CF02", "CF09"])])
    (unchecked,) = codes(found, "CF_STORAGE_NOT_STATED")
    assert unchecked.severity == "info"
    assert "CF01, CF02, CF09 is not stated" in unchecked.message
    assert "does not check" in unchecked.message
    assert not codes(found, "STRUCTURE_NOT_PLACED")


def test_structure_without_a_preflist_is_not_reported_as_unplaced() -> None:
    found = evaluate(plan(coupling_facilities=[], structures__0__preflist=[]))
    assert codes(found, "PREFLIST_MISSING")
    assert not codes(found, "STRUCTURE_NOT_PLACED")


def test_storage_of_each_coupling_facility_in_the_result_adds_up() -> None:
    facilities = [cf("CF01", "16G", occupied="2G", dumpspace="1G"), cf("CF02", "16G"), {"name": "CF03"}]
    scm = {"max_size": "8G", "augmented": "512M"}
    found = result(
        facilities, [structure("A", "4G", duplex="ENABLED", scm=scm) | {"size": "6G"}, structure("B", "1G")]
    ).as_json()
    listed: Any = found["coupling_facilities"]
    first, second, unknown = listed
    # CSQ_ADMIN and B take 1 GiB each, A 4.5 GiB with its augmented space.
    assert first == {
        "name": "CF01",
        "size_kib": 16 * GIB_IN_KIB,
        "occupied_kib": 2 * GIB_IN_KIB,
        "dumpspace_kib": GIB_IN_KIB,
        "planned_initsize_kib": 6.5 * GIB_IN_KIB,
        "planned_size_kib": 8.5 * GIB_IN_KIB,
        "second_copies_kib": 0,
        "second_copies_size_kib": 0,
        "free_kib": 6.5 * GIB_IN_KIB,
        "free_at_size_kib": 4.5 * GIB_IN_KIB,
    }
    assert (second["second_copies_kib"], second["second_copies_size_kib"]) == (
        4.5 * GIB_IN_KIB,
        6.5 * GIB_IN_KIB,
    )
    assert (second["planned_initsize_kib"], second["free_kib"]) == (0, 11.5 * GIB_IN_KIB)
    assert (unknown["size_kib"], unknown["free_kib"], unknown["free_at_size_kib"]) == (None, None, None)
    structures: Any = found["structures"]
    places = {each["name"]: (each["coupling_facility"], each["second_copy"]) for each in structures}
    assert places == {"CSQ_ADMIN": ("CF01", None), "A": ("CF01", "CF02"), "B": ("CF01", None)}


def test_unplaced_structure_has_no_coupling_facility_in_the_result() -> None:
    found: Any = evaluate(read_object(three_duplexed())).as_json()["structures"]
    assert [each["coupling_facility"] for each in found] == ["CF01", "CF02", None, None]


_LARGER = {"STRUCTURE_NOT_PLACED": "STRUCTURE_LARGER_THAN_CF"}
_ABOUT_PLACES = (
    "STRUCTURE_NOT_PLACED",
    "SECOND_COPY_NOT_PLACED",
    "EXCLUSION_NOT_KEPT",
    "COPIES_FAIL_TOGETHER",
    "CF_OVERCOMMITTED_AT_SIZE",
    "CF_STORAGE_NOT_STATED",
    "PLACEMENT_ORDER_MATTERS",
)


@settings(max_examples=60)
@given(scenes())
def test_plan_and_cf_loss_question_report_the_same_placement(scene: tuple[list[Json], list[Json]]) -> None:
    found = result(*scene)
    answer = losses_of([("SQ03", found)])
    now = {each.wanted.structure: each.now for each in answer.normal}
    assert found.allocation.places == now
    by_plan = {(each.code, each.structure) for each in found.findings}
    of_loss = [each for each in answer.findings if not each.message.startswith("Without ")]
    for each in of_loss:
        if each.code in _ABOUT_PLACES:
            assert {(each.code, each.structure), (_LARGER.get(each.code), each.structure)} & by_plan
    counted = {(each.code, each.structure) for each in of_loss}
    assert {each for each in by_plan if each[0] in _ABOUT_PLACES} <= counted


@settings(max_examples=60)
@given(scenes())
def test_no_text_is_produced_if_the_cf_loss_question_finds_an_unplaced_structure(
    scene: tuple[list[Json], list[Json]],
) -> None:
    found = result(*scene)
    answer = losses_of([("SQ03", found)])
    lacking = [each for each in answer.normal if len(each.now) < 1 + each.wanted.is_duplexed]
    if not lacking:
        return
    for kind in OUTPUT_KINDS:
        with pytest.raises(OutputRefused):
            render_output(kind, found)


@settings(max_examples=60)
@given(scenes())
def test_no_coupling_facility_is_planned_beyond_its_storage(scene: tuple[list[Json], list[Json]]) -> None:
    found = result(*scene)
    placed: Any = found.as_json()
    for each in placed["coupling_facilities"]:
        taken = each["occupied_kib"] + each["dumpspace_kib"]
        planned = each["planned_initsize_kib"] + each["second_copies_kib"]
        assert each["free_kib"] == each["size_kib"] - taken - planned
        assert each["free_kib"] >= 0
        own = [
            item["initsize_kib"]
            for item in placed["structures"]
            if each["name"] in (item["coupling_facility"], item["second_copy"])
        ]
        assert planned == sum(own)
