"""What the decision looks at, as one queue manager sees it: instances of a queue, channels to them, a message.

Instances and channels are kept apart, as the queue manager keeps them; `Situation.pairs` joins them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from planner_core.document.cluster_instances import DEFAULT_WEIGHT, MOST_CHANNELS, Channel, Instance, Status
from planner_core.questions import Question
from planner_core.wire import Answer

Mode = Literal["seed", "ibm"]
"""`seed`: the eight eliminations of the article on re-allocation; `ibm`: the algorithm of IBM's reference."""
MODES: dict[Mode, str] = {
    "seed": "IBM's article: eight eliminations",
    "ibm": "IBM's reference: the whole algorithm",
}
"""The orders of eliminations, as forms offer them."""
Bind = Literal["OPEN", "NOTFIXED", "GROUP"]
LocalUse = Literal["LOCAL", "ANY", "QMGR"]


class EliminationOrder(Question, extra="ignore"):
    """The order in which candidates are eliminated."""

    mode: Mode = Field(
        "seed",
        description="order of eliminations: `seed`, the eight of IBM's article (default), or `ibm`, the algorithm of its "
        "reference",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message on the cluster transmission queue, or the way an application puts.

    `held_for` is the queue manager that it waits for; empty: it is being put. `token_is_zero` is what a browse shows
    of its accounting token (None: not looked at). `channel_fails` says that the channel stops, or fails a retry,
    just now; None: as the state of the channel lets expect.
    """

    bind: Bind = "NOTFIXED"
    logical_order: bool = False
    names_queue_manager: bool = False
    is_system: bool = False
    held_for: str = ""
    token_is_zero: bool | None = None
    channel_fails: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A possible destination: an instance and one channel to it. The sender's own instance needs no channel."""

    instance: Instance
    channel: Channel | None

    @property
    def queue_manager(self) -> str:
        """Where the message would go."""
        return self.instance.queue_manager

    @property
    def is_local(self) -> bool:
        """Whether the message would stay with the sender."""
        return self.instance.is_local

    @property
    def label(self) -> str:
        """For people: `NEWYORK through TO.NEWYORK`."""
        through = "here" if self.is_local else f"through {self.channel.name}" if self.channel else ""
        return f"{self.queue_manager} {through}".strip()

    @property
    def channel_rank(self) -> int:
        """CLWLRANK of the channel."""
        return self.channel.rank if self.channel else 0

    @property
    def channel_priority(self) -> int:
        """CLWLPRTY of the channel."""
        return self.channel.priority if self.channel else 0

    @property
    def weight(self) -> int:
        """CLWLWGHT of the channel."""
        return self.channel.weight if self.channel else DEFAULT_WEIGHT

    @property
    def netprty(self) -> int:
        """NETPRTY of the channel."""
        return self.channel.netprty if self.channel else 0

    @property
    def status(self) -> Status:
        """State of the channel; what is local is there without one."""
        return self.channel.status if self.channel and not self.is_local else Status.RUNNING

    @property
    def suspended(self) -> bool:
        """Whether the queue manager is suspended from the cluster."""
        return self.channel.suspended if self.channel else False


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination(Answer):
    """A queue manager that a message can be sent to."""

    queue_manager: str
    channel: Annotated[str | None, Field(description="Null for the sender's own instance.")]
    cluster: str | None
    physical_queue: Annotated[
        str,
        Field(
            description="Where the messages are stored: the group for a shared queue, else the queue manager."
        ),
    ]

    @classmethod
    def of(cls, candidate: Candidate, /, **members: Any) -> Self:  # noqa: ANN401 - the members of a subclass
        """Return the destination of a candidate, with the other members of the class."""
        return cls(
            queue_manager=candidate.queue_manager,
            channel=candidate.channel.name if candidate.channel and not candidate.is_local else None,
            cluster=candidate.instance.cluster or None,
            physical_queue=candidate.instance.physical_queue,
            **members,
        )

    @property
    def label(self) -> str:
        """For people: `NEWYORK through TO.NEWYORK`."""
        return (
            f"{self.queue_manager} through {self.channel}" if self.channel else f"{self.queue_manager} itself"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedCandidate(Answer):
    """An instance or a channel that is not a candidate."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that one choice rests on.

    `choosing` is `queue_manager` where an application names a queue manager (or an alias of one) and the algorithm
    only picks the way to it. `clusters` are those of the sender; empty: not told.
    """

    queue: str = ""
    instances: tuple[Instance, ...] = ()
    channels: tuple[Channel, ...] = ()
    clusters: tuple[str, ...] = ()
    choosing: Literal["queue", "queue_manager"] = "queue"
    queue_local_use: LocalUse = "QMGR"
    queue_manager_local_use: Literal["LOCAL", "ANY"] = "LOCAL"
    came_over_cluster: bool = False
    most_channels: int = MOST_CHANNELS
    message: Message = field(default_factory=Message)

    def pairs(self) -> tuple[tuple[Candidate, ...], tuple[DroppedCandidate, ...]]:
        """Instances joined with the channels to their queue managers, and what could not be joined."""
        candidates: list[Candidate] = []
        dropped: list[DroppedCandidate] = []
        used: set[int] = set()
        by_manager: dict[str, list[tuple[int, Channel]]] = {}
        for index, channel in enumerate(self.channels):
            by_manager.setdefault(channel.queue_manager, []).append((index, channel))
        for instance in self.instances:
            if not instance.is_local and self._is_foreign(instance.cluster):
                reason = f"its cluster {instance.cluster} is none of the sender's"
                dropped.append(DroppedCandidate(what=f"instance on {instance.queue_manager}", reason=reason))
                continue
            routes = list(self._routes(instance, by_manager.get(instance.queue_manager, [])))
            used.update(index for index, _ in routes)
            if instance.is_local:
                own = max((channel for _, channel in routes), key=_own_order, default=None)
                candidates.append(Candidate(instance=instance, channel=own))
            elif routes:
                candidates.extend(Candidate(instance=instance, channel=channel) for _, channel in routes)
            else:
                reason = "no channel to that queue manager in the queue's cluster"
                dropped.append(DroppedCandidate(what=f"instance on {instance.queue_manager}", reason=reason))
        for index, channel in enumerate(self.channels):
            if index not in used:
                reason = f"no instance of the queue on {channel.queue_manager} in its cluster"
                dropped.append(DroppedCandidate(what=f"channel {channel.name}", reason=reason))
        return tuple(candidates), tuple(dropped)

    def _is_foreign(self, cluster: str) -> bool:
        return bool(self.clusters and cluster and cluster not in self.clusters)

    def _routes(
        self, instance: Instance, channels: list[tuple[int, Channel]]
    ) -> Iterator[tuple[int, Channel]]:
        for index, channel in channels:
            is_same = (
                not instance.cluster or not channel.cluster or instance.cluster == channel.cluster
            ) and not self._is_foreign(channel.cluster)
            if is_same:
                yield index, channel


def _own_order(channel: Channel) -> tuple[int, int, int, str]:
    """Of several receivers of the sender's own, the one with the best attributes speaks for it."""
    return channel.rank, channel.priority, channel.weight, channel.name
