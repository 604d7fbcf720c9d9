"""Without a declared connection, nothing is contacted: pages, REST and the step of the nightly run work without sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli import main
from app.database.engine import database_of
from app.main import create_app
from app.settings import Settings
from app.zosmf.nightly import compare_policies
from tests.app.web.pages.addresses import PAGES
from tests.app.web.support import get


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Refuse every connection and every look-up of a name; return those that were attempted."""
    attempts: list[object] = []

    def refuse(*arguments: object, **_: object) -> None:
        attempts.append(arguments[-1])
        message = "a test without connections contacts another system"
        raise OSError(message)

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    yield attempts
    assert attempts == []


def test_the_refusal_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[object] = []
    monkeypatch.setattr(socket, "create_connection", lambda *arguments, **_: attempts.append(arguments))
    file = tmp_path / "connections.yaml"
    file.write_text(
        "connections: {A: {kind: zosmf, address: 'https://127.0.0.1:9', nightly_drift: true, attempts: 1}}"
    )
    settings = Settings(data_dir=tmp_path / "data", connections_file=str(file))
    said: list[str] = []
    compare_policies(database_of(settings), settings, said.append)
    # A declared connection is used by the same step: without the refusal, the next test would prove nothing.
    assert "connection A" in said[0]


def test_service_pages_and_nightly_step_contact_nothing(tmp_path: Path, refused: list[object]) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    app = create_app(settings)
    for path, status in PAGES.items():
        # The pages of the documentation are files; two of them are enough.
        if not path.startswith(("/docs/", "/reference/")):
            assert get(app, path).status == status, path
    for path in ("connections", "policy-drifts"):
        assert get(app, f"/api/v1/{path}").status == 200
    said: list[str] = []
    compare_policies(app.state.background_database, settings, said.append)
    assert (said, refused) == ([], [])


def test_commands_contact_nothing(
    tmp_path: Path, refused: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("CFPLAN_CONNECTIONS_FILE", raising=False)
    assert main(["connections", "list"]) == 0
    assert "No connection is declared" in capsys.readouterr().out
    for words in (
        ["connections", "check", "PLEX1"],
        ["zosmf", "pull", "--connection", "PLEX1"],
        ["zosmf", "drift", "--connection", "PLEX1"],
        ["gatherer", "fetch", "--connection", "PLEX1", "--data-set", "SYS1.SMF"],
    ):
        assert main(words) == 2
        assert "No connection is configured" in capsys.readouterr().err
