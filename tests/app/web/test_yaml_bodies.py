"""Bodies in YAML: the same answers and limits as in JSON, and errors with their position."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from app.texts.documents import example_text
from app.texts.yaml_text import yaml_text
from app.web.body import LARGEST_YAML_BYTES, YAML
from planner_core.texts.outputs import OUTPUT_KINDS
from tests.app.web.support import SQ03, Answer, assert_problem, call, get, post_json

POLICY = """\
 DEFINE POLICY NAME(POLICY1) REPLACE(YES)
   CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(0000000A1B2C) PARTITION(0F) CPCID(00)
   STRUCTURE NAME(SQ03APPLICATION1) SIZE(524288) INITSIZE(262144) PREFLIST(CF01)
"""


def send(app: FastAPI, method: str, address: str, text: str | bytes, media_type: str = YAML[0]) -> Answer:
    body = text if isinstance(text, bytes) else text.encode()
    return call(app, method, address, headers={"content-type": media_type}, chunks=[body])


@pytest.mark.parametrize("media_type", [*YAML, "application/yaml; charset=utf-8", "Application/YAML"])
def test_plan_in_yaml_is_sized_like_the_same_plan_in_json(app: FastAPI, media_type: str) -> None:
    answer = send(app, "POST", "/api/v1/size", example_text(), media_type)
    assert answer.status == 200, answer.text
    assert answer.json() == post_json(app, "/api/v1/size", SQ03).json()


@pytest.mark.parametrize(
    "address",
    [
        *(f"/api/v1/{kind}" for kind in OUTPUT_KINDS if kind != "job"),
        "/api/v1/whatif/cf-loss",
        "/api/v1/whatif/upgrade?cfcc=26",
        "/api/v1/whatif/filling?structure=APPLICATION1&put_rate=100&outage_minutes=10",
        "/api/v1/whatif/smds-job",
        "/api/v1/events/advise",
        "/api/v1/cluster/load",
    ],
)
def test_every_route_that_accepts_a_plan_accepts_yaml(app: FastAPI, address: str) -> None:
    in_json = post_json(app, address, SQ03)
    in_yaml = send(app, "POST", address, example_text())
    assert (in_yaml.status, in_yaml.text) == (in_json.status, in_json.text)
    assert in_yaml.status != 415


@pytest.mark.parametrize(
    ("address", "others"), [("merge", {"policy": POLICY}), ("diff", {"current": POLICY})]
)
def test_request_that_contains_a_plan_may_be_yaml(app: FastAPI, address: str, others: dict[str, str]) -> None:
    asked = {"plan": SQ03, **others}
    answer = send(app, "POST", f"/api/v1/{address}", yaml_text(asked))
    assert answer.status == 200, answer.text
    assert answer.json() == post_json(app, f"/api/v1/{address}", asked).json()


def test_put_stores_a_plan_in_yaml(app: FastAPI) -> None:
    stored = send(app, "PUT", "/api/v1/plans/SQ03", example_text())
    assert (stored.status, stored.json()["saved"]) == (201, "created")
    again = call(
        app, "PUT", "/api/v1/plans/SQ03", headers={"content-type": "application/json"},
        chunks=[get(app, "/api/v1/plans/SQ03/document").content],
    )  # fmt: skip
    assert again.json()["saved"] == "identical"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("qsg: [", "line 2, column 1"),
        ("qsg: SQ03\nqsg: SQ04\n", "line 2"),
        ("a: &x [1]\nb: *x\n", "aliases are not allowed"),
        ("qsg: 2026-11-22\n", "'2026-11-22' is not allowed here"),
        ("? [a, b]\n: 1\n", "key"),
        ("queue_managers: 0x" + "f" * 9000, "must be a whole number"),
        (b"qsg: \xff", "UTF-8"),
        ("[" * 5000, "nested too deeply"),
        ("headroom_percent: .nan\nqsg: A\nqueue_managers: 1", "NaN"),
    ],
)
def test_unreadable_yaml_returns_a_problem_document(app: FastAPI, text: str | bytes, says: str) -> None:
    problem = assert_problem(send(app, "POST", "/api/v1/size", text), "document-invalid", 422)
    assert says in str(problem["errors"])


def test_yaml_body_over_the_limit_is_refused_unread(app: FastAPI) -> None:
    text = "#" * (LARGEST_YAML_BYTES + 1)
    problem = assert_problem(send(app, "POST", "/api/v1/size", text), "content-too-large", 413)
    assert "application/json" in problem["detail"]


def test_yaml_plan_with_thousands_of_queues_is_read(app: FastAPI) -> None:
    structures = "".join(
        f"  - name: APPL{number}\n    preflist: [CF01]\n    queues:\n"
        + "".join(
            f"      - {{name: A{number}.Q{queue}, message_bytes: 1024, backlog: 1000}}\n"
            for queue in range(500)
        )
        for number in range(8)
    )
    text = f"qsg: SQ03\nqueue_managers: 2\ncoupling_facilities: [{{name: CF01}}]\nstructures:\n{structures}"
    answer = send(app, "POST", "/api/v1/size", text)
    assert answer.status == 200
    assert [each["messages"] for each in answer.json()["structures"][1:9]] == [500_000] * 8


def test_error_fields_and_suggestions_are_the_same_in_yaml_and_json(app: FastAPI) -> None:
    text = "qsg: SQ03\nqueue_manager: 5\ncoupling_facilities: [{name: CF01, size: 8}]\n"
    problem = assert_problem(send(app, "POST", "/api/v1/size", text), "document-invalid", 422)
    assert {each["field"] for each in problem["errors"]} == {"/queue_managers", "/queue_manager"}
    assert "did you mean queue_managers?" in str(problem["errors"])
    fixed = send(app, "POST", "/api/v1/size", text.replace("queue_manager:", "queue_managers:"))
    (only,) = assert_problem(fixed, "document-invalid", 422)["errors"]
    assert only["field"] == "/coupling_facilities/0/size"
    assert only["message"].endswith("did you mean 8G?")


def test_openapi_offers_both_media_types(app: FastAPI) -> None:
    paths = get(app, "/openapi.json").json()["paths"]
    for address, method in (
        ("/api/v1/size", "post"),
        ("/api/v1/plans/{name}", "put"),
        ("/api/v1/merge", "post"),
    ):
        assert set(paths[address][method]["requestBody"]["content"]) == {
            "application/json",
            "application/yaml",
        }
