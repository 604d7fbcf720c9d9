"""End a job's process immediately after all output is written.

Arrow and delta-rs keep threads of their own for as long as the process lives. If one of them touches a Python object,
even to release it, it takes the interpreter's lock. While the interpreter shuts down, Python ends such a thread by force
in the middle of C++ code that must not be interrupted, and the process aborts ("terminate called without an active
exception") or hangs. When the work is done, nothing in the interpreter needs an orderly shutdown: files are written and
synchronised when they are committed, Spark's session is stopped and temporary folders are removed where they were opened.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import NoReturn


class JobEnded(SystemExit):
    """A job has ended by itself, in a process that may carry out another one."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class _Process:
    """What `leave` does in this process."""

    has_further_jobs = False


def keep_process() -> None:
    """Let `leave` raise `JobEnded` from now on, because this process carries out several jobs."""
    _Process.has_further_jobs = True


def leave(code: int) -> NoReturn:
    """End this process with an exit code, without shutting the interpreter down.

    The output is flushed first. The process ends even if the reader has closed its end of the pipe.

    Raises:
        JobEnded: `keep_process` was called, and the output is complete.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the reader has closed its end, or the stream is closed
            os._exit(code or 1)
    if _Process.has_further_jobs:
        raise JobEnded(code)
    os._exit(code)
