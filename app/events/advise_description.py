"""How advice on queue depths, and taking rates over, are described in OpenAPI."""

from __future__ import annotations

from typing import Any

from app.events.advise_answers import AdviceAnswer, RatesAnswer
from app.web.openapi import (
    COMPONENTS,
    document_request,
    json_response,
    model_schemas,
    put_examples,
    put_schemas,
)

ADVISE, RATES = "/api/v1/events/advise", "/api/v1/events/rates"


def advice_response() -> dict[str, Any]:
    """The advice."""
    return json_response(
        "AdviceAnswer",
        "Advice for each structure with queues, the findings on depth events, and on structures too small.",
    )


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
    return document_request(schema)


def rates_response() -> dict[str, Any]:
    """The document with the rates."""
    return json_response("RatesAnswer", "The plan document with the rates, what was taken and what was not.")


def add(whole: dict[str, Any]) -> None:
    """Put the components and an example into the whole description; it is called when first asked for."""
    put_schemas(whole, model_schemas(AdviceAnswer, RatesAnswer))
    from app.sizing.examples import examples  # the answers of plans are described with those of this module

    put_examples(whole["paths"][ADVISE]["post"], examples())
    put_examples(whole["paths"][RATES]["post"], {"filling": ("A queue that filled", example_request())})


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
