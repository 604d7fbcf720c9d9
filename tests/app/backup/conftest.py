from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, Connection, MetaData

from app.backup import rows
from tests import postgres
from tests.app.backup.support import Place, back_up, fill, place_at
from tests.databases import KINDS


@pytest.fixture(scope="session", autouse=True)
def schemas_are_read_once() -> Iterator[None]:
    """Read the tables of SQLite databases once for each schema, which are the statements that SQLite keeps."""
    read, known = rows.schema_of, dict[tuple[str, ...], MetaData]()

    def schema_of(connection: Connection) -> MetaData:
        if connection.dialect.name != "sqlite":
            return read(connection)
        found = connection.exec_driver_sql(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
        )
        statements = tuple(found.scalars())
        if statements not in known:
            known[statements] = read(connection)
        return known[statements]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "schema_of", schema_of)
        yield


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
