"""Join the displays of the sending queue manager (CLUSQMGR, QCLUSTER, CHSTATUS, QMGR) to the input of a decision.

Rows are joined by QMID, or by name if a display omits it. The state of a channel comes from CHSTATUS, otherwise from
CLUSQMGR; if neither shows it, it is INACTIVE, because a channel without status is inactive. Attributes that a display
omits have IBM's defaults; `assumptions` reports both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, TypeVar, get_args

from pydantic import Field

from planner_core import tables
from planner_core.clusters.model import LocalUse, Situation
from planner_core.document.cluster_instances import DEFAULT_WEIGHT, MOST_CHANNELS, Channel, Instance, Status
from planner_core.provenance import Assumption, Basis
from planner_core.texts.mqsc.records import Record, read_records
from planner_core.wire import Answer

_DEFAULTS: Final = tables.constants("cluster_defaults")
SHORT_RETRIES, SHORT_INTERVAL_S = _DEFAULTS["shortrty"].value, _DEFAULTS["shorttmr"].value
LONG_RETRIES, LONG_INTERVAL_S = _DEFAULTS["longrty"].value, _DEFAULTS["longtmr"].value
"""Defaults of SHORTRTY, SHORTTMR [s], LONGRTY and LONGTMR [s] of a cluster-receiver channel."""
T = TypeVar("T")
_USES: Final[Mapping[str, LocalUse]] = {each: each for each in get_args(LocalUse)}
MOST_ROUTES: Final = 20
"""The maximum number of channels to one queue manager."""
MOST_INSTANCES: Final = 500
"""The maximum number of instances of one queue. No cluster has as many; the limit bounds the join with the channels."""
_KINDS: Final = ("CLUSQMGR", "QUEUE", "CHSTATUS", "QMGR")
_READ: Final = frozenset(
    {
        *(
            "CHANNEL",
            "CLUSTER",
            "CLUSQMGR",
            "QMID",
            "CLWLRANK",
            "CLWLPRTY",
            "CLWLWGHT",
            "NETPRTY",
            "STATUS",
            "SUSPEND",
        ),
        *(
            "DEFTYPE",
            "SHORTRTY",
            "SHORTTMR",
            "LONGRTY",
            "LONGTMR",
            "PUT",
            "DEFBIND",
            "CLUSQT",
            "TYPE",
            "CLWLUSEQ",
        ),
        *("CHLTYPE", "RQMNAME", "SHORTRTS", "LONGRTS", "INDOUBT", "CURMSGS", "CLWLMRUC"),
    }
)
_MOST_DIGITS: Final = 9
_SHOWN: Final = 40
_NAMED: Final = 5
_FOLDED = re.compile(r"\b(?:clusqmgr|queue|chstatus|channel|qmname)\(")
_AS_DISPLAYED = re.compile(r"\b[A-Z][A-Z0-9]{1,11}\(")
_STARTING = re.compile(r"STARTING MQSC FOR QUEUE MANAGER")
_LOCAL_TYPES: Final = ("QLOCAL", "QALIAS", "QREMOTE")


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayProblem(Answer):
    """A part of a text that could not be read."""

    text: str
    line: Annotated[int, Field(description="Line number in the text, starting at 1.")]
    message: str


def assumed(what: str, basis: Basis) -> Assumption:
    """Return an assumption about a fact that the texts do not show."""
    return Assumption(what=what, basis=basis, source=tables.source("project", "Waiting cluster messages"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """Retries of a channel. `..._left` are SHORTRTS and LONGRTS of its status; None if not shown."""

    short: int = SHORT_RETRIES
    short_interval_s: int = SHORT_INTERVAL_S
    long: int = LONG_RETRIES
    long_interval_s: int = LONG_INTERVAL_S
    short_left: int | None = None
    long_left: int | None = None
    is_shown: bool = False
    """True if the four attributes were displayed; otherwise they are the defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A row of CLUSQMGR with the status of its channel."""

    channel: Channel
    qmid: str
    deftype: str
    status_from: Literal["CHSTATUS", "CLUSQMGR", "nothing"]
    retries: Retries
    is_state_unread: bool = False
    """True if a display shows a state that is cut off or unknown."""
    in_doubt: bool | None = None
    in_doubt_messages: int | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueue:
    """A queue in a row of QCLUSTER, or a clustered queue of the sender itself."""

    name: str
    instance: Instance
    defbind: str | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Displays:
    """The content of the displays."""

    queue_manager: str
    """The sender; empty if no display names it."""
    routes: tuple[Route, ...] = ()
    queues: tuple[ClusterQueue, ...] = ()
    local_use: Literal["LOCAL", "ANY"] = "LOCAL"
    queue_local_uses: Mapping[str, LocalUse] = field(default_factory=dict)
    most_channels: int = MOST_CHANNELS
    assumptions: tuple[Assumption, ...] = ()
    problems: tuple[DisplayProblem, ...] = ()
    shows: frozenset[str] = frozenset()
    """The kinds of display that the texts contain."""
    queue_index: Mapping[str, tuple[ClusterQueue, ...]] = field(default_factory=dict)
    route_index: Mapping[str, tuple[Route, ...]] = field(default_factory=dict)

    def situation(self, queue: str) -> Situation:
        """Return the input of the choice among the instances of a queue."""
        instances = tuple(each.instance for each in self.queues_named(queue))
        managers = dict.fromkeys(instance.queue_manager for instance in instances)
        return Situation(
            queue=queue,
            instances=instances,
            channels=tuple(r.channel for each in managers for r in self.routes_to(each)),
            queue_local_use=self.queue_local_uses.get(queue, "QMGR"),
            queue_manager_local_use=self.local_use,
            most_channels=self.most_channels,
        )

    def route(self, channel: str) -> Route | None:
        """Return the first row of a channel."""
        return next((each for each in self.routes if each.channel.name == channel), None)

    def queues_named(self, name: str) -> tuple[ClusterQueue, ...]:
        """Return the instances of a queue."""
        return self.queue_index.get(name, ())

    def routes_to(self, queue_manager: str) -> tuple[Route, ...]:
        """Return the channels to a queue manager."""
        return self.route_index.get(queue_manager, ())

    def defbinds(self, queue: str) -> tuple[str, ...]:
        """Return the distinct DEFBIND values of the instances of a queue."""
        return tuple(dict.fromkeys(q.defbind for q in self.queues_named(queue) if q.defbind))


def read_displays(texts: Iterable[tuple[str, str]]) -> Displays:
    """Read displays from texts; problems name the text. Never raises."""
    return _Reading(texts).displays()


class _Reading:
    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self.problems: list[DisplayProblem] = []
        self.rows: list[tuple[str, Record]] = []
        self.folded: list[str] = []
        """Names of texts whose display is in lower case."""
        for name, given in texts:
            text = given
            if _is_folded(given):
                self.folded.append(name)
                # MQ shows keywords in upper case: if all of them are in lower case, the names are folded, too.
                text = _STARTING.sub("Starting MQSC for queue manager", given.upper())
            found = read_records(text, kinds=_KINDS, reads=_READ)
            self.rows += [(name, record) for record in found.records]
            self.problems += [
                DisplayProblem(text=name, line=p.line, message=p.message) for p in found.problems
            ]
        self.left_out: Counter[str] = Counter()
        self.unread: set[str] = set()
        """Channels with a status that could not be read."""

    def displays(self) -> Displays:
        self.rows = self._of_one()
        of = {kind: [(name, row) for name, row in self.rows if row.kind == kind] for kind in _KINDS}
        sender = self._sender(of)
        names = _Names(of["CLUSQMGR"])
        statuses = self._statuses(of["CHSTATUS"])
        routes = self._routes(of["CLUSQMGR"], names, statuses)
        queues = self._queues(of["QUEUE"], names, sender)
        uses: dict[str, LocalUse] = {}
        for name, row in of["QUEUE"]:
            use = self._use(name, row)
            if use:
                uses[row.name] = use
        local_use: Literal["LOCAL", "ANY"] = "LOCAL"
        for name, row in of["QMGR"]:
            local_use = "ANY" if self._use(name, row) == "ANY" else local_use
        most = [self._number(name, row, "CLWLMRUC", None) for name, row in of["QMGR"]]
        return Displays(
            queue_manager=sender,
            routes=routes,
            queues=queues,
            local_use=local_use,
            queue_local_uses=uses,
            most_channels=next((each for each in most if each), MOST_CHANNELS),
            assumptions=tuple(self._assumptions(of, sender, routes, queues)),
            problems=tuple(self.problems),
            shows=frozenset(kind for kind, rows in of.items() if rows),
            # Indexes, because each message of a browse looks up its queue and its channel.
            queue_index=_index((each.name, each) for each in queues),
            route_index=_index((each.channel.queue_manager, each) for each in routes),
        )

    def _of_one(self) -> list[tuple[str, Record]]:
        """Return the rows of one queue manager."""
        # With CMDSCOPE(*) every member of a group answers, each about its own channels.
        answered = [row for _, row in self.rows if row.queue_manager]
        if len({row.queue_manager for row in answered}) <= 1:
            return self.rows
        kinds = [
            [row.queue_manager for row in answered if row.kind == kind]
            for kind in ("CLUSQMGR", "QUEUE", "QMGR")
        ]
        # A display that only one member answered is the most likely one of the sender.
        alone = next((names[0] for names in kinds if len(set(names)) == 1), None)
        own = alone or next(names[0] for names in (*kinds, [answered[0].queue_manager]) if names)
        others = [(name, row) for name, row in self.rows if row.queue_manager not in (None, own)]
        names = ", ".join(dict.fromkeys(str(row.queue_manager) for _, row in others))
        name, first = others[0]
        count = "1 row is a response" if len(others) == 1 else f"{len(others)} rows are responses"
        message = (
            f"{count} from {names[:_SHOWN]} about other channels: ignored. {own} is assumed to be the sender."
        )
        self.problems.append(DisplayProblem(text=name, line=first.line, message=message))
        return [(name, row) for name, row in self.rows if row.queue_manager in (None, own)]

    def _sender(self, of: dict[str, list[tuple[str, Record]]]) -> str:
        """Return the queue manager that answered, from QMGR, its receiver channel in CLUSQMGR, or another row."""
        for _, row in of["QMGR"]:
            return row.name
        # The row of the sender itself is that of its cluster-receiver channel.
        own = {row.name for _, row in of["CLUSQMGR"] if row.text("DEFTYPE") == "CLUSRCVR"}
        if len(own) == 1:
            return own.pop()
        answered = {row.queue_manager for _, row in self.rows if row.queue_manager}
        return answered.pop() if len(answered) == 1 else ""

    def _statuses(self, rows: list[tuple[str, Record]]) -> dict[str, Record]:
        """Return the current status of each cluster-sender channel, without saved ones and those of receivers."""
        found: dict[str, Record] = {}
        for name, row in rows:
            # Saved status is that of earlier connections; a receiver's status is about messages to the sender.
            if "SAVED" in row.flags or row.text("CHLTYPE") not in (None, "CLUSSDR"):
                continue
            if self._status(name, row) is not None:
                found.setdefault(row.name, row)
        return found

    def _status(self, name: str, row: Record) -> Status | None:
        text, channel = row.text("STATUS"), row.text("CHANNEL") or row.name
        if "STATUS" in row.unclosed:
            self.unread.add(channel)
        if text is None:
            return None
        status = Status.read(text)
        if status is None:
            self.unread.add(channel)
            self._problem(name, row, "STATUS", f"STATUS({text[:_SHOWN]}) is not a channel state: ignored.")
        return status

    def _routes(
        self, rows: list[tuple[str, Record]], names: _Names, statuses: dict[str, Record]
    ) -> tuple[Route, ...]:
        routes: dict[tuple[str, str, str], Route] = {}
        counted: Counter[str] = Counter()
        for name, row in rows:
            channel = row.text("CHANNEL")
            if channel is None:
                message = f"CLUSQMGR({row.name[:_SHOWN]}) has no CHANNEL: ignored. Display it with ALL."
                self._problem(name, row, "CHANNEL", message)
                continue
            own = self._status(name, row)
            status = statuses.get(channel)
            now = Status.read(status.text("STATUS") or "") if status else None
            route = Route(
                channel=Channel(
                    name=channel,
                    queue_manager=names.of(row),
                    cluster=row.text("CLUSTER") or "",
                    rank=self._attribute(name, row, "CLWLRANK", 0),
                    priority=self._attribute(name, row, "CLWLPRTY", 0),
                    # The algorithm divides by the weight, and a display may be damaged.
                    weight=max(1, self._attribute(name, row, "CLWLWGHT", DEFAULT_WEIGHT)),
                    netprty=self._attribute(name, row, "NETPRTY", 0),
                    status=now or own or Status.INACTIVE,
                    suspended=row.text("SUSPEND") == "YES",
                ),
                qmid=row.text("QMID") or "",
                deftype=row.text("DEFTYPE") or "",
                status_from="CHSTATUS" if now else "CLUSQMGR" if own else "nothing",
                is_state_unread=not now and not own and channel in self.unread,
                retries=self._retries(name, row, status),
                in_doubt={"YES": True, "NO": False}.get(status.text("INDOUBT") or "") if status else None,
                in_doubt_messages=self._number(name, status, "CURMSGS", None) if status else None,
                line=row.line,
            )
            key = route.channel.queue_manager, channel, route.channel.cluster
            # The same row may be in several texts.
            if key in routes:
                continue
            counted[key[0]] += 1
            if counted[key[0]] <= MOST_ROUTES:
                routes[key] = route
            elif counted[key[0]] == MOST_ROUTES + 1:
                message = f"There are more than {MOST_ROUTES} channels to {key[0][:_SHOWN]}: the others are ignored."
                self._problem(name, row, "CHANNEL", message)
        return tuple(routes.values())

    def _retries(self, name: str, row: Record, status: Record | None) -> Retries:
        shown = [self._number(name, row, key, None) for key in ("SHORTRTY", "SHORTTMR", "LONGRTY", "LONGTMR")]
        short, short_s, long, long_s = shown
        return Retries(
            short=SHORT_RETRIES if short is None else short,
            short_interval_s=SHORT_INTERVAL_S if short_s is None else short_s,
            long=LONG_RETRIES if long is None else long,
            long_interval_s=LONG_INTERVAL_S if long_s is None else long_s,
            short_left=self._number(name, status, "SHORTRTS", None) if status else None,
            long_left=self._number(name, status, "LONGRTS", None) if status else None,
            is_shown=None not in shown,
        )

    def _queues(self, rows: list[tuple[str, Record]], names: _Names, sender: str) -> tuple[ClusterQueue, ...]:
        found: dict[tuple[str, str, str], ClusterQueue] = {}
        per_queue: Counter[str] = Counter()
        for name, row in rows:
            manager, cluster = row.text("CLUSQMGR"), row.text("CLUSTER")
            if manager is None and (row.text("TYPE") not in _LOCAL_TYPES or not cluster):
                continue  # not a clustered queue
            if manager is None and not sender:
                message = f"QUEUE({row.name[:_SHOWN]}) is a queue of the sender, but no display names the sender: ignored."
                self._problem(name, row, "TYPE", message)
                continue
            host = names.of(row, manager) if manager else sender
            key = row.name, host, cluster or ""
            if key in found:
                continue
            per_queue[row.name] += 1
            if per_queue[row.name] > MOST_INSTANCES:
                if per_queue[row.name] == MOST_INSTANCES + 1:
                    message = f"{row.name} has more than {MOST_INSTANCES} instances: the others are ignored."
                    self._problem(name, row, "QUEUE", message)
                continue
            instance = Instance(
                queue_manager=host,
                cluster=cluster or "",
                rank=self._attribute(name, row, "CLWLRANK", 0),
                priority=self._attribute(name, row, "CLWLPRTY", 0),
                put_enabled=row.text("PUT") != "DISABLED",
                is_local=bool(sender) and host == sender,
            )
            found[key] = ClusterQueue(
                name=row.name,
                instance=instance,
                defbind=row.text("DEFBIND"),
                kind=row.text("CLUSQT") or "",
            )
        return tuple(found.values())

    def _use(self, name: str, row: Record) -> LocalUse | None:
        text = row.text("CLWLUSEQ")
        if text is None:
            return None
        if text in _USES:
            return _USES[text]
        self._problem(name, row, "CLWLUSEQ", f"CLWLUSEQ({text[:_SHOWN]}) is not LOCAL, ANY or QMGR: ignored.")
        return None

    def _attribute(self, name: str, row: Record, key: str, otherwise: int) -> int:
        value = self._number(name, row, key, None)
        if value is None:
            self.left_out[f"{key} of {'channels' if row.kind == 'CLUSQMGR' else 'queues'}"] += 1
            return otherwise
        return value

    def _number(self, name: str, row: Record, key: str, otherwise: int | None) -> int | None:
        text = row.text(key)
        if text is None:
            return otherwise
        if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
            message = (
                f"{key}({text[:_SHOWN]}) is not a whole number of at most {_MOST_DIGITS} digits: ignored."
            )
            self._problem(name, row, key, message)
            return otherwise
        return int(text)

    def _problem(self, name: str, row: Record, key: str, message: str) -> None:
        self.problems.append(DisplayProblem(text=name, line=row.line_of(key), message=message))

    def _assumptions(
        self,
        of: dict[str, list[tuple[str, Record]]],
        sender: str,
        routes: Sequence[Route],
        queues: Sequence[ClusterQueue],
    ) -> Iterable[Assumption]:
        if self.left_out:
            shown = ", ".join(f"{what} ({count} rows)" for what, count in self.left_out.items())
            yield assumed(
                f"Not displayed, so IBM's default is assumed: {shown}. Rank, priority and NETPRTY are 0, weight is 50.",
                Basis.PUBLISHED,
            )
        silent = [
            r.channel.name
            for r in routes
            if r.status_from == "nothing" and not r.is_state_unread and r.channel.queue_manager != sender
        ]
        if silent:
            yield assumed(
                f"No display shows a state of {_some(silent)}: assumed to be INACTIVE, like a channel without a status.",
                Basis.DERIVED,
            )
        unread = [r.channel.name for r in routes if r.is_state_unread]
        if unread:
            yield assumed(
                f"The state of {_some(unread)} could not be read: where the steps compare states, it is treated as INACTIVE.",
                Basis.ASSUMED,
            )
        if self.folded:
            yield assumed(
                f"{_some(self.folded)}: all keywords are in lower case, so the text is assumed to be folded to lower case "
                "and is read as upper case, names included.",
                Basis.ASSUMED,
            )
        if any(not r.retries.is_shown for r in routes):
            yield assumed(
                f"Retries that are not displayed are IBM's defaults: SHORTRTY({SHORT_RETRIES}) SHORTTMR({SHORT_INTERVAL_S}) "
                f"LONGRTY({LONG_RETRIES}) LONGTMR({LONG_INTERVAL_S}).",
                Basis.ASSUMED,
            )
        if queues and not of["QMGR"] and any(q.instance.is_local for q in queues):
            yield assumed(
                "The texts do not include DISPLAY QMGR: CLWLUSEQ(LOCAL) of the queue manager is assumed.",
                Basis.ASSUMED,
            )


def _is_folded(text: str) -> bool:
    """Return whether a display was folded to lower case, for example by the screen that it was copied from."""
    return bool(_FOLDED.search(text)) and not _AS_DISPLAYED.search(text)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _index(pairs: Iterable[tuple[str, T]]) -> dict[str, tuple[T, ...]]:
    made: dict[str, list[T]] = {}
    for name, each in pairs:
        made.setdefault(name, []).append(each)
    return {name: tuple(found) for name, found in made.items()}


class _Names:
    """Names of queue managers; the QMID is added if two queue managers have the same name."""

    def __init__(self, rows: Iterable[tuple[str, Record]]) -> None:
        self._ids: dict[str, set[str]] = {}
        for _, row in rows:
            self._ids.setdefault(row.name, set()).add(row.text("QMID") or "")

    def of(self, row: Record, name: str | None = None) -> str:
        """Return the name of the queue manager in a row, with its QMID if another one has the same name."""
        called = name or row.name
        qmid = row.text("QMID")
        return f"{called} {qmid}" if qmid and len(self._ids.get(called, ())) > 1 else called
