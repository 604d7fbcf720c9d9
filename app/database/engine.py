"""The database: SQLite in the data folder, or the server at a URL."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.orm import Session

from app.data_folder import in_use
from app.database import copies
from app.problem_types import DATABASE_UNAVAILABLE
from app.settings import DEFAULT_COPIES_KEPT, Settings, read_settings
from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

# Alembic is imported only to migrate: commands, jobs and the service start with a current schema nearly always.

MIGRATIONS_DIR = Path(__file__).parents[2] / "migrations"
SCHEMA_REVISION = "d7f4a9b2c6e8"
"""The last revision in the folder of migrations, which this version of cfplan needs."""
_MIGRATING = threading.Lock()
"""A lock for migrations: Alembic keeps its context in a module, so a process cannot migrate two databases at once."""
SQLITE_FILE = "cfplan.db"
IN_MEMORY = (None, "", ":memory:")
"""Names of SQLite databases without a file."""
BUSY_TIMEOUT_MS = 15_000
"""Time that a writer on SQLite waits for another writer."""
CONNECTIONS, MORE_CONNECTIONS = 10, 30
"""Number of connections that stay open, and number of additional ones if all are busy; the sum is the number of threads
of the service.
"""
MIGRATION_LOCK = 0x6366706C616E  # "cfplan"
"""Advisory lock on PostgreSQL, so that two services that start together do not both migrate."""
WRITES = "cfplan_writes"
DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "sqlite": "sqlite"}


class DatabaseUnusable(PlannerError):
    """The database cannot be used in its current state; the message says what to do."""

    problem = DATABASE_UNAVAILABLE


def is_unusable(error: DBAPIError) -> bool:
    """Return whether the database itself failed: it does not answer, or its file is damaged or not SQLite.

    Errors that a statement causes, such as a violated constraint, are other subclasses of DatabaseError.
    """
    return isinstance(error, OperationalError) or type(error) in (DatabaseError, InterfaceError)


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


class Database:
    """An engine, its schema and its sessions. Nothing is opened before it is needed."""

    def __init__(
        self, url: URL, *, migrates: bool | None = None, copies_kept: int = DEFAULT_COPIES_KEPT
    ) -> None:
        """Store the URL without opening anything.

        Args:
            url: The URL with its driver.
            migrates: Whether to upgrade the schema automatically; None means only on SQLite.
            copies_kept: Copies of an SQLite file made before a migration that are kept; 0 makes none.
        """
        self.url = url
        self.copies_kept = copies_kept
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.migrates = self.is_sqlite if migrates is None else migrates
        self._lock = threading.Lock()
        self._is_ready = False
        self.engine = _engine(url)
        weakref.finalize(self, self.engine.dispose)  # closes the connections of a discarded application
        self._writing = self.engine.execution_options(**{WRITES: True})

    def prepare(self) -> None:
        """Upgrade the schema, or check its revision, once before the first use.

        Raises:
            DatabaseUnusable: The schema has another revision, and is not upgraded automatically.
        """
        if not self._is_ready:
            with self._lock:
                self._prepare()

    def _prepare(self) -> None:
        if self._is_ready:  # prepared by another thread in the meantime
            return
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
        """
        self.prepare()
        with Session(self._writing if writes else self.engine, expire_on_commit=False) as session:
            yield session
            session.commit()

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
                folder.mkdir(parents=True, exist_ok=True)
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


def database_of(settings: Settings, *, migrates: bool | None = None) -> Database:
    """Return the database that the settings name, not opened yet."""
    url = database_url(settings.database_url, data_dir=settings.data_dir)
    return Database(url, migrates=migrates, copies_kept=settings.migration_copies)


@contextmanager
def open_database(
    settings: Settings | None = None, *, migrates: bool | None = None
) -> Iterator[tuple[Database, Settings]]:
    """Open the database that the settings name, and close it at the end of the block.

    Args:
        settings: The settings of the service; None reads them from the environment.
        migrates: Whether the schema is upgraded at the first use; None upgrades it only on SQLite.

    Raises:
        DatabaseUnusable: The database does not answer, or its file is damaged.
        DataFolderBusy: The data folder is being restored.
    """
    settings = settings or read_settings()
    database = database_of(settings, migrates=migrates)
    try:
        with in_use(settings.data_dir):
            yield database, settings
    except DBAPIError as error:
        if not is_unusable(error):
            raise
        reason = next(iter(str(error.orig).strip().splitlines()), "it does not answer")
        message = f"The database cannot be used: {reason}"
        if database.is_sqlite and not isinstance(error, OperationalError):
            message += (
                f". {str(database.url.database)!r} is damaged or is not a database: restore it from a backup."
            )
        raise DatabaseUnusable(message) from None
    finally:
        database.close()


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


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(
            url, pool_size=CONNECTIONS, max_overflow=MORE_CONNECTIONS, pool_pre_ping=True,
            connect_args={"connect_timeout": 10, "options": "-c timezone=UTC"},
        )  # fmt: skip
    engine = create_engine(url, pool_size=CONNECTIONS, max_overflow=MORE_CONNECTIONS)
    event.listen(engine, "connect", _on_sqlite_connect)
    event.listen(engine, "begin", _on_sqlite_begin)
    return engine


def _on_sqlite_connect(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own
    """Turn off the driver's own transactions on a connection, because they begin too late and end too early."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _on_sqlite_begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
