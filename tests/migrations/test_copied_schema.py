"""New databases of tests have the schema and the rows of the migrations, although the migrations do not run for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import URL, Connection, inspect, select, table, text

from app.database.engine import SCHEMA_REVISION, Database, database_url
from tests import postgres
from tests.databases import CopiedSchema, migrate

OF_POSTGRESQL = {
    "columns": "SELECT * FROM information_schema.columns WHERE table_schema = 'public'",
    "indexes": "SELECT * FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": "SELECT conrelid::regclass, conname, contype, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "triggers": "SELECT tgrelid::regclass, pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE NOT tgisinternal",
    "functions": "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "sequences": "SELECT sequencename, start_value, increment_by, last_value FROM pg_sequences",
    "comments": "SELECT objoid::regclass, objsubid, description FROM pg_description WHERE objoid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)",
}
"""Statements that describe every kind of object in a schema."""


def content(database: Database) -> dict[str, Any]:
    """Return every object of the schema with its statement, and the rows of each table."""
    with database.connection(writes=False) as connection:
        if database.is_sqlite:
            objects = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master").all()
            tables = [name for kind, name, *_ in objects if kind == "table"]
            return {"objects": sorted(map(str, objects)), "rows": rows_of(connection, tables)}
        described = {
            kind: sorted(map(str, connection.exec_driver_sql(statement)))
            for kind, statement in OF_POSTGRESQL.items()
        }
        return {**described, "rows": rows_of(connection, inspect(connection).get_table_names())}


def rows_of(connection: Connection, tables: list[str]) -> dict[str, list[tuple[Any, ...]]]:
    return {
        name: sorted(map(tuple, connection.execute(select(text("*")).select_from(table(name)))))
        for name in tables
    }


def new_database(folder: Path) -> Database:
    return Database(database_url("", data_dir=folder))


def counted_migrations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Copy schemas that were migrated before, and return a list of the revisions to which migrations run."""
    runs: list[str] = []

    def counted(config: Config, revision: str) -> None:
        runs.append(revision)
        migrate(config, revision)

    monkeypatch.setattr("tests.databases.migrate", counted)
    monkeypatch.setattr(command, "upgrade", CopiedSchema().upgrade)
    return runs


def test_copied_schema_equals_that_of_the_migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted_migrations(monkeypatch)
    migrated, copied = (new_database(tmp_path / name) for name in ("migrated", "copied"))
    for database in (migrated, copied):
        database.upgrade()
    assert runs == ["head"]
    assert len(content(migrated)["rows"]) > 1
    assert content(copied) == content(migrated)
    assert copied.revision() == migrated.revision() is not None
    for database in (migrated, copied):
        database.close()


def test_copied_schema_on_a_server_equals_that_of_the_migrations(
    postgres_server: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = counted_migrations(monkeypatch)
    with (
        postgres.empty_database(postgres_server) as first,
        postgres.empty_database(postgres_server) as second,
    ):
        migrated, copied = Database(first), Database(second)
        for database, revision in ((migrated, "head"), (copied, SCHEMA_REVISION), (copied, "head")):
            database.upgrade(revision)
        assert runs == ["head"]
        expected = content(migrated)
        for kind in OF_POSTGRESQL.keys() - {"comments"}:
            assert expected[kind], f"the migrations make no {kind}"
        assert str(content(copied)).replace(str(second.database), str(first.database)) == str(expected)
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
