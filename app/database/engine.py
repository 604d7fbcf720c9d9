"""The database: SQLite in the data folder, or the server at a URL."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    ExceptionContext,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.orm import Session

from app import logs
from app.data_folder import FILE_MODE, FOLDER_MODE, in_use
from app.database import copies
from app.database.damage import Damage, StoredTextDamaged, damage_in_words, is_damaged
from app.database.full_disk import is_out_of_space
from app.database.limits import (
    CONNECTIONS,
    MORE_CONNECTIONS,
    PATIENT,
    WRITERS_AT_ONCE,
    Outage,
    Waits,
    lock_wait_s,
    network_options,
    server_options,
    waited_for_turn,
)
from app.database.transactions import COMMITTING
from app.problem_types import DATABASE_UNAVAILABLE, INSUFFICIENT_STORAGE
from app.settings import DEFAULT_COPIES_KEPT, Settings, read_settings
from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

# Alembic is imported only to migrate: commands, jobs and the service start with a current schema nearly always.

MIGRATIONS_DIR = Path(__file__).parents[2] / "migrations"
SCHEMA_REVISION = "a9e4c7b2d6f8"
"""The last revision in the folder of migrations, which this version of cfplan needs."""
_MIGRATING = threading.Lock()
"""A lock for migrations: Alembic keeps its context in a module, so a process cannot migrate two databases at once."""
SQLITE_FILE = "cfplan.db"
IN_MEMORY = (None, "", ":memory:")
"""Names of SQLite databases without a file."""
WRITING_CONNECTIONS, MORE_WRITING_CONNECTIONS = WRITERS_AT_ONCE // 2, WRITERS_AT_ONCE
"""The same as CONNECTIONS and MORE_CONNECTIONS, for connections that write. They have a pool of their own, so that writers that wait for a lock cannot take
the connections of readers.
"""
NEW_FILE_S = 2.0
"""Seconds after which an empty file of SQLite is not one that another process is about to fill."""
NO_ANSWER = "The database does not answer at the moment. Nothing was changed. Try again in a few seconds."
MIGRATION_LOCK = 0x6366706C616E  # "cfplan"
"""Advisory lock on PostgreSQL, so that two services that start together do not both migrate."""
READERS = "cfplan_readers"
"""The execution option that names the engine for reading during a transaction that writes."""
DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "sqlite": "sqlite"}


class DatabaseFull(PlannerError):
    """There is no space left for the database; nothing of the transaction was stored."""

    problem = INSUFFICIENT_STORAGE


class DatabaseUnusable(PlannerError):
    """The database cannot be used in its current state; the message says what to do."""

    problem = DATABASE_UNAVAILABLE


def is_unusable(error: DBAPIError) -> bool:
    """Return whether the database itself failed: it does not answer, or its file is damaged or not SQLite.

    Errors that a statement causes, such as a violated constraint, are other subclasses of DatabaseError.
    """
    return isinstance(error, OperationalError) or type(error) is InterfaceError or is_damaged(error)


def database_url(given: str, *, data_dir: Path) -> URL:
    """Return the URL to connect to: the given one with the installed driver, or SQLite in the data folder.

    Raises:
        DatabaseUnusable: The setting is not a URL, or names an unsupported kind of database.
    """
    if not given:
        return URL.create("sqlite", database=str(data_dir / SQLITE_FILE))
    try:
        url = make_url(given)
        kind = url.get_backend_name()
    except (ArgumentError, ValueError):
        message = (
            "CFPLAN_DATABASE_URL is not the URL of a database, such as postgresql://cfplan@localhost/cfplan."
        )
        raise DatabaseUnusable(message) from None
    if kind not in DRIVERS:
        message = (
            f"CFPLAN_DATABASE_URL names a database of kind {kind!r}; postgresql and sqlite are supported."
        )
        raise DatabaseUnusable(message)
    return url.set(drivername=DRIVERS[kind])


def configured_url(settings: Settings) -> URL:
    """Return the URL that the settings define, with the password from their file.

    Raises:
        DatabaseUnusable: As for `database_url`; the file cannot be read, is empty, or the URL has a password too.
    """
    url = database_url(settings.database_url, data_dir=settings.data_dir)
    if not settings.database_password_file:
        return url
    variable = "CFPLAN_DATABASE_PASSWORD_FILE"
    if url.get_backend_name() == "sqlite" or url.password is not None:
        message = (
            f"{variable} is only for a database server whose URL has no password. Remove one of the two."
        )
        raise DatabaseUnusable(message)
    try:
        password = Path(settings.database_password_file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        message = f"{variable}: {settings.database_password_file} cannot be read: {reason}."
        raise DatabaseUnusable(message) from None
    password = password.removesuffix("\n").removesuffix("\r")
    if not password:
        message = f"{variable}: {settings.database_password_file} is empty."
        raise DatabaseUnusable(message)
    return url.set(password=password)


class Database:
    """An engine, its schema and its sessions. Nothing is opened before it is needed."""

    def __init__(
        self,
        url: URL,
        *,
        migrates: bool | None = None,
        waits: Waits = PATIENT,
        copies_kept: int = DEFAULT_COPIES_KEPT,
        reads_only: bool = False,
        damage: Damage | None = None,
    ) -> None:
        """Store the arguments.

        Args:
            url: The database.
            migrates: Whether to upgrade the schema automatically; None means only on SQLite.
            waits: How long transactions wait.
            copies_kept: Copies of an SQLite file made before a migration that are kept; 0 makes none.
            reads_only: Whether the database itself refuses every change through this object.
            damage: What is remembered about damaged data, for several objects for the same database; None for its own.
        """
        self.url = url
        self.damage = damage or Damage()
        self.reads_only = reads_only
        self.copies_kept = copies_kept
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.migrates = self.is_sqlite if migrates is None else migrates
        self._lock = threading.Lock()
        self._is_ready = False
        self._waits = waits
        self._outage = Outage()
        self._is_full = False
        self.engine = _engine(url, waits, self._outage, writes=False, reads_only=reads_only)
        self._writing = _engine(
            url, waits, self._outage, writes=True, reads_only=reads_only
        ).execution_options(**{READERS: self.engine})
        event.listen(self._writing, "handle_error", self._on_write_error)
        event.listen(self._writing, "commit", self._on_commit)
        for engine in (self.engine, self._writing):
            weakref.finalize(self, engine.dispose)  # closes the connections of a discarded application

    def _on_write_error(self, context: ExceptionContext) -> None:
        if is_out_of_space(context.original_exception, self.folder):
            self._is_full = True
            message = "There is no space left on the disk of the database. Nothing was changed. Free some space, and then try again."
            raise DatabaseFull(message) from context.original_exception

    def _on_commit(self, _connection: Connection) -> None:
        self._is_full = False

    def prepare(self) -> None:
        """Upgrade the schema, or check its revision, once before the first use.

        Raises:
            DatabaseUnusable: The schema has another revision, and is not upgraded automatically; or another thread has
                waited for the database for too long.
        """
        if self._is_ready:
            return
        # Each thread would otherwise wait for the database after the one before it has waited in vain.
        if not self._lock.acquire(timeout=self._waits.pool_s):
            raise DatabaseUnusable(NO_ANSWER)
        try:
            self._prepare()
        finally:
            self._lock.release()

    def is_prepared_by(self, another: Database) -> None:
        """Adopt the schema that another object for the same database has checked or upgraded."""
        another.prepare()
        self._is_ready = True

    def _prepare(self) -> None:
        if self._is_ready:  # prepared by another thread in the meantime
            return
        self._refuse_empty_file()
        # A command imports only its own feature: without the tables of the others, SQLAlchemy fails at the first write
        # to a table that refers to one of them. Imported here because the modules of tables import this package.
        import app.tables  # noqa: F401

        if self.is_missing or self.revision() != SCHEMA_REVISION:
            if self.migrates:
                self.upgrade()
            else:
                self._refuse_another_schema()
        self._is_ready = True

    @contextmanager
    def session(self, *, writes: bool) -> Iterator[Session]:
        """Open a session with one transaction, which is committed at the end of the block.

        A writer on SQLite takes the lock with its first statement. SQLite refuses to promote a reader to a writer if
        another connection has written in the meantime.

        Raises:
            DatabaseUnusable: The database has stopped answering, or has another schema.
        """
        if self._outage.is_refused():
            raise DatabaseUnusable(NO_ANSWER)
        engine = self._writing if writes else self.engine
        try:
            self.prepare()
            with Session(engine, expire_on_commit=False) as session:
                yield session
                if writes:
                    session.flush()  # can take long for many rows, and may be interrupted
                    with COMMITTING.get()():
                        session.commit()
                else:
                    session.commit()
        except DBAPIError as error:
            if is_damaged(error):
                self.damage.remember(error)
            raise

    @contextmanager
    def connection(self, *, writes: bool) -> Iterator[Connection]:
        """Open a connection with one transaction, whatever the revision of the schema; for backups and restores."""
        engine = self._writing if writes else self.engine
        with engine.connect() as connection, connection.begin():
            yield connection

    @property
    def is_missing(self) -> bool:
        """Whether the file of SQLite does not exist. A connection would create it."""
        return (
            self.is_sqlite
            and self.url.database not in IN_MEMORY
            and not Path(str(self.url.database)).exists()
        )

    @property
    def folder(self) -> Path | None:
        """The folder of the file of SQLite; None for a server."""
        if not self.is_sqlite or self.url.database in IN_MEMORY:
            return None
        return Path(str(self.url.database)).absolute().parent

    @property
    def is_full(self) -> bool:
        """Whether the last transaction that wrote failed because there was no space left."""
        return self._is_full

    def _refuse_empty_file(self) -> None:
        """Refuse a file of SQLite without content.

        A missing file is a new installation. An empty file is a database that was lost, for example when a disk was full
        or a copy failed: with new tables in it, the loss would show only as missing plans.
        """
        if self.folder is None:
            return
        path = Path(str(self.url.database))
        # Another process that creates the database may have opened its file and not yet written to it.
        end = time.monotonic() + NEW_FILE_S
        while path.exists() and path.stat().st_size == 0:
            if time.monotonic() > end:
                message = (
                    f"The database {str(path)!r} is empty (0 bytes): its content was lost. Restore it from a backup. To start "
                    "without stored plans, delete this file."
                )
                raise DatabaseUnusable(message)
            time.sleep(0.05)

    def revision(self) -> str | None:
        """Return the revision of the schema, or None if the database has no tables of cfplan."""
        with self.engine.connect() as connection:
            return revision_of(connection)

    def check(self) -> None:
        """Query the database, and raise the errors that a request would encounter."""
        with self.session(writes=False) as session:
            session.execute(text("SELECT version_num FROM alembic_version"))

    def upgrade(self, revision: str = "head") -> None:
        """Upgrade the schema to a revision in one transaction, completely or not at all."""
        from alembic import command

        if self.is_sqlite and self.url.database not in IN_MEMORY:
            folder = Path(str(self.url.database)).parent
            try:
                folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
            except OSError as error:
                message = f"The database cannot be used: the folder {str(folder)!r} cannot be created: {error.strerror}."
                raise DatabaseUnusable(message) from None
        with self._migrating(revision) as config:
            command.upgrade(config, revision)

    def downgrade(self, revision: str) -> None:
        """Downgrade the schema to a revision in one transaction."""
        from alembic import command

        with self._migrating(revision) as config:
            command.downgrade(config, revision)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._writing.dispose()

    @contextmanager
    def _migrating(self, target: str) -> Iterator[Config]:
        with _MIGRATING, self._writing.connect() as connection:
            if self.is_sqlite:
                # Rebuilding a table would otherwise empty the tables that refer to it. The pragma has no effect inside
                # a transaction.
                raw = connection.connection.cursor()
                raw.execute("PRAGMA foreign_keys=OFF")
            try:
                with connection.begin():
                    if not self.is_sqlite:
                        connection.execute(
                            text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK}
                        )
                    self._refuse_a_later_schema(connection)
                    self._copy_before_migration(connection, target)
                    yield alembic_config(connection)
                    if self.is_sqlite and connection.execute(text("PRAGMA foreign_key_check")).first():
                        message = "The migration left rows with invalid references, so it was rolled back."
                        raise DatabaseUnusable(message)
            finally:
                if self.is_sqlite:
                    raw.execute("PRAGMA foreign_keys=ON")
                    raw.close()

    def _copy_before_migration(self, connection: Connection, target: str) -> None:
        """Copy the file of SQLite. The caller's transaction keeps other processes from writing to it meanwhile."""
        found = revision_of(connection)
        is_file = self.is_sqlite and self.url.database not in IN_MEMORY
        if (
            is_file
            and self.copies_kept
            and found not in (None, SCHEMA_REVISION if target == "head" else target)
        ):
            copies.copy_before_migration(Path(str(self.url.database)), str(found), kept=self.copies_kept)

    def _refuse_a_later_schema(self, connection: Connection) -> None:
        found = revision_of(connection)
        if found is not None and not knows_revision(found):
            message = f"The database has revision {found}, which this version of cfplan does not know: a later version has used it. Install that version again, or restore a backup made before it was used."
            raise DatabaseUnusable(message)

    def _refuse_another_schema(self) -> None:
        with self.engine.connect() as connection:
            self._refuse_a_later_schema(connection)
            found = revision_of(connection)
        state = f"has revision {found}" if found else "is empty"
        message = (
            f"The database {state}; this version of cfplan needs revision {SCHEMA_REVISION}. "
            "Run `cfplan migrate`, or start with `cfplan serve --migrate`."
        )
        raise DatabaseUnusable(message)


