"""A Spark standalone cluster on this machine: a master and its workers as separate processes on free ports."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PATIENCE_S = 120
LOOK_S = 0.1
LOOPBACK = "127.0.0.1"
QUICK_JAVA = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Options of every Java virtual machine, including executors: they end before an optimizing compiler pays off."""
MASTER_AT = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
STATE_AT = re.compile(r"Bound MasterWebUI to \S+ and started at http://[^:]+:(\d+)")


class Cluster:
    """A running cluster, started by `cluster`; `url` is the value for SPARK_MASTER."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._environ = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_CONF_DIR": str(folder / "conf"),
            **QUICK_JAVA,
            "SPARK_DAEMON_MEMORY": "256m",
        }
        (folder / "conf").mkdir(exist_ok=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self._start("master", "master", "--host", LOOPBACK, "--port", "0", "--webui-port", "0")
        self.url = self._said("master", MASTER_AT)
        self._state_port = self._said("master", STATE_AT)

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker with one core, and wait until the master knows it."""
        number = len(self.workers)
        before = {worker["id"] for worker in self.alive()}
        work = self._folder / f"work{number}"
        worker = self._start(
            f"worker{number}", "worker", "--host", LOOPBACK, "--port", "0", "--webui-port", "0",
            "--cores", "1", "--memory", "1500m", "--work-dir", str(work), self.url,
        )  # fmt: skip
        self.workers.append(worker)
        self._wait(lambda: {found["id"] for found in self.alive()} - before != set(), f"worker {number}")
        return worker

    def state(self) -> dict[str, Any]:
        """Return the state of the cluster as reported by the master."""
        url = f"http://{LOOPBACK}:{self._state_port}/json/"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            found = json.load(answer)
        assert isinstance(found, dict)
        return found

    def alive(self) -> list[dict[str, Any]]:
        """Return the workers that the master considers alive."""
        return [worker for worker in self.state()["workers"] if worker["state"] == "ALIVE"]

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill a worker with its executors at once, like a power failure of its machine."""
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(PATIENCE_S)

    def close(self) -> None:
        """Stop all started processes."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE_S)

    def _start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        # A session of its own: an executor is in its worker's process group and ends with it.
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "spark_jobs.standalone", *command],
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env=self._environ, cwd=self._folder, start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        return process

    def _said(self, name: str, pattern: re.Pattern[str]) -> str:
        log = self._folder / f"{name}.log"
        found: list[str] = []

        def look() -> bool:
            found[:] = pattern.findall(log.read_text(errors="replace"))
            return bool(found)

        self._wait(
            look, f"{pattern.pattern!r} in the log of the {name}:\n{log.read_text(errors='replace')[-2000:]}"
        )
        return found[0]

    def _wait(self, is_so: Any, what: str) -> None:  # noqa: ANN401 - a function without arguments
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < end, f"waited in vain for {what}"
            time.sleep(LOOK_S)


@contextlib.contextmanager
def cluster(folder: Path, *, workers: int = 2) -> Iterator[Cluster]:
    """Start a master and its workers, and stop them afterwards."""
    started = Cluster(folder)
    try:
        for _ in range(workers):
            started.add_worker()
        yield started
    finally:
        started.close()
