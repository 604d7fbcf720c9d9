"""Signing in at an OpenID provider, and attacks on it."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from fastapi import FastAPI
from joserfc.jwk import ECKey, RSAKey
from sqlalchemy import URL, text

from app.accounts import attempts, oidc_provider, users
from app.accounts.errors import ProviderFailed
from app.accounts.oidc_provider import Provider
from app.audit.filters import AuditFilter
from app.audit.service import each_entry
from app.clock import utc_now
from app.database.engine import Database
from app.main import create_app
from app.settings import Settings
from tests.app.accounts.openid import (
    CLIENT_ID,
    CLIENT_SECRET,
    Browser,
    OpenIdProvider,
    changed,
    running,
    symmetric_key,
)
from tests.connections_support.server import Answer, Fault, StandIn
from tests.serving import served

Json = dict[str, Any]


@cache
def first_key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})


@cache
def other_key() -> RSAKey:
    """Return a key with the identifier of the first one."""
    return RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})


@pytest.fixture(scope="module")
def running_provider() -> Iterator[OpenIdProvider]:
    with running(OpenIdProvider(key=first_key())) as provider:
        yield provider


@pytest.fixture
def provider(running_provider: OpenIdProvider) -> OpenIdProvider:
    """Return the provider, which answers correctly until the test changes it."""
    running_provider.__dict__.update(vars(OpenIdProvider(key=first_key(), issuer=running_provider.issuer)))
    return running_provider


def settings_for(provider: OpenIdProvider, tmp_path: Path, **more: Any) -> Settings:  # noqa: ANN401 - fields
    given: Json = {
        "data_dir": tmp_path / "data",
        "authentication": ("accounts", "oidc"),
        "oidc_issuer": provider.issuer,
        "oidc_client_id": CLIENT_ID,
        "oidc_client_secret": CLIENT_SECRET,
        "role_groups": "administrator:mq-admins;planner:mq-planners;viewer:mq-readers",
        "password_memory_kib": 7168,
        "password_passes": 1,
        **more,
    }
    return Settings(**given)


@pytest.fixture(scope="module")
def service(
    running_provider: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FastAPI, str]]:
    """Return the application and its address."""
    app = create_app(settings_for(running_provider, tmp_path_factory.mktemp("service")))
    with served(app) as address:
        yield app, address


TABLES = ("user_sessions", "external_identities", "oidc_sign_ins", "sign_in_attempts", "users")


@pytest.fixture
def app(service: tuple[FastAPI, str], provider: OpenIdProvider) -> FastAPI:
    """Return the application without users, and without knowledge of the provider."""
    del provider
    app, _ = service
    database: Database = app.state.database
    with database.session(writes=True) as session:
        for table in TABLES:
            session.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - names in this file
    app.state.oidc_provider = Provider(app.state.settings)
    return app


@pytest.fixture
def browser(app: FastAPI, service: tuple[FastAPI, str]) -> Iterator[Browser]:
    del app
    browser = Browser(service[1])
    yield browser
    browser.close()


def refused(browser: Browser, answer: Any, status: int = 403) -> str:  # noqa: ANN401 - a response
    """Check that the answer is an error page and that no one is signed in; return the page."""
    assert answer.status_code == status, answer.text
    assert "text/html" in answer.headers["content-type"]
    assert "session=" not in answer.headers.get("set-cookie", "")
    assert browser.account() is None
    return str(answer.text)


# ---- signing in -----------------------------------------------------------------------------------------------------


def test_user_of_the_provider_is_signed_in_and_gets_the_role_of_the_group(browser: Browser) -> None:
    assert browser.account() is None
    answer = browser.sign_in("/sign-in/oidc?next=/plans%3Fpage%3D2")
    assert (answer.status_code, answer.headers["location"]) == (303, "/plans?page=2")
    account = browser.account()
    assert account is not None
    assert (account["name"], account["role"]) == ("alice", "planner")


def test_sign_in_works_with_both_databases(provider: OpenIdProvider, tmp_path: Path, url: URL) -> None:
    settings = settings_for(
        provider,
        tmp_path,
        database_url=url.set(drivername=url.get_backend_name()).render_as_string(hide_password=False),
    )
    with served(create_app(settings)) as address:
        browser = Browser(address)
        try:
            for _ in range(2):  # the first creates the user
                assert browser.sign_in().status_code == 303
            assert browser.account() is not None
        finally:
            browser.close()


def test_sign_in_page_offers_the_provider_and_keeps_the_page_that_follows(browser: Browser) -> None:
    page = browser.get("/sign-in?next=/plans").text
    assert 'href="/sign-in/oidc?next=%2Fplans"' in page
    assert "Sign in with OpenID Connect" in page


def test_groups_are_read_from_userinfo_if_the_token_has_none(
    provider: OpenIdProvider, browser: Browser
) -> None:
    provider.claims_in_token = False
    assert browser.sign_in().status_code == 303
    assert browser.account() is not None
    assert browser.signed_in()["role"] == "planner"
    assert "/userinfo" in provider.requests


def test_claims_in_objects_are_found(provider: OpenIdProvider, tmp_path: Path) -> None:
    provider.claims = {
        "sub": "1",
        "upn": "bob@example.com",
        "realm_access": {"roles": ["mq-admins", "mq-readers"]},
    }
    settings = settings_for(provider, tmp_path, oidc_name_claim="upn", oidc_groups_claim="realm_access.roles")
    with served(create_app(settings)) as address:
        browser = Browser(address)
        assert browser.sign_in().status_code == 303
        account = browser.account()
        browser.close()
    assert account is not None
    assert (account["name"], account["role"]) == ("bob@example.com", "administrator")


def test_role_is_updated_at_each_sign_in(provider: OpenIdProvider, browser: Browser) -> None:
    for groups, role in (
        (["mq-admins"], "administrator"),
        (["mq-readers", "others"], "viewer"),
        (["mq-planners"], "planner"),
    ):
        provider.claims["groups"] = groups
        assert browser.sign_in().status_code == 303
        assert browser.account() is not None
        assert browser.signed_in()["role"] == role


def test_user_without_a_role_is_refused_and_signed_out_everywhere(
    provider: OpenIdProvider, browser: Browser, app: FastAPI
) -> None:
    assert browser.sign_in().status_code == 303
    another = Browser(browser.service)
    provider.claims["groups"] = ["others"]
    page = refused(another, another.sign_in())
    another.close()
    assert "you have no role in cfplan" in page
    assert browser.account() is None, "the session of before is ended"
    assert count(app, "user_sessions") == 0


def test_default_role_is_for_users_without_a_known_group(provider: OpenIdProvider, tmp_path: Path) -> None:
    provider.claims["groups"] = "others"
    settings = settings_for(provider, tmp_path, default_role="viewer")
    with served(create_app(settings)) as address:
        browser = Browser(address)
        assert browser.sign_in().status_code == 303
        assert browser.account() is not None
        assert browser.signed_in()["role"] == "viewer"
        browser.close()


def test_user_is_known_by_issuer_and_subject_even_under_another_name(
    provider: OpenIdProvider, browser: Browser, app: FastAPI
) -> None:
    assert browser.sign_in().status_code == 303
    provider.claims |= {"preferred_username": "married", "email": "new@example.com"}
    assert browser.sign_in().status_code == 303
    assert browser.account() is not None
    assert browser.signed_in()["name"] == "alice"
    assert count(app, "users") == 1


def test_user_with_the_name_of_a_local_user_is_another_user(
    provider: OpenIdProvider, browser: Browser, app: FastAPI
) -> None:
    add_local_administrator(app, "alice")
    for _ in range(2):
        assert browser.sign_in().status_code == 303
        assert browser.account() is not None
        assert (browser.signed_in()["name"], browser.signed_in()["role"]) == ("alice-2", "planner")
    provider.claims["sub"] = "another"
    assert browser.sign_in().status_code == 303
    assert browser.signed_in()["name"] == "alice-3"


@pytest.mark.parametrize(
    ("suggested", "name"),
    [
        ("Zoë Müller", "zoe-muller"), ("<script>", "script"), ("..", "user"), ("", "user"), (None, "user"),
        (["a"], "user"), ("x" * 300, "x" * 64), ("A.B+c@Example.com", "a.b+c@example.com"), ("日本", "user"),
    ],
)  # fmt: skip
def test_name_of_a_new_user_is_made_valid(
    provider: OpenIdProvider, browser: Browser, suggested: object, name: str
) -> None:
    provider.claims["preferred_username"] = suggested
    assert browser.sign_in().status_code == 303
    assert browser.account() is not None
    assert browser.signed_in()["name"] == name


def test_disabled_user_is_refused(browser: Browser, app: FastAPI) -> None:
    add_local_administrator(app, "root")
    assert browser.sign_in().status_code == 303
    database: Database = app.state.database
    with database.session(writes=True) as session:
        users.disable(session, users.get(session, "alice"), utc_now())
    assert "is disabled" in refused(browser, browser.sign_in())
    entry = list(each_entry(app.state.database, AuditFilter(action="session.sign-in-failed")))[-1]
    assert entry.details["reason"] == "user disabled"


def test_confirmation_of_the_sign_in_asks_the_provider_to_sign_in_again(browser: Browser) -> None:
    begun = browser.get("/sign-in/oidc/again")
    assert "prompt=login" in begun.headers["location"]
    assert "prompt=" not in browser.get("/sign-in/oidc").headers["location"]


def test_confirmation_offers_the_provider_and_no_password_that_the_user_does_not_have(
    browser: Browser,
) -> None:
    assert 'type="password"' in browser.get("/sign-in").text
    assert browser.sign_in().status_code == 303
    page = browser.get("/sign-in/confirm?next=/account").text
    assert 'href="/sign-in/oidc/again?next=%2Faccount"' in page
    assert 'type="password"' not in page


def test_sign_out_ends_the_session_and_offers_to_sign_out_at_the_provider(
    provider: OpenIdProvider, browser: Browser, app: FastAPI
) -> None:
    assert browser.sign_in().status_code == 303
    answer = browser.post("/sign-out")
    assert answer.status_code == 303
    assert browser.account() is None
    assert count(app, "user_sessions") == 0
    assert 'href="/sign-in/oidc/sign-out"' in browser.get(answer.headers["location"]).text
    left = browser.get("/sign-in/oidc/sign-out")
    expected = changed(
        f"{provider.issuer}/logout",
        client_id=CLIENT_ID,
        post_logout_redirect_uri=f"{browser.service}/sign-in",
    )
    assert left.headers["location"] == expected


def test_provider_without_sign_out_is_not_offered(provider: OpenIdProvider, browser: Browser) -> None:
    provider.metadata = lambda stated: {k: v for k, v in stated.items() if k != "end_session_endpoint"}
    assert browser.sign_in().status_code == 303
    answer = browser.post("/sign-out")
    assert "/sign-in/oidc/sign-out" not in browser.get(answer.headers["location"]).text
    assert browser.get("/sign-in/oidc/sign-out").headers["location"] == "/sign-in"


def test_new_session_replaces_the_earlier_one_of_the_browser(browser: Browser, app: FastAPI) -> None:
    for _ in range(3):
        assert browser.sign_in().status_code == 303
    assert count(app, "user_sessions") == 1


def test_cookies_are_not_readable_by_scripts(browser: Browser) -> None:
    begun = browser.get("/sign-in/oidc")
    finished = browser.sign_in()
    for answer in (begun, finished):
        for cookie in answer.headers.get_list("set-cookie"):
            assert "HttpOnly" in cookie
            assert "SameSite=lax" in cookie
    assert begun.headers["cache-control"] == "no-store"


def test_installation_without_openid_connect_has_no_such_addresses(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, authentication=("accounts",)))
    with served(app) as address:
        browser = Browser(address)
        for path in (
            "/sign-in/oidc",
            "/sign-in/oidc/again",
            "/sign-in/oidc/callback",
            "/sign-in/oidc/sign-out",
        ):
            assert browser.get(path).status_code == 404
        browser.close()


def test_sign_in_new_user_and_changed_role_are_in_the_audit_trail(
    provider: OpenIdProvider, browser: Browser, app: FastAPI
) -> None:
    before = count(app, "audit_entries")
    assert browser.sign_in().status_code == 303
    provider.claims["groups"] = ["mq-readers"]
    assert browser.sign_in().status_code == 303
    provider.claims["groups"] = []
    assert browser.sign_in().status_code == 403
    database: Database = app.state.database
    with database.session(writes=False) as session:
        entries = session.execute(
            text("SELECT actor, action, object_name FROM audit_entries ORDER BY id")
        ).all()
    assert [tuple(entry) for entry in entries[before:]] == [
        ("directory", "user.created", "alice"), ("alice", "session.signed-in", "alice"),
        ("directory", "user.changed", "alice"), ("alice", "session.signed-in", "alice"),
        ("directory", "session.ended", "alice"), ("anonymous", "session.sign-in-failed", "alice"),
    ]  # fmt: skip


# ---- attacks --------------------------------------------------------------------------------------------------------


def test_one_address_cannot_begin_all_sign_ins(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, one client could keep all users from signing in."""
    monkeypatch.setattr(attempts, "MOST_BEGUN", 3)
    for _ in range(3):
        assert browser.get("/sign-in/oidc").status_code == 303
    answer = browser.get("/sign-in/oidc")
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0


