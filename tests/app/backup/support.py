"""Data folders that are backed up and restored, and their content in a form that can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import URL, text
from sqlalchemy.exc import DatabaseError

from app.audit.actions import Action
from app.audit.filters import AuditFilter
from app.audit.service import each_entry, verify
from app.backup import making, restoring, rows
from app.backup.making import MadeBackup
from app.backup.restoring import Restored
from app.data_folder import in_use
from app.database.engine import Database, database_of
from app.settings import Settings
from tests.migrations.old_folder import copy_rows, unpack

KEPT_DAYS = 36_500
"""The example data is from March 2026: with the default retention, it would be removed by now."""
OWN_FILES = {"in-use.lock", "backup.lock", "leader.lock", "before-migration", "jobs"}
"""Names in a data folder that belong to a machine and not to its data."""
RESTORED = Action.DATA_RESTORED.value


class Place(NamedTuple):
    """A data folder with its database."""

    settings: Settings

    @property
    def data(self) -> Path:
        return self.settings.data_dir

    def rows(self) -> Mapping[str, list[bytes]]:
        """Return the rows of every table, sorted, because tables have no order, without the entries of restores."""
        database = database_of(self.settings)
        try:
            if database.is_missing:
                return {}
            with database.connection(writes=False) as connection:
                return {
                    table.name: [str(table.last_number).encode(), *sorted(
                        row for row in b"".join(rows.read_chunks(connection, table)).splitlines()
                        if table.name != "audit_entries" or f'"{RESTORED}"'.encode() not in row
                    )]
                    for table in rows.tables_in(connection)
                }  # fmt: skip
        finally:
            database.close()

    def files(self) -> Mapping[str, str]:
        """Return the digest of each file except the database and `OWN_FILES`, by its path."""
        return {
            str(path.relative_to(self.data)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.data.rglob("*"))
            if path.is_file()
            and path.relative_to(self.data).parts[0] not in OWN_FILES
            and not path.name.startswith("cfplan.db")
        }

    def state(self) -> tuple[Mapping[str, list[bytes]], Mapping[str, str]]:
        return self.rows(), self.files()


def place_at(folder: Path, url: URL | None = None) -> Place:
    """Return a data folder, with its database in it or at a URL."""
    given = "" if url is None else url.render_as_string(hide_password=False)
    return Place(Settings(data_dir=folder, database_url=given, deleted_days=KEPT_DAYS, upload_days=KEPT_DAYS))


def fill(place: Place, *, is_migrated: bool = True) -> Place:
    """Put the example data of an older version into an empty place, and migrate it."""
    unpack(place.data)
    if place.settings.database_url:
        database = database_of(place.settings)
        copy_rows(place.data / "cfplan.db", database.url)
        database.close()
        (place.data / "cfplan.db").unlink()
    if is_migrated:
        database = database_of(place.settings.model_copy(update={"migration_copies": 0}))
        database.upgrade()
        database.close()
    return place


def back_up(place: Place, target: Path, *, has_uploads: bool = True) -> MadeBackup:
    """Make a backup in this process."""
    database = database_of(place.settings)
    try:
        with in_use(place.data), target.open("wb") as out:
            return making.make_backup(
                database, place.settings, out, has_uploads=has_uploads, on_progress=lambda *_: None
            )
    finally:
        database.close()


def restore_into(
    place: Place,
    archive: Path,
    *,
    replaces: bool = False,
    has_history: bool = True,
    revokes_tokens: bool = False,
) -> Restored:
    """Restore an archive in this process."""
    with archive.open("rb") as source:
        return restoring.restore(
            place.settings, source, name=archive.name, replaces=replaces, has_history=has_history,
            on_progress=lambda *_: None, revokes_tokens=revokes_tokens,
        )  # fmt: skip


def revision(place: Place) -> str | None:
    database: Database = database_of(place.settings)
    try:
        return database.revision()
    finally:
        database.close()


def check_trail(place: Place, *, anchors: Mapping[int, str] | None = None) -> int:
    """Assert that the audit trail is intact and that the database refuses to change it; return its number of entries.

    Entries of restores are not counted.
    """
    database = database_of(place.settings)
    try:
        found = verify(database, anchors=dict(anchors or {}))
        assert found.fault is None
        statements = ["UPDATE audit_entries SET actor = 'nobody'", "DELETE FROM audit_entries"]
        statements.append(
            "INSERT OR REPLACE INTO audit_entries SELECT * FROM audit_entries"
            if database.is_sqlite
            else "TRUNCATE audit_entries"
        )
        for statement in statements:
            with (
                pytest.raises(DatabaseError, match="never changed"),
                database.connection(writes=True) as connection,
            ):
                connection.execute(text(statement))
        return sum(entry.action != RESTORED for entry in each_entry(database, AuditFilter()))
    finally:
        database.close()
