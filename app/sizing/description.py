"""The OpenAPI description of routes that take a plan document, with examples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from app.sizing.examples import examples
from app.sizing.service import MOST_QUEUES_EXPLAINED_WITH_DEPTHS, MOST_QUEUES_IN_DETAIL
from app.web.openapi import OperationExamples, document_schemas
from planner_core.document.reading import read_object
from planner_core.document.schema import json_schema
from planner_core.errors import OutputRefused
from planner_core.plan.evaluate import evaluate
from planner_core.texts.outputs import OUTPUT_KINDS, render_output
from planner_core.wire import JsonObject

TEXT = "text/plain"
XML = "application/xml"


class Words(NamedTuple):
    """The texts that describe an output."""

    summary: str
    description: str
    media_type: str = TEXT


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
        "Operator commands for three situations: to activate the policy, to rebuild a structure under it, to enlarge a structure that fills up.",
    ),
    "runbook": Words("Runbook", "The actions for each structure when IXC585E or reason code 2192 occurs."),
    "workflow": Words(
        "z/OSMF workflow",
        "A workflow definition for the Workflows task of z/OSMF: back up the policies, define the new one, activate it, rebuild "
        "each structure in order, verify the result.",
        XML,
    ),
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

STRUCTURE = {
    "name": "structure",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": "With `explain` or `depths`: explain and advise on only the structure with this name in MQ. The figures are "
    f"those of the whole plan. Required for a plan with more than {MOST_QUEUES_IN_DETAIL:,} queues, and with both, for one with more "
    f"than {MOST_QUEUES_EXPLAINED_WITH_DEPTHS:,}.",
}


def schema_response() -> JsonObject:
    """Return the response of GET /api/v1/schema."""
    return {
        "description": "The JSON Schema. Its member `findings` is always empty; it is not a keyword of JSON Schema.",
        "content": {
            "application/schema+json": {"schema": {"type": "object", "required": ["$schema", "findings"]}}
        },
    }


def text_response(kind: str) -> JsonObject:
    """Return the OpenAPI responses of a route that returns text."""
    return {
        "description": OUTPUT_WORDS[kind].description,
        "headers": {
            "Content-Disposition": {
                "description": "`attachment` with the file name for the text.",
                "schema": {"type": "string"},
            },
            "X-Cfplan-Findings": {
                "description": "Number of findings of each severity. POST /api/v1/size lists them.",
                "schema": {"type": "string", "pattern": r"^error=\d+, warning=\d+, info=\d+$"},
            },
        },
        "content": {OUTPUT_WORDS[kind].media_type: {"schema": {"type": "string"}}},
    }


def schemas() -> JsonObject:
    """Return the schema of the plan document."""
    return document_schemas("PlanDocument", json_schema())


def described_examples() -> Iterator[OperationExamples]:
    """Yield the answers to the example plans: their results, and the texts that can be produced."""
    results = {name: evaluate(read_object(each.document)) for name, each in examples().items()}
    answers = {name: result.as_json() for name, result in results.items()}
    yield OperationExamples("/api/v1/size", examples(), answers)
    for kind in OUTPUT_KINDS:
        texts = {}
        for name, result in results.items():
            with suppress(OutputRefused):
                texts[name] = render_output(kind, result).text
        yield OperationExamples(
            f"/api/v1/{kind}", {name: each for name, each in examples().items() if name in texts}, texts
        )
