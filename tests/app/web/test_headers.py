from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.web.security.headers import CONTENT_SECURITY_POLICY, SECURITY_HEADERS
from tests.app.web.support import SQ03, Answer, call, get, post_json

RESPONSES: dict[str, tuple[int, Callable[[FastAPI], Answer]]] = {
    "health": (200, lambda app: get(app, "/healthz")),
    "front page": (200, lambda app: get(app, "/")),
    "API page": (200, lambda app: get(app, "/api/docs")),
    "page to try the API": (200, lambda app: get(app, "/api/try")),
    "OpenAPI": (200, lambda app: get(app, "/openapi.json")),
    "schema": (200, lambda app: get(app, "/api/v1/schema")),
    "reference": (200, lambda app: get(app, "/api/v1/reference")),
    "result": (200, lambda app: post_json(app, "/api/v1/size", SQ03)),
    "text": (200, lambda app: post_json(app, "/api/v1/policy", SQ03)),
    "compressed": (200, lambda app: post_json(app, "/api/v1/size", SQ03, accept_encoding="gzip")),
    "style sheet": (200, lambda app: get(app, "/static/css/cfplan.css")),
    "script": (200, lambda app: get(app, "/static/api-docs.js")),
    "Swagger UI": (200, lambda app: get(app, "/assets/swagger-ui/swagger-ui-bundle.js")),
    "file not found": (404, lambda app: get(app, "/static/nothing.css")),
    "page not found": (404, lambda app: get(app, "/nowhere", accept="text/html")),
    "cross-origin": (403, lambda app: call(app, "POST", "/", headers={"origin": "http://evil.example"})),
    "method": (405, lambda app: call(app, "DELETE", "/healthz")),
    "media type": (415, lambda app: call(app, "POST", "/api/v1/size")),
    "host": (421, lambda app: call(app, "GET", "/", host="evil.example")),
    "invalid": (422, lambda app: post_json(app, "/api/v1/size", {})),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_every_response_has_each_security_header_once(app: FastAPI, name: str) -> None:
    status, send = RESPONSES[name]
    answer = send(app)
    assert answer.status == status, answer.text[:500]
    for header, value in SECURITY_HEADERS:
        assert [v for n, v in answer.header_list if n == header.decode()] == [value.decode()]


def test_unexpected_error_has_the_security_headers(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path))

    @app.get("/failure")
    def fail() -> None:
        raise RuntimeError

    answer = get(app, "/failure")
    assert answer.status == 500
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


def test_policy_forbids_inline_scripts_other_sites_and_frames() -> None:
    directives = dict(directive.split(" ", 1) for directive in CONTENT_SECURITY_POLICY.split("; "))
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "http" not in CONTENT_SECURITY_POLICY
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == directives["style-src"] == directives["form-action"] == "'self'"
    assert directives["base-uri"] == directives["frame-ancestors"] == "'none'"


def test_long_responses_are_compressed_for_clients_that_accept_gzip(app: FastAPI) -> None:
    plain = post_json(app, "/api/v1/size", SQ03)
    packed = post_json(app, "/api/v1/size", SQ03, accept_encoding="gzip")
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


def test_short_responses_are_not_compressed(app: FastAPI) -> None:
    assert "content-encoding" not in get(app, "/healthz", accept_encoding="gzip").headers
