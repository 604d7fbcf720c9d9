"""Check CFRM policy statements: each alone, all together, and by queue-sharing group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from planner_core import names
from planner_core.checks.facilities import has_no_scm, scm_removed
from planner_core.errors import NameSyntax, OutOfRange, PlanRefused, SizeSyntax
from planner_core.limits import limit
from planner_core.running.line_findings import LineFinding, at_line, finding_at
from planner_core.running.policy import PolicyDefinition, policies, size_of, stated
from planner_core.sizing.admin_structure import admin_need
from planner_core.sizing.shared_findings import (
    above_maximum,
    admin_below_minimum,
    admin_duplexed,
    auto_alter_may_shrink,
    full_threshold_zero,
    preflist_single_cf,
    same_cf_twice,
    size_over_twice_initsize,
    system_structure_too_small,
    too_few_structures,
    too_many_structures,
)
from planner_core.sizing.system_structure import system_sizes
from planner_core.texts.cfrm.render import LAST_COLUMN
from planner_core.texts.cfrm.text import (
    CF_KEYWORDS,
    STRUCTURE_KEYWORDS,
    Piece,
    PolicyParameter,
    PolicyText,
    TextProblem,
    TextStatement,
    is_quoted,
    shown,
    unquoted,
)
from planner_core.units import format_size, parse_size

DAMAGE: Final = {
    "unexpected": "POLICY_TEXT_NOT_UNDERSTOOD",
    "statement": "POLICY_STATEMENT_UNKNOWN",
    "value": "POLICY_VALUE_MISSING",
    "closed": "POLICY_PARENTHESIS_MISSING",
    "inside": "POLICY_PARENTHESIS_MISSING",
    "remark": "POLICY_REMARK_NOT_CLOSED",
    "character": "POLICY_TEXT_NOT_UNDERSTOOD",
    "twice": "POLICY_KEYWORD_TWICE",
}
"""The finding for each kind of damage."""
_REQUIRED: Final[Mapping[str, Sequence[str]]] = {
    "STRUCTURE": ("NAME", "SIZE", "PREFLIST"),
    "CF": ("NAME", "TYPE", "MFG", "PLANT", "SEQUENCE", "PARTITION"),
    "DEFINE POLICY": ("NAME",),
    "DELETE POLICY": ("NAME",),
    "DATA": ("TYPE",),
}
_KNOWN: Final[Mapping[str, Sequence[str]]] = {
    "STRUCTURE": STRUCTURE_KEYWORDS,
    "CF": CF_KEYWORDS,
    "DEFINE POLICY": ("NAME", "REPLACE"),
    "DELETE POLICY": ("NAME",),
}
"""The known keywords by statement. DATA is left out: it also has keywords for policies other than CFRM."""
_SIZES: Final = ("SIZE", "INITSIZE", "MINSIZE", "SCMMAXSIZE", "DUMPSPACE")
_LISTS: Final = ("PREFLIST", "EXCLLIST")
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "ALLOWAUTOALT": ("NO", "YES"),
    "ENFORCEORDER": ("NO", "YES"),
    "ALLOWREALLOCATE": ("YES", "NO"),
    "ENCRYPT": ("NO", "YES"),
    "SITE": ("SITE1", "SITE2"),
    "SIDE": ("0", "1"),
}
_DUPLEX: Final = ("DISABLED", "ALLOWED", "ENABLED")
_DUPLEX_REMEMBERED: Final = frozenset(
    {"ANYSITE", "CROSSSITE", "SAMESITE", "SAMESITEONLY", "SYNCONLY", "ASYNC", "ASYNCONLY"}
)
"""Options of DUPLEX, from memory of the manual."""
# A value outside of a remembered range is a warning, not an error: the text below the syntax, which has the ranges,
# was not available (docs/explanation/assumptions.md, Ranges of CFRM keywords).
_REMEMBERED: Final[Mapping[str, tuple[int, int]]] = {
    "REBUILDPERCENT": (1, 100),
    "RECPRTY": (1, 4),
    "SUBNOTIFYDELAY": (0, limit("longest_notify_delay")),
    "LISTNOTIFYDELAY": (0, limit("longest_notify_delay")),
    "KEYRNOTIFYDELAY": (0, limit("longest_notify_delay")),
}
"""Ranges from memory of the manual."""
_CODES: Final[Mapping[str, tuple[str, str]]] = {
    "TYPE": ("[A-Z0-9]{6}", "6 characters A-Z 0-9"),
    "MFG": ("[A-Z0-9]{1,3}", "1 to 3 characters A-Z 0-9"),
    "PLANT": ("[A-Z0-9]{1,2}", "1 or 2 characters A-Z 0-9"),
    "SEQUENCE": ("[A-Z0-9]{12}", "12 characters A-Z 0-9"),
    "PARTITION": ("[0-9A-F]{1,2}", "1 or 2 hexadecimal digits"),
    "CPCID": ("[0-9A-F]{2}", "2 hexadecimal digits"),
}
"""The pattern of each hardware keyword, and the same in words."""
_SAID: Final = frozenset({"word", "open", "close", "comma"})
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_WHOLE_SIZE = re.compile(r"[0-9]{1,9}[KMGT]?", re.ASCII)
_LOOKS_LIKE = re.compile(r"\b(?:STRUCTURE|CF)\s+NAME\s*\(|\bDEFINE\s+POLICY\b|\bINITSIZE\s*\(", re.IGNORECASE)
_LETTERS = re.compile(r"[a-z]")
_ALL_PERCENT: Final = 100


def has_policy(text: str) -> bool:
    """Return whether a text contains parts of a CFRM policy."""
    return _LOOKS_LIKE.search(text) is not None


def lint_policy(
    read: PolicyText, *, cfcc_level: int | None, queue_managers: int | None, is_mixed: bool = False
) -> tuple[list[LineFinding], int]:
    """Return the findings on the policies of a text, and the number of STRUCTURE statements.

    With `is_mixed`, the text also has other contents, so text that is not a statement is not treated as damage.
    """
    hints = _Hints()
    found = [
        finding_at(DAMAGE[each.kind], _sentence(each, hints), line=each.line)
        for each in read.problems
        if not (is_mixed and each.kind in {"unexpected", "character"})
    ]
    found += _records(read)
    definition = next((each for each in read.statements if each.verb == "DEFINE POLICY"), None)
    if definition and not any(each.verb == "DATA" for each in read.statements):
        message = (
            "DEFINE POLICY is not preceded by DATA TYPE(CFRM), which IXCMIAPU needs to know what to update."
        )
        found.append(finding_at("POLICY_DATA_MISSING", message, line=definition.line))
    for statement in read.statements:
        found += _keywords(statement, hints)
        found += _values(statement)
        found += _between(read, statement)
    for policy in policies(read):
        found += _together(policy)
        groups = _group_names(policy)
        for structure in policy.structures:
            found += _structure(structure)
            found += _asynchronous(structure, groups)
            found += _named_twice(structure, groups)
            found += _scm_level(structure, cfcc_level)
        found += _groups(policy, cfcc_level=cfcc_level, queue_managers=queue_managers)
    return found, sum(each.verb == "STRUCTURE" for each in read.statements)


def sentence(message: str) -> str:
    """Return a message with its first letter in upper case."""
    return message[0].upper() + message[1:]


class _Hints:
    """Suggestions of known words, only for the first misspellings in a text: comparing is much slower than reading."""

    def __init__(self) -> None:
        self.left = _MOST_HINTS

    def __call__(self, word: str, known: Sequence[str]) -> str:
        if not self.left or len(word) > _LONGEST_HINTED:
            return ""
        self.left -= 1
        near = get_close_matches(word, known, n=1)
        return f" Did you mean {near[0]}?" if near else ""


_MOST_HINTS: Final = 200
_LONGEST_HINTED: Final = 40
"""The maximum length of a word that may be a misspelled keyword."""


def _sentence(problem: TextProblem, hints: _Hints) -> str:
    # Only the first word of an unknown statement can be a misspelled verb.
    is_unknown = problem.kind == "statement"
    return sentence(problem.message) + (
        hints(problem.word, ("STRUCTURE", "DEFINE", "DELETE", "DATA", "CF")) if is_unknown else ""
    )


def _name(statement: TextStatement) -> str:
    """Return the name of a statement for a sentence."""
    return f"{statement.verb} {shown(statement.one('NAME') or 'without a name')}"


def policy_name_twice(statement: TextStatement, first_line: int) -> LineFinding:
    """Return the finding on a statement whose name an earlier one of its policy has."""
    message = f"{statement.verb} NAME({shown(statement.one('NAME') or '')}) is already in this policy, on line {first_line}."
    return finding_at("POLICY_NAME_TWICE", message, statement.line, _structure_name(statement))


def _structure_name(statement: TextStatement) -> str | None:
    return statement.one("NAME") if statement.verb == "STRUCTURE" else None


# ---- records -----------------------------------------------------------------------------------------------


def _records(read: PolicyText) -> Iterator[LineFinding]:
    """Check columns, comments and lower-case letters."""
    lower: int | None = None
    beyond: dict[int, str] = {}
    # A console prefix shifts the columns of its line, so they are not those of the input.
    shifted = {piece.line for piece in read.pieces if piece.kind == "console"}
    for piece in read.pieces:
        if piece.kind == "remark":
            if piece.column == 1:
                message = "The comment begins in column 1: /* in columns 1 and 2 ends the input of a job's DD *. Indent it."
                yield finding_at("POLICY_COLUMN_ONE_REMARK", message, piece.line)
            inner = piece.text.find("/*", len("/*"))
            if inner >= 0 and "\n" in piece.text[:inner]:
                at = piece.line + piece.text.count("\n", 0, inner)
                message = (
                    f"The comment that begins here is closed only after another /*, on line {at}: text in "
                    "between is part of the comment. Close it where it should end."
                )
                yield finding_at("POLICY_REMARK_SWALLOWS", message, piece.line)
        is_said = piece.kind in _SAID
        ends = piece.column + len(piece.text) - 1
        # A comment of several lines ends in another line, so its length says nothing about its columns.
        if (is_said or (piece.kind == "remark" and "\n" not in piece.text)) and ends > LAST_COLUMN:
            beyond.setdefault(piece.line, piece.text)
        if is_said and lower is None and _LETTERS.search(piece.text):
            lower = piece.line
    for line, text in ((line, text) for line, text in beyond.items() if line not in shifted):
        message = f"{shown(text)!r} extends beyond column {LAST_COLUMN}: input for IXCMIAPU is safe only in columns 2 to {LAST_COLUMN}."
        yield finding_at("POLICY_BEYOND_COLUMN_71", message, line)
    if lower is not None:
        message = "Statements are in lower case. cfplan reads them as upper case; change them to upper case before you submit them."
        yield finding_at("POLICY_LOWER_CASE", message, lower)


# ---- one statement -----------------------------------------------------------------------------------------


def _keywords(statement: TextStatement, hints: _Hints) -> Iterator[LineFinding]:
    known = _KNOWN.get(statement.verb)
    name = _structure_name(statement)
    for parameter in statement.parameters:
        if known is not None and parameter.keyword not in known:
            hint = hints(parameter.keyword, known)
            message = f"{statement.verb} has no keyword {shown(parameter.keyword)}.{hint}"
            yield finding_at("POLICY_KEYWORD_UNKNOWN", message, parameter.line, name)
        elif not parameter.values:
            yield finding_at(
                "POLICY_VALUE_MISSING",
                f"{parameter.keyword} of {_name(statement)} has no value.",
                parameter.line,
                name,
            )
    if statement.verb == "DATA" and (statement.one("TYPE") or "CFRM") != "CFRM":
        return
    missing = [keyword for keyword in _REQUIRED.get(statement.verb, ()) if statement.get(keyword) is None]
    if missing:
        message = f"{_name(statement)} needs {' and '.join(missing)}."
        yield finding_at("POLICY_KEYWORD_MISSING", message, statement.line, name)


def _values(statement: TextStatement) -> Iterator[LineFinding]:
    name = _structure_name(statement)
    for parameter in statement.parameters:
        if not parameter.values:
            continue
        for code, message in _value(statement, parameter):
            yield finding_at(
                code,
                f"{parameter.keyword}({shown(','.join(parameter.values))}) {message}",
                parameter.line,
                name,
            )
        if parameter.keyword == "PREFLIST" and len(parameter.values) == 1:
            named = shown(statement.one("NAME") or "The structure")
            found = preflist_single_cf(named, shown(parameter.values[0]))
            yield at_line(replace(found, structure=name), parameter.line)


def _between(read: PolicyText, statement: TextStatement) -> Iterator[LineFinding]:
    """Check superfluous commas and quotes between parentheses."""
    name = _structure_name(statement)
    for parameter in statement.parameters:
        # Values are read without their commas, so only the pieces show one that is superfluous.
        before: Piece | None = None
        said = [each for each in read.pieces[parameter.opening : parameter.closing + 1] if each.kind in _SAID]
        for piece in said:
            alone = {piece.kind, before.kind} if before else set()
            if before and parameter.values and alone <= {"open", "comma", "close"} and "comma" in alone:
                comma = piece if piece.kind == "comma" else before
                message = f"{parameter.keyword} of {_name(statement)} has a comma without a name next to it."
                yield finding_at("POLICY_VALUE_MISSING", message, comma.line, name)
                break
            before = piece
        quoted = next((each for each in said if is_quoted(each.text)), None)
        if quoted:
            message = (
                f"{parameter.keyword} has {shown(quoted.text)} in quotes, which the syntax does not allow: cfplan reads it "
                f"as {shown(unquoted(quoted.text).upper())}. Remove the quotes."
            )
            yield finding_at("POLICY_VALUE_QUOTED", message, quoted.line, name)


def _value(statement: TextStatement, parameter: PolicyParameter) -> Iterator[tuple[str, str]]:
    """Yield the error in the values of a keyword: its code, and the rest of the sentence."""
    keyword, values = parameter.keyword, parameter.values
    invalid = "POLICY_VALUE_INVALID"
    if keyword in _LISTS:
        yield from _list(statement, parameter)
        return
    if keyword == "DUPLEX" and statement.verb == "STRUCTURE":
        yield from _duplex(values)
        return
    if keyword in _SIZES:
        try:
            parse_size(" ".join(values))
        except SizeSyntax:
            yield invalid, "is not a valid size: write a number and a unit K, M, G or T, such as 512M."
            return
        # parse_size accepts more than a policy does: decimals, and B as a unit.
        if not _WHOLE_SIZE.fullmatch("".join(values)):
            yield (
                invalid,
                "is not a valid size: write a whole number of up to 9 digits and K, M, G or T.",
            )
        return
    if len(values) > 1 and keyword in (*STRUCTURE_KEYWORDS, *CF_KEYWORDS):
        yield invalid, f"has {len(values)} values: {keyword} accepts one."
        return
    value = values[0]
    if keyword == "NAME" and statement.verb in _NAME_RULES:
        try:
            _NAME_RULES[statement.verb](value)
        except NameSyntax as error:
            yield invalid, f"is not valid: {error}"
    elif keyword in _WORDS and value not in _WORDS[keyword]:
        yield invalid, f"is neither {' nor '.join(_WORDS[keyword])}."
    elif keyword == "FULLTHRESHOLD" and not (_NUMBER.fullmatch(value) and int(value) <= _ALL_PERCENT):
        yield invalid, "is not a percentage from 0 to 100."
    elif statement.verb == "CF" and keyword in _CODES and not re.fullmatch(_CODES[keyword][0], value):
        yield invalid, f"is not valid: {keyword} has {_CODES[keyword][1]}."
    elif keyword in _REMEMBERED:
        lowest, highest = _REMEMBERED[keyword]
        if not _NUMBER.fullmatch(value):
            yield invalid, "is not a whole number."
        elif not lowest <= int(value) <= highest:
            yield (
                "POLICY_VALUE_UNUSUAL",
                f"is outside {lowest} to {highest}, the range in the manual (from memory): check the manual.",
            )
    elif keyword == "SCMALGORITHM" and value != "KEYPRIORITY1":
        yield (
            "POLICY_VALUE_UNUSUAL",
            "is not KEYPRIORITY1, the only algorithm that cfplan knows: check the manual.",
        )


_NAME_RULES: Final[Mapping[str, Callable[[str], str]]] = {
    "STRUCTURE": names.structure,
    "CF": names.coupling_facility,
    "DEFINE POLICY": names.policy,
    "DELETE POLICY": names.policy,
}


_MOST_NAMES: Final = 100
"""The maximum number of names in one list that are checked and shown. A longer list is an error as a whole."""


def _list(statement: TextStatement, parameter: PolicyParameter) -> Iterator[tuple[str, str]]:
    values = parameter.values
    check = names.coupling_facility if parameter.keyword == "PREFLIST" else names.structure
    for value in values[:_MOST_NAMES]:
        try:
            check(value)
        except NameSyntax as error:
            yield "POLICY_VALUE_INVALID", f"has an invalid name: {error}"
    most = limit("preflist_names")
    if len(values) > most:
        yield "POLICY_TOO_MANY_NAMES", f"has {len(values)} names: {parameter.keyword} accepts at most {most}."
    twice = sorted(value for value, count in Counter(values).items() if count > 1)
    if twice:
        more = f" and {len(twice) - _MOST_NAMES} others" if len(twice) > _MOST_NAMES else ""
        yield (
            "POLICY_NAME_LISTED_TWICE",
            f"names {', '.join(map(shown, twice[:_MOST_NAMES]))}{more} more than once.",
        )
    if parameter.keyword == "EXCLLIST" and statement.one("NAME") in values:
        yield "POLICY_EXCLUDES_ITSELF", "names the structure itself."


def _duplex(values: Sequence[str]) -> Iterator[tuple[str, str]]:
    if values[0] not in _DUPLEX:
        yield "POLICY_VALUE_INVALID", f"is not one of {', '.join(_DUPLEX)}."
        return
    options = values[1:]
    if options and values[0] == "DISABLED":
        yield "POLICY_VALUE_INVALID", "has options, which DISABLED does not accept."
    unknown = [option for option in options if option not in _DUPLEX_REMEMBERED]
    if unknown:
        yield (
            "POLICY_VALUE_UNUSUAL",
            f"has the option {shown(unknown[0])}, which cfplan does not know: check the manual.",
        )


# ---- one structure -----------------------------------------------------------------------------------------


def _size(parameter: PolicyParameter | None) -> int | None:
    """Return a size that a policy can state [bytes]; None for other sizes, which POLICY_VALUE_INVALID reports."""
    if parameter is None or not _WHOLE_SIZE.fullmatch("".join(parameter.values)):
        return None
    return size_of(parameter)


def _structure(statement: TextStatement) -> Iterator[LineFinding]:
    """Check the sizes and thresholds of a structure against each other and against the limits."""
    name = statement.one("NAME") or ""
    size, initsize, minsize = (_size(statement.get(key)) for key in ("SIZE", "INITSIZE", "MINSIZE"))

    def at(keyword: str) -> int:
        parameter = statement.get(keyword)
        return parameter.line if parameter else statement.line

    for keyword, value in (("SIZE", size), ("INITSIZE", initsize), ("MINSIZE", minsize)):
        for each in above_maximum(value or 0, who=f"{keyword} of {name} is", advice=".", structure=name):
            yield at_line(each, at(keyword))
    if size == 0:
        yield finding_at("POLICY_VALUE_INVALID", f"SIZE of {name} is 0.", at("SIZE"), name)
    if size is not None and initsize is not None:
        if initsize > size:
            message = f"INITSIZE {format_size(initsize)} of {name} is above SIZE {format_size(size)}."
            yield finding_at("INITSIZE_ABOVE_SIZE", message, at("INITSIZE"), name)
        for each in size_over_twice_initsize(name, size, initsize):
            yield at_line(each, at("SIZE"))
    first = initsize if initsize is not None else size
    if minsize is not None and first is not None and minsize > first:
        message = f"MINSIZE {format_size(minsize)} of {name} is above the initial size {format_size(first)}."
        yield finding_at("MINSIZE_ABOVE_INITSIZE", message, at("MINSIZE"), name)
    if stated(statement, "FULLTHRESHOLD") == 0:
        yield at_line(full_threshold_zero(name), at("FULLTHRESHOLD"))
    if stated(statement, "ALLOWAUTOALT") is True and not minsize:
        yield at_line(auto_alter_may_shrink(name), at("ALLOWAUTOALT"))
    alone = {"SCMALGORITHM", "SCMMAXSIZE"} - {parameter.keyword for parameter in statement.parameters}
    if len(alone) == 1:
        has = "SCMMAXSIZE" if "SCMALGORITHM" in alone else "SCMALGORITHM"
        message = f"{name} has {has} without {alone.pop()}: storage-class memory needs both (from memory of the manual)."
        yield finding_at("POLICY_SCM_INCOMPLETE", message, at(has), name)


_NOT_IF_ASYNC: Final[Mapping[str, str]] = {
    "ASYNC": "it is duplexed synchronously",
    "ASYNCONLY": "it is not duplexed at all",
}


def _asynchronous(statement: TextStatement, groups: Sequence[str]) -> Iterator[LineFinding]:
    """Report asynchronous duplexing of list structures: only lock structures, known by their names, support it."""
    parameter, name = statement.get("DUPLEX"), statement.one("NAME") or ""
    mode = next((value for value in parameter.values if value in _NOT_IF_ASYNC), None) if parameter else None
    if parameter is None or mode is None:
        return
    is_ours = any(name.startswith(group) and _OF_GROUP.fullmatch(name[len(group) :]) for group in groups)
    # Only the name shows the type: lock structures such as DSNDB0P_LOCK1 have LOCK in theirs.
    if not is_ours and "LOCK" in name:
        return
    what = "It is an MQ list structure" if is_ours else "Unless it is one"
    message = (
        f"DUPLEX({','.join(parameter.values)}) of {shown(name)}: only lock structures are duplexed asynchronously. {what}: with {mode} "
        f"{_NOT_IF_ASYNC[mode]}."
    )
    yield finding_at("DUPLEX_ASYNC_NOT_LOCK", message, parameter.line, name)


def _scm_level(statement: TextStatement, cfcc_level: int | None) -> Iterator[LineFinding]:
    """Report storage-class memory at a level that no longer has it."""
    parameter = statement.get("SCMMAXSIZE")
    if parameter is None or cfcc_level is None or not has_no_scm(cfcc_level) or not size_of(parameter):
        return
    name = statement.one("NAME") or ""
    yield at_line(scm_removed(name, cfcc_level), parameter.line)


def _named_twice(statement: TextStatement, groups: Sequence[str]) -> Iterator[LineFinding]:
    """Report a structure whose CFSTRUCT name begins with the name of the group again."""
    name = statement.one("NAME") or ""
    for group in groups:
        # MQ puts the name of the group in front of a CFSTRUCT name itself.
        if name.startswith(group * 2) and _APPLICATION.fullmatch(name[len(group) :]):
            cfstruct = name[len(group) :]
            parameter = statement.get("NAME")
            message = (
                f"{name} contains the name of the group twice: its CFSTRUCT would be {cfstruct}. MQ adds {group} before the "
                f"CFSTRUCT name, so name the structure {cfstruct}."
            )
            line = parameter.line if parameter else statement.line
            yield finding_at("CFSTRUCT_HAS_GROUP_PREFIX", message, line, name)


# ---- a whole policy ----------------------------------------------------------------------------------------


def _together(policy: PolicyDefinition) -> Iterator[LineFinding]:
    """Report duplicate names, and coupling facilities that are not defined."""
    for kind in (policy.facilities, policy.structures):
        seen: dict[str, int] = {}
        for statement in kind:
            name = statement.one("NAME")
            if name is None:
                continue
            if name in seen:
                yield policy_name_twice(statement, seen[name])
            seen.setdefault(name, statement.line)
    hardware: dict[tuple[str, ...], str] = {}
    for statement in policy.facilities:
        key = tuple(
            statement.one(keyword) or "" for keyword in ("TYPE", "MFG", "PLANT", "SEQUENCE", "PARTITION")
        )
        # PARTITION has one or two hexadecimal digits: F and 0F are the same partition.
        key = (*key[:-1], key[-1].lstrip("0"))
        name = statement.one("NAME") or ""
        if all(key[:-1]) and key in hardware and hardware[key] != name:
            yield at_line(same_cf_twice(hardware[key], name), statement.line)
        hardware.setdefault(key, name)
    defined = {statement.one("NAME") for statement in policy.facilities}
    if not defined:
        return
    for statement in policy.structures:
        parameter = statement.get("PREFLIST")
        unknown = [value for value in parameter.values if value not in defined] if parameter else []
        if parameter and unknown:
            message = f"PREFLIST of {statement.one('NAME')} names {', '.join(map(shown, unknown))}, for which the policy has no CF statement."
            yield finding_at("POLICY_CF_UNDEFINED", message, parameter.line, statement.one("NAME"))


ADMIN_NAME = re.compile(rf"(?P<qsg>[A-Z][A-Z0-9$#@]{{3}}){names.ADMIN_STRUCTURE}")
_SYSTEM = re.compile(rf"(?P<qsg>[A-Z][A-Z0-9$#@]{{3}}){names.SYSTEM_STRUCTURE}")
_APPLICATION = re.compile(r"(?P<qsg>[A-Z][A-Z0-9$#@]{3})(?P<name>[A-Z][A-Z0-9]{0,11})")
_OF_GROUP = re.compile(rf"{names.ADMIN_STRUCTURE}|[A-Z][A-Z0-9]{{0,11}}")


def _group_names(policy: PolicyDefinition) -> tuple[str, ...]:
    """Return the four-character names of the groups that have CSQ_ADMIN or CSQSYSAPPL in a policy."""
    found = (
        match["qsg"]
        for statement in policy.structures
        for pattern in (ADMIN_NAME, _SYSTEM)
        if (match := pattern.fullmatch(statement.one("NAME") or ""))
    )
    return tuple(dict.fromkeys(found))


def _groups(
    policy: PolicyDefinition, *, cfcc_level: int | None, queue_managers: int | None
) -> Iterator[LineFinding]:
    """Check MQ's requirements for the structures of each queue-sharing group."""
    by_name = {statement.one("NAME") or "": statement for statement in policy.structures}
    admins = {match["qsg"]: by_name[name] for name in by_name if (match := ADMIN_NAME.fullmatch(name))}
    systems = {match["qsg"]: by_name[name] for name in by_name if (match := _SYSTEM.fullmatch(name))}
    for group, statement in systems.items():
        # A fragment may leave out any structure; only a complete policy shows that one is missing.
        if group not in admins and policy.definition:
            message = f"The policy has {group}{names.SYSTEM_STRUCTURE} but no {group}{names.ADMIN_STRUCTURE}: no queue manager of the group would start."
            yield finding_at("ADMIN_STRUCTURE_MISSING", message, statement.line, statement.one("NAME"))
        yield from _system_size(statement, cfcc_level)
    for group, statement in admins.items():
        others = [name for name in by_name if name.startswith(group) and _APPLICATION.fullmatch(name)]
        found = list(too_many_structures(len(others) + 1, f"have names in group {group.rstrip('@')}"))
        if policy.definition and not others:
            has = f"Group {group.rstrip('@')} has {statement.one('NAME')} and no other structure. "
            found.append(too_few_structures(has))
        yield from (at_line(replace(each, structure=statement.one("NAME")), statement.line) for each in found)
        yield from _admin_size(statement, cfcc_level, queue_managers)
        duplex = statement.get("DUPLEX")
        if duplex and duplex.values[:1] == ("ENABLED",):
            yield at_line(admin_duplexed(statement.one("NAME") or ""), duplex.line)


