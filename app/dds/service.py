"""Polling a data server: the current report, then the intervals that are missing before it, then files for the history.

Each interval is stored in a transaction of its own, under its start, so a kill at any instant loses no more than the
request under way, and the next poll continues from there. When an hour is complete, its reports become one upload, in the
transaction that marks them as handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final, TypeGuard

from pydantic import Field
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import logs
from app.actor import ActorKind, current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.connections.declared import AnyConnection, DdsConnection, connection_named, read_connections
from app.connections.errors import ConnectionFailed, ConnectionUnknown
from app.connections.models import LONGEST_SENTENCE
from app.connections.uses import record_use
from app.database.engine import Database
from app.dds import repository
from app.dds.models import DdsInterval, DdsPoller
from app.dds.report import AnswerUnusable, CfactReport, answer_of, read_report
from app.settings import Settings
from app.uploads import service as uploads
from app.uploads.files import Incoming, StagedUpload
from app.uploads.service import UploadDetails
from planner_core.contracts.cfact import DDS_PARAMETERS, DDS_PATH, DDS_TIME_FORMAT
from planner_core.wire import Answer

if TYPE_CHECKING:
    from app.connections.client import Client

MOST_REQUESTS: Final = 30
"""Requests for missing intervals in one poll, so that a poll does not last until the next one."""
LONGEST_S: Final = 50.0
"""No missing interval is requested later than so many seconds after a poll began: the polls of other servers wait for it."""
MOST_ATTEMPTS: Final = 3
"""An interval that the server does not deliver in so many polls is recorded as missing."""
HOUR: Final = timedelta(hours=1)
KEPT_INTERVALS: Final = timedelta(days=7)
"""How long intervals are remembered after they were handed over; the gaps among them stay for `KEPT_GAPS`."""
KEPT_GAPS: Final = timedelta(days=90)
_HOUR_OF_CLOCKS: Final = timedelta(hours=1)
"""By how much local time changes when daylight saving time begins or ends."""
UNAUTHORIZED: Final = 401
_REFUSALS: Final = frozenset({400, 404, 500})
"""Statuses of an answer to a request for an interval that are treated as a missing interval; others end the poll."""
NOT_AGAIN: Final = (
    "The service does not poll this connection again until its user or password is changed, because z/OS may revoke a user "
    "after several wrong passwords."
)
_NO_DATA = "the server delivered no data for it"
_TOO_OLD = "it is older than backfill_hours of the connection"
_TOO_SHORT = "it is shorter than an interval of the server"


@dataclass(frozen=True, slots=True)
class Poll:
    """What one poll did."""

    connection: str
    stored: int
    """Intervals that were stored, the current one included."""
    missing: int
    """Intervals that were recorded as missing."""
    behind: timedelta
    """How much earlier than the current interval there is still something to ask for."""
    structures: int
    uploads: tuple[int, ...]
    """The uploads made of complete hours."""
    lacks: tuple[str, ...] = ()
    """Columns of CFACT that the current report lacks."""

    @property
    def sentence(self) -> str:
        """The poll in words."""
        said = [
            f"{self.stored} interval{'' if self.stored == 1 else 's'} with {self.structures} list structures stored"
        ]
        if self.missing:
            said.append(f"{self.missing} recorded as missing")
        if self.behind:
            said.append(f"{self.behind.total_seconds() / 60:g} minutes still to ask for")
        if self.uploads:
            said.append(f"uploads {', '.join(map(str, self.uploads))} created")
        if self.lacks:
            said.append(f"the report has no columns {', '.join(self.lacks)}")
        return f"{'; '.join(said)}."


@dataclass(frozen=True, slots=True)
class Gap(Answer):
    """An interval of which there is no report."""

    start_at: datetime
    end_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class PollerState(Answer):
    """How far a connection was polled."""

    connection: str
    is_polled: Annotated[bool, Field(description="Whether the service polls it once a minute.")]
    is_verified: Annotated[
        bool, Field(description="Whether its declaration states that it was used with a real system.")
    ]
    polled_at: Annotated[datetime | None, Field(description="Time of the last poll; null if there was none.")]
    latest: Annotated[
        datetime | None, Field(description="End of the last interval that the server reported.")
    ]
    reached: Annotated[
        datetime | None,
        Field(description="Each interval before this time is stored, or listed as a gap."),
    ]
    interval_s: Annotated[int | None, Field(description="Length of an interval in seconds.")]
    waiting: Annotated[int, Field(description="Stored intervals that are in no upload yet.")]
    gaps: Annotated[tuple[Gap, ...], Field(description="Gaps, newest first; at most 100.")]

    @property
    def behind_minutes(self) -> float:
        """The time that is still asked for, in minutes."""
        if self.latest is None or self.reached is None:
            return 0.0
        return max((self.latest - self.reached).total_seconds(), 0.0) / 60


def dds_connection(settings: Settings, name: str) -> DdsConnection:
    """Return a connection to a data server.

    Raises:
        ConnectionUnknown: There is none of this name and kind.
    """
    connection = connection_named(settings, name)
    if not isinstance(connection, DdsConnection):
        message = f"Connection {name} has the kind {connection.kind}; polling needs one of the kind dds."
        raise ConnectionUnknown(message)
    return connection


def poll(
    database: Database,
    settings: Settings,
    name: str,
    *,
    is_stopping: Callable[[], bool] = lambda: False,
    opened: Client | None = None,
) -> Poll:
    """Poll a connection once: store the current interval and missing earlier ones, and hand over complete hours.

    Args:
        database: The database of the intervals.
        settings: Settings with the file of connections.
        name: The name of the connection.
        is_stopping: Whether to stop after the request under way.
        opened: A client of the connection that is already open.

    Raises:
        ConnectionUnknown: There is no such connection.
        ConnectionFailed: The server does not answer. Intervals that were stored before are kept.
        AnswerUnusable: An answer is no CFACT report.
    """
    # Imported only to poll: pages and REST show the state of polls without the HTTP client.
    from app.connections.client import open_client

    connection = dds_connection(settings, name)
    try:
        if opened is not None:
            found = _Polling(database, opened, connection, is_stopping).run()
        else:
            with open_client(name, connection) as client:
                found = _Polling(database, client, connection, is_stopping).run()
        found = replace(found, uploads=tuple(hand_over(database, settings, name)))
    except (ConnectionFailed, AnswerUnusable) as error:
        hint = f" {NOT_AGAIN}" if is_unauthorized(error) else ""
        _record(database, name, f"{error}{hint}", succeeded=False)
        raise
    _record(database, name, found.sentence, succeeded=True)
    return found


def is_unauthorized(error: Exception) -> bool:
    """Return whether the server refused the user or the password."""
    return isinstance(error, ConnectionFailed) and error.status == UNAUTHORIZED


def _record(database: Database, name: str, sentence: str, *, succeeded: bool) -> None:
    """Store the use, and for a command an entry in the audit trail: 1440 entries of the service a day would hide others."""
    with database.session(writes=True) as session:
        record_use(session, name, f"CFACT: {sentence}", succeeded=succeeded)
        if current_actor().kind != ActorKind.SERVICE:
            record(session, Action.CONNECTION_POLLED, AuditObject("connection", name), {"outcome": sentence})


class _Polling:
    def __init__(
        self, database: Database, client: Client, connection: DdsConnection, is_stopping: Callable[[], bool]
    ) -> None:
        self._database, self._client, self._connection = database, client, connection
        self._is_stopping = is_stopping
        self._stored = self._missing = self._requests = 0
        self._begun = monotonic()

    def run(self) -> Poll:
        current = self._ask({})
        if current is None:
            message = f"connection {self._client.name}: the data server has no current CFACT report"
            raise AnswerUnusable(message)
        with self._database.session(writes=True) as session:
            poller = repository.poller(session, self._client.name)
            self._keep(session, current)
            if poller is None:
                poller = DdsPoller(
                    connection=self._client.name, reached=current.end, latest=current.end,
                    interval_s=int(current.length.total_seconds()), attempts=0, polled_at=utc_now(),
                )  # fmt: skip
                session.add(poller)
            if current.end < poller.reached:
                # The server's clock was ahead, and is correct now; or another system answers, which is an interval behind.
                poller.reached, poller.attempts = current.end, 0
            poller.latest = current.end
            poller.interval_s = int(current.length.total_seconds())
            poller.polled_at = utc_now()
            reached, attempts = poller.reached, poller.attempts
        offset, follows_gap = current.offset, False
        while reached < current.end and not self._is_stopping():
            with self._database.session(writes=False) as session:
                stored = repository.interval_from(session, self._client.name, reached)
            if stored is not None:
                reached, attempts = stored.end_at, 0
                self._reach(reached, attempts)
                continue
            if reached >= current.start:
                break  # within the current interval, which begins earlier: nothing can be asked for
            with self._database.session(writes=False) as session:
                following = repository.next_start(session, self._client.name, reached) or current.start
            limit = self._limit(reached, min(following, current.start), current)
            if limit is not None:
                end, reason = limit
                self._gap(reached, end, reason)
                reached, attempts = end, 0
                continue
            if self._requests > MOST_REQUESTS or monotonic() - self._begun > LONGEST_S:
                break
            wanted = reached + current.length
            is_last = follows_gap or attempts + 1 >= MOST_ATTEMPTS
            found, reason = None, _NO_DATA
            try:
                found = self._asked(reached, wanted, offset)
                if not _fills(found, reached, wanted, following) and is_last and not follows_gap:
                    found = self._asked_in_other_time(reached, wanted, offset)
            except (AnswerUnusable, ConnectionFailed) as error:
                if isinstance(error, ConnectionFailed) and error.status not in _REFUSALS:
                    raise
                # The current report was answered: an interval that the server refuses must not hold up all others.
                reason = _reason_of(error)
            if _fills(found, reached, wanted, following):
                if found.start > reached:
                    self._gap(reached, found.start, _NO_DATA)
                with self._database.session(writes=True) as session:
                    self._keep(session, found)
                reached, attempts, offset, follows_gap = found.end, 0, found.offset, False
                self._reach(reached, attempts)
                continue
            if not is_last:
                self._reach(reached, attempts + 1)
                break
            # What follows a gap is probably missing too: waiting three polls for each interval would last for days.
            self._gap(reached, wanted, reason)
            reached, attempts, follows_gap = wanted, 0, True
        behind = max(current.start - reached, timedelta(0))
        return Poll(
            self._client.name, self._stored, self._missing, behind, current.structures, (), current.unknown
        )  # fmt: skip

    def _ask(self, more: Mapping[str, str]) -> CfactReport | None:
        self._requests += 1
        reply = self._client.get(DDS_PATH, params={**DDS_PARAMETERS, **more})
        return read_report(answer_of(reply))

    def _asked(self, start: datetime, end: datetime, offset: timedelta) -> CfactReport | None:
        """Ask for an interval; again if the server's local time differed from UTC by another offset at that time."""
        found = self._ask(_range(start, end, offset))
        if found is not None and found.start != start and found.offset != offset:
            again = self._ask(_range(start, end, found.offset))
            if again is not None and again.start == start:
                return again
        return found

    def _asked_in_other_time(self, start: datetime, end: datetime, offset: timedelta) -> CfactReport | None:
        """Ask for an interval as if clocks had changed since then: a server may have no data for a time that was left out."""
        for other in (offset - _HOUR_OF_CLOCKS, offset + _HOUR_OF_CLOCKS):
            found = self._ask(_range(start, end, other))
            if found is not None and found.start == start:
                return found
        return None

    def _limit(
        self, reached: datetime, following: datetime, current: CfactReport
    ) -> tuple[datetime, str] | None:
        """Return the end of a gap that is not asked for, and the reason; None if there is something to ask for.

        `following` is the start of the next stored interval.
        """
        oldest = current.start - timedelta(hours=self._connection.backfill_hours)
        if reached < oldest:
            return min(oldest, following), _TOO_OLD
        if following - reached < current.length:
            return following, _TOO_SHORT
        return None

    def _keep(self, session: Session, report: CfactReport) -> None:
        """Store an interval, unless it or an overlapping one is stored."""
        if repository.overlapping(session, self._client.name, report.start, report.end):
            return
        gap = repository.interval_from(session, self._client.name, report.start)
        if gap is not None:  # it was missing until now
            session.delete(gap)
            session.flush()
        found = DdsInterval(
            connection=self._client.name, start_at=report.start, end_at=report.end, is_waiting=True,
            report=report.text, upload_id=None, missing=None,
        )  # fmt: skip
        self._stored += self._insert(session, found)

    def _insert(self, session: Session, interval: DdsInterval) -> bool:
        """Insert an interval; return False if another process that polls the same connection stored it first."""
        try:
            with session.begin_nested():
                session.add(interval)
        except IntegrityError:
            return False
        return True

    def _gap(self, start: datetime, end: datetime, reason: str) -> None:
        gap = DdsInterval(
            connection=self._client.name, start_at=start, end_at=end, is_waiting=False, report=None,
            upload_id=None, missing=reason,
        )  # fmt: skip
        with self._database.session(writes=True) as session:
            is_new = self._insert(session, gap)
            self._set_reached(session, end, 0)
        self._missing += is_new

    def _reach(self, reached: datetime, attempts: int) -> None:
        with self._database.session(writes=True) as session:
            self._set_reached(session, reached, attempts)

    def _set_reached(self, session: Session, reached: datetime, attempts: int) -> None:
        poller = repository.poller(session, self._client.name)
        if poller is not None and reached >= poller.reached:
            poller.reached, poller.attempts = reached, attempts


