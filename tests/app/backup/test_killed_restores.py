"""A restore that is killed at any step is completed or undone; the data is never half restored."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import make_url, text

from app.backup import journal, restoring
from app.backup.errors import RestoreRefused
from app.backup.journal import Phase
from app.cli import main
from app.data_folder import DataFolderBusy, in_use
from app.database.engine import database_of
from app.uploads import files
from tests import postgres
from tests.app.backup.dying import steps_of
from tests.app.backup.support import Place, back_up, check_trail, place_at, restore_into
from tests.app.uploads.support import keep
from tests.databases import KINDS

pytestmark = pytest.mark.long

SAMPLES_OF_STAGING = 3
EVERY = int(os.environ.get("TEST_KILL_EVERY", "6"))
"""Which steps of the exchange are tried; each takes a second. The two directions try different ones."""


class States(NamedTuple):
    """An archive, the state that it restores, and the state of the place before."""

    archive: Path
    restored: object
    before: object


def put(place: Place, name: str, *, has_history: bool = True) -> Place:
    """Put a little of everything into a place."""
    database = database_of(place.settings)
    database.upgrade()
    keep(database, place.data, f"upload {name}", filename=f"{name}.smf")
    keep(database, place.data, "in both")
    database.close()
    reports = place.data / "reports"
    reports.mkdir()
    (reports / "night.md").write_text(name)
    if has_history:
        log = place.data / "history/_delta_log"
        log.mkdir(parents=True)
        (place.data / "history/part-0.parquet").write_bytes(name.encode())
        (log / f"{0:020}.json").write_text(json.dumps({"add": {"path": "part-0.parquet"}}))
    return place


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Place]:
    folder = tmp_path_factory.mktemp("new")
    place = put(place_at(folder / "data"), "new")
    back_up(place, folder / "new.tar.gz")
    return folder / "new.tar.gz", place


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def old(
    kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """Yield a place with other data, of which each restore gets a copy."""
    folder = tmp_path_factory.mktemp("old") / "data"
    if kind == "sqlite":
        yield put(place_at(folder), "old")
        return
    template = request.getfixturevalue("migrated_template")
    with postgres.empty_database(template.set(database="postgres"), template=template.database) as url:
        yield put(place_at(folder, url), "old")


@pytest.fixture(scope="module")
def states(archive: tuple[Path, Place], old: Place) -> States:
    path, new = archive
    return States(path, new.state(), old.state())


@contextmanager
def copy_of(old: Place, folder: Path) -> Iterator[Place]:
    """Yield a copy of a place."""
    data = shutil.copytree(old.data, folder / "data")
    if not old.settings.database_url:
        yield place_at(data)
        return
    template = make_url(old.settings.database_url)
    with postgres.empty_database(template.set(database="postgres"), template=template.database) as url:
        yield place_at(data, url)


def leftovers(place: Place) -> set[str]:
    return {path.name for path in place.data.iterdir()} - {
        "cfplan.db", "cfplan.db-wal", "cfplan.db-shm", "history", "uploads", "reports", "in-use.lock",
    }  # fmt: skip


def schemas(place: Place) -> list[str]:
    """Return the schemas that restores make on a server."""
    database = database_of(place.settings)
    try:
        if database.is_sqlite:
            return []
        with database.connection(writes=False) as connection:
            return list(
                connection.scalars(text("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'cfplan%'"))
            )
    finally:
        database.close()


def check_refused(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Assert that nothing opens the data, and that messages tell what to do."""
    with pytest.raises(DataFolderBusy, match=r"cfplan restore --continue.*--undo"), in_use(place.data):
        pass
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(place.data))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", place.settings.database_url)
    for command in (["plans", "list"], ["serve"], ["backup", str(place.data.parent / "refused.tar.gz")]):
        assert main(command) == 2
        assert "cfplan restore --undo" in capsys.readouterr().err


