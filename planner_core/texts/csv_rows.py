"""Tables with one object a row: the columns, the cells of a row, and all errors with their line and column."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeVar

from planner_core.bounds import first_problems
from planner_core.document.problems import did_you_mean
from planner_core.errors import FieldProblem, InputInvalid, SizeSyntax
from planner_core.inputs import squeezed
from planner_core.limits import limit
from planner_core.units import MIB, format_size, parse_size

Item = TypeVar("Item")
Word = TypeVar("Word", bound=str)
CSV_FILE: Final = "The CSV file"
IGNORED: Final = "-"
"""The field that a heading is mapped to if its column is not read."""
SHOWN: Final = 40
_DELIMITERS: Final = ",;\t"
_WHOLE = re.compile(r"[0-9]{1,15}", re.ASCII)
# Spreadsheets write the result of 10000/60 with all its digits.
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?", re.ASCII)
_SEPARATED = re.compile(r"[0-9]+([.,' \u00a0\u202f\u2019][0-9]+)+ *[A-Za-z]{0,3}")
_THOUSANDS = re.compile(r"[0-9]{1,3}(\.[0-9]{3})+", re.ASCII)
"""A number without a unit that would be 1 K in some countries and 1000 K in others."""
_FORMULA: Final = ("'=", "'+", "'-", "'@")


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column of a table."""

    name: str
    about: str
    example: str
    is_required: bool = False
    aliases: tuple[str, ...] = ()
    """Other headings with the same meaning, without blanks and punctuation."""
    aliases_next_to: tuple[tuple[str, str], ...] = ()
    """Headings that have this meaning only in a table with another column, each with the name of that column."""


