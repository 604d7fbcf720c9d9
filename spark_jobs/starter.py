"""Start jobs as copies of one process that has imported their packages: `python -m spark_jobs.starter MODULE…`.

Starting Python and importing Arrow and Delta takes longer than reading a small file. Jobs run in a fork of this process,
as `python -m` would run their modules, so a job that crashes, or that is killed because the machine runs out of memory,
ends alone. Forking takes about as long as reading a small file, because the fork copies the memory that it writes to. So
the fork, which is called the worker here, carries out further jobs if the one before has ended by `leave` and left neither
much memory nor processes behind. Otherwise, the next job has a new worker.

Standard input is a socket; `planner_core.contracts.starter` describes the messages. Jobs are carried out one at a time.
This process ends when the application closes the socket or dies, and ends the current job with it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import runpy
import select
import signal
import socket
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from planner_core.contracts.starter import EXIT_CODE, LENGTH, STREAMS
from spark_jobs.leaving import JobEnded, keep_process, leave
from spark_jobs.without_pandas import hide_pandas_from_arrow

if TYPE_CHECKING:
    from collections.abc import Sequence

IMPORTED_ON_FIRST_USE = (
    "importlib.readers",
    "numpy.ma",
    "pyarrow.acero",
    "pyarrow.dataset",
    "spark_jobs.smf.layouts.all_layouts",
)
"""Modules that are imported, and layouts that are read, on first use, which every job would do again."""
STDIN, STDOUT, STDERR = range(3)
MOST_JOBS = 100
"""The number of jobs after which a worker ends, so that nothing that they leave behind accumulates."""
MOST_MEMORY_KIB = 512 * 2**10
"""A worker that ever used more memory than this ends after the job, and returns the memory."""


class Worker(NamedTuple):
    """A fork of this process that carries out jobs."""

    pid: int
    jobs: socket.socket
    """Sends requests, and receives an exit code for each job after which the worker remains."""


def main(modules: Sequence[str]) -> int:
    """Carry out requests until the application closes the socket."""
    requests = socket.socket(fileno=os.dup(STDIN))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, STDIN)
    try:
        hide_pandas_from_arrow()
        for name in (*IMPORTED_ON_FIRST_USE, *modules):
            importlib.import_module(name)
    except Exception:
        # This process may have been launched before its first job, in whose log the reason must be.
        if (request := _received(requests)) is not None:
            os.dup2(request[1][1], STDERR)
        raise
    # The collector would write to all of these objects, so that each worker had to copy their memory.
    gc.freeze()
    worker: Worker | None = None
    while (request := _received(requests)) is not None:
        text, streams = request
        if worker is None or _has_died(worker):
            worker = _forked(requests, streams, nothing)
            # Until here, messages of this process belonged to the first job, whose output must end with it.
            os.dup2(nothing, STDERR)
        code, remains = _carry_out(worker, text, streams, requests)
        if code is None:
            return 0
        worker = worker if remains else None
        requests.sendall(EXIT_CODE.pack(code))
    if worker is not None:
        worker.jobs.close()
        os.waitpid(worker.pid, 0)
    return 0


def _received(connection: socket.socket) -> tuple[bytes, list[int]] | None:
    """Receive a request with its open files; return None if the sender has ended."""
    head, streams, _, _ = socket.recv_fds(connection, LENGTH.size, STREAMS, socket.MSG_WAITALL)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    text = connection.recv(length, socket.MSG_WAITALL)
    return None if len(text) < length else (text, list(streams))


def _has_died(worker: Worker) -> bool:
    """Return whether a worker was killed while it waited, which no job must pay for."""
    # It sends nothing while it waits, so its socket can be read only at its end.
    if not select.select([worker.jobs], [], [], 0)[0]:
        return False
    worker.jobs.close()
    os.waitpid(worker.pid, 0)
    return True


def _carry_out(
    worker: Worker, text: bytes, streams: Sequence[int], requests: socket.socket
) -> tuple[int | None, bool]:
    """Carry out a request. Return the exit code of its job and whether the worker remains; None if the application ended."""
    with suppress(BrokenPipeError, ConnectionResetError):  # the worker was killed meanwhile
        socket.send_fds(worker.jobs, [LENGTH.pack(len(text))], list(streams))
        worker.jobs.sendall(text)
    # The application reads the output of the job until no process has it open.
    for stream in streams:
        os.close(stream)
    # The application sends nothing before it has the answer.
    ready, _, _ = select.select([worker.jobs, requests], [], [])
    if worker.jobs not in ready:
        os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
        return None, False
    answer = b""
    with suppress(ConnectionResetError):
        answer = worker.jobs.recv(EXIT_CODE.size, socket.MSG_WAITALL)
    if len(answer) == EXIT_CODE.size:
        return EXIT_CODE.unpack(answer)[0], True
    worker.jobs.close()
    _, status = os.waitpid(worker.pid, 0)
    return os.waitstatus_to_exitcode(status), False


def _forked(requests: socket.socket, streams: Sequence[int], nothing: int) -> Worker:
    ours, theirs = socket.socketpair()
    with warnings.catch_warnings():
        # Newer versions of Python warn because of the threads of the memory allocators, which are made for forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        requests.close()
        ours.close()
        for stream in streams:  # sent to this process with the request
            os.close(stream)
        _work(theirs, nothing)
    theirs.close()
    return Worker(pid, ours)


def _work(jobs: socket.socket, nothing: int) -> NoReturn:
    """Carry out jobs in a worker, until one does not end by `leave` or leaves too much behind."""
    keep_process()
    surroundings = _surroundings()
    for number in range(1, MOST_JOBS + 1):
        request = _received(jobs)
        if request is None:
            break
        text, streams = request
        for target, stream in zip((STDOUT, STDERR), streams, strict=True):
            os.dup2(stream, target)
            os.close(stream)
        code = _run(*json.loads(text))
        if number == MOST_JOBS or _has_left_much_behind() or _surroundings() != surroundings:
            os._exit(code)
        for target in (STDOUT, STDERR):
            os.dup2(nothing, target)
        jobs.sendall(EXIT_CODE.pack(code))
    os._exit(0)


def _run(module: str, *arguments: str) -> int:
    """Run the module of a job; return its exit code if it ends by `leave`, or else end as its own process would."""
    sys.argv[1:] = arguments
    sys.modules.pop(module, None)  # Python warns of modules that were imported before
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except JobEnded as ended:
        return ended.exit_code
    sys.exit()


def _surroundings() -> tuple[dict[str, str], int, int]:
    """Return the environment and the working folder, which a job can change for the next one, as Spark does."""
    folder = Path().stat()  # exists even if the folder was removed
    return dict(os.environ), folder.st_dev, folder.st_ino


def _has_left_much_behind() -> bool:
    """Return whether a job has used much memory, or has started processes, as Spark does."""
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_MEMORY_KIB:
        return True
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
