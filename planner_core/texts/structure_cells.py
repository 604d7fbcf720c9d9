"""The values of a CFRM policy that tables of queues or structures may state for a structure: SIZE, INITSIZE and PREFLIST."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, FieldProblem
from planner_core.texts.csv_rows import SHOWN, CsvColumn, RowReader

POLICY_COLUMNS: Final = (
    CsvColumn("structure_size", "SIZE of the policy, in K without a unit; empty is calculated", "",
           aliases=("strsize",), aliases_next_to=(("size", "initsize"),)),
    CsvColumn("initsize", "INITSIZE of the policy, in K without a unit; empty is calculated", ""),
    CsvColumn("preflist", "PREFLIST of the policy: coupling facilities, separated by blanks or commas", "",
           aliases=("preferencelist",)),
)  # fmt: skip
PLAN_KEYS: Final = {"structure_size": "size", "initsize": "initsize", "preflist": "preflist"}
"""The key of each column in the structure of a plan."""
_COLUMNS: Final = {key: column for column, key in PLAN_KEYS.items()}
_BETWEEN_NAMES: Final = re.compile(r"[\s,;/()]+")


@dataclass(frozen=True, slots=True)
class PolicyValue:
    """The value of one column."""

    column: str
    text: str | tuple[str, ...]
    size_bytes: int = 0
    """0 for a list of names."""

    @property
    def words(self) -> str:
        """The value as an error shows it."""
        return (self.text if isinstance(self.text, str) else " ".join(self.text))[:SHOWN]

    @property
    def in_plan(self) -> str | list[str]:
        """The value as a plan document has it."""
        return self.text if isinstance(self.text, str) else list(self.text)

    def equals(self, other: PolicyValue) -> bool:
        """Whether both mean the same: 1G is 1024M."""
        return self.size_bytes == other.size_bytes if self.size_bytes else self.text == other.text


def policy_values(cells: RowReader) -> dict[str, PolicyValue]:
    """Return the values that a row states for its structure, by column; errors are added to the row."""
    found: dict[str, PolicyValue] = {}
    for column in PLAN_KEYS:
        text = cells.text(column).upper()
        if not text:
            continue
        if column == "preflist":
            found[column] = PolicyValue(column, tuple(filter(None, _BETWEEN_NAMES.split(text))))
        else:
            found[column] = PolicyValue(column, cells.size_text(column).upper(), cells.size(column))
    return found


def plan_members(values: Mapping[str, PolicyValue]) -> dict[str, str | list[str]]:
    """Return the members of a structure in a plan document."""
    return {PLAN_KEYS[column]: value.in_plan for column, value in values.items()}


def column_of(key: str) -> str:
    """Return the column of a key of a structure in a plan document; other keys are returned as they are."""
    return _COLUMNS.get(key, key)


def plan_problems(values: Mapping[str, PolicyValue]) -> tuple[FieldProblem, ...]:
    """Return the errors that a plan has with these values, with their columns as fields."""
    return _problems(tuple(values.values()))


@lru_cache  # Structures of one group have the same list, and often the same sizes.
def _problems(values: tuple[PolicyValue, ...]) -> tuple[FieldProblem, ...]:
    members = plan_members({each.column: each for each in values})
    document = {
        "schema_version": 1,
        "qsg": "SQ00",
        "queue_managers": 1,
        "structures": [{"name": "A", **members}],
    }
    try:
        read_object(document)
    except DocumentInvalid as error:
        return tuple(
            FieldProblem(column_of(each.field.split("/")[3]), each.message) for each in error.problems
        )
    return ()
