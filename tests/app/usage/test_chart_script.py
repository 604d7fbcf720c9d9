"""Plotly's script is served from the installed package, compressed, and loads nothing from other sites."""

from __future__ import annotations

import gzip
import re
from importlib.metadata import version

from fastapi import FastAPI

from app.web import chart_script
from tests.app.usage.support import store, ten_days
from tests.app.web.pages.html import read
from tests.app.web.support import get


def test_served_script_is_the_file_of_the_package(own_app: FastAPI) -> None:
    plain = get(own_app, chart_script.address(), accept_encoding="identity")
    assert plain.content == chart_script.script_path().read_bytes()
    assert "content-encoding" not in plain.headers


def test_script_is_compressed_for_clients_that_accept_it(own_app: FastAPI) -> None:
    packed = get(own_app, chart_script.address(), accept_encoding="br, gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in packed.headers["vary"].lower()
    assert gzip.decompress(packed.content) == chart_script.script_path().read_bytes()
    assert len(packed.content) < 2_000_000
    assert packed.media_type == "text/javascript"


def test_browsers_cache_the_script_until_the_version_changes(own_app: FastAPI) -> None:
    assert version("plotly") in chart_script.address()
    assert "immutable" in get(own_app, chart_script.address()).headers["cache-control"]
    assert get(own_app, chart_script.PATH).headers["cache-control"] == "no-cache"


def test_script_writes_no_styles_into_pages(own_app: FastAPI) -> None:
    script = chart_script.script_path().read_text("utf-8")
    # One is written under the name that the pages' own style sheet takes; each of the others looks for its guard first.
    assert script.count('createElement("style")') == 1 + len(chart_script.guards())
    store(own_app, ten_days(days=1))
    page = read(get(own_app, "/usage/SQ03/APPLICATION1", accept="text/html").text)
    (plot,) = page.all(class_="plotted")
    assert plot["data-guards"].split() == list(chart_script.guards())
    (sheet,) = [link for link in page.all("link") if link.get("id") == "plotly.js-style-global"]
    assert "no-inline-styles" in sheet["class"]
    assert re.search(r'matches\("\.no-inline-styles"\)', script)
    assert '"plotly.js-style-"' in script
