"""The usage history on disk: one Delta table, in which every file is one commit.

The tables of `schema` are partitions of one Delta table, so the rows of a file, whichever tables they belong to, and the
file's row in the table of files become visible together or not at all. docs/decisions has the reasons and the
guarantees.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import random
import secrets
import time
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake import Field as DeltaField
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from planner_core.contracts.ingest import USAGE_TABLES
from planner_core.names import cfrm_structure_name
from spark_jobs.history import compare, resolve
from spark_jobs.history.ledger import FORGET, INGEST, KEPT_FROM, RETENTION, Entry, Ledger
from spark_jobs.history.places import place_of
from spark_jobs.history.schema import (
    ALLOCATION,
    FILES,
    KEY_RULES,
    REKEYED_FAMILIES,
    STRUCTURE_USAGE,
    TABLES,
    HistoryError,
    natural_key,
    stored_schema,
)
from spark_jobs.history.staging import (
    Part,
    Source,
    Stage,
    ledger_rows,
    read_parts,
    with_keys,
    write_part,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from spark_jobs.history.compare import Comparison

PARTITIONS = ("table", "day")
KEY_RULES_NAME = "cfplan.keyRules"
"""The name of the table property that holds the version of the rules for the natural keys of its rows."""
TEXT_STATISTICS = ("commit_id", "file_sha256")
STATISTICS = (*TEXT_STATISTICS, "interval_start")

MOST_SMALL_PARTS = 24
"""The maximum number of small files of a table's day; more are rewritten as one after the commit that exceeds the
limit."""
MOST_LEDGER_PARTS = 32
ENTRIES_TO_A_CHECKPOINT = 20
"""The number of log entries between checkpoints: readers start at the last checkpoint, and in an object store each
entry costs a request."""
MOST_RENEWED = 100
"""The number of files that get new keys in one commit."""
MOST_JOINED_ROWS = 500_000
"""The maximum number of rows held in memory while files are compacted: a few hundred MB."""

ATTEMPTS = 25
LONGEST_PAUSE_S = 0.5


_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The history at one version."""

    delta: DeltaTable
    version: int
    parts: tuple[Part, ...]
    ledger: Ledger

    @property
    def key_rules(self) -> int:
        """Return the version of the rules for the natural keys of the rows."""
        return int(self.delta.metadata().configuration.get(KEY_RULES_NAME, 1))

    def of(self, table: str, day: str | None = None) -> list[Part]:
        """Return the files of a table, or of one of its days."""
        return [part for part in self.parts if part.table == table and (day is None or part.day == day)]

    def may_start_before(self, table: str, day: str, end: dt.datetime) -> bool:
        """Return whether a table's day may contain an interval that starts before `end`."""
        starts = [part.first_start for part in self.of(table, day)]
        return any(not start or dt.datetime.fromisoformat(start) < end for start in starts)

    def days(self, table: str) -> list[str]:
        """Return the days for which a table has files, in order."""
        return sorted({part.day for part in self.parts if part.table == table})

    def unnamed_days(self, table: str) -> set[str]:
        """Return the days on which a table may have rows with only XCF's structure name."""
        dead = self.ledger.dead_commits
        return {
            day
            for entry in self.ledger.entries
            if entry.commit_id not in dead
            for day in entry.unnamed_days.get(table, ())
        }


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The entry of a file in the ledger."""

    file_bytes: int
    kind: str
    answers: Mapping[str, Any]
    identity: str = ""
    """The identity of the file, by default its hash; see `ledger.identity_of`."""
    first_interval_end: dt.datetime | None = None
    last_interval_end: dt.datetime | None = None
    qsgs: Sequence[str] = ()
    kept_from: dt.date | None = None
    """The first day that was kept, if older ones were skipped."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The result of a commit."""

    commit_id: str
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    days: tuple[str, ...] = ()
    """The days of its partitions, including those of an earlier ingest of the file."""


def new_commit_id() -> str:
    """Return an identifier for an ingest; identifiers sort by the start time of their ingests."""
    return f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}"


def first_kept_day(retention_days: int) -> dt.date | None:
    """Return the first day of a retention period that includes today; None for 0, which keeps all days."""
    if retention_days == 0:
        return None
    return dt.datetime.now(dt.UTC).date() - dt.timedelta(days=retention_days - 1)


