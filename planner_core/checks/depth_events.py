"""Checks of queue depth events against the structure of their queues, and against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from planner_core.document.model import PlanDocument, Queue, Structure
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.sizing.depth_advice import Advisor, Alone, DepthAdvice, InForce
from planner_core.sizing.depth_advising import Members
from planner_core.sizing.levels import listed
from planner_core.sizing.structure_result import StructureResult
from planner_core.units import ceil_div

_PERCENT = 100


class Stated(NamedTuple):
    """A queue of the document."""

    place: int
    queue: Queue


class Case(NamedTuple):
    """A queue with depth events in the document; `messages` is its planned backlog.

    `high_at` is the depth of Queue Depth High. The event never occurs if the structure is full before it, even at SIZE
    and with this queue alone; it is late if the structure has reached the action level by then.
    """

    place: int
    queue: Queue
    messages: int
    force: InForce
    advisor: Advisor
    high_at: int | None
    is_unlimited: bool
    is_never: bool
    is_late: bool

    @classmethod
    def of(cls, place: int, queue: Queue, messages: int, advisor: Advisor, unlimited: int) -> Case:
        """Return the case of a queue with its advice; `unlimited` is the largest MAXDEPTH."""
        force = advisor.in_force[place]
        high_at = force.high_at
        is_never = high_at is not None and not advisor.size_holds(place, high_at)
        is_late = high_at is not None and not is_never and advisor.is_over_action(place, high_at)
        is_unlimited = queue.maxdepth == unlimited and queue.qdphiev == "ENABLED"
        return cls(place, queue, messages, force, advisor, high_at, is_unlimited, is_never, is_late)

    @property
    def alone(self) -> Alone:
        """Return the capacity of the structure for this queue alone."""
        return self.advisor.alone(self.place)


def check_perfmev(document: PlanDocument) -> Iterator[Finding]:
    """Yield the findings on PERFMEV of the group."""
    stated = document.perfmev
    if stated is None:
        return
    members = Members.of(document)
    if isinstance(stated, dict) and len(set(stated.values())) > 1:
        on = sorted(name for name, switch in stated.items() if switch == "ENABLED")
        off = sorted(name for name, switch in stated.items() if switch == "DISABLED")
        yield finding(
            "PERFMEV_DIFFERS",
            f"PERFMEV is ENABLED on {_some(on)} and DISABLED on {_some(off)}. Queue managers with DISABLED write no event "
            "messages for shared queues, but their events still change the event attributes of the queues. Use the same setting for all of them.",
            field="/perfmev",
        )
    if isinstance(stated, dict) and len(stated) < members.count:
        yield finding(
            "PERFMEV_NOT_STATED",
            f"PERFMEV is specified for {len(stated)} of {members.count} queue managers. The others are assumed to be DISABLED, "
            "the default.",
            field="/perfmev",
        )
    # An event that no queue manager writes still switches the queue, so a later PERFMEV(ENABLED) comes too late for it.
    waiting = any(
        "ENABLED" in (queue.qdphiev, queue.qdploev, queue.qdpmaxev)
        for structure in document.structures
        for queue in structure.queues
    )
    if not members.enabled_count and waiting:
        yield finding(
            "PERFMEV_OFF",
            "No queue manager has PERFMEV(ENABLED), but queues have depth events enabled: no event message is written, but "
            "the first event still changes the event attributes of the queue. If PERFMEV is enabled later, that event has already occurred and is not reported.",
            field="/perfmev",
        )


def check_depth_events(document: PlanDocument, structure: StructureResult) -> Iterator[Finding]:
    """Yield the findings on the depth events of a structure's queues."""
    advice, definition = structure.depth_events, structure.definition
    if not isinstance(definition, Structure):
        return
    yield from _reversed(structure.pointer, definition)
    if advice is None:
        return
    unlimited = limit("largest_maxdepth")
    cases = [
        Case.of(place, definition.queues[place], structure.queues[place].messages, advice.advisor, unlimited)
        for place in advice.stated
    ]
    if not cases:
        return
    queues = _QueueFindings(structure.pointer, definition.name, cases)
    yield from _thresholds(queues)
    yield from _switches(queues, has_perfmev=bool(Members.of(document).enabled_count))
    yield from _capacity(queues, advice)
    yield from _together(queues, advice)
    yield from _silent(queues, document)


C = TypeVar("C", Stated, Case)


