"""How depth events are described in OpenAPI: what the handlers read and write themselves."""

from __future__ import annotations

from typing import Any

from app.events.advise_description import add as add_advice
from app.events.read_description import add as add_reading
from app.events.service import EXAMPLES
from app.texts.documents import parse_yaml
from app.web.openapi import (
    document_schemas,
    put_examples,
    put_schemas,
)
from planner_core.depth_events.file import json_schema, read_object
from planner_core.depth_events.simulate import simulate

PATH = "/api/v1/events/simulate"


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    put_schemas(whole, document_schemas("DepthEventFile", json_schema()))
    files = {each.name: (each.title, parse_yaml(each.text.encode())) for each in EXAMPLES}
    answers = {name: simulate(read_object(document)).as_json() for name, (_, document) in files.items()}
    put_examples(whole["paths"][PATH]["post"], files, answers)
    add_reading(whole)
    add_advice(whole)
