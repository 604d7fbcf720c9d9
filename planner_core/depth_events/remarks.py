"""Findings and assumptions of a simulated timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from planner_core import tables
from planner_core.depth_events.course import CourseNote, Occurrence, Simulation, play
from planner_core.depth_events.file import (
    AlterQmgr,
    AlterQueue,
    BackoutGet,
    BackoutPut,
    DepthEventFile,
    Expire,
    ResetQstats,
    Stop,
)
from planner_core.depth_events.model import Event, Readings
from planner_core.findings import Finding, finding
from planner_core.provenance import Basis, Source
from planner_core.sizing.depth_advice import DepthAssumption
from planner_core.wire import plain

MOST_OF_A_KIND: Final = 20
"""The maximum number of findings with one code, because a long timeline repeats them."""
_MESSAGES = {1: "1 message"}
_QUESTIONS: Final = {
    "disabled_detector": "what happens if the detecting queue manager has PERFMEV(DISABLED)",
    "statistics_of_disabled": "whether an event resets the counters of members with PERFMEV(DISABLED)",
    "rounding": "which depth corresponds to a threshold that is not a whole number of messages",
}


def findings_of(file: DepthEventFile, course: Simulation) -> Iterator[Finding]:
    """Yield the findings of a timeline, a limited number of each code."""
    counts: Counter[str] = Counter()
    for each in (
        *_of_readings(file, course),
        *_of_occurrences(course),
        *_of_the_end(course),
        *_of_notes(course),
    ):
        counts[each.code] += 1
        if counts[each.code] <= MOST_OF_A_KIND:
            yield each


# ---- readings ------------------------------------------------------------------------------------------------------


def _of_readings(file: DepthEventFile, course: Simulation) -> Iterator[Finding]:
    """Play the timeline with each reading changed, and report where the messages differ."""
    for name, other in course.readings.others():
        if not _can_matter(file, name):
            continue
        their = play(file, other)
        # If no message differs, the choice of the reading does not matter (docs/decisions/0013).
        if _reported(their) == _reported(course):
            continue
        taken, turned = getattr(course.readings, name), getattr(other, name)
        yield finding(
            "EVENT_READING_MATTERS",
            f"IBM's text leaves open {_QUESTIONS[name]}. Read as {taken!r}, the timeline gives "
            f"{_messages(len(course.events))}; read as {turned!r}, {_messages(len(their.events))}"
            f"{_first_difference(course, their)}.",
            field=f"/readings/{name}",
        )


def _can_matter(file: DepthEventFile, reading: str) -> bool:
    """Return whether the reading can make a difference to this timeline."""
    # Playing the timeline once more takes as long as the whole answer.
    if reading == "rounding":
        return _has_rounded(file)
    # The other readings are about shared queues and members with PERFMEV(DISABLED).
    perfmevs = {each.perfmev for each in file.queue_managers}
    perfmevs |= {step.perfmev for step in file.timeline if isinstance(step, AlterQmgr)}
    return "DISABLED" in perfmevs and any(queue.is_shared for queue in file.queues)


def _has_rounded(file: DepthEventFile) -> bool:
    """Return whether a High threshold is, or may become, a fraction of a message."""
    return any(queue.limits.is_high_rounded for queue in file.queues) or any(
        isinstance(step, AlterQueue) for step in file.timeline
    )


def _reported(course: Simulation) -> list[tuple[object, ...]]:
    return [
        (
            each.at,
            each.event,
            each.queue,
            each.queue_manager,
            each.time_since_reset,
            each.high_q_depth,
            each.msg_enq_count,
            each.msg_deq_count,
        )
        for each in course.events
    ]


def _first_difference(course: Simulation, their: Simulation) -> str:
    ours, theirs = _reported(course), _reported(their)
    # One course may have more messages than the other; if the rest is equal, the first of them is the difference.
    same = next(
        (nth for nth, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), None
    )
    nth = min(len(ours), len(theirs)) if same is None else same
    where = (*course.events[nth : nth + 1], *their.events[nth : nth + 1])
    first = min(where, key=lambda event: event.at)
    return f", the first difference at {plain(first.at)} s on {first.queue}"


# ---- occurrences ---------------------------------------------------------------------------------------------------


def _of_occurrences(course: Simulation) -> Iterator[Finding]:
    place = {row.step: row.timeline for row in course.switches}
    for each in course.occurrences:
        at = f"/timeline/{place[each.step]}"
        if not each.written:
            yield finding(
                "EVENT_SWITCHED_SILENTLY",
                f"{_when(each)} {each.queue} met the condition for {each.event.title} through {each.detector}, which has "
                f"PERFMEV(DISABLED): the attributes switched without a message. {_next_chance(each)}",
                field=at,
            )
        elif each.reconciliation and each.reconciliation.unreconciled:
            found = each.reconciliation
            yield finding(
                "EVENT_SET_INCOMPLETE",
                f"{_when(each)} the {_messages(each.messages)} of {each.event.title} on {each.queue} account for a depth "
                f"of {found.computed_depth}, but it is {found.depth}: {_causes(each)}.",
                field=at,
            )


def _when(occurrence: Occurrence) -> str:
    return f"At {plain(occurrence.at)} s"


def _next_chance(occurrence: Occurrence) -> str:
    waits = [
        words
        for event, words in (
            (Event.HIGH, "the next put at or above QDEPTHHI"),
            (Event.LOW, "a get down to QDEPTHLO"),
            (Event.FULL, "a rejected put"),
        )
        if occurrence.is_armed(event)
    ]
    return f"The next event is {' or '.join(waits)}."


_CAUSES: Final = {
    "perfmev_disabled": "{name} did not report {count} (PERFMEV DISABLED)",
    "not_active": "{name} did not report {count} (not active)",
    "counters_reset": "{name}'s counters were reset in between and lack {count}",
    "counted_before": "{name}'s counters go back further and hold {count} too many",
    "counter_at_its_limit": "{name}'s counters are at their limit and lack {count}",
    "expired": "{count} expired",
    "backed_out_puts": "puts of {count} were backed out",
    "backed_out_gets": "gets of {count} were backed out",
}


def _causes(occurrence: Occurrence) -> str:
    found = occurrence.reconciliation.causes if occurrence.reconciliation else ()
    return "; ".join(
        _CAUSES[each.cause].format(name=each.queue_manager, count=_messages(abs(each.messages)))
        for each in found
    )


def _messages(number: int) -> str:
    return _MESSAGES.get(number, f"{number} messages")


# ---- the end -------------------------------------------------------------------------------------------------------


def _of_the_end(course: Simulation) -> Iterator[Finding]:
    """Report queues whose next Queue Depth High needs a Queue Depth Low first."""
    for name, row in course.queues.items():
        fired = any(each.queue == name and each.event is Event.HIGH for each in course.occurrences)
        # A QDPHIEV that is DISABLED from the start is a choice, and needs no finding.
        if fired and not row.is_armed(Event.HIGH) and row.depth > row.limits.low_depth():
            yield finding(
                "EVENT_HIGH_SPENT",
                f"At the end, {name} holds {_messages(row.depth)} and QDPHIEV is DISABLED: until a get lowers the depth to "
                f"{row.limits.low_depth()} (QDEPTHLO), the depth can rise again without a Queue Depth High event.",
                field=f"/queues/{list(course.queues).index(name)}",
            )


# ---- notes ---------------------------------------------------------------------------------------------------------


def _of_notes(course: Simulation) -> Iterator[Finding]:
    for note in course.notes:
        field, when = f"/timeline/{note.index}", f"At {plain(note.at)} s"
        if note.kind == "found_nothing":
            yield finding(
                "EVENT_GETS_FOUND_NONE",
                f"{when} {note.queue_manager} got no message from {note.queue} with {note.messages} of its gets because the "
                "queue was empty. These gets change nothing.",
                field=field,
            )
        elif note.kind == "reset_fails":
            yield finding(
                "EVENT_STATISTICS_NOT_RESET",
                f"{when} RESET QSTATS({note.queue}) fails on {note.queue_manager}, which has PERFMEV(DISABLED); its "
                "counters continue.",
                field=field,
            )
        else:
            yield finding("EVENT_PUTS_REJECTED_OTHERWISE", _rejected(when, note), field=field)


def _rejected(when: str, note: CourseNote) -> str:
    rejected = f"{when} {note.messages} puts on {note.queue} are rejected with reason {note.reason}"
    if note.kind == "rejected_below":
        return (
            f"{rejected} although its depth of {note.depth} is below MAXDEPTH: no Queue Full event. If the structure is "
            "full, the reason is 2192."
        )
    return f"{rejected} at depth {note.depth}: Queue Full occurs only with reason 2053, at MAXDEPTH."


# ---- assumptions ---------------------------------------------------------------------------------------------------


def assumptions_of(file: DepthEventFile) -> Iterator[DepthAssumption]:
    """Yield the assumptions for this file."""
    ours = tables.source("project", "Queue depth events")
    has = {type(step) for step in file.timeline}
    is_shared = any(queue.is_shared for queue in file.queues)
    yield DepthAssumption(
        "An event is due at every put or get that leaves the depth at or beyond its threshold while it is enabled, not only "
        "at the one that crosses it.",
        Basis.DERIVED,
        tables.source("mq_depth_events", ""),
    )
    if _has_rounded(file):
        is_exact = file.readings.rounding == "exact"
        yield DepthAssumption(
            f"A High threshold that is not a whole number of messages is rounded {'up' if is_exact else 'down'}.",
            Basis.ASSUMED,
            ours,
        )
    if not all(queue.is_shared for queue in file.queues):
        yield DepthAssumption(
            "HighQDepth of a nonshared queue begins at the current depth after a reset, as in IBM's examples.",
            Basis.DERIVED,
            ours,
        )
    if is_shared:
        yield from _of_shared(file.readings, ours)
    if Expire in has:
        yield DepthAssumption("MsgDeqCount does not count messages that expired.", Basis.ASSUMED, ours)
    if has & {BackoutPut, BackoutGet}:
        yield DepthAssumption(
            "A backout changes no attributes, writes no message, and does not change MsgEnqCount and MsgDeqCount.",
            Basis.PUBLISHED,
            tables.source("mq_reset_qstats_response", "Response data"),
        )
    if ResetQstats in has:
        yield DepthAssumption(
            "RESET QSTATS fails if PERFMEV is DISABLED.",
            Basis.PUBLISHED,
            tables.source("mq_reset_qstats", "Usage notes for RESET QSTATS"),
        )
    if Stop in has and not all(queue.is_shared for queue in file.queues):
        yield DepthAssumption("The messages of nonshared queues survive a restart.", Basis.ASSUMED, ours)


def _of_shared(readings: Readings, ours: Source) -> Iterator[DepthAssumption]:
    is_silent = readings.disabled_detector == "silent"
    resets = readings.statistics_of_disabled == "reset"
    yield DepthAssumption(
        "If the detecting queue manager has PERFMEV(DISABLED), "
        f"{'no queue manager writes a message' if is_silent else 'the others write theirs'}. An event without a message resets no counters.",
        Basis.ASSUMED,
        ours,
    )
    yield DepthAssumption(
        f"An event {'resets' if resets else 'leaves'} the counters of active members with PERFMEV(DISABLED). They count regardless of "
        "PERFMEV.",
        Basis.ASSUMED,
        ours,
    )
    yield DepthAssumption(
        "HighQDepth of a shared queue is measured only at a queue manager's own puts; after a reset it is 0 until the next "
        "one.",
        Basis.ASSUMED,
        ours,
    )
    yield DepthAssumption(
        "All members answer the broadcast at once: there are no puts or gets in between.", Basis.ASSUMED, ours
    )
