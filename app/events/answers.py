"""The shape of the simulator's answer, for its description in OpenAPI; the tests hold real answers against it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.web.answers import Answer
from planner_core.findings import Finding

Switch = Literal["ENABLED", "DISABLED"]
Reason = Annotated[
    Literal[2053, 2224, 2225], Field(description="Queue Full, Queue Depth High, Queue Depth Low.")
]
Seconds = Annotated[float, Field(description="Seconds from the beginning of the timeline.")]


class ReadingsAnswer(Answer):
    """How IBM's text was read where it can be read in two ways."""

    disabled_detector: Literal["silent", "broadcast"]
    statistics_of_disabled: Literal["reset", "kept"]
    rounding: Literal["exact", "truncated"]


class EventMessageAnswer(Answer):
    """One event message."""

    number: int
    occurrence: Annotated[int, Field(description="Number of the occurrence that it belongs to.")]
    step: int
    at: Seconds
    reason: Reason
    event: str
    queue: str
    queue_manager: Annotated[str, Field(description="Who writes it, to its own SYSTEM.ADMIN.PERFM.EVENT.")]
    correl_id: Annotated[
        str | None,
        Field(
            description="The same for all messages of one event on a shared queue; a stand-in for MQ's own."
        ),
    ]
    is_null: Annotated[bool, Field(description="A null event: its queue manager did nothing with the queue.")]
    time_since_reset: int
    high_q_depth: int
    msg_enq_count: int
    msg_deq_count: int


class MissingAnswer(Answer):
    """A member that wrote no message."""

    queue_manager: str
    why: Literal["not_active", "perfmev_disabled", "not_asked"]


class CauseAnswer(Answer):
    """Messages that the counters leave out, and why."""

    cause: Literal[
        "perfmev_disabled",
        "not_active",
        "counters_reset",
        "counted_before",
        "counter_at_its_limit",
        "expired",
        "backed_out_puts",
        "backed_out_gets",
    ]
    queue_manager: str | None
    messages: int


class ReconciliationAnswer(Answer):
    """The depth that the messages account for; what is unreconciled is the sum of the causes."""

    depth_before: int
    msg_enq_count: Annotated[int, Field(description="Sum over the messages.")]
    msg_deq_count: Annotated[int, Field(description="Sum over the messages.")]
    computed_depth: int
    depth: int
    unreconciled: int
    causes: list[CauseAnswer]


class OccurrenceAnswer(Answer):
    """A condition met while its event was enabled, what it switched, and how many messages came of it."""

    number: int
    step: int
    at: Seconds
    reason: Reason
    event: str
    queue: str
    detector: Annotated[str, Field(description="The queue manager whose call met the condition.")]
    depth: int
    qdphiev: Switch
    qdploev: Switch
    qdpmaxev: Switch
    correl_id: str | None
    messages: Annotated[int, Field(description="0: the attributes switched and nobody was told.")]
    null_events: int
    missing: list[MissingAnswer]
    reconciliation: ReconciliationAnswer | None


class SwitchesAnswer(Answer):
    """A queue after a step."""

    step: Annotated[int, Field(description="0 is how the timeline begins.")]
    timeline: Annotated[int | None, Field(description="Index of the step in the file's timeline.")]
    at: Seconds
    action: str
    queue_manager: str | None
    messages: int | None
    took_effect: Annotated[
        int | None,
        Field(description="How many of the calls moved a message; the others were rejected or found none."),
    ]
    queue: str
    depth: int
    qdphiev: Switch
    qdploev: Switch
    qdpmaxev: Switch
    changed: Annotated[list[str], Field(description="Attributes that the step changed.")]
    occurrences: list[int]
    events: Annotated[list[int], Field(description="Numbers of the messages that the step gave.")]


class AssumptionAnswer(Answer):
    """Something taken for granted."""

    assumed: str
    basis: Literal["published", "derived", "assumed"]
    source: str


class SimulationAnswer(Answer):
    """Every event message and the switches after each step."""

    core_version: str
    readings: ReadingsAnswer
    events: list[EventMessageAnswer]
    occurrences: list[OccurrenceAnswer]
    switches: list[SwitchesAnswer]
    assumptions: list[AssumptionAnswer]
    findings: list[Finding]