class _QueueFindings(Generic[C]):
    """The queues of a structure, for findings that list all queues to which they apply."""

    def __init__(self, at: str, name: str, cases: Sequence[C]) -> None:
        self.at, self.name = at, name
        self.cases: Sequence[C] = cases

    def where(
        self, code: str, key: str, wrong: Callable[[C], bool], words: Callable[[C], str]
    ) -> Iterator[Finding]:
        """Yield one finding on the matching queues: it points to the first queue and names the others."""
        # One finding for hundreds of queues that are alike, because a finding for each would bury all others.
        found = list(filter(wrong, self.cases))
        if not found:
            return
        first, others = found[0], [case.queue.name for case in found[1:]]
        more = f" The same applies to {_some(others)}." if others else ""
        yield finding(
            code,
            f"{first.queue.name} of {self.name}: {words(first)}{more}",
            field=f"{self.at}/queues/{first.place}/{key}",
            structure=self.name,
        )


_some = partial(listed, most=3)


def _reversed(at: str, structure: Structure) -> Iterator[Finding]:
    """Check the thresholds that a document states. This is the only error about depths, and needs no advice on them."""
    found = [
        Stated(place, queue)
        for place, queue in enumerate(structure.queues)
        if queue.qdepthlo is not None and queue.qdepthhi is not None and queue.qdepthhi < queue.qdepthlo
    ]
    yield from _QueueFindings(at, structure.name, found).where(
        "QDEPTHHI_BELOW_QDEPTHLO",
        "qdepthlo",
        lambda _: True,
        lambda case: (
            f"QDEPTHHI {case.queue.qdepthhi} is below QDEPTHLO {case.queue.qdepthlo}, which MQ does not accept. Set "
            "QDEPTHLO below QDEPTHHI."
        ),
    )


def _thresholds(queues: _QueueFindings[Case]) -> Iterator[Finding]:
    """Check the thresholds of a queue against each other."""
    yield from queues.where(
        "QDEPTHHI_EQUALS_QDEPTHLO",
        "qdepthlo",
        lambda case: case.queue.qdepthhi is not None and case.queue.qdepthhi == case.queue.qdepthlo,
        lambda case: (
            f"QDEPTHHI and QDEPTHLO are both {case.queue.qdepthhi}: a depth that fluctuates around that value "
            "raises one event after another. Set QDEPTHLO well below it."
        ),
    )
    yield from queues.where(
        "QDEPTHHI_WARNS_OF_NOTHING",
        "qdepthhi",
        lambda case: case.queue.qdepthhi == 0 and case.queue.qdphiev != "DISABLED",
        lambda _: (
            "with QDEPTHHI(0), every put meets the condition: Queue Depth High is raised by the first put and shows "
            "only that the queue is in use. Set it above the normal depth."
        ),
    )
    yield from queues.where(
        "QDEPTHHI_WARNS_OF_NOTHING",
        "qdepthhi",
        _is_at_maxdepth,
        lambda case: (
            f"with QDEPTHHI({case.queue.qdepthhi}), Queue Depth High is raised by the put that brings the depth to MAXDEPTH: the next "
            "put already fails with reason 2053 and raises Queue Full. Set it lower to leave time between the two events."
        ),
    )
    yield from queues.where(
        "MAXDEPTH_BELOW_BACKLOG",
        "maxdepth",
        lambda case: case.queue.maxdepth is not None and case.queue.maxdepth < case.messages,
        lambda case: (
            f"MAXDEPTH {case.queue.maxdepth} is below the planned backlog of {case.messages} messages: puts fail with "
            "reason 2053 before the backlog is reached."
        ),
    )


def _is_at_maxdepth(case: Case) -> bool:
    """Return whether Queue Depth High occurs only on the put that fills the queue."""
    high, maxdepth = case.high_at, case.force.maxdepth
    if not case.queue.qdepthhi or case.queue.qdphiev == "DISABLED":
        return False
    return case.queue.qdepthhi == _PERCENT or (high is not None and high == maxdepth)


def _three(case: Case) -> tuple[str | None, str | None, str | None]:
    return case.queue.qdphiev, case.queue.qdploev, case.queue.qdpmaxev


