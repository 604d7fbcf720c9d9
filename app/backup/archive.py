"""The archive of a backup: a tar file compressed with gzip, written and read from its beginning to its end.

    backup.json                     the head: version, revision, time, what is included
    database/tables.json            the tables and their columns
    database/TABLE/000001.jsonl     rows, several megabytes in each member
    uploads/SHA256                  files of uploads
    history/PATH                    files of the usage history
    reports/NAME                    the report of the last nightly run
    manifest.json                   size and SHA-256 of each member above

The manifest is the last member, so an archive without it is incomplete.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

from app.backup.errors import ArchiveInvalid
from planner_core.wire import JsonObject

HEAD, TABLES, MANIFEST = "backup.json", "database/tables.json", "manifest.json"
FORMAT = 1
COMPRESSION_LEVEL = 1
"""The fastest: most bytes are in Parquet files, which are compressed already, or in rows, of which it removes 80 %."""
LARGEST_DESCRIPTION_BYTES = 256 * 2**20
"""Largest head, list of tables or manifest, which are held in memory: a manifest has 200 bytes for each file."""
LONGEST_NAME_BYTES = 4_096
PIECE_BYTES = 2**20
RATIO_COUNTS_FROM_BYTES = 256 * 2**20
"""The ratio of compression is checked from this unpacked size on."""
MODE = 0o600

_PART = r"[^/\\\x00-\x1f\x7f]{1,255}"
_NAME = re.compile(
    rf"backup\.json|manifest\.json|database/tables\.json|database/[A-Za-z_][A-Za-z0-9_]*/[0-9]{{6}}\.jsonl"
    rf"|uploads/[0-9a-f]{{64}}|history(?:/{_PART})+|reports/{_PART}"
)


class Listed(NamedTuple):
    """The size and the digest of a member."""

    size_bytes: int
    sha256: str


class ArchiveWriter:
    """An archive that is being written to an open file, which need not be seekable."""

    def __init__(self, out: BinaryIO) -> None:
        """Begin the archive."""
        self._hash = hashlib.sha256()
        self._out = out
        self.size_bytes = 0
        self.listed: dict[str, Listed] = {}
        # GzipFile writes to this object, which counts and hashes what goes to the file.
        self._gzip = gzip.GzipFile(fileobj=cast("BinaryIO", self), mode="wb", compresslevel=COMPRESSION_LEVEL)
        self._tar = tarfile.open(fileobj=self._gzip, mode="w|", format=tarfile.GNU_FORMAT)  # noqa: SIM115

    @property
    def sha256(self) -> str:
        """The digest of the whole archive; call after `finish`."""
        return self._hash.hexdigest()

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Write compressed bytes to the file."""
        view = memoryview(data)
        self._hash.update(view)
        self.size_bytes += len(view)
        while view:  # a pipe may take only a part
            view = view[self._out.write(view) or 0 :]
        return len(data)

    def flush(self) -> None:
        """Flush the file."""
        self._out.flush()

    def add_bytes(self, name: str, data: bytes) -> None:
        """Add a member with this content."""
        self._add(name, io.BytesIO(data), len(data), int(time.time()))

    def add_json(self, name: str, value: JsonObject) -> None:
        """Add a member with a JSON text."""
        self.add_bytes(name, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())

    def add_file(self, name: str, path: Path) -> Listed:
        """Add a file as it is when it is opened.

        Raises:
            FileNotFoundError: There is no such file.
            OSError: The file cannot be read, or became shorter meanwhile.
        """
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            return self._add(name, file, status.st_size, int(status.st_mtime))

    def finish(self) -> None:
        """Write the manifest and the end of the archive."""
        files = [
            {"name": name, "size_bytes": size, "sha256": digest}
            for name, (size, digest) in self.listed.items()
        ]
        self.add_json(MANIFEST, {"format": FORMAT, "files": files})
        self._tar.close()
        self._gzip.close()

    def _add(self, name: str, file: IO[bytes], size_bytes: int, modified_at: int) -> Listed:
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = size_bytes, modified_at, MODE
        hashing = _HashingReader(file)
        self._tar.addfile(info, cast("IO[bytes]", hashing))
        self.listed[name] = Listed(size_bytes, hashing.digest.hexdigest())
        return self.listed[name]


