"""Sections of SMF records as data: one file for each section, read strictly.

A field has IBM's name, the column it becomes, its offset in the section, its wire type, the unit of the column, and a
confidence: verified (equal to the output of IBM's formatter for real dumps, with values other than zero), published (in
    IBM's documentation or code), inferred (the order is published, and offsets are calculated from the lengths),
    recalled (from memory of manuals).
"""

from __future__ import annotations

import tomllib
from functools import cache, cached_property
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Confidence = Literal["verified", "published", "inferred", "recalled"]

WIRE_BYTES = {
    "u1": 1,
    "u2": 2,
    "i2": 2,
    "u4": 4,
    "i4": 4,
    "u8": 8,
    "i8": 8,
    "stck": 8,  # an instant of the hardware clock, in UTC
    "stck_us": 8,  # a length of time in units of that clock
    "us": 8,  # a length of time in microseconds
    "float": 8,  # hexadecimal floating point, long
    "bit1": 1,
    "bit4": 4,
    "code1": 1,  # a number that means a word
    "code4": 4,
    "char": 0,  # EBCDIC, `length` bytes
    "hex": 0,  # `length` bytes, written as hexadecimal digits
}

LAYOUT_IDS = (
    "qest",
    "qesd",
    "qqst",
    "qcct",
    "wq",
    "wtid",
    "r744_product",
    "r744_cf",
    "r744_storage",
    "r744_qsds",
    "r744_sreq",
    "r744_scm",
)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FieldLayout(_Strict):
    """One field of a section."""

    name: str
    column: str
    offset: int = Field(ge=0)
    type: str
    length: int = 0
    mask: int = 0
    scale: int = 1
    """The value of one unit of the field in units of the column."""
    none: int | None = None
    """The value that means a missing value."""
    values: dict[str, str] = {}
    needs_statistics: bool = False
    """Whether the field is valid only in records with statistics of the coupling facility (R744FNOHW)."""
    unit: str = ""
    meaning: str
    formatter: str = ""
    """Name of the column in the output of IBM's mq-smf-csv; for times and durations, without suffixes such as (DATE) or
    (S)."""
    confidence: Confidence | None = None

    @field_validator("type")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in WIRE_BYTES:
            message = f"no wire type {value!r}"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _complete(self) -> FieldLayout:
        if (WIRE_BYTES[self.type] == 0) != (self.length > 0):
            message = f"{self.column}: a length for char and hex, and for no other type"
            raise ValueError(message)
        if self.type.startswith("bit") != (self.mask != 0) or self.type.startswith("code") != bool(
            self.values
        ):
            message = f"{self.column}: a mask for bits and values for codes, and for no other type"
            raise ValueError(message)
        return self

    @property
    def size(self) -> int:
        """Return the number of bytes in the field."""
        return self.length or WIRE_BYTES[self.type]

    @property
    def end(self) -> int:
        """Return the offset of the first byte after the field."""
        return self.offset + self.size


class Slots(_Strict):
    """A section that is a table of slots; a slot whose first byte is 0 is not used."""

    first: int
    stride: int
    count: int


class Measure(_Strict):
    """One number of a cell of a matrix."""

    column: str
    unit: str
    meaning: str
    formatter: str


class Matrix(_Strict):
    """Fields of four bytes by verb, kind of request and measure."""

    name: str
    offset: int
    column: str
    verb_stride: int
    kind_stride: int
    verbs: dict[str, str]
    kinds: dict[str, str]
    measures: list[Measure]
    confidence: Confidence

    def fields(self) -> list[FieldLayout]:
        """Return the fields that the matrix describes."""
        return [
            FieldLayout(
                name=self.name,
                column=self.column.format(verb=verb, kind=kind, measure=measure.column),
                offset=self.offset + v * self.verb_stride + k * self.kind_stride + 4 * m,
                type="u4",
                unit=measure.unit,
                meaning=f"{self.verbs[verb]}, {self.kinds[kind]}: {measure.meaning}",
                formatter=measure.formatter.format(verb=self.verbs[verb], kind=self.kinds[kind]),
                confidence=self.confidence,
            )
            for v, verb in enumerate(self.verbs)
            for k, kind in enumerate(self.kinds)
            for m, measure in enumerate(self.measures)
        ]


class Layout(_Strict):
    """The layout of one section."""

    id: str
    title: str
    about: str
    table: str
    """The table to which its rows belong."""
    records: list[str]
    triplet: int | dict[str, int]
    """The triplet of the record that leads to it; -1 for RMF's product section."""
    eyecatcher: str = ""
    known_lengths: list[int]
    minimum_bytes: int = 0
    row_bytes: int
    """The longest known row; bytes after it are not read."""
    slots: Slots | None = None
    source: str
    confidence: Confidence
    fields: list[FieldLayout]
    matrix: Matrix | None = None

    @model_validator(mode="after")
    def _fits(self) -> Layout:
        columns = [field.column for field in self.all_fields]
        if len(columns) != len(set(columns)):
            message = f"{self.id}: a column occurs twice"
            raise ValueError(message)
        for field in self.all_fields:
            if field.end > self.row_bytes:
                message = f"{self.id}: {field.column} ends at {field.end}, after the row"
                raise ValueError(message)
        reached: dict[int, str] = {}
        for field in self.all_fields:
            for byte in range(field.offset, field.end):
                if reached.setdefault(byte, field.name) != field.name:
                    message = f"{self.id}: {field.name} and {reached[byte]} share byte {byte}"
                    raise ValueError(message)
        return self

    @cached_property
    def all_fields(self) -> list[FieldLayout]:
        """Return all fields, with those of the matrix listed one by one."""
        return self.fields + (self.matrix.fields() if self.matrix else [])

    def triplet_of(self, record: str) -> int:
        """Return the triplet that leads to the section in records of that kind."""
        return self.triplet[record] if isinstance(self.triplet, dict) else self.triplet


@cache
def layout(layout_id: str) -> Layout:
    """Read one section's file."""
    text = (files(__package__) / f"{layout_id}.toml").read_text(encoding="utf-8")
    return Layout.model_validate(tomllib.loads(text))
