"""Event messages in hexadecimal: plain digits, or a dump with offsets as xxd, hexdump -C and od print it.

od and hexdump omit repeated lines and print an asterisk instead; the offsets show how many lines there were. By
default, they print two-byte numbers in the byte order of the machine: such dumps are refused, and the message names the
options that print bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from planner_core.depth_events.readers import pcf
from planner_core.depth_events.readers.message import EventFile

HEX: Final = "hex"
_HOW: Final = "print single bytes with `xxd FILE` or `od -A x -t x1 -v FILE`, or send the file as it is"
_OFFSET = re.compile(r"[ \t]*(?:X')?(?P<offset>[0-9A-Fa-f]{4,16})'?:[ \t]*(?P<rest>.*)")
_CHARACTERS = {"|": re.compile(r"[ \t]\|"), "<": re.compile(r"[ \t]>")}
"""The pattern that begins the column of characters, by the last character of the line."""
_AFTER_OFFSET = re.compile(r"\s{2,}|\s['|]")
_HEX_TEXT = re.compile(r"(?:0x|X')?(?P<digits>[0-9A-Fa-f]+)'?")
_PLAIN = re.compile(r"[0-9A-Fa-f \t]*")
_LONGEST_LINE: Final = 4_000_000
_ENOUGH: Final = 32
_LEAST_OFFSET: Final = 6
_BYTE: Final = 2
_BASES: Final = (16, 8, 10)
_MOST_BYTES: Final = 32 * 2**20
_ASTERISK: Final = "*"


@dataclass(frozen=True, slots=True)
class _Row:
    """A line with its bytes, grouped as in the text, and its offset if a colon marks one."""

    line: int
    words: tuple[str, ...]
    offset: str | None = None
    is_asterisk: bool = False

    @property
    def digits(self) -> str:
        return "".join(self.words)


class _NotBytes(Exception):
    """A dump from which the bytes cannot be restored."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}: {_HOW}.")


_SHORTEST_ROW = 5
"""The minimum average number of characters per row, including the line end."""


def looks_like(text: str) -> bool:
    """Return whether a text consists of bytes in hexadecimal."""
    if text.count("\n") * _SHORTEST_ROW > len(text):  # no dump has such short rows, and each row costs time
        return False
    rows = _rows(text)
    return rows is not None and sum(len(row.digits) for row in rows) >= _ENOUGH


def read(text: str, found: EventFile) -> None:
    """Read hexadecimal text; offsets in problems count bytes, not characters."""
    try:
        digits = _digits(_rows(text) or [])
    except _NotBytes as reason:
        found.problem("", str(reason))
        return
    if len(digits) % _BYTE:
        found.problem("", "The number of hexadecimal digits is odd: the last digit is omitted.")
        digits = digits[:-1]
    pcf.read(bytes.fromhex(digits), found, name_of_place="byte")


def _rows(text: str) -> list[_Row] | None:
    """Return the lines with bytes and the asterisks; None if there is any other line."""
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        plain = line.strip()
        if not plain or plain.startswith("#") or (plain.startswith(_ASTERISK) and plain != _ASTERISK):
            continue
        row = _row(line, number)
        if row is None:
            return None
        rows.append(row)
    return rows


def _row(line: str, number: int) -> _Row | None:
    if len(line) > _LONGEST_LINE:
        return None
    if line.strip() == _ASTERISK:
        return _Row(number, (), is_asterisk=True)
    marked = _OFFSET.match(line)
    if marked:
        words = _words(_AFTER_OFFSET.split(marked["rest"].strip(), maxsplit=1)[0])
        return None if words is None else _Row(number, words, marked["offset"])
    words = _words(_without_characters(line))
    return None if not words else _Row(number, words)


def _without_characters(line: str) -> str:
    """Return a line without the column of characters at its end."""
    plain = line.rstrip(" \t")
    begins = _CHARACTERS.get(plain[-1:])
    found = begins.search(plain, 0, len(plain) - 1) if begins else None
    return plain[: found.start()].rstrip(" \t") if found else line


def _words(text: str) -> tuple[str, ...] | None:
    if _PLAIN.fullmatch(text):
        return tuple(text.split())
    found = [_HEX_TEXT.fullmatch(word) for word in text.split()]
    return tuple(match["digits"] for match in found if match) if all(found) else None


def _digits(rows: Sequence[_Row]) -> str:
    """Return the digits of all bytes.

    Raises:
        _NotBytes: The text does not determine them.
    """
    if any(row.offset for row in rows):
        return _joined(rows, base=16)
    if not _have_offsets(rows):
        if any(row.is_asterisk for row in rows):
            why = "An asterisk replaces repeated lines, and without offsets their number is unknown"
            raise _NotBytes(why)
        return "".join(row.digits for row in rows)
    rows = [row if row.is_asterisk else _Row(row.line, row.words[1:], row.words[0]) for row in rows]
    wide = next((row for row in rows if any(len(word) != _BYTE for word in row.words)), None)
    if wide:
        why = (
            f"Line {wide.line} shows numbers, such as {wide.words[0]}, not single bytes: they may be octal, and their "
            "byte order depends on the machine"
        )
        raise _NotBytes(why)
    reasons = []
    # od prints octal offsets by default, and others on request.
    for base in _BASES:
        try:
            return _joined(rows, base=base)
        except _NotBytes as reason:
            reasons.append(reason)
    raise reasons[0]


def _have_offsets(rows: Sequence[_Row]) -> bool:
    """Return whether each line begins with an offset: the first with 0, the others with a higher one or with 0 again."""
    firsts = [row.words[0] for row in rows if row.words]
    if not firsts or firsts[0].strip("0") or any(len(first) < _LEAST_OFFSET for first in firsts):
        return False
    places = [int(first, 16) for first in firsts]
    return all(after > place or not after for place, after in pairwise(places))


def _joined(rows: Sequence[_Row], *, base: int) -> str:
    """Return the digits in the order of their offsets, which have this base, with the lines that asterisks replace."""
    return "".join(_parts(rows, base))


def _parts(rows: Sequence[_Row], base: int) -> Iterator[str]:
    expected, held, last, is_asterisk = 0, 0, "", False
    for row in rows:
        if row.is_asterisk:
            is_asterisk = True
            continue
        at = _number(row, base)
        between = at - expected
        if is_asterisk and last and between > 0 and not between * _BYTE % len(last):
            held += between
            # Two lines and an asterisk can mean any number of bytes.
            if held > _MOST_BYTES:
                why = f"The asterisk before line {row.line} replaces {between} bytes, too many for events"
                raise _NotBytes(why)
            yield last * (between * _BYTE // len(last))
        elif between and at and expected:
            many = "are missing before it" if between > 0 else "too many are before it"
            why = f"The offset of line {row.line} is {row.offset}, but {abs(between)} bytes {many}"
            raise _NotBytes(why)
        is_asterisk = False
        if row.words:
            last = row.digits
            yield last
        expected = at + len(row.digits) // _BYTE


def _number(row: _Row, base: int) -> int:
    try:
        return int(row.offset or "", base)
    except ValueError:
        why = f"Line {row.line} does not begin with an offset"
        raise _NotBytes(why) from None
