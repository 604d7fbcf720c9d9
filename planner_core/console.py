"""Console and SYSLOG text: lines as the command or message wrote them, without what the console put before them.

Taken off are time stamps, dates, system names, job ids, routing codes and message flags of a
console, of JES2 SYSLOG and of OPERLOG. Lines of one message that other messages were written
between are brought together again by the number that SYSLOG gives a message of several lines.
The shapes are from memory of z/OS; a line that fits none of them is kept as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, time
from typing import Final

LARGEST_LINE: Final = 4_000
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
_HIGHLIGHT = " \t*@+-!"
_STARTS_MESSAGE = re.compile(rf"[ \t*@+!-]*(?P<id>{_MESSAGE_ID})")
_JULIAN_LENGTHS: Final = {5: 2, 7: 4}
_CENTURY: Final = 2000


@dataclass(frozen=True, slots=True)
class Stamp:
    """When the console wrote a line, in the console's own time; consoles often leave the day out."""

    clock: time
    day: date | None = None

    def __str__(self) -> str:
        """ISO form, as far as known."""
        return f"{self.day.isoformat()}T{self.clock.isoformat()}" if self.day else self.clock.isoformat()


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number in the text (from 1), what was written, and the stamp it carried."""

    number: int
    text: str
    stamp: Stamp | None = None
    connect: str | None = None
    """The number that SYSLOG ties the lines of one message together with."""


@dataclass(frozen=True, slots=True)
class LineProblem:
    """What could not be read in a line (from 1), and why."""

    line: int
    message: str


@dataclass(slots=True)
class Block:
    """The lines of one message or of one answer to a command."""

    message_id: str | None
    lines: list[Line] = field(default_factory=list)

    @property
    def line(self) -> int:
        """Number of the first line."""
        return self.lines[0].number

    @property
    def stamp(self) -> Stamp | None:
        """The stamp of the first line that has one."""
        return next((line.stamp for line in self.lines if line.stamp), None)

    @property
    def text(self) -> str:
        """All lines, one under the other."""
        return "\n".join(line.text for line in self.lines)

    def line_at(self, position: int) -> int:
        """The number of the line that holds a position of `text`."""
        for line in self.lines:
            position -= len(line.text) + 1
            if position < 0:
                return line.number
        return self.lines[-1].number


def lines(text: str) -> tuple[Line, ...]:
    """The lines of a text without what a console puts before them; numbers count all lines."""
    found: list[Line] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw[:LARGEST_LINE].replace("\x00", " ").rstrip()
        overflow = _OVERFLOW.fullmatch(line)
        if overflow and found:
            last = found.pop()
            joined = f"{last.text} {overflow['text']}"[:LARGEST_LINE]
            found.append(Line(last.number, joined, last.stamp, last.connect))
            continue
        found.append(_line(number, line))
    return tuple(found)


def blocks(found: Iterable[Line]) -> tuple[Block, ...]:
    """Lines brought together to messages; what stands before the first message is a block without id."""
    made: list[Block] = []
    open_by_number: dict[str, Block] = {}
    current: Block | None = None
    for line in found:
        if line.connect is not None and line.connect in open_by_number:
            open_by_number[line.connect].lines.append(line)
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
        current.lines.append(line)
    return tuple(made)


def _line(number: int, line: str) -> Line:
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
        msg = "no such day"
        raise ValueError(msg)
    return found
