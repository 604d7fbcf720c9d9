"""Examples of depth events for OpenAPI, and the schemas of request bodies that the routes read themselves."""

from __future__ import annotations

from collections.abc import Iterator

from app.events.advising import RatesRequest
from app.events.reading import EXAMPLE_NAME, ReadRequest, example_text, read_request
from app.events.service import EXAMPLES
from app.sizing.examples import examples
from app.texts.documents import parse_yaml
from app.web.openapi import OperationExamples, document_schemas, model_schemas
from planner_core.depth_events.file import json_schema, read_object
from planner_core.depth_events.simulate import simulate
from planner_core.wire import JsonObject

PATH = "/api/v1/events"


def schemas() -> JsonObject:
    """Return the schemas of request bodies."""
    return {**document_schemas("DepthEventFile", json_schema()), **model_schemas(ReadRequest, RatesRequest)}


def described_examples() -> Iterator[OperationExamples]:
    """Yield the examples of simulations, files of messages, advice and rates."""
    files = {each.name: (each.title, parse_yaml(each.text.encode())) for each in EXAMPLES}
    answers = {name: simulate(read_object(document)).as_json() for name, (_, document) in files.items()}
    yield OperationExamples(f"{PATH}/simulate", files, answers)
    events, name = events_request(), "three-members"
    yield OperationExamples(
        f"{PATH}/read",
        {name: ("Three queue managers, one of which stops reporting", events)},
        {name: read_request(events).as_json()},
    )
    yield OperationExamples(f"{PATH}/advise", examples())
    yield OperationExamples(f"{PATH}/rates", {"filling": ("A queue that became full", rates_request())})


def events_request() -> JsonObject:
    """Return the sample events supplied with the application, with the attributes of their queue."""
    return {
        "files": [{"name": EXAMPLE_NAME, "text": example_text()}],
        "members": ["QM1", "QM2", "QM3"],
        "queues": {"APP.SHARED.Q1": {"maxdepth": 1000, "qdepthhi": 80, "qdepthlo": 20, "qsgdisp": "SHARED"}},
    }


def rates_request() -> JsonObject:
    """Return a plan with one queue, and event sets measured on that queue."""
    queue = {"name": "APP.SHARED.Q1", "message_bytes": 2048, "backlog": 1000}
    document = {
        "qsg": "QSG1",
        "queue_managers": ["QM1", "QM2", "QM3"],
        "structures": [{"name": "APPLICATION1", "queues": [queue]}],
    }
    return {"document": document, "sets": read_request(events_request()).as_json()["sets"]}
