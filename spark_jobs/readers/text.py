"""Read text files, compressed or not, line by line or as a whole, within a memory limit."""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from planner_core.inputs import PREVIEW_BYTES, decode_text
from spark_jobs.readers.result import NotReadable
from spark_jobs.smf.unzip import GZIP_MAGIC

LONGEST_LINE: Final = 1_048_576
LARGEST_PASTE: Final = 64 * 1_048_576
"""The maximum size of displays and logs, which are read completely: longer ones must be split."""


class TextFile:
    """A text file by name; its encoding is detected from its first bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_cut = False
        """True if a compressed file is truncated."""
        with path.open("rb") as raw:
            self._packed = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        with self._bytes() as file:
            first = self._first(file)
        if decode_text(first, is_whole=False) is None:
            msg = "The file is not a text file."
            raise NotReadable(msg)
        self._encoding, self._errors = _encoding(first)

    def lines(self) -> Iterator[tuple[int, str | None]]:
        """Yield the number (from 1) and text of each line, without the line end; the text of an overlong line is None."""
        with self._bytes() as binary, io.TextIOWrapper(binary, self._encoding, self._errors) as file:
            number = 0
            while line := self._line(file):
                number += 1
                if line.endswith("\n") or len(line) < LONGEST_LINE:
                    yield number, line.rstrip("\n")
                    continue
                while rest := self._line(file):
                    if rest.endswith("\n"):
                        break
                yield number, None

    def chunks(self, size: int) -> Iterator[str]:
        """Yield the text in pieces."""
        with self._bytes() as binary, io.TextIOWrapper(binary, self._encoding, self._errors) as file:
            while True:
                try:
                    chunk = file.read(size)
                except (EOFError, zlib.error, gzip.BadGzipFile):
                    self.is_cut = True
                    return
                if not chunk:
                    return
                yield chunk

    def whole(self) -> str:
        """Return the whole text, which must be short enough to be pasted."""
        parts: list[str] = []
        length = 0
        for chunk in self.chunks(LONGEST_LINE):
            length += len(chunk)
            if length > LARGEST_PASTE:
                mib = LARGEST_PASTE // 1_048_576
                msg = f"The file has more than {mib} MiB of text: keep only the parts about the structures."
                raise NotReadable(msg)
            parts.append(chunk)
        return "".join(parts)

    @contextlib.contextmanager
    def _bytes(self) -> Iterator[io.BufferedReader]:
        with self.path.open("rb") as raw:
            if not self._packed:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw, mode="rb") as packed:
                yield io.BufferedReader(packed)

    def _first(self, file: io.BufferedReader) -> bytes:
        try:
            return file.read(PREVIEW_BYTES)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            msg = "The file starts like a gzip file but cannot be unpacked: it is damaged."
            raise NotReadable(msg) from None

    def _line(self, file: io.TextIOWrapper) -> str:
        try:
            return file.readline(LONGEST_LINE)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self.is_cut = True
            return ""


def _encoding(first: bytes) -> tuple[str, str]:
    if first.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", "replace"
    # The first bytes may end within a character, which must not make UTF-8 look like Latin-1.
    cut = first[: first.rfind(b"\n") + 1] or first[: max(0, len(first) - 4)]
    try:
        cut.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1", "strict"
    return "utf-8-sig", "replace"
