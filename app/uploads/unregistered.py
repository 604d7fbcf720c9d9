"""Uploaded files and uploads that do not match: files without an upload, and uploads without their file.

Both appear when only the database or only the data folder is restored from a backup, and the first also when a process is
killed between placing a file and storing its row.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.uploads import files, repository
from planner_core.findings import Finding
from planner_core.inputs import PREVIEW_BYTES, KindUnknown, detect
from planner_core.wire import Answer

DIGEST_PATTERN = "[0-9a-f]{64}"
AGE_S = 60.0
"""A file gets its name shortly before its row is committed, so younger files are not listed."""
LEAST_KEPT = timedelta(days=7)
"""The shortest time for which a file without an upload is kept, so that its planner can decide."""
MOST_LISTED = 1_000
_DIGEST = re.compile(DIGEST_PATTERN, re.ASCII)


@dataclass(frozen=True, slots=True)
class UnregisteredFile(Answer):
    """A file in the data folder that no upload has."""

    sha256: str
    size_bytes: int
    modified_at: datetime
    detected_kind: Annotated[
        str, Field(description="The kind detected from its first bytes; empty if unknown.")
    ]
    was_read: Annotated[
        bool,
        Field(
            description="Whether there are uploads of this file, whose file was removed after it had been read."
        ),
    ]


@dataclass(frozen=True, slots=True)
class RemovedFile(Answer):
    """A file without an upload that was removed."""

    sha256: str
    size_bytes: int
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class UploadWithoutFile(Answer):
    """An upload whose file should be in the data folder and is not."""

    id: int
    filename: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FileCheck(Answer):
    """The comparison of the uploads with the files in the data folder."""

    unregistered: Annotated[
        Sequence[UnregisteredFile],
        Field(description=f"Files without an upload, at most {MOST_LISTED:,}."),
    ]
    missing: Annotated[
        Sequence[UploadWithoutFile],
        Field(description=f"Uploads without their file, oldest first, at most {MOST_LISTED:,}."),
    ]
    unregistered_total: int
    missing_total: int
    findings: tuple[Finding, ...] = ()


def is_digest(text: str) -> bool:
    """Return whether a text is a digest, as in the names of files."""
    return _DIGEST.fullmatch(text) is not None


def may_differ(session: Session, *, data_dir: Path) -> bool:
    """Return whether the number of files differs from the number that uploads need; much cheaper than the comparison."""
    return files.count_names(data_dir) != repository.count_wanted(session)


def check_files(session: Session, *, data_dir: Path) -> FileCheck:
    """Compare the uploads with the files in the data folder."""
    there = sorted(files.whole_files(data_dir, older_than_s=AGE_S))
    wanted = repository.known_digests(session, there, is_wanted=True)
    unregistered = [digest for digest in there if digest not in wanted]
    known = repository.known_digests(session, unregistered, is_wanted=False)
    missing = [
        UploadWithoutFile(row.id, row.filename, row.sha256, row.size_bytes)
        for row in repository.with_file(session)
        if not files.path_of(data_dir, row.sha256).exists()
    ]
    listed = [
        found
        for digest in unregistered[:MOST_LISTED]
        if (found := _described(data_dir, digest, was_read=digest in known)) is not None
    ]
    return FileCheck(listed, missing[:MOST_LISTED], len(unregistered), len(missing))


def expired(session: Session, *, data_dir: Path, kept: timedelta) -> set[str]:
    """Return the files without an upload that were first found longer ago than `kept`, but at least `LEAST_KEPT`.

    After the database alone was restored from a backup, the files of the uploads that it does not know are kept until
    they are registered or removed, or this time is over.
    """
    there = set(files.whole_files(data_dir))
    known = repository.known_digests(session, there, is_wanted=False)
    for digest in known:
        files.remove_mark(data_dir, digest)
    before = time.time() - max(kept, LEAST_KEPT).total_seconds()
    return {
        digest for digest in there - known if files.without_upload_since(data_dir, digest) < before
    } | known


def _described(data_dir: Path, digest: str, *, was_read: bool) -> UnregisteredFile | None:
    path = files.path_of(data_dir, digest)
    try:
        with path.open("rb") as file:
            first = file.read(PREVIEW_BYTES)
        status = path.stat()
    except OSError:  # removed meanwhile, or unreadable
        return None
    try:
        kind: str = detect(first, "").kind
    except KindUnknown:
        kind = ""
    modified_at = datetime.fromtimestamp(status.st_mtime, UTC).replace(microsecond=0)
    return UnregisteredFile(digest, status.st_size, modified_at, kind, was_read)
