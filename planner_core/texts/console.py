"""Console and SYSLOG text: the lines of commands and messages without the console's prefixes.

This module removes time stamps, dates, system names, job ids, routing codes and message flags of a
console, of JES2 SYSLOG and of OPERLOG. If other messages come between the lines of a message, the
number that SYSLOG gives a multiline message joins them again. The formats are from memory of z/OS;
a line in an unknown format is kept unchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, time
from itertools import accumulate
from typing import Final, NamedTuple

LARGEST_LINE: Final = 4_000
"""The maximum length of a line. A longer one is split into pieces, on the assumption that pasting removed its line
breaks."""
_SPACES: Final = {ord(each): " " for each in "\x00\x0b\x0c\u00a0\u2007\u202f\u2002\u2003\u2009\u3000"}
"""Characters that terminals and web pages use instead of blanks."""
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_MESSAGE_ID = r"[A-Z]{3,4}[0-9]{3,5}[IEWADST]\b"
_STAMPED = re.compile(
    r"[ \t'\"-]*(?:[A-Z][A-Z ]? ?[0-9A-F]{7,32}[ \t]+|[0-9A-F]{16,32}[ \t]+)?"
    rf"(?:(?!{_MESSAGE_ID})[A-Z$#@][A-Z0-9$#@]{{0,7}}[ \t]+)?"
    r"(?:(?P<day>[0-9]{7}|[0-9]{5}|[0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]+)?"
    r"(?P<clock>[0-9]{2}[.:][0-9]{2}[.:][0-9]{2}(?:[.:][0-9]{1,6})?)(?=[ \t]|$)"
    r"(?:[ \t]+(?:STC|JOB|TSU|[SJT])[0-9]{4,7}(?=[ \t]|$))?"
    rf"(?:[ \t]+(?:(?!{_MESSAGE_ID})[A-Z0-9$#@]{{1,8}}[ \t]+)?[0-9A-F]{{8}}(?=[ \t]|$))?"
    r"(?P<text>.*)"
)
_CONNECTED = re.compile(
    r"(?:[DE][CRIOU]?[ \t]+|[ \t]{6,})(?P<connect>[0-9]{3})[ \t]+(?P<flags>[0-9A-F]{8})(?=[ \t]|$)(?P<text>.*)"
)
_OVERFLOW = re.compile(r"S[CRIOU]?[ \t]{12,}(?P<text>\S.*)")
_ENDS_WITH_NUMBER = re.compile(r"(?:^|[ \t,])(?P<connect>[0-9]{3})[ \t]*$")
_STARTS_MESSAGE = re.compile(rf"[ \t*@+!-]*(?P<id>{_MESSAGE_ID})")
_DIGIT: Final = re.compile(r"[0-9]")
_JULIAN_LENGTHS: Final = {5: 2, 7: 4}
_CENTURY: Final = 2000


@dataclass(frozen=True, slots=True)
class Stamp:
    """The time when the console wrote a line, in its local time; consoles often omit the day."""

    clock: time
    day: date | None = None

    def __str__(self) -> str:
        """Return the known parts in ISO form."""
        return f"{self.day.isoformat()}T{self.clock.isoformat()}" if self.day else self.clock.isoformat()


class Line(NamedTuple):
    """A line: its number in the text (from 1), its text, and its stamp."""

    number: int
    text: str
    stamp: Stamp | None = None
    connect: str | None = None
    """The number with which SYSLOG links the lines of one message."""


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line (from 1) that could not be read, and the reason."""

    line: int
    message: str


@dataclass(slots=True)
class Block:
    """The lines of a message, or of an answer to a command."""

    message_id: str | None
    lines: list[Line] = field(default_factory=list)
    _joined: tuple[str, tuple[int, ...]] | None = field(default=None, init=False, repr=False, compare=False)

    def add(self, line: Line) -> None:
        """Add a line."""
        self.lines.append(line)
        self._joined = None

    @property
    def line(self) -> int:
        """Return the number of the first line."""
        return self.lines[0].number

    @property
    def stamp(self) -> Stamp | None:
        """Return the stamp of the first line that has one."""
        return next((line.stamp for line in self.lines if line.stamp), None)

    @property
    def text(self) -> str:
        """Return the lines, joined with line ends."""
        return self._whole()[0]

    def line_at(self, position: int) -> int:
        """Return the number of the line at a position of `text`."""
        return self.lines[bisect_right(self._whole()[1], position) - 1].number

    def _whole(self) -> tuple[str, tuple[int, ...]]:
        """Return the text, and the start of each line in it."""
        if self._joined is None:
            text = "\n".join(line.text for line in self.lines)
            starts = accumulate((len(line.text) + 1 for line in self.lines[:-1]), initial=0)
            self._joined = text, tuple(starts)
        return self._joined


