"""Files of event messages, read and grouped into sets, with findings and assumptions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field, computed_field

from planner_core import CORE_VERSION, tables
from planner_core.depth_events.model import Event, Switches
from planner_core.depth_events.readers import EventFile, EventMessage, read_events
from planner_core.depth_events.readers.message import SERVICE_INTERVAL
from planner_core.depth_events.sets import (
    CLOCK_TOLERANCE_S,
    GETS_EXPECTED,
    EventContext,
    EventSet,
    QueueFacts,
    SetMember,
    sets_of,
    without_repeats,
)
from planner_core.document.types import Switch
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding, finding, in_order
from planner_core.provenance import Basis
from planner_core.sizing.depth_advice import DepthAssumption
from planner_core.wire import Answer, Hidden

WHAT: Final = "The input of events"
MOST_MESSAGES: Final = 50_000
"""The maximum number of messages in all files together; SYSTEM.ADMIN.PERFM.EVENT rarely has as many."""
MOST_OF_A_KIND: Final = 20
"""The maximum number of findings with one code, because many sets have the same ones."""
_MOST_NUMBERS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReading(Answer):
    """All messages that were read, and their sets."""

    core_version: str = CORE_VERSION
    files: tuple[EventFile, ...]
    repeats: Annotated[int, Field(description="Duplicate messages, which are counted once.")]
    events: tuple[EventMessage, ...]
    sets: tuple[EventSet, ...]
    known: Hidden[EventContext]
    assumptions: tuple[DepthAssumption, ...]
    findings: tuple[Finding, ...]

    @computed_field
    @property
    def service_interval_events(self) -> tuple[EventMessage, ...]:
        """Queue service interval events, which are in no set: shared queues have none."""
        return tuple(message for message in self.events if message.reason in SERVICE_INTERVAL)


def read_all(files: Sequence[tuple[str, bytes]], known: EventContext) -> EventReading:
    """Read files of event messages, each with its name, and group the messages.

    Raises:
        InputInvalid: There is no file, a file has an unsupported format, or no event could be read.
    """
    if not files:
        raise InputInvalid(WHAT, (FieldProblem("/files", "must contain at least one event file"),))
    found = [read_events(data, name=name) for name, data in files]
    _refuse(found)
    read = [message for file in found for message in file.messages]
    if len(read) > MOST_MESSAGES:
        problem = FieldProblem(
            "/files", f"must not have more than {MOST_MESSAGES} events, but have {len(read)}"
        )
        raise InputInvalid(WHAT, (problem,))
    # A message that was read twice would double its counts.
    messages, repeats = without_repeats(read)
    sets = sets_of(messages, known)
    findings = (
        *_of_files(found),
        *_of_names(messages, known),
        *_of_grouping(sets, known),
        *_of_correl_ids(sets),
        *_of_order(sets),
        *_of_members(sets, known),
        *_of_queues(sets, known),
    )
    return EventReading(
        files=tuple(found),
        repeats=repeats,
        events=messages,
        sets=sets,
        known=known,
        assumptions=tuple(_assumptions(sets, known)),
        findings=in_order([*_limited(findings)]),
    )


def _refuse(files: Sequence[EventFile]) -> None:
    """Refuse files that have no events; a finding reports files that are only damaged."""
    problems = [
        FieldProblem(f"/files/{at}", f"{file.name}: {file.problems[0].message}")
        for at, file in enumerate(files)
        if file.format == "unknown"
    ]
    if not problems and not any(file.messages or file.other_events for file in files):
        problems = [
            FieldProblem(f"/files/{at}", f"{file.name}: {problem}")
            for at, file in enumerate(files)
            for problem in file.problems
        ] or [FieldProblem("/files", "do not contain an event")]
    if problems:
        raise InputInvalid(WHAT, tuple(problems))


def _limited(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the first findings of each kind, and a finding with the number of remaining ones."""
    counts: Counter[str] = Counter()
    for each in findings:
        counts[each.code] += 1
        if counts[each.code] <= MOST_OF_A_KIND:
            yield each
    more = [f"{count - MOST_OF_A_KIND} of {code}" for code, count in counts.items() if count > MOST_OF_A_KIND]
    if more:
        yield finding(
            "READ_FINDINGS_LEFT_OUT",
            f"Only the first {MOST_OF_A_KIND} findings of each kind are shown. There are more: {_and(more)}. Each set lists "
            "its missing members, what was not accounted for, and when its members started counting.",
            field="/sets",
        )


