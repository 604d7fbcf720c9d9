"""Sets of event messages: all messages of one event, and the state of the queue that follows from them.

An event on a shared queue gives one message for each active queue manager with PERFMEV(ENABLED), all with the same
CorrelId. These messages form a set. Its sums show how the depth of the queue changed since the previous event, if all
queue managers that put or got messages have reported and have counted from the same time.

Sources: IBM MQ for z/OS, "Shared queues and queue depth events"; IBM MQ, "Performance event statistics" and
"Enabling queue depth events"; RESET QSTATS.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import groupby
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field

from planner_core.depth_events.file import Percent
from planner_core.depth_events.model import EVENT_OF_REASON, DepthLimits, Event, EventTitle, Reason
from planner_core.depth_events.readers.message import CorrelId, CountersReport, EventMessage, IsoTime
from planner_core.document.types import MaxDepth, Switch
from planner_core.limits import limit
from planner_core.names import QUEUE_PATTERN
from planner_core.wire import Answer, Exact, Hidden, copied

GroupedBy = Literal["correl_id", "time", "order"]
ReportedBasis = Literal["high_q_depth", "maxdepth", "qdepthlo"]
DepthBasis = Literal["given", "set_before", "assumed"]
RateBasis = Literal["time_since_reset", "creation_times", "no_activity"]
Counted = Literal["since_the_set_before", "shorter", "longer"]
MissingCause = Literal["perfmev_disabled", "not_active", "not_read", "not_known"]
DEFAULT_WINDOW_S: Final = 5
"""Seconds within which messages without CorrelId are treated as one set: a broadcast in a sysplex takes far less time,
and a queue that falls to QDEPTHLO and rises to QDEPTHHI again seldom takes less."""
CLOCK_TOLERANCE_S: Final = 2
"""The tolerance for times: TimeSinceReset is truncated to whole seconds, and so are the times in some formats."""
GETS_EXPECTED: Final = 5
"""A queue manager without gets is treated as stopped if at least this many were expected at its earlier rate."""


_MODEL: Final = ConfigDict(frozen=True, extra="forbid", strict=True)
MOST_FACTS: Final = 5_000
MOST_MEMBERS: Final = limit("queue_managers_per_group")
LONGEST_WINDOW_S: Final = 3_600
QUEUE_MANAGER_PATTERN: Final = r"[A-Za-z0-9./_%$#@]{1,48}"
QueueManagerText = Annotated[str, Field(pattern=f"^{QUEUE_MANAGER_PATTERN}$")]
QueueText = Annotated[str, Field(pattern=rf"^{QUEUE_PATTERN}$")]


class QueueFacts(BaseModel):
    """Attributes of a queue as DISPLAY QLOCAL shows them; null for unknown ones."""

    model_config = _MODEL

    maxdepth: MaxDepth | None = None
    qdepthhi: Percent | None = None
    qdepthlo: Percent | None = None
    qsgdisp: Literal["SHARED", "QMGR", "PRIVATE", "COPY"] | None = None
    depth_before: Annotated[
        MaxDepth | None,
        Field(description="Messages on the queue when the counters of the first set began."),
    ] = None

    @property
    def is_shared(self) -> bool | None:
        """Return whether the queue is shared; None if unknown."""
        return None if self.qsgdisp is None else self.qsgdisp == "SHARED"

    @property
    def high_depth(self) -> int | None:
        """Return the lowest depth at which a put meets QDEPTHHI."""
        if self.maxdepth is None or self.qdepthhi is None:
            return None
        return DepthLimits(maxdepth=self.maxdepth, qdepthhi=self.qdepthhi, qdepthlo=0).high_depth()

    @property
    def low_depth(self) -> int | None:
        """Return the highest depth at which a get meets QDEPTHLO."""
        if self.maxdepth is None or self.qdepthlo is None:
            return None
        return DepthLimits(maxdepth=self.maxdepth, qdepthhi=0, qdepthlo=self.qdepthlo).low_depth()


class EventContext(BaseModel):
    """Facts that the user adds to event messages."""

    model_config = _MODEL

    members: Annotated[
        list[QueueManagerText],
        Field(max_length=MOST_MEMBERS, description="Active queue managers of the group."),
    ] = []
    perfmev: Annotated[
        dict[QueueManagerText, Switch],
        Field(max_length=MOST_MEMBERS, description="PERFMEV by queue manager."),
    ] = {}
    queues: Annotated[dict[QueueText, QueueFacts], Field(max_length=MOST_FACTS)] = {}
    window_s: Annotated[
        int,
        Field(
            ge=0,
            le=LONGEST_WINDOW_S,
            description="Seconds within which messages without CorrelId are treated as one set.",
        ),
    ] = DEFAULT_WINDOW_S
    # The output of a DISPLAY command may list many more queues than those with events.
    _displayed: frozenset[str] = frozenset()

    @property
    def named(self) -> frozenset[str]:
        """Return the queues that the user named individually."""
        return frozenset(self.queues) - self._displayed

    @property
    def all_members(self) -> tuple[str, ...]:
        """Return the members, and queue managers for which only PERFMEV is given."""
        return tuple(dict.fromkeys((*self.members, *self.perfmev)))


MessagesPerSecond = Annotated[
    Exact[Fraction] | None, Field(description="Messages per second; null if no time is known.")
]


@dataclass(frozen=True, kw_only=True)
class Rates(Answer):
    """Rates of one queue manager, or of all queue managers together."""

    put_rate_per_s: MessagesPerSecond = None
    get_rate_per_s: MessagesPerSecond = None
    rate_seconds: Exact[Fraction] | None = None
    rate_basis: Annotated[
        RateBasis | None,
        Field(description="The time on which the rates are based: TimeSinceReset unless that is 0."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SetMember(CountersReport, Rates):
    """One queue manager's part of a set."""

    counted: Annotated[
        Counted | None,
        Field(
            description="TimeSinceReset compared with the time since the previous set; null if no times are known."
        ),
    ]
    elapsed_s: Hidden[Fraction | None]
    has_stopped_getting: Hidden[bool]
    expected_gets: Hidden[Fraction | None]


