"""The shapes of the REST requests and answers about measured usage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.usage.measured import (
    MeasuredStructure,
    ObservedTotals,
    QueueFigures,
    QueuePoint,
    SizeBucket,
    SmdsFigures,
    UsagePoint,
)
from app.usage.observed import ComparedSize, Duplexing, shrinking
from app.usage.periods import Period
from app.usage.planning import Backlog, DraftPlan, MeasuredBasis, PlanQuestion, Sizes
from app.usage.service import StructureUsage
from app.web.answers import Answer
from app.web.paging import ResultPage
from planner_core.document.model import PlanDocument
from planner_core.findings import Finding
from planner_core.simulated import has_simulated_name

Known = Annotated[int | None, Field(description="Null: not measured.")]
Percent = Annotated[float | None, Field(description="Null: not measured, or of no known limit.")]
_DIGITS = 4


class LimitsAnswer(Answer):
    """How many entries and elements a structure had."""

    at: Annotated[datetime | None, Field(description="The last hour in which either was observed.")]
    entries_total: Known
    entries_at: Annotated[
        datetime | None, Field(description="The hour in which the entries were last observed.")
    ]
    elements_total: Known
    elements_at: Annotated[
        datetime | None, Field(description="The hour in which the elements were last observed.")
    ]


class MeasuredStructureAnswer(Answer):
    """A measured structure with its latest figures."""

    qsg: str
    is_simulated: Annotated[bool, Field(description="The group is named as the simulator names its own.")]
    structure: Annotated[str, Field(description="Name without the group's, as MQ has it.")]
    first_hour: datetime
    last_hour: datetime
    use_hour: Annotated[datetime | None, Field(description="The hour of the figures of use below.")]
    entries_in_use: Known
    entries_percent: Percent
    elements_in_use: Known
    elements_percent: Percent
    entries_in_use_of_week: Annotated[int | None, Field(description="Most in use in the last seven days.")]
    elements_in_use_of_week: Annotated[int | None, Field(description="Most in use in the last seven days.")]
    limits: LimitsAnswer | None
    size_bytes: Known
    last_full_hour: Annotated[
        datetime | None, Field(description="The last hour in which the structure was found full.")
    ]
    queues: Annotated[int, Field(description="Queues of which there are figures.")]
    plans: Annotated[list[str], Field(description="Plans in whose latest version the structure is.")]


@dataclass(frozen=True, slots=True)
class MeasuredStructuresAnswer(ResultPage[MeasuredStructureAnswer]):
    """One page of the measured structures."""

    items: Annotated[tuple[MeasuredStructureAnswer, ...], Field(serialization_alias="structures")]


class PeriodAnswer(Answer):
    """The hours that an answer covers."""

    first: datetime
    past: Annotated[datetime, Field(description="The end; not part of the period.")]
    by: Literal["hour", "day"]


class UsagePointAnswer(Answer):
    """A structure in one hour, or the highest of one UTC day."""

    at: datetime
    entries_in_use_max: Known
    entries_total: Known
    entries_percent: Percent
    elements_in_use_max: Known
    elements_total: Known
    elements_percent: Percent
    scm_entries_in_use_max: Known
    scm_elements_in_use_max: Known
    size_bytes: Known
    structure_full_count: Known
    queue_managers: Known
    sources: Annotated[str, Field(description="The records that this rests on.")]


class MeasuredSmdsAnswer(Answer):
    """The shared message data set of one queue manager over the period."""

    queue_manager: str
    blocks_data: Known
    blocks_in_use_max: Known
    messages_max: Known
    failed_allocates: Known


class StructureUsageAnswer(Answer):
    """A structure over a period."""

    qsg: str
    is_simulated: Annotated[bool, Field(description="The group is named as the simulator names its own.")]
    structure: str
    period: PeriodAnswer
    limits_before: Annotated[
        LimitsAnswer | None, Field(description="The limits as last observed before the period.")
    ]
    points: Annotated[
        list[UsagePointAnswer], Field(description="What was measured; hours without records are missing.")
    ]
    smds: list[MeasuredSmdsAnswer]
    findings: list[Finding]


class QueueFiguresAnswer(Answer):
    """A queue over a period."""

    queue: str
    hours: Annotated[int, Field(description="Hours in which it was measured.")]
    puts: Known
    busiest_hour_puts: Known
    busiest_hour: datetime | None
    mean_bytes: Annotated[float | None, Field(description="Average message [bytes], without the MQMD.")]
    size_min_bytes: Known
    size_max_bytes: Known
    persistent_puts: Known
    depth_max: Known
    depth_hour: datetime | None


class QueuesAnswer(Answer):
    """The queues of a structure over a period."""

    qsg: str
    is_simulated: Annotated[bool, Field(description="The group is named as the simulator names its own.")]
    structure: str
    period: PeriodAnswer
    queues: list[QueueFiguresAnswer]
    findings: list[Finding]


class QueuePointAnswer(Answer):
    """A queue in one hour, or over one UTC day."""

    at: datetime
    hours: int
    puts: Known
    busiest_hour_puts: Known
    puts_per_s: Annotated[float | None, Field(description="On the average of the busiest hour.")]
    mean_bytes: float | None
    size_min_bytes: Known
    size_max_bytes: Known
    persistent_puts: Known
    depth_max: Known


class SizeBucketAnswer(Answer):
    """Messages of one class of sizes."""

    up_to_bytes: int
    puts: int


class QueueUsageAnswer(Answer):
    """A queue over a period."""

    qsg: str
    is_simulated: Annotated[bool, Field(description="The group is named as the simulator names its own.")]
    structure: str
    queue: str
    period: PeriodAnswer
    points: list[QueuePointAnswer]
    sizes: Annotated[
        list[SizeBucketAnswer],
        Field(description="Messages of the period by the average size of the record that counted them."),
    ]
    findings: list[Finding]


class PlanFromUsage(BaseModel):
    """What a plan is to be made from, and what measurements do not say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    qsg: Annotated[str, Field(min_length=1, max_length=4, examples=["SQ03"])]
    structures: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=12)]] | None,
        Field(
            description="Absent: all application structures that were measured in the period.", max_length=512
        ),
    ] = None
    queues: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=48)]] | None,
        Field(description="Absent: all queues that were measured.", max_length=40_000),
    ] = None
    period: Annotated[
        Literal["1d", "7d", "31d", "92d", "366d", "all"],
        Field(description="So many days up to the last measured hour."),
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
        Field(description="`depth`: the highest depth measured; `rate`: the busiest hour times an outage."),
    ] = "depth"
    outage_minutes: Annotated[
        float | None, Field(ge=0, le=10**6, description="With `rate`: how long nobody gets messages.")
    ] = None
    sizes: Annotated[
        Sizes, Field(description="The one size of a queue's messages where no 95th percentile is given.")
    ] = "mean"
    p95_bytes: Annotated[
        dict[str, Annotated[int, Field(ge=0, le=104_857_600)]],
        Field(description="By queue: the 95th percentile of its message sizes, known from elsewhere."),
    ] = {}
    persistent_when_unknown: Annotated[
        bool | None, Field(description="For queues whose persistence was not measured; needed only then.")
    ] = None

    def asked(self, structures: Sequence[str]) -> PlanQuestion:
        """The same, as plans are made with it."""
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


