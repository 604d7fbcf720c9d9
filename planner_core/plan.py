"""A plan document and a curve in, a result out: figures, findings, and where they came from.

Need → policy. The need is what the curve says for the backlog at the horizon. INITSIZE holds
the backlog in the target share of the fuller pool, or is the need with the headroom where the
document gives one; it is at least the published minimum, rounded up to the CF's storage
increment. SIZE is INITSIZE times the size factor. A size that the document gives is checked
and never overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from planner_core import CORE_VERSION, checks, names, tables
from planner_core.admin_structure import AdminNeed, admin_need
from planner_core.demand import (
    Demand,
    QueueDemand,
    Units,
    backlog_messages,
    band_edges,
    demand_of,
    grown,
    growth_factor,
)
from planner_core.depth_events.advice import DepthAdvice
from planner_core.depth_events.advising import advise, places_said
from planner_core.document import Admin, MessageSizes, PlanDocument, Queue, Structure, System
from planner_core.filling import Fill, Snapshot, bundles_for, fill, smallest_bytes, two_pools
from planner_core.findings import Finding, in_order
from planner_core.levels import SizingLevel, preflist_of, sizing_level
from planner_core.limits import limit
from planner_core.offload import Rule, can_fire
from planner_core.placement import Allocation, Group, allocate, question
from planner_core.smds import buffer_bytes, data_set_bytes, lob_bytes, message_header_bytes, page_bytes
from planner_core.structure_size import (
    ELEMENTS,
    ENTRIES,
    Curve,
    binding_pool,
    bundles_in,
    published_curve,
    size_for,
    storage_increment_bytes,
)
from planner_core.system_structure import SystemSizes, system_queues, system_sizes
from planner_core.target import Target, target_for
from planner_core.units import bytes_to_kib_ceil, ceil_div, ceil_fraction, round_up

if TYPE_CHECKING:
    from planner_core.cluster.load import ClusterLoad
    from planner_core.fitted import CurveComparison

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
            found["depth_events"] = self.depth_events.as_json(depths=depths)
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


@dataclass(frozen=True, slots=True)
class PlanResult:
    """The whole answer. Nothing in it depends on when or where it was computed."""

    document: PlanDocument
    curve: Curve
    """The fitted curve, or the published one of the highest level that a structure is sized for; structures have their own."""
    structures: tuple[StructureResult, ...]
    allocation: Allocation = field(repr=False)
    """Where XCF allocates the structures, counted with INITSIZE and with every coupling facility there."""
    findings: tuple[Finding, ...]
    core_version: str = field(default=CORE_VERSION)
    comparison: CurveComparison | None = None
    """The same plan under the published curve beside the fitted one; only where it was asked for."""
    clusters: ClusterLoad | None = None
    """What clusters put on the structures; None where the document names none."""

    def as_json(self, *, explain: bool = False, depths: bool = False) -> dict[str, object]:
        """JSON-ready; with `explain`, every figure's formula, inputs, steps, source and basis.

        The explanations stand under the JSON pointer of the figure that they explain. `comparison` is there for a
        plan that was compared. With `depths`, the structures have advice on the depths of each queue.
        """
        places = self.allocation.places
        found: dict[str, object] = {
            "core_version": self.core_version,
            "qsg": self.document.qsg,
            "queue_managers": self.document.queue_manager_count,
            "cfcc_level": self.document.cfcc_level,
            "curve": self.curve.as_json(),
            "structures": [
                structure.as_json(depths=depths, places=places[structure.cfrm_name])
                for structure in self.structures
            ],
            "coupling_facilities": [use.as_json() for use in self.allocation.facilities],
            "totals": {
                "structures": len(self.structures),
                "initsize_kib": sum(bytes_to_kib_ceil(s.sizes.initsize_bytes) for s in self.structures),
                "size_kib": sum(bytes_to_kib_ceil(s.sizes.size_bytes) for s in self.structures),
            },
            "findings": [finding.as_json() for finding in self.findings],
        }
        if self.clusters is not None:
            found["clusters"] = self.clusters.as_json()
        if self.comparison is not None:
            found["comparison"] = self.comparison.as_json()
        if explain:
            from planner_core.explain import explain_result

            found["explanations"] = {
                item.figure: item.as_json() for item in explain_result(self, depths=depths)
            }
        return found


def evaluate(document: PlanDocument, *, curve: Curve | None = None) -> PlanResult:
    """Work out a plan.

    Args:
        document: The plan.
        curve: The fitted curve that the document names; None for published figures.

    Raises:
        PlanRefused: No such plan can exist (too many queue managers, structures or queues,
            or a fitted curve that is not at hand).
    """
    checks.refuse_impossible(document, has_curve=curve is not None)
    structures = (
        _admin(document, curve),
        *(
            _application(document, curve, index, structure)
            for index, structure in enumerate(document.structures)
        ),
        *((_system(document, curve),) if document.system.include else ()),
    )
    found: list[Finding] = list(_said_of_curves(document, curve, structures))
    found.extend(checks.check_plan(document, structures))
    found.extend(checks.check_perfmev(document))
    clusters = _clusters(document, structures)
    found.extend(clusters.findings if clusters is not None else ())
    for structure in structures:
        found.extend(checks.check_structure(document, structure))
    allocation = allocated(document, structures)
    found.extend(found_on_places(found, allocation))
    findings = in_order(checks.acknowledge(document, found) if document.acknowledged else found)
    highest = max(structures, key=lambda each: each.level.level)
    return PlanResult(
        document=document,
        curve=highest.curve,
        structures=structures,
        allocation=allocation,
        findings=findings,
        clusters=clusters,
    )


def allocated(document: PlanDocument, structures: Sequence[StructureResult]) -> Allocation:
    """Allocate the structures of a document in its coupling facilities, counted with INITSIZE."""
    group = Group(document.qsg, document.cfcc_level, document.coupling_facilities, structures)
    return allocate(question([group]))


_LARGER_THAN_CF = {
    "STRUCTURE_NOT_PLACED": "STRUCTURE_LARGER_THAN_CF",
    "STRUCTURE_NOT_PLACED_AT_SIZE": "SIZE_LARGER_THAN_CF",
}


def found_on_places(found: Sequence[Finding], allocation: Allocation) -> list[Finding]:
    """Return findings on an allocation, without those on structures that no empty coupling facility could take either."""
    known = {(each.code, each.structure) for each in found}
    return [
        each
        for each in checks.check_allocation(allocation)
        if (_LARGER_THAN_CF.get(each.code), each.structure) not in known
    ]


def _said_of_curves(
    document: PlanDocument, curve: Curve | None, structures: Sequence[StructureResult]
) -> Iterator[Finding]:
    """Findings on the curves that structures are sized with: the fitted one, or one for each level, each once."""
    if curve is not None:
        yield from checks.check_fitted(document, curve, structures)
        return
    said: dict[tuple[str, str], Finding] = {}
    for level in dict.fromkeys(structure.level for structure in structures):
        for each in published_curve(cfcc_level=level.level).findings:
            at = level.field if each.field == "/cfcc_level" else each.field
            said.setdefault((each.code, each.message), replace(each, field=at))
    yield from said.values()


def _clusters(document: PlanDocument, structures: Sequence[StructureResult]) -> ClusterLoad | None:
    if not document.clusters:
        return None
    from planner_core.cluster.load import load_of  # it works plans out itself

    return load_of(document, structures)


def evaluate_structure(
    document: PlanDocument,
    name: str,
    *,
    curve: Curve | None = None,
    advises: bool = False,
    keeps_units: bool = False,
) -> tuple[StructureResult, tuple[Finding, ...]] | None:
    """Work out one application structure alone, and what there is to say about its curve.

    Advice on the depths of its queues is there where it `advises`; what one message of each queue
    takes is there where it `keeps_units`, for those who make more of it.

    None when the plan has no application structure of that name.

    Raises:
        PlanRefused: No such plan can exist.
    """
    checks.refuse_impossible(document, has_curve=curve is not None)
    for index, structure in enumerate(document.structures):
        if structure.name == name:
            found = _application(document, curve, index, structure, advises=advises, keeps_units=keeps_units)
            return found, tuple(_said_of_curves(document, curve, [found]))
    return None


def evaluate_system(document: PlanDocument, *, curve: Curve | None = None) -> StructureResult | None:
    """Evaluate CSQSYSAPPL alone; None where the plan leaves it out."""
    return _system(document, curve) if document.system.include else None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a computed INITSIZE must hold [bytes], and the headroom or the target that made it."""

    size_bytes: int
    headroom_percent: Decimal | None
    target: Target | None


