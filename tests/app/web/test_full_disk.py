"""A full disk and a lost database are reported as what they are."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import event, text

from app.cli import main
from app.database.engine import Database, DatabaseUnusable, database_url
from app.database.full_disk import is_out_of_space
from app.main import create_app
from app.settings import Settings
from tests.app.web.support import SQ03, Answer, assert_problem, get, send_json


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return create_app(Settings(data_dir=tmp_path))


def save(app: FastAPI, name: str) -> Answer:
    return send_json(app, "PUT", f"/api/v1/plans/{name}", SQ03, if_none_match="*")


def limit_size(app: FastAPI, *, more_pages: int) -> None:
    """Let the file of the database grow by this number of pages only; SQLite reports the limit as a full disk."""
    database: Database = app.state.database

    def limit(connection: object, _record: object, _proxy: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count={pages + more_pages}")
        cursor.close()

    event.listen(database._writing.pool, "checkout", limit)
    app.state.unlimit = lambda: event.remove(database._writing.pool, "checkout", limit)


def unlimit(app: FastAPI) -> None:
    app.state.unlimit()
    app.state.database.close()


def test_change_without_space_gets_507_and_stores_nothing(app: FastAPI) -> None:
    assert save(app, "P").status == 201
    limit_size(app, more_pages=0)
    problem = assert_problem(save(app, "Q"), "insufficient-storage", 507)
    assert "no space left" in problem["detail"]
    assert [plan["name"] for plan in get(app, "/api/v1/plans").json()["plans"]] == ["P"]
    health = get(app, "/healthz")
    assert (health.status, health.json()["status"], health.json()["storage"]) == (200, "degraded", "full")
    unlimit(app)
    assert save(app, "Q").status == 201
    assert get(app, "/healthz").json()["storage"] == "ok"
    assert get(app, "/healthz").json()["status"] == "ok"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_file_without_space_gets_507(app: FastAPI, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("app.plans.api.service.list_plans", fails)
    assert_problem(get(app, "/api/v1/plans"), "insufficient-storage", 507)


def test_other_errors_of_files_remain_unexpected(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("app.plans.api.service.list_plans", fails)
    assert_problem(get(app, "/api/v1/plans"), "unexpected", 500)


@pytest.mark.parametrize("free_blocks", [0, 10_000])
def test_health_check_reports_a_full_file_system(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, free_blocks: int
) -> None:
    found = os.statvfs("/")
    values = list(found)
    values[os.statvfs_result.n_fields - found.n_fields + 4] = free_blocks  # f_bavail
    monkeypatch.setattr("app.disk.os.statvfs", lambda _: os.statvfs_result(values))
    assert get(app, "/healthz").json()["storage"] == ("ok" if free_blocks else "full")


def test_full_disk_of_a_database_server_is_recognized() -> None:
    import psycopg.errors

    assert is_out_of_space(psycopg.errors.DiskFull("could not extend file"))
    assert not is_out_of_space(psycopg.errors.QueryCanceled("canceling statement due to statement timeout"))


def test_empty_file_is_refused_by_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("app.database.engine.NEW_FILE_S", 0.0)
    (tmp_path / "cfplan.db").touch()
    assert main(["plans", "list"]) == 2
    said = capsys.readouterr().err
    assert "is empty (0 bytes)" in said
    assert "Restore it from a backup" in said
    assert (tmp_path / "cfplan.db").stat().st_size == 0, "the file must not become a new database"
    (tmp_path / "cfplan.db").unlink()
    assert main(["plans", "list"]) == 0


def test_service_does_not_start_with_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "cfplan.db").touch()
    ran = subprocess.run(
        [sys.executable, "-m", "app.cli", "serve", "--port", "1"], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[3], env={**os.environ, "CFPLAN_DATA_DIR": str(tmp_path)},
    )  # fmt: skip
    assert ran.returncode == 2
    assert "is empty (0 bytes)" in ran.stderr


def test_file_that_another_process_is_about_to_fill_is_waited_for(
    tmp_path: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cfplan.db"
    path.touch()
    monkeypatch.setattr(
        "app.database.engine.time.sleep", lambda _: path.write_bytes(migrated_file.read_bytes())
    )
    database = Database(database_url("", data_dir=tmp_path))
    with database.session(writes=False) as session:
        assert session.execute(text("SELECT count(*) FROM plans")).scalar() == 0
    database.close()


def test_empty_file_is_unusable_for_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.database.engine.NEW_FILE_S", 0.0)
    (tmp_path / "cfplan.db").touch()
    made = create_app(Settings(data_dir=tmp_path))
    assert_problem(get(made, "/api/v1/plans"), "database-unavailable", 503)
    with pytest.raises(DatabaseUnusable, match="0 bytes"):
        made.state.database.prepare()
