"""The OpenAPI description of headers and answers that the handlers of stored plans write themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from app.actor import LOCAL
from app.fits.kept import no_curves
from app.plans.answers import version_json
from app.plans.computed import compute
from app.plans.schemas import StoredPlan
from app.plans.stored import StoredVersion
from app.sizing.description import text_response
from app.sizing.examples import examples
from app.web.body import JSON
from app.web.openapi import COMPONENTS, OperationExamples, Responses
from planner_core.document.reading import read_object
from planner_core.wire import JsonObject

EXAMPLE_AUTHOR = LOCAL.name
EXAMPLE_TIME = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
TAG = {"type": "string", "pattern": r'^"\d+\.\d+(-[a-z]+){0,2}"$'}
ETAG = {"ETag": {"description": "The strong validator of this version.", "schema": TAG}}
IF_MATCH = "The ETag of the version that this request changes."
IF_NONE_MATCH = "The client's ETag: the answer is 304 if it is still current."


def _header(name: str, text: str, **schema: object) -> JsonObject:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": text,
        "schema": {"type": "string", **schema},
    }


def conditional_get() -> JsonObject:
    """Return the request header of a GET that may be answered with 304."""
    return {"parameters": [_header("If-None-Match", IF_NONE_MATCH)]}


def conditional_put() -> JsonObject:
    """Return the request headers of PUT."""
    create = "`*`: create a plan, never change one. An ETag: the request is refused if it is the ETag of the latest version."
    return {"parameters": [_header("If-Match", IF_MATCH), _header("If-None-Match", create)]}


def conditional_delete() -> JsonObject:
    """Return the request header of DELETE."""
    return {"parameters": [_header("If-Match", f"{IF_MATCH} Without it, the latest version is deleted.")]}


def _plan_response(text: str, **headers: object) -> JsonObject:
    return {
        "description": text,
        "headers": {**ETAG, **headers},
        "model": StoredPlan,
    }


NOT_MODIFIED = {"description": "Not changed; there is no body.", "headers": ETAG}


def stored_plan() -> Responses:
    """Return the responses to reading a version."""
    return {200: _plan_response("The version as it was saved."), 304: NOT_MODIFIED}


def saved_plan() -> Responses:
    """Return the responses to PUT."""
    location = {"description": "Address of the new plan.", "schema": {"type": "string"}}
    return {
        200: _plan_response("A new version (`saved` is `changed`), or no change (`identical`)."),
        201: _plan_response("A new plan (`created`).", Location=location),
    }


def restored_plan() -> Responses:
    """Return the response to restoring a plan."""
    return {200: _plan_response("The plan's latest version.")}


def document() -> Responses:
    """Return the responses to reading the document alone."""
    content = {JSON: {"schema": {"$ref": COMPONENTS + "PlanDocument"}}}
    return {
        200: {"description": "The plan document.", "headers": ETAG, "content": content},
        304: NOT_MODIFIED,
    }


def output(kind: str) -> Responses:
    """Return the responses to reading a text for z/OS."""
    described = text_response(kind)
    return {200: {**described, "headers": {**described["headers"], **ETAG}}, 304: NOT_MODIFIED}


def described_examples() -> Iterator[OperationExamples]:
    """Yield examples of saving a plan."""
    saved = {name: json.loads(version_json(_example(name), (), saved="created")) for name in examples()}
    yield OperationExamples("/api/v1/plans/{name}", examples(), saved, method="put", status=201)


def _example(name: str) -> StoredVersion:
    computed = compute(read_object(examples()[name].document), no_curves)
    return StoredVersion(
        plan_id=1,
        name="SQ03",
        number=1,
        latest=1,
        created_at=EXAMPLE_TIME,
        comment=None,
        core_version=computed.core_version,
        document_json=computed.document,
        curve_json=computed.curve,
        result_json=computed.result,
        author=EXAMPLE_AUTHOR,
    )
