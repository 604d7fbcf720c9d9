"""Jobs that are started as copies of one process, because its packages take longer to import than most jobs take to run."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from app.data_folder import held_locks
from app.jobs import processes
from planner_core.contracts.starter import EXIT_CODE, LENGTH

GRACE_S = 5.0


class Starter:
    """The process that starts jobs, as a context manager; leaving the context ends it and its job.

    It is launched by `launch` or for the first job, and again after a job that did not end by itself.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Store the environment of the process and of its jobs; None for that of this process."""
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._socket is not None and self._process is not None:
            # Without a job, the process ends when the socket is closed, and its CPU time and that of its jobs is counted.
            self._socket.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
        self.close()

    def launch(self) -> None:
        """Launch the process before its first job, so that it imports its packages while the caller prepares the job.

        A message on an import that fails is part of the messages of the first job; all others until then are part of
        those of this process.
        """
        if self._process is None:
            # Without a process now, the first job launches one, and reports why it cannot.
            with contextlib.suppress(OSError):
                self._socket, self._process = _launched(None, self._environment)

    def can_start(self, command: Sequence[str]) -> bool:
        """Return whether a command starts one of the jobs for which this process is made."""
        python = len(processes.PYTHON)
        return tuple(command[:python]) == processes.PYTHON and command[python] in processes.STARTED_OFTEN

    def start(self, command: Sequence[str], *, stdout: int, stderr: int) -> StartedJob:
        """Start a job without input, with these open files as its output. The job before it must have ended."""
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None or self._socket is None:
            self._socket, self._process = _launched(stderr, self._environment)
        text = json.dumps(command[len(processes.PYTHON) :]).encode()
        # If the process ended meanwhile, the job ends with its exit code.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._socket, [LENGTH.pack(len(text))], [stdout, stderr])
            self._socket.sendall(text)
        return StartedJob(self, self._process, self._socket)

    def close(self) -> None:
        """End the process and its job."""
        process, self._process = self._process, None
        if process is not None:
            end_group(process)
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class StartedJob:
    """A job of a starter."""

    def __init__(self, starter: Starter, process: subprocess.Popen[bytes], answers: socket.socket) -> None:
        self._starter = starter
        self._process = process
        self._answers = answers
        self._has_ended_by_itself = False

    @property
    def pid(self) -> int:
        """The ID of the process group of the job."""
        return self._process.pid

    def wait(self) -> int:
        """Wait for the end of the job and return its exit code; a negative one is the number of a signal."""
        answer = b""
        with contextlib.suppress(ConnectionResetError):  # it ended before it read the request
            answer = self._answers.recv(EXIT_CODE.size, socket.MSG_WAITALL)
        # Without an answer, the process that starts jobs has ended, and its own exit code tells why.
        code: int = EXIT_CODE.unpack(answer)[0] if len(answer) == EXIT_CODE.size else self._process.wait()
        self._has_ended_by_itself = code >= 0
        return code

    def end(self) -> None:
        """End the job and its descendants, if they may still run."""
        if not self._has_ended_by_itself:
            self._starter.close()


def _launched(
    stderr: int | None, environment: Mapping[str, str] | None
) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Launch the process; until the first job begins, its messages go to `stderr`, or to that of this process."""
    ours, theirs = socket.socketpair()
    with theirs, contextlib.ExitStack() as on_error:
        on_error.enter_context(ours)
        process = subprocess.Popen(
            [*processes.PYTHON, processes.STARTER, *processes.STARTED_OFTEN],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env=environment,
            start_new_session=True,
            pass_fds=held_locks(),  # as in `child`
        )
        on_error.pop_all()
    return ours, process


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, and its descendants: with SIGTERM, then with SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            _signal(process, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
    _signal(process, signal.SIGKILL)  # descendants that outlive the process


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
