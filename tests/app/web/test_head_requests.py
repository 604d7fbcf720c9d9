from __future__ import annotations

import pytest
from fastapi import FastAPI

from tests.app.web.support import assert_problem, call, get


@pytest.mark.parametrize(
    "path", ["/healthz", "/", "/api/docs", "/api/v1/schema", "/static/api-docs.js", "/openapi.json"]
)
def test_head_returns_the_headers_of_get_without_a_body(app: FastAPI, path: str) -> None:
    answer, full = call(app, "HEAD", path), get(app, path)
    assert answer.status == 200
    assert answer.content == b""
    assert answer.headers["content-length"] == str(len(full.content))
    assert answer.headers["content-type"] == full.headers["content-type"]


def test_head_is_refused_if_get_is_not_allowed(app: FastAPI) -> None:
    answer = call(app, "HEAD", "/api/v1/size")
    assert answer.status == 405
    assert answer.content == b""
    assert_problem(get(app, "/api/v1/size"), "method-not-allowed", 405)