def _reason_of(error: Exception) -> str:
    return logs.printable(logs.without_secrets(f"the server refuses it: {error}"))[:LONGEST_SENTENCE]


def _fills(
    found: CfactReport | None, start: datetime, end: datetime, following: datetime
) -> TypeGuard[CfactReport]:
    """Return whether a report begins in an interval, and ends before the next one that is stored."""
    return found is not None and start <= found.start < end and found.end <= following


def _range(start: datetime, end: datetime, offset: timedelta) -> dict[str, str]:
    return {"range": ",".join((each + offset).strftime(DDS_TIME_FORMAT) for each in (start, end))}


def hand_over(database: Database, settings: Settings, name: str) -> Iterator[int]:
    """Make an upload of each complete hour, and yield the numbers of the uploads.

    An hour is complete when every interval that begins in it is stored or missing.
    """
    with database.session(writes=False) as session:
        poller = repository.poller(session, name)
        if poller is None:
            return
        reached = poller.reached
        waiting = repository.waiting_starts(session, name)
    for hour, starts in groupby(waiting, key=_hour_of):
        if hour + HOUR > reached:
            continue
        times = list(starts)
        # One transaction, so that a second process that polls the connection waits, and then finds nothing to hand over.
        with database.session(writes=True) as session:
            texts = repository.hold_waiting(session, name, times)
            if not texts:
                continue
            staged = _staged(settings, texts)
            try:
                filename = f"dds-{name}-{hour:%Y%m%dT%H}Z.json"
                outcome = uploads.keep(
                    session, staged, filename=filename, said=UploadDetails(kind="cfact_json")
                )
            finally:
                staged.discard()
            repository.handed_over(session, name, times, outcome.upload.id)
        yield outcome.upload.id
    now = utc_now()
    with database.session(writes=True) as session:
        repository.forget(session, name, before=now - KEPT_INTERVALS, gaps_before=now - KEPT_GAPS)


