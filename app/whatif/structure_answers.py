"""Examples of the answers about one structure for OpenAPI."""

from __future__ import annotations

from typing import Any

from app.sizing.examples import examples
from app.web.openapi import put_examples

PATHS = tuple(f"/api/v1/whatif/{question}" for question in ("filling", "thresholds", "recovery", "smds-job"))
EXAMPLE = "smallest"


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    from planner_core.document.reading import read_object
    from planner_core.plan.evaluate import evaluate
    from planner_core.texts.smds_job import smds_job
    from planner_core.whatif.filling_up import fill_up
    from planner_core.whatif.recovery import recovery
    from planner_core.whatif.thresholds import advise

    example = examples()[EXAMPLE]
    plan = read_object(example.document)
    name = plan.structures[0].name
    answers = (fill_up(plan, name), advise(plan, name), recovery(plan), smds_job(evaluate(plan)))
    for path, answer in zip(PATHS, (each.as_json() for each in answers), strict=True):
        put_examples(whole["paths"][path]["post"], {EXAMPLE: example}, {EXAMPLE: answer})
