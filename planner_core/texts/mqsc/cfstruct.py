"""The attributes of a CFSTRUCT that a plan states, declared once.

DEFINE and ALTER, checks of MQSC, the comparison with the running system and plans made from it follow from this table.
The values that an attribute may have are those of its key in the plan document. Source of the defaults: IBM MQ, DEFINE
CFSTRUCT.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from planner_core import tables
from planner_core.document.model import Offload, Structure
from planner_core.limits import limit
from planner_core.units import format_size

_RULE_OFF: Final = "64K"
_YES_NO: Final = {"YES": True, "NO": False}
_WHOLE = re.compile(r"[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CfstructAttribute:
    """One attribute: its keyword, its key in a structure of the plan document, and its default in DEFINE."""

    keyword: str
    key: str
    default: str
    needs_level_5: bool = True
    is_size: bool = False
    of_data_sets: bool = False
    """True if only structures that offload to shared message data sets have the attribute."""
    continues_line: bool = False
    """True if the attribute is written on the line of the previous one."""
    also_stated_by: str = ""
    """Another key of the same object whose value implies that the plan states this attribute."""

    @property
    def parent(self) -> str:
        """Return the key of the object that has the value; empty for the structure itself."""
        return self.key.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Return the key of the value in that object."""
        return self.key.rpartition("/")[2]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the keys in that object that state the attribute."""
        return (self.name, self.also_stated_by) if self.also_stated_by else (self.name,)

    def parent_of(self, structure: Structure) -> Structure | Offload:
        """Return the object of a structure that has the value."""
        return structure.offload if self.parent else structure

    @property
    def is_of_rule(self) -> bool:
        """Return whether it belongs to an offload rule: a plan lists rules and has no key for each attribute."""
        return self.key == "offload/rules"

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that the attribute accepts; empty if it is a number, a size or text."""
        annotation = without_null(_field_of(self)).annotation
        if annotation is bool:
            return tuple(_YES_NO)
        return get_args(annotation) if get_origin(annotation) is Literal else ()

    @property
    def bounds(self) -> tuple[int, int] | None:
        """Return the lowest and the highest number that the attribute accepts; None if it is not a number."""
        return bounds_of(_field_of(self))

    def planned(self, structure: Structure) -> str | None:
        """Return the value of a plan as MQSC writes it, without quotes; None if the plan has none."""
        value = getattr(self.parent_of(structure), self.name)
        if value is None:
            return None
        if isinstance(value, bool):
            return "YES" if value else "NO"
        return format_size(value) if self.is_size else str(value)

    def read(self, value: str) -> Any:  # noqa: ANN401 - as the plan document has it
        """Return a running value for a plan document; None if it is absent or not understood."""
        if self.words:
            return _YES_NO.get(value, value) if value in self.words else None
        text = value.strip()
        # A structure without shared message data sets is displayed with DSBLOCK(NONE) and DSBUFS(0).
        if self.of_data_sets and text in {"", "NONE"}:
            return None
        if not self.bounds:
            return text
        number = int(text) if _WHOLE.fullmatch(text) else None
        return None if self.of_data_sets and not number else number


def _field_of(attribute: CfstructAttribute) -> FieldInfo:
    """Return the key of the plan document that has the value of an attribute."""
    model: type[BaseModel] = Offload if attribute.parent else Structure
    return model.model_fields[attribute.name]


def without_null(field: FieldInfo) -> FieldInfo:
    """Return the type of a plan document key and its metadata, such as bounds, without null."""
    if get_origin(field.annotation) not in {Union, UnionType}:
        return field
    (inner,) = (each for each in get_args(field.annotation) if each is not NoneType)
    return FieldInfo.from_annotation(inner)


def bounds_of(field: FieldInfo) -> tuple[int, int] | None:
    """Return the lowest and the highest number that a plan document key accepts; None if it is not a number."""
    metadata = without_null(field).metadata
    lowest = next((each.ge for each in metadata if hasattr(each, "ge")), None)
    highest = next((each.le for each in metadata if hasattr(each, "le")), None)
    return None if lowest is None or highest is None else (lowest, highest)


def _rules() -> tuple[CfstructAttribute, ...]:
    """Return the attributes of the three offload rules, with IBM's defaults."""
    return tuple(
        attribute
        for number, row in enumerate(tables.table("offload_defaults").records(), start=1)
        for attribute in (
            CfstructAttribute(f"OFFLD{number}TH", "offload/rules", str(row["usage_over_percent"])),
            CfstructAttribute(
                f"OFFLD{number}SZ",
                "offload/rules",
                f"{row['size_over_kb']}K",
                is_size=True,
                continues_line=True,
            ),
        )
    )


_SMDS: Final = tables.constants("smds")
CFSTRUCT: Final = (
    CfstructAttribute("CFLEVEL", "cflevel", "3", needs_level_5=False),
    CfstructAttribute("RECOVER", "recover", "NO", needs_level_5=False),
    CfstructAttribute("CFCONLOS", "cfconlos", "ASQMGR"),
    CfstructAttribute("RECAUTO", "recauto", "YES", continues_line=True),
    # OFFLOAD is also stated by `dsgroup`, because only OFFLOAD(SMDS) has a DSGROUP.
    CfstructAttribute("OFFLOAD", "offload/to", "SMDS", also_stated_by="dsgroup"),
    *_rules(),
    CfstructAttribute("DSGROUP", "offload/dsgroup", "", of_data_sets=True),
    CfstructAttribute(
        "DSBLOCK",
        "offload/dsblock",
        f"{_SMDS['default_dsblock_kib'].value}K",
        is_size=True,
        of_data_sets=True,
    ),
    CfstructAttribute("DSBUFS", "offload/dsbufs", str(_SMDS["default_dsbufs"].value), of_data_sets=True),
    CfstructAttribute("DSEXPAND", "offload/dsexpand", "YES", of_data_sets=True, continues_line=True),
)
"""The attributes, in the order in which MQSC is written."""
NEEDS_LEVEL_5: Final = frozenset(each.keyword for each in CFSTRUCT if each.needs_level_5)
"""Attributes that a CFSTRUCT has at CFLEVEL(5) and higher."""
OFFLOAD_RULES: Final = tuple(each.keyword for each in CFSTRUCT if each.is_of_rule)
"""The attributes of the three rules."""


def planned_attributes(structure: Structure) -> list[dict[str, str]]:
    """Return the attributes that DEFINE states for a structure of a plan, as the lines of the command."""
    has_level_5 = structure.cflevel >= limit("cflevel_offload")
    rules = _planned_rules(structure.offload)
    lines: list[dict[str, str]] = []
    for each in CFSTRUCT:
        if each.needs_level_5 and not has_level_5:
            continue
        if each.of_data_sets and structure.offload.to != "SMDS":
            continue
        value = rules[each.keyword] if each.is_of_rule else each.planned(structure)
        if value is None:
            continue
        if not each.continues_line:
            lines.append({})
        lines[-1][each.keyword] = value
    return lines


def _planned_rules(offload: Offload) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for number, row in enumerate(tables.table("offload_defaults").records(), start=1):
        if number <= len(offload.rules):
            rule = offload.rules[number - 1]
            threshold, size = rule.usage_over, format_size(rule.size_over)
        else:
            # The plan has no such rule, but DEFINE would set its default size: all three are stated.
            threshold, size = int(row["usage_over_percent"]), _RULE_OFF
        found |= {f"OFFLD{number}TH": str(threshold), f"OFFLD{number}SZ": size}
    return found
