"""Requests about tables for the OpenAPI description, with examples."""

from __future__ import annotations

import json
from collections.abc import Iterator

from app.importing import api
from app.importing.requests import QueuesRequest, StructuresRequest
from app.importing.service import template_csv
from app.web.openapi import OperationExamples, model_schemas
from planner_core.wire import JsonObject


def schemas() -> JsonObject:
    """Return the schemas of request bodies."""
    return model_schemas(StructuresRequest, QueuesRequest)


def described_examples() -> Iterator[OperationExamples]:
    """Yield one example for each path."""
    structures = {"text": template_csv("structures"), "cfcc_level": 25, "plans": True}
    queues = {"text": template_csv("queues"), "qsg": "SQ01", "queue_managers": 3}
    for path, asked, answered in (
        ("structures", structures, api.structures),
        ("queues", queues, api.queues),
    ):
        answer = answered(json.dumps(asked).encode()).as_json()
        yield OperationExamples(
            f"/api/v1/import/{path}", {"example": ("The template", asked)}, {"example": answer}
        )
