from __future__ import annotations

from fastapi import FastAPI

from tests.app.plans.support import SQ03
from tests.app.web.support import get, send_json


def test_search_returns_groups_of_results(own_app: FastAPI) -> None:
    send_json(own_app, "PUT", "/api/v1/plans/SQ03", SQ03)
    answer = get(own_app, "/api/v1/search?q=payments.in&kind=queues")
    assert answer.status == 200
    body = answer.json()
    assert (body["query"], body["total"], body["findings"]) == ("payments.in", 1, [])
    (group,) = body["groups"]
    assert (group["kind"], group["total"], group["plans"], group["pages"]) == ("queues", 1, 1, 1)
    assert group["items"] == [
        {
            "name": "PAYMENTS.IN",
            "found_in": "plan",
            "url": "/plans/SQ03/versions/1/structures/APPLICATION1",
            "plan": "SQ03",
            "qsg": "SQ03",
            "structure": "APPLICATION1",
        }
    ]


def test_search_refuses_empty_and_long_queries_and_unknown_kinds(app: FastAPI) -> None:
    for query in ("", "q=", f"q={'A' * 101}", "q=A&kind=nothing", "q=A&page=0"):
        assert get(app, f"/api/v1/search?{query}").status == 422, query


def test_search_for_blanks_or_control_characters_has_no_results(app: FastAPI) -> None:
    for query in ("%20", "%00", "%ff"):
        answer = get(app, f"/api/v1/search?q={query}")
        assert answer.status == 200
        assert answer.json()["groups"] == []
