from __future__ import annotations

from collections.abc import Iterator

import pytest
from alembic import command
from sqlalchemy import URL

from app.database.engine import Database
from tests.databases import migrate


@pytest.fixture(autouse=True)
def _migrations_run_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "upgrade", migrate)


@pytest.fixture
def url(empty_url: URL) -> URL:
    """Return a database without a schema, because each test runs the migrations."""
    return empty_url


@pytest.fixture
def database(url: URL) -> Iterator[Database]:
    made = Database(url)
    made.upgrade()
    yield made
    made.close()
