"""A lock of this machine for what works on the nights of one data folder.

Which run is worked on is decided in the database. This lock is about the process that a keeper leaves behind when
it is killed: the child holds the same open file, and the system lets go of it when the last holder has ended, however
it ended. So nobody begins beside an orphan, and nothing has to be tidied up after a crash.
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
"""An orphan learns by itself that nobody listens any more; after this it is ended."""
LONGEST_WAIT_S = 120.0
PROGRAM = b"spark_jobs."


class LockHeld(Exception):
    """Another process holds the lock and does not end."""


class Lock:
    """The lock while it is held: `fileno` is to be kept open by the child."""

    def __init__(self, fileno: int) -> None:
        """Keep the open file."""
        self.fileno = fileno

    def names_child(self, pid: int) -> None:
        """Say which process works, so that a successor can end it should it be left behind."""
        os.ftruncate(self.fileno, 0)
        os.pwrite(self.fileno, str(pid).encode(), 0)


@contextlib.contextmanager
def held(folder: Path, *, on_wait: Callable[[], None] = lambda: None) -> Iterator[Lock]:
    """Hold the lock; `on_wait` is called every now and then while another has it.

    Raises:
        LockHeld: It was not to be had.
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
    is_told = False
    while True:
        try:
            fcntl.flock(fileno, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited = time.monotonic() - begun
            if waited > LONGEST_WAIT_S:
                raise LockHeld from None
            if waited > GRACE_S and not is_told:
                is_told = True
                _end_orphan(os.pread(fileno, 20, 0))
            on_wait()
            time.sleep(LOOKS_EVERY_S)
        else:
            return


def _end_orphan(named: bytes) -> None:
    """End the process group that the holder named, if it is one of ours still."""
    if not named.strip().isdigit():
        return
    pid = int(named)
    with contextlib.suppress(OSError):
        if PROGRAM in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.killpg(pid, signal.SIGKILL)