def _with_headroom(need_bytes: int, headroom_percent: Decimal) -> _Wanted:
    more = _as_fraction(headroom_percent)
    size = need_bytes + ceil_div(need_bytes * more.numerator, more.denominator * _PERCENT)
    return _Wanted(size, headroom_percent, None)


def _wanted(
    document: PlanDocument,
    need_bytes: int,
    target: Target,
    demand: Demand,
    filled: Fill | None,
    curve: Curve,
    ratio: tuple[int, int] | None,
) -> _Wanted:
    """The need with the headroom where the document gives one, else what holds the backlog at the target.

    With `filled` the rules are at work: the structure holds 100 / target times the backlog.
    """
    if document.headroom_percent is not None:
        return _with_headroom(need_bytes, document.headroom_percent)
    percent = target.percent
    if not demand.messages:  # the base alone would hold no message at all
        return _Wanted(size_for(entries=1, elements=0, curve=curve, ratio=ratio), None, target)
    if filled is not None:
        bundles = bundles_for(filled) * _PERCENT / percent
        return _Wanted(smallest_bytes(bundles, curve=curve, ratio=ratio), None, target)
    size = size_for(
        entries=demand.entries, elements=demand.elements, curve=curve, ratio=ratio, percent=percent
    )
    return _Wanted(size, None, target)


