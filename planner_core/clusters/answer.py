"""The answer to one decision: the destinations of a message, each step, and the differences of the other order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from planner_core import tables
from planner_core.clusters.advice import other_mode, remarks, remarks_on_message
from planner_core.clusters.decide import Decision, DecisionStep, PutFailure, decide, spread
from planner_core.clusters.file import DecisionFile
from planner_core.clusters.model import Candidate, Destination, DroppedCandidate, Mode
from planner_core.clusters.reallocate import Reallocation, reallocate
from planner_core.findings import Finding, in_order
from planner_core.provenance import Assumption, Basis
from planner_core.wire import Answer, Hidden, TextOrNull

_PERCENT = 100
_DIGITS = 2
ModeName = Annotated[
    Mode,
    Field(
        description="`seed`: the eight eliminations of the article; `ibm`: the algorithm of the reference."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateValues(Destination):
    """A candidate with the values that the steps compare."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenDestination(Destination):
    """One of the equally good destinations."""

    share_percent: Annotated[float, Field(description="Its share of the messages, according to CLWLWGHT.")]
    puts: Annotated[int, Field(description="Number of `puts` that it receives, simulated put by put.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherModeChoice(Answer):
    """The choice in the other order of eliminations."""

    mode: ModeName
    chosen: tuple[str, ...]
    put_fails: bool
    deciding_step: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDecision(Answer):
    """The choice among the instances of a queue, with each step."""

    decision: Hidden[Decision]
    queue: str
    chosen: Annotated[
        tuple[str, ...],
        Field(
            description="Queue managers to which the message can go, all equally good; a waiting message "
            "that is not moved stays with its own. Empty if the put fails."
        ),
    ]
    failure: PutFailure | None
    deciding_step: Annotated[
        str | None, Field(description="`id` of the last step that eliminated a candidate.")
    ]
    candidates: tuple[CandidateValues, ...]
    dropped: tuple[DroppedCandidate, ...]
    steps: tuple[DecisionStep, ...]

    @classmethod
    def of(cls, decision: Decision, /, **members: Any) -> Self:  # noqa: ANN401 - the members of a subclass
        """Return the answer for a decision; `members` are the fields that a subclass adds."""
        return cls(
            decision=decision,
            queue=decision.situation.queue,
            failure=decision.failure,
            deciding_step=decision.deciding.id if decision.deciding else None,
            candidates=tuple(candidate_values(each) for each in decision.candidates),
            dropped=decision.dropped,
            steps=decision.steps,
            **members,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionAnswer(QueueDecision):
    """One decision, in both orders."""

    other: Hidden[Decision]
    queue: TextOrNull
    mode: ModeName
    put_fails: bool
    destinations: Annotated[
        tuple[ChosenDestination, ...], Field(description="The candidates that no step eliminated.")
    ]
    other_mode: OtherModeChoice
    message: Annotated[Reallocation | None, Field(description="With `held_for` only.")]
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]


def answer(document: DecisionFile, *, mode: Mode = "seed") -> DecisionAnswer:
    """Return the decision in both orders, with their differences."""
    # The article is the default: it was read completely, and answers the usual question (docs/decisions/0014).
    situation = document.situation()
    decision, other = decide(situation, mode=mode), decide(situation, mode=other_mode(mode))
    message = reallocate(decision)
    stays = message is not None and message.reason in ("not_eligible", "not_redriven")
    parts, puts = shares(decision.chosen), spread(decision.chosen, puts=document.puts)
    return DecisionAnswer.of(
        decision,
        other=other,
        mode=mode,
        # A message that is not re-allocated stays with its queue manager, whatever the choice is.
        chosen=(situation.message.held_for,) if stays else decision.queue_managers,
        put_fails=bool(decision.failure),
        destinations=tuple(
            ChosenDestination.of(
                each, share_percent=round(float(parts[each] * _PERCENT), _DIGITS), puts=puts[each]
            )
            for each in decision.chosen
        ),
        other_mode=OtherModeChoice(
            mode=other.mode,
            chosen=other.queue_managers,
            put_fails=bool(other.failure),
            deciding_step=other.deciding.id if other.deciding else None,
        ),
        message=message,
        assumptions=assumptions(mode),
        findings=in_order(
            [*remarks(decision, other=other, field="/instances"), *remarks_on_message(message)]
        ),
    )


def shares(chosen: Sequence[Candidate]) -> dict[Candidate, Fraction]:
    """Return the share of the messages that each of the equal destinations gets, by weight."""
    whole = sum(candidate.weight for candidate in chosen)
    # Exact, so that the rates of all destinations add up to that of the sender.
    return {candidate: Fraction(candidate.weight, whole) for candidate in chosen}


def candidate_values(candidate: Candidate) -> CandidateValues:
    """Return the values that the steps compare."""
    return CandidateValues.of(
        candidate,
        local=candidate.is_local,
        channel_clwlrank=candidate.channel_rank,
        queue_clwlrank=candidate.instance.rank,
        put="ENABLED" if candidate.instance.put_enabled else "DISABLED",
        suspend="YES" if candidate.suspended else "NO",
        status=candidate.status.value,
        netprty=candidate.netprty,
        channel_clwlprty=candidate.channel_priority,
        queue_clwlprty=candidate.instance.priority,
        clwlwght=candidate.weight,
    )


def assumptions(mode: Mode) -> tuple[Assumption, ...]:
    """Return the assumptions behind the steps."""
    # Steps 1 to 4b of the reference could be read in full, the others only in notes (docs/decisions/0014).
    article = tables.source("mq_reallocation", "Need to understand precedence of cluster workload attributes")
    reference = tables.source("mq_clwl_algorithm", "")
    ours = tables.source("project", "Cluster decisions")
    if mode == "seed":
        return (
            Assumption(what="The eight eliminations and their order.", basis=Basis.PUBLISHED, source=article),
            Assumption(
                what="States that the article does not name are ranked as in the reference; INACTIVE follows RUNNING.",
                basis=Basis.ASSUMED,
                source=ours,
            ),
            Assumption(
                what="Equal destinations share messages according to CLWLWGHT.",
                basis=Basis.DERIVED,
                source=ours,
            ),
        )
    return (
        Assumption(what="Steps 1 to 3, 4a and 4b and their order.", basis=Basis.PUBLISHED, source=reference),
        Assumption(
            what="Step 4 does not apply: it applies to the cluster's own messages, and the input does not show which queue managers "
            "have already received them.",
            basis=Basis.ASSUMED,
            source=ours,
        ),
        Assumption(
            what="Steps 5 to 14 and their order, from notes on the same page.",
            basis=Basis.ASSUMED,
            source=ours,
        ),
        Assumption(
            what="A queue is chosen first by its own CLWLPRTY, and then by the channel's.",
            basis=Basis.ASSUMED,
            source=ours,
        ),
        Assumption(
            what="Equal destinations share messages according to CLWLWGHT: each message increases a factor by 1000 / CLWLWGHT.",
            basis=Basis.DERIVED,
            source=ours,
        ),
    )
