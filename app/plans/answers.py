"""Answers about stored plans; they send stored JSON without parsing it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_core import to_json
from starlette.datastructures import Headers
from starlette.responses import Response

from app.plans.stored import (
    StoredOutput,
    StoredVersion,
    etag,
)
from app.plans.trail import StoredAcknowledgment
from app.sizing.description import OUTPUT_WORDS

JSON = "application/json"
FINDINGS_HEADER = "x-cfplan-findings"
EXPLAINED = "explained"


def header_list(headers: Headers, name: str) -> str | None:
    """Return all values of a header that contains a list, or None if the header is missing."""
    return ", ".join(headers.getlist(name)) or None if name in headers else None


def conditional(response: Response, headers: Headers, tag: str) -> Response:
    """Return the response with its ETag, or 304 if the client has it already (If-None-Match, weak comparison)."""
    known = header_list(headers, "if-none-match")
    if known is not None and (
        known.strip() == "*" or tag in (one.strip().removeprefix("W/") for one in known.split(","))
    ):
        response = Response(status_code=304)
    response.headers["etag"] = tag
    response.headers["cache-control"] = "no-cache"  # may be stored, but must be revalidated before each use
    return response


def version_json(
    version: StoredVersion,
    acknowledged: Sequence[StoredAcknowledgment],
    *,
    explanations: str | None = None,
    saved: str | None = None,
) -> bytes:
    """Return a version as JSON text."""
    parts = {
        "name": to_json(version.name),
        "version": to_json(version.number),
        "etag": to_json(version.etag),
        "created_at": to_json(version.created_at),
        "comment": to_json(version.comment),
        "author": to_json(version.author),
        "core_version": to_json(version.core_version),
        "curve": version.curve_json.encode(),
        "document": version.document_json.encode(),
        "result": _result_json(version),
        "findings": to_json(version.result["findings"]),
        "acknowledgments": to_json([each.as_json() for each in acknowledged]),
    }
    if explanations is not None:
        parts["explanations"] = explanations.encode()
    if saved is not None:
        parts["saved"] = to_json(saved)
    # The members are JSON already: parsing and writing megabytes again would take longer than the query.
    return b"{" + b",".join(to_json(key) + b":" + value for key, value in parts.items()) + b"}"


def _result_json(version: StoredVersion) -> bytes:
    """Return the stored result as JSON text; results of earlier releases get the groups of their findings."""
    stored = version.result_json.encode()
    if "finding_groups" in version.result:
        return stored
    groups = to_json([group.as_json() for group in version.finding_groups])
    return stored.rstrip()[:-1] + b',"finding_groups":' + groups + b"}"


def version_response(
    version: StoredVersion,
    headers: Headers,
    acknowledged: Sequence[StoredAcknowledgment],
    *,
    explanations: str | None = None,
) -> Response:
    """Return the answer to GET for a version."""
    version.check_texts()
    # A strong ETag identifies bytes: the same version with explanations needs another one.
    tag = etag(version.plan_id, version.number, EXPLAINED if explanations is not None else "")
    return conditional(
        Response(version_json(version, acknowledged, explanations=explanations), media_type=JSON),
        headers,
        tag,
    )


def document_response(version: StoredVersion, headers: Headers) -> Response:
    """Return the plan document alone, as a file."""
    version.check_texts()
    name = {"content-disposition": f'attachment; filename="{version.name}.json"'}
    response = Response(version.document_json, media_type=JSON, headers=name)
    return conditional(response, headers, etag(version.plan_id, version.number, "document"))


def output_response(output: StoredOutput, headers: Headers) -> Response:
    """Return the answer to GET for a text for z/OS."""
    more = {
        "content-disposition": f'attachment; filename="{output.filename}"',
        FINDINGS_HEADER: output.findings,
    }
    media_type = OUTPUT_WORDS[output.kind].media_type
    return conditional(Response(output.text, media_type=media_type, headers=more), headers, output.etag)