def _and(words: Sequence[str]) -> str:
    return words[-1] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _at(each: EventSet, more: str = "") -> str:
    return f"/sets/{each.number - 1}{more}"


def _name(each: EventSet) -> str:
    """Return the name of a set for a sentence."""
    return f"Set {each.number} ({each.event.title} on {each.queue}{f', {_when(each)}' if each.at else ''})"


def _when(each: EventSet) -> str:
    if each.at is None:
        return ""
    return f"{each.at:%Y-%m-%d %H:%M:%S}{' local time' if each.is_at_local else ' UTC'}"


def _messages(number: int) -> str:
    return "1 message" if number == 1 else f"{number} messages"


# ---- findings ----------------------------------------------------------------------------------------------------------


def _of_files(files: Sequence[EventFile]) -> Iterator[Finding]:
    for at, file in enumerate(files):
        problems = len(file.problems) + file.problems_omitted
        if problems:
            yield finding(
                "READ_EVENTS_UNREAD",
                f"{'1 part' if problems == 1 else f'{problems} parts'} of {file.name} could not be read: "
                f"{file.problems[0]} The sets do not include {'its' if problems == 1 else 'their'} content.",
                field=f"/files/{at}",
            )
        for note in file.notes:
            yield finding("READ_EVENTS_CODE_PAGE", f"{file.name}: {note}", field=f"/files/{at}")


def _of_names(messages: Sequence[EventMessage], known: EventContext) -> Iterator[Finding]:
    """Report queues and queue managers that the user described but that no event names."""
    queues = {message.queue for message in messages}
    managers = {message.queue_manager for message in messages}
    unknown = sorted(known.named - queues)
    # DISPLAY QLOCAL(*) shows queues without events, too; only if none has any is it likely to be the wrong text.
    if not queues.intersection(known.queues):
        unknown = sorted({*unknown, *known.queues})
    if unknown and messages:
        yield finding(
            "READ_NAME_NOT_IN_EVENTS",
            f"No event names {_some(unknown)}: the values entered for {'it' if len(unknown) == 1 else 'them'} are not used. "
            f"{_spelling(unknown, queues) or f'The events name {_some(sorted(queues))}.'}",
            field="/queues",
        )
    strangers = [name for name in known.all_members if name not in managers]
    other = _spelling(strangers, managers)
    if other:
        yield finding(
            "READ_NAME_NOT_IN_EVENTS",
            f"No event names {_some(strangers)}, which was entered as a member of the group. {other}",
            field="/members",
        )


def _spelling(names: Sequence[str], known: Iterable[str]) -> str:
    """Return a sentence on names that differ from those of events only in case."""
    by_capitals = {name.upper(): name for name in known}
    alike = [f"{name} is not {found}" for name in names if (found := by_capitals.get(name.upper()))]
    return f"{_and(alike[:_MOST_NUMBERS])}: MQ names are case-sensitive." if alike else ""


def _some(names: Sequence[str]) -> str:
    more = [f"{len(names) - _MOST_NUMBERS} more"] if len(names) > _MOST_NUMBERS else []
    return _and([*names[:_MOST_NUMBERS], *more])


def _of_grouping(sets: Sequence[EventSet], known: EventContext) -> Iterator[Finding]:
    by_time = [each for each in sets if each.grouped_by == "time" and len(each.members) > 1]
    if by_time:
        yield finding(
            "READ_SET_BY_TIME",
            f"{len(by_time)} {'set has' if len(by_time) == 1 else 'sets have'} no CorrelId: messages of one event and queue "
            f"within {known.window_s} seconds, each from a different queue manager, were treated as one set. Queues of the "
            "same name that are not shared would be grouped together too.",
            field=_at(by_time[0]),
        )
    by_order = [each for each in sets if each.grouped_by == "order" and len(each.members) > 1]
    if by_order:
        yield finding(
            "READ_SET_BY_TIME",
            f"{len(by_order)} {'set has' if len(by_order) == 1 else 'sets have'} neither CorrelId nor time: the first "
            "message of each queue manager was grouped with the first of the others, the second with the second, and so "
            "on. A single missing message shifts all messages that follow.",
            field=_at(by_order[0]),
        )


