"""The shapes of the answers about clusters, for their description in OpenAPI; tests hold real answers against them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.answers import Answer, FindingAnswer

ModeName = Annotated[
    Literal["seed", "ibm"],
    Field(description="`seed`: the eight eliminations of the article; `ibm`: the reference's algorithm."),
]


class DestinationAnswer(Answer):
    """Where a message goes."""

    queue_manager: str
    channel: Annotated[str | None, Field(description="Null for the sender's own instance.")]
    cluster: str | None
    physical_queue: Annotated[
        str,
        Field(description="What holds the messages: the group for a shared queue, else the queue manager."),
    ]


class ChosenAnswer(DestinationAnswer):
    """One of the equal destinations."""

    share_percent: Annotated[float, Field(description="Its part of the messages, by CLWLWGHT.")]
    puts: Annotated[int, Field(description="How many of `puts` it gets, put by put.")]


class CandidateAnswer(DestinationAnswer):
    """An instance with one channel to it, and all that the steps look at."""

    local: bool
    channel_clwlrank: int
    queue_clwlrank: int
    put: Literal["ENABLED", "DISABLED"]
    suspend: Literal["YES", "NO"]
    status: str
    netprty: int
    channel_clwlprty: int
    queue_clwlprty: int
    clwlwght: int


class DroppedAnswer(Answer):
    """An instance or a channel that makes no candidate."""

    what: str
    reason: str


class EliminatedAnswer(DestinationAnswer):
    """Who went out, and why."""

    reason: str


class StepAnswer(Answer):
    """One step."""

    step: Annotated[str, Field(description="Its number in the source.")]
    id: Annotated[str, Field(description="What it looks at; the same in both modes.")]
    title: str
    attribute: str
    reached: Annotated[bool, Field(description="False where the choice was made before.")]
    kept: list[DestinationAnswer]
    eliminated: list[EliminatedAnswer]
    note: str


class OtherModeAnswer(Answer):
    """What the other order chooses."""

    mode: ModeName
    chosen: list[str]
    put_fails: bool
    deciding_step: str | None


class MessageAnswer(Answer):
    """What becomes of a message that waits on the cluster transmission queue."""

    held_for: str
    eligible: bool
    not_eligible_because: list[
        Literal["bind_on_open", "group", "queue_manager_named", "system", "token_zero"]
    ]
    redriven: Annotated[bool, Field(description="Whether it is looked at now.")]
    why: str
    moves_to: list[str]
    stays: bool
    reason: Literal[
        "not_eligible",
        "not_redriven",
        "put_disabled",
        "no_destination",
        "only_choice",
        "most_favoured",
        "reallocated",
    ]
    sentence: str


class ClusterAssumption(Answer):
    """A fact on which the answer rests."""

    what: str
    basis: Annotated[str, Field(description="published, derived or assumed.")]
    source: str


class DecisionAnswerShape(Answer):
    """One decision."""

    queue: str | None
    mode: ModeName
    chosen: Annotated[
        list[str],
        Field(
            description="Queue managers that the message goes to, all equal; one that waits and is not moved stays with its "
            "own. Empty where the put fails."
        ),
    ]
    put_fails: bool
    failure: Literal["put_disabled", "no_destination"] | None
    deciding_step: Annotated[str | None, Field(description="`id` of the last step that put somebody out.")]
    destinations: Annotated[list[ChosenAnswer], Field(description="What the eliminations leave.")]
    candidates: list[CandidateAnswer]
    dropped: list[DroppedAnswer]
    steps: list[StepAnswer]
    other_mode: OtherModeAnswer
    message: Annotated[MessageAnswer | None, Field(description="With `held_for` only.")]
    assumptions: list[ClusterAssumption]
    findings: list[FindingAnswer]
