"""Amounts of bytes as plain text, without markup."""

from __future__ import annotations

from app.web.rendering import grouped
from planner_core.units import GIB, MIB

_DIGITS_TO = 10


def amount(value_bytes: int) -> str:
    """Return a number of bytes as text: `7 046 bytes`, `12.4 MiB`, `3.02 GiB`.

    >>> amount(3 * 2**29)
    '1.50 GiB'
    """
    if value_bytes < MIB:
        return f"{grouped(value_bytes)} {'byte' if value_bytes == 1 else 'bytes'}"
    if value_bytes < GIB:
        return f"{value_bytes / MIB:.1f} MiB"
    gib = value_bytes / GIB
    return f"{gib:.2f} GiB" if gib < _DIGITS_TO else f"{gib:.1f} GiB"
