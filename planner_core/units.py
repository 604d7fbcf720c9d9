"""Sizes in bytes: parsing, formatting and rounding. Only this module defines K, M, G and T.

Inside the project, storage is an int of bytes. Users and z/OS write K, M, G and T, all
1024-based (z/OS MVS Setting Up a Sysplex; IBM's KB and MB in the MQ manuals are the same).
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Final

from pydantic import AfterValidator, PlainSerializer

from planner_core.errors import OutOfRange, SizeSyntax
from planner_core.wire import Unchecked

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB
TIB: Final = 1024 * GIB
PAGE_4K: Final = 4 * KIB

_UNIT_BYTES: Final = {"B": 1, "K": KIB, "M": MIB, "G": GIB, "T": TIB}
_SIZE = re.compile(r" *(\d{1,15})(?:\.(\d{1,9}))? *(?:([KMGT])(?:I?B)?|(B))? *", re.ASCII | re.IGNORECASE)


def ceil_div(numerator: int, denominator: int) -> int:
    """Return the quotient rounded up, exact for ints of any size."""
    # math.ceil of a float quotient is wrong from 2**53 on.
    return -(-numerator // denominator)


@lru_cache(maxsize=256)
def as_fraction(number: Decimal) -> Fraction:
    """Return a decimal as a fraction; kept, because the queues of a plan often state the same rate or outage."""
    return Fraction(number)


def ceil_fraction(value: Fraction) -> int:
    """Return the smallest int that is not below `value`."""
    return -(-value.numerator // value.denominator)


def floor_fraction(value: Fraction) -> int:
    """Return the largest int that is not above `value`."""
    return value.numerator // value.denominator


def hundredths(value: Fraction) -> float:
    """Return a number for display and JSON, rounded up to a hundredth."""
    return ceil_div(value.numerator * 100, value.denominator) / 100


def round_up(value: int, *, multiple: int) -> int:
    """Return `value` rounded up to a whole multiple, so that storage is never too small."""
    return -(-value // multiple) * multiple


def parse_size(text: str | int, *, default_unit: str | None = "K") -> int:
    """Read a size as z/OS writes it: `64G`, `1.5 G`, `524288K`, `1048576 K`, `262144`.

    Args:
        text: The size; an int is a count of `default_unit`.
        default_unit: Unit of a bare number, K as in the CFRM policy [B, K, M, G, T];
            None refuses a bare number other than 0.

    Returns:
        Size [bytes].

    Raises:
        SizeSyntax: The text is not a size, or not a whole number of bytes.
    """
    # Python treats true as 1, but a YAML document with `size: yes` states no size.
    if isinstance(text, bool):
        raise SizeSyntax(text=str(text))
    match = _SIZE.fullmatch(str(text))
    if match is None:
        raise SizeSyntax(text=str(text))
    whole, part, unit = match.group(1), match.group(2), (match.group(3) or match.group(4) or "").upper()
    if not unit:
        if default_unit is None and int(whole) == 0 and not part:
            return 0
        if default_unit is None:
            raise SizeSyntax(text=str(text), needs_unit=True)
        unit = default_unit
    if not part:
        # A fraction costs five times as much, and a pasted table of 512 queues has 1,536 sizes.
        return int(whole) * _UNIT_BYTES[unit]
    size = Fraction(Decimal(f"{whole}.{part or 0}")) * _UNIT_BYTES[unit]
    if size.denominator != 1:
        problem = (
            f"must be a whole number of bytes, such as {ceil_fraction(size)}"
            if default_unit == "B"
            else f"must be a whole number of K, such as {ceil_fraction(size / KIB)}K"
        )
        raise SizeSyntax(text=str(text), problem=problem)
    return size.numerator


def format_size(size_bytes: int) -> str:
    """Return a size in the largest unit that is exact, as XCF displays it: `1G`, `120000K`.

    A size that is not a whole number of K is written in bytes with a B.
    """
    if size_bytes < 0:
        raise OutOfRange(field="size_bytes", value=size_bytes, lowest=0)
    for unit in ("T", "G", "M", "K"):
        if size_bytes and size_bytes % _UNIT_BYTES[unit] == 0:
            return f"{size_bytes // _UNIT_BYTES[unit]}{unit}"
    return f"{size_bytes}B" if size_bytes else "0K"


def format_mib(size_bytes: int | Fraction, *, digits: int = 1) -> str:
    """Return a size to display, rounded to nearest: `391.1 MiB`, or GiB from 10 GiB on.

    The digits are not grouped, so that the text can be searched and compared; pages group them.
    """
    size = Fraction(size_bytes)
    if size >= 10 * GIB:
        return f"{float(size / GIB):.{digits}f} GiB"
    return f"{float(size / MIB):.{digits}f} MiB"


def bytes_to_kib_ceil(size_bytes: int) -> int:
    """Return a size in whole K, rounded up, so that a policy never reserves too little."""
    return ceil_div(size_bytes, KIB)


def bytes_to_mib(size_bytes: int) -> float:
    """Return a size in MiB as a float, which is exact below 2**53 bytes."""
    return size_bytes / MIB


Mib = Annotated[int, Unchecked(), PlainSerializer(bytes_to_mib, return_type=float)]
"""Bytes that an answer shows in MiB; the alias of such a field ends in _mib."""


def mib_not_below(size_bytes: Fraction) -> float:
    """Return the smallest float of MiB whose printed digits are not below the exact size."""
    # A size that is printed, copied and entered again must still hold the same messages.
    mib = float(size_bytes / MIB)
    while Fraction(Decimal(repr(mib))) * MIB < size_bytes:
        mib = math.nextafter(mib, math.inf)
    return mib


def mib_to_bytes(mib: Decimal | Fraction | int) -> Fraction:
    """Return MiB in bytes, exactly."""
    return Fraction(mib) * MIB


def kib_to_bytes(kib: int) -> int:
    """Return KiB in bytes."""
    return kib * KIB


Kib = Annotated[int, AfterValidator(kib_to_bytes), PlainSerializer(bytes_to_kib_ceil, return_type=int)]
"""Bytes that an answer shows in KiB, rounded up; the alias of such a field ends in _kib."""
