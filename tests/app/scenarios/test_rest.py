"""Scenarios over REST: statuses, headers, concurrent editors, stored results. On both databases."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import URL, text

from app.database.engine import Database
from app.errors import Conflict
from app.plans import service as plans
from app.scenarios import repository, service
from app.scenarios.errors import TooManyScenarios
from app.scenarios.service import ScenarioDraft
from tests.app.plans.support import SQ03, app_on, changed, plan
from tests.app.web.support import Answer, assert_problem, call, get, post_json, send_json

PLAN = "/api/v1/plans/SQ03"
AT = f"{PLAN}/scenarios"
MORE = {
    "note": "Trade of two years.",
    "changes": {"queue_managers": 6, "growth": {"percent_per_year": 10, "years": 2}},
}


@pytest.fixture
def app(database: Database, url: URL) -> FastAPI:
    made = app_on(url, max_body_bytes=100_000)
    assert send_json(made, "PUT", PLAN, SQ03).status == 201
    return made


def put(app: FastAPI, scenario: object = MORE, name: str = "more", **headers: str) -> Answer:
    return send_json(app, "PUT", f"{AT}/{name}", scenario, **headers)


def delete(app: FastAPI, address: str, **headers: str) -> Answer:
    return call(
        app, "DELETE", address, headers={key.replace("_", "-"): each for key, each in headers.items()}
    )


def test_new_scenario_returns_address_and_etag_and_reads_back_unchanged(app: FastAPI) -> None:
    answer = post_json(app, AT, {"name": "more", **MORE})
    assert (answer.status, answer.headers["location"]) == (201, f"{AT}/more")
    saved = answer.json()
    assert (saved.pop("saved"), saved["version"], saved["note"]) == ("created", 1, MORE["note"])
    found = get(app, f"{AT}/more")
    assert found.json() == saved
    assert found.headers["etag"] == answer.headers["etag"] == saved["etag"]
    assert saved["findings"] == saved["result"]["findings"]
    assert get(app, f"{AT}/more", if_none_match=saved["etag"]).status == 304


def test_saved_scenario_has_the_sizes_of_the_changed_plan(app: FastAPI) -> None:
    result = put(app).json()["result"]
    after = post_json(app, "/api/v1/size", changed(**MORE["changes"])).json()  # type: ignore[arg-type]
    assert [each["after"]["initsize_kib"] for each in result["structures"]] == [
        each["initsize_kib"] for each in after["structures"]
    ]


def test_scenario_keeps_its_figures_when_the_plan_changes_and_is_listed_as_old(
    app: FastAPI,
) -> None:
    before = put(app)
    tag = get(app, PLAN).headers["etag"]
    assert send_json(app, "PUT", PLAN, changed(headroom_percent=40), if_match=tag).status == 200
    assert get(app, f"{AT}/more").content == get(app, f"{AT}/more").content
    assert get(app, f"{AT}/more").json()["result"] == before.json()["result"]
    (listed,) = get(app, AT).json()["scenarios"]
    assert (listed["version"], listed["is_of_latest"]) == (1, False)
    again = put(app, {**MORE, "version": 2}, if_match=before.headers["etag"])
    assert (again.json()["saved"], again.json()["version"]) == ("changed", 2)
    assert get(app, AT).json()["scenarios"][0]["is_of_latest"]


def test_change_without_its_base_version_is_refused(app: FastAPI) -> None:
    tag = put(app).headers["etag"]
    other = {**MORE, "note": "other"}
    refused = assert_problem(put(app, other), "precondition-required", 428)
    assert refused["current"] == {"version": 1, "etag": tag}
    assert put(app).json()["saved"] == "identical"
    changed_ = put(app, other, if_match=tag)
    assert (changed_.status, changed_.json()["saved"], changed_.json()["revision"]) == (200, "changed", 2)
    late = assert_problem(put(app, {**MORE, "note": "third"}, if_match=tag), "scenario-changed", 412)
    assert late["current"]["etag"] == changed_.headers["etag"]
    assert get(app, f"{AT}/more").json()["note"] == "other"
    assert_problem(put(app, name="gone", if_match=tag), "scenario-changed", 412)
    assert_problem(put(app, if_none_match="*"), "scenario-exists", 409)
    assert_problem(post_json(app, AT, {"name": "more", **MORE}), "scenario-exists", 409)


def test_deleted_scenario_is_gone_and_its_etag_is_not_reused(app: FastAPI) -> None:
    tag = put(app).headers["etag"]
    assert_problem(delete(app, f"{AT}/more", if_match='"0.0-scenario"'), "scenario-changed", 412)
    assert delete(app, f"{AT}/more", if_match=tag).json() == {"plan": "SQ03", "name": "more", "findings": []}
    assert_problem(get(app, f"{AT}/more"), "scenario-not-found", 404)
    assert_problem(delete(app, f"{AT}/more"), "scenario-not-found", 404)
    assert put(app).headers["etag"] != tag


def test_scenarios_are_deleted_and_restored_with_their_plan(app: FastAPI) -> None:
    put(app)
    assert delete(app, PLAN).status == 200
    assert_problem(get(app, AT), "plan-not-found", 404)
    assert call(app, "POST", f"{PLAN}/restore").status == 200
    assert [each["name"] for each in get(app, AT).json()["scenarios"]] == ["more"]
    assert_problem(
        post_json(app, "/api/v1/plans/NONE/scenarios", {"name": "a", **MORE}), "plan-not-found", 404
    )
    assert_problem(put(app, {**MORE, "version": 9}), "plan-not-found", 404)


def test_scenarios_are_removed_with_their_plan(app: FastAPI) -> None:
    put(app)
    database = app.state.database
    with database.session(writes=True) as session:
        plans.delete_plan(session, "SQ03")
        plans.purge_deleted(session, -timedelta(seconds=1))
        assert session.execute(text("SELECT count(*) FROM scenarios")).scalar_one() == 0


@pytest.mark.parametrize(
    ("body", "slug", "field"),
    [
        ({"changes": {"lost": "CF01"}}, "input-refused", "/name"),
        ({"name": "new", "changes": {"lost": "CF01"}}, "input-refused", "/name"),
        ({"name": ".a", "changes": {"lost": "CF01"}}, "input-refused", "/name"),
        ({"name": "a"}, "input-refused", "/changes"),
        ({"name": "a", "changes": {}}, "input-refused", "/changes"),
        ({"name": "a", "changes": {"cfcc_level": 0}}, "input-refused", "/changes/cfcc_level"),
        (
            {"name": "a", "changes": {"growth": {"years": 2}}},
            "input-refused",
            "/changes/growth/percent_per_year",
        ),
        (
            {"name": "a", "changes": {"growth": {"percent_per_year": 5}}},
            "input-refused",
            "/changes/growth/years",
        ),
        ({"name": "a", "changes": {"lost": "CF01"}, "version": "1"}, "input-refused", "/version"),
        ({"name": "a", "changes": {"lost": "CF01"}, "note": "n" * 2001}, "input-refused", "/note"),
        ({"name": "a", "changes": {"lost": "CF01"}, "notes": ""}, "input-refused", "/notes"),
        ({"name": "a", "changes": {"queue_managers": 33}}, "plan-refused", "/queue_managers"),
        ([], "input-refused", ""),
    ],
)
def test_invalid_scenario_is_refused_with_its_field_and_not_saved(
    app: FastAPI, body: object, slug: str, field: str
) -> None:
    problem = assert_problem(post_json(app, AT, body), slug, 422)
    assert [each["field"] for each in problem["errors"]] == [field]
    assert get(app, AT).json()["scenarios"] == []


def test_up_to_four_scenarios_are_compared(app: FastAPI) -> None:
    for at, name in enumerate("abcde"):
        put(app, {"changes": {"queue_managers": 6 + at}}, name=name)
    answer = get(app, f"{AT}/compare?of=b,a").json()
    assert [each["name"] for each in answer["scenarios"]] == ["b", "a"]
    (row,) = [each for each in answer["settings"] if each["label"] == "Queue managers"]
    assert row["values"] == [5, 7, 6]
    assert answer["findings"] == []
    assert_problem(get(app, f"{AT}/compare?of=a,b,c,d,e"), "input-refused", 422)
    assert_problem(get(app, f"{AT}/compare?of=,"), "input-refused", 422)
    assert_problem(get(app, f"{AT}/compare"), "request-invalid", 422)
    assert_problem(get(app, f"{AT}/compare?of=a,none"), "scenario-not-found", 404)


def test_report_has_changes_reason_and_the_address_of_its_page(app: FastAPI) -> None:
    put(app)
    answer = get(app, f"{AT}/more/report")
    told = answer.json()
    assert (told["plan"], told["scenario"], told["note"]) == ("SQ03", "more", MORE["note"])
    assert [each["what"] for each in told["what_changes"]] == ["Queue managers", "Growth"]
    assert told["notes"]
    assert told["documents"]
    assert get(app, told["page"], accept="text/html").status == 200
    assert get(app, f"{AT}/more/report", if_none_match=answer.headers["etag"]).status == 304


def test_note_is_stored_without_control_characters(app: FastAPI) -> None:
    saved = put(app, {**MORE, "note": " one\r\ntwo\x00\x1b[31m \n"}).json()
    assert saved["note"] == "one\ntwo  [31m"


def test_scenario_is_saved_completely_or_not_at_all(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = put(app).headers["etag"]

    def fails(*_: object) -> None:
        message = "the disk is gone"
        raise RuntimeError(message)

    monkeypatch.setattr("app.scenarios.api.answers.scenario_json", fails)
    assert put(app, {**MORE, "note": "lost"}, if_match=tag).status == 500
    assert put(app, name="other").status == 500
    monkeypatch.undo()
    assert get(app, f"{AT}/more").headers["etag"] == tag
    assert [each["name"] for each in get(app, AT).json()["scenarios"]] == ["more"]


def test_second_of_two_concurrent_changes_is_refused(app: FastAPI) -> None:
    database: Database = app.state.database
    tag = put(app).headers["etag"]
    works = [
        service.work_out(database, "SQ03", ScenarioDraft(changes=MORE["changes"], note=f"by {who}"))
        for who in (1, 2)
    ]
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def save(worked: service.ComputedScenario) -> None:
        start.wait(timeout=30)
        try:
            with database.session(writes=True) as session:
                outcomes.append(service.save(session, "SQ03", "more", worked, if_match=tag).status)
        except Conflict:
            outcomes.append("told")

    threads = [threading.Thread(target=save, args=(each,)) for each in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(outcomes) == ["changed", "told"]
    assert get(app, f"{AT}/more").json()["revision"] == 2


def test_scenario_is_not_saved_in_a_new_plan_of_the_same_name(app: FastAPI) -> None:
    database: Database = app.state.database
    worked = service.work_out(database, "SQ03", ScenarioDraft(changes={"lost": "CF01"}))
    with database.session(writes=True) as session:
        plans.delete_plan(session, "SQ03")
    with database.session(writes=True) as session:
        plans.save_plan(session, "SQ03", plan(headroom_percent=33))
    with pytest.raises(plans.Gone), database.session(writes=True) as session:
        service.save(session, "SQ03", "more", worked)


def test_plan_has_a_maximum_number_of_scenarios(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_SCENARIOS", 1)
    put(app)
    problem: dict[str, Any] = assert_problem(put(app, name="other"), "input-refused", 422)
    assert "which is the maximum" in problem["detail"]
    database: Database = app.state.database
    worked = service.work_out(database, "SQ03", ScenarioDraft(changes={"lost": "CF01"}))
    with pytest.raises(TooManyScenarios), database.session(writes=True) as session:
        service.save(session, "SQ03", "third", worked)
    with database.session(writes=False) as session:
        (row,) = repository.list_of(session, 1)
        assert row.name == "more"
