from __future__ import annotations

import pytest
from fastapi import FastAPI

from app.web.security.same_origin import is_same_origin
from tests.app.web.support import SMALLEST, assert_problem, call, get, post_json

HERE = "http://127.0.0.1:8000"
MATRIX = [
    # Sec-Fetch-Site, Origin, passes
    (None, None, True),
    ("same-origin", None, True),
    ("same-origin", HERE, True),
    ("none", None, True),
    ("same-site", None, False),
    ("cross-site", None, False),
    ("cross-site", HERE, False),
    ("Same-Origin", None, False),
    ("", None, False),
    (None, HERE, True),
    (None, "https://127.0.0.1:8000", True),
    (None, "http://127.0.0.1", False),
    (None, "http://127.0.0.1:8001", False),
    (None, "http://localhost:8000", False),
    (None, "http://evil.example", False),
    (None, "http://127.0.0.1:8000.evil.example", False),
    (None, "http://127.0.0.1:8000@evil.example", False),
    (None, "null", False),
    (None, "", False),
    (None, "http://127.0.0.1:port", False),
]


def headers_of(site: str | None, origin: str | None) -> dict[str, str]:
    given = {"sec_fetch_site": site, "origin": origin}
    return {name: value for name, value in given.items() if value is not None}


@pytest.mark.parametrize(("site", "origin", "passes"), MATRIX)
def test_post_is_accepted_only_from_this_service_or_without_a_browser(
    app: FastAPI, site: str | None, origin: str | None, passes: bool
) -> None:
    answer = post_json(app, "/api/v1/size", SMALLEST, **headers_of(site, origin))
    if passes:
        assert answer.status == 200, answer.text
    else:
        assert_problem(answer, "cross-origin", 403)


@pytest.mark.parametrize(("site", "origin", "passes"), MATRIX)
def test_get_request_needs_no_origin(
    app: FastAPI, site: str | None, origin: str | None, passes: bool
) -> None:
    assert get(app, "/healthz", **headers_of(site, origin)).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "QUERY", "TRACE"])
def test_origin_is_checked_for_methods_not_known_to_be_safe(app: FastAPI, method: str) -> None:
    assert_problem(
        call(app, method, "/healthz", headers={"origin": "http://evil.example"}), "cross-origin", 403
    )


@pytest.mark.parametrize(
    ("origin", "host", "passes"),
    [
        ("http://localhost", "localhost", True),
        ("http://localhost:80", "localhost", True),
        ("https://localhost", "localhost", True),
        ("https://localhost", "localhost:443", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://LOCALHOST:8000", "localhost:8000", True),
    ],
)
def test_origin_is_compared_with_host_and_port(app: FastAPI, origin: str, host: str, passes: bool) -> None:
    answer = call(app, "POST", "/nowhere", headers={"origin": origin}, host=host)
    assert (answer.status == 404) is passes


@pytest.mark.parametrize(
    ("scheme", "origin", "passes"),
    [
        ("https", "https://cfplan.example", True),
        ("https", "http://cfplan.example", False),
        ("https", "http://cfplan.example:443", False),
        ("http", "https://cfplan.example", True),  # a proxy with TLS that is not in the settings
    ],
)
def test_unencrypted_page_cannot_send_to_an_encrypted_address(scheme: str, origin: str, passes: bool) -> None:
    host = "cfplan.example" if scheme == "https" else "cfplan.example:443"
    assert is_same_origin(site=None, origin=origin, host=host, scheme=scheme) is passes


def test_other_sites_cannot_read_responses(app: FastAPI) -> None:
    answer = get(app, "/healthz", origin="http://evil.example")
    assert not [name for name in answer.headers if name.startswith("access-control-")]
