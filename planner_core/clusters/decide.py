"""The choice of a destination: each step eliminates candidates, until only equal ones remain.

There are two orders: `seed` is the order of IBM's article on re-allocation (eight eliminations), `ibm` the algorithm of
the reference. Each step names the candidates it eliminates and the value that decides, so that a reader can follow it
with the displays at hand. docs/how-to/cluster-decisions.md lists the sources and the assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heapreplace
from typing import Annotated, Literal

from pydantic import Field, PlainSerializer

from planner_core.clusters.model import Candidate, Destination, DroppedCandidate, Mode, Situation
from planner_core.document.cluster_instances import Status
from planner_core.wire import Answer, Hidden, Unchecked

Candidates = tuple[Candidate, ...]
PutFailure = Literal["put_disabled", "no_destination"]

TIERS_IBM: tuple[tuple[Status, ...], ...] = (
    (Status.RUNNING, Status.INACTIVE),
    (Status.BINDING, Status.INITIALIZING, Status.STARTING, Status.STOPPING),
    (Status.RETRYING,),
    (Status.REQUESTING, Status.PAUSED, Status.STOPPED, Status.SWITCHING),
)
"""Steps 6 to 9 of the reference: only the candidates in the first non-empty tier remain."""
NAMED_BY_SEED = (Status.RUNNING, Status.STOPPING, Status.RETRYING, Status.STOPPED)
"""The states that the article names, most favored first."""
TIERS_SEED: tuple[tuple[Status, ...], ...] = (
    (Status.RUNNING,),
    (Status.INACTIVE,),
    *TIERS_IBM[1:],
)
"""The tiers of the article, which names four states. The others are in the tiers of the reference; INACTIVE follows
RUNNING, because the article calls running channels the most favored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elimination(Destination):
    """A candidate that a step eliminates, and the reason."""

    candidate: Hidden[Candidate]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionStep(Answer):
    """One step of the elimination."""

    id: Annotated[str, Field(description="The compared attribute; the same in both modes.")]
    step: Annotated[
        str,
        Field(
            description="Number of the step in the source; 0: step 3 of the reference, which precedes the eight steps of `seed`."
        ),
    ]
    title: str
    attribute: str
    kept: Annotated[
        Candidates,
        Unchecked(),
        PlainSerializer(lambda kept: [Destination.of(each) for each in kept], return_type=list[Destination]),
    ] = ()
    eliminated: tuple[Elimination, ...] = ()
    note: str = ""
    reached: Annotated[bool, Field(description="False if an earlier step made the choice.")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The choice of one mode.

    Attributes:
        chosen: The equal destinations; empty if the put fails.
        failure: Why the put fails: `put_disabled`, or `no_destination` if there was no candidate from the start.
    """

    mode: Mode
    situation: Situation
    candidates: Candidates
    dropped: tuple[DroppedCandidate, ...]
    steps: tuple[DecisionStep, ...]
    chosen: Candidates
    failure: PutFailure | None = None

    @property
    def deciding(self) -> DecisionStep | None:
        """Return the last step that eliminated a candidate; None if all were equal, or there was only one."""
        return next((step for step in reversed(self.steps) if step.eliminated), None)

    @property
    def queue_managers(self) -> tuple[str, ...]:
        """Return the queue managers that the message may go to, without duplicates."""
        return tuple(dict.fromkeys(candidate.queue_manager for candidate in self.chosen))


Survivors = tuple[Candidates, dict[Candidate, str], str]
"""The remaining candidates, the reason for each eliminated one, and a note."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """A step: the attribute it compares, and the function that selects the survivors."""

    id: str
    number: str
    title: str
    attribute: str
    survivors: Callable[[Candidates, Situation], Survivors]
    ends_with_local: bool = False


def decide(situation: Situation, *, mode: Mode = "seed") -> Decision:
    """Choose among the instances of a queue.

    Args:
        situation: What the sending queue manager knows.
        mode: `seed` (the eight eliminations, in order) or `ibm` (the whole algorithm).
    """
    candidates, dropped = situation.pairs()
    remaining, steps = candidates, list[DecisionStep]()
    failure: PutFailure | None = None if candidates else "no_destination"
    is_made = not candidates
    for rule in _rules(mode, candidates):
        step = DecisionStep(
            id=rule.id, step=rule.number, title=rule.title, attribute=rule.attribute, reached=not is_made
        )
        if is_made:
            steps.append(step)
            continue
        kept, reasons, note = rule.survivors(remaining, situation)
        steps.append(replace(step, kept=kept, eliminated=_eliminations(remaining, reasons), note=note))
        remaining = kept
        if not remaining:
            failure, is_made = "put_disabled", True
        elif rule.ends_with_local and reasons:
            is_made = True
    return Decision(
        mode=mode,
        situation=situation,
        candidates=candidates,
        dropped=dropped,
        steps=tuple(steps),
        chosen=remaining,
        failure=failure,
    )


def spread(chosen: Sequence[Candidate], *, puts: int) -> dict[Candidate, int]:
    """Return the number of puts that each equal destination gets: step 14 of the reference, put by put.

    Each put takes the channel with the lowest factor, or the least recently used of several such channels; its factor
    then grows by 1000 / weight, rounded down.
    """
    if not chosen or puts <= 0:
        return dict.fromkeys(chosen, 0)
    # A heap makes a put cost the logarithm of the number of channels: 100,000 puts over 1,000 channels take seconds
    # when each put compares all of them.
    growth = [SEQUENCE_UNIT // candidate.weight for candidate in chosen]
    waiting = [
        (candidate.channel.factor, candidate.channel.last_used, place) if candidate.channel else (0, 0, place)
        for place, candidate in enumerate(chosen)
    ]
    now = max(last_used for _, last_used, _ in waiting)  # each put counts as later than all known uses
    heapify(waiting)
    counts = [0] * len(chosen)
    for put in range(1, puts + 1):
        factor, _, place = waiting[0]
        heapreplace(waiting, (factor + growth[place], now + put, place))
        counts[place] += 1
    return dict(zip(chosen, counts, strict=True))


SEQUENCE_UNIT = 1000
"""The amount that each message adds to a channel's factor, divided by the channel's weight (the reference, step 14)."""


def _eliminations(before: Candidates, reasons: dict[Candidate, str]) -> tuple[Elimination, ...]:
    return tuple(
        Elimination.of(candidate, candidate=candidate, reason=reasons[candidate])
        for candidate in before
        if candidate in reasons
    )


def _highest(value: Callable[[Candidate], int], words: str) -> Callable[[Candidates, Situation], Survivors]:
    """Return a rule that keeps the candidates with the highest value of an attribute."""

    def survivors(pool: Candidates, _: Situation) -> Survivors:
        best = max(value(candidate) for candidate in pool)
        reasons = {
            candidate: f"{words}({value(candidate)}) is below {words}({best})"
            for candidate in pool
            if value(candidate) < best
        }
        return _without(pool, reasons), reasons, ""

    return survivors


def _without(pool: Candidates, reasons: Iterable[Candidate]) -> Candidates:
    gone = set(reasons)
    return tuple(candidate for candidate in pool if candidate not in gone)


def _put_enabled(pool: Candidates, _: Situation) -> Survivors:
    reasons = {
        candidate: "the queue is PUT(DISABLED) there"
        for candidate in pool
        if not candidate.instance.put_enabled
    }
    kept = _without(pool, reasons)
    return (
        kept,
        reasons,
        "" if kept else "No instance remains: the put fails, and a waiting message stays on its queue.",
    )


def _local(pool: Candidates, situation: Situation) -> Survivors:
    local = tuple(c for c in pool if c.is_local and c.instance.put_enabled)
    if not local:
        closed = any(instance.is_local for instance in situation.instances)
        words = (
            "The queue is PUT(DISABLED) at the sender."
            if closed
            else "The sender has no instance of the queue."
        )
        return pool, {}, words
    use, by = situation.queue_local_use, "of the queue"
    if use == "QMGR":
        use, by = situation.queue_manager_local_use, "of the queue manager"
    if situation.came_over_cluster:
        why = "the message arrived over a cluster channel, so the sender's own instance receives it"
    elif use == "LOCAL":
        why = f"CLWLUSEQ(LOCAL) {by}: the sender's own instance receives it"
    else:
        return pool, {}, f"CLWLUSEQ(ANY) {by}: the sender's own instance takes part like any other."
    return local, {candidate: why for candidate in pool if candidate not in local}, ""


def _not_suspended(pool: Candidates, _: Situation) -> Survivors:
    reasons = {
        candidate: "its queue manager is suspended from the cluster"
        for candidate in pool
        if candidate.suspended
    }
    if len(reasons) == len(pool):
        return pool, {}, "All are suspended; they remain because there are no others."
    return _without(pool, reasons), reasons, ""


def _only_remote(
    survivors: Callable[[Candidates, Situation], Survivors],
) -> Callable[[Candidates, Situation], Survivors]:
    """Return a rule that applies only when no local instance remains: the reference limits it to remote instances."""

    def unless_local(pool: Candidates, situation: Situation) -> Survivors:
        if any(candidate.is_local for candidate in pool):
            return pool, {}, "Applies only if all remaining instances are remote."
        return survivors(pool, situation)

    return unless_local


def _status(tiers: tuple[tuple[Status, ...], ...]) -> Callable[[Candidates, Situation], Survivors]:
    places = {status: place for place, tier in enumerate(tiers) for status in tier}

    def survivors(pool: Candidates, _: Situation) -> Survivors:
        best = min(places[candidate.status] for candidate in pool)
        favoured = " or ".join(
            dict.fromkeys(candidate.status for candidate in pool if places[candidate.status] == best)
        )
        reasons = {
            candidate: f"the channel is {candidate.status}, which is less favored than {favoured}"
            for candidate in pool
            if places[candidate.status] > best
        }
        return _without(pool, reasons), reasons, ""

    return survivors


def _netprty(pool: Candidates, _: Situation) -> Survivors:
    # NETPRTY is a preference among channels to one queue manager, so it never eliminates the last one to another.
    best: dict[str, int] = {}
    for candidate in pool:
        best[candidate.queue_manager] = max(
            candidate.netprty, best.get(candidate.queue_manager, candidate.netprty)
        )
    reasons = {
        candidate: f"NETPRTY({candidate.netprty}) is below NETPRTY({best[candidate.queue_manager]}) of another channel to "
        f"{candidate.queue_manager}"
        for candidate in pool
        if candidate.netprty < best[candidate.queue_manager]
    }
    return _without(pool, reasons), reasons, ""


def _priority_ibm(pool: Candidates, situation: Situation) -> Survivors:
    """Apply step 11 of the reference: CLWLPRTY of the channel selects a queue manager, that of the queue a queue."""
    by_channel = _highest(lambda c: c.channel_priority, "CLWLPRTY")
    if situation.choosing == "queue_manager":
        return by_channel(pool, situation)
    kept, out, _ = _highest(lambda c: c.instance.priority, "CLWLPRTY")(pool, situation)
    reasons = {candidate: f"{reason} of a queue" for candidate, reason in out.items()}
    kept, more, _ = by_channel(kept, situation)
    reasons |= {candidate: f"{reason} of a channel" for candidate, reason in more.items()}
    note = "A queue is chosen first by its own priority, and then by the channel's." if reasons else ""
    return kept, reasons, note


def _recently_used(pool: Candidates, situation: Situation) -> Survivors:
    # CLWLMRUC limits outbound channels; the sender's own instance needs none.
    remote = [candidate for candidate in pool if not candidate.is_local]
    if len(remote) <= situation.most_channels:
        return pool, {}, ""
    newest_first = sorted(remote, key=lambda c: -(c.channel.last_used if c.channel else 0))
    reasons = dict.fromkeys(
        newest_first[situation.most_channels :],
        f"its channel is not among the {situation.most_channels} used most recently, which CLWLMRUC allows",
    )
    return _without(pool, reasons), reasons, ""


_LOCAL = _Rule("local", "3", "The sender's own instance", "CLWLUSEQ of queue and queue manager", _local, True)
_LOCAL_FIRST = replace(_LOCAL, number="0", title="The sender's own instance (step 3 of the reference)")
_CHANNEL_RANK = _highest(lambda c: c.channel_rank, "CLWLRANK")
_QUEUE_RANK = _highest(lambda c: c.instance.rank, "CLWLRANK")

_SEED: tuple[_Rule, ...] = (
    _Rule("channel_rank", "1", "Highest rank of the channel", "CLWLRANK of the channel", _CHANNEL_RANK),
    _Rule("queue_rank", "2", "Highest rank of the queue", "CLWLRANK of the queue", _QUEUE_RANK),
    _Rule("put", "3", "Queues that can be put to", "PUT of the queue", _put_enabled),
    _Rule("suspended", "4", "Queue managers that are not suspended", "SUSPEND", _not_suspended),
    _Rule("status", "5", "Most favored state of the channel", "STATUS of the channel", _status(TIERS_SEED)),
    _Rule("netprty", "6", "Best channel to each queue manager", "NETPRTY of the channel", _netprty),
    _Rule(
        "channel_priority",
        "7",
        "Highest priority of the channel",
        "CLWLPRTY of the channel",
        _highest(lambda c: c.channel_priority, "CLWLPRTY"),
    ),
    _Rule(
        "queue_priority",
        "8",
        "Highest priority of the queue",
        "CLWLPRTY of the queue",
        _highest(lambda c: c.instance.priority, "CLWLPRTY"),
    ),
)
_IBM: tuple[_Rule, ...] = (
    _Rule("put", "1", "Queues that can be put to", "PUT of the queue", _put_enabled),
    _LOCAL,
    _Rule("channel_rank", "4a", "Highest rank of the channel", "CLWLRANK of the channel", _CHANNEL_RANK),
    _Rule("queue_rank", "4b", "Highest rank of the queue", "CLWLRANK of the queue", _QUEUE_RANK),
    _Rule("suspended", "5", "Queue managers that are not suspended", "SUSPEND", _only_remote(_not_suspended)),
    _Rule("status", "6-9", "Most favored state of the channel", "STATUS of the channel", _status(TIERS_IBM)),
    _Rule("netprty", "10", "Best channel to each queue manager", "NETPRTY of the channel", _netprty),
    _Rule("priority", "11", "Highest priority", "CLWLPRTY of queue and channel", _priority_ibm),
    _Rule("most_recent", "12", "Channels used most recently", "CLWLMRUC", _recently_used),
)


def _rules(mode: Mode, candidates: Candidates) -> tuple[_Rule, ...]:
    if mode == "ibm":
        return _IBM
    # The article is about messages that wait for a channel, so it leaves out the sender's own instance. Where there is
    # one, the rule of the reference comes before the eight, as step 0.
    return (_LOCAL_FIRST, *_SEED) if any(candidate.is_local for candidate in candidates) else _SEED