@lru_cache(maxsize=256)
def _as_fraction(number: Decimal) -> Fraction:
    return Fraction(number)


def _sizes(
    definition: Structure | Admin | System,
    *,
    need_bytes: int,
    wanted: _Wanted,
    minimum_bytes: int,
    increment_bytes: int,
    size_factor: Decimal,
) -> Sizes:
    initsize, size = definition.initsize, definition.size
    if initsize is None:
        initsize = round_up(
            max(wanted.size_bytes, minimum_bytes, definition.minsize or 0), multiple=increment_bytes
        )
        if size is not None:
            initsize = min(initsize, size)
    if size is None:
        factor = _as_fraction(size_factor)
        size = round_up(ceil_div(initsize * factor.numerator, factor.denominator), multiple=increment_bytes)
    return Sizes(
        need_bytes=need_bytes,
        initsize_bytes=initsize,
        size_bytes=size,
        minsize_bytes=definition.minsize,
        initsize_is_given=definition.initsize is not None,
        size_is_given=definition.size is not None,
        wanted_bytes=wanted.size_bytes,
        headroom_percent=wanted.headroom_percent,
        target=wanted.target,
        minimum_bytes=minimum_bytes,
        increment_bytes=increment_bytes,
        size_factor=size_factor,
    )


def _placement(document: PlanDocument, definition: Structure | Admin | System) -> Placement:
    scm = (
        definition.scm if isinstance(definition, Structure) and definition.scm.max_size is not None else None
    )
    return Placement(
        preflist=preflist_of(document, definition),
        exclist=tuple(definition.exclist),
        duplex=definition.duplex,
        full_threshold=definition.full_threshold,
        allow_auto_alter=definition.allow_auto_alter,
        duplex_site=definition.duplex_site,
        enforce_order=definition.enforce_order,
        scm_bytes=scm.max_size if scm is not None else None,
        scm_algorithm=scm.algorithm if scm is not None else None,
        augmented_bytes=(scm.augmented or 0) if scm is not None else 0,
    )


def _curve_at(level: SizingLevel, fitted: Curve | None) -> Curve:
    """The curve of a structure: the fitted one where the plan names one, else the published one of its level."""
    return fitted or published_curve(cfcc_level=level.level).curve


def _admin(document: PlanDocument, fitted: Curve | None) -> StructureResult:
    definition = document.admin
    level = sizing_level(document, definition)
    need = admin_need(
        queue_managers=document.queue_manager_count,
        cfcc_level=level.level,
        entsmax=definition.entsmax,
        elements_total=definition.elements_total,
    )
    sizes = _sizes(
        definition,
        need_bytes=need.published_bytes,
        wanted=_with_headroom(need.published_bytes, definition.headroom_percent),
        minimum_bytes=0,
        increment_bytes=storage_increment_bytes(cfcc_level=level.level),
        size_factor=document.size_factor,
    )
    found = tuple(
        replace(each, field=level.field) if each.field == "/cfcc_level" else each for each in need.findings
    )
    return StructureResult(
        role="admin",
        name=names.ADMIN_STRUCTURE,
        cfrm_name=names.cfrm_structure_name(qsg_name=document.qsg, cfstruct_name=names.ADMIN_STRUCTURE),
        pointer="/admin",
        definition=definition,
        sizes=sizes,
        placement=_placement(document, definition),
        curve=_curve_at(level, fitted),
        level=level,
        admin=replace(need, findings=found),
    )


