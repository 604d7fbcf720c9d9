"""X-Forwarded-For and X-Forwarded-Proto are believed only if a proxy of the settings sends them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.main import create_app
from app.settings import Settings, SettingsInvalid, read_settings
from tests.app.web.support import call

FORWARDED = {"x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "https"}


def seen_by(app: FastAPI, headers: dict[str, str]) -> tuple[str, str]:
    """Return the scheme and the client's address that the routes see in a request from 127.0.0.1."""

    async def seen(request: Request) -> JSONResponse:
        assert request.client is not None
        return JSONResponse([request.url.scheme, request.client.host])

    app.router.routes.insert(0, Route("/seen", seen))
    scheme, address = call(app, "GET", "/seen", headers=headers).json()
    return scheme, address


@pytest.mark.parametrize("trusted", [(), ("192.0.2.1",), ("10.0.0.0/8", "::1")])
def test_headers_of_other_clients_are_ignored(tmp_path: Path, trusted: tuple[str, ...]) -> None:
    app = create_app(Settings(data_dir=tmp_path, trusted_proxies=trusted))
    assert seen_by(app, FORWARDED) == ("http", "127.0.0.1")


@pytest.mark.parametrize("trusted", ["127.0.0.1", "192.0.2.1, 127.0.0.0/8"])
def test_headers_of_a_trusted_proxy_are_believed(
    tmp_path: Path, trusted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFPLAN_TRUSTED_PROXIES", trusted)
    assert seen_by(create_app(Settings(data_dir=tmp_path)), FORWARDED) == ("https", "192.0.2.7")


def test_address_before_that_of_the_proxy_is_the_clients(tmp_path: Path) -> None:
    """A proxy that appends to the header passes on what the client made up before it."""
    app = create_app(Settings(data_dir=tmp_path, trusted_proxies=("127.0.0.1", "10.0.0.1")))
    headers = {"x-forwarded-for": "198.51.100.9, 192.0.2.7, 10.0.0.1"}
    assert seen_by(app, headers) == ("http", "192.0.2.7")


def test_unknown_scheme_is_ignored(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, trusted_proxies=("127.0.0.1",)))
    assert seen_by(app, {"x-forwarded-proto": "javascript"}) == ("http", "127.0.0.1")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("*", "is not an address or a network"),
        ("proxy.example.com", "is not an address or a network"),
        ("127.0.0.1 10.0.0.1", "is not an address or a network"),
        ("10.0.0.1/8", "is not an address or a network"),
        ("0.0.0.0/0", "includes every address"),
        ("127.0.0.1,::/0", "includes every address"),
    ],
)
def test_value_that_is_not_an_address_is_refused_at_start(
    value: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFPLAN_TRUSTED_PROXIES", value)
    with pytest.raises(SettingsInvalid, match=f"CFPLAN_TRUSTED_PROXIES: .*{reason}"):
        read_settings()


def test_processes_of_the_service_get_the_same_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Settings(trusted_proxies=("127.0.0.1", "2001:db8::/32"))
    for name, value in given.as_environment().items():
        monkeypatch.setenv(name, value)
    assert Settings().trusted_proxies == given.trusted_proxies
