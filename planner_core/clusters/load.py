"""What clusters put on the structures of a plan: rates, bursts, surges, and the sizes that survive them.

The members of a queue-sharing group advertise one and the same shared queue, so messages that move from one member to
another add nothing to its structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from planner_core import tables
from planner_core.clusters.advice import remarks
from planner_core.clusters.flow import HBINT, Failure, FailureOutcome, Flow, Route, flow_of
from planner_core.clusters.model import Candidate, Destination
from planner_core.document.model import Growth, PlanDocument, Queue, Structure
from planner_core.findings import Finding, finding
from planner_core.provenance import Assumption, Basis
from planner_core.sizing.demand import (
    Demand,
    QueueDemand,
    backlog_messages,
    band_edges,
    demand_of,
    growth_factor,
)
from planner_core.sizing.smds import message_header_bytes, page_bytes
from planner_core.sizing.structure_result import Load, StructureResult
from planner_core.sizing.structure_size import size_for
from planner_core.sizing.structures import size_application
from planner_core.units import bytes_to_kib_ceil, ceil_fraction

_PERCENT = 100
_DIGITS = 3
_MINUTE_S = 60
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDuring:
    """A shared queue while something fails; messages and rates are at the plan's horizon.

    Attributes:
        rate: What the clusters send to it [messages/s].
        before: The same in normal operation.
        burst: Messages that arrive at once when the failure is noticed.
        added: Those of them that would not have come otherwise.
        waits: Messages that gather at the senders while it lasts; None where no outage is known.
        surge: How much deeper those make the queue when the destination is back; None likewise.
        surge_s: How long they take to arrive [seconds]; None where no rate of return is given.
        drift: Messages by which the queue grows while that lasts; None where gets or outage are not known.
        gets: What the remaining consumers take [messages/s]; None where that is not known.
        deepest: The messages that the structure must hold of this queue.
    """

    queue: Queue
    rate: Fraction
    before: Fraction
    burst: Fraction
    added: Fraction
    waits: Fraction | None
    surge: Fraction | None
    surge_s: Fraction | None
    gets: Fraction | None
    drift: Fraction | None
    deepest: int

    @property
    def growth(self) -> Fraction | None:
        """Messages a second by which the queue grows meanwhile; None where the gets are not known."""
        return None if self.gets is None else max(self.rate - self.gets, _ZERO)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureDuring:
    """A structure while something fails: the queues that it touches, and what all of its queues take then."""

    failure: Failure
    queues: tuple[QueueDuring, ...]
    rate: Fraction
    messages: int
    need_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureLoad:
    """What clusters put on one structure."""

    structure: StructureResult
    rate: Fraction
    queues: tuple[QueueDuring, ...]
    during: tuple[StructureDuring, ...]
    survives: StructureResult | None
    """The structure sized for the worst of them, by the plan's own rules."""

    @property
    def worst(self) -> StructureDuring | None:
        """The failure for which the structure must be largest; None where nothing can fail."""
        return max(self.during, key=lambda each: each.need_bytes, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLoad:
    """What the clusters of a plan put on its structures. Rates and messages are at the plan's horizon."""

    qsg: str
    flows: tuple[Flow, ...]
    structures: tuple[StructureLoad, ...]
    outcomes: Mapping[tuple[int, Failure], FailureOutcome]
    homes: Mapping[str, str]
    findings: tuple[Finding, ...]
    assumptions: tuple[Assumption, ...]

    def as_json(self) -> dict[str, object]:
        """JSON-ready, without the findings: those are the plan's."""
        return {
            "flows": [self._flow_json(flow) for flow in self.flows],
            "structures": [self._structure_json(each) for each in self.structures],
            "assumptions": [item.as_json() for item in self.assumptions],
        }

    def _flow_json(self, flow: Flow) -> dict[str, object]:
        entry = flow.entry
        rate = flow.rate
        whole = sum(flow.shares.values()) or Fraction(1)
        return {
            "cluster": entry.name,
            "queue": entry.queue,
            "sender": entry.sender,
            "structure": self.homes.get(entry.queue),
            "mode": flow.decision.mode,
            "rate_per_s": _number(rate),
            "not_fixed_percent": _number(Fraction(entry.not_fixed_percent)),
            "detect_seconds": flow.detect_s,
            "detect_seconds_given": entry.detect_seconds is not None,
            "chosen": list(flow.decision.queue_managers),
            "instances": [
                {
                    **Destination.of(candidate).as_json(),
                    "shared": bool(candidate.instance.qsg),
                    "share_percent": _number(flow.shares.get(candidate, _ZERO) / whole * _PERCENT),
                    "rate_per_s": _number(flow.shares.get(candidate, _ZERO) * rate),
                }
                for candidate in flow.decision.candidates
            ],
            "physical_queues": [
                {
                    "name": name,
                    "shared": name == self.qsg and any(i.shared for i in entry.instances),
                    "share_percent": _number(_share(amount, flow.rate) * _PERCENT),
                    "rate_per_s": _number(amount),
                }
                for name, amount in flow.arriving.items()
            ],
            "failures": [
                self._outcome_json(flow, failure, self.outcomes[flow.index, failure])
                for failure in dict.fromkeys(flow.failures)
            ],
        }

    def _outcome_json(self, flow: Flow, failure: Failure, outcome: FailureOutcome) -> dict[str, object]:
        return {
            "kind": failure.kind,
            "name": failure.name,
            "chosen": list(outcome.decision.queue_managers),
            "rates_per_s": {name: _number(rate) for name, rate in outcome.arriving.items()},
            "waiting_per_s": _number(outcome.waiting_per_s),
            "burst_messages": {name: _whole(each) for name, each in outcome.burst.items()},
            "instances": [
                {
                    **Destination.of(candidate).as_json(),
                    "reached": (route := _route(candidate)) not in outcome.failed,
                    "rate_per_s": _number(outcome.routes.get(route, _ZERO)),
                }
                for candidate in flow.decision.candidates
            ],
        }

    def _structure_json(self, load: StructureLoad) -> dict[str, object]:
        worst = load.worst
        return {
            "structure": load.structure.name,
            "rate_per_s": _number(load.rate),
            "failures": [self._during_json(load, each) for each in load.during],
            "survives": None
            if worst is None or load.survives is None
            else {
                "kind": worst.failure.kind,
                "name": worst.failure.name,
                "messages": worst.messages,
                "need_bytes": worst.need_bytes,
                "initsize_kib": bytes_to_kib_ceil(load.survives.sizes.initsize_bytes),
                "size_kib": bytes_to_kib_ceil(load.survives.sizes.size_bytes),
                "holds_in_initsize": worst.need_bytes <= load.structure.sizes.initsize_bytes,
                "holds_in_size": worst.need_bytes <= load.structure.sizes.size_bytes,
            },
        }

    def _during_json(self, load: StructureLoad, each: StructureDuring) -> dict[str, object]:
        rate = each.rate
        return {
            "kind": each.failure.kind,
            "name": each.failure.name,
            "rate_per_s": _number(rate),
            "change_percent": _number((rate - load.rate) / load.rate * _PERCENT) if load.rate else None,
            "queues": [
                {
                    "queue": queue.queue.name,
                    "rate_per_s": _number(queue.rate),
                    "gets_per_s": None if queue.gets is None else _number(queue.gets),
                    "growth_per_s": None if queue.growth is None else _number(queue.growth),
                    "growth_messages": None if queue.drift is None else _whole(queue.drift),
                    "burst_messages": _whole(queue.burst),
                    "added_messages": _whole(queue.added),
                    "waiting_messages": None if queue.waits is None else _whole(queue.waits),
                    "surge_messages": None if queue.surge is None else _whole(queue.surge),
                    "surge_seconds": None if queue.surge_s is None else _number(queue.surge_s),
                    "messages": _whole(queue.deepest),
                }
                for queue in each.queues
            ],
            "messages": each.messages,
            "need_bytes": each.need_bytes,
            "holds_in_initsize": each.need_bytes <= load.structure.sizes.initsize_bytes,
            "holds_in_size": each.need_bytes <= load.structure.sizes.size_bytes,
        }


def load_of(document: PlanDocument, structures: Sequence[StructureResult]) -> ClusterLoad:
    """Work out what the clusters of a plan put on its structures.

    Args:
        document: The plan.
        structures: Its structures, worked out.
    """
    growth = growth_factor(percent_per_year=document.growth.percent_per_year, years=document.growth.years)
    flows = tuple(
        flow_of(entry, index=index, qsg=document.qsg, growth=growth)
        for index, entry in enumerate(document.clusters)
    )
    failures = tuple(dict.fromkeys(failure for flow in flows for failure in flow.failures))
    outcomes = {(flow.index, failure): flow.during(failure) for flow in flows for failure in failures}
    homes = {queue.name: structure.name for structure in document.structures for queue in structure.queues}
    loads = tuple(
        _structure_load(document, result, flows, failures, outcomes, growth)
        for result in structures
        if isinstance(result.definition, Structure)
        and any(_reaches(flow, queue) for flow in flows for queue in result.definition.queues)
    )
    return ClusterLoad(
        qsg=document.qsg,
        flows=flows,
        structures=loads,
        outcomes=outcomes,
        homes=homes,
        findings=tuple(_findings(document, flows, loads, homes, growth)),
        assumptions=_assumptions(flows),
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
) -> StructureLoad:
    definition = result.definition
    if not isinstance(definition, Structure):
        msg = "clusters send to application structures only"
        raise TypeError(msg)
    reached = [
        (queue, [flow for flow in flows if _reaches(flow, queue)])
        for queue in definition.queues
        if any(_reaches(flow, queue) for flow in flows)
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
            StructureDuring(
                failure=failure, queues=queues, rate=rate + changed, messages=messages, need_bytes=need
            )
        )
    worst = max(during, key=lambda each: each.need_bytes, default=None)
    return StructureLoad(
        structure=result,
        rate=rate,
        queues=normal,
        during=tuple(during),
        survives=around.sized_for(worst.queues) if worst is not None else None,
    )


class _Around:
    """A structure with some of its queues deeper than planned: its need, and its sizes by the plan's own rules.

    Entries and elements of queues add up, so the need without offload is the plan's own with those of a few queues
    exchanged. With offload at work a structure is worked out as a whole.
    """

    def __init__(
        self,
        document: PlanDocument,
        definition: Structure,
        result: StructureResult,
        growth: Fraction,
    ) -> None:
        if result.load is None:
            msg = "clusters send to structures with queues only"
            raise TypeError(msg)
        self.document, self.definition, self.curve = document, definition, result.curve
        self.load: Load = result.load
        self.planned = [
            queue.model_copy(update=_backlog_of(ceil_fraction(_planned(queue) * growth)))
            for queue in definition.queues
        ]
        self.places = {queue.name: place for place, queue in enumerate(definition.queues)}
        self.base = result.queues
        self.sized: dict[tuple[tuple[str, int], ...], StructureResult] = {}

    def need_with(self, queues: Sequence[QueueDuring]) -> tuple[int, int]:
        """Messages, and the need [bytes]."""
        if self.definition.size_with_offload:
            found = self.sized_for(queues)
            return _messages(found), found.sizes.need_bytes
        demand = self.load.demand
        messages, elements = demand.entries, demand.exact_elements
        for each in queues:
            was = self.base[self.places[each.queue.name]]
            one = self._demand_of(was)
            now = self._demand_of(replace(was, messages=each.deepest))
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

    def sized_for(self, queues: Sequence[QueueDuring]) -> StructureResult:
        """The structure with these queues as deep as they get, whatever sizes the plan gives it."""
        key = tuple((each.queue.name, each.deepest) for each in queues)
        if key not in self.sized:
            deeper = list(self.planned)
            for each in queues:
                place = self.places[each.queue.name]
                deeper[place] = deeper[place].model_copy(update=_backlog_of(each.deepest))
            structure = self.definition.model_copy(
                update={"queues": deeper, "initsize": None, "size": None, "minsize": None}
            )
            alone = self.document.model_copy(
                update={"structures": [structure], "clusters": [], "growth": Growth()}
            )
            fitted = self.curve if self.curve.fit else None
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
) -> QueueDuring:
    before = sum((flow.arriving.get(qsg, _ZERO) for flow in flows), _ZERO)
    rate = sum((outcome.arriving.get(qsg, _ZERO) for outcome in outcomes), _ZERO)
    burst = sum((outcome.burst.get(qsg, _ZERO) for outcome in outcomes), _ZERO)
    added = sum(
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
    return QueueDuring(
        queue=queue,
        rate=rate,
        before=before,
        burst=burst,
        added=added,
        waits=waits,
        surge=surge,
        surge_s=surge_s,
        gets=gets_then,
        drift=drift,
        deepest=ceil_fraction(
            max(backlog + added, _planned(queue) * growth + (surge or _ZERO), burst, added + (drift or _ZERO))
        ),
    )


def _planned(queue: Queue) -> Fraction:
    """The backlog that the plan gives a queue, without growth."""
    if queue.put_rate_per_s is not None and queue.outage_minutes is not None:
        return backlog_messages(put_rate_per_s=queue.put_rate_per_s, outage_minutes=queue.outage_minutes)
    return Fraction(queue.backlog or 0)


def _backlog(
    queue: Queue, flows: Sequence[Flow], *, before: Fraction, rate: Fraction, growth: Fraction
) -> Fraction:
    """The planned backlog of a queue at the horizon, at the rate that it gets while something fails."""
    planned, more = _planned(queue) * growth, max(rate - before, _ZERO)
    if not more:
        return planned
    if queue.outage_minutes is not None:
        return planned + more * Fraction(queue.outage_minutes) * _MINUTE_S
    if before:
        return planned * rate / before
    outages = [Fraction(flow.entry.outage_minutes) for flow in flows if flow.entry.outage_minutes is not None]
    return planned + more * max(outages, default=_ZERO) * _MINUTE_S


def _surge(
    queue: Queue, flows: Sequence[Flow], outcomes: Sequence[FailureOutcome], *, qsg: str, before: Fraction
) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Messages that wait for the queue, how deep they make it on return, and how long they arrive.

    With a rate of return R and consumers that take `free` beside what comes anyway, the queue gets deeper by
    waits x (1 - free / R); without either, by all of them.
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
    free = max(gets - before, _ZERO) if gets is not None else _ZERO
    return waits, waits * max(1 - free / returns, _ZERO), waits / returns


def _gets(queue: Queue, flows: Sequence[Flow], *, qsg: str, failure: Failure | None) -> Fraction | None:
    """What the consumers of the queue take, those at what failed aside; None where it is not known."""
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
    if gone or queue.get_rate_per_s is None:
        return None
    return Fraction(queue.get_rate_per_s)


def _findings(
    document: PlanDocument,
    flows: Sequence[Flow],
    loads: Sequence[StructureLoad],
    homes: Mapping[str, str],
    growth: Fraction,
) -> Iterator[Finding]:
    members = document.queue_managers if isinstance(document.queue_managers, list) else None
    for flow in flows:
        at, entry = f"/clusters/{flow.index}", flow.entry
        yield from remarks(flow.decision, field=f"{at}/instances")
        shared = [item.queue_manager for item in entry.instances if item.shared]
        if shared and entry.queue not in homes:
            yield finding(
                "CLUSTER_QUEUE_NOT_IN_PLAN",
                f"Cluster {entry.name} sends to {entry.queue}, which is on no structure of the plan: its messages are not "
                "counted.",
                field=f"{at}/queue",
            )
        if len(shared) > 1:
            share = _share(flow.arriving.get(document.qsg, _ZERO), flow.rate) * _PERCENT
            yield finding(
                "CLUSTER_SHARES_ONE_QUEUE",
                f"{len(shared)} members of {document.qsg} advertise {entry.queue} to {entry.name}: together they get "
                f"{_plain(share)} % of its messages, all on one queue.",
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
                    else f"as with HBINT({HBINT}): with HBINT(0) no heartbeat shows the failure, so it can be far longer."
                ),
                field=f"{at}/detect_seconds",
            )
    for load in loads:
        yield from _structure_findings(document, load, growth)