def _switches(queues: _QueueFindings[Case], *, has_perfmev: bool) -> Iterator[Finding]:
    """Check the three switches of a queue against each other."""
    yield from queues.where(
        "DEPTH_EVENTS_ALL_OFF",
        "qdphiev",
        lambda case: _three(case) == ("DISABLED", "DISABLED", "DISABLED"),
        lambda _: (
            "QDPHIEV, QDPLOEV and QDPMAXEV are DISABLED: no event warns when the queue fills, and no event enables any of these attributes. "
            "Set QDPHIEV(ENABLED)."
        ),
    )
    yield from queues.where(
        "DEPTH_EVENTS_ONLY_FULL",
        "qdphiev",
        lambda case: _three(case) == ("DISABLED", "DISABLED", "ENABLED"),
        lambda _: (
            "only QDPMAXEV is ENABLED: the first event occurs when a put is rejected, and Queue Depth High stays disabled "
            "until the depth has fallen to QDEPTHLO. Set QDPHIEV(ENABLED)."
        ),
    )
    # Without PERFMEV(ENABLED) no event has a message anyway, which PERFMEV_OFF reports.
    if has_perfmev:
        yield from queues.where("DEPTH_HIGH_EVENT_SPENT", "qdphiev", _is_spent, _spent)
    yield from queues.where(
        "SERVICE_INTERVAL_ON_SHARED_QUEUE",
        "qsvciev",
        lambda case: case.queue.qsvciev in ("OK", "HIGH"),
        lambda case: (
            f"QSVCIEV({case.queue.qsvciev}) has no effect: service interval events are not supported for shared queues."
        ),
    )


def _is_spent(case: Case) -> bool:
    # At or below QDEPTHLO, a get raises Queue Depth Low and enables the High event again.
    queue, low = case.queue, case.force.low_at
    if queue.qdphiev != "DISABLED" or queue.qdploev != "ENABLED":
        return False
    return queue.curdepth is None or low is None or queue.curdepth > low


def _spent(case: Case) -> str:
    depth, low = case.queue.curdepth, case.force.low_at
    there = (
        f", and its {depth} messages are above QDEPTHLO, which means {low}"
        if depth and low is not None
        else ""
    )
    return f"QDPHIEV is DISABLED and QDPLOEV ENABLED, as after a Queue Depth High event{there}: no further High event occurs until a get lowers the depth to QDEPTHLO. To avoid the wait, set QDPHIEV(ENABLED)."


def _capacity(queues: _QueueFindings[Case], advice: DepthAdvice) -> Iterator[Finding]:
    """Check thresholds and MAXDEPTHs of single queues against the capacity of the structure."""
    largest = limit("largest_maxdepth")
    yield from queues.where(
        "MAXDEPTH_UNLIMITED_WITH_EVENTS",
        "maxdepth",
        lambda case: case.is_unlimited,
        lambda case: (
            f"MAXDEPTH({largest}) with QDPHIEV(ENABLED): thresholds are percentages of MAXDEPTH, so the lowest one above 0 "
            "means "
            f"{ceil_div(largest, _PERCENT)} messages, and at SIZE the structure holds {case.alone.in_size}. "
            f"{_rather(case, advice.advisor)}"
        ),
    )
    yield from queues.where(
        "QDEPTHHI_ABOVE_CAPACITY",
        "qdepthhi",
        lambda case: case.is_never and not case.is_unlimited,
        lambda case: (
            f"Queue Depth High is at {case.high_at} messages, but at SIZE the structure "
            f"holds only {case.alone.in_size}: it is full (reason 2192) before the event. {_rather(case, advice.advisor)}"
        ),
    )
    yield from queues.where(
        "QDEPTHHI_AFTER_ACTION_LEVEL",
        "qdepthhi",
        lambda case: case.is_late,
        lambda case: (
            f"Queue Depth High is at {case.high_at} messages, but {case.alone.at_action} of them fill "
            f"the structure to {_level(advice)}: the event occurs too late to warn of this. {_rather(case, advice.advisor)}"
        ),
    )
    yield from queues.where(
        "MAXDEPTH_ABOVE_CAPACITY",
        "maxdepth",
        _is_too_deep,
        lambda case: (
            f"MAXDEPTH({case.queue.maxdepth}) is more than the {case.alone.in_size} messages that the structure "
            "holds at SIZE: applications get reason 2192 (MQRC_STORAGE_MEDIUM_FULL), and there is no Queue Full event."
        ),
    )
    yield from queues.where(
        "NO_QDEPTHHI_SERVES",
        "maxdepth",
        lambda case: bool(
            case.queue.maxdepth
            and case.messages
            and case.force.qdepthhi is None
            and not _is_low_in_the_way(case)
        ),
        lambda case: (
            f"with MAXDEPTH({case.queue.maxdepth}), no QDEPTHHI of at least 1 and above QDEPTHLO raises Queue "
            f"Depth High before the structure reaches {_level(advice)}. {_rather(case, advice.advisor)}"
        ),
    )
    yield from queues.where(
        "NO_QDEPTHHI_SERVES",
        "qdepthlo",
        _is_low_in_the_way,
        lambda case: (
            f"QDEPTHLO({case.queue.qdepthlo}) leaves no room for a QDEPTHHI of at most {limit('default_qdepthhi_percent')}, IBM's "
            f"default; higher values warn too late. {_rather(case, advice.advisor)}"
        ),
    )