def _of_correl_ids(sets: Sequence[EventSet]) -> Iterator[Finding]:
    """Report CorrelIds that belong to more than one event."""
    found: dict[str, list[EventSet]] = defaultdict(list)
    for each in sets:
        if each.correl_id:
            found[each.correl_id].append(each)
    # The coordinating queue manager makes a unique CorrelId for each event, and its members use the same one.
    for correl_id, theirs in found.items():
        if len(theirs) == 1:
            continue
        first = theirs[0]
        wrote = Counter(
            member.queue_manager
            for each in theirs
            if (each.queue, each.event) == (first.queue, first.event)
            for member in each.members
        )
        twice = sorted(name for name, count in wrote.items() if count > 1)
        what = f"{' and '.join(twice[:2])} wrote" if twice else "the events or queues differ, so there are"
        yield finding(
            "READ_SET_CORREL_ID_TWICE",
            f"Sets {_numbers(theirs)} have the same CorrelId, {correl_id}: {what} more than one message with it, but a queue manager "
            "generates a new one for each event. The messages were changed, or a program that copied them set its own "
            "CorrelId: the totals of these sets may be wrong.",
            field=_at(theirs[1]),
        )


def _numbers(sets: Sequence[EventSet]) -> str:
    shown = [str(each.number) for each in sets[:_MOST_NUMBERS]]
    more = f" and {len(sets) - _MOST_NUMBERS} more" if len(sets) > _MOST_NUMBERS else ""
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if not more else f"{', '.join(shown)}{more}"


_MADE_POSSIBLE_BY: Final = {
    Event.HIGH: "Queue Depth Low",
    Event.LOW: "Queue Depth High or Queue Full",
    Event.FULL: "Queue Depth High or Queue Depth Low",
}
_SWITCH: Final = {Event.HIGH: "QDPHIEV", Event.LOW: "QDPLOEV", Event.FULL: "QDPMAXEV"}


def _of_order(sets: Sequence[EventSet]) -> Iterator[Finding]:
    """Report events that the previous event on their queue had disabled: no message shows what enabled them again."""
    # Events of one second may have happened in any order, so nothing follows from their switches.
    at_once = Counter((each.queue, each.at) for each in sets if each.at)
    off: dict[tuple[str, str], dict[Event, EventSet]] = {}
    for each in sets:
        # Nonshared queues of the same name are different queues.
        key = each.queue, "" if each.shared else each.members[0].queue_manager
        switched_off = off.setdefault(key, {})
        if each.at and at_once[each.queue, each.at] > 1:
            switched_off.clear()
            continue
        before = switched_off.get(each.event)
        if before is not None:
            yield finding(
                "READ_SET_EVENT_UNSEEN",
                f"{_name(each)}: set {before.number}, the same event, left {_SWITCH[each.event]} DISABLED, and only a "
                f"{_MADE_POSSIBLE_BY[each.event]} enables it. Either no message reports an event in between, for example "
                "because a queue manager with PERFMEV(DISABLED) detected it, or an ALTER enabled "
                f"it{_or_one_set(before, each)}.",
                field=_at(each),
            )
        # Queue Full leaves QDPHIEV as it is, so its state must be known from the events before.
        high: Switch = "DISABLED" if Event.HIGH in switched_off else "ENABLED"
        after = Switches(qdphiev=high, qdploev="ENABLED", qdpmaxev="ENABLED").after(each.event)
        off[key] = {
            event: switched_off.get(event, each) if event is not each.event else each
            for event in Event
            if not after.is_armed(event)
        }


def _or_one_set(before: EventSet, each: EventSet) -> str:
    """Return a remark on two sets that may be one: grouped by time, with different queue managers."""
    names = {member.queue_manager for member in before.members}
    if before.grouped_by != "time" or any(member.queue_manager in names for member in each.members):
        return ""
    return ", or the two are one set whose messages are further apart than the window allows"


