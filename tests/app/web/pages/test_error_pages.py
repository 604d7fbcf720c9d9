"""Error pages for browsers."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from tests.app.web.pages.addresses import html, page
from tests.app.web.pages.html import read
from tests.app.web.support import call, get


def test_missing_page_is_reported_with_links_to_others(app: FastAPI) -> None:
    shown = page(app, "/nothing/here", status=404)
    main = shown.one("main")
    assert main.one("h1").text == "There is nothing at this address"
    assert "Nothing is served at /nothing/here." in main.text
    for link in main.all("a"):
        assert html(app, link["href"].split("#")[0]).status == 200
    (about,) = [link["href"] for link in main.all("a") if "#" in link["href"]]
    assert page(app, about.split("#")[0]).one(id=about.split("#")[1])


def test_missing_item_leads_to_the_list_it_would_be_in_and_to_a_search_for_its_name(app: FastAPI) -> None:
    shown = page(app, "/forecasts/SQ03/A%26B", status=404)
    first, second = shown.one("main").all("a")[:2]
    assert (first["href"], first.text) == ("/forecasts", "Forecasts")
    assert (second["href"], second.text) == ("/search?q=A%26B", "Search for A&B")
    assert page(app, second["href"]).one("input", id="site-search")["value"] == "A&B"


def test_markup_in_a_missing_address_is_escaped(app: FastAPI) -> None:
    answer = html(app, "/%3Cscript%3Ealert(1)%3C/script%3E")
    assert answer.status == 404
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text


def test_very_long_address_is_truncated_on_the_error_page(app: FastAPI) -> None:
    assert len(html(app, "/" + "a" * 5000).text) < 6000


def test_unsupported_method_is_refused_with_the_allowed_ones(app: FastAPI) -> None:
    answer = call(app, "POST", "/reference", headers={"accept": "text/html"})
    assert answer.status == 405
    assert "GET" in answer.headers["allow"]
    assert read(answer.text).one("h1").text == "This address does not support this method"


def test_programs_get_the_same_error_as_a_problem_document(app: FastAPI) -> None:
    answer = get(app, "/nothing/here", accept="application/json")
    assert answer.media_type == "application/problem+json"
    assert answer.json()["status"] == 404


def test_internal_error_shows_a_reference_but_no_details(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(Settings(data_dir=tmp_path))

    @app.get("/broken")
    def broken() -> None:
        message = "the secret inside"
        raise RuntimeError(message)

    with caplog.at_level(logging.ERROR):
        answer = html(app, "/broken")
    assert answer.status == 500
    shown = read(answer.text)
    reference = shown.one("main").one("code").text
    assert reference in caplog.text
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_error_pages_have_the_security_headers(app: FastAPI) -> None:
    for address in ("/", "/nothing", "/docs/nothing", "/calculator?messages=x"):
        policy = html(app, address).headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
