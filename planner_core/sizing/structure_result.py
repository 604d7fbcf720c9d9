"""The result of one structure: its sizes, placement, load, and the origin of its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from planner_core.document.model import Admin, Structure, System
from planner_core.document.types import Duplex, DuplexSite
from planner_core.names import Role
from planner_core.sizing.admin_structure import AdminNeed
from planner_core.sizing.demand import Demand, QueueDemand, Units
from planner_core.sizing.depth_advice import DepthAdvice
from planner_core.sizing.filling import Fill, Snapshot
from planner_core.sizing.levels import SizingLevel
from planner_core.sizing.offload import Rule
from planner_core.sizing.structure_size import ENTRIES, Curve
from planner_core.sizing.system_structure import SystemSizes
from planner_core.sizing.target import Target
from planner_core.units import ceil_div
from planner_core.wire import Answer

_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Sizes:
    """Need, INITSIZE, SIZE and MINSIZE of a structure [bytes], and the figures behind INITSIZE.

    `wanted_bytes` is the size that holds the backlog at the target, or the need with the headroom;
    a computed INITSIZE depends on it and on `minimum_bytes`. One of `target` and
    `headroom_percent` is None.
    """

    need_bytes: int
    initsize_bytes: int
    size_bytes: int
    minsize_bytes: int | None
    initsize_is_given: bool
    size_is_given: bool
    wanted_bytes: int
    headroom_percent: Decimal | None
    target: Target | None
    minimum_bytes: int
    increment_bytes: int
    size_factor: Decimal

    @property
    def target_in_use(self) -> Target | None:
        """Return the target that INITSIZE was computed with; None if INITSIZE or a headroom is given."""
        return None if self.initsize_is_given else self.target


@dataclass(frozen=True, slots=True)
class Placement:
    """The CFRM keywords that control the placement of a structure, and the usage at which it counts as full."""

    preflist: tuple[str, ...]
    exclist: tuple[str, ...]
    duplex: Duplex
    full_threshold: int
    allow_auto_alter: bool
    duplex_site: DuplexSite | None = None
    enforce_order: bool = False
    scm_bytes: int | None = None
    scm_algorithm: str | None = None
    augmented_bytes: int = 0
    """CF storage that storage-class memory needs in addition to the structure."""


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a structure with queues, and the filling of INITSIZE and SIZE.

    `bundles_in_*` count entries with their elements. `plain` and `with_offload` are fillings of
    one bundle, None without a backlog, and the same object if no rule can start. `units` is
    kept only for callers that calculate further with it.
    """

    demand: Demand
    binding: str
    ratio: tuple[int, int] | None
    rules: tuple[Rule, ...]
    plain: Fill | None
    with_offload: Fill | None
    bundles_in_initsize: Fraction
    bundles_in_size: Fraction
    units: Units | None = field(default=None, repr=False)

    @property
    def at_backlog(self) -> Snapshot | None:
        """Return INITSIZE with the planned backlog in it and active rules; None if it holds nothing."""
        if self.with_offload is None or not self.bundles_in_initsize:
            return None
        return self.with_offload.at_backlog(self.bundles_in_initsize)

    def messages_in_initsize(self, *, offload: bool) -> int:
        """Return the number of messages of the planned mix that INITSIZE holds."""
        return self.messages_in(self.bundles_in_initsize, offload=offload)

    def messages_in_size(self, *, offload: bool) -> int:
        """Return the number of messages of the planned mix that SIZE holds."""
        return self.messages_in(self.bundles_in_size, offload=offload)

    def messages_in(self, bundles: Fraction, *, offload: bool) -> int:
        """Return the number of messages of the planned mix that a structure of that many bundles holds."""
        filled = self.with_offload if offload else self.plain
        return filled.capacity(bundles) if filled is not None else 0


@dataclass(frozen=True, slots=True)
class OffloadStep(Answer):
    """The point where an offload rule starts."""

    threshold: Annotated[int, Field(description="Percentage of the structure that must be exceeded.")]
    size_bytes: Annotated[int, Field(description="Message size that must be exceeded.")]
    at_messages: Annotated[int, Field(description="Messages in the structure when the rule starts.")]


@dataclass(frozen=True, slots=True)
class SmdsNeed(Answer):
    """Space for data that is offloaded to shared message data sets."""

    data_set_bytes_at_backlog: Annotated[
        int, Field(description="In each shared message data set, at the planned backlog.")
    ]
    data_set_bytes_when_full: Annotated[
        int, Field(description="In each data set when the structure is full at SIZE.")
    ]
    buffer_bytes_per_queue_manager: int


@dataclass(frozen=True, slots=True)
class Db2Need(Answer):
    """Space for data that is offloaded to Db2, once for the group."""

    lob_bytes_at_backlog: Annotated[int, Field(description="LOB space at the planned backlog.")]
    lob_bytes_when_full: Annotated[int, Field(description="LOB space when the structure is full at SIZE.")]


@dataclass(frozen=True, slots=True)
class StructureResult:
    """One structure of the group.

    `definition` is its entry in the document.
    """

    role: Role
    name: str
    cfrm_name: str
    pointer: str
    definition: Structure | Admin | System
    sizes: Sizes
    placement: Placement
    curve: Curve
    level: SizingLevel
    admin: AdminNeed | None = None
    system: SystemSizes | None = None
    load: Load | None = None
    smds: SmdsNeed | None = None
    db2: Db2Need | None = None
    at_backlog: Snapshot | None = None
    queues: tuple[QueueDemand, ...] = ()
    depth_events: DepthAdvice | None = None
    written: dict[tuple[str, ...], bytes] = field(init=False, default_factory=dict, repr=False, compare=False)
    """The JSON texts of its answer, by the coupling facilities of its copies (`structure_answer.structure_json`)."""

    @property
    def initsize_bytes(self) -> int:
        """INITSIZE, which decides where XCF allocates it."""
        return self.sizes.initsize_bytes

    @property
    def size_bytes(self) -> int:
        """SIZE, to which it may grow in that place."""
        return self.sizes.size_bytes

    @property
    def offloaded_by_rules(self) -> int:
        """Return how many messages of the planned backlog rules offload, without those that are always offloaded."""
        if self.at_backlog is None or self.load is None:
            return 0
        demand = self.load.demand
        return max(0, self.at_backlog.offloaded - ceil_div(demand.bands[-1].messages, demand.scale))

    @property
    def queue_weights(self) -> Sequence[int]:
        """Return the use that each queue makes of the pool that sets the size, in a common unit; empty without backlog."""
        if self.load is None or not self.load.demand.messages:
            return ()
        if self.load.binding == ENTRIES:
            return [queue.messages for queue in self.queues]
        return self.load.demand.taken

    @property
    def peak_usage_percent(self) -> Fraction:
        """Return the usage of INITSIZE at the planned backlog; 100 if it does not hold the backlog [percent]."""
        if self.at_backlog is not None:
            return self.at_backlog.usage_percent
        return Fraction(_PERCENT if self.load and self.load.demand.messages else 0)

    @property
    def offloaded_at_backlog(self) -> int:
        """Return how many messages are offloaded at the planned backlog, or when INITSIZE is full before that."""
        return self.at_backlog.offloaded if self.at_backlog is not None else 0


def offload_steps(filled: Fill | None, bundles: Fraction) -> tuple[OffloadStep, ...]:
    """Return the points where rules start, in the order of their thresholds."""
    if filled is None:
        return ()
    return tuple(
        OffloadStep(point.rule.threshold, point.rule.size_bytes, filled.messages_at(point, bundles))
        for point in filled.starts
        if point.rule is not None
    )
