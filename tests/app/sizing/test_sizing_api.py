from __future__ import annotations

import copy
import json
import re
import threading
from collections import Counter
from typing import Any

import pytest
from fastapi import FastAPI

from app.fits.resolve import evaluate as evaluate_with_curves
from app.sizing import service
from app.sizing.examples import examples
from app.sizing.service import QUICK_QUEUES, QUICK_STRUCTURES
from bench.plans import largest
from planner_core.document.reading import read_object
from planner_core.document.schema import json_schema
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import plan_answer
from planner_core.texts.outputs import OUTPUT_KINDS, render_output
from tests.app.web.support import COMPLETE, SMALLEST, SQ03, Json, call, get, post_json


def as_sent(value: object) -> Json:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("name", list(examples()))
@pytest.mark.parametrize(
    ("query", "explain"), [("", False), ("?explain=false", False), ("?explain=true", True)]
)
def test_rest_result_equals_that_of_the_core(app: FastAPI, name: str, query: str, explain: bool) -> None:
    document = examples()[name].document
    answer = post_json(app, f"/api/v1/size{query}", document)
    assert answer.status == 200, answer.text
    assert answer.media_type == "application/json"
    assert answer.json() == plan_answer(evaluate(read_object(document)), explain=explain).as_json()
    assert ("explanations" in answer.json()) is explain


def test_answer_about_one_structure_has_its_part_of_the_whole_answer(app: FastAPI) -> None:
    whole = post_json(app, "/api/v1/size?explain=true&depths=true", SQ03).json()
    name = whole["structures"][2]["name"]
    found = post_json(app, f"/api/v1/size?explain=true&depths=true&structure={name}", SQ03).json()
    explained = {key: each for key, each in whole["explanations"].items() if key.startswith("/structures/2/")}
    assert explained
    assert found["explanations"] == explained
    for number, structure in enumerate(whole["structures"]):
        if number != 2:
            structure.get("depth_events", {}).pop("queues", None)
    assert found["structures"][2] == whole["structures"][2]
    assert [each.keys() for each in found["structures"]] == [each.keys() for each in whole["structures"]]
    without = {"structures", "explanations"}
    assert {k: v for k, v in found.items() if k not in without} == {
        k: v for k, v in whole.items() if k not in without
    }


@pytest.mark.parametrize(
    ("path", "most", "wanted"),
    [
        ("size?explain=true", 2, "explanations"),
        ("size?depths=true", 2, "advice on queue depths"),
        ("events/advise", 2, "advice on queue depths"),
        ("size?explain=true&depths=true", 1, "explanations and advice on queue depths"),
    ],
)
def test_explanations_and_advice_for_too_many_queues_need_a_structure(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, path: str, most: int, wanted: str
) -> None:
    monkeypatch.setattr(service, "MOST_QUEUES_IN_DETAIL", 2)
    monkeypatch.setattr(service, "MOST_QUEUES_EXPLAINED_WITH_DEPTHS", 1)

    def sent(structure: str = "", *, queues: int) -> Any:  # noqa: ANN401
        document = largest(structures=1, queues=queues, with_definitions=True)
        at = f"{path}{'&' if '?' in path else '?'}structure={structure}" if structure else path
        return post_json(app, f"/api/v1/{at}", document)

    assert sent(queues=most).status == 200
    refused = sent(queues=most + 1)
    assert refused.status == 422
    (error,) = refused.json()["errors"]
    assert error["field"] == "structure"
    assert f"the plan has {most + 1} queues, and {wanted} for more than {most} queues" in error["message"]
    assert "add structure=NAME" in error["message"]
    assert sent("APPLICATIO00", queues=most + 1).status == 200
    assert post_json(app, "/api/v1/size", largest(structures=1, queues=3)).status == 200


@pytest.mark.parametrize("path", ["size?explain=true&structure=NONE", "events/advise?structure=NONE"])
def test_unknown_structure_is_refused(app: FastAPI, path: str) -> None:
    answer = post_json(app, f"/api/v1/{path}", SQ03)
    assert answer.status == 422
    (problem,) = answer.json()["errors"]
    assert "no structure 'NONE'" in json.dumps(answer.json())
    assert "structure" in json.dumps(problem)


def test_depth_advice_about_one_structure_equals_its_part_of_all_advice(app: FastAPI) -> None:
    whole = post_json(app, "/api/v1/events/advise", SQ03).json()
    last = whole["structures"][-1]
    found = post_json(app, f"/api/v1/events/advise?structure={last['name']}", SQ03).json()
    assert found == {**whole, "structures": [last]}


def test_findings_have_code_severity_message_and_source(app: FastAPI) -> None:
    findings = post_json(app, "/api/v1/size", SMALLEST).json()["findings"]
    assert findings
    for finding in findings:
        assert finding["code"]
        assert finding["severity"] in {"error", "warning", "info"}
        assert finding["message"]
        assert finding["source"]


