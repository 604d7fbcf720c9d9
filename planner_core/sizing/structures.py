"""The sizes of a structure, from its definition in a plan and a curve.

The need is the storage that the curve gives for the backlog at the horizon. INITSIZE holds
the backlog in the target share of the fuller pool, or is the need with the headroom if the document gives one; it is at
least the published minimum, rounded up to the CF's storage increment. SIZE is INITSIZE times the size factor. A size
that the document gives is checked and never overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from planner_core import names, tables
from planner_core.document.model import Admin, PlanDocument, Queue, Structure, System
from planner_core.errors import PlanRefused
from planner_core.findings import finding
from planner_core.limits import limit
from planner_core.sizing.admin_structure import admin_need
from planner_core.sizing.demand import (
    Demand,
    QueueDemand,
    Units,
    band_edges,
    demand_of,
    grown,
    growth_factor,
)
from planner_core.sizing.depth_advising import UsageLevels, advise, places_with_events
from planner_core.sizing.filling import Fill, Snapshot, bundles_for, fill, smallest_bytes, two_pools
from planner_core.sizing.known_queues import KnownQueues, backlog_of, sizes_of, units_of
from planner_core.sizing.levels import SizingLevel, preflist_of, sizing_level
from planner_core.sizing.offload import Rule, firing
from planner_core.sizing.smds import buffer_bytes, data_set_bytes, lob_bytes, message_header_bytes, page_bytes
from planner_core.sizing.structure_result import Db2Need, Load, Placement, Sizes, SmdsNeed, StructureResult
from planner_core.sizing.structure_size import (
    ELEMENTS,
    ENTRIES,
    Curve,
    FittedFigures,
    binding_pool,
    bundles_in,
    published_curve,
    size_for,
    storage_increment_bytes,
    with_derived_costs,
)
from planner_core.sizing.system_structure import system_queues, system_sizes
from planner_core.sizing.target import Target, target_for
from planner_core.units import as_fraction, ceil_div, format_size, round_up

_PERCENT = 100
_MOST_GROWTH = Fraction(1, 2)
"""The share of INITSIZE that the control storage for SIZE may take; below it, the sizes agree after a few steps."""


@dataclass(frozen=True, slots=True)
class _InitsizeTarget:
    """The smallest possible computed INITSIZE [bytes], and the headroom or target that determines it."""

    size_bytes: int
    headroom_percent: Decimal | None
    target: Target | None


def _with_headroom(need_bytes: int, headroom_percent: Decimal) -> _InitsizeTarget:
    more = as_fraction(headroom_percent)
    size = need_bytes + ceil_div(need_bytes * more.numerator, more.denominator * _PERCENT)
    return _InitsizeTarget(size, headroom_percent, None)


def _wanted(
    document: PlanDocument,
    need_bytes: int,
    target: Target,
    demand: Demand,
    filled: Fill | None,
    curve: Curve,
    ratio: tuple[int, int] | None,
) -> _InitsizeTarget:
    """Return the need with the headroom if the document gives one, otherwise the size for the backlog at the target."""
    if document.headroom_percent is not None:
        return _with_headroom(need_bytes, document.headroom_percent)
    percent = target.percent
    # The base alone would not hold a single message.
    if not demand.messages:
        return _InitsizeTarget(size_for(entries=1, elements=0, curve=curve, ratio=ratio), None, target)
    # With active rules the share is one of messages, not of a pool: the last messages are offloaded and use less of it.
    if filled is not None:
        bundles = bundles_for(filled) * _PERCENT / percent
        return _InitsizeTarget(smallest_bytes(bundles, curve=curve, ratio=ratio), None, target)
    size = size_for(
        entries=demand.entries, elements=demand.elements, curve=curve, ratio=ratio, percent=percent
    )
    return _InitsizeTarget(size, None, target)


def _sizes(
    document: PlanDocument,
    definition: Structure | Admin | System,
    level: SizingLevel,
    need_bytes: int,
    wanted: _InitsizeTarget,
    *,
    minimum_bytes: int = 0,
) -> Sizes:
    increment_bytes = storage_increment_bytes(cfcc_level=level.level)
    initsize, size = definition.initsize, definition.size
    if initsize is None:
        initsize = round_up(
            max(wanted.size_bytes, minimum_bytes, definition.minsize or 0), multiple=increment_bytes
        )
        # CFRM refuses a policy with INITSIZE above SIZE, and a given SIZE is never changed.
        if size is not None:
            initsize = min(initsize, size)
    if size is None:
        factor = as_fraction(document.size_factor)
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
        size_factor=document.size_factor,
    )


def _placement(document: PlanDocument, definition: Structure | Admin | System) -> Placement:
    # Without SCMMAXSIZE a structure requests no storage-class memory, so its other keys have no effect.
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


def _curve_at(document: PlanDocument, level: SizingLevel, fitted: Curve | None) -> Curve:
    """Return the curve of a structure: the fitted one if the plan names one, or the published one of its level."""
    if fitted is not None:
        return fitted
    curve = published_curve(cfcc_level=level.level).curve
    return with_derived_costs(curve) if document.separate_costs == "derived" else curve


def _with_controls(
    document: PlanDocument,
    definition: Structure | System,
    curve: Curve,
    sizes_on: Callable[[Curve], tuple[Sizes, str]],
) -> tuple[Curve, Sizes, str]:
    """Return the curve at the SIZE of a structure, the sizes on it, and the pool that sets the need.

    z/OS takes control storage for all of SIZE from INITSIZE, and SIZE is a multiple of INITSIZE unless the document
    gives it: the smallest pair of sizes that agree is used.

    Args:
        document: The plan.
        definition: The structure.
        curve: Its curve, for any SIZE.
        sizes_on: A function that returns the sizes on a curve, and the pool that sets the need.

    Raises:
        PlanRefused: Each larger INITSIZE would need a SIZE whose control storage takes all that was added.
    """
    if curve.fit is None or curve.fit.size_cost is None:
        sizes, binding = sizes_on(curve)
        _refuse_larger_size(definition, curve, sizes)
        return curve, sizes, binding
    if definition.size is None and definition.initsize is None:
        _refuse_endless_growth(document, definition, curve.fit)
    size_bytes = definition.size or 0
    while True:
        at_size = curve.at_size(size_bytes)
        sizes, binding = sizes_on(at_size)
        # A larger SIZE never gives smaller sizes, so the first pair that agrees is the smallest.
        if sizes.size_bytes == size_bytes:
            return at_size, sizes, binding
        size_bytes = sizes.size_bytes


def _refuse_endless_growth(
    document: PlanDocument, definition: Structure | System, fit: FittedFigures
) -> None:
    """Refuse a plan in which each additional byte of INITSIZE needs half a byte or more for the SIZE that it implies."""
    factor = as_fraction(document.size_factor)
    # The headroom or the target usage applies to the control storage too.
    growth = (fit.size_cost or 0) * factor * (1 + as_fraction(document.headroom_percent or 0) / _PERCENT)
    if growth < _MOST_GROWTH:
        return
    message = (
        f"On curve {fit.version}, each byte of SIZE takes {float(fit.size_cost or 0):.3g} bytes of INITSIZE for its control storage. "
        f"With SIZE {float(factor):g} times INITSIZE, that is {float(100 * growth):.0f} % of INITSIZE. Lower size_factor, or state "
        f"SIZE of {_name_of(definition)}."
    )
    raise PlanRefused((finding("CURVE_CANNOT_SUPPORT_PLAN", message, field="/size_factor"),))


def _refuse_larger_size(definition: Structure | System, curve: Curve, sizes: Sizes) -> None:
    """Refuse a SIZE whose control storage the sizing answers of a curve do not include."""
    fit = curve.fit
    if fit is None or (fit.size_multiple is None and fit.largest_size is None):
        return
    if fit.largest_size is not None:
        most, known = Fraction(fit.largest_size), format_size(fit.largest_size)
        advice = f"State SIZE of {_name_of(definition)} as {known} or less"
    else:
        multiple = fit.size_multiple or Fraction(1)
        most, known = multiple * sizes.initsize_bytes, f"{float(multiple):.4g} times INITSIZE"
        advice = f"Set size_factor to {float(multiple):.4g} or less"
    # Both sizes of a point are rounded to the storage increment, and so are those of a plan.
    if sizes.size_bytes <= most + curve.increment_bytes:
        return
    message = (
        f"The sizing answers of curve {fit.version} have SIZE {known}, but {_name_of(definition)} has SIZE "
        f"{format_size(sizes.size_bytes)} and INITSIZE {format_size(sizes.initsize_bytes)}. z/OS takes control storage for all of SIZE "
        f"from INITSIZE, and these answers do not determine how much a larger SIZE takes. {advice}, or add sizing answers with a "
        "larger SIZE and fit again."
    )
    raise PlanRefused((finding("CURVE_CANNOT_SUPPORT_PLAN", message, field="/size_factor"),))


def _refuse_unknown_ratio(
    structure: Structure, index: int, curve: Curve, ratio: tuple[int, int] | None
) -> None:
    """Refuse a ratio for which the sizing answers of a curve determine no cost."""
    fit = curve.fit
    if fit is None or fit.sources is None or fit.element is not None or curve.is_own_ratio(ratio):
        return
    message = (
        f"{structure.name} has the entry-to-element ratio {':'.join(map(str, ratio or ()))}, but the sizing answers of curve "
        f"{fit.version} are at {curve.ratio_entries}:{curve.ratio_elements} only, which does not separate the cost of an entry from that "
        "of an element. Add sizing answers at a second ratio and fit again."
    )
    at = f"/structures/{index}/entry_to_element_ratio"
    raise PlanRefused((finding("CURVE_CANNOT_SUPPORT_PLAN", message, field=at, structure=structure.name),))


def _name_of(definition: Structure | System) -> str:
    return definition.name if isinstance(definition, Structure) else names.SYSTEM_STRUCTURE


def size_admin(document: PlanDocument, fitted: Curve | None) -> StructureResult:
    """Return the sizes of CSQ_ADMIN; a fitted curve does not change its published size."""
    definition = document.admin
    level = sizing_level(document, definition)
    # CSQ_ADMIN holds no application messages to count: IBM publishes its size by the number of queue managers.
    need = admin_need(
        queue_managers=document.queue_manager_count,
        cfcc_level=level.level,
        entsmax=definition.entsmax,
        elements_total=definition.elements_total,
    )
    wanted = _with_headroom(need.published_bytes, definition.headroom_percent)
    sizes = _sizes(document, definition, level, need.published_bytes, wanted)
    # The level may come from a coupling facility of the PREFLIST; the finding must point to the field to change.
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
        curve=_curve_at(document, level, fitted).at_size(sizes.size_bytes),
        level=level,
        admin=replace(need, findings=found),
    )


def size_application(
    document: PlanDocument,
    fitted: Curve | None,
    index: int,
    structure: Structure,
    *,
    advises: bool = True,
    keeps_units: bool = False,
    known: KnownQueues | None = None,
) -> StructureResult:
    """Return the sizes, placement and load of one application structure.

    Args:
        document: The plan.
        fitted: The fitted curve; None for the published one.
        index: The place of the structure in the document.
        structure: The structure.
        advises: Whether to add advice on the depths of its queues.
        keeps_units: Whether to keep the entries and elements of one message of each queue, for callers that calculate
            further.
        known: The queues of earlier evaluations of the plan, if it is evaluated several times.
    """
    level = sizing_level(document, structure)
    curve = _curve_at(document, level, fitted)
    factor = growth_factor(percent_per_year=document.growth.percent_per_year, years=document.growth.years)
    queues = (
        known.demands(structure, factor)
        if known is not None
        else tuple([_queue_demand(queue, factor) for queue in structure.queues])
    )
    offloads = structure.cflevel >= limit("cflevel_offload")
    rules = (
        tuple(Rule(rule.usage_over, rule.size_over) for rule in structure.offload.rules) if offloads else ()
    )
    ratio = (
        (structure.entry_to_element_ratio[0], structure.entry_to_element_ratio[1])
        if structure.entry_to_element_ratio
        else None
    )
    _refuse_unknown_ratio(structure, index, curve, ratio)
    stated = places_with_events(structure.queues) if advises else []
    # Units cost more than one demand, and pay off only for callers that add up several backlogs of the same queues.
    if known is not None:
        units: Units | None = known.units(structure, queues, rules, curve)
    else:
        units = units_of(queues, rules, curve) if stated or keeps_units else None
    demand = units.demand([queue.messages for queue in queues]) if units else _demand(queues, rules, curve)
    usage = UsageLevels.of(structure, rules, demand) if queues and advises else None
    plain, with_offload = _fills(demand, rules, curve, ratio, () if usage is None else usage.percents)
    at_work = with_offload if structure.size_with_offload and with_offload is not plain else None
    target = target_for(
        document.target_usage_percent, rules=rules, demand=demand, with_offload=structure.size_with_offload
    )

    def sizes_on(at_size: Curve) -> tuple[Sizes, str]:
        need, binding = _need(demand, at_work, at_size, ratio)
        wanted = _wanted(document, need, target, demand, at_work, at_size, ratio)
        return _sizes(document, structure, level, need, wanted), binding

    curve, sizes, binding = _with_controls(document, structure, curve, sizes_on)
    load = _load(demand, binding, ratio, rules, (plain, with_offload), sizes, curve, units)
    at_backlog = load.at_backlog
    # CFLEVEL(4) allows messages over 63 KB and stores them in Db2; offload rules need CFLEVEL(5) (DEFINE CFSTRUCT).
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
        depth_events=None
        if usage is None
        else advise(document, structure, load, queues, usage, stated=stated, curve=curve, known=known),
    )


def size_system(document: PlanDocument, fitted: Curve | None) -> StructureResult:
    """Return the sizes of CSQSYSAPPL, even if the plan does not include it."""
    definition = document.system
    level = sizing_level(document, definition)
    curve = _curve_at(document, level, fitted)
    queues = system_queues(
        shared_channels=definition.shared_channels, group_ur_messages=definition.group_ur_messages
    )
    demand = _demand(queues, (), curve)
    known = system_sizes(cfcc_level=level.level)
    target = Target(document.target_usage_percent)
    minimum = max(known.start_bytes, known.minimum_bytes)

    def sizes_on(at_size: Curve) -> tuple[Sizes, str]:
        need, binding = _need(demand, None, at_size, None)
        wanted = _wanted(document, need, target, demand, None, at_size, None)
        return _sizes(document, definition, level, need, wanted, minimum_bytes=minimum), binding

    curve, sizes, binding = _with_controls(document, definition, curve, sizes_on)
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


def planned_backlog(queue: Queue) -> Fraction:
    """Return the backlog of a queue in the plan before growth [messages, not rounded]."""
    return Fraction(*backlog_of(queue))


def _queue_demand(queue: Queue, factor: Fraction) -> QueueDemand:
    return QueueDemand(grown(*backlog_of(queue), factor=factor), sizes_of(queue))


def _demand(queues: Sequence[QueueDemand], rules: Sequence[Rule], curve: Curve) -> Demand:
    return demand_of(
        queues,
        edges=band_edges([rule.size_bytes for rule in rules]),
        header_bytes=curve.header_bytes,
        page_bytes=page_bytes(),
        page_header_bytes=message_header_bytes(),
    )


def _fills(
    demand: Demand,
    rules: Sequence[Rule],
    curve: Curve,
    ratio: tuple[int, int] | None,
    levels: Sequence[int] = (),
) -> tuple[Fill | None, Fill | None]:
    """Return the filling of one bundle without and with the rules that this demand can meet.

    The second one has the moments at which the bundle reaches `levels` [percent].
    """
    if not demand.messages:
        return None, None
    pools = two_pools(curve.bundle_at(ratio)[1])
    met = firing(rules, demand)
    with_offload = fill(demand, rules=met, pools=pools, levels=levels)
    return fill(demand, rules=(), pools=pools) if met else with_offload, with_offload


def _need(
    demand: Demand, filled: Fill | None, curve: Curve, ratio: tuple[int, int] | None
) -> tuple[int, str]:
    """Return the need [bytes] and the pool that sets it; with `filled`, with active offload rules."""
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
    """Return the pages of offloaded data at the planned backlog, and when a structure of SIZE is full."""
    pages = at_backlog.pages if at_backlog is not None else 0
    when_full = load.with_offload.pages(load.bundles_in_size) if load.with_offload is not None else 0
    return pages, max(pages, when_full)


def _db2(load: Load, at_backlog: Snapshot | None) -> Db2Need:
    pages, when_full = _offloaded_pages(load, at_backlog)
    return Db2Need(lob_bytes_at_backlog=lob_bytes(pages), lob_bytes_when_full=lob_bytes(when_full))


def _overload_pages(load: Load) -> int:
    """Return the pages of messages over 63 KB in the planned backlog, and of those that rules offload in a larger one."""
    if load.with_offload is None:
        return 0
    # Rules start where the planned backlog ends, so data sets for that backlog alone would expand in the first minutes of
    # an overload, and puts fail with reason 2192 until they have (assumptions.md, "The SMDS job").
    percent = tables.constants("smds")["overload_percent"].value
    messages = ceil_div(load.demand.messages * percent, _PERCENT)
    # Messages over 63 KB are always offloaded, so the plan states their number; only what rules add is for the overload.
    always = load.demand.bands[-1].pages
    always_planned = ceil_div(always, load.demand.scale)
    always_in_overload = always * percent // (load.demand.scale * _PERCENT)
    storages = (load.bundles_in_initsize, load.bundles_in_size)
    found = [load.with_offload.at_backlog(each, messages=messages).pages for each in storages if each]
    return always_planned + max(0, max(found, default=0) - always_in_overload)


def smds_bytes_in_overload(found: StructureResult) -> int:
    """Return the space in each data set when the backlog is larger than planned; 0 without offload to SMDS.

    It is calculated only for the job that allocates data sets, not with every plan.
    """
    if found.smds is None or found.load is None or not isinstance(found.definition, Structure):
        return 0
    pages, when_full = _offloaded_pages(found.load, found.at_backlog)
    return data_set_bytes(
        min(max(pages, _overload_pages(found.load)), when_full),
        dsblock_bytes=found.definition.offload.dsblock,
        queues=len(found.definition.queues),
    )


def _smds(structure: Structure, load: Load, at_backlog: Snapshot | None) -> SmdsNeed:
    block, queues = structure.offload.dsblock, len(structure.queues)
    pages, when_full = _offloaded_pages(load, at_backlog)
    return SmdsNeed(
        data_set_bytes_at_backlog=data_set_bytes(pages, dsblock_bytes=block, queues=queues),
        data_set_bytes_when_full=data_set_bytes(when_full, dsblock_bytes=block, queues=queues),
        buffer_bytes_per_queue_manager=buffer_bytes(dsbufs=structure.offload.dsbufs, dsblock_bytes=block),
    )
