"""Free space on disk, and files and names that last."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Final

NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the operating system for a full disk, and for a used-up quota."""
LOWEST_FREE_BYTES: Final = 2**20
"""Free space below which SQLite cannot extend its files: a page, and 32 KiB of shared memory at a time."""


def synchronize(path: Path) -> None:
    """Synchronize a file or a folder to disk. The name of a new file is on disk only when its folder is."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def nearest_folder(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists, in which it will be created."""
    folder = folder.absolute()
    return next(each for each in (folder, *folder.parents) if each.exists())


def free_bytes(folder: Path) -> int:
    """Return the free space of the file system of a folder, which does not have to exist yet.

    Raises:
        OSError: The file system cannot be asked.
    """
    return shutil.disk_usage(nearest_folder(folder)).free


def has_no_space(folder: Path) -> bool:
    """Return whether the file system of a folder is full, for what the service writes."""
    try:
        return free_bytes(folder) < LOWEST_FREE_BYTES
    except OSError:
        return False
