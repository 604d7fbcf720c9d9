"""Event messages brought together to the events that gave them, and what each set says of the queue.

An event on a shared queue gives one message for each active queue manager with PERFMEV(ENABLED), all with the same
CorrelId. A set is these messages. Its sums say what became of the queue since the event before, as far as all who put
or got have reported and have counted from the same moment on.

Sources: IBM MQ for z/OS, "Shared queues and queue depth events"; IBM MQ, "Performance event statistics" and
"Enabling queue depth events"; RESET QSTATS.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from itertools import groupby
from typing import Final, Literal

from planner_core.depth_events.model import EVENT_OF_REASON, DepthLimits, Event
from planner_core.depth_events.readers.message import EventMessage, iso

GroupedBy = Literal["correl_id", "time", "order"]
ToldBasis = Literal["high_q_depth", "maxdepth", "qdepthlo"]
Cause = Literal["perfmev_disabled", "not_active", "not_read", "not_known"]
DEFAULT_WINDOW_S: Final = 5
"""Seconds within which messages without CorrelId are taken for one set: a broadcast in a sysplex takes far less, a
queue that falls to QDEPTHLO and rises to QDEPTHHI again seldom does."""
CLOCK_TOLERANCE_S: Final = 2
"""TimeSinceReset is cut to whole seconds, and so are the times of some formats."""
GETS_EXPECTED: Final = 5
"""A queue manager that got nothing where its earlier rate would have given so many is taken to have stopped getting."""


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """What the user knows of a queue; None for what is not known."""

    maxdepth: int | None = None
    qdepthhi: int | None = None
    qdepthlo: int | None = None
    is_shared: bool | None = None
    depth: int | None = None
    """Messages on it when the counters of the first set began."""

    @property
    def high_depth(self) -> int | None:
        """The lowest depth at which a put meets QDEPTHHI."""
        if self.maxdepth is None or self.qdepthhi is None:
            return None
        return DepthLimits(maxdepth=self.maxdepth, qdepthhi=self.qdepthhi, qdepthlo=0).high_depth()

    @property
    def low_depth(self) -> int | None:
        """The highest depth at which a get meets QDEPTHLO."""
        if self.maxdepth is None or self.qdepthlo is None:
            return None
        return DepthLimits(maxdepth=self.maxdepth, qdepthhi=0, qdepthlo=self.qdepthlo).low_depth()


@dataclass(frozen=True, slots=True)
class EventContext:
    """What the user adds to the messages."""

    members: tuple[str, ...] = ()
    """Queue managers that were active; empty where this is not said."""
    perfmev: Mapping[str, bool] = field(default_factory=dict)
    queues: Mapping[str, QueueFacts] = field(default_factory=dict)
    window_s: int = DEFAULT_WINDOW_S
    named: frozenset[str] = frozenset()
    """Queues that the user named one by one; displays may be of many more."""

    @property
    def all_members(self) -> tuple[str, ...]:
        """The members, and those of whom only PERFMEV is said."""
        return tuple(dict.fromkeys((*self.members, *self.perfmev)))


@dataclass(frozen=True, slots=True)
class Rate:
    """Messages a second of one queue manager or of all; None where no time tells it."""

    puts: Fraction | None
    gets: Fraction | None
    seconds: Fraction | None = None
    basis: Literal["time_since_reset", "creation_times", "no_activity"] | None = None

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "put_rate_per_s": _float(self.puts),
            "get_rate_per_s": _float(self.gets),
            "rate_seconds": _float(self.seconds),
            "rate_basis": self.basis,
        }


@dataclass(frozen=True, slots=True)
class Member:
    """One queue manager's message in a set."""

    message: EventMessage
    rate: Rate
    counted: Literal["since_the_set_before", "shorter", "longer"] | None
    """Since when it counted, against the time of the set before; None where no times tell."""
    elapsed_s: Fraction | None
    has_stopped_getting: bool
    expected_gets: Fraction | None

    @property
    def queue_manager(self) -> str:
        """Who wrote the message."""
        return self.message.queue_manager

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        told = self.message.as_json()
        return {
            "queue_manager": told["queue_manager"],
            "time_since_reset_s": told["time_since_reset_s"],
            "high_q_depth": told["high_q_depth"],
            "msg_enq_count": told["msg_enq_count"],
            "msg_deq_count": told["msg_deq_count"],
            "is_null": told["is_null"],
            **self.rate.as_json(),
            "counted": self.counted,
            "created": told["created"],
            "created_local": told["created_local"],
            "file": told["file"],
            "place": told["place"],
        }


