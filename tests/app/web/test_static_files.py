from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.app.web.support import get

ROOT = Path(__file__).parents[3]


def test_a_file_with_a_version_in_its_address_is_kept_and_others_are_asked_about(app: FastAPI) -> None:
    assert "immutable" in get(app, "/static/api-docs.js?v=abc").headers["cache-control"]
    assert get(app, "/static/api-docs.js").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path", ["/static/../pyproject.toml", "/static/%2e%2e/pyproject.toml", "/static//etc/passwd", "/static/"]
)
def test_nothing_outside_the_folder_is_served(app: FastAPI, path: str) -> None:
    assert get(app, path).status == 404


def test_the_api_page_loads_only_scripts_and_styles_that_this_service_has(app: FastAPI) -> None:
    page = get(app, "/api/docs", accept="text/html")
    assert page.status == 200
    addresses = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    files = [address for address in addresses if address.startswith(("/static/", "/assets/"))]
    assert any("swagger-ui-bundle" in address for address in files)
    for address in files:
        assert get(app, address).status == 200
    assert not [address for address in addresses if "//" in address]
    assert not re.findall(r"<script(?![^>]*\bsrc=)", page.text)
    assert "style=" not in page.text


def test_the_api_page_names_the_description_that_it_shows(app: FastAPI) -> None:
    (address,) = re.findall(r'data-openapi="([^"]+)"', get(app, "/api/docs").text)
    assert get(app, address).json()["openapi"].startswith("3.1")
