from __future__ import annotations

import os
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from app.database.engine import Database
from app.main import create_app
from app.settings import Settings
from tests.app.web.support import assert_problem, get


def ready_app(database: Database, folder: Path, **settings: str) -> FastAPI:
    app = create_app(Settings(data_dir=folder, **settings))  # type: ignore[arg-type]
    app.state.database = database
    database.prepare()
    return app


def fields(app: FastAPI) -> set[str]:
    problem = assert_problem(get(app, "/readyz"), "not-ready", 503)
    return {error["field"] for error in problem["errors"]}


def test_service_with_current_database_and_writable_folders_is_ready(
    database: Database, tmp_path: Path
) -> None:
    answer = get(ready_app(database, tmp_path), "/readyz")
    assert (answer.status, answer.json()) == (200, {"status": "ready", "findings": []})


def test_folders_that_do_not_exist_yet_are_ready_if_they_can_be_created(
    database: Database, tmp_path: Path
) -> None:
    app = ready_app(database, tmp_path / "a" / "b", history_url=str(tmp_path / "c" / "d"))
    assert get(app, "/readyz").status == 200
    assert not (tmp_path / "a").exists()


def test_tables_of_another_version_are_not_ready(database: Database, tmp_path: Path) -> None:
    app = ready_app(database, tmp_path)
    with database.session(writes=True) as session:
        session.execute(text("UPDATE alembic_version SET version_num = 'other'"))
    problem = assert_problem(get(app, "/readyz"), "not-ready", 503)
    assert "other" in problem["detail"]
    assert [error["field"] for error in problem["errors"]] == ["schema"]


def test_missing_database_file_is_not_ready_and_not_created(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    assert fields(app) == {"schema"}
    assert list(tmp_path.iterdir()) == []


def test_damaged_database_is_not_ready(tmp_path: Path) -> None:
    (tmp_path / "cfplan.db").write_bytes(b"this is no database" * 100)
    assert fields(create_app(Settings(data_dir=tmp_path))) == {"database"}


@pytest.mark.parametrize("name", ["data", "history"])
def test_folder_that_cannot_be_written_to_is_not_ready(
    name: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {"data": tmp_path / "of-data", "history": tmp_path / "of-history"}
    for folder in folders.values():
        folder.mkdir()
    app = ready_app(database, folders["data"], history_url=str(folders["history"]))
    real = os.access
    # Not with chmod, because tests may run as root, who may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: path != folders[name] and real(path, mode))
    assert fields(app) == {name}


def test_file_in_the_place_of_the_history_folder_is_not_ready(database: Database, tmp_path: Path) -> None:
    (tmp_path / "history").write_text("a file")
    assert fields(ready_app(database, tmp_path)) == {"history"}


def test_history_in_an_object_store_is_not_checked(database: Database, tmp_path: Path) -> None:
    app = ready_app(database, tmp_path, history_url="s3://bucket/history")
    assert get(app, "/readyz").status == 200


def test_stopping_service_is_not_ready_but_healthy(database: Database, tmp_path: Path) -> None:
    app = ready_app(database, tmp_path)
    app.state.overseer.is_stopping = True
    assert fields(app) == {"service"}
    assert get(app, "/healthz").status == 200


def test_readiness_does_not_show_where_the_database_is(tmp_path: Path) -> None:
    app = create_app(
        Settings(data_dir=tmp_path, database_url="postgresql://someone:hunter22@127.0.0.1:1/plans")
    )
    answer = get(app, "/readyz")
    assert answer.status == 503
    assert not any(word in answer.text for word in ("someone", "hunter22", "127.0.0.1"))