def _structure_findings(document: PlanDocument, load: StructureLoad, growth: Fraction) -> Iterator[Finding]:
    name, worst = load.structure.name, load.worst
    queues = {each.queue.name: each for each in load.queues}
    definition = load.structure.definition
    places = (
        {queue.name: place for place, queue in enumerate(definition.queues)}
        if isinstance(definition, Structure)
        else {}
    )
    for queue_name, each in queues.items():
        at = f"{load.structure.pointer}/queues/{places.get(queue_name, 0)}"
        given = each.queue.put_rate_per_s
        planned = None if given is None else Fraction(given) * growth
        if planned is not None and each.before > planned:
            yield finding(
                "CLUSTER_RATE_ABOVE_PLAN",
                f"Clusters send {_plain(each.before)} messages a second to {queue_name}, the plan counts {_plain(planned)}.",
                field=f"{at}/put_rate_per_s",
                structure=name,
            )
    if any(each.waits is None for during in load.during for each in during.queues):
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
    slow = [(during, each) for during in load.during for each in during.queues if each.growth]
    if slow:
        during, each = max(slow, key=lambda pair: pair[1].growth or _ZERO)
        yield finding(
            "CLUSTER_GETS_TOO_SLOW",
            f"When {words(during.failure)} fails, {each.queue.name} gets {_plain(each.rate)} messages a second but only "
            f"{_plain(each.gets or _ZERO)} are got: it grows by {_plain(each.growth or _ZERO)} a second.",
            structure=name,
        )
    if (
        worst is not None
        and load.survives is not None
        and worst.need_bytes > load.structure.sizes.initsize_bytes
    ):
        fits = "SIZE does" if worst.need_bytes <= load.structure.sizes.size_bytes else "nor does SIZE"
        yield finding(
            "CLUSTER_FAILURE_ABOVE_INITSIZE",
            f"When {words(worst.failure)} fails, {name} must hold {_plain(Fraction(worst.messages))} messages: "
            f"INITSIZE {bytes_to_kib_ceil(load.structure.sizes.initsize_bytes)}K cannot hold them, {fits}. "
            f"INITSIZE {bytes_to_kib_ceil(load.survives.sizes.initsize_bytes)}K and SIZE "
            f"{bytes_to_kib_ceil(load.survives.sizes.size_bytes)}K do.",
            field=f"{load.structure.pointer}/initsize",
            structure=name,
        )


