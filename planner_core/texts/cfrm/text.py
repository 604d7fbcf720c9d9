"""Read CFRM policy text without loss: pieces hold every character, statements are runs of pieces, damage is reported.

It reads the input of the administrative data utility IXCMIAPU: 80-column records, keywords with values in parentheses
over any number of lines, comments between /* and */, surrounding JCL, sequence numbers in columns 73 to 80. The joined
pieces are the text as read. Text that is not a statement is reported with its line, and reading continues after it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Final, Literal, NamedTuple, cast

from planner_core.errors import TextTooLong

PieceKind = Literal[
    "blank", "remark", "jcl", "sequence", "console", "word", "open", "close", "comma", "stray"
]
ProblemKind = Literal["unexpected", "statement", "value", "closed", "inside", "remark", "character", "twice"]
"""`unexpected`: text that is not a statement. `statement`: an unknown statement. `value`: a keyword without its
parentheses. `closed`, `inside`: a parenthesis is missing. `remark`: a comment is not closed. `character`: a character
that cannot occur in a statement. `twice`: a keyword appears twice."""

SEQUENCE_AT: Final = 72
"""The column (from 0) from which digits alone are a sequence number."""
_LINE_END = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_NO_WORD: Final = r"\s(),/\ufeff\x00\x1a"
_CONSOLE = re.compile(
    r"[ \t]*(?:[A-Z$#@][A-Z0-9$#@]{0,7}[ \t]+)?(?:[0-9]{7}[ \t]+|[0-9]{5}[ \t]+|[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]+)?"
    r"[0-9]{2}[.:][0-9]{2}[.:][0-9]{2}(?:[.:][0-9]{1,6})?(?:[ \t]+(?:STC|JOB|TSU|[SJT])[0-9]{4,7})?(?=[ \t]|$)",
    re.ASCII,
)
"""Prefix of a line on a console or in its log, as in planner_core.texts.console."""
_QUOTES: Final = "'\"\u2018\u2019\u201c\u201d"
"""Quotes around names, which some programs add when they write policies."""
_TOKEN = re.compile(
    r"(?P<blank>[\s\ufeff\x00\x1a]+)|(?P<remark>/\*.*?\*/)|(?P<open>\()|(?P<close>\))|(?P<comma>,)"
    rf"|(?P<word>[{_QUOTES}][ \t]*[^{_NO_WORD}{_QUOTES}]+[ \t]*[{_QUOTES}](?=[{_NO_WORD}]|\Z)|[^{_NO_WORD}]+)|(?P<stray>.)",
    re.DOTALL,
)
_SLASH = re.compile("(?P<stray>/)")
_COUNTED = re.compile(r"[^\s(),/]+|[(),/]|\s+")
MOST_PIECES: Final = 400_000
"""The maximum number of words, parentheses, commas and blanks between them. A policy of 4,095 structures with twelve
keywords each has 290,000."""
MOST_TEXT_PROBLEMS: Final = 50_000
"""The maximum number of problems in one text, one for every eight pieces: a text with more is not a policy."""
VERBS: Final = frozenset({"STRUCTURE", "CF", "DATA", "DEFINE", "DELETE"})
_OF_POLICY: Final = frozenset({"DEFINE", "DELETE"})
_SHOWN_CHARACTERS: Final = 40
_HIDES: Final = frozenset({"remark", "closed", "inside"})


class Piece(NamedTuple):
    """A run of characters of one kind, and the line (from 1) and column (from 1) where it begins."""

    kind: PieceKind
    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class PolicyParameter:
    """A keyword with its values, upper case and without quotes; `first`, `opening` and `closing` are places in the pieces.

    `closing` is the last piece of the values if the parenthesis is missing.
    """

    keyword: str
    values: tuple[str, ...]
    line: int
    first: int
    opening: int
    closing: int
    words: tuple[int, ...]
    """Places of the values in the pieces."""


@dataclass(frozen=True, slots=True)
class TextStatement:
    """One statement: its verb (`STRUCTURE`, `CF`, `DEFINE POLICY`, ...), its parameters, and its places in the pieces."""

    verb: str
    parameters: tuple[PolicyParameter, ...]
    line: int
    first: int
    last: int

    def get(self, keyword: str) -> PolicyParameter | None:
        """Return the parameter of a keyword; the first one if it appears twice."""
        return next((each for each in self.parameters if each.keyword == keyword), None)

    def values(self, keyword: str) -> tuple[str, ...] | None:
        """Return the values of a keyword; None if it is absent."""
        found = self.get(keyword)
        return None if found is None else found.values

    def one(self, keyword: str) -> str | None:
        """Return the value of a keyword that has exactly one."""
        values = self.values(keyword)
        return values[0] if values is not None and len(values) == 1 else None


@dataclass(frozen=True, slots=True)
class TextProblem:
    """Damage in a text: its line (from 1), kind and message; `word` is the keyword or text concerned."""

    line: int
    kind: ProblemKind
    message: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class PolicyText:
    """A text in pieces, its statements, and its damage in order."""

    pieces: tuple[Piece, ...]
    statements: tuple[TextStatement, ...]
    problems: tuple[TextProblem, ...]

    def render(self) -> str:
        """Return the text as it was read."""
        return "".join(piece.text for piece in self.pieces)

    def source_of(self, statement: TextStatement) -> str:
        """Return the text of a statement."""
        return "".join(piece.text for piece in self.pieces[statement.first : statement.last + 1])


def read_policy_text(text: str) -> PolicyText:
    """Read policy text; unreadable parts are problems with their lines.

    Raises:
        TextTooLong: It has more words, marks or damage than any policy.
    """
    # A text has no more pieces than characters, so most texts need not be counted.
    if len(text) > MOST_PIECES and sum(1 for _ in _COUNTED.finditer(text)) > MOST_PIECES:
        msg = (
            f"The text has more than {MOST_PIECES:,} words, parentheses and commas, more than any CFRM policy: "
            "enter only the policy, without displays or definitions."
        )
        raise TextTooLong(msg)
    problems: list[TextProblem] = []
    pieces = tuple(_pieces(text, problems))
    reading = _Reading(pieces, problems)
    statements, told = _of_cfrm(tuple(reading.statements()), problems)
    return PolicyText(pieces, statements, tuple(sorted(told, key=lambda problem: problem.line)))


def _too_many_problems() -> TextTooLong:
    return TextTooLong(
        f"The text has more than {MOST_TEXT_PROBLEMS:,} places that are not policy text: enter only the "
        "policy, without displays or definitions."
    )


def _of_cfrm(
    statements: tuple[TextStatement, ...], problems: list[TextProblem]
) -> tuple[tuple[TextStatement, ...], list[TextProblem]]:
    """Return statements and problems without those of other couple data sets, such as LOGR, which also has STRUCTURE.

    Unclosed comments and parentheses there are reported, because they may hide statements of the policy.
    """
    kept: list[TextStatement] = []
    others: list[tuple[int, float]] = []
    for statement in statements:
        if statement.verb == "DATA":
            if others and others[-1][1] == inf:
                others[-1] = (others[-1][0], statement.line)
            if (statement.one("TYPE") or "CFRM") != "CFRM":
                others.append((statement.line, inf))
            kept.append(statement)
        elif not others or others[-1][1] != inf:
            kept.append(statement)
    told = [
        each
        for each in problems
        if each.kind in _HIDES or not any(start <= each.line < end for start, end in others)
    ]
    return tuple(kept), told


def shown(text: str) -> str:
    """Return an excerpt of a text for use in a message: truncated, and without control characters."""
    short = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
    if short.isprintable():
        return short
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in short)


def is_quoted(word: str) -> bool:
    """Return whether a word is in quotes."""
    return len(word) > len("''") and word[0] in _QUOTES and word[-1] in _QUOTES


def has_quote(word: str) -> bool:
    """Return whether a word contains a quote."""
    return any(quote in word for quote in _QUOTES)


def unquoted(word: str) -> str:
    """Return a word without the quotes around it: `'X'` is read as X."""
    return word[1:-1].strip() if is_quoted(word) else word


# ---- pieces ------------------------------------------------------------------------------------------------


class _Span(NamedTuple):
    start: int
    end: int
    kind: PieceKind


def _line_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line, without its line end."""
    start = 0
    for end in _LINE_END.finditer(text):
        yield start, end.start()
        start = end.end()
    yield start, len(text)