def test_return_to_another_browser_is_refused(browser: Browser) -> None:
    """Otherwise, an attacker could sign in the user as someone else."""
    address = browser.to_callback()
    victim = Browser(browser.service)
    refused(victim, victim.get(address))
    victim.get("/sign-in/oidc")  # has a cookie now, but not for this sign-in
    refused(victim, victim.get(address))
    victim.close()
    assert browser.get(address).status_code == 303, "the attempt of another browser does not use it up"


@pytest.mark.parametrize("state", [None, "", "wrong", "x" * 5000, "\x00"])
def test_wrong_state_is_refused(browser: Browser, state: str | None) -> None:
    page = refused(browser, browser.get(changed(browser.to_callback(), state=state)))
    assert "not begun in this browser" in page


def test_used_return_address_is_refused(browser: Browser, provider: OpenIdProvider) -> None:
    address = browser.to_callback()
    assert browser.get(address).status_code == 303
    browser.post("/sign-out")
    exchanged = provider.requests.count("/token")
    refused(browser, browser.get(address))
    assert provider.requests.count("/token") == exchanged, "the code is not sent again"


def test_code_that_was_used_in_another_sign_in_is_refused(browser: Browser) -> None:
    first = browser.to_callback()
    code = first.partition("code=")[2].partition("&")[0]
    assert browser.get(first).status_code == 303
    browser.post("/sign-out")
    refused(browser, browser.get(changed(browser.to_callback(), code=code)))


