"""How the reader of event messages is described in OpenAPI."""

from __future__ import annotations

from typing import Any

from app.events.reading import EXAMPLE_NAME, ReadRequest, example_text
from app.events.reading import read_request as answered
from app.web.openapi import model_schemas, put_examples, put_schemas

PATH = "/api/v1/events/read"


def add(whole: dict[str, Any]) -> None:
    """Put the components and the example into the whole description; it is called when first asked for."""
    put_schemas(whole, model_schemas(ReadRequest, mode="validation"))
    name, request = "three-members", example_request()
    put_examples(
        whole["paths"][PATH]["post"],
        {name: ("Three queue managers, one of which falls silent", request)},
        {name: answered(request).as_json()},
    )


def example_request() -> dict[str, Any]:
    """The events that come with the application, with what is known of their queue."""
    return {
        "files": [{"name": EXAMPLE_NAME, "text": example_text()}],
        "members": ["QM1", "QM2", "QM3"],
        "queues": {"APP.SHARED.Q1": {"maxdepth": 1000, "qdepthhi": 80, "qdepthlo": 20, "qsgdisp": "SHARED"}},
    }