def has_sequence_number(line: str) -> bool:
    """Return whether a line has only digits from column 73 on, and no word extends into them."""
    tail = line[SEQUENCE_AT:]
    digits = tail.strip()
    goes_on = line[SEQUENCE_AT - 1 : SEQUENCE_AT].strip() and tail[:1].strip()
    return digits.isascii() and digits.isdigit() and not goes_on


def _apart(text: str, lines: list[tuple[int, int]]) -> Iterator[_Span]:
    """Yield the parts of records outside of statements: JCL lines, sequence numbers, console prefixes."""
    for start, end in lines:
        if start == end:
            continue
        if stamp := _CONSOLE.match(text, start, end):
            yield _Span(stamp.end() - len(stamp.group().lstrip()), stamp.end(), "console")
        is_numbered = has_sequence_number(text[start:end])
        tail = text[start + SEQUENCE_AT : end]
        digits = tail.strip()
        kept_end = start + SEQUENCE_AT if is_numbered else end
        # A byte order mark would hide the // of the first line.
        kept = text[start:kept_end].lstrip("\ufeff")
        if kept.startswith("//") or kept.rstrip() == "/*":
            yield _Span(start, end, "jcl")
        elif is_numbered:
            at = kept_end + len(tail) - len(tail.lstrip())
            yield _Span(at, at + len(digits), "sequence")


