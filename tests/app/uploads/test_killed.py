"""Kills of uploads and keepers at any instant: stored files are complete and read once."""

from __future__ import annotations

import hashlib
import http.client
import os
import random
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import URL, text

from app.database.engine import Database
from app.jobs.models import JobState
from app.paging import PageRequest
from app.settings import Settings
from app.uploads import files, service
from tests.app.uploads.support import (
    DAY,
    job,
    job_id_of,
    keep,
    run_keeper,
    settings_for,
    wait_until,
    whole_files,
)
from tests.forked_on_request import Parent, parent_of
from tests.prepared import commands

pytestmark = pytest.mark.long

MOMENTS = random.Random(20261121)
LONGEST_S = 0.15
LONGEST_RUN_S = 0.8
"""About the time of a keeper for its run, which has pauses of 0.4 s, on a quiet machine."""
PIECE = os.urandom(2**16)


def start_service(server: Parent) -> tuple[int, int]:
    """Start the service, without its jobs, and return the number of its process and its port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    service_id = server.start(str(port))
    wait_until(lambda: answers(port))
    return service_id, port


def answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def send_until_killed(port: int, service_id: int, *, after_s: float) -> bool:
    """Upload a file, kill the service after this time, and return whether it had confirmed the upload."""
    pid = os.fork()
    if pid == 0:
        time.sleep(after_s)
        os.kill(service_id, signal.SIGKILL)
        os._exit(0)
    content = PIECE * 400 + os.urandom(8)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    status = 0
    with suppress(OSError, http.client.HTTPException):
        connection.request("POST", "/api/v1/uploads?name=big.smf", body=content)
        status = connection.getresponse().status
    connection.close()
    os.waitpid(pid, 0)
    return status == 201


def check_whole(database: Database, settings: Settings) -> int:
    """Assert that every row has its file, and that every file matches the hash in its name."""
    for sha256 in whole_files(settings.data_dir):
        path = files.path_of(settings.data_dir, sha256)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    with database.session(writes=False) as session:
        found = service.list_uploads(session, PageRequest(per_page=200))
        for upload in found.items:
            assert upload.sha256 in whole_files(settings.data_dir)
            assert upload.job is not None
    return found.total


def kill_uploads(database: Database, settings: Settings, kills: int) -> None:
    """Interrupt this many uploads; after one that finished before its kill, the next kill comes earlier."""
    kept, latest_s = 0, LONGEST_S
    environment = {**os.environ, **settings.as_environment()}
    with parent_of("tests.app.uploads.server", environment=environment) as server:
        while kills:
            service_id, port = start_service(server)
            if send_until_killed(port, service_id, after_s=MOMENTS.uniform(0, latest_s)):
                kept, latest_s = kept + 1, latest_s * 0.8
            else:
                kills -= 1
            assert list(server.lines_until_gone()) == []
            assert check_whole(database, settings) >= kept, "an upload confirmed as stored is missing"
    for path in (settings.data_dir / "uploads" / "incoming").glob("*"):
        os.utime(path, (1, 1))
    files.remove_abandoned(settings.data_dir)
    assert list((settings.data_dir / "uploads" / "incoming").glob("*")) == []


@pytest.fixture
def settings(url: URL, tmp_path: Path, database: Database) -> Settings:
    assert database.revision()
    return settings_for(url, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_3_kills_of_an_upload_leave_only_complete_files(database: Database, settings: Settings) -> None:
    kill_uploads(database, settings, 3)


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_50_kills_of_an_upload_leave_only_complete_files(database: Database, settings: Settings) -> None:
    kill_uploads(database, settings, 50)


def kill_keepers(database: Database, settings: Settings, kills: int) -> None:
    """Kill each keeper at some instant except the last one, which completes the run."""
    lines = "".join(f"say decoding {n} 20\nwait 0.02\n" for n in range(20))
    killed = 0
    for number in range(kills):
        job_id = job_id_of(
            keep(database, settings.data_dir, f"{lines}days {DAY} 2026-11-{number % 20 + 1:02}\n# {number}")
        )
        environment = {**os.environ, **settings.as_environment()}
        with commands().start("app.keeper", str(job_id), environment=environment) as process:
            time.sleep(MOMENTS.uniform(0, LONGEST_RUN_S))
            process.kill()
        state = job(database, job_id).state
        assert state in {JobState.QUEUED, JobState.RUNNING, JobState.DONE}
        killed += state != JobState.DONE
        with database.engine.begin() as connection:
            connection.execute(text("UPDATE job_runs SET heartbeat_at = NULL WHERE state = 'running'"))
        ended = run_keeper(database, settings, job_id)
        assert ended.state == JobState.DONE
        assert stored_hours(database, f"2026-11-{number % 20 + 1:02}") == 1
    assert killed, "every run had ended before it was killed: the test proves nothing"


def stored_hours(database: Database, day: str) -> int:
    hour = f"{day} 09:00:00" if not database.is_sqlite else f"{day} 09:00:00.000000"
    with database.engine.connect() as connection:
        query = text("SELECT count(*) FROM hourly_structure_usage WHERE hour = :hour")
        return connection.execute(query, {"hour": hour if database.is_sqlite else f"{hour}+00"}).scalar_one()


def test_5_kills_of_a_keeper_leave_the_run_to_the_next(database: Database, settings: Settings) -> None:
    kill_keepers(database, settings, 5)


@pytest.mark.soak
def test_100_kills_of_a_keeper_leave_the_run_to_the_next(database: Database, settings: Settings) -> None:
    kill_keepers(database, settings, 100)
