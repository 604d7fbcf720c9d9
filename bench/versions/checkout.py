"""A checkout of one version: its commands, its measurements in processes of their own, and its server."""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.service import PATIENCE_S, Server, started

ROOT = Path(__file__).parents[2]
PROBES = Path(__file__).with_name("probes.py")
LONGEST_S = 1_800.0
"""Time after which a command or a queue of uploads is given up."""
MAIN = ("-c", "from app.cli import main_entry; main_entry()")


class NotMeasured(Exception):
    """A version does not have what is measured; the message is the reason."""


FAILURES = (
    NotMeasured,
    OSError,
    RuntimeError,
    KeyError,
    ValueError,
    httpx.HTTPError,
    http.client.HTTPException,
)


@dataclass(frozen=True)
class Spent:
    """The time of a command and of the processes that it waited for."""

    seconds: float
    cpu_s: float
    printed: str


@dataclass(frozen=True)
class Version:
    """A checkout, and how its code is run."""

    name: str
    folder: Path
    python: str
    temporary: Path | None = None
    """The temporary folder of its processes. It is deleted at the end, because a process that is killed leaves its files."""

    def environment(self, data_dir: Path) -> dict[str, str]:
        """Return the environment of its processes: no settings but the data folder, and no nightly runs by the clock."""
        # Python's own settings could add the modules of this version, or compile all modules again in each process.
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("CFPLAN_", "PYTHON"))
        }
        temporary = {"TMPDIR": str(self.temporary)} if self.temporary else {}
        return {**inherited, **temporary, "CFPLAN_DATA_DIR": str(data_dir), "CFPLAN_NIGHT_HOUR": "off"}

    def run(self, *arguments: str, data_dir: Path) -> Spent:
        """Run its Python with these arguments, and stop whatever the command leaves running."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                [self.python, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env=self.environment(data_dir),
                start_new_session=True,
            )
            try:
                code = process.wait(timeout=LONGEST_S)
            except subprocess.TimeoutExpired:
                message = f"still running after {LONGEST_S:.0f} s"
                raise NotMeasured(message) from None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            out.seek(0)
            err.seek(0)
            if code != 0:
                messages = err.read().decode(errors="replace").strip().splitlines()
                raise NotMeasured(messages[-1] if messages else f"exit code {code}")
            spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            return Spent(seconds, spent_s, out.read().decode(errors="replace"))

    def probe(self, name: str, data_dir: Path, **arguments: object) -> Any:  # noqa: ANN401 - any JSON value
        """Return the result of a function of `bench/probes.py` in its process."""
        with tempfile.TemporaryDirectory(prefix="cfplan-bench-", dir=self.temporary) as folder:
            out = Path(folder) / "result.json"
            source = PROBES.read_text(encoding="utf-8")
            self.run("-c", source, name, json.dumps(arguments), str(out), data_dir=data_dir)
            return json.loads(out.read_bytes())

    @contextmanager
    def serving(self, data_dir: Path) -> Iterator[Server]:
        """Serve its application."""
        command = (self.python, "-c", PROBES.read_text(encoding="utf-8"), "serve")
        data_dir.mkdir(parents=True, exist_ok=True)
        with started(command, (), self.environment(data_dir), folder=self.folder) as server:
            # Its start is not part of any measurement.
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
            connection.request("GET", "/healthz")
            if (status := connection.getresponse().status) != 200:
                message = f"the server answered {status}"
                raise NotMeasured(message)
            connection.close()
            yield server


def checkout(name: str, folder: Path) -> Version:
    """Return the version in a folder, or end this process with a message if it cannot be measured."""
    folder = folder.resolve()
    python = Path(sys.executable) if folder == ROOT else folder / ".venv/bin/python"
    # Another Python could find the packages of this version, and would compare it with itself.
    if not (folder / "bench").is_dir() or not python.exists():
        message = f"{folder} is not a checkout of cfplan with its packages in .venv. Run `make setup` in it."
        raise SystemExit(message)
    return Version(name, folder, str(python))


def commit_of(folder: Path) -> str:
    """Return the commit of a folder, and whether files differ from it."""
    described = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "no commit"