def delimiter_of(text: str) -> str:
    """Return the character between the cells of a text: the most frequent candidate in its first line."""
    heading = next((line for line in text.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=heading.count)


def read_rows(
    text: str,
    columns: Sequence[CsvColumn],
    read: Callable[[Mapping[str, str], int], Item],
    *,
    most_rows: int,
    mapping: Mapping[str, str] | None = None,
) -> Iterator[Item]:
    """Yield what `read` returns for the cells of each row, by column, and its line.

    Args:
        text: The text, whose first line has the headings.
        columns: The columns, which a file may have in any order.
        read: The function that reads a row; it raises InputInvalid with the names of columns.
        most_rows: The maximum number of rows.
        mapping: The column of further headings, or `-` for those to ignore.

    Raises:
        InputInvalid: A heading or a row is not valid; nothing is returned then, and all errors are listed.
    """
    text = text.lstrip("\ufeff")
    problems: list[FieldProblem] = []
    found: list[Item] = []
    delimiter = delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        heading = next((row for row in reader if any(map(str.strip, row))), [])
        names = columns_of(heading, columns, line=reader.line_num, mapping=mapping or {})
        for row in reader:
            line = reader.line_num
            if not any(map(str.strip, row)):
                continue
            if len(found) + len(problems) >= most_rows:
                message = f"is one row more than the {most_rows} that are read at once"
                problems.append(FieldProblem(f"line {line}", message))
                break
            if len(row) != len(names):
                message = f"has {len(row)} values, but the heading has {len(names)} columns; put a value with {delimiter!r} in it in double quotes"
                problems.append(FieldProblem(f"line {line}", message))
                continue
            cells = {name: cell for name, cell in zip(names, row, strict=True) if name != IGNORED}
            try:
                found.append(read(cells, line))
            except InputInvalid as error:
                problems += [
                    FieldProblem(f"line {line}, {each.field}", each.message) for each in error.problems
                ]
    except csv.Error as error:
        problems.append(FieldProblem(f"line {reader.line_num}", f"is not CSV: {error}"))
    if not problems and not found:
        problems.append(FieldProblem("", "has a heading but no rows"))
    if problems:
        raise InputInvalid(CSV_FILE, first_problems(problems))
    yield from found


def columns_of(
    heading: Sequence[str], columns: Sequence[CsvColumn], *, line: int = 1, mapping: Mapping[str, str]
) -> list[str]:
    """Return the column of each heading, or `-` for ignored ones.

    Raises:
        InputInvalid: A heading is unknown, two have one meaning, or a required one is missing.
    """
    known = [column.name for column in columns]
    meanings = meanings_of(heading, columns, mapping)
    at = f"line {line}"
    problems = [
        FieldProblem(
            at, f"maps {each[:SHOWN]!r} to the unknown column {name[:SHOWN]!r}{did_you_mean(name, known)}"
        )
        for each, name in mapping.items()
        if name not in (*known, IGNORED)
    ]
    names: list[str] = []
    for cell in heading:
        name = meanings.get(squeezed(cell))
        if name is None:
            message = f"names the unknown column {cell.strip()[:SHOWN]!r}{did_you_mean(cell, known)}; the columns are {', '.join(known)}"
            problems.append(FieldProblem(at, message))
        names.append(name or IGNORED)
    problems += [
        FieldProblem(at, f"names the column {name} twice")
        for name in sorted({name for name in names if names.count(name) > 1} - {IGNORED})
    ]
    problems += [
        FieldProblem(at, f"lacks the column {column.name}: {column.about}".replace("`", ""))
        for column in columns
        if column.is_required and column.name not in names
    ]
    if problems:
        raise InputInvalid(CSV_FILE, first_problems(problems))
    return names


def meanings_of(
    heading: Sequence[str], columns: Sequence[CsvColumn], mapping: Mapping[str, str]
) -> dict[str, str]:
    """Return the column of each known heading without blanks and punctuation; those of the mapping come first."""
    chosen = {squeezed(each): name for each, name in mapping.items()}
    meanings = {squeezed(each): column.name for column in columns for each in (column.name, *column.aliases)}
    meanings |= chosen
    present = {meanings.get(squeezed(cell)) for cell in heading}
    next_to = {
        alias: column.name
        for column in columns
        for alias, other in column.aliases_next_to
        if other in present and alias not in chosen
    }
    return meanings | next_to


def separator_hint(text: str) -> str:
    """Return what to do about a number with a decimal comma or thousands separators; empty for other text.

    >>> separator_hint("1.234,5")
    ': use a point for decimals and no thousands separators'
    """
    # 1,234 is one thousand in some countries and one and a quarter in others, so it is not read as either.
    return ": use a point for decimals and no thousands separators" if _SEPARATED.fullmatch(text) else ""


class RowReader:
    """The cells of one row by column, and the errors found in them."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.problems: list[FieldProblem] = []

    def text(self, name: str) -> str:
        """Return a cell without blanks around it."""
        text = self.values.get(name, "").strip()
        # A file saved by cfplan has an apostrophe before a text that spreadsheets would evaluate.
        return text[1:] if text.startswith(_FORMULA) else text

    def wrong(self, name: str, message: str) -> None:
        """Add an error."""
        self.problems.append(FieldProblem(name, message))

    def whole(self, name: str, lowest: int, highest: int, *, is_required: bool = False) -> int | None:
        """Return a whole number; None if it is empty or not valid."""
        text = self.text(name)
        if not text:
            if is_required:
                self.wrong(name, "is missing")
            return None
        if not _WHOLE.fullmatch(text):
            self.wrong(
                name, f"must be a whole number without separators, not {text[:SHOWN]!r}{separator_hint(text)}"
            )
            return None
        if not lowest <= int(text) <= highest:
            self.wrong(name, f"must be between {lowest} and {highest}, not {text}")
            return None
        return int(text)

    def number(self, name: str, highest: int, *, is_required: bool = False) -> Decimal:
        """Return a number from zero, exactly; zero if it is empty or not valid."""
        text = self.text(name)
        if not text:
            if is_required:
                self.wrong(name, "is missing")
        elif not _DECIMAL.fullmatch(text):
            self.wrong(
                name, f"must be a number such as 100 or 0.5, not {text[:SHOWN]!r}{separator_hint(text)}"
            )
        elif Decimal(text) > highest:
            self.wrong(name, f"must be at most {highest}, not {text}")
        else:
            return Decimal(text)
        return Decimal(0)

    def choice(self, name: str, choices: Sequence[Word]) -> Word:
        """Return one of several words; the first one if none is valid."""
        text = self.text(name).lower()
        found = next((each for each in choices if each == text), None)
        if found is None:
            self.wrong(
                name, f"must be one of {', '.join(choices)}, not {text[:SHOWN]!r}" if text else "is missing"
            )
        return found or choices[0]

    def size(self, name: str) -> int:
        """Return a size in bytes; a number without a unit is in K."""
        text = self.text(name)
        if not text:
            self.wrong(name, "is missing")
            return 1
        if _THOUSANDS.fullmatch(text):
            self.wrong(name, f"may have a thousands separator: write {text[:SHOWN]!r} without a point")
            return 1
        try:
            found = parse_size(text)
        except SizeSyntax as error:
            self.wrong(name, f"{str(error).removesuffix('.')}{separator_hint(text)}")
            return 1
        most = limit("largest_policy_size_mib") * MIB
        if not 1 <= found <= most:
            self.wrong(name, f"must be between 1B and {format_size(most)}")
            return 1
        return found

    def words(self, name: str, longest: int) -> str:
        """Return a short text."""
        text = self.text(name)
        if len(text) > longest:
            self.wrong(name, f"has {len(text)} characters, but at most {longest} are stored")
        elif not text.isprintable():
            self.wrong(name, "contains a character that cannot be printed")
        return text
