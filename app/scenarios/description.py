"""OpenAPI descriptions of bodies that the handlers of scenarios read and write themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from app.actor import LOCAL
from app.scenarios.answers import (
    NewScenarioRequest,
    ScenarioComparisonAnswer,
    ScenarioRequest,
    report_answer,
    scenario_json,
)
from app.scenarios.stored import StoredScenario
from app.sizing.description import schemas as plan_schemas
from app.sizing.examples import examples
from app.web.openapi import OperationExamples, model_schemas
from planner_core.document.reading import read_object
from planner_core.whatif.changes import Changes, read_changes
from planner_core.whatif.scenario import scenario
from planner_core.whatif.scenario_report import report, side_by_side
from planner_core.wire import JsonObject, copied

AT = "/api/v1/plans/{name}/scenarios"
EXAMPLE = "sq03"
EXAMPLE_AUTHOR = LOCAL.name
EXAMPLE_TIME = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
EXAMPLE_CHANGES: JsonObject = {"queue_managers": 6, "growth": {"percent_per_year": 10, "years": 2}}
TAG = {"type": "string", "pattern": r'^"\d+\.\d+-scenario(-[a-z]+)?"$'}
ETAG = {"ETag": {"description": "The strong validator of this state of the scenario.", "schema": TAG}}


def response(model: type, text: str, *, has_etag: bool = False, **headers: object) -> JsonObject:
    """Describe an answer that the handler builds itself in order to set headers."""
    known = {**(ETAG if has_etag else {}), **headers}
    return {"description": text, "model": model, **({"headers": known} if known else {})}


NOT_MODIFIED = {"description": "Not changed; there is no body.", "headers": ETAG}
LOCATION = {"description": "Address of the new scenario.", "schema": {"type": "string"}}


def schemas() -> JsonObject:
    """Return the schemas of request bodies."""
    found = model_schemas(ScenarioRequest, NewScenarioRequest, Changes)
    return {name: found[name] for name in found if name not in plan_schemas()}


def described_examples() -> Iterator[OperationExamples]:
    """Yield one scenario as it is saved, read, compared and shown in a report."""
    note = "Growth over the next two years, with the additional queue manager it requires."
    asked = {"note": note, "changes": EXAMPLE_CHANGES}
    stored = _example(note)
    yield OperationExamples(AT, {EXAMPLE: ("", {"name": "more-trade", **asked})})
    yield OperationExamples(f"{AT}/{{scenario}}", {EXAMPLE: ("", asked)}, method="put")
    for path, answer in (
        (f"{AT}/{{scenario}}", json.loads(scenario_json(stored))),
        (f"{AT}/{{scenario}}/report", report_answer(stored, report(stored.kept)).as_json()),
        (
            f"{AT}/compare",
            copied(ScenarioComparisonAnswer, side_by_side([stored.kept]), plan=stored.plan).as_json(),
        ),
    ):
        yield OperationExamples(path, answers={EXAMPLE: answer}, method="get")


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
        author=EXAMPLE_AUTHOR,
    )
