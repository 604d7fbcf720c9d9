"""How clusters are described in OpenAPI: what the handlers read and write themselves."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import models_json_schema

from app.cluster.answers import ClusterLoadAnswer, DecisionAnswerShape
from app.cluster.service import EXAMPLES, MODES, load_answer
from app.curves.kept import NoCurves
from app.documents import parse_yaml
from app.openapi import COMPONENTS, JSON, plan_examples
from app.sizing.examples import examples
from planner_core.cluster.answer import answer
from planner_core.cluster.file import json_schema, read_object
from planner_core.document import read_object as plan_from

DECIDE, LOAD = "/api/v1/cluster/decide", "/api/v1/cluster/load"
MODE = {
    "name": "mode",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "enum": list(MODES), "default": "seed"},
    "description": "`seed`: the eight eliminations of the article; `ibm`: the reference's algorithm.",
}


def decision_request() -> dict[str, Any]:
    """A request body that is the input of a decision."""
    content = {JSON: {"schema": {"$ref": COMPONENTS + "DecisionInput"}}}
    return {"requestBody": {"required": True, "content": content}, "parameters": [MODE]}


def answer_response(name: str, description: str) -> dict[str, Any]:
    """An answer of that shape."""
    return {"description": description, "content": {JSON: {"schema": {"$ref": COMPONENTS + name}}}}


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    _, models = models_json_schema(
        [(model, "serialization") for model in (DecisionAnswerShape, ClusterLoadAnswer)],
        ref_template=COMPONENTS + "{model}",
    )
    document: dict[str, Any] = json.loads(json.dumps(json_schema()).replace("#/$defs/", COMPONENTS))
    made = {**models["$defs"], **document.pop("$defs"), "DecisionInput": document}
    for name, schema in made.items():
        if whole["components"]["schemas"].setdefault(name, schema) != schema:
            message = f"two schemas are called {name}"
            raise ValueError(message)
    operation = whole["paths"][DECIDE]["post"]
    files = {each.name: (each.title, parse_yaml(each.text.encode())) for each in EXAMPLES}
    operation["requestBody"]["content"][JSON]["examples"] = {
        name: {"summary": title, "value": document} for name, (title, document) in files.items()
    }
    operation["responses"]["200"]["content"][JSON]["examples"] = {
        name: {"value": answer(read_object(document)).as_json()} for name, (_, document) in files.items()
    }
    load = whole["paths"][LOAD]["post"]
    load["requestBody"]["content"][JSON]["examples"] = plan_examples()
    load["responses"]["200"]["content"][JSON]["examples"] = {
        name: {"value": load_answer(plan_from(example.document), NoCurves())}
        for name, example in examples().items()
    }