class History:
    """The usage history at a path or URL."""

    def __init__(self, url: str) -> None:
        self.place = place_of(url)
        self.url = self.place.url
        self.set_aside = ""
        """Name of the damaged log entry that was set aside when this was opened; empty if there was none."""
        self._entries: dict[str, tuple[Entry, ...]] = {}
        self._opened: DeltaTable | None = None
        self._last: Snapshot | None = None
        self._stamp: object = None
        self._is_prepared = False

    @classmethod
    def open_kept(cls, url: str, *, create: bool = False) -> History:
        """Open a history, or return the one that an earlier job of this process opened, with what it has read.

        It is opened again if its folder was replaced meanwhile. An object store has no mark of this, so there it is
        always opened.
        """
        kept = _KEPT.get(url)
        if kept is None or not kept._is_same_table() or (create and not kept._can_be_written()):
            kept = _KEPT[url] = cls.open(url, create=create)
            return kept
        kept.set_aside = ""
        return kept

    def _can_be_written(self) -> bool:
        # The machine of another writer of a shared folder may have lost power meanwhile.
        return self._is_prepared and not self.place.has_torn_log()

    def _is_same_table(self) -> bool:
        version = None if self._opened is None else self._opened.version()
        return (
            version is not None and self._stamp is not None and self._stamp == self.place.log_stamp(version)
        )

    @classmethod
    def open(cls, url: str, *, create: bool = False) -> History:
        """Open a history; `create` makes an empty one if there is none, and adds the columns of a new release.

        Raises:
            HistoryError: there is no history and `create` is not set, or the folder contains something else.
        """
        history = cls(url)
        if create:
            aside = history.place.repair_log()
            history.set_aside = "" if aside is None else aside.name
            history._create()
            history._is_prepared = True
        history._delta()
        return history

    @property
    def is_local(self) -> bool:
        """Return whether the history is in a folder on this machine."""
        return "://" not in self.url

    # ---- writing -----------------------------------------------------------------------------------------------------

    def stage(self, source: Source, *, keep_from: dt.date | None = None) -> Stage:
        """Return a stage for the rows of a file."""
        return Stage(self.place, source, keep_from=keep_from)

    def commit(
        self,
        source: Source,
        parts: Sequence[Part],
        facts: FileFacts,
        *,
        report: Callable[[dict[str, Comparison], set[str]], dict[str, Any]] | None = None,
    ) -> Committed:
        """Make the staged rows of a file visible, together with its row in the table of files, in one step.

        The rows of an earlier ingest of the same file no longer count from the same step on. `report` is called before
        the commit, with the comparisons with existing rows and the other days whose roll-ups change: days of an earlier
        ingest, and days with rows of RMF whose group is now known. Its result is stored in the table of files.
        """
        before = self.snapshot()
        identity = facts.identity or source.file_sha256
        earlier = before.ledger.live(identity)
        comparisons = self._compare(before, earlier, parts)
        answers = dict(facts.answers)
        if facts.kept_from is not None:
            answers[KEPT_FROM] = facts.kept_from.isoformat()
        replaced = self.days_of(earlier) if earlier else set()
        replaced |= self._days_named_by(before, set(facts.qsgs) - set(before.ledger.groups))
        now = dt.datetime.now(dt.UTC)
        row = {
            "day": now.date(),
            "commit_id": source.commit_id,
            "entry": INGEST,
            "committed_at": now,
            "file_name": source.file_name,
            "file_sha256": source.file_sha256,
            "identity": identity,
            "file_bytes": facts.file_bytes,
            "kind": facts.kind,
            "answers": json.dumps(answers, sort_keys=True),
            "first_interval_end": facts.first_interval_end,
            "last_interval_end": facts.last_interval_end,
            "days": json.dumps(_days_of(parts)),
            "qsgs": json.dumps(sorted(set(facts.qsgs))),
            "unnamed_days": json.dumps(_days_of(part for part in parts if part.unnamed)),
            "report": json.dumps(report(comparisons, replaced)) if report else None,
        }

        def actions(snapshot: Snapshot) -> list[AddAction | RemoveAction]:
            gone: list[Part] = []
            now_live = snapshot.ledger.live(identity)
            if now_live is not None and now_live.commit_id < source.commit_id:
                gone = [part for part in snapshot.parts if part.commit_id == now_live.commit_id]
                # The ledger's row stays: readers learn from it that the ingest is dead.
                gone = [part for part in gone if part.table != FILES]
            return [*map(_added, parts), *map(_removed, gone)]

        self._transact(actions, entry=row)
        touched = {part.day for part in parts} | replaced
        self._compact_crowded({(part.table, part.day) for part in parts})
        return Committed(source.commit_id, comparisons, tuple(sorted(touched)))

    def forget(self, file_sha256: str) -> list[str]:
        """Remove the rows of a file and return the days whose roll-ups may have changed."""
        entries = self.snapshot().ledger.live_of(file_sha256)
        days: set[str] = set()
        for entry in entries:
            row = _entry_row(FORGET, {}, file_sha256=file_sha256, identity=entry.identity)

            def actions(
                snapshot: Snapshot, commit_id: str = entry.commit_id
            ) -> list[AddAction | RemoveAction]:
                gone = [
                    part for part in snapshot.parts if part.commit_id == commit_id and part.table != FILES
                ]
                return [_removed(part) for part in gone]

            self._transact(actions, entry=row)
            days |= self.days_of(entry)
        return sorted(days)

    def retain(self, *, keep_from: dt.date) -> list[str]:
        """Drop the days before `keep_from` and return them."""
        first = keep_from.isoformat()
        dropped: set[str] = set()

        def old(snapshot: Snapshot) -> list[Part]:
            return [part for part in snapshot.parts if part.table != FILES and part.day < first]

        if not old(self.snapshot()):
            return []

        def actions(snapshot: Snapshot) -> list[AddAction | RemoveAction]:
            gone = old(snapshot)
            dropped.clear()
            dropped.update(part.day for part in gone)
            return [_removed(part) for part in gone]

        self._transact(actions, entry=_entry_row(RETENTION, {"before": first}))
        return sorted(dropped)

    def compact(self, table: str, day: str) -> bool:
        """Rewrite the small files of a table's day as one, without rows that no longer count.

        Return whether files were rewritten; False also if another process did it meanwhile.
        """
        snapshot = self.snapshot()
        dead = snapshot.ledger.dead_commits
        parts = _to_be_joined(snapshot.of(table, day), dead)
        if not parts:
            return False
        rows = resolve.without(read_parts(self.place, parts, table=table), dead)
        if len(parts) == 1 and rows.num_rows == parts[0].rows:
            return False
        added = []
        if rows.num_rows:
            part = write_part(self.place, table, dt.date.fromisoformat(day), rows)
            # The old files are deleted later, so the new one must be readable.
            self.place.footer(part.path)
            added.append(_added(part))
        removed = [_removed(part) for part in parts]
        with contextlib.suppress(CommitFailedError):  # another process rewrote it or removed rows meanwhile
            self._write(snapshot.delta, [*added, *removed])
            return True
        return False

    def vacuum(self) -> list[str]:
        """Delete files that readers no longer need: files of killed ingests, and files replaced more than a week ago."""
        delta = self._delta()
        # `full` includes files that no entry of the log has ever named, which killed ingests leave behind.
        return delta.vacuum(retention_hours=7 * 24, dry_run=False, full=True)

    # ---- reading -----------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the history as it is now."""
        delta = self._delta()
        if self._last is not None and self._last.version == delta.version():
            return self._last
        parts = _parts(delta)
        columns = ["commit_id", "entry", "identity", "answers", "days", "qsgs", "unnamed_days"]
        ledger = [part for part in parts if part.table == FILES]
        entries = {part.path: self._entries.get(part.path) for part in ledger}
        for part in ledger:
            if entries[part.path] is None:  # files never change, so each is read once
                rows = read_parts(self.place, [part], table=FILES, columns=columns)
                entries[part.path] = tuple(Entry.from_row(row) for row in rows.to_pylist())
        self._entries = {path: found for path, found in entries.items() if found is not None}
        ledger_entries = tuple(entry for found in self._entries.values() for entry in found)
        self._last = Snapshot(delta, delta.version(), parts, Ledger(ledger_entries))
        return self._last

    def read_days(
        self,
        table: str,
        *,
        qsg: str | None = None,
        structure: str | None = None,
        start: dt.datetime | None = None,
        end: dt.datetime | None = None,
        snapshot: Snapshot | None = None,
    ) -> Iterator[tuple[str, pa.Table]]:
        """Yield the rows that count, day by day of the partitions, sorted within each day.

        Args:
            table: one of TABLES.
            qsg: only this group; rows with only XCF's structure name are assigned to it by their first four characters.
            structure: only this structure, by MQ's or XCF's name.
            start: intervals that end later than this, and observations not before it.
            end: intervals that start before this, and observations before it.
            snapshot: the version to read; by default the current one.
        """
        if table not in TABLES:
            message = f"The history has no table {table!r}; it has {', '.join(TABLES)}."
            raise HistoryError(message)
        snapshot = snapshot or self.snapshot()
        groups = sorted({*snapshot.ledger.groups, *([qsg] if qsg else [])})
        dead = snapshot.ledger.dead_commits
        first = (start.astimezone(dt.UTC).date() - _DAY).isoformat() if start else ""
        for day in snapshot.days(table):
            if day < first or (end is not None and not snapshot.may_start_before(table, day, end)):
                continue
            rows = resolve.without(read_parts(self.place, snapshot.of(table, day), table=table), dead)
            rows = resolve.standing(rows, columns=resolve.merged_columns(table))
            rows = named(rows, groups)
            rows = _within(rows, qsg=qsg, structure=structure, start=start, end=end)
            if rows.num_rows:
                yield day, _sorted(rows)

    def read(self, table: str, **wanted: Any) -> pa.Table:  # noqa: ANN401 - passed on to read_days
        """Return all rows that count, as `read_days` yields them."""
        found = [rows for _, rows in self.read_days(table, **wanted)]
        return pa.concat_tables(found) if found else stored_schema(table).empty_table()

    def files(self) -> list[dict[str, Any]]:
        """Return the table of files, oldest first."""
        rows = read_parts(self.place, self.snapshot().of(FILES), table=FILES)
        return sorted(rows.to_pylist(), key=lambda row: str(row["commit_id"]))

    def stored_report(self, commit_id: str) -> dict[str, Any] | None:
        """Return the report of an ingest."""
        rows = read_parts(self.place, self.snapshot().of(FILES), table=FILES, columns=["commit_id", "report"])
        for row in rows.to_pylist():
            if row["commit_id"] == commit_id and row["report"]:
                report: dict[str, Any] = json.loads(row["report"])
                return report
        return None

    # ---- the Delta table ---------------------------------------------------------------------------------------------

    def _delta(self) -> DeltaTable:
        # Opening takes longer than anything else with a small file. Versions have no gaps.
        if self._opened is None or self.place.may_be_newer(self._opened.version()):
            self._opened = self._opened_now()
            self._stamp = self.place.log_stamp(self._opened.version())
        return self._opened

    def _opened_now(self) -> DeltaTable:
        try:
            return DeltaTable(self.url)
        except TableNotFoundError:
            message = f"There is no usage history at {shown(self.url)}."
            raise HistoryError(message) from None
        except (DeltaError, OSError) as error:
            why = str(error).partition("\n")[0]
            message = f"The usage history at {shown(self.url)} cannot be read: {why}"
            if self.place.has_torn_log():
                message = f"The last entry in the log of the usage history at {shown(self.url)} is incomplete: the power failed while it was written. The next upload, or `maintain`, sets it aside; ingest the files that it recorded again."
            raise HistoryError(message) from error

    @contextlib.contextmanager
    def _made(self) -> Iterator[None]:
        try:
            yield
        except (DeltaError, OSError) as error:
            message = f"No usage history can be created at {shown(self.url)}: {error}"
            raise HistoryError(message) from error

    def _create(self) -> None:
        schema = _delta_schema()
        with self._made(), contextlib.suppress(CommitFailedError):  # another process made it at the same time
            if not DeltaTable.is_deltatable(self.url):
                DeltaTable.create(
                    self.url,
                    Schema.from_arrow(schema),
                    mode="ignore",
                    partition_by=list(PARTITIONS),
                    name="cfplan usage history",
                    configuration={
                        "delta.dataSkippingStatsColumns": ",".join(STATISTICS),
                        "delta.checkpointInterval": str(ENTRIES_TO_A_CHECKPOINT),
                        KEY_RULES_NAME: str(KEY_RULES),
                    },
                    raise_if_key_not_exists=False,
                )
        self.place.make_log_lasting()
        for _ in range(ATTEMPTS):
            delta = self._delta()
            if tuple(delta.metadata().partition_columns) != PARTITIONS:
                message = f"{shown(self.url)} contains a Delta table that is not a cfplan usage history."
                raise HistoryError(message)
            known = {column.name for column in delta.schema().fields}
            missing = [DeltaField.from_arrow(one) for one in schema if one.name not in known]
            if not missing:
                self.renew_keys()
                return
            with contextlib.suppress(CommitFailedError):
                delta.alter.add_columns(missing)
        message = f"The usage history at {shown(self.url)} could not be given its new columns, because other processes are writing to it."
        raise HistoryError(message)

    def renew_keys(self) -> None:
        """Replace the natural keys of rows of older releases with those of this one, if that has not been done yet.

        It may be interrupted and run again, or run twice at once, because keys are derived only from the rows.
        """
        done: set[str] = set()
        failures = 0
        while failures < ATTEMPTS:
            snapshot = self.snapshot()
            if snapshot.key_rules >= KEY_RULES:
                return
            changes: list[AddAction | RemoveAction] = []
            for part in snapshot.parts:
                if part.table == FILES or part.path in done:
                    continue
                done.add(part.path)
                renewed = self._renewed(part)
                if renewed is not None:
                    done.add(renewed.path)
                    changes += [_added(renewed), _removed(part)]
                if len(changes) >= 2 * MOST_RENEWED:
                    break
            try:
                if changes:
                    self._write(snapshot.delta, changes)
                    continue
                snapshot.delta.alter.set_table_properties(
                    {KEY_RULES_NAME: str(KEY_RULES)}, raise_if_not_exists=False
                )
                self.place.make_log_lasting()
            except CommitFailedError:  # another process merged or removed these files: start over
                failures += 1
                done.clear()
        message = f"The rows at {shown(self.url)} could not be given this release's keys, because other processes are writing to it."
        raise HistoryError(message)

    def _renewed(self, part: Part) -> Part | None:
        """Return a file with recalculated keys, or None if they are unchanged."""
        sources = read_parts(self.place, [part], table=part.table, columns=["source"])["source"]
        if not any(
            natural_key(source).family in REKEYED_FAMILIES for source in pc.unique(sources).to_pylist()
        ):
            return None
        rows = read_parts(self.place, [part], table=part.table)
        renewed = with_keys(part.table, rows)
        if renewed.equals(rows):
            return None
        return write_part(self.place, part.table, dt.date.fromisoformat(part.day), renewed)

    def _transact(
        self,
        actions: Callable[[Snapshot], list[AddAction | RemoveAction]],
        *,
        entry: dict[str, Any],
    ) -> None:
        """Commit the result of `actions` with a ledger entry; recalculate it if others have committed first."""
        own = write_part(self.place, FILES, entry["day"], ledger_rows([entry]))
        for attempt in range(ATTEMPTS):
            snapshot = self.snapshot()
            changes = [*actions(snapshot), _added(own), *self._merged_ledger(snapshot)]
            try:
                self._write(snapshot.delta, changes)
                return
            except CommitFailedError:
                pause = min(LONGEST_PAUSE_S, 0.01 * 2**attempt)
                time.sleep(pause * random.random())  # noqa: S311 - so that two processes do not collide again
        message = f"The usage history at {shown(self.url)} is being written to by too many processes at once; nothing was stored."
        raise HistoryError(message)

    def _write(self, delta: DeltaTable, actions: list[AddAction | RemoveAction]) -> None:
        self.place.make_lasting(action.path for action in actions if isinstance(action, AddAction))
        try:
            delta.create_write_transaction(
                actions,
                mode="append",
                schema=Schema.from_arrow(_delta_schema()),
                partition_by=list(PARTITIONS),
                commit_properties=CommitProperties(max_commit_retries=ATTEMPTS),
            )
        except CommitFailedError:
            raise
        except (DeltaError, OSError) as error:
            message = f"The usage history at {shown(self.url)} cannot be written to: {error}"
            raise HistoryError(message) from error
        self.place.make_log_lasting()

    def _merged_ledger(self, snapshot: Snapshot) -> list[AddAction | RemoveAction]:
        # Opening the history reads every file of the ledger. They are merged within a commit that is made anyway.
        small = [part for part in snapshot.of(FILES) if part.rows == 1]
        if len(small) < MOST_LEDGER_PARTS:
            return []
        rows = read_parts(self.place, small, table=FILES)
        day = dt.date.fromisoformat(max(part.day for part in small))
        merged = write_part(self.place, FILES, day, rows)
        return [_added(merged), *(_removed(part) for part in small)]

    def days_of(self, entry: Entry) -> set[str]:
        """Return the days that an ingest touched, from its partitions and from its own report."""
        report = self.stored_report(entry.commit_id) or {}
        return {*report.get("days", ()), *(day for of_table in entry.days.values() for day in of_table)}

    def _days_named_by(self, snapshot: Snapshot, groups: set[str]) -> set[str]:
        """Return the days with rows that had only XCF's structure name until these groups were known."""
        days: set[str] = set()
        if not groups:
            return days
        columns = ["qsg", "structure", "xcf_structure"]
        for table in (STRUCTURE_USAGE, ALLOCATION):
            for day in sorted(snapshot.unnamed_days(table).intersection(snapshot.days(table))):
                rows = read_parts(self.place, snapshot.of(table, day), table=table, columns=columns)
                unnamed = rows.filter(pc.is_null(rows["qsg"]))
                if named(unnamed, sorted(groups))["qsg"].null_count < unnamed.num_rows:
                    last = dt.date.fromisoformat(day)
                    days |= {day, (last - _DAY).isoformat()}  # filed under the end of an interval
        return days

    def _compact_crowded(self, touched: set[tuple[str, str]]) -> None:
        snapshot = self.snapshot()
        for table, day in sorted(touched):
            if len(snapshot.of(table, day)) > MOST_SMALL_PARTS:
                self.compact(table, day)

    def _compare(
        self, snapshot: Snapshot, earlier: Entry | None, parts: Sequence[Part]
    ) -> dict[str, Comparison]:
        """Return the number of new staged rows by table and day."""
        ignored = set(snapshot.ledger.dead_commits)
        if earlier is not None:
            ignored.add(earlier.commit_id)
        comparisons = {table: compare.Comparison() for table in USAGE_TABLES}
        for table, day in sorted({(part.table, part.day) for part in parts}):
            staged = [part for part in parts if (part.table, part.day) == (table, day)]
            there = snapshot.of(table, day)
            comparisons[table] += compare.compare(
                self.place, table, staged=staged, there=there, ignored=frozenset(ignored)
            )
        return comparisons


