"""How advice on queue depths, and taking rates over, are described in OpenAPI."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from app.events.advise_answers import AdviceAnswer, RatesAnswer
from app.openapi import COMPONENTS, JSON

ADVISE, RATES = "/api/v1/events/advise", "/api/v1/events/rates"


def advice_response() -> dict[str, Any]:
    """The advice."""
    return {
        "description": "Advice for each structure with queues, the findings on depth events, and on structures too small.",
        "content": {JSON: {"schema": {"$ref": COMPONENTS + "AdviceAnswer"}}},
    }


def rates_request() -> dict[str, Any]:
    """A plan document and sets."""
    properties = {
        "document": {"$ref": COMPONENTS + "PlanDocument"},
        "sets": {
            "type": "array",
            "maxItems": 10_000,
            "items": {"type": "object"},
            "description": "The member of that name of the answer of /api/v1/events/read.",
        },
        "using": {"type": "string", "enum": ["filling", "all"], "default": "filling"},
    }
    schema = {
        "type": "object",
        "required": ["document", "sets"],
        "properties": properties,
        "additionalProperties": False,
    }
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}}}}


def rates_response() -> dict[str, Any]:
    """The document with the rates."""
    return {
        "description": "The plan document with the rates, what was taken and what was not.",
        "content": {JSON: {"schema": {"$ref": COMPONENTS + "RatesAnswer"}}},
    }


def add(whole: dict[str, Any]) -> None:
    """Put the components and an example into the whole description; it is called when first asked for."""
    _, models = models_json_schema(
        [(AdviceAnswer, "serialization"), (RatesAnswer, "serialization")], ref_template=COMPONENTS + "{model}"
    )
    for name, schema in models["$defs"].items():
        if whole["components"]["schemas"].setdefault(name, schema) != schema:
            message = f"two schemas are called {name}"
            raise ValueError(message)
    from app.sizing.examples import examples  # the answers of plans are described with those of this module

    whole["paths"][ADVISE]["post"]["requestBody"]["content"][JSON]["examples"] = {
        name: {"summary": each.summary, "value": each.document} for name, each in examples().items()
    }
    request = example_request()
    content = whole["paths"][RATES]["post"]["requestBody"]["content"][JSON]
    content["examples"] = {"filling": {"summary": "A queue that filled", "value": request}}


def example_request() -> dict[str, Any]:
    """A plan with one queue, and a set in which it filled."""
    from app.events.read_description import example_request as events
    from app.events.reading import read_request

    answer = read_request(events()).as_json()
    queue = {"name": "APP.SHARED.Q1", "message_bytes": 2048, "backlog": 1000}
    document = {
        "qsg": "QSG1",
        "queue_managers": ["QM1", "QM2", "QM3"],
        "structures": [{"name": "APPLICATION1", "queues": [queue]}],
    }
    return {"document": document, "sets": answer["sets"]}
