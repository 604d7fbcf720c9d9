"""The rule for numbers that people type or paste: a text is read if it can be one number only (decision 0035).

Form fields, cells of tables, options of commands, settings, and sizes in documents use these functions. Formats of
programs state what their points and commas mean, and have readers of their own: numbers in JSON and YAML, SMF, RMF,
displays, MQSC and policies.
"""

from __future__ import annotations

import re
from decimal import Decimal

from planner_core.errors import SizeSyntax
from planner_core.units import parse_size

LONGEST_WHOLE = 24
LONGEST_DECIMAL = 40
"""The maximum number of characters. A stored number has at most 15 digits, but its text has zeros before small ones."""

_LONGEST_SIZE = 60
_MARKS = " \u00a0\u2009\u202f'\u2019_"
"""Marks that separate thousands only: blanks (some narrow or unbreakable), apostrophes, and the underscore."""


def _grouped(marks: str) -> str:
    """Return the pattern of digits in groups of three with one of these marks, always the same one."""
    # No group starts with zero: `0,125` is an eighth. [0-9], because \d also matches the digits of other scripts.
    return rf"[1-9][0-9]{{0,2}}(?P<mark>[{marks}])[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*"


# A point never separates thousands, and a comma separates decimals only in tables.
_NUMBER = re.compile(rf"(?P<sign>[+-]?)(?P<whole>[0-9]*|{_grouped(f'{_MARKS},')})(?:\.(?P<part>[0-9]+))?")
_WITH_COMMA = re.compile(rf"(?P<sign>[+-]?)(?P<whole>[0-9]+|{_grouped(_MARKS)}),(?P<part>[0-9]+)")
# Two digits: more would give numbers of a million digits.
_WITH_EXPONENT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?E[+-]?[0-9]{1,2}", re.IGNORECASE)
_UNIT = r"(?P<unit> *(?:[KMGT](?:I?B)?|B)?)"
_SIZE = re.compile(rf"(?P<number>.*?){_UNIT}", re.ASCII | re.DOTALL | re.IGNORECASE)
_AMBIGUOUS = re.compile(
    rf"(?P<sign>[+-]?)(?P<head>[1-9][0-9]{{0,2}})[.,](?P<tail>[0-9]{{3}}){_UNIT}", re.ASCII | re.IGNORECASE
)
_SEPARATED = re.compile(rf"[+-]?[0-9]*(?:[{_MARKS}.,][0-9]+)+{_UNIT}", re.ASCII | re.IGNORECASE)


def whole_text(text: str) -> str | None:
    """Return the digits of a whole number, with a minus sign if it is negative; None for other text.

    `1,200` is read: 1.2 is no whole number. A point is not, because it is the mark before decimals.

    >>> whole_text("1,200")
    '1200'
    """
    plain = text.strip()
    if len(plain) > LONGEST_DECIMAL:
        return None
    found = _NUMBER.fullmatch(plain)
    if found is None or found["part"] or not (digits := _digits(found["whole"])):
        return None
    # Python takes quadratic time for very long numbers.
    return _signed(found["sign"], digits) if len(digits) <= LONGEST_WHOLE else None


def decimal_text(text: str, *, in_table: bool = False) -> str | None:
    """Return a number as digits with at most one point; None for text that is no number, or may be two.

    Args:
        text: The text.
        in_table: Whether it is a cell of a table: spreadsheets in many countries write a comma before decimals, and an
            exponent after digits that they have rounded.

    >>> decimal_text("1,234,567.5"), decimal_text("1,200"), decimal_text("1.200")
    ('1234567.5', None, None)
    """
    plain = text.strip()
    if len(plain) > LONGEST_DECIMAL or _AMBIGUOUS.fullmatch(plain):
        return None
    if not in_table and _WITH_EXPONENT.fullmatch(plain):
        # Programs write 1e-05 for a small number, and scripts send back what they read.
        written = format(Decimal(plain) or Decimal(0), "f")
        return written if len(written) <= LONGEST_DECIMAL else None
    found = _NUMBER.fullmatch(plain) or (_WITH_COMMA.fullmatch(plain) if in_table else None)
    if found is None or not (found["whole"] or found["part"]):
        return None
    digits = _digits(found["whole"]) or "0"
    return _signed(found["sign"], f"{digits}.{found['part']}" if found["part"] else digits)


