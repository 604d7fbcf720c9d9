"""A gzip file as a stream of its content, which returns every readable part of a truncated or damaged file."""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner_core.units import GIB, MIB
from spark_jobs.smf.errors import UnpacksTooLarge

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP_MAGIC = b"\x1f\x8b"
READ_BYTES = 2**20
PIECE_BYTES = 2**12
"""The number of bytes decompressed at a time, which is the maximum loss if the file is damaged."""
GZIP_WINDOW = 31
"""zlib's code for a window of 32 KB with gzip's header and trailer."""


RATIO_COUNTS_FROM_BYTES = 256 * MIB
"""The decompressed size above which the ratio is checked: a short file of few distinct bytes may be compressed better
than any dump."""


@dataclass(frozen=True, slots=True)
class UnpackLimits:
    """Limits of the decompressed size.

    gzip can expand one byte to a thousand, so a few megabytes could keep a machine busy.
    """

    most_bytes: int = 512 * GIB
    most_ratio: int = 250
    """The maximum number of decompressed bytes for each compressed one. Dumps reach about ten, texts about fifty."""


class Unzipped(io.RawIOBase):
    """The content of a gzip file with one or more members.

    Raises:
        UnpacksTooLarge: the content exceeds the limits; raised as soon as this is known.
    """

    def __init__(self, file: io.RawIOBase | io.BufferedIOBase, *, limits: UnpackLimits | None = None) -> None:
        """Start at the file's position; closing this object closes the file."""
        self._file = file
        self._limits = limits
        self._taken_bytes = 0
        self._member = zlib.decompressobj(wbits=GZIP_WINDOW)
        self._rest = b""
        self._is_over = False
        self._position = 0
        self.problem: str | None = None
        """The reason why the content ended early."""

    def readable(self) -> bool:
        """Return True, because content is only read."""
        return True

    def readinto(self, target: WriteableBuffer, /) -> int:
        """Read some of the content."""
        view = memoryview(target)
        while not self._is_over:
            content = self._some(len(view))
            if content:
                view[: len(content)] = content
                self._position += len(content)
                self._check()
                return len(content)
        return 0

    def _check(self) -> None:
        """Refuse content whose decompressed size exceeds the limits."""
        if self._limits is None:
            return
        most, ratio = self._limits.most_bytes, self._limits.most_ratio
        if self._position > most:
            message = (
                f"The file is larger than {most} bytes after decompression, which is the limit. Nothing was stored. "
                "Split the dump, or raise the limit: CFPLAN_MAX_UNPACKED_BYTES."
            )
            raise UnpacksTooLarge(message)
        if self._position > max(RATIO_COUNTS_FROM_BYTES, ratio * self._taken_bytes):
            message = f"The file decompresses to more than {ratio} times its length, which usage data never does. Nothing was stored. Decompress it yourself and check its contents; the limit is CFPLAN_MAX_UNPACKED_RATIO."
            raise UnpacksTooLarge(message)

    def _some(self, most: int) -> bytes:
        if self._member.eof:
            self._next_member()
            return b""
        if not self._rest and not self._member.unconsumed_tail:
            self._rest = self._read()
            if not self._rest:
                self._is_over = True
                self.problem = "the compressed file is truncated: the rest is missing"
                return b""
        taken = self._member.unconsumed_tail
        if not taken:
            taken, self._rest = self._rest[:PIECE_BYTES], self._rest[PIECE_BYTES:]
        try:
            # Decompress with a limit, because a piece can expand a thousandfold.
            return self._member.decompress(taken, most)
        except zlib.error:
            self._is_over = True
            self.problem = "the compressed file is damaged: the rest cannot be read"
            return b""

    def _read(self) -> bytes:
        packed = self._file.read(READ_BYTES) or b""
        self._taken_bytes += len(packed)
        return packed

    def _next_member(self) -> None:
        """Start the next member, if there is one; zeros that fill up the file are not a member."""
        rest = self._member.unused_data + self._rest
        if len(rest) < len(GZIP_MAGIC):
            rest += self._read()
        if not rest.startswith(GZIP_MAGIC):
            self._is_over = True
            if rest.strip(b"\0"):
                self.problem = "the data after the compressed content is not gzip and was not read"
            return
        self._member = zlib.decompressobj(wbits=GZIP_WINDOW)
        self._rest = rest

    def seekable(self) -> bool:
        """Return True, although it can only seek forward."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Skip content up to an offset; seeking must start at the beginning."""
        if whence != io.SEEK_SET or offset < self._position:
            message = "a gzip file is read forward only"
            raise io.UnsupportedOperation(message)
        while self._position < offset and self.read(min(READ_BYTES, offset - self._position)):
            pass
        return self._position

    def close(self) -> None:
        """Close this object and the file."""
        self._file.close()
        super().close()
