"""The shapes of the answers about stored plans."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.web.answers import Absent, Answer
from planner_core.findings import Finding
from planner_core.plan.result import PlanAnswer
from planner_core.provenance import Explanation
from planner_core.sizing.structure_size import CurveSummary

ETag = Annotated[
    str, Field(description="The strong validator, quotes included: send it in If-Match.", examples=['"17.3"'])
]


class StoredPlan(Answer):
    """A version of a plan as it was saved: document, curve and result are never computed anew."""

    name: str
    version: Annotated[int, Field(ge=1)]
    etag: ETag
    created_at: Annotated[datetime, Field(description="When the version was saved, in UTC.")]
    comment: str | None
    core_version: Annotated[str, Field(description="Version of the sizing core that computed the result.")]
    curve: CurveSummary
    document: Annotated[dict[str, Any], Field(description="The plan document, complete with defaults.")]
    result: Annotated[
        PlanAnswer,
        Field(
            description="The answer of POST /api/v1/size at that time: members that were added later are missing."
        ),
    ]
    findings: Annotated[list[Finding], Field(description="Those of the result.")]
    explanations: Annotated[
        dict[str, Explanation] | Absent,
        Field(description="With explain=true: by the JSON pointer of the figure that each explains."),
    ] = None
    saved: Annotated[
        Literal["created", "changed", "identical"] | Absent,
        Field(description="Answer of PUT only: what became of it; `identical` made no new version."),
    ] = None


class FiguresAnswer(Answer):
    """The figures of a version; findings are counted unless they are acknowledged."""

    etag: ETag
    qsg: str
    structures: int
    initsize_kib: int
    size_kib: int
    errors: int
    warnings: int
    infos: int
    acknowledged: Annotated[int, Field(description="Findings that the document acknowledges with a reason.")]


class PlanSummaryAnswer(FiguresAnswer):
    """A plan in the list."""

    name: str
    version: int
    created_at: datetime
    updated_at: datetime


class PlansAnswer(Answer):
    """One page of the list of plans."""

    plans: list[PlanSummaryAnswer]
    total: Annotated[int, Field(description="Plans on all pages.")]
    page: int
    pages: int
    per_page: int
    findings: list[Finding]


class VersionSummaryAnswer(FiguresAnswer):
    """A version in the history."""

    version: int
    created_at: datetime
    comment: str | None
    core_version: str
    is_latest: bool


class VersionsAnswer(Answer):
    """The history of a plan, the newest version first."""

    name: str
    versions: list[VersionSummaryAnswer]
    findings: list[Finding]


class DifferenceAnswer(Answer):
    """One difference."""

    pointer: Annotated[
        str,
        Field(
            description="JSON pointer; items of lists are named where they have a name.",
            examples=["/structures/APP1/queues/Q1/backlog"],
        ),
    ]
    kind: Literal["added", "removed", "changed"]
    before: Any
    after: Any


class DiffAnswer(Answer):
    """What changed from one version to another, in the document and in its result."""

    model_config = ConfigDict(frozen=True, serialize_by_alias=True, validate_by_name=True)

    name: str
    from_version: Annotated[int, Field(alias="from")]
    to_version: Annotated[int, Field(alias="to")]
    document: list[DifferenceAnswer]
    result: list[DifferenceAnswer]
    findings: list[Finding]


class DeletedPlanAnswer(Answer):
    """A plan that was deleted and can be restored."""

    id: Annotated[int, Field(description="Its number: tells apart those that had the same name.")]
    name: str
    version: int
    qsg: str
    saved_at: Annotated[datetime, Field(description="When its last version was saved.")]
    comment: Annotated[str | None, Field(description="The remark of its last version.")]
    deleted_at: datetime
    restorable_until: Annotated[datetime, Field(description="After this it is removed for good.")]


class DeletionAnswer(DeletedPlanAnswer):
    """The plan was deleted."""

    findings: list[Finding]


class DeletedPlansAnswer(Answer):
    """Plans that can be restored, the last deleted first."""

    plans: list[DeletedPlanAnswer]
    findings: list[Finding]
