"""Settings of structures in a policy, in plan units: sizes in bytes, defaults filled in.

Defaults of absent keywords: ALLOWAUTOALT(NO) and FULLTHRESHOLD(80), z/OS MVS Setting Up a Sysplex, Updating the CFRM
policy; INITSIZE is SIZE, CFRM policy specification; DUPLEX(DISABLED) is from memory of the same manual.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from planner_core.errors import SizeSyntax
from planner_core.running.unstated import Unstated, has_every_key, states
from planner_core.sizing.structure_result import StructureResult
from planner_core.texts.cfrm.render import policy_bytes, policy_size
from planner_core.texts.cfrm.text import PolicyParameter, PolicyText, TextStatement
from planner_core.units import parse_size

Setting = int | bool | str | tuple[str, ...] | None
"""A size in bytes, a percentage, YES or NO, a word, or a list of names; None if the default is unknown."""

SIZES: Final = ("SIZE", "INITSIZE", "MINSIZE", "SCMMAXSIZE")
LISTS: Final = ("EXCLLIST", "PREFLIST")
_KEYS: Final = {
    "SIZE": "size",
    "INITSIZE": "initsize",
    "MINSIZE": "minsize",
    "SCMMAXSIZE": "scm",
    "SCMALGORITHM": "scm",
    "ALLOWAUTOALT": "allow_auto_alter",
    "FULLTHRESHOLD": "full_threshold",
    "DUPLEX": "duplex",
    "EXCLLIST": "exclist",
    "PREFLIST": "preflist",
    "ENFORCEORDER": "enforce_order",
}
"""The key of each keyword of a structure that a plan sets, in the order in which the keywords are written."""
DEFAULT_FULLTHRESHOLD: Final = 80
"""The default of FULLTHRESHOLD in a statement without the keyword (docs/explanation/assumptions.md, Ranges of CFRM
keywords)."""
_YES_NO: Final = {"YES": True, "NO": False}
_PERCENTAGE = re.compile(r"[0-9]{1,3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class PolicyDefinition:
    """DEFINE POLICY and its statements; a text without one is a fragment, with `definition` None."""

    definition: TextStatement | None
    facilities: tuple[TextStatement, ...]
    structures: tuple[TextStatement, ...]
    last: TextStatement | None
    """The last statement of the policy."""

    @property
    def name(self) -> str | None:
        """Return the name of the policy; None for a fragment, or if NAME cannot be read."""
        return self.definition.one("NAME") if self.definition else None

    def structure(self, name: str) -> tuple[TextStatement, ...]:
        """Return all STRUCTURE statements with that name; more than one is an error."""
        return tuple(each for each in self.structures if each.one("NAME") == name)


def policies(read: PolicyText) -> tuple[PolicyDefinition, ...]:
    """Return the policies of a text, in order; CF and STRUCTURE statements before any DEFINE POLICY are a fragment."""
    groups: list[tuple[TextStatement | None, list[TextStatement]]] = []
    for statement in read.statements:
        if statement.verb == "DEFINE POLICY":
            groups.append((statement, []))
        elif statement.verb in {"CF", "STRUCTURE"}:
            # Statements before any DEFINE POLICY are a fragment: users paste only the structures that they ask about.
            if not groups:
                groups.append((None, []))
            groups[-1][1].append(statement)
    return tuple(
        PolicyDefinition(
            definition,
            tuple(each for each in found if each.verb == "CF"),
            tuple(each for each in found if each.verb == "STRUCTURE"),
            found[-1] if found else definition,
        )
        for definition, found in groups
    )


def size_of(parameter: PolicyParameter | None) -> int | None:
    """Return the size that a parameter states [bytes]; None if it is absent or not a size."""
    if parameter is None:
        return None
    try:
        return parse_size(" ".join(parameter.values))
    except SizeSyntax:
        return None


def stated(statement: TextStatement, keyword: str) -> Setting:
    """Return a keyword's value in plan units, or None if it is missing or unreadable."""
    parameter = statement.get(keyword)
    if parameter is None:
        return None
    if keyword in SIZES:
        return size_of(parameter)
    if keyword in LISTS:
        return parameter.values
    if keyword in {"DUPLEX", "SCMALGORITHM"}:
        return parameter.values[0] if parameter.values else None
    value = statement.one(keyword) or ""
    if keyword == "FULLTHRESHOLD":
        return int(value) if _PERCENTAGE.fullmatch(value) else None
    return _YES_NO.get(value)


