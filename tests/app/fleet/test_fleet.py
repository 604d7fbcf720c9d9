"""The overview over REST: structures by urgency, actions, the nightly run, plans."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import event, select

from app.jobs.models import JobRun, JobState
from tests.app.fits.support import MADE_ON, crossing_json, daily, forecast_json, store_night
from tests.app.fleet.support import DISK_FULL, fail_run, measure, names, save_plan
from tests.app.uploads.support import post_file
from tests.app.web.support import get

NEVER = [crossing_json("SIZE", 131_072, None, None, None)]
FACILITIES = [{"name": name, "size": "64G", "cfcc_level": 25} for name in ("CF01", "CF02")]


def fleet(app: FastAPI) -> Any:  # noqa: ANN401 - any JSON value
    answer = get(app, "/api/v1/fleet")
    assert answer.status == 200, answer.text
    return answer.json()


def actions(app: FastAPI) -> list[tuple[str, str, str]]:
    return [(each["severity"], each["subject"], each["href"]) for each in fleet(app)["actions"]]


def test_empty_installation_has_empty_lists(own_app: FastAPI) -> None:
    found = fleet(own_app)
    assert (found["coupling_facilities"], found["structures"], found["plans"]) == ([], [], [])
    assert found["nightly_run"] is None


def test_structures_are_sorted_by_urgency(own_app: FastAPI) -> None:
    for name, percent in (
        ("LOW", 10),
        ("HIGH", 95),
        ("FULL", 100),
        ("SOON", 50),
        ("LATER", 60),
        ("NEVER", 20),
    ):
        measure(own_app, name, percent)
    measure(own_app, "WASFULL", 30, full_hours_ago=30)
    store_night(
        own_app.state.database,
        forecasts=[
            forecast_json(structure="LATER", crossings=[crossing_json("SIZE", 1, 90, 120, None)]),
            forecast_json(structure="SOON", crossings=[crossing_json("85 %", 1, 5, 12, 40)]),
            forecast_json(structure="NEVER", crossings=NEVER),
        ],
    )
    found = fleet(own_app)["structures"]
    assert names(found) == ["FULL", "WASFULL", "SOON", "LATER", "HIGH", "NEVER", "LOW"]
    urgencies = [each["urgency"] for each in found]
    assert urgencies == ["full_now", "was_full", "soon", "later", "high", "none", "unknown"]
    soon = found[2]
    assert soon["urgency_text"] == "limit in 12 days"
    assert soon["next_limit"]["level"] == "85 %"
    assert soon["next_limit"]["days"] == {"p10": 5, "p50": 12, "p90": 40}
    assert (soon["used_percent"], soon["used_pool"]) == (50.0, "elements")
    assert found[3]["next_limit"]["days"]["p90"] is None


def test_limit_that_is_passed_already_is_urgent(own_app: FastAPI) -> None:
    passed = {**crossing_json("85 %", 1, None, None, None), "state": "already_crossed"}
    store_night(own_app.state.database, forecasts=[forecast_json(crossings=[passed])])
    (found,) = fleet(own_app)["structures"]
    assert (found["urgency"], found["next_limit"]["is_passed"]) == ("passed", True)
    assert actions(own_app)[0] == ("warning", "APPLICATION1 of SQ03", "/forecasts/SQ03/APPLICATION1")


def test_full_data_set_does_not_make_its_structure_full(own_app: FastAPI) -> None:
    measure(own_app, "APPLICATION1", 40)
    days = daily(days=20)
    for day in days:
        day["smds"] = [{"queue_manager": "CSQ1", "blocks_peak": 400, "blocks_total": 400}]
    store_night(
        own_app.state.database,
        forecasts=[
            forecast_json(measure="smds_blocks", queue_manager="CSQ1"),
            forecast_json(crossings=NEVER),
        ],
        days=days,
    )
    (found,) = fleet(own_app)["structures"]
    assert (found["urgency"], found["full"]) == ("none", None)
    assert actions(own_app)[0] == (
        "error",
        "APPLICATION1 of SQ03",
        "/forecasts/SQ03/APPLICATION1#smds_blocks-CSQ1",
    )


def test_plans_only_shows_their_structures_and_asks_for_measurements(own_app: FastAPI) -> None:
    save_plan(own_app, coupling_facilities=FACILITIES)
    found = fleet(own_app)
    assert {each["structure"] for each in found["structures"]} == {
        "CSQ_ADMIN", "CSQSYSAPPL", "APPLICATION1", "MYDATA",
    }  # fmt: skip
    assert {each["urgency_text"] for each in found["structures"]} == {"not measured"}
    assert all(each["plans"] == ["SQ03"] for each in found["structures"])
    first = found["coupling_facilities"][0]
    assert first["storage_mib"] == 65_536
    assert first["white_space_mib"] == first["storage_mib"] - first["structures_mib"]
    assert actions(own_app)[-1] == ("info", "Measurements", "/new-upload")


def test_coupling_facility_whose_loss_leaves_structures_without_a_place_is_urgent(own_app: FastAPI) -> None:
    save_plan(
        own_app, coupling_facilities=[{"name": "CF01", "size": "4G"}, {"name": "CF02", "size": "1800M"}]
    )
    found = fleet(own_app)
    unplaced = {
        each["coupling_facility"]: each["unplaced_after_its_loss"] for each in found["coupling_facilities"]
    }
    assert "SQ03APPLICATION1" in unplaced["CF01"]
    assert ("error", "CF01", "/whatif/cf-loss?plan=SQ03") in actions(own_app)


def test_structures_without_a_place_are_an_urgent_action_even_without_a_loss(own_app: FastAPI) -> None:
    for qsg, size in (("SQ03", "4G"), ("SQ05", "1G")):
        save_plan(
            own_app, qsg, qsg=qsg, coupling_facilities=[{"name": f"CF0{n}", "size": size} for n in (1, 2)]
        )
    found = fleet(own_app)
    lost = [each for each in found["structures"] if not each["coupling_facilities"]]
    assert lost
    (action,) = (each for each in found["actions"] if each["subject"] == "Coupling facilities")
    assert (action["severity"], action["href"]) == ("error", "/sheet?plan=SQ03&plan=SQ05")
    assert action["reason"].startswith(f"{len(lost)} structures of the plans have no place in them: SQ0")
    assert get(own_app, "/").text.count("no place</") == len(lost)


def test_saved_version_of_a_plan_replaces_the_earlier_one(own_app: FastAPI) -> None:
    save_plan(own_app, coupling_facilities=FACILITIES)
    assert fleet(own_app)["coupling_facilities"][0]["storage_mib"] == 65_536
    save_plan(own_app, coupling_facilities=[{**each, "size": "32G"} for each in FACILITIES])
    assert fleet(own_app)["coupling_facilities"][0]["storage_mib"] == 32_768


def test_failed_run_is_an_action(own_app: FastAPI) -> None:
    run = fail_run(own_app)
    found = fleet(own_app)
    assert (found["nightly_run"]["state"], found["nightly_run"]["sentence"]) == ("failed", DISK_FULL)
    assert ("error", f"Nightly run {run}", f"/nights/{run}") in actions(own_app)


def test_failed_upload_follows_urgent_actions_with_its_first_sentence(own_app: FastAPI) -> None:
    number = post_file(own_app, "Dear planner", "/api/v1/uploads?name=letter.txt").json()["id"]
    with own_app.state.database.session(writes=True) as session:
        job = session.scalars(select(JobRun).where(JobRun.upload_id == number)).one()
        job.state, job.sentence = JobState.FAILED, "It is no dump. Say which it is: SMF, CSV, JSON."
    run = fail_run(own_app)
    assert actions(own_app)[:2] == [
        ("error", f"Nightly run {run}", f"/nights/{run}"),
        ("warning", "letter.txt", f"/uploads/{number}"),
    ]
    assert fleet(own_app)["actions"][1]["reason"] == "The upload failed. It is no dump."


@pytest.mark.parametrize(("days", "is_old"), [(2, False), (3, True)])
def test_forecasts_older_than_the_usage_ask_for_a_nightly_run(
    own_app: FastAPI, days: int, is_old: bool
) -> None:
    measure(own_app, "MYDATA", 40)
    forecast = forecast_json(structure="MYDATA", made_on=MADE_ON - timedelta(days=days))
    store_night(own_app.state.database, forecasts=[forecast])
    assert (("warning", "Forecasts", "/nights") in actions(own_app)) is is_old


def test_errors_of_plans_come_before_warnings_of_others(own_app: FastAPI) -> None:
    measure(own_app, "APPLICATION1", 85)
    save_plan(own_app, "FAULTY")
    example = get(own_app, "/api/v1/plans/FAULTY").json()["document"]["structures"]
    save_plan(own_app, "FAULTY", structures=[{**each, "recover": False} for each in example])
    assert [(severity, subject) for severity, subject, _ in actions(own_app)] == [
        ("error", "Plan FAULTY"),
        ("warning", "APPLICATION1 of SQ03"),
    ]


def test_plans_with_open_findings_are_listed_with_errors_first(own_app: FastAPI) -> None:
    save_plan(own_app, "CLEAN")
    example = get(own_app, "/api/v1/plans/CLEAN").json()["document"]["structures"]
    save_plan(own_app, "WARNED", structures=[{**each, "offload": {}} for each in example])
    save_plan(own_app, "FAULTY", structures=[{**each, "recover": False} for each in example])
    listed = {each["name"]: each for each in get(own_app, "/api/v1/plans").json()["plans"]}
    assert listed["WARNED"]["warnings"] > 0 < listed["FAULTY"]["errors"]
    found = fleet(own_app)["plans"]
    assert [each["name"] for each in found] == ["FAULTY", "WARNED"]
    assert (found[1]["errors"], found[1]["warnings"]) == (0, listed["WARNED"]["warnings"])
    assert ("error", "Plan FAULTY", "/plans/FAULTY") in actions(own_app)


def test_measured_structures_in_no_plan_lead_to_the_form_for_plans(own_app: FastAPI) -> None:
    measure(own_app, "APPLICATION1", 40)
    measure(own_app, "CSQ_ADMIN", 10)
    assert actions(own_app) == [("info", "Group SQ03", "/usage/SQ03/plan")]
    save_plan(own_app)
    assert actions(own_app) == []


def test_simulated_structures_need_no_action_if_there_are_others(own_app: FastAPI) -> None:
    measure(own_app, "SIMAPP1", 100, qsg="SIM1")
    assert actions(own_app)[0][1] == "SIMAPP1 of SIM1"
    measure(own_app, "APPLICATION1", 40)
    assert [subject for _, subject, _ in actions(own_app)] == ["Group SQ03"]


def test_number_of_statements_does_not_grow_with_the_fleet(own_app: FastAPI) -> None:
    statements: list[str] = []
    event.listen(
        own_app.state.database.engine,
        "before_cursor_execute",
        lambda *arguments: statements.append(arguments[2]),
    )

    def counted() -> int:
        fleet(own_app)  # reads plans and forecasts that are new
        statements.clear()
        fleet(own_app)
        return len(statements)

    save_plan(own_app)
    measure(own_app, "APPLICATION1", 40, coupling_facilities="CF01")
    store_night(own_app.state.database, forecasts=[forecast_json()], days=daily(days=20))
    before = counted()
    for nth in range(8):
        save_plan(own_app, f"P{nth}", qsg=f"Q{nth}")
        measure(own_app, f"APP{nth}", 40, qsg=f"Q{nth}", coupling_facilities="CF02")
    store_night(
        own_app.state.database,
        forecasts=[forecast_json(qsg=f"Q{nth}", structure=f"APP{nth}") for nth in range(8)],
        days=[day for nth in range(8) for day in daily(qsg=f"Q{nth}", structure=f"APP{nth}", days=20)],
    )
    assert counted() == before


def test_structures_of_others_are_not_listed(own_app: FastAPI) -> None:
    lock = {"name": "DSNDB0A_LOCK1", "size": "64M", "preflist": ["CF01", "CF02"]}
    save_plan(own_app, coupling_facilities=FACILITIES, other_structures=[lock])
    found = fleet(own_app)
    assert "DSNDB0A_LOCK1" not in names(found["structures"])
    assert all(each["coupling_facilities"] for each in found["structures"])
