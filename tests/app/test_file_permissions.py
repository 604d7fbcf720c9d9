"""Who can read the files that cfplan creates."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli import main


@pytest.fixture(autouse=True)
def permissive_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("CFPLAN_DATABASE_URL", raising=False)
    monkeypatch.setenv("CFPLAN_PORT", "1")
    return tmp_path / "data"


def open_to_others(folder: Path) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in (folder, *folder.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    ]


def test_command_creates_the_data_for_its_user_only(data: Path) -> None:
    assert main(["plans", "list"]) == 0
    assert (data / "cfplan.db").exists()
    assert open_to_others(data) == []


def test_database_in_an_open_folder_is_readable_only_by_its_user(data: Path) -> None:
    data.mkdir(0o777)
    assert main(["plans", "list"]) == 0
    assert open_to_others(data) == ["."]


def test_service_creates_all_files_for_its_user_only(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def supervised(*_: object) -> int:
        (data / "jobs").mkdir(parents=True)
        (data / "jobs" / "1.log").touch()
        return 0

    monkeypatch.setattr("app.serve_cli.supervise", supervised)
    monkeypatch.setattr("app.serving.listening.listening_sockets", lambda *_: [Listening()])
    assert main(["serve"]) == 0
    assert (data / "jobs" / "1.log").exists()
    assert open_to_others(data) == []


def test_service_warns_of_a_folder_that_everyone_can_read(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data.mkdir(0o755)
    monkeypatch.setattr("app.serve_cli.supervise", lambda *_: 0)
    monkeypatch.setattr("app.serving.listening.listening_sockets", lambda *_: [Listening()])
    assert main(["serve"]) == 0
    assert "chmod -R o-rwx" in capsys.readouterr().err
    data.chmod(0o750)
    assert main(["serve"]) == 0
    assert "chmod" not in capsys.readouterr().err


class Listening:
    """A socket that does not listen."""

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *_: object) -> None:
        """Close nothing."""

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", 1