_KEPT: dict[str, History] = {}
"""The histories that jobs of this process have opened with `open_kept`, by URL."""


def _days_of(parts: Iterable[Part]) -> dict[str, list[str]]:
    """Return the days of files by table."""
    days: dict[str, set[str]] = {}
    for part in parts:
        days.setdefault(part.table, set()).add(part.day)
    return {table: sorted(days[table]) for table in USAGE_TABLES if table in days}


def _to_be_joined(parts: Sequence[Part], dead: frozenset[str]) -> list[Part]:
    """Return the smallest files that fit into memory together; an empty list if there is nothing to rewrite."""
    chosen: list[Part] = []
    rows = 0
    for part in sorted(parts, key=lambda part: part.rows):
        rows += part.rows
        if chosen and rows > MOST_JOINED_ROWS:
            break
        chosen.append(part)
    if len(chosen) > 1:
        return chosen
    may_hold_dead = [part for part in parts if part.commit_id in dead or (dead and not part.commit_id)]
    return may_hold_dead[:1]


def shown(url: str) -> str:
    """Return a URL without the parts that may be secret: user, password and query.

    >>> shown("abfss://history:key@example/usage?sig=xyz")
    'abfss://example/usage'
    """
    if "://" not in url:
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def named(rows: pa.Table, groups: Sequence[str]) -> pa.Table:
    """Return rows with their group and MQ's name where only XCF's structure name was known, if the group is known."""
    if rows.num_rows == 0 or not groups:
        return rows
    unnamed = pc.and_(pc.is_null(rows["qsg"]), pc.is_valid(rows["xcf_structure"]))
    if not pc.any(unnamed).as_py():
        return rows
    prefixes = pa.array(
        [cfrm_structure_name(qsg_name=group, cfstruct_name="") for group in groups], pa.string()
    )
    places = pc.index_in(pc.utf8_slice_codeunits(rows["xcf_structure"], 0, 4), value_set=prefixes)
    known = pc.and_(unnamed, pc.is_valid(places))
    qsg = pc.if_else(known, pa.array(groups, pa.string()).take(places), rows["qsg"])
    structure = pc.if_else(known, pc.utf8_slice_codeunits(rows["xcf_structure"], 4), rows["structure"])
    rows = rows.set_column(rows.schema.get_field_index("qsg"), "qsg", qsg)
    return rows.set_column(rows.schema.get_field_index("structure"), "structure", structure)