def _application(
    document: PlanDocument,
    fitted: Curve | None,
    index: int,
    structure: Structure,
    *,
    advises: bool = True,
    keeps_units: bool = False,
) -> StructureResult:
    level = sizing_level(document, structure)
    curve = _curve_at(level, fitted)
    factor = growth_factor(percent_per_year=document.growth.percent_per_year, years=document.growth.years)
    queues = tuple(_queue_demand(queue, factor) for queue in structure.queues)
    offloads = structure.cflevel >= limit("cflevel_offload")
    rules = (
        tuple(Rule(rule.usage_over, rule.size_over) for rule in structure.offload.rules) if offloads else ()
    )
    ratio = (
        (structure.entry_to_element_ratio[0], structure.entry_to_element_ratio[1])
        if structure.entry_to_element_ratio
        else None
    )
    said = places_said(structure.queues) if advises else []
    units = _units(queues, rules, curve) if said or keeps_units else None
    demand = units.demand([queue.messages for queue in queues]) if units else _demand(queues, rules, curve)
    plain, with_offload = _fills(demand, rules, curve, ratio)
    at_work = with_offload if structure.size_with_offload and with_offload is not plain else None
    need, binding = _need(demand, at_work, curve, ratio)
    target = target_for(
        document.target_usage_percent, rules=rules, demand=demand, with_offload=structure.size_with_offload
    )
    sizes = _sizes(
        structure,
        need_bytes=need,
        wanted=_wanted(document, need, target, demand, at_work, curve, ratio),
        minimum_bytes=0,
        increment_bytes=storage_increment_bytes(cfcc_level=level.level),
        size_factor=document.size_factor,
    )
    load = _load(demand, binding, ratio, rules, (plain, with_offload), sizes, curve, units)
    at_backlog = load.at_backlog
    uses_db2 = (
        structure.offload.to == "DB2" if offloads else structure.cflevel == limit("cflevel_large_messages")
    )
    return StructureResult(
        role="application",
        name=structure.name,
        cfrm_name=names.cfrm_structure_name(qsg_name=document.qsg, cfstruct_name=structure.name),
        pointer=f"/structures/{index}",
        definition=structure,
        sizes=sizes,
        placement=_placement(document, structure),
        curve=curve,
        level=level,
        load=load,
        smds=_smds(structure, load, at_backlog) if offloads and structure.offload.to == "SMDS" else None,
        db2=_db2(load, at_backlog) if uses_db2 else None,
        at_backlog=at_backlog,
        queues=queues,
        depth_events=advise(document, structure, load, queues, said=said, curve=curve)
        if queues and advises
        else None,
    )


def _system(document: PlanDocument, fitted: Curve | None) -> StructureResult:
    definition = document.system
    level = sizing_level(document, definition)
    curve = _curve_at(level, fitted)
    queues = system_queues(
        shared_channels=definition.shared_channels, group_ur_messages=definition.group_ur_messages
    )
    demand = _demand(queues, (), curve)
    need, binding = _need(demand, None, curve, None)
    known = system_sizes(cfcc_level=level.level)
    target = Target(document.target_usage_percent)
    sizes = _sizes(
        definition,
        need_bytes=need,
        wanted=_wanted(document, need, target, demand, None, curve, None),
        minimum_bytes=max(known.start_bytes, known.minimum_bytes),
        increment_bytes=storage_increment_bytes(cfcc_level=level.level),
        size_factor=document.size_factor,
    )
    load = _load(demand, binding, None, (), _fills(demand, (), curve, None), sizes, curve)
    return StructureResult(
        role="system",
        name=names.SYSTEM_STRUCTURE,
        cfrm_name=names.cfrm_structure_name(qsg_name=document.qsg, cfstruct_name=names.SYSTEM_STRUCTURE),
        pointer="/system",
        definition=definition,
        sizes=sizes,
        placement=_placement(document, definition),
        curve=curve,
        level=level,
        system=known,
        load=load,
        at_backlog=load.at_backlog,
        queues=queues,
    )


def _queue_demand(queue: Queue, factor: Fraction) -> QueueDemand:
    messages: int | Fraction
    if queue.put_rate_per_s is not None and queue.outage_minutes is not None:
        messages = backlog_messages(put_rate_per_s=queue.put_rate_per_s, outage_minutes=queue.outage_minutes)
    else:
        messages = queue.backlog or 0
    sizes = queue.message_bytes
    return QueueDemand(
        messages=grown(messages, factor=factor),
        message_bytes=sizes.distribution() if isinstance(sizes, MessageSizes) else sizes,
    )


def _demand(queues: Sequence[QueueDemand], rules: Sequence[Rule], curve: Curve) -> Demand:
    return demand_of(
        queues,
        edges=band_edges([rule.size_bytes for rule in rules]),
        header_bytes=curve.header_bytes,
        page_bytes=page_bytes(),
        page_header_bytes=message_header_bytes(),
    )