def test_code_of_another_sign_in_is_refused(browser: Browser) -> None:
    """PKCE: the code of an attacker's own sign-in does not match the verifier."""
    attacker = Browser(browser.service)
    code = attacker.to_callback().partition("code=")[2].partition("&")[0]
    attacker.close()
    refused(browser, browser.get(changed(browser.to_callback(), code=code)))


def test_sign_in_that_took_too_long_is_refused(
    browser: Browser, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = browser.to_callback()
    database: Database = app.state.database
    with database.session(writes=True) as session:
        session.execute(text("UPDATE oidc_sign_ins SET begun_at = '2020-01-01 00:00:00.000000'"))
    refused(browser, browser.get(address))
    browser.get("/sign-in/oidc")
    assert count(app, "oidc_sign_ins") == 1, "old ones are removed"


def edited(**claims: object) -> Callable[[Json], Json]:
    """Return a change of an ID token; ... removes a claim."""

    def change(token: Json) -> Json:
        return {name: value for name, value in (token | claims).items() if value is not ...}

    return change


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(edited(nonce="another"), id="another nonce"),
        pytest.param(edited(nonce=...), id="no nonce"),
        pytest.param(edited(iss="https://evil.example"), id="another issuer"),
        pytest.param(edited(iss=...), id="no issuer"),
        pytest.param(edited(aud="another-client"), id="another audience"),
        pytest.param(edited(aud=["another-client", "third"]), id="other audiences"),
        pytest.param(edited(aud=...), id="no audience"),
        pytest.param(edited(aud=[CLIENT_ID, "another"]), id="further audience without azp"),
        pytest.param(edited(aud=[CLIENT_ID, "another"], azp="another"), id="issued to another client"),
        pytest.param(edited(exp=int(time.time()) - 3600), id="expired"),
        pytest.param(edited(exp=...), id="no expiry"),
        pytest.param(edited(exp="soon"), id="expiry is not a number"),
        pytest.param(edited(iat=...), id="no time of issue"),
        pytest.param(edited(iat=int(time.time()) + 3600), id="issued in the future"),
        pytest.param(edited(nbf=int(time.time()) + 3600), id="not valid yet"),
        pytest.param(edited(sub=...), id="no subject"),
        pytest.param(edited(sub=""), id="empty subject"),
        pytest.param(edited(sub="x" * 256), id="subject too long"),
        pytest.param(edited(at_hash="wrong"), id="another access token"),
    ],
)
def test_id_token_with_wrong_claims_is_refused(
    provider: OpenIdProvider, browser: Browser, app: FastAPI, change: Callable[[Json], Json]
) -> None:
    provider.token = change
    refused(browser, browser.sign_in())
    assert count(app, "users") == 0


