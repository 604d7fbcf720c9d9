"""Without a connection that asks for it, nothing is contacted: everything works without sockets.

That is pages, REST and commands; the threads of a served application; and the processes that they start, such as that of a
nightly run, which compares policies.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from app.cli import main
from app.database.engine import Database, database_of
from app.jobs.models import JobState
from app.main import create_app
from app.nightly.models import NightlyRun
from app.settings import Settings
from app.texts.documents import example_text
from app.zosmf.nightly import compare_policies
from tests.app.nightly.support import JOBS, put_days, queue, read
from tests.app.uploads.support import wait_until
from tests.app.web.pages.addresses import PAGES
from tests.app.web.support import get

REFUSAL = """
import os, socket

def refuse(*arguments, **_):
    with open(os.environ["ATTEMPTS_OF_TEST"], "a") as file:
        file.write(f"{arguments[-1]}\\n")
    raise OSError("a process of a test without connections contacts another system")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse
"""
DECLARED = """
connections:
  PLEX1: {kind: zosmf, address: 'https://127.0.0.1:9'}
  RMF1: {kind: dds, address: 'https://127.0.0.1:9'}
"""
"""Connections that only commands use."""
COMPARED = DECLARED.replace("9'}", "9', nightly_drift: true, drift_plan: SQ03, attempts: 1}", 1)
"""The same, with one that the process of a nightly run uses: without it, the test of the others would prove nothing."""


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


@pytest.fixture
def refused_in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Refuse every connection in the processes that a test starts; return the file of those that were attempted."""
    attempts = tmp_path / "attempts"
    (tmp_path / "sitecustomize.py").write_text(REFUSAL)
    # The stand-ins of the jobs: Spark itself uses a socket of this machine.
    places = (tmp_path, JOBS, Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, places)))
    monkeypatch.setenv("ATTEMPTS_OF_TEST", str(attempts))
    for name in Settings.model_fields:
        monkeypatch.delenv(f"CFPLAN_{name.upper()}", raising=False)
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    return attempts


def store_plan(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store the plan SQ03, with which the policy of a connection is compared."""
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(settings.data_dir))
    settings.data_dir.mkdir(exist_ok=True)
    file = settings.data_dir / "plan.yaml"
    file.write_text(example_text(), encoding="utf-8")
    assert main(["plans", "put", "SQ03", str(file), "--create"]) == 0


def test_the_refusal_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[object] = []

    def refuse(*arguments: object, **_: object) -> None:
        attempts.append(arguments)
        raise OSError

    monkeypatch.setattr(socket, "create_connection", refuse)
    file = tmp_path / "connections.yaml"
    file.write_text(COMPARED)
    settings = Settings(data_dir=tmp_path / "data", connections_file=str(file))
    store_plan(settings, monkeypatch)
    said: list[str] = []
    compare_policies(database_of(settings), settings, said.append)
    # A declared connection is used by the same step: without the refusal, the next test would prove nothing.
    assert "connection PLEX1" in said[0]
    assert len(attempts) == 1


def test_the_refusal_works_in_processes(refused_in_processes: Path) -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 9))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=False)
    assert b"contacts another system" in done.stderr
    assert refused_in_processes.exists()


@pytest.mark.parametrize(
    "declared", [None, DECLARED, COMPARED], ids=["no file", "for commands", "for nightly runs"]
)
def test_threads_and_processes_of_a_served_application_contact_nothing(
    tmp_path: Path,
    refused: list[object],
    refused_in_processes: Path,
    declared: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connections_file = ""
    if declared is not None:
        (tmp_path / "connections.yaml").write_text(declared)
        connections_file = str(tmp_path / "connections.yaml")
    # The schedule starts a nightly run at once, because this hour's is due.
    settings = Settings(
        data_dir=tmp_path / "data", connections_file=connections_file, night_hour=datetime.now(UTC).hour
    )
    put_days(settings, 2)
    store_plan(settings, monkeypatch)
    app = create_app(settings)
    names: Counter[str] = Counter()
    before = set(threading.enumerate())

    async def serve() -> None:
        async with app.router.lifespan_context(app):
            names.update(thread.name for thread in set(threading.enumerate()) - before)
            await asyncio.to_thread(use)

    def use() -> None:
        database: Database = app.state.background_database
        duties = [duty for duty in app.state.leader._duties if duty is not app.state.watcher]
        for duty in duties:
            duty.look()
        run = queue_or_running(database)
        wait_until(lambda: read(database, run).job.state in (JobState.DONE, JobState.FAILED))
        assert read(database, run).job.state == JobState.DONE
        # Its process compares policies after the run has ended; the thread of the watcher notices its end.
        wait_until(lambda: not app.state.watcher._children)
        for duty in duties:
            duty.look()

    asyncio.run(serve())
    # A thread that is new must be used by this test, if it does not work by itself.
    background = {name: count for name, count in names.items() if name.startswith(("cfplan", "APS"))}
    # The schedule of nightly runs, and the poller.
    schedulers = 1 if declared is None else 2
    assert background == {"cfplan-jobs": 1, "cfplan-cpu": 1, "APScheduler": schedulers}
    assert refused_in_processes.exists() == (declared == COMPARED)
    assert refused == []


def queue_or_running(database: Database) -> int:
    """Return the nightly run that the schedule started."""
    with database.session(writes=False) as session:
        found = session.scalars(select(NightlyRun.id)).all()
    return found[0] if found else queue(database).id


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
