"""Read MQ's answers to DISPLAY: records of KEYWORD(value), with any framing and line breaks.

A record begins with the keyword that names the object: CFSTRUCT(APP1), CLUSQMGR(QM1), QUEUE(Q1). The
message before a record, if there is one, shows which keyword begins it: `CSQM201I … DISPLAY CHSTATUS DETAILS`
(console, CSQUTIL), `AMQ8417I: Display Channel Status details.` (runmqsc). Without a message the keyword itself
decides, and a keyword that may also be an attribute of another kind (CHANNEL in CLUSQMGR, CLUSQMGR in QUEUE)
begins a record if the current record already has it. CSQM4nnI messages contain one record each. Message ids
and framing are from memory of IBM's manuals, except those of CHSTATUS, CLUSQMGR, QUEUE and QMGR, which were
checked on real output; an unknown message id begins no record.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from planner_core.texts.console import Line, LineProblem, Stamp, lines

FLAGS: Final = frozenset({"CURRENT", "SAVED", "SHORT", "TRIGGER", "NOTRIGGER", "SHARE", "NOSHARE"})
"""Words in a record without a value."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record: its name, the keyword that begins it, and how runmqsc announces it."""

    name: str
    keyword: str
    amq: str | None = None
    """The runmqsc message before each record."""
    amq_keyword: str | None = None
    """The keyword that begins it below that message, if it differs from z/OS."""
    contains: frozenset[str] = frozenset()
    """Keywords that begin records of other kinds and are attributes in this one."""


KINDS: Final = (
    Kind("CFSTATUS", "CFSTATUS", contains=frozenset({"QMNAME", "SMDS"})),
    Kind("CFSTRUCT", "CFSTRUCT"),
    Kind("SMDS", "SMDS", contains=frozenset({"CFSTRUCT"})),
    Kind("SMDSCONN", "SMDSCONN", contains=frozenset({"CFSTRUCT", "QMNAME"})),
    Kind("QMGR", "QMNAME", "AMQ8408"),
    Kind("QUEUE", "QUEUE", "AMQ8409", contains=frozenset({"CLUSQMGR", "CFSTRUCT"})),
    Kind("QSTATUS", "QSTATUS", "AMQ8450", "QUEUE", frozenset({"CHANNEL"})),
    Kind("CHANNEL", "CHANNEL", "AMQ8414", contains=frozenset({"QMNAME"})),
    Kind("CHSTATUS", "CHSTATUS", "AMQ8417", "CHANNEL", frozenset({"QMNAME"})),
    Kind("CLUSQMGR", "CLUSQMGR", "AMQ8441", contains=frozenset({"CHANNEL"})),
)
"""The kinds of records that are read."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a keyword, and its line (from 1)."""

    text: str
    line: int


