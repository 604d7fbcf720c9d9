"""Both kinds of database for tests; a test that uses `url`, `empty_url` or `database` runs on each.

The migrations run once for each kind, and each test gets a copy of the resulting database. An application that a test
creates with an empty data folder gets a copy as well: see `migrations_run_once`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from alembic import command
from alembic.config import Config
from psycopg import ClientCursor
from sqlalchemy import URL, Connection, event

from app.database import engine
from app.database.engine import SCHEMA_REVISION, Database, database_url, revision_of
from tests import postgres

KINDS = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[URL]:
    """Return the server, started for the first test that needs it."""
    with postgres.server() as at:
        yield at


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an SQLite database file with the schema and no data."""
    at = database_url("", data_dir=tmp_path_factory.mktemp("migrated"))
    _migrate(at)
    return Path(str(at.database))


@pytest.fixture(scope="session")
def migrated_template(postgres_server: URL) -> Iterator[URL]:
    """Return a database on the server with the schema and no data."""
    with postgres.empty_database(postgres_server, f"cfplan_template_{os.getpid()}") as at:
        _migrate(at)
        yield at


def _migrate(at: URL) -> None:
    database = Database(at)
    database.upgrade()
    database.close()


migrate: Callable[[Config, str], None] = command.upgrade
"""Alembic's own function."""
_TRANSACTION = ("BEGIN TRANSACTION;", "COMMIT;")
_READS = ("SELECT", "SHOW")
_TABLES = {
    "sqlite": "SELECT count(*) FROM sqlite_master",
    "postgresql": "SELECT count(*) FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())",
}
"""Counts the tables in which the migrations would work."""


class CopiedSchema:
    """Replaces `alembic.command.upgrade` for empty databases that get the newest schema.

    The migrations run for the first one of each kind. All others get its statements, in the same transaction of the service:
    of SQLite those that create its final state, which takes a tenth of the time, and of PostgreSQL those of the migrations,
    in one piece. Nothing is done for a database that has the newest schema; all others, and other revisions, are migrated as
    usual.
    """

    def __init__(self) -> None:
        self._statements: dict[str, tuple[str, ...]] = {}

    def upgrade(self, config: Config, revision: str) -> None:
        """Bring the database of `config` to the revision."""
        connection: Connection | None = config.attributes.get("connection")
        if connection is None or revision not in ("head", SCHEMA_REVISION):
            migrate(config, revision)
            return
        if connection.exec_driver_sql(_TABLES[connection.dialect.name]).scalar():
            if revision_of(connection) != SCHEMA_REVISION:
                migrate(config, revision)
            return
        kind, driver = connection.dialect.name, cast("Any", connection.connection.driver_connection)
        if kind in self._statements:
            for statement in self._statements[kind]:
                driver.execute(statement)
        elif kind == "sqlite":
            migrate(config, revision)
            self._statements[kind] = tuple(line for line in driver.iterdump() if line not in _TRANSACTION)
        else:
            with _writes(connection) as statements:
                migrate(config, revision)
            self._statements[kind] = ("; ".join(statements),)


@contextmanager
def _writes(connection: Connection) -> Iterator[list[str]]:
    """Yield the statements on PostgreSQL that change something, with their values."""
    found: list[str] = []
    writer = ClientCursor(cast("Any", connection.connection.driver_connection))

    def keep(_: object, __: object, statement: str, values: Any, ___: object, many: bool) -> None:  # noqa: ANN401
        if not statement.lstrip().startswith(_READS):
            found.extend(writer.mogrify(statement, each) for each in (values if many else (values,)))

    event.listen(connection, "before_cursor_execute", keep)
    try:
        yield found
    finally:
        event.remove(connection, "before_cursor_execute", keep)


prepare: Callable[..., None] = engine._on_sqlite_connect
"""The function of the service for a new connection to SQLite."""


def _prepare_without_disk(connection: sqlite3.Connection, *arguments: object) -> None:
    prepare(connection, *arguments)
    connection.execute("PRAGMA synchronous=OFF")


@contextmanager
def durable_databases() -> Iterator[None]:
    """Let SQLite wait for the disk at each commit during the block, as in the service."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_on_sqlite_connect", prepare)
        yield


@pytest.fixture(scope="session", autouse=True)
def commits_do_not_wait_for_the_disk() -> Iterator[None]:
    """Let SQLite leave it to the system when its files reach the disk, in this process: no test cuts the power.

    A killed process loses nothing by this. Commands and services in processes of their own wait as always.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_on_sqlite_connect", _prepare_without_disk)
        yield


@pytest.fixture(scope="session", autouse=True)
def migrations_run_once() -> Iterator[None]:
    """Run the migrations for the first new database of each kind in this process only; tests of migrations always run them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "upgrade", CopiedSchema().upgrade)
        yield


@pytest.fixture(params=KINDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[URL]:
    """Return the URL of a separate database without a schema."""
    if request.param == "sqlite":
        yield database_url("", data_dir=tmp_path / "data")
        return
    with postgres.empty_database(request.getfixturevalue("postgres_server")) as made:
        yield made


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[URL]:
    """Return the URL of a separate database with the schema of the migrations and no data."""
    if request.param == "sqlite":
        at = database_url("", data_dir=tmp_path / "data")
        Path(str(at.database)).parent.mkdir()
        shutil.copyfile(request.getfixturevalue("migrated_file"), str(at.database))
        yield at
        return
    template = request.getfixturevalue("migrated_template")
    with postgres.empty_database(template.set(database="postgres"), template=template.database) as made:
        yield made


@pytest.fixture
def database(url: URL) -> Iterator[Database]:
    """Return that database, opened."""
    made = Database(url)
    yield made
    made.close()
