"""The rights of every route: route, role and scope of the token.

The needed rights are entered again here, in groups, and not read from the table of the application.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.rights import RIGHTS, Guard, guarded, key_of
from app.actor import Role
from tests.app.accounts.support import ROLES, add_token, add_user, app_with_accounts, bearer, signed_in
from tests.app.web.support import Answer, call

NEVER = 9
ANYONE, VIEWER, PLANNER, OPERATOR, ADMINISTRATOR = range(5)
LEVELS = {"viewer": VIEWER, "planner": PLANNER, "operator": OPERATOR, "administrator": ADMINISTRATOR}

PUBLIC = (
    "GET /healthz",
    "GET /readyz",
    "GET /sign-in",
    "POST /sign-in",
    *(f"GET /sign-in/oidc{step}" for step in ("", "/again", "/callback", "/sign-out")),
    "GET /assets/plotly/plotly.min.js",
    "MOUNT /assets/swagger-ui",
    "MOUNT /static",
)
CALCULATIONS = (
    *(f"POST /api/v1/{kind}" for kind in ("size", "policy", "job", "mqsc", "setxcf", "runbook", "workflow")),
    *(
        f"POST /api/v1/{kind}"
        for kind in (
            "lint",
            "merge",
            "diff",
            "plan-from-running",
            "other-structures",
            "import/structures",
            "import/queues",
            "usage/plan-document",
        )
    ),
    *(f"POST /api/v1/events/{kind}" for kind in ("simulate", "read", "advise", "rates")),
    *(f"POST /api/v1/cluster/{kind}" for kind in ("decide", "load", "explain")),
    *(
        f"POST /api/v1/whatif/{kind}"
        for kind in ("filling", "survival", "thresholds", "recovery", "smds-job", "cf-loss", "upgrade")
    ),
    *(
        f"POST /{kind}"
        for kind in ("lint", "merge", "import", "running", "plan-from-running", "plan-preview")
    ),
    *(f"POST /events/{kind}" for kind in ("simulate", "read")),
    *(f"POST /whatif/{kind}" for kind in ("cf-loss", "upgrade", "recovery", "smds")),
    *(f"POST /cluster/{kind}" for kind in ("decide", "load", "explain")),
)
"""Requests other than GET that store nothing."""
OWN_ACCOUNT = (
    "POST /sign-out",
    "POST /sign-in/confirm",
    "POST /account/password",
    "POST /account/sessions/end",
    "POST /account/tokens",
    "POST /account/tokens/revoke",
    "POST /api/v1/account/tokens",
    "DELETE /api/v1/account/tokens/{number}",
)
OF_PLANNERS = (
    "PUT /api/v1/plans/{name}",
    "DELETE /api/v1/plans/{name}",
    "POST /api/v1/plans/{name}/restore",
    "POST /api/v1/plans/{name}/scenarios",
    "PUT /api/v1/plans/{name}/scenarios/{scenario}",
    "DELETE /api/v1/plans/{name}/scenarios/{scenario}",
    "PUT /api/v1/cf-levels/{coupling_facility}",
    "DELETE /api/v1/cf-levels/{coupling_facility}",
    "GET /new-plan",
    "POST /new-plan",
    "GET /import-plans",
    "POST /import-plans",
    "GET /plans/{name}/edit",
    "GET /plans/{name}/scenarios/new",
    "POST /plans/{name}/scenarios/new",
    "GET /plans/{name}/scenarios/{scenario}/edit",
    "POST /plans/{name}/scenarios/{scenario}/edit",
    "POST /plans/{name}/scenarios/{scenario}/delete",
    *(
        f"POST /plans/{{name}}/{act}"
        for act in ("edit", "take-over", "delete", "restore", "rename", "acknowledge", "withdraw")
    ),
    "GET /usage/{qsg}/plan",
    "POST /usage/{qsg}/plan",
    "GET /usage/{qsg}/plan/into/{name}",
    "POST /usage/{qsg}/plan/into/{name}",
    "POST /cf-levels",
    "GET /sizing-points/add",
    "POST /sizing-points",
    "POST /sizing-points/one",
    "POST /sizing-points/remove",
    "POST /sizing-points/fit",
    "POST /api/v1/sizing-points",
    "POST /api/v1/sizing-points/fit",
    "DELETE /api/v1/sizing-points/{number}",
    "POST /cf-levels/remove",
    "POST /api/v1/plans/{name}/versions/{number}/approval",
    "DELETE /api/v1/plans/{name}/versions/{number}/approval",
    "POST /plans/{name}/versions/{number}/approve",
    "POST /plans/{name}/versions/{number}/withdraw-approval",
)
OF_OPERATORS = (
    "POST /api/v1/uploads",
    "POST /api/v1/uploads/{number}/ingest",
    "DELETE /api/v1/uploads/{number}",
    "POST /api/v1/upload-files/{sha256}",
    "DELETE /api/v1/upload-files/{sha256}",
    "PUT /api/v1/qsg-map/{system_id}/{queue_manager}",
    "DELETE /api/v1/qsg-map/{system_id}/{queue_manager}",
    "POST /api/v1/nightly-runs",
    "GET /api/v1/connections",
    "GET /api/v1/policy-drifts",
    "GET /api/v1/dds-pollers",
    "GET /connections",
    "GET /new-upload",
    "POST /uploads",
    "POST /uploads/{upload_id}/ingest",
    "POST /uploads/{upload_id}/delete",
    "POST /uploads/retry",
    "POST /upload-files/register",
    "POST /upload-files/remove",
    "POST /qsg-map",
    "POST /qsg-map/remove",
    "POST /nights",
    "POST /simulated-data",
    "POST /simulated-data/remove",
)
OF_ADMINISTRATORS = (
    "GET /audit",
    "GET /audit.csv",
    "GET /api/v1/audit",
    "GET /api/v1/audit/export",
    "GET /users",
    "GET /users.csv",
    "POST /users",
    "GET /users/{name}",
    "POST /users/{name}",
    "GET /api/v1/users",
    "POST /api/v1/users",
    "GET /api/v1/users/{name}",
    "PATCH /api/v1/users/{name}",
)
NEEDED = {
    **dict.fromkeys(PUBLIC, ANYONE),
    **dict.fromkeys((*CALCULATIONS, *OWN_ACCOUNT), VIEWER),
    **dict.fromkeys(OF_PLANNERS, PLANNER),
    **dict.fromkeys(OF_OPERATORS, OPERATOR),
    **dict.fromkeys(OF_ADMINISTRATORS, ADMINISTRATOR),
}
"""The level of each route; all other GET routes read, which viewers may."""
ANONYMOUS = "anonymous"
SESSIONS = ROLES
TOKENS = {
    # The scope limits the rights of an administrator, and the role limits those of a scope.
    "administrator's token for viewers": ("administrator", "viewer", VIEWER),
    "administrator's token for planners": ("administrator", "planner", PLANNER),
    "administrator's token for operators": ("administrator", "operator", OPERATOR),
    "planner's token for viewers": ("planner", "viewer", VIEWER),
    "planner's token for planners": ("planner", "planner", PLANNER),
    "viewer's token for operators, from before a change of role": ("demoted", "operator", VIEWER),
}


def needed(route: str) -> int:
    """Return the level that a route must need."""
    if route not in NEEDED:
        assert route.startswith("GET "), f"enter the right of {route} in this test"
    return NEEDED.get(route, VIEWER)


def test_every_route_has_an_entry_and_every_entry_a_route(app: FastAPI) -> None:
    routes = {key for route in app.routes for key in key_of(route)}
    assert routes - set(RIGHTS) == set()
    assert set(RIGHTS) - routes == set()


def test_every_entry_of_this_test_is_a_route(app: FastAPI) -> None:
    assert set(NEEDED) - {key for route in app.routes for key in key_of(route)} == set()


@pytest.mark.parametrize("route", RIGHTS)
def test_table_of_rights_agrees_with_this_test(route: str) -> None:
    right = RIGHTS[route]
    assert (int(right) if isinstance(right, Role) else ANYONE) == needed(route)


@pytest.fixture(scope="module")
def guarded_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """Return an application whose routes answer 204 with their own name, so that all of them can be called."""
    app = app_with_accounts(Path(tmp_path_factory.mktemp("data")))
    for role in ROLES:
        add_user(app, role, role)
    add_user(app, "demoted", "operator")
    with pytest.MonkeyPatch.context() as patch:
        for route in app.routes:
            guard = route.app  # type: ignore[attr-defined]
            assert isinstance(guard, Guard), route
            patch.setattr(guard, "app", answering(key_of(route)[0]))
        yield app


def answering(name: str) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": [(b"x-route", name.encode())]})
        await send({"type": "http.response.body", "body": b""})

    return answer


def test_anonymous_requests_are_answered_by_public_routes_only(guarded_app: FastAPI) -> None:
    for route in RIGHTS:
        answer = send(guarded_app, route, {})
        if needed(route) == ANYONE:
            assert reached(answer, route), route
        else:
            assert answer.status == 401, route
            assert answer.json()["type"] == "/docs/problems#unauthorized"
            assert answer.headers["www-authenticate"].startswith("Bearer ")


def test_anonymous_browsers_are_sent_to_the_sign_in(guarded_app: FastAPI) -> None:
    for route in RIGHTS:
        if needed(route) != ANYONE and not route.split()[1].startswith("/api/v1"):
            answer = send(guarded_app, route, {"accept": "text/html"})
            assert answer.status == (303 if route.startswith("GET ") else 401), route


@pytest.mark.parametrize("role", SESSIONS)
def test_sessions_reach_the_routes_of_their_role(guarded_app: FastAPI, role: str) -> None:
    secret = signed_in(guarded_app, role).secret
    assert_rights(guarded_app, {"cookie": f"cfplan-session={secret}"}, LEVELS[role])


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_reach_the_routes_of_their_scope_and_role(guarded_app: FastAPI, name: str) -> None:
    user, scope, level = TOKENS[name]
    secret = add_token(guarded_app, user, scope)
    if user == "demoted":
        with guarded_app.state.database.session(writes=True) as session:
            from app.accounts import users

            users.get(session, user).role = "viewer"
    assert_rights(guarded_app, bearer(secret), level)


def assert_rights(app: FastAPI, headers: dict[str, str], level: int) -> None:
    for route in RIGHTS:
        answer = send(app, route, headers)
        if level >= needed(route):
            assert reached(answer, route), (route, answer.text)
        else:
            assert answer.status == 403, route
            problem = answer.json()
            assert problem["type"] == "/docs/problems#forbidden"
            names = {value: key for key, value in LEVELS.items()}
            assert f"needs the role {names[needed(route)]}" in problem["detail"]


def send(app: FastAPI, route: str, headers: dict[str, str]) -> Answer:
    method, path = route.split()
    if method == "MOUNT":
        method, path = "GET", f"{path}/file"
    return call(app, method, re.sub(r"\{[^}]*\}", "7", path), headers=headers)


def reached(answer: Answer, route: str) -> bool:
    return answer.status == 204 and answer.headers["x-route"] == route


def test_route_without_an_entry_answers_no_one(tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    add_user(app, "administrator", "administrator")
    reached_by: list[str] = []

    def forgotten() -> None:
        reached_by.append("someone")

    app.router.routes.extend(guarded([Route("/forgotten", forgotten)]))
    answer = signed_in(app, "administrator").get("/forgotten")
    assert answer.status == 403
    assert "no entry in the table of rights" in answer.text
    assert reached_by == []


def test_route_with_methods_of_different_rights_answers_no_one() -> None:
    def read_or_change() -> None: ...

    (route,) = guarded([Route("/plans/{name}/edit", read_or_change, methods=["GET", "DELETE"])])
    assert route.app.needed is None  # type: ignore[attr-defined]
