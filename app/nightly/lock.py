"""A lock of this machine for the nightly runs of one data folder.

The database decides which run is worked on. This lock protects against the process that a killed keeper leaves behind:
the child inherits the open file, and the operating system releases the lock when its last holder has ended, for
whatever reason. So no run starts while an orphan still works, and a crash leaves nothing to clean up.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

FILE = "night.lock"
LOOKS_EVERY_S = 0.2
GRACE_S = 5.0
"""Time for an orphaned process to notice that its keeper has ended; after it, the process is killed."""
LONGEST_WAIT_S = 120.0
PROGRAM = b"spark_jobs."


class LockHeld(Exception):
    """Another process holds the lock and does not release it in time."""


class Lock:
    """The lock while it is held; the child must keep `fileno` open."""

    def __init__(self, fileno: int) -> None:
        """Store the descriptor of the open file."""
        self.fileno = fileno

    def names_child(self, pid: int) -> None:
        """Store the process ID, so that a successor can kill the process if it is left behind."""
        os.ftruncate(self.fileno, 0)
        os.pwrite(self.fileno, str(pid).encode(), 0)


@contextlib.contextmanager
def held(folder: Path, *, on_wait: Callable[[], None] = lambda: None) -> Iterator[Lock]:
    """Hold the lock; `on_wait` is called periodically while another process has it.

    Raises:
        LockHeld: The other process does not release it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fileno = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait(fileno, on_wait)
        yield Lock(fileno)
    finally:
        os.close(fileno)


def _wait(fileno: int, on_wait: Callable[[], None]) -> None:
    begun = time.monotonic()
    is_killed = False
    while True:
        try:
            fcntl.flock(fileno, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited = time.monotonic() - begun
            if waited > LONGEST_WAIT_S:
                raise LockHeld from None
            if waited > GRACE_S and not is_killed:
                is_killed = True
                _end_orphan(os.pread(fileno, 20, 0))
            on_wait()
            time.sleep(LOOKS_EVERY_S)
        else:
            return


def _end_orphan(named: bytes) -> None:
    """Kill the process group of the holder, if its ID still belongs to a process of cfplan."""
    if not named.strip().isdigit():
        return
    pid = int(named)
    with contextlib.suppress(OSError):
        # The process ID may belong to another process by now.
        if PROGRAM in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.killpg(pid, signal.SIGKILL)
