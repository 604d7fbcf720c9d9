"""Where the files of a table lie: a folder of this machine, or a URL of an object store that delta-rs knows.

pyarrow's file systems written in Python are read by pyarrow's own threads, which abort the process when it ends before
they do; so an object store is read and written whole file by whole file, and a folder by pyarrow itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.fs import DeltaStorageHandler

from spark_jobs.history.schema import HistoryError


class Place(Protocol):
    """The folder of a table."""

    url: str

    def write(self, path: str, data: pa.Buffer) -> None:
        """Write a new file."""
        ...

    def read(self, path: str, *, columns: list[str] | None = None) -> pa.Table:
        """Read the columns of a Parquet file that it has, of those that are asked for."""
        ...


def place_of(url: str) -> Place:
    """Return the place that a path or URL names."""
    parts = urlsplit(url)
    if len(parts.scheme) > 1 and parts.scheme != "file":  # one letter is a drive
        return ObjectStore(url)
    return Folder(Path(unquote(parts.path)) if parts.scheme == "file" else Path(url))


class Folder:
    """A folder of this machine."""

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


class ObjectStore:
    """A URL; credentials come from the environment, as delta-rs reads them."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._files = DeltaStorageHandler(self.url)._handler

    def write(self, path: str, data: pa.Buffer) -> None:
        """Write a new file."""
        try:
            stream = self._files.open_output_stream(path, None)
            stream.write(data.to_pybytes())
        except OSError as error:
            raise _not_written(error) from error
        stream.close()  # type: ignore[attr-defined]  # it is there, and not in what is published of its types

    def read(self, path: str, *, columns: list[str] | None = None) -> pa.Table:
        """Read columns of a Parquet file."""
        stream = self._files.open_input_file(path)
        with pq.ParquetFile(pa.BufferReader(stream.read(stream.size()))) as file:
            return _columns(file, columns)


def _not_written(error: OSError) -> HistoryError:
    message = f"The usage history cannot be written to: {error.strerror or error}."
    return HistoryError(message)


def _columns(file: pq.ParquetFile, columns: list[str] | None) -> pa.Table:
    wanted = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
    return file.read(columns=wanted)
