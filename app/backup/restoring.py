"""Restore an archive: unpack and verify it next to the data, then exchange everything, completely or not at all.

The journal (`app.backup.journal`) is on disk before each step, so that a restore that was killed at any instant is either
completed or undone by the next command. Nothing else opens the data folder in between (`app.data_folder`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import URL, Connection, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.backup import journal as journals
from app.backup import server_tables
from app.backup.archive import (
    FORMAT,
    HEAD,
    LONGEST_NAME_BYTES,
    TABLES,
    ArchiveReader,
    Listed,
    Member,
    read_json,
)
from app.backup.errors import ArchiveInvalid, RestoreRefused
from app.backup.history_files import LOG
from app.backup.journal import Item, Journal, Phase
from app.backup.making import history_folder
from app.backup.rows import REVISION_TABLE, TableOfRows, load_rows
from app.clock import utc_now
from app.data_folder import check_no_restore, held_alone
from app.database.engine import IN_MEMORY, Database, database_of, database_url, knows_revision
from app.disk import free_bytes
from app.nightly import report
from app.settings import Settings
from app.uploads import files
from planner_core import CORE_VERSION
from planner_core.wire import JsonObject

STAGING, STAGED_TABLES = "restore", "tables.json"
SQLITE_PARTS = ("-wal", "-shm", "-journal")
LEFT_FREE_BYTES = 64 * 2**20
"""Space that a restore leaves on the disk."""
Progress = Callable[[str, int], None]
"""Called with the current step and the compressed bytes read so far."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A complete restore."""

    made_at: str
    revision: str
    """Revision of the archive; the database has the newest one."""
    files: int
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Unpacked:
    """The contents of an archive."""

    head: JsonObject = field(default_factory=dict)
    tables: list[TableOfRows] = field(default_factory=list)
    uploads: set[str] = field(default_factory=set)
    has_history: bool = False
    has_tokens: bool = False
    files: int = 0


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the parts of an archive belong."""

    data_dir: Path
    database: Path | None
    """The SQLite file; None for a database server."""
    history: Path | None
    """None if the archive's history is not restored."""

    @property
    def staging(self) -> Path:
        return self.data_dir / f"{STAGING}{journals.NEW}"

    @property
    def uploads(self) -> Path:
        return self.data_dir / files.FOLDER

    @property
    def reports(self) -> Path:
        return self.data_dir / report.FOLDER

    def all_items(self) -> tuple[Item, ...]:
        found = [self.uploads, self.reports]
        if self.history is not None:
            found.append(self.history)
        return tuple(Item.of(path) for path in found) + self.database_items()

    def database_items(self) -> tuple[Item, ...]:
        if self.database is None:
            return ()
        rest = (self.database.with_name(f"{self.database.name}{each}") for each in SQLITE_PARTS)
        return (Item.of(self.database), *(Item.of(path, has_new=False) for path in rest))


