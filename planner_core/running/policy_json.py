"""A merged policy as the JSON of a new policy for z/OSMF: only the merged values change, all other members stay.

A keyword that the interface is not known to carry is reported instead of lost. A new structure may leave it out only if
its value is the default.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner_core.errors import SizeSyntax
from planner_core.running.policy import policies, with_defaults
from planner_core.texts.cfrm.policy_json import (
    DOCUMENTED,
    FLAG_KEYWORDS,
    LIST_KEYWORDS,
    NUMBER_KEYWORDS,
    SIZE_KEYWORDS,
    STRUCTURES,
    PolicyJsonInvalid,
    entries_of,
    value_text,
)
from planner_core.texts.cfrm.render import policy_size
from planner_core.texts.cfrm.text import TextStatement, read_policy_text
from planner_core.units import parse_size
from planner_core.wire import Answer, JsonObject

_SENT_BACK: Final = frozenset({"name", "cf", "structure"})
"""The members of a policy that are sent; others, such as the time of its definition, describe the policy that was read."""


@dataclass(frozen=True, slots=True)
class UncarriedKeyword(Answer):
    """A value that the interface is not known to carry."""

    structure: str
    keyword: str
    value: str
    reason: str

    @property
    def sentence(self) -> str:
        """The value and the reason in words."""
        return f"STRUCTURE {self.structure}: {self.keyword}({self.value}): {self.reason}"


@dataclass(frozen=True, slots=True)
class ChangedPolicy(Answer):
    """The JSON of a new policy, and the values that it lacks."""

    body: JsonObject
    uncarried: tuple[UncarriedKeyword, ...]


def changed_policy(
    policy: JsonObject, merged: str, *, name: str, unit: str, accepted: Collection[str] = ()
) -> ChangedPolicy:
    """Return the policy with the values of a merged text, under another name.

    Args:
        policy: The policy that was read from z/OSMF.
        merged: Its text after the merge.
        name: The name of the new policy.
        unit: The unit of sizes that are plain numbers.
        accepted: Members of structures that this server is known to accept, besides the documented ones.

    Raises:
        PolicyJsonInvalid: The text does not have exactly one policy.
    """
    found = policies(read_policy_text(merged))
    if len(found) != 1:
        message = f"The merged text has {len(found)} policies instead of one."
        raise PolicyJsonInvalid(message)
    body = {member: copy.deepcopy(value) for member, value in policy.items() if member in _SENT_BACK}
    body["name"] = name
    body.setdefault(STRUCTURES, [])
    by_name = {entry["name"]: entry for entry in entries_of(body, STRUCTURES)}
    writing = _Writing(unit, frozenset(accepted) | DOCUMENTED[STRUCTURES], tuple(by_name.values()))
    uncarried: list[UncarriedKeyword] = []
    for statement in found[0].structures:
        structure = statement.one("NAME") or ""
        entry = by_name.get(structure)
        if entry is None:
            entry = {"name": structure}
            body[STRUCTURES].append(entry)
            uncarried += writing.fill(entry, statement, leaves_defaults=True)
        else:
            uncarried += writing.fill(entry, statement, leaves_defaults=False)
    return ChangedPolicy(body, tuple(uncarried))


class _Writing:
    """Writes values of statements into entries, in the notation of the entries that were read."""

    def __init__(self, unit: str, accepted: frozenset[str], samples: tuple[JsonObject, ...]) -> None:
        self._unit, self._accepted = unit, accepted
        self._samples: dict[str, Any] = {}
        for entry in samples:
            for member, value in entry.items():
                self._samples.setdefault(member, copy.deepcopy(value))

    def _spelled(self, keyword: str) -> str:
        """Return the member of a keyword as other statements spell it, or else as it is documented."""
        return next((each for each in self._samples if each.upper() == keyword), keyword.lower())

    def fill(
        self, entry: JsonObject, statement: TextStatement, *, leaves_defaults: bool
    ) -> list[UncarriedKeyword]:
        """Write the values of a statement that differ from the entry; return those that cannot be written."""
        lost: list[UncarriedKeyword] = []
        defaults = _defaults_of(statement) if leaves_defaults else {}
        for parameter in statement.parameters:
            keyword, text = parameter.keyword, _canonical(parameter.keyword, ",".join(parameter.values))
            # A server that spells members otherwise must not get a second member with the same meaning.
            member = next((each for each in entry if each.upper() == keyword), self._spelled(keyword))
            if keyword == "NAME" or value_text(keyword, entry.get(member), self._unit) == text:
                continue
            if keyword.lower() not in self._accepted:
                if defaults.get(keyword) != text:
                    lost.append(UncarriedKeyword(str(entry["name"]), keyword, text, _NOT_CARRIED))
                continue
            like = entry.get(member, self._samples.get(member))
            try:
                entry[member] = self._written(keyword, text, like)
            except ValueError as error:
                lost.append(UncarriedKeyword(str(entry["name"]), keyword, text, str(error)))
        return lost

    def _written(self, keyword: str, text: str, like: object) -> object:
        """Return the JSON of a value, in the notation of another value of the member if there is one."""
        if keyword in LIST_KEYWORDS:
            return (
                text if isinstance(like, str) or (like is None and keyword == "DUPLEX") else text.split(",")
            )
        if isinstance(like, bool) and keyword in FLAG_KEYWORDS:
            return text == "YES"
        if keyword in SIZE_KEYWORDS:
            if isinstance(like, str) and not like.strip().isdigit():
                return text if text[-1:].isalpha() else f"{text}K"
            count, rest = divmod(parse_size(text), parse_size(f"1{self._unit}"))
            if rest:
                message = f"is not a whole number in the unit of the server, {self._unit}"
                raise ValueError(message)
            return str(count) if isinstance(like, str) else count
        return (
            int(text) if keyword in NUMBER_KEYWORDS and text.isdigit() and not isinstance(like, str) else text
        )


_NOT_CARRIED: Final = (
    "not carried by the documented interface. If this server is known to accept it, enter the member under properties of "
    "the connection; every value is read back and compared before activation"
)


def _canonical(keyword: str, text: str) -> str:
    if keyword not in SIZE_KEYWORDS:
        return text
    try:
        return policy_size(parse_size(text))
    except SizeSyntax:
        return text


def _defaults_of(statement: TextStatement) -> Mapping[str, str]:
    """Return the text of each keyword's default in a statement, as far as it is known."""
    size = statement.one("SIZE")
    found: dict[str, str] = {}
    for keyword, value in with_defaults({}).items():
        if isinstance(value, bool):
            found[keyword] = "YES" if value else "NO"
        elif isinstance(value, int | str):
            found[keyword] = str(value)
    if size is not None:
        found["INITSIZE"] = _canonical("INITSIZE", size)
    return found