class ComparedSizeAnswer(Answer):
    """A structure's size in the plan, compared with the storage that it has today."""

    structure: str
    cfrm_name: str
    initsize_kib: int
    size_kib: int
    allocated_kib: Annotated[int | None, Field(description="The last size that records show; null for none.")]
    allocated_at: datetime | None
    change: Annotated[
        Literal["smaller", "larger", "same", "unknown"],
        Field(description="From today's allocation to INITSIZE. `smaller` needs a look before it is used."),
    ]
    sentence: str


class CutOffAnswer(Answer):
    """A structure that was full: its highest use is no measure of the demand."""

    structure: str
    full_count: Annotated[int, Field(description="Structure-full conditions; 0 where only the use shows it.")]
    first_hour: datetime
    last_hour: datetime
    entries_at_least: int | None
    elements_at_least: int | None


class DuplexingAnswer(Answer):
    """What was last observed of a structure's duplexing. Null: no record shows it."""

    is_duplexed: Annotated[bool | None, Field(description="Whether two instances held the same.")]
    observed_at: Annotated[
        datetime | None, Field(description="The hour whose records name its coupling facilities.")
    ]
    policy_duplex: Annotated[str | None, Field(description="DUPLEX of the policy, as a display showed it.")]
    policy_observed_at: datetime | None
    duplex: Annotated[str | None, Field(description="DUPLEX in the plan; null: as in any new plan.")]
    sources: Annotated[list[str], Field(description="The records and displays that this was read from.")]


