"""Answers about scenarios: stored JSON is passed on as it is."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from app.scenarios.service import LONGEST_NOTE, MOST_VERSIONS, ScenarioDraft
from app.scenarios.stored import ScenarioSummary, StoredScenario
from app.web.answers import Answer
from planner_core.document.problems import field_problems
from planner_core.document.reading import parse_json
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid
from planner_core.findings import Finding
from planner_core.whatif.changes import WHAT, Changes
from planner_core.whatif.scenario_report import SideBySide

_MODEL = ConfigDict(extra="forbid", strict=True)


class ScenarioRequest(BaseModel):
    """What a scenario changes of a plan, and why."""

    model_config = _MODEL
    note: Annotated[
        str, Field(max_length=LONGEST_NOTE, description="Why: what a change board should know.")
    ] = ""
    version: Annotated[
        int | None, Field(ge=1, le=MOST_VERSIONS, description="Version of the plan; absent: the latest.")
    ] = None
    changes: Annotated[Any, Field(description="What is changed; at least one thing.")]


class NewScenarioRequest(ScenarioRequest):
    """A scenario with its name."""

    name: Annotated[str, Field(description="Safe in addresses.", examples=["z17-upgrade"])]


class DescribedScenario(ScenarioRequest):
    """As the description shows it."""

    changes: Changes


class DescribedNewScenario(NewScenarioRequest):
    """As the description shows it."""

    changes: Changes


class ScenarioSummaryAnswer(Answer):
    """A scenario in the list."""

    name: str
    version: Annotated[int, Field(description="Of the plan.")]
    is_of_latest: Annotated[bool, Field(description="Whether that is the plan's latest version.")]
    etag: str
    created_at: datetime
    updated_at: datetime
    core_version: str
    note: str
    what_changes: list[str]
    initsize_kib_before: int
    initsize_kib_after: int
    size_kib_before: int
    size_kib_after: int
    errors: Annotated[int, Field(description="Findings after the changes that nobody acknowledged.")]
    warnings: int
    commands: Annotated[int, Field(description="Commands that lead from the plan to the scenario.")]


class ScenariosAnswer(Answer):
    """The scenarios of a plan."""

    plan: str
    scenarios: list[ScenarioSummaryAnswer]
    findings: list[Finding]


class ScenarioDeletionAnswer(Answer):
    """The scenario was deleted."""

    plan: str
    name: str
    findings: list[Finding]


def read_request(body: bytes, *, named: bool) -> tuple[str, ScenarioDraft]:
    """The name (empty where the address has it) and the scenario that a body asks for.

    Raises:
        InputInvalid: Not JSON, or not of this shape.
    """
    try:
        parsed = parse_json(body)
    except DocumentInvalid as error:
        raise InputInvalid(WHAT, error.problems) from None
    return read_object(parsed, named=named)


def read_object(parsed: object, *, named: bool) -> tuple[str, ScenarioDraft]:
    """The same of an object that was read already.

    Raises:
        InputInvalid: Not of this shape.
    """
    model = NewScenarioRequest if named else ScenarioRequest
    if not isinstance(parsed, dict):
        raise InputInvalid(WHAT, (FieldProblem("", "must be an object with changes"),))
    try:
        read = model.model_validate(parsed)
    except ValidationError as error:
        raise InputInvalid(WHAT, field_problems(error, parsed, model=model, what="a scenario")) from None
    wanted = ScenarioDraft(changes=read.changes, note=read.note, version=read.version)
    return getattr(read, "name", ""), wanted


def scenario_json(found: StoredScenario, *, saved: str | None = None) -> bytes:
    """A scenario as JSON text."""
    parts = {
        "plan": to_json(found.plan),
        "name": to_json(found.name),
        "version": to_json(found.version),
        "revision": to_json(found.revision),
        "etag": to_json(found.etag),
        "created_at": to_json(found.created_at),
        "updated_at": to_json(found.updated_at),
        "core_version": to_json(found.core_version),
        "note": to_json(found.note),
        "changes": found.changes_json.encode(),
        "result": found.result_json.encode(),
        "findings": to_json(found.result["findings"]),
    }
    if saved is not None:
        parts["saved"] = to_json(saved)
    return b"{" + b",".join(to_json(key) + b":" + value for key, value in parts.items()) + b"}"


def report_json(found: StoredScenario, shown: dict[str, Any]) -> dict[str, Any]:
    """A report as a JSON object."""
    return {
        "plan": found.plan,
        **shown,
        "revision": found.revision,
        "etag": found.etag,
        "created_at": found.created_at.isoformat(),
        "updated_at": found.updated_at.isoformat(),
        "page": f"/plans/{found.plan}/scenarios/{found.name}/report",
    }


def comparison_json(plan: str, found: SideBySide) -> dict[str, Any]:
    """A comparison as a JSON object."""
    return {"plan": plan, **found.as_json()}


def list_answer(plan: str, found: tuple[ScenarioSummary, ...]) -> ScenariosAnswer:
    """The list."""
    shown = [
        ScenarioSummaryAnswer(**{**asdict(each), "what_changes": list(each.what_changes)}) for each in found
    ]
    return ScenariosAnswer(plan=plan, scenarios=shown, findings=[])
