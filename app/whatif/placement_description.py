"""How the what-if questions are described in OpenAPI: what the handlers read and write themselves."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from app.curves.kept import NoCurves
from app.openapi import COMPONENTS, JSON
from app.sizing.examples import examples
from app.whatif.growing import upgrade_answer
from app.whatif.losing import loss_answer
from app.whatif.placement_answers import CfLossAnswer, UpgradeAnswerShape
from planner_core.document import read_object

SHAPES = (CfLossAnswer, UpgradeAnswerShape)
CF_LOSS, UPGRADE = "/api/v1/whatif/cf-loss", "/api/v1/whatif/upgrade"
EXAMPLE = "sq03"


def answer_response(name: str, description: str) -> dict[str, Any]:
    """An answer of that shape."""
    return {"description": description, "content": {JSON: {"schema": {"$ref": COMPONENTS + name}}}}


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    _, models = models_json_schema(
        [(shape, "serialization") for shape in SHAPES], ref_template=COMPONENTS + "{model}"
    )
    for name, schema in models["$defs"].items():
        if whole["components"]["schemas"].setdefault(name, schema) != schema:
            message = f"two schemas are called {name}"
            raise ValueError(message)
    example = examples()[EXAMPLE]
    plan = read_object(example.document)
    answers = {
        CF_LOSS: loss_answer(plan, (), NoCurves(), at="initsize").as_json(),
        UPGRADE: upgrade_answer(plan, NoCurves()).as_json(),
    }
    for path, answer in answers.items():
        operation = whole["paths"][path]["post"]
        operation["requestBody"]["content"][JSON]["examples"] = {
            EXAMPLE: {"summary": example.summary, "value": example.document}
        }
        operation["responses"]["200"]["content"][JSON]["examples"] = {EXAMPLE: {"value": answer}}
