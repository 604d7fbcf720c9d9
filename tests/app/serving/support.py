"""Services in processes of their own, which tests stop, kill and overload."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.forked_on_request import Parent
from tests.serving import ANSWER_S

PATIENCE_S = 120.0


@dataclass(frozen=True)
class Service:
    """A service: its address, the process ID of its supervisor, and the files of its data and messages."""

    address: str
    pid: int
    data_dir: Path
    messages_path: Path
    parent: Parent

    @property
    def messages(self) -> str:
        """What it has printed on stderr."""
        return self.messages_path.read_text("utf-8")

    def get(self, path: str, **options: object) -> httpx.Response:
        """Return the answer to a request on a connection of its own."""
        return httpx.get(self.address + path, timeout=PATIENCE_S, **options)  # type: ignore[arg-type]

    def put(self, path: str, **options: object) -> httpx.Response:
        """Return the answer to a PUT request on a connection of its own."""
        return httpx.put(self.address + path, timeout=PATIENCE_S, **options)  # type: ignore[arg-type]

    def workers(self) -> set[int]:
        """Return the process IDs of its workers."""
        return set(children(self.pid))

    def kill(self) -> None:
        """Kill the supervisor, and wait until it has ended."""
        os.kill(self.pid, signal.SIGKILL)
        list(self.parent.lines_until_gone())

    def stop(self) -> None:
        """Stop the service with SIGTERM, and wait for its end."""
        os.kill(self.pid, signal.SIGTERM)
        list(self.parent.lines_until_gone())


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@contextmanager
def serving(
    parent: Parent, folder: Path, *arguments: str, environment: Mapping[str, str] | None = None, port: int = 0
) -> Iterator[Service]:
    """Start a service and wait until it answers; stop it at the end of the block if it still runs."""
    port = port or free_port()
    messages = folder / "messages"
    settings = {"CFPLAN_DATA_DIR": str(folder / "data"), "CFPLAN_NIGHT_HOUR": "off", **(environment or {})}
    asked = {
        "arguments": ["--port", str(port), *arguments],
        "environment": settings,
        "messages": str(messages),
    }
    pid = parent.start(json.dumps(asked))
    service = Service(f"http://127.0.0.1:{port}", pid, folder / "data", messages, parent)
    try:
        wait_until(lambda: _answers(service))
        yield service
    finally:
        if is_alive(pid):
            service.stop()


def _answers(service: Service) -> bool:
    try:
        return httpx.get(service.address + "/healthz", timeout=ANSWER_S).is_success
    except httpx.HTTPError:
        return False


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not only waiting for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """Return the process IDs of the children of a process."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(folder.name))
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, with a generous limit."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@contextmanager
def in_background(work: Callable[[], httpx.Response]) -> Iterator[Future[httpx.Response]]:
    """Send a request in a thread during the block."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work)


def all_threads_of(pid: int) -> int:
    """Return the number of threads of a process."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))
