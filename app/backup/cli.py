"""The commands `cfplan backup`, `cfplan restore` and `cfplan migrate`."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO

from app.command_line import EXIT_OK, STANDARD_INPUT, Meter, UsageError, write

if TYPE_CHECKING:
    from app.backup.making import MadeBackup
    from app.database.engine import Database
    from app.settings import Settings

STANDARD_OUTPUT = "-"
PART = ".part"
_MB = 1_000_000


def add_backup(backup: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan backup`."""
    backup.set_defaults(run=_backup)
    backup.add_argument(
        "file", metavar="FILE", help="the archive to write, such as cfplan.tar.gz; - is standard output"
    )
    backup.add_argument("--replace", action="store_true", help="replace the file if it exists")
    backup.add_argument(
        "--without-uploads",
        action="store_true",
        help="leave out uploaded files; what was read from them is included",
    )


def add_restore(restore: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan restore`."""
    restore.set_defaults(run=_restore)
    restore.add_argument("file", metavar="FILE", nargs="?", help="the archive; - is standard input")
    restore.add_argument(
        "--replace",
        action="store_true",
        help="replace existing data, which is kept until the restore is complete",
    )
    restore.add_argument("--without-history", action="store_true", help="do not restore the usage history")
    restore.add_argument(
        "--revoke-tokens",
        action="store_true",
        help="revoke all API tokens of the archive, in case some were revoked after the backup",
    )
    restore.add_argument(
        "--continue", dest="continues", action="store_true", help="complete a restore that was interrupted"
    )
    restore.add_argument(
        "--undo", action="store_true", help="return to the state before a restore that was interrupted"
    )


def add_migrate(migrate: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan migrate`."""
    migrate.set_defaults(run=_migrate)
    migrate.add_argument("--backup", metavar="FILE", help="first make a backup, as `cfplan backup FILE` does")


def _backup(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database

    # Without migrating: the backup must not change what it saves.
    with _stopped_by_signals(), open_database(migrates=False) as (database, settings):
        _write_backup(
            database,
            settings,
            arguments.file,
            replaces=arguments.replace,
            has_uploads=not arguments.without_uploads,
        )
    return EXIT_OK


def _restore(arguments: argparse.Namespace) -> int:
    from app.backup import restoring
    from app.settings import read_settings

    chosen = [arguments.file is not None, arguments.continues, arguments.undo]
    if sum(chosen) != 1:
        message = "cfplan restore: name the archive, or use either --continue or --undo."
        raise UsageError(message)
    if arguments.revoke_tokens and arguments.file is None:
        # An interrupted restore continues with the options that it was started with.
        message = (
            "cfplan restore: --revoke-tokens belongs to the archive; --continue and --undo do not take it."
        )
        raise UsageError(message)
    settings = read_settings()
    meter = Meter()

    def on_progress(step: str, packed_bytes: int) -> None:
        meter.show(f"{step} {packed_bytes / _MB:,.0f} MB" if packed_bytes else step)

    with _stopped_by_signals(), _errors_of_files():
        try:
            if arguments.undo:
                found = restoring.undo_restore(settings)
                write(f"The restore of {found.archive} was undone: the data is as it was before.\n")
                return EXIT_OK
            if arguments.continues:
                found = restoring.continue_restore(settings, on_progress=on_progress)
                meter.clear()
                write(f"The restore of {found.archive} is complete.\n")
                return EXIT_OK
            with _opened(arguments.file) as source:
                restored = restoring.restore(
                    settings, source, name=arguments.file, replaces=arguments.replace,
                    has_history=not arguments.without_history, on_progress=on_progress,
                    revokes_tokens=arguments.revoke_tokens,
                )  # fmt: skip
        finally:
            meter.clear()
    for note in restored.notes:
        meter.say(note)
    write(
        f"The backup of {restored.made_at} was restored: {restored.files} files, revision {restored.revision}.\n"
    )
    return EXIT_OK


def _migrate(arguments: argparse.Namespace) -> int:
    from app.database.engine import SCHEMA_REVISION, open_database

    with _stopped_by_signals(), open_database() as (database, settings):
        before = None if database.is_missing else database.revision()
        if arguments.backup is not None:
            if before is None:
                message = "cfplan migrate: the database has no tables yet, so there is nothing to back up."
                raise UsageError(message)
            _write_backup(database, settings, arguments.backup, replaces=False, has_uploads=True)
        elif before not in (None, SCHEMA_REVISION) and not database.is_sqlite:
            sys.stderr.write(
                "The tables are migrated without a backup. Next time, use `cfplan migrate --backup FILE` to make one first.\n"
            )
        database.upgrade()
        after = database.revision()
    write(
        f"The database is already at revision {after}.\n"
        if before == after
        else f"The database is now at revision {after}.\n"
    )
    return EXIT_OK


# ---- writing ---------------------------------------------------------------------------------------------------------


def _write_backup(
    database: Database, settings: Settings, name: str, *, replaces: bool, has_uploads: bool
) -> None:
    from app.backup.making import expected_bytes, make_backup

    meter = Meter()

    def on_progress(step: str, done: int, total: int) -> None:
        meter.show(f"{step} {done / _MB:,.0f} of {max(done, total) / _MB:,.0f} MB")

    def made_in(out: BinaryIO) -> MadeBackup:
        try:
            return make_backup(database, settings, out, has_uploads=has_uploads, on_progress=on_progress)
        finally:
            meter.clear()

    with _errors_of_files():
        if name == STANDARD_OUTPUT:
            if sys.stdout.isatty():
                message = "cfplan backup: standard output is a terminal; redirect it to a file or to another command."
                raise UsageError(message)
            made = made_in(sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            target = Path(name)
            _check_target(
                target, expected_bytes(database, settings, has_uploads=has_uploads), replaces=replaces
            )
            with _new_file(target) as out:
                made = made_in(out)
    for warning in made.warnings:
        meter.say(warning)
    history = (
        "no usage history"
        if made.history_version is None
        else f"usage history version {made.history_version}"
    )
    line = f"{name}: {made.size_bytes} bytes, {made.files} files, revision {made.revision}, {history}, SHA-256 {made.sha256}"
    if name == STANDARD_OUTPUT:
        meter.say(line)
    else:
        write(f"{line}\n")


def _check_target(target: Path, needed_bytes: int, *, replaces: bool) -> None:
    from app.backup.errors import BackupFailed
    from app.disk import free_bytes

    if target.is_dir() or not target.name:
        message = (
            f"{str(target)!r} is a folder. Name the file to write, such as {str(target / 'cfplan.tar.gz')!r}."
        )
        raise BackupFailed(message)
    if os.path.lexists(target) and not replaces:
        message = f"The file {str(target)!r} exists. Name another file, or add --replace."
        raise BackupFailed(message)
    if not target.parent.is_dir():
        message = f"There is no folder {str(target.parent)!r}."
        raise BackupFailed(message)
    free = free_bytes(target.parent)
    if needed_bytes > free:
        message = (
            f"The disk of {str(target)!r} may not have enough space: the data has {needed_bytes} bytes before compression, and "
            f"{free} bytes are free. Free some space, write to another disk, leave out uploaded files (--without-uploads), or "
            "write to standard output (-) and store the archive elsewhere."
        )
        raise BackupFailed(message)


@contextlib.contextmanager
def _new_file(target: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name when the block has ended without an error; only its owner may read it."""
    from app.backup.errors import BackupFailed
    from app.disk import synchronize

    part = target.with_name(f"{target.name}{PART}")
    fileno = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fileno, "wb") as out:
        try:
            fcntl.flock(fileno, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"Another backup to {str(target)!r} is under way."
            raise BackupFailed(message) from None
        try:
            os.fchmod(fileno, 0o600)
            os.ftruncate(fileno, 0)  # a backup that was killed has left a part of an archive
            yield out
            out.flush()
            os.fsync(fileno)
            part.replace(target)
            synchronize(target.parent)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    from app.backup.errors import ArchiveInvalid

    if name == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    path = Path(name)
    if not path.is_file():
        message = f"There is no file {name!r}."
        raise ArchiveInvalid(message)
    with path.open("rb") as file:
        yield file


# ---- errors ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _errors_of_files() -> Iterator[None]:
    from planner_core.errors import PlannerError

    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "" if error.filename is None else f" {str(error.filename)!r}"
        message = f"A file{where} cannot be read or written: {error.strerror or error}."
        raise PlannerError(message) from error


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that an interrupted command removes its temporary files."""

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
