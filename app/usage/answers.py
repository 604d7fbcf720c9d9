"""REST requests and answers about measured usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.paging import ResultPage
from app.usage.measured import (
    MeasuredStructure,
    ObservedTotals,
    QueueFigures,
    QueuePoint,
    Simulatable,
    SmdsFigures,
    UsagePoint,
)
from app.usage.observed import ComparedSize, Duplexing, shrinking
from app.usage.periods import Period
from app.usage.planning import Backlog, DraftPlan, MeasuredBasis, PlanQuestion, Sizes
from planner_core.contracts.rollup import SizeBucket
from planner_core.document.model import PlanDocument
from planner_core.findings import Finding
from planner_core.wire import Answer, JsonObject


@dataclass(frozen=True, slots=True)
class MeasuredStructuresAnswer(ResultPage[MeasuredStructure]):
    """One page of the measured structures."""

    items: Annotated[tuple[MeasuredStructure, ...], Field(serialization_alias="structures")]
    history_damage: Annotated[
        tuple[str, ...],
        Field(
            description="Damage to the usage history, through which the data of an upload may be missing; in sentences."
        ),
    ] = ()


@dataclass(frozen=True, slots=True)
class StructureUsageAnswer(Simulatable):
    """The measurements of a structure over a period."""

    structure: str
    period: Period
    limits_before: Annotated[
        ObservedTotals | None, Field(description="The limits as last observed before the period.")
    ]
    points: Annotated[
        tuple[UsagePoint, ...], Field(description="Measured values; hours without records are missing.")
    ]
    smds: tuple[SmdsFigures, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class QueuesAnswer(Simulatable):
    """The measurements of all queues of a structure over a period."""

    structure: str
    period: Period
    queues: tuple[QueueFigures, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueUsageAnswer(Simulatable):
    """The measurements of a queue over a period."""

    structure: str
    queue: str
    period: Period
    points: tuple[QueuePoint, ...]
    sizes: Annotated[
        tuple[SizeBucket, ...],
        Field(description="Messages of the period by the average size of the record that counted them."),
    ]
    findings: tuple[Finding, ...] = ()


class PlanFromUsage(BaseModel):
    """A request for a plan document: the measurements to use, and the details that they do not contain."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    qsg: Annotated[str, Field(min_length=1, max_length=4, examples=["SQ03"])]
    structures: Annotated[
        # The name of a CFSTRUCT has up to 12 characters; only its CFRM name begins with the name of the group.
        list[Annotated[str, Field(min_length=1, max_length=12)]] | None,
        Field(
            description="If omitted, all application structures that were measured in the period.",
            max_length=512,
        ),
    ] = None
    queues: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=48)]] | None,
        Field(description="If omitted, all queues that were measured.", max_length=40_000),
    ] = None
    period: Annotated[
        Literal["1d", "7d", "31d", "92d", "366d", "all"],
        Field(description="The number of days up to the last measured hour, or all."),
    ] = "7d"
    queue_managers: Annotated[
        Annotated[int, Field(ge=1, le=999)] | Annotated[list[str], Field(min_length=1, max_length=999)],
        Field(description="Queue managers defined to the group, active or not: a number, or their names."),
    ]
    cfcc_level: Annotated[int, Field(ge=1, le=99, description="CF control code level.")]
    coupling_facilities: Annotated[
        list[Annotated[str, Field(max_length=8)]], Field(max_length=64, description="Names, for PREFLIST.")
    ] = []
    backlog: Annotated[
        Backlog,
        Field(
            description="`depth`: the highest depth measured; `rate`: the rate of the busiest hour times an outage."
        ),
    ] = "depth"
    outage_minutes: Annotated[
        float | None, Field(ge=0, le=10**6, description="With `rate`: the duration in minutes without gets.")
    ] = None
    sizes: Annotated[
        Sizes, Field(description="The size used for a queue's messages if no 95th percentile is entered.")
    ] = "mean"
    p95_bytes: Annotated[
        # 100 MB is the longest message that MQ allows (MAXMSGL).
        dict[str, Annotated[int, Field(ge=0, le=104_857_600)]],
        Field(description="By queue: the 95th percentile of its message sizes, known from elsewhere."),
    ] = {}
    persistent_when_unknown: Annotated[
        bool | None,
        Field(
            description="Whether messages are persistent on queues whose persistence was not measured; required only for those."
        ),
    ] = None

    def asked(self, structures: Sequence[str]) -> PlanQuestion:
        """Return these details as the question that the planning module reads."""
        # repr gives the digits of the request; a Decimal made from a float would have those of its binary fraction.
        outage = None if self.outage_minutes is None else Decimal(repr(self.outage_minutes))
        return PlanQuestion(
            queue_managers=self.queue_managers,
            cfcc_level=self.cfcc_level,
            coupling_facilities=tuple(self.coupling_facilities),
            backlog=self.backlog,
            outage_minutes=outage,
            sizes=self.sizes,
            persistent_when_unknown=self.persistent_when_unknown,
            p95_bytes={(s, queue): p95 for s in structures for queue, p95 in self.p95_bytes.items()},
        )