def restore(
    settings: Settings,
    source: BinaryIO,
    *,
    name: str,
    replaces: bool,
    has_history: bool,
    on_progress: Progress,
    revokes_tokens: bool = False,
) -> Restored:
    """Restore an archive into the data folder and the database of the settings.

    Args:
        settings: Settings of the service.
        source: The archive, which need not be seekable.
        name: Its name, for messages.
        replaces: Whether existing data may be replaced.
        has_history: Whether the usage history of the archive is restored.
        on_progress: Called while the archive is read.
        revokes_tokens: Whether all API tokens of the archive are revoked.

    Raises:
        ArchiveInvalid: The archive is damaged, incomplete or hostile, or of a later version.
        RestoreRefused: There is data and `replaces` is not set, or other programs use the database.
        DataFolderBusy: The service, a job or a command uses the data, or a restore was interrupted.
    """
    data_dir = settings.data_dir.absolute()
    with held_alone(data_dir), _closing(database_of(settings)) as database:
        earlier = journals.read(data_dir)
        if earlier is not None and earlier.phase != Phase.STAGING:
            check_no_restore(data_dir)
        if earlier is not None:
            _discard(data_dir, earlier)
        places = _places(settings, database, has_history=has_history)
        if not database.is_sqlite:
            server_tables.check_exchange(database)
        if not replaces:
            _check_empty(database, places)
        begun = Journal(
            Phase.STAGING, secrets.token_hex(8), name, utc_now().isoformat(timespec="seconds"),
            _shown(database), "", str(places.staging), places.all_items(), changes_server=not database.is_sqlite,
            revokes_tokens=revokes_tokens,
        )  # fmt: skip
        _discard(data_dir, begun)  # what a restore with other settings may have left
        journals.write(data_dir, begun)
        try:
            found = _unpack(
                source, places, largest_ratio=settings.max_unpacked_ratio, has_history=has_history, on_progress=on_progress
            )  # fmt: skip
            revision = str(found.head["revision"])
            if places.database is not None:
                _build_sqlite(places, found, begun.at(Phase.STAGING, revision=revision), on_progress)
            os.sync()  # everything that was unpacked is on disk before anything is exchanged
            prepared = begun.at(
                Phase.PREPARED, revision=revision, items=_items(places, found, has_history=has_history)
            )
            journals.write(data_dir, prepared)
        except BaseException:
            _discard(data_dir, begun)
            raise
        try:
            _exchange(database, data_dir, prepared, on_progress)
        except Exception as error:
            _undo(database, data_dir, prepared)
            message = f"The restore failed and was undone, so the data is as before: {error}"
            raise RestoreRefused(message) from error
        _clean(database, data_dir, prepared.at(Phase.CLEANING))
        return Restored(
            str(found.head.get("made_at", "")),
            revision,
            found.files,
            tuple(_notes(found, places, has_history=has_history, revokes_tokens=revokes_tokens)),
        )


def continue_restore(settings: Settings, *, on_progress: Progress) -> Journal:
    """Complete a restore that was interrupted, and return its journal.

    Raises:
        RestoreRefused: There is none, or its archive was not yet unpacked completely.
    """
    data_dir = settings.data_dir.absolute()
    with held_alone(data_dir), _closing(database_of(settings)) as database:
        found = _interrupted(data_dir, database)
        if found.phase == Phase.STAGING:
            message = (
                f"The restore of {found.archive} was interrupted before the archive was unpacked completely; nothing was "
                "changed. Run `cfplan restore FILE` again, or `cfplan restore --undo` to give it up."
            )
            raise RestoreRefused(message)
        if found.phase == Phase.PREPARED:
            if found.changes_server:
                server_tables.check_exchange(database)
            _exchange(database, data_dir, found, on_progress)
        _clean(database, data_dir, found)
        return found


def undo_restore(settings: Settings) -> Journal:
    """Return to the state before a restore that was interrupted, and return its journal.

    Raises:
        RestoreRefused: There is none, or it is complete.
    """
    data_dir = settings.data_dir.absolute()
    with held_alone(data_dir), _closing(database_of(settings)) as database:
        found = _interrupted(data_dir, database)
        if found.phase == Phase.CLEANING:
            message = (
                f"The restore of {found.archive} is complete; only the old data remains to be removed, and a part of it may "
                "be removed already. Run `cfplan restore --continue`."
            )
            raise RestoreRefused(message)
        if found.changes_server and found.phase == Phase.PREPARED:
            server_tables.check_exchange(database)
        _undo(database, data_dir, found)
        return found


# ---- before ----------------------------------------------------------------------------------------------------------


def _places(settings: Settings, database: Database, *, has_history: bool) -> _Places:
    path = None
    if database.is_sqlite:
        name = database_url(settings.database_url, data_dir=settings.data_dir.absolute()).database
        if name in IN_MEMORY:
            message = "CFPLAN_DATABASE_URL names a database in memory, into which nothing can be restored."
            raise RestoreRefused(message)
        path = Path(str(name)).absolute()
    return _Places(settings.data_dir.absolute(), path, history_folder(settings) if has_history else None)


def _check_empty(database: Database, places: _Places) -> None:
    """Check that nothing would be replaced."""
    found = []
    if not database.is_missing:
        with database.connection(writes=False) as connection:
            names = [name for name in inspect(connection).get_table_names() if name != REVISION_TABLE]
            if any(connection.exec_driver_sql(f'SELECT 1 FROM "{name}" LIMIT 1').first() for name in names):  # noqa: S608
                found.append("the database has rows")
    if any(files.whole_files(places.data_dir, older_than_s=-1)):
        found.append("there are uploads")
    if places.history is not None and (places.history / LOG).exists():
        found.append("there is a usage history")
    if found:
        message = (
            f"The data folder {str(places.data_dir)!r} is not empty: {', '.join(found)}. Add --replace to replace everything "
            "by the archive, or set CFPLAN_DATA_DIR and CFPLAN_DATABASE_URL to an empty folder and database. Nothing was changed."
        )
        raise RestoreRefused(message)


