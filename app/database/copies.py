"""Copies of an SQLite file, made before a migration changes its tables.

    before-migration/cfplan-REVISION-20261121T083000Z.db

A copy is complete as soon as it has its name.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from app.clock import utc_now
from app.disk import free_bytes, synchronize
from app.problem_types import DATABASE_UNAVAILABLE
from planner_core.errors import PlannerError

FOLDER = "before-migration"
PAGES_AT_ONCE = 4_096


class CopyFailed(PlannerError):
    """The copy before a migration cannot be made, so the tables are not migrated."""

    problem = DATABASE_UNAVAILABLE


def copy_before_migration(database: Path, revision: str, *, kept: int) -> Path:
    """Copy the file into the folder of copies next to it, remove the oldest copies, and return the new one.

    Args:
        database: The SQLite file; no other process may write to it during the call.
        revision: The revision of its tables, for the name of the copy.
        kept: Number of copies that remain.

    Raises:
        CopyFailed: There is not enough space, or the copy cannot be written.
    """
    folder = database.parent / FOLDER
    needed = sum(path.stat().st_size for path in (database, _wal(database)) if path.exists())
    free = free_bytes(database.parent)
    if needed > free:
        message = (
            f"Before its tables are migrated, the database {str(database)!r} is copied, but the copy needs {needed} bytes "
            f"and the disk has {free} bytes free. Free some space, or make a backup elsewhere with `cfplan migrate --backup "
            "FILE` and CFPLAN_MIGRATION_COPIES=0. Nothing was changed."
        )
        raise CopyFailed(message)
    target = folder / f"{database.stem}-{revision}-{utc_now():%Y%m%dT%H%M%SZ}{database.suffix}"
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        folder.mkdir(exist_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(part)) as copy:
            source.backup(copy, pages=PAGES_AT_ONCE)
        for path in (part, folder):
            synchronize(path)
        part.replace(target)
        synchronize(folder)
    except (OSError, sqlite3.Error) as error:
        message = f"The copy of the database before its migration cannot be written to {str(folder)!r}: {error}. Nothing was changed."
        raise CopyFailed(message) from None
    finally:
        part.unlink(missing_ok=True)
    for path in _oldest_first(folder, database)[:-kept]:
        path.unlink(missing_ok=True)
    return target


def _oldest_first(folder: Path, database: Path) -> list[Path]:
    found = folder.glob(f"{database.stem}-*-*{database.suffix}")
    return sorted(found, key=lambda path: path.stem.rpartition("-")[2])


def _wal(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")
