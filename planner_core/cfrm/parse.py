"""Read CFRM policy statements: STRUCTURE and CF statements out of IXCMIAPU input.

Accepted is what the administrative data utility takes: 80-column records, keywords with
values in parentheses over any number of lines, remarks between /* and */, and around it the
JCL of a job. Sequence numbers in columns 73 to 80 are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner_core.errors import SizeSyntax, StatementSyntax
from planner_core.units import parse_size

_SEQUENCE_AT = 72
_TOKEN = re.compile(r"\s+|/\*.*?\*/|(?P<word>[^\s(),/]+)|(?P<mark>[(),])|(?P<bad>.)", re.DOTALL)
_VERBS = {"STRUCTURE", "CF", "DATA", "DEFINE", "DELETE"}
_PERCENTAGE = re.compile(r"0{0,2}[0-9]{1,2}|100")
_YES_NO = {"YES": True, "NO": False}
_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its verb (`STRUCTURE`, `CF`, `DEFINE POLICY`, ...), keywords in order, first line."""

    verb: str
    keywords: Mapping[str, tuple[str, ...]]
    line: int

    def one(self, keyword: str) -> str | None:
        """The single value of a keyword, or None where it is absent."""
        values = self.keywords.get(keyword)
        if values is None:
            return None
        if len(values) != 1:
            raise StatementSyntax(line=self.line, message=f"{keyword} takes one value, not {len(values)}.")
        return values[0]


@dataclass(frozen=True, slots=True)
class StructureStatement:
    """A STRUCTURE statement; sizes in bytes, None where the keyword is absent."""

    name: str
    size_bytes: int
    initsize_bytes: int | None
    minsize_bytes: int | None
    full_threshold: int | None
    allow_auto_alter: bool | None
    duplex: str | None
    preflist: tuple[str, ...]
    exclist: tuple[str, ...]
    keywords: Mapping[str, tuple[str, ...]]
    line: int


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int


def parse_structures(text: str) -> tuple[StructureStatement, ...]:
    """The STRUCTURE statements of a policy, a fragment or a whole job, in order.

    Raises:
        StatementSyntax: Text that is no statement, or a value that is none, with its line.
    """
    return tuple(
        _structure(statement) for statement in parse_statements(text) if statement.verb == "STRUCTURE"
    )


def parse_statements(text: str) -> tuple[Statement, ...]:
    """All statements of a policy, a fragment or a whole job, in order.

    Raises:
        StatementSyntax: Text that is no statement, with its line.
    """
    found: list[Statement] = []
    tokens = list(_tokens(_body(text)))
    position = 0
    while position < len(tokens):
        verb, start = tokens[position].text.upper(), tokens[position].line
        if verb not in _VERBS:
            raise StatementSyntax(
                line=start, message=f"{_shown(tokens[position].text)!r} where a statement should begin."
            )
        position += 1
        if (
            verb in {"DEFINE", "DELETE"}
            and position < len(tokens)
            and tokens[position].text.upper() == "POLICY"
        ):
            verb, position = f"{verb} POLICY", position + 1
        keywords: dict[str, tuple[str, ...]] = {}
        while position + 1 < len(tokens) and tokens[position + 1].text == "(":
            keyword, line = tokens[position].text.upper(), tokens[position].line
            values, position = _values(tokens, position + 2, keyword)
            if keyword in keywords:
                raise StatementSyntax(line=line, message=f"{keyword} stands twice in one statement.")
            keywords[keyword] = values
        found.append(Statement(verb, keywords, start))
    return tuple(found)


def _body(text: str) -> str:
    """The statements without JCL and sequence numbers; every line stays, so that numbers still hold."""
    lines = []
    for line in text.splitlines():
        tail = line[_SEQUENCE_AT:].strip()
        kept = line[:_SEQUENCE_AT] if tail.isdigit() else line
        is_jcl = kept.startswith("//") or kept.rstrip() == "/*"
        lines.append("" if is_jcl else kept)
    return "\n".join(lines)


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        if match["bad"]:
            what = (
                "a remark that is not closed" if text.startswith("/*", match.start()) else repr(match["bad"])
            )
            raise StatementSyntax(line=line, message=f"{what} cannot be read.")
        if match["word"] or match["mark"]:
            yield _Token(match.group(), line)
        line += match.group().count("\n")


def _values(tokens: list[_Token], position: int, keyword: str) -> tuple[tuple[str, ...], int]:
    values: list[str] = []
    line = tokens[position - 1].line
    while position < len(tokens) and tokens[position].text != ")":
        text = tokens[position].text
        if text == "(":
            raise StatementSyntax(line=tokens[position].line, message=f"a parenthesis inside {keyword}(...).")
        if text != ",":
            values.append(text.upper())
        position += 1
    if position == len(tokens):
        raise StatementSyntax(line=line, message=f"{keyword}( is not closed.")
    return tuple(values), position + 1


def _structure(statement: Statement) -> StructureStatement:
    name, size = statement.one("NAME"), _size(statement, "SIZE")
    if name is None or size is None:
        missing = "NAME" if name is None else "SIZE"
        raise StatementSyntax(line=statement.line, message=f"a STRUCTURE statement without {missing}.")
    threshold = statement.one("FULLTHRESHOLD")
    if threshold is not None and not _PERCENTAGE.fullmatch(threshold):
        message = f"FULLTHRESHOLD({_shown(threshold)}) is no percentage."
        raise StatementSyntax(line=statement.line, message=message)
    alter = statement.one("ALLOWAUTOALT")
    if alter is not None and alter not in _YES_NO:
        message = f"ALLOWAUTOALT({_shown(alter)}) is neither YES nor NO."
        raise StatementSyntax(line=statement.line, message=message)
    duplex = statement.keywords.get("DUPLEX")
    return StructureStatement(
        name=name,
        size_bytes=size,
        initsize_bytes=_size(statement, "INITSIZE"),
        minsize_bytes=_size(statement, "MINSIZE"),
        full_threshold=None if threshold is None else int(threshold),
        allow_auto_alter=None if alter is None else _YES_NO[alter],
        duplex=duplex[0] if duplex else None,
        preflist=statement.keywords.get("PREFLIST", ()),
        exclist=statement.keywords.get("EXCLLIST", ()),
        keywords=statement.keywords,
        line=statement.line,
    )


def _size(statement: Statement, keyword: str) -> int | None:
    values = statement.keywords.get(keyword)
    if values is None:
        return None
    try:
        return parse_size(" ".join(values))
    except SizeSyntax as error:
        raise StatementSyntax(line=statement.line, message=f"{keyword}: {error}") from None


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
