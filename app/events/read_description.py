"""How the reader of event messages is described in OpenAPI."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from app.events.read_answers import ReadingAnswer
from app.events.reading import EXAMPLE_NAME, ReadRequest, example_text
from app.events.reading import read_request as answered
from app.openapi import COMPONENTS, JSON

PATH = "/api/v1/events/read"


def read_request() -> dict[str, Any]:
    """A request body with files of event messages."""
    content = {JSON: {"schema": {"$ref": COMPONENTS + "ReadRequest"}}}
    return {"requestBody": {"required": True, "content": content}}


def reading_response() -> dict[str, Any]:
    """The answer of the reader."""
    return {
        "description": "Every message, the sets of all queues in the order of time, and what there is to say about them.",
        "content": {JSON: {"schema": {"$ref": COMPONENTS + "ReadingAnswer"}}},
    }


def add(whole: dict[str, Any]) -> None:
    """Put the components and the example into the whole description; it is called when first asked for."""
    _, answers = models_json_schema([(ReadingAnswer, "serialization")], ref_template=COMPONENTS + "{model}")
    _, requests = models_json_schema([(ReadRequest, "validation")], ref_template=COMPONENTS + "{model}")
    for name, schema in {**answers["$defs"], **requests["$defs"]}.items():
        if whole["components"]["schemas"].setdefault(name, schema) != schema:
            message = f"two schemas are called {name}"
            raise ValueError(message)
    operation = whole["paths"][PATH]["post"]
    request = example_request()
    operation["requestBody"]["content"][JSON]["examples"] = {
        "three-members": {"summary": "Three queue managers, one of which falls silent", "value": request}
    }
    operation["responses"]["200"]["content"][JSON]["examples"] = {
        "three-members": {"value": answered(request).as_json()}
    }


def example_request() -> dict[str, Any]:
    """The events that come with the application, with what is known of their queue."""
    return {
        "files": [{"name": EXAMPLE_NAME, "text": example_text()}],
        "members": ["QM1", "QM2", "QM3"],
        "queues": {"APP.SHARED.Q1": {"maxdepth": 1000, "qdepthhi": 80, "qdepthlo": 20, "qsgdisp": "SHARED"}},
    }
