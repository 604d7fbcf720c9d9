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
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import URL, Connection

from app.database import engine
from app.database.engine import Database, database_url
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


class CopiedSchema:
    """Replaces `alembic.command.upgrade` for empty SQLite databases.

    The migrations run for the first one. All others get its statements, in the same transaction of the service, which takes
    a tenth of the time. Databases with tables, other revisions and PostgreSQL are migrated as usual.
    """

    def __init__(self) -> None:
        self._statements: tuple[str, ...] = ()

    def upgrade(self, config: Config, revision: str) -> None:
        """Bring the database of `config` to the revision."""
        connection: Connection | None = config.attributes.get("connection")
        is_new = (
            connection is not None
            and connection.dialect.name == "sqlite"
            and revision == "head"
            and connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar() == 0
        )
        if not is_new or not self._statements:
            migrate(config, revision)
        if connection is None or not is_new:
            return
        sqlite: Any = connection.connection.driver_connection
        if self._statements:
            for statement in self._statements:
                sqlite.execute(statement)
        else:
            self._statements = tuple(line for line in sqlite.iterdump() if line not in _TRANSACTION)


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
    """Run the migrations for the first new SQLite database of this process only; tests of migrations always run them."""
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