class PlanFromUsageAnswer(Answer):
    """A plan document; it is not stored. Save it with PUT /api/v1/plans/{name}."""

    document: Annotated[dict[str, Any], Field(description="The plan document, complete with defaults.")]
    remarks: Annotated[list[str], Field(description="What was left out, taken as answered, or not measured.")]
    comment: Annotated[str, Field(description="A remark for the version's history: what the plan rests on.")]
    rests_on: Annotated[
        list[QueueFiguresAnswer], Field(description="The figures of the queues that are planned.")
    ]
    sizes: Annotated[list[ComparedSizeAnswer], Field(description="Empty where no such plan can exist.")]
    cut_off: list[CutOffAnswer]
    coupling_facilities_observed: Annotated[
        dict[str, list[str]], Field(description="By structure: where it was allocated, the newest first.")
    ]
    duplexing_observed: Annotated[dict[str, DuplexingAnswer], Field(description="By structure.")]
    queue_managers_observed: list[str]
    period: PeriodAnswer
    findings: Annotated[
        list[Finding],
        Field(description="Structures whose INITSIZE is smaller than what is allocated (STRUCTURE_SHRINKS)."),
    ]


def structure_answer(found: MeasuredStructure) -> MeasuredStructureAnswer:
    """A structure with its latest figures."""
    return MeasuredStructureAnswer(
        qsg=found.qsg,
        is_simulated=has_simulated_name(found.qsg),
        structure=found.structure,
        first_hour=found.first_hour,
        last_hour=found.last_hour,
        use_hour=found.use_hour,
        entries_in_use=found.entries,
        entries_percent=_number(found.entries_percent),
        elements_in_use=found.elements,
        elements_percent=_number(found.elements_percent),
        entries_in_use_of_week=found.entries_of_week,
        elements_in_use_of_week=found.elements_of_week,
        limits=_limits(found.limits),
        size_bytes=found.size_bytes,
        last_full_hour=found.last_full_hour,
        queues=found.queues,
        plans=list(found.plans),
    )


def _limits(limits: ObservedTotals | None) -> LimitsAnswer | None:
    if limits is None:
        return None
    return LimitsAnswer(
        at=limits.at,
        entries_total=limits.entries,
        entries_at=limits.entries_at,
        elements_total=limits.elements,
        elements_at=limits.elements_at,
    )


def usage_answer(
    qsg: str, structure: str, period: Period, usage: StructureUsage, smds: Sequence[SmdsFigures]
) -> StructureUsageAnswer:
    """A structure over a period."""
    return StructureUsageAnswer(
        qsg=qsg,
        is_simulated=has_simulated_name(qsg),
        structure=structure,
        period=_period(period),
        limits_before=_limits(usage.limits_before),
        points=[_usage_point(point) for point in usage.points],
        smds=[
            MeasuredSmdsAnswer(
                queue_manager=each.queue_manager,
                blocks_data=each.blocks_data,
                blocks_in_use_max=each.blocks_in_use_max,
                messages_max=each.messages_max,
                failed_allocates=each.failed_allocates,
            )
            for each in smds
        ],
        findings=[],
    )


