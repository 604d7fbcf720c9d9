"""OpenAPI descriptions of bodies that the handlers of scenarios read and write themselves."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from app.scenarios.answers import (
    DescribedNewScenario,
    DescribedScenario,
    ScenarioComparisonAnswer,
    report_answer,
    scenario_json,
)
from app.scenarios.stored import StoredScenario
from app.sizing.body import JSON
from app.sizing.examples import examples
from app.web.openapi import model_schemas
from planner_core.document.reading import read_object
from planner_core.whatif.changes import read_changes
from planner_core.whatif.scenario import scenario
from planner_core.whatif.scenario_report import report, side_by_side
from planner_core.wire import copied

AT = "/api/v1/plans/{name}/scenarios"
EXAMPLE = "sq03"
EXAMPLE_TIME = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
EXAMPLE_CHANGES: dict[str, Any] = {"queue_managers": 6, "growth": {"percent_per_year": 10, "years": 2}}
TAG = {"type": "string", "pattern": r'^"\d+\.\d+-scenario(-[a-z]+)?"$'}
ETAG = {"ETag": {"description": "The strong validator of this state of the scenario.", "schema": TAG}}


def response(model: type, text: str, *, has_etag: bool = False, **headers: object) -> dict[str, Any]:
    """Describe an answer that the handler writes itself, because of its headers."""
    known = {**(ETAG if has_etag else {}), **headers}
    return {"description": text, "model": model, **({"headers": known} if known else {})}


NOT_MODIFIED = {"description": "Not changed since; there is no body.", "headers": ETAG}
LOCATION = {"description": "Address of the new scenario.", "schema": {"type": "string"}}


def add(whole: dict[str, Any]) -> None:
    """Add the components and examples to the description when it is first requested."""
    for name, schema in model_schemas(DescribedScenario, DescribedNewScenario, mode="validation").items():
        # Parts of the plan document are there already, with defaults.
        whole["components"]["schemas"].setdefault(name, schema)
    paths = whole["paths"]
    asked = {
        "note": "Trade of the next two years, and the queue manager that comes with it.",
        "changes": EXAMPLE_CHANGES,
    }
    for path, method, value in (
        (AT, "post", {"name": "more-trade", **asked}),
        (f"{AT}/{{scenario}}", "put", asked),
    ):
        paths[path][method]["requestBody"]["content"][JSON]["examples"] = {EXAMPLE: {"value": value}}
    stored = _example(str(asked["note"]))
    shown = {
        f"{AT}/{{scenario}}": json.loads(scenario_json(stored)),
        f"{AT}/{{scenario}}/report": report_answer(stored, report(stored.kept)).as_json(),
        f"{AT}/compare": copied(
            ScenarioComparisonAnswer, side_by_side([stored.kept]), plan=stored.plan
        ).as_json(),
    }
    for path, value in shown.items():
        paths[path]["get"]["responses"]["200"]["content"][JSON]["examples"] = {EXAMPLE: {"value": value}}


def _example(note: str) -> StoredScenario:
    document = read_object(examples()[EXAMPLE].document)
    result = scenario(document, read_changes(EXAMPLE_CHANGES)).as_json()
    return StoredScenario(
        id=1,
        plan="SQ03",
        name="more-trade",
        revision=1,
        version=1,
        created_at=EXAMPLE_TIME,
        updated_at=EXAMPLE_TIME,
        core_version=str(result["core_version"]),
        note=note,
        changes_json=json.dumps(result["changes"]),
        result_json=json.dumps(result),
    )
