"""Text as bytes for the database, compressed."""

from __future__ import annotations

import zlib

LEVEL = 1
"""Commands for z/OS shrink to a few percent at the quickest level already."""


def pack(text: str) -> bytes:
    """Text → bytes."""
    return zlib.compress(text.encode("utf-8"), LEVEL)


def unpack(packed: bytes) -> str:
    """Bytes → the same text."""
    return zlib.decompress(packed).decode("utf-8")
