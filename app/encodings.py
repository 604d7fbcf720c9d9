"""Compressed answers of other servers, read by programs that limit their size."""

from __future__ import annotations

from typing import Final

ACCEPTED: Final = "gzip"
"""The encoding to ask for. A piece of 64 KiB from the network becomes at most 66 MiB, 1032 times its size. Brotli and
Zstandard, which the HTTP library offers if their packages are installed, have no such bound.
"""
_BOUNDED: Final = frozenset({"", "identity", "gzip", "deflate"})


def is_bounded(content_encoding: str) -> bool:
    """Return whether an answer cannot outgrow a limit of its size by much before the limit is checked.

    Each further encoding multiplies the size of a piece again: 2.6 KB that were compressed twice became 1.5 GB.

    Args:
        content_encoding: The headers `Content-Encoding` of the answer, joined by commas.
    """
    return content_encoding.strip().lower() in _BOUNDED
