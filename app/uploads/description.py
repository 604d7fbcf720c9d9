"""The OpenAPI description of the upload request, which the handler reads itself."""

from __future__ import annotations

from app.uploads.answers import ReceivedAnswer
from app.web.openapi import Responses
from planner_core.wire import JsonObject

BINARY = {"type": "string", "format": "binary"}


def file_request() -> JsonObject:
    """Return the request body of an upload."""
    form = {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {**BINARY, "description": "The file."},
            "kind": {"type": "string"},
            "observed_at": {"type": "string"},
            "zone": {"type": "string"},
        },
    }
    content = {
        "application/octet-stream": {"schema": {**BINARY, "minLength": 1}},
        "multipart/form-data": {"schema": form},
    }
    return {"requestBody": {"required": True, "content": content}}


def received() -> Responses:
    """Return the responses to an upload."""
    location = {"description": "Address of the upload.", "schema": {"type": "string"}}
    return {
        status: {"description": words, "headers": {"Location": location}, "model": ReceivedAnswer}
        for status, words in (
            (200, "The same file is already stored (`stored` is `identical`)."),
            (201, "The file is kept (`stored` is `created`), and a job that reads it is queued."),
        )
    }