@dataclass(slots=True)
class Record:
    """An object that MQ displayed; only the reader changes it."""

    kind: str
    name: str
    line: int
    last_line: int
    queue_manager: str | None = None
    """The queue manager that answered, if the text shows it: by the command prefix of z/OS, or in runmqsc."""
    stamp: Stamp | None = None
    values: dict[str, Value] = field(default_factory=dict)
    """Values by keyword, without the keyword that begins the record, and without quotes."""
    flags: set[str] = field(default_factory=set)
    unclosed: set[str] = field(default_factory=set)
    """Keywords with an unterminated value."""
    is_cut: bool = False
    """True if it is the last record of an answer that was cut off."""

    def text(self, keyword: str) -> str | None:
        """Return the value of a keyword; None if it is absent or blank."""
        value = self.values.get(keyword)
        return value.text or None if value else None

    def line_of(self, keyword: str) -> int:
        """Return the line of a keyword, or of the record if the keyword is absent."""
        value = self.values.get(keyword)
        return value.line if value else self.line


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a text, in order, and unreadable lines."""

    records: tuple[Record, ...]
    problems: tuple[LineProblem, ...]


_CONTINUED = r"\n[ \t]++(?![A-Z][A-Z0-9]{1,11}\()"
_VALUE = rf"(?P<value>'(?:[^'\n]|'')*'[ \t]*|(?:[^()\n]|\([^()\n]*\)|{_CONTINUED})*+)"
"""The value of a keyword. Its quantifiers are possessive, because no shorter value can be followed by the parenthesis
that ends it, and trying all of them would take exponential time for a value without end."""
_ATTRIBUTE = re.compile(rf"(?<![A-Z0-9])(?P<key>[A-Z][A-Z0-9]{{1,11}})\({_VALUE}\)")
_KEY = re.compile(r"(?<![A-Z0-9])(?P<key>[A-Z][A-Z0-9]{1,11})\((?P<value>[^()\n]*)")
_COMMAND = re.compile(r"\bDIS(?:PLAY)?[ \t]+[A-Z]+[ \t]*\(|^[ \t]*[0-9]* : ", re.IGNORECASE)
_FROM = re.compile(r"\bCSQ[0-9A-Z][0-9]{3}[A-Z][ \t]+[^A-Z0-9 \t]?(?P<name>[A-Z0-9$#@]{1,4})(?=[ \t]|$)")
_ONE_EACH = re.compile(r"\bCSQM4[0-9]{2}I\b")
_DETAILS = re.compile(r"\bDIS(?:PLAY)?[ \t]+(?P<what>[A-Z]+)[ \t]+DETAILS\b")
_BEGIN = re.compile(r"\bCSQM201I\b")
_END = re.compile(r"\bEND[ \t]+[A-Z]+[ \t]+DETAILS|\bCSQ9022I\b|\bCSQN205I\b")
_AMQ = re.compile(r"\b(?P<id>AMQ[0-9]{4})[A-Z]?:(?P<shows>[ \t]*Display\b)?[^(\n]*?(?:\.[ \t]+(?=[A-Z])|$)")
_RUNMQSC = re.compile(r"\bStarting MQSC for queue manager (?P<name>[A-Za-z0-9._/%]{1,48}?)\.?[ \t]*$")
_SAYS_MORE = re.compile(r"CSQ|AMQ|MQSC|END|DIS| : ", re.IGNORECASE)
"""Text that occurs in every line that is more than part of a record: a message, a command, an end."""
_WORD = re.compile(r"(?<![^ \t\n])[A-Z]{3,9}(?![^ \t\n])")
_SHORTEST_WORD: Final = len("A1(")
"""Length of the shortest text to look for between attributes."""
_BY_KEYWORD: Final = {kind.keyword: kind for kind in KINDS}
_QUEUE_COMMANDS: Final = ("QLOCAL", "QALIAS", "QREMOTE", "QMODEL", "QCLUSTER")
"""Commands that answer in the format of DISPLAY QUEUE."""
_BY_NAME: Final = {kind.name: kind for kind in KINDS}
_BY_WORD: Final = {
    **_BY_NAME,
    **_BY_KEYWORD,
    **dict.fromkeys(_QUEUE_COMMANDS, _BY_KEYWORD["QUEUE"]),
}
_BY_AMQ: Final = {kind.amq: (kind, kind.amq_keyword or kind.keyword) for kind in KINDS if kind.amq}
_NOTHING: Final = (Kind("", ""), "")
"""The mark for a kind that a message announces and that is not read."""
_LARGEST_VALUE: Final = 2_000
_SHOWN: Final = 40


def read_records(
    text: str, *, kinds: Iterable[str] | None = None, reads: frozenset[str] = frozenset()
) -> Records:
    """Read all records of a text; other lines are skipped. Never raises.

    Args:
        text: The pasted or captured text.
        kinds: Names of the kinds to return, from KINDS; None for all.
        reads: The keywords that the caller uses; they are reported if they are cut off before the closing
            parenthesis. Keywords that begin records always are.

    Returns:
        The records in the order of the text, and the problems of lines.
    """
    return _Reader(None if kinds is None else frozenset(kinds), reads).read(text)


class _Reader:
    """The reader of one text."""

    def __init__(self, wanted: frozenset[str] | None, reads: frozenset[str]) -> None:
        self.wanted = wanted
        self.reads = reads
        self.made: list[Record] = []
        self.problems: list[LineProblem] = []
        self.kept: list[Line] = []
        self.current: Record | None = None
        self.manager: str | None = None
        self.announced: tuple[Kind, str] | None = None
        """The kind that the last message announced, and the keyword that begins it; None without such a message."""
        self.begun: tuple[int, int] | None = None
        """The line of an answer that has not ended, and the number of records before it."""

    def read(self, text: str) -> Records:
        for line in lines(text):
            self._line(line)
        self._take()
        self._cut_off()
        for each in self.made:
            if each.kind == "CHANNEL" and "STATUS" in each.values:
                # Without a message before it, a channel's status begins like its definition.
                each.kind = "CHSTATUS"
        return Records(tuple(each for each in self.made if self._is_wanted(each.kind)), tuple(self.problems))

    def _is_wanted(self, kind: str) -> bool:
        return self.wanted is None or kind in self.wanted

    def _line(self, line: Line) -> None:
        if not line.text:
            self.kept.append(line)
            return
        if not _SAYS_MORE.search(line.text):
            self.kept.append(line)
            return
        at = 0
        for match in _AMQ.finditer(line.text):
            self._keep(line, at, match.start())
            self._announce(_BY_AMQ.get(match["id"], _NOTHING if match["shows"] else None))
            at = match.end()
        if at:
            self._keep(line, at, len(line.text))
            return
        started = _RUNMQSC.search(line.text)
        if started:
            self._announce(None)
            self.manager = started["name"]
            return
        end = _END.search(line.text)
        said = _FROM.search(line.text)
        if said:
            self._take()
            details = _DETAILS.search(line.text)
            if details or _ONE_EACH.search(line.text):
                self.current = None
            if details:
                kind = _BY_WORD.get(details["what"])
                self.announced = (kind, kind.keyword) if kind else _NOTHING
            elif _ONE_EACH.search(line.text):
                self.announced = None
            self.manager = said["name"]
        if _BEGIN.search(line.text):
            self._cut_off()
            self.begun = line.number, len(self.made)
        if _COMMAND.search(line.text):
            if self.announced is None:
                self._take()
        else:
            self._keep(line, 0, end.start() if end else len(line.text))
        if end:
            self._take()
            self.current, self.begun, self.announced = None, None, None
            self._keep(line, end.end(), len(line.text))

    def _keep(self, line: Line, start: int, end: int) -> None:
        self.kept.append(Line(line.number, line.text[start:end], line.stamp))

    def _announce(self, what: tuple[Kind, str] | None) -> None:
        self._take()
        self.current, self.announced = None, what

    def _cut_off(self) -> None:
        """Report that an answer was cut off."""
        if self.begun is None:
            return
        line, before = self.begun
        if len(self.made) > before:
            # Only the last record can lack attributes: the next one begins where another ends.
            self.made[-1].is_cut = True
        else:
            self.problems.append(
                LineProblem(line, "The response that begins here was truncated before its first value.")
            )

    def _take(self) -> None:
        """Read the attributes of consecutive lines; values may continue on the next line."""
        kept, self.kept = self.kept, []
        starts: list[int] = []
        at = 0
        for line in kept:
            starts.append(at)
            at += len(line.text) + 1
        whole = "\n".join(line.text for line in kept)
        read_to = 0
        for match in _ATTRIBUTE.finditer(whole):
            line = kept[bisect_right(starts, match.start()) - 1]
            self._between(whole, read_to, match.start(), kept, starts)
            read_to = match.end()
            self._attribute(match["key"], _plain(match["value"]), line)
        self._between(whole, read_to, len(whole), kept, starts)

    def _attribute(self, key: str, value: str, line: Line) -> None:
        begins = self._begins(key)
        if begins:
            self.current = Record(begins.name, value, line.number, line.number, self.manager, line.stamp)
            self.made.append(self.current)
            return
        current = self.current
        if current is None:
            return
        if key in current.values:
            # The same answer may be pasted twice; a different value is damage.
            if current.values[key].text == value or not self._is_wanted(current.kind):
                return
            message = f"{key} appears twice for {_BY_NAME[current.kind].keyword}({current.name}): the first is kept."
            self.problems.append(LineProblem(line.number, message))
            return
        current.values[key] = Value(value, line.number)
        current.last_line = line.number

    def _begins(self, key: str) -> Kind | None:
        """Return the kind of record that a keyword begins here; None if it is an attribute."""
        # A message wins over the keyword: below CHSTATUS, CHANNEL(...) begins a status, not a definition.
        if self.announced is not None:
            kind, keyword = self.announced
            return kind if key == keyword else None
        begun = _BY_KEYWORD.get(key)
        if begun is None or self.current is None or key not in _BY_NAME[self.current.kind].contains:
            return begun
        return begun if key in self.current.values else None

    def _between(self, whole: str, start: int, end: int, kept: list[Line], starts: list[int]) -> None:
        """Read the text between attributes: words without a value, and keywords with an unterminated value."""
        if end - start < _SHORTEST_WORD:
            return
        current = self.current
        if current is not None:
            current.flags.update(FLAGS.intersection(_WORD.findall(whole, start, end)))
        for match in _KEY.finditer(whole, start, end):
            key = match["key"]
            kind = _BY_KEYWORD.get(key)
            if (kind and self._is_wanted(kind.name)) or (current is not None and key in self.reads):
                if current is not None:
                    current.unclosed.add(key)
                message = f"{match[0][:_SHOWN]} is truncated before its closing parenthesis: left out."
                line = kept[bisect_right(starts, match.start()) - 1].number
                self.problems.append(LineProblem(line, message))


def _plain(value: str) -> str:
    # Consoles break long values at their width and indent the rest.
    joined = re.sub(r"\n[ \t]+", "", value).strip()
    if len(joined) > 1 and joined[0] == joined[-1] == "'":
        joined = joined[1:-1].replace("''", "'").strip()
    return joined[:_LARGEST_VALUE]
