"""Every published table is one data file here: numbers as printed, with unit, source and basis.

The loader is strict: an unknown key, a number where a name is meant, a row of the wrong
length or a source that is not listed stops it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from planner_core.provenance import Basis, Input, Source

Cell = Annotated[int | Decimal | str, Field(union_mode="smart")]
_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)

TABLE_IDS = (
    "admin_structure_cfcc14",
    "admin_structure_cfcc21",
    "admin_structure_cfcc25",
    "application_structure_cfcc14",
    "application_structure_4gb",
    "application_structure_chart_cfcc25",
    "element_profiles",
    "element_model",
    "size_shape",
    "storage_increments",
    "system_structure_usage",
    "whatif_filling",
    "whatif_recovery",
    "system_structure_sizes",
    "offload_defaults",
    "sizing_choices",
    "smds",
    "cluster_defaults",
    "limits",
)
"""In the order in which the reference pages show them."""


class Column(BaseModel):
    """One column: its name in JSON, its title for people, and the unit of its numbers."""

    model_config = _STRICT
    name: str
    title: str
    unit: str


class Note(BaseModel):
    """A remark on one row (named by its first cell), and a corrected value where a misprint is likely."""

    model_config = _STRICT
    row: int
    text: str
    corrected: int | None = None


class _TableFile(BaseModel):
    model_config = _STRICT
    id: str
    title: str
    about: str
    source: str
    section: str
    basis: str
    kind: Literal["table", "constants"] = "table"
    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[Note] = Field(default_factory=list)


class _SourceEntry(BaseModel):
    model_config = _STRICT
    key: str
    document: str
    url: str


class _SourcesFile(BaseModel):
    model_config = _STRICT
    sources: list[_SourceEntry]


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table as its source prints it. `rows` hold int, Decimal or str cells, one per column."""

    id: str
    title: str
    about: str
    source: Source
    basis: Basis
    kind: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[int | Decimal | str, ...], ...]
    notes: tuple[Note, ...]

    def records(self) -> tuple[Mapping[str, int | Decimal | str], ...]:
        """The rows as mappings from column name to cell."""
        names = [column.name for column in self.columns]
        return tuple(dict(zip(names, row, strict=True)) for row in self.rows)

    def note(self, row: int) -> Note | None:
        """The remark on the row whose first cell is `row`."""
        return next((note for note in self.notes if note.row == row), None)


@dataclass(frozen=True, slots=True)
class Constant:
    """One named number with its unit, basis and source."""

    name: str
    value: int
    unit: str
    basis: Basis
    source: Source

    def as_input(self, name: str | None = None) -> Input:
        """This number as an input of an explanation."""
        return Input(name or self.name, self.value, self.unit, self.basis, self.source)


class TableError(ValueError):
    """A data file of the core is damaged: a defect of the installation, not of anybody's input."""


def _read(name: str) -> dict[str, object]:
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
    """The source of that key in sources.toml, with the place in it."""
    try:
        entry = _sources()[key]
    except KeyError:
        msg = f"no source {key!r} in sources.toml"
        raise TableError(msg) from None
    return Source(document=entry.document, section=section, url=entry.url)


@cache
def table(table_id: str) -> PublishedTable:
    """Load one table and check its shape."""
    file = _TableFile.model_validate(_read(table_id))
    if file.id != table_id:
        msg = f"{table_id}.toml calls itself {file.id!r}"
        raise TableError(msg)
    wrong = [row for row in file.rows if len(row) != len(file.columns)]
    if wrong or not file.rows:
        msg = f"{table_id}.toml: row {wrong[:1]} does not have {len(file.columns)} cells"
        raise TableError(msg)
    return PublishedTable(
        id=file.id,
        title=file.title,
        about=file.about,
        source=source(file.source, file.section),
        basis=Basis(file.basis),
        kind=file.kind,
        columns=tuple(file.columns),
        rows=tuple(tuple(row) for row in file.rows),
        notes=tuple(file.notes),
    )


def all_tables() -> tuple[PublishedTable, ...]:
    """Every table, in the order of the reference pages."""
    return tuple(table(table_id) for table_id in TABLE_IDS)


@cache
def constants(table_id: str) -> Mapping[str, Constant]:
    """The named numbers of a table of constants."""
    loaded = table(table_id)
    if loaded.kind != "constants":
        msg = f"{table_id} is no table of constants"
        raise TableError(msg)
    found: dict[str, Constant] = {}
    for row in loaded.records():
        value = row["value"]
        if not isinstance(value, int) or row["name"] in found:
            msg = f"{table_id}: {row['name']} is not a whole number, or stands there twice"
            raise TableError(msg)
        name = str(row["name"])
        place = source(str(row["source"]), str(row["section"]))
        found[name] = Constant(name, value, str(row["unit"]), Basis(str(row["basis"])), place)
    return found


def exact(cell: int | Decimal | str) -> Fraction:
    """A numeric cell as an exact fraction."""
    if isinstance(cell, str):
        msg = f"{cell!r} is no number"
        raise TableError(msg)
    return Fraction(cell)
