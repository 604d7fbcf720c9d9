"""Every writing route leaves an entry in the audit trail; the others change nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import select
from starlette.routing import Route

from app.accounts import users
from app.accounts.credentials import hash_of
from app.accounts.models import ApiToken, UserSession
from app.audit.filters import AuditFilter
from app.audit.service import Entry, each_entry
from app.database.session import SAFE_METHODS
from app.scenarios.description import EXAMPLE_CHANGES
from app.uploads import files
from planner_core.texts.sizing_answers import values_of
from tests.app.accounts.support import (
    PASSWORD,
    Browser,
    add_token,
    add_user,
    app_with_accounts,
    bearer,
    signed_in,
)
from tests.app.accounts.test_rights import CALCULATIONS
from tests.app.fits.support import ANSWERS, known_points
from tests.app.recorded_changes import unrecorded_changes
from tests.app.uploads.support import finish
from tests.app.web.support import SQ03, Answer, send_json

DISPLAY = b"D XCF,STR\n"
DIGEST = hashlib.sha256(DISPLAY).hexdigest()
PLAN, POINTS = "/api/v1/plans/SQ03", "/api/v1/sizing-points"
ANSWER = {f"answer-{name}": text for name, text in values_of(known_points()[0].point).items()}


class Site:
    """An application with a plan of anna, and an administrator who is signed in."""

    def __init__(self, folder: Path) -> None:
        self.app: FastAPI = app_with_accounts(folder, approval=True)
        for name, role in (("anna", "planner"), ("root", "administrator"), ("otto", "operator")):
            add_user(self.app, name, role)
        self.root = signed_in(self.app, "root")
        self.anna = bearer(add_token(self.app, "anna", "planner"))
        assert send_json(self.app, "PUT", PLAN, SQ03, **self.anna).status == 201

    def send(self, method: str, address: str, document: object = None, **headers: str) -> Answer:
        body = b"" if document is None else json.dumps(document).encode()
        given = {"content-type": "application/json", "accept": "application/json", **headers}
        return self.root.send(method, address, body=body, headers=given)

    def post(self, address: str, **fields: str) -> Answer:
        return self.root.post(address, **fields)

    @property
    def etag(self) -> str:
        return self.send("GET", PLAN).headers["etag"]

    def upload(self) -> Answer:
        return self.root.send(
            "POST",
            "/api/v1/uploads?filename=display.txt",
            body=DISPLAY,
            headers={"content-type": "text/plain"},
        )

    def file(self) -> None:
        """Leave a file without an upload, as a restored data folder may have it."""
        path = files.path_of(self.app.state.settings.data_dir, DIGEST)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(DISPLAY)

    def read_upload(self) -> int:
        number = self.upload().json()["job"]["id"]
        finish(self.app, number)
        return int(number)

    def scenario(self) -> Answer:
        return self.send("POST", f"{PLAN}/scenarios", {"name": "more", "changes": EXAMPLE_CHANGES})

    def points(self) -> Answer:
        return self.send("POST", POINTS, {"text": ANSWERS})

    def entries(self) -> list[Entry]:
        return list(each_entry(self.app.state.database, AuditFilter()))


def first_finding(site: Site) -> dict[str, str]:
    found = next(each for each in site.send("GET", PLAN).json()["findings"] if each["severity"] != "error")
    return {"code": found["code"], "structure": found["structure"] or "", "message": found["message"]}


def multipart(site: Site, address: str, field: str, filename: str, content: bytes) -> Answer:
    body = (
        (
            f'--B\r\nContent-Disposition: form-data; name="{field}"; filename="{filename}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode()
        + content
        + b"\r\n--B--\r\n"
    )
    return site.root.send(
        "POST", address, body=body, headers={"content-type": "multipart/form-data; boundary=B"}
    )


def session_of(site: Site, name: str) -> str:
    with site.app.state.database.session(writes=False) as session:
        user = users.get(session, name)
        return str(session.scalars(select(UserSession.id).where(UserSession.user_id == user.id)).first())


def token_of(site: Site, name: str) -> str:
    add_token(site.app, name, "viewer")
    with site.app.state.database.session(writes=False) as session:
        user = users.get(session, name)
        return str(session.scalars(select(ApiToken.id).where(ApiToken.user_id == user.id)).first())


def acknowledged(site: Site) -> dict[str, str]:
    warning = first_finding(site)
    assert site.post("/plans/SQ03/acknowledge", **warning, reason="known").status == 303
    return warning


USER = {"name": "new", "role": "viewer", "password": "green river lantern 12"}
TOKEN = {"name": "script", "scope": "viewer", "days": 3}
APPROVAL = f"{PLAN}/versions/1/approval"
PAGE_OF_VERSION = "/plans/SQ03/versions/1"
QSG_ENTRY = "/api/v1/qsg-map/SYS1/QM01"

Act = Callable[[Site], Answer]
Prepare = Callable[[Site], object]
NOTHING: Prepare = lambda site: None  # noqa: E731
WRITES: Mapping[str, tuple[Prepare, Act, str]] = {
    "PUT /api/v1/plans/{name}": (NOTHING, lambda s: s.send("PUT", "/api/v1/plans/NEW", SQ03), "plan.created"),
    "DELETE /api/v1/plans/{name}": (NOTHING, lambda s: s.send("DELETE", PLAN), "plan.deleted"),
    "POST /api/v1/plans/{name}/restore": (lambda s: s.send("DELETE", PLAN), lambda s: s.send("POST", f"{PLAN}/restore"), "plan.restored"),
    "POST /api/v1/plans/{name}/versions/{number}/approval": (NOTHING, lambda s: s.send("POST", APPROVAL), "plan.approved"),
    "DELETE /api/v1/plans/{name}/versions/{number}/approval": (lambda s: s.send("POST", APPROVAL), lambda s: s.send("DELETE", APPROVAL), "plan.approval-withdrawn"),
    "POST /api/v1/plans/{name}/scenarios": (NOTHING, Site.scenario, "scenario.created"),
    "PUT /api/v1/plans/{name}/scenarios/{scenario}": (NOTHING, lambda s: s.send("PUT", f"{PLAN}/scenarios/more", {"changes": EXAMPLE_CHANGES}), "scenario.created"),
    "DELETE /api/v1/plans/{name}/scenarios/{scenario}": (Site.scenario, lambda s: s.send("DELETE", f"{PLAN}/scenarios/more"), "scenario.deleted"),
    "PUT /api/v1/cf-levels/{coupling_facility}": (NOTHING, lambda s: s.send("PUT", "/api/v1/cf-levels/CF01", {"cfcc_level": 25}), "cfcc-level.set"),
    "DELETE /api/v1/cf-levels/{coupling_facility}": (lambda s: s.send("PUT", "/api/v1/cf-levels/CF01", {"cfcc_level": 25}), lambda s: s.send("DELETE", "/api/v1/cf-levels/CF01"), "cfcc-level.removed"),
    "POST /api/v1/sizing-points": (NOTHING, lambda s: s.send("POST", POINTS, {"text": ANSWERS}), "sizing-points.added"),
    "POST /api/v1/sizing-points/fit": (Site.points, lambda s: s.send("POST", f"{POINTS}/fit?cfcc_level=26"), "curve.fitted"),
    "DELETE /api/v1/sizing-points/{number}": (Site.points, lambda s: s.send("DELETE", f"{POINTS}/1"), "sizing-points.removed"),
    "POST /sizing-points": (NOTHING, lambda s: s.post("/sizing-points", text=ANSWERS), "sizing-points.added"),
    "POST /sizing-points/one": (NOTHING, lambda s: s.post("/sizing-points/one", **ANSWER), "sizing-points.added"),
    "POST /sizing-points/remove": (Site.points, lambda s: s.post("/sizing-points/remove", remove="1"), "sizing-points.removed"),
    "POST /sizing-points/fit": (Site.points, lambda s: s.post("/sizing-points/fit", cfcc_level="26", type="application"), "curve.fitted"),
    "POST /api/v1/uploads": (NOTHING, Site.upload, "upload.received"),
    "POST /api/v1/uploads/{number}/ingest": (Site.read_upload, lambda s: s.send("POST", "/api/v1/uploads/1/ingest", {"zone": "+01:00"}), "upload.reread"),
    "DELETE /api/v1/uploads/{number}": (Site.read_upload, lambda s: s.send("DELETE", "/api/v1/uploads/1"), "upload.deleted"),
    "PUT /api/v1/qsg-map/{system_id}/{queue_manager}": (NOTHING, lambda s: s.send("PUT", QSG_ENTRY, {"qsg": "SQ03"}), "group.assigned"),
    "DELETE /api/v1/qsg-map/{system_id}/{queue_manager}": (lambda s: s.send("PUT", QSG_ENTRY, {"qsg": "SQ03"}), lambda s: s.send("DELETE", QSG_ENTRY), "group.removed"),
    "POST /api/v1/nightly-runs": (NOTHING, lambda s: s.send("POST", "/api/v1/nightly-runs"), "nightly.started"),
    "POST /api/v1/account/tokens": (NOTHING, lambda s: s.send("POST", "/api/v1/account/tokens", TOKEN), "token.created"),
    "DELETE /api/v1/account/tokens/{number}": (NOTHING, lambda s: s.send("DELETE", f"/api/v1/account/tokens/{token_of(s, 'root')}"), "token.revoked"),
    "POST /api/v1/users": (NOTHING, lambda s: s.send("POST", "/api/v1/users", USER), "user.created"),
    "PATCH /api/v1/users/{name}": (NOTHING, lambda s: s.send("PATCH", "/api/v1/users/anna", {"role": "operator"}), "user.changed"),
    "POST /api/v1/upload-files/{sha256}": (Site.file, lambda s: s.send("POST", f"/api/v1/upload-files/{DIGEST}"), "upload.registered"),
    "DELETE /api/v1/upload-files/{sha256}": (Site.file, lambda s: s.send("DELETE", f"/api/v1/upload-files/{DIGEST}"), "upload.file-removed"),
    "POST /upload-files/register": (Site.file, lambda s: s.post("/upload-files/register", sha256=DIGEST), "upload.registered"),
    "POST /upload-files/remove": (Site.file, lambda s: s.post("/upload-files/remove", sha256=DIGEST), "upload.file-removed"),
    "POST /plans/{name}/delete": (NOTHING, lambda s: s.post("/plans/SQ03/delete"), "plan.deleted"),
    "POST /plans/{name}/restore": (lambda s: s.send("DELETE", PLAN), lambda s: s.post("/plans/SQ03/restore"), "plan.restored"),
    "POST /plans/{name}/rename": (NOTHING, lambda s: s.post("/plans/SQ03/rename", name="SQ04"), "plan.renamed"),
    "POST /plans/{name}/acknowledge": (NOTHING, lambda s: s.post("/plans/SQ03/acknowledge", **first_finding(s), reason="known"), "finding.acknowledged"),
    "POST /plans/{name}/withdraw": (NOTHING, lambda s: s.post("/plans/SQ03/withdraw", **acknowledged(s)), "finding.reopened"),
    "POST /plans/{name}/versions/{number}/approve": (NOTHING, lambda s: s.post(f"{PAGE_OF_VERSION}/approve"), "plan.approved"),
    "POST /plans/{name}/versions/{number}/withdraw-approval": (lambda s: s.send("POST", APPROVAL), lambda s: s.post(f"{PAGE_OF_VERSION}/withdraw-approval"), "plan.approval-withdrawn"),
    "POST /plans/{name}/scenarios/new": (NOTHING, lambda s: s.post("/plans/SQ03/scenarios/new", name="more", queue_managers="6", action="save"), "scenario.created"),
    "POST /plans/{name}/scenarios/{scenario}/edit": (Site.scenario, lambda s: s.post("/plans/SQ03/scenarios/more/edit", queue_managers="7", etag=s.send("GET", f"{PLAN}/scenarios/more").headers["etag"]), "scenario.saved"),
    "POST /plans/{name}/scenarios/{scenario}/delete": (Site.scenario, lambda s: s.post("/plans/SQ03/scenarios/more/delete"), "scenario.deleted"),
    "POST /import-plans": (NOTHING, lambda s: multipart(s, "/import-plans", "files", "NEW.json", json.dumps(SQ03).encode()), "plan.created"),
    "POST /cf-levels": (NOTHING, lambda s: s.post("/cf-levels", coupling_facility="CF01", cfcc_level="25"), "cfcc-level.set"),
    "POST /cf-levels/remove": (lambda s: s.post("/cf-levels", coupling_facility="CF01", cfcc_level="25"), lambda s: s.post("/cf-levels/remove", coupling_facility="CF01"), "cfcc-level.removed"),
    "POST /uploads": (NOTHING, lambda s: multipart(s, "/uploads", "file", "display.txt", DISPLAY), "upload.received"),
    "POST /uploads/{upload_id}/ingest": (Site.read_upload, lambda s: s.post("/uploads/1/ingest", zone="+01:00"), "upload.reread"),
    "POST /uploads/{upload_id}/delete": (Site.read_upload, lambda s: s.post("/uploads/1/delete"), "upload.deleted"),
    "POST /qsg-map": (NOTHING, lambda s: s.post("/qsg-map", system_id="SYS1", queue_manager="QM01", qsg="SQ03"), "group.assigned"),
    "POST /qsg-map/remove": (lambda s: s.send("PUT", QSG_ENTRY, {"qsg": "SQ03"}), lambda s: s.post("/qsg-map/remove", system_id="SYS1", queue_manager="QM01"), "group.removed"),
    "POST /nights": (NOTHING, lambda s: s.post("/nights"), "nightly.started"),
    "POST /simulated-data": (NOTHING, lambda s: s.post("/simulated-data"), "simulation.started"),
    "POST /simulated-data/remove": (NOTHING, lambda s: s.post("/simulated-data/remove"), "simulation.removed"),
    "POST /sign-in": (NOTHING, lambda s: Browser(s.app).sign_in("anna"), "session.signed-in"),
    "POST /sign-out": (NOTHING, lambda s: s.post("/sign-out"), "session.signed-out"),
    "POST /sign-in/confirm": (NOTHING, lambda s: s.post("/sign-in/confirm", password=PASSWORD), "session.confirmed"),
    "POST /account/password": (NOTHING, lambda s: s.post("/account/password", current=PASSWORD, new="quiet-amber 5 lakes", again="quiet-amber 5 lakes"), "user.password-changed"),
    "POST /account/sessions/end": (NOTHING, lambda s: s.post("/account/sessions/end", session=session_of(s, "root")), "session.ended"),
    "POST /account/tokens": (NOTHING, lambda s: s.post("/account/tokens", name="script", scope="viewer", days="3"), "token.created"),
    "POST /account/tokens/revoke": (NOTHING, lambda s: s.post("/account/tokens/revoke", token=token_of(s, "root")), "token.revoked"),
    "POST /users": (NOTHING, lambda s: s.post("/users", name="new", role="viewer"), "user.created"),
    "POST /users/{name}": (NOTHING, lambda s: s.post("/users/anna", action="disabled"), "user.disabled"),
}  # fmt: skip
"""How to prepare and send a request to each writing route, and the action that it records."""
WRITES_ELSEWHERE = {
    "POST /new-plan": "tests/app/plans/pages/test_form.py",
    "POST /plans/{name}/edit": "tests/app/plans/pages/test_form.py",
    "POST /usage/{qsg}/plan": "tests/app/usage/test_plan.py",
    "POST /usage/{qsg}/plan/into/{name}": "tests/app/usage/test_take_over.py",
    "POST /uploads/retry": "tests/app/uploads/test_batches.py",
}
"""Writing routes whose requests need long preparations: these tests send them, and tests/app/conftest.py checks entries."""
WRITES_NOTHING = {*CALCULATIONS, "POST /plans/{name}/take-over"}


def unsafe_routes(app: FastAPI) -> set[str]:
    return {
        f"{method} {route.path}"
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - SAFE_METHODS
    }


def test_every_route_is_known_to_write_or_not(app: FastAPI) -> None:
    known = [*WRITES, *WRITES_ELSEWHERE, *WRITES_NOTHING]
    assert len(known) == len(set(known))
    assert unsafe_routes(app) == set(known), "enter the new route here, and record what it changes"


@pytest.mark.parametrize("route", WRITES)
def test_writing_route_leaves_an_entry(route: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    prepare, act, action = WRITES[route]
    prepare(site)
    before = len(site.entries())
    answer = act(site)
    assert answer.status < 400, answer.text[:2000]
    added = site.entries()[before:]
    assert action in [entry.action for entry in added]
    assert {entry.address for entry in added if entry.action == action} == {"127.0.0.1"}


@pytest.mark.parametrize("route", sorted(WRITES_NOTHING))
def test_other_routes_change_nothing(app: FastAPI, route: str) -> None:
    method, _, path = route.partition(" ")
    address = path.replace("{name}", "SQ03")
    with unrecorded_changes() as found:
        answer = send_json(app, method, address, SQ03)
    assert answer.status < 500
    assert found == []


def test_failed_sign_in_is_recorded_without_an_unknown_name(tmp_path: Path) -> None:
    site = Site(tmp_path)
    before = len(site.entries())
    assert Browser(site.app).sign_in("anna", "a wrong password 1").status == 422
    assert Browser(site.app).sign_in("my secret password", "anna").status == 422
    assert [(each.action, each.actor_kind, each.object_name) for each in site.entries()[before:]] == [
        ("session.sign-in-failed", "anonymous", "anna"),
        ("session.sign-in-failed", "anonymous", "unknown user"),
    ]
    assert "secret" not in json.dumps([each.as_json() for each in site.entries()])


def test_entries_contain_no_secret(tmp_path: Path) -> None:
    site = Site(tmp_path)
    secret = site.send("POST", "/api/v1/account/tokens", TOKEN).json()["token"]
    assert site.send("POST", "/api/v1/users", USER).status == 201
    text = json.dumps([each.as_json() for each in site.entries()])
    for each in (secret, str(USER["password"]), PASSWORD, hash_of(secret), site.root.secret):
        assert each not in text
