"""API tokens, and accounts over REST."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from fastapi import FastAPI
from sqlalchemy import select, update

from app.accounts.credentials import TOKEN_PREFIX
from app.accounts.models import ApiToken
from app.actor import LOCAL
from app.clock import utc_now
from tests.app.accounts.support import PASSWORD, Browser, accounts_of, add_token, bearer, signed_in
from tests.app.web.support import Answer, assert_problem, call, send_json

TOKEN = {"name": "nightly report", "scope": "viewer", "days": 30}
USER = {"name": "anna", "role": "planner", "password": PASSWORD}


def cookie(site: FastAPI, name: str) -> dict[str, str]:
    return {"cookie": f"cfplan-session={signed_in(site, name).secret}"}


def read(site: FastAPI, address: str, headers: dict[str, str]) -> Answer:
    return call(site, "GET", address, headers=headers)


def test_token_acts_for_its_user_within_its_scope(site: FastAPI) -> None:
    headers = bearer(add_token(site, "operator", "planner"))
    found = read(site, "/api/v1/account", headers).json()
    assert (found["name"], found["kind"], found["role"]) == ("operator", "token", "planner")
    assert read(site, "/plans", {**headers, "accept": "text/html"}).status == 200


@pytest.mark.parametrize(
    "value",
    [
        "Bearer cfplan_unknown",
        "Bearer ",
        "Bearer",
        "Bearer unknown",
        f"Bearer {TOKEN_PREFIX}{'x' * 5000}",
        "Bearer cfplan_\xff",
    ],
)
def test_invalid_token_is_refused_even_with_a_valid_session(site: FastAPI, value: str) -> None:
    answer = read(site, "/api/v1/plans", {"authorization": value, **cookie(site, "planner")})
    assert_problem(answer, "unauthorized", 401)
    assert answer.headers["www-authenticate"] == 'Bearer realm="cfplan", error="invalid_token"'


def test_credentials_for_a_proxy_are_ignored(site: FastAPI) -> None:
    proxy = {"authorization": "Basic cGxhbm5lcjp4"}
    assert read(site, "/api/v1/plans", {**proxy, **cookie(site, "planner")}).status == 200
    answer = read(site, "/api/v1/plans", proxy)
    assert (answer.status, answer.headers["www-authenticate"]) == (401, 'Bearer realm="cfplan"')


def test_scheme_of_a_token_may_be_in_any_case(site: FastAPI) -> None:
    token = add_token(site, "planner", "viewer")
    assert read(site, "/api/v1/plans", {"authorization": f"bearer {token}"}).status == 200


def test_expired_token_is_refused(site: FastAPI) -> None:
    headers = bearer(add_token(site, "planner", "viewer"))
    with site.state.database.session(writes=True) as session:
        session.execute(update(ApiToken).values(expires_at=utc_now()))
    assert read(site, "/api/v1/plans", headers).status == 401


def test_use_of_a_token_is_noted_at_most_once_a_minute(site: FastAPI) -> None:
    headers = bearer(add_token(site, "planner", "viewer"))
    assert noted(site) is None
    read(site, "/api/v1/plans", headers)
    first = noted(site)
    assert first is not None
    read(site, "/api/v1/plans", headers)
    assert noted(site) == first
    with site.state.database.session(writes=True) as session:
        session.execute(update(ApiToken).values(last_used_at=utc_now() - timedelta(minutes=2)))
    read(site, "/api/v1/plans", headers)
    assert (noted(site) or first) > first


def noted(site: FastAPI) -> datetime | None:
    accounts_of(site).last_uses.wait()
    with site.state.database.session(writes=False) as session:
        return session.scalar(select(ApiToken.last_used_at))


def test_use_is_noted_again_if_the_writer_was_faster_than_the_request(
    site: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_token(site, "planner", "viewer")
    with site.state.database.session(writes=False) as session:
        actor = replace(LOCAL, token_id=session.scalars(select(ApiToken.id)).one())
    uses, first = accounts_of(site).last_uses, utc_now()
    with monkeypatch.context() as patch:
        patch.setattr(uses._thread, "submit", lambda write, *given: write(*given))
        uses.note(actor, None, first)
        uses.note(actor, first, first + timedelta(minutes=2))
    assert noted(site) == first + timedelta(minutes=2)


def test_new_token_is_shown_once_and_works(site: FastAPI) -> None:
    headers = cookie(site, "planner")
    created = send_json(site, "POST", "/api/v1/account/tokens", TOKEN, **headers)
    assert created.status == 201
    secret = created.json()["token"]
    assert secret.startswith("cfplan_")
    assert len(secret) == len("cfplan_") + 43
    listed = read(site, "/api/v1/account/tokens", headers)
    assert secret[10:] not in listed.text
    (token,) = listed.json()["tokens"]
    assert (token["name"], token["scope"], token["state"]) == ("nightly report", "viewer", "active")
    assert read(site, "/api/v1/plans", bearer(secret)).status == 200


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": "operator"}, "scope"),
        ({"scope": "administrator"}, "scope"),
        ({"days": 366}, "days"),
        ({"days": 0}, "days"),
        ({"name": ""}, "name"),
        ({"name": "a\x07b"}, "name"),
        ({"other": 1}, "other"),
    ],
)
def test_token_beyond_its_limits_is_refused(site: FastAPI, change: dict[str, object], field: str) -> None:
    answer = send_json(site, "POST", "/api/v1/account/tokens", TOKEN | change, **cookie(site, "planner"))
    problem = assert_problem(answer, "request-invalid", 422)
    assert [error["field"] for error in problem["errors"]] == [field]


def test_token_cannot_create_tokens_or_revoke_others(site: FastAPI) -> None:
    mine, other = add_token(site, "planner", "planner"), add_token(site, "planner", "viewer")
    assert_problem(send_json(site, "POST", "/api/v1/account/tokens", TOKEN, **bearer(mine)), "forbidden", 403)
    assert_problem(call(site, "DELETE", "/api/v1/account/tokens/2", headers=bearer(mine)), "forbidden", 403)
    assert (
        call(site, "DELETE", "/api/v1/account/tokens/1", headers=bearer(mine)).json()["revoked"]["state"]
        == "revoked"
    )
    assert read(site, "/api/v1/plans", bearer(mine)).status == 401
    assert read(site, "/api/v1/plans", bearer(other)).status == 200


@pytest.mark.parametrize("address", ["/account", "/account/password", "/sign-in/confirm"])
def test_token_cannot_open_the_pages_of_the_account(site: FastAPI, address: str) -> None:
    headers = bearer(add_token(site, "administrator", "operator"))
    answer = read(site, address, {**headers, "accept": "text/html"})
    assert answer.status == 403
    assert "API tokens cannot change accounts" in answer.text


def test_token_of_another_user_cannot_be_revoked(site: FastAPI) -> None:
    token = add_token(site, "planner", "viewer")
    headers = cookie(site, "viewer")
    for number in ("1", "99", "99999999999999999999"):
        answer = call(site, "DELETE", f"/api/v1/account/tokens/{number}", headers=headers)
        assert_problem(answer, "token-not-found", 404)
    assert (
        Browser(site, headers["cookie"].partition("=")[2]).post("/account/tokens/revoke", token="1").status
        == 404
    )
    assert read(site, "/api/v1/plans", bearer(token)).status == 200


def test_administrator_manages_users(site: FastAPI) -> None:
    headers = cookie(site, "administrator")
    created = send_json(site, "POST", "/api/v1/users", USER, **headers)
    assert created.status == 201
    assert created.json()["user"]["must_change_password"] is True
    assert "password_hash" not in created.text
    assert_problem(send_json(site, "POST", "/api/v1/users", USER, **headers), "user-exists", 409)
    names = [user["name"] for user in read(site, "/api/v1/users", headers).json()["users"]]
    assert names == ["administrator", "anna", "operator", "planner", "viewer"]
    changed = send_json(
        site, "PATCH", "/api/v1/users/anna", {"role": "viewer", "is_disabled": True}, **headers
    )
    assert (changed.json()["user"]["role"], changed.json()["user"]["is_disabled"]) == ("viewer", True)
    # Nothing is left to change, so no entry is added, and no table changed without one.
    again = send_json(site, "PATCH", "/api/v1/users/anna", {"is_disabled": True}, **headers)
    assert again.json() == changed.json()
    enabled = send_json(site, "PATCH", "/api/v1/users/anna", {"is_disabled": False}, **headers)
    assert enabled.json()["user"]["is_disabled"] is False
    assert_problem(read(site, "/api/v1/users/nobody", headers), "user-not-found", 404)


@pytest.mark.parametrize("password", ["short", "password password", "x" * 257])
def test_weak_password_of_a_new_user_is_refused(site: FastAPI, password: str) -> None:
    answer = send_json(
        site, "POST", "/api/v1/users", {**USER, "password": password}, **cookie(site, "administrator")
    )
    problem = assert_problem(answer, "request-invalid", 422)
    assert [error["field"] for error in problem["errors"]] == ["password"]


def test_replaced_password_works_once_over_rest(site: FastAPI) -> None:
    new = {"password": "quiet engine 4 pears"}
    assert (
        send_json(site, "PATCH", "/api/v1/users/planner", new, **cookie(site, "administrator")).status == 200
    )
    assert Browser(site).sign_in("planner", PASSWORD).status == 422
    location = Browser(site).sign_in("planner", new["password"]).headers["location"]
    assert location == "/account/password"


def test_only_administrator_cannot_be_changed_over_rest(site: FastAPI) -> None:
    headers = cookie(site, "administrator")
    answer = send_json(site, "PATCH", "/api/v1/users/administrator", {"is_disabled": True}, **headers)
    assert "the only administrator" in assert_problem(answer, "request-invalid", 422)["detail"]


def test_single_user_has_an_account_but_no_tokens_or_users(app: FastAPI) -> None:
    found = read(app, "/api/v1/account", {}).json()
    assert found == {"name": "local", "kind": "local", "role": "administrator", "findings": []}
    assert_problem(read(app, "/api/v1/account/tokens", {}), "accounts-off", 409)
    assert_problem(read(app, "/api/v1/users", {}), "accounts-off", 409)
    assert_problem(send_json(app, "POST", "/api/v1/users", USER), "accounts-off", 409)


def test_page_of_another_site_cannot_use_the_session(site: FastAPI) -> None:
    headers = {**cookie(site, "planner"), "sec-fetch-site": "cross-site"}
    assert_problem(call(site, "POST", "/sign-out", headers=headers), "cross-origin", 403)
    assert_problem(send_json(site, "PUT", "/api/v1/plans/X", {}, **headers), "cross-origin", 403)


def test_unavailable_database_is_reported_instead_of_a_missing_sign_in(site: FastAPI) -> None:
    headers = cookie(site, "planner")
    with site.state.database.session(writes=True) as session:
        session.connection().exec_driver_sql("ALTER TABLE user_sessions RENAME TO lost")
    answer = read(site, "/api/v1/plans", headers)
    assert_problem(answer, "database-unavailable", 503)
    assert answer.headers["retry-after"] == "5"
    assert read(site, "/healthz", {}).status == 200
