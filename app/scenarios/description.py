"""How scenarios are described in OpenAPI: what the handlers read and write themselves."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from app.scenarios.answers import (
    DescribedNewScenario,
    DescribedScenario,
    comparison_json,
    report_json,
    scenario_json,
)
from app.scenarios.stored import StoredScenario
from app.sizing.body import JSON
from app.sizing.examples import examples
from app.web.answers import Absent, Answer
from app.web.openapi import COMPONENTS
from planner_core.document.reading import read_object
from planner_core.findings import Finding
from planner_core.whatif.changes import read_changes
from planner_core.whatif.scenario import scenario
from planner_core.whatif.scenario_report import report, side_by_side

AT = "/api/v1/plans/{name}/scenarios"
EXAMPLE = "sq03"
EXAMPLE_TIME = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
EXAMPLE_CHANGES: dict[str, Any] = {"queue_managers": 6, "growth": {"percent_per_year": 10, "years": 2}}
TAG = {"type": "string", "pattern": r'^"\d+\.\d+-scenario(-[a-z]+)?"$'}
ETAG = {"ETag": {"description": "The strong validator of this state of the scenario.", "schema": TAG}}


class ScenarioFigures(Answer):
    """Figures of a structure; null where it has none."""

    need_bytes: int | None
    initsize_kib: int | None
    size_kib: int | None
    messages: int | None
    messages_in_initsize: int | None
    messages_in_initsize_with_offload: int | None
    peak_usage_percent: float | None
    offloaded_at_backlog: int | None


class ScenarioStructure(Answer):
    """One structure before and after."""

    structure: str
    name: str
    role: Literal["admin", "application", "system"]
    before: ScenarioFigures
    after: ScenarioFigures
    difference: ScenarioFigures
    given_size_replaced: bool


class ScenarioChanged(Answer):
    """One thing that is changed, in words."""

    what: str
    structure: str | None
    pointer: Annotated[str, Field(description="Where it stands in the plan document.")]
    before: str
    after: str


class ScenarioResultAnswer(Answer):
    """What the changes led to, as it was when the scenario was saved."""

    qsg: str
    core_version: str
    changes: dict[str, Any]
    what_changes: list[ScenarioChanged]
    lost: str | None
    before: dict[str, Any]
    after: dict[str, Any]
    structures: list[ScenarioStructure]
    placements: dict[str, list[dict[str, Any]]]
    losses: dict[str, list[dict[str, Any]]]
    white_space: dict[str, list[dict[str, Any]]]
    rules: list[dict[str, Any]]
    origins: Annotated[
        dict[str, dict[str, Any]],
        Field(description="Formula, basis and documents of every figure, by pointer."),
    ]
    commands: list[dict[str, Any]]
    commands_refused: str | None
    assumptions: list[str]
    findings: list[Finding]
    findings_new: list[Finding]
    findings_gone: list[Finding]


class StoredScenarioAnswer(Answer):
    """A scenario as it was saved."""

    plan: str
    name: str
    version: Annotated[int, Field(description="Of the plan.")]
    revision: Annotated[int, Field(description="How many times it was saved with something new.")]
    etag: str
    created_at: datetime
    updated_at: datetime
    core_version: str
    note: str
    changes: dict[str, Any]
    result: ScenarioResultAnswer
    findings: list[Finding]
    saved: Literal["created", "changed", "identical"] | Absent = None


class ScenarioRow(Answer):
    """One line of a comparison: the plan, then each scenario."""

    label: str
    structure: str | None
    unit: str | None
    values: list[Any]
    differences: list[float | None]
    differs: list[bool]


class ScenarioFindingRow(Answer):
    """A finding that is not the same everywhere; null where it is absent."""

    code: str
    severity: Literal["error", "warning", "info"]
    structure: str | None
    messages: list[str | None]


class ScenarioComparisonAnswer(Answer):
    """Up to four scenarios beside their plan."""

    plan: str
    scenarios: list[dict[str, Any]]
    settings: list[ScenarioRow]
    figures: list[ScenarioRow]
    totals: list[ScenarioRow]
    losses: list[ScenarioRow]
    commands: list[ScenarioRow]
    findings_side_by_side: list[ScenarioFindingRow]
    assumptions: list[str]
    findings: list[Finding]


class ScenarioFigure(Answer):
    """A figure before and after, with the numbers of its notes."""

    figure: str
    label: str
    unit: str
    before: float | None
    after: float | None
    difference: float | None
    note_before: int | None
    note_after: int | None


class ReportedStructure(Answer):
    """A structure in a report."""

    structure: str
    role: str
    given_size_replaced: bool
    figures: list[ScenarioFigure]


class ScenarioNote(Answer):
    """How figures came about."""

    number: int
    figure: str
    formula: Annotated[str | None, Field(description="Null where several are at work, or it is long.")]
    basis: str
    documents: Annotated[list[int], Field(description="Numbers of documents.")]


class ScenarioDocument(Answer):
    """A document that figures rest on."""

    number: int
    document: str


class ScenarioReportAnswer(Answer):
    """A scenario for those who decide."""

    plan: str
    scenario: str
    version: int
    note: str
    qsg: str
    core_version: str
    what_changes: list[ScenarioChanged]
    structures: list[ReportedStructure]
    totals: list[ScenarioFigure]
    placements: dict[str, list[dict[str, Any]]]
    losses: dict[str, list[dict[str, Any]]]
    white_space: dict[str, list[dict[str, Any]]]
    rules: list[dict[str, Any]]
    commands: list[dict[str, Any]]
    commands_refused: str | None
    assumptions: list[str]
    notes: list[ScenarioNote]
    documents: list[ScenarioDocument]
    findings: list[Finding]
    findings_new: list[Finding]
    findings_gone: list[Finding]
    revision: Annotated[int, Field(description="Which state of the scenario this is, from 1.")]
    etag: str
    created_at: datetime
    updated_at: datetime
    page: Annotated[str, Field(description="Address of the same report as a page that prints.")]


MODELS: tuple[tuple[type[BaseModel], Literal["serialization", "validation"]], ...] = (
    (DescribedScenario, "validation"),
    (DescribedNewScenario, "validation"),
    (StoredScenarioAnswer, "serialization"),
    (ScenarioComparisonAnswer, "serialization"),
    (ScenarioReportAnswer, "serialization"),
)


def _content(name: str) -> dict[str, Any]:
    return {JSON: {"schema": {"$ref": COMPONENTS + name}}}


def response(name: str, text: str, *, has_etag: bool = False, **headers: object) -> dict[str, Any]:
    """An answer of that shape."""
    known = {**(ETAG if has_etag else {}), **headers}
    return {"description": text, "content": _content(name), **({"headers": known} if known else {})}


NOT_MODIFIED = {"description": "What is known already still holds; there is no body.", "headers": ETAG}
LOCATION = {"description": "Where the new scenario is.", "schema": {"type": "string"}}


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    _, models = models_json_schema(list(MODELS), ref_template=COMPONENTS + "{model}")
    for name, schema in models["$defs"].items():
        whole["components"]["schemas"].setdefault(
            name, schema
        )  # parts of the plan document are there, with defaults
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
        f"{AT}/{{scenario}}/report": report_json(stored, report(stored.kept)),
        f"{AT}/compare": comparison_json("SQ03", side_by_side([stored.kept])),
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
