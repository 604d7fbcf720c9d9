"""The shapes of the answers about clusters, for their description in OpenAPI; tests hold real answers against them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.web.answers import Answer
from planner_core.clusters.answer import ModeName
from planner_core.findings import Finding
from planner_core.provenance import Assumption


class DestinationAnswer(Answer):
    """Where a message goes."""

    queue_manager: str
    channel: Annotated[str | None, Field(description="Null for the sender's own instance.")]
    cluster: str | None
    physical_queue: str


FailureKind = Annotated[
    Literal["channel", "queue_manager", "destination"],
    Field(
        description="What fails: a channel; a queue manager with all channels to it; all that leads to one physical queue."
    ),
]


class InstanceLoadAnswer(DestinationAnswer):
    """An instance with one channel to it, and what it gets."""

    shared: Annotated[bool, Field(description="It is a shared queue of this group.")]
    share_percent: float
    rate_per_s: float


class PhysicalQueueAnswer(Answer):
    """What really holds the messages: the group for a shared queue, else a queue manager."""

    name: str
    shared: bool
    share_percent: float
    rate_per_s: float


class InstanceDuringAnswer(DestinationAnswer):
    """An instance with one channel to it while something fails."""

    reached: Annotated[bool, Field(description="False: what is sent to it waits at the sender.")]
    rate_per_s: float


class FlowFailureAnswer(Answer):
    """A flow while something fails."""

    kind: FailureKind
    name: str
    chosen: Annotated[list[str], Field(description="Queue managers that messages are sent to then.")]
    rates_per_s: Annotated[dict[str, float], Field(description="By physical queue.")]
    waiting_per_s: Annotated[float, Field(description="What stays on the sender's transmission queue.")]
    burst_messages: Annotated[
        dict[str, int],
        Field(description="What arrives at once when the failure is noticed, by physical queue."),
    ]
    instances: list[InstanceDuringAnswer]


class FlowAnswer(Answer):
    """What one sender puts to a clustered queue."""

    cluster: str
    queue: str
    sender: str | None
    structure: Annotated[str | None, Field(description="Where the plan has the queue.")]
    mode: ModeName
    rate_per_s: float
    not_fixed_percent: float
    detect_seconds: int
    detect_seconds_given: Annotated[bool, Field(description="False: from HBINT, which is assumed.")]
    chosen: list[str]
    instances: list[InstanceLoadAnswer]
    physical_queues: list[PhysicalQueueAnswer]
    failures: list[FlowFailureAnswer]


class QueueDuringAnswer(Answer):
    """A shared queue while something fails."""

    queue: str
    rate_per_s: Annotated[float, Field(description="What clusters send to it.")]
    gets_per_s: Annotated[
        float | None, Field(description="What the remaining consumers take; null: not known.")
    ]
    growth_per_s: float | None
    growth_messages: Annotated[
        int | None, Field(description="By how much it grows over the outage; null: gets or outage not known.")
    ]
    burst_messages: Annotated[int, Field(description="What arrives at once when the failure is noticed.")]
    added_messages: Annotated[
        int, Field(description="Those of the burst that would not have come to this queue otherwise.")
    ]
    waiting_messages: Annotated[
        int | None, Field(description="What gathers at the senders over the outage; null: no outage given.")
    ]
    surge_messages: Annotated[
        int | None, Field(description="How much deeper those make the queue when the destination is back.")
    ]
    surge_seconds: Annotated[
        float | None, Field(description="How long they take to arrive; null: no rate of return given.")
    ]
    messages: Annotated[int, Field(description="What the structure must hold of this queue.")]


class StructureDuringAnswer(Answer):
    """A structure while something fails."""

    kind: FailureKind
    name: str
    rate_per_s: float
    change_percent: Annotated[float | None, Field(description="Against normal; null where nothing came.")]
    queues: list[QueueDuringAnswer]
    messages: int
    need_bytes: int
    holds_in_initsize: bool
    holds_in_size: bool


class SurvivesAnswer(Answer):
    """The failure for which the structure must be largest, and the sizes that survive it."""

    kind: FailureKind
    name: str
    messages: int
    need_bytes: int
    initsize_kib: int
    size_kib: int
    holds_in_initsize: Annotated[bool, Field(description="Whether the plan's own INITSIZE holds it.")]
    holds_in_size: bool


class StructureLoadAnswer(Answer):
    """What clusters put on one structure."""

    structure: str
    rate_per_s: float
    failures: list[StructureDuringAnswer]
    survives: SurvivesAnswer | None


class ClustersAnswer(Answer):
    """What the clusters of a plan put on its structures, at the plan's horizon."""

    flows: list[FlowAnswer]
    structures: list[StructureLoadAnswer]
    assumptions: list[Assumption]


class ClusterLoadAnswer(ClustersAnswer):
    """The same on its own."""

    qsg: str
    findings: Annotated[list[Finding], Field(description="Those of the plan that are about its clusters.")]