@pytest.mark.parametrize(
    ("header", "key"),
    [
        pytest.param({"alg": "none"}, lambda: None, id="not signed"),
        pytest.param({"alg": "RS256"}, other_key, id="another key with the same identifier"),
        pytest.param({"alg": "RS256", "kid": "unknown"}, other_key, id="a key that is not published"),
        pytest.param(
            {"alg": "HS256", "kid": "first"},
            lambda: symmetric_key(CLIENT_SECRET),
            id="the client's secret as key",
        ),
        pytest.param(
            {"alg": "HS256", "kid": "first"},
            lambda: symmetric_key(json.dumps(first_key().as_dict(private=False))),
            id="the public key as secret",
        ),
        pytest.param({"alg": "PS256"}, lambda: None, id="an algorithm that the provider does not state"),
    ],
)
def test_id_token_with_a_wrong_signature_is_refused(
    provider: OpenIdProvider, browser: Browser, app: FastAPI, header: Json, key: Callable[[], object]
) -> None:
    provider.header, provider.signing_key = header, key()
    provider.published = [first_key()]
    refused(browser, browser.sign_in())
    assert count(app, "users") == 0


def test_symmetric_signature_is_refused_even_if_the_provider_states_it(
    provider: OpenIdProvider, browser: Browser
) -> None:
    provider.metadata = lambda stated: (
        stated | {"id_token_signing_alg_values_supported": ["none", "HS256", "RS256"]}
    )
    provider.published = [first_key(), symmetric_key(CLIENT_SECRET)]
    for header, key in (({"alg": "none"}, None), ({"alg": "HS256"}, symmetric_key(CLIENT_SECRET))):
        provider.header, provider.signing_key = header, key
        refused(browser, browser.sign_in())


