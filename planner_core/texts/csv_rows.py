"""Tables with one object a row: the columns, the cells of a row, and all errors with their line and column."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeVar

from planner_core.bounds import first_problems
from planner_core.document.problems import did_you_mean
from planner_core.errors import FieldProblem, InputInvalid, SizeSyntax
from planner_core.inputs import squeezed
from planner_core.limits import limit
from planner_core.typed_numbers import decimal, separator_problem, size_text, typed_size, whole
from planner_core.units import MIB, format_size

Item = TypeVar("Item")
Word = TypeVar("Word", bound=str)
CSV_FILE: Final = "The CSV file"
IGNORED: Final = "-"
"""The field that a heading is mapped to if its column is not read."""
SHOWN: Final = 40
_DELIMITERS: Final = ",;\t"
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
        number = whole(text)
        if number is None:
            self.refused(name, "must be a whole number", is_whole=True)
            return None
        if not lowest <= number <= highest:
            self.wrong(name, f"must be between {lowest} and {highest}, not {text}")
            return None
        return number

    def number(self, name: str, highest: int, *, is_required: bool = False) -> Decimal:
        """Return a number from zero, exactly; zero if it is empty or not valid."""
        text = self.text(name)
        number = decimal(text, in_table=True)
        if not text:
            if is_required:
                self.wrong(name, "is missing")
        elif number is None or number < 0:
            self.refused(name, "must be a number such as 100 or 0.5")
        elif number > highest:
            self.wrong(name, f"must be at most {highest}, not {text}")
        else:
            return number
        return Decimal(0)

    def refused(self, name: str, what: str, *, is_whole: bool = False) -> None:
        """Add the error of a cell that is not a number."""
        text = self.text(name)
        problem = separator_problem(text, is_whole=is_whole)
        self.wrong(name, f"{problem or what}, not {text[:SHOWN]!r}")

    def choice(self, name: str, choices: Sequence[Word]) -> Word:
        """Return one of several words; the first one if none is valid."""
        text = self.text(name).lower()
        found = next((each for each in choices if each == text), None)
        if found is None:
            self.wrong(
                name, f"must be one of {', '.join(choices)}, not {text[:SHOWN]!r}" if text else "is missing"
            )
        return found or choices[0]

    def size_text(self, name: str) -> str:
        """Return a size as a policy has it, without thousands separators."""
        return size_text(self.text(name))

    def size(self, name: str) -> int:
        """Return a size in bytes; a number without a unit is in K."""
        text = self.size_text(name)
        if not text:
            self.wrong(name, "is missing")
            return 1
        try:
            found = typed_size(text)
        except SizeSyntax as error:
            self.wrong(
                name, f"{error.problem}, not {text!r}" if error.problem else str(error).removesuffix(".")
            )
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
