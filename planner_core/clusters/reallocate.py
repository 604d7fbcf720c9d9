"""Re-allocation of a message that waits on the cluster transmission queue: eligibility, time and destination."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from planner_core.clusters.decide import Decision
from planner_core.clusters.model import Message, Situation
from planner_core.document.cluster_instances import Status
from planner_core.wire import Answer

Cause = Literal["bind_on_open", "group", "queue_manager_named", "system", "token_zero"]
CAUSES: dict[Cause, str] = {
    "bind_on_open": "the application binds on open, so all its messages go to the instance chosen by MQOPEN",
    "group": "the application binds on group and has its groups managed (MQPMO_LOGICAL_ORDER), so a group goes to one instance",
    "queue_manager_named": "the application named the queue manager, which bypasses the choice",
    "system": "it is a system message to a system queue of that queue manager",
    "token_zero": "its accounting token is all zeros, which means bind on open, a managed group, or a named queue manager",
}
"""Reasons why a message is not eligible, by code."""

_DRIVEN = {
    Status.RETRYING: "The channel is RETRYING: each failed retry re-drives the messages that wait for it.",
    Status.STOPPING: "The channel is STOPPING: the messages that wait for it are re-driven before it has stopped.",
}
_NOT_DRIVEN = {
    Status.STOPPED: "The channel is STOPPED: it is no longer retried, so no messages are re-driven until it is started and fails again.",
    Status.RUNNING: "The channel is RUNNING: messages are re-allocated only when a channel stops or fails a retry.",
    Status.INACTIVE: "The channel is INACTIVE: the message starts it, and is re-driven only if the start fails.",
}
_TRYING = "The channel is {status}: the messages that wait for it are re-driven if this attempt fails."


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """The eligibility of a message for re-allocation, with the codes of the reasons against it."""

    is_eligible: bool
    causes: tuple[Cause, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the result as a sentence."""
        if self.is_eligible:
            return "The message may be re-allocated."
        return f"The message cannot be re-allocated: {'; '.join(CAUSES[cause] for cause in self.causes)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reallocation(Answer):
    """The outcome for a message that waits on the cluster transmission queue."""

    held_for: str
    eligible: bool
    not_eligible_because: tuple[Cause, ...]
    redriven: Annotated[bool, Field(description="Whether the message is evaluated again now.")]
    why: str
    moves_to: Annotated[tuple[str, ...], Field(description="Empty if it stays.")]
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


def eligibility(message: Message) -> Eligibility:
    """Return whether a message may be re-allocated at all, and the reasons if not."""
    holds: dict[Cause, bool] = {
        "bind_on_open": message.bind == "OPEN",
        "group": message.bind == "GROUP" and message.logical_order,
        "queue_manager_named": message.names_queue_manager,
        "system": message.is_system,
    }
    causes = tuple(cause for cause, is_true in holds.items() if is_true)
    # The token only shows that one of these is true, so it is the cause only if none of them is known.
    if not causes and message.token_is_zero:
        causes = ("token_zero",)
    return Eligibility(is_eligible=not causes, causes=causes)


def redriven(situation: Situation) -> tuple[bool, str]:
    """Return whether messages for `held_for` are re-driven now, and the reason."""
    message = situation.message
    # The caller's knowledge of the current state overrides a state that was displayed earlier.
    if message.channel_fails is not None:
        if message.channel_fails:
            return (
                True,
                "The channel is stopping, or failing a retry, at this moment: the messages that wait for it are re-driven.",
            )
        return (
            False,
            "The channel has not failed since: messages are re-allocated only when it stops or fails a retry.",
        )
    states = [c.status for c in situation.channels if c.queue_manager == message.held_for]
    # Of several channels to the queue manager, one that fails is sufficient to re-drive the messages.
    for state in states:
        if state in _DRIVEN:
            return True, _DRIVEN[state]
    if not states:
        return False, f"No channel to {message.held_for} is known."
    return False, _NOT_DRIVEN.get(states[0], _TRYING.format(status=states[0]))


def reallocate(decision: Decision) -> Reallocation | None:
    """Return the outcome for the message of a situation; None if it is being put."""
    situation = decision.situation
    held = situation.message.held_for
    if not held:
        return None
    may = eligibility(situation.message)
    is_redriven, why = redriven(situation)
    chosen = decision.queue_managers
    found = Reallocation(
        held_for=held,
        eligible=may.is_eligible,
        not_eligible_because=may.causes,
        redriven=is_redriven,
        why=why,
        moves_to=(),
        stays=True,
        reason="not_eligible",
        sentence=may.sentence,
    )
    if not may.is_eligible:
        return found
    if not is_redriven:
        return replace(found, reason="not_redriven", sentence=why)
    if decision.failure:
        words = "Every remaining instance is PUT(DISABLED): the attempt fails, and the message stays."
        if decision.failure == "no_destination":
            words = "No instance can be reached: the message stays."
        return replace(found, reason=decision.failure, sentence=words)
    if len(decision.candidates) == 1:
        words = f"There is only one destination: {decision.candidates[0].label}."
        return replace(found, reason="only_choice", sentence=words)
    if chosen == (held,):
        step = decision.deciding
        words = f"{held} is still the most favored{f', by {step.attribute}' if step else ''}: its put time is renewed, and it stays."
        return replace(found, reason="most_favoured", sentence=words)
    moved = replace(found, moves_to=chosen, stays=False)
    if held in chosen:
        others = " and ".join(each for each in chosen if each != held)
        words = f"{held} is still among the most favored, equal with {others}: each attempt may choose any of them."
        return replace(moved, reason="most_favoured", sentence=words)
    return replace(moved, reason="reallocated", sentence=f"It is re-allocated to {' or '.join(chosen)}.")