@dataclass(frozen=True, slots=True)
class CutOffAnswer(Answer):
    """A structure that was full, so its highest use does not show the demand."""

    structure: str
    full_count: Annotated[int, Field(description="Structure-full conditions; 0 if only the usage shows it.")]
    first_hour: datetime
    last_hour: datetime
    entries_at_least: int | None
    elements_at_least: int | None


@dataclass(frozen=True, slots=True)
class PlanFromUsageAnswer(Answer):
    """A plan document; it is not stored. Save it with PUT /api/v1/plans/{name}."""

    document: Annotated[JsonObject, Field(description="The plan document, complete with defaults.")]
    remarks: Annotated[
        tuple[str, ...],
        Field(description="Values that were left out, entered instead of measured, or not measured."),
    ]
    comment: Annotated[str, Field(description="A comment for the version's history: the basis of the plan.")]
    rests_on: Annotated[
        tuple[QueueFigures, ...], Field(description="The figures of the queues that are planned.")
    ]
    sizes: Annotated[tuple[ComparedSize, ...], Field(description="Empty if no such plan can exist.")]
    cut_off: tuple[CutOffAnswer, ...]
    coupling_facilities_observed: Annotated[
        Mapping[str, tuple[str, ...]],
        Field(description="By structure: where it was allocated, newest first."),
    ]
    duplexing_observed: Annotated[Mapping[str, Duplexing], Field(description="By structure.")]
    queue_managers_observed: tuple[str, ...]
    period: Period
    findings: Annotated[
        tuple[Finding, ...],
        Field(
            description="Structures whose INITSIZE is smaller than the allocated size (STRUCTURE_SHRINKS)."
        ),
    ]


def plan_answer(
    made: DraftPlan,
    document: PlanDocument,
    period: Period,
    *,
    grounds: Sequence[MeasuredBasis],
    sizes: tuple[ComparedSize, ...],
    queue_managers: tuple[str, ...],
) -> PlanFromUsageAnswer:
    """Return a plan document with the figures on which it is based."""
    return PlanFromUsageAnswer(
        document=document.model_dump(mode="json"),
        remarks=tuple(made.remarks),
        comment=made.comment,
        rests_on=tuple(each.figures for each in made.planned),
        sizes=sizes,
        cut_off=tuple(
            CutOffAnswer(
                structure=each.structure,
                full_count=each.observed.cut_off.count,
                first_hour=each.observed.cut_off.first_hour,
                last_hour=each.observed.cut_off.last_hour,
                entries_at_least=each.entries_max,
                elements_at_least=each.elements_max,
            )
            for each in grounds
            if each.observed.cut_off is not None
        ),
        coupling_facilities_observed={each.structure: each.observed.coupling_facilities for each in grounds},
        duplexing_observed={each.structure: each.observed.duplexing for each in grounds},
        queue_managers_observed=queue_managers,
        period=period,
        findings=shrinking(sizes),
    )
