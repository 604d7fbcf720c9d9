"""One of several processes that share a data folder does what only one of them should do.

It holds a lock on a file. The operating system releases the lock when the process ends, for whatever reason; another process
notices this within a second and takes over. Without the lock nothing would be lost, because the database decides who works on
a job, but every process would start processes for the same jobs.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

LOOKS_EVERY_S = 0.5
FILE = "leader.lock"

logger = logging.getLogger("cfplan.jobs")


class Duty(Protocol):
    """Something that runs in one process at a time."""

    def start(self) -> None:
        """Begin, without waiting."""

    def stop(self) -> None:
        """End, and wait for the end."""


class Leader:
    """Runs duties while this process holds the lock."""

    def __init__(self, folder: Path, duties: Sequence[Duty]) -> None:
        """Store the folder of the lock, and the duties in the order in which they start."""
        self._path = folder / FILE
        self._duties = duties
        self._fileno: int | None = None
        self._is_leading = False
        self._is_over = threading.Event()
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def is_leading(self) -> bool:
        """Whether the duties run in this process."""
        return self._is_leading

    def start(self) -> None:
        """Start the duties now if no other process has the lock, and otherwise as soon as it is free."""
        self._is_over.clear()
        if not self._lead():
            self._thread = threading.Thread(target=self._wait, name="cfplan-leader", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the duties, and then let another process take over."""
        self._is_over.set()
        with self._changing:
            if self._is_leading:
                self._is_leading = False
                for duty in reversed(self._duties):
                    duty.stop()
            if self._fileno is not None:
                os.close(self._fileno)
                self._fileno = None

    def _wait(self) -> None:
        while not self._is_over.wait(LOOKS_EVERY_S):
            if self._lead():
                return

    def _lead(self) -> bool:
        with self._changing:
            if self._is_over.is_set():
                return True
            try:
                if not self._lock():
                    return False
            except OSError as error:
                # A file system without locks. Several watchers waste time, but none would be worse.
                logger.warning("%s cannot be locked, so every process looks for jobs: %s", self._path, error)
            for duty in self._duties:
                duty.start()
            self._is_leading = True
            return True

    def _lock(self) -> bool:
        if self._fileno is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._fileno = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fileno, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
