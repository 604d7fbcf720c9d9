"""Questions about what runs, from the bytes of a request to those of an answer; nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from app.running.texts import LARGEST_FILE_BYTES, MOST_TEXTS, WHAT, invalid
from planner_core import names
from planner_core.document.problems import field_problems
from planner_core.document.reading import parse_json, read_object
from planner_core.document.types import MessageBytes
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid, NameSyntax
from planner_core.plan.result import PlanResult
from planner_core.running.compare import Comparison, commands_text, compare
from planner_core.running.from_running import PlanFromRunning, plan_from
from planner_core.running.lint import Lint, lint
from planner_core.running.merge import MergedPolicy, merge
from planner_core.running.state import Running, read_running
from planner_core.running.unstated import ABOUT_UNSTATED, DEFAULT_UNSTATED, Unstated

Text = Annotated[str, Field(max_length=LARGEST_FILE_BYTES)]
Texts = Text | Annotated[list[Text], Field(min_length=1, max_length=MOST_TEXTS)]
UnstatedField = Annotated[Unstated, Field(description=ABOUT_UNSTATED)]
Asked = TypeVar("Asked", bound=BaseModel)
_MODEL = ConfigDict(extra="forbid", strict=True)
_CURRENT = (
    "CFRM policy (input or report of IXCMIAPU), D XCF,STR, D XCF,CF, D CF, DISPLAY GROUP, DISPLAY CFSTATUS, DISPLAY CFSTRUCT, "
    "DISPLAY QLOCAL, DEFINE CFSTRUCT, DEFINE QLOCAL: one text or several, in any order."
)


class LintRequest(BaseModel):
    """A text to check without a plan."""

    model_config = _MODEL
    text: Annotated[Text, Field(description="CFRM policy, MQSC definitions, displays, or several of them.")]
    cfcc_level: Annotated[
        int | None,
        Field(ge=1, le=99, description="CFCC level of the coupling facilities, where it is known."),
    ] = None
    queue_managers: Annotated[
        int | None, Field(ge=1, le=32, description="Queue managers defined to the group, where it is known.")
    ] = None
    qsg: Annotated[
        str | None,
        Field(
            max_length=4, description="The group; absent: those whose CSQ_ADMIN or CSQSYSAPPL the text names."
        ),
    ] = None


class MergeRequest(BaseModel):
    """A plan, and the whole policy that it is to be put into."""

    model_config = _MODEL
    plan: Annotated[dict[str, Any], Field(description="The plan document.")]
    policy: Annotated[
        Text, Field(description="The whole current policy: the input of IXCMIAPU, with its job or without.")
    ]
    unstated: UnstatedField = DEFAULT_UNSTATED
    policy_name: Annotated[
        str | None, Field(max_length=8, description="Which policy, where the text has several.")
    ] = None
    current: Annotated[
        Texts | None,
        Field(
            description="D XCF,STR,STRNAME= of the structures: a smaller size is compared with what is in use."
        ),
    ] = None


class DiffRequest(BaseModel):
    """A plan, and what runs."""

    model_config = _MODEL
    plan: Annotated[dict[str, Any], Field(description="The plan document.")]
    current: Annotated[Texts, Field(description=_CURRENT)]
    unstated: UnstatedField = DEFAULT_UNSTATED


class FromRunningRequest(BaseModel):
    """What runs, to make a plan of."""

    model_config = _MODEL
    current: Annotated[Texts, Field(description=_CURRENT)]
    qsg: Annotated[
        str | None,
        Field(max_length=4, description="The group; absent: that of the only CSQ_ADMIN structure."),
    ] = None
    queue_managers: Annotated[
        int | None, Field(ge=1, le=32, description="Absent: those that DISPLAY GROUP lists.")
    ] = None
    message_bytes: Annotated[
        MessageBytes | None,
        Field(description="Message size for all queues; absent: queues are left out."),
    ] = None


def read_request(model: type[Asked], body: bytes) -> Asked:
    """The request that a body holds.

    Raises:
        InputInvalid: Not JSON, or not of this shape.
    """
    try:
        parsed = parse_json(body)
    except DocumentInvalid as error:
        raise InputInvalid(WHAT, error.problems) from None
    if not isinstance(parsed, dict):
        invalid("", f"must be an object with {' and '.join(_needed(model))}")
    try:
        return model.model_validate(parsed)
    except ValidationError as error:
        raise InputInvalid(WHAT, field_problems(error, parsed, model=model, what="what is asked")) from None


def _needed(model: type[BaseModel]) -> list[str]:
    return [name for name, each in model.model_fields.items() if each.is_required()]


def plan_of(document: Mapping[str, Any], curves: Curves) -> PlanResult:
    """The result of the plan in a request; its fields are named from there.

    Raises:
        DocumentInvalid: It is no plan document.
    """
    try:
        read = read_object(dict(document))
    except DocumentInvalid as error:
        problems = tuple(FieldProblem(f"/plan{each.field}", each.message) for each in error.problems)
        raise DocumentInvalid(problems) from None
    return evaluate(read, curves, compares=False)


def texts_of(current: str | Sequence[str]) -> list[str]:
    """The texts of what runs."""
    return [current] if isinstance(current, str) else list(current)


def _group(qsg: str | None) -> str | None:
    """The name of a group, or None where none was given.

    Raises:
        InputInvalid: It is no name of a group.
    """
    if qsg is not None:
        try:
            names.qsg(qsg)
        except NameSyntax as error:
            invalid("/qsg", str(error).removesuffix("."))
    return qsg


def checked(
    text: str, *, cfcc_level: int | None = None, queue_managers: int | None = None, qsg: str | None = None
) -> Lint:
    """A text checked without a plan."""
    return lint(text, cfcc_level=cfcc_level, queue_managers=queue_managers, qsg=_group(qsg))


def merged(
    result: PlanResult,
    policy: str,
    *,
    unstated: Unstated = DEFAULT_UNSTATED,
    policy_name: str | None = None,
    current: Sequence[str] = (),
) -> MergedPolicy:
    """A plan put into a policy; displays in `current` show what a smaller structure is compared with.

    Raises:
        InputInvalid: Nothing of use was found in `current`.
    """
    running = read_current(current) if current else None
    return merge(policy, result, unstated=unstated, policy_name=policy_name, running=running)


def read_current(texts: Sequence[str], *, field: str = "/current") -> Running:
    """What runs.

    Raises:
        InputInvalid: Nothing of use was found.
    """
    running = read_running(texts)
    if running.is_empty:
        unread = next((each for each in running.findings if each.line), None)
        why = f" (line {unread.line}: {unread.finding.message.removesuffix('.')})" if unread else ""
        invalid(
            field,
            f"holds nothing of what runs{why}: give a CFRM policy, D XCF,STR,STRNAME=, DISPLAY CFSTRUCT, or DEFINE commands",
        )
    return running


def compared(
    result: PlanResult, texts: Sequence[str], *, unstated: Unstated = DEFAULT_UNSTATED
) -> Comparison:
    """A plan compared with what runs."""
    return compare(result, read_current(texts), unstated=unstated)


def made(
    texts: Sequence[str],
    *,
    qsg: str | None = None,
    queue_managers: int | None = None,
    message_bytes: int | None = None,
) -> PlanFromRunning:
    """A plan made from what runs.

    Raises:
        InputInvalid: Nothing of use was found, or the name is none of a group.
    """
    group = _group(qsg)
    running = read_current(texts)
    return plan_from(running, qsg=group, queue_managers=queue_managers, message_bytes=message_bytes)


def lint_json(body: bytes) -> bytes:
    """The answer to POST /api/v1/lint."""
    asked = read_request(LintRequest, body)
    found = checked(
        asked.text, cfcc_level=asked.cfcc_level, queue_managers=asked.queue_managers, qsg=asked.qsg
    )
    return to_json(found.as_json())


def merge_json(body: bytes, *, curves: Curves) -> bytes:
    """The answer to POST /api/v1/merge."""
    asked = read_request(MergeRequest, body)
    found = merged(
        plan_of(asked.plan, curves),
        asked.policy,
        unstated=asked.unstated,
        policy_name=asked.policy_name,
        current=texts_of(asked.current or ()),
    )
    return to_json(found.as_json())


def diff_json(body: bytes, *, curves: Curves) -> bytes:
    """The answer to POST /api/v1/diff."""
    asked = read_request(DiffRequest, body)
    found = compared(plan_of(asked.plan, curves), texts_of(asked.current), unstated=asked.unstated)
    return to_json({**found.as_json(), "text": commands_text(found)})


def from_running_json(body: bytes) -> bytes:
    """The answer to POST /api/v1/plan-from-running."""
    asked = read_request(FromRunningRequest, body)
    found = made(
        texts_of(asked.current),
        qsg=asked.qsg,
        queue_managers=asked.queue_managers,
        message_bytes=asked.message_bytes,
    )
    return to_json(found.as_json())
