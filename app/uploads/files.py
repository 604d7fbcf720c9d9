"""Uploads on disk: received under a temporary name, and renamed to their final name when they are complete.

    uploads/incoming/RANDOM.part    being received
    uploads/ab/abcdef...            complete: named by the SHA-256 of its bytes
    uploads/ab/abcdef....no-upload  a mark: no upload has this file, since the time of the mark

A file with its final name is always complete: it was written, synchronized, and then renamed. Files that a killed
process left behind are removed later by the cleanup.

A file gets its final name, and loses it, only inside a transaction that holds `repository.hold_files`: otherwise one
request could remove a file that another one, with the same bytes, has just put there.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from app.disk import NO_SPACE, free_bytes, synchronize
from app.uploads.errors import NoRoom, UploadTooLarge
from planner_core.inputs import PREVIEW_BYTES

FOLDER, INCOMING = "uploads", "incoming"
NO_UPLOAD = ".no-upload"
ABANDONED_AFTER_S = 3_600
"""A partial file that has not been written to for this long is abandoned."""
_FULL = (*NO_SPACE, errno.EFBIG)
_WHOLE = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class StagedUpload:
    """A complete file, synchronized to disk, without its final name yet."""

    sha256: str
    size_bytes: int
    first: bytes
    """The first bytes, from which the kind of the file is detected."""
    waiting: Path
    target: Path

    def place(self) -> None:
        """Give the file its final name. An existing file with that name has the same bytes and is replaced.

        Raises:
            NoRoom: The disk is full.
        """
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self.waiting.replace(self.target)
            synchronize(self.target.parent)
            synchronize(self.target.parent.parent)
        except OSError as error:
            raise _refusal(error) from None

    def discard(self) -> None:
        """Remove the file if it did not get its final name."""
        self.waiting.unlink(missing_ok=True)


class Incoming:
    """A file that is being received. Only its first bytes are held in memory, to detect its kind.

    Leaving the context removes an unfinished file.
    """

    def __init__(self, data_dir: Path, *, largest_bytes: int) -> None:
        """Create the file."""
        self._data_dir = data_dir
        self._largest_bytes = largest_bytes
        self._hash = hashlib.sha256()
        self._first = bytearray()
        self.size_bytes = 0
        folder = data_dir / FOLDER / INCOMING
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{secrets.token_hex(16)}.part"
        self._file = self._path.open("xb", buffering=0)
        self._is_finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def discard(self) -> None:
        """Close the file, and remove it if it is unfinished."""
        self._file.close()
        if not self._is_finished:
            self._path.unlink(missing_ok=True)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append bytes.

        Raises:
            UploadTooLarge: The limit is exceeded.
            NoRoom: The disk is full.
        """
        if self.size_bytes + len(data) > self._largest_bytes:
            raise UploadTooLarge(self._largest_bytes)
        view = memoryview(data)
        missing = PREVIEW_BYTES - len(self._first)
        if missing > 0:
            self._first += view[:missing]
        self._hash.update(view)
        self.size_bytes += len(view)
        try:
            while view:  # without a buffer, a write may store only a part
                view = view[self._file.write(view) or 0 :]
        except OSError as error:
            raise _refusal(error) from None

    def finish(self) -> StagedUpload:
        """Synchronize the file to disk. The caller then places or discards it.

        Raises:
            NoRoom: The disk is full.
        """
        try:
            # A row must never name bytes that a power failure could still lose.
            os.fsync(self._file.fileno())
            self._file.close()
        except OSError as error:
            raise _refusal(error) from None
        self._is_finished = True
        sha256 = self._hash.hexdigest()
        return StagedUpload(
            sha256, self.size_bytes, bytes(self._first), self._path, path_of(self._data_dir, sha256)
        )


def check_room(data_dir: Path, announced_bytes: int) -> None:
    """Check for free space before gigabytes are transferred.

    Raises:
        NoRoom: There is not enough free space.
    """
    if announced_bytes > free_bytes(data_dir):
        raise NoRoom


def path_of(data_dir: Path, sha256: str) -> Path:
    """Return the path of the file with this digest."""
    return data_dir / FOLDER / sha256[:2] / sha256


def remove(data_dir: Path, sha256: str) -> None:
    """Remove a file if it exists, and the mark of a file without an upload."""
    path_of(data_dir, sha256).unlink(missing_ok=True)
    _mark_of(data_dir, sha256).unlink(missing_ok=True)


def without_upload_since(data_dir: Path, sha256: str) -> float:
    """Return when a file was first found without an upload, in seconds since 1970; mark it now if it is new.

    The mark is an empty file next to it. The times of the file itself say nothing: a copy may have kept them.
    """
    mark = _mark_of(data_dir, sha256)
    try:
        return mark.stat().st_mtime
    except FileNotFoundError:
        mark.touch()
        return mark.stat().st_mtime


def remove_mark(data_dir: Path, sha256: str) -> None:
    """Remove the mark of a file that has an upload again."""
    _mark_of(data_dir, sha256).unlink(missing_ok=True)


def _mark_of(data_dir: Path, sha256: str) -> Path:
    return path_of(data_dir, sha256).with_suffix(NO_UPLOAD)


def remove_abandoned(data_dir: Path, *, older_than_s: float = ABANDONED_AFTER_S) -> int:
    """Remove partial files of killed processes; return their number."""
    before, removed = time.time() - older_than_s, 0
    for path in (data_dir / FOLDER / INCOMING).glob("*.part"):
        try:
            if path.stat().st_mtime < before:
                path.unlink()
                removed += 1
        except FileNotFoundError:  # its own process has removed it first
            continue
    return removed


def count_names(data_dir: Path) -> int:
    """Return the number of complete files by their names alone."""
    folders = (data_dir / FOLDER).glob("[0-9a-f][0-9a-f]")
    return sum(1 for folder in folders for path in folder.iterdir() if _WHOLE.fullmatch(path.name))


def whole_files(data_dir: Path, *, older_than_s: float = ABANDONED_AFTER_S) -> Iterator[str]:
    """Return the digests of complete files of a minimum age; a newer one may not have its row yet."""
    # A file gets its name before its row is committed, so the newest ones may be about to get a row.
    before = time.time() - older_than_s
    for path in (data_dir / FOLDER).glob("[0-9a-f][0-9a-f]/*"):
        try:
            if _WHOLE.fullmatch(path.name) and path.stat().st_mtime < before:
                yield path.name
        except FileNotFoundError:
            continue


def _refusal(error: OSError) -> Exception:
    return NoRoom() if error.errno in _FULL else error
