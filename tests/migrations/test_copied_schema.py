"""New databases of tests have the schema and the rows of the migrations, although the migrations do not run for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import select, table, text

from app.database.engine import Database, database_url
from tests.databases import CopiedSchema, migrate


def content(database: Database) -> dict[str, Any]:
    """Return every object of the schema with its statement, and the rows of each table."""
    with database.connection(writes=False) as connection:
        objects = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master").all()
        tables = [name for kind, name, *_ in objects if kind == "table"]
        rows = {
            name: sorted(map(tuple, connection.execute(select(text("*")).select_from(table(name)))))
            for name in tables
        }
    return {"objects": sorted(map(str, objects)), "rows": rows}


def new_database(folder: Path) -> Database:
    return Database(database_url("", data_dir=folder))


def test_copied_schema_equals_that_of_the_migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []

    def counted(config: Config, revision: str) -> None:
        runs.append(revision)
        migrate(config, revision)

    monkeypatch.setattr("tests.databases.migrate", counted)
    monkeypatch.setattr(command, "upgrade", CopiedSchema().upgrade)
    migrated, copied = (new_database(tmp_path / name) for name in ("migrated", "copied"))
    for database in (migrated, copied):
        database.upgrade()
    assert runs == ["head"]
    assert len(content(migrated)["rows"]) > 1
    assert content(copied) == content(migrated)
    assert copied.revision() == migrated.revision() is not None
    for database in (migrated, copied):
        database.close()


def test_database_of_an_older_revision_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "upgrade", CopiedSchema().upgrade)
    current, older = (new_database(tmp_path / name) for name in ("current", "older"))
    current.upgrade()
    older.upgrade("a1c0f5e2d7b3")
    assert older.revision() == "a1c0f5e2d7b3"
    older.upgrade()
    assert content(older)["objects"] == content(current)["objects"]
    for database in (current, older):
        database.close()
