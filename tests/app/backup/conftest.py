from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from tests import postgres
from tests.app.backup.support import Place, back_up, fill, place_at
from tests.databases import KINDS


@pytest.fixture(scope="session", params=KINDS)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Return a data folder with everything that the service stores, on each kind of database. It must not be changed."""
    data = tmp_path_factory.mktemp("filled") / "data"
    if request.param == "sqlite":
        yield fill(place_at(data))
        return
    with postgres.empty_database(request.getfixturevalue("postgres_server")) as url:
        yield fill(place_at(data, url))


@pytest.fixture(scope="session")
def archive(filled: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a backup of it."""
    path = tmp_path_factory.mktemp("archive") / "cfplan.tar.gz"
    back_up(filled, path)
    return path


@pytest.fixture(scope="session")
def sqlite_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a backup of a data folder with SQLite."""
    folder = tmp_path_factory.mktemp("sqlite")
    path = folder / "cfplan.tar.gz"
    back_up(fill(place_at(folder / "data")), path)
    return path


@pytest.fixture
def target(empty_url: URL, tmp_path: Path) -> Place:
    """Return an empty data folder with an empty database of each kind."""
    return place_at(tmp_path / "data", None if empty_url.get_backend_name() == "sqlite" else empty_url)
