"""Findings on a choice of destination: differing sources, attributes that keep messages waiting, and assumptions."""

from __future__ import annotations

from collections.abc import Iterator

from planner_core.clusters.decide import NAMED_BY_SEED, TIERS_IBM, TIERS_SEED, Decision, DecisionStep, decide
from planner_core.clusters.model import Candidate, Mode
from planner_core.clusters.reallocate import Reallocation
from planner_core.document.cluster_instances import Status
from planner_core.findings import Finding, finding

MODE_NAMES: dict[Mode, str] = {"seed": "the article on re-allocation", "ibm": "the reference"}
RANK_STEPS = ("channel_rank", "queue_rank")


def other_mode(mode: Mode) -> Mode:
    """Return the other order of eliminations."""
    return "ibm" if mode == "seed" else "seed"


def remarks(decision: Decision, *, other: Decision | None = None, field: str = "") -> Iterator[Finding]:
    """Yield findings about one choice.

    Args:
        decision: The choice.
        other: The choice in the other mode; None to calculate it here.
        field: JSON pointer to the instances.
    """
    # No IBM text states which order a release uses, so differences are reported (docs/decisions/0014).
    compared = other or decide(decision.situation, mode=other_mode(decision.mode))
    queue = decision.situation.queue or "the queue"
    if (set(compared.chosen), compared.failure) != (set(decision.chosen), decision.failure):
        yield finding(
            "CLUSTER_MODES_DIFFER",
            f"For {queue} {MODE_NAMES[decision.mode]} gives {outcome_words(decision)}, {MODE_NAMES[compared.mode]} "
            f"{outcome_words(compared)}.",
            field=field or None,
        )
    if decision.failure == "no_destination":
        yield finding(
            "CLUSTER_NO_DESTINATION",
            f"No instance of {queue} has a channel in a cluster of the sender.",
            field=field or None,
        )
    elif decision.failure:
        last = [item for step in decision.steps if step.id == "put" for item in step.eliminated]
        yield finding(
            "CLUSTER_PUT_FAILS",
            f"Every remaining instance of {queue} is PUT(DISABLED) "
            f"({', '.join(item.candidate.queue_manager for item in last)}): the put fails, and a waiting message "
            "is not re-allocated.",
            field=field or None,
        )
    yield from _about_rank(decision, queue, field)
    yield from _about_assumptions(decision, queue, field)
    if len(decision.candidates) == 1:
        yield finding(
            "CLUSTER_ONLY_CHOICE",
            f"{queue} has one destination, {decision.candidates[0].label}, so there is no choice.",
            field=field or None,
        )


def remarks_on_message(found: Reallocation | None) -> Iterator[Finding]:
    """Yield the finding on a waiting message that is not re-allocated, if there is one."""
    if found is None:
        return
    if found.reason == "not_eligible":
        yield finding("CLUSTER_MESSAGE_NOT_ELIGIBLE", found.sentence, field="/message")
    elif found.reason == "not_redriven":
        yield finding("CLUSTER_MESSAGE_NOT_REDRIVEN", found.sentence, field="/message")


def outcome_words(decision: Decision) -> str:
    """Return the chosen queue managers as text, or that the put fails."""
    if decision.failure == "no_destination":
        return "no destination"
    return ", ".join(decision.queue_managers) if decision.chosen else "no destination (the put fails)"


def place_of(status: Status, *, mode: Mode) -> int:
    """Return the rank of a state; 0 is the most favored."""
    tiers = TIERS_SEED if mode == "seed" else TIERS_IBM
    return next(place for place, tier in enumerate(tiers) if status in tier)


def held_by_rank(decision: Decision) -> tuple[Candidate, ...]:
    """Return the candidates eliminated only by rank whose channels are in a better state than the chosen ones'."""
    if not decision.chosen:
        return ()
    best = min(place_of(candidate.status, mode=decision.mode) for candidate in decision.chosen)
    return tuple(
        item.candidate
        for step in decision.steps
        if step.id in RANK_STEPS
        for item in step.eliminated
        # A later step would eliminate the others anyway, so rank is not what holds the message.
        if item.candidate.instance.put_enabled
        and not item.candidate.suspended
        and place_of(item.candidate.status, mode=decision.mode) < best
    )


def _about_rank(decision: Decision, queue: str, field: str) -> Iterator[Finding]:
    ranked = [step for step in decision.steps if step.id in RANK_STEPS and step.eliminated]
    if not ranked or not decision.chosen:
        return
    stays, held = ", ".join(decision.queue_managers), held_by_rank(decision)
    attributes = " and ".join(step.attribute for step in ranked)
    if held:
        others = ", ".join(dict.fromkeys(candidate.queue_manager for candidate in held))
        states = ", ".join(dict.fromkeys(candidate.status for candidate in decision.chosen))
        yield finding(
            "CLUSTER_RANK_HOLDS_MESSAGES",
            f"Messages for {queue} wait for {stays}, whose channel is {states}: {attributes} eliminated {others} before the "
            "state of the channels was evaluated. To send them elsewhere, use CLWLPRTY instead of CLWLRANK.",
            field=field or None,
        )
    else:
        yield finding(
            "CLUSTER_RANK_DECIDES",
            f"{attributes} leaves only {stays} for {queue}: if that channel stops, messages wait for it. To send them "
            "elsewhere in that case, use CLWLPRTY instead of CLWLRANK.",
            field=field or None,
        )


def _about_assumptions(decision: Decision, queue: str, field: str) -> Iterator[Finding]:
    for step in decision.steps:
        if step.id == "status" and step.reached and decision.mode == "seed" and _is_unnamed(step):
            states = ", ".join(dict.fromkeys(candidate.status for candidate in _before(step)))
            yield finding(
                "CLUSTER_STATE_ASSUMED",
                f"For {queue}, the states {states} are compared. The article does not name all of them: they are ranked as "
                "in the reference.",
                field=field or None,
            )
        if step.id == "priority" and step.reached and _both_priorities(decision, step):
            yield finding(
                "CLUSTER_PRIORITY_READING",
                f"For {queue}, CLWLPRTY is set on queues and on channels: the queue's value was evaluated first.",
                field=field or None,
            )
        if step.id == "local" and not step.eliminated:
            bare = [c for c in step.kept if c.is_local and c.channel is None and c.instance.put_enabled]
            if bare and len(decision.candidates) > 1:
                yield finding(
                    "CLUSTER_LOCAL_DEFAULTS",
                    f"The sender's own instance of {queue} competes with rank 0, priority 0 and weight 50: its cluster-receiver "
                    "channel is not specified.",
                    field=field or None,
                )


def _before(step: DecisionStep) -> tuple[Candidate, ...]:
    return (*step.kept, *(item.candidate for item in step.eliminated))


def _is_unnamed(step: DecisionStep) -> bool:
    kept = {candidate.status for candidate in step.kept}
    # The article calls running channels the most favored, so the order of the others does not matter.
    if kept == {Status.RUNNING}:
        return False
    states = {candidate.status for candidate in _before(step)}
    return len(states) > 1 and any(state not in NAMED_BY_SEED for state in states)


def _both_priorities(decision: Decision, step: DecisionStep) -> bool:
    before = _before(step)
    queues = {candidate.instance.priority for candidate in before}
    channels = {candidate.channel_priority for candidate in before}
    return decision.situation.choosing == "queue" and len(queues) > 1 and len(channels) > 1
