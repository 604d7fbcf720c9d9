"""Start jobs as copies of one process that has imported their packages: `python -m spark_jobs.starter MODULE…`.

Starting Python and importing Arrow and Delta takes longer than reading a small file. Each job is a fork of this process
that runs its module as `python -m` would, so a job that crashes, or that is killed because the machine runs out of memory,
ends alone, and nothing of a job remains for the next one.

Standard input is a socket; `planner_core.contracts.starter` describes the messages. Jobs are carried out one at a time.
This process ends when the application closes the socket or dies, and ends the current job with it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import warnings
from typing import TYPE_CHECKING

from planner_core.contracts.starter import EXIT_CODE, LENGTH, STREAMS
from spark_jobs.leaving import leave
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


def main(modules: Sequence[str]) -> int:
    """Carry out requests until the application closes the socket."""
    requests = socket.socket(fileno=os.dup(STDIN))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, STDIN)
    hide_pandas_from_arrow()
    for name in (*IMPORTED_ON_FIRST_USE, *modules):
        importlib.import_module(name)
    for name in modules:
        # A job runs its module again, and Python warns of modules that were imported before.
        del sys.modules[name]
    # The collector would write to all of these objects, so that each job had to copy their memory.
    gc.freeze()
    while (code := _carry_out(requests, nothing)) is not None:
        requests.sendall(EXIT_CODE.pack(code))
    return 0


def _carry_out(requests: socket.socket, nothing: int) -> int | None:
    """Carry out the next request and return the exit code of its job, or None if the application has ended."""
    head, streams, _, _ = socket.recv_fds(requests, LENGTH.size, STREAMS, socket.MSG_WAITALL)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    text = requests.recv(length, socket.MSG_WAITALL)
    if len(text) < length:
        return None
    for number, stream in zip((STDOUT, STDERR), streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    # The job alone holds the end for writing, so the other end can be read when the job has ended.
    is_over, is_running = os.pipe()
    job = _forked()
    if job == 0:
        requests.close()
        module, *sys.argv[1:] = json.loads(text)
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        sys.exit()
    os.close(is_running)
    # The application reads the output of the job until no process has it open.
    for number in (STDOUT, STDERR):
        os.dup2(nothing, number)
    return _exit_code(job, is_over, requests)


def _forked() -> int:
    with warnings.catch_warnings():
        # Newer versions of Python warn because of the threads of the memory allocators, which are made for forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _exit_code(job: int, is_over: int, requests: socket.socket) -> int | None:
    """Wait for the end of a job; end it if the application ends first, which sends nothing before the answer."""
    ready, _, _ = select.select([is_over, requests.fileno()], [], [])
    os.close(is_over)
    has_lost_application = is_over not in ready
    if has_lost_application:
        os.kill(job, signal.SIGKILL)
    _, status = os.waitpid(job, 0)
    return None if has_lost_application else os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
