"""A gzip file as a stream of its content, which gives all that can be had of a file that is cut short or damaged."""

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
"""What is decompressed at a time, and lost at most where the file is damaged."""
GZIP_WINDOW = 31
"""zlib's way to say: a window of 32 KB, with gzip's header and trailer."""


RATIO_COUNTS_FROM_BYTES = 256 * MIB
"""A short file of few different bytes may well be packed better than any dump; it does no harm."""


@dataclass(frozen=True, slots=True)
class UnpackLimits:
    """How much may come out of a packed file: gzip makes a thousand bytes of one, and some megabytes keep a machine busy."""

    most_bytes: int = 512 * GIB
    most_ratio: int = 250
    """Bytes unpacked for one packed. Dumps reach some ten, texts some fifty."""


class Unzipped(io.RawIOBase):
    """The content of a gzip file of one member or several.

    Raises:
        UnpacksTooLarge: more comes out than the limits allow; as soon as that is seen.
    """

    def __init__(self, file: io.RawIOBase | io.BufferedIOBase, *, limits: UnpackLimits | None = None) -> None:
        """Begin at the file's position; the file is closed with this."""
        self._file = file
        self._limits = limits
        self._taken_bytes = 0
        self._member = zlib.decompressobj(wbits=GZIP_WINDOW)
        self._rest = b""
        self._is_over = False
        self._position = 0
        self.problem: str | None = None
        """Why the content ended before its end."""

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, target: WriteableBuffer, /) -> int:
        """Give some of the content."""
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
        """Hold what has come out against the limits."""
        if self._limits is None:
            return
        most, ratio = self._limits.most_bytes, self._limits.most_ratio
        if self._position > most:
            message = (
                f"The file is larger than {most} bytes once unpacked, and more is not unpacked here. Nothing was stored. "
                "Split the dump, or raise the limit: CFPLAN_MAX_UNPACKED_BYTES."
            )
            raise UnpacksTooLarge(message)
        if self._position > max(RATIO_COUNTS_FROM_BYTES, ratio * self._taken_bytes):
            message = (
                f"The file unpacks to more than {ratio} times its length, which no usage data does. Nothing was stored. "
                "Unpack it yourself and look at it; the limit is CFPLAN_MAX_UNPACKED_RATIO."
            )
            raise UnpacksTooLarge(message)

    def _some(self, most: int) -> bytes:
        if self._member.eof:
            self._next_member()
            return b""
        if not self._rest and not self._member.unconsumed_tail:
            self._rest = self._read()
            if not self._rest:
                self._is_over = True
                self.problem = "the compressed file is cut short: what came after this cannot be had"
                return b""
        taken = self._member.unconsumed_tail
        if not taken:
            taken, self._rest = self._rest[:PIECE_BYTES], self._rest[PIECE_BYTES:]
        try:
            return self._member.decompress(taken, most)
        except zlib.error:
            self._is_over = True
            self.problem = "the compressed file is damaged: what came after this cannot be had"
            return b""

    def _read(self) -> bytes:
        packed = self._file.read(READ_BYTES) or b""
        self._taken_bytes += len(packed)
        return packed

    def _next_member(self) -> None:
        """Another member may follow; zeros that fill the file up are none."""
        rest = self._member.unused_data + self._rest
        if len(rest) < len(GZIP_MAGIC):
            rest += self._read()
        if not rest.startswith(GZIP_MAGIC):
            self._is_over = True
            if rest.strip(b"\0"):
                self.problem = "what follows the compressed content is no gzip: it was not read"
            return
        self._member = zlib.decompressobj(wbits=GZIP_WINDOW)
        self._rest = rest

    def seekable(self) -> bool:
        """Forward only."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Pass over content, from the beginning on."""
        if whence != io.SEEK_SET or offset < self._position:
            message = "a gzip file is read forward only"
            raise io.UnsupportedOperation(message)
        while self._position < offset and self.read(min(READ_BYTES, offset - self._position)):
            pass
        return self._position

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()
