"""Workers share what one process did alone: jobs are watched by one of them, and all of them serve."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.sizing.examples import sq03
from tests.app.serving.support import PATIENCE_S, Service, free_port, is_alive, serving, wait_until
from tests.app.uploads.support import READER
from tests.forked_on_request import Parent
from tests.prepared import ROOT

pytestmark = pytest.mark.long

STAND_IN = {"PYTHONPATH": f"{READER}{os.pathsep}{ROOT}"}


@pytest.fixture
def service(parent: Parent, tmp_path: Path) -> Iterator[Service]:
    """Return a service with two workers and the stand-in for the jobs."""
    with serving(parent, tmp_path, "--workers", "2", environment=STAND_IN) as found:
        yield found


def _leaders(service: Service) -> list[int]:
    """Return the processes that hold the lock of the leader."""
    lock = (service.data_dir / "leader.lock").stat()
    held = f"{os.major(lock.st_dev):02x}:{os.minor(lock.st_dev):02x}:{lock.st_ino}"
    lines = Path("/proc/locks").read_text("ascii").splitlines()
    return [int(line.split()[4]) for line in lines if line.split()[5] == held and "->" not in line]


def _upload(service: Service, text: str) -> int:
    """Upload a file for the stand-in, and return the number of its job."""
    answer = httpx.post(
        f"{service.address}/api/v1/uploads?filename=a.smf",
        content=text,
        headers={"content-type": "application/octet-stream"},
        timeout=PATIENCE_S,
    )
    assert answer.is_success, answer.text
    number: int = answer.json()["job"]["id"]
    return number


def _state(service: Service, job: int) -> str:
    state: str = service.get(f"/api/v1/jobs/{job}").json()["state"]
    return state


def test_another_worker_leads_when_the_leader_is_killed(service: Service) -> None:
    (leader,) = _leaders(service)
    assert leader in service.workers()
    os.kill(leader, signal.SIGKILL)
    wait_until(lambda: _leaders(service) not in ([], [leader]))
    assert set(_leaders(service)) <= service.workers()
    job = _upload(service, "days 2026-11-20\n")
    wait_until(lambda: _state(service, job) == "done")


def test_worker_that_is_replaced_stops_leading(parent: Parent, tmp_path: Path) -> None:
    with serving(
        parent, tmp_path, "--workers", "2", environment={**STAND_IN, "CFPLAN_REQUEST_CPU_S": "0.5"}
    ) as service:
        (leader,) = _leaders(service)
        while leader in service.workers():
            # Any worker may answer.
            assert service.put("/test/python").status_code == 503
        wait_until(lambda: len(_leaders(service)) == 1)
        assert leader not in _leaders(service)


def test_uploads_to_any_worker_are_read(service: Service) -> None:
    jobs = [_upload(service, f"days 2026-11-{day}\n") for day in range(10, 16)]
    wait_until(lambda: all(_state(service, job) == "done" for job in jobs))
    assert len(_leaders(service)) == 1


def test_stream_of_events_ends_when_the_service_stops(service: Service) -> None:
    job = _upload(service, "wait 60\ndays 2026-11-20\n")
    with httpx.stream("GET", f"{service.address}/api/v1/jobs/{job}/events", timeout=PATIENCE_S) as stream:
        pieces = stream.iter_text()
        assert "event: progress" in next(pieces)
        os.kill(service.pid, signal.SIGTERM)
        # The stream ends properly, so that a browser connects again instead of reporting an error.
        for _ in pieces:
            pass
    list(service.parent.lines_until_gone())
    assert "Traceback" not in service.messages
    keepers = [pid for pid in _processes_of(service) if is_alive(pid)]
    for pid in keepers:
        os.kill(pid, signal.SIGKILL)
    assert keepers  # a job continues without the service


def _processes_of(service: Service) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if os.fsencode(service.data_dir) in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_service_whose_workers_cannot_start_ends_with_a_message(parent: Parent, tmp_path: Path) -> None:
    messages = tmp_path / "messages"
    asked = {
        "arguments": ["--workers", "2"],
        "environment": {"CFPLAN_DATA_DIR": str(tmp_path), "CFPLAN_PORT": "0", "TEST_FAILS": "yes"},
        "messages": str(messages),
    }
    parent.start(json.dumps(asked))
    list(parent.lines_until_gone())
    said = messages.read_text("utf-8")
    assert "cfplan cannot serve: its workers end before they accept requests." in said
    assert "exit code 3" in (tmp_path / "messages").read_text("utf-8")


def test_address_in_use_is_reported(parent: Parent, tmp_path: Path) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        asked = {
            "arguments": ["--port", str(port)],
            "environment": {"CFPLAN_DATA_DIR": str(tmp_path)},
            "messages": str(tmp_path / "messages"),
        }
        parent.start(json.dumps(asked))
        list(parent.lines_until_gone())
    said = (tmp_path / "messages").read_text("utf-8")
    assert said.startswith(f"cfplan cannot listen on 127.0.0.1:{port}: Address already in use")


def test_port_0_selects_a_free_port_and_prints_it(parent: Parent, tmp_path: Path) -> None:
    messages = tmp_path / "messages"
    asked = {
        "arguments": ["--workers", "1"],
        "environment": {"CFPLAN_DATA_DIR": str(tmp_path), "CFPLAN_PORT": "0"},
        "messages": str(messages),
    }
    pid = parent.start(json.dumps(asked))
    wait_until(lambda: messages.exists() and "cfplan serves http://127.0.0.1:" in messages.read_text("utf-8"))
    address = messages.read_text("utf-8").split()[2]
    assert httpx.get(f"{address}/healthz", timeout=PATIENCE_S).is_success
    os.kill(pid, signal.SIGTERM)
    list(parent.lines_until_gone())


def test_concurrent_writers_in_all_workers_lose_nothing(service: Service) -> None:
    answered: list[int] = []

    def save(number: int) -> None:
        for each in range(5):
            answer = service.put(
                f"/api/v1/plans/P{number}-{each}", json=sq03(), headers={"if-none-match": "*"}
            )
            answered.append(answer.status_code)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answered == [201] * 30
    with sqlite3.connect(service.data_dir / "cfplan.db") as connection:
        assert connection.execute("SELECT count(*) FROM plans").fetchone() == (30,)
