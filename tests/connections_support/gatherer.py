"""A stand-in for the SMF REST services of the z/OS Data Gatherer, built from what is published of them.

Path and `datasetName`: IBM Education Assistant, z/OS 3.1. Names and types of fields: IBM SMF Explorer. The answer to an unknown
data set and the shape of the description are those of a public stand-in.
"""

from __future__ import annotations

import json
from typing import Any

from planner_core.contracts.gatherer import FIELDS
from tests.connections_support.server import Answer, Received, StandIn

SERVICE = "/zosmf/zosdg/smf"
OPENAPI_TYPES = {"date": "string", "time": "string", "date-time": "string"}


def api_docs() -> dict[str, Any]:
    """Return the description of the service, as far as the fields of 74-4 records are concerned."""
    properties: dict[str, dict[str, Any]] = {
        name: {
            "type": OPENAPI_TYPES.get(of, of),
            "description": "a text",
            **({"format": of} if of in OPENAPI_TYPES else {}),
        }
        for name, of in FIELDS.items()
    }
    properties["R744STYP"] |= {"x-zml-datatype": "HEX_STR", "x-zml-size": 1}
    return {
        "openapi": "3.0.1",
        "info": {"title": "z/OS Data Gatherer: SMF Data REST Services"},
        "components": {
            "schemas": {
                "SMF74_SUBTYPE4": {"properties": {"R744FLCF": {"$ref": "#/components/schemas/ANY"}}},
                "ANY": {"type": "object", "properties": properties},
            }
        },
    }


class GathererStandIn(StandIn):
    """The server: documents of 74-4 records by data set."""

    def __init__(self, **documents: bytes) -> None:
        super().__init__()
        self.documents = {name.replace("_", "."): content for name, content in documents.items()}
        self.description = api_docs()

    def answer(self, request: Received) -> Answer:
        """Answer one request."""
        if request.method != "GET":
            return Answer(405)
        if request.path == f"{SERVICE}/v3/api-docs":
            return Answer.json(self.description)
        if request.path != f"{SERVICE}/v1/smf/type/74/subtype/4" or list(request.query) != ["datasetName"]:
            return Answer(404)
        (name,) = request.query["datasetName"]
        content = self.documents.get(name)
        if content is None:
            return Answer(404, json.dumps({"detail": f"Dataset '{name}' not found"}).encode())
        return Answer(200, content)