def knows_revision(revision: str) -> bool:
    """Return whether this version of cfplan has the migration to a revision."""
    return revision in {script.revision for script in _scripts().walk_revisions()}


def database_of(
    settings: Settings,
    *,
    migrates: bool | None = None,
    waits: Waits = PATIENT,
    reads_only: bool = False,
    damage: Damage | None = None,
) -> Database:
    """Return the database that the settings name, not opened yet."""
    return Database(
        configured_url(settings),
        migrates=migrates,
        waits=waits,
        copies_kept=settings.migration_copies,
        reads_only=reads_only,
        damage=damage,
    )


@contextmanager
def open_database(
    settings: Settings | None = None, *, migrates: bool | None = None, reads_only: bool = False
) -> Iterator[tuple[Database, Settings]]:
    """Open the database that the settings name, and close it at the end of the block.

    Args:
        settings: The settings of the service; None reads them from the environment.
        migrates: Whether the schema is upgraded at the first use; None upgrades it only on SQLite.
        reads_only: Whether the database itself refuses every change.

    Raises:
        DatabaseUnusable: The database does not answer, or its file is damaged.
        DataFolderBusy: The data folder is being restored.
    """
    settings = settings or read_settings()
    logs.configure_for_command(settings)
    database = database_of(settings, migrates=migrates, reads_only=reads_only)
    try:
        with in_use(settings.data_dir):
            yield database, settings
    except DBAPIError as error:
        if not is_unusable(error):
            raise
        if isinstance(error, StoredTextDamaged):
            message = f"{damage_in_words(error)}: restore a backup."
            raise DatabaseUnusable(message) from None
        reason = next(iter(str(error.orig).strip().splitlines()), "it does not answer")
        message = f"The database cannot be used: {reason}"
        if database.is_sqlite and is_damaged(error):
            message += (
                f". {str(database.url.database)!r} is damaged or is not a database: restore it from a backup."
            )
        raise DatabaseUnusable(message) from None
    finally:
        database.close()


