"""Signing in and out, and the sessions of users."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import func, select, update
from starlette.types import Receive, Scope, Send

from app.accounts import attempts, sessions, users
from app.accounts.attempts import MOST_OF_ADDRESS, MOST_OF_USER
from app.accounts.models import SignInAttempts, UserSession
from app.accounts.passwords import Passwords
from app.accounts.sessions import CLOCK_TOLERANCE
from app.audit.actions import Action
from app.audit.models import AuditEntry
from app.clock import utc_now
from tests.app.accounts.support import (
    COOKIE,
    OTHER_PASSWORD,
    PASSWORD,
    Browser,
    accounts_of,
    add_token,
    add_user,
    app_with_accounts,
    bearer,
    signed_in,
    user_row,
)
from tests.app.web.support import Answer, call

WRONG = "The user name or the password is not correct."


def test_user_returns_to_the_requested_page_after_sign_in(site: FastAPI) -> None:
    browser = Browser(site)
    asked = browser.get("/plans?page=2")
    assert asked.status == 303
    assert asked.headers["location"] == "/sign-in?next=%2Fplans%3Fpage%3D2"
    assert 'value="/plans?page=2"' in browser.get(asked.headers["location"]).text
    answer = browser.sign_in("planner", to="/plans?page=2")
    assert (answer.status, answer.headers["location"]) == (303, "/plans?page=2")
    assert browser.get("/plans?page=2").status == 200


@pytest.mark.parametrize(
    "to",
    [
        "https://example.com/",
        "//example.com/",
        "/\\example.com",
        "\\\\example.com",
        "/\t/example.com",
        "javascript:alert(1)",
        "/sign-out",
        " /plans",
        "",
    ],
)
def test_sign_in_never_leads_to_another_site(site: FastAPI, to: str) -> None:
    assert Browser(site).sign_in("planner", to=to).headers["location"] == "/"


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("planner", "purple-tree lantern 78"),
        ("nobody", PASSWORD),
        ("planner", "x" * 300),
        ("planner", " "),
    ],
)
def test_wrong_name_and_wrong_password_get_the_same_answer(site: FastAPI, name: str, password: str) -> None:
    browser = Browser(site)
    answer = browser.sign_in(name, password)
    assert answer.status == 422
    assert WRONG in answer.text
    assert browser.secret == ""


@pytest.mark.parametrize(
    ("name", "password", "messages"),
    [
        ("", "", ["Enter your user name.", "Enter your password."]),
        (" ", PASSWORD, ["Enter your user name."]),
        ("planner", "", ["Enter your password."]),
        ("nobody", "", ["Enter your password."]),
    ],
)
def test_empty_field_of_the_sign_in_form_is_named_and_is_no_attempt(
    site: FastAPI, name: str, password: str, messages: list[str]
) -> None:
    answer = Browser(site).sign_in(name, password)
    assert answer.status == 422
    assert re.findall(r'class="wrong" id="(?:name|password)-error">([^<]*)<', answer.text) == messages
    assert answer.text.count('aria-invalid="true"') == len(messages)
    # The first wrong field has the focus.
    focused = re.findall(r'<input[^>]* id="(\w+)"[^>]* autofocus', answer.text)
    assert focused == ["password" if messages == ["Enter your password."] else "name"]
    assert WRONG not in answer.text
    with site.state.database.session(writes=False) as session:
        assert not session.scalars(select(SignInAttempts)).all()
        assert not session.scalars(
            select(AuditEntry).where(AuditEntry.action == Action.SIGN_IN_FAILED.value)
        ).all()


def test_confirmation_without_a_password_asks_for_it(site: FastAPI) -> None:
    answer = signed_in(site, "planner").post("/sign-in/confirm", password="", next="/account")
    assert answer.status == 422
    assert 'id="password-error">Enter your password.<' in answer.text


def test_unknown_user_costs_as_many_hashes_as_a_known_one(
    site: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    verify = PasswordHasher.verify

    def counted(self: PasswordHasher, hash: str, password: str) -> bool:
        checked.append(password)
        return verify(self, hash, password)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    Browser(site).sign_in("nobody", "a wrong password")
    Browser(site).sign_in("planner", "a wrong password")
    assert checked == ["a wrong password"] * 2


def test_user_name_is_accepted_in_any_case_and_with_blanks(site: FastAPI) -> None:
    assert Browser(site).sign_in(" Planner ").status == 303


def test_disabled_user_cannot_sign_in_and_learns_no_reason(site: FastAPI) -> None:
    with site.state.database.session(writes=True) as session:
        users.disable(session, users.get(session, "planner"), utc_now())
    assert WRONG in Browser(site).sign_in("planner").text


def test_session_cookie_is_hidden_from_scripts_and_other_sites(site: FastAPI) -> None:
    answer = Browser(site).sign_in("planner")
    (cookie,) = [value for name, value in answer.header_list if name == "set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert "Secure" not in cookie, "browsers do not send such a cookie over plain HTTP"


def test_session_cookie_over_tls_is_secure_and_bound_to_the_host(site: FastAPI) -> None:
    answer = over_tls(site, "POST", "/sign-in", body=f"name=planner&password={PASSWORD}".encode())
    (cookie,) = [value for name, value in answer.header_list if name == "set-cookie"]
    assert cookie.startswith("__Host-cfplan-session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    secret = cookie.split(";")[0].partition("=")[2]
    assert over_tls(site, "GET", "/plans", cookie=f"__Host-cfplan-session={secret}").status == 200
    # Another host of the domain could have set a cookie without the prefix.
    assert over_tls(site, "GET", "/plans", cookie=f"cfplan-session={secret}").status == 401


def over_tls(site: FastAPI, method: str, path: str, *, body: bytes = b"", cookie: str = "") -> Answer:
    async def secured(scope: Scope, receive: Receive, send: Send) -> None:
        await site({**scope, "scheme": "https"}, receive, send)

    headers = {"content-type": "application/x-www-form-urlencoded", **({"cookie": cookie} if cookie else {})}
    return call(secured, method, path, headers=headers, chunks=[body])


def from_address(site: FastAPI, address: str, **fields: str) -> Answer:
    async def moved(scope: Scope, receive: Receive, send: Send) -> None:
        await site({**scope, "client": (address, 50000)}, receive, send)

    return Browser(moved).post("/sign-in", **fields)  # type: ignore[arg-type]


def test_password_is_refused_without_tls_from_another_machine(site: FastAPI, tmp_path: Path) -> None:
    answer = from_address(site, "192.0.2.7", name="planner", password=PASSWORD)
    assert answer.status == 403
    assert "not encrypted" in answer.text
    permitted = app_with_accounts(tmp_path / "other", sign_in_over_http=True)
    add_user(permitted, "planner", "planner")
    assert from_address(permitted, "192.0.2.7", name="planner", password=PASSWORD).status == 303


@pytest.mark.parametrize("name", ["x-forwarded-for", "x-forwarded-proto", "forwarded", "x-real-ip"])
def test_password_is_refused_through_a_proxy_that_is_not_trusted(site: FastAPI, name: str) -> None:
    """A proxy on the same machine would otherwise make every client look like one of this machine."""
    headers = {"content-type": "application/x-www-form-urlencoded", name: "192.0.2.7"}
    body = f"name=planner&password={PASSWORD}".encode()
    answer = call(site, "POST", "/sign-in", headers=headers, chunks=[body])
    assert answer.status == 403
    assert "set-cookie" not in dict(answer.header_list)


def test_session_gets_a_new_secret_at_each_sign_in_and_the_old_one_ends(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    before = browser.secret
    browser.sign_in("planner")
    assert browser.secret != before
    assert Browser(site, before).get("/plans").status == 303
    assert browser.get("/plans").status == 200


def test_secret_chosen_by_someone_else_is_not_adopted(site: FastAPI) -> None:
    browser = Browser(site, "chosen-by-an-attacker")
    browser.sign_in("planner")
    assert browser.secret != "chosen-by-an-attacker"
    assert Browser(site, "chosen-by-an-attacker").get("/plans").status == 303


def test_database_contains_no_secret(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    token = add_token(site, "planner", "viewer")
    with site.state.database.session(writes=False) as session:
        connection = session.connection().connection
        dump = "\n".join(connection.driver_connection.iterdump())
    for secret in (browser.secret, token, token.removeprefix("cfplan_"), PASSWORD):
        assert secret not in dump
    assert "$argon2id$" in dump


def test_sign_out_ends_the_session_and_removes_the_cookie(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    secret = browser.secret
    answer = browser.post("/sign-out")
    assert answer.headers["location"] == "/sign-in?said=signed-out"
    assert answer.headers["clear-site-data"] == '"cache"'
    (cookie,) = [value for name, value in answer.header_list if name == "set-cookie"]
    assert "Max-Age=0" in cookie
    assert Browser(site, secret).get("/plans").status == 303


def test_sign_out_by_link_does_nothing(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    assert browser.get("/sign-out").status == 405
    assert browser.get("/plans").status == 200


def move_back(site: FastAPI, **times: timedelta) -> None:
    """Let sessions appear older."""
    with site.state.database.session(writes=True) as session:
        session.execute(update(UserSession).values({name: utc_now() - age for name, age in times.items()}))


def test_session_ends_without_requests(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    move_back(site, last_used_at=timedelta(minutes=59))
    assert browser.get("/plans").status == 200
    accounts_of(site).last_uses.wait()
    move_back(site, last_used_at=timedelta(minutes=60))
    assert browser.get("/plans").status == 303


def test_session_in_use_ends_after_its_longest_time(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    move_back(site, expires_at=timedelta(seconds=1))
    assert browser.get("/plans").status == 303


@pytest.mark.parametrize("name", ["created_at", "confirmed_at", "last_used_at"])
def test_session_from_the_future_is_refused_beyond_the_tolerance(site: FastAPI, name: str) -> None:
    browser = signed_in(site, "planner")
    move_back(site, **{name: -CLOCK_TOLERANCE + timedelta(minutes=1)})
    assert browser.get("/plans").status == 200
    move_back(site, **{name: -CLOCK_TOLERANCE - timedelta(minutes=1)})
    assert browser.get("/plans").status == 303
    signed_in(site, "viewer")  # removes it
    with site.state.database.session(writes=False) as session:
        assert session.scalar(select(func.count()).select_from(UserSession)) == 1


def test_stored_description_of_a_browser_is_short_printable_ascii(site: FastAPI) -> None:
    browser = Browser(site)
    browser.agent = "Moz\x7filla/5.0\t\x85 \xa0\xff <b>" + "x" * 9_000
    assert browser.sign_in("planner").status == 303
    with site.state.database.session(writes=False) as session:
        client = session.execute(select(UserSession.client)).scalar_one()
    assert client == "Moz illa/5.0 <b>" + "x" * 184


def test_expired_sessions_are_removed_at_the_next_sign_in(site: FastAPI) -> None:
    signed_in(site, "planner")
    move_back(site, last_used_at=timedelta(minutes=61))
    signed_in(site, "viewer")
    with site.state.database.session(writes=False) as session:
        assert session.scalar(select(func.count()).select_from(UserSession)) == 1


def test_last_use_is_written_at_most_once_a_minute(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    move_back(site, last_used_at=timedelta(minutes=2))
    browser.get("/plans")
    accounts_of(site).last_uses.wait()
    noted = last_used(site)
    assert noted > utc_now() - timedelta(minutes=1)
    browser.get("/plans")
    accounts_of(site).last_uses.wait()
    assert last_used(site) == noted


def last_used(site: FastAPI) -> datetime:
    with site.state.database.session(writes=False) as session:
        return session.execute(select(UserSession.last_used_at)).scalar_one()


def test_pages_are_shown_while_the_database_accepts_no_writes(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    move_back(site, last_used_at=timedelta(minutes=2))
    with site.state.database.session(writes=True) as writer:
        writer.execute(select(1))  # takes the lock of SQLite
        assert browser.get("/plans").status == 200
    accounts_of(site).last_uses.wait()
    assert last_used(site) > utc_now() - timedelta(minutes=1)


def test_changed_role_applies_to_the_next_request(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    assert browser.get("/new-plan").status == 200
    with site.state.database.session(writes=True) as session:
        users.set_role(session, users.get(session, "planner"), "viewer")
    assert browser.get("/new-plan").status == 403


def test_outdated_hash_is_renewed_at_sign_in(site: FastAPI) -> None:
    weaker = Passwords(memory_kib=64, passes=1)
    with site.state.database.session(writes=True) as session:
        users.get(session, "planner").password_hash = weaker.hash(PASSWORD)
    assert Browser(site).sign_in("planner", "a wrong password").status == 422
    assert "m=64," in (user_row(site, "planner").password_hash or "")
    assert Browser(site).sign_in("planner").status == 303
    renewed = user_row(site, "planner").password_hash or ""
    assert "m=7168," in renewed
    assert Browser(site).sign_in("planner").status == 303
    assert user_row(site, "planner").password_hash == renewed


# ---- attempts -------------------------------------------------------------------------------------------------------


def test_failed_attempts_are_limited_for_each_user_and_address(site: FastAPI) -> None:
    for _ in range(MOST_OF_USER):
        assert Browser(site).sign_in("planner", "a wrong password").status == 422
    refused = Browser(site).sign_in("planner")
    assert refused.status == 429
    assert 0 < int(refused.headers["retry-after"]) <= 15 * 60
    assert "Too many failed attempts" in refused.text
    assert Browser(site).sign_in("viewer").status == 303


def test_user_is_not_locked_out_by_attempts_from_elsewhere(site: FastAPI) -> None:
    for _ in range(MOST_OF_USER + 1):
        attack = from_tls_address(site, "192.0.2.66", "planner", "a wrong password")
    assert attack.status == 429
    assert from_tls_address(site, "192.0.2.7", "planner", PASSWORD).status == 303


def from_tls_address(site: FastAPI, address: str, name: str, password: str) -> Answer:
    async def moved(scope: Scope, receive: Receive, send: Send) -> None:
        await site({**scope, "client": (address, 50000), "scheme": "https"}, receive, send)

    return Browser(moved).post("/sign-in", name=name, password=password)  # type: ignore[arg-type]


def test_one_address_cannot_try_a_password_for_every_user(site: FastAPI) -> None:
    with site.state.database.session(writes=True) as session:
        for number in range(MOST_OF_ADDRESS):
            attempts.begin(session, f"user{number}", "127.0.0.1", utc_now())
    assert Browser(site).sign_in("planner").status == 429


def test_attempts_from_the_future_are_forgotten_after_the_clock_is_set_back(site: FastAPI) -> None:
    with site.state.database.session(writes=True) as session:
        for _ in range(MOST_OF_USER):
            attempts.begin(session, "planner", "127.0.0.1", utc_now() + timedelta(days=365))
    assert Browser(site).sign_in("planner").status == 303


def test_addresses_of_one_ipv6_network_share_their_attempts(site: FastAPI) -> None:
    for number in range(MOST_OF_USER):
        from_tls_address(site, f"2001:db8:1:2::{number + 1:x}", "planner", "a wrong password")
    assert from_tls_address(site, "2001:db8:1:2:ffff::9", "planner", PASSWORD).status == 429
    assert from_tls_address(site, "2001:db8:1:3::9", "planner", PASSWORD).status == 303


def test_successful_sign_in_forgets_the_failures_before(site: FastAPI) -> None:
    for _ in range(2):
        for _ in range(MOST_OF_USER - 1):
            Browser(site).sign_in("planner", "a wrong password")
        assert Browser(site).sign_in("planner").status == 303


def test_attempts_are_accepted_again_after_their_period(site: FastAPI) -> None:
    for _ in range(MOST_OF_USER + 1):
        Browser(site).sign_in("planner", "a wrong password")
    with site.state.database.session(writes=True) as session:
        session.execute(update(SignInAttempts).values(begun_at=utc_now() - timedelta(minutes=15)))
    assert Browser(site).sign_in("planner").status == 303


def test_attempts_are_counted_in_the_database_for_all_processes(site: FastAPI, tmp_path: Path) -> None:
    for _ in range(MOST_OF_USER):
        Browser(site).sign_in("planner", "a wrong password")
    other_process = app_with_accounts(tmp_path)
    assert Browser(other_process).sign_in("planner").status == 429


def test_names_typed_at_the_sign_in_are_not_stored(site: FastAPI) -> None:
    Browser(site).sign_in("my secret password by mistake", "x")
    with site.state.database.session(writes=False) as session:
        connection = session.connection().connection
        assert "by mistake" not in "\n".join(connection.driver_connection.iterdump())


def test_checking_a_password_again_counts_as_an_attempt(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    for _ in range(MOST_OF_USER):
        assert browser.post("/sign-in/confirm", password="a wrong password").status == 422
    assert browser.post("/sign-in/confirm", password=PASSWORD).status == 429
    assert (
        browser.post("/account/password", current=PASSWORD, new=OTHER_PASSWORD, again=OTHER_PASSWORD).status
        == 422
    )


def test_many_sign_ins_at_once_are_refused_before_they_use_all_threads(site: FastAPI) -> None:
    passwords = accounts_of(site).passwords
    held = 0
    while passwords._places.acquire(blocking=False):
        held += 1
    assert held == 10
    answer = Browser(site).sign_in("planner")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    for _ in range(held):
        passwords._places.release()
    assert Browser(site).sign_in("planner").status == 303


# ---- the own account ------------------------------------------------------------------------------------------------


def test_password_change_ends_the_other_sessions_and_keeps_tokens(site: FastAPI) -> None:
    here, elsewhere = signed_in(site, "planner"), signed_in(site, "planner")
    token = add_token(site, "planner", "viewer")
    answer = here.post("/account/password", current=PASSWORD, new=OTHER_PASSWORD, again=OTHER_PASSWORD)
    assert answer.headers["location"] == "/account?said=password"
    assert here.get("/account").status == 200
    assert elsewhere.get("/account").status == 303
    assert call(site, "GET", "/api/v1/account", headers=bearer(token)).status == 200
    assert WRONG in Browser(site).sign_in("planner", PASSWORD).text
    assert Browser(site).sign_in("planner", OTHER_PASSWORD).status == 303


def test_password_change_can_revoke_tokens(site: FastAPI) -> None:
    token = add_token(site, "planner", "viewer")
    signed_in(site, "planner").post(
        "/account/password", current=PASSWORD, new=OTHER_PASSWORD, again=OTHER_PASSWORD, tokens="yes"
    )
    assert call(site, "GET", "/api/v1/account", headers=bearer(token)).status == 401


@pytest.mark.parametrize(
    ("current", "new", "again", "message"),
    [
        ("a wrong password", OTHER_PASSWORD, OTHER_PASSWORD, "This is not your current password."),
        (PASSWORD, OTHER_PASSWORD, f"{OTHER_PASSWORD}!", "The two new passwords differ."),
        (PASSWORD, "short", "short", "at least 12 characters"),
        ("", OTHER_PASSWORD, OTHER_PASSWORD, "Enter your current password."),
        (PASSWORD, "", "", "Enter a new password."),
        (PASSWORD, PASSWORD, PASSWORD, "other than the current one"),
        (PASSWORD, "planner-planner-1", "planner-planner-1", "easy to guess"),
    ],
)
def test_password_change_is_refused_next_to_its_field(
    site: FastAPI, current: str, new: str, again: str, message: str
) -> None:
    browser = signed_in(site, "planner")
    answer = browser.post("/account/password", current=current, new=new, again=again)
    assert answer.status == 422
    assert message in answer.text
    assert Browser(site).sign_in("planner", PASSWORD).status == 303


def test_user_must_replace_a_password_that_an_administrator_set(site: FastAPI) -> None:
    add_user(site, "anna", "planner", must_change=True)
    browser = Browser(site)
    assert browser.sign_in("anna", to="/plans").headers["location"] == "/account/password?next=%2Fplans"
    assert browser.get("/plans").headers["location"] == "/account/password"
    refused = browser.send("GET", "/api/v1/plans", headers={"accept": "application/json"})
    assert refused.json()["type"] == "/docs/problems#password-change-required"
    assert "An administrator set your password" in browser.get("/account/password").text
    browser.post("/account/password", current=PASSWORD, new=OTHER_PASSWORD, again=OTHER_PASSWORD)
    assert browser.get("/plans").status == 200


def test_user_sees_and_ends_own_sessions_only(site: FastAPI) -> None:
    here, elsewhere = signed_in(site, "planner"), signed_in(site, "planner")
    other = signed_in(site, "viewer")
    with site.state.database.session(writes=False) as session:
        ids = list(session.scalars(select(UserSession.id).order_by(UserSession.id)))
    page = here.get("/account").text
    assert page.count("this browser") == 1
    assert f'name="session" value="{ids[1]}"' in page
    assert f'value="{ids[2]}"' not in page
    here.post("/account/sessions/end", session=str(ids[2]))
    assert other.get("/account").status == 200
    here.post("/account/sessions/end", session=str(ids[1]))
    assert elsewhere.get("/account").status == 303
    assert here.get("/account").status == 200


def test_new_token_needs_a_recent_sign_in(site: FastAPI) -> None:
    browser = signed_in(site, "planner")
    move_back(site, confirmed_at=sessions.RECENT)
    assert "Confirm your sign-in" in browser.get("/account").text
    answer = browser.post("/account/tokens", name="script", scope="viewer", days="30")
    assert answer.headers["location"] == "/sign-in/confirm?next=%2Faccount"
    assert browser.post("/sign-in/confirm", password="a wrong password", next="/account").status == 422
    confirmed = browser.post("/sign-in/confirm", password=PASSWORD, next="/account")
    assert confirmed.headers["location"] == "/account"
    answer = browser.post("/account/tokens", name="script", scope="viewer", days="30")
    assert answer.status == 200
    assert "cfplan_" in answer.text


def test_frame_of_pages_names_the_user_and_offers_to_sign_out(site: FastAPI) -> None:
    page = signed_in(site, "planner").get("/calculator").text
    assert '<span class="user-name" title="planner">planner</span>' in page
    assert 'action="/sign-out"' in page
    assert "Single-user mode" not in page
    assert 'href="/users"' not in page
    assert 'href="/users"' in signed_in(site, "administrator").get("/calculator").text


def test_anonymous_pages_offer_no_navigation(site: FastAPI) -> None:
    page = Browser(site).get("/sign-in").text
    assert 'aria-label="Main"' not in page
    assert 'href="/plans"' not in page


def test_sign_in_page_without_users_says_how_to_add_one(tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    assert "cfplan users add NAME --role administrator" in Browser(app).get("/sign-in").text


def test_large_form_is_refused_before_it_is_read(site: FastAPI) -> None:
    answer = call(
        site,
        "POST",
        "/sign-in",
        headers={"content-type": "application/x-www-form-urlencoded"},
        chunks=[b"name=" + b"x" * 20_000, *[b"x" * 1000] * 100],
    )
    assert answer.status == 413
    assert answer.chunks_read == 1
