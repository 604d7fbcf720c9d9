"""Make an archive of everything that the service stores, while it runs.

The order makes the archive consistent:

1. The names of uploaded files are locked, a snapshot of the database is taken, and each file that the snapshot names gets
   a second name (a hard link) in the folder of the backup. The lock is released after milliseconds; a file that is
   deleted from then on is still in the archive.
2. The log of the usage history is read after the snapshot. A job writes to the history before it writes to the database,
   so the history has at least everything that the snapshot refers to. If it has more, the job that wrote it is not yet
   done in the snapshot, and continues after a restore.
3. Rows, uploaded files and the files of the history are written. None of them can change any more.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.backup import history_files, rows
from app.backup.archive import FORMAT, HEAD, TABLES, ArchiveWriter
from app.backup.errors import BackupFailed
from app.backup.history_files import TableVersion
from app.clock import utc_now
from app.database.engine import Database, revision_of
from app.nightly import report
from app.settings import Settings
from app.uploads import files, repository
from planner_core import CORE_VERSION
from planner_core.wire import JsonObject

FOLDER, LOCK = "backup", "backup.lock"
LONGEST_WAIT_S = 600.0
"""How long a backup waits for the lock of SQLite: a job that stores many roll-ups holds it for minutes."""
LOOKS_EVERY_S = 0.2
Progress = Callable[[str, int, int], None]
"""Called with the current step, the bytes written and the expected total, before compression."""


@dataclass(frozen=True, slots=True)
class MadeBackup:
    """A complete archive."""

    size_bytes: int
    sha256: str
    files: int
    """Members of the archive."""
    revision: str
    history_version: int | None
    """Version of the usage history; None if it is not in the archive."""
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Snapshot:
    connection: Connection
    revision: str
    uploads: dict[str, Path] = field(default_factory=dict)
    """The second name of each uploaded file, by its digest."""
    missing: list[str] = field(default_factory=list)
    """Digests of files that the database names and that do not exist."""
    history: list[TableVersion] = field(default_factory=list)
    """The history itself last, after the tables in its folder."""


def history_folder(settings: Settings) -> Path | None:
    """Return the folder of the usage history, or None if it is in an object store."""
    parts = urlsplit(settings.history)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    # A scheme of one letter is a drive.
    return None if len(parts.scheme) > 1 else Path(settings.history).absolute()


def make_backup(
    database: Database, settings: Settings, out: BinaryIO, *, has_uploads: bool, on_progress: Progress
) -> MadeBackup:
    """Write an archive to an open file.

    Args:
        database: The database, which may have any revision.
        settings: Settings of the service.
        out: The file; it need not be seekable.
        has_uploads: Whether the archive includes the files of uploads.
        on_progress: Called while the archive is written.

    Raises:
        BackupFailed: There is no database or no data folder, or another backup is under way.
        OSError: A file cannot be read or written.
    """
    data_dir = settings.data_dir.absolute()
    if database.is_missing:
        message = f"There is no database {str(database.url.database)!r}, so there is nothing to back up."
        raise BackupFailed(message)
    if not data_dir.is_dir():
        # With a database on a server, the backup would succeed without uploads, history and reports.
        message = f"There is no data folder {str(data_dir)!r}. Set CFPLAN_DATA_DIR to the data folder of the service."
        raise BackupFailed(message)
    with (
        _own_folder(data_dir) as folder,
        _snapshot(database, settings, folder, has_uploads=has_uploads) as taken,
    ):
        return _Making(database, settings, taken, out, on_progress).run(has_uploads=has_uploads)


def expected_bytes(database: Database, settings: Settings, *, has_uploads: bool) -> int:
    """Return the size of everything that an archive would contain, before compression."""
    data_dir = settings.data_dir.absolute()
    folders = [data_dir / report.FOLDER, history_folder(settings)]
    if has_uploads:
        folders.append(data_dir / files.FOLDER)
    found = sum(_size_of(folder) for folder in folders if folder is not None)
    if database.is_missing:
        return found
    with database.connection(writes=False) as connection:
        size = (
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            if database.is_sqlite
            else "SELECT pg_database_size(current_database())"
        )
        return found + int(connection.execute(text(size)).scalar_one())


class _Making:
    """One backup, after its snapshot was taken."""

    def __init__(
        self, database: Database, settings: Settings, taken: _Snapshot, out: BinaryIO, on_progress: Progress
    ) -> None:
        self._settings = settings
        self._taken = taken
        self._archive = ArchiveWriter(out)
        self._on_progress = on_progress
        self._database = database
        self._total = 0
        self._warnings: list[str] = []

    def run(self, *, has_uploads: bool) -> MadeBackup:
        taken, archive = self._taken, self._archive
        self._total = expected_bytes(self._database, self._settings, has_uploads=has_uploads)
        version = taken.history[-1].version if taken.history else None
        if taken.missing:
            self._warnings.append(
                f"{len(taken.missing)} files of uploads are not in the data folder, so they are not in the backup."
            )
        archive.add_json(HEAD, self._head(version, has_uploads=has_uploads))
        self._write_rows()
        for digest, path in sorted(taken.uploads.items()):
            self._on_progress("uploads", self._written, self._total)
            if archive.add_file(f"uploads/{digest}", path).sha256 != digest:
                self._warnings.append(
                    f"The upload {digest} is damaged on disk; it is in the backup as it is."
                )
        for table in taken.history:
            self._write_history(table)
        self._write_reports()
        archive.finish()
        return MadeBackup(
            archive.size_bytes,
            archive.sha256,
            len(archive.listed),
            taken.revision,
            version,
            tuple(self._warnings),
        )

    @property
    def _written(self) -> int:
        return sum(each.size_bytes for each in self._archive.listed.values())

    def _head(self, version: int | None, *, has_uploads: bool) -> JsonObject:
        where = "folder" if version is not None else "none"
        if history_folder(self._settings) is None:
            where = "object_store"
            self._warnings.append(
                "The usage history is in an object store, so it is not in the backup: protect it there, by versioning or a copy."
            )
        return {
            "format": FORMAT,
            "cfplan_version": CORE_VERSION,
            "revision": self._taken.revision,
            "made_at": utc_now().isoformat(timespec="seconds"),
            "database": "sqlite" if self._database.is_sqlite else "postgresql",
            "has_uploads": has_uploads,
            "missing_uploads": self._taken.missing,
            "history": where,
            "history_version": version,
        }

    def _write_rows(self) -> None:
        tables = rows.tables_in(self._taken.connection)
        self._archive.add_json(TABLES, {"tables": [table.as_json() for table in tables]})
        for table in tables:
            for number, chunk in enumerate(rows.read_chunks(self._taken.connection, table), start=1):
                self._archive.add_bytes(f"database/{table.name}/{number:06}.jsonl", chunk)
                self._on_progress("database", self._written, self._total)

    def _write_history(self, table: TableVersion) -> None:
        root = self._taken.history[-1].folder

        def name(path: Path) -> str:
            return f"history/{path.relative_to(root).as_posix()}"

        for path in table.data_files():
            try:
                self._archive.add_file(name(path), path)
            except FileNotFoundError:
                # Deleted meanwhile because no version of the last week needs it; otherwise the history is damaged.
                if table.needs(path):
                    self._warnings.append(f"The history names the file {path}, which does not exist.")
            self._on_progress("history", self._written, self._total)
        # The log is last in the archive, as it is on disk: what it names is there before it.
        for path in table.log:
            with contextlib.suppress(FileNotFoundError):  # old entries are removed after a checkpoint
                self._archive.add_file(name(path), path)
        if table.pointer is not None:
            self._archive.add_bytes(name(table.pointer_path), table.pointer)

    def _write_reports(self) -> None:
        for path in report.files_of(self._settings):
            with contextlib.suppress(FileNotFoundError):
                self._archive.add_file(f"reports/{path.name}", path)


# ---- the snapshot ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _own_folder(data_dir: Path) -> Iterator[Path]:
    """Create an empty folder for the second names of files, and remove it at the end. One backup can run at a time."""
    fileno = os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    folder = data_dir / FOLDER
    try:
        try:
            fcntl.flock(fileno, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"Another backup of the data folder {str(data_dir)!r} is under way."
            raise BackupFailed(message) from None
        shutil.rmtree(folder, ignore_errors=True)  # of a backup that was killed
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(fileno)


@contextlib.contextmanager
def _snapshot(
    database: Database, settings: Settings, folder: Path, *, has_uploads: bool
) -> Iterator[_Snapshot]:
    with database.connection(writes=False) as connection:
        if not database.is_sqlite:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
            # A backup of a large database takes longer than any request may.
            for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
                connection.execute(text(f"SET LOCAL {limit} = 0"))
        with _files_held(database):
            revision = revision_of(connection)  # the first query takes the snapshot
            if revision is None:
                message = "The database has no tables of cfplan, so there is nothing to back up."
                raise BackupFailed(message)
            taken = _Snapshot(connection, revision)
            if has_uploads:
                _name_again(taken, settings.data_dir.absolute(), folder)
        found = history_folder(settings)
        if found is not None:
            # The daily statistics are derived from the history, so they must not be newer.
            for each in (*history_files.nested_tables(found), found):
                version = history_files.table_version(each)
                if version is not None:
                    taken.history.append(version)
            if taken.history and taken.history[-1].folder != found:
                taken.history.clear()  # without a history, its daily statistics are useless
        yield taken


@contextlib.contextmanager
def _files_held(database: Database) -> Iterator[None]:
    """Lock the names of uploaded files during the block."""
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        while True:
            try:
                connection = stack.enter_context(database.connection(writes=True))
                break
            except OperationalError as error:
                if "locked" not in str(error.orig) or time.monotonic() - begun > LONGEST_WAIT_S:
                    raise
                time.sleep(LOOKS_EVERY_S)
        if inspect(connection).has_table("uploads"):
            with Session(connection) as session:
                repository.hold_files(session)
        yield


def _name_again(taken: _Snapshot, data_dir: Path, folder: Path) -> None:
    query = text("SELECT DISTINCT sha256 FROM uploads WHERE removed_at IS NULL ORDER BY sha256")
    for digest in taken.connection.scalars(query):
        path, link = files.path_of(data_dir, digest), folder / digest
        try:
            os.link(path, link)
        except FileNotFoundError:
            taken.missing.append(digest)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EXDEV, errno.ENOSYS):
                raise
            # Without hard links, a copy: the file could be deleted before it is written to the archive.
            shutil.copyfile(path, link)
        else:
            taken.uploads[digest] = link
            continue
        if link.exists():
            taken.uploads[digest] = link


def _size_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file():
                total += path.stat().st_size
    return total
