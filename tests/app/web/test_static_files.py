from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.app.web.support import get

ROOT = Path(__file__).parents[3]


def test_only_files_with_a_version_are_cached_without_revalidation(app: FastAPI) -> None:
    assert "immutable" in get(app, "/static/api-docs.js?v=abc").headers["cache-control"]
    assert get(app, "/static/api-docs.js").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path", ["/static/../pyproject.toml", "/static/%2e%2e/pyproject.toml", "/static//etc/passwd", "/static/"]
)
def test_files_outside_the_folder_are_not_served(app: FastAPI, path: str) -> None:
    assert get(app, path).status == 404


def test_api_page_loads_scripts_and_styles_only_from_this_service(app: FastAPI) -> None:
    page = get(app, "/api/try", accept="text/html")
    assert page.status == 200
    addresses = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    files = [address for address in addresses if address.startswith(("/static/", "/assets/"))]
    assert any("swagger-ui-bundle" in address for address in files)
    for address in files:
        assert get(app, address).status == 200
    assert not [address for address in addresses if "//" in address]
    assert not re.findall(r"<script(?![^>]*\bsrc=)", page.text)
    assert "style=" not in page.text


def test_api_page_names_its_openapi_description(app: FastAPI) -> None:
    (address,) = re.findall(r'data-openapi="([^"]+)"', get(app, "/api/try").text)
    assert get(app, address).json()["openapi"].startswith("3.1")