@dataclass(frozen=True, slots=True)
class Missing:
    """A member without a message in the set."""

    queue_manager: str
    cause: Cause
    words: str

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {"queue_manager": self.queue_manager, "cause": self.cause, "words": self.words}


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Depth before, puts and gets, against the depth that the event itself tells."""

    depth_before: int | None
    depth_before_basis: Literal["given", "set_before", "assumed"] | None
    enqueued: int
    dequeued: int
    computed_depth: int | None
    told_depth: int | None
    told_basis: ToldBasis | None

    @property
    def unreconciled(self) -> int | None:
        """Messages that the set does not account for."""
        if self.computed_depth is None or self.told_depth is None:
            return None
        return self.told_depth - self.computed_depth

    @property
    def depth(self) -> int | None:
        """The depth at the event, as well as it is known."""
        return self.told_depth if self.told_depth is not None else self.computed_depth

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "depth_before": self.depth_before,
            "depth_before_basis": self.depth_before_basis,
            "msg_enq_count": self.enqueued,
            "msg_deq_count": self.dequeued,
            "computed_depth": self.computed_depth,
            "told_depth": self.told_depth,
            "told_basis": self.told_basis,
            "unreconciled": self.unreconciled,
            "depth": self.depth,
        }


@dataclass(frozen=True, slots=True)
class Share:
    """The queue manager with the largest share of puts or of gets."""

    queue_manager: str
    share: Fraction

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {"queue_manager": self.queue_manager, "share": _float(self.share)}


@dataclass(frozen=True, slots=True)
class EventSet:
    """One event of one queue, and everything that its messages say together."""

    number: int
    queue: str
    event: Event
    grouped_by: GroupedBy
    correl_id: str | None
    at: datetime | None
    is_at_local: bool
    members: tuple[Member, ...]
    missing: tuple[Missing, ...]
    reconciliation: Reconciliation
    rate: Rate
    most_puts: Share | None
    most_gets: Share | None
    is_shared: bool | None
    """Whether the queue is shared; None where nothing tells it."""

    @property
    def null_events(self) -> tuple[str, ...]:
        """Queue managers that did nothing with the shared queue."""
        if not self.is_shared:
            return ()
        return tuple(member.queue_manager for member in self.members if member.message.is_null)

    @property
    def high_depth(self) -> int | None:
        """The largest HighQDepth: each queue manager compares at its own puts, so that sums mean nothing."""
        return max(
            (m.message.high_depth for m in self.members if m.message.high_depth is not None), default=None
        )

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "number": self.number,
            "queue": self.queue,
            "event": self.event.title,
            "reason": self.event.reason,
            "grouped_by": self.grouped_by,
            "correl_id": self.correl_id,
            "shared": self.is_shared,
            "created": None if self.is_at_local else iso(self.at),
            "created_local": self.at.replace(tzinfo=None).isoformat()
            if self.at and self.is_at_local
            else None,
            "messages": len(self.members),
            "members": [member.as_json() for member in self.members],
            "null_events": list(self.null_events),
            "missing": [missing.as_json() for missing in self.missing],
            "high_q_depth": self.high_depth,
            "reconciliation": self.reconciliation.as_json(),
            **self.rate.as_json(),
            "net_rate_per_s": _float(_less(self.rate.puts, self.rate.gets)),
            "imbalance": {
                "puts": self.most_puts.as_json() if self.most_puts else None,
                "gets": self.most_gets.as_json() if self.most_gets else None,
            },
        }


def sets_of(messages: Sequence[EventMessage], known: EventContext) -> tuple[EventSet, ...]:
    """The sets of all queues in the order of time; messages of other events are passed over."""
    depth_events = [message for message in messages if message.reason in EVENT_OF_REASON]
    grouped = list(_groups(depth_events, known))
    seen = {message.queue_manager for message in messages}
    made: list[EventSet] = []
    before: dict[tuple[str, str], EventSet] = {}
    for number, group in enumerate(grouped, start=1):
        key = (group.queue, _owner(group.messages[0], known))
        made.append(_set(number, group, before.get(key), known, seen))
        before[key] = made[-1]
    return tuple(made)


def _owner(message: EventMessage, known: EventContext) -> str:
    """Whose queue it is: that of the queue manager if the user says that it is not shared, else that of the group."""
    facts = known.queues.get(message.queue)
    return message.queue_manager if facts and facts.is_shared is False else ""


def without_repeats(messages: Iterable[EventMessage]) -> tuple[tuple[EventMessage, ...], int]:
    """Each message once, and how many were there again; those that nothing but their counts tells apart stay."""
    kept: list[EventMessage] = []
    known: set[tuple[object, ...]] = set()
    repeats = 0
    for message in messages:
        identity = (
            message.reason, message.queue_manager, message.queue, message.time_since_reset_s, message.high_depth,
            message.enqueued, message.dequeued, message.correl_id, message.created, message.created_local,
        )  # fmt: skip
        if (message.correl_id or message.at) and identity in known:
            repeats += 1
            continue
        known.add(identity)
        kept.append(message)
    return tuple(kept), repeats


# ---- which messages belong together ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    grouped_by: GroupedBy
    messages: list[EventMessage]
    first: int
    """Index of the first message in the input."""

    @property
    def queue(self) -> str:
        return self.messages[0].queue

    @property
    def reason(self) -> int:
        return self.messages[0].reason

    @property
    def at(self) -> datetime | None:
        return min((message.at for message in self.messages if message.at), default=None)


def _groups(messages: Sequence[EventMessage], known: EventContext) -> Iterator[_Group]:
    """All groups in the order of time; those without times at the end, in the order of the input."""
    indexed = list(enumerate(messages))
    groups = [
        *_one_by_one(((i, m) for i, m in indexed if m.correl_id), "correl_id", known),
        *_by_time([(i, m) for i, m in indexed if not m.correl_id and m.at], known),
        *_one_by_one(((i, m) for i, m in indexed if not m.correl_id and not m.at), "order", known),
    ]
    timed = sorted((group for group in groups if group.at), key=lambda g: (g.at, g.first))
    for _, together in groupby(timed, key=lambda group: group.at):
        yield from _within_an_instant(list(together))
    yield from sorted((group for group in groups if not group.at), key=lambda g: g.first)


_RISING: Final[dict[int, int]] = {Event.HIGH.reason: 0, Event.FULL.reason: 1, Event.LOW.reason: 2}


def _within_an_instant(groups: list[_Group]) -> list[_Group]:
    """Within a file its order holds; between files of one instant a queue rises before it is full."""
    files = [group.messages[0].file for group in groups]
    if len(set(files)) == len(files):
        return sorted(groups, key=lambda g: (_RISING[g.reason], g.first))
    return groups


_Key = tuple[str | None, str, int, str]


def _key(message: EventMessage, known: EventContext) -> _Key:
    return message.correl_id, message.queue, message.reason, _owner(message, known)


def _one_by_one(
    messages: Iterable[tuple[int, EventMessage]], by: GroupedBy, known: EventContext
) -> Iterator[_Group]:
    """The first message of each queue manager together, then the second, and so on."""
    found: dict[_Key, list[_Group]] = defaultdict(list)
    taken: Counter[tuple[_Key, str]] = Counter()
    for index, message in messages:
        key = _key(message, known)
        groups = found[key]
        at = taken[key, message.queue_manager]
        taken[key, message.queue_manager] += 1
        if at < len(groups):
            groups[at].messages.append(message)
        else:
            groups.append(_Group(by, [message], index))
    for groups in found.values():
        yield from groups


def _by_time(messages: list[tuple[int, EventMessage]], known: EventContext) -> Iterator[_Group]:
    """Into the earliest group of the window that has no message of this queue manager."""
    found: dict[_Key, list[_Group]] = defaultdict(list)
    following: Counter[tuple[_Key, str]] = Counter()
    for index, message in sorted(messages, key=lambda item: (item[1].at, item[0])):
        key = _key(message, known)
        groups = found[key]
        at = following[key, message.queue_manager]
        while at < len(groups) and not _belongs(message, groups[at].messages[0], known):
            at += 1
        if at < len(groups):
            groups[at].messages.append(message)
        else:
            groups.append(_Group("time", [message], index))
        following[key, message.queue_manager] = at + 1
    for groups in found.values():
        yield from groups


def _belongs(message: EventMessage, first: EventMessage, known: EventContext) -> bool:
    if message.at is None or first.at is None or (message.created is None) != (first.created is None):
        return False
    members = known.all_members
    if members and not {message.queue_manager, first.queue_manager} <= set(members):
        return False
    return (message.at - first.at).total_seconds() <= known.window_s


# ---- what a set says ---------------------------------------------------------------------------------------------------


def _set(
    number: int, group: _Group, before: EventSet | None, known: EventContext, seen: set[str]
) -> EventSet:
    messages = sorted(group.messages, key=lambda message: message.queue_manager)
    first = messages[0]
    correl_id = first.correl_id
    facts = known.queues.get(group.queue, QueueFacts())
    event = EVENT_OF_REASON[group.reason]
    members = tuple(_member(message, before) for message in messages)
    is_shared = facts.is_shared
    if is_shared is None:
        is_shared = True if correl_id or len(messages) > 1 else before.is_shared if before else None
    reconciliation = _reconciled(messages, event, before, facts, is_shared=is_shared)
    return EventSet(
        number=number,
        queue=group.queue,
        event=event,
        grouped_by=group.grouped_by,
        correl_id=correl_id,
        at=group.at,
        is_at_local=all(message.created is None for message in messages),
        members=members,
        missing=tuple(_missing(members, known, seen, reconciliation)) if is_shared is not False else (),
        reconciliation=reconciliation,
        rate=_rate_of_all(members),
        most_puts=_largest_share(messages, puts=True),
        most_gets=_largest_share(messages, puts=False),
        is_shared=is_shared,
    )


def _member(message: EventMessage, before: EventSet | None) -> Member:
    elapsed = _elapsed(message, before)
    counted: Literal["since_the_set_before", "shorter", "longer"] | None = None
    if elapsed is not None and message.time_since_reset_s is not None:
        difference = message.time_since_reset_s - elapsed
        counted = (
            "shorter"
            if difference < -CLOCK_TOLERANCE_S
            else "longer"
            if difference > CLOCK_TOLERANCE_S
            else "since_the_set_before"
        )
    rate = _rate(message, elapsed)
    earlier = _earlier(message.queue_manager, before)
    expected = (
        earlier.rate.gets * rate.seconds
        if earlier and earlier.rate.gets and rate.seconds is not None
        else None
    )
    stopped = expected is not None and expected >= GETS_EXPECTED and message.dequeued == 0
    return Member(message, rate, counted, elapsed, stopped, expected if stopped else None)


def _earlier(queue_manager: str, before: EventSet | None) -> Member | None:
    if before is None:
        return None
    return next((member for member in before.members if member.queue_manager == queue_manager), None)


def _elapsed(message: EventMessage, before: EventSet | None) -> Fraction | None:
    """Seconds since the set before; None where times are missing or of another clock."""
    if before is None or before.at is None or message.at is None:
        return None
    if before.is_at_local != (message.created is None):
        return None
    return max(Fraction((message.at - before.at).total_seconds()), Fraction(0))


def _rate(message: EventMessage, elapsed: Fraction | None) -> Rate:
    if message.time_since_reset_s:
        seconds = Fraction(message.time_since_reset_s)
        return Rate(
            _divided(message.enqueued, seconds),
            _divided(message.dequeued, seconds),
            seconds,
            "time_since_reset",
        )
    if message.is_null:
        return Rate(Fraction(0), Fraction(0), None, "no_activity")
    if elapsed:
        return Rate(
            _divided(message.enqueued, elapsed),
            _divided(message.dequeued, elapsed),
            elapsed,
            "creation_times",
        )
    return Rate(None, None)


def _divided(count: int | None, seconds: Fraction) -> Fraction | None:
    return None if count is None else count / seconds


def _rate_of_all(members: Sequence[Member]) -> Rate:
    """Sums; unknown as soon as one is unknown. Times differ by member, so there is none for all."""
    puts = [member.rate.puts for member in members]
    gets = [member.rate.gets for member in members]
    bases = {member.rate.basis for member in members} - {"no_activity", None}
    basis: Literal["time_since_reset", "creation_times"] | None = None
    if bases:
        basis = "creation_times" if "creation_times" in bases else "time_since_reset"
    return Rate(
        None if None in puts else sum((rate for rate in puts if rate is not None), Fraction(0)),
        None if None in gets else sum((rate for rate in gets if rate is not None), Fraction(0)),
        None,
        basis,
    )


def _largest_share(messages: Sequence[EventMessage], *, puts: bool) -> Share | None:
    counts = [
        ((message.enqueued if puts else message.dequeued) or 0, message.queue_manager) for message in messages
    ]
    total = sum(count for count, _ in counts)
    if not total:
        return None
    most, queue_manager = max(counts, key=lambda item: item[0])
    return Share(queue_manager, Fraction(most, total))


def _reconciled(
    messages: Sequence[EventMessage],
    event: Event,
    before: EventSet | None,
    facts: QueueFacts,
    *,
    is_shared: bool | None,
) -> Reconciliation:
    enqueued = sum(message.enqueued or 0 for message in messages)
    dequeued = sum(message.dequeued or 0 for message in messages)
    start: int | None
    basis: Literal["given", "set_before", "assumed"] | None
    if before is not None:
        start = before.reconciliation.depth
        basis = None if start is None else "set_before"
    elif facts.depth is not None:
        start, basis = facts.depth, "given"
    else:
        start, basis = 0, "assumed"
    computed = None if start is None else start + enqueued - dequeued
    if computed is not None and computed < 0 and basis == "assumed":
        start, basis, computed = None, None, None  # more was got than put: it was not empty
    told, told_basis = _told_depth(messages, event, facts, is_shared=is_shared)
    return Reconciliation(start, basis, enqueued, dequeued, computed, told, told_basis)


def _told_depth(
    messages: Sequence[EventMessage], event: Event, facts: QueueFacts, *, is_shared: bool | None
) -> tuple[int | None, ToldBasis | None]:
    """The depth that the event itself tells, and what tells it.

    A queue manager compares HighQDepth of a shared queue at its own puts: without a put it tells nothing.
    """
    if event is Event.LOW:
        return facts.low_depth, None if facts.low_depth is None else "qdepthlo"
    if event is Event.FULL and facts.maxdepth is not None:
        return facts.maxdepth, "maxdepth"
    high = max(
        (m.high_depth for m in messages if m.high_depth is not None and (m.enqueued or not is_shared)),
        default=None,
    )
    if high is None or (facts.high_depth is not None and event is Event.HIGH and high < facts.high_depth):
        return None, None
    return high, "high_q_depth"


# ---- who is missing ----------------------------------------------------------------------------------------------------


def _missing(
    members: Sequence[Member], known: EventContext, seen: set[str], reconciliation: Reconciliation
) -> Iterator[Missing]:
    """Members without a message, and the likely cause."""
    there = {member.queue_manager for member in members}
    names = [name for name in known.all_members if name not in there]
    gap = reconciliation.unreconciled if reconciliation.depth_before_basis != "assumed" else None
    did_something = bool(gap) and not any(member.counted == "shorter" for member in members)
    candidates = [name for name in names if known.perfmev.get(name) is not False]
    for name in names:
        was_active = did_something and names == [name] == candidates
        yield _why(name, is_enabled=known.perfmev.get(name), is_seen=name in seen, was_active=was_active)


def _why(name: str, *, is_enabled: bool | None, is_seen: bool, was_active: bool) -> Missing:
    if is_enabled is False:
        return Missing(
            name,
            "perfmev_disabled",
            f"{name} has PERFMEV(DISABLED): it writes no event. Its puts and gets are in no message.",
        )
    if was_active and is_enabled is None:
        words = (
            f"{name} wrote nothing, although messages that the others do not account for show that it was active: it "
            "probably had PERFMEV(DISABLED) then, or its message was not read."
        )
        return Missing(name, "perfmev_disabled", words)
    if was_active:
        words = (
            f"{name} wrote nothing, although messages that the others do not account for show that it was active and it has "
            "PERFMEV(ENABLED): its message was probably not read, or its SYSTEM.ADMIN.PERFM.EVENT was full."
        )
        return Missing(name, "not_read", words)
    if is_seen:
        words = (
            f"{name} wrote other events in the input, but none in this set: it was probably not active at the time"
            f"{'' if is_enabled else ', or had PERFMEV(DISABLED) then'}."
        )
        return Missing(name, "not_active", words)
    if is_enabled:
        words = (
            f"No event of {name} is in the input: its SYSTEM.ADMIN.PERFM.EVENT was probably not read, was full, or is "
            "inhibited for puts; or it was not active."
        )
        return Missing(name, "not_read", words)
    words = (
        f"No event of {name} is in the input: it has PERFMEV(DISABLED), was not active, or its "
        "SYSTEM.ADMIN.PERFM.EVENT was not read. Give its PERFMEV to narrow this down."
    )
    return Missing(name, "not_known", words)


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _less(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one - other
