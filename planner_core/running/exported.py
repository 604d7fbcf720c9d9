"""CFRM policies that z/OSMF exported as JSON, read as policy text, so that everything that reads policy text reads them.

Nothing is lost silently: what the text cannot state is a finding or an error, with the JSON pointer of the member. The unit
of plain sizes is not published, so it must be stated.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

from planner_core.document.problems import escape_pointer
from planner_core.document.reading import parse_json
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid, PlannerError
from planner_core.names import POLICY_RULE, is_policy
from planner_core.running.line_findings import LineFinding, finding_at
from planner_core.texts.cfrm.policy_json import (
    DOCUMENTED,
    FACILITIES,
    KEYWORDS,
    MOST_STRUCTURES,
    SIZE_KEYWORDS,
    STRUCTURES,
    VERBS,
    SizeUnit,
    is_absent,
    is_statement_name,
    keyword_of,
    value_text,
)
from planner_core.texts.cfrm.render import listed
from planner_core.wire import JsonObject

SIZE_UNITS: Final[tuple[SizeUnit, ...]] = get_args(SizeUnit)
ABOUT_SIZE_UNIT: Final = "Unit of sizes that are plain numbers in a policy that z/OSMF exported as JSON. IBM's description does not state it."
WHAT: Final = "The policy in JSON"
POLICIES: Final = "policy"
_MOST_POLICIES: Final = 64
_MOST_PROBLEMS: Final = 20
_MOST_SHOWN: Final = 60
_BEGINNING: Final = 64
_BLANK: Final = " \t\r\n\ufeff"


class SizeUnitMissing(PlannerError):
    """A size is a plain number, and its unit is not stated."""


@dataclass(frozen=True, slots=True)
class ExportedPolicy:
    """A policy as text, with the JSON pointer that each of its lines comes from."""

    text: str
    pointers: tuple[str, ...]
    findings: tuple[LineFinding, ...]

    def pointed(self, findings: Sequence[LineFinding]) -> tuple[LineFinding, ...]:
        """Return findings on the text with the pointer in the JSON instead of the line."""
        return tuple(
            each
            if each.line is None or not 0 < each.line <= len(self.pointers)
            else replace(each, line=None, message=f"{self.pointers[each.line - 1]}: {each.message}")
            for each in findings
        )


def is_exported(text: str) -> bool:
    """Return whether a text is JSON: it begins with a brace, which no policy, display or definition does."""
    return text[:_BEGINNING].lstrip(_BLANK).startswith("{") or text.lstrip(_BLANK).startswith("{")


def read_exported(text: str, unit: SizeUnit | None = None) -> ExportedPolicy:
    """Return policies in JSON as text.

    Args:
        text: JSON of the shape that IBM describes: a list `policy`, or one of its entries.
        unit: Unit of sizes that are plain numbers; None if not stated.

    Raises:
        InputInvalid: The text is not such JSON; each problem has its JSON pointer.
        SizeUnitMissing: A size needs the unit.
    """
    parsed = _parsed(text.lstrip(_BLANK))
    reading = _Reading(unit)
    reading.read(parsed)
    if reading.problems:
        raise InputInvalid(WHAT, tuple(reading.problems))
    if reading.unitless:
        pointer, shown = reading.unitless[0]
        message = (
            f"is required: {pointer} is {shown}, a number without a unit, and the description of z/OSMF does not state the "
            "unit. Compare one structure with its SIZE in the report of IXCMIAPU, and enter K, M, G or B"
        )
        raise SizeUnitMissing(message)
    return ExportedPolicy("\n".join(reading.lines) + "\n", tuple(reading.pointers), tuple(reading.findings))


def _parsed(text: str) -> object:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputInvalid(WHAT, (FieldProblem("", "is not UTF-8: save the file as UTF-8"),)) from None
    try:
        return parse_json(text)
    except DocumentInvalid as error:
        raise InputInvalid(WHAT, error.problems) from None


class _Reading:
    def __init__(self, unit: SizeUnit | None) -> None:
        self._unit: SizeUnit | None = unit
        self.lines: list[str] = []
        self.pointers: list[str] = []
        self.findings: list[LineFinding] = []
        self.problems: list[FieldProblem] = []
        self.unitless: list[tuple[str, str]] = []

    def read(self, parsed: object) -> None:
        """Read all policies of a parsed text."""
        if not isinstance(parsed, dict):
            self._problem("", "must be an object with the list `policy`")
        elif POLICIES in parsed:
            entries = parsed[POLICIES]
            if not isinstance(entries, list) or not 0 < len(entries) <= _MOST_POLICIES:
                self._problem(f"/{POLICIES}", f"must be a list of 1 to {_MOST_POLICIES} policies")
                return
            self._left_out(parsed, "", {POLICIES}, "the text")
            for number, entry in enumerate(entries):
                self._policy(entry, f"/{POLICIES}/{number}")
        elif parsed.keys() & VERBS.keys():
            self._policy(parsed, "")
        else:
            self._problem("", "has neither the list `policy` nor the lists `cf` and `structure` of a policy")

    def _policy(self, policy: object, at: str) -> None:
        if not isinstance(policy, dict):
            self._problem(at, "must be a policy, an object")
            return
        name = policy.get("name")
        if not isinstance(name, str) or not is_policy(name):
            self._problem(f"{at}/name", f"must be the name of a policy: {POLICY_RULE}")
            return
        self._left_out(policy, at, {"name", *VERBS}, f"the policy {name}")
        if not self.lines:
            self._line(" DATA TYPE(CFRM) REPORT(YES)", at)
        self._line(f" DEFINE POLICY NAME({name}) REPLACE(NO)", at)
        counts: dict[str, int] = {}
        sample = ""
        stated: set[str] = set()
        for section in VERBS:
            entries = policy.get(section, [])
            if not isinstance(entries, list) or len(entries) > MOST_STRUCTURES:
                self._problem(f"{at}/{section}", f"must be a list of at most {MOST_STRUCTURES} statements")
                continue
            counts[section] = len(entries)
            names: set[str] = set()
            for number, entry in enumerate(entries):
                where = f"{at}/{section}/{number}"
                if not isinstance(entry, dict):
                    self._problem(where, "must be a statement, an object")
                    continue
                known = self._statement(entry, section, where, names)
                if section == STRUCTURES:
                    stated |= known.keys()
                    if not sample and "SIZE" in known:
                        sample = f"; SIZE of {entry['name']} is read as {known['SIZE']}"
        self._about(name, at, counts, sample)
        self._not_carried(name, counts.get(STRUCTURES, 0), stated)

    def _statement(self, entry: JsonObject, section: str, at: str, names: set[str]) -> dict[str, str]:
        """Write one statement; return its values by keyword."""
        name = entry.get("name")
        if not isinstance(name, str) or not is_statement_name(name):
            self._problem(f"{at}/name", f"must be the name of a {VERBS[section]}")
            return {}
        if name in names:
            self._problem(f"{at}/name", f"is {name}, which an earlier statement of the list has")
            return {}
        names.add(name)
        self._line(f"   {VERBS[section]} NAME({name})", at)
        known: dict[str, str] = {}
        structure = name if section == STRUCTURES else None
        for member, value in entry.items():
            if member == "name" or is_absent(value):
                continue
            pointer = f"{at}/{_escaped(member)}"
            keyword = keyword_of(section, member)
            text = None if keyword is None else value_text(keyword, value, self._unit)
            if keyword is not None and keyword in known:
                self._problem(pointer, f"states {keyword} a second time")
            elif keyword is not None and text is not None:
                known[keyword] = text
                for line in listed(keyword, tuple(text.split(","))):
                    self._line(line, pointer)
                self._read_by_name(
                    section, f"{keyword}({text})", keyword, f"{pointer} is {_shown(value)}", structure
                )
            elif keyword in SIZE_KEYWORDS:
                self._size(pointer, value)
            elif keyword is not None:
                # Left out, it would mean the default of the keyword.
                self._problem(pointer, f"is {_shown(value)}, which {keyword} cannot have")
            else:
                self._tell(
                    "POLICY_JSON_LEFT_OUT",
                    f"{pointer} is {_shown(value)}: matches no keyword of {VERBS[section]}, so it is left out.",
                    structure,
                )
        return known

    def _size(self, pointer: str, value: object) -> None:
        is_plain = (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, str) and value.strip().isdigit()
        )
        if is_plain and self._unit is None:
            self.unitless.append((pointer, _shown(value)))
            return
        unit = f" in the unit {self._unit}" if is_plain else ""
        self._problem(
            pointer, f"is {_shown(value)}{unit}, which is not a size in whole K that a policy can state"
        )

    def _read_by_name(
        self, section: str, written: str, keyword: str, stated: str, structure: str | None
    ) -> None:
        member = keyword.lower()
        if member not in DOCUMENTED[section]:
            why = f"IBM's description does not list this member; it is read as {written}. Check its value."
        elif section == FACILITIES and keyword in SIZE_KEYWORDS:
            why = f"{written} is read in the unit of SIZE, but whether it has the same unit is not documented. Check its value."
        else:
            return
        self._tell("POLICY_JSON_READ_BY_NAME", f"{stated}: {why}", structure)

    def _about(self, name: str, at: str, counts: dict[str, int], sample: str) -> None:
        unit = (
            f"plain sizes are in the unit {self._unit}, as entered"
            if self._unit
            else "each size states its unit"
        )
        self._tell(
            "POLICY_JSON_READ",
            f"The policy {name} ({counts.get(FACILITIES, 0)} CF, {counts.get(STRUCTURES, 0)} STRUCTURE) was read from JSON"
            f"{f' at {at}' if at else ''}: {unit}{sample}. Compare it with the report of IXCMIAPU.",
        )

    def _not_carried(self, name: str, structures: int, stated: set[str]) -> None:
        absent = [
            each
            for each in KEYWORDS[STRUCTURES]
            if each not in stated and each.lower() not in DOCUMENTED[STRUCTURES]
        ]
        if structures and absent:
            self._tell(
                "POLICY_JSON_NOT_CARRIED",
                f"No structure of the policy {name} in JSON states {', '.join(absent)}, and IBM's description of the interface "
                "does not list these members: the policy may have values that the JSON lacks. They are read as not stated. "
                "Compare with the report of IXCMIAPU, and do not define this text as a policy before it is complete.",
            )

    def _left_out(self, members: dict[str, Any], at: str, known: set[str], of: str) -> None:
        for member, value in members.items():
            if member not in known and not is_absent(value):
                message = f"{at}/{_escaped(member)} is {_shown(value)}: it is not a statement of {of}, so it is left out."
                self._tell("POLICY_JSON_LEFT_OUT", message)

    def _tell(self, code: str, message: str, structure: str | None = None) -> None:
        self.findings.append(finding_at(code, message, structure=structure))

    def _problem(self, pointer: str, message: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(FieldProblem(pointer, message))

    def _line(self, line: str, pointer: str) -> None:
        self.lines.append(line)
        self.pointers.append(pointer or "/")


def _escaped(member: str) -> str:
    return escape_pointer(_shown(member)[1:-1])


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, default=str)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def exported_at(text: str, field: str, unit: SizeUnit | None) -> ExportedPolicy:
    """Return policies in JSON as text; pointers of errors begin with the field of the text.

    Raises:
        InputInvalid: The text is not a policy in JSON.
        SizeUnitMissing: A size needs the unit.
    """
    try:
        return read_exported(text, unit)
    except InputInvalid as error:
        problems = tuple(FieldProblem(f"{field}{each.field}", each.message) for each in error.problems)
        raise InputInvalid(WHAT, problems) from None
