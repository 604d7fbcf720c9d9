"""CFRM policies as JSON, as the z/OSMF Sysplex Management services exchange them.

A policy has a name and the lists `cf` and `structure`. Published (IBM Education Assistant for z/OS 3.1, CFRM policy editor
REST API support): `name`, `type`, `mfg`, `plant`, `sequence`, `partition`, `cpcid` and `dumpspace` of coupling facilities;
`name`, `size`, `preflist`, `fullthreshold`, `recprty` and `subnotifydelay` of structures. Each is the keyword of the
statement in lower case, so other members are read by the same rule, and reported. The unit of plain numbers is not
published: without it, no size is read. Members that match no keyword are kept as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from planner_core.errors import PlannerError, SizeSyntax
from planner_core.texts.cfrm.render import listed, policy_bytes, policy_size
from planner_core.units import parse_size
from planner_core.wire import Answer, JsonObject

SizeUnit: TypeAlias = Literal["B", "K", "M", "G"]
FACILITIES, STRUCTURES = "cf", "structure"
VERBS: Final[Mapping[str, str]] = {FACILITIES: "CF", STRUCTURES: "STRUCTURE"}
DOCUMENTED: Final[Mapping[str, frozenset[str]]] = {
    FACILITIES: frozenset({"type", "mfg", "plant", "sequence", "partition", "cpcid", "dumpspace"}),
    STRUCTURES: frozenset({"size", "preflist", "fullthreshold", "recprty", "subnotifydelay"}),
}
"""The members that IBM's presentation names, besides `name`."""
KEYWORDS: Final[Mapping[str, tuple[str, ...]]] = {
    FACILITIES: ("TYPE", "MFG", "PLANT", "SEQUENCE", "PARTITION", "SIDE", "CPCID", "DUMPSPACE", "SITE"),
    STRUCTURES: (
        "SIZE", "INITSIZE", "MINSIZE", "SCMMAXSIZE", "SCMALGORITHM", "ALLOWAUTOALT", "FULLTHRESHOLD", "PREFLIST",
        "EXCLLIST", "REBUILDPERCENT", "DUPLEX", "RECPRTY", "SUBNOTIFYDELAY", "LISTNOTIFYDELAY", "KEYRNOTIFYDELAY",
        "ENFORCEORDER", "ALLOWREALLOCATE", "ENCRYPT",
    ),
}  # fmt: skip
"""The keywords of each statement: z/OS 3.1 MVS Setting Up a Sysplex, CFRM parameters for administrative data utility."""
SIZE_KEYWORDS: Final = frozenset({"SIZE", "INITSIZE", "MINSIZE", "SCMMAXSIZE", "DUMPSPACE"})
LIST_KEYWORDS: Final = frozenset({"PREFLIST", "EXCLLIST", "DUPLEX"})
NUMBER_KEYWORDS: Final = frozenset(
    {"FULLTHRESHOLD", "REBUILDPERCENT", "RECPRTY", "SUBNOTIFYDELAY", "LISTNOTIFYDELAY", "KEYRNOTIFYDELAY"}
)
MOST_STRUCTURES: Final = 4_095
"""The structure identifiers of a coupling facility at the highest known level; no couple data set holds more structures."""
FLAG_KEYWORDS: Final = frozenset({"ALLOWAUTOALT", "ENFORCEORDER", "ALLOWREALLOCATE", "ENCRYPT"})
"""The keywords with the values YES and NO; true and false are read as these."""
_NAME = re.compile(r"[A-Z$@#][A-Z0-9$@#_]{0,15}", re.ASCII)
_WORD = re.compile(r"[A-Z0-9$@#_.*-]{1,40}", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,15}", re.ASCII)
_MOST_SHOWN: Final = 200


class PolicyJsonInvalid(PlannerError):
    """The JSON is not a policy of the published shape."""


@dataclass(frozen=True, slots=True)
class PropertyRemark(Answer):
    """A member of a policy that is not written as the documentation describes."""

    statement: Annotated[str, Field(description="Such as `STRUCTURE QSGAAPPL1`, or `POLICY`.")]
    member: str
    remark: str
    is_left_out: Annotated[bool, Field(description="Whether the text lacks it.")]

    @property
    def sentence(self) -> str:
        """The member and the remark in words."""
        return f"{self.statement}: {self.member} {self.remark}"


@dataclass(frozen=True, slots=True)
class WrittenPolicy(Answer):
    """A policy as text for the administrative data utility."""

    policy_name: str
    policy: str
    remarks: tuple[PropertyRemark, ...]
    unreadable: Annotated[
        tuple[PropertyRemark, ...],
        Field(
            description="Values of known keywords that cannot be read: the text lacks them, and would mean their defaults."
        ),
    ]

    def require_complete(self) -> None:
        """Check that the text has every known keyword of the policy.

        Raises:
            PolicyJsonInvalid: A value cannot be read.
        """
        if self.unreadable:
            lines = "\n".join(f"  {each.sentence}" for each in self.unreadable)
            message = (
                f"The policy {self.policy_name} cannot be written as text: without these values, z/OS would use their defaults.\n"
                f"{lines}\nCorrect them on the server, or use the report of IXCMIAPU."
            )
            raise PolicyJsonInvalid(message)


