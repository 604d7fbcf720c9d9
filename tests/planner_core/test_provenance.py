"""Exact numbers in answers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.provenance import plain_number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(5), 5),
        (Fraction(252_336, 125), "2018.688"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-7, 6), "-7/6"),
        # Twelve decimals are written, thirteen are not.
        (Fraction(1, 2**12), "0.000244140625"),
        (Fraction(1, 2**13), "1/8192"),
        (Fraction(3, 5**12), "0.000000012288"),
        (Fraction(3, 5**13), "3/1220703125"),
    ],
)
def test_exact_number_is_a_decimal_of_at_most_twelve_digits_or_a_fraction(
    value: Fraction, text: int | str
) -> None:
    assert plain_number(value) == text


@given(st.fractions() | st.builds(Fraction, st.integers(), st.sampled_from([1, 2**7, 5**9, 10**12, 10**13])))
def test_exact_number_loses_no_digit(value: Fraction) -> None:
    text = plain_number(value)
    assert Fraction(text) == value
    assert isinstance(text, int) == (value.denominator == 1)
    assert not str(text).endswith("0") or "." not in str(text)