def test_plan_with_errors_gets_a_result_but_no_texts(app: FastAPI) -> None:
    document = copy.deepcopy(SQ03)
    document["structures"][0]["cflevel"] = 2  # the queue is persistent
    answer = post_json(app, "/api/v1/size", document)
    assert answer.status == 200
    assert "error" in {finding["severity"] for finding in answer.json()["findings"]}
    assert post_json(app, "/api/v1/policy", document).status == 422


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_rest_text_equals_that_of_the_core_and_has_a_file_name(app: FastAPI, kind: str) -> None:
    result = evaluate(read_object(COMPLETE))
    expected = render_output(kind, result)
    answer = post_json(app, f"/api/v1/{kind}", COMPLETE)
    assert answer.status == 200, answer.text
    content_type = "application/xml" if kind == "workflow" else "text/plain; charset=utf-8"
    assert answer.headers["content-type"] == content_type
    assert answer.headers["content-disposition"] == f'attachment; filename="{expected.filename}"'
    assert re.fullmatch(r"[A-Za-z0-9._-]+", expected.filename)
    assert answer.text == expected.text


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_text_has_a_header_with_the_number_of_findings(app: FastAPI, kind: str) -> None:
    answer = post_json(app, f"/api/v1/{kind}", COMPLETE)
    counts = Counter(finding.severity for finding in evaluate(read_object(COMPLETE)).findings)
    expected = f"error={counts['error']}, warning={counts['warning']}, info={counts['info']}"
    assert answer.headers["x-cfplan-findings"] == expected


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_same_document_gives_the_same_bytes(app: FastAPI, kind: str) -> None:
    assert (
        post_json(app, f"/api/v1/{kind}", COMPLETE).content
        == post_json(app, f"/api/v1/{kind}", COMPLETE).content
    )


@pytest.mark.parametrize("qsg", ["A$", "@#$1"])
def test_names_with_national_characters_give_valid_headers(app: FastAPI, qsg: str) -> None:
    answer = post_json(app, "/api/v1/policy", {**SQ03, "qsg": qsg})
    if answer.status == 200:
        assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+"', answer.headers["content-disposition"])
    else:
        assert answer.status == 422


def is_evaluated_on_event_loop(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, path: str, document: dict[str, Any]
) -> bool:
    """Return whether the plan of a request is evaluated in the thread of the event loop."""
    threads: list[int] = []

    def watched(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
        threads.append(threading.get_ident())
        return evaluate_with_curves(*arguments, **keywords)

    monkeypatch.setattr(service, "evaluate", watched)
    answer = post_json(app, path, document)
    assert answer.status == 200, answer.text
    assert len(threads) == 1
    return threads == [threading.get_ident()]


def with_queues(number: int, **keys: object) -> dict[str, Any]:
    """Return a short plan with one structure of this many queues, which all have these keys."""
    queues = [{"name": f"Q{at}", "message_bytes": 1, "backlog": 1, **keys} for at in range(number)]
    return {"qsg": "SQ03", "queue_managers": 2, "structures": [{"name": "APP", "queues": queues}]}


def test_short_plan_is_evaluated_on_the_event_loop(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_evaluated_on_event_loop(app, monkeypatch, "/api/v1/size", SQ03)


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/api/v1/policy", SQ03),
        ("/api/v1/size?explain=true", SQ03),
        ("/api/v1/size?depths=true", SQ03),
        ("/api/v1/size", with_queues(QUICK_QUEUES + 1)),
        ("/api/v1/size", with_queues(1, maxdepth=1000)),
        ("/api/v1/size", {**SQ03, "perfmev": "ENABLED"}),
        ("/api/v1/size", {**SQ03, "structures": [{"name": f"A{at}"} for at in range(QUICK_STRUCTURES + 1)]}),
        ("/api/v1/size", {**SQ03, "acknowledged": [{"code": "A", "reason": "r" * 450}] * 4}),
    ],
    ids=["text", "explain", "depths", "queues", "events", "perfmev", "structures", "bytes"],
)
def test_plan_that_could_take_long_is_evaluated_in_a_thread(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, path: str, document: dict[str, Any]
) -> None:
    assert not is_evaluated_on_event_loop(app, monkeypatch, path, document)


@pytest.mark.parametrize(
    "key",
    [
        {
            "clusters": [
                {"name": "C", "queue": "ORDERS.IN", "rate_per_s": 1, "instances": [{"queue_manager": "QM1"}]}
            ]
        },
        {"curve": {"fitted": 3}},
    ],
    ids=["clusters", "fitted curve"],
)
def test_plan_with_a_simulation_or_a_fitted_curve_is_not_quick(key: dict[str, Any]) -> None:
    assert service.is_quick(read_object(SQ03))
    assert not service.is_quick(read_object({**SQ03, **key}))


def test_plan_with_many_structures_is_sized(app: FastAPI) -> None:
    answer = post_json(app, "/api/v1/size", largest(structures=20, queues=3))
    assert answer.status == 200, answer.text
    assert answer.json()["totals"]["structures"] == 21


def test_schema_of_the_document_is_returned(app: FastAPI) -> None:
    answer = get(app, "/api/v1/schema")
    assert answer.media_type == "application/schema+json"
    assert answer.json() == {**as_sent(json_schema()), "findings": []}


def test_byte_order_mark_is_refused_with_a_message(app: FastAPI) -> None:
    body = b"\xef\xbb\xbf" + json.dumps(SQ03).encode()
    answer = call(app, "POST", "/api/v1/size", headers={"content-type": "application/json"}, chunks=[body])
    assert answer.status == 422
    assert answer.json()["errors"]
