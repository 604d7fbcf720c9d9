"""A long text in parts, compressed so that each part can be read without the others.

The text is one zlib stream, which any reader of compressed texts can read: behind each part, the compressor forgets what
it has seen, so decompression can begin there (Z_FULL_FLUSH in the zlib manual). An index of the parts follows the stream,
where such readers ignore it. Texts stored before there were parts have no index. The checksum of the stream is that of the
whole text, so the index has one for each part: without it, a damaged part could be read as another text.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from app.database.damage import reading_compressed

_MAGIC: Final = b"parts/2"
"""The end of a text with an index of this form; one with another end is read as a whole."""
_END: Final = struct.Struct(">II")
"""The length of the index, and its checksum (CRC-32)."""
_RAW: Final = -zlib.MAX_WBITS
"""The form of a part of a stream, which has neither its header nor its checksum."""
_HEADER: Final = zlib.compress(b"", 1)[:2]
_LAST_BLOCK: Final = zlib.compressobj(1, wbits=_RAW).flush()
"""An empty block that ends a stream."""
_CHECKSUM: Final = struct.Struct(">HH")
_ADLER: Final = 65521
"""The modulus of the checksum of a stream (RFC 1950, Adler-32)."""


class _Part(NamedTuple):
    """An entry of the index: where a part begins in the stream, and the checksum of its text (CRC-32)."""

    start: int
    checksum: int


class CompressedPart(NamedTuple):
    """A part, compressed so that it can be at any place of a stream, with the length and the checksums of its text."""

    data: bytes
    length: int
    crc32: int
    adler32: int

    @classmethod
    def of(cls, pieces: Iterable[bytes], *, level: int) -> CompressedPart:
        """Compress a text that is given in pieces."""
        compressor = zlib.compressobj(level, wbits=_RAW)
        written: list[bytes] = []
        length, crc32, adler32 = 0, 0, 1
        for piece in pieces:
            written.append(compressor.compress(piece))
            length += len(piece)
            crc32, adler32 = zlib.crc32(piece, crc32), zlib.adler32(piece, adler32)
        written.append(compressor.flush(zlib.Z_FULL_FLUSH))
        return cls(b"".join(written), length, crc32, adler32)


@dataclass(frozen=True)
class PartedText:
    """A compressed text; `data` is stored as it is. Reading it raises DatabaseError if it is damaged."""

    data: bytes

    @classmethod
    def of(cls, parts: Iterable[tuple[str, CompressedPart]]) -> PartedText:
        """Return the text of parts in this order, each with its name.

        Raises:
            ValueError: Two parts have the same name.
        """
        written, start = [_HEADER], len(_HEADER)
        index: dict[str, _Part] = {}
        low, high = 1, 0
        for name, part in parts:
            if name in index:
                message = f"two parts are called {name!r}"
                raise ValueError(message)
            index[name] = _Part(start, part.crc32)
            written.append(part.data)
            start += len(part.data)
            # The checksum of the whole text follows from those of its parts (RFC 1950, Adler-32).
            high = (high + (part.adler32 >> 16) + part.length * (low - 1)) % _ADLER
            low = (low + (part.adler32 & 0xFFFF) - 1) % _ADLER
        text = json.dumps(index).encode()
        end = _END.pack(len(text), zlib.crc32(text))
        return cls(b"".join((*written, _LAST_BLOCK, _CHECKSUM.pack(high, low), text, end, _MAGIC)))

    @cached_property
    def text(self) -> str:
        """The whole text."""
        with reading_compressed():
            return zlib.decompress(self.data).decode()

    def part(self, name: str) -> str | None:
        """Return one part: empty if the text has none of this name; None if it was stored without parts."""
        with reading_compressed():
            return self._part(name)

    def _part(self, name: str) -> str | None:
        index = self._index
        if index is None:
            return None
        if name not in index:
            return ""
        start, checksum = index[name]
        end = min((each.start for each in index.values() if each.start > start), default=len(self.data))
        # The last part ends with the stream, whatever follows it.
        found = zlib.decompressobj(_RAW).decompress(memoryview(self.data)[start:end])
        if zlib.crc32(found) != checksum:
            message = f"the part {name!r} is damaged"
            raise zlib.error(message)
        return found.decode()

    @cached_property
    def _index(self) -> Mapping[str, _Part] | None:
        """The parts in `data`; None if the text was stored without parts."""
        if not self.data.endswith(_MAGIC):
            return None
        end = len(self.data) - len(_MAGIC) - _END.size
        length, checksum = _END.unpack_from(self.data, end)
        text = self.data[max(end - length, 0) : end]
        if zlib.crc32(text) != checksum:
            message = "the index of the parts is damaged"
            raise zlib.error(message)
        return {name: _Part(*each) for name, each in json.loads(text).items()}
