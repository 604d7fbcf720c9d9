"""Both kinds of database for tests; a test that uses `url`, `empty_url` or `database` runs on each.

The migrations run once for each kind, and each test gets a copy of the resulting database.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

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