def _of_members(sets: Sequence[EventSet], known: EventContext) -> Iterator[Finding]:
    for each in sets:
        if each.missing:
            yield finding(
                "READ_SET_INCOMPLETE",
                f"{_name(each)} has {_messages(len(each.members))}; {len(each.missing)} of "
                f"{len(each.missing) + len(each.members)} queue managers wrote none. "
                f"{' '.join(missing.words for missing in each.missing)}",
                field=_at(each, "/missing"),
            )
        for member in each.members:
            name = member.queue_manager
            if known.perfmev.get(name) == "DISABLED":
                yield finding(
                    "READ_SET_MEMBERS_DIFFER",
                    f"{_name(each)} contains a message from {name}, although PERFMEV(DISABLED) was entered for that queue manager. "
                    f"PERFMEV was enabled at that time: check DISPLAY QMGR PERFMEV on {name}.",
                    field=_at(each, "/members"),
                )
            # A nonshared queue may also be on a queue manager outside of the group.
            elif known.members and name not in known.all_members and each.shared:
                yield finding(
                    "READ_SET_MEMBERS_DIFFER",
                    f"{_name(each)} contains a message from {name}, which is not among the members {', '.join(known.members)}. Add "
                    "it, or check whose events were read.",
                    field=_at(each, "/members"),
                )
            if member.has_stopped_getting and member.expected_gets is not None:
                yield finding(
                    "READ_SET_GETS_STOPPED",
                    f"{_name(each)}: {name} got no messages; at its previous rate, it would have got "
                    f"{round(member.expected_gets)} messages in that time. Check whether its getting applications are still "
                    "running.",
                    field=_at(each, "/members"),
                )
        yield from _of_counters(each)


def _of_counters(each: EventSet) -> Iterator[Finding]:
    shorter = [member for member in each.members if member.counted == "shorter"]
    if shorter:
        is_all = len(shorter) == len(each.members)
        who = "all its queue managers" if is_all and len(shorter) > 1 else _list(shorter)
        why = (
            "a monitor with RESET QSTATS, a restart, or a set of events in between that was not read"
            if is_all
            else "a restart, or RESET QSTATS there"
        )
        first = shorter[0]
        yield finding(
            "READ_SET_COUNTERS",
            f"{_name(each)}: {who} counted for only {first.time_since_reset_s} seconds, but the previous set was "
            f"{_whole(first)} seconds ago: something reset the counters in between, such as {why}. Puts and gets before "
            "that are not in any message.",
            field=_at(each, "/members"),
        )
    longer = [member for member in each.members if member.counted == "longer"]
    if longer:
        first = longer[0]
        yield finding(
            "READ_SET_COUNTERS",
            f"{_name(each)}: {_list(longer)} counted for {first.time_since_reset_s} seconds, although the previous "
            f"set was {_whole(first)} seconds ago: that one did not reset {'its' if len(longer) == 1 else 'their'} "
            "counters, and puts and gets before it are counted twice.",
            field=_at(each, "/members"),
        )


def _list(members: Sequence[SetMember]) -> str:
    return _and([member.queue_manager for member in members])


def _whole(member: SetMember) -> int:
    return round(member.elapsed_s or 0)


def _of_queues(sets: Sequence[EventSet], known: EventContext) -> Iterator[Finding]:
    for each in sets:
        yield from _of_depths(each)
        facts = known.queues.get(each.queue, QueueFacts())
        high = each.high_q_depth
        expected = facts.high_depth if each.event is Event.HIGH else facts.maxdepth
        if high is None or expected is None or each.event is Event.LOW:
            continue
        # A queue manager updates HighQDepth of a shared queue only on its own puts.
        if high < expected and any(m.msg_enq_count or not each.shared for m in each.members):
            attribute = "QDEPTHHI of MAXDEPTH are" if each.event is Event.HIGH else "MAXDEPTH is"
            yield finding(
                "READ_SET_HIGH_DEPTH",
                f"{_name(each)}: the largest HighQDepth is {high}, but {attribute} {expected} messages. Either the "
                "attributes had other values then, or the message of the queue manager that put last is missing.",
                field=_at(each, "/high_q_depth"),
            )


_REPORTED_BY: Final = {"high_q_depth": "HighQDepth", "maxdepth": "MAXDEPTH", "qdepthlo": "QDEPTHLO"}