def whole(text: str) -> int | None:
    """Return a whole number; None for other text."""
    # Nearly all texts are digits, and a pasted table can have 100,000 of them.
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_WHOLE:
        return int(text)
    plain = whole_text(text)
    return None if plain is None else int(plain)


def decimal(text: str, *, in_table: bool = False) -> Decimal | None:
    """Return a number, exactly; None for text that is no number, or may be two."""
    plain = decimal_text(text, in_table=in_table)
    return None if plain is None else Decimal(plain)


def size_text(text: str) -> str:
    """Return a size without thousands separators, for `units.parse_size`; other text is returned as it is.

    A size without a unit is a whole number, so `1,200` is 1200. With a unit, `1,200M` may be 1.2M, and stays as it is.
    """
    plain = text.strip()
    # The pattern takes quadratic time for a long text of blanks.
    found = _SIZE.fullmatch(plain) if len(plain) <= _LONGEST_SIZE else None
    # `1e3K` is refused, as in plan documents.
    if found is None or "E" in found["number"].upper():
        return text
    number, unit = found["number"], found["unit"]
    count = None if unit.strip() else whole_text(number)
    return (count or decimal_text(number) or number) + unit


def typed_size(text: str | int, *, default_unit: str | None = "K") -> int:
    """Read a size like `units.parse_size`, but refuse `1.500M`, which may be 1500M [bytes].

    Raises:
        SizeSyntax: The text is not a size, or may be two.
    """
    try:
        size = parse_size(text, default_unit=default_unit)
    except SizeSyntax as error:
        # A size that needs a unit lacks one in any case.
        problem = "" if error.needs_unit or not isinstance(text, str) else separator_problem(text)
        if not problem:
            raise
    else:
        problem = ambiguity(text) if isinstance(text, str) else ""
        if not problem:
            return size
    raise SizeSyntax(text=str(text), problem=problem)


def ambiguity(text: str, *, is_whole: bool = False) -> str:
    """Return the error of a number or size that can be read in two ways, with both; an empty text for others.

    The error continues the name of the field.

    >>> ambiguity("1.200")
    'may have a thousands separator: write 1200 or 1.2'
    >>> ambiguity("1,234M")
    'may have a thousands separator: write 1234M or 1.2340M'
    """
    found = _AMBIGUOUS.fullmatch(text.strip())
    if not found:
        return ""
    sign, unit = found["sign"].replace("+", ""), found["unit"]
    thousands = f"{sign}{found['head']}{found['tail']}{unit}"
    if is_whole and not unit.strip():
        return f"may have a thousands separator: write {thousands}"
    decimals = f"{found['head']}.{found['tail']}".rstrip("0").rstrip(".")
    return f"may have a thousands separator: write {thousands} or {sign}{_unambiguous(decimals)}{unit}"


def separator_problem(text: str, *, is_whole: bool = False) -> str:
    """Return the error of a refused number or size if separators are the reason, otherwise an empty text.

    >>> separator_problem("1.234,5")
    'must have a point before the decimals, and no thousands separators, such as 1200.5'
    >>> separator_problem("1.200.000", is_whole=True)
    'must be a whole number in digits, without separators, such as 1200'
    """
    plain = text.strip()
    if problem := ambiguity(plain, is_whole=is_whole):
        return problem
    # A blank before the unit separates nothing.
    has_only_decimals = plain.count(".") == 1 and not re.search(
        r"[^+0-9.A-Z-](?! *[A-Z])", plain, re.IGNORECASE
    )
    if len(plain) > LONGEST_DECIMAL or has_only_decimals or not _SEPARATED.fullmatch(plain):
        return ""
    if is_whole:
        return "must be a whole number in digits, without separators, such as 1200"
    return "must have a point before the decimals, and no thousands separators, such as 1200.5"


def unambiguous(number: object) -> str:
    """Return a number as text that is read as the same number.

    >>> unambiguous(1.234), unambiguous(0.00001)
    ('1.2340', '0.00001')
    """
    # str(0.00001) is 1e-05, which is not read. A zero has no sign.
    exact = Decimal(str(number)) or Decimal(0)
    return _unambiguous(format(exact, "f"))


def _unambiguous(text: str) -> str:
    # A fourth decimal shows that the point separates no thousands.
    return f"{text}0" if _AMBIGUOUS.fullmatch(text) else text


def _digits(whole: str) -> str:
    return whole if whole.isdigit() else re.sub(r"[^0-9]", "", whole)


def _signed(sign: str, digits: str) -> str:
    return f"-{digits}" if sign == "-" and digits.strip("0.") else digits
