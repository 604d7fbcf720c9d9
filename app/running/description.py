"""Requests about the running system for the OpenAPI description, with examples."""

from __future__ import annotations

import json
from collections.abc import Iterator

from app.fits.kept import no_curves
from app.running import api
from app.running.requests import (
    DiffRequest,
    FromRunningRequest,
    LintRequest,
    MergeRequest,
    OtherStructuresRequest,
)
from app.running.texts import running_example
from app.texts.documents import example_text, parse_text
from app.web.openapi import OperationExamples, model_schemas
from planner_core.wire import Answer, JsonObject

DB2_POLICY = """\
DEFINE POLICY NAME(POLICY1)
  STRUCTURE NAME(DSNDB0A_LOCK1) SIZE(131072) INITSIZE(65536) PREFLIST(CF01,CF02)
  STRUCTURE NAME(DSNDB0A_SCA) SIZE(65536) INITSIZE(32768) PREFLIST(CF02,CF01)
  STRUCTURE NAME(DSNDB0A_GBP0) SIZE(262144) INITSIZE(131072) PREFLIST(CF01,CF02) DUPLEX(ENABLED)
"""
"""Structures of the Db2 data-sharing group of a fictitious site."""


def examples() -> dict[str, JsonObject]:
    """Return an example request for each path."""
    example, plan = running_example(), parse_text(example_text().encode())
    return {
        "lint": {"text": example.policy, "cfcc_level": 25},
        "merge": {"plan": plan, "policy": example.policy},
        "diff": {"plan": plan, "current": list(example)},
        "plan-from-running": {"current": list(example)},
        "other-structures": {"plan": plan, "current": DB2_POLICY},
    }


def _answer(name: str, body: bytes) -> Answer:
    match name:
        case "lint":
            return api.lint(body)
        case "merge":
            return api.merged_policy(body, no_curves)[0]
        case "diff":
            return api.diff(body, no_curves)
        case "other-structures":
            return api.other_structures(body)
        case _:
            return api.plan_from_running(body)


def schemas() -> JsonObject:
    """Return the schemas of request bodies."""
    return model_schemas(LintRequest, MergeRequest, DiffRequest, FromRunningRequest, OtherStructuresRequest)


def described_examples() -> Iterator[OperationExamples]:
    """Yield one example for each path."""
    for name, asked in examples().items():
        # The example answers come from the endpoints, so they cannot differ from real ones.
        answer = _answer(name, json.dumps(asked).encode()).as_json()
        yield OperationExamples(
            f"/api/v1/{name}", {"example": ("A fictitious site", asked)}, {"example": answer}
        )
