"""Scenarios of older versions of a plan are marked, and lose no values without notice when they are copied to the latest."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.scenarios import cli as commands
from app.scenarios.form import changes_of, scenario_form
from app.settings import Settings
from planner_core.document.reading import read_object
from planner_core.errors import InputInvalid
from planner_core.whatif.changes import applied, read_changes
from planner_core.whatif.scenario import scenario
from planner_core.whatif.scenario_report import NO_COMMANDS, SavedScenario, report, side_by_side
from tests.app.plans.support import SQ03
from tests.app.web.pages.html import read
from tests.app.web.support import HOST, Answer, call, get, send_json

PLAN = "/api/v1/plans/SQ03"
PAGES = "/plans/SQ03/scenarios"
WITHOUT_MYDATA = {
    **SQ03,
    "structures": [each for each in SQ03["structures"] if each["name"] != "MYDATA"],
}
BOTH = {"headroom_percent": 30, "structures": [{"name": "MYDATA", "size": "4G"}]}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """Return one application for all tests, each of which has its own plan."""
    made = create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
    yield made
    made.state.database.close()


@pytest.fixture
def app(shared: FastAPI) -> FastAPI:
    """Store a plan with a scenario of its first version, about a structure that its second version does not have."""
    if get(shared, PLAN).status == 200:
        assert call(shared, "DELETE", PLAN).status == 200
    assert send_json(shared, "PUT", PLAN, SQ03).status == 201
    assert send_json(shared, "PUT", f"{PLAN}/scenarios/both", {"changes": BOTH}).status == 201
    etag = get(shared, PLAN).headers["etag"]
    assert send_json(shared, "PUT", PLAN, WITHOUT_MYDATA, if_match=etag).status == 200
    return shared


def post(app: FastAPI, address: str, **fields: str) -> Answer:
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "accept": "text/html",
        "origin": f"http://{HOST}",
    }
    return call(app, "POST", address, headers=headers, chunks=[urlencode(fields).encode()])


def saved_scenario(name: str, changes: dict[str, Any], plan: dict[str, Any] = SQ03) -> SavedScenario:
    result = scenario(read_object(copy.deepcopy(plan)), read_changes(changes)).as_json()
    return SavedScenario(name=name, version=1, note="", result=result)


def test_change_to_a_version_without_the_structure_is_refused_with_the_omitted_value(
    app: FastAPI,
) -> None:
    before = get(app, f"{PLAN}/scenarios/both").json()
    fields = {"etag": before["etag"], "note": "", "headroom_percent": "30", "MYDATA.size": "4G"}
    refused = post(app, f"{PAGES}/both/edit", version="2", **fields)
    assert refused.status == 422
    assert (
        "SIZE 4G of MYDATA was left out because this version of the plan has no such structure."
        in refused.text
    )
    assert get(app, f"{PLAN}/scenarios/both").json() == before
    assert post(app, f"{PAGES}/both/edit", version="1", **fields).status == 303
    del fields["MYDATA.size"]  # the form that was answered does not have the box any more
    assert post(app, f"{PAGES}/both/edit", version="2", **fields).status == 303
    assert get(app, f"{PLAN}/scenarios/both").json()["changes"] == {"headroom_percent": 30}


def test_form_shows_errors_of_the_name_and_of_the_changes_together(app: FastAPI) -> None:
    fields = {"name": "a b", "note": "", "cfcc_level": "x", "growth_percent": "1.200", "growth_years": "2"}
    refused = post(app, f"{PAGES}/new", **fields)
    assert refused.status == 422
    wrong = [each.text for each in read(refused.text).all(class_="wrong")]
    assert len(wrong) == 3
    assert wrong[0].startswith("Must have 1 to 64 characters")
    assert "This may have a thousands separator: write 1200 or 1.2." in wrong


def test_form_shows_the_value_of_the_plan_as_its_field_reads_it() -> None:
    document = read_object({**SQ03, "growth": {"percent_per_year": -1.125, "years": 2}})
    shown = {each.name: each.current for each in scenario_form(document, {}, version=1).fields}
    assert (shown["growth_percent"], shown["growth_years"]) == ("-1.1250", "2")
    assert changes_of(document, {"growth_percent": shown["growth_percent"]})["growth"] == {
        "percent_per_year": Decimal("-1.125"), "years": Decimal(2),
    }  # fmt: skip


def test_copied_scenario_lists_values_that_do_not_fit_the_latest_version(app: FastAPI) -> None:
    page = call(app, "GET", f"{PAGES}/new?from=both", headers={"accept": "text/html"})
    assert page.status == 200
    assert "Not everything in both can be copied." in page.text
    assert (
        "SIZE 4G of MYDATA was left out because this version of the plan has no such structure." in page.text
    )
    whole = call(app, "GET", f"{PAGES}/new", headers={"accept": "text/html"})
    assert "taken over" not in whole.text


def test_comparison_reports_old_scenarios_and_refuses_more_than_four(app: FastAPI) -> None:
    (said,) = get(app, f"{PLAN}/scenarios/compare?of=both").json()["findings"]
    assert said["code"] == "SCENARIOS_OF_OLD_VERSION"
    assert said["message"].startswith(
        "The plan's latest version is 2. These scenarios are older: both of version 1."
    )
    page = call(app, "GET", f"{PAGES}/compare?of=both", headers={"accept": "text/html"})
    assert "SCENARIOS_OF_OLD_VERSION" in page.text
    for names, told in ((",", "none is named"), ("a,b,c,d,e", "5 are named")):
        refused = get(app, f"{PLAN}/scenarios/compare?of={names}")
        assert (refused.status, refused.json()["errors"]) == (
            422,
            [{"field": "of", "message": f"name one to 4 scenarios; {told}"}],
        )


def test_comparison_of_the_latest_version_has_no_notice() -> None:
    one = saved_scenario("a", {"lost": "CF01"})
    assert side_by_side([one], latest=1).findings == ()
    assert [each.code for each in side_by_side([one], latest=2).findings] == ["SCENARIOS_OF_OLD_VERSION"]


def test_separators_in_sizes_of_an_earlier_release_are_no_difference() -> None:
    def told(message: str) -> SavedScenario:
        saved = saved_scenario(message, {"headroom_percent": 30})
        saved.result["findings"][0]["message"] = message
        return saved

    now = told("SIZE is 4096.0 MiB")
    rows = side_by_side([now, now]).finding_rows
    assert side_by_side([now, told("SIZE is 4,096.0 MiB")]).finding_rows == rows
    assert len(side_by_side([now, told("SIZE is 4,095.0 MiB")]).finding_rows) == len(rows) + 1


def test_report_states_the_revision_of_the_scenario(app: FastAPI) -> None:
    first = get(app, f"{PLAN}/scenarios/both/report").json()
    assert first["revision"] == 1
    page = call(app, "GET", f"{PAGES}/both/report", headers={"accept": "text/html"}).text
    assert "the latest version is 2." in page
    assert "first saved" not in page
    etag = get(app, f"{PLAN}/scenarios/both").json()["etag"]
    again = {"changes": {"headroom_percent": 40}, "version": 1}
    assert send_json(app, "PUT", f"{PLAN}/scenarios/both", again, if_match=etag).status == 200
    assert get(app, f"{PLAN}/scenarios/both/report").json()["revision"] == 2
    page = call(app, "GET", f"{PAGES}/both/report", headers={"accept": "text/html"}).text
    assert re.search(r"state 2, first saved", page)


def test_scenario_with_unknown_commands_is_not_compared_like_one_without_commands() -> None:
    huge = saved_scenario("huge", {"outage_factor": 1000, "rate_factor": 1000})
    assert huge.result["commands_refused"]
    rows = side_by_side([huge, saved_scenario("a", {"headroom_percent": 30})]).commands
    for row in rows:
        assert row.values[1] == NO_COMMANDS
    assert rows[0].values[0] == 0
    assert rows[0].values[2] > 0


def test_white_space_and_lost_messages_in_a_report_have_notes_with_documents() -> None:
    told: Any = report(saved_scenario("a", {"lost": "CF01"})).as_json()
    notes = {each["number"]: each for each in told["notes"]}
    for loss in (*told["losses"]["before"], *told["losses"]["after"]):
        assert notes[loss["note_white_space"]]["figure"].startswith("White space")
        assert notes[loss["note_messages_gone"]]["figure"].startswith("Messages lost")
        assert notes[loss["note_white_space"]]["documents"]
        assert notes[loss["note_messages_gone"]]["documents"]


def test_text_report_has_a_source_for_every_figure_of_a_loss() -> None:
    told: Any = report(saved_scenario("a", {"lost": "CF01"})).as_json()
    answer = {
        **told,
        "plan": "SQ03",
        "revision": 2,
        "created_at": "2026-01-01T00:00",
        "updated_at": "2026-01-02T00:00",
    }
    lines = list(commands._report_lines(answer, 3))
    assert lines[0].endswith("version 1 (the latest is 3)")
    assert "State 2; first saved 2026-01-01T00:00 UTC" in lines
    losses = [line for line in lines if line.startswith("Without ")]
    assert losses
    assert all(
        re.search(r"white space [0-9,]+ MiB \(\d+\), \d+ messages lost \(\d+\)$", line) for line in losses
    )
    assert "Deciding rules" in lines


@pytest.mark.parametrize("part", [{"name": "MYDATA"}, {"name": "MYDATA", "size": None, "duplex": None}])
def test_unchanged_structure_in_a_scenario_is_refused(part: dict[str, object]) -> None:
    with pytest.raises(InputInvalid) as refused:
        applied(read_object(copy.deepcopy(SQ03)), read_changes({"structures": [part]}))
    assert "does not change MYDATA" in str(refused.value)
