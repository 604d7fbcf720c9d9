"""`cfplan migrate`, and commands on a database that is not migrated."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import URL

from app.cli import main
from app.database.engine import Database


@pytest.fixture(autouse=True)
def environment(url: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", url.render_as_string(hide_password=False))
    monkeypatch.delenv("CFPLAN_PORT", raising=False)


def test_migration_reports_its_steps(url: URL, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate"]) == 0
    assert "now" in capsys.readouterr().out
    assert main(["migrate"]) == 0
    assert "already" in capsys.readouterr().out
    made = Database(url)
    made.prepare()
    made.close()


def test_unmigrated_server_database_is_reported(url: URL, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plans", "list"]) == (0 if url.get_backend_name() == "sqlite" else 2)
    if url.get_backend_name() != "sqlite":
        assert "cfplan migrate" in capsys.readouterr().err
