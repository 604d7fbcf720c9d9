"""The JSON of a stored version."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from fastapi import FastAPI
from sqlalchemy import URL

from app.database.damage import StoredTextDamaged
from app.database.engine import Database
from app.plans import service
from app.plans.answers import version_json
from tests.app.plans.support import SQ03, above_figures, app_on, plan
from tests.app.web.support import get, send_json


def test_version_of_an_earlier_release_gets_groups_of_its_findings(database: Database) -> None:
    with database.session(writes=True) as session:
        version = service.save_plan(session, "SQ03", plan()).version
    stored = json.loads(version.result_json)
    groups = stored.pop("finding_groups")
    old = replace(version, result_json=json.dumps(stored))
    assert json.loads(version_json(old, ()))["result"] == {**stored, "finding_groups": groups}
    assert version.result_json.encode() in version_json(version, ())


def test_whole_documents_are_checked_without_making_objects_of_them(database: Database) -> None:
    with database.session(writes=True) as session:
        version = service.save_plan(session, "SQ03", plan()).version
    usual = replace(version)
    usual.check_texts()
    assert "document_object" not in usual.__dict__
    # Half of a surrogate pair, which Python reads and pydantic does not, is no damage.
    odd = replace(version, document_json=version.document_json.replace('"qsg":', '"odd":"\\ud800","qsg":', 1))
    odd.check_texts()
    assert odd.document_object["odd"] == "\ud800"
    for text in (
        version.document_json[:-1],
        version.document_json + "}",
        '{"qsg":"SQ03"}',
        '{"structures":[]}',
    ):
        with pytest.raises(StoredTextDamaged, match="Version 1 of the plan SQ03"):
            replace(version, document_json=text).check_texts()


def test_comparison_of_results_lists_no_groups_of_findings(database: Database, url: URL) -> None:
    app: FastAPI = app_on(url)
    first = send_json(app, "PUT", "/api/v1/plans/SQ03", SQ03)
    send_json(app, "PUT", "/api/v1/plans/SQ03", above_figures(SQ03), if_match=first.headers["etag"])
    places = [each["pointer"] for each in get(app, "/api/v1/plans/SQ03/diff").json()["result"]]
    assert any(place.startswith("/findings") for place in places)
    assert not [place for place in places if place.startswith("/finding_groups")]
