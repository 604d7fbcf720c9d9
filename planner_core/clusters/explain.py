"""The reason why each message was not re-allocated, from displays of the sender and a browse of its transmission queue.

Each message gets one reason:

`not_eligible`      it is tied to its queue manager: bind on open, a managed group, or a named queue manager
`only_choice`       the queue has only one instance
`most_favoured`     the destination it waits for remains after the eliminations, alone or among equals
`put_disabled`      every remaining instance is PUT(DISABLED): the attempt fails and the message stays
`not_redriven`      another instance is more favored, and the channel has not failed since
`channel_works`     its channel does not fail: the message waits to be sent
`unknown`           the texts are not sufficient; the explanation names the missing ones
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, PlainSerializer, WithJsonSchema, computed_field

from planner_core.clusters.advice import RANK_STEPS, other_mode
from planner_core.clusters.answer import ModeName, QueueDecision
from planner_core.clusters.decide import Decision, decide
from planner_core.clusters.displays import LONG_RETRIES, DisplayProblem, Displays, Retries, Route, assumed
from planner_core.clusters.messages import Browse, WaitingMessage
from planner_core.clusters.model import Bind, EliminationOrder, Message, Mode
from planner_core.clusters.reallocate import CAUSES, Cause, eligibility
from planner_core.document.cluster_instances import Status
from planner_core.findings import Finding, finding, in_order
from planner_core.provenance import Assumption, Basis
from planner_core.questions import Metavar
from planner_core.wire import Answer, TextOrNull, Unchecked

Reason = Literal[
    "not_eligible", "only_choice", "most_favoured", "put_disabled", "not_redriven", "channel_works", "unknown"
]
REASONS: Final[Mapping[Reason, str]] = {
    "not_eligible": "not eligible",
    "only_choice": "only one destination",
    "most_favoured": "still most favored",
    "put_disabled": "PUT(DISABLED)",
    "not_redriven": "not re-driven yet",
    "channel_works": "waits to be sent",
    "unknown": "not known",
}
"""Display names of the reasons, in the order in which they are checked."""
MOST_QUEUES: Final = 5_000
"""The maximum number of queues for which the messages of one browse are explained."""
_WORKS: Final = (Status.RUNNING, Status.INACTIVE)
_TRIES: Final = (Status.STARTING, Status.BINDING, Status.INITIALIZING, Status.REQUESTING, Status.SWITCHING)
_SYSTEM: Final = "SYSTEM."
_DEFBINDS: Final[Mapping[str, Bind]] = {"OPEN": "OPEN", "NOTFIXED": "NOTFIXED", "GROUP": "GROUP"}
_SHOWN: Final = 5
_ONE_PUT: Final = timedelta(seconds=1)
"""The difference below which time stamps belong to one put; attempts are at least a second apart."""


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


Moment = Annotated[datetime, Unchecked(), PlainSerializer(_iso, return_type=str)]
Counts = Annotated[
    Mapping[Reason, int],
    Unchecked(),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {reason: {"type": "integer"} for reason in REASONS},
            "required": list(REASONS),
        }
    ),
]
"""Number of messages by reason, including reasons without messages."""


class WaitingQuestion(EliminationOrder):
    """Facts that neither displays nor a browse show, and the order of eliminations."""

    what: ClassVar[str] = "The question"
    queue: Annotated[str, Metavar("QUEUE")] = Field(
        "", max_length=48, description="the queue for messages without a queue name"
    )
    failed_at: Annotated[str, Metavar("TIME")] = Field(
        "",
        max_length=40,
        description="when the channels first failed (ISO format; UTC unless a time zone is specified)",
    )
    browsed_at: Annotated[str, Metavar("TIME", option="at")] = Field(
        "",
        max_length=40,
        description="when the browse and the displays were taken (ISO format; UTC unless a time zone is specified)",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRetry(Answer):
    """The next attempt of a channel."""

    at: Annotated[Moment | None, Field(description="Null if no starting time is known.")]
    within_s: Annotated[int | None, Field(description="At most this long after the display.")]
    interval_s: int | None
    attempts_left: int | None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedMessage(Answer):
    """A message, and the reason why it was not re-allocated."""

    number: Annotated[
        int, Field(description="Position in the browse, starting at 1, or the number in the dump.")
    ]
    message_id: TextOrNull
    channel: Annotated[TextOrNull, Field(description="The channel for which it waits.")]
    queue_manager: TextOrNull
    queue: TextOrNull
    put_at: Annotated[
        Moment | None, Field(description="Put time on the transmission queue; re-allocation renews it.")
    ]
    original_put_at: Annotated[
        Moment | None, Field(description="Put time in the application's own descriptor.")
    ]
    eligible: Annotated[bool | None, Field(description="Null if the browse does not show it.")]
    causes: tuple[Cause, ...]
    reason: Reason
    explanation: str
    step: Annotated[
        TextOrNull, Field(description="For most_favoured: `id` of the last step that eliminated a candidate.")
    ] = ""
    attribute: TextOrNull = ""
    goes_to: Annotated[
        tuple[str, ...], Field(description="For not_redriven: the destinations of the next attempt.")
    ] = ()
    evaluated_since: Annotated[
        bool | None,
        Field(
            description="Whether its put time shows an evaluation since it was put, or since the channel failed; null: not "
            "known."
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingChannel(Answer):
    """A channel, and the messages that wait for it."""

    channel: TextOrNull
    queue_manager: TextOrNull
    status: Annotated[Status, Unchecked(), PlainSerializer(str, return_type=str)] | None
    counts: Counts
    last_evaluated_at: Moment | None
    in_doubt: bool | None
    next_retry: NextRetry | None

    @computed_field
    @property
    def messages(self) -> int:
        """Number of messages."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingExplanation(Answer):
    """The reason for each message that waits."""

    queue_manager: Annotated[TextOrNull, Field(description="The sender; null if no display names it.")]
    mode: ModeName
    channels: tuple[WaitingChannel, ...]
    messages: tuple[ExplainedMessage, ...]
    decisions: Annotated[
        tuple[QueueDecision, ...], Field(description="The steps for each queue for which messages wait.")
    ]
    assumptions: tuple[Assumption, ...]
    problems: tuple[DisplayProblem, ...]
    findings: tuple[Finding, ...]

    @computed_field
    @property
    def counts(self) -> Counts:
        """Messages by reason."""
        counted = Counter(each.reason for each in self.messages)
        return {reason: counted[reason] for reason in REASONS}


