"""The shape of advice on queue depths, for its description in OpenAPI. The core writes it; tests compare."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.web.answers import Absent, Answer
from planner_core.findings import Finding

Seconds = Annotated[int, Field(description="Seconds, rounded down; negative: the event comes too late.")]
Messages = Annotated[int | None, Field(description="Messages; null where the threshold is open.")]
Percent = Annotated[int | None, Field(description="Percent of MAXDEPTH; null where no value serves.")]
Share = Annotated[float | None, Field(description="Percent; null where PERFMEV or the rates are not known.")]


class DepthLeadAnswer(Answer):
    """From Queue Depth High on, while only this queue grows."""

    to_maxdepth_s: Seconds
    to_action_s: Seconds
    to_full_s: Seconds


class PlannedDepthAnswer(Answer):
    """The thresholds in force, what they do, and the rates at the horizon."""

    maxdepth: Messages
    qdepthhi: Percent
    qdepthlo: Percent
    given: Annotated[
        list[Literal["maxdepth", "qdepthhi", "qdepthlo"]],
        Field(description="Those that the document gives; the others are advice that fits them."),
    ]
    high_at_messages: Messages
    low_at_messages: Messages
    alone_at_action_messages: Annotated[
        int, Field(description="Messages of this queue alone with which INITSIZE is at the action level.")
    ]
    alone_in_initsize_messages: Annotated[
        int, Field(description="What INITSIZE holds of it alone, offload rules at work.")
    ]
    alone_in_size_messages: Annotated[int, Field(description="What SIZE holds of it alone.")]
    put_rate_per_s: float | None
    get_rate_per_s: float | None
    at_net_rate: DepthLeadAnswer | None
    when_nothing_gets: DepthLeadAnswer | None
    high_to_low_s: Annotated[
        int | None, Field(description="Seconds from QDEPTHHI down to QDEPTHLO, where it falls.")
    ]
    most_event_messages_per_day: Annotated[
        int | None, Field(description="When it goes up and down all day, as fast as its rates allow.")
    ]
    silent_high_percent: Share
    silent_low_percent: Share


class QueueDepthAnswer(Answer):
    """What to define for one queue."""

    name: str
    maxdepth: Messages
    qdepthhi: Percent
    qdepthlo: Percent
    planned: Annotated[
        PlannedDepthAnswer | Absent,
        Field(description="Where the document says something of its depth events."),
    ] = None


class DepthTogetherAnswer(Answer):
    """All queues at their thresholds at once, in percent of the structure."""

    all_high_percent: Annotated[float, Field(description="At QDEPTHHI, of INITSIZE, all data in the CF.")]
    all_full_percent_of_initsize: Annotated[float, Field(description="At MAXDEPTH, all data in the CF.")]
    all_full_percent_of_initsize_with_offload: float
    all_full_percent_of_size: float
    all_full_percent_of_size_with_offload: float
    queues_to_full_threshold: Annotated[
        list[str],
        Field(
            description="Fewest queues that at MAXDEPTH fill INITSIZE to FULLTHRESHOLD, all data in the CF."
        ),
    ]
    queues_to_full: list[str]


class JointLeadAnswer(Answer):
    """All growing queues at their net rates, from empty."""

    first_queue: str | None
    first_high_s: int | None
    to_action_s: int
    to_full_threshold_s: int
    to_full_s: int
    lead_to_action_s: int | None
    lead_to_full_s: int | None


class DepthAssumptionAnswer(Answer):
    """Something that nobody published."""

    assumed: str
    basis: str
    source: str


class DepthEventsAnswer(Answer):
    """Advice on the depths of the queues of a structure."""

    action: Annotated[
        str, Field(description="OFFLDnTH, FULLTHRESHOLD, event_target_percent or full: what happens first.")
    ]
    action_percent: Annotated[int, Field(description="The usage at which it happens.")]
    action_messages: Annotated[
        int | None, Field(description="Messages of the planned mix in INITSIZE then; null without a backlog.")
    ]
    event_messages_per_event: Annotated[
        int | None, Field(description="Queue managers with PERFMEV(ENABLED), where the document says.")
    ]
    together: DepthTogetherAnswer | None
    lead: JointLeadAnswer | None
    queues: Annotated[
        list[QueueDepthAnswer] | Absent, Field(description="In a result with depths=true only.")
    ] = None
    assumptions: Annotated[
        list[DepthAssumptionAnswer] | Absent,
        Field(description="With queues, and where the document says something of depth events."),
    ] = None


class AdvisedStructureAnswer(Answer):
    """One structure with queues."""

    name: str
    cfrm_name: str
    messages: Annotated[int, Field(description="The planned backlog, at the horizon.")]
    depth_events: DepthEventsAnswer


class AdviceAnswer(Answer):
    """Advice on the queue depths of a plan, with the findings on them."""

    core_version: str
    qsg: str
    structures: list[AdvisedStructureAnswer]
    findings: list[Finding]


class TakenRatesAnswer(Answer):
    """Rates that were taken over."""

    queue: str
    sets: Annotated[int, Field(description="From how many sets.")]
    put_rate_per_s: float
    get_rate_per_s: float
    queue_managers: list[str]


class PassedOverAnswer(Answer):
    """A queue whose rates were not."""

    queue: str
    reason: str


class RatesAnswer(Answer):
    """The plan document with measured rates."""

    document: Annotated[dict[str, object], Field(description="The plan document, with all defaults.")]
    taken: list[TakenRatesAnswer]
    passed_over: list[PassedOverAnswer]
    findings: list[Finding]