def _pieces(text: str, problems: list[TextProblem]) -> Iterator[Piece]:
    lines = list(_line_spans(text))
    starts = [start for start, _ in lines]
    apart = list(_apart(text, lines))
    # Replaced with the same number of blanks, so that all places in the text stay valid.
    masked = list(text)
    for span in apart:
        masked[span.start : span.end] = " " * (span.end - span.start)
    plain = "".join(masked)

    line = 1
    lines_in_all = len(starts)

    def piece(kind: PieceKind, start: int, end: int) -> Piece:
        nonlocal line
        # Pieces are in order: no search for those of one line.
        if line < lines_in_all and starts[line] <= start:
            line = bisect_right(starts, start, line)
        return Piece(kind, text[start:end], line, start - starts[line - 1] + 1)

    last_close = plain.rfind("*/")
    last = len(plain)
    position = 0
    waiting = 0
    is_stamped = False
    while position < last:
        is_slash = plain[position] == "/"
        is_open = is_slash and last_close < position + len("/*") and plain.startswith("/*", position)
        # Without this, each unclosed comment would be searched to the end of the text.
        match = (_SLASH if is_open else _TOKEN).match(plain, position)
        if match is None:  # the pattern takes any character
            break
        kind, end = cast("PieceKind", match.lastgroup or "stray"), match.end()
        if kind == "stray":
            at = bisect_right(starts, position)
            if is_slash and plain.startswith("/*", position):
                end = lines[at - 1][1]
                problems.append(
                    TextProblem(at, "remark", "a comment that is not closed cannot be read.", "/*")
                )
                kind = "remark"
            else:
                message = f"{shown(match.group())!r} cannot be read."
                problems.append(TextProblem(at, "character", message, match.group()))
            if len(problems) > MOST_TEXT_PROBLEMS:
                raise _too_many_problems()
        if kind != "blank":
            yield piece(kind, position, end)
            position = end
            continue
        while position < end:
            while waiting < len(apart) and apart[waiting].end <= position:
                waiting += 1
            if waiting == len(apart) or apart[waiting].start >= end:
                yield piece("blank", position, end)
                position = end
                continue
            span = apart[waiting]
            if span.start > position:
                yield piece("blank", position, span.start)
                position = span.start
            else:
                if span.kind == "console" and not is_stamped:
                    is_stamped = True
                    message = (
                        f"{shown(text[span.start : span.end])!r} before the statement is a console prefix, which is skipped "
                        "here and in the lines below."
                    )
                    problems.append(TextProblem(bisect_right(starts, position), "unexpected", message))
                yield piece(span.kind, position, min(span.end, end))
                position = min(span.end, end)


# ---- statements --------------------------------------------------------------------------------------------