@dataclass(frozen=True, slots=True)
class MissingMember(Answer):
    """A queue manager without a message in the set, and the likely cause."""

    queue_manager: str
    cause: MissingCause
    words: str


@dataclass(frozen=True, slots=True)
class Reconciliation(Answer):
    """Depth before, puts and gets, compared with the depth that the event itself shows."""

    depth_before: int | None
    depth_before_basis: DepthBasis | None
    msg_enq_count: Annotated[int, Field(description="Sum over the members.")]
    msg_deq_count: Annotated[int, Field(description="Sum over the members.")]
    computed_depth: int | None
    reported_depth: Annotated[
        int | None, Field(alias="told_depth", description="The depth that the event itself shows.")
    ]
    reported_basis: Annotated[ReportedBasis | None, Field(alias="told_basis")]

    @computed_field
    @property
    def unreconciled(self) -> int | None:
        """The depth that the event shows minus the computed depth."""
        if self.computed_depth is None or self.reported_depth is None:
            return None
        return self.reported_depth - self.computed_depth

    @computed_field
    @property
    def depth(self) -> int | None:
        """The depth at the event; null if it is unknown."""
        return self.reported_depth if self.reported_depth is not None else self.computed_depth


@dataclass(frozen=True, slots=True)
class Share(Answer):
    """The queue manager with the largest share."""

    queue_manager: str
    share: Exact[Fraction]


@dataclass(frozen=True, slots=True)
class Imbalance(Answer):
    """The imbalance between the members; null if there were no puts or no gets."""

    puts: Share | None
    gets: Share | None


