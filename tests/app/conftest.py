from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.database.limits import OF_REQUESTS
from app.main import create_app
from app.settings import Settings
from tests.app.monitoring.logging_support import restored_log
from tests.app.recorded_changes import unrecorded_changes
from tests.serving import served


@pytest.fixture(autouse=True)
def _every_change_is_recorded() -> Iterator[None]:
    """Fail a test in which a user or a command changes something without an entry in the audit trail."""
    with unrecorded_changes() as found:
        yield
    assert found == []


@pytest.fixture(autouse=True, scope="session")
def _patience_with_the_server() -> Iterator[None]:
    """Let requests of tests wait for a server that has few processors; tests of the limit use the real one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.main.OF_REQUESTS", replace(OF_REQUESTS, statement_s=120, answer_s=150))
        yield


@pytest.fixture(autouse=True)
def _log_is_restored() -> Iterator[None]:
    """Keep the log of a service or job that a test ran in this process from the output of the next test."""
    with restored_log():
        yield


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Return the application with default settings and its own data folder."""
    return create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))


@pytest.fixture
def own_app(tmp_path: Path) -> FastAPI:
    """Return an application with an empty database of its own."""
    return create_app(Settings(data_dir=tmp_path / "data"))


@pytest.fixture(scope="session")
def address(app: FastAPI) -> Iterator[tuple[str, int]]:
    """Return the host and port of an application served over the network, which starts no jobs."""
    with served(app, runs_jobs=False) as origin:
        host, _, port = origin.removeprefix("http://").partition(":")
        yield host, int(port)