def explain(
    displays: Displays,
    browse: Browse,
    *,
    mode: Mode = "seed",
    queue: str = "",
    failed_at: datetime | None = None,
    browsed_at: datetime | None = None,
) -> WaitingExplanation:
    """Explain every message of a browse.

    Args:
        displays: Displays of the sending queue manager.
        browse: Messages of its cluster transmission queue.
        mode: The order of eliminations, as for `decide`.
        queue: The queue of messages without a queue name.
        failed_at: The time when the channels first failed, if known.
        browsed_at: The time of the browse and the displays, if known.
    """
    return _Explaining(displays, browse, mode, queue, failed_at, browsed_at).explanation()


def next_retry(
    route: Route,
    *,
    failed_at: datetime | None = None,
    browsed_at: datetime | None = None,
    last_at: datetime | None = None,
) -> NextRetry | None:
    """Return the next attempt of a channel; None if the channel does not retry.

    After a failure a channel waits SHORTTMR seconds before each of SHORTRTY attempts, then LONGTMR before each of
    LONGRTY; after the last it is STOPPED. Attempts are assumed to take no time: each TCP/IP timeout delays the next.

    Args:
        route: The channel with its retry attributes and the number of retries left.
        failed_at: The time when it first failed.
        browsed_at: The time after which the next attempt is expected.
        last_at: The latest attempt that the put times of messages show.
    """
    status, retries = route.channel.status, route.retries
    if status is Status.STOPPED:
        words = "The channel is STOPPED: no attempts are made and no messages are re-driven until it is started and fails."
        return NextRetry(at=None, within_s=None, interval_s=None, attempts_left=0, explanation=words)
    if status is not Status.RETRYING:
        return None
    short_s, long_s = timedelta(seconds=retries.short_interval_s), timedelta(seconds=retries.long_interval_s)
    shape = _shape(retries)
    in_short = retries.short_left > 0 if retries.short_left is not None else None
    left = retries.short_left if in_short else retries.long_left if in_short is False else None
    if in_short is None and failed_at and (browsed_at or last_at):
        since = (browsed_at or last_at or failed_at) - failed_at
        # Without SHORTRTS, only the time since the failure shows whether short retries are left.
        in_short = since < short_s * retries.short
    if left == 0 or (in_short is False and not retries.long):
        why = "SHORTRTS(0), LONGRTS(0)" if left == 0 else "LONGRTY(0)"
        words = (
            f"No attempt is left ({why}): when the last one has failed, the channel is STOPPED, and no messages are "
            f"re-driven until it is started and fails. {shape}"
        )
        return NextRetry(at=None, within_s=None, interval_s=None, attempts_left=0, explanation=words)
    interval = short_s if in_short else long_s if in_short is False else None
    at = None
    if last_at and interval:
        # From the last attempt and not from the failure: attempts that time out delay all later ones.
        at = last_at + interval
        if browsed_at and at < browsed_at:
            at = None  # that attempt is over, and no message of this browse shows it
    if at is None and failed_at and browsed_at and browsed_at >= failed_at:
        at = _scheduled(failed_at, browsed_at, retries)
    seconds = None if interval is None else int(interval.total_seconds())
    if at:
        words = f"Next attempt at about {_clock(at)}. {shape}"
    elif seconds is not None:
        words = f"Next attempt within {seconds} s of the display. {shape}"
    elif failed_at and retries.short:
        first = ", ".join(_clock(failed_at + short_s * each) for each in range(1, min(3, retries.short) + 1))
        words = f"Attempts since the failure: {first}{' …' if retries.short > 3 else ''}. {shape}"  # noqa: PLR2004
    else:
        words = f"The display does not show how many attempts are left (SHORTRTS, LONGRTS). {shape}"
    return NextRetry(at=at, within_s=seconds, interval_s=seconds, attempts_left=left, explanation=words)


