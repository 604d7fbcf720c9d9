"""Read MQSC commands that define structures and shared queues: DEFINE and ALTER of CFSTRUCT and QLOCAL.

The syntax is that of CSQUTIL and CSQINP2: a command ends with its line unless the line ends with + (it continues at the
first nonblank of the next line) or - (it continues at its first column); a line that begins with * is a comment. Text
in quotes is kept as it is, other text is upper case. Source: IBM MQ, Rules for using MQSC commands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal

from planner_core.texts.console import LineProblem

ObjectKind = Literal["CFSTRUCT", "QLOCAL"]
_VERBS: Final = {"DEFINE": "DEFINE", "DEF": "DEFINE", "ALTER": "ALTER", "ALT": "ALTER"}
_OBJECTS: Final[dict[str, ObjectKind]] = {"CFSTRUCT": "CFSTRUCT", "QLOCAL": "QLOCAL", "QL": "QLOCAL"}
_COMMAND = re.compile(
    r"[^A-Z0-9 \t\n]?(?:[A-Z0-9$#@]{1,4}[ \t]+)?(?P<verb>DEFINE|DEF|ALTER|ALT)[ \t]+(?P<object>CFSTRUCT|QLOCAL|QL)(?=[ \t(\n]|$)",
    re.IGNORECASE,
)
_ANY_COMMAND = re.compile(
    r"[ \t]*(?:DEF|ALT|DEL|DIS|CLEAR|START|STOP|SET|MOVE|BACKUP|RECOVER|REFRESH|RESET|PING|RVERIFY|SUSPEND|RESUME|ARCHIVE)[A-Z]*[ \t]+[A-Z]",
    re.IGNORECASE,
)
# A sentence may contain the words DEFINE QLOCAL; a command also has a name in parentheses.
_PRESENT = re.compile(rf"^[ \t]*{_COMMAND.pattern}[ \t]*\(", re.IGNORECASE | re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"(?P<key>[A-Za-z][A-Za-z0-9]{1,11})[ \t\n]*(?:\((?P<value>[ \t\n]*'(?:[^']|'')*'[ \t\n]*|[^()']*)\))?"
)
_LINE_END = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_GAP = re.compile(r"[ \t\n,;.]+")
_SHOWN: Final = 40
SHARE_WORDS: Final[Mapping[str, str]] = {"SHARE": "YES", "NOSHARE": "NO"}


@dataclass(frozen=True, slots=True)
class Attribute:
    """The value of an attribute (None for a word without one, such as REPLACE), and its line (from 1)."""

    value: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Command:
    """A DEFINE or ALTER command, its object and its attributes; the first one if an attribute appears twice."""

    verb: str
    kind: ObjectKind
    name: str
    line: int
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    twice: tuple[tuple[str, int], ...] = ()
    last_line: int = 0

    def value(self, key: str) -> str | None:
        """Return the value of an attribute; None if it is absent or has no value."""
        found = self.attributes.get(key)
        return found.value if found else None

    def settings(self) -> dict[str, str]:
        """Return the attributes with their values; the words SHARE and NOSHARE become SHARE with YES or NO."""
        found: dict[str, str] = {}
        for key, each in self.attributes.items():
            if key in SHARE_WORDS:
                found["SHARE"] = SHARE_WORDS[key]
            elif each.value is not None:
                found[key] = each.value
        return found

    def line_of(self, key: str) -> int:
        """Return the line of an attribute, or of the command if the attribute is absent."""
        found = self.attributes.get(key)
        return found.line if found else self.line


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of a text, in order, and unreadable lines."""

    commands: tuple[Command, ...]
    problems: tuple[LineProblem, ...]


def has_commands(text: str) -> bool:
    """Return whether a text contains a DEFINE or ALTER command for CFSTRUCT or QLOCAL."""
    return _PRESENT.search(text) is not None


