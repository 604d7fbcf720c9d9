"""Wire types, byte by byte."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.smf import encode, wire

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def one(digits: str) -> wire.Bytes:
    return np.frombuffer(bytes.fromhex(digits), dtype=np.uint8).reshape(1, -1)


def test_packed_days_reads_a_date() -> None:
    days, is_date = wire.packed_days(one("0126325F"), 0)
    assert is_date.all()
    assert date(1970, 1, 1) + timedelta(int(days[0])) == date(2026, 11, 21)


@pytest.mark.parametrize(
    "digits",
    ["01263250", "0126366F", "0126000F", "01A6001F", "0226001F", "012600AF", "01263B5F", "F126325F"],
    ids=["sign", "day 366 of a common year", "day 0", "year", "century", "last digit", "digit", "first byte"],
)
def test_packed_days_detects_invalid_dates(digits: str) -> None:
    assert not wire.packed_days(one(digits), 0)[1].any()


def test_packed_days_accepts_leap_years() -> None:
    days, is_date = wire.packed_days(one("0124366F"), 0)
    assert is_date.all()
    assert date(1970, 1, 1) + timedelta(int(days[0])) == date(2024, 12, 31)


def test_stck_is_read_to_the_microsecond() -> None:
    # 2015-11-23 16:59:58.193482, as IBM's formatter prints this open time of TEST116
    us = int(wire.stck_unix_us(one("CFE48707290CA000"), 0)[0])
    assert (EPOCH + timedelta(microseconds=us)).date() == date(2015, 11, 23)
    assert wire.stck_unix_us(one("7D91048BCA000000"), 0)[0] == 0
    assert wire.stck_unix_us(one("7D91048BCA001000"), 0)[0] == 1


@pytest.mark.parametrize(
    ("digits", "value"),
    [
        ("4110000000000000", 1.0),
        ("C276A00000000000", -118.625),
        ("0000000000000000", 0.0),
        ("4E38D7EA4C680000", 16**14 * 0.2220446049250313),
        ("4080000000000000", 0.5),
    ],
)
def test_hexadecimal_floating_point_is_read(digits: str, value: float) -> None:
    assert wire.hexadecimal_float(one(digits), 0)[0] == pytest.approx(value, rel=1e-15)


@given(st.integers(0, 2**53))
def test_whole_numbers_survive_hexadecimal_floating_point(number: int) -> None:
    packed = encode.hexadecimal_float(float(number))
    assert wire.hexadecimal_float(np.frombuffer(packed, dtype=np.uint8).reshape(1, -1), 0)[0] == number


def test_packed_interval_reads_minutes_seconds_and_thousandths() -> None:
    us, is_valid = wire.packed_interval_us(one("1459987F"), 0)
    assert is_valid.all()
    assert us[0] == 14 * 60_000_000 + 59_987_000


def test_text_removes_padding() -> None:
    names = np.frombuffer(
        "AB  ".encode("cp037") + b"\xc3\0\0\0" + b"    ".decode().encode("cp037"), dtype=np.uint8
    )
    assert wire.text(names.reshape(3, 4)).to_pylist() == ["AB", "C", None]
    assert wire.text(names.reshape(3, 4), blank_is_null=False).to_pylist() == ["AB", "C", ""]


def test_characters_outside_ascii_are_kept() -> None:
    names = np.frombuffer("ÄÖ1 ".encode("cp037") + "ABC ".encode("cp037"), dtype=np.uint8).reshape(2, 4)
    assert wire.text(names).to_pylist() == ["ÄÖ1", "ABC"]


@given(st.lists(st.text("ABCDEFGHIJ0123456789.%_é", max_size=48), min_size=1, max_size=20))
def test_any_names_are_read_back(names: list[str]) -> None:
    packed = b"".join(name.ljust(48).encode("cp037") for name in names)
    matrix = np.frombuffer(packed, dtype=np.uint8).reshape(-1, 48)
    assert wire.text(matrix).to_pylist() == [name or None for name in names]


def test_bytes_become_hexadecimal_digits() -> None:
    assert wire.hex_text(one("D05D49181ECC2D3A")).to_pylist() == ["D05D49181ECC2D3A"]


@pytest.mark.parametrize(
    ("digits", "size", "value"),
    [("FF", 1, 255), ("FFFE", 2, 65534), ("80000000", 4, 2**31), ("0000000100000000", 8, 2**32)],
)
def test_unsigned_binary_is_read(digits: str, size: int, value: int) -> None:
    assert wire.unsigned(one(digits), 0, size)[0] == value


@pytest.mark.parametrize(
    ("digits", "size", "value"), [("FFFE", 2, -2), ("80000000", 4, -(2**31)), ("0FFFFFFF", 4, 0x0FFFFFFF)]
)
def test_signed_binary_is_read(digits: str, size: int, value: int) -> None:
    assert wire.signed(one(digits), 0, size)[0] == value
