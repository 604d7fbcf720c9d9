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
"""Decompression of a part of a stream, which has neither its header nor its checksum."""


class _Part(NamedTuple):
    """An entry of the index: where a part begins in the stream, and the checksum of its text (CRC-32)."""

    start: int
    checksum: int


@dataclass(frozen=True)
class PartedText:
    """A compressed text; `data` is stored as it is. Reading it raises DatabaseError if it is damaged."""

    data: bytes

    @classmethod
    def of(cls, parts: Iterable[tuple[str, bytes]], *, level: int) -> PartedText:
        """Compress a text from its parts in order, each with its name; parts that follow each other may share a name.

        Raises:
            ValueError: Another part is between two parts of the same name.
        """
        compressor = zlib.compressobj(level)
        written: list[bytes] = []
        index: dict[str, _Part] = {}
        length = 0
        last: str | None = None
        for name, part in parts:
            if name != last:
                if name in index:
                    message = f"the part {name!r} is in two places"
                    raise ValueError(message)
                last = name
                written.append(compressor.flush(zlib.Z_FULL_FLUSH))
                length += len(written[-1])
                index[name] = _Part(length, 0)
            index[name] = index[name]._replace(checksum=zlib.crc32(part, index[name].checksum))
            written.append(compressor.compress(part))
            length += len(written[-1])
        text = json.dumps(index).encode()
        end = _END.pack(len(text), zlib.crc32(text))
        return cls(b"".join((*written, compressor.flush(), text, end, _MAGIC)))

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