@dataclass(frozen=True, kw_only=True)
class EventSet(Rates):
    """All messages of one event on one queue."""

    number: int
    queue: str
    event: EventTitle
    grouped_by: Annotated[
        GroupedBy,
        Field(description="How the messages were grouped; by order if they have no time either."),
    ]
    correl_id: CorrelId | None
    at: Hidden[datetime | None]
    is_at_local: Hidden[bool]
    members: tuple[SetMember, ...]
    missing: tuple[MissingMember, ...]
    reconciliation: Reconciliation
    imbalance: Imbalance
    shared: Annotated[
        bool | None, Field(description="Whether the queue is shared; null if this is not known.")
    ]

    @computed_field
    @property
    def reason(self) -> Reason:
        """The reason code of Queue Full, Queue Depth High or Queue Depth Low."""
        return self.event.reason

    @computed_field
    @property
    def created(self) -> IsoTime:
        """Time of the first message, UTC."""
        return None if self.is_at_local else self.at

    @computed_field
    @property
    def created_local(self) -> IsoTime:
        """Time of the first message, in a time zone that the format does not name."""
        return self.at.replace(tzinfo=None) if self.at and self.is_at_local else None

    @computed_field
    @property
    def messages(self) -> int:
        """Number of messages."""
        return len(self.members)

    @computed_field
    @property
    def null_events(self) -> tuple[str, ...]:
        """Queue managers that neither put to the shared queue nor got from it."""
        return tuple(each.queue_manager for each in self.members if each.is_null) if self.shared else ()

    @computed_field
    @property
    def high_q_depth(self) -> int | None:
        """The largest HighQDepth of the members."""
        # Each queue manager updates its own value on its own puts, so a sum would mean nothing.
        return max((m.high_q_depth for m in self.members if m.high_q_depth is not None), default=None)

    @computed_field
    @property
    def net_rate_per_s(self) -> MessagesPerSecond:
        """Puts minus gets per second; null if one of them is unknown."""
        if self.put_rate_per_s is None or self.get_rate_per_s is None:
            return None
        return self.put_rate_per_s - self.get_rate_per_s


def sets_of(messages: Sequence[EventMessage], known: EventContext) -> tuple[EventSet, ...]:
    """Return the sets of all queues in chronological order; messages of other events are skipped."""
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
    """Return the queue manager of a queue that the user described as nonshared; empty for the group."""
    facts = known.queues.get(message.queue)
    return message.queue_manager if facts and facts.is_shared is False else ""


def without_repeats(messages: Iterable[EventMessage]) -> tuple[tuple[EventMessage, ...], int]:
    """Return the messages without duplicates, and the number of duplicates."""
    # Without a CorrelId and a time, two equal messages may belong to two events.
    kept: list[EventMessage] = []
    known: set[tuple[object, ...]] = set()
    repeats = 0
    for message in messages:
        identity = (
            message.reason, message.queue_manager, message.queue, message.time_since_reset_s, message.high_q_depth,
            message.msg_enq_count, message.msg_deq_count, message.correl_id, message.created, message.created_local,
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
    """Yield all groups in chronological order; groups without times come last, in the order of the input."""
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
    """Return groups with the same time in order: as in their file, and across files High before Full before Low."""
    # Some formats have whole seconds only, and the order of files is that of their names.
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
    """Group the first message of each queue manager, then the second, and so on."""
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
    """Add each message to the earliest group in the time window that has no message from its queue manager."""
    found: dict[_Key, list[_Group]] = defaultdict(list)
    following: Counter[tuple[_Key, str]] = Counter()
    # `following` remembers where to continue: groups before it are too old or have this queue manager already, and
    # a search from the start would take quadratic time.
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
    # UTC and a time in an unknown zone cannot be compared.
    if message.at is None or first.at is None or (message.created is None) != (first.created is None):
        return False
    members = known.all_members
    if members and not {message.queue_manager, first.queue_manager} <= set(members):
        return False
    return (message.at - first.at).total_seconds() <= known.window_s


# ---- sets ----------------------------------------------------------------------------------------------------------------


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
    # Only messages on shared queues have a CorrelId, and only they are written by several queue managers.
    if is_shared is None:
        is_shared = True if correl_id or len(messages) > 1 else before.shared if before else None
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
        imbalance=Imbalance(
            _largest_share([(each.msg_enq_count, each.queue_manager) for each in messages]),
            _largest_share([(each.msg_deq_count, each.queue_manager) for each in messages]),
        ),
        shared=is_shared,
        **_rates_of_all(members),
    )