def test_changed_token_is_refused(provider: OpenIdProvider, browser: Browser) -> None:
    def elevate(answer: Json) -> Json:
        head, _, signature = answer["id_token"].split(".")
        body = provider.sign({"iss": provider.issuer, "sub": "admin", "aud": CLIENT_ID}).split(".")[1]
        return answer | {"id_token": f"{head}.{body}.{signature}"}

    provider.answer = elevate
    refused(browser, browser.sign_in())


def test_new_key_of_the_provider_is_read_once_it_is_used(provider: OpenIdProvider, browser: Browser) -> None:
    assert browser.sign_in().status_code == 303
    browser.post("/sign-out")
    read = provider.requests.count("/keys")
    provider.key = ECKey.generate_key("P-256", {"kid": "second", "use": "sig"})
    provider.header = {"alg": "ES256"}
    assert browser.sign_in().status_code == 303
    assert browser.account() is not None
    assert provider.requests.count("/keys") == read + 1
    browser.sign_in()
    assert provider.requests.count("/keys") == read + 1, "known keys are not read again"


def test_answer_that_names_another_provider_is_refused(provider: OpenIdProvider, browser: Browser) -> None:
    """An attacker's provider sends the browser here, so that it gets the code of this one (mix-up)."""
    provider.returned = lambda given: given | {"iss": "https://evil.example"}
    refused(browser, browser.sign_in())
    assert "/token" not in provider.requests, "the code is not sent"


