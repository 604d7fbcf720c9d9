"""Users whom a trusted proxy states in a header."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import URL, text

from app.accounts import users
from app.audit.filters import AuditFilter
from app.audit.repository import last_id
from app.audit.service import list_entries
from app.clock import utc_now
from app.database.engine import Database
from app.main import create_app
from app.settings import Settings, SettingsInvalid, read_settings
from tests.app.accounts.support import add_token, bearer
from tests.app.web.support import Answer, assert_problem, call

ALICE = {"x-remote-user": "alice", "x-remote-groups": "others, mq-planners"}


def settings_for(tmp_path: Path, **more: Any) -> Settings:  # noqa: ANN401 - fields of Settings
    given = {
        "data_dir": tmp_path,
        "authentication": ("header",),
        "trusted_proxies": ("127.0.0.1",),
        "trusted_header": "X-Remote-User",
        "trusted_groups_header": "X-Remote-Groups",
        "role_groups": "administrator:mq-admins;planner:mq-planners;viewer:mq-readers",
        **more,
    }
    return Settings(**given)


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return create_app(settings_for(tmp_path))


def account(app: FastAPI, headers: Any) -> Answer:  # noqa: ANN401 - as for call
    return call(app, "GET", "/api/v1/account", headers=headers)


def seen(app: FastAPI, headers: Any) -> tuple[str, str]:  # noqa: ANN401 - as for call
    answer = account(app, headers)
    assert answer.status == 200, answer.text
    return answer.json()["name"], answer.json()["role"]


def test_user_of_the_proxy_has_the_role_of_the_group(app: FastAPI) -> None:
    for _ in range(2):  # the first request stores the user
        assert seen(app, ALICE) == ("alice", "planner")


def test_user_works_with_both_databases(tmp_path: Path, url: URL) -> None:
    address = url.set(drivername=url.get_backend_name()).render_as_string(hide_password=False)
    app = create_app(settings_for(tmp_path, database_url=address))
    for _ in range(2):
        assert seen(app, ALICE) == ("alice", "planner")


def test_simultaneous_first_requests_store_one_user(tmp_path: Path, url: URL) -> None:
    address = url.set(drivername=url.get_backend_name()).render_as_string(hide_password=False)
    app = create_app(settings_for(tmp_path, database_url=address))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: account(app, ALICE).status, range(16)))
    assert answers == [200] * 16
    assert stored_users(app) == ["alice"]


def test_role_of_a_changed_group_applies_to_the_next_request(app: FastAPI) -> None:
    for groups, role in (
        ("mq-admins", "administrator"),
        ("mq-readers", "viewer"),
        ("mq-readers,mq-planners", "planner"),
    ):
        assert seen(app, ALICE | {"x-remote-groups": groups}) == ("alice", role)


def test_request_without_the_header_is_not_signed_in(app: FastAPI) -> None:
    assert_problem(account(app, {}), "unauthorized", 401)
    assert_problem(account(app, {"x-remote-user": ""}), "unauthorized", 401)
    assert_problem(account(app, {"x-remote-groups": "mq-admins"}), "unauthorized", 401)


@pytest.mark.parametrize("headers", [ALICE, {"x-remote-user": ""}, {"x-remote-groups": "mq-admins"}])
def test_header_from_another_client_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    app = create_app(settings_for(tmp_path, trusted_proxies=("192.0.2.1",)))
    assert_problem(account(app, headers), "trusted-header-refused", 400)
    assert_problem(account(app, {}), "unauthorized", 401)
    assert stored_users(app) == []


def test_address_in_x_forwarded_for_does_not_make_a_client_trusted(tmp_path: Path) -> None:
    """The connection counts, and not the address that the proxy reports, nor one that a client makes up."""
    app = create_app(settings_for(tmp_path, trusted_proxies=("192.0.2.1",)))
    assert_problem(account(app, ALICE | {"x-forwarded-for": "192.0.2.1"}), "trusted-header-refused", 400)
    trusted = create_app(settings_for(tmp_path))
    assert seen(trusted, ALICE | {"x-forwarded-for": "198.51.100.7"}) == ("alice", "planner")


@pytest.mark.parametrize(
    "headers",
    [
        [("x-remote-user", "alice"), ("x-remote-user", "root")],
        [("x-remote-user", "alice"), ("X-Remote-User", "alice")],
        [("x-remote-user", "alice"), ("x_remote_user", "root")],
        [("x-remote-user", "alice"), ("x-remote-groups", "mq-readers"), ("x-remote-groups", "mq-admins")],
        [("x-remote-user", "al\x00ice"), ("x-remote-groups", "mq-admins")],
        [("x-remote-user", "\xff"), ("x-remote-groups", "mq-admins")],
    ],
)
def test_repeated_or_unreadable_header_is_refused(app: FastAPI, headers: list[tuple[str, str]]) -> None:
    assert_problem(account(app, headers), "trusted-header-refused", 400)
    assert stored_users(app) == []


def test_user_without_a_role_is_refused(app: FastAPI) -> None:
    answer = account(app, ALICE | {"x-remote-groups": "others"})
    assert_problem(answer, "sign-in-failed", 403)
    assert "CFPLAN_ROLE_GROUPS" in answer.text


def test_case_of_the_name_does_not_make_another_user(app: FastAPI) -> None:
    assert seen(app, ALICE) == ("alice", "planner")
    assert seen(app, ALICE | {"x-remote-user": "ALICE"}) == ("alice", "planner")
    assert stored_users(app) == ["alice"]


@pytest.mark.parametrize("known", [True, False])
def test_refused_requests_do_not_fill_the_audit_trail(app: FastAPI, known: bool) -> None:
    if known:
        seen(app, ALICE)
    database: Database = app.state.database
    with database.session(writes=False) as session:
        before = last_id(session)
    for _ in range(3):
        assert account(app, ALICE | {"x-remote-groups": "others"}).status == 403
    with database.session(writes=False) as session:
        assert last_id(session) == before


def test_token_of_a_user_who_lost_the_role_is_revoked_once(app: FastAPI) -> None:
    seen(app, ALICE)
    token = add_token(app, "alice", "viewer")
    for _ in range(2):
        assert account(app, ALICE | {"x-remote-groups": "others"}).status == 403
    assert account(app, bearer(token)).status == 401
    database: Database = app.state.database
    with database.session(writes=False) as session:
        revoked = list_entries(session, AuditFilter(action="token.revoked"), limit=10)
    assert len(revoked.entries) == 1


def test_default_role_is_used_without_a_header_for_groups(tmp_path: Path) -> None:
    app = create_app(settings_for(tmp_path, trusted_groups_header="", default_role="viewer"))
    assert seen(app, ALICE | {"x-remote-groups": "mq-admins"}) == ("alice", "viewer")


def test_local_user_with_the_same_name_is_another_user(app: FastAPI) -> None:
    database: Database = app.state.database
    with database.session(writes=True) as session:
        users.add(session, "alice", "administrator", password_hash=None, now=utc_now())
    assert seen(app, ALICE) == ("alice-2", "planner")


def test_disabled_user_is_refused(app: FastAPI) -> None:
    assert seen(app, ALICE) == ("alice", "planner")
    database: Database = app.state.database
    with database.session(writes=True) as session:
        users.disable(session, users.get(session, "alice"), utc_now())
    assert_problem(account(app, ALICE), "sign-in-failed", 403)


def test_name_in_the_header_may_contain_any_letters(app: FastAPI) -> None:
    headers = ALICE | {"x-remote-user": "DOMAIN\\Zoë".encode().decode("latin-1")}
    assert seen(app, headers) == ("domain-zoe", "planner")


def test_header_is_ignored_where_it_is_not_a_way_to_sign_in(tmp_path: Path) -> None:
    app = create_app(settings_for(tmp_path, authentication=("accounts",)))
    assert_problem(account(app, ALICE), "unauthorized", 401)


def test_change_for_a_user_of_the_proxy_still_needs_a_page_of_this_service(app: FastAPI) -> None:
    headers = ALICE | {"origin": "https://evil.example", "content-type": "application/json"}
    assert_problem(call(app, "POST", "/api/v1/size", headers=headers, chunks=(b"{}",)), "cross-origin", 403)


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("CFPLAN_TRUSTED_HEADER", "", "CFPLAN_TRUSTED_HEADER"),
        ("CFPLAN_TRUSTED_HEADER", "Host", "cannot be used"),
        ("CFPLAN_TRUSTED_HEADER", "Authorization", "cannot be used"),
        ("CFPLAN_TRUSTED_HEADER", "X Remote", "cannot be used"),
        ("CFPLAN_TRUSTED_GROUPS_HEADER", "x-remote-user", "must differ"),
        ("CFPLAN_TRUSTED_PROXIES", "", "CFPLAN_TRUSTED_PROXIES"),
        ("CFPLAN_ROLE_GROUPS", "", "CFPLAN_ROLE_GROUPS"),
    ],
)
def test_incomplete_settings_prevent_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    for name, each in settings_for(tmp_path).as_environment().items():
        monkeypatch.setenv(name, each)
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsInvalid, match=says):
        read_settings()


def stored_users(app: FastAPI) -> list[str]:
    database: Database = app.state.database
    with database.session(writes=False) as session:
        return list(session.scalars(text("SELECT name FROM users")))