def _interrupted(data_dir: Path, database: Database) -> Journal:
    found = journals.read(data_dir)
    if found is None:
        message = f"No restore of the data folder {str(data_dir)!r} was interrupted."
        raise RestoreRefused(message)
    if found.database != _shown(database):
        message = f"The interrupted restore is for the database {found.database}, but CFPLAN_DATABASE_URL names {_shown(database)}."
        raise RestoreRefused(message)
    return found


# ---- unpacking -------------------------------------------------------------------------------------------------------


def _unpack(
    source: BinaryIO, places: _Places, *, largest_ratio: int, has_history: bool, on_progress: Progress
) -> _Unpacked:
    """Unpack and verify the archive under the new names."""
    reader = ArchiveReader(source, largest_ratio=largest_ratio)
    found = _Unpacked()
    places.staging.mkdir(mode=0o700)
    for member in reader.members():
        if not found.head:
            if member.name != HEAD:
                message = "The archive is not a backup of cfplan: its first member is not backup.json."
                raise ArchiveInvalid(message)
            data = member.read()
            found.head = _checked_head(read_json(data, HEAD))
            reader.listed[HEAD] = _listed(data)
            continue
        if member.name == TABLES:
            data = member.read()
            (places.staging / STAGED_TABLES).write_bytes(data)
            listed = read_json(data, TABLES).get("tables")
            found.tables = [
                TableOfRows.of_json(each) for each in (listed if isinstance(listed, list) else [])
            ]
            reader.listed[TABLES] = _listed(data)
            continue
        on_progress(member.name.partition("/")[0], reader.packed_bytes)
        reader.listed[member.name] = _store(
            member, _target(member.name, places, found, has_history=has_history)
        )
    if not found.tables:
        message = "The archive contains no tables."
        raise ArchiveInvalid(message)
    found.files = len(reader.listed)
    # Folders exist even if the archive has nothing in them, because they replace those that are there.
    for path in (places.uploads, places.reports):
        Item.of(path).new.mkdir(exist_ok=True)
    return found


def _checked_head(head: JsonObject) -> JsonObject:
    revision, made_by = str(head.get("revision")), str(head.get("cfplan_version"))[:40]
    if head.get("format") != FORMAT or not knows_revision(revision):
        message = (
            f"The archive was made by cfplan {made_by} with the revision {revision[:40]!a}, which this version "
            f"({CORE_VERSION}) does not know. Install that version or a later one, and restore the archive with it. "
            "Nothing was changed."
        )
        raise ArchiveInvalid(message)
    return head


def _target(name: str, places: _Places, found: _Unpacked, *, has_history: bool) -> Path | None:
    """Return the path for a member; None if it is only verified."""
    kind, _, rest = name.partition("/")
    if kind == "database":
        found.has_tokens |= rest.startswith("api_tokens/")
        return places.staging / rest
    if kind == "uploads":
        found.uploads.add(rest)
        return Item.of(places.uploads).new / rest[:2] / rest
    if kind == "history":
        found.has_history = True
        if not has_history:
            return None
        if places.history is None:
            message = (
                "The archive contains a usage history, but CFPLAN_HISTORY_URL names an object store, into which it cannot be "
                "restored. Add --without-history, or unset CFPLAN_HISTORY_URL. Nothing was changed."
            )
            raise RestoreRefused(message)
        return Item.of(places.history).new / rest
    return Item.of(places.reports).new / rest


