"""The description of the REST interface (OpenAPI 3.1).

FastAPI does not know the bodies that handlers read themselves. This module adds their schemas, the problem documents
and the examples, all declared by the features.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.actor import Role
from app.problem_types import UNEXPECTED
from app.web.body import JSON, YAML
from app.web.problems import PROBLEM_MEDIA_TYPE, TYPE_OF_STATUS, Problem, problem_of
from planner_core.errors import DocumentInvalid, FieldProblem
from planner_core.wire import COMPONENT, JsonObject, adapter

COMPONENTS = "#/components/schemas/"
Responses = dict[int | str, JsonObject]
"""The descriptions of a route's answers by status, in the format of FastAPI."""

DESCRIPTION = """\
Sizes coupling facility list structures of IBM MQ for z/OS queue-sharing groups. Send a plan document to get sizes,
findings and their sources, or the CFRM policy, the job, MQSC, SETXCF commands and a runbook as text.

Storage amounts in responses are in bytes, or in the unit with which the name of the member ends. Every JSON response to
an accepted request has `findings`. The response to a refused request is a problem document (RFC 9457) that lists errors by field.
If the service has accounts, every request except `/healthz` needs an API token (`Authorization: Bearer cfplan_...`) or
the session of a browser; otherwise the answer is 401. Each operation states the role that it needs.
Addresses under `/api/v1` keep their meaning; members may be added to responses.
"""

TAGS = [
    {"name": "plans", "description": "Results and texts for a plan document. Nothing is stored."},
    {"name": "stored plans", "description": "Saved plans with all their versions."},
    {
        "name": "scenarios",
        "description": "Named changes to a stored plan: save them with their results, compare them, and create reports.",
    },
    {
        "name": "uploads",
        "description": "Dumps, tables and displays that jobs read into the usage history, with their reports.",
    },
    {
        "name": "measured usage",
        "description": "Measured usage of structures and queues, by hour and by day, and plans created from it.",
    },
    {
        "name": "fitted curves and forecasts",
        "description": "Storage curves of the site's own coupling facilities, the days when structures are expected to fill, and CFCC levels.",
    },
    {
        "name": "nightly runs",
        "description": "The job that fits curves, forecasts usage and reports findings, every night or on request, and its report.",
    },
    {
        "name": "connections",
        "description": "Declared connections to other systems, and comparisons of active CFRM policies, as stored. No request contacts another system.",
    },
    {"name": "what if", "description": "Questions about a plan document. Nothing is stored."},
    {
        "name": "depth events",
        "description": "Queue depth events of shared queues: which queue manager writes which message, and which event attributes change.",
    },
    {
        "name": "clusters",
        "description": "Where a cluster sends its messages, step by step, and the load on structures.",
    },
    {
        "name": "what runs",
        "description": "Current policies, MQSC and displays: check them, merge a plan into them, compare them with a plan, or create a plan from them.",
    },
    {
        "name": "overview",
        "description": "Coupling facilities, structures by urgency, the latest nightly run, and what to do first.",
    },
    {
        "name": "notices",
        "description": "Events that are sent by email and webhook: moved dates, full structures, failed nightly runs.",
    },
    {
        "name": "search",
        "description": "One search over plans, structures, queues, findings and the documentation.",
    },
    {
        "name": "audit trail",
        "description": "Who changed what, and who got which text for z/OS.",
    },
    {
        "name": "accounts",
        "description": "The acting user, API tokens, and users. A service without sign-in answers 409, except for the acting user.",
    },
    {"name": "reference", "description": "The published tables behind every figure."},
    {"name": "service", "description": "The service itself."},
]


PROBLEM_WORDS = {
    401: "The request has no valid API token, and no session of a browser.",
    409: "Another plan or user has this name, a job is in progress, the version is not approved, or the service has no accounts.",
    412: "The plan does not match If-Match or If-None-Match: it was changed or deleted after it was read. "
    "`current` is its current version.",
    428: "The plan exists and this request would change it: If-Match must name the version to change.",
    403: "Your role or the scope of your token does not permit this, or a browser sent the request for a page of another site.",
    404: "There is nothing at this address.",
    408: "The body took too long to arrive.",
    413: "The body is larger than the service accepts.",
    415: "The headers do not declare the body as application/json or application/yaml in UTF-8.",
    503: "The service is temporarily unavailable; `detail` states the reason. Try again later.",
    507: "There is not enough disk space for the upload.",
    422: "The document is not valid, no such plan can exist, or this output is not available: `errors` names the fields.",
}


SECURITY_SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API token, which begins with `cfplan_`. Users create tokens on the page of their account.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-cfplan-session",
        "description": "The session of a browser in which a user has signed in.",
    },
}


def problems(*statuses: int) -> Responses:
    """Return the problem documents with these statuses, and the default one."""
    described: Responses = {status: _problem_of_status(status) for status in statuses}
    return {**described, "default": _other_problem()}


@cache  # the routes, which are declared at import, have the same few problems
def _problem_of_status(status: int) -> JsonObject:
    return _problem_response(PROBLEM_WORDS[status], _example_problem(status))


