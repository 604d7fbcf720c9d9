"""Schemas and examples of clusters for OpenAPI."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic_core import to_json

from app.clusters import explaining
from app.clusters.service import EXAMPLES, load_answer
from app.fits.kept import no_curves
from app.sizing.examples import examples
from app.texts.documents import parse_yaml
from app.web.openapi import OperationExamples, document_schemas, model_schemas
from planner_core.clusters.answer import answer
from planner_core.clusters.file import json_schema, read_object
from planner_core.document.reading import read_object as plan_from
from planner_core.wire import JsonObject

DECIDE, LOAD, EXPLAIN = (f"/api/v1/cluster/{answer}" for answer in ("decide", "load", "explain"))


def schemas() -> JsonObject:
    """Return the schemas of request bodies."""
    return {
        **document_schemas("DecisionInput", json_schema()),
        **model_schemas(explaining.ExplainRequest),
    }


def described_examples() -> Iterator[OperationExamples]:
    """Yield the examples of decisions, loads and explanations."""
    files = {each.name: (each.title, parse_yaml(each.text.encode())) for each in EXAMPLES}
    decisions = {name: answer(read_object(document)).as_json() for name, (_, document) in files.items()}
    yield OperationExamples(DECIDE, files, decisions)
    loads = {
        name: load_answer(plan_from(each.document), no_curves).as_json() for name, each in examples().items()
    }
    yield OperationExamples(LOAD, examples(), loads)
    requests = {each.name: (each.title, explaining.example_request(each)) for each in explaining.EXAMPLES}
    explanations = {
        name: explaining.explain_body(to_json(request)).as_json() for name, (_, request) in requests.items()
    }
    yield OperationExamples(EXPLAIN, requests, explanations)
