"""Damaged data in the database: recognized when it is read, and remembered, because it does not go away by itself."""

from __future__ import annotations

import logging
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError

DAMAGED: Final = ("XX001", "XX002")
"""SQLSTATEs of PostgreSQL: data_corrupted and index_corrupted."""
NOT_UTF8: Final = "Could not decode to UTF-8"
"""The beginning of the message of Python's sqlite3 for a text that is not UTF-8, which cfplan never stores."""
MARK: Final = "database-damaged"
"""The file that one process of a service writes when it finds damage, so that the others report it too."""

logger = logging.getLogger("cfplan.database")


def is_damaged(error: DBAPIError) -> bool:
    """Return whether the database reports that its data is damaged: a file of SQLite, or pages of PostgreSQL."""
    orig: object = error.orig
    if hasattr(orig, "sqlstate"):
        # The driver of PostgreSQL raises DatabaseError itself for each SQLSTATE that it does not know, such as one of a trigger.
        return orig.sqlstate in DAMAGED
    return type(error) is DatabaseError or (
        isinstance(error, OperationalError) and str(orig).startswith(NOT_UTF8)
    )


@contextmanager
def reading_compressed() -> Iterator[None]:
    """Report a compressed text that cannot be decompressed as damaged data.

    SQLite has no checksums: it returns the content of a damaged page of a long value as it is.

    Raises:
        DatabaseError: The text is damaged; `is_damaged` is true for it.
    """
    try:
        yield
    # Neither UTF-8, nor an index in JSON, nor long enough for one: a page of zeros has the checksum of an empty index.
    except (zlib.error, ValueError, struct.error) as error:
        message = f"a compressed text cannot be read: {error}"
        raise DatabaseError(None, None, Exception(message)) from error


class Damage:
    """Whether data of a database was found to be damaged since the service started.

    A complete check (`PRAGMA quick_check`) reads the whole file, which is too long for a health check. Damage that a
    statement has come across costs nothing to remember.
    """

    def __init__(self, shared_folder: Callable[[], Path | None] = lambda: None) -> None:
        """Begin without damage.

        Args:
            shared_folder: Returns the folder that all processes of the service share; None if the service is one process.
        """
        self._shared_folder = shared_folder
        self._is_found = False

    @property
    def is_found(self) -> bool:
        """Whether this process, or another one of the service, has found damage."""
        folder = self._shared_folder()
        return self._is_found or (folder is not None and (folder / MARK).exists())

    def remember(self, error: DBAPIError) -> None:
        """Remember an error that damaged data has caused, and log the first one of this process."""
        if self._is_found:
            return
        self._is_found = True
        logger.error(
            "The database reports damaged data: %s. Restore a backup. The health check reports this until the service is "
            "restarted.",
            error.orig,
        )
        folder = self._shared_folder()
        if folder is not None:
            try:
                (folder / MARK).touch()
            except OSError as failed:
                logger.warning("Other processes of the service do not report the damage: %s", failed)
