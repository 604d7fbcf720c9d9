from __future__ import annotations

import re
from pathlib import Path

from fastapi import FastAPI

from tests.app.support import COMPLETE, get, post_json

PAGE = (Path(__file__).parents[2] / "docs" / "rest-api.md").read_text(encoding="utf-8")
ADDRESSES = re.findall(r"^\| `(GET|POST) ([^`]+)`", PAGE, re.MULTILINE)


def test_every_address_on_the_page_answers(app: FastAPI) -> None:
    assert ADDRESSES
    for method, address in ADDRESSES:
        answer = get(app, address) if method == "GET" else post_json(app, address, COMPLETE)
        assert answer.status == 200, address


def test_every_address_of_the_interface_is_on_the_page(app: FastAPI) -> None:
    described = get(app, "/openapi.json").json()["paths"]
    named = {address.partition("?")[0].replace("/limits", "/{table_id}") for _, address in ADDRESSES}
    assert named == set(described)
