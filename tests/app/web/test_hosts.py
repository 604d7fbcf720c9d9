from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from tests.app.web.support import assert_problem, call


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "127.0.0.1", "127.0.0.1:1", "[::1]:8000", "LOCALHOST", "localhost."],
)
def test_requests_to_loopback_names_are_accepted(app: FastAPI, host: str) -> None:
    assert call(app, "GET", "/healthz", host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "rebound.example", "127.0.0.1.rebound.example", "localhost.rebound.example", "192.0.2.1", "", "localhost:", "a b",
        "localhost:99999999", "localhost/..", "user@localhost", "::1", "lo\xe7alhost",
    ],
)  # fmt: skip
def test_other_host_names_are_refused(app: FastAPI, host: str) -> None:
    assert_problem(call(app, "GET", "/healthz", host=host), "misdirected-request", 421)


def test_request_without_a_host_is_refused(app: FastAPI) -> None:
    assert_problem(call(app, "GET", "/healthz", host=None), "misdirected-request", 421)


def test_request_with_two_host_headers_is_refused(app: FastAPI) -> None:
    assert_problem(call(app, "GET", "/healthz", headers=[("host", "localhost")]), "misdirected-request", 421)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("cfplan.example.com", 200), ("a.internal", 200), ("a.b.internal:80", 200), ("internal", 421),
        ("notinternal", 421), ("localhost", 421),
    ],
)  # fmt: skip
def test_host_names_in_the_settings_are_accepted(tmp_path: Path, host: str, status: int) -> None:
    app = create_app(Settings(data_dir=tmp_path, allowed_hosts=("cfplan.example.com", ".internal")))
    assert call(app, "GET", "/healthz", host=host).status == status


def test_star_allows_any_well_formed_host_name(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, allowed_hosts=("*",)))
    assert call(app, "GET", "/healthz", host="anything.example").status == 200
    assert call(app, "GET", "/healthz", host="any thing").status == 421
