"""Examples of the routes on depth events in OpenAPI, and the schemas of the bodies that they read themselves."""

from __future__ import annotations

from typing import Any

from app.events.advising import RatesRequest
from app.events.reading import EXAMPLE_NAME, ReadRequest, example_text, read_request
from app.events.service import EXAMPLES
from app.texts.documents import parse_yaml
from app.web.openapi import COMPONENTS, document_schemas, model_schemas, put_examples, put_schemas
from planner_core.depth_events.file import json_schema, read_object
from planner_core.depth_events.simulate import simulate

PATH = "/api/v1/events"


def add(whole: dict[str, Any]) -> None:
    """Add the examples and schemas to the description; called when it is first requested."""
    from app.sizing.examples import examples  # the answers of plans are described with those of this module

    requests = model_schemas(ReadRequest, RatesRequest, mode="validation")
    # pydantic resolves every reference itself and knows no schema of this name.
    requests["RatesRequest"]["properties"]["document"] = {"$ref": COMPONENTS + "PlanDocument"}
    put_schemas(whole, document_schemas("DepthEventFile", json_schema()), requests)
    files = {each.name: (each.title, parse_yaml(each.text.encode())) for each in EXAMPLES}
    answers = {name: simulate(read_object(document)).as_json() for name, (_, document) in files.items()}
    put_examples(whole["paths"][f"{PATH}/simulate"]["post"], files, answers)
    events, name = events_request(), "three-members"
    put_examples(
        whole["paths"][f"{PATH}/read"]["post"],
        {name: ("Three queue managers, one of which falls silent", events)},
        {name: read_request(events).as_json()},
    )
    put_examples(whole["paths"][f"{PATH}/advise"]["post"], examples())
    put_examples(
        whole["paths"][f"{PATH}/rates"]["post"], {"filling": ("A queue that filled", rates_request())}
    )


def events_request() -> dict[str, Any]:
    """Return the events that come with the application, with the attributes of their queue."""
    return {
        "files": [{"name": EXAMPLE_NAME, "text": example_text()}],
        "members": ["QM1", "QM2", "QM3"],
        "queues": {"APP.SHARED.Q1": {"maxdepth": 1000, "qdepthhi": 80, "qdepthlo": 20, "qsgdisp": "SHARED"}},
    }


def rates_request() -> dict[str, Any]:
    """Return a plan with one queue, and a set in which it filled."""
    queue = {"name": "APP.SHARED.Q1", "message_bytes": 2048, "backlog": 1000}
    document = {
        "qsg": "QSG1",
        "queue_managers": ["QM1", "QM2", "QM3"],
        "structures": [{"name": "APPLICATION1", "queues": [queue]}],
    }
    return {"document": document, "sets": read_request(events_request()).as_json()["sets"]}