def words(failure: Failure) -> str:
    """A failure for people."""
    if failure.kind == "channel":
        return f"channel {failure.name}"
    return (
        f"queue manager {failure.name}" if failure.kind == "queue_manager" else f"destination {failure.name}"
    )


def _assumptions(flows: Sequence[Flow]) -> tuple[Assumption, ...]:
    ours = tables.source("project", "Cluster load")
    found = [
        Assumption(
            what="A sender alternates over all queue managers that host a queue, including the members of a group.",
            basis=Basis.PUBLISHED,
            source=tables.source("mq_clusters_add_qsg", ""),
        ),
        Assumption(
            what="Bound messages, and those that rank holds, wait for their destination; a new destination is chosen for the rest.",
            basis=Basis.DERIVED,
            source=tables.source("mq_reallocation", "When does re-allocation occur?"),
        ),
        Assumption(
            what="The outage that a queue is planned for can happen while a destination is unavailable.",
            basis=Basis.ASSUMED,
            source=ours,
        ),
    ]
    if any(flow.entry.detect_seconds is None for flow in flows):
        found.append(
            Assumption(
                what="A failure goes unnoticed for HBINT + 60 seconds, or twice HBINT below a minute; HBINT(0) as HBINT(300).",
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


def _plain(value: Fraction) -> str:
    return f"{_number(value):,}".replace(",", " ")


def _whole(value: Fraction | int) -> int:
    return ceil_fraction(Fraction(value))


def _route(candidate: Candidate) -> Route:
    return candidate.queue_manager, candidate.channel.name if candidate.channel else ""
