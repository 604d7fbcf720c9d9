"""A timeline of puts and gets → every event message and the switches after each step.

Calls of one step are alike, so a step of any length takes a few operations: up to the first call that meets a
threshold, the event, and on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from planner_core.depth_events import file as given
from planner_core.depth_events.file import WHAT, DepthEventFile, Moment, QueueDefinition, moments
from planner_core.depth_events.model import (
    Counters,
    DepthLimits,
    DisabledDetector,
    Event,
    Readings,
    StatisticsOfDisabled,
    Switches,
    counted,
)
from planner_core.errors import FieldProblem, InputInvalid

MOST_EVENTS: Final = 20_000
"""Event messages of one timeline; one that gives more is refused."""
START: Final = "beginning"


@dataclass(frozen=True, slots=True)
class SimulatedEventMessage:
    """One message on the SYSTEM.ADMIN.PERFM.EVENT of `queue_manager`."""

    number: int
    occurrence: int
    step: int
    at: Fraction
    event: Event
    queue: str
    queue_manager: str
    correl_id: str | None
    is_null: bool
    time_since_reset: int
    high_q_depth: int
    msg_enq_count: int
    msg_deq_count: int

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "number": self.number,
            "occurrence": self.occurrence,
            "step": self.step,
            "at": plain_seconds(self.at),
            "reason": self.event.reason,
            "event": self.event.title,
            "queue": self.queue,
            "queue_manager": self.queue_manager,
            "correl_id": self.correl_id,
            "is_null": self.is_null,
            "time_since_reset": self.time_since_reset,
            "high_q_depth": self.high_q_depth,
            "msg_enq_count": self.msg_enq_count,
            "msg_deq_count": self.msg_deq_count,
        }


@dataclass(frozen=True, slots=True)
class Cause:
    """Why reported puts less gets are not the change of the depth: so many messages, and whose."""

    cause: str
    queue_manager: str | None
    messages: int

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {"cause": self.cause, "queue_manager": self.queue_manager, "messages": self.messages}


@dataclass(frozen=True, slots=True)
class AccountedDepth:
    """The depth that the messages of one event account for, and what they leave out."""

    depth_before: int
    enqueued: int
    dequeued: int
    depth: int
    causes: tuple[Cause, ...]

    @property
    def computed_depth(self) -> int:
        """What one would take the depth to be from the messages alone."""
        return self.depth_before + self.enqueued - self.dequeued

    @property
    def unreconciled(self) -> int:
        """The depth less the computed one."""
        return self.depth - self.computed_depth

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "depth_before": self.depth_before,
            "msg_enq_count": self.enqueued,
            "msg_deq_count": self.dequeued,
            "computed_depth": self.computed_depth,
            "depth": self.depth,
            "unreconciled": self.unreconciled,
            "causes": [cause.as_json() for cause in self.causes],
        }


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A condition that was met while its event was armed: what it switched and how many messages came of it."""

    number: int
    step: int
    at: Fraction
    event: Event
    queue: str
    detector: str
    depth: int
    switches: Switches
    correl_id: str | None
    messages: tuple[SimulatedEventMessage, ...]
    missing: tuple[tuple[str, str], ...]
    """Members that wrote none, and why: perfmev_disabled, not_active, not_asked."""
    reconciliation: AccountedDepth | None

    @property
    def is_silent(self) -> bool:
        """Switched, and nobody was told."""
        return not self.messages

    @property
    def null_events(self) -> int:
        """Messages of members that did nothing with the queue."""
        return sum(message.is_null for message in self.messages)

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "number": self.number,
            "step": self.step,
            "at": plain_seconds(self.at),
            "reason": self.event.reason,
            "event": self.event.title,
            "queue": self.queue,
            "detector": self.detector,
            "depth": self.depth,
            **self.switches.as_json(),
            "correl_id": self.correl_id,
            "messages": len(self.messages),
            "null_events": self.null_events,
            "missing": [{"queue_manager": name, "why": why} for name, why in self.missing],
            "reconciliation": self.reconciliation.as_json() if self.reconciliation else None,
        }


@dataclass(frozen=True, slots=True)
class CourseRow:
    """A queue after a step; step 0 is how the timeline begins."""

    step: int
    index: int | None
    at: Fraction
    action: str
    queue_manager: str | None
    messages: int | None
    took_effect: int | None
    queue: str
    depth: int
    limits: DepthLimits
    switches: Switches
    changed: tuple[str, ...]
    occurrences: tuple[int, ...]
    events: tuple[int, ...]

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "step": self.step,
            "timeline": self.index,
            "at": plain_seconds(self.at),
            "action": self.action,
            "queue_manager": self.queue_manager,
            "messages": self.messages,
            "took_effect": self.took_effect,
            "queue": self.queue,
            "depth": self.depth,
            **self.switches.as_json(),
            "changed": list(self.changed),
            "occurrences": list(self.occurrences),
            "events": list(self.events),
        }