def _within(
    rows: pa.Table,
    *,
    qsg: str | None,
    structure: str | None,
    start: dt.datetime | None,
    end: dt.datetime | None,
) -> pa.Table:
    conditions = []
    if qsg is not None:
        conditions.append(pc.equal(rows["qsg"], qsg))
    if structure is not None:
        is_mq, is_xcf = pc.equal(rows["structure"], structure), pc.equal(rows["xcf_structure"], structure)
        conditions.append(
            pc.or_(pc.fill_null(is_mq, fill_value=False), pc.fill_null(is_xcf, fill_value=False))
        )
    begins = pc.coalesce(rows["interval_start"], rows["interval_end"])
    if start is not None:
        instant = pa.scalar(start, begins.type)
        later = pc.greater(rows["interval_end"], instant)
        conditions.append(
            pc.or_(later, pc.and_(pc.equal(begins, rows["interval_end"]), pc.equal(begins, instant)))
        )
    if end is not None:
        conditions.append(pc.less(begins, pa.scalar(end, begins.type)))
    return rows.filter(reduce(pc.and_kleene, conditions)) if conditions else rows


_SORT = ("interval_end", "qsg", "structure", "xcf_structure", "queue_manager", "system_id", "source")


def _sorted(rows: pa.Table) -> pa.Table:
    names = [*_SORT, *(name for name in ("queue", "correlation") if name in rows.schema.names)]
    names += ["key_high", "key_low", "piece"]
    return rows.sort_by([(name, "ascending") for name in names])


