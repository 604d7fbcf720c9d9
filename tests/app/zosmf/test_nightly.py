"""Drift in the nightly run, on the page and over REST, against a stand-in of z/OSMF."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.cli import main
from app.database.engine import database_of
from app.main import create_app
from app.settings import read_settings
from app.zosmf.nightly import compare_policies
from tests.app.web.support import get
from tests.app.zosmf.conftest import Declare
from tests.connections_support.server import PASSWORD, Fault
from tests.connections_support.zosmf import ZosmfStandIn

APPLY = ("zosmf", "apply", "SQ03", "--connection", "PLEX1", "--as", "CFRM02", "--yes", "--activate", "--confirm-activation", "CFRM02")  # fmt: skip


def night(said: list[str]) -> None:
    settings = read_settings()
    compare_policies(database_of(settings), settings, said.append)


def test_only_connections_that_ask_for_it_are_compared(
    stand_in: ZosmfStandIn, verified: str, declare: Declare
) -> None:
    before = len(stand_in.requests)
    said: list[str] = []
    night(said)
    assert (said, len(stand_in.requests)) == ([], before)


def test_drift_of_the_night_is_on_the_page_and_in_rest(
    stand_in: ZosmfStandIn, verified: str, declare: Declare, tmp_path: Path
) -> None:
    declare(nightly_drift=True)
    assert main(list(APPLY)) == 0
    stand_in.policies["CFRM02"]["structure"][0]["fullthreshold"] = 70
    said: list[str] = []
    night(said)
    assert said == [
        "connection PLEX1: The policy CFRM02 has 1 difference from the policy CFRM02, which cfplan applied."
    ]
    stand_in.faults += [Fault(status=401)]
    night(said)
    assert "status 401" in said[1]
    app = create_app(read_settings())
    found = get(app, "/api/v1/policy-drifts").json()
    assert [each["outcome"] for each in found["drifts"]] == ["failed", "drift"]
    assert found["drifts"][1]["differences"] == [
        {"statement": "STRUCTURE SQ03CSQ_ADMIN", "keyword": "FULLTHRESHOLD", "before": "85", "after": "70"}
    ]
    assert [(each["policy"], each["state"]) for each in found["applied"]] == [("CFRM02", "activated")]
    assert {each["is_verified"] for each in (*found["drifts"], *found["applied"])} == {False}
    page = get(app, "/connections").text
    assert "STRUCTURE SQ03CSQ_ADMIN: FULLTHRESHOLD(85) -&gt; FULLTHRESHOLD(70)" in page
    assert "not yet verified against a real system" in page
    listed = get(app, "/api/v1/connections").text
    assert '"succeeded":false' in listed
    assert PASSWORD not in page + listed
    declare(nightly_drift=True, verified_against_a_real_system=True)
    assert get(app, "/api/v1/policy-drifts").json()["drifts"][0]["is_verified"] is True
    Path(os.environ["CFPLAN_CONNECTIONS_FILE"]).write_text("connections: {}", encoding="utf-8")
    assert get(app, "/api/v1/policy-drifts").json()["drifts"][0]["is_verified"] is None


def test_plan_of_a_connection_is_compared_with_the_active_policy(
    stand_in: ZosmfStandIn, verified: str, declare: Declare
) -> None:
    declare(nightly_drift=True, drift_plan="SQ03")
    said: list[str] = []
    night(said)
    assert "differences from version 1 of the plan SQ03" in said[0]


def test_unusable_file_is_reported_and_shown(
    stand_in: ZosmfStandIn, plan: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("connections: {A: {kind: zosmf}}")
    monkeypatch.setenv("CFPLAN_CONNECTIONS_FILE", str(file))
    said: list[str] = []
    night(said)
    assert "A.address: field required" in said[0]
    assert "A.address: field required" in get(create_app(read_settings()), "/connections").text
