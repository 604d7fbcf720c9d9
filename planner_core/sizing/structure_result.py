"""The result of one structure: its sizes, its placement, what it holds, and where the figures came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from planner_core.document.model import Admin, Structure, System
from planner_core.sizing.admin_structure import AdminNeed
from planner_core.sizing.demand import Demand, QueueDemand, Units
from planner_core.sizing.depth_advice import DepthAdvice
from planner_core.sizing.filling import Fill, Snapshot
from planner_core.sizing.levels import SizingLevel
from planner_core.sizing.offload import Rule
from planner_core.sizing.structure_size import ENTRIES, Curve
from planner_core.sizing.system_structure import SystemSizes
from planner_core.sizing.target import Target
from planner_core.units import bytes_to_kib_ceil, ceil_div, ceil_fraction

Role = Literal["admin", "application", "system"]
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Sizes:
    """Need, INITSIZE, SIZE and MINSIZE of a structure [bytes], and what INITSIZE was made from.

    `wanted_bytes` holds the backlog at the target, or is the need with the headroom; that and
    `minimum_bytes` are what a computed INITSIZE rests on. One of `target` and `headroom_percent`
    is None.
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
        """The target that INITSIZE was computed with; None where INITSIZE or a headroom is given."""
        return None if self.initsize_is_given else self.target


@dataclass(frozen=True, slots=True)
class Placement:
    """The CFRM keywords that say where a structure may be, and when it counts as full."""

    preflist: tuple[str, ...]
    exclist: tuple[str, ...]
    duplex: str
    full_threshold: int
    allow_auto_alter: bool
    duplex_site: str | None = None
    enforce_order: bool = False
    scm_bytes: int | None = None
    scm_algorithm: str | None = None
    augmented_bytes: int = 0
    """CF storage that storage-class memory takes in addition to the structure."""

    def more_json(self) -> dict[str, object]:
        """JSON-ready: those keywords that few structures have, where they are set."""
        found: dict[str, object] = {}
        if self.duplex_site is not None:
            found["duplex_site"] = self.duplex_site
        if self.enforce_order:
            found["enforce_order"] = True
        if self.scm_bytes is not None:
            found["scmmaxsize_kib"] = bytes_to_kib_ceil(self.scm_bytes)
        if self.augmented_bytes:
            found["augmented_kib"] = bytes_to_kib_ceil(self.augmented_bytes)
        return found


