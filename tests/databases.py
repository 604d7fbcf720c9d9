"""Both kinds of database for tests; a test that asks for `url` or `database` runs on each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from app.db import Database, database_url
from tests import postgres

KINDS = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[URL]:
    """The server, started when the first test needs it."""
    with postgres.server() as at:
        yield at


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[URL]:
    """An empty database of its own for the test."""
    if request.param == "sqlite":
        yield database_url("", data_dir=tmp_path / "data")
        return
    with postgres.empty_database(request.getfixturevalue("postgres_server")) as made:
        yield made


@pytest.fixture
def database(url: URL) -> Iterator[Database]:
    """The same, with its schema built by the migrations."""
    made = Database(url)
    made.upgrade()
    yield made
    made.close()