def reading_engine(session: Session) -> Engine:
    """Return the engine for transactions that read during the transaction of a session."""
    engine = session.get_bind().engine
    readers: Engine = engine.get_execution_options().get(READERS, engine)
    return readers


def alembic_config(connection: Connection | None = None) -> Config:
    """Return the configuration of Alembic, with the folder of migrations and the connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS_DIR).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the schema, or None if the database has no tables of cfplan."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def _scripts() -> ScriptDirectory:
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(alembic_config())


def _engine(url: URL, waits: Waits, outage: Outage, *, writes: bool, reads_only: bool = False) -> Engine:
    size, more = (
        (WRITING_CONNECTIONS, MORE_WRITING_CONNECTIONS) if writes else (CONNECTIONS, MORE_CONNECTIONS)
    )
    # Messages of errors are logged, and values of statements can be hashes of passwords or the text of a plan.
    options: dict[str, Any] = {"hide_parameters": True}
    if url.get_backend_name() != "sqlite":
        engine = create_engine(
            url, pool_size=size, max_overflow=more, pool_timeout=waits.pool_s, pool_pre_ping=True,
            connect_args={**network_options(waits), "options": server_options(waits, reads_only=reads_only)}, **options,
        )  # fmt: skip
        _limit_answers(engine, waits, outage)
        return engine
    if url.database not in IN_MEMORY:
        options |= {"pool_size": size, "max_overflow": more, "pool_timeout": waits.pool_s}
    engine = create_engine(url, **options)

    def on_error(context: ExceptionContext) -> None:
        # With a write-ahead log, readers never wait for writers. If one has waited, a program has locked the file itself,
        # and all of them would wait.
        code = getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF
        if (
            code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL)
            and not writes
            and waits.answer_s is not None
        ):
            outage.begin()

    def on_begin(connection: Connection) -> None:
        if not writes:
            connection.exec_driver_sql("BEGIN")
            return
        waited = waited_for_turn.get()
        if waited:
            _set_busy_timeout(connection, lock_wait_s(waits))
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        finally:
            if waited:
                _set_busy_timeout(connection, waits.lock_s)

    event.listen(engine, "do_connect", _create_private_file)
    event.listen(
        engine, "connect", lambda connection, _record: _on_sqlite_connect(connection, waits, reads_only)
    )
    event.listen(engine, "begin", on_begin)
    event.listen(engine, "commit", lambda _connection: outage.end())
    event.listen(engine, "handle_error", on_error)
    return engine


def _limit_answers(engine: Engine, waits: Waits, outage: Outage) -> None:
    """Limit the waits of connections to PostgreSQL."""

    def connect(_dialect: object, _record: object, arguments: Any, parameters: Any) -> Any:  # noqa: ANN401
        # Imported here because the commands of an installation with SQLite do not need the driver.
        from app.database.psycopg_connection import connected

        return connected(arguments, parameters, answer_s=waits.answer_s, outage=outage)

    def begin(connection: Connection) -> None:
        if waits.statement_s is not None and waited_for_turn.get():
            limit_ms = round(lock_wait_s(waits) * 1000)
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {limit_ms}")

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "begin", begin)


def _create_private_file(_dialect: object, _record: object, arguments: Any, _parameters: object) -> None:  # noqa: ANN401
    """Create a missing file for its owner only, as SQLite would create it with the umask; its other files get the same mode."""
    # The folder may be missing or not writable, and an in-memory database has no file: SQLite reports what it needs.
    if arguments and arguments[0] not in IN_MEMORY and not str(arguments[0]).startswith("file:"):
        with contextlib.suppress(OSError):
            os.close(os.open(arguments[0], os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))


def _on_sqlite_connect(connection: Any, waits: Waits, reads_only: bool) -> None:  # noqa: ANN401 - the driver's own
    """Turn off the driver's own transactions on a connection, because they begin too late and end too early."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout={waits.lock_s * 1000:.0f}",
        # The service has set the mode of an existing file, and setting it would write to the file.
        "query_only=ON" if reads_only else "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _set_busy_timeout(connection: Connection, seconds: float) -> None:
    connection.exec_driver_sql(f"PRAGMA busy_timeout={seconds * 1000:.0f}")