def _member(message: EventMessage, before: EventSet | None) -> SetMember:
    elapsed = _elapsed(message, before)
    counted: Counted | None = None
    if elapsed is not None and message.time_since_reset_s is not None:
        difference = message.time_since_reset_s - elapsed
        counted = (
            "shorter"
            if difference < -CLOCK_TOLERANCE_S
            else "longer"
            if difference > CLOCK_TOLERANCE_S
            else "since_the_set_before"
        )
    rates = _rates(message, elapsed)
    earlier = _earlier(message.queue_manager, before)
    seconds = rates.get("rate_seconds")
    expected = (
        earlier.get_rate_per_s * seconds
        if earlier and earlier.get_rate_per_s and seconds is not None
        else None
    )
    stopped = expected is not None and expected >= GETS_EXPECTED and message.msg_deq_count == 0
    return copied(
        SetMember,
        message,
        counted=counted,
        elapsed_s=elapsed,
        has_stopped_getting=stopped,
        expected_gets=expected if stopped else None,
        **rates,
    )


def _earlier(queue_manager: str, before: EventSet | None) -> SetMember | None:
    if before is None:
        return None
    return next((member for member in before.members if member.queue_manager == queue_manager), None)


def _elapsed(message: EventMessage, before: EventSet | None) -> Fraction | None:
    """Return the seconds since the previous set; None if times are missing or from another clock."""
    if before is None or before.at is None or message.at is None:
        return None
    if before.is_at_local != (message.created is None):
        return None
    return max(Fraction((message.at - before.at).total_seconds()), Fraction(0))


def _rates(message: EventMessage, elapsed: Fraction | None) -> dict[str, Any]:
    """Return the members of `Rates` for one queue manager."""
    seconds = Fraction(message.time_since_reset_s) if message.time_since_reset_s else elapsed
    if not message.time_since_reset_s and message.is_null:
        return {
            "put_rate_per_s": Fraction(0),
            "get_rate_per_s": Fraction(0),
            "rate_basis": "no_activity",
        }
    if not seconds:
        return {}
    return {
        "put_rate_per_s": _divided(message.msg_enq_count, seconds),
        "get_rate_per_s": _divided(message.msg_deq_count, seconds),
        "rate_seconds": seconds,
        "rate_basis": "time_since_reset" if message.time_since_reset_s else "creation_times",
    }


def _divided(count: int | None, seconds: Fraction) -> Fraction | None:
    return None if count is None else count / seconds


def _rates_of_all(members: Sequence[SetMember]) -> dict[str, Any]:
    """Return the members of `Rates` for the whole set."""
    # Times differ by member, so the set has no rate_seconds.
    bases = {member.rate_basis for member in members}
    return {
        "put_rate_per_s": _sum([member.put_rate_per_s for member in members]),
        "get_rate_per_s": _sum([member.get_rate_per_s for member in members]),
        "rate_basis": next((each for each in ("creation_times", "time_since_reset") if each in bases), None),
    }


def _sum(rates: Sequence[Fraction | None]) -> Fraction | None:
    """Return the sum; None if one of the numbers is unknown."""
    return None if None in rates else sum((rate for rate in rates if rate is not None), Fraction(0))


def _largest_share(counts: Sequence[tuple[int | None, str]]) -> Share | None:
    total = sum(count or 0 for count, _ in counts)
    if not total:
        return None
    most, queue_manager = max(counts, key=lambda item: item[0] or 0)
    return Share(queue_manager, Fraction(most or 0, total))