def in_effect(statement: TextStatement) -> dict[str, Setting]:
    """Return the settings of a statement, with defaults for absent keywords."""
    return with_defaults({keyword: stated(statement, keyword) for keyword in _KEYS if statement.get(keyword)})


def with_defaults(said: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return settings with the defaults of absent ones, except MINSIZE, whose default depends on others."""
    defaults: dict[str, Setting] = {
        "SIZE": None,
        "INITSIZE": said.get("SIZE"),
        "MINSIZE": None,
        "SCMMAXSIZE": None,
        "SCMALGORITHM": None,
        "ALLOWAUTOALT": False,
        "FULLTHRESHOLD": DEFAULT_FULLTHRESHOLD,
        "DUPLEX": "DISABLED",
        "EXCLLIST": (),
        "PREFLIST": (),
        "ENFORCEORDER": False,
    }
    return {keyword: said.get(keyword, defaults[keyword]) for keyword in _KEYS}


def planned(structure: StructureResult) -> dict[str, Setting]:
    """Return the planned settings of a structure: the keywords of its policy statement."""
    sizes, placement = structure.sizes, structure.placement
    # Sizes as a policy states them: compared exactly, a size in whole M would differ from its plan after each merge.
    said: dict[str, Setting] = {
        "SIZE": policy_bytes(sizes.size_bytes),
        "INITSIZE": policy_bytes(sizes.initsize_bytes),
        "ALLOWAUTOALT": placement.allow_auto_alter,
        "FULLTHRESHOLD": placement.full_threshold,
        "DUPLEX": placement.duplex,
    }
    if sizes.minsize_bytes is not None:
        said["MINSIZE"] = policy_bytes(sizes.minsize_bytes)
    if placement.scm_bytes is not None:
        said["SCMMAXSIZE"] = policy_bytes(placement.scm_bytes)
        said["SCMALGORITHM"] = placement.scm_algorithm
    if placement.enforce_order:
        said["ENFORCEORDER"] = True
    if placement.exclist:
        said["EXCLLIST"] = placement.exclist
    if placement.preflist:
        said["PREFLIST"] = placement.preflist
    return {keyword: said[keyword] for keyword in _KEYS if keyword in said}


def planned_site(structure: StructureResult) -> str | None:
    """Return the site of the second copy, the second value of DUPLEX; None if the plan names none."""
    placement = structure.placement
    return None if placement.duplex == "DISABLED" else placement.duplex_site


def is_unstated(structure: StructureResult, keyword: str) -> bool:
    """Return whether the planner left a keyword to its default; sizes are always computed."""
    if keyword in {"SIZE", "INITSIZE"}:
        return False
    definition = structure.definition
    # A stored plan has every key, so there a key with its default value counts as not stated (docs/decisions/0015).
    return not states(definition, _KEYS[keyword], every_key=has_every_key(definition))


def wanted(
    structure: StructureResult, policy: Mapping[str, Setting] | None, unstated: Unstated
) -> dict[str, Setting]:
    """Return the settings of a structure in the merged policy.

    Args:
        structure: The planned structure.
        policy: Its settings in the policy, with defaults; None if the policy does not have it.
        unstated: The source of keywords that the document does not state: the plan or the policy.
    """
    says = planned(structure)
    if policy is None or unstated == "plan":
        return says
    for keyword in says:
        has = policy.get(keyword)
        # A structure without PREFLIST cannot be allocated, so an absent one is no choice to keep.
        if is_unstated(structure, keyword) and has is not None and has != ():
            says[keyword] = has
    return says


def field_of(structure: StructureResult, keyword: str) -> str:
    """Return the JSON pointer of the key that sets a keyword."""
    return f"{structure.pointer}/{_KEYS[keyword]}"


_UNIT = re.compile(r"\s*[0-9.]+\s*(?P<unit>[KMGT])?B?\s*", re.IGNORECASE)


def written(keyword: str, value: Setting, *, like: str = "") -> str:
    """Return a setting as a statement writes it; a size in the unit of `like` if that is exact."""
    if isinstance(value, bool):
        return "YES" if value else "NO"
    if isinstance(value, tuple):
        return ",".join(value)
    if keyword in SIZES and isinstance(value, int):
        had = _UNIT.fullmatch(like)
        # The unit that the policy uses stays if it is exact: owners of the policy recognize their statements by it.
        unit = (had["unit"] or "").upper() if had else ""
        one = parse_size(f"1{unit}") if unit else 0
        return f"{value // one}{unit}" if one and value % one == 0 else policy_size(value)
    return str(value)
