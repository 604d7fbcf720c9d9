"""Stored plans over REST: statuses, headers, conditional requests. On both databases."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import URL

from app.database.engine import Database
from app.main import create_app
from app.settings import Settings
from planner_core.texts.outputs import OUTPUT_KINDS
from tests.app.plans.support import SQ03, app_on, changed
from tests.app.web.support import Answer, assert_problem, call, get, post_json, send_json
from tests.databases import durable_databases
from tests.packaging.pins import ROOT

PLAN = "/api/v1/plans/SQ03"
PAGE = (ROOT / "docs" / "reference" / "rest-api.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.*(?:If-.*Match|If-None).*) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
OTHER = changed(headroom_percent=20)


@pytest.fixture
def app(database: Database, url: URL) -> FastAPI:
    return app_on(url, max_body_bytes=100_000)


def put(app: FastAPI, document: object = SQ03, **headers: str) -> Answer:
    return send_json(app, "PUT", PLAN, document, **headers)


def test_new_plan_returns_its_address_and_etag(app: FastAPI) -> None:
    answer = put(app)
    assert (answer.status, answer.headers["location"]) == (201, PLAN)
    saved = answer.json()
    assert saved.pop("saved") == "created"
    found = get(app, answer.headers["location"])
    assert found.headers["etag"] == answer.headers["etag"] == saved["etag"]
    assert found.json() == saved
    assert saved["result"] == post_json(app, "/api/v1/size", SQ03).json()
    assert saved["findings"] == saved["result"]["findings"]


def headers_of(row: str, *, latest: str, older: str) -> dict[str, str]:
    """Return the headers in a line of the table on the page."""
    if "None-Match" in row:
        return {"if_none_match": "*"}
    if "without" in row:
        return {}
    return {"if_match": "*" if "`If-Match: *`" in row else latest if "latest" in row else older}


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_responses_to_conditional_puts_match_the_documented_table(
    app: FastAPI, row: tuple[str, str, str, str]
) -> None:
    assert len(ROWS) == 5
    condition, none, same, another = row
    for expected, prepare, document in (
        (none, False, SQ03),
        (same, True, OTHER),
        (another, True, changed(headroom_percent=30)),
    ):
        older = latest = '"0.0"'
        if prepare:
            older = put(app).headers["etag"]
            latest = put(app, OTHER, if_match=older).headers["etag"]
        answer = put(app, document, **headers_of(condition, latest=latest, older=older))
        assert str(answer.status) == expected[:3], (expected, answer.text)
        exists = prepare or answer.status == 201
        found = get(app, PLAN)
        assert found.status == (200 if exists else 404)
        if "new version" in expected:
            assert (answer.json()["saved"], found.json()["version"]) == ("changed", 3)
        elif prepare:
            assert found.json()["version"] == 2
        if answer.status in (412, 428) and exists:
            assert answer.json()["current"] == {"version": 2, "etag": latest}
            assert answer.headers["etag"] == latest
            slug = {412: "plan-changed", 428: "precondition-required"}[answer.status]
            assert_problem(answer, slug, answer.status)
        if exists:
            assert call(app, "DELETE", PLAN).status == 200


def test_request_with_a_known_etag_gets_a_response_without_a_body(app: FastAPI) -> None:
    put(app)
    tags = set()
    for address in ("", "?explain=true", "/document", "/policy", "/mqsc", "/versions/1/policy"):
        answer = get(app, PLAN + address)
        tag = answer.headers["etag"]
        tags.add(tag)
        for known in (tag, f"W/{tag}", "*", f'"x", {tag}'):
            again = get(app, PLAN + address, if_none_match=known)
            assert (again.status, again.content, again.headers["etag"]) == (304, b"", tag)
        for unknown in ('"0.0"', "", tag.strip('"')):
            assert get(app, PLAN + address, if_none_match=unknown).status == 200
    assert len(tags) == 5, "one for each representation; a version's text is the plan's text"
    old = get(app, PLAN).headers["etag"]
    put(app, OTHER, if_match=old)
    assert get(app, PLAN, if_none_match=old).status == 200
    assert get(app, PLAN + "/versions/1", if_none_match=old).status == 304


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_texts_of_a_plan_equal_those_of_the_stateless_routes(app: FastAPI, kind: str) -> None:
    put(app)
    stored, computed = get(app, f"{PLAN}/{kind}"), post_json(app, f"/api/v1/{kind}", SQ03)
    assert stored.status == computed.status
    if kind == "job":
        assert stored.json() == computed.json()
    else:
        assert stored.content == computed.content
        for header in ("content-type", "content-disposition", "x-cfplan-findings"):
            assert stored.headers[header] == computed.headers[header]


def test_two_versions_are_compared(app: FastAPI) -> None:
    put(app)
    put(app, OTHER, if_match="*")
    diff = get(app, PLAN + "/diff").json()
    assert (diff["from"], diff["to"]) == (1, 2)
    assert diff["document"] == [
        {"pointer": "/headroom_percent", "kind": "changed", "before": None, "after": 20}
    ]
    assert any(found["pointer"] == "/structures/APPLICATION1/initsize_kib" for found in diff["result"])
    back = get(app, PLAN + "/diff?from=2&to=1").json()
    assert back["document"][0] == {**diff["document"][0], "before": 20, "after": None}
    assert get(app, PLAN + "/diff?from=1&to=1").json()["result"] == []
    assert_problem(get(app, PLAN + "/diff?from=7"), "plan-not-found", 404)


def test_deleted_plan_can_be_restored(app: FastAPI) -> None:
    tag = put(app).headers["etag"]
    put(app, OTHER, if_match=tag)
    assert_problem(call(app, "DELETE", PLAN, headers={"if-match": tag}), "plan-changed", 412)
    deleted = call(app, "DELETE", PLAN)
    assert deleted.status == 200
    for address in ("", "/versions", "/versions/1", "/diff", "/policy", "/document"):
        assert_problem(get(app, PLAN + address), "plan-not-found", 404)
    assert_problem(call(app, "DELETE", PLAN), "plan-not-found", 404)
    (kept,) = get(app, "/api/v1/deleted-plans").json()["plans"]
    assert {**kept, "findings": []} == deleted.json()
    put(app)
    assert_problem(call(app, "POST", PLAN + "/restore"), "name-taken", 409)
    call(app, "DELETE", PLAN)
    assert call(app, "POST", PLAN + "/restore").json()["version"] == 1
    assert_problem(call(app, "POST", "/api/v1/plans/NONE/restore"), "plan-not-found", 404)


def test_deleted_plans_with_the_same_name_can_each_be_restored(app: FastAPI) -> None:
    put(app)
    call(app, "DELETE", PLAN)
    put(app, OTHER)
    call(app, "DELETE", PLAN)
    put(app)
    newer, older = get(app, "/api/v1/deleted-plans").json()["plans"]
    restored = call(app, "POST", f"{PLAN}/restore?id={older['id']}&as=SQ03-old")
    assert (restored.status, restored.json()["name"]) == (200, "SQ03-old")
    assert get(app, "/api/v1/plans/SQ03-old").json()["document"]["headroom_percent"] is None
    taken = assert_problem(call(app, "POST", f"{PLAN}/restore?id={newer['id']}"), "name-taken", 409)
    assert "under another name" in taken["detail"]
    assert_problem(call(app, "POST", f"{PLAN}/restore?id={older['id']}"), "plan-not-found", 404)
    assert_problem(call(app, "POST", f"{PLAN}/restore?as=a%20b"), "plan-name-invalid", 422)
    for bad in ("0", "x", str(2**63)):
        assert_problem(call(app, "POST", f"{PLAN}/restore?id={bad}"), "request-invalid", 422)


def test_etags_of_compressed_responses_are_accepted(app: FastAPI) -> None:
    put(app)
    plain, packed = get(app, PLAN), get(app, PLAN, accept_encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    tag, other = plain.headers["etag"], packed.headers["etag"]
    assert (other, packed.headers["vary"]) == (f'{tag[:-1]}-gzip"', "Accept-Encoding")
    for known in (tag, other):
        for encoding in ("gzip", "identity"):
            again = get(app, PLAN, if_none_match=known, accept_encoding=encoding)
            assert (again.status, again.headers["etag"], again.headers["vary"]) == (
                304,
                known,
                "Accept-Encoding",
            )
    text, packed_text = (
        get(app, PLAN + "/runbook", accept_encoding=e).headers["etag"] for e in ("identity", "gzip")
    )
    assert text != packed_text
    assert get(app, PLAN + "/runbook", if_none_match=packed_text).status == 304
    saved = put(app, OTHER, if_match=other, accept_encoding="gzip")
    assert (saved.status, saved.headers["etag"]) == (200, get(app, PLAN).headers["etag"])


def test_if_none_match_of_the_latest_version_changes_nothing(app: FastAPI) -> None:
    tag = put(app).headers["etag"]
    for document in (SQ03, OTHER):
        for known in (tag, f'"0.0", W/{tag}'):
            refused = put(app, document, if_match=tag, if_none_match=known)
            assert assert_problem(refused, "plan-changed", 412)["current"]["etag"] == tag
    assert put(app, OTHER, if_match=tag, if_none_match='"0.0"').status == 200


def test_deleted_plan_is_removed_after_the_retention_days(url: URL, database: Database) -> None:
    app = app_on(url, deleted_days=0)
    put(app)
    call(app, "DELETE", PLAN)
    assert_problem(call(app, "POST", PLAN + "/restore"), "plan-not-found", 404)
    assert get(app, "/api/v1/deleted-plans").json()["plans"] == []


@pytest.mark.parametrize(
    ("document", "slug"),
    [({}, "document-invalid"), ([], "document-invalid"), (changed(queue_managers=33), "plan-refused")],
)
def test_invalid_document_is_not_stored(app: FastAPI, document: object, slug: str) -> None:
    assert_problem(put(app, document), slug, 422)
    assert get(app, PLAN).status == 404


def test_body_too_large_or_not_json_is_refused(app: FastAPI) -> None:
    assert_problem(put(app, {"x": "y" * 100_000}), "content-too-large", 413)
    assert_problem(call(app, "PUT", PLAN, chunks=[b"{}"]), "unsupported-media-type", 415)
    foreign = {"sec-fetch-site": "cross-site", "content-type": "application/json"}
    for method in ("PUT", "DELETE"):
        assert_problem(call(app, method, PLAN, headers=foreign), "cross-origin", 403)
    assert_problem(send_json(app, "PUT", "/api/v1/plans/.x", SQ03), "plan-name-invalid", 422)
    assert_problem(send_json(app, "PUT", PLAN + "?comment=" + "x" * 501, SQ03), "request-invalid", 422)


def test_comment_is_stored_in_the_history(app: FastAPI) -> None:
    send_json(app, "PUT", PLAN + "?comment=for%20the%20board%00%0D%0A%C3%A9", SQ03)
    assert get(app, PLAN + "/versions").json()["versions"][0]["comment"] == "for the board é"


def test_lists_are_paged(app: FastAPI) -> None:
    for number in range(5):
        send_json(app, "PUT", f"/api/v1/plans/P{number}", SQ03)
    page = get(app, "/api/v1/plans?per_page=2&page=3").json()
    assert [plan["name"] for plan in page["plans"]] == ["P4"]
    assert (page["total"], page["page"], page["pages"], page["per_page"]) == (5, 3, 3, 2)
    for bad in ("page=0", "per_page=0", "per_page=201", "page=x"):
        assert_problem(get(app, f"/api/v1/plans?{bad}"), "request-invalid", 422)


def test_unavailable_database_returns_503_for_stored_plans() -> None:
    app = create_app(Settings(database_url="postgresql://cfplan:geheim@127.0.0.1:1/cfplan"))
    for answer in (get(app, PLAN), put(app), get(app, "/api/v1/plans")):
        problem = assert_problem(answer, "database-unavailable", 503)
        assert problem["reference"]
        assert "geheim" not in answer.text
    health = get(app, "/healthz")
    assert (health.status, health.json()["status"], health.json()["database"]) == (
        200,
        "degraded",
        "unavailable",
    )
    assert post_json(app, "/api/v1/size", SQ03).status == 200, (
        "a request that stores nothing needs no database"
    )


def test_health_check_reports_whether_the_database_responds(app: FastAPI) -> None:
    assert get(app, "/healthz").json()["database"] == "ok"


def test_damaged_file_is_reported_as_an_unusable_database(tmp_path: Path) -> None:
    (tmp_path / "cfplan.db").write_bytes(b"no database at all " * 400)
    app = create_app(Settings(data_dir=tmp_path))
    for answer in (get(app, PLAN), put(app), get(app, "/api/v1/plans")):
        assert_problem(answer, "database-unavailable", 503)
    assert get(app, "/healthz").json()["database"] == "unavailable"


def test_sqlite_is_opened_with_durable_settings(tmp_path: Path) -> None:
    database = Database(URL.create("sqlite", database=str(tmp_path / "new" / "cfplan.db")))
    with durable_databases(), database.session(writes=True) as session:
        pragmas = {
            name: session.connection().exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "synchronous")
        }
    assert pragmas == {"journal_mode": "wal", "foreign_keys": 1, "synchronous": 2}
    database.close()


def test_command_line_starts_without_the_database() -> None:
    script = "import sys; from app.cli import main; main(['example']); print('sqlalchemy' in sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "False"
