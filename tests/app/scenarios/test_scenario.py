"""Calculated scenarios: before and after, side by side, as a report."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.scenarios.view import reported
from planner_core import bounds
from planner_core.document.reading import read_object
from planner_core.errors import InputInvalid, OutOfRange, PlanRefused, TextTooLong
from planner_core.plan.evaluate import evaluate
from planner_core.provenance import read_source
from planner_core.running.state import read_running
from planner_core.sizing.fitted import fitted_curve
from planner_core.whatif.changes import applied, read_changes
from planner_core.whatif.scenario import FIGURES, ScenarioResult, scenario
from planner_core.whatif.scenario_report import SavedScenario, report, side_by_side
from tests.app.plans.support import SQ03 as EXAMPLE
from tests.planner_core.sizing.test_fitted import TWO_COSTS
from tests.planner_core.whatif.placement.scenes import cf, document, structure

Json = dict[str, Any]
SQ03: Json = {**EXAMPLE, "headroom_percent": 10}
"""The example with headroom, so that the rules do not change INITSIZE but act at the planned backlog."""


def calculated(changes: Json, plan: Json = SQ03, **more: Any) -> ScenarioResult:  # noqa: ANN401
    return scenario(read_object(copy.deepcopy(plan)), read_changes(changes), **more)


def saved_scenario(name: str, changes: Json, *, version: int = 1, plan: Json = SQ03) -> SavedScenario:
    return SavedScenario(name, version, "why", calculated(changes, plan).as_json())


def sizes(shown: Json) -> list[tuple[int, int]]:
    return [(each["initsize_kib"], each["size_kib"]) for each in shown["structures"]]


@given(
    rate=st.sampled_from([0, 1, 1.5, 10]),
    managers=st.integers(1, 32),
    level=st.sampled_from([14, 17, 24, 25]),
    percent=st.integers(0, 40),
)
@settings(max_examples=15)
def test_scenario_figures_are_those_of_the_changed_plan(
    rate: float, managers: int, level: int, percent: int
) -> None:
    changes = {
        "rate_factor": rate,
        "queue_managers": managers,
        "cfcc_level": level,
        "growth": {"percent_per_year": percent, "years": 2},
    }
    before = read_object(copy.deepcopy(SQ03))
    answer = calculated(changes).as_json()
    expected = evaluate(applied(before, read_changes(changes))).as_json()
    plain = evaluate(before).as_json()
    assert [each["after"]["initsize_kib"] for each in answer["structures"]] == [
        each for each, _ in sizes(expected)
    ]
    assert [each["before"]["size_kib"] for each in answer["structures"]] == [each for _, each in sizes(plain)]
    assert answer["after"]["totals"]["initsize_kib"] == sum(each for each, _ in sizes(expected))


def test_target_utilization_replaces_headroom_and_both_are_listed() -> None:
    answer = calculated({"target_usage_percent": 60}).as_json()
    assert [(each["what"], each["before"], each["after"]) for each in answer["what_changes"]] == [
        ("Maximum usage at the backlog", "80 %", "60 %"),
        ("Headroom", "10 %", "none"),
    ]
    assert (answer["before"]["headroom_percent"], answer["after"]["headroom_percent"]) == (10, None)
    assert answer["after"]["target_usage_percent"] == 60
    usage = {each["name"]: each["after"]["peak_usage_percent"] for each in answer["structures"]}
    assert 59 < usage["APPLICATION1"] <= 60
    both = calculated({"target_usage_percent": 60, "headroom_percent": 20}, EXAMPLE).as_json()
    assert both["after"]["headroom_percent"] == 20


def test_one_more_queue_manager_uses_the_next_row_of_ibms_chart() -> None:
    """CSQ_ADMIN at CFCC 25: 25 MiB for 5 queue managers, 26 MiB for 6 (z16 report, page 13), and SIZE 1.5 times."""
    (admin, *_) = calculated({"queue_managers": 6}).as_json()["structures"]
    assert admin["structure"] == "SQ03CSQ_ADMIN"
    assert (admin["before"]["initsize_kib"], admin["after"]["initsize_kib"]) == (25 * 1024, 26 * 1024)
    assert admin["difference"]["need_bytes"] == 2**20


def test_planned_size_below_the_new_need_is_recalculated() -> None:
    plan = copy.deepcopy(SQ03)
    plan["structures"][0] |= {"initsize": "600M", "size": "900M"}
    holds, short = (
        calculated({"rate_factor": factor}, plan).as_json()["structures"][1] for factor in (1.01, 3)
    )
    assert (holds["given_size_replaced"], holds["after"]["initsize_kib"]) == (False, 600 * 1024)
    assert short["given_size_replaced"]
    assert short["after"]["initsize_kib"] > 900 * 1024


def test_size_given_by_the_scenario_is_kept_even_if_too_small() -> None:
    part = {"name": "APPLICATION1", "initsize": "100M", "size": "200M"}
    answer = calculated({"structures": [part]}).as_json()
    assert answer["structures"][1]["after"]["initsize_kib"] == 100 * 1024
    assert not answer["structures"][1]["given_size_replaced"]
    assert "INITSIZE_BELOW_NEED" in {each["code"] for each in answer["findings_new"]}


# ---- losses, commands, findings ----------------------------------------------------------------------------------


TIGHT = document([cf("CF01", "8G"), cf("CF02", "8G")], [structure("A", "2G", preflist=["CF01", "CF02"])])


def test_facility_loss_in_a_scenario_is_listed_first_and_marked() -> None:
    losses = calculated({"lost": "CF02"}).as_json()["losses"]["after"]
    assert [(each["lost"], each["is_the_scenario"]) for each in losses][:2] == [
        ("CF02", True),
        ("CF01", False),
    ]
    assert [each["is_the_scenario"] for each in losses].count(True) == 1


def test_structures_unplaced_after_the_changes_are_compared_with_before() -> None:
    """CSQ_ADMIN 1 GiB and A 2 GiB go to CF01; 8 GiB of CF02 take A at 2 GiB and not at 9."""
    part = {"name": "A", "initsize": "9G", "size": "9G"}
    answer = calculated({"lost": "CF01", "structures": [part]}, TIGHT).as_json()
    before, after = (answer["losses"][side][0] for side in ("before", "after"))
    assert (before["lost"], before["unplaced"], before["white_space_mib"]) == ("CF01", [], 3 * 1024)
    assert answer["placements"]["after"][1]["coupling_facility"] is None
    assert "STRUCTURE_NOT_PLACED" in {each["code"] for each in answer["findings_new"]}
    assert after["white_space_mib"] == 1024


def test_report_without_coupling_facilities_states_that_there_are_no_losses() -> None:
    plan = {**copy.deepcopy(SQ03), "coupling_facilities": []}
    for each in plan["structures"]:
        each.pop("preflist", None)
    answer = calculated({"queue_managers": 6}, plan).as_json()
    assert answer["losses"] == {"before": [], "after": []}
    assert any("no coupling facilities" in each for each in answer["assumptions"])


def test_commands_lead_from_the_plan_to_the_scenario() -> None:
    part = {"name": "MYDATA", "offload_rules": [{"usage_over": 50, "size_over": "16K"}]}
    (command,) = calculated({"structures": [part]}).as_json()["commands"]
    assert command["command"] == (
        "ALTER CFSTRUCT(MYDATA) CFCONLOS(ASQMGR) RECAUTO(YES) OFFLOAD(SMDS) OFFLD1TH(50) OFFLD1SZ(16K) "
        "OFFLD2TH(80) OFFLD2SZ(64K) OFFLD3TH(90) OFFLD3SZ(64K) DSGROUP('MQ.SMDS.*.MYDATA') DSBLOCK(256K)"
    )
    assert command["takes_effect"] == "at once"
    assert calculated({"lost": "CF01"}).as_json()["commands"] == []


def test_scenario_without_texts_has_a_reason_instead_of_commands() -> None:
    part = {"name": "APPLICATION1", "initsize": "100G", "size": "200G"}  # no coupling facility has so much
    answer = calculated({"structures": [part]}).as_json()
    assert answer["commands"] == []
    assert answer["commands_refused"]


def test_findings_are_listed_as_new_or_resolved() -> None:
    answer = calculated({"rate_factor": 1.5})
    before = {(each.code, each.structure, each.message) for each in answer.findings_before}
    after = {(each.code, each.structure, each.message) for each in answer.findings}
    shown = answer.as_json()

    def keys(name: str) -> set[tuple[str, str | None, str]]:
        found = shown[name]
        assert isinstance(found, list)
        return {(each["code"], each["structure"], each["message"]) for each in found}

    assert keys("findings_new") == after - before
    assert keys("findings_gone") == before - after
    assert keys("findings_new")
    assert keys("findings_gone")


# ---- what is refused and what is said ---------------------------------------------------------------------------


def test_scenario_with_an_impossible_group_is_refused() -> None:
    with pytest.raises(PlanRefused, match="33 queue managers"):
        calculated({"queue_managers": 33})


def test_plan_saved_with_other_figures_is_reported() -> None:
    stored = evaluate(read_object(copy.deepcopy(SQ03))).as_json()
    same = calculated({"queue_managers": 6}, stored=stored)
    assert "SCENARIO_PLAN_OF_ANOTHER_CORE" not in {each.code for each in same.findings}
    structures = stored["structures"]
    assert isinstance(structures, list)
    structures[0]["initsize_kib"] += 1024
    other = calculated({"queue_managers": 6}, stored=stored)
    assert "SCENARIO_PLAN_OF_ANOTHER_CORE" in {each.code for each in other.findings}


def test_other_cfcc_level_drops_a_fitted_curve_with_a_finding() -> None:
    plan = {**copy.deepcopy(SQ03), "curve": {"fitted": 7}}
    curve = fitted_curve(version=7, fit=TWO_COSTS)
    there = calculated({"queue_managers": 6}, plan, curve=curve)
    away = calculated({"cfcc_level": 24}, plan, curve=curve)
    assert "SCENARIO_WITHOUT_FITTED_CURVE" not in {each.code for each in there.findings}
    assert there.after.curve == curve.summary
    assert "SCENARIO_WITHOUT_FITTED_CURVE" in {each.code for each in away.findings}
    assert curve.summary not in (away.before.curve, away.after.curve)


# ---- side by side ------------------------------------------------------------------------------------------------


def test_up_to_four_scenarios_are_shown_next_to_the_plan() -> None:
    items = [saved_scenario(name, {"queue_managers": 6 + at}) for at, name in enumerate("abcd")]
    (row,) = [each for each in side_by_side(items).settings if each.label == "Queue managers"]
    assert list(row.values) == [5, 6, 7, 8, 9]
    assert list(row.differs) == [False, True, True, True, True]
    assert list(row.differences) == [0, 1, 2, 3, 4]
    wrong: list[list[SavedScenario]] = [[], [*items, items[0]]]
    for few in wrong:
        with pytest.raises(OutOfRange):
            side_by_side(few)


def test_every_figure_of_every_structure_is_compared() -> None:
    items = [saved_scenario("a", {"rate_factor": 2}), saved_scenario("b", {"headroom_percent": 50})]
    found = {(row.structure, row.label): row.values for row in side_by_side(items).figures}
    for item in items[0].result["structures"]:
        other = next(x for x in items[1].result["structures"] if x["structure"] == item["structure"])
        for key, (label, _) in FIGURES.items():
            values = (item["before"][key], item["after"][key], other["after"][key])
            if values == (None, None, None):
                assert (item["structure"], label) not in found
            else:
                assert found[item["structure"], label] == values


def test_setting_changed_by_only_one_scenario_shows_the_plan_value_for_the_others() -> None:
    part = {"name": "MYDATA", "full_threshold": 90}
    answer = side_by_side(
        [saved_scenario("a", {"structures": [part]}), saved_scenario("b", {"queue_managers": 6})]
    )
    (row,) = [each for each in answer.settings if each.structure == "MYDATA"]
    assert (row.label, row.values) == ("FULLTHRESHOLD", ("85 %", "90 %", "85 %"))


def test_findings_that_plan_and_scenarios_share_are_hidden() -> None:
    answer = side_by_side([saved_scenario("a", {"rate_factor": 2}), saved_scenario("b", {"lost": "CF01"})])
    assert answer.finding_rows
    for row in answer.finding_rows:
        assert len(set(row.messages)) > 1
        assert row.messages[0] == row.messages[2]  # losing CF01 changes no finding


def test_scenarios_of_two_versions_are_compared_with_a_warning() -> None:
    assert (
        side_by_side([saved_scenario("a", {"lost": "CF01"}), saved_scenario("b", {"lost": "CF02"})]).findings
        == ()
    )
    (found,) = side_by_side(
        [saved_scenario("a", {"lost": "CF01"}), saved_scenario("b", {"lost": "CF02"}, version=2)]
    ).findings
    assert found.code == "SCENARIOS_NOT_OF_ONE_PLAN"
    assert "a of version 1, b of version 2" in found.message
    other = {**copy.deepcopy(SQ03), "headroom_percent": 20}
    (found,) = side_by_side(
        [saved_scenario("a", {"lost": "CF01"}), saved_scenario("b", {"lost": "CF02"}, plan=other)]
    ).findings
    assert "the figures of b differ from those of a" in found.message


# ---- the report --------------------------------------------------------------------------------------------------


def test_every_report_figure_has_a_note_and_every_note_has_documents() -> None:
    told: Any = report(saved_scenario("a", {"rate_factor": 2, "queue_managers": 6})).as_json()
    notes = {note["number"]: note for note in told["notes"]}
    documents = {each["number"]: each["document"] for each in told["documents"]}
    assert sorted(notes) == list(range(1, len(notes) + 1))
    used = set()
    for item in (*told["structures"], {"figures": told["totals"]}):
        for figure in item["figures"]:
            for side in ("before", "after"):
                if figure[side] is not None:
                    note = notes[figure[f"note_{side}"]]
                    assert note["figure"].startswith(figure["label"])
                    used.add(note["number"])
    for loss in (*told["losses"]["before"], *told["losses"]["after"]):
        used |= {loss["note_white_space"], loss["note_messages_gone"]}
    assert used == set(notes)
    named = {number for note in notes.values() for number in note["documents"]}
    assert named == set(documents)
    for note in notes.values():
        assert note["documents"] or note["basis"] == "given" or "all structures" in note["figure"]


def test_need_of_csq_admin_has_a_note_with_its_chart() -> None:
    told: Any = report(saved_scenario("a", {"queue_managers": 6})).as_json()
    need = told["structures"][0]["figures"][0]
    note = told["notes"][need["note_after"] - 1]
    assert (note["figure"], note["basis"]) == ("Need", "read_off_chart")
    (document_number,) = note["documents"]
    assert "page 13, chart of CSQ_ADMIN sizes" in told["documents"][document_number - 1]["document"]


def test_changes_that_do_not_fit_the_plan_are_refused() -> None:
    with pytest.raises(InputInvalid):
        calculated({"lost": "NOCF"})


def test_report_page_lists_each_finding_and_document_once() -> None:
    found = report(saved_scenario("a", {"rate_factor": 2, "queue_managers": 6}))
    told: Any = found.as_json()
    shown = reported(found)
    brought = [each.message for kind, each, _ in shown.changes if kind != "gone"]
    rest = [each.message for each in shown.findings]
    assert brought
    assert rest
    assert set(brought).isdisjoint(rest)
    assert sorted(brought + rest) == sorted(each["message"] for each in told["findings"])
    listed = {each.url for each in shown.documents}
    numbered = [(number, str(each)) for number, each in enumerate(shown.documents, start=1)]
    assert numbered[: len(told["documents"])] == [
        (each["number"], each["document"]) for each in told["documents"]
    ]
    resting = [
        *(read_source(each["source"]) for each in told["commands"]),
        *(read_source(each["source"]) for each in shown.rules),
        *(each.source for each in shown.findings),
        *(each.source for _, each, _ in shown.changes),
    ]
    assert {source.url for source in resting if source.url} <= listed
    later = [each.url for each in shown.documents[len(told["documents"]) :]]
    assert later
    assert len(later) == len(set(later))


def test_plan_with_more_lines_than_a_user_may_enter_has_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {"rate_factor": 2}
    expected = calculated(changes)
    # The definitions of the largest plan have half a million lines.
    monkeypatch.setattr(bounds, "MOST_LINES", 5)
    with pytest.raises(TextTooLong):
        read_running(["DISPLAY QLOCAL(*)\n" * 6])
    found = calculated(changes)
    assert found.commands_refused is None
    assert found.commands == expected.commands != ()
