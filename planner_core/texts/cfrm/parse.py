"""Read CFRM policy statements: STRUCTURE and CF statements out of IXCMIAPU input.

Accepted is what the administrative data utility takes: 80-column records, keywords with
values in parentheses over any number of lines, remarks between /* and */, and around it the
JCL of a job. Sequence numbers in columns 73 to 80 are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from planner_core.errors import SizeSyntax, StatementSyntax
from planner_core.texts.cfrm.text import read_policy_text
from planner_core.units import parse_size

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
    read = read_policy_text(text)
    for problem in read.problems:
        raise StatementSyntax(line=problem.line, message=problem.message)
    return tuple(
        Statement(
            statement.verb,
            {parameter.keyword: parameter.values for parameter in statement.parameters},
            statement.line,
        )
        for statement in read.statements
    )


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