def _shape(retries: Retries) -> str:
    """Return the complete retry schedule as text."""
    parts = []
    if retries.short:
        parts.append(f"{retries.short} every {retries.short_interval_s} s (SHORTRTY, SHORTTMR)")
    if retries.long:
        count = "repeatedly" if retries.long >= LONG_RETRIES else str(retries.long)
        parts.append(f"{count} every {retries.long_interval_s} s (LONGRTY, LONGTMR)")
    else:
        parts.append("none after that (LONGRTY(0))" if parts else "none (SHORTRTY(0), LONGRTY(0))")
    return f"Attempts: {', then '.join(parts)}."


def _scheduled(failed_at: datetime, now: datetime, retries: Retries) -> datetime | None:
    """Return the first attempt after now, counted from the failure; None after the last one."""
    since, short = now - failed_at, retries.short
    short_s, long_s = timedelta(seconds=retries.short_interval_s), timedelta(seconds=retries.long_interval_s)
    if short and short_s and since < short * short_s:
        return failed_at + (since // short_s + 1) * short_s
    beyond = since - short * short_s
    # No time follows from an interval of 0.
    if not long_s or beyond // long_s >= retries.long:
        return None
    return failed_at + short * short_s + (beyond // long_s + 1) * long_s


class _Explaining:
    def __init__(
        self,
        displays: Displays,
        browse: Browse,
        mode: Mode,
        queue: str,
        failed_at: datetime | None,
        browsed_at: datetime | None,
    ) -> None:
        self.displays, self.browse, self.mode, self.queue = displays, browse, mode, queue
        self.failed_at, self.browsed_at = failed_at, browsed_at
        self.decisions: dict[str, tuple[Decision, Decision]] = {}
        # Reversed, so that the first row of a channel stays if several have its name.
        self.by_channel = {route.channel.name: route for route in reversed(displays.routes)}
        self.findings: list[Finding] = []
        self.differing: set[str] = set()
        self.judged: dict[tuple[str, str, bool | None, bool], ExplainedMessage] = {}
        self.ranked: set[tuple[str, str]] = set()
        """Queues and channels whose messages would go elsewhere without CLWLRANK."""
        self.is_bound_by_queue = False
        """True if DEFBIND decided how a message was bound."""
        self.retries: dict[str, NextRetry | None] = {}
        self.last: dict[str, datetime] = {}

    def explanation(self) -> WaitingExplanation:
        # All put times are read first: explanations name the next retry, which is counted from the channel's last put
        # time.
        for message in self.browse.messages:
            self._note_evaluation(message)
        messages = tuple(self._explained(each) for each in self.browse.messages)
        channels = self._channels(messages)
        self._find(messages, channels)
        return WaitingExplanation(
            queue_manager=self.displays.queue_manager,
            mode=self.mode,
            messages=messages,
            channels=channels,
            decisions=tuple(
                QueueDecision.of(first, chosen=first.queue_managers)
                for first, _ in self.decisions.values()
                if first.candidates
            ),
            assumptions=(*self.displays.assumptions, *self._assumptions()),
            problems=(*self.displays.problems, *self.browse.problems),
            findings=in_order(self.findings),
        )

    def _note_evaluation(self, message: WaitingMessage) -> None:
        """Store a renewed put time, which shows when the channel last failed."""
        channel = self._channel(message)
        if message.put_at and _is_renewed(message) and self._is_since(message.put_at):
            self.last[channel] = max(self.last.get(channel, message.put_at), message.put_at)

    def _channel(self, message: WaitingMessage) -> str:
        """Return the channel that a message names, or the only channel to its queue manager; otherwise empty."""
        if message.channel:
            return message.channel
        routes = {each.channel.name for each in self.displays.routes_to(message.queue_manager)}
        return routes.pop() if len(routes) == 1 else ""

    def _explained(self, browsed: WaitingMessage) -> ExplainedMessage:
        message = browsed if browsed.queue or not self.queue else replace(browsed, queue=self.queue)
        channel = self._channel(message)
        route = self.by_channel.get(channel)
        manager = route.channel.queue_manager if route else message.queue_manager
        is_eligible, causes, words = self._eligible(message)
        base = ExplainedMessage(
            number=message.number,
            message_id=message.message_id,
            channel=channel,
            queue_manager=manager,
            queue=message.queue,
            put_at=message.put_at,
            original_put_at=message.original_put_at,
            eligible=is_eligible,
            causes=causes,
            reason="unknown",
            explanation="",
            evaluated_since=self._evaluated(message),
        )
        if is_eligible is False:
            return replace(base, reason="not_eligible", explanation=words)
        missing = self._missing(message, channel, route)
        if is_eligible is None:
            missing = words
        if missing or route is None:
            return replace(base, explanation=missing)
        # A browse has up to 100,000 messages; messages that are alike in everything that matters here share one
        # elimination.
        key = message.queue, channel, base.evaluated_since, message.original_put_at is None
        if key not in self.judged:
            self.judged[key] = self._judged(base, route)
        alike = self.judged[key]
        return replace(
            base,
            reason=alike.reason,
            explanation=alike.explanation,
            step=alike.step,
            attribute=alike.attribute,
            goes_to=alike.goes_to,
        )

    def _eligible(self, message: WaitingMessage) -> tuple[bool | None, tuple[Cause, ...], str]:
        if message.token_is_zero is False:
            return True, (), ""  # the queue manager itself decides by the token, so no other option matters
        is_system = message.queue.startswith(_SYSTEM)
        bind = self._by_queue(message.queue) if message.bind == "AS_Q_DEF" else message.bind
        if message.token_is_zero is None:
            if bind is None and message.bind and not message.names_queue_manager and not is_system:
                return None, (), self._no_defbind(message.queue)
            if bind is None and not message.names_queue_manager and not is_system:
                words = "The browse shows neither its accounting token nor how it was bound: whether it may be re-allocated is not known."
                return None, (), words
            if bind == "GROUP" and message.logical_order is None and not message.names_queue_manager:
                words = (
                    "It is bound on group, so whether it may be re-allocated depends on MQPMO_LOGICAL_ORDER (logical_order), "
                    "which the browse does not show."
                )
                return None, (), words
        may = eligibility(
            Message(
                bind=bind or "NOTFIXED",
                logical_order=bool(message.logical_order),
                names_queue_manager=bool(message.names_queue_manager),
                is_system=is_system,
                token_is_zero=message.token_is_zero,
            )
        )
        if may.is_eligible:
            return True, (), ""
        words = f"Not eligible: {'; '.join(CAUSES[cause] for cause in may.causes)}."
        if bind and message.bind == "AS_Q_DEF":
            words += f" It is bound as defined for the queue, and {message.queue} has DEFBIND({bind})."
        if "token_zero" in may.causes and "OPEN" in self.displays.defbinds(message.queue):
            words += f" {message.queue} has DEFBIND(OPEN), so applications that use the queue's default bind on open."
        return False, may.causes, words

    def _by_queue(self, queue: str) -> Bind | None:
        """Return the DEFBIND value of all instances; None if their values differ or are not shown."""
        shown = self.displays.defbinds(queue)
        bind = _DEFBINDS.get(shown[0]) if len(shown) == 1 else None
        self.is_bound_by_queue |= bind is not None
        return bind

    def _no_defbind(self, queue: str) -> str:
        shown = self.displays.defbinds(queue)
        why = (
            f"instances of {queue} have different values ({', '.join(shown)})"
            if len(shown) > 1
            else f"no DISPLAY QCLUSTER row of {queue or 'its queue'} shows it"
            if not shown
            else f"{queue} shows DEFBIND({shown[0]}), which is not OPEN, NOTFIXED or GROUP"
        )
        return f"It is bound as the queue's DEFBIND specifies, but {why}: whether it may be re-allocated is not known."

    def _evaluated(self, message: WaitingMessage) -> bool | None:
        if message.put_at is None:
            return None
        if self.failed_at is None:
            # Without the time of the failure, a put time that was not renewed shows nothing.
            return _is_renewed(message) or None
        if message.original_put_at is None:
            return self._is_since(message.put_at)
        return self._is_since(message.put_at) and _is_renewed(message)

    def _is_since(self, at: datetime) -> bool:
        return self.failed_at is None or at >= self.failed_at

    def _missing(self, message: WaitingMessage, channel: str, route: Route | None) -> str:
        """Return the information that is missing to explain a message; empty if none is."""
        if not channel:
            return "The browse names neither a channel for it (CorrelId) nor a queue manager that is reached through a single channel."
        if route is None:
            return f"No DISPLAY CLUSQMGR row has channel {channel}: display CLUSQMGR(*) ALL at the sending queue manager."
        if route.is_state_unread:
            return f"The state of {channel} was truncated or is not a valid channel state (`problems` shows where): display CHSTATUS(*) ALL again."
        if not message.queue:
            return (
                "The browse does not show which queue it is for, because the dump does not contain the transmission queue "
                "header. Specify the queue if all messages are for the same one."
            )
        # Each queue takes two decisions among up to hundreds of instances.
        if message.queue not in self.decisions and len(self.decisions) >= MOST_QUEUES:
            return f"One answer covers messages for at most {MOST_QUEUES:,} queues: enter messages for fewer queues."
        if not self.displays.queues_named(message.queue):
            return f"No DISPLAY QCLUSTER row has queue {message.queue}: display QCLUSTER(*) ALL at the sending queue manager."
        here = [
            c
            for c in self._decided(message.queue)[0].candidates
            if c.queue_manager == route.channel.queue_manager
        ]
        if not here:
            return f"{message.queue} has no instance on {route.channel.queue_manager} in the displays: the instance has since been removed."
        return ""

    def _decided(self, queue: str) -> tuple[Decision, Decision]:
        """Return the choice among the instances of a queue, in the requested mode and in the other mode."""
        if queue not in self.decisions:
            situation = self.displays.situation(queue)
            other = decide(situation, mode=other_mode(self.mode))
            self.decisions[queue] = decide(situation, mode=self.mode), other
        return self.decisions[queue]

    def _judged(self, base: ExplainedMessage, route: Route) -> ExplainedMessage:
        decision, other = self._decided(base.queue)
        status = route.channel.status
        held = tuple(
            c
            for c in decision.candidates
            if c.queue_manager == route.channel.queue_manager
            and (c.channel is None or c.channel.name == base.channel)
        )
        if set(decision.chosen) != set(other.chosen):
            self.differing.add(base.queue)
        # One queue manager may be reached through several channels, and that is a choice.
        managers = {candidate.queue_manager for candidate in decision.candidates}
        if len(managers) == 1 and len(decision.candidates) == 1:
            words = (
                f"Only one destination: {base.queue} has one known instance, on {route.channel.queue_manager}. "
                + (
                    f"{base.channel} is {status}: the message waits to be sent."
                    if status in _WORKS
                    else "The message waits until that channel works."
                )
            )
            return replace(base, reason="only_choice", explanation=words)
        if status in _WORKS:
            words = (
                f"{base.channel} is {status}, so the message waits to be sent. Messages are re-allocated only when a "
                "channel stops or fails a retry."
            )
            return replace(base, reason="channel_works", explanation=words)
        if decision.failure:
            words = (
                f"Every instance that remains in step {_deciding(decision)} is PUT(DISABLED): the attempt fails, and the "
                "message stays on the transmission queue."
            )
            return replace(base, reason="put_disabled", explanation=words)
        if any(candidate in decision.chosen for candidate in held):
            return self._most_favoured(base, route, decision)
        return self._not_redriven(base, route, decision)

    def _most_favoured(self, base: ExplainedMessage, route: Route, decision: Decision) -> ExplainedMessage:
        here = f"{route.channel.queue_manager} through {base.channel}"
        equals = [c.label for c in decision.chosen if not (c.channel and c.channel.name == base.channel)]
        step = decision.deciding
        if equals:
            words = f"{here} is still among the most favored, equal with {_list(equals)}: each attempt may choose any of them in turn."
        else:
            words = f"{here} is still the most favored; its channel is {route.channel.status}."
        if step:
            gone = {e.candidate.label: (s, e.reason) for s in decision.steps for e in s.eliminated}
            shown = [
                f"step {s.step} eliminates {label}: {why}" for label, (s, why) in list(gone.items())[:_SHOWN]
            ]
            more = f"; and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
            words += f" Decided by {step.attribute}: {'; '.join(shown)}{more}."
        if base.evaluated_since:
            words += f" {_looked_at(base)}."
        if route.channel.status is not Status.STOPPED and not equals and not self._is_spent(route):
            words += " Each attempt renews its put time and leaves it here."
        if step and step.id in RANK_STEPS and not equals and self._rank_holds(decision, route):
            self.ranked.add((base.queue, base.channel))
            words += " Without the rank, it would go elsewhere: rank is evaluated before the channel state, and priority after it."
        return replace(
            base,
            reason="most_favoured",
            explanation=words,
            step=step.id if step else "",
            attribute=step.attribute if step else "",
        )

    def _rank_holds(self, decision: Decision, route: Route) -> bool:
        """Return whether the message would go elsewhere without rank."""
        situation = decision.situation
        # With equal ranks, the steps that compare them eliminate no candidate.
        level = replace(
            situation,
            instances=tuple(replace(each, rank=0) for each in situation.instances),
            channels=tuple(replace(each, rank=0) for each in situation.channels),
        )
        return route.channel.queue_manager not in decide(level, mode=self.mode).queue_managers

    def _not_redriven(self, base: ExplainedMessage, route: Route, decision: Decision) -> ExplainedMessage:
        goes_to = tuple(candidate.label for candidate in decision.chosen)
        status = route.channel.status
        sends = "an attempt that fails would send" if self._is_spent(route) else "the next attempt sends"
        lead = f"Not re-driven yet: according to the displays, {sends} it to {_list(goes_to)}."
        if base.evaluated_since:
            lead = (
                f"{_looked_at(base, ', and it stayed')}; according to the displays, {sends} it to "
                f"{_list(goes_to)}."
            )
        if status is Status.STOPPING:
            when = f"{base.channel} is STOPPING: the messages that wait for it are re-driven before it has stopped."
        elif status in _TRIES:
            when = f"{base.channel} is {status}: it is re-driven if this attempt fails."
        elif status is Status.PAUSED:
            when = f"{base.channel} is PAUSED: it is re-driven if the channel stops or fails."
        else:
            retry = self._retry(route)
            when = retry.explanation if retry else ""
        return replace(base, reason="not_redriven", explanation=f"{lead} {when}".strip(), goes_to=goes_to)

    def _is_spent(self, route: Route) -> bool:
        """Return whether a retrying channel has no attempt left."""
        retry = self._retry(route) if route.channel.status is Status.RETRYING else None
        return retry is not None and retry.attempts_left == 0

    def _retry(self, route: Route) -> NextRetry | None:
        name = route.channel.name
        if name not in self.retries:
            self.retries[name] = next_retry(
                route, failed_at=self.failed_at, browsed_at=self.browsed_at, last_at=self.last.get(name)
            )
        return self.retries[name]

    def _channels(self, messages: Sequence[ExplainedMessage]) -> tuple[WaitingChannel, ...]:
        counted: dict[str, Counter[Reason]] = {}
        managers: dict[str, str] = {}
        for each in messages:
            counted.setdefault(each.channel, Counter())[each.reason] += 1
            managers.setdefault(each.channel, each.queue_manager)
        made = []
        for channel, counts in sorted(counted.items(), key=lambda item: (-item[1].total(), item[0])):
            route = self.by_channel.get(channel)
            made.append(
                WaitingChannel(
                    channel=channel,
                    queue_manager=route.channel.queue_manager if route else managers[channel],
                    status=route.channel.status if route and not route.is_state_unread else None,
                    counts={reason: counts[reason] for reason in REASONS},
                    next_retry=self._retry(route) if route else None,
                    last_evaluated_at=self.last.get(channel),
                    in_doubt=route.in_doubt if route else None,
                )
            )
        return tuple(made)

    def _assumptions(self) -> Iterable[Assumption]:
        if self.last:
            yield assumed(
                "A put time later than that of the application's own descriptor was renewed by an attempt to re-allocate.",
                Basis.DERIVED,
            )
        if any(retry and retry.at for retry in self.retries.values()):
            yield assumed(
                "Attempts to connect are assumed to take no time: each attempt that times out delays those that follow.",
                Basis.ASSUMED,
            )
        if self.is_bound_by_queue:
            yield assumed(
                "Messages bound as defined for the queue were bound with the DEFBIND that the queue's instances show now.",
                Basis.ASSUMED,
            )
        if self.queue and any(not each.queue for each in self.browse.messages):
            yield assumed(f"Messages that name no queue are for {self.queue}, as entered.", Basis.ASSUMED)

    def _find(self, messages: Sequence[ExplainedMessage], channels: Sequence[WaitingChannel]) -> None:
        self._find_missing()
        for channel in channels:
            if channel.in_doubt:
                route = self.by_channel[channel.channel]
                count = route.in_doubt_messages
                batch = "The messages of that batch" if count is None else _many(count)
                self._say(
                    "CLUSTER_CHANNEL_IN_DOUBT",
                    f"{channel.channel} is in doubt about a batch. {batch} cannot be re-allocated until that is resolved, "
                    "regardless of the explanations.",
                )
            held = channel.counts["not_redriven"] + channel.counts["most_favoured"]
            if channel.status is Status.STOPPED and held:
                self._say(
                    "CLUSTER_STOPPED_CHANNEL_HOLDS",
                    f"{channel.channel} is STOPPED and holds {_many(held)} that could be re-allocated. It is no longer "
                    "retried, so they are not re-driven. Start it; if it fails, they are re-driven.",
                )
        pinned = sum(each.reason == "not_eligible" for each in messages)
        if pinned:
            self._say(
                "CLUSTER_MESSAGE_NOT_ELIGIBLE",
                f"{pinned} of {_many(len(messages))} cannot be re-allocated: they wait for their queue manager and arrive "
                "together when it returns.",
            )
        ranked = Counter(
            (each.queue, each.attribute)
            for each in messages
            if each.reason == "most_favoured" and (each.queue, each.channel) in self.ranked
        )
        for (queue, attribute), count in ranked.items():
            self._say(
                "CLUSTER_RANK_HOLDS_MESSAGES",
                f"{_many(count)} for {queue} {'stays' if count == 1 else 'stay'} because of {attribute}, which is "
                "evaluated before the channel state. To let messages move when a channel stops, set CLWLPRTY instead.",
            )
        for queue in sorted(self.differing):
            first, second = self._decided(queue)
            self._say(
                "CLUSTER_MODES_DIFFER",
                f"For {queue}, the order {first.mode} chooses {_list(first.queue_managers) or 'no destination'} and the order "
                f"{second.mode} {_list(second.queue_managers) or 'no destination'}: the explanations of its messages follow "
                f"{first.mode}.",
            )
        unknown = sum(each.reason == "unknown" for each in messages)
        if unknown:
            self._say(
                "CLUSTER_MESSAGES_UNKNOWN",
                f"The texts do not explain {_many(unknown)}; the explanation of each names the missing text.",
            )

    def _find_missing(self) -> None:
        wanted = {
            "CLUSQMGR": "DISPLAY CLUSQMGR(*) ALL",
            "QUEUE": "DISPLAY QCLUSTER(*) ALL",
            "CHSTATUS": "DISPLAY CHSTATUS(*) ALL",
        }
        missing = [command for kind, command in wanted.items() if kind not in self.displays.shows]
        if missing:
            self._say(
                "CLUSTER_DISPLAY_MISSING",
                f"Missing from the texts: {', '.join(missing)} of the sending queue manager.",
            )
        for route in self.displays.routes:
            if route.deftype == "CLUSSDR":
                self._say(
                    "CLUSTER_CHANNEL_NOT_RECOGNISED",
                    f"{route.channel.name} to {route.channel.queue_manager} is DEFTYPE(CLUSSDR): the queue manager "
                    "at the other end has not responded yet, so the values shown come from the local definition "
                    "and are not in effect.",
                )
        problems = len(self.displays.problems) + len(self.browse.problems)
        if problems:
            self._say(
                "CLUSTER_TEXT_NOT_READ",
                f"The texts could not be read in {problems} {'place' if problems == 1 else 'places'}; `problems` names each with its line.",
            )

    def _say(self, code: str, message: str) -> None:
        self.findings.append(finding(code, message))


def _is_renewed(message: WaitingMessage) -> bool:
    """Return whether the put time was renewed after the original put; times within a second belong to the same put."""
    put_at, original = message.put_at, message.original_put_at
    # Only an attempt to re-allocate renews the put time of the outer descriptor.
    return bool(put_at and original and put_at - original >= _ONE_PUT)


def _looked_at(message: ExplainedMessage, and_what: str = "") -> str:
    """Return the meaning of a put time that is later than the failure, as a sentence."""
    if message.original_put_at is None:
        return f"Its put time is after the failure: it was evaluated since{and_what}; or it was put since"
    return f"Its put time shows that it was evaluated since{and_what}"


def _deciding(decision: Decision) -> str:
    step = decision.deciding
    return step.step if step else ""


def _list(labels: Iterable[str]) -> str:
    every = list(labels)
    shown = every[:_SHOWN]
    if len(every) > _SHOWN:
        return f"{', '.join(shown)} and {len(every) - _SHOWN} more"
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _many(count: int) -> str:
    return f"{count} message{'' if count == 1 else 's'}"


def _clock(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
