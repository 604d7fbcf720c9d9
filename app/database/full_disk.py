"""Recognize errors that mean that the disk of the database is full."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from app.disk import NO_SPACE, has_no_space

DISK_FULL = "53100"
"""PostgreSQL's code for a full disk of the server."""


def is_out_of_space(error: BaseException | None, folder: Path | None = None) -> bool:
    """Return whether an error of the operating system or of a database driver means that a disk or a quota is full.

    Args:
        error: The error.
        folder: The folder of the file of SQLite. Some of SQLite's errors do not contain the reason.
    """
    if isinstance(error, OSError):
        return error.errno in NO_SPACE
    if getattr(error, "sqlstate", None) == DISK_FULL:
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_FULL or (
        code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
        and folder is not None
        and has_no_space(folder)
    )
