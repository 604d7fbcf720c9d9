"""Requests about what runs in the description of the REST interface, with examples."""

from __future__ import annotations

import json
from typing import Any

from app.fits.kept import NoCurves
from app.running import api
from app.running.requests import DiffRequest, FromRunningRequest, LintRequest, MergeRequest
from app.running.texts import running_example
from app.texts.documents import example_text, parse_text
from app.web.openapi import COMPONENTS, model_schemas, put_examples, put_schemas
from planner_core.wire import Answer


def examples() -> dict[str, dict[str, Any]]:
    """Return an example request for each address."""
    example, plan = running_example(), parse_text(example_text().encode())
    return {
        "lint": {"text": example.policy, "cfcc_level": 25},
        "merge": {"plan": plan, "policy": example.policy},
        "diff": {"plan": plan, "current": list(example)},
        "plan-from-running": {"current": list(example)},
    }


def _answer(name: str, body: bytes) -> Answer:
    match name:
        case "lint":
            return api.lint(body)
        case "merge":
            return api.merge(body, NoCurves())
        case "diff":
            return api.diff(body, NoCurves())
        case _:
            return api.plan_from_running(body)


def add(whole: dict[str, Any]) -> None:
    """Add the requests and examples to the whole description."""
    requests = (LintRequest, MergeRequest, DiffRequest, FromRunningRequest)
    put_schemas(whole, model_schemas(*requests, mode="validation"))
    plan = {"$ref": f"{COMPONENTS}PlanDocument"}
    for name in ("MergeRequest", "DiffRequest"):
        about = whole["components"]["schemas"][name]["properties"]["plan"]["description"]
        whole["components"]["schemas"][name]["properties"]["plan"] = {**plan, "description": about}
    for name, asked in examples().items():
        # The example answers come from the endpoints, so they cannot differ from real ones.
        answer = _answer(name, json.dumps(asked).encode()).as_json()
        operation = whole["paths"][f"/api/v1/{name}"]["post"]
        put_examples(operation, {"example": ("A fictitious site", asked)}, {"example": answer})