def read_commands(text: str) -> Commands:
    """Read all DEFINE and ALTER commands for CFSTRUCT and QLOCAL; other commands are skipped. Never raises."""
    problems: list[LineProblem] = []
    found: list[Command] = []
    was_ours = False
    for whole in _joined(text):
        command = _COMMAND.match(whole.text.lstrip(" \t"))
        if command is None:
            attribute = _ATTRIBUTE.match(whole.text.lstrip(" \t"))
            is_lost = attribute and attribute["value"] is not None and not _ANY_COMMAND.match(whole.text)
            # Attributes below other commands belong to them and are skipped with them.
            if was_ours and is_lost and attribute:
                message = f"{attribute[0][:_SHOWN]!r} does not begin a command: is the + at the end of the previous line missing?"
                problems.append(LineProblem(whole.line_at(0), message))
            was_ours = was_ours and bool(is_lost)
            continue
        was_ours = True
        read = _read(whole, len(whole.text) - len(whole.text.lstrip(" \t")), command, problems)
        if read:
            found.append(read)
    return Commands(tuple(found), tuple(problems))


def without_commands(text: str) -> str:
    """Return the text with the lines of DEFINE and ALTER commands emptied, so that other lines keep their numbers."""
    if not has_commands(text):
        return text
    taken: set[int] = set()
    for command in read_commands(text).commands:
        taken |= set(range(command.line, command.last_line + 1))
    lines = _LINE_END.split(text)
    return "\n".join("" if number in taken else line for number, line in enumerate(lines, start=1))


@dataclass(frozen=True, slots=True)
class _Whole:
    """A command with its continuation lines, and the start of each line in it."""

    text: str
    starts: tuple[int, ...]
    lines: tuple[int, ...]

    def line_at(self, position: int) -> int:
        return self.lines[bisect_right(self.starts, position) - 1]


def _joined(text: str) -> Iterator[_Whole]:
    parts: list[str] = []
    lines: list[int] = []
    goes_on = ""

    def whole() -> _Whole:
        starts = tuple(accumulate((len(part) for part in parts[:-1]), initial=0))
        return _Whole("".join(parts), starts, tuple(lines))

    for number, raw in enumerate(_LINE_END.split(text), start=1):
        line = raw.rstrip()
        # MQSC is often pasted with the job of CSQUTIL around it.
        if line.startswith(("*", "//")) or (not line.strip() and not goes_on) or line == "/*":
            continue
        piece = line.lstrip(" \t") if goes_on == "+" else line
        goes_on = line[-1:] if line[-1:] in {"+", "-"} else ""
        parts.append(piece[:-1] if goes_on else piece)
        lines.append(number)
        if not goes_on:
            yield whole()
            parts, lines = [], []
    if parts:
        yield whole()


def _read(whole: _Whole, start: int, command: re.Match[str], problems: list[LineProblem]) -> Command | None:
    verb, kind = _VERBS[command["verb"].upper()], _OBJECTS[command["object"].upper()]
    line = whole.line_at(start)
    position = start + command.start("object")
    attributes: dict[str, Attribute] = {}
    twice: list[tuple[str, int]] = []
    name: str | None = None
    while position < len(whole.text):
        gap = _GAP.match(whole.text, position)
        if gap:
            position = gap.end()
            continue
        match = _ATTRIBUTE.match(whole.text, position)
        if match is None:
            shown = whole.text[position : position + _SHOWN]
            problems.append(LineProblem(whole.line_at(position), f"{shown!r} cannot be read."))
            break
        at = whole.line_at(position)
        # A word without a value is valid, such as REPLACE; with an open parenthesis it is damage.
        if match["value"] is None and whole.text[match.end() : match.end() + 1] == "(":
            shown = whole.text[position : position + _SHOWN].rstrip()
            message = f"{shown!r} has no closing parenthesis, or a quote that is not closed."
            problems.append(LineProblem(at, message))
            break
        key = match["key"].upper()
        value = None if match["value"] is None else _plain(match["value"])
        if name is None:
            if value is None:
                problems.append(LineProblem(at, f"{verb} {kind} has no name in parentheses."))
                return None
            name = value
        elif key in attributes:
            twice.append((key, at))
        else:
            attributes[key] = Attribute(value, at)
        position = match.end()
    return (
        None if name is None else Command(verb, kind, name, line, attributes, tuple(twice), whole.lines[-1])
    )


def _plain(value: str) -> str:
    text = value.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text.upper()