@dataclass(frozen=True, slots=True)
class StatementDifference(Answer):
    """A statement or a value that differs between two policies."""

    statement: Annotated[str, Field(description="Such as `STRUCTURE QSGAAPPL1`.")]
    keyword: Annotated[str | None, Field(description="Null: the entire statement was added or removed.")]
    before: Annotated[str | None, Field(description="Null: not stated.")]
    after: Annotated[str | None, Field(description="Null: not stated.")]

    @property
    def sentence(self) -> str:
        """The difference in words."""
        if self.keyword is None:
            return f"{self.statement}: {'removed' if self.after is None else 'added'}"
        before, after = (
            "not stated" if each is None else f"{self.keyword}({each})" for each in (self.before, self.after)
        )
        return f"{self.statement}: {before} -> {after}"


def is_statement_name(name: str) -> bool:
    """Return whether a name can be that of a coupling facility or a structure."""
    return bool(_NAME.fullmatch(name))


def find_policy(answer: object, name: str) -> JsonObject:
    """Return the policy in an answer of z/OSMF, after checking its shape.

    Raises:
        PolicyJsonInvalid: The answer has no such policy, or another shape.
    """
    members = answer.get("policy") if isinstance(answer, dict) else None
    if not isinstance(members, list):
        message = "The answer has no list `policy`, which IBM's description shows."
        raise PolicyJsonInvalid(message)
    found = [each for each in members if isinstance(each, dict) and each.get("name") == name]
    if len(found) != 1:
        message = f"The answer describes the policy {name} {len(found)} times instead of once."
        raise PolicyJsonInvalid(message)
    policy: JsonObject = found[0]
    for section, verb in VERBS.items():
        _check_section(policy, section, verb)
    return policy


def _check_section(policy: JsonObject, section: str, verb: str) -> None:
    entries = policy.get(section, [])
    if not isinstance(entries, list) or len(entries) > MOST_STRUCTURES:
        message = (
            f"The member `{section}` of the policy is not a list of at most {MOST_STRUCTURES} statements."
        )
        raise PolicyJsonInvalid(message)
    names = set()
    for each in entries:
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            message = f"An entry of `{section}` has no usable name."
            raise PolicyJsonInvalid(message)
        if name in names:
            message = f"The policy has two statements {verb} NAME({name})."
            raise PolicyJsonInvalid(message)
        names.add(name)
        spelled = [member.upper() for member in each]
        if twice := next((member for member in spelled if spelled.count(member) > 1), None):
            message = (
                f"The statement {verb} NAME({name}) has the member {twice.lower()[:40]} in two spellings."
            )
            raise PolicyJsonInvalid(message)


def entries_of(policy: JsonObject, section: str) -> list[JsonObject]:
    """Return the entries of a checked policy."""
    return list(policy.get(section, []))


def value_text(keyword: str, value: object, unit: str | None) -> str | None:
    """Return a value as a statement writes it; None if it cannot be written.

    Args:
        keyword: The keyword.
        value: The value in JSON.
        unit: The unit of sizes that are plain numbers; None if unknown.
    """
    if isinstance(value, bool):
        return ("YES" if value else "NO") if keyword in FLAG_KEYWORDS else None
    if isinstance(value, list) and keyword in LIST_KEYWORDS:
        words = [each.strip().upper() if isinstance(each, str) else "" for each in value]
        return ",".join(words) if words and all(map(_WORD.fullmatch, words)) else None
    if isinstance(value, int):
        value = str(value)
    if not isinstance(value, str):
        return None
    text = value.strip().upper()
    if keyword in SIZE_KEYWORDS:
        return _size_text(text, unit)
    if keyword in LIST_KEYWORDS:
        words = [each.strip() for each in text.strip("()").split(",")]
        return ",".join(words) if all(map(_WORD.fullmatch, words)) else None
    if keyword in FLAG_KEYWORDS:
        return text if text in ("YES", "NO") else None
    if keyword in NUMBER_KEYWORDS:
        return text if _DIGITS.fullmatch(text) else None
    return text if _WORD.fullmatch(text) else None


def _size_text(text: str, unit: str | None) -> str | None:
    if _DIGITS.fullmatch(text) and unit is None and int(text):
        return None
    try:
        size = parse_size(text, default_unit=unit)
    except SizeSyntax:
        return None
    # A policy states whole K; another size could only be written rounded.
    return policy_size(size) if policy_bytes(size) == size else None