def _given(statement: TextStatement) -> tuple[int | None, int]:
    """Return the initial size of a statement, and its line."""
    for keyword in ("INITSIZE", "SIZE"):
        parameter = statement.get(keyword)
        if parameter is not None:
            return size_of(parameter), parameter.line
    return None, statement.line


_OLDEST_LEVEL: Final = 14
"""The lowest CFCC level with published sizes. Sizes grow with the level, so a size too small here is always too
small."""


def _admin_size(
    statement: TextStatement, cfcc_level: int | None, queue_managers: int | None
) -> Iterator[LineFinding]:
    """Check CSQ_ADMIN against the published minimum; without a level or number of queue managers, the smallest one."""
    given, line = _given(statement)
    # With ALLOWAUTOALT(YES), MQ compares the entries that CSQ_ADMIN can grow to (IBM on CSQE022E).
    if stated(statement, "ALLOWAUTOALT") is True:
        given = size_of(statement.get("SIZE"))
    managers, level = queue_managers or 1, cfcc_level or _OLDEST_LEVEL
    try:
        need = admin_need(queue_managers=managers, cfcc_level=level, entsmax=None)
    except (OutOfRange, PlanRefused):
        return
    if given is not None:
        who = f"{managers} queue manager{'s' if managers > 1 else ''} at CFCC level {level}"
        for each in admin_below_minimum(statement.one("NAME") or "", given, need.published_bytes, who=who):
            yield at_line(each, line)


def _system_size(statement: TextStatement, cfcc_level: int | None) -> Iterator[LineFinding]:
    given, line = _given(statement)
    if given is None or cfcc_level is None:
        return
    name = statement.one("NAME") or ""
    keyword = "SIZE" if statement.get("INITSIZE") is None else "INITSIZE"
    for each in system_structure_too_small(
        f"{keyword} {format_size(given)} of {name}",
        given,
        system_sizes(cfcc_level=cfcc_level),
        structure=name,
        level=f"CFCC level {cfcc_level}",
    ):
        yield at_line(each, line)
