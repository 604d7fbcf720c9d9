"""The shapes of the answers about what runs, for their description in OpenAPI; a test holds real answers against them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from app.fits.kept import NoCurves
from app.running.service import (
    DiffRequest,
    FromRunningRequest,
    LintRequest,
    MergeRequest,
    diff_json,
    from_running_json,
    lint_json,
    merge_json,
)
from app.running.texts import running_example
from app.texts.documents import example_text, parse_text
from app.web.answers import Answer
from app.web.openapi import COMPONENTS, model_schemas, put_examples, put_schemas

TakesEffectName = Literal["at once", "pending until rebuild", "needs an outage"]


class FindingAnswer(Answer):
    """Something to know about a plan."""

    code: Annotated[str, Field(description="Stable name of the rule.", examples=["INITSIZE_BELOW_NEED"])]
    severity: Literal["error", "warning", "info"]
    message: Annotated[str, Field(description="A sentence for the planner.")]
    source: Annotated[str, Field(description="The document on which the rule rests.")]
    field: Annotated[
        str | None, Field(description="JSON pointer to the field it is about, if it is about one.")
    ]
    structure: Annotated[str | None, Field(description="The structure it is about, if it is about one.")]
    acknowledged: Annotated[
        str | None,
        Field(description="Why the planners accept it, if the document says so. Errors cannot be accepted."),
    ]


class LineFindingAnswer(FindingAnswer):
    """A finding on a text."""

    line: Annotated[int | None, Field(description="Line of the text, from 1; null: the text as a whole.")]


class LintAnswer(Answer):
    """What there is to say about a text."""

    kinds: list[Literal["policy", "mqsc", "display"]]
    lines: int
    structures: int
    findings: list[LineFindingAnswer]


class MergeChangeAnswer(Answer):
    """One thing that was changed in the policy."""

    structure: str
    keyword: Annotated[str | None, Field(description="Null: the whole statement was added.")]
    before: str | None
    after: str
    line: Annotated[int, Field(description="Line of the merged policy, from 1.")]
    from_default: Annotated[bool, Field(description="Whether the plan document leaves it to its default.")]


class MergeAnswer(Answer):
    """The merged policy: everything that the plan does not change is as it was, to the byte."""

    policy_name: str | None
    policy: str
    changes: list[MergeChangeAnswer]
    difference: Annotated[str, Field(description="As `diff -u` writes it; empty where nothing changed.")]
    findings: list[LineFindingAnswer]


class RunningSettings(Answer):
    """What CFRM says of a structure; null where nothing says."""

    size_kib: int | None
    initsize_kib: int | None
    minsize_kib: int | None
    allow_auto_alter: bool | None
    full_threshold: int | None
    duplex: str | None
    exclist: list[str] | None
    preflist: list[str] | None


class RunningToday(RunningSettings):
    """What runs."""

    allocated: bool | None
    allocated_size_kib: int | None
    coupling_facility: str | None
    usage_percent: Annotated[int | None, Field(description="The fuller of entries and elements.")]
    change_pending: bool | None


class RunningNeed(Answer):
    """What the plan's backlog needs."""

    need_bytes: int


class RunningDifferenceAnswer(Answer):
    """One thing that is another today than planned."""

    layer: Literal["cfrm", "cfstruct", "queue"]
    keyword: str
    today: str | None
    planned: str
    takes_effect: TakesEffectName
    basis: str
    source: str


class QueueDifferenceAnswer(RunningDifferenceAnswer):
    """The same of a queue."""

    queue: str


class ComparedStructureAnswer(Answer):
    """One structure: today, needed, planned."""

    name: str
    cfrm_name: str
    role: Literal["admin", "application", "system"]
    is_new: Annotated[
        bool | None,
        Field(
            description="Whether a whole policy does not have it; null where nothing that was given speaks of it."
        ),
    ]
    today: RunningToday
    needed: RunningNeed
    planned: RunningSettings
    kept: Annotated[
        list[str],
        Field(description="Keywords that keep the policy's value, because the plan does not state them."),
    ]
    differences: list[RunningDifferenceAnswer]
    queues: list[QueueDifferenceAnswer]


class CommandAnswer(Answer):
    """One command, in its place."""

    number: int
    kind: Literal["policy", "setxcf", "job", "mqsc"]
    command: str
    structure: str | None
    takes_effect: TakesEffectName
    why: str
    basis: str
    source: str


class RunningDiffAnswer(Answer):
    """What runs beside what is planned, and the way from one to the other."""

    qsg: str
    same: bool
    structures: list[ComparedStructureAnswer]
    commands: list[CommandAnswer]
    instead_of_rebuilds: Annotated[
        list[str],
        Field(
            description="REALLOCATE for every structure of the sysplex, after its test; empty where nothing is rebuilt."
        ),
    ]
    text: Annotated[str, Field(description="The commands as text, each below a remark.")]
    assumptions: list[str]
    findings: list[LineFindingAnswer]


class FromRunningAnswer(Answer):
    """A plan document made from what runs."""

    document: Annotated[dict[str, Any], Field(description="A plan document.")]
    findings: list[LineFindingAnswer]


REQUESTS = (LintRequest, MergeRequest, DiffRequest, FromRunningRequest)
ANSWERS = (LintAnswer, MergeAnswer, RunningDiffAnswer, FromRunningAnswer)


def requests() -> dict[str, tuple[dict[str, Any], Callable[[bytes], bytes]]]:
    """An example for each address, and what answers it."""
    example, plan = running_example(), parse_text(example_text().encode())
    curves = NoCurves()
    return {
        "lint": ({"text": example.policy, "cfcc_level": 25}, lint_json),
        "merge": ({"plan": plan, "policy": example.policy}, lambda body: merge_json(body, curves=curves)),
        "diff": ({"plan": plan, "current": list(example)}, lambda body: diff_json(body, curves=curves)),
        "plan-from-running": ({"current": list(example)}, from_running_json),
    }


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    put_schemas(whole, model_schemas(*REQUESTS, mode="validation"), model_schemas(*ANSWERS))
    plan = {"$ref": f"{COMPONENTS}PlanDocument"}
    for name in ("MergeRequest", "DiffRequest"):
        about = whole["components"]["schemas"][name]["properties"]["plan"]["description"]
        whole["components"]["schemas"][name]["properties"]["plan"] = {**plan, "description": about}
    for name, (asked, answer) in requests().items():
        shown = json.loads(answer(json.dumps(asked).encode()))
        operation = whole["paths"][f"/api/v1/{name}"]["post"]
        put_examples(operation, {"example": ("A site that does not exist", asked)}, {"example": shown})