def lines(text: str) -> tuple[Line, ...]:
    """Return the lines of a text without console prefixes; numbers count all lines.

    Only the first of several blank lines is returned.
    """
    found: list[Line] = []
    is_blank = False
    for number, raw in enumerate(_LINE_ENDS.sub("\n", text).translate(_SPACES).split("\n"), start=1):
        if not raw or raw.isspace():
            if not is_blank:  # only the first of several, so that a million of them cost no more than one
                found.append(Line(number, ""))
            is_blank = True
            continue
        is_blank = False
        for piece in (raw,) if len(raw) <= LARGEST_LINE else _pieces(raw):
            line = piece.rstrip()
            if not line:  # a long line can have a piece of blanks only
                continue
            overflow = _OVERFLOW.fullmatch(line) if line[0] == "S" else None
            # The limit keeps a text of continuation lines from becoming one line of any length.
            if overflow and found and len(found[-1].text) < LARGEST_LINE:
                last = found.pop()
                joined = f"{last.text} {overflow['text']}"
                found.append(Line(last.number, joined, last.stamp, last.connect))
                continue
            found.append(_line(number, line))
    return tuple(found)


def _pieces(raw: str) -> Iterator[str]:
    """Yield a line, or the pieces of one that is too long, broken at blanks."""
    start = 0
    while len(raw) - start > LARGEST_LINE:
        at = raw.rfind(" ", start, start + LARGEST_LINE) + 1 or start + LARGEST_LINE
        yield raw[start:at]
        start = at
    yield raw[start:]


def blocks(found: Iterable[Line]) -> tuple[Block, ...]:
    """Return the messages, each with its lines; lines before the first message are a block without id."""
    made: list[Block] = []
    open_by_number: dict[str, Block] = {}
    current: Block | None = None
    for line in found:
        if line.connect is not None and line.connect in open_by_number:
            open_by_number[line.connect].add(line)
            continue
        started = _STARTS_MESSAGE.match(line.text)
        if started or current is None:
            current = Block(started["id"] if started else None)
            made.append(current)
            number = _ENDS_WITH_NUMBER.search(line.text) if started else None
            if number:
                open_by_number[number["connect"]] = current
                text = line.text[: number.start()].rstrip(" \t,")
                line = Line(line.number, text, line.stamp, line.connect)
        current.add(line)
    return tuple(made)


def _line(number: int, line: str) -> Line:
    if not _DIGIT.search(line):  # neither a number of a message nor a time
        return Line(number, line)
    connected = _CONNECTED.fullmatch(line)
    if connected:
        return Line(number, connected["text"].rstrip(), None, connected["connect"])
    stamped = _STAMPED.fullmatch(line)
    if stamped:
        stamp = _stamp(stamped["day"], stamped["clock"])
        if stamp:
            return Line(number, stamped["text"].rstrip(), stamp)
    return Line(number, line)


def _stamp(day: str | None, clock: str) -> Stamp | None:
    parts = re.split(r"[.:]", clock)
    micro = int(parts[3].ljust(6, "0")) if len(parts) > len("hms") else 0
    try:
        return Stamp(time(int(parts[0]), int(parts[1]), int(parts[2]), micro), _day(day))
    except ValueError:
        return None


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    if "-" in text:
        return date.fromisoformat(text)
    digits = _JULIAN_LENGTHS[len(text)]
    year = int(text[:digits]) + (_CENTURY if digits == _JULIAN_LENGTHS[5] else 0)
    of_year = int(text[digits:])
    first = date(year, 1, 1)
    found = date.fromordinal(first.toordinal() + of_year - 1)
    if found.year != year:
        msg = "not a valid day"
        raise ValueError(msg)
    return found