def _store(member: Member, target: Path | None) -> Listed:
    """Write a member to a new file, and return its size and digest."""
    digest = hashlib.sha256()
    with contextlib.ExitStack() as stack:
        file = None
        if target is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            free = free_bytes(target.parent)
            if member.size_bytes + LEFT_FREE_BYTES > free:
                message = (
                    f"The archive does not fit on the disk of {str(target.parent)!r}: {member.name[:LONGEST_NAME_BYTES]} has "
                    f"{member.size_bytes} bytes, a restore leaves {LEFT_FREE_BYTES} bytes free, and {free} are free: at least "
                    f"{member.size_bytes + LEFT_FREE_BYTES - free} more are needed. Existing data is kept until a restore is "
                    "complete. Free some space and try again. Nothing was changed."
                )
                raise RestoreRefused(message)
            made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            file = stack.enter_context(os.fdopen(made, "wb"))
        for piece in member.pieces():
            digest.update(piece)
            if file is not None:
                file.write(piece)
    return Listed(member.size_bytes, digest.hexdigest())


def _listed(data: bytes) -> Listed:
    return Listed(len(data), hashlib.sha256(data).hexdigest())


def _items(places: _Places, found: _Unpacked, *, has_history: bool) -> tuple[Item, ...]:
    """Return the files and folders to exchange. The database is last: it refers to the others."""
    chosen = [Item.of(places.reports)]
    if found.head.get("has_uploads"):
        chosen.append(Item.of(places.uploads))
    if places.history is not None and has_history and found.head.get("history") != "object_store":
        chosen.append(Item.of(places.history, has_new=found.has_history))
    return (*chosen, *places.database_items())


# ---- the database ----------------------------------------------------------------------------------------------------


def _build_sqlite(places: _Places, found: _Unpacked, begun: Journal, on_progress: Progress) -> None:
    """Create the new SQLite file with the newest schema next to the present one."""
    if places.database is None:
        return
    target = Item.of(places.database).new
    target.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with _closing(Database(URL.create("sqlite", database=str(target)), copies_kept=0)) as made:
        made.upgrade(begun.revision)
        with made.engine.connect() as connection:
            # Inside a transaction, the pragma would have no effect.
            connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")
            with connection.begin():
                load_rows(
                    connection, found.tables, lambda table: _lines(places.staging, table),
                    on_table=lambda name: on_progress(f"loading {name}", 0),
                )  # fmt: skip
                if connection.execute(text("PRAGMA foreign_key_check")).first():
                    message = "The archive contains rows that refer to rows which it does not contain."
                    raise ArchiveInvalid(message)
            connection.connection.cursor().execute("PRAGMA foreign_keys=ON")
        made.upgrade()
        with made.connection(writes=True) as connection:
            _adjust(connection, places, found.uploads, has_uploads=bool(found.head.get("has_uploads")))
            _record(connection, begun, revoked=_revoke_tokens(connection) if begun.revokes_tokens else None)
        with made.engine.connect() as connection:
            connection.connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _adjust(connection: Connection, places: _Places, uploads: set[str], *, has_uploads: bool) -> None:
    """Adjust the rows, which have the newest schema, to what was restored.

    Each upload whose file is not there is marked as removed, so that no row names a missing file. Sessions of browsers
    end: they may have been ended after the backup.
    """
    connection.execute(text("DELETE FROM user_sessions"))
    wanted = connection.scalars(text("SELECT DISTINCT sha256 FROM uploads WHERE removed_at IS NULL")).all()
    for digest in wanted:
        is_there = digest in uploads if has_uploads else files.path_of(places.data_dir, digest).exists()
        if not is_there:
            connection.execute(
                text("UPDATE uploads SET removed_at = :now WHERE sha256 = :digest AND removed_at IS NULL"),
                {"now": _stored_time(connection), "digest": digest},
            )


def _revoke_tokens(connection: Connection) -> int:
    """Revoke all API tokens, and return their number."""
    revoked = text("UPDATE api_tokens SET revoked_at = :now WHERE revoked_at IS NULL")
    return connection.execute(revoked, {"now": _stored_time(connection)}).rowcount


def _record(connection: Connection, begun: Journal, *, revoked: int | None) -> None:
    """Add the restore, and the number of tokens that it revoked, to the audit trail of the archive, which continues from here.

    Entries that were added after the backup are not in it; this entry tells why a digest that was noted after the backup
    no longer matches.
    """
    with Session(connection) as session:
        about = AuditObject("backup", Path(begun.archive).name)
        details = {
            "revision": begun.revision,
            **({} if revoked is None else {"revoked_tokens": revoked}),
        }
        record(session, Action.DATA_RESTORED, about, details)
        session.commit()  # of the session only: the connection has begun the transaction