def statements_of(policy: JsonObject, unit: str | None) -> dict[str, dict[str, str]]:
    """Return the values of each statement, such as `STRUCTURE A`, by keyword; other members by their name and as JSON."""
    found: dict[str, dict[str, str]] = {}
    for section, verb in VERBS.items():
        for entry in entries_of(policy, section):
            values: dict[str, str] = {}
            for member, value in entry.items():
                if member == "name" or is_absent(value):
                    continue
                keyword = keyword_of(section, member)
                text = None if keyword is None else value_text(keyword, value, unit)
                values[member if text is None else str(keyword)] = _as_json(value) if text is None else text
            found[f"{verb} {entry['name']}"] = values
    return found


def keyword_of(section: str, member: str) -> str | None:
    """Return the keyword of a member of a statement; None if it matches none."""
    keyword = member.upper()
    return keyword if keyword in KEYWORDS[section] else None


def is_absent(value: object) -> bool:
    """Return whether a member states nothing."""
    return value is None or value in ("", [])


def differences_between(
    before: JsonObject, after: JsonObject, unit: str | None
) -> tuple[StatementDifference, ...]:
    """Return the statements and values that differ, in the order of the first policy; the names are not compared."""
    old, new = statements_of(before, unit), statements_of(after, unit)
    found: list[StatementDifference] = []
    for statement in dict.fromkeys([*old, *new]):
        if statement not in new:
            found.append(StatementDifference(statement, None, "", None))
        elif statement not in old:
            found.append(StatementDifference(statement, None, None, ""))
        else:
            had, has = old[statement], new[statement]
            found += [
                StatementDifference(statement, keyword, had.get(keyword), has.get(keyword))
                for keyword in dict.fromkeys([*had, *has])
                if had.get(keyword) != has.get(keyword)
            ]
    return tuple(found)


def written_policy(policy: JsonObject, unit: str | None) -> WrittenPolicy:
    """Return a checked policy as text, and remarks on members that the text lacks or that are read by their name.

    Raises:
        PolicyJsonInvalid: A size cannot be written, because its unit is unknown or it is not in whole K.
    """
    name = policy["name"]
    remarks = [
        PropertyRemark(
            "POLICY",
            str(member),
            f"is {_as_json(value)}: kept, but not part of the policy text",
            is_left_out=True,
        )
        for member, value in policy.items()
        if member not in {"name", *VERBS}
    ]
    unreadable: list[PropertyRemark] = []
    lines = [" DATA TYPE(CFRM) REPORT(YES)", f" DEFINE POLICY NAME({name}) REPLACE(NO)"]
    for section, verb in VERBS.items():
        for entry in entries_of(policy, section):
            statement = f"{verb} {entry['name']}"
            lines.append(f"   {verb} NAME({entry['name']})")
            for member, value in entry.items():
                if member == "name" or is_absent(value):
                    continue
                keyword = keyword_of(section, member)
                text = None if keyword is None else value_text(keyword, value, unit)
                if keyword is not None and text is not None:
                    lines += listed(keyword, tuple(text.split(",")))
                    if why := _remark_on(section, member):
                        remark = f"is {_as_json(value)}: read as {keyword}({text}), {why}"
                        remarks.append(PropertyRemark(statement, str(member), remark, is_left_out=False))
                elif keyword in SIZE_KEYWORDS:
                    raise _unreadable_size(statement, keyword, value, unit)
                elif keyword is not None:
                    remark = f"is {_as_json(value)}, which {keyword} cannot have"
                    unreadable.append(PropertyRemark(statement, str(member), remark, is_left_out=True))
                else:
                    remark = f"is {_as_json(value)}: not a keyword of {verb}, and not part of the text"
                    remarks.append(PropertyRemark(statement, str(member), remark, is_left_out=True))
    return WrittenPolicy(name, "\n".join(lines) + "\n", tuple(remarks), tuple(unreadable))


def _remark_on(section: str, member: str) -> str:
    if member == "dumpspace":
        return "but whether it has the unit of SIZE is not documented. Verify it."
    if member in DOCUMENTED[section]:
        return ""
    return "although IBM's description does not list it"


def _unreadable_size(statement: str, keyword: str, value: object, unit: str | None) -> PolicyJsonInvalid:
    shown = _as_json(value)
    if unit is None:
        return PolicyJsonInvalid(
            f"{statement}: the unit of {keyword.lower()} {shown} is unknown, because the description of z/OSMF does not state "
            "it. Find it with `cfplan connections check --policy NAME --structure STR --size-is SIZE`, and enter it as "
            "size_unit of the connection."
        )
    return PolicyJsonInvalid(
        f"{statement}: {keyword.lower()} {shown} in the unit {unit} is not a whole number of K, so it cannot be written. "
        "Check size_unit of the connection."
    )


def sections_with_statements(policy: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield the section and the entry of each statement."""
    for section in VERBS:
        for entry in entries_of(policy, section):
            yield section, entry


def _as_json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, ensure_ascii=True, sort_keys=True)[:_MOST_SHOWN]
