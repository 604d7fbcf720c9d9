"""With CFPLAN_APPROVAL, the texts of a version are available only after a second person has approved it."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy.orm import Session

from app.audit.filters import AuditFilter
from app.audit.service import Entry, each_entry
from app.cli import main
from app.plans import release, service
from app.plans.stored import StoredVersion
from app.running.texts import running_example
from app.settings import SettingsInvalid, read_settings
from planner_core.texts.outputs import OUTPUT_KINDS
from tests.app.accounts.support import Browser, add_token, add_user, app_with_accounts, bearer, signed_in
from tests.app.web.support import SQ03, Answer, assert_problem, call, get, send_json

APPROVAL = "/api/v1/plans/SQ03/versions/1/approval"


@pytest.fixture
def site(tmp_path: Path) -> FastAPI:
    """Return an application that requires approvals, with a plan that anna saved."""
    app = app_with_accounts(tmp_path, approval=True)
    for name, role in (("anna", "planner"), ("bert", "planner"), ("vera", "viewer"), ("otto", "operator")):
        add_user(app, name, role)
    saved = send_json(app, "PUT", "/api/v1/plans/SQ03", SQ03, **bearer(add_token(app, "anna", "planner")))
    assert saved.status == 201
    assert saved.json()["author"] == "anna"
    return app


def by(app: FastAPI, name: str, method: str, address: str, scope: str = "planner") -> Answer:
    return call(app, method, address, headers=bearer(add_token(app, name, scope)))


def trail(app: FastAPI, action: str = "") -> list[Entry]:
    return list(each_entry(app.state.database, AuditFilter(action=action)))


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
@pytest.mark.parametrize("at", ["", "/versions/1"])
def test_texts_over_rest_are_refused_until_the_approval(site: FastAPI, kind: str, at: str) -> None:
    address = f"/api/v1/plans/SQ03{at}/{kind}"
    before = by(site, "bert", "GET", address)
    if before.status == 422:  # this plan does not have the text
        assert_problem(before, "output-refused", 422)
        return
    assert_problem(before, "approval-missing", 409)
    assert trail(site, "text") == []
    assert by(site, "bert", "POST", APPROVAL).status == 200
    after = by(site, "bert", "GET", address)
    assert after.status == 200
    (entry,) = trail(site, "text.downloaded")
    assert (entry.actor, entry.actor_kind, entry.object_name, entry.version) == ("bert", "token", "SQ03", 1)
    assert entry.details["sha256"] == hashlib.sha256(after.content).hexdigest()


@pytest.mark.parametrize("address", ["/plans/SQ03?tab=policy", "/plans/SQ03/versions/1/print"])
def test_pages_show_no_text_until_the_approval(site: FastAPI, address: str) -> None:
    browser = signed_in(site, "bert")
    before = browser.get(address)
    assert before.status == 200
    assert "is not approved" in before.text
    assert "NAME(SQ03" not in before.text
    assert trail(site, "text") == []
    assert by(site, "bert", "POST", APPROVAL).status == 200
    after = browser.get(address)
    assert "NAME(SQ03" in after.text
    assert {entry.action for entry in trail(site, "text")} == {"text.shown"}


@pytest.mark.parametrize(
    "address",
    ["/plans/SQ03/versions/1/files/policy", "/whatif/smds?plan=SQ03", "/whatif/smds?plan=SQ03&as=all"],
)
def test_files_are_refused_until_the_approval(site: FastAPI, address: str) -> None:
    assert_refused_page(signed_in(site, "bert").get(address))
    assert trail(site, "text") == []
    assert by(site, "bert", "POST", APPROVAL).status == 200
    assert signed_in(site, "bert").get(address).status == 200


def assert_refused_page(answer: Answer) -> None:
    assert answer.status == 409
    assert "is not approved" in answer.text


def test_merge_of_a_stored_plan_needs_the_approval(site: FastAPI) -> None:
    policy = "DATA TYPE(CFRM)\nDEFINE POLICY NAME(POL1) REPLACE(YES)\nSTRUCTURE NAME(OTHER) SIZE(1024)\n"
    browser = signed_in(site, "bert")
    before = browser.post("/merge", plan="SQ03", policy=policy)
    assert "is not approved" in before.text
    assert trail(site, "text") == []
    assert by(site, "bert", "POST", APPROVAL).status == 200
    after = browser.post("/merge", plan="SQ03", policy=policy)
    assert after.status == 200
    (entry,) = trail(site, "text")
    assert (entry.action, entry.object_name, entry.details["kind"]) == ("text.shown", "SQ03", "merged policy")
    assert browser.post("/merge", **{"plan": "SQ03", "policy": policy, "as": "file"}).status == 200
    assert [each.action for each in trail(site, "text")] == ["text.shown", "text.downloaded"]


def test_workflow_of_a_merged_policy_is_recorded_as_it_is_given(site: FastAPI) -> None:
    policy = running_example().policy
    asked = {"plan": "SQ03", "policy": policy, "workflow_name": "PROD02"}
    browser = signed_in(site, "bert")
    assert "is not approved" in browser.post("/merge", **{**asked, "as": "workflow"}).text
    assert trail(site, "text") == []
    assert by(site, "bert", "POST", APPROVAL).status == 200
    saved = browser.post("/merge", **{**asked, "as": "workflow"})
    (entry,) = trail(site, "text")
    assert (entry.action, entry.object_name) == ("text.downloaded", "SQ03")
    assert entry.details["kind"] == "workflow of a merged policy"
    assert entry.details["sha256"] == hashlib.sha256(saved.content).hexdigest()
    assert browser.post("/merge", **asked).status == 200
    assert [(each.action, each.details["kind"]) for each in trail(site, "text")[1:]] == [
        ("text.shown", "merged policy"),
        ("text.shown", "workflow of a merged policy"),
    ]


def test_repeated_look_at_a_text_is_recorded_once(site: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    assert by(site, "bert", "POST", APPROVAL).status == 200
    page, file = "/plans/SQ03?tab=policy", "/plans/SQ03/versions/1/files/policy"
    browser = signed_in(site, "bert")

    def entries_after(*addresses: str) -> int:
        for address in addresses:
            assert browser.get(address).status == 200
        return len(trail(site, "text"))

    looks = entries_after(page)
    assert entries_after(page, page) == looks
    assert entries_after(file, file) == looks + 1  # a download is another action
    anna = signed_in(site, "anna")
    assert anna.get(file).status == 200
    assert len(trail(site, "text")) == looks + 2
    monkeypatch.setattr(release, "REPEATED", timedelta(0))
    assert entries_after(file) == looks + 3


def test_command_follows_the_same_rule(
    site: FastAPI, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in site.state.settings.as_environment().items():
        monkeypatch.setenv(name, value)
    assert main(["plans", "show", "SQ03", "--output", "policy"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "is not approved" in captured.err
    assert by(site, "bert", "POST", APPROVAL).status == 200
    assert main(["plans", "show", "SQ03", "--output", "policy"]) == 0
    text = capsys.readouterr().out
    (entry,) = trail(site, "text")
    assert entry.actor.startswith("command:")
    assert entry.details["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_author_cannot_approve_in_a_browser_or_with_any_token(site: FastAPI) -> None:
    assert_problem(by(site, "anna", "POST", APPROVAL), "approval-refused", 403)
    page = signed_in(site, "anna")
    assert page.post("/plans/SQ03/versions/1/approve").status == 403
    shown = page.get("/plans/SQ03?tab=policy").text
    assert "another person must approve it" in shown
    assert "Approve version" not in shown
    assert trail(site, "plan.approved") == []
    assert get(site, APPROVAL, **bearer(add_token(site, "anna", "viewer"))).json()["approval"] is None


@pytest.mark.parametrize(("name", "scope"), [("vera", "viewer"), ("bert", "viewer")])
def test_viewers_and_tokens_for_viewers_cannot_approve(site: FastAPI, name: str, scope: str) -> None:
    assert by(site, name, "POST", APPROVAL, scope).status == 403
    assert trail(site, "plan.approved") == []


def test_approval_by_a_button_states_who_and_when(site: FastAPI) -> None:
    browser = signed_in(site, "bert")
    assert "Approve version 1" in browser.get("/plans/SQ03?tab=policy").text
    answer = browser.post("/plans/SQ03/versions/1/approve")
    assert answer.headers["location"].endswith("?tab=policy&saved=approved")
    state = by(site, "vera", "GET", APPROVAL, "viewer").json()
    assert (state["author"], state["is_required"], state["approval"]["approver"]) == ("anna", True, "bert")
    for address in ("/plans/SQ03?tab=policy", "/plans/SQ03/history", "/plans/SQ03/versions/1/print"):
        assert "bert" in main_of(signed_in(site, "otto"), address), address
    (entry,) = trail(site, "plan.approved")
    assert (entry.actor, entry.version, entry.details) == ("bert", 1, {"author": "anna"})
    versions = by(site, "vera", "GET", "/api/v1/plans/SQ03/versions", "viewer").json()["versions"]
    assert [(each["author"], each["approver"]) for each in versions] == [("anna", "bert")]


def main_of(browser: Browser, address: str) -> str:
    return browser.get(address).text.partition("<main")[2]


def test_new_version_needs_a_new_approval(site: FastAPI) -> None:
    assert by(site, "bert", "POST", APPROVAL).status == 200
    changed = {**SQ03, "queue_managers": 3}
    tag = by(site, "anna", "GET", "/api/v1/plans/SQ03").headers["etag"]
    headers = bearer(add_token(site, "anna", "planner"))
    assert send_json(site, "PUT", "/api/v1/plans/SQ03", changed, if_match=tag, **headers).status == 200
    assert_problem(by(site, "bert", "GET", "/api/v1/plans/SQ03/policy"), "approval-missing", 409)
    assert by(site, "bert", "GET", "/api/v1/plans/SQ03/versions/1/policy").status == 200


def test_withdrawn_approval_withholds_the_texts_again(site: FastAPI) -> None:
    assert by(site, "bert", "POST", APPROVAL).status == 200
    assert by(site, "otto", "DELETE", APPROVAL).json()["approval"] is None
    assert_problem(by(site, "bert", "GET", "/api/v1/plans/SQ03/policy"), "approval-missing", 409)
    assert [each.action for each in trail(site, "plan") if "appro" in each.action] == [
        "plan.approved", "plan.approval-withdrawn",
    ]  # fmt: skip
    assert by(site, "otto", "DELETE", APPROVAL).status == 200  # nothing left to withdraw
    assert len(trail(site, "plan.approval-withdrawn")) == 1


def test_missing_plans_and_versions_are_reported(site: FastAPI) -> None:
    for method in ("GET", "POST", "DELETE"):
        for address in ("/api/v1/plans/GONE/versions/1/approval", "/api/v1/plans/SQ03/versions/9/approval"):
            assert_problem(by(site, "bert", method, address), "plan-not-found", 404)


def test_version_of_a_command_cannot_be_approved_by_the_user_of_the_same_name(
    site: FastAPI, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in site.state.settings.as_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("getpass.getuser", lambda: "bert")
    path = tmp_path / "OTHER.json"
    path.write_text(json.dumps(SQ03), encoding="utf-8")
    main(["plans", "import", str(path)])
    address = "/api/v1/plans/OTHER/versions/1/approval"
    assert_problem(by(site, "bert", "POST", address), "approval-refused", 403)
    assert by(site, "anna", "POST", address).status == 200


def test_nothing_is_approved_while_approval_is_not_required(tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    for name in ("anna", "bert"):
        add_user(app, name, "planner")
    send_json(app, "PUT", "/api/v1/plans/SQ03", SQ03, **bearer(add_token(app, "anna", "planner")))
    assert_problem(by(app, "bert", "POST", APPROVAL), "approval-refused", 403)
    assert by(app, "bert", "GET", "/api/v1/plans/SQ03/policy").status == 200


def test_approval_without_sign_in_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="set CFPLAN_AUTHENTICATION as well"):
        read_settings(data_dir=tmp_path, approval=True)


def test_merged_policy_and_its_approval_are_of_the_same_version(
    site: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    get_plan = service.get_plan

    def counted(session: Session, name: str) -> StoredVersion:
        reads.append(name)
        return get_plan(session, name)

    monkeypatch.setattr(service, "get_plan", counted)
    assert by(site, "bert", "POST", APPROVAL).status == 200
    policy = "DATA TYPE(CFRM)\nDEFINE POLICY NAME(POL1) REPLACE(YES)\nSTRUCTURE NAME(OTHER) SIZE(1024)\n"
    assert signed_in(site, "anna").post("/merge", plan="SQ03", policy=policy).status == 200
    assert reads == ["SQ03"]


def test_client_that_has_the_text_already_gets_no_new_entry(site: FastAPI) -> None:
    assert by(site, "bert", "POST", APPROVAL).status == 200
    headers = bearer(add_token(site, "bert", "viewer"))
    tag = get(site, "/api/v1/plans/SQ03/policy", **headers).headers["etag"]
    assert get(site, "/api/v1/plans/SQ03/policy", if_none_match=tag, **headers).status == 304
    assert call(site, "HEAD", "/api/v1/plans/SQ03/policy", headers=headers).status == 200
    assert len(trail(site, "text")) == 1
