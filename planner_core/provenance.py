"""The source and basis of a number, and the explanation of a figure that is calculated from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Annotated

from pydantic import Field, PlainSerializer, PlainValidator

from planner_core.wire import Answer, Unchecked


class Basis(StrEnum):
    """The origin of a number, which shows how far it can be trusted."""

    PUBLISHED = "published"
    READ_OFF_CHART = "read_off_chart"
    DERIVED = "derived"
    ASSUMED = "assumed"
    GIVEN = "given"
    """The user entered the number."""

    @property
    def words(self) -> str:
        """Return the basis in words."""
        return self.value.replace("_", " ")


_WEAKER = tuple(Basis(name) for name in ("given", "published", "read_off_chart", "derived", "assumed"))
"""The bases from the most to the least reliable; given numbers come first, because cfplan does not judge them."""


def weakest(bases: Iterable[Basis]) -> Basis:
    """Return the basis of a figure that depends on all of these."""
    return max(bases, key=_WEAKER.index)


@dataclass(frozen=True, slots=True)
class Source:
    """A public document, and the place in it."""

    document: str
    section: str
    url: str

    def __str__(self) -> str:
        """Return one line: document, section, address."""
        place = f"{self.document}, {self.section}" if self.section else self.document
        return f"{place} ({self.url})" if self.url else place


_WITH_ADDRESS = re.compile(r"(?P<document>.*) \((?P<url>https?://\S+)\)", re.DOTALL)
_OF_PROJECT = re.compile(r"(?P<document>cfplan, docs/[\w/-]+\.md)(?:, (?P<section>.*))?", re.DOTALL)


def read_source(text: Source | str | None) -> Source:
    """Read a source from its line."""
    return text if isinstance(text, Source) else _source_of(text or "")


# A result has thousands of findings with a few dozen sources.
@lru_cache(maxsize=500)
def _source_of(text: str) -> Source:
    # Titles have commas too, so the section of a public document cannot be separated from its name again.
    if found := _OF_PROJECT.fullmatch(text):
        return Source(found["document"], found["section"] or "", "")
    if found := _WITH_ADDRESS.fullmatch(text):
        return Source(found["document"], "", found["url"])
    return Source(text, "", "")


SourceText = Annotated[Source, PlainValidator(read_source), PlainSerializer(str, return_type=str)]
"""A source, written as one line."""
BasisWords = Annotated[Basis, Unchecked(), PlainSerializer(lambda basis: basis.words, return_type=str)]
"""A basis, written in words."""


@dataclass(frozen=True, slots=True)
class Assumption(Answer):
    """An assumption behind an answer, and its basis."""

    what: str
    basis: Annotated[Basis, Field(description="published, read_off_chart, derived or assumed.")]
    source: SourceText


_MOST_DECIMALS = 12
_MOST_PARTS = 10**_MOST_DECIMALS
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
Number = int | Fraction | str


def plain_number(value: Number) -> int | str:
    """Return an exact number for JSON: an int, a finite decimal as text, otherwise `numerator/denominator`."""
    if isinstance(value, (int, str)):
        return value
    numerator, denominator = value.as_integer_ratio()
    if denominator == 1:
        return numerator
    # Only the divisors of a power of ten have a finite decimal.
    if _MOST_PARTS % denominator:
        return f"{numerator}/{denominator}"
    scaled = str(abs(numerator) * (_MOST_PARTS // denominator)).rjust(_MOST_DECIMALS + 1, "0")
    whole, decimals = scaled[:-_MOST_DECIMALS], scaled[-_MOST_DECIMALS:].rstrip("0")
    return f"{'-' if numerator < 0 else ''}{whole}.{decimals}"


ExactNumber = Annotated[
    Number,
    Unchecked(),
    PlainSerializer(plain_number, return_type=int | str),
    Field(description="A whole number, or an exact one as text: 2018.688, 1/3."),
]


@dataclass(frozen=True, slots=True)
class Input(Answer):
    """A number that is used to calculate a figure."""

    name: str
    value: ExactNumber
    unit: str
    basis: Basis
    source: SourceText | None = None


@dataclass(frozen=True, slots=True)
class Step(Answer):
    """An intermediate value: its name, its formula and the result."""

    name: str
    formula: str
    value: ExactNumber


@dataclass(frozen=True, slots=True)
class Explanation(Answer):
    """The calculation of a figure.

    The formula uses only names of inputs and steps, numbers, + - * / and the functions ceil, floor,
    round_up(value, multiple), max and min, so that a reader, or a test, can calculate it without this code.
    """

    figure: Annotated[str, Field(description="JSON pointer to the figure in the result.")]
    value: ExactNumber
    unit: str
    formula: Annotated[str, Field(description="Uses the names of inputs and steps.")]
    inputs: tuple[Input, ...]
    basis: Basis
    source: SourceText | None = None
    steps: tuple[Step, ...] = field(default=())

    def __post_init__(self) -> None:
        """Lower the basis to that of the weakest input that the formula uses."""
        # A figure that only repeats the user's numbers stays given: its inputs are the user's as well.
        if self.basis is Basis.GIVEN:
            return
        # Large plans have formulas of thousands of names, so they are searched only if an input can change the basis.
        if weakest({self.basis, *(item.basis for item in self.inputs)}) is self.basis:
            return
        used = set(_NAME.findall(" ".join((self.formula, *(step.formula for step in self.steps)))))
        bases = (item.basis for item in self.inputs if item.name in used)
        object.__setattr__(self, "basis", weakest((self.basis, *bases)))
