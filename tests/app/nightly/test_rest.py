"""Nightly runs over REST: start, details, list, report, curves and forecasts."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import URL

from app.database.engine import Database
from app.jobs.models import JobState
from app.main import create_app
from app.settings import Settings
from tests.app.nightly.support import LAST, call, night, order, put_day, put_days, queue, read, work

pytestmark = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


@pytest.fixture
def app(url: URL, settings: Settings) -> FastAPI:
    assert url
    return create_app(settings)


@pytest.fixture
def filled(database: Database, settings: Settings) -> None:
    """Return an application after two nightly runs; the second rejected a curve."""
    put_days(settings, 4)
    put_day(settings, LAST, peak=990)
    night(database, settings)
    rejected = {
        "state": "rejected",
        "reason": "An element of 100 bytes.",
        "coupling_facility": "CF01",
        "qsgs": ["SQ03"],
    }
    order(settings, result={"curves": [rejected]})
    night(database, settings)


def get(app: FastAPI, path: str, status: int = 200) -> Any:  # noqa: ANN401 - JSON
    answer = call(app, "GET", path)
    assert answer.status == status, answer.text
    return answer.json()


def test_run_starts_at_once_and_has_a_location(app: FastAPI, database: Database, settings: Settings) -> None:
    put_days(settings, 3)
    begun = call(app, "POST", "/api/v1/nightly-runs")
    assert begun.status == 202, begun.text
    assert begun.headers["location"] == "/api/v1/nightly-runs/1"
    found = begun.json()
    assert (found["id"], found["trigger"], found["state"], found["night_findings"]) == (
        1,
        "request",
        "queued",
        [],
    )
    assert found["brought"] is None
    assert found["finding_counts"] == {"error": 0, "warning": 0, "info": 0}
    work(database, settings, read(database, 1))
    done = get(app, "/api/v1/nightly-runs/1")
    assert done["state"] == "done"
    assert done["days_total"] == 3
    assert done["brought"]["forecasts"] == 1
    assert done["duration_s"] >= 0
    assert get(app, f"/api/v1/jobs/{done['job_id']}")["kind"] == "night"


def test_second_run_is_refused_as_a_conflict(app: FastAPI, database: Database) -> None:
    queue(database)
    answer = call(app, "POST", "/api/v1/nightly-runs")
    assert answer.status == 409
    assert answer.json()["type"] == "/docs/problems#job-busy"
    assert get(app, "/api/v1/nightly-runs")["total"] == 1


def test_runs_are_listed_newest_first_in_pages(app: FastAPI, filled: None) -> None:
    assert filled is None
    found = get(app, "/api/v1/nightly-runs?per_page=1")
    assert [run["id"] for run in found["nightly_runs"]] == [2]
    assert (found["total"], found["page"], found["pages"], found["per_page"]) == (2, 1, 2, 1)
    assert [run["id"] for run in get(app, "/api/v1/nightly-runs?per_page=1&page=2")["nightly_runs"]] == [1]
    assert get(app, "/api/v1/nightly-runs?page=9")["nightly_runs"] == []


@pytest.mark.parametrize(
    "path", ["/api/v1/nightly-runs/7", "/api/v1/curves/7", "/api/v1/night/report", "/api/v1/night/report.md"]
)
def test_missing_resources_are_not_found(app: FastAPI, path: str) -> None:
    assert get(app, path, 404)["title"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nightly-runs/0",
        "/api/v1/nightly-runs?per_page=0",
        "/api/v1/curves?page=0",
        "/api/v1/forecasts?per_page=1000",
    ],
)
def test_invalid_parameters_are_refused(app: FastAPI, path: str) -> None:
    assert get(app, path, 422)["errors"]


def test_curves_are_listed_with_their_states_and_intervals(app: FastAPI, filled: None) -> None:
    assert filled is None
    found = get(app, "/api/v1/curves")
    assert [(each["version"], each["state"], each["is_current"]) for each in found["curves"]] == [
        (2, "rejected", False), (1, "accepted", True),
    ]  # fmt: skip
    rejected, accepted = found["curves"]
    assert rejected["reason"] == "An element of 100 bytes."
    assert rejected["bundle_bytes"] is None
    assert accepted["bundle_bytes"] == {"value": 2004.0, "low": 1990.0, "high": 2010.0}
    assert accepted["entry_bytes"] is None
    assert (accepted["ratio"], accepted["confidence"], accepted["qsgs"]) == ([1, 6], 0.9, ["SQ03"])
    assert [each["version"] for each in get(app, "/api/v1/curves?current=true")["curves"]] == [1]
    assert get(app, "/api/v1/curves/1") == {**accepted, "cuts": [], "findings": []}


def test_forecasts_are_listed_by_urgency(app: FastAPI, database: Database, settings: Settings) -> None:
    put_days(settings, 3, structure="LATER")
    put_days(settings, 3, last=LAST - timedelta(days=9), structure="SOONER")
    order(settings, result={"scores": []})
    night(database, settings)
    found = get(app, "/api/v1/forecasts")
    assert [each["structure"] for each in found["forecasts"]] == ["SOONER", "LATER"]
    crossing = found["forecasts"][0]["crossings"][0]
    assert crossing["level"] == "85 %"
    assert crossing["days"] == {"p10": 8, "p50": 10, "p90": 12}
    assert found["forecasts"][0]["score"] is None


def test_report_is_available_as_json_and_markdown(app: FastAPI, filled: None, settings: Settings) -> None:
    assert filled is None
    found = get(app, "/api/v1/night/report")
    assert found["run"]["id"] == 2
    assert [each["code"] for each in found["night_findings"]] == ["STRUCTURE_FULL"]
    assert found["is_simulated"] is False
    assert get(app, "/api/v1/night/report.json") == found
    written = json.loads((Path(settings.data_dir) / "reports" / "night.json").read_text(encoding="utf-8"))
    assert {**written, "findings": []} | {"run": None} == found | {"run": None}
    answer = call(app, "GET", "/api/v1/night/report.md")
    assert answer.headers["content-type"].startswith("text/markdown")
    assert answer.text == (Path(settings.data_dir) / "reports" / "night.md").read_text(encoding="utf-8")


def test_failed_run_has_a_reason(app: FastAPI, database: Database, settings: Settings) -> None:
    order(settings, fail="The history cannot be read.")
    assert night(database, settings).job.state == JobState.FAILED
    found = get(app, "/api/v1/nightly-runs/1")
    assert (found["state"], found["sentence"], found["brought"]) == (
        "failed",
        "The history cannot be read.",
        None,
    )


def test_every_response_matches_its_schema(app: FastAPI, filled: None) -> None:
    """Compare members and types of real answers with the description of the interface."""
    import jsonschema_rs

    assert filled is None
    whole = get(app, "/openapi.json")
    for path in (
        "/api/v1/nightly-runs",
        "/api/v1/nightly-runs/{number}",
        "/api/v1/night/report",
        "/api/v1/curves",
        "/api/v1/curves/{version}",
        "/api/v1/forecasts",
    ):
        content = whole["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        schema = {**content["schema"], "components": whole["components"]}
        jsonschema_rs.validate(schema, get(app, path.format(number=2, version=1)))