def _stored_time(connection: Connection) -> Any:  # noqa: ANN401 - text or time
    now = utc_now()
    return now.strftime("%Y-%m-%d %H:%M:%S.%f") if connection.dialect.name == "sqlite" else now


def _lines(staging: Path, table: TableOfRows) -> Iterator[bytes]:
    for path in sorted((staging / table.name).glob("*.jsonl")):
        with path.open("rb") as file:
            yield from file


# ---- the exchange ----------------------------------------------------------------------------------------------------


def _exchange(database: Database, data_dir: Path, found: Journal, on_progress: Progress) -> None:
    if found.changes_server:
        places = _Places(data_dir, None, None)
        tables = _staged_tables(Path(found.staging))
        uploads = next((item for item in found.items if item.path == places.uploads), None)

        def after_load(connection: Connection) -> None:
            _adjust(connection, places, _digests_in(uploads), has_uploads=uploads is not None)
            _record(connection, found, revoked=_revoke_tokens(connection) if found.revokes_tokens else None)

        server_tables.exchange(
            database, found.restore_id, found.revision, tables, lambda table: _lines(Path(found.staging), table),
            after_load=after_load,
            on_table=lambda name: on_progress(f"loading {name}", 0),
        )  # fmt: skip
    journals.exchange(found.items)


def _staged_tables(staging: Path) -> Sequence[TableOfRows]:
    listed: Iterable[Any] = read_json((staging / STAGED_TABLES).read_bytes(), TABLES)["tables"]
    return [TableOfRows.of_json(each) for each in listed]


def _digests_in(uploads: Item | None) -> set[str]:
    if uploads is None:
        return set()
    # After an interruption, the folder may be exchanged already.
    folder = uploads.new if uploads.new.exists() else uploads.path
    return {path.name for path in folder.glob("[0-9a-f][0-9a-f]/*")}


def _undo(database: Database, data_dir: Path, found: Journal) -> None:
    if found.phase == Phase.PREPARED:
        journals.undo(found.items)
        if found.changes_server:
            server_tables.undo(database, found.restore_id)
    _discard(data_dir, found)


def _clean(database: Database, data_dir: Path, found: Journal) -> None:
    """Remove the old data; from the first step on, the restore can no longer be undone."""
    journals.write(data_dir, found.at(Phase.CLEANING))
    if found.changes_server:
        server_tables.clean(database, found.restore_id)
    for item in found.items:
        item.clean()
    _discard(data_dir, found)


def _discard(data_dir: Path, found: Journal) -> None:
    """Remove what was unpacked, and the journal last."""
    for item in found.items:
        journals.remove(item.new)
        if item.path.suffix == ".db":
            for each in SQLITE_PARTS:
                journals.remove(item.new.with_name(f"{item.new.name}{each}"))
    journals.remove(Path(found.staging))
    for path in (files.FOLDER, report.FOLDER):
        journals.remove(Item.of(data_dir / path).new)
    journals.delete(data_dir)


def _notes(found: _Unpacked, places: _Places, *, has_history: bool, revokes_tokens: bool) -> Iterator[str]:
    if found.has_tokens and revokes_tokens:
        yield "All API tokens were revoked. Create new ones for scripts with `cfplan tokens create`."
    elif found.has_tokens:
        yield (
            "API tokens are valid as they were when the backup was made: revoke those that were revoked since then "
            "(`cfplan tokens revoke`). --revoke-tokens revokes all."
        )
    if not found.head.get("has_uploads"):
        yield "The archive contains no uploaded files. Uploads whose file is not in the data folder are marked as removed."
    if found.head.get("history") == "object_store":
        yield "The archive contains no usage history, because it was in an object store. The history was not changed."
    elif found.has_history and not has_history:
        yield "The usage history of the archive was not restored. `cfplan history rollup` rebuilds the roll-ups from the present one."
    elif not found.has_history and places.history is not None:
        yield "There was no usage history when the backup was made."


def _shown(database: Database) -> str:
    return database.url.render_as_string(hide_password=True)


@contextlib.contextmanager
def _closing(database: Database) -> Iterator[Database]:
    try:
        yield database
    except DBAPIError as error:
        message = f"The database refused the restore: {str(error.orig).strip().splitlines()[0]}"
        raise RestoreRefused(message) from error
    finally:
        database.close()