@dataclass(frozen=True, slots=True)
class Load:
    """What an application structure holds, and how INITSIZE and SIZE fill.

    `units` are there where more than the demand is made of them.
    `bundles_in_*` are entries with their elements; the fills are for one bundle and None
    where there is no backlog. `with_offload` is `plain` where no rule can fire.
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
        """INITSIZE with the planned backlog in it, rules at work; None when it holds nothing."""
        if self.with_offload is None or not self.bundles_in_initsize:
            return None
        return self.with_offload.at_backlog(self.bundles_in_initsize)

    def messages_in_initsize(self, *, offload: bool) -> int:
        """Messages of the planned mix that INITSIZE holds."""
        return self.messages_in(self.bundles_in_initsize, offload=offload)

    def messages_in_size(self, *, offload: bool) -> int:
        """Messages of the planned mix that SIZE holds."""
        return self.messages_in(self.bundles_in_size, offload=offload)

    def messages_in(self, bundles: Fraction, *, offload: bool) -> int:
        """Messages of the planned mix that a structure of that many bundles holds."""
        filled = self.with_offload if offload else self.plain
        return filled.capacity(bundles) if filled is not None else 0


@dataclass(frozen=True, slots=True)
class SmdsNeed:
    """Shared message data sets of one structure [bytes]: space in each data set, buffers in each queue manager.

    `overload_bytes` is the space for the planned messages over 63 KB, which are always offloaded, and for what the
    offload rules offload when the backlog is 150 % of the planned one.
    """

    at_backlog_bytes: int
    overload_bytes: int
    when_full_bytes: int
    buffers_bytes: int


@dataclass(frozen=True, slots=True)
class Db2Need:
    """LOB space for the offloaded messages of one structure, once for the group [bytes]."""

    at_backlog_bytes: int
    when_full_bytes: int


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

    @property
    def offloaded_by_rules(self) -> int:
        """Messages of the planned backlog that rules offload, those aside that are too large for the structure."""
        if self.at_backlog is None or self.load is None:
            return 0
        demand = self.load.demand
        return max(0, self.at_backlog.offloaded - ceil_div(demand.bands[-1].messages, demand.scale))

    @property
    def queue_weights(self) -> Sequence[int]:
        """What each queue takes of the pool that sets the size, in one unit; empty without a backlog."""
        if self.load is None or not self.load.demand.messages:
            return ()
        if self.load.binding == ENTRIES:
            return [queue.messages for queue in self.queues]
        return self.load.demand.taken

    @property
    def peak_usage_percent(self) -> Fraction:
        """Usage of INITSIZE at the planned backlog; 100 when it does not hold it [percent]."""
        if self.at_backlog is not None:
            return self.at_backlog.usage_percent
        return Fraction(_PERCENT if self.load and self.load.demand.messages else 0)

    @property
    def offloaded_at_backlog(self) -> int:
        """Messages whose data is offloaded at the planned backlog, or when INITSIZE is full before it."""
        return self.at_backlog.offloaded if self.at_backlog is not None else 0

    def as_json(self, *, depths: bool = False, places: Sequence[str] | None = None) -> dict[str, object]:
        """JSON-ready; sizes in KiB as a policy states them, the need in bytes.

        Args:
            depths: Add advice for each queue.
            places: The coupling facilities of its first and second copy; None where it is shown without a plan.
        """
        sizes, placement = self.sizes, self.placement
        found: dict[str, object] = {
            "name": self.name,
            "cfrm_name": self.cfrm_name,
            "role": self.role,
            "cfcc_level": self.level.level,
            "need_bytes": sizes.need_bytes,
            "initsize_kib": bytes_to_kib_ceil(sizes.initsize_bytes),
            "size_kib": bytes_to_kib_ceil(sizes.size_bytes),
            "minsize_kib": None if sizes.minsize_bytes is None else bytes_to_kib_ceil(sizes.minsize_bytes),
            "initsize_given": sizes.initsize_is_given,
            "size_given": sizes.size_is_given,
            **self._target_json(),
            "full_threshold": placement.full_threshold,
            "allow_auto_alter": placement.allow_auto_alter,
            "preflist": list(placement.preflist),
            "exclist": list(placement.exclist),
            "duplex": placement.duplex,
            **placement.more_json(),
        }
        if places is not None:
            found["coupling_facility"] = places[0] if places else None
            found["second_copy"] = places[1] if len(places) > 1 else None
        if self.admin is not None:
            found["entries_required"] = self.admin.entries_required
            found["elements_required"] = self.admin.elements_required
        if self.load is not None:
            found.update(self._load_json(self.load))
        if self.smds is not None:
            found["smds"] = {
                "data_set_bytes_at_backlog": self.smds.at_backlog_bytes,
                "data_set_bytes_when_full": self.smds.when_full_bytes,
                "buffer_bytes_per_queue_manager": self.smds.buffers_bytes,
            }
        if self.db2 is not None:
            found["db2"] = {
                "lob_bytes_at_backlog": self.db2.at_backlog_bytes,
                "lob_bytes_when_full": self.db2.when_full_bytes,
            }
        if self.depth_events is not None:
            advice = self.depth_events.with_queues() if depths else self.depth_events
            found["depth_events"] = advice.as_json()
        return found

    def _target_json(self) -> dict[str, object]:
        target = self.sizes.target_in_use
        return {
            "target_usage_percent": None if target is None or target.with_offload else _plain(target.percent),
            "target_messages_percent": _plain(target.percent)
            if target is not None and target.with_offload
            else None,
            "target_lowered_by": None if target is None else target.lowered_by,
        }

    def _load_json(self, load: Load) -> dict[str, object]:
        return {
            "messages": load.demand.messages,
            "entries": load.demand.entries,
            "elements": load.demand.elements,
            "binding": load.binding,
            "curve": self.curve.id,
            "peak_usage_percent": hundredths(self.peak_usage_percent),
            "messages_in_initsize": load.messages_in_initsize(offload=False),
            "messages_in_initsize_with_offload": load.messages_in_initsize(offload=True),
            "messages_in_size": load.messages_in_size(offload=False),
            "messages_in_size_with_offload": load.messages_in_size(offload=True),
            "offload_steps": offload_steps(load.with_offload, load.bundles_in_initsize),
            "offloaded_at_backlog": self.offloaded_at_backlog,
        }


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def hundredths(value: Fraction) -> float:
    """A percentage for people and JSON: rounded up to a hundredth."""
    return ceil_fraction(value * _PERCENT) / _PERCENT


def offload_steps(filled: Fill | None, bundles: Fraction) -> list[dict[str, int]]:
    """When each rule starts, in the order of their thresholds."""
    if filled is None:
        return []
    return [
        {
            "threshold": point.rule.threshold,
            "size_bytes": point.rule.size_bytes,
            "at_messages": filled.messages_at(point, bundles),
        }
        for point in filled.starts
        if point.rule is not None
    ]
