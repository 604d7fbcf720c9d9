"""How a job's process ends: when all is written, at once.

Arrow and delta-rs keep threads of their own for as long as the process lives. One of them that has to do with an object
of Python's, if only to let go of it, takes the interpreter's lock; while the interpreter is being taken down, Python
answers by ending the thread by force, in the middle of C++ code that may not be left so, and the process is aborted
("terminate called without an active exception") or waits for ever. When the work is done there is nothing in the
interpreter that would have to be taken down: files are written and synchronised when they are committed, Spark's
session is stopped and temporary folders are removed where they were opened.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End this process with an exit code, without taking the interpreter down.

    What has been said is given to the system first; a reader that is gone keeps nobody from leaving.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads it any more, or it is closed
            code = code or 1
    os._exit(code)
