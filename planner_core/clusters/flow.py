"""One sender's messages to a clustered queue: their shares, normally and during each failure.

Rates are exact, in messages per second at the plan's horizon.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from planner_core.clusters.advice import place_of
from planner_core.clusters.answer import shares
from planner_core.clusters.decide import Decision, decide
from planner_core.clusters.model import Candidate, Situation
from planner_core.document.cluster_entries import with_senders_own
from planner_core.document.cluster_instances import Status
from planner_core.document.model import Cluster
from planner_core.wire import Answer

FailureKind = Annotated[
    Literal["channel", "queue_manager", "destination"],
    Field(
        description="The failure: a channel; a queue manager with all channels to it; or all channels to one physical queue."
    ),
]
_PERCENT = 100
HBINT: int = Cluster.model_fields["hbint"].default
"""The value assumed for HBINT(0): without heartbeats, a failure is noticed no sooner than with the default."""
HEARTBEAT_GRACE_S = 60
"""Seconds that a partner has to answer after a heartbeat interval. Intervals shorter than this are doubled instead.

Derived from IBM's description of HBINT: docs/explanation/assumptions.md, Cluster load."""


@dataclass(frozen=True, slots=True)
class NamedFailure(Answer):
    """A failure, without its effects."""

    kind: FailureKind
    name: str

    @property
    def label(self) -> str:
        """Return the display name of the failed part: `queue manager P1`."""
        return f"{self.kind.replace('_', ' ')} {self.name}"

    @property
    def key(self) -> str:
        """Return the key of the failure in URLs and forms."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Failure(NamedFailure):
    """A channel, a queue manager with all channels to it, or all channels to one physical queue."""

    queue_manager: str = ""

    def stops(self, candidate: Candidate) -> bool:
        """Return whether the failure makes a candidate unreachable."""
        if candidate.is_local:
            return False
        if self.kind == "destination":
            return candidate.instance.physical_queue == self.name
        if self.kind == "queue_manager":
            return candidate.queue_manager == self.name
        return (
            candidate.queue_manager == self.queue_manager
            and candidate.channel is not None
            and candidate.channel.name == self.name
        )

    def stops_gets_at(self, queue_manager: str, *, physical_queue: str) -> bool:
        """Return whether the consumers at a queue manager stop; they continue when only a channel fails."""
        if self.kind == "queue_manager":
            return queue_manager == self.name
        return self.kind == "destination" and physical_queue == self.name


Amounts = Mapping[str, Fraction]
"""Rates or messages by physical queue."""
Route = tuple[str, str]
"""Queue manager and channel; the sender's own instance has no channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureOutcome:
    """A flow during a failure.

    Attributes:
        decision: The choice during the failure.
        arriving: Rate by physical queue.
        waiting: Rate of messages that stay at the sender, by the physical queue that they are for.
        burst: Messages that arrive together when the failure is noticed, by physical queue.
        due: Messages of the burst that were already destined for the same physical queue and add nothing to its depth.
        routes: Rate sent through each candidate, by queue manager and channel.
        failed: The routes that cannot be reached.
    """

    decision: Decision
    arriving: Amounts
    waiting: Amounts
    burst: Amounts
    due: Amounts
    routes: Mapping[Route, Fraction]
    failed: frozenset[Route]

    @property
    def waiting_per_s(self) -> Fraction:
        """Return the rate at which the sender's transmission queue grows."""
        return sum(self.waiting.values(), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A sender's messages to a clustered queue, in normal operation.

    Attributes:
        rate: Messages per second that the sender puts.
        shares: The share of each destination.
        normal: The rates in normal operation.
    """

    index: int
    entry: Cluster
    rate: Fraction
    decision: Decision
    shares: Mapping[Candidate, Fraction]
    normal: FailureOutcome

    @property
    def arriving(self) -> Amounts:
        """Return the rate by physical queue."""
        return self.normal.arriving

    @property
    def detect_s(self) -> int:
        """Return the seconds until a failed channel is noticed."""
        given, hbint = self.entry.detect_seconds, self.entry.hbint or HBINT
        if given is not None:
            return given
        return hbint + HEARTBEAT_GRACE_S if hbint >= HEARTBEAT_GRACE_S else 2 * hbint

    @property
    def failures(self) -> Iterator[Failure]:
        """Yield each failure that affects a destination in use, channels first."""
        for candidate in self.shares:
            # The sender reaches its own instance without a channel.
            if candidate.channel is not None and not candidate.is_local:
                yield Failure("channel", candidate.channel.name, candidate.queue_manager)
        for candidate in self.shares:
            if not candidate.is_local:
                yield Failure("queue_manager", candidate.queue_manager)
        for candidate in self.shares:
            if not candidate.is_local:
                yield Failure("destination", candidate.instance.physical_queue)

    def during(self, failure: Failure) -> FailureOutcome:
        """Return the flow during a failure: bound messages keep their destination, the others get a new one."""
        failed = {route_of(c) for c in self.decision.candidates if failure.stops(c)}
        if not failed:
            return self.normal  # the same object: it shows that the failure does not affect this flow
        situation = self.decision.situation
        retrying = place_of(Status.RETRYING, mode=self.decision.mode)
        # A channel that is already in a less favored state keeps it: a failure must not improve it to RETRYING.
        channels = tuple(
            replace(channel, status=Status.RETRYING)
            if (channel.queue_manager, channel.name) in failed
            and place_of(channel.status, mode=self.decision.mode) < retrying
            else channel
            for channel in situation.channels
        )
        decision = decide(replace(situation, channels=channels), mode=self.decision.mode)
        moved = shares(decision.chosen)
        free = Fraction(self.entry.not_fixed_percent) / _PERCENT
        then: list[tuple[Candidate, Fraction]] = [
            *((candidate, (1 - free) * share * self.rate) for candidate, share in self.shares.items()),
            *((candidate, free * share * self.rate) for candidate, share in moved.items()),
        ]
        stopped = [(c, share * self.rate) for c, share in self.shares.items() if route_of(c) in failed]
        routes: defaultdict[Route, Fraction] = defaultdict(Fraction)
        for candidate, rate in then:
            routes[route_of(candidate)] += rate
        # Until the failure is noticed, messages gather; those that are not bound then move at once.
        gathered = free * self.detect_s * sum((rate for _, rate in stopped), Fraction(0))
        return FailureOutcome(
            decision=decision,
            arriving=_by_queue((c, rate) for c, rate in then if route_of(c) not in failed),
            waiting=_by_queue((c, rate) for c, rate in then if route_of(c) in failed),
            burst=_by_queue((c, gathered * share) for c, share in moved.items() if route_of(c) not in failed),
            due=_by_queue((c, free * self.detect_s * rate) for c, rate in stopped),
            routes=dict(routes),
            failed=frozenset(failed),
        )


def flow_of(entry: Cluster, *, index: int, qsg: str, growth: Fraction = Fraction(1)) -> Flow:
    """Return a cluster of the plan as a flow, with its rate multiplied by a growth factor."""
    instances = with_senders_own(entry.instances, entry.sender)
    situation = Situation(
        queue=entry.queue,
        instances=tuple(item.as_instance(qsg=qsg if item.shared else "") for item in instances),
        channels=tuple(channel for item in instances for channel in item.as_channels()),
        queue_local_use=entry.clwluseq,
    )
    decision = decide(situation, mode=entry.mode)
    parts, rate = shares(decision.chosen), Fraction(entry.rate_per_s) * growth
    rates = {candidate: share * rate for candidate, share in parts.items()}
    normal = FailureOutcome(
        decision=decision,
        arriving=_by_queue(rates.items()),
        waiting={},
        burst={},
        due={},
        routes={route_of(candidate): each for candidate, each in rates.items()},
        failed=frozenset(),
    )
    return Flow(index=index, entry=entry, rate=rate, decision=decision, shares=parts, normal=normal)


def route_of(candidate: Candidate) -> Route:
    """Return the queue manager and the channel of a candidate."""
    return candidate.queue_manager, candidate.channel.name if candidate.channel else ""


def _by_queue(amounts: Iterable[tuple[Candidate, Fraction]]) -> Amounts:
    found: defaultdict[str, Fraction] = defaultdict(Fraction)
    for candidate, amount in amounts:
        if amount:
            found[candidate.instance.physical_queue] += amount
    return dict(found)
