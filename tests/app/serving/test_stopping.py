"""The service stops within its limits, whatever it is doing; requests that cannot finish change nothing and say why."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.serving.worker import STOP_S
from tests.app.serving.support import (
    PATIENCE_S,
    Service,
    all_threads_of,
    in_background,
    is_alive,
    serving,
    wait_until,
)
from tests.forked_on_request import Parent

pytestmark = pytest.mark.long


@pytest.fixture
def service(parent: Parent, tmp_path: Path) -> Iterator[Service]:
    """Return a service with two workers and without a limit on CPU time."""
    with serving(parent, tmp_path, "--workers", "2", environment={"CFPLAN_REQUEST_CPU_S": "0"}) as found:
        yield found


@pytest.fixture
def patient_service(parent: Parent, tmp_path: Path) -> Iterator[Service]:
    """Return a service that stops requests after 1 s instead of 7, and leaves them 18 s to answer instead of 3.

    On a busy machine, they need more than 3 s.
    """
    environment = {
        "CFPLAN_REQUEST_CPU_S": "0", "TEST_ENDS_REQUESTS_EARLIER_S": "6", "TEST_STOPS_LATER_S": "9",
    }  # fmt: skip
    with serving(parent, tmp_path, "--workers", "2", environment=environment) as found:
        yield found


def _is_stopping(answer: httpx.Response) -> bool:
    return (
        answer.status_code == 503
        and answer.json()["type"] == "/docs/problems#service-stopping"
        and "retry-after" in answer.headers
        and answer.headers["connection"] == "close"
    )


def _all_ended(pids: set[int]) -> bool:
    return not any(is_alive(pid) for pid in pids)


def _has_table(service: Service, name: str) -> bool:
    with sqlite3.connect(service.data_dir / "cfplan.db") as connection:
        found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))
        return found.fetchone() is not None


@pytest.mark.parametrize("path", ["/test/python", "/test/waiting-query"])
def test_request_that_does_not_end_is_undone_and_answered(patient_service: Service, path: str) -> None:
    pids = {patient_service.pid, *patient_service.workers()}
    with in_background(lambda: patient_service.put(path)) as running:
        wait_until((patient_service.data_dir / "begun").exists)
        patient_service.stop()
        answer = running.result()
    assert _is_stopping(answer)
    assert "Nothing was stored." in answer.json()["detail"]
    assert not _has_table(patient_service, "half")
    assert _all_ended(pids)
    assert "Traceback" not in patient_service.messages


def test_requests_finish_if_there_is_time(service: Service) -> None:
    with in_background(lambda: service.get("/test/wait?seconds=3")) as running:
        wait_until(lambda: _open_connections(service) > 0)
        service.stop()
        assert running.result().is_success


def _open_connections(service: Service) -> int:
    """Return the number of connections that the service has accepted."""
    port = int(service.address.rpartition(":")[2])
    lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    states = [line.split()[3] for line in lines if line.split()[1].endswith(f":{port:04X}")]
    return states.count("01")


def test_upload_that_does_not_end_is_discarded_and_answered(service: Service) -> None:
    host, port = service.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
        connection.sendall(
            f"POST /api/v1/uploads?filename=a.smf HTTP/1.1\r\nHost: {host}:{port}\r\n"
            "Content-Type: application/octet-stream\r\nContent-Length: 100000000\r\n\r\n".encode()
            + b"x" * 3_000_000
        )
        uploads = service.data_dir / "uploads"
        wait_until(lambda: any(uploads.rglob("*")) if uploads.exists() else False)
        service.stop()
        answer = b""
        while data := connection.recv(1 << 16):
            answer += data
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"service-stopping" in answer
    assert b"retry-after: 5" in answer.lower()
    assert [path for path in uploads.rglob("*") if path.is_file()] == []
    assert "Traceback" not in service.messages


def test_worker_that_hangs_is_killed_in_the_end(service: Service) -> None:
    pids = {service.pid, *service.workers()}
    with in_background(lambda: service.get("/test/waiting-call")) as hanging:
        wait_until(lambda: _open_connections(service) > 0)
        begun = time.monotonic()
        service.stop()
        assert time.monotonic() - begun < STOP_S + PATIENCE_S
        with pytest.raises(httpx.HTTPError):
            hanging.result()
    assert _all_ended(pids)


def test_killed_supervisor_leaves_no_worker_and_a_free_port(
    service: Service, parent: Parent, tmp_path: Path
) -> None:
    pids = service.workers()
    assert len(pids) == 2
    port = int(service.address.rpartition(":")[2])
    service.kill()
    with serving(parent, tmp_path, "--workers", "1", port=port) as next_service:
        assert next_service.get("/healthz").is_success
        assert _all_ended(pids)


def test_killed_worker_is_replaced(service: Service) -> None:
    (first, second) = service.workers()
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: len(service.workers()) == 2 and first not in service.workers())
    assert second in service.workers()
    wait_until(lambda: service.get("/test/process").json() != second)
    assert f"Worker {first} ended with signal 9" in service.messages


def test_supervisor_has_no_threads_that_a_fork_would_lose(service: Service) -> None:
    assert all_threads_of(service.pid) == 1