def _delta_schema() -> pa.Schema:
    """Return all columns of all tables; columns of one name have one type."""
    fields = {"table": pa.field("table", pa.string()), "day": pa.field("day", pa.date32())}
    for table in (FILES, *TABLES):
        fields |= {one.name: one for one in stored_schema(table)}
    return pa.schema(list(fields.values()))


def _parts(delta: DeltaTable) -> tuple[Part, ...]:
    found = pa.table(delta.get_add_actions(flatten=True))
    names = found.schema.names
    texts = {
        name: _same_text(found, name) if f"min.{name}" in names else [""] * found.num_rows
        for name in TEXT_STATISTICS
    }
    rows = zip(
        found["path"].to_pylist(),
        found["size_bytes"].to_pylist(),
        found["partition.table"].to_pylist(),
        found["partition.day"].to_pylist(),
        found["num_records"].to_pylist(),
        texts["commit_id"],
        texts["file_sha256"],
        found["min.interval_start"].to_pylist() if "min.interval_start" in names else [None] * found.num_rows,
        strict=True,
    )
    return tuple(
        Part(path, size, table, day.isoformat(), count, commit_id, sha, start.isoformat() if start else "")
        for path, size, table, day, count, commit_id, sha, start in rows
    )


def _same_text(found: pa.Table, name: str) -> list[str]:
    lows, highs = found[f"min.{name}"].to_pylist(), found[f"max.{name}"].to_pylist()
    return [low if low is not None and low == high else "" for low, high in zip(lows, highs, strict=True)]