class _HashingReader:
    """The content of a member, hashed while it is copied."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        return data


@contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as error:
        reason = str(error) or "it ends too early"
        message = (
            f"The archive is damaged, incomplete, or not a backup of cfplan: {reason}. Nothing was changed."
        )
        raise ArchiveInvalid(message) from None


class Member(NamedTuple):
    """A member of an archive that is being read."""

    name: str
    size_bytes: int
    content: IO[bytes]

    def pieces(self) -> Iterator[bytes]:
        """Yield the content in pieces."""
        left = self.size_bytes
        while left:
            with _damage_reported():
                piece = self.content.read(min(left, PIECE_BYTES))
                if not piece:
                    raise EOFError
            left -= len(piece)
            yield piece

    def read(self) -> bytes:
        """Return the content of a head, list of tables or manifest."""
        if self.size_bytes > LARGEST_DESCRIPTION_BYTES:
            message = f"The archive has a member {self.name} of {self.size_bytes} bytes, which is too large for a backup of cfplan."
            raise ArchiveInvalid(message)
        return b"".join(self.pieces())


class _CheckedInfo(tarfile.TarInfo):
    """A header that is refused before tarfile acts on it, because extended headers would be read into memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        # tarfile names this method as the one that subclasses override. Not frombuf: newer Pythons, and older ones with
        # corrections by their distribution, do not call it.
        is_long_name = self.type == tarfile.GNUTYPE_LONGNAME and 0 < self.size <= LONGEST_NAME_BYTES
        if self.type != tarfile.REGTYPE and not is_long_name:
            message = (
                f"The archive contains {self.name[:100]!a}, which is not an ordinary file. Backups of cfplan contain only "
                "ordinary files, so it was not made by cfplan, or was changed."
            )
            raise ArchiveInvalid(message)
        if self.size < 0:
            message = f"The archive contains {self.name[:100]!a} with a negative size."
            raise ArchiveInvalid(message)
        return super()._proc_member(archive)  # type: ignore[misc]


class _Packed:
    """The compressed file, whose bytes are counted."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size_bytes = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.size_bytes += len(data)
        return data


class _Unpacked:
    """The decompressed bytes, up to a ratio of compression."""

    def __init__(self, file: BinaryIO, *, largest_ratio: int) -> None:
        self._packed = _Packed(file)
        self._gzip = gzip.GzipFile(fileobj=cast("BinaryIO", self._packed), mode="rb")
        self._largest_ratio = largest_ratio
        self.size_bytes = 0

    @property
    def packed_bytes(self) -> int:
        return self._packed.size_bytes

    def read(self, size: int = -1) -> bytes:
        data = self._gzip.read(size)
        self.size_bytes += len(data)
        most = max(RATIO_COUNTS_FROM_BYTES, self._largest_ratio * self._packed.size_bytes)
        if self.size_bytes > most:
            message = (
                f"The archive unpacks to more than {self._largest_ratio} times its size, as no backup of cfplan does. If you "
                "trust it, raise CFPLAN_MAX_UNPACKED_RATIO."
            )
            raise ArchiveInvalid(message)
        return data


class ArchiveReader:
    """An archive that is being read. Iterating yields its members except the manifest, which is checked at the end."""

    def __init__(self, file: BinaryIO, *, largest_ratio: int) -> None:
        """Open the archive."""
        self._unpacked = _Unpacked(file, largest_ratio=largest_ratio)
        self.listed: dict[str, Listed] = {}
        """The members that were read. The user of the members adds them."""

    @property
    def packed_bytes(self) -> int:
        """The compressed bytes read so far."""
        return self._unpacked.packed_bytes

    def members(self) -> Iterator[Member]:
        """Yield the members in their order; each must be read before the next. The manifest ends the archive.

        Raises:
            ArchiveInvalid: The archive is damaged, incomplete or hostile, or its content does not match its manifest.
        """
        with _damage_reported():
            yield from self._members()

    def _members(self) -> Iterator[Member]:
        manifest: bytes | None = None
        with tarfile.open(
            fileobj=cast("IO[bytes]", self._unpacked), mode="r|", tarinfo=_CheckedInfo, errorlevel=2
        ) as tar:
            for info in tar:
                _check_name(info.name)
                content = tar.extractfile(info)
                if content is None or manifest is not None or info.name in self.listed:
                    message = f"The archive contains {info.name[:100]!a} twice, or after its end."
                    raise ArchiveInvalid(message)
                member = Member(info.name, info.size, content)
                if info.name == MANIFEST:
                    manifest = member.read()
                else:
                    yield member
        while self._unpacked.read(PIECE_BYTES):  # the checksum of gzip is at its end
            pass
        self._check(manifest)

    def _check(self, manifest: bytes | None) -> None:
        if manifest is None:
            message = "The archive is incomplete: it has no manifest. Nothing was changed."
            raise ArchiveInvalid(message)
        try:
            found = {
                str(each["name"]): Listed(int(each["size_bytes"]), str(each["sha256"]))
                for each in json.loads(manifest)["files"]
            }
        except (ValueError, TypeError, KeyError):
            message = "The manifest of the archive cannot be read. Nothing was changed."
            raise ArchiveInvalid(message) from None
        differ = sorted(
            name for name in found.keys() | self.listed.keys() if found.get(name) != self.listed.get(name)
        )
        if differ:
            more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""  # noqa: PLR2004
            names = ", ".join(name[:100] for name in differ[:3])
            message = f"The archive does not match its manifest: {names}{more}. Nothing was changed."
            raise ArchiveInvalid(message)


def read_json(data: bytes, name: str) -> Any:  # noqa: ANN401 - any JSON object
    """Return the JSON object of a member.

    Raises:
        ArchiveInvalid: It is not one.
    """
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        message = f"The member {name} of the archive cannot be read. Nothing was changed."
        raise ArchiveInvalid(message)
    return found


def _check_name(name: str) -> None:
    parts = name.split("/")
    if not _NAME.fullmatch(name) or ".." in parts or "." in parts:
        message = f"The archive contains {name[:100]!a}, which is not part of a backup of cfplan. Nothing was changed."
        raise ArchiveInvalid(message)
