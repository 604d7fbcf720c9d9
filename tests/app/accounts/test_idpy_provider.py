"""Signing in at a provider of another implementation, which runs as a separate process."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from app.database.engine import Database
from app.main import create_app
from app.settings import Settings
from tests.app.accounts.openid import Browser, changed
from tests.serving import served

if importlib.util.find_spec("idpyoidc") is None:
    pytest.skip("idpyoidc is not installed: make setup", allow_module_level=True)

SCRIPT = Path(__file__).with_name("idpy_provider.py")
CLIENT_ID, CLIENT_SECRET = "cfplan-idpy", "a secret of thirty-two characters"


@dataclass(frozen=True)
class Installation:
    app: FastAPI
    address: str


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Start the provider and the service, each of which needs the address of the other."""
    folder = tmp_path_factory.mktemp("idpy")
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, SCRIPT],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            issuer = process.stdout.readline().strip()
            assert issuer, (folder / "log").read_text()
            app = create_app(
                Settings(
                    data_dir=folder / "data", authentication="oidc", oidc_issuer=issuer,
                    oidc_client_id=CLIENT_ID, oidc_client_secret=CLIENT_SECRET, role_groups="operator:mq-operators",
                )
            )  # fmt: skip
            with served(app) as address:
                process.stdin.write(f"{address}/sign-in/oidc/callback\n")
                process.stdin.flush()
                yield Installation(app, address)
        finally:
            process.kill()
            process.communicate()


@pytest.fixture
def browser(installation: Installation) -> Iterator[Browser]:
    browser = Browser(installation.address)
    yield browser
    browser.close()


def test_user_signs_in_with_name_and_role_of_the_provider(browser: Browser) -> None:
    address = browser.to_callback()
    assert "iss=" in address, "the provider names itself (RFC 9207)"
    assert browser.get(address).status_code == 303
    account = browser.account()
    assert account is not None
    assert (account["name"], account["role"]) == ("alice", "operator")


def test_provider_refuses_a_code_with_another_verifier(browser: Browser, installation: Installation) -> None:
    address = browser.to_callback()
    database: Database = installation.app.state.database
    with database.session(writes=True) as session:
        session.execute(text("UPDATE oidc_sign_ins SET verifier = :other"), {"other": "x" * 43})
    assert browser.get(address).status_code == 403
    assert browser.account() is None


def test_provider_refuses_a_code_that_was_used(browser: Browser) -> None:
    first = browser.to_callback()
    code = first.partition("code=")[2].partition("&")[0]
    assert browser.get(first).status_code == 303
    browser.post("/sign-out")
    assert browser.get(changed(browser.to_callback(), code=unquote(code))).status_code == 403
    assert browser.account() is None
