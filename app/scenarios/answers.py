"""Answers about scenarios; stored JSON is sent unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import to_json

from app.scenarios.service import LONGEST_NOTE, MOST_VERSIONS, ScenarioDraft
from app.scenarios.stored import ScenarioSummary, StoredScenario
from app.texts.documents import parse_request
from planner_core.document.problems import field_problems
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding
from planner_core.whatif.changes import WHAT
from planner_core.whatif.scenario import ScenarioResult
from planner_core.whatif.scenario_report import ScenarioReport, SideBySide
from planner_core.wire import Answer, JsonObject, Omittable, copied, described_as

_MODEL = ConfigDict(extra="forbid", strict=True)


class ScenarioRequest(BaseModel):
    """The changes of a scenario, and the reason for them."""

    model_config = _MODEL
    note: Annotated[
        str, Field(max_length=LONGEST_NOTE, description="The reason for the changes, for a change board.")
    ] = ""
    version: Annotated[
        int | None, Field(ge=1, le=MOST_VERSIONS, description="Version of the plan; if omitted, the latest.")
    ] = None
    # The core reads the changes and reports each problem at its place.
    changes: Annotated[Any, described_as("Changes"), Field(description="The changes; at least one.")]


class NewScenarioRequest(ScenarioRequest):
    """A scenario with its name."""

    name: Annotated[str, Field(description="Safe in addresses.", examples=["z17-upgrade"])]


@dataclass(frozen=True, slots=True)
class ScenariosAnswer(Answer):
    """The scenarios of a plan."""

    plan: str
    scenarios: tuple[ScenarioSummary, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ScenarioDeletionAnswer(Answer):
    """The deletion of a scenario."""

    plan: str
    name: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredScenarioAnswer(Answer):
    """A scenario as it was saved."""

    plan: str
    name: str
    version: Annotated[int, Field(description="Version of the plan.")]
    revision: Annotated[int, Field(description="State of the scenario, counted from 1.")]
    etag: str
    created_at: datetime
    updated_at: datetime
    author: Annotated[
        str | None, Field(description="Who saved it last; null if the service did not record it yet.")
    ]
    core_version: str
    note: str
    changes: JsonObject
    result: ScenarioResult
    findings: tuple[Finding, ...]
    saved: Omittable[Literal["created", "changed", "identical"]] = None


@dataclass(frozen=True, slots=True)
class ScenarioComparisonAnswer(SideBySide):
    """Up to four scenarios next to their plan."""

    plan: str


IsoTime = Annotated[
    datetime,
    # pydantic writes UTC as Z; reports have always had +00:00.
    PlainSerializer(datetime.isoformat, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


@dataclass(frozen=True, slots=True)
class ScenarioReportAnswer(ScenarioReport):
    """A report with its stored scenario."""

    plan: str
    revision: Annotated[int, Field(description="State of the scenario, counted from 1.")]
    etag: str
    created_at: IsoTime
    updated_at: IsoTime
    page: Annotated[str, Field(description="Address of the same report as a page for printing.")]


def read_request(body: bytes, *, named: bool) -> tuple[str, ScenarioDraft]:
    """Return the name (empty if it is in the address) and the scenario in the body of a request.

    Raises:
        InputInvalid: The body is not JSON, or not a scenario.
    """
    parsed = parse_request(body, WHAT)
    return read_object(parsed, named=named)


def read_object(parsed: object, *, named: bool) -> tuple[str, ScenarioDraft]:
    """Return the name and the scenario in an object.

    Raises:
        InputInvalid: The object is not a scenario.
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
    """Return a scenario as JSON."""
    _ = found.changes  # a damaged text must not be sent
    parts = {
        "plan": to_json(found.plan),
        "name": to_json(found.name),
        "version": to_json(found.version),
        "revision": to_json(found.revision),
        "etag": to_json(found.etag),
        "created_at": to_json(found.created_at),
        "updated_at": to_json(found.updated_at),
        "author": to_json(found.author),
        "core_version": to_json(found.core_version),
        "note": to_json(found.note),
        "changes": found.changes_json.encode(),
        "result": found.result_json.encode(),
        "findings": to_json(found.result["findings"]),
    }
    if saved is not None:
        parts["saved"] = to_json(saved)
    # Changes and result are stored as JSON: they are sent without parsing.
    return b"{" + b",".join(to_json(key) + b":" + value for key, value in parts.items()) + b"}"


def report_answer(found: StoredScenario, shown: ScenarioReport) -> ScenarioReportAnswer:
    """Return a report with the members of its stored scenario."""
    return copied(
        ScenarioReportAnswer,
        shown,
        plan=found.plan,
        revision=found.revision,
        etag=found.etag,
        created_at=found.created_at,
        updated_at=found.updated_at,
        page=f"/plans/{found.plan}/scenarios/{found.name}/report",
    )
