"""The shape of the answer to event messages that are read, for its description in OpenAPI."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.web.answers import Answer
from planner_core.findings import Finding
from planner_core.sizing.depth_advice import DepthAssumption as AssumptionAnswer

CorrelId = Annotated[str, Field(pattern="^[0-9A-F]{48}$")]
Format = Literal[
    "amqsevt_json", "amqsevt_text", "mq_event_display", "pcf", "pcf_with_mqmd", "amqsbcg", "dmpmqmsg", "hex",
]  # fmt: skip
RateBasis = Annotated[
    Literal["time_since_reset", "creation_times", "no_activity"] | None,
    Field(description="Which time the rates rest on; TimeSinceReset unless that is 0."),
]
PerSecond = Annotated[float | None, Field(description="Messages a second; null where no time tells it.")]


class ReadProblemAnswer(Answer):
    """A part of a file that could not be read."""

    place: Annotated[str, Field(description="Line or offset in the file.")]
    message: str


class ReadFileAnswer(Answer):
    """What was found in a file."""

    name: str
    format: Format
    messages: Annotated[int, Field(description="Performance events.")]
    other_events: Annotated[int, Field(description="Events of other kinds, which are passed over.")]
    problems: list[ReadProblemAnswer]
    problems_omitted: int
    notes: Annotated[list[str], Field(description="What was taken for granted to read it.")]


class ReadEventAnswer(Answer):
    """One event message; null where it does not say."""

    file: str
    place: str
    format: Format
    event: str
    reason: Literal[2053, 2224, 2225, 2226, 2227]
    queue_manager: str
    queue: str
    time_since_reset_s: int | None
    high_q_depth: int | None
    msg_enq_count: int | None
    msg_deq_count: int | None
    correl_id: CorrelId | None
    created: Annotated[str | None, Field(description="UTC.")]
    created_local: Annotated[str | None, Field(description="In a zone that the format does not tell.")]
    is_null: bool


class ReadMemberAnswer(Answer):
    """One queue manager's part of a set."""

    queue_manager: str
    time_since_reset_s: int | None
    high_q_depth: int | None
    msg_enq_count: int | None
    msg_deq_count: int | None
    is_null: bool
    put_rate_per_s: PerSecond
    get_rate_per_s: PerSecond
    rate_seconds: float | None
    rate_basis: RateBasis
    counted: Annotated[
        Literal["since_the_set_before", "shorter", "longer"] | None,
        Field(description="TimeSinceReset against the time since the set before; null where no times tell."),
    ]
    created: str | None
    created_local: str | None
    file: str
    place: str


class ReadMissingAnswer(Answer):
    """A member without a message, and the likely cause."""

    queue_manager: str
    cause: Literal["perfmev_disabled", "not_active", "not_read", "not_known"]
    words: str


class ReadReconciliationAnswer(Answer):
    """Depth before, puts and gets, against the depth that the event itself tells."""

    depth_before: int | None
    depth_before_basis: Literal["given", "set_before", "assumed"] | None
    msg_enq_count: Annotated[int, Field(description="Sum over the members.")]
    msg_deq_count: Annotated[int, Field(description="Sum over the members.")]
    computed_depth: int | None
    told_depth: int | None
    told_basis: Literal["high_q_depth", "maxdepth", "qdepthlo"] | None
    unreconciled: Annotated[int | None, Field(description="Told less computed.")]
    depth: Annotated[int | None, Field(description="The depth at the event, as well as it is known.")]


class ReadShareAnswer(Answer):
    """The queue manager with the largest share."""

    queue_manager: str
    share: float


class ReadImbalanceAnswer(Answer):
    """How uneven the members' parts are; null where there were none."""

    puts: ReadShareAnswer | None
    gets: ReadShareAnswer | None


class ReadSetAnswer(Answer):
    """All messages of one event on one queue."""

    number: int
    queue: str
    event: str
    reason: Literal[2053, 2224, 2225]
    grouped_by: Annotated[
        Literal["correl_id", "time", "order"],
        Field(description="How the messages were brought together; by order where they have no time either."),
    ]
    correl_id: CorrelId | None
    shared: Annotated[
        bool | None, Field(description="Whether the queue is shared; null where nothing tells.")
    ]
    created: str | None
    created_local: str | None
    messages: int
    members: list[ReadMemberAnswer]
    null_events: Annotated[list[str], Field(description="Queue managers that did nothing with the queue.")]
    missing: list[ReadMissingAnswer]
    high_q_depth: Annotated[int | None, Field(description="The largest of the members.")]
    reconciliation: ReadReconciliationAnswer
    put_rate_per_s: PerSecond
    get_rate_per_s: PerSecond
    rate_seconds: float | None
    rate_basis: RateBasis
    net_rate_per_s: PerSecond
    imbalance: ReadImbalanceAnswer


class ReadingAnswer(Answer):
    """Everything that was read, and the sets."""

    core_version: str
    files: list[ReadFileAnswer]
    repeats: Annotated[int, Field(description="Messages that were there twice, and counted once.")]
    events: list[ReadEventAnswer]
    sets: list[ReadSetAnswer]
    service_interval_events: list[ReadEventAnswer]
    assumptions: list[AssumptionAnswer]
    findings: list[Finding]