def _reconciled(
    messages: Sequence[EventMessage],
    event: Event,
    before: EventSet | None,
    facts: QueueFacts,
    *,
    is_shared: bool | None,
) -> Reconciliation:
    enqueued = sum(message.msg_enq_count or 0 for message in messages)
    dequeued = sum(message.msg_deq_count or 0 for message in messages)
    start: int | None
    basis: DepthBasis | None
    if before is not None:
        start = before.reconciliation.depth
        basis = None if start is None else "set_before"
    elif facts.depth_before is not None:
        start, basis = facts.depth_before, "given"
    else:
        start, basis = 0, "assumed"
    computed = None if start is None else start + enqueued - dequeued
    if computed is not None and computed < 0 and basis == "assumed":
        start, basis, computed = (
            None,
            None,
            None,
        )  # There were more gets than puts, so the queue was not empty.
    reported, reported_basis = _reported_depth(messages, event, facts, is_shared=is_shared)
    return Reconciliation(start, basis, enqueued, dequeued, computed, reported, reported_basis)


def _reported_depth(
    messages: Sequence[EventMessage], event: Event, facts: QueueFacts, *, is_shared: bool | None
) -> tuple[int | None, ReportedBasis | None]:
    """Return the depth that the event itself shows, and the value that shows it.

    A queue manager updates HighQDepth of a shared queue only on its own puts: without a put, the value shows nothing.
    """
    if event is Event.LOW:
        return facts.low_depth, None if facts.low_depth is None else "qdepthlo"
    if event is Event.FULL and facts.maxdepth is not None:
        return facts.maxdepth, "maxdepth"
    high = max(
        (
            m.high_q_depth
            for m in messages
            if m.high_q_depth is not None and (m.msg_enq_count or not is_shared)
        ),
        default=None,
    )
    if high is None or (facts.high_depth is not None and event is Event.HIGH and high < facts.high_depth):
        return None, None
    return high, "high_q_depth"


# ---- who is missing ----------------------------------------------------------------------------------------------------


def _missing(
    members: Sequence[SetMember], known: EventContext, seen: set[str], reconciliation: Reconciliation
) -> Iterator[MissingMember]:
    """Yield members without a message, and the likely cause."""
    there = {member.queue_manager for member in members}
    names = [name for name in known.all_members if name not in there]
    # A gap shows activity of the missing member only if the depth before and all counters are reliable.
    gap = reconciliation.unreconciled if reconciliation.depth_before_basis != "assumed" else None
    did_something = bool(gap) and not any(member.counted == "shorter" for member in members)
    candidates = [name for name in names if known.perfmev.get(name) != "DISABLED"]
    for name in names:
        was_active = did_something and names == [name] == candidates
        yield _why(name, known.perfmev.get(name), is_seen=name in seen, was_active=was_active)


def _why(name: str, perfmev: Switch | None, *, is_seen: bool, was_active: bool) -> MissingMember:
    if perfmev == "DISABLED":
        return MissingMember(
            name,
            "perfmev_disabled",
            f"{name} has PERFMEV(DISABLED): it writes no event. Its puts and gets are not in any message.",
        )
    if was_active and perfmev is None:
        words = (
            f"{name} wrote nothing, although messages that the others do not account for show that it was active: it "
            "probably had PERFMEV(DISABLED) then, or its message was not read."
        )
        return MissingMember(name, "perfmev_disabled", words)
    if was_active:
        words = (
            f"{name} wrote nothing, although messages that the others do not account for show that it was active and it has "
            "PERFMEV(ENABLED): its message was probably not read, or its SYSTEM.ADMIN.PERFM.EVENT was full."
        )
        return MissingMember(name, "not_read", words)
    if is_seen:
        words = (
            f"{name} wrote other events in the input, but none in this set: it was probably not active at the time"
            f"{'' if perfmev else ', or had PERFMEV(DISABLED) then'}."
        )
        return MissingMember(name, "not_active", words)
    if perfmev:
        words = (
            f"No event of {name} is in the input: its SYSTEM.ADMIN.PERFM.EVENT was probably not read, was full, or is "
            "inhibited for puts; or it was not active."
        )
        return MissingMember(name, "not_read", words)
    words = (
        f"No event of {name} is in the input: it has PERFMEV(DISABLED), was not active, or its "
        "SYSTEM.ADMIN.PERFM.EVENT was not read. Specify its PERFMEV to narrow this down."
    )
    return MissingMember(name, "not_known", words)
