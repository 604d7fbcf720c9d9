"""Wire types of SMF records, a whole column at a time: matrices of bytes in, numpy or Arrow columns out.

A column is cut from `rows`, a matrix of bytes with one row for each section. No code here loops over rows, except for
names with characters outside ASCII.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

UNIX_EPOCH_STCK = 0x7D91048BCA000000
"""1970-01-01 on the hardware clock, whose bit 51 counts microseconds from 1900-01-01."""
STCK_SHIFT = 12
UNIX_EPOCH_STCK_US = UNIX_EPOCH_STCK >> STCK_SHIFT
HUNDREDTHS_A_DAY = 8_640_000
US_A_HUNDREDTH = 10_000
US_A_MINUTE = 60_000_000
US_A_DAY = 86_400_000_000
QUARTER_US = 15 * US_A_MINUTE

BLANK, NUL = 0x40, 0x00
# Python has no cp1047; names use only characters that both code pages have in common.
_CHARACTERS = bytes(range(256)).decode("cp037")
_ASCII = np.array([ord(c) if ord(c) < 0x80 else 0 for c in _CHARACTERS], dtype=np.uint8)  # noqa: PLR2004
_NOT_ASCII = np.array([ord(c) >= 0x80 for c in _CHARACTERS], dtype=np.bool_)  # noqa: PLR2004
_FILLED = np.array([b not in (BLANK, NUL) for b in range(256)], dtype=np.bool_)
_HEX_DIGITS = np.frombuffer(b"0123456789ABCDEF", dtype=np.uint8)

_PACKED_PAIR = np.array(
    [(b >> 4) * 10 + (b & 15) if (b >> 4) < 10 and (b & 15) < 10 else -1 for b in range(256)],  # noqa: PLR2004
    dtype=np.int64,
)
"""The number that two packed digits form, by byte; -1 if they are not digits."""
_PACKED_LAST = np.array(
    [b >> 4 if (b >> 4) < 10 and (b & 15) == 15 else -1 for b in range(256)],  # noqa: PLR2004
    dtype=np.int64,
)
"""The last packed digit before the sign F, by byte; -1 if there is none."""

FIRST_YEAR = 1900
LAST_CENTURY = 1
DAYS_A_YEAR_AT_MOST = 366
_YEARS = np.arange(FIRST_YEAR, FIRST_YEAR + 200)
_NEW_YEAR = (_YEARS - 1970) * 365 + (_YEARS - 1969) // 4 - (_YEARS - 1901) // 100 + (_YEARS - 1601) // 400
"""Days from 1970-01-01 to the first of January of each year."""
_LEAP = ((_YEARS % 4 == 0) & (_YEARS % 100 != 0)) | (_YEARS % 400 == 0)


def unsigned(rows: Bytes, offset: int, size: int) -> Ints:
    """Return unsigned big-endian numbers; eight bytes with the high bit set become negative."""
    if size == 1:
        return rows[:, offset].astype(np.int64)
    return rows[:, offset : offset + size].view(f">u{size}")[:, 0].astype(np.int64)


def signed(rows: Bytes, offset: int, size: int) -> Ints:
    """Return signed big-endian numbers."""
    return rows[:, offset : offset + size].view(f">i{size}")[:, 0].astype(np.int64)


def stck_us(rows: Bytes, offset: int) -> Ints:
    """Return durations of the hardware clock in microseconds."""
    clock = rows[:, offset : offset + 8].view(">u8")[:, 0]
    return (clock >> np.uint64(STCK_SHIFT)).astype(np.int64)


def stck_unix_us(rows: Bytes, offset: int) -> Ints:
    """Return instants of the hardware clock in microseconds since 1970 (UTC)."""
    return stck_us(rows, offset) - UNIX_EPOCH_STCK_US


def hexadecimal_float(rows: Bytes, offset: int) -> Floats:
    """Return long hexadecimal floating-point numbers: sign, base-16 exponent in excess of 64, fraction of 56 bits."""
    word = rows[:, offset : offset + 8].view(">u8")[:, 0].astype(np.uint64)
    fraction = (word & np.uint64(0x00FFFFFFFFFFFFFF)).astype(np.float64)
    exponent = ((word >> np.uint64(56)) & np.uint64(0x7F)).astype(np.int64)
    value = np.ldexp(fraction, (4 * (exponent - 64) - 56).astype(np.int32))
    negative = (word >> np.uint64(63)).astype(np.bool_)
    return np.where(negative, -value, value)


def packed_days(rows: Bytes, offset: int) -> tuple[Ints, Mask]:
    """Return dates 0cyydddF as days since 1970-01-01, and which of them are dates."""
    century = rows[:, offset].astype(np.int64)
    year = _PACKED_PAIR[rows[:, offset + 1]]
    high = _PACKED_PAIR[rows[:, offset + 2]]
    low = _PACKED_LAST[rows[:, offset + 3]]
    day = high * 10 + low
    index = np.clip(century * 100 + year, 0, _YEARS.size - 1)
    is_date = (
        (century <= LAST_CENTURY)
        & (year >= 0)
        & (high >= 0)
        & (low >= 0)
        & (day >= 1)
        & (day <= np.where(_LEAP[index], DAYS_A_YEAR_AT_MOST, DAYS_A_YEAR_AT_MOST - 1))
    )
    return _NEW_YEAR[index] + day - 1, is_date


def packed_interval_us(rows: Bytes, offset: int) -> tuple[Ints, Mask]:
    """Return durations mmsstttF in microseconds, and which of them are valid."""
    minutes = _PACKED_PAIR[rows[:, offset]]
    seconds = _PACKED_PAIR[rows[:, offset + 1]]
    high = _PACKED_PAIR[rows[:, offset + 2]]
    low = _PACKED_LAST[rows[:, offset + 3]]
    is_valid = (minutes >= 0) & (seconds >= 0) & (high >= 0) & (low >= 0)
    return ((minutes * 60 + seconds) * 1000 + high * 10 + low) * 1000, is_valid


def text(characters: Bytes, *, blank_is_null: bool = True, missing: Mask | None = None) -> pa.Array:
    """Return names in EBCDIC (cp037), without trailing blanks or zeros."""
    n, width = characters.shape
    if n == 0:
        return pa.array([], pa.string())
    filled = _FILLED[characters]
    lengths = np.where(filled.any(axis=1), width - filled[:, ::-1].argmax(axis=1), 0)
    if missing is not None:
        lengths = np.where(missing, 0, lengths)
    nulls = missing
    if blank_is_null:
        nulls = lengths == 0
    # Build the column from buffers: a Python string for each name would take most of the decoder's time.
    within = np.arange(width) < lengths[:, None]
    kept = characters[within]
    if _NOT_ASCII[kept].any():
        return _text_by_row(characters, lengths, nulls)
    offsets = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.StringArray.from_buffers(
        n,
        pa.py_buffer(offsets),
        pa.py_buffer(_ASCII[kept]),
        None if nulls is None or not nulls.any() else bitmap(~nulls),
    )


def _text_by_row(characters: Bytes, lengths: npt.NDArray[Any], nulls: Mask | None) -> pa.Array:
    whole = characters.tobytes()
    width = characters.shape[1]
    names = [
        None
        if nulls is not None and nulls[i]
        else whole[i * width : i * width + int(lengths[i])].decode("cp037")
        for i in range(len(characters))
    ]
    return pa.array(names, pa.string())


def hex_text(content: Bytes, *, missing: Mask | None = None) -> pa.Array:
    """Return bytes as hexadecimal digits."""
    n, width = content.shape
    digits = np.empty((n, width * 2), dtype=np.uint8)
    digits[:, 0::2] = _HEX_DIGITS[content >> 4]
    digits[:, 1::2] = _HEX_DIGITS[content & 15]
    offsets = np.arange(n + 1, dtype=np.int32) * np.int32(width * 2)
    return pa.StringArray.from_buffers(
        n,
        pa.py_buffer(offsets),
        pa.py_buffer(digits),
        None if missing is None or not missing.any() else bitmap(~missing),
    )


def bitmap(valid: Mask) -> pa.Buffer:
    """Return Arrow's validity bitmap."""
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def numbers(values: npt.NDArray[Any], type_: pa.DataType, *, missing: Mask | None = None) -> pa.Array:
    """Return an Arrow column of fixed-width numbers or times."""
    if missing is not None and not missing.any():
        missing = None
    width = np.dtype(f"i{type_.bit_width // 8}") if type_ != pa.float64() else np.dtype("f8")
    contiguous = np.ascontiguousarray(values, dtype=width)
    validity = None if missing is None else bitmap(~missing)
    return pa.Array.from_buffers(type_, len(contiguous), [validity, pa.py_buffer(contiguous)])


def truths(values: Mask, *, missing: Mask | None = None) -> pa.Array:
    """Return an Arrow column of booleans."""
    validity = None if missing is None or not missing.any() else bitmap(~missing)
    return pa.Array.from_buffers(pa.bool_(), len(values), [validity, bitmap(values)])