def _units(queues: Sequence[QueueDemand], rules: Sequence[Rule], curve: Curve) -> Units:
    return Units.of(
        [queue.message_bytes for queue in queues],
        edges=band_edges([rule.size_bytes for rule in rules]),
        header_bytes=curve.header_bytes,
        page_bytes=page_bytes(),
        page_header_bytes=message_header_bytes(),
    )


def _fills(
    demand: Demand, rules: Sequence[Rule], curve: Curve, ratio: tuple[int, int] | None
) -> tuple[Fill | None, Fill | None]:
    """One bundle filling without and with the rules that this demand can meet."""
    if not demand.messages:
        return None, None
    pools = two_pools(curve.bundle_at(ratio)[1])
    plain = fill(demand, rules=(), pools=pools)
    met = [rule for rule in rules if rule.is_on and can_fire(rule, demand)]
    return plain, fill(demand, rules=met, pools=pools) if met else plain


def _need(
    demand: Demand, filled: Fill | None, curve: Curve, ratio: tuple[int, int] | None
) -> tuple[int, str]:
    """The need [bytes] and the pool that sets it; with `filled`, with offload at work."""
    if filled is not None:
        bundles = bundles_for(filled)
        need = smallest_bytes(bundles, curve=curve, ratio=ratio)
        return need, ENTRIES if bundles <= demand.messages else ELEMENTS
    need = size_for(entries=demand.entries, elements=demand.elements, curve=curve, ratio=ratio)
    return need, binding_pool(entries=demand.entries, elements=demand.elements, curve=curve, ratio=ratio)


def _load(
    demand: Demand,
    binding: str,
    ratio: tuple[int, int] | None,
    rules: tuple[Rule, ...],
    fills: tuple[Fill | None, Fill | None],
    sizes: Sizes,
    curve: Curve,
    units: Units | None = None,
) -> Load:
    return Load(
        demand=demand,
        binding=binding,
        ratio=ratio,
        rules=rules,
        plain=fills[0],
        with_offload=fills[1],
        bundles_in_initsize=bundles_in(sizes.initsize_bytes, curve=curve, ratio=ratio),
        bundles_in_size=bundles_in(sizes.size_bytes, curve=curve, ratio=ratio),
        units=units,
    )


def _offloaded_pages(load: Load, at_backlog: Snapshot | None) -> tuple[int, int]:
    """Pages of offloaded data at the planned backlog, and when a structure of SIZE is full."""
    pages = at_backlog.pages if at_backlog is not None else 0
    when_full = load.with_offload.pages(load.bundles_in_size) if load.with_offload is not None else 0
    return pages, max(pages, when_full)


def _db2(load: Load, at_backlog: Snapshot | None) -> Db2Need:
    pages, when_full = _offloaded_pages(load, at_backlog)
    return Db2Need(at_backlog_bytes=lob_bytes(pages), when_full_bytes=lob_bytes(when_full))


def _overload_pages(load: Load) -> int:
    """Pages of the planned messages that are always offloaded, and of what rules offload when more come than planned.

    Rules start where the planned backlog ends, so that their data sets would otherwise have no space when they are
    needed. The larger of INITSIZE and SIZE counts.
    """
    if load.with_offload is None:
        return 0
    percent = tables.constants("smds")["overload_percent"].value
    messages = ceil_div(load.demand.messages * percent, _PERCENT)
    always = load.demand.bands[-1].pages
    always_planned = ceil_div(always, load.demand.scale)
    always_in_overload = always * percent // (load.demand.scale * _PERCENT)
    storages = (load.bundles_in_initsize, load.bundles_in_size)
    found = [load.with_offload.at_backlog(each, messages=messages).pages for each in storages if each]
    return always_planned + max(0, max(found, default=0) - always_in_overload)


def _smds(structure: Structure, load: Load, at_backlog: Snapshot | None) -> SmdsNeed:
    block, queues = structure.offload.dsblock, len(structure.queues)
    pages, when_full = _offloaded_pages(load, at_backlog)
    overload = min(max(pages, _overload_pages(load)), when_full)
    return SmdsNeed(
        at_backlog_bytes=data_set_bytes(pages, dsblock_bytes=block, queues=queues),
        overload_bytes=data_set_bytes(overload, dsblock_bytes=block, queues=queues),
        when_full_bytes=data_set_bytes(when_full, dsblock_bytes=block, queues=queues),
        buffers_bytes=buffer_bytes(dsbufs=structure.offload.dsbufs, dsblock_bytes=block),
    )
