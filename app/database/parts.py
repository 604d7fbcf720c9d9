"""A long text in parts, compressed so that each part can be read without the others.

The text is one zlib stream, which any reader of compressed texts can read: behind each part, the compressor forgets what
it has seen, so decompression can begin there (Z_FULL_FLUSH in the zlib manual). An index of the parts follows the stream,
where such readers ignore it. Texts stored before there were parts have no index.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_MAGIC: Final = b"parts/1"
_LENGTH: Final = struct.Struct(">I")
_RAW: Final = -zlib.MAX_WBITS
"""Decompression of a part of a stream, which has neither its header nor its checksum."""


@dataclass(frozen=True)
class PartedText:
    """A compressed text; `data` is stored as it is."""

    data: bytes

    @classmethod
    def of(cls, parts: Iterable[tuple[str, bytes]], *, level: int) -> PartedText:
        """Compress a text from its parts in order, each with its name; parts that follow each other may share a name.

        Raises:
            ValueError: Another part is between two parts of the same name.
        """
        compressor = zlib.compressobj(level)
        written: list[bytes] = []
        starts: dict[str, int] = {}
        length = 0
        last: str | None = None
        for name, part in parts:
            if name != last:
                if name in starts:
                    message = f"the part {name!r} is in two places"
                    raise ValueError(message)
                last = name
                written.append(compressor.flush(zlib.Z_FULL_FLUSH))
                length += len(written[-1])
                starts[name] = length
            written.append(compressor.compress(part))
            length += len(written[-1])
        index = json.dumps(starts).encode()
        return cls(b"".join((*written, compressor.flush(), index, _LENGTH.pack(len(index)), _MAGIC)))

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return zlib.decompress(self.data).decode()

    def part(self, name: str) -> str | None:
        """Return one part: empty if the text has none of this name; None if it was stored without parts."""
        starts = self._starts
        if starts is None:
            return None
        if name not in starts:
            return ""
        start = starts[name]
        end = min((each for each in starts.values() if each > start), default=len(self.data))
        # The last part ends with the stream, whatever follows it.
        return zlib.decompressobj(_RAW).decompress(memoryview(self.data)[start:end]).decode()

    @cached_property
    def _starts(self) -> Mapping[str, int] | None:
        """The position of each part in `data`; None if the text was stored without parts."""
        if not self.data.endswith(_MAGIC):
            return None
        end = len(self.data) - len(_MAGIC) - _LENGTH.size
        (length,) = _LENGTH.unpack_from(self.data, end)
        found: Mapping[str, int] = json.loads(self.data[end - length : end])
        return found
