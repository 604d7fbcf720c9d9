from __future__ import annotations

import re
from pathlib import Path

from fastapi import FastAPI

from tests.app.support import COMPLETE, get, send_json

PAGE = (Path(__file__).parents[2] / "docs" / "rest-api.md").read_text(encoding="utf-8")
ADDRESSES = re.findall(r"^\| `(GET|POST|PUT|DELETE) ([^`]+)`", PAGE, re.MULTILINE)


def test_every_address_on_the_page_answers_in_the_order_of_the_page(own_app: FastAPI) -> None:
    assert ADDRESSES
    for method, address in ADDRESSES:
        answer = get(own_app, address) if method == "GET" else send_json(own_app, method, address, COMPLETE)
        assert answer.status == (201 if method == "PUT" else 200), (address, answer.text)


def test_every_address_of_the_interface_is_on_the_page(app: FastAPI) -> None:
    described = get(app, "/openapi.json").json()["paths"]
    stands_for = {"limits": "{table_id}", "SQ03": "{name}", "1": "{number}"}
    named = {
        (
            method.lower(),
            "/".join(stands_for.get(part, part) for part in address.partition("?")[0].split("/")),
        )
        for method, address in ADDRESSES
    }
    assert named == {(method, path) for path, item in described.items() for method in item}
