"""The OpenAPI description of headers and answers that the handlers of stored plans write themselves."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from app.fits.kept import NoCurves
from app.plans.answers import version_json
from app.plans.computed import compute
from app.plans.schemas import StoredPlan
from app.plans.stored import StoredVersion
from app.sizing.body import JSON
from app.sizing.examples import examples
from app.web.openapi import COMPONENTS, text_response
from planner_core.document.reading import read_object

EXAMPLE_TIME = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
TAG = {"type": "string", "pattern": r'^"\d+\.\d+(-[a-z]+){0,2}"$'}
ETAG = {"ETag": {"description": "The strong validator of this version.", "schema": TAG}}
IF_MATCH = "The ETag of the version that this changes."
IF_NONE_MATCH = "The ETag that the client has: 304 if it is still current."

Described = dict[int | str, dict[str, Any]]


def _header(name: str, text: str, **schema: object) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": text,
        "schema": {"type": "string", **schema},
    }


def conditional_get() -> dict[str, Any]:
    """Return the header of a GET that may be answered by 304."""
    return {"parameters": [_header("If-None-Match", IF_NONE_MATCH)]}


def conditional_put() -> dict[str, Any]:
    """Return the headers of PUT."""
    create = "`*`: create a plan, never change one. An ETag: refused when the latest version has it."
    return {"parameters": [_header("If-Match", IF_MATCH), _header("If-None-Match", create)]}


def conditional_delete() -> dict[str, Any]:
    """Return the header of DELETE."""
    return {"parameters": [_header("If-Match", f"{IF_MATCH} Without it, the latest is deleted.")]}


def _plan_response(text: str, **headers: object) -> dict[str, Any]:
    return {
        "description": text,
        "headers": {**ETAG, **headers},
        "model": StoredPlan,
    }


NOT_MODIFIED = {"description": "Not changed since; there is no body.", "headers": ETAG}


def stored_plan() -> Described:
    """Return the answers to reading a version."""
    return {200: _plan_response("The version as it was saved."), 304: NOT_MODIFIED}


def saved_plan() -> Described:
    """Return the answers to PUT."""
    location = {"description": "Where the new plan is.", "schema": {"type": "string"}}
    return {
        200: _plan_response("A new version (`saved` is `changed`), or nothing to do (`identical`)."),
        201: _plan_response("A new plan (`created`).", Location=location),
    }


def restored_plan() -> Described:
    """Return the answer to restoring."""
    return {200: _plan_response("The plan's latest version.")}


def document() -> Described:
    """Return the answers to reading the document alone."""
    content = {JSON: {"schema": {"$ref": COMPONENTS + "PlanDocument"}}}
    return {
        200: {"description": "The plan document.", "headers": ETAG, "content": content},
        304: NOT_MODIFIED,
    }


def output(kind: str) -> Described:
    """Return the answers to reading a text."""
    described = text_response(kind)
    return {200: {**described, "headers": {**described["headers"], **ETAG}}, 304: NOT_MODIFIED}


def add(whole: dict[str, Any]) -> None:
    """Add the examples to the whole description; it is called when first requested."""
    put = whole["paths"]["/api/v1/plans/{name}"]["put"]
    put["requestBody"]["content"][JSON]["examples"] = {
        name: {"summary": example.summary, "value": example.document} for name, example in examples().items()
    }
    put["responses"]["201"]["content"][JSON]["examples"] = {
        name: {"value": json.loads(version_json(_example(name), saved="created"))} for name in examples()
    }
    # The model of the document describes what is read; its schema for editors describes what is stored as well.
    stored = whole["components"]["schemas"]["StoredPlan"]["properties"]
    stored["document"] = {"$ref": COMPONENTS + "PlanDocument"}


def _example(name: str) -> StoredVersion:
    computed = compute(read_object(examples()[name].document), NoCurves())
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
    )