def _staged(settings: Settings, texts: Sequence[str]) -> StagedUpload:
    with Incoming(settings.data_dir, largest_bytes=settings.max_upload_bytes) as incoming:
        for text in texts:
            incoming.write(text.encode("utf-8") + b"\n")
        return incoming.finish()


def _hour_of(start: datetime) -> datetime:
    return start.replace(minute=0, second=0, microsecond=0)


def states(session: Session, settings: Settings) -> tuple[PollerState, ...]:
    """Return how far each connection to a data server was polled, by name; nothing is contacted.

    Raises:
        ConnectionsInvalid: The file of connections cannot be read.
    """
    return tuple(
        _state(session, name, each)
        for name, each in sorted(read_connections(settings).items())
        if isinstance(each, DdsConnection)
    )


def _state(session: Session, name: str, connection: DdsConnection) -> PollerState:
    poller = repository.poller(session, name)
    return PollerState(
        name, connection.poll, connection.verified_against_a_real_system,
        None if poller is None else poller.polled_at,
        None if poller is None else poller.latest,
        None if poller is None else poller.reached,
        None if poller is None else poller.interval_s,
        len(repository.waiting_starts(session, name)),
        tuple(Gap(each.start_at, each.end_at, each.missing or "") for each in repository.gaps(session, name)),
    )  # fmt: skip


def polled(settings: Settings) -> tuple[str, ...]:
    """Return the connections that the service polls."""
    known: Mapping[str, AnyConnection] = read_connections(settings)
    return tuple(
        name for name, each in sorted(known.items()) if isinstance(each, DdsConnection) and each.poll
    )