def _of_depths(each: EventSet) -> Iterator[Finding]:
    found = each.reconciliation
    gap = found.unreconciled
    result = (
        f"{found.msg_enq_count} puts and {found.msg_deq_count} gets result in {found.computed_depth} messages"
    )
    if gap:
        start = (
            "if the queue was empty when the counters started"
            if found.depth_before_basis == "assumed"
            else f"after a depth of {found.depth_before}"
        )
        basis = _REPORTED_BY[found.reported_basis or "high_q_depth"]
        yield finding(
            "READ_SET_UNRECONCILED",
            f"{_name(each)}: {result} {start}, but {basis} shows {found.reported_depth}. {_gap(gap, each)}",
            field=_at(each, "/reconciliation"),
        )
    elif found.computed_depth is not None and found.computed_depth < 0:
        yield finding(
            "READ_SET_UNRECONCILED",
            f"{_name(each)}: {result} after a depth of {found.depth_before}: at least {-found.computed_depth} puts are not in any message.",
            field=_at(each, "/reconciliation"),
        )


def _gap(gap: int, each: EventSet) -> str:
    """Return the likely cause of a difference."""
    amount = f"{abs(gap)} {'put' if gap > 0 else 'get'}{'' if abs(gap) == 1 else 's'}"
    silent = [missing.queue_manager for missing in each.missing]
    # Only one queue manager can have caused the whole difference.
    if len(silent) == 1:
        more = "put {0} more messages than it got" if gap > 0 else "got {0} more messages than it put"
        return f"{silent[0]} did not report: it {more.format(abs(gap))}."
    if silent:
        return f"{', '.join(silent)} did not report: together they account for {amount}."
    if any(member.counted == "shorter" for member in each.members):
        return f"{amount} are from before the counters were reset."
    if each.reconciliation.depth_before_basis == "assumed" and gap > 0:
        return f"{gap} messages were on the queue at that time, or {amount} belong to a queue manager that did not report."
    return f"{amount} are from a queue manager that did not report or from expired messages, or happened during the broadcast."


# ---- assumptions -------------------------------------------------------------------------------------------------------


def _assumptions(sets: Sequence[EventSet], known: EventContext) -> Iterator[DepthAssumption]:
    ours = tables.source("project", "Reading depth events")
    events = tables.source("mq_depth_events", "")
    if any(each.reconciliation.reported_basis == "high_q_depth" for each in sets):
        yield DepthAssumption(
            "The depth at a Queue Depth High or Queue Full event is the largest HighQDepth of its set: the put that met the "
            "condition, or the last one before it, saw that depth.",
            Basis.DERIVED,
            events,
        )
    if any(each.reconciliation.reported_basis == "qdepthlo" for each in sets):
        yield DepthAssumption(
            "The depth at a Queue Depth Low event is the highest at which a get meets QDEPTHLO.",
            Basis.DERIVED,
            events,
        )
    if any(each.reconciliation.depth_before_basis == "assumed" for each in sets):
        yield DepthAssumption(
            "A queue was empty when the counters of its first set started, unless its depth at that time is specified.",
            Basis.ASSUMED,
            ours,
        )
    if any(each.reconciliation.depth_before_basis == "set_before" for each in sets):
        yield DepthAssumption(
            "The counters of a set started at the event of the previous set on the same queue.",
            Basis.PUBLISHED,
            tables.source("mq_event_statistics", ""),
        )
    if any(each.grouped_by == "time" for each in sets):
        yield DepthAssumption(
            f"Messages without CorrelId within {known.window_s} seconds belong to one event.",
            Basis.ASSUMED,
            ours,
        )
    if any(member.counted for each in sets for member in each.members):
        yield DepthAssumption(
            f"Clocks and rounding to whole seconds cause differences of up to {CLOCK_TOLERANCE_S} seconds.",
            Basis.ASSUMED,
            ours,
        )
    if any(member.has_stopped_getting for each in sets for member in each.members):
        yield DepthAssumption(
            f"A queue manager that got nothing although {GETS_EXPECTED} gets or more were expected has stopped getting.",
            Basis.ASSUMED,
            ours,
        )
