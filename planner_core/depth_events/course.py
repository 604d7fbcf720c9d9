"""The course of a timeline of puts and gets: every event message and the switches after each step.

All calls of one step are alike, so a step of any length takes a few operations: the calls up to the one that meets a
threshold, the event, and the remaining calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import Field, computed_field

from planner_core import CORE_VERSION
from planner_core.depth_events import file as given
from planner_core.depth_events.file import WHAT, DepthEventFile, Moment, QueueDefinition, moments
from planner_core.depth_events.model import (
    Counters,
    DepthLimits,
    Event,
    EventTitle,
    Readings,
    Reason,
    Switches,
    counted,
)
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding
from planner_core.sizing.depth_advice import DepthAssumption
from planner_core.wire import Answer, Hidden, Plain, plain

MOST_EVENTS: Final = 20_000
"""The maximum number of event messages of one timeline; a timeline that causes more is refused."""
START: Final = "beginning"


Seconds = Annotated[Plain, Field(description="Seconds from the beginning of the timeline.")]
SilenceCause = Literal["not_active", "perfmev_disabled", "not_asked"]
GapCause = Literal[
    "perfmev_disabled", "not_active", "counters_reset", "counted_before", "counter_at_its_limit", "expired",
    "backed_out_puts", "backed_out_gets",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class SimulatedMessage(Answer):
    """One event message."""

    number: int
    occurrence: Annotated[int, Field(description="Number of the occurrence that it belongs to.")]
    step: int
    at: Seconds
    event: EventTitle
    queue: str
    queue_manager: Annotated[
        str, Field(description="The queue manager that writes it, to its own SYSTEM.ADMIN.PERFM.EVENT.")
    ]
    correl_id: Annotated[
        str | None,
        Field(
            description="The same for all messages of one event on a shared queue; the values that MQ generates are different."
        ),
    ]
    is_null: Annotated[
        bool, Field(description="A null event: its queue manager neither put to the queue nor got from it.")
    ]
    time_since_reset: int
    high_q_depth: int
    msg_enq_count: int
    msg_deq_count: int

    @computed_field
    @property
    def reason(self) -> Reason:
        """The reason code of Queue Full, Queue Depth High or Queue Depth Low."""
        return self.event.reason


@dataclass(frozen=True, slots=True)
class SilentMember(Answer):
    """A queue manager that wrote no message for an occurrence."""

    queue_manager: str
    why: SilenceCause


@dataclass(frozen=True, slots=True)
class Gap(Answer):
    """Messages that the counters leave out, and the cause."""

    cause: GapCause
    queue_manager: str | None
    messages: int


@dataclass(frozen=True, slots=True)
class AccountedDepth(Answer):
    """The depth that the messages of one event account for; the unreconciled remainder is the sum of the causes."""

    depth_before: int
    msg_enq_count: Annotated[int, Field(description="Sum over the messages.")]
    msg_deq_count: Annotated[int, Field(description="Sum over the messages.")]
    depth: int
    causes: tuple[Gap, ...]

    @computed_field
    @property
    def computed_depth(self) -> int:
        """The depth that follows from the messages alone."""
        return self.depth_before + self.msg_enq_count - self.msg_deq_count

    @computed_field
    @property
    def unreconciled(self) -> int:
        """The depth minus the computed depth."""
        return self.depth - self.computed_depth


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence(Switches):
    """A condition that was met while its event was enabled, the attributes after it, and its messages."""

    number: int
    step: int
    at: Seconds
    event: EventTitle
    queue: str
    detector: Annotated[str, Field(description="The queue manager whose call met the condition.")]
    depth: int
    correl_id: str | None
    written: Hidden[tuple[SimulatedMessage, ...]]
    missing: tuple[SilentMember, ...]
    reconciliation: AccountedDepth | None

    @computed_field
    @property
    def reason(self) -> Reason:
        """The reason code of Queue Full, Queue Depth High or Queue Depth Low."""
        return self.event.reason

    @computed_field
    @property
    def messages(self) -> int:
        """Number of messages; 0 if the attributes switched without a message."""
        return len(self.written)

    @computed_field
    @property
    def null_events(self) -> int:
        """Messages of queue managers that neither put nor got messages."""
        return sum(message.is_null for message in self.written)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAfterStep(Switches):
    """The state of a queue after a step."""

    step: Annotated[int, Field(description="0 is the beginning of the timeline.")]
    timeline: Annotated[int | None, Field(description="Index of the step in the file's timeline.")]
    at: Seconds
    action: str
    queue_manager: str | None
    messages: int | None
    took_effect: Annotated[
        int | None,
        Field(description="Number of calls that moved a message; the others were rejected or found none."),
    ]
    queue: str
    depth: int
    limits: Hidden[DepthLimits]
    changed: Annotated[tuple[str, ...], Field(description="Attributes that the step changed.")]
    occurrences: tuple[int, ...]
    events: Annotated[tuple[int, ...], Field(description="Numbers of the messages that the step caused.")]


@dataclass(frozen=True, slots=True)
class CourseNote:
    """An observation for a finding: its place in the file and its numbers."""

    kind: str
    index: int
    at: Fraction
    queue: str
    queue_manager: str
    messages: int
    depth: int
    reason: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation(Answer):
    """Every event message and the switches after each step."""

    core_version: str = CORE_VERSION
    readings: Readings
    events: tuple[SimulatedMessage, ...]
    occurrences: tuple[Occurrence, ...]
    switches: tuple[QueueAfterStep, ...]
    notes: Hidden[tuple[CourseNote, ...]]
    queues: Hidden[Mapping[str, QueueAfterStep]]
    """Each queue at the end of the timeline."""
    assumptions: tuple[DepthAssumption, ...] = ()
    findings: tuple[Finding, ...] = ()


def play(file: DepthEventFile, readings: Readings) -> Simulation:
    """Return the course of the timeline under these readings, without assumptions and findings.

    Raises:
        InputInvalid: A step cannot happen, such as a put through a queue manager that is not active.
    """
    return _Player(file, readings).play()


@dataclass(slots=True)
class _Queue:
    """The current state of a queue, and the changes since the last event that no counter includes."""

    definition: QueueDefinition
    depth: int
    limits: DepthLimits
    switches: Switches
    counters: dict[str, Counters]
    base_depth: int
    base_at: Fraction = Fraction(0)
    moved: dict[str, int] = field(default_factory=dict)
    uncounted: dict[GapCause, int] = field(default_factory=dict)

    @property
    def is_shared(self) -> bool:
        return self.definition.is_shared

    @property
    def first_high(self) -> int:
        """Return HighQDepth right after a reset; on a shared queue, only puts update it."""
        return 0 if self.is_shared else self.depth

    def reset(self, member: str, at: Fraction) -> None:
        self.counters[member] = Counters(since=at, high=self.first_high)

    def move(self, member: str, change: int) -> None:
        self.depth += change
        self.moved[member] = self.moved.get(member, 0) + change

    def move_uncounted(self, cause: GapCause, change: int) -> None:
        self.depth += change
        self.uncounted[cause] = self.uncounted.get(cause, 0) + change

    def see_high(self, member: str) -> None:
        counters = self.counters[member]
        counters.high = max(counters.high, self.depth)


class _Player:
    def __init__(self, file: DepthEventFile, readings: Readings) -> None:
        self.file, self.readings = file, readings
        self.perfmev = {each.name: each.perfmev == "ENABLED" for each in file.queue_managers}
        self.active = {each.name: each.active for each in file.queue_managers}
        self.queues = {each.name: self._begun(each) for each in file.queues}
        self.events: list[SimulatedMessage] = []
        self.occurrences: list[Occurrence] = []
        self.rows: list[QueueAfterStep] = []
        self.notes: list[CourseNote] = []
        self.nth = 0
        self.now = Moment(Fraction(0), 0, None)

    def _begun(self, definition: QueueDefinition) -> _Queue:
        members = list(self.active) if definition.is_shared else [str(definition.queue_manager)]
        queue = _Queue(
            definition, definition.depth, definition.limits, definition.switches, {}, definition.depth
        )
        for member in members:
            queue.reset(member, Fraction(0))
        return queue

    def play(self) -> Simulation:
        for queue in self.queues.values():
            self._row(queue, START, None, queue.switches, took_effect=None)
        for nth, moment in enumerate(moments(self.file), start=1):
            self.nth, self.now = nth, moment
            self._step(moment.step)
        return Simulation(
            readings=self.readings,
            events=tuple(self.events),
            occurrences=tuple(self.occurrences),
            switches=tuple(self.rows),
            notes=tuple(self.notes),
            queues={row.queue: row for row in self.rows},
        )

    # ---- steps -------------------------------------------------------------------------------------------------

    def _step(self, step: Any) -> None:  # noqa: ANN401 - any of the steps
        if isinstance(step, given.Call):
            queue, member = self.queues[step.queue], step.queue_manager
            if not self.active[member]:
                self._refuse("queue_manager", f"{member} is not active at {plain(self.now.at)} s")
            before = queue.switches
            took_effect = _CALLS[step.action](self, queue, member, step)
            self._row(queue, step.action, member, before, took_effect=took_effect, messages=step.messages)
        elif isinstance(step, given.AlterQueue):
            queue = self.queues[step.queue]
            before = queue.switches
            self._alter(queue, step)
            self._row(queue, step.action, None, before, took_effect=None)
        elif isinstance(step, given.ResetQstats):
            queue = self.queues[step.queue]
            self._reset_qstats(queue, step.queue_manager)
            self._row(queue, step.action, step.queue_manager, queue.switches, took_effect=None)
        else:
            self._of_queue_manager(step)
            for queue in self.queues.values():
                self._row(queue, step.action, step.queue_manager, queue.switches, took_effect=None)

    def _refuse(self, key: str, message: str) -> None:
        raise InputInvalid(WHAT, (FieldProblem(f"/timeline/{self.now.index}/{key}", message),))

    def _row(
        self,
        queue: _Queue,
        action: str,
        member: str | None,
        before: Switches,
        *,
        took_effect: int | None,
        messages: int | None = None,
    ) -> None:
        mine = [
            occurrence
            for occurrence in self._newest()
            if occurrence.step == self.nth and occurrence.queue == queue.definition.name
        ]
        old, new = asdict(before), asdict(queue.switches)
        self.rows.append(
            QueueAfterStep(
                step=self.nth,
                timeline=self.now.index if self.nth else None,
                at=self.now.at,
                action=action,
                queue_manager=member,
                messages=messages,
                took_effect=took_effect,
                queue=queue.definition.name,
                depth=queue.depth,
                limits=queue.limits,
                changed=tuple(name.upper() for name in new if new[name] != old[name]),
                occurrences=tuple(occurrence.number for occurrence in mine),
                events=tuple(message.number for occurrence in mine for message in occurrence.written),
                **new,
            )
        )

    def _newest(self) -> list[Occurrence]:
        """Return the occurrences of the current step."""
        # From the end, because a timeline may have many thousand occurrences, and a step has few.
        first = len(self.occurrences)
        while first and self.occurrences[first - 1].step == self.nth:
            first -= 1
        return self.occurrences[first:]

    def _note(self, kind: str, queue: _Queue, member: str, messages: int, reason: int = 0) -> None:
        self.notes.append(
            CourseNote(
                kind,
                self.now.index,
                self.now.at,
                queue.definition.name,
                member,
                messages,
                queue.depth,
                reason,
            )
        )

    # ---- calls -------------------------------------------------------------------------------------------------

    def _detects(self, queue: _Queue, member: str, event: Event) -> bool:
        """Return whether a call of this queue manager can cause the event."""
        # While its queue manager has PERFMEV(DISABLED), a nonshared queue neither reports nor switches.
        return queue.switches.is_armed(event) and (queue.is_shared or self.perfmev[member])

    def _put(self, queue: _Queue, member: str, step: given.Put) -> int:
        left = step.messages
        while left and queue.depth < queue.limits.maxdepth:
            now = min(left, queue.limits.maxdepth - queue.depth)
            # At least one: an event that is enabled above its threshold is due at the very next put.
            until = max(1, queue.limits.high_depth(self.readings.rounding) - queue.depth)
            meets = self._detects(queue, member, Event.HIGH) and until <= now
            now = until if meets else now
            queue.move(member, now)
            queue.counters[member].enqueued += now
            queue.see_high(member)
            left -= now
            if meets:
                self._occur(Event.HIGH, queue, member)
        if left and self._detects(queue, member, Event.FULL):
            self._occur(Event.FULL, queue, member)
        return step.messages - left

    def _rejected(self, queue: _Queue, member: str, step: given.Rejected) -> int:
        # Only reason 2053 is Queue Full: puts into a full structure get reason 2192.
        if step.reason != Event.FULL.reason:
            self._note("rejected_otherwise", queue, member, step.messages, step.reason)
        elif queue.depth < queue.limits.maxdepth:
            self._note("rejected_below", queue, member, step.messages, step.reason)
        elif self._detects(queue, member, Event.FULL):
            self._occur(Event.FULL, queue, member)
        return 0

    def _get(self, queue: _Queue, member: str, step: given.Get | given.Expire) -> int:
        is_got = isinstance(step, given.Get)
        left = wanted = min(step.messages, queue.depth)
        if wanted < step.messages:
            self._note("found_nothing", queue, member, step.messages - wanted)
        while left:
            until = max(1, queue.depth - queue.limits.low_depth())
            meets = self._detects(queue, member, Event.LOW) and until <= left
            now = until if meets else left
            if is_got:
                queue.move(member, -now)
                queue.counters[member].dequeued += now
            else:
                # MsgDeqCount counts messages that were "successfully retrieved", and these were not.
                queue.move_uncounted("expired", -now)
            left -= now
            if meets:
                self._occur(Event.LOW, queue, member)
        return wanted

    def _backout_put(self, queue: _Queue, member: str, step: given.BackoutPut) -> int:
        del member
        if step.messages > queue.depth:
            self._refuse("messages", f"only {queue.depth} messages are on {queue.definition.name}")
        # A backout switches nothing and does not change the counts (published).
        queue.move_uncounted("backed_out_puts", -step.messages)
        return step.messages

    def _backout_get(self, queue: _Queue, member: str, step: given.BackoutGet) -> int:
        queue.move_uncounted("backed_out_gets", step.messages)
        # On a shared queue only puts update HighQDepth.
        if not queue.is_shared:
            queue.see_high(member)
        return step.messages

    # ---- commands ----------------------------------------------------------------------------------------------

    def _alter(self, queue: _Queue, step: given.AlterQueue) -> None:
        now = {**asdict(queue.limits), **asdict(queue.switches)}
        changed = queue.definition.model_copy(update={**now, **step.changes})
        message = given.crossed(qdepthhi=changed.qdepthhi, qdepthlo=changed.qdepthlo)
        if message:
            self._refuse("qdepthhi" if step.qdepthhi is not None else "qdepthlo", message)
        queue.limits, queue.switches = changed.limits, changed.switches

    def _reset_qstats(self, queue: _Queue, member: str) -> None:
        for each in queue.counters if member == "*" else (member,):
            if not self.active[each]:
                if member != "*":
                    self._refuse("queue_manager", f"{each} is not active at {plain(self.now.at)} s")
            # RESET QSTATS fails where PERFMEV is DISABLED (published).
            elif self.perfmev[each]:
                queue.reset(each, self.now.at)
            else:
                self._note("reset_fails", queue, each, 0)

    def _of_queue_manager(self, step: given.AlterQmgr | given.Start | given.Stop) -> None:
        member = step.queue_manager
        if isinstance(step, given.AlterQmgr):
            if not self.active[member]:
                self._refuse("queue_manager", f"{member} is not active at {plain(self.now.at)} s")
            self.perfmev[member] = step.perfmev == "ENABLED"
            return
        starts = isinstance(step, given.Start)
        if self.active[member] is starts:
            state = "active already" if starts else "not active"
            self._refuse("queue_manager", f"{member} is {state} at {plain(self.now.at)} s")
        self.active[member] = starts
        for queue in self.queues.values():
            # A restart resets the counters of its queue manager (IBM MQ, Performance event statistics).
            if starts and member in queue.counters:
                queue.reset(member, self.now.at)

    # ---- events ------------------------------------------------------------------------------------------------

    def _occur(self, event: Event, queue: _Queue, detector: str) -> None:
        queue.switches = queue.switches.after(event)
        writers = self._writers(queue, detector)
        number = len(self.occurrences) + 1
        correl_id = f"{number:048X}" if queue.is_shared and writers else None
        messages = tuple(
            self._message(event, queue, writer, number, correl_id, len(self.events) + nth)
            for nth, writer in enumerate(writers, start=1)
        )
        self.occurrences.append(
            Occurrence(
                number=number,
                step=self.nth,
                at=self.now.at,
                event=event,
                queue=queue.definition.name,
                detector=detector,
                depth=queue.depth,
                correl_id=correl_id,
                written=messages,
                missing=tuple(self._missing(queue, writers)),
                reconciliation=self._reconciled(queue, messages) if messages else None,
                **asdict(queue.switches),
            )
        )
        self.events += messages
        if len(self.events) > MOST_EVENTS:
            self._refuse("messages", f"the timeline up to here causes more than {MOST_EVENTS} event messages")
        # A reset without a message would lose counts that no message has reported (assumed, see docs/decisions/0013).
        if messages:
            self._reset_after_event(queue)

    def _writers(self, queue: _Queue, detector: str) -> list[str]:
        """Return the queue managers that write a message, the detecting one first."""
        if not queue.is_shared:
            return [detector]
        # In IBM's order of steps, message and broadcast are both under "if enabled" (docs/decisions/0013).
        if not self.perfmev[detector] and self.readings.disabled_detector == "silent":
            return []
        able = [each for each in queue.counters if self.active[each] and self.perfmev[each]]
        # The coordinating queue manager writes its own message before it asks the others for theirs.
        return sorted(able, key=lambda each: each != detector)

    def _missing(self, queue: _Queue, writers: list[str]) -> Iterator[SilentMember]:
        for member in queue.counters:
            if member in writers:
                continue
            if not self.active[member]:
                yield SilentMember(member, "not_active")
            elif not self.perfmev[member]:
                yield SilentMember(member, "perfmev_disabled")
            else:
                yield SilentMember(member, "not_asked")

    def _message(
        self, event: Event, queue: _Queue, writer: str, occurrence: int, correl_id: str | None, number: int
    ) -> SimulatedMessage:
        counters = queue.counters[writer]
        return SimulatedMessage(
            number=number,
            occurrence=occurrence,
            step=self.nth,
            at=self.now.at,
            event=event,
            queue=queue.definition.name,
            queue_manager=writer,
            correl_id=correl_id,
            is_null=queue.is_shared and not counters.enqueued and not counters.dequeued,
            time_since_reset=int(self.now.at - counters.since),
            high_q_depth=counted(counters.high),
            msg_enq_count=counted(counters.enqueued),
            msg_deq_count=counted(counters.dequeued),
        )

    def _reset_after_event(self, queue: _Queue) -> None:
        resets_all = self.readings.statistics_of_disabled == "reset"
        for member in queue.counters:
            if self.active[member] and (self.perfmev[member] or resets_all):
                queue.reset(member, self.now.at)
        queue.base_depth, queue.base_at = queue.depth, self.now.at
        queue.moved, queue.uncounted = {}, {}

    def _reconciled(self, queue: _Queue, messages: tuple[SimulatedMessage, ...]) -> AccountedDepth:
        reported = {message.queue_manager: message for message in messages}
        causes: list[Gap] = []
        for member, counters in queue.counters.items():
            moved, message = queue.moved.get(member, 0), reported.get(member)
            if message is None:
                causes.append(Gap("perfmev_disabled" if self.active[member] else "not_active", member, moved))
                continue
            reported_net = message.msg_enq_count - message.msg_deq_count
            causes.append(Gap("counter_at_its_limit", member, counters.net - reported_net))
            was_reset = counters.since > queue.base_at
            causes.append(
                Gap("counters_reset" if was_reset else "counted_before", member, moved - counters.net)
            )
        causes += [Gap(cause, None, number) for cause, number in queue.uncounted.items()]
        return AccountedDepth(
            depth_before=queue.base_depth,
            msg_enq_count=sum(message.msg_enq_count for message in messages),
            msg_deq_count=sum(message.msg_deq_count for message in messages),
            depth=queue.depth,
            causes=tuple(cause for cause in causes if cause.messages),
        )


_CALLS: Final[dict[str, Callable[[_Player, _Queue, str, Any], int]]] = {
    "put": _Player._put,
    "rejected": _Player._rejected,
    "get": _Player._get,
    "expire": _Player._get,
    "backout_put": _Player._backout_put,
    "backout_get": _Player._backout_get,
}
