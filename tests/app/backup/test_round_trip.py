"""A restored backup has everything that was in the data folder, whatever the kinds of the two databases."""

from __future__ import annotations

import asyncio
import io
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from deltalake import DeltaTable
from sqlalchemy import text

from app.backup.errors import RestoreRefused
from app.database.engine import SCHEMA_REVISION, database_of
from app.main import create_app
from tests.app.backup.support import Place, back_up, fill, place_at, restore_into, revision
from tests.migrations.old_folder import REVISION, answers

pytestmark = pytest.mark.long


_TRAIL = re.compile(rb'<section class="part" aria-labelledby="h-trail">.*?</section>', re.DOTALL)
EVERY = 3
"""All pages and answers together take ten seconds each time; every third one reads every table."""


def responses(place: Place) -> dict[str, Any]:
    """Return the answers to addresses of REST and to pages of the example data."""
    app = create_app(place.settings)
    addresses = [*answers()["rest"], *answers()["pages"]][::EVERY]

    async def ask() -> dict[str, Any]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return {
                address: (answer.status_code, content_of(answer))
                for address in addresses
                for answer in [await client.get(address)]
            }

    try:
        return asyncio.run(ask())
    finally:
        app.state.database.close()


def content_of(answer: httpx.Response) -> Any:  # noqa: ANN401 - bytes, or the members of a packed file
    """Return the content; packed files contain the time at which they were made.

    The audit trail of a plan is left out: the first look at its texts adds entries. test_audit_trail.py compares the trail.
    """
    if not zipfile.is_zipfile(io.BytesIO(answer.content)):
        return _TRAIL.sub(b"", answer.content)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        return {name: packed.read(name) for name in packed.namelist() if name != "docProps/core.xml"}


def test_everything_is_the_same_after_a_restore_on_any_database(
    filled: Place, archive: Path, target: Place
) -> None:
    restored = restore_into(target, archive)
    assert target.rows() == filled.rows()
    assert target.files() == filled.files()
    assert (revision(target), restored.revision) == (SCHEMA_REVISION, SCHEMA_REVISION)
    assert sum(len(found) for found in filled.rows().values()) > 900
    leftovers = {path.name for path in target.data.iterdir()} - {"cfplan.db"}
    assert leftovers == {"history", "uploads", "reports", "in-use.lock"}


def test_every_page_and_answer_is_the_same_after_everything_was_destroyed(
    target: Place, tmp_path: Path
) -> None:
    place = fill(target)
    before = responses(place)
    back_up(place, tmp_path / "cfplan.tar.gz")
    shutil.rmtree(place.data)
    if place.settings.database_url:
        database = database_of(place.settings)
        with database.connection(writes=True) as connection:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        database.close()
    restore_into(place, tmp_path / "cfplan.tar.gz")
    after = responses(place)
    assert {address for address in before if before[address] != after[address]} == set()
    assert [status for status, _ in before.values()].count(200) > 20


def test_restored_history_opens_at_the_version_of_the_backup(
    filled: Place, archive: Path, target: Place
) -> None:
    restore_into(target, archive)
    before, after = (DeltaTable(str(place.data / "history")) for place in (filled, target))
    assert after.version() == before.version()
    assert sorted(after.file_uris()) == [
        each.replace(str(filled.data), str(target.data)) for each in sorted(before.file_uris())
    ]


def test_archive_of_an_older_schema_is_migrated_after_the_restore(target: Place, tmp_path: Path) -> None:
    old = fill(place_at(tmp_path / "old"), is_migrated=False)
    made = back_up(old, tmp_path / "old.tar.gz")
    assert made.revision == REVISION
    assert restore_into(target, tmp_path / "old.tar.gz").revision == REVISION
    assert revision(target) == SCHEMA_REVISION
    database = database_of(old.settings)
    database.upgrade()
    database.close()
    assert target.rows() == old.rows()


def test_rows_created_after_a_restore_get_new_numbers(archive: Path, target: Place) -> None:
    restore_into(target, archive)
    database = database_of(target.settings)
    with database.connection(writes=True) as connection:
        highest = connection.scalar(text("SELECT max(id) FROM uploads"))
        connection.execute(
            text(
                "INSERT INTO uploads (filename, size_bytes, sha256, kind, detected_kind, observed_at, zone, observed_utc, created_at) "
                "VALUES ('a', 1, 'b', '', '', '', '', '', '2026-11-21 00:00:00.000000')"
            )
        )
        assert connection.scalar(text("SELECT max(id) FROM uploads")) == highest + 1
    database.close()


def test_existing_data_is_replaced_only_on_request(archive: Path, target: Place, tmp_path: Path) -> None:
    restore_into(target, archive)
    before = target.state()
    with pytest.raises(RestoreRefused, match=r"is not empty: .* --replace"):
        restore_into(target, archive)
    assert target.state() == before
    other = fill(place_at(tmp_path / "other"))
    database = database_of(other.settings)
    with database.connection(writes=True) as connection:
        connection.execute(text("DELETE FROM plans"))
    database.close()
    (other.data / "reports" / "night.md").write_text("other\n")
    back_up(other, tmp_path / "other.tar.gz")
    restore_into(target, tmp_path / "other.tar.gz", replaces=True)
    assert target.files() == other.files() != before[1]
    assert target.rows() == other.rows()


def test_backup_without_uploads_marks_their_files_as_removed(
    filled: Place, target: Place, tmp_path: Path
) -> None:
    back_up(filled, tmp_path / "small.tar.gz", has_uploads=False)
    restored = restore_into(target, tmp_path / "small.tar.gz")
    assert not (target.data / "uploads").exists()
    assert any("no uploaded files" in note for note in restored.notes)
    database = database_of(target.settings)
    with database.connection(writes=False) as connection:
        assert connection.scalar(text("SELECT count(*) FROM uploads WHERE removed_at IS NULL")) == 0
        assert connection.scalar(text("SELECT count(*) FROM uploads")) > 0
    database.close()


def test_backup_without_uploads_keeps_files_that_are_there(
    filled: Place, target: Place, tmp_path: Path
) -> None:
    back_up(filled, tmp_path / "small.tar.gz", has_uploads=False)
    shutil.copytree(filled.data / "uploads", target.data / "uploads")
    restore_into(target, tmp_path / "small.tar.gz", replaces=True)
    assert target.state() == filled.state()


def test_upload_whose_file_is_missing_is_reported_and_marked(target: Place, tmp_path: Path) -> None:
    place = fill(target)
    gone = sorted((place.data / "uploads").glob("??/*"))[0]
    gone.unlink()
    made = back_up(place, tmp_path / "cfplan.tar.gz")
    assert any("1 files of uploads are not in the data folder" in each for each in made.warnings)
    restore_into(place, tmp_path / "cfplan.tar.gz", replaces=True)
    database = database_of(place.settings)
    with database.connection(writes=False) as connection:
        marked = connection.scalars(text("SELECT sha256 FROM uploads WHERE removed_at IS NOT NULL")).all()
    database.close()
    assert gone.name in marked