def _usage_point(point: UsagePoint) -> UsagePointAnswer:
    return UsagePointAnswer(
        at=point.at,
        entries_in_use_max=point.entries,
        entries_total=point.entries_total,
        entries_percent=_number(point.entries_percent),
        elements_in_use_max=point.elements,
        elements_total=point.elements_total,
        elements_percent=_number(point.elements_percent),
        scm_entries_in_use_max=point.scm_entries,
        scm_elements_in_use_max=point.scm_elements,
        size_bytes=point.size_bytes,
        structure_full_count=point.structure_full,
        queue_managers=point.queue_managers,
        sources=point.sources,
    )


def queues_answer(qsg: str, structure: str, period: Period, queues: Sequence[QueueFigures]) -> QueuesAnswer:
    """The queues of a structure."""
    return QueuesAnswer(
        qsg=qsg,
        is_simulated=has_simulated_name(qsg),
        structure=structure,
        period=_period(period),
        queues=[_queue(each) for each in queues],
        findings=[],
    )


def _queue(figures: QueueFigures) -> QueueFiguresAnswer:
    return QueueFiguresAnswer(
        queue=figures.queue,
        hours=figures.hours,
        puts=figures.puts,
        busiest_hour_puts=figures.busiest_hour_puts,
        busiest_hour=figures.busiest_hour,
        mean_bytes=_number(figures.mean_bytes),
        size_min_bytes=figures.size_min_bytes,
        size_max_bytes=figures.size_max_bytes,
        persistent_puts=figures.persistent_puts,
        depth_max=figures.depth_max,
        depth_hour=figures.depth_hour,
    )


def queue_answer(
    qsg: str,
    structure: str,
    queue: str,
    period: Period,
    points: Sequence[QueuePoint],
    sizes: Sequence[SizeBucket],
) -> QueueUsageAnswer:
    """A queue over a period."""
    return QueueUsageAnswer(
        qsg=qsg,
        is_simulated=has_simulated_name(qsg),
        structure=structure,
        queue=queue,
        period=_period(period),
        points=[
            QueuePointAnswer(
                at=point.at,
                hours=point.hours,
                puts=point.puts,
                busiest_hour_puts=point.busiest_hour_puts,
                puts_per_s=_number(point.puts_per_s),
                mean_bytes=_number(point.mean_bytes),
                size_min_bytes=point.size_min_bytes,
                size_max_bytes=point.size_max_bytes,
                persistent_puts=point.persistent_puts,
                depth_max=point.depth_max,
            )
            for point in points
        ],
        sizes=[SizeBucketAnswer(up_to_bytes=each.up_to_bytes, puts=each.puts) for each in sizes],
        findings=[],
    )


def plan_answer(
    made: DraftPlan,
    document: PlanDocument,
    period: Period,
    *,
    grounds: Sequence[MeasuredBasis],
    sizes: Sequence[ComparedSize],
    queue_managers: Sequence[str],
) -> PlanFromUsageAnswer:
    """A plan document with what it rests on."""
    members = ComparedSizeAnswer.model_fields
    return PlanFromUsageAnswer(
        document=document.model_dump(mode="json"),
        remarks=list(made.remarks),
        comment=made.comment,
        rests_on=[_queue(each.figures) for each in made.planned],
        sizes=[ComparedSizeAnswer(**{name: getattr(each, name) for name in members}) for each in sizes],
        cut_off=[
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
        ],
        coupling_facilities_observed={
            each.structure: list(each.observed.coupling_facilities) for each in grounds
        },
        duplexing_observed={each.structure: _duplexing(each.observed.duplexing) for each in grounds},
        queue_managers_observed=list(queue_managers),
        period=_period(period),
        findings=list(shrinking(sizes)),
    )


def _duplexing(seen: Duplexing) -> DuplexingAnswer:
    return DuplexingAnswer(
        is_duplexed=seen.is_duplexed,
        observed_at=seen.hour,
        policy_duplex=seen.policy,
        policy_observed_at=seen.policy_hour,
        duplex=seen.duplex,
        sources=list(seen.sources),
    )


def _period(period: Period) -> PeriodAnswer:
    return PeriodAnswer(first=period.first, past=period.past, by=period.by)


def _number(value: Fraction | float | None) -> float | None:
    return None if value is None else round(float(value), _DIGITS)
