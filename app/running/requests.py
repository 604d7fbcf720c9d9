"""Bodies of requests about the running system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from app.running.texts import LARGEST_FILE_BYTES, MOST_TEXTS, WHAT, invalid
from app.texts.documents import parse_request
from planner_core.document.problems import field_problems
from planner_core.document.reading import read_object
from planner_core.document.types import MessageBytes
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid
from planner_core.plan.result import PlanResult
from planner_core.running.exported import ABOUT_SIZE_UNIT
from planner_core.running.unstated import ABOUT_UNSTATED, DEFAULT_UNSTATED, Unstated
from planner_core.texts.cfrm.policy_json import SizeUnit
from planner_core.wire import JsonObject, described_as

Text = Annotated[str, Field(max_length=LARGEST_FILE_BYTES)]
Texts = Text | Annotated[list[Text], Field(min_length=1, max_length=MOST_TEXTS)]
UnstatedField = Annotated[Unstated, Field(description=ABOUT_UNSTATED)]
SizeUnitField = Annotated[SizeUnit | None, Field(description=ABOUT_SIZE_UNIT)]
PlanField = Annotated[JsonObject, described_as("PlanDocument"), Field(description="The plan document.")]
Query = TypeVar("Query", bound=BaseModel)
_MODEL = ConfigDict(extra="forbid", strict=True)
_CURRENT = (
    "CFRM policy (input or report of IXCMIAPU, or JSON of z/OSMF), D XCF,STR, D XCF,CF, D CF, DISPLAY GROUP, DISPLAY CFSTATUS, DISPLAY CFSTRUCT, "
    "DISPLAY QLOCAL, DEFINE CFSTRUCT, DEFINE QLOCAL: one text or several, in any order."
)


class LintRequest(BaseModel):
    """A text to check without a plan."""

    model_config = _MODEL
    text: Annotated[
        Text,
        Field(
            description="CFRM policy, MQSC definitions, displays, or several of them; or a policy in JSON of z/OSMF."
        ),
    ]
    cfcc_level: Annotated[
        int | None,
        Field(ge=1, le=99, description="CFCC level of the coupling facilities, if known."),
    ] = None
    queue_managers: Annotated[
        int | None, Field(ge=1, le=32, description="Number of queue managers defined to the group, if known.")
    ] = None
    qsg: Annotated[
        str | None,
        Field(
            max_length=4,
            description="The group; if absent, the groups whose CSQ_ADMIN or CSQSYSAPPL the text names.",
        ),
    ] = None
    size_unit: SizeUnitField = None


class MergeRequest(BaseModel):
    """A plan, and the complete policy to merge it into."""

    model_config = _MODEL
    plan: PlanField
    policy: Annotated[
        Text,
        Field(
            description="The complete current policy: the input of IXCMIAPU, with or without its job, or JSON of z/OSMF."
        ),
    ]
    unstated: UnstatedField = DEFAULT_UNSTATED
    policy_name: Annotated[
        str | None, Field(max_length=8, description="The policy to use if the text has several.")
    ] = None
    current: Annotated[
        Texts | None,
        Field(
            description="D XCF,STR,STRNAME= of the structures: a smaller size is compared with the storage in use."
        ),
    ] = None
    size_unit: SizeUnitField = None
    workflow_name: Annotated[
        str | None,
        Field(
            max_length=8,
            description="If present, the answer has a z/OSMF workflow that defines the merged policy under this new name. "
            "The policy must be complete.",
        ),
    ] = None


class DiffRequest(BaseModel):
    """A plan, and texts about the running system."""

    model_config = _MODEL
    plan: PlanField
    current: Annotated[Texts, Field(description=_CURRENT)]
    unstated: UnstatedField = DEFAULT_UNSTATED
    size_unit: SizeUnitField = None


class FromRunningRequest(BaseModel):
    """Texts about the running system, from which a plan is created."""

    model_config = _MODEL
    current: Annotated[Texts, Field(description=_CURRENT)]
    qsg: Annotated[
        str | None,
        Field(max_length=4, description="The group; if absent, that of the only CSQ_ADMIN structure."),
    ] = None
    queue_managers: Annotated[
        int | None, Field(ge=1, le=32, description="If absent, the queue managers that DISPLAY GROUP lists.")
    ] = None
    message_bytes: Annotated[
        MessageBytes | None,
        Field(description="Message size for all queues; if absent, queues are left out."),
    ] = None
    size_unit: SizeUnitField = None


class OtherStructuresRequest(BaseModel):
    """A plan, and texts with structures of Db2 and others."""

    model_config = _MODEL
    plan: PlanField
    current: Annotated[
        Texts,
        Field(
            description="CFRM policy (also JSON of z/OSMF), D XCF,STR,STRNAME=, or both: one text or several, in any order."
        ),
    ]
    size_unit: SizeUnitField = None


def read_request(model: type[Query], body: bytes) -> Query:
    """Read the request in a body.

    Raises:
        InputInvalid: The body is not JSON, or does not match the model.
    """
    # FastAPI would keep the last of two equal keys, and report errors in the wording of pydantic.
    parsed = parse_request(body, WHAT)
    if not isinstance(parsed, dict):
        invalid("", f"must be an object with {' and '.join(_needed(model))}")
    try:
        return model.model_validate(parsed)
    except ValidationError as error:
        raise InputInvalid(WHAT, field_problems(error, parsed, model=model, what="the question")) from None


def _needed(model: type[BaseModel]) -> list[str]:
    return [name for name, each in model.model_fields.items() if each.is_required()]


def plan_of(document: JsonObject, curves: Curves) -> PlanResult:
    """Return the result of the plan in a request; error pointers are relative to the request.

    Raises:
        DocumentInvalid: The plan is not a valid plan document.
    """
    try:
        read = read_object(document)
    except DocumentInvalid as error:
        # The core names places in the plan; the request contains it as a member.
        problems = tuple(FieldProblem(f"/plan{each.field}", each.message) for each in error.problems)
        raise DocumentInvalid(problems) from None
    return evaluate(read, curves, compares=False, purpose="sizes")


def texts_of(current: str | Sequence[str]) -> list[str]:
    """Return the texts as a list."""
    return [current] if isinstance(current, str) else list(current)
