"""Damaged data in the database: recognized when it is read, and remembered, because it does not go away by itself."""

from __future__ import annotations

import logging
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError

from planner_core.errors import PlannerError

DAMAGED: Final = ("XX001", "XX002")
"""SQLSTATEs of PostgreSQL: data_corrupted and index_corrupted."""
NOT_UTF8: Final = "Could not decode to UTF-8"
"""The beginning of the message of Python's sqlite3 for a text that is not UTF-8, which cfplan never stores."""
MARK: Final = "database-damaged"
"""The file that one process of a service writes when it finds damage, so that the others report it too."""

_UNREADABLE: Final = (ValueError, LookupError, TypeError, AttributeError, RecursionError, PlannerError)
"""Errors of readers of JSON: it is not JSON, has other members or values, is nested too deeply, or is no valid document."""

logger = logging.getLogger("cfplan.database")

_CHECKS: ContextVar[list[Callable[[], None]] | None] = ContextVar("checks", default=None)
"""Checks of the stored texts that a request has read. Threads of the request have copies of the context, and the same list."""


class StoredTextDamaged(DatabaseError):
    """A stored text that was valid when it was stored cannot be read; `is_damaged` is true for it."""

    def __init__(self, what: str, reason: str) -> None:
        """Store a name of the text for the user, such as `Version 3 of the plan SQ03`."""
        self.what = what
        super().__init__(None, None, Exception(f"{what} cannot be read: {reason}"))


def is_damaged(error: DBAPIError) -> bool:
    """Return whether the database reports that its data is damaged: a file of SQLite, or pages of PostgreSQL."""
    orig: object = error.orig
    if hasattr(orig, "sqlstate"):
        # The driver of PostgreSQL raises DatabaseError itself for each SQLSTATE that it does not know, such as one of a trigger.
        return orig.sqlstate in DAMAGED
    return (
        isinstance(error, StoredTextDamaged)
        or type(error) is DatabaseError
        or (isinstance(error, OperationalError) and str(orig).startswith(NOT_UTF8))
    )


def damage_in_words(error: DBAPIError) -> str:
    """Return a sentence without its full stop about an error for which `is_damaged` is true."""
    if isinstance(error, StoredTextDamaged):
        return f"{error.what} cannot be read, because its data in the database is damaged"
    return "The database reports that its data is damaged"


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


@contextmanager
def reading_stored(what: str) -> Iterator[None]:
    """Report a stored JSON text that cannot be read as damaged data.

    Neither database has checksums of single texts, so a damaged one can still be text. The block must only parse it: any
    other error in it would be reported as damage, too.

    Args:
        what: The name of the text for the user, at the beginning of a sentence.

    Raises:
        StoredTextDamaged: The text cannot be read.
    """
    try:
        yield
    except _UNREADABLE as error:
        raise StoredTextDamaged(what, f"{type(error).__name__}: {error}") from error


def begin_request() -> None:
    """Begin a request, which has read no stored texts yet."""
    _CHECKS.set([])


def check_after_failure(check: Callable[[], None]) -> None:
    """Check a stored text thoroughly if the request that has read it fails; without a request, never.

    Checking all members at each read would take longer than most pages.

    Args:
        check: Raises StoredTextDamaged if the text is damaged.
    """
    checks = _CHECKS.get()
    if checks is not None:
        checks.append(check)


def end_checks() -> None:
    """Forget the texts that the request has read, because its answer is on its way."""
    checks = _CHECKS.get()
    if checks is not None:
        checks.clear()


def damage_behind_failure() -> StoredTextDamaged | None:
    """Return the first damaged text that the failed request has read; None if its texts are intact."""
    for check in _CHECKS.get() or ():
        try:
            check()
        except StoredTextDamaged as damaged:
            return damaged
    return None


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

    def remember(self, error: object) -> None:
        """Remember an error that damaged data has caused, or a report of one, and log the first one of this process."""
        if self._is_found:
            return
        self._is_found = True
        logger.error(
            "The database reports damaged data: %s. Restore a backup. The health check reports this until the service is "
            "restarted.",
            getattr(error, "orig", error),
        )
        folder = self._shared_folder()
        if folder is not None:
            try:
                (folder / MARK).touch()
            except OSError as failed:
                logger.warning("Other processes of the service do not report the damage: %s", failed)
