"""The load of clusters on the structures of a plan: rates, bursts, surges, and the sizes that survive them.

The members of a queue-sharing group advertise the same shared queue, so messages that move from one member to another
add nothing to its structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from pydantic import Field, WithJsonSchema

from planner_core import tables
from planner_core.clusters.advice import remarks
from planner_core.clusters.answer import ModeName
from planner_core.clusters.flow import HBINT, Failure, FailureOutcome, Flow, NamedFailure, flow_of, route_of
from planner_core.clusters.model import Destination
from planner_core.document.model import Growth, PlanDocument, Queue, Structure
from planner_core.findings import Finding, finding
from planner_core.provenance import Assumption, Basis
from planner_core.sizing.demand import (
    Demand,
    QueueDemand,
    band_edges,
    demand_of,
    growth_factor,
)
from planner_core.sizing.smds import message_header_bytes, page_bytes
from planner_core.sizing.structure_result import Load, StructureResult
from planner_core.sizing.structure_size import size_for
from planner_core.sizing.structures import planned_backlog, size_application
from planner_core.units import bytes_to_kib_ceil, ceil_fraction
from planner_core.wire import Answer, Hidden, Unchecked

_PERCENT = 100
_DIGITS = 3
_MINUTE_S = 60
_ZERO = Fraction(0)
Figure = Annotated[float, Unchecked(), WithJsonSchema({"type": "number"})]
"""A number with at most three decimals; whole numbers are written without a decimal point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceLoad(Destination):
    """An instance with one channel to it, and the messages it gets."""

    shared: Annotated[bool, Field(description="Whether it is a shared queue of this group.")]
    share_percent: Figure
    rate_per_s: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicalQueue(Answer):
    """The place where messages are stored: the group for a shared queue, otherwise a queue manager."""

    name: str
    shared: bool
    share_percent: Figure
    rate_per_s: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceDuringFailure(Destination):
    """An instance with one channel to it, during a failure."""

    reached: Annotated[bool, Field(description="If false, messages sent to it wait at the sender.")]
    rate_per_s: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowDuringFailure(NamedFailure):
    """A flow during a failure."""

    chosen: Annotated[
        tuple[str, ...], Field(description="Queue managers to which messages are sent during the failure.")
    ]
    rates_per_s: Annotated[dict[str, Figure], Field(description="By physical queue.")]
    waiting_per_s: Annotated[
        Figure, Field(description="Rate at which the sender's transmission queue grows.")
    ]
    burst_messages: Annotated[
        dict[str, int],
        Field(description="Messages that arrive together when the failure is noticed, by physical queue."),
    ]
    instances: tuple[InstanceDuringFailure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowLoad(Answer):
    """The messages of one sender to a clustered queue."""

    cluster: str
    queue: str
    sender: str | None
    structure: Annotated[str | None, Field(description="The structure of the queue in the plan.")]
    mode: ModeName
    rate_per_s: Figure
    not_fixed_percent: Figure
    detect_seconds: int
    detect_seconds_given: Annotated[
        bool, Field(description="If false, it is derived from HBINT, which is assumed.")
    ]
    chosen: tuple[str, ...]
    instances: tuple[InstanceLoad, ...]
    physical_queues: tuple[PhysicalQueue, ...]
    failures: tuple[FlowDuringFailure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDuringFailure(Answer):
    """A shared queue during a failure; rates and messages are at the plan's horizon."""

    queue: str
    rate_per_s: Annotated[Figure, Field(description="Messages that clusters send to it.")]
    gets_per_s: Annotated[
        Figure | None, Field(description="Messages that the remaining consumers get; null: not known.")
    ]
    growth_per_s: Figure | None
    growth_messages: Annotated[
        int | None, Field(description="Growth over the outage; null: gets or outage are not known.")
    ]
    burst_messages: Annotated[
        int, Field(description="Messages that arrive together when the failure is noticed.")
    ]
    added_messages: Annotated[
        int, Field(description="Messages of the burst that this queue would not have received otherwise.")
    ]
    waiting_messages: Annotated[
        int | None, Field(description="Messages that collect at the senders; null if no outage is specified.")
    ]
    surge_messages: Annotated[
        int | None, Field(description="Increase in the queue depth when the destination is available again.")
    ]
    surge_seconds: Annotated[
        Figure | None, Field(description="Time until they have arrived; null if no return rate is specified.")
    ]
    messages: Annotated[int, Field(description="Messages of this queue that the structure must hold.")]
    rate: Hidden[Fraction] = _ZERO
    growth: Hidden[Fraction | None] = None
    """Messages per second by which the queue grows during the failure; None if the gets are unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureDuringFailure(NamedFailure):
    """A structure during a failure: the queues that it affects, and the storage for all queues."""

    rate_per_s: Figure
    change_percent: Annotated[
        Figure | None, Field(description="Compared with normal operation; null if no messages arrived then.")
    ]
    queues: tuple[QueueDuringFailure, ...]
    messages: int
    need_bytes: int
    holds_in_initsize: bool
    holds_in_size: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivingSizes(NamedFailure):
    """The failure for which the structure must be largest, and the sizes that survive it."""

    messages: int
    need_bytes: Annotated[
        int, Field(description="Storage that the messages need at least, without headroom.")
    ]
    initsize_kib: Annotated[
        int, Field(description="Recommended INITSIZE, with the plan's target or headroom.")
    ]
    size_kib: Annotated[int, Field(description="Recommended SIZE.")]
    planned_initsize_kib: Annotated[int, Field(description="INITSIZE of the plan.")]
    planned_size_kib: Annotated[int, Field(description="SIZE of the plan.")]
    holds_in_initsize: Annotated[
        bool, Field(description="Whether the plan's INITSIZE is at least `need_bytes`.")
    ]
    holds_in_size: Annotated[bool, Field(description="Whether the plan's SIZE is at least `need_bytes`.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureClusterLoad(Answer):
    """The load of clusters on one structure."""

    structure: str
    rate_per_s: Figure
    failures: tuple[StructureDuringFailure, ...]
    survives: SurvivingSizes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLoad(Answer):
    """The load of a plan's clusters on its structures, at the plan's horizon."""

    flows: tuple[FlowLoad, ...]
    structures: tuple[StructureClusterLoad, ...]
    assumptions: tuple[Assumption, ...]
    findings: Hidden[tuple[Finding, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLoadAnswer(ClusterLoad):
    """The load of clusters on the structures of a group."""

    qsg: str
    findings: Annotated[
        tuple[Finding, ...], Field(description="Findings of the plan that concern its clusters.")
    ]


def load_of(document: PlanDocument, structures: Sequence[StructureResult]) -> ClusterLoad:
    """Calculate the load of a plan's clusters on its structures.

    Args:
        document: The plan.
        structures: The results of its structures.
    """
    growth = growth_factor(percent_per_year=document.growth.percent_per_year, years=document.growth.years)
    flows = tuple(
        flow_of(entry, index=index, qsg=document.qsg, growth=growth)
        for index, entry in enumerate(document.clusters)
    )
    failures = tuple(dict.fromkeys(failure for flow in flows for failure in flow.failures))
    outcomes = {(flow.index, failure): flow.during(failure) for flow in flows for failure in failures}
    homes = {queue.name: structure.name for structure in document.structures for queue in structure.queues}
    loads = [
        _structure_load(document, result, flows, failures, outcomes, growth)
        for result in structures
        if isinstance(result.definition, Structure)
        and any(_reaches(flow, queue) for flow in flows for queue in result.definition.queues)
    ]
    return ClusterLoad(
        flows=tuple(
            _flow_load(
                flow,
                {failure: outcomes[flow.index, failure] for failure in flow.failures},
                qsg=document.qsg,
                structure=homes.get(flow.entry.queue),
            )
            for flow in flows
        ),
        structures=tuple(load for load, _ in loads),
        assumptions=_assumptions(flows),
        findings=(*_flow_findings(document, flows, homes), *(each for _, found in loads for each in found)),
    )


def _flow_load(
    flow: Flow, outcomes: Mapping[Failure, FailureOutcome], *, qsg: str, structure: str | None
) -> FlowLoad:
    entry = flow.entry
    whole = sum(flow.shares.values()) or Fraction(1)
    return FlowLoad(
        cluster=entry.name,
        queue=entry.queue,
        sender=entry.sender,
        structure=structure,
        mode=flow.decision.mode,
        rate_per_s=_number(flow.rate),
        not_fixed_percent=_number(Fraction(entry.not_fixed_percent)),
        detect_seconds=flow.detect_s,
        detect_seconds_given=entry.detect_seconds is not None,
        chosen=flow.decision.queue_managers,
        instances=tuple(
            InstanceLoad.of(
                each,
                shared=bool(each.instance.qsg),
                share_percent=_number(flow.shares.get(each, _ZERO) / whole * _PERCENT),
                rate_per_s=_number(flow.shares.get(each, _ZERO) * flow.rate),
            )
            for each in flow.decision.candidates
        ),
        physical_queues=tuple(
            PhysicalQueue(
                name=name,
                shared=name == qsg and any(each.shared for each in entry.instances),
                share_percent=_number(_share(amount, flow.rate) * _PERCENT),
                rate_per_s=_number(amount),
            )
            for name, amount in flow.arriving.items()
        ),
        failures=tuple(
            FlowDuringFailure(
                kind=failure.kind,
                name=failure.name,
                chosen=outcome.decision.queue_managers,
                rates_per_s={name: _number(rate) for name, rate in outcome.arriving.items()},
                waiting_per_s=_number(outcome.waiting_per_s),
                burst_messages={name: ceil_fraction(each) for name, each in outcome.burst.items()},
                instances=tuple(
                    InstanceDuringFailure.of(
                        each,
                        reached=(route := route_of(each)) not in outcome.failed,
                        rate_per_s=_number(outcome.routes.get(route, _ZERO)),
                    )
                    for each in flow.decision.candidates
                ),
            )
            for failure, outcome in outcomes.items()
        ),
    )


def _reaches(flow: Flow, queue: Queue) -> bool:
    return flow.entry.queue == queue.name and any(item.shared for item in flow.entry.instances)


def _structure_load(
    document: PlanDocument,
    result: StructureResult,
    flows: Sequence[Flow],
    failures: Sequence[Failure],
    outcomes: Mapping[tuple[int, Failure], FailureOutcome],
    growth: Fraction,
) -> tuple[StructureClusterLoad, list[Finding]]:
    definition = result.definition
    if not isinstance(definition, Structure):
        msg = "clusters send messages only to application structures"
        raise TypeError(msg)
    reached = [
        (queue, own)
        for queue in definition.queues
        if (own := [flow for flow in flows if _reaches(flow, queue)])
    ]
    around = _Around(document, definition, result, growth)
    normal = tuple(
        _queue_during(
            queue, own, [flow.normal for flow in own], failure=None, qsg=document.qsg, growth=growth
        )
        for queue, own in reached
    )
    rate = sum((each.rate for each in normal), _ZERO)
    during = []
    for failure in failures:
        touched = [
            (place, queue, own)
            for place, (queue, own) in enumerate(reached)
            # `Flow.during` returns this very object if the failure does not affect the flow.
            if any(outcomes[flow.index, failure] is not flow.normal for flow in own)
        ]
        if not touched:
            continue
        queues = tuple(
            _queue_during(
                queue,
                own,
                [outcomes[flow.index, failure] for flow in own],
                failure=failure,
                qsg=document.qsg,
                growth=growth,
            )
            for _, queue, own in touched
        )
        changed = sum(
            (each.rate - normal[place].rate for each, (place, _, _) in zip(queues, touched, strict=True)),
            _ZERO,
        )
        messages, need = around.need_with(queues)
        during.append(
            StructureDuringFailure(
                kind=failure.kind,
                name=failure.name,
                rate_per_s=_number(rate + changed),
                change_percent=_number(changed / rate * _PERCENT) if rate else None,
                queues=queues,
                messages=messages,
                need_bytes=need,
                holds_in_initsize=need <= result.sizes.initsize_bytes,
                holds_in_size=need <= result.sizes.size_bytes,
            )
        )
    # Failures are planned for one at a time, so the largest need is enough for each of them.
    worst = max(during, key=lambda each: each.need_bytes, default=None)
    survives = None
    if worst is not None:
        sized = around.sized_for(worst.queues).sizes
        survives = SurvivingSizes(
            kind=worst.kind,
            name=worst.name,
            messages=worst.messages,
            need_bytes=worst.need_bytes,
            initsize_kib=bytes_to_kib_ceil(sized.initsize_bytes),
            size_kib=bytes_to_kib_ceil(sized.size_bytes),
            planned_initsize_kib=bytes_to_kib_ceil(result.sizes.initsize_bytes),
            planned_size_kib=bytes_to_kib_ceil(result.sizes.size_bytes),
            holds_in_initsize=worst.holds_in_initsize,
            holds_in_size=worst.holds_in_size,
        )
    load = StructureClusterLoad(
        structure=result.name, rate_per_s=_number(rate), failures=tuple(during), survives=survives
    )
    return load, [
        *_rate_findings(result, around.places, reached, normal, growth),
        *_failure_findings(document, result, load, [queue.name for queue, _ in reached]),
    ]


class _Around:
    """The sizing of a structure by the rules of the plan, with some queues deeper than planned."""

    def __init__(
        self,
        document: PlanDocument,
        definition: Structure,
        result: StructureResult,
        growth: Fraction,
    ) -> None:
        if result.load is None:
            msg = "clusters send messages only to structures with queues"
            raise TypeError(msg)
        self.document, self.definition, self.curve = document, definition, result.curve
        self.load: Load = result.load
        self.planned = [
            queue.model_copy(update=_backlog_of(ceil_fraction(planned_backlog(queue) * growth)))
            for queue in definition.queues
        ]
        self.places = {queue.name: place for place, queue in enumerate(definition.queues)}
        self.base = result.queues
        self.sized: dict[tuple[tuple[str, int], ...], StructureResult] = {}

    def need_with(self, queues: Sequence[QueueDuringFailure]) -> tuple[int, int]:
        """Return the number of messages in the structure, and the storage they need [bytes]."""
        # Entries and elements of queues add up, so only the affected queues are recalculated. Offload rules depend on
        # the usage of the whole structure, so with rules everything is recalculated.
        if self.definition.size_with_offload:
            found = self.sized_for(queues)
            return _messages(found), found.sizes.need_bytes
        demand = self.load.demand
        messages, elements = demand.entries, demand.exact_elements
        for each in queues:
            was = self.base[self.places[each.queue]]
            one = self._demand_of(was)
            now = self._demand_of(was._replace(messages=each.messages))
            messages += now.entries - one.entries
            elements += now.exact_elements - one.exact_elements
        need = size_for(
            entries=messages, elements=ceil_fraction(elements), curve=self.curve, ratio=self.load.ratio
        )
        return messages, need

    def _demand_of(self, queue: QueueDemand) -> Demand:
        return demand_of(
            [queue],
            edges=band_edges([rule.size_bytes for rule in self.load.rules]),
            header_bytes=self.curve.header_bytes,
            page_bytes=page_bytes(),
            page_header_bytes=message_header_bytes(),
        )

    def sized_for(self, queues: Sequence[QueueDuringFailure]) -> StructureResult:
        """Size the structure for the depths of these queues, ignoring the sizes that the plan states."""
        key = tuple((each.queue, each.messages) for each in queues)
        # Several failures may lead to the same depths.
        if key not in self.sized:
            deeper = list(self.planned)
            for each in queues:
                place = self.places[each.queue]
                deeper[place] = deeper[place].model_copy(update=_backlog_of(each.messages))
            structure = self.definition.model_copy(
                update={"queues": deeper, "initsize": None, "size": None, "minsize": None}
            )
            # The depths include growth and the load of clusters, so the copy must not count them again.
            alone = self.document.model_copy(
                update={"structures": [structure], "clusters": [], "growth": Growth()}
            )
            # The document has the CFCC level, from which the published curve follows; a fitted one must be given.
            fitted = self.curve if self.curve.fit else None
            # Advice on queue depths would simulate a filling, and is not needed here.
            self.sized[key] = size_application(alone, fitted, 0, structure, advises=False)
        return self.sized[key]


def _backlog_of(messages: int) -> dict[str, object]:
    return {"backlog": messages, "put_rate_per_s": None, "outage_minutes": None}


def _queue_during(
    queue: Queue,
    flows: Sequence[Flow],
    outcomes: Sequence[FailureOutcome],
    *,
    failure: Failure | None,
    qsg: str,
    growth: Fraction,
) -> QueueDuringFailure:
    before = sum((flow.arriving.get(qsg, _ZERO) for flow in flows), _ZERO)
    rate = sum((outcome.arriving.get(qsg, _ZERO) for outcome in outcomes), _ZERO)
    burst = sum((outcome.burst.get(qsg, _ZERO) for outcome in outcomes), _ZERO)
    added = sum(
        # Messages that were for this queue anyway, through another member, add nothing to its depth.
        (max(outcome.burst.get(qsg, _ZERO) - outcome.due.get(qsg, _ZERO), _ZERO) for outcome in outcomes),
        _ZERO,
    )
    gets_then = _gets(queue, flows, qsg=qsg, failure=failure)
    waits, surge, surge_s = _surge(queue, flows, outcomes, qsg=qsg, before=before)
    outages = [Fraction(flow.entry.outage_minutes) for flow in flows if flow.entry.outage_minutes is not None]
    drift = (
        max(rate - gets_then, _ZERO) * max(outages) * _MINUTE_S if gets_then is not None and outages else None
    )
    backlog = _backlog(queue, flows, before=before, rate=rate, growth=growth)
    growth_now = None if gets_then is None else max(rate - gets_then, _ZERO)
    return QueueDuringFailure(
        queue=queue.name,
        rate_per_s=_number(rate),
        gets_per_s=_number_or_none(gets_then),
        growth_per_s=_number_or_none(growth_now),
        growth_messages=_whole_or_none(drift),
        burst_messages=ceil_fraction(burst),
        added_messages=ceil_fraction(added),
        waiting_messages=_whole_or_none(waits),
        surge_messages=_whole_or_none(surge),
        surge_seconds=_number_or_none(surge_s),
        # A burst comes at the start of a failure and a surge after its end: their depths are compared, not added.
        messages=ceil_fraction(
            max(
                backlog + added,
                planned_backlog(queue) * growth + (surge or _ZERO),
                burst,
                added + (drift or _ZERO),
            )
        ),
        rate=rate,
        growth=growth_now,
    )


def _backlog(
    queue: Queue, flows: Sequence[Flow], *, before: Fraction, rate: Fraction, growth: Fraction
) -> Fraction:
    """Return the planned backlog of a queue at the horizon, at its rate during a failure."""
    planned, more = planned_backlog(queue) * growth, max(rate - before, _ZERO)
    if not more:
        return planned
    if queue.outage_minutes is not None:
        return planned + more * Fraction(queue.outage_minutes) * _MINUTE_S
    if before:
        # The planned outage can happen during the failure, so the backlog grows with the rate (assumed).
        return planned * rate / before
    outages = [Fraction(flow.entry.outage_minutes) for flow in flows if flow.entry.outage_minutes is not None]
    return planned + more * max(outages, default=_ZERO) * _MINUTE_S


def _surge(
    queue: Queue, flows: Sequence[Flow], outcomes: Sequence[FailureOutcome], *, qsg: str, before: Fraction
) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Return the messages that wait for the queue, the depth they add on return, and the time in which they arrive.

    With a rate of return R, and consumers that can get `free` messages per second more than normally arrive, the queue
    grows by waits x (1 - free / R); without a rate of return, by all waiting messages.
    """
    waits, returns = _ZERO, _ZERO
    is_known, has_return = True, True
    for flow, outcome in zip(flows, outcomes, strict=True):
        amount = outcome.waiting.get(qsg, _ZERO)
        if not amount:
            continue
        outage = flow.entry.outage_minutes if flow.entry.outage_minutes is not None else queue.outage_minutes
        if outage is None:
            is_known = False
            continue
        waits += amount * Fraction(outage) * _MINUTE_S
        if flow.entry.return_rate_per_s:
            returns += Fraction(flow.entry.return_rate_per_s)
        else:
            has_return = False
    if not is_known:
        return None, None, None
    if not waits:
        return _ZERO, _ZERO, None
    if not has_return:
        return waits, waits, None
    gets = _gets(queue, flows, qsg=qsg, failure=None)
    # Consumers with unknown rates are assumed to have nothing to spare.
    free = max(gets - before, _ZERO) if gets is not None else _ZERO
    return waits, waits * max(1 - free / returns, _ZERO), waits / returns


def _gets(queue: Queue, flows: Sequence[Flow], *, qsg: str, failure: Failure | None) -> Fraction | None:
    """Return the rate of the consumers that a failure does not stop; None if unknown."""
    rates: dict[str, Fraction | None] = {}
    for flow in flows:
        for item in flow.entry.instances:
            if item.shared and item.get_rate_per_s is not None:
                rates[item.queue_manager] = Fraction(item.get_rate_per_s)
            elif item.shared:
                rates.setdefault(item.queue_manager, None)
    gone = [name for name in rates if failure is not None and failure.stops_gets_at(name, physical_queue=qsg)]
    if all(rate is not None for rate in rates.values()):
        return sum((rate or _ZERO for name, rate in rates.items() if name not in gone), _ZERO)
    # The rate of the queue covers all consumers together; when some stop, the rate of the others is not known.
    if gone or queue.get_rate_per_s is None:
        return None
    return Fraction(queue.get_rate_per_s)


def _flow_findings(
    document: PlanDocument, flows: Sequence[Flow], homes: Mapping[str, str]
) -> Iterator[Finding]:
    members = document.queue_managers if isinstance(document.queue_managers, list) else None
    for flow in flows:
        at, entry = f"/clusters/{flow.index}", flow.entry
        yield from remarks(flow.decision, field=f"{at}/instances")
        shared = [item.queue_manager for item in entry.instances if item.shared]
        if shared and entry.queue not in homes:
            yield finding(
                "CLUSTER_QUEUE_NOT_IN_PLAN",
                f"Cluster {entry.name} sends to {entry.queue}, which is not on any structure of the plan, so its "
                "messages are not counted.",
                field=f"{at}/queue",
            )
        if len(shared) > 1:
            share = _share(flow.arriving.get(document.qsg, _ZERO), flow.rate) * _PERCENT
            yield finding(
                "CLUSTER_SHARES_ONE_QUEUE",
                f"{len(shared)} members of {document.qsg} advertise {entry.queue} to {entry.name}: together they "
                f"receive {_plain(share)} % of its messages, all on one queue.",
                field=f"{at}/instances",
                structure=homes.get(entry.queue),
            )
        for place, item in enumerate(entry.instances):
            if item.shared and members is not None and item.queue_manager not in members:
                yield finding(
                    "CLUSTER_MEMBER_UNKNOWN",
                    f"{item.queue_manager} should host {entry.queue} as a shared queue, but is not one of the queue "
                    f"managers of {document.qsg}.",
                    field=f"{at}/instances/{place}/queue_manager",
                )
        if entry.detect_seconds is None and flow.shares:
            yield finding(
                "CLUSTER_DETECTION_ASSUMED",
                f"A failed channel of {entry.name} is assumed to go unnoticed for {flow.detect_s} seconds, "
                + (
                    f"from HBINT({entry.hbint})."
                    if entry.hbint
                    else f"as with HBINT({HBINT}): with HBINT(0), no heartbeat shows the failure, so it can take much longer."
                ),
                field=f"{at}/detect_seconds",
            )


def _rate_findings(
    result: StructureResult,
    places: Mapping[str, int],
    reached: Sequence[tuple[Queue, Sequence[Flow]]],
    normal: Sequence[QueueDuringFailure],
    growth: Fraction,
) -> Iterator[Finding]:
    for (queue, _), each in zip(reached, normal, strict=True):
        planned = None if queue.put_rate_per_s is None else Fraction(queue.put_rate_per_s) * growth
        if planned is not None and each.rate > planned:
            yield finding(
                "CLUSTER_RATE_ABOVE_PLAN",
                f"Clusters send {_plain(each.rate)} messages per second to {queue.name}, but the plan counts {_plain(planned)}.",
                field=f"{result.pointer}/queues/{places[queue.name]}/put_rate_per_s",
                structure=result.name,
            )


def _failure_findings(
    document: PlanDocument, result: StructureResult, load: StructureClusterLoad, queues: Sequence[str]
) -> Iterator[Finding]:
    name, worst = result.name, load.survives
    if any(each.waiting_messages is None for during in load.failures for each in during.queues):
        entries = [
            index
            for index, entry in enumerate(document.clusters)
            if entry.outage_minutes is None and entry.queue in queues
        ]
        yield finding(
            "CLUSTER_OUTAGE_MISSING",
            "Messages for "
            + ", ".join(sorted(queues))
            + " wait at the sender while a destination is unavailable; without outage_minutes, their number is unknown.",
            field=f"/clusters/{entries[0]}/outage_minutes" if entries else None,
            structure=name,
        )
    slow = [(during, each) for during in load.failures for each in during.queues if each.growth]
    if slow:
        during, each = max(slow, key=lambda pair: pair[1].growth or _ZERO)
        yield finding(
            "CLUSTER_GETS_TOO_SLOW",
            f"When {during.label} fails, {each.queue} receives {each.rate_per_s} messages per second, but its consumers get only {each.gets_per_s or 0}, so it grows by {each.growth_per_s or 0} per second.",
            structure=name,
        )
    if worst is not None and not worst.holds_in_initsize:
        fits = "SIZE does" if worst.holds_in_size else "nor does SIZE"
        yield finding(
            "CLUSTER_FAILURE_ABOVE_INITSIZE",
            f"When {worst.label} fails, {name} must hold {worst.messages} messages: "
            f"INITSIZE {bytes_to_kib_ceil(result.sizes.initsize_bytes)}K cannot hold them, {fits}. "
            f"They need {bytes_to_kib_ceil(worst.need_bytes)}K; INITSIZE {worst.initsize_kib}K and SIZE {worst.size_kib}K are recommended.",
            field=f"{result.pointer}/initsize",
            structure=name,
        )


def _assumptions(flows: Sequence[Flow]) -> tuple[Assumption, ...]:
    ours = tables.source("project", "Cluster load")
    found = [
        Assumption(
            what="A sender distributes messages over all queue managers that host a queue, including the members of a group.",
            basis=Basis.PUBLISHED,
            source=tables.source("mq_clusters_add_qsg", ""),
        ),
        Assumption(
            what="Bound messages, and messages held by rank, wait for their destination; a new destination is chosen for the "
            "rest.",
            basis=Basis.DERIVED,
            source=tables.source("mq_reallocation", "When does re-allocation occur?"),
        ),
        Assumption(
            what="The outage for which a queue is planned can occur while a destination is unavailable.",
            basis=Basis.ASSUMED,
            source=ours,
        ),
    ]
    if any(flow.entry.detect_seconds is None for flow in flows):
        found.append(
            Assumption(
                what="A failure goes unnoticed for HBINT + 60 seconds, or for twice HBINT if HBINT is below a minute; HBINT(0) is "
                "treated as HBINT(300).",
                basis=Basis.ASSUMED,
                source=ours,
            )
        )
    return tuple(found)


def _share(amount: Fraction, whole: Fraction) -> Fraction:
    return amount / whole if whole else _ZERO


def _messages(result: StructureResult) -> int:
    return result.load.demand.messages if result.load is not None else 0


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else round(float(value), _DIGITS)


def _number_or_none(value: Fraction | None) -> int | float | None:
    return None if value is None else _number(value)


def _whole_or_none(value: Fraction | None) -> int | None:
    return None if value is None else ceil_fraction(value)


def _plain(value: Fraction) -> str:
    return str(_number(value))
