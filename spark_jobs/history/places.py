"""The location of a table's files: a folder on this machine, or the URL of an object store that delta-rs supports.

pyarrow uses its own threads to read file systems that are written in Python, and they abort the process if it ends
while they run. So an object store is read and written in whole files, and only a folder by pyarrow itself.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.fs import DeltaStorageHandler

from planner_core.contracts.ingest import SET_ASIDE_SUFFIX, is_torn_entry
from spark_jobs.history.schema import HistoryError

LOG = "_delta_log"


class Place(Protocol):
    """The folder of a table."""

    url: str

    def footer(self, path: str) -> dict[str, str]:
        """Return the texts in the footer of a Parquet file."""
        ...

    def make_lasting(self, paths: Iterable[str]) -> None:
        """Flush these files to disk before the log names them, so that they survive a power failure."""
        ...

    def make_log_lasting(self) -> None:
        """Flush the last entries of the log to disk."""
        ...

    def has_torn_log(self) -> bool:
        """Return whether a power failure left the log's last entry torn."""
        ...

    def log_stamp(self, version: int) -> object:
        """Return a mark of the log's entry for a version, which a replaced folder does not have; None if it has none."""
        ...

    def repair_log(self) -> Path | None:
        """Move the last entry out of the log if a power failure left it torn; return its new place, if there was one."""
        ...

    def may_be_newer(self, version: int) -> bool:
        """Return False if this version is certainly the last in the log."""
        ...

    def write(self, path: str, data: pa.Buffer) -> None:
        """Write a new file."""
        ...

    def read(self, path: str, *, columns: list[str] | None = None) -> pa.Table:
        """Read the requested columns that exist in a Parquet file."""
        ...


def place_of(url: str) -> Place:
    """Return the place that a path or URL names."""
    parts = urlsplit(url)
    if len(parts.scheme) > 1 and parts.scheme != "file":  # one letter is a drive
        return ObjectStore(url)
    return Folder(Path(unquote(parts.path)) if parts.scheme == "file" else Path(url))


_YOUNGEST = 3
"""The number of the log's last entries that are flushed to disk: other processes may have written some in between."""
_TICK_S = 2.0


class Folder:
    """A folder on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.url = str(self.folder)

    def write(self, path: str, data: pa.Buffer) -> None:
        """Write a new file."""
        target = self.folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write(memoryview(data))
        except OSError as error:
            raise _not_written(error) from error

    def read(self, path: str, *, columns: list[str] | None = None) -> pa.Table:
        """Read columns of a Parquet file."""
        with pq.ParquetFile(self.folder / path) as file:
            return _columns(file, columns)

    def footer(self, path: str) -> dict[str, str]:
        """Return the texts in the footer of a Parquet file."""
        return _texts(pq.read_metadata(self.folder / path))

    def make_lasting(self, paths: Iterable[str]) -> None:
        """Flush files, and the folders that contain them, to disk."""
        folders: set[Path] = set()
        try:
            for path in paths:
                target = self.folder / path
                _force(target)
                folders.update(parent for parent in target.parents if parent.is_relative_to(self.folder))
            for folder in sorted(folders, reverse=True):
                _force(folder)
        except OSError as error:
            raise _not_written(error) from error

    def make_log_lasting(self) -> None:
        """Flush the newest log entries to disk, and any checkpoint written with them."""
        log = self.folder / LOG
        try:
            entries = sorted(log.glob("*.json"))[-_YOUNGEST:]
            made_at = min((entry.stat().st_mtime for entry in entries), default=0.0)
            checkpoints = [
                path for path in (*log.glob("*checkpoint*"),) if path.stat().st_mtime >= made_at - _TICK_S
            ]
            for path in (*entries, *checkpoints, log, self.folder):
                _force(path)
        except FileNotFoundError:  # another process has just cleaned up the log
            _force(log)
        except OSError as error:
            raise _not_written(error) from error

    def has_torn_log(self) -> bool:
        """Return whether a power failure left the log's last entry torn."""
        entries = sorted((self.folder / LOG).glob("*.json"))
        return bool(entries) and is_torn_entry(entries[-1].read_bytes())

    def may_be_newer(self, version: int) -> bool:
        """Return whether the log has another version after this one, or no longer has this one.

        The folder may have been emptied or restored. Delta also removes entries before a checkpoint after some weeks.
        """
        this, following = (self.folder / LOG / f"{each:020}.json" for each in (version, version + 1))
        return following.exists() or not this.exists()

    def log_stamp(self, version: int) -> object:
        """Return a mark of the log's entry for a version, which a replaced folder does not have; None if it has none."""
        try:
            found = (self.folder / LOG / f"{version:020}.json").stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size

    def repair_log(self) -> Path | None:
        """Move the last entry out of the log if it is torn.

        Entries are flushed to disk before a commit is reported, so a torn entry was never reported: its file is not in
        the history, and is ingested again.
        """
        log = self.folder / LOG
        entries = sorted(log.glob("*.json"))
        if not entries or not is_torn_entry(entries[-1].read_bytes()):
            return None
        aside = self.folder / f"{entries[-1].stem}-{secrets.token_hex(4)}{SET_ASIDE_SUFFIX}"
        with contextlib.suppress(FileNotFoundError):  # another process did it
            entries[-1].rename(aside)
        _force(log)
        return aside


class ObjectStore:
    """The URL of a table in an object store; credentials come from the environment, as delta-rs reads them."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._files = DeltaStorageHandler(self.url)._handler

    def make_lasting(self, paths: Iterable[str]) -> None:
        """Do nothing: an object store keeps what it has accepted."""

    def make_log_lasting(self) -> None:
        """Do nothing: an object store keeps what it has accepted."""

    def has_torn_log(self) -> bool:
        """Return False: an object exists completely or not at all."""
        return False

    def may_be_newer(self, version: int) -> bool:
        """Return True: a request would be needed, and opening the table needs hardly more."""
        return True

    def log_stamp(self, version: int) -> object:
        """Return None: a request would be needed."""

    def repair_log(self) -> Path | None:
        """Do nothing: an object exists completely or not at all."""
        return None

    def write(self, path: str, data: pa.Buffer) -> None:
        """Write a new file."""
        try:
            stream = self._files.open_output_stream(path, None)
            stream.write(data.to_pybytes())
        except OSError as error:
            raise _not_written(error) from error
        stream.close()  # type: ignore[attr-defined]  # exists, but is missing in the published types

    def read(self, path: str, *, columns: list[str] | None = None) -> pa.Table:
        """Read columns of a Parquet file."""
        stream = self._files.open_input_file(path)
        with pq.ParquetFile(pa.BufferReader(stream.read(stream.size()))) as file:
            return _columns(file, columns)

    def footer(self, path: str) -> dict[str, str]:
        """Return the texts in the footer of a Parquet file."""
        stream = self._files.open_input_file(path)
        return _texts(pq.read_metadata(pa.BufferReader(stream.read(stream.size()))))


def _force(path: Path) -> None:
    """Flush a file or folder to disk."""
    if path.is_dir() and os.name == "nt":  # Windows cannot force folders, and does not need to
        return
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _not_written(error: OSError) -> HistoryError:
    message = f"The usage history cannot be written to: {error.strerror or error}."
    return HistoryError(message)


def _texts(metadata: pq.FileMetaData) -> dict[str, str]:
    return {name.decode(): text.decode() for name, text in (metadata.metadata or {}).items()}


def _columns(file: pq.ParquetFile, columns: list[str] | None) -> pa.Table:
    if columns is None:
        return file.read()
    there = set(file.schema_arrow.names)
    return file.read(columns=[name for name in columns if name in there])
