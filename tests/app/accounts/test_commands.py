"""The commands `cfplan users` and `cfplan tokens`, and the start of the service."""

from __future__ import annotations

import io
import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.cli import main
from app.settings import Settings, is_loopback, read_settings
from tests.app.accounts.support import OTHER_PASSWORD, PASSWORD, Browser, app_with_accounts, bearer
from tests.app.web.support import call


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, text: str = "") -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return main(arguments)


def add(monkeypatch: pytest.MonkeyPatch, name: str, role: str) -> None:
    assert run(monkeypatch, "users", "add", name, "--role", role, text=f"{PASSWORD}\n") == 0


def test_added_user_can_sign_in(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "Anna", "administrator")
    assert Browser(app_with_accounts(data)).sign_in("anna").status == 303


def test_password_is_asked_for_twice_at_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    answers = iter([PASSWORD, OTHER_PASSWORD])
    monkeypatch.setattr("getpass.getpass", lambda _prompt: next(answers))
    assert main(["users", "add", "anna", "--role", "viewer"]) == 2
    assert "The two passwords differ." in capsys.readouterr().err


def test_no_option_takes_a_password(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("add", "password"):
        assert main(["users", verb, "--help"]) == 0
        assert "--password" not in capsys.readouterr().out


def test_weak_password_and_unknown_names_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "users", "add", "anna", "--role", "viewer", text="short\n") == 2
    assert "at least 12 characters" in capsys.readouterr().err
    for arguments in (("disable", "nobody"), ("password", "nobody"), ("role", "nobody", "viewer")):
        assert run(monkeypatch, "users", *arguments) == 2
        assert "There is no user 'nobody'." in capsys.readouterr().err
    assert run(monkeypatch, "tokens", "revoke", "7") == 2
    assert "There is no token 7." in capsys.readouterr().err


def test_replaced_password_ends_sessions(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "anna", "viewer")
    browser = Browser(app_with_accounts(data))
    browser.sign_in("anna")
    assert browser.get("/plans").status == 200
    assert run(monkeypatch, "users", "password", "anna", "--must-change", text=f"{OTHER_PASSWORD}\n") == 0
    assert browser.get("/plans").status == 303
    assert browser.sign_in("anna", OTHER_PASSWORD).headers["location"] == "/account/password"


def test_disabled_user_is_listed_and_enabled_again(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add(monkeypatch, "anna", "viewer")
    assert run(monkeypatch, "users", "disable", "anna") == 0
    assert Browser(app_with_accounts(data)).sign_in("anna").status == 422
    capsys.readouterr()
    assert run(monkeypatch, "users", "list", "--json") == 0
    (user,) = json.loads(capsys.readouterr().out)["users"]
    assert (user["name"], user["is_disabled"]) == ("anna", True)
    assert "password_hash" not in user
    assert run(monkeypatch, "users", "enable", "anna") == 0
    assert Browser(app_with_accounts(data)).sign_in("anna").status == 303


def test_token_is_printed_alone_and_works_until_it_is_revoked(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add(monkeypatch, "anna", "planner")
    capsys.readouterr()
    assert run(monkeypatch, "tokens", "create", "anna", "--name", "script", "--scope", "planner") == 0
    secret = capsys.readouterr().out.strip()
    app = app_with_accounts(data)
    assert call(app, "GET", "/api/v1/plans", headers=bearer(secret)).status == 200
    assert run(monkeypatch, "tokens", "list", "--json") == 0
    listed = capsys.readouterr().out
    assert secret not in listed
    assert json.loads(listed)["tokens"][0]["state"] == "active"
    assert run(monkeypatch, "tokens", "revoke", "1") == 0
    assert call(app, "GET", "/api/v1/plans", headers=bearer(secret)).status == 401


# ---- serve ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the host of each start of the server, which is replaced."""
    starts: list[str] = []

    def supervised(_app: FastAPI, settings: Settings, _sockets: object) -> int:
        starts.append(settings.host)
        return 0

    monkeypatch.setattr("app.serve_cli.supervise", supervised)
    monkeypatch.setattr(
        "app.serving.listening.listening_sockets", lambda *_: [socket.create_server(("127.0.0.1", 0))]
    )
    before = os.umask(0o022)
    yield starts
    os.umask(before)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "cfplan.example.com"])  # noqa: S104
def test_other_machines_are_not_served_without_sign_in(
    started: list[str], capsys: pytest.CaptureFixture[str], data: Path, host: str
) -> None:
    assert main(["serve", "--host", host]) == 2
    said = capsys.readouterr().err
    assert f"Other machines can reach {host}, but no one would have to sign in" in said
    assert "CFPLAN_AUTHENTICATION=accounts" in said
    assert "cfplan users add NAME --role administrator" in said
    assert started == []
    assert not (data / "data").exists(), "nothing was opened"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_this_machine_is_served_without_sign_in(started: list[str], host: str) -> None:
    assert main(["serve", "--host", host]) == 0
    assert started == [host]


def test_other_machines_are_served_with_sign_in(
    started: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_AUTHENTICATION", "accounts")
    assert main(["serve", "--host", "0.0.0.0"]) == 0  # noqa: S104
    assert "There are no users yet" in capsys.readouterr().err
    add(monkeypatch, "anna", "administrator")
    assert main(["serve", "--host", "0.0.0.0"]) == 0  # noqa: S104
    assert "There are no users yet" not in capsys.readouterr().err
    assert len(started) == 2


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("LOCALHOST.", True),
        ("127.0.0.1.example.com", False),
        ("0.0.0.0", False),  # noqa: S104
        ("::", False),
        ("", False),
    ],
)
def test_loopback_addresses_are_recognized(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize("text", ["off", "", " OFF "])
def test_authentication_is_off_by_default_and_on_request(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert not Settings().requires_sign_in
    monkeypatch.setenv("CFPLAN_AUTHENTICATION", text)
    assert Settings().authentication == ()


def test_misspelled_settings_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (
        ("AUTHENTICATION", "acounts"),
        ("AUTHENTICATION", "off,accounts"),
        ("TRUSTED_PROXIES", "proxy"),
    ):
        monkeypatch.setenv(f"CFPLAN_{name}", value)
        assert main(["users", "list"]) == 2
        assert f"not valid. CFPLAN_{name}: " in capsys.readouterr().err
        monkeypatch.delenv(f"CFPLAN_{name}")


def test_settings_reach_child_processes_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(authentication="accounts", trusted_proxies="10.0.0.0/8", sign_in_over_http=True)
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)
    again = read_settings()
    assert (again.authentication, again.trusted_proxies, again.sign_in_over_http) == (
        ("accounts",),
        ("10.0.0.0/8",),
        True,
    )
