"""How depth events are described in OpenAPI: what the handlers read and write themselves."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import models_json_schema

from app.documents import parse_yaml
from app.events.advise_description import add as add_advice
from app.events.answers import SimulationAnswer
from app.events.read_description import add as add_reading
from app.events.service import EXAMPLES
from app.openapi import COMPONENTS, JSON
from planner_core.depth_events.file import json_schema, read_object
from planner_core.depth_events.simulate import simulate

PATH = "/api/v1/events/simulate"


def file_request() -> dict[str, Any]:
    """A request body that is a depth event file."""
    content = {JSON: {"schema": {"$ref": COMPONENTS + "DepthEventFile"}}}
    return {"requestBody": {"required": True, "content": content}}


def simulation_response() -> dict[str, Any]:
    """The answer of the simulator."""
    return {
        "description": "Every event message, every occurrence, and the switches after each step.",
        "content": {JSON: {"schema": {"$ref": COMPONENTS + "SimulationAnswer"}}},
    }


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    _, models = models_json_schema([(SimulationAnswer, "serialization")], ref_template=COMPONENTS + "{model}")
    document: dict[str, Any] = json.loads(json.dumps(json_schema()).replace("#/$defs/", COMPONENTS))
    document.pop("$schema")
    made = {**models["$defs"], **document.pop("$defs"), "DepthEventFile": document}
    for name, schema in made.items():
        if whole["components"]["schemas"].setdefault(name, schema) != schema:
            message = f"two schemas are called {name}"
            raise ValueError(message)
    operation = whole["paths"][PATH]["post"]
    files = {each.name: (each.title, parse_yaml(each.text.encode())) for each in EXAMPLES}
    operation["requestBody"]["content"][JSON]["examples"] = {
        name: {"summary": title, "value": document} for name, (title, document) in files.items()
    }
    operation["responses"]["200"]["content"][JSON]["examples"] = {
        name: {"value": simulate(read_object(document)).as_json()} for name, (_, document) in files.items()
    }
    add_reading(whole)
    add_advice(whole)
