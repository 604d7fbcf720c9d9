"""A check for CFSTRUCT names that begin with the name of a group, based on the groups and structures in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from planner_core import names
from planner_core.findings import Finding, finding

_GROUP_LENGTH: Final = 4
_GROUP = re.compile(
    rf"(?<![A-Z0-9$#@_])(?P<qsg>[A-Z][A-Z0-9$#@]{{3}})(?:{names.ADMIN_STRUCTURE}|{names.SYSTEM_STRUCTURE})(?![A-Z0-9$#@_])"
)
_STRUCTURE = re.compile(
    rf"(?:\bSTRUCTURE[ \t\n]{{1,80}}NAME[ \t]?\(|\bSTRNAME[ \t]?[:=])[ \t]{{0,8}}(?P<name>{names.STRUCTURE_PATTERN})"
)
_REST = re.compile(r"[A-Z][A-Z0-9]{0,11}")


@dataclass(frozen=True, slots=True)
class NamesInText:
    """The groups in a text, each as four characters, and the structures by their names in CFRM."""

    groups: frozenset[str] = frozenset()
    structures: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, *, qsg: str | None = None) -> NamesInText:
        """Read the names in the policies and displays of a text; `qsg` adds a group."""
        groups = {match["qsg"] for match in _GROUP.finditer(text)}
        if qsg:
            groups.add(names.cfrm_structure_name(qsg_name=qsg, cfstruct_name=""))
        return cls(frozenset(groups), frozenset(match["name"] for match in _STRUCTURE.finditer(text)))

    def prefix_of(self, cfstruct: str) -> str | None:
        """Return the group whose name is a prefix of a CFSTRUCT name; None if CFRM has the name that MQ would form."""
        # PRODUCT7 in group PROD merely begins like the group if the policy has PRODPRODUCT7.
        group, rest = cfstruct[:_GROUP_LENGTH], cfstruct[_GROUP_LENGTH:]
        if not _REST.fullmatch(rest) or any(f"{each}{cfstruct}" in self.structures for each in self.groups):
            return None
        return group if group in self.groups or cfstruct in self.structures else None


def prefixed(cfstruct: str, known: NamesInText) -> Iterator[Finding]:
    """Yield a finding if a CFSTRUCT name begins with the name of the group, which MQ adds itself."""
    group = known.prefix_of(cfstruct)
    if group is not None:
        yield finding(
            "CFSTRUCT_HAS_GROUP_PREFIX",
            f"CFSTRUCT({cfstruct}) begins with the name of the group, {group}, which MQ puts before it: the structure in the CFRM policy "
            f"would be {group}{cfstruct}. Name it {cfstruct[_GROUP_LENGTH:]}.",
            structure=cfstruct,
        )