@pytest.mark.parametrize("continues", [True, False], ids=["continued", "undone"])
def test_killed_restore_is_completed_or_undone(
    states: States, old: Place, continues: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path, restored, before = states
    with copy_of(old, tmp_path / "whole") as place:
        assert place.state() == before
        total, code = steps_of(lambda: restore_into(place, path, replaces=True))
        assert code == 0
        assert place.state() == restored
        assert check_trail(place) == 2
    phases = set()
    point, jump = 1 + continues, max(1, total // (4 * SAMPLES_OF_STAGING))
    while point <= total:
        with copy_of(old, tmp_path / str(point)) as place:
            _, code = steps_of(partial(restore_into, place, path, replaces=True), die_at=point)
            assert code == -9, point
            found = journal.read(place.data)
            if found is not None:
                phases.add(found.phase)
                check_refused(place, monkeypatch, capsys)
            is_new = settle(place, path, found, continues=continues)
            assert place.state() == (restored if is_new else before), (point, found)
            assert (leftovers(place), schemas(place)) == (set(), []), point
            assert check_trail(place) == 2, point
        # Some steps of unpacking, which changes nothing, and more of the exchange.
        point += jump if found is None or found.phase == Phase.STAGING else EVERY
    assert phases == set(Phase)


def settle(place: Place, path: Path, found: journal.Journal | None, *, continues: bool) -> bool:
    """Complete or undo an interrupted restore; return whether the data is that of the archive."""
    if found is None:
        restore_into(place, path, replaces=True)
        return True
    if continues:
        if found.phase != Phase.STAGING:
            restoring.continue_restore(place.settings, on_progress=lambda *_: None)
        else:
            with pytest.raises(RestoreRefused, match="nothing was changed"):
                restoring.continue_restore(place.settings, on_progress=lambda *_: None)
            restore_into(place, path, replaces=True)
        return True
    if found.phase == Phase.CLEANING:
        with pytest.raises(RestoreRefused, match="is complete"):
            restoring.undo_restore(place.settings)
        restoring.continue_restore(place.settings, on_progress=lambda *_: None)
        return True
    if found.phase == Phase.PREPARED:
        with pytest.raises(DataFolderBusy, match="--continue"):
            restore_into(place, path, replaces=True)
    restoring.undo_restore(place.settings)
    return False


def test_undo_that_is_killed_can_be_repeated(states: States, old: Place, tmp_path: Path) -> None:
    path, _, before = states
    point, is_killed = 1, True
    while is_killed:
        with copy_of(old, tmp_path / str(point)) as place:
            kill_in_exchange(place, path)
            is_killed = steps_of(partial(restoring.undo_restore, place.settings), die_at=point)[1] == -9
            if journal.read(place.data) is not None:
                restoring.undo_restore(place.settings)
            assert place.state() == before, point
            assert (leftovers(place), schemas(place)) == (set(), []), point
            assert check_trail(place) == 2, point
        point += EVERY


def kill_in_exchange(place: Place, path: Path) -> None:
    """Kill a restore after everything but the last item was exchanged."""

    def work() -> None:
        real = journal.exchange

        def most(items: tuple[journal.Item, ...]) -> None:
            real(items[:-1])
            raise SystemExit

        journal.exchange = most  # type: ignore[assignment]
        restoring._undo = lambda *_: None
        restore_into(place, path, replaces=True)

    steps_of(work)
    found = journal.read(place.data)
    assert found is not None
    assert found.phase == Phase.PREPARED


def test_restore_that_fails_in_the_exchange_is_undone(
    states: States, old: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _, before = states
    with copy_of(old, tmp_path) as place:

        def fail(items: tuple[journal.Item, ...]) -> None:
            items[0].exchange()
            message = "the disk failed"
            raise OSError(message)

        monkeypatch.setattr("app.backup.journal.exchange", fail)
        with pytest.raises(RestoreRefused, match="was undone, so the data is as before: the disk failed"):
            restore_into(place, path, replaces=True)
        assert place.state() == before
        assert (leftovers(place), schemas(place)) == (set(), [])


def test_commands_without_an_interrupted_restore_are_refused(tmp_path: Path) -> None:
    place = place_at(tmp_path / "data")
    for command in (lambda: restoring.undo_restore(place.settings), lambda: restoring.continue_restore(place.settings, on_progress=lambda *_: None)):  # fmt: skip
        with pytest.raises(RestoreRefused, match="No restore"):
            command()


def test_interrupted_restore_of_another_database_is_refused(
    archive: tuple[Path, Place], tmp_path: Path
) -> None:
    path, _ = archive
    place = put(place_at(tmp_path / "data"), "old")
    kill_in_exchange(place, path)
    other = Place(place.settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/other.db"}))
    with pytest.raises(RestoreRefused, match="is for the database"):
        restoring.continue_restore(other.settings, on_progress=lambda *_: None)


def test_journal_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    place = place_at(tmp_path / "data")
    place.data.mkdir()
    (place.data / "restore.json").write_text("{}")
    with pytest.raises(RestoreRefused, match="cannot be read"):
        restoring.undo_restore(place.settings)
    assert files.FOLDER not in {path.name for path in place.data.iterdir()}