# Every action is marked as changing data, even a mere rewrite: delta-rs finds no conflict between two
# commits that remove the same file without changing data.


def _added(part: Part) -> AddAction:
    # A file of several commits has no commit in its statistics, so that no reader draws a conclusion from them.
    values = {name: getattr(part, name) for name in TEXT_STATISTICS if getattr(part, name)}
    lowest = values | ({"interval_start": part.first_start} if part.first_start else {})
    statistics = {"numRecords": part.rows, "minValues": lowest, "maxValues": values, "nullCount": {}}
    return AddAction(
        path=part.path,
        size=part.size_bytes,
        partition_values=_partition_values(part),
        modification_time=_now_ms(),
        data_change=True,
        stats=json.dumps(statistics),
    )


def _removed(part: Part) -> RemoveAction:
    return RemoveAction(part.path, True, _now_ms(), part.size_bytes, _partition_values(part))


def _partition_values(part: Part) -> dict[str, str | None]:
    return {"table": part.table, "day": part.day}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _entry_row(
    entry: str, answers: dict[str, Any], *, file_sha256: str | None = None, identity: str | None = None
) -> dict[str, Any]:
    now = dt.datetime.now(dt.UTC)
    return {
        "day": now.date(),
        "commit_id": new_commit_id(),
        "entry": entry,
        "committed_at": now,
        "file_sha256": file_sha256,
        "identity": identity,
        "answers": json.dumps(answers, sort_keys=True),
    }
