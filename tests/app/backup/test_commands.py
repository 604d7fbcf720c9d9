"""`cfplan backup`, `cfplan restore` and `cfplan migrate`: files, options, refusals."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from app.accounts import tokens, users
from app.audit.filters import AuditFilter
from app.audit.service import each_entry
from app.backup import making, server_tables
from app.backup.archive import ArchiveWriter
from app.cli import main
from app.clock import utc_now
from app.data_folder import in_use
from app.database.engine import Database, database_of
from app.jobs.child import Child
from app.uploads import files
from tests.app.backup.support import Place, back_up, fill, place_at, restore_into, revision
from tests.app.uploads.support import wait_until
from tests.migrations.old_folder import REVISION
from tests.prepared import commands

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return fill(place_at(tmp_path_factory.mktemp("source") / "data"))


@pytest.fixture
def place(source: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a data folder of the test's own, which commands use."""
    made = place_at(Path(shutil.copytree(source.data, tmp_path / "data")))
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(made.data))
    monkeypatch.delenv("CFPLAN_DATABASE_URL", raising=False)
    return made


def test_backup_is_readable_only_by_its_owner(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "cfplan.tar.gz"
    os.umask(0)
    assert main(["backup", str(target)]) == 0
    assert target.stat().st_mode & 0o777 == 0o600
    printed = capsys.readouterr().out
    assert str(target.stat().st_size) in printed
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["cfplan.tar.gz"]
    with tarfile.open(target) as tar:
        assert {info.mode for info in tar} == {0o600}
    assert not (place.data / making.FOLDER).exists()


def test_existing_file_is_replaced_only_on_request(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "cfplan.tar.gz"
    target.write_text("mine")
    assert main(["backup", str(target)]) == 2
    assert "exists" in capsys.readouterr().err
    assert target.read_text() == "mine"
    assert main(["backup", str(target), "--replace"]) == 0
    assert tarfile.is_tarfile(target)
    assert place.data.exists()


@pytest.mark.parametrize(
    ("name", "said"), [(".", "is a folder"), ("none/cfplan.tar.gz", "There is no folder")]
)
def test_name_that_cannot_be_a_file_is_refused(
    place: Place, tmp_path: Path, name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", str(tmp_path / name)]) == 2
    assert said in capsys.readouterr().err
    assert place.data.exists()


def test_backup_that_may_not_fit_is_refused(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("app.disk.shutil.disk_usage", lambda _: usage._replace(free=1_000))
    assert main(["backup", str(tmp_path / "cfplan.tar.gz")]) == 2
    assert "1000 bytes are free" in capsys.readouterr().err
    assert list(tmp_path.glob("cfplan*")) == []
    assert place.data.exists()


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_backup_that_fails_leaves_no_files(
    place: Place,
    tmp_path: Path,
    error: BaseException,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(ArchiveWriter, "add_file", fail)
    assert main(["backup", str(tmp_path / "cfplan.tar.gz")]) == (2 if isinstance(error, OSError) else 130)
    assert "internal error" not in capsys.readouterr().err
    assert list(tmp_path.glob("cfplan*")) == []
    assert not (place.data / making.FOLDER).exists()


def test_backup_that_was_killed_is_replaced_by_the_next(place: Place, tmp_path: Path) -> None:
    (tmp_path / "cfplan.tar.gz.part").write_bytes(b"x" * 10_000_000)
    leftover = place.data / making.FOLDER / "left"
    leftover.parent.mkdir()
    leftover.write_text("left")
    assert main(["backup", str(tmp_path / "cfplan.tar.gz")]) == 0
    assert tarfile.is_tarfile(tmp_path / "cfplan.tar.gz")
    assert not (tmp_path / "cfplan.tar.gz.part").exists()
    assert not leftover.exists()


def run(*arguments: str, place: Place, **more: Any) -> subprocess.CompletedProcess[bytes]:  # noqa: ANN401
    environment = os.environ | place.settings.as_environment() | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*commands().words("app.cli"), *arguments], env=environment, cwd=ROOT, check=False, capture_output=True, **more
    )  # fmt: skip


@pytest.mark.long
def test_archive_can_be_piped_from_one_folder_to_another(place: Place, tmp_path: Path) -> None:
    made = run("backup", "-", place=place)
    assert (made.returncode, b"SHA-256" in made.stderr) == (0, True)
    target = place_at(tmp_path / "other")
    assert run("restore", "-", place=target, input=made.stdout).returncode == 0
    assert target.state() == place.state()


@pytest.mark.long
def test_terminated_backup_leaves_no_files(place: Place, tmp_path: Path) -> None:
    environment = os.environ | place.settings.as_environment() | {"PYTHONPATH": str(ROOT)}
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # The backup waits for a reader of standard output, with its snapshot taken.
    shell = f"exec {sys.executable} -m app.cli backup - > {fifo}"
    with subprocess.Popen(["sh", "-c", shell], env=environment, cwd=ROOT) as process, fifo.open("rb") as out:
        assert out.read(1)
        process.send_signal(signal.SIGTERM)
        out.read()
        assert process.wait(60) in (0, 128 + signal.SIGTERM)
    assert not (place.data / making.FOLDER).exists()


def test_backup_of_an_empty_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "none"))
    monkeypatch.delenv("CFPLAN_DATABASE_URL", raising=False)
    assert main(["backup", str(tmp_path / "cfplan.tar.gz")]) == 2
    assert "nothing to back up" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_backup_of_a_database_without_its_data_folder_is_refused(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", database.url.render_as_string(hide_password=False))
    assert main(["backup", str(tmp_path / "cfplan.tar.gz")]) == 2
    assert "Set CFPLAN_DATA_DIR to the data folder of the service" in capsys.readouterr().err
    assert list(tmp_path.glob("cfplan*")) == []
    assert not (tmp_path / "none").exists()


def test_second_backup_at_the_same_time_is_refused(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with making._own_folder(place.data):
        assert main(["backup", str(tmp_path / "cfplan.tar.gz")]) == 2
    assert "Another backup" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["a", "--undo"], ["--undo", "--continue"], ["none.tar.gz"]])
def test_restore_needs_one_archive(place: Place, arguments: list[str]) -> None:
    assert main(["restore", *arguments]) == 2
    assert place.data.exists()


def test_restore_is_refused_while_the_data_is_in_use(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    back_up(place, tmp_path / "cfplan.tar.gz")
    before = place.state()
    with in_use(place.data):
        assert main(["restore", "--replace", str(tmp_path / "cfplan.tar.gz")]) == 2
    assert "in use by the service, a job or a command" in capsys.readouterr().err
    assert place.state() == before


def test_job_that_outlives_its_keeper_keeps_the_data_in_use(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    back_up(place, tmp_path / "cfplan.tar.gz")
    with in_use(place.data):
        child = Child(
            [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"],
            on_stderr=lambda _: None,
        )
    try:
        assert main(["restore", "--replace", str(tmp_path / "cfplan.tar.gz")]) == 2
        assert "in use" in capsys.readouterr().err
    finally:
        child.stop()
    wait_until(lambda: main(["restore", "--replace", str(tmp_path / "cfplan.tar.gz")]) == 0)


@pytest.fixture
def other_session(url: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:  # noqa: ANN401
    """Let commands use a server that has another session, and return what ends the session."""
    if url.get_backend_name() == "sqlite":
        pytest.skip("only servers have sessions")
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", url.render_as_string(hide_password=False))
    other = Database(url)
    with ExitStack() as ends:
        ends.callback(other.close)
        ends.enter_context(other.connection(writes=False))
        yield ends


def test_restore_is_refused_while_other_sessions_use_the_server(
    sqlite_archive: Path, other_session: ExitStack, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["restore", str(sqlite_archive)]) == 2
    other_session.close()
    assert "it has other sessions (1 from 127.0.0.1)" in capsys.readouterr().err
    assert main(["restore", str(sqlite_archive)]) == 0


def test_restore_waits_for_a_session_that_ends(
    sqlite_archive: Path, other_session: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[list[tuple[str, int]]] = []
    really = server_tables._other_sessions

    def check(connection: Connection) -> list[tuple[str, int]]:
        checks.append(really(connection))
        other_session.close()
        return checks[-1]

    monkeypatch.setattr(server_tables, "_other_sessions", check)
    assert main(["restore", str(sqlite_archive)]) == 0
    assert (checks[0], checks[-1]) == ([("127.0.0.1", 1)], [])


@pytest.mark.parametrize("options", [[], ["--revoke-tokens"]])
def test_sessions_end_and_tokens_stay_after_a_restore_unless_revoked(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    database = database_of(place.settings)
    with database.connection(writes=True) as connection:
        for statement in (
            "INSERT INTO users (id, name, role, must_change_password, created_at) VALUES (1, 'ann', 'viewer', 0, '2026-11-21 00:00:00.000000')",
            "INSERT INTO user_sessions (user_id, secret_hash, method, created_at, confirmed_at, last_used_at, expires_at, address, client) "
            "VALUES (1, 'a', 'accounts', '2026-11-21 00:00:00.000000', '2026-11-21 00:00:00.000000', '2026-11-21 00:00:00.000000', '2036-11-21 00:00:00.000000', '', '')",
            "INSERT INTO api_tokens (user_id, name, scope, secret_hash, created_at, expires_at) "
            "VALUES (1, 'script', 'viewer', 'b', '2026-11-21 00:00:00.000000', '2036-11-21 00:00:00.000000')",
        ):
            connection.exec_driver_sql(statement)
    database.close()
    back_up(place, tmp_path / "cfplan.tar.gz")
    assert main(["restore", "--replace", *options, str(tmp_path / "cfplan.tar.gz")]) == 0
    assert ("All API tokens were revoked" if options else "tokens revoke") in capsys.readouterr().err
    found = place.rows()
    assert len(found["user_sessions"]) == 1  # only the number of the last row
    assert len(found["api_tokens"]) == len(found["users"]) == 2
    database = database_of(place.settings)
    with database.session(writes=False) as session:
        (token,) = tokens.list_of(session, utc_now())
    entry = list(each_entry(database, AuditFilter(action="data.restored")))[-1]
    database.close()
    assert token.state == ("revoked" if options else "active")
    assert entry.details.get("revoked_tokens") == (1 if options else None)


def test_revoking_tokens_belongs_to_an_archive(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "--continue", "--revoke-tokens"]) == 2
    assert "--revoke-tokens belongs to the archive" in capsys.readouterr().err


def test_history_in_an_object_store_is_not_touched(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", str(tmp_path / "whole.tar.gz")]) == 0
    monkeypatch.setenv("CFPLAN_HISTORY_URL", "s3://user:secret@bucket/history")
    assert main(["backup", str(tmp_path / "cfplan.tar.gz")]) == 0
    said = capsys.readouterr().err
    assert "object store" in said
    assert "secret" not in said
    assert main(["restore", "--replace", str(tmp_path / "whole.tar.gz")]) == 2
    assert "--without-history" in capsys.readouterr().err
    for name in (["cfplan.tar.gz"], ["whole.tar.gz", "--without-history"]):
        before = place.state()
        assert main(["restore", "--replace", str(tmp_path / name[0]), *name[1:]]) == 0
        assert place.state() == before


def test_migration_of_a_file_leaves_copies_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fill(place_at(tmp_path / "data"), is_migrated=False)
    before = place.rows()
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(place.data))
    monkeypatch.delenv("CFPLAN_DATABASE_URL", raising=False)
    folder = place.data / "before-migration"
    folder.mkdir()
    for day in range(5):
        (folder / f"cfplan-{REVISION}-2026010{day + 1}T000000Z.db").write_text("old")
    assert main(["plans", "list"]) == 0
    copies = sorted(folder.iterdir())
    kept = [f"cfplan-{REVISION}-2026010{day}T000000Z.db" for day in (4, 5)]
    assert [path.name for path in copies] == [*kept, copies[-1].name]
    assert copies[-1].stat().st_mode & 0o777 == 0o600
    shutil.copyfile(copies[-1], tmp_path / "copy.db")
    copied = Place(place.settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/copy.db"}))
    assert (revision(copied), copied.rows()) == (REVISION, before)
    assert main(["plans", "list"]) == 0
    assert sorted(folder.iterdir()) == copies


def test_migration_without_space_for_a_copy_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fill(place_at(tmp_path / "data"), is_migrated=False)
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(place.data))
    monkeypatch.delenv("CFPLAN_DATABASE_URL", raising=False)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("app.disk.shutil.disk_usage", lambda _: usage._replace(free=1_000))
    assert main(["migrate"]) == 2
    assert "CFPLAN_MIGRATION_COPIES=0" in capsys.readouterr().err
    assert revision(place) == REVISION
    monkeypatch.setenv("CFPLAN_MIGRATION_COPIES", "0")
    assert main(["migrate"]) == 0
    assert not (place.data / "before-migration").exists()


def test_migration_makes_a_backup_on_request(
    target: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fill(target, is_migrated=False)
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(place.data))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", place.settings.database_url)
    before = place.rows()
    assert main(["migrate", "--backup", str(tmp_path / "before.tar.gz")]) == 0
    assert "is now at revision" in capsys.readouterr().out
    old = place_at(tmp_path / "old")
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(old.data))
    monkeypatch.delenv("CFPLAN_DATABASE_URL")
    assert main(["restore", str(tmp_path / "before.tar.gz")]) == 0
    assert {name: len(rows) for name, rows in old.rows().items() if name in before} == {
        name: len(rows) for name, rows in before.items()
    }


def test_migration_of_a_server_without_a_backup_says_so(
    target: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fill(target, is_migrated=False)
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(place.data))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", place.settings.database_url)
    assert main(["migrate"]) == 0
    assert ("migrate --backup FILE" in capsys.readouterr().err) is bool(place.settings.database_url)


def test_every_name_in_a_data_folder_is_known_to_backups(place: Place) -> None:
    """A new name in the data folder must be added to the backup, or to the names that belong to the machine."""
    from tests.app.backup.support import OWN_FILES

    saved = {files.FOLDER, "history", "reports", "cfplan.db", "cfplan.db-wal", "cfplan.db-shm"}
    assert {path.name for path in place.data.iterdir()} <= saved | OWN_FILES


def test_restore_can_revoke_tokens_on_each_kind_of_database(target: Place, tmp_path: Path) -> None:
    target.data.mkdir(exist_ok=True)
    database = database_of(target.settings)
    database.upgrade()
    now = utc_now()
    with database.session(writes=True) as session:
        user = users.add(session, "anna", "planner", password_hash=None, now=now)
        tokens.create(session, user, name="script", scope="planner", days=30, most_days=30, now=now)
    database.close()
    back_up(target, tmp_path / "cfplan.tar.gz")
    restored = restore_into(target, tmp_path / "cfplan.tar.gz", replaces=True, revokes_tokens=True)
    assert restored.notes[0].startswith("All API tokens were revoked.")
    database = database_of(target.settings)
    with database.session(writes=False) as session:
        assert [each.state for each in tokens.list_of(session, utc_now())] == ["revoked"]
    database.close()
