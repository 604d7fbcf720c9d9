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


def leave(code: int) -> NoReturn:
    """End this process with an exit code, without shutting the interpreter down.

    The output is flushed first. The process ends even if the reader has closed its end of the pipe.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the reader has closed its end, or the stream is closed
            code = code or 1
    os._exit(code)
