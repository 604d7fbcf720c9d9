"""The description of the REST interface (OpenAPI 3.1).

The core reads plan documents itself, so this module adds the parts that FastAPI cannot see: the schema of the plan
document, the problem documents, and examples. The examples of answers are calculated from the examples of requests when
the description is first requested.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.problem_types import UNEXPECTED
from app.sizing.body import JSON, YAML
from app.sizing.examples import examples
from app.web.problems import PROBLEM_MEDIA_TYPE, TYPE_OF_STATUS, Problem, problem_of
from planner_core.document.reading import read_object
from planner_core.document.schema import json_schema
from planner_core.errors import DocumentInvalid, FieldProblem, OutputRefused
from planner_core.plan.evaluate import evaluate
from planner_core.texts.outputs import OUTPUT_KINDS, render_output
from planner_core.wire import adapter

TEXT = "text/plain"
COMPONENTS = "#/components/schemas/"
Mode = Literal["serialization", "validation"]
"""Whether a model is described as an answer or as input."""

DESCRIPTION = """\
Sizes coupling facility list structures of IBM MQ for z/OS queue-sharing groups. Send a plan document to get sizes,
findings and their sources, or the CFRM policy, the job, MQSC, SETXCF commands and a runbook as text.

Storage in answers is in bytes, or in the unit that the member's name ends with. Every JSON answer has `findings`.
Refused requests are answered by a problem document (RFC 9457) that lists errors by field. Addresses under `/api/v1` keep
their meaning; members may be added to answers.
"""

TAGS = [
    {"name": "plans", "description": "Results and texts for a plan document. Nothing is stored."},
    {"name": "stored plans", "description": "Saved plans with all their versions."},
    {
        "name": "scenarios",
        "description": "Named changes of a stored plan: saved with their results, compared, reported.",
    },
    {
        "name": "uploads",
        "description": "Dumps, tables and displays, read into the usage history by jobs, with their reports.",
    },
    {
        "name": "measured usage",
        "description": "Measured usage of structures and queues, by hours and days, and plans made from it.",
    },
    {
        "name": "fitted curves and forecasts",
        "description": "Storage curves of the site's own coupling facilities, the days when structures are expected to fill, CFCC levels.",
    },
    {
        "name": "nightly runs",
        "description": "The job that fits, forecasts and reports findings, every night or on request, and its report.",
    },
    {"name": "what if", "description": "Questions about a plan document. Nothing is stored."},
    {
        "name": "depth events",
        "description": "Queue depth events of shared queues: which queue manager writes which message, and what it switches.",
    },
    {
        "name": "clusters",
        "description": "Where a cluster sends its messages, step by step, and the load on structures.",
    },
    {
        "name": "what runs",
        "description": "Current policies, MQSC and displays: checked, merged with a plan, compared, made into a plan.",
    },
    {"name": "reference", "description": "The published tables behind every figure."},
    {"name": "service", "description": "The service itself."},
]


class Words(NamedTuple):
    """The description of an output."""

    summary: str
    description: str


OUTPUT_WORDS = {
    "policy": Words(
        "CFRM STRUCTURE statements",
        "The STRUCTURE statements of all structures of the plan, to be merged into the CFRM policy.",
    ),
    "job": Words(
        "IXCMIAPU job",
        "The complete job that defines the policy. It needs the policy's name and the hardware fields of every coupling "
        "facility; missing fields are listed.",
    ),
    "mqsc": Words("MQSC definitions", "DEFINE CFSTRUCT and DEFINE QLOCAL commands."),
    "setxcf": Words(
        "SETXCF commands",
        "Operator commands for three situations: to activate the policy, to rebuild a structure under it, to enlarge one that fills.",
    ),
    "runbook": Words("Runbook", "The actions for each structure at IXC585E and at reason code 2192."),
}

EXPLAIN = {
    "name": "explain",
    "in": "query",
    "required": False,
    "schema": {"type": "boolean", "default": False},
    "description": "Explain the source of every figure.",
}
DEPTHS = {
    "name": "depths",
    "in": "query",
    "required": False,
    "schema": {"type": "boolean", "default": False},
    "description": "Advise on MAXDEPTH, QDEPTHHI and QDEPTHLO of every queue.",
}

ANSWERED: tuple[tuple[str, str | None], ...] = (
    ("/api/v1/size", None),
    *((f"/api/v1/{kind}", kind) for kind in OUTPUT_KINDS),
)
"""Addresses whose answers to the examples are shown, and the kind of output of each."""

PROBLEM_WORDS = {
    409: "Another plan has this name; or a job is under way, or has not ended yet.",
    412: "The plan is not what If-Match or If-None-Match expects: it was changed or deleted since it was read. "
    "`current` is its version now.",
    428: "The plan exists and this would change it: If-Match must name the version to change.",
    403: "A browser sent the request for a page of another site.",
    404: "There is nothing at this address.",
    408: "The body took too long to arrive.",
    413: "The body is larger than the service accepts.",
    415: "The headers do not say that the body is application/json or application/yaml in UTF-8.",
    507: "There is too little disk space for the upload.",
    422: "The document is not valid, no such plan can exist, or this output cannot be given: `errors` names the fields.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problem documents with these statuses, and the default one."""
    other = (
        "Any other refusal or failure, such as 421 (unknown host name) or 500 (with a reference for the log)."
    )
    described: dict[int | str, dict[str, Any]] = {
        status: _problem_response(PROBLEM_WORDS[status], _example_problem(status)) for status in statuses
    }
    unexpected = Problem(UNEXPECTED, "This is a fault of the service.", reference="0a1b2c3d4e5f")
    return {**described, "default": _problem_response(other, unexpected)}