def test_answer_without_issuer_is_refused_if_the_provider_always_names_itself(
    provider: OpenIdProvider, browser: Browser
) -> None:
    provider.metadata = lambda stated: stated | {"authorization_response_iss_parameter_supported": True}
    refused(browser, browser.sign_in())
    assert "/token" not in provider.requests
    provider.returned = lambda given: given | {"iss": provider.issuer}
    assert browser.sign_in().status_code == 303


def test_userinfo_of_another_user_is_refused(provider: OpenIdProvider, browser: Browser) -> None:
    provider.claims_in_token = False
    provider.userinfo = lambda claims: claims | {"sub": "another", "groups": ["mq-admins"]}
    refused(browser, browser.sign_in())


def test_userinfo_does_not_replace_claims_of_the_signed_token(
    provider: OpenIdProvider, browser: Browser
) -> None:
    provider.claims_in_token = False
    provider.token = lambda token: token | {"groups": ["mq-readers"]}
    provider.userinfo = lambda claims: claims | {"groups": ["mq-admins"]}
    assert browser.sign_in().status_code == 303
    assert browser.account() is not None
    assert browser.signed_in()["role"] == "viewer"


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
        "javascript:alert(1)", "/sign-out", "http:evil.example", "/%0d%0aset-cookie:x", "x" * 3000,
    ],
)  # fmt: skip
def test_page_that_follows_is_a_page_of_this_service(browser: Browser, to: str) -> None:
    answer = browser.sign_in(f"/sign-in/oidc?next={quote(to)}")
    assert answer.status_code == 303
    location = answer.headers["location"]
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))
    assert urlsplit(location).netloc == ""


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"error": "access_denied"}, "was canceled"),
        (
            {"error": "server_error", "error_description": "<script>alert(1)</script>"},
            "could not complete the sign-in",
        ),
        ({}, "could not complete the sign-in"),
    ],
)
def test_error_of_the_provider_gives_a_page_without_its_text(
    provider: OpenIdProvider, browser: Browser, parameters: Json, says: str
) -> None:
    provider.returned = lambda given: {"state": given["state"], **parameters}
    page = refused(browser, browser.sign_in())
    assert says in page
    assert "alert(1)" not in page


# ---- a provider that does not work -------------------------------------------------------------------------------


