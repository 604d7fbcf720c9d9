"""A child process whose JSON lines are read while it runs."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Self

from app.data_folder import held_locks
from app.jobs.starter import GRACE_S, StartedJob, Starter, end_group
from planner_core.wire import JsonObject

LONGEST_LINE_BYTES = 64 * 2**20
"""Maximum length of a line. A report on a dump with thousands of structures is long, but never longer than this."""
LINES_AHEAD = 1_000


class Child:
    """A child process as a context manager; leaving the context ends the process and its descendants."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        on_stderr: Callable[[str], None],
        kept_open: Sequence[int] = (),
        starter: Starter | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the process, without input.

        Args:
            command: The command.
            on_stderr: Called with every line of the log.
            kept_open: Open files that the process inherits.
            starter: Starts the process if it can and no files are inherited; otherwise, the process has its own group.
            environment: The environment of a process with its own group; None for that of this process.
        """
        self._on_stderr = on_stderr
        # Bounded: a job that prints faster than the keeper stores must wait instead of filling the memory.
        self._lines: queue.Queue[str | None] = queue.Queue(LINES_AHEAD)
        (self._stdout, out), (self._stderr, err) = _pipe(), _pipe()
        with out, err:
            self._process: StartedJob | _OwnGroup
            if starter is not None and not kept_open and starter.can_start(command):
                self._process = starter.start(command, stdout=out.fileno(), stderr=err.fileno())
            else:
                self._process = _OwnGroup(
                    command, stdout=out.fileno(), stderr=err.fileno(), kept_open=kept_open, environment=environment
                )  # fmt: skip
        # Two threads, because a process blocks once either of its pipes is full.
        self._threads = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The ID of its process group, and of the process itself unless a starter started it."""
        return self._process.pid

    def events(self, *, every_s: float) -> Iterator[JsonObject | None]:
        """Yield the JSON objects that the process prints, and None after each `every_s` of silence."""
        for line in self.lines(every_s=every_s):
            yield None if line is None else self._parsed(line)

    def lines(self, *, every_s: float) -> Iterator[str | None]:
        """Yield the lines that the process prints, and None after each `every_s` of silence."""
        while True:
            try:
                line = self._lines.get(timeout=every_s)
            except queue.Empty:
                yield None
                continue
            if line is None:
                return
            yield line

    def wait(self) -> int:
        """Wait for the end, read all output, and return the exit code; a negative one is the number of a signal."""
        code = self._process.wait()
        for thread in self._threads:
            thread.join(GRACE_S)
        return code

    def stop(self) -> None:
        """End the process and its descendants: with SIGTERM, then with SIGKILL."""
        self._process.end()
        while any(
            thread.is_alive() for thread in self._threads[:1]
        ):  # unblock a reader thread that waits for room in the queue
            with contextlib.suppress(queue.Empty):
                self._lines.get(timeout=0.05)
        for thread in self._threads:
            thread.join(GRACE_S)
        for stream in (self._stdout, self._stderr):
            stream.close()

    def _parsed(self, line: str) -> JsonObject | None:
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if isinstance(event, dict):
            return event
        self._on_stderr(line)  # libraries sometimes print to the wrong stream
        return None

    def _read_stdout(self) -> None:
        for line in _lines(self._stdout):
            self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self) -> None:
        for line in _lines(self._stderr):
            self._on_stderr(line)


class _OwnGroup:
    """A process that leads its own process group."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdout: int,
        stderr: int,
        kept_open: Sequence[int],
        environment: Mapping[str, str] | None,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            start_new_session=True,
            # A process that outlives its keeper still writes, so it keeps the lock of the data folder.
            pass_fds=(*kept_open, *held_locks()),
        )
        self.pid = self._process.pid

    def wait(self) -> int:
        return self._process.wait()

    def end(self) -> None:
        end_group(self._process)


def _pipe() -> tuple[IO[str], IO[bytes]]:
    """Return the end of a pipe for reading text, and the end for writing."""
    reading, writing = os.pipe()
    return os.fdopen(reading, encoding="utf-8", errors="replace"), os.fdopen(writing, "wb")


def _lines(stream: IO[str]) -> Iterator[str]:
    while line := stream.readline(LONGEST_LINE_BYTES):
        if line.strip():
            yield line.rstrip("\n")