def _problem_response(description: str, example: Problem) -> dict[str, Any]:
    schema = {"$ref": COMPONENTS + "Problem"}
    return {
        "description": description,
        "content": {PROBLEM_MEDIA_TYPE: {"schema": schema, "example": example.as_json()}},
    }


def _example_problem(status: int) -> Problem:
    if status in TYPE_OF_STATUS:
        return Problem(TYPE_OF_STATUS[status], PROBLEM_WORDS[status])
    return problem_of(DocumentInvalid((FieldProblem("/structures/0/queues/0/message_bytes", "is required"),)))


def json_request(name: str) -> dict[str, Any]:
    """Return a request body with the schema of this name."""
    return document_request({"$ref": COMPONENTS + name})


def document_request(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request body with this schema, in JSON or YAML."""
    content = {media_type: {"schema": dict(schema)} for media_type in (JSON, YAML[0])}
    return {"requestBody": {"required": True, "content": content}}


def json_response(name: str, description: str) -> dict[str, Any]:
    """Return an answer with the schema of this name."""
    return {"description": description, "content": _json_content(name)}


def _json_content(name: str) -> dict[str, Any]:
    return {JSON: {"schema": {"$ref": COMPONENTS + name}}}


def plan_request() -> dict[str, Any]:
    """Return a request body that is a plan document."""
    return json_request("PlanDocument")


def schema_response() -> dict[str, Any]:
    """Return the answer of GET /api/v1/schema."""
    return {
        "description": "The JSON Schema. Its member `findings` is always empty and no keyword of JSON Schema.",
        "content": {
            "application/schema+json": {"schema": {"type": "object", "required": ["$schema", "findings"]}}
        },
    }


def text_response(kind: str) -> dict[str, Any]:
    """Return the answer of the routes that return a text."""
    return {
        "description": OUTPUT_WORDS[kind].description,
        "headers": {
            "Content-Disposition": {
                "description": "`attachment` with the name under which to save the text.",
                "schema": {"type": "string"},
            },
            "X-Cfplan-Findings": {
                "description": "Number of findings of each severity. POST /api/v1/size lists them.",
                "schema": {"type": "string", "pattern": r"^error=\d+, warning=\d+, info=\d+$"},
            },
        },
        "content": {TEXT: {"schema": {"type": "string"}}},
    }


def build(app: FastAPI) -> dict[str, Any]:
    """Describe the application's routes, with the components that FastAPI does not know."""
    description = get_openapi(
        title=app.title,
        version=app.version,
        description=DESCRIPTION,
        license_info={"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        tags=TAGS,
        routes=app.routes,
    )
    for path, kind in ANSWERED:
        operation = description["paths"][path]["post"]
        answers = dict(_answers(kind))
        put_examples(operation, {name: each for name, each in examples().items() if name in answers})
        (answer,) = operation["responses"]["200"]["content"].values()
        answer["examples"] = answers
    put_schemas(description, _components())
    return description


def put_schemas(whole: dict[str, Any], *parts: Mapping[str, Any]) -> None:
    """Add schemas to the components of the whole description; two schemas never share a name."""
    schemas: dict[str, Any] = whole.setdefault("components", {}).setdefault("schemas", {})
    for part in parts:
        for name, schema in part.items():
            if schemas.setdefault(name, schema) != schema:
                message = f"two schemas are called {name}"
                raise ValueError(message)


def model_schemas(*models: type[BaseModel], mode: Mode = "serialization") -> dict[str, Any]:
    """Return the schemas of models and of their parts."""
    _, found = models_json_schema([(model, mode) for model in models], ref_template=COMPONENTS + "{model}")
    return dict(found["$defs"])


def document_schemas(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a document of the core under a name, and those of its parts."""
    document: dict[str, Any] = json.loads(json.dumps(schema).replace("#/$defs/", COMPONENTS))
    document.pop("$schema", None)
    return {**document.pop("$defs"), name: document}


def put_examples(
    operation: dict[str, Any],
    asked: Mapping[str, tuple[str, Any]],
    answered: Mapping[str, Any] | None = None,
) -> None:
    """Add examples to an operation: a summary and a body for each name, and its answer."""
    operation["requestBody"]["content"][JSON]["examples"] = {
        name: {"summary": summary, "value": value} for name, (summary, value) in asked.items()
    }
    if answered:
        operation["responses"]["200"]["content"][JSON]["examples"] = {
            name: {"value": value} for name, value in answered.items()
        }


def install(app: FastAPI, *more: Callable[[dict[str, Any]], None]) -> None:
    """Serve this description at the application's openapi_url; it is built once, when it is first requested.

    `more` adds the parts that only a feature knows.
    """

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            whole = build(app)
            for add in more:
                add(whole)
            app.openapi_schema = whole
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]


def _answers(kind: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the answer of the route for a kind of output to each example; None is for the result itself."""
    for name, example in examples().items():
        result = evaluate(read_object(example.document))
        try:
            yield name, {"value": render_output(kind, result).text if kind else result.as_json()}
        except OutputRefused:
            continue


def _components() -> dict[str, Any]:
    problem = adapter(Problem).json_schema(mode="serialization")
    return {**document_schemas("Problem", problem), **document_schemas("PlanDocument", json_schema())}
