"""Published tables, one data file each: numbers as printed, with unit, source and basis.

The loader is strict: it refuses unknown keys, numbers instead of names, rows of the wrong
length, and sources that are not listed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, model_validator

from planner_core.provenance import Basis, Input, Source, SourceText


def _open(schema: dict[str, Any]) -> None:
    # Data files are closed, answers are not: later versions may add members to them.
    schema.pop("additionalProperties", None)


_STRICT = ConfigDict(
    frozen=True,
    extra="forbid",
    strict=True,
    json_schema_extra=_open,
    json_schema_serialization_defaults_required=True,
)


def _plain(cell: int | Decimal | str) -> int | float | str:
    return float(cell) if isinstance(cell, Decimal) else cell


Cell = Annotated[
    int | Decimal | str, Field(union_mode="smart"), PlainSerializer(_plain, return_type=int | float | str)
]
_LISTED = Field(strict=False)
"""A field whose TOML list is read as a tuple."""

TABLE_IDS = (
    "admin_structure_cfcc14",
    "admin_structure_cfcc21",
    "admin_structure_cfcc25",
    "application_structure_cfcc14",
    "application_structure_4gb",
    "application_structure_chart_cfcc25",
    "element_profiles",
    "element_model",
    "entry_element_costs",
    "size_shape",
    "storage_increments",
    "system_structure_usage",
    "whatif_filling",
    "whatif_recovery",
    "whatif_survival",
    "system_structure_sizes",
    "measured_structures",
    "offload_defaults",
    "sizing_choices",
    "smds",
    "collected_data",
    "health",
    "cluster_defaults",
    "limits",
)
"""The ids of all tables, in the order of the reference pages."""


class Column(BaseModel):
    """A column of a table."""

    model_config = _STRICT
    name: str
    title: str
    unit: str


class Note(BaseModel):
    """A remark on the row whose first cell is `row`."""

    model_config = _STRICT
    row: int
    text: str
    corrected: Annotated[
        int | None, Field(description="The intended figure if the printed one is probably a misprint.")
    ] = None


class TableSummary(BaseModel):
    """A published table without its rows."""

    model_config = _STRICT
    id: str
    title: str
    about: str
    basis: Annotated[Basis, Field(strict=False)]
    source: Source


class PublishedTable(TableSummary):
    """A table as its source prints it."""

    kind: Annotated[Literal["table", "constants"], Field(exclude=True)] = "table"
    columns: Annotated[tuple[Column, ...], _LISTED]
    rows: Annotated[
        tuple[Annotated[tuple[Cell, ...], _LISTED], ...],
        Field(strict=False, description="One list for each row, with one cell for each column."),
    ]
    notes: Annotated[tuple[Note, ...], _LISTED] = ()

    @model_validator(mode="before")
    @classmethod
    def _find_source(cls, file: dict[str, Any]) -> dict[str, Any]:
        # Incomplete files are passed to the model, whose error names the missing key.
        if not {"source", "section"} <= file.keys():
            return file
        place = source(file["source"], file["section"])
        return {**{key: value for key, value in file.items() if key != "section"}, "source": place}

    def records(self) -> tuple[Mapping[str, int | Decimal | str], ...]:
        """Return the rows as mappings from column name to cell."""
        names = [column.name for column in self.columns]
        return tuple(dict(zip(names, row, strict=True)) for row in self.rows)

    def note(self, row: int) -> Note | None:
        """Return the remark on the row whose first cell is `row`."""
        return next((note for note in self.notes if note.row == row), None)


class _SourceEntry(BaseModel):
    model_config = _STRICT
    key: str
    document: str
    url: str


class _SourcesFile(BaseModel):
    model_config = _STRICT
    sources: list[_SourceEntry]


@dataclass(frozen=True, slots=True)
class Constant(Input):
    """A named whole number with its unit, basis and source."""

    value: int
    source: SourceText

    def as_input(self, name: str | None = None) -> Input:
        """Return this number as an input of an explanation."""
        return Input(name or self.name, self.value, self.unit, self.basis, self.source)


class TableError(ValueError):
    """A damaged data file of the core: an error in the installation, not in any input."""


def _read(name: str) -> dict[str, object]:
    # Decimals, because coefficients such as 6.089 decide between two printed MB and a float is not exactly that number.
    text = resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text, parse_float=Decimal)


@cache
def _sources() -> Mapping[str, _SourceEntry]:
    entries = _SourcesFile.model_validate(_read("sources")).sources
    by_key = {entry.key: entry for entry in entries}
    if len(by_key) != len(entries):
        msg = "sources.toml names a key twice"
        raise TableError(msg)
    return by_key


def source(key: str, section: str = "") -> Source:
    """Return the source with that key in sources.toml, and the place in it."""
    try:
        entry = _sources()[key]
    except KeyError:
        msg = f"no source {key!r} in sources.toml"
        raise TableError(msg) from None
    return Source(document=entry.document, section=section, url=entry.url)


@cache
def table(table_id: str) -> PublishedTable:
    """Return one table, after checking its shape."""
    found = PublishedTable.model_validate(_read(table_id))
    if found.id != table_id:
        msg = f"{table_id}.toml has the id {found.id!r}"
        raise TableError(msg)
    wrong = [row for row in found.rows if len(row) != len(found.columns)]
    if wrong or not found.rows:
        msg = f"{table_id}.toml: row {wrong[:1]} does not have {len(found.columns)} cells"
        raise TableError(msg)
    return found


def all_tables() -> tuple[PublishedTable, ...]:
    """Return all tables, in the order of the reference pages."""
    return tuple(table(table_id) for table_id in TABLE_IDS)


@cache
def constants(table_id: str) -> Mapping[str, Constant]:
    """Return the named numbers of a table of constants."""
    loaded = table(table_id)
    if loaded.kind != "constants":
        msg = f"{table_id} is not a table of constants"
        raise TableError(msg)
    found: dict[str, Constant] = {}
    for row in loaded.records():
        value = row["value"]
        if not isinstance(value, int) or row["name"] in found:
            msg = f"{table_id}: {row['name']} is not a whole number, or occurs twice"
            raise TableError(msg)
        name = str(row["name"])
        place = source(str(row["source"]), str(row["section"]))
        found[name] = Constant(name, value, str(row["unit"]), Basis(str(row["basis"])), place)
    return found


def exact(cell: int | Decimal | str) -> Fraction:
    """Return a numeric cell as an exact fraction."""
    if isinstance(cell, str):
        msg = f"{cell!r} is not a number"
        raise TableError(msg)
    return Fraction(cell)
