"""The input of a decision as one queue manager sees it: instances of a queue, channels to them, and a message.

Instances and channels are separate, as in the displays of a queue manager; `Situation.pairs` joins them.
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
"""The orders of elimination, with their labels in forms."""
Bind = Literal["OPEN", "NOTFIXED", "GROUP"]
LocalUse = Literal["LOCAL", "ANY", "QMGR"]


class EliminationOrder(Question, extra="ignore"):
    """The order in which candidates are eliminated."""

    # `/api/v1/cluster/decide` has always ignored unknown parameters, unlike the what-if questions.
    mode: Mode = Field(
        "seed",
        description="order of eliminations: `seed`, the eight of IBM's article (default), or `ibm`, the algorithm of its "
        "reference",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message on the cluster transmission queue, or the options with which an application puts one.

    Attributes:
        held_for: The queue manager that it waits for; empty while it is being put.
        token_is_zero: Whether a browse shows an accounting token of zeros; None if not known.
        channel_fails: Whether the channel is stopping, or failing a retry, at this moment; None to infer it from its state.
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
    """An instance and one channel to it; the sender's own instance needs no channel."""

    instance: Instance
    channel: Channel | None

    @property
    def queue_manager(self) -> str:
        """Return the queue manager that would get the message."""
        return self.instance.queue_manager

    @property
    def is_local(self) -> bool:
        """Return whether the message would stay with the sender."""
        return self.instance.is_local

    @property
    def label(self) -> str:
        """Return the display name: `NEWYORK through TO.NEWYORK`."""
        through = "here" if self.is_local else f"through {self.channel.name}" if self.channel else ""
        return f"{self.queue_manager} {through}".strip()

    @property
    def channel_rank(self) -> int:
        """Return CLWLRANK of the channel."""
        return self.channel.rank if self.channel else 0

    @property
    def channel_priority(self) -> int:
        """Return CLWLPRTY of the channel."""
        return self.channel.priority if self.channel else 0

    @property
    def weight(self) -> int:
        """Return CLWLWGHT of the channel."""
        return self.channel.weight if self.channel else DEFAULT_WEIGHT

    @property
    def netprty(self) -> int:
        """Return NETPRTY of the channel."""
        return self.channel.netprty if self.channel else 0

    @property
    def status(self) -> Status:
        """Return the state of the channel; the sender's own instance can always be reached."""
        return self.channel.status if self.channel and not self.is_local else Status.RUNNING

    @property
    def suspended(self) -> bool:
        """Return whether the queue manager is suspended from the cluster."""
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
        """Return the display name: `NEWYORK through TO.NEWYORK`."""
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
    """The complete input of one choice.

    Attributes:
        choosing: `queue_manager` if the application names a queue manager (or an alias of one), so that the algorithm
            only chooses a channel to it.
        clusters: The clusters of the sender; empty if not known.
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
        """Join instances with the channels to their queue managers.

        Returns:
            The candidates, and the instances and channels that could not be joined.
        """
        candidates: list[Candidate] = []
        dropped: list[DroppedCandidate] = []
        used: set[int] = set()
        by_manager: dict[str, list[tuple[int, Channel]]] = {}
        for index, channel in enumerate(self.channels):
            by_manager.setdefault(channel.queue_manager, []).append((index, channel))
        for instance in self.instances:
            if not instance.is_local and self._is_foreign(instance.cluster):
                reason = f"the sender does not belong to its cluster {instance.cluster}"
                dropped.append(DroppedCandidate(what=f"instance on {instance.queue_manager}", reason=reason))
                continue
            routes = list(self._routes(instance, by_manager.get(instance.queue_manager, [])))
            used.update(index for index, _ in routes)
            if instance.is_local:
                # The attributes of a destination's channels are those of its cluster-receivers, here the sender's own.
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
            # Displays without ALL and files may omit the cluster; then any cluster of the sender fits.
            is_same = (
                not instance.cluster or not channel.cluster or instance.cluster == channel.cluster
            ) and not self._is_foreign(channel.cluster)
            if is_same:
                yield index, channel


def _own_order(channel: Channel) -> tuple[int, int, int, str]:
    """Return the sort key that selects the best of several receiver channels of the sender."""
    return channel.rank, channel.priority, channel.weight, channel.name