@dataclass(frozen=True, slots=True)
class CourseNote:
    """Something of the course of events to tell of in a finding: where in the file, and the numbers."""

    kind: str
    index: int
    at: Fraction
    queue: str
    queue_manager: str
    messages: int
    depth: int
    reason: int = 0


@dataclass(frozen=True, slots=True)
class Course:
    """What happened under one set of readings."""

    readings: Readings
    events: tuple[SimulatedEventMessage, ...]
    occurrences: tuple[Occurrence, ...]
    rows: tuple[CourseRow, ...]
    notes: tuple[CourseNote, ...]
    queues: Mapping[str, CourseRow]
    """Each queue as the timeline leaves it."""


def plain_seconds(value: Fraction) -> int | float:
    """A time in the file's own notation."""
    return value.numerator if value.denominator == 1 else float(value)


def play(file: DepthEventFile, readings: Readings) -> Course:
    """The course of events under these readings."""
    return _Player(file, readings).play()


@dataclass(slots=True)
class _Queue:
    """A queue as it is at the moment, and since the last event what the messages of the next will not say."""

    definition: QueueDefinition
    depth: int
    limits: DepthLimits
    switches: Switches
    counters: dict[str, Counters]
    base_depth: int
    base_at: Fraction = Fraction(0)
    moved: dict[str, int] = field(default_factory=dict)
    uncounted: dict[str, int] = field(default_factory=dict)

    @property
    def is_shared(self) -> bool:
        return self.definition.is_shared

    @property
    def first_high(self) -> int:
        """HighQDepth right after a reset: a shared queue's is taken at puts only."""
        return 0 if self.is_shared else self.depth

    def reset(self, member: str, at: Fraction) -> None:
        self.counters[member] = Counters(since=at, high=self.first_high)

    def move(self, member: str, change: int) -> None:
        self.depth += change
        self.moved[member] = self.moved.get(member, 0) + change

    def move_uncounted(self, cause: str, change: int) -> None:
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
        self.events: list[SimulatedEventMessage] = []
        self.occurrences: list[Occurrence] = []
        self.rows: list[CourseRow] = []
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

    def play(self) -> Course:
        for queue in self.queues.values():
            self._row(queue, START, None, queue.switches, took_effect=None)
        for nth, moment in enumerate(moments(self.file), start=1):
            self.nth, self.now = nth, moment
            self._step(moment.step)
        last = {row.queue: row for row in self.rows}
        return Course(
            self.readings,
            tuple(self.events),
            tuple(self.occurrences),
            tuple(self.rows),
            tuple(self.notes),
            last,
        )

    # ---- steps -------------------------------------------------------------------------------------------------

    def _step(self, step: Any) -> None:  # noqa: ANN401 - any of the steps
        if isinstance(step, given.Call):
            queue, member = self.queues[step.queue], step.queue_manager
            if not self.active[member]:
                self._refuse("queue_manager", f"{member} is not active at {plain_seconds(self.now.at)} s")
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
        old, new = before.as_json(), queue.switches.as_json()
        self.rows.append(
            CourseRow(
                step=self.nth,
                index=self.now.index if self.nth else None,
                at=self.now.at,
                action=action,
                queue_manager=member,
                messages=messages,
                took_effect=took_effect,
                queue=queue.definition.name,
                depth=queue.depth,
                limits=queue.limits,
                switches=queue.switches,
                changed=tuple(name.upper() for name in new if new[name] != old[name]),
                occurrences=tuple(occurrence.number for occurrence in mine),
                events=tuple(message.number for occurrence in mine for message in occurrence.messages),
            )
        )

    def _newest(self) -> list[Occurrence]:
        """The occurrences of the step under way."""
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
        """A nonshared queue neither tells nor switches while its queue manager has PERFMEV(DISABLED)."""
        return queue.switches.is_armed(event) and (queue.is_shared or self.perfmev[member])

    def _put(self, queue: _Queue, member: str, step: given.Put) -> int:
        left = step.messages
        while left and queue.depth < queue.limits.maxdepth:
            now = min(left, queue.limits.maxdepth - queue.depth)
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
                queue.move_uncounted("expired", -now)
            left -= now
            if meets:
                self._occur(Event.LOW, queue, member)
        return wanted

    def _backout_put(self, queue: _Queue, member: str, step: given.BackoutPut) -> int:
        del member
        if step.messages > queue.depth:
            self._refuse("messages", f"only {queue.depth} messages are on {queue.definition.name}")
        queue.move_uncounted("backed_out_puts", -step.messages)
        return step.messages

    def _backout_get(self, queue: _Queue, member: str, step: given.BackoutGet) -> int:
        queue.move_uncounted("backed_out_gets", step.messages)
        if not queue.is_shared:
            queue.see_high(member)
        return step.messages

    # ---- commands ----------------------------------------------------------------------------------------------

    def _alter(self, queue: _Queue, step: given.AlterQueue) -> None:
        changed = queue.definition.model_copy(update={**_now(queue), **step.changes})
        message = given.crossed(qdepthhi=changed.qdepthhi, qdepthlo=changed.qdepthlo)
        if message:
            self._refuse("qdepthhi" if step.qdepthhi is not None else "qdepthlo", message)
        queue.limits, queue.switches = changed.limits, changed.switches

    def _reset_qstats(self, queue: _Queue, member: str) -> None:
        for each in queue.counters if member == "*" else (member,):
            if not self.active[each]:
                if member != "*":
                    self._refuse("queue_manager", f"{each} is not active at {plain_seconds(self.now.at)} s")
            elif self.perfmev[each]:
                queue.reset(each, self.now.at)
            else:
                self._note("reset_fails", queue, each, 0)

    def _of_queue_manager(self, step: given.AlterQmgr | given.Start | given.Stop) -> None:
        member = step.queue_manager
        if isinstance(step, given.AlterQmgr):
            if not self.active[member]:
                self._refuse("queue_manager", f"{member} is not active at {plain_seconds(self.now.at)} s")
            self.perfmev[member] = step.perfmev == "ENABLED"
            return
        starts = isinstance(step, given.Start)
        if self.active[member] is starts:
            state = "active already" if starts else "not active"
            self._refuse("queue_manager", f"{member} is {state} at {plain_seconds(self.now.at)} s")
        self.active[member] = starts
        for queue in self.queues.values():
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
                switches=queue.switches,
                correl_id=correl_id,
                messages=messages,
                missing=tuple(self._missing(queue, writers)),
                reconciliation=self._reconciled(queue, messages) if messages else None,
            )
        )
        self.events += messages
        if len(self.events) > MOST_EVENTS:
            self._refuse("messages", f"the timeline up to here gives more than {MOST_EVENTS} event messages")
        if messages:
            self._reset_after_event(queue)

    def _writers(self, queue: _Queue, detector: str) -> list[str]:
        """Who writes a message, the coordinating queue manager first."""
        if not queue.is_shared:
            return [detector]
        if not self.perfmev[detector] and self.readings.disabled_detector is DisabledDetector.SILENT:
            return []
        able = [each for each in queue.counters if self.active[each] and self.perfmev[each]]
        return sorted(able, key=lambda each: each != detector)

    def _missing(self, queue: _Queue, writers: list[str]) -> Iterator[tuple[str, str]]:
        for member in queue.counters:
            if member in writers:
                continue
            if not self.active[member]:
                yield member, "not_active"
            elif not self.perfmev[member]:
                yield member, "perfmev_disabled"
            else:
                yield member, "not_asked"

    def _message(
        self, event: Event, queue: _Queue, writer: str, occurrence: int, correl_id: str | None, number: int
    ) -> SimulatedEventMessage:
        counters = queue.counters[writer]
        return SimulatedEventMessage(
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
        resets_all = self.readings.statistics_of_disabled is StatisticsOfDisabled.RESET
        for member in queue.counters:
            if self.active[member] and (self.perfmev[member] or resets_all):
                queue.reset(member, self.now.at)
        queue.base_depth, queue.base_at = queue.depth, self.now.at
        queue.moved, queue.uncounted = {}, {}

    def _reconciled(self, queue: _Queue, messages: tuple[SimulatedEventMessage, ...]) -> AccountedDepth:
        reported = {message.queue_manager: message for message in messages}
        causes = []
        for member, counters in queue.counters.items():
            moved, message = queue.moved.get(member, 0), reported.get(member)
            if message is None:
                silent = "perfmev_disabled" if self.active[member] else "not_active"
                causes.append(Cause(silent, member, moved))
                continue
            told = message.msg_enq_count - message.msg_deq_count
            causes.append(Cause("counter_at_its_limit", member, counters.net - told))
            kind = "counters_reset" if counters.since > queue.base_at else "counted_before"
            causes.append(Cause(kind, member, moved - counters.net))
        causes += [Cause(cause, None, number) for cause, number in queue.uncounted.items()]
        return AccountedDepth(
            depth_before=queue.base_depth,
            enqueued=sum(message.msg_enq_count for message in messages),
            dequeued=sum(message.msg_deq_count for message in messages),
            depth=queue.depth,
            causes=tuple(cause for cause in causes if cause.messages),
        )


def _now(queue: _Queue) -> dict[str, int | str]:
    limits = queue.limits
    return {
        "maxdepth": limits.maxdepth,
        "qdepthhi": limits.qdepthhi,
        "qdepthlo": limits.qdepthlo,
        **queue.switches.as_json(),
    }


_CALLS: Final[dict[str, Callable[[_Player, _Queue, str, Any], int]]] = {
    "put": _Player._put,
    "rejected": _Player._rejected,
    "get": _Player._get,
    "expire": _Player._get,
    "backout_put": _Player._backout_put,
    "backout_get": _Player._backout_get,
}