def without(name: str) -> Callable[[Json], Json]:
    return lambda stated: {key: value for key, value in stated.items() if key != name}


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param(lambda stated: stated | {"issuer": "https://evil.example"}, id="another issuer"),
        pytest.param(without("issuer"), id="no issuer"),
        pytest.param(without("token_endpoint"), id="no token endpoint"),
        pytest.param(without("jwks_uri"), id="no keys"),
        pytest.param(
            lambda stated: stated | {"token_endpoint": "http://login.example.com/token"}, id="without TLS"
        ),
        pytest.param(
            lambda stated: stated | {"userinfo_endpoint": "http://login.example.com/"},
            id="userinfo without TLS",
        ),
        pytest.param(
            lambda stated: stated | {"authorization_endpoint": "javascript:alert(1)"}, id="not an address"
        ),
        pytest.param(lambda stated: stated | {"authorization_endpoint": 7}, id="not a text"),
        pytest.param(lambda stated: stated | {"code_challenge_methods_supported": ["plain"]}, id="no PKCE"),
        pytest.param(lambda stated: stated | {"padding": "x" * 2_000_000}, id="too large"),
        pytest.param(lambda _: ["not", "an", "object"], id="not an object"),
    ],
)
def test_provider_with_unusable_metadata_is_not_used(
    provider: OpenIdProvider,
    browser: Browser,
    metadata: Any,  # noqa: ANN401 - a change of metadata
) -> None:
    provider.metadata = metadata
    page = refused(browser, browser.get("/sign-in/oidc"), 502)
    assert "does not answer as it should" in page
    provider.metadata = lambda stated: stated
    assert browser.sign_in().status_code == 303, "it is read again at the next sign-in"


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br"])
def test_answer_of_the_provider_that_could_grow_without_bound_is_not_read(
    provider: OpenIdProvider, browser: Browser, encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    provider.encoding = encoding
    assert "does not answer as it should" in refused(browser, browser.get("/sign-in/oidc"), 502)
    assert "an encoding that was not asked for" in caplog.text
    provider.encoding = ""
    assert browser.sign_in().status_code == 303


def test_endless_answer_of_the_token_endpoint_is_given_up(
    provider: OpenIdProvider, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"access_token": "'
        while True:
            yield b"x" * 2**16
            sent += 2**16
            await asyncio.sleep(0)

    provider.endless_token = endless
    assert "does not answer as it should" in refused(browser, browser.sign_in(), 502)
    assert "/token answers with more than 1048576 bytes" in caplog.text
    # Beyond the limit, the provider could only fill the buffers of the sockets.
    assert sent < 100 * 2**20
    provider.endless_token = None
    assert browser.sign_in().status_code == 303


def test_token_that_arrives_too_slowly_is_given_up(
    provider: OpenIdProvider,
    browser: Browser,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def dripping() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    back = browser.to_callback()
    monkeypatch.setattr(oidc_provider, "ANSWER_S", 0.1)
    provider.endless_token = dripping
    assert "does not answer as it should" in refused(browser, browser.get(back), 502)
    assert "was not complete after 0.1 seconds" in caplog.text


def test_answer_whose_headers_never_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc_provider, "ANSWER_S", 0.5)
    stand_in = StandIn(lambda _: Answer())
    stand_in.faults.append(Fault(drips_headers=True))
    with stand_in.running(tmp_path, tls=False):
        provider = Provider(settings_for(OpenIdProvider(key=first_key(), issuer=stand_in.address), tmp_path))
        with pytest.raises(ProviderFailed) as failed:
            provider.authorization_address(
                "http://localhost/", state="s", nonce="n", verifier="v" * 43, again=False
            )
    assert "was not complete after 0.5 seconds" in failed.value.log


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br"])
def test_token_that_could_grow_without_bound_is_not_read(
    provider: OpenIdProvider, browser: Browser, encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    provider.token_encoding = encoding
    assert "does not answer as it should" in refused(browser, browser.sign_in(), 502)
    assert "an encoding that was not asked for" in caplog.text


@pytest.mark.parametrize("answer", [{}, {"id_token": 7}, {"id_token": "a.b"}, {"id_token": ""}])
def test_answer_without_a_usable_token_gives_a_page(
    provider: OpenIdProvider, browser: Browser, answer: Json
) -> None:
    provider.answer = lambda given: {"access_token": given["access_token"], "token_type": "Bearer", **answer}
    reply = browser.sign_in()
    refused(browser, reply, reply.status_code)
    assert reply.status_code in (403, 502)


def test_local_users_sign_in_while_the_provider_is_down(tmp_path: Path) -> None:
    with running(OpenIdProvider(key=first_key())) as provider:
        settings = settings_for(provider, tmp_path)
    app = create_app(settings)  # the provider has stopped
    with served(app) as address:
        add_local_administrator(app, "root")
        browser = Browser(address)
        assert "does not answer as it should" in refused(browser, browser.get("/sign-in/oidc"), 502)
        answer = browser.post("/sign-in", data={"name": "root", "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        assert browser.account() is not None
        browser.close()


def test_provider_that_does_not_answer_is_given_up(
    provider: OpenIdProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc_provider, "TIMEOUT", type(oidc_provider.TIMEOUT)(0.2))
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts connections and never answers
        host, port = silent.getsockname()[:2]
        settings = settings_for(provider, tmp_path, oidc_issuer=f"http://{host}:{port}")
        with served(create_app(settings)) as address:
            browser = Browser(address)
            refused(browser, browser.get("/sign-in/oidc"), 502)
            browser.close()


# ---- what is stored and logged -----------------------------------------------------------------------------------


def test_tokens_codes_and_secrets_are_neither_stored_nor_logged(
    provider: OpenIdProvider, browser: Browser, app: FastAPI, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def note(answer: Json) -> Json:
        seen.extend([answer["access_token"], answer["id_token"], answer["id_token"].split(".")[2]])
        return answer

    provider.answer = note
    with caplog.at_level(logging.DEBUG):
        address = browser.to_callback()
        seen.append(address.partition("code=")[2].partition("&")[0])
        assert browser.get(address).status_code == 303
        provider.token = edited(nonce="wrong")
        browser.post("/sign-out")
        browser.sign_in()
    logged = "\n".join(
        record.getMessage()
        for record in caplog.records
        # httpx logs the requests of this test's browser too.
        if record.name.startswith(("cfplan", "authlib"))
        or (
            record.name in {"httpx", "httpx2"}
            and browser.service not in record.getMessage()
            and "/authorize" not in record.getMessage()
        )
    )
    assert "/token" in logged
    assert "Sign-in with OpenID Connect failed" in logged
    stored = everything(app)
    assert "alice" in stored
    for secret in [*seen, CLIENT_SECRET]:
        assert len(secret) > 5
        assert secret not in logged
        assert secret not in stored


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"oidc_issuer": ""}, "CFPLAN_OIDC_ISSUER"),
        ({"oidc_client_id": ""}, "CFPLAN_OIDC_CLIENT_ID"),
        ({"oidc_issuer": "http://login.example.com"}, "begins with https"),
        ({"oidc_issuer": "login.example.com"}, "begins with https"),
        ({"oidc_scopes": "profile"}, "openid must be one"),
        ({"oidc_client_secret_file": "x"}, "CFPLAN_OIDC_CLIENT_SECRET_FILE"),
        ({"role_groups": ""}, "CFPLAN_ROLE_GROUPS"),
        ({"role_groups": "boss:x"}, "is not a role and a group"),
        ({"role_groups": "planner"}, "is not a role and a group"),
        ({"role_groups": "planner:x;viewer:x"}, "two roles"),
        ({"default_role": "boss"}, "default_role"),
    ],
)
def test_incomplete_settings_prevent_the_start(tmp_path: Path, given: Json, says: str) -> None:
    provider = OpenIdProvider(issuer="https://login.example.com", key=first_key())
    with pytest.raises(ValueError, match=says):
        settings_for(provider, tmp_path, **given)


def test_secret_of_the_client_comes_from_a_file(provider: OpenIdProvider, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{CLIENT_SECRET}\n", encoding="utf-8")
    settings = settings_for(provider, tmp_path, oidc_client_secret="", oidc_client_secret_file=str(file))
    with served(create_app(settings)) as address:
        browser = Browser(address)
        assert browser.sign_in().status_code == 303
        browser.close()


def test_wrong_secret_of_the_client_gives_a_page(provider: OpenIdProvider, tmp_path: Path) -> None:
    with served(create_app(settings_for(provider, tmp_path, oidc_client_secret="wrong"))) as address:
        browser = Browser(address)
        refused(browser, browser.sign_in())
        browser.close()


def test_jobs_get_the_same_settings_without_the_secret_of_the_client(
    provider: OpenIdProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings_for(provider, tmp_path)
    assert given.oidc_client_secret
    monkeypatch.setenv("CFPLAN_OIDC_CLIENT_SECRET", given.oidc_client_secret)
    assert CLIENT_SECRET not in str(given.as_environment())
    for name, value in given.as_environment().items():
        monkeypatch.setenv(name, value)
    assert Settings() == given.model_copy(update={"data_dir": Settings().data_dir, "oidc_client_secret": ""})


def test_secret_is_not_shown_with_the_settings(provider: OpenIdProvider, tmp_path: Path) -> None:
    assert CLIENT_SECRET not in repr(settings_for(provider, tmp_path))


PASSWORD = "a long local password"


def add_local_administrator(app: FastAPI, name: str) -> None:
    database: Database = app.state.database
    with database.session(writes=True) as session:
        users.add(
            session,
            name,
            "administrator",
            password_hash=app.state.accounts.passwords.hash(PASSWORD),
            now=utc_now(),
        )


def count(app: FastAPI, table: str) -> int:
    database: Database = app.state.database
    with database.session(writes=False) as session:
        return int(session.scalar(text(f"SELECT count(*) FROM {table}")) or 0)  # noqa: S608 - names in this file


def everything(app: FastAPI) -> str:
    """Return all rows of the tables of accounts as text."""
    database: Database = app.state.database
    with database.session(writes=False) as session:
        return "\n".join(
            repr(tuple(row))
            for table in TABLES
            for row in session.execute(text(f"SELECT * FROM {table}"))  # noqa: S608
        )