def _is_too_deep(case: Case) -> bool:
    """Return whether SIZE does not hold the MAXDEPTH of the document; an unlimited one has its own finding."""
    maxdepth = case.queue.maxdepth
    if maxdepth is None or case.is_unlimited:
        return False
    # MAXDEPTH is at least the depth of Queue Depth High.
    return case.is_never or not case.advisor.size_holds(case.place, maxdepth)


def _is_low_in_the_way(case: Case) -> bool:
    """Return whether QDEPTHLO is too high for a QDEPTHHI up to the default; MQ rejects a QDEPTHHI below QDEPTHLO."""
    queue = case.queue
    return (
        bool(case.messages)
        and queue.qdepthhi is None
        and (queue.qdepthlo or 0) >= limit("default_qdepthhi_percent")
    )


def _together(queues: _QueueFindings[Case], advice: DepthAdvice) -> Iterator[Finding]:
    """Check all queues of a structure together."""
    together = advice.together
    if together is None:
        return
    # Advised values of MAXDEPTH fit together, so the finding is only about given ones.
    has_maxdepth = any(case.queue.maxdepth is not None for case in queues.cases)
    if together.in_size_with_offload > 1 and has_maxdepth:
        few = _some(together.queues_to_full)
        yield finding(
            "MAXDEPTHS_ABOVE_CAPACITY",
            f"All queues of {queues.name} at MAXDEPTH need {_percent(together.in_initsize)} of INITSIZE without offload, and "
            f"{_percent(together.in_size_with_offload)} of SIZE with the offload rules active: the structure is full before "
            "their Queue Full events"
            + (
                f"; without offload, {few} fill{'s' if len(together.queues_to_full) == 1 else ''} INITSIZE at MAXDEPTH."
                if few
                else "."
            ),
            field=f"{queues.at}/queues",
            structure=queues.name,
        )
    # A queue whose own event is late has its own finding, and causes the gap.
    is_late = any(case.is_late or case.is_never for case in queues.cases)
    if not is_late and together.at_high * _PERCENT > advice.action_percent:
        yield finding(
            "HIGH_EVENTS_LEAVE_A_GAP",
            f"When every queue of {queues.name} is just below its QDEPTHHI, the structure is {_percent(together.at_high)} "
            f"full: it can pass {_level(advice)} before any Queue Depth High event. Use the advised values.",
            field=f"{queues.at}/queues",
            structure=queues.name,
        )
    lead = advice.lead
    if lead is not None and lead.first_high is not None and lead.first_high > lead.to_action:
        yield finding(
            "HIGH_EVENT_TOO_LATE_AT_NET_RATES",
            f"Starting empty, at the net rates of its queues, {queues.name} reaches {_level(advice)} after "
            f"{int(lead.to_action)} s, and the first Queue Depth High event, of {lead.first_queue}, occurs after "
            f"{int(lead.first_high)} s.",
            field=f"{queues.at}/queues",
            structure=queues.name,
        )


def _level(advice: DepthAdvice) -> str:
    return f"{advice.action_percent} % ({advice.action})"


def _rather(case: Case, advisor: Advisor) -> str:
    advised = advisor.advice(case.place)
    if advised.maxdepth is None or advised.qdepthhi is None:
        return "Lower MAXDEPTH."
    return f"Advised: MAXDEPTH({advised.maxdepth}) QDEPTHHI({advised.qdepthhi}) QDEPTHLO({advised.qdepthlo})."


def _percent(part: Fraction) -> str:
    return f"{float(part * _PERCENT):.0f} %"


def _silent(queues: _QueueFindings[Case], document: PlanDocument) -> Iterator[Finding]:
    """Report queues whose events are partly detected by queue managers that write no message."""
    if not isinstance(document.perfmev, dict):
        return
    members = Members.of(document)

    def silent(queue: Queue) -> tuple[Fraction | None, Fraction | None]:
        return members.silent(queue, "put_rate_per_s"), members.silent(queue, "get_rate_per_s")

    def words(case: Case) -> str:
        high, low = silent(case.queue)
        return (
            f"{_share(high)} of the puts and {_share(low)} of the gets come from queue managers without PERFMEV(ENABLED): "
            "read literally, IBM's text means that the same shares of its High and Low events change the queue's event "
            "attributes without a message."
        )

    yield from queues.where(
        "SILENT_SWITCHES",
        "queue_manager_rates",
        lambda case: bool(case.queue.queue_manager_rates) and any(silent(case.queue)),
        words,
    )


def _share(part: Fraction | None) -> str:
    return "none" if part is None else _percent(part)
