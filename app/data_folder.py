"""The lock of the data folder, and the journal of a restore.

Every process that uses the data folder holds a shared lock on the file `in-use.lock`; a restore needs the lock alone. The
operating system releases a lock when its last holder has ended, so a killed process leaves nothing to clean up. Jobs
inherit the lock from their keepers: a job that is left behind keeps a restore waiting.

A restore writes `restore.json` before it changes anything and removes it when it is complete. While the file exists, the
data may be half restored, so nothing else opens the data folder.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.problem_types import DATABASE_UNAVAILABLE
from planner_core.errors import PlannerError

LOCK = "in-use.lock"
JOURNAL = "restore.json"
FOLDER_MODE, FILE_MODE = 0o700, 0o600
"""Permissions of the data folder and its files: hashes of passwords, plans and dumps concern no other user of the machine."""
PRIVATE_UMASK = 0o077
"""The umask of the service, which its jobs inherit."""
_HELD: list[int] = []
"""Open files of the locks that this process holds."""


class DataFolderBusy(PlannerError):
    """The data folder is being restored, a restore was interrupted, or another process uses the data."""

    problem = DATABASE_UNAVAILABLE


@contextmanager
def in_use(data_dir: Path, *, creates: bool = False) -> Iterator[None]:
    """Hold the shared lock during the block. Without a data folder, there is nothing to lock.

    Args:
        data_dir: The data folder.
        creates: Whether a missing data folder is created.

    Raises:
        DataFolderBusy: A restore is under way, or was interrupted.
    """
    fileno = _open(data_dir, creates=creates)
    if fileno is None:
        yield
        return
    try:
        try:
            fcntl.flock(fileno, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            message = (
                f"A restore of the data folder {str(data_dir)!r} is under way. Try again when it has ended."
            )
            raise DataFolderBusy(message) from None
        check_no_restore(data_dir)
        _HELD.append(fileno)
        try:
            yield
        finally:
            _HELD.remove(fileno)
    finally:
        os.close(fileno)


def check_no_restore(data_dir: Path) -> None:
    """Check that no restore was interrupted.

    Raises:
        DataFolderBusy: A restore was interrupted.
    """
    if (data_dir / JOURNAL).exists():
        message = (
            f"A restore of the data folder {str(data_dir)!r} was interrupted, so its data may be incomplete. Run `cfplan "
            "restore --continue` to complete the restore, or `cfplan restore --undo` to return to the state before it."
        )
        raise DataFolderBusy(message)


@contextmanager
def held_alone(data_dir: Path) -> Iterator[None]:
    """Hold the lock alone during the block; the data folder is created if it does not exist.

    Raises:
        DataFolderBusy: Another process uses the data folder.
    """
    data_dir.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    fileno = os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fileno, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = (
                f"The data folder {str(data_dir)!r} is in use by the service, a job or a command. Stop the service, wait "
                "until its jobs have ended, and try again. Nothing was changed."
            )
            raise DataFolderBusy(message) from None
        yield
    finally:
        os.close(fileno)


def is_open_to_others(data_dir: Path) -> bool:
    """Return whether every user of the machine may read the data folder, or list it."""
    try:
        return bool(data_dir.stat().st_mode & stat.S_IRWXO)
    except OSError:
        return False


def held_locks() -> tuple[int, ...]:
    """Return the open files of the locks that this process holds, for jobs to inherit."""
    return tuple(_HELD)


def _open(data_dir: Path, *, creates: bool) -> int | None:
    try:
        if creates:
            data_dir.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        return os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        # A folder that does not exist or cannot be written to cannot be restored either. Who needs it reports the reason.
        return None