class _Reading:
    """The reader of statements from pieces; places count the pieces that are not blanks or comments."""

    def __init__(self, pieces: tuple[Piece, ...], problems: list[TextProblem]) -> None:
        self.pieces = pieces
        self.problems = problems
        self.at = [
            place
            for place, piece in enumerate(pieces)
            if piece.kind in {"word", "open", "close", "comma", "stray"}
        ]
        self.kinds = [pieces[place].kind for place in self.at]

    def kind(self, number: int) -> PieceKind | None:
        return self.kinds[number] if number < len(self.kinds) else None

    def text(self, number: int) -> str:
        return self.pieces[self.at[number]].text

    def word(self, number: int) -> str:
        return self.text(number).upper() if self.kind(number) == "word" else ""

    def line(self, number: int) -> int:
        return self.pieces[self.at[number]].line

    def is_parameter(self, number: int) -> bool:
        return self.kind(number) == "word" and self.kind(number + 1) == "open"

    def is_statement(self, number: int) -> bool:
        """Return whether a statement certainly begins here: a verb, and a keyword with its values."""
        if self.kinds[number] != "word":
            return False
        verb = self.word(number)
        if verb in _OF_POLICY:
            return self.word(number + 1) == "POLICY" and self.is_parameter(number + 2)
        return verb in VERBS and self.is_parameter(number + 1)

    def tell(self, number: int, kind: ProblemKind, message: str, word: str = "") -> None:
        if len(self.problems) >= MOST_TEXT_PROBLEMS:
            raise _too_many_problems()
        self.problems.append(TextProblem(self.line(number), kind, message, word))

    def statements(self) -> Iterator[TextStatement]:
        number = 0
        while number < len(self.at):
            if self.word(number) in VERBS:
                statement, number = self._statement(number)
                yield statement
            else:
                number = self._pass_over(number, is_in_statement=False)

    def _statement(self, number: int) -> tuple[TextStatement, int]:
        verb, line, first = self.word(number), self.line(number), self.at[number]
        last = first
        if verb in _OF_POLICY and self.word(number + 1) == "POLICY":
            verb, number = f"{verb} POLICY", number + 1
            last = self.at[number]
        number += 1
        parameters: list[PolicyParameter] = []
        keywords: set[str] = set()
        while number < len(self.at) and self.word(number) not in VERBS:
            if not self.is_parameter(number):
                number = self._pass_over(number, is_in_statement=True)
                continue
            place = number
            parameter, number = self._parameter(number)
            keyword, last = parameter.keyword, parameter.closing
            if keyword in keywords:
                self.tell(place, "twice", f"{shown(keyword)} appears twice in one statement.", keyword)
            keywords.add(keyword)
            parameters.append(parameter)
        return TextStatement(verb, tuple(parameters), line, first, last), number

    def _parameter(self, number: int) -> tuple[PolicyParameter, int]:
        keyword, first = self.word(number), number
        opening = number + 1
        values: list[int] = []
        number = opening + 1
        closing = opening
        while True:
            kind = self.kind(number)
            if kind == "close":
                closing, number = number, number + 1
                break
            if kind is None:
                message = f"{shown(keyword)}( is not closed."
                self.tell(opening, "closed", message, keyword)
                break
            if kind == "open":
                message = f"a parenthesis inside {shown(keyword)}(...), on line {self.line(number)}: its own is not closed."
                self.tell(opening, "inside", message, keyword)
                number, closing = self._step_back(values, opening, number)
                break
            if kind == "word":
                values.append(number)
            closing = number
            number += 1
        found = PolicyParameter(
            keyword,
            tuple(unquoted(self.text(value)).upper() for value in values),
            self.line(first),
            self.at[first],
            self.at[opening],
            self.at[closing],
            tuple(self.at[value] for value in values),
        )
        return found, number

    def _step_back(self, values: list[int], opening: int, number: int) -> tuple[int, int]:
        """Return the position where reading continues after a parenthesis inside values: the keyword before it, or its verb."""
        if not values or values[-1] != number - 1:
            values.clear()
            return number + 1, number
        # The word before the parenthesis is the next keyword, so the missing parenthesis belongs before it.
        back = values.pop()
        if values and values[-1] == back - 1:
            before = self.word(values[-1])
            if before in VERBS:
                back = values.pop()
            elif before == "POLICY" and len(values) > 1 and self.word(values[-2]) in _OF_POLICY:
                values.pop()
                back = values.pop()
        return back, max(opening, back - 1)

    def _pass_over(self, number: int, *, is_in_statement: bool) -> int:
        """Skip text that is not a statement, up to the next certain parameter or statement, and report it once."""
        first = number
        text = self.text(first)
        if self.kind(first) == "stray":  # already reported as a character
            return number + 1
        word = self.word(first)
        if word and self.word(first + 1) == "NAME" and self.is_parameter(first + 1):
            message = f"{shown(text)!r} is not a valid statement."
            self.tell(first, "statement", message, word)
            number += 1
            while number < len(self.at) and not self.is_statement(number):
                number += 1
            return number
        kind: ProblemKind = "unexpected"
        message = f"{shown(text)!r} appears where a statement should begin."
        if is_in_statement and word in KEYWORDS:
            kind, message = "value", f"{message} {word} needs its value in parentheses."
        self.tell(first, kind, message, word)
        number += 1
        while number < len(self.at):
            goes_on = is_in_statement and self.is_parameter(number) and self.word(number) in KEYWORDS
            if goes_on or self.is_statement(number):
                break
            number += 1
        return number


STRUCTURE_KEYWORDS: Final = (
    "NAME", "SIZE", "INITSIZE", "MINSIZE", "SCMMAXSIZE", "SCMALGORITHM", "ALLOWAUTOALT", "FULLTHRESHOLD",
    "PREFLIST", "EXCLLIST", "REBUILDPERCENT", "DUPLEX", "RECPRTY", "SUBNOTIFYDELAY", "LISTNOTIFYDELAY",
    "KEYRNOTIFYDELAY", "ENFORCEORDER", "ALLOWREALLOCATE", "ENCRYPT",
)  # fmt: skip
"""Keywords of a structure, in the order of z/OS 3.1 MVS Setting Up a Sysplex, CFRM parameters for administrative data
utility."""
CF_KEYWORDS: Final = (
    "NAME", "TYPE", "MFG", "PLANT", "SEQUENCE", "PARTITION", "SIDE", "CPCID", "DUMPSPACE", "SITE",
)  # fmt: skip
KEYWORDS: Final = frozenset((*STRUCTURE_KEYWORDS, *CF_KEYWORDS, "REPLACE", "REPORT"))
