"""Parsing, formatting and rounding of sizes."""

from __future__ import annotations

import contextlib
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.errors import OutOfRange, SizeSyntax
from planner_core.units import (
    bytes_to_kib_ceil,
    bytes_to_mib,
    ceil_div,
    ceil_fraction,
    floor_fraction,
    format_mib,
    format_size,
    kib_to_bytes,
    mib_not_below,
    mib_to_bytes,
    parse_size,
    round_up,
)

K = 1024
M = K * K
G = M * K
T = G * K


@given(st.one_of(st.integers(0, 10**15 - 1), st.integers(0, 2**40).map(lambda kib: kib * K)))
def test_formatted_size_parses_to_the_same_bytes(size: int) -> None:
    assert parse_size(format_size(size)) == size


@given(st.integers(1, 999), st.sampled_from([("K", K), ("M", M), ("G", G), ("T", T)]))
def test_size_is_formatted_in_the_largest_exact_unit(count: int, unit: tuple[str, int]) -> None:
    assert format_size(count * unit[1]) == f"{count}{unit[0]}"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64G", 64 * G),
        ("1.5 G", 3 * G // 2),
        ("524288K", 512 * M),
        ("1048576 K", G),
        (" 262144 ", 256 * M),
        (262144, 256 * M),
        (0, 0),
        ("0.5k", 512),
        ("1t", T),
        ("512MB", 512 * M),
        ("512 MiB", 512 * M),
        ("512mib", 512 * M),
        ("17B", 17),
        ("0.001953125K", 2),
    ],
)
def test_sizes_in_zos_notation_are_parsed(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "K",
        "-1K",
        "+1K",
        "1,5G",
        "1e3",
        "0x10",
        "1KK",
        "1 P",
        "1.K",
        ".5K",
        "1_000",
        "1K\n",
        "１K",  # noqa: RUF001 - a digit of another script
        "\u00b2K",
        "9" * 16,
        "1.0000000001K",
        "NaN",
        True,
        -1,
    ],
)
def test_invalid_size_is_refused_with_its_text(text: str | int) -> None:
    with pytest.raises(
        SizeSyntax, match="is not a valid size: write a number and a unit K, M, G or T"
    ) as refused:
        parse_size(text)
    assert refused.value.text == str(text)


@pytest.mark.parametrize("text", ["0.1K", "1.1B", "0.5B", "1.000000001M"])
def test_size_with_a_fraction_of_a_byte_is_refused(text: str) -> None:
    with pytest.raises(SizeSyntax):
        parse_size(text)


def test_number_without_a_unit_has_the_default_unit_or_is_refused() -> None:
    assert parse_size("5") == 5 * K
    assert parse_size("5", default_unit="M") == 5 * M
    assert parse_size("5", default_unit="B") == 5
    assert parse_size("0", default_unit=None) == 0
    assert parse_size("5K", default_unit=None) == 5 * K
    with pytest.raises(SizeSyntax, match="'5' has no unit: write it with K, M, G or T, such as 32K"):
        parse_size("5", default_unit=None)


def test_error_on_a_long_text_shows_only_its_beginning() -> None:
    with pytest.raises(SizeSyntax) as refused:
        parse_size("x" * 5000)
    assert len(str(refused.value)) < 150


@given(st.text(max_size=20))
def test_any_text_is_parsed_or_raises_size_syntax(text: str) -> None:
    with contextlib.suppress(SizeSyntax):
        assert parse_size(text) >= 0


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0K"), (1, "1B"), (1023, "1023B"), (120_000 * K, "120000K"), (1048576 * K, "1G")]
)
def test_size_is_formatted_as_in_xcf_displays(size: int, text: str) -> None:
    assert format_size(size) == text


def test_negative_size_is_refused() -> None:
    with pytest.raises(OutOfRange, match="size_bytes is -1, but must be at least 0"):
        format_size(-1)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0.0 MiB"),
        (410_121_830, "391.1 MiB"),
        (10 * G - 1, "10240.0 MiB"),
        (10 * G, "10.0 GiB"),
        (1024 * G, "1024.0 GiB"),
        (Fraction(M, 2), "0.5 MiB"),
    ],
)
def test_format_mib_uses_gib_from_10_gib(size: int | Fraction, text: str) -> None:
    assert format_mib(size) == text


def test_format_mib_accepts_more_digits() -> None:
    assert format_mib(M // 8, digits=3) == "0.125 MiB"


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**15))
def test_rounding_up_is_exact_for_numbers_of_any_size(value: int, by: int) -> None:
    assert ceil_div(value, by) == ceil_fraction(Fraction(value, by))
    assert 0 <= ceil_div(value, by) * by - value < by
    assert round_up(value, multiple=by) == ceil_div(value, by) * by


@given(st.fractions())
def test_ceil_and_floor_enclose_a_fraction(value: Fraction) -> None:
    assert floor_fraction(value) == math.floor(value)
    assert ceil_fraction(value) == math.ceil(value)


@given(st.integers(0, 10**18))
def test_size_in_whole_k_is_never_below_the_size(size: int) -> None:
    kib = bytes_to_kib_ceil(size)
    assert kib_to_bytes(kib) >= size > kib_to_bytes(kib - 1)


@given(st.integers(0, 2**53 - 1))
def test_conversion_of_bytes_to_mib_and_back_is_exact(size: int) -> None:
    assert mib_to_bytes(Fraction(bytes_to_mib(size))) == size


@given(st.fractions(min_value=0, max_value=2**60))
def test_mib_not_below_returns_the_smallest_float_not_below_the_size(
    size: Fraction,
) -> None:
    mib = mib_not_below(size)
    assert mib_to_bytes(Decimal(repr(mib))) >= size
    below = math.nextafter(mib, -math.inf)
    assert mib == float(size / M) or mib_to_bytes(Decimal(repr(below))) < size


def test_mib_not_below_keeps_exact_values() -> None:
    assert mib_not_below(Fraction(391 * M)) == 391.0
    assert mib_not_below(Fraction(M, 10)) == 0.1
    assert mib_not_below(Fraction(M, 3)) > Fraction(1, 3)


def test_decimal_mib_become_exact_bytes() -> None:
    assert mib_to_bytes(Decimal("6.089")) == Fraction(6089 * M, 1000)
