"""Answers about stored plans for REST and the command line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import Field

from app.plans.stored import DeletedPlan, ETag, VersionSummary
from app.plans.trail import StoredAcknowledgment
from planner_core.document.compare import Difference
from planner_core.findings import Finding
from planner_core.plan.result import PlanAnswer
from planner_core.provenance import Explanation
from planner_core.sizing.structure_size import CurveSummary
from planner_core.wire import Answer, JsonObject, Omittable, described_as


@dataclass(frozen=True, slots=True)
class StoredPlan(Answer):
    """A version of a plan as it was saved; document, curve and result are never recalculated."""

    name: str
    version: Annotated[int, Field(ge=1)]
    etag: ETag
    created_at: Annotated[datetime, Field(description="When the version was saved, in UTC.")]
    comment: str | None
    author: Annotated[
        str | None, Field(description="Who saved the version; null if the service did not record it yet.")
    ]
    core_version: Annotated[str, Field(description="Version of the sizing core that computed the result.")]
    curve: CurveSummary
    document: Annotated[
        JsonObject,
        described_as("PlanDocument"),
        Field(description="The plan document, complete with defaults."),
    ]
    result: Annotated[
        PlanAnswer,
        Field(description="The answer of POST /api/v1/size at that time: members added later are missing."),
    ]
    findings: Annotated[list[Finding], Field(description="The findings of the result.")]
    acknowledgments: Annotated[
        list[StoredAcknowledgment],
        Field(description="The acknowledgments of the document, in its order, and who made each."),
    ]
    explanations: Annotated[
        Omittable[dict[str, Explanation]],
        Field(
            description="With explain=true: the explanations, by the JSON pointer of the explained figure."
        ),
    ] = None
    saved: Annotated[
        Omittable[Literal["created", "changed", "identical"]],
        Field(
            description="Answer of PUT only: the outcome; `identical` means that no new version was created."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class PlanHistory(Answer):
    """The history of a plan, newest version first."""

    name: str
    versions: tuple[VersionSummary, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionDifferences(Answer):
    """Changes from one version to another, in the document and in its result."""

    name: str
    before: Annotated[int, Field(serialization_alias="from")]
    after: Annotated[int, Field(serialization_alias="to")]
    document: tuple[Difference, ...]
    result: tuple[Difference, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class RestorablePlan(DeletedPlan):
    """A deleted plan, and the time until which it can be restored."""

    restorable_until: Annotated[datetime, Field(description="After this time, it is removed permanently.")]

    @classmethod
    def of(cls, plan: DeletedPlan, *, days: int) -> Self:
        """Return the plan with the time until which it can be restored."""
        return cls(**asdict(plan), restorable_until=plan.deleted_at + timedelta(days=days))


@dataclass(frozen=True, slots=True)
class DeletionAnswer(RestorablePlan):
    """The answer to the deletion of a plan."""

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class DeletedPlans(Answer):
    """Plans that can be restored, most recently deleted first."""

    plans: tuple[RestorablePlan, ...]
    findings: tuple[Finding, ...] = ()