@cache
def _other_problem() -> JsonObject:
    other = (
        "Any other refusal or failure, such as 421 (unknown host name) or 500 (with a reference for the log)."
    )
    unexpected = Problem(UNEXPECTED, "This is an error in the service.", reference="0a1b2c3d4e5f")
    return _problem_response(other, unexpected)


def _problem_response(description: str, example: Problem) -> JsonObject:
    schema = {"$ref": COMPONENTS + "Problem"}
    return {
        "description": description,
        "content": {PROBLEM_MEDIA_TYPE: {"schema": schema, "example": example.as_json()}},
    }


def _example_problem(status: int) -> Problem:
    if status in TYPE_OF_STATUS:
        return Problem(TYPE_OF_STATUS[status], PROBLEM_WORDS[status])
    return problem_of(DocumentInvalid((FieldProblem("/structures/0/queues/0/message_bytes", "is required"),)))


def json_request(name: str) -> JsonObject:
    """Return a request body with the schema of this name, in JSON or YAML."""
    content = {media_type: {"schema": {"$ref": COMPONENTS + name}} for media_type in (JSON, YAML[0])}
    return {"requestBody": {"required": True, "content": content}}


class OperationExamples(NamedTuple):
    """Examples of one operation: requests, and their answers under the same names."""

    path: str
    requests: Mapping[str, tuple[str, object]] = MappingProxyType({})
    """A summary, which may be empty, and a body for each name."""
    answers: Mapping[str, object] = MappingProxyType({})
    method: str = "post"
    status: int = 200


def install(
    app: FastAPI,
    schemas: Iterable[Callable[[], JsonObject]],
    examples: Iterable[Callable[[], Iterable[OperationExamples]]],
    rights: Mapping[str, Role | str],
) -> None:
    """Set the function with which the application generates its description.

    Args:
        app: The application, with all its routes.
        schemas: For each feature, a function that returns the schemas of the bodies that its handlers read themselves.
        examples: For each feature, a function that returns examples.
        rights: The role that each route needs, by method and path; a text for routes that need none.
    """

    def description() -> JsonObject:
        # The core calculates the examples. The service sends the file that was generated with this function.
        if app.openapi_schema is None:
            app.openapi_schema = _built(app, schemas, examples, rights)
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]


def _built(
    app: FastAPI,
    schemas: Iterable[Callable[[], JsonObject]],
    examples: Iterable[Callable[[], Iterable[OperationExamples]]],
    rights: Mapping[str, Role | str],
) -> JsonObject:
    described = get_openapi(
        title=app.title,
        version=app.version,
        description=DESCRIPTION,
        license_info={"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        tags=TAGS,
        routes=app.routes,
    )
    components = described.setdefault("components", {}).setdefault("schemas", {})
    for schemas_of in (_problem_schemas, *schemas):
        for name, schema in schemas_of().items():
            if components.setdefault(name, schema) != schema:
                message = f"two schemas are called {name}"
                raise ValueError(message)
    members = (member for each in components.values() for member in each.get("properties", {}).values())
    for member in members:
        if name := member.pop(COMPONENT, None):
            member.pop("title", None)
            member["$ref"] = COMPONENTS + name
    for examples_of in examples:
        for each in examples_of():
            _put_examples(described["paths"][each.path][each.method], each)
    _put_rights(described, rights)
    return described


def _put_rights(described: JsonObject, rights: Mapping[str, Role | str]) -> None:
    """Describe how requests are authenticated, and the role that each operation needs."""
    described["components"]["securitySchemes"] = SECURITY_SCHEMES
    described["components"]["responses"] = {
        "Unauthorized": _problem_of_status(401),
        "Forbidden": _problem_of_status(403),
    }
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            right = rights.get(f"{method.upper()} {path}")
            if not isinstance(right, Role):
                operation["security"] = []
                continue
            operation["security"] = [{name: []} for name in SECURITY_SCHEMES]
            operation["description"] = f"{operation['description']} Needs the role {right.label}."
            operation["responses"]["401"] = {"$ref": "#/components/responses/Unauthorized"}
            operation["responses"]["403"] = {"$ref": "#/components/responses/Forbidden"}


def _put_examples(operation: JsonObject, given: OperationExamples) -> None:
    if given.requests:
        operation["requestBody"]["content"][JSON]["examples"] = {
            name: {**({"summary": summary} if summary else {}), "value": value}
            for name, (summary, value) in given.requests.items()
        }
    if given.answers:
        (content,) = operation["responses"][str(given.status)]["content"].values()
        content["examples"] = {name: {"value": value} for name, value in given.answers.items()}


def model_schemas(*models: type[BaseModel]) -> JsonObject:
    """Return the schemas of request models and of their parts."""
    _, found = models_json_schema(
        [(model, "validation") for model in models], ref_template=COMPONENTS + "{model}"
    )
    return dict(found["$defs"])


def document_schemas(name: str, schema: JsonObject) -> JsonObject:
    """Return the schema of a document of the core under a name, and the schemas of its parts."""
    document: JsonObject = json.loads(json.dumps(schema).replace("#/$defs/", COMPONENTS))
    document.pop("$schema", None)
    return {**document.pop("$defs"), name: document}


def _problem_schemas() -> JsonObject:
    return document_schemas("Problem", adapter(Problem).json_schema(mode="serialization"))
