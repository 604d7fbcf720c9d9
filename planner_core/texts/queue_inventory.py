"""A plan document from a table of queues, such as an export of a Db2 table or a spreadsheet.

`queue_paste` reads the table. Here, nothing may be missing: a plan is made of all rows or of none, and headings that are
not known must be mapped or ignored by the user.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from planner_core.bounds import check_lines, first_problems
from planner_core.document.problems import did_you_mean
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid
from planner_core.inputs import squeezed
from planner_core.texts.csv_rows import CSV_FILE, IGNORED, SHOWN, RowReader, delimiter_of, meanings_of
from planner_core.texts.queue_paste import PastedQueues, field_of_heading, read_queues, table_fields
from planner_core.texts.structure_cells import (
    PLAN_KEYS,
    POLICY_COLUMNS,
    PolicyValue,
    column_of,
    policy_values,
)
from planner_core.wire import Answer, JsonObject

TEMPLATE: Final = (
    ("structure", "name", "message_bytes", "backlog", "put_rate_per_s", "outage_minutes", "persistent", "maxdepth"),
    ("PAYMENTS", "PAYMENTS.IN", "956", "", "20", "60", "yes", "100000"),
    ("PAYMENTS", "PAYMENTS.REPLY", "2K", "5000", "", "", "no", "50000"),
)  # fmt: skip
"""A heading and example rows; `table_fields` has all columns."""
_PLACE: Final = re.compile(r"/structures/([0-9]+)(?:/queues/([0-9]+))?(?:/([a-z0-9_]+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class InventorySettings:
    """The values that a table of queues does not state."""

    qsg: str
    queue_managers: int
    cfcc_level: int = 25
    structure: str | None = None
    message_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class QueueInventory(Answer):
    """A plan document made of a table of queues."""

    qsg: str
    structures: int
    queues: int
    document: JsonObject
    notes: Annotated[
        tuple[str, ...], Field(description="Lines that were left out, and values from the settings.")
    ]


def plan_of_queues(
    text: str, settings: InventorySettings, *, mapping: Mapping[str, str] | None = None
) -> QueueInventory:
    """Make a plan document of a table of queues.

    Args:
        text: CSV; its first line has the headings.
        settings: The values that the table does not state.
        mapping: The field of further headings, or `-` for those to ignore.

    Raises:
        InputInvalid: A heading or a row is not valid, or a value is missing; all errors have their line.
        DocumentInvalid: A setting is not valid.
    """
    check_lines(text)
    text = text.lstrip("\ufeff")
    heading = _heading(text, mapping or {})
    found = read_queues(heading.replaced(text), kind="table")
    structures, places, problems, notes = _structures(found, settings)
    stated, more = _add_structure_values(structures, places, heading, text)
    problems += more
    if problems:
        raise InputInvalid(CSV_FILE, first_problems(problems))
    document = {
        "schema_version": 1,
        "qsg": settings.qsg,
        "queue_managers": settings.queue_managers,
        "cfcc_level": settings.cfcc_level,
        "structures": structures,
    }
    try:
        plan = read_object(document)
    except DocumentInvalid as error:
        raise _located(error, places, stated) from None
    return QueueInventory(
        settings.qsg,
        len(structures),
        len(found.queues),
        plan.model_dump(mode="json", exclude_unset=True),
        tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _Heading:
    """The heading of a table: its place and its fields."""

    at: int
    """The number of blank lines before it."""
    delimiter: str
    fields: tuple[str, ...]

    def replaced(self, text: str) -> str:
        """Return the text with the names of fields as its headings, without those of structures."""
        lines = text.splitlines(keepends=True)
        fields = (
            f"ignored {number}" if field in PLAN_KEYS else field for number, field in enumerate(self.fields)
        )
        heading = io.StringIO()
        csv.writer(heading, delimiter=self.delimiter, lineterminator="\n").writerow(fields)
        return "".join((*lines[: self.at], heading.getvalue(), *lines[self.at + 1 :]))

    def structure_cells(self, line: str) -> Mapping[str, str]:
        """Return the cells about the structure in a line that was read as a queue."""
        cells = next(csv.reader([line], delimiter=self.delimiter, strict=True))
        return {
            field: cell.strip()
            for field, cell in zip(self.fields, cells, strict=False)
            if field in PLAN_KEYS and cell.strip()
        }


def _heading(text: str, mapping: Mapping[str, str]) -> _Heading:
    """Return the heading of a table.

    Raises:
        InputInvalid: A heading is unknown, or there is no heading.
    """
    lines = text.splitlines(keepends=True)
    at = next((number for number, line in enumerate(lines) if line.strip()), None)
    if at is None:
        raise InputInvalid(CSV_FILE, (FieldProblem("", "is empty"),))
    delimiter = delimiter_of(text)
    try:
        cells = next(csv.reader([lines[at]], delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise InputInvalid(CSV_FILE, (FieldProblem(f"line {at + 1}", f"is not CSV: {error}"),)) from None
    known = (*table_fields(), *PLAN_KEYS)
    meanings = meanings_of(cells, POLICY_COLUMNS, mapping)
    place = f"line {at + 1}"
    problems = [
        FieldProblem(
            place,
            f"maps {each[:SHOWN]!r} to the unknown column {field[:SHOWN]!r}{did_you_mean(field, known)}",
        )
        for each, field in mapping.items()
        if field not in (*known, IGNORED)
    ]
    fields: list[str] = []
    for number, cell in enumerate(cells):
        # A heading that is a field's own name keeps it; `maxdepth` alone means the backlog.
        field = meanings.get(squeezed(cell))
        if field is None and field_of_heading(cell):
            field = cell.strip()
        if field is None and cell.strip():
            message = f"names the unknown column {cell.strip()[:SHOWN]!r}{did_you_mean(cell, known)}; map it to one of {', '.join(known)}, or to {IGNORED} to ignore it"
            problems.append(FieldProblem(place, message))
        fields.append(f"ignored {number}" if field in (None, IGNORED) else field)
    if not problems and "name" not in map(field_of_heading, fields):
        problems.append(FieldProblem(place, "lacks the column name: the queue"))
    problems += [
        FieldProblem(place, f"names the column {field} twice")
        for field in PLAN_KEYS
        if fields.count(field) > 1
    ]
    if problems:
        raise InputInvalid(CSV_FILE, first_problems(problems))
    return _Heading(at, delimiter, tuple(fields))


_Places = dict[tuple[int, int], int]
"""The line of each queue, by the places of its structure and itself in the document."""
_StatedPlaces = dict[tuple[int, str], int]
"""The first line that states a value of a structure, by its place and its key in the document."""


def _structures(
    found: PastedQueues, settings: InventorySettings
) -> tuple[list[dict[str, Any]], _Places, list[FieldProblem], list[str]]:
    """Return the structures of a document, the lines of their queues, errors and notes."""
    problems: list[FieldProblem] = []
    notes: list[str] = []
    filled = 0
    for each in found.problems:
        if each.kind == "size" and settings.message_bytes is not None:
            filled += 1
        elif each.kind in ("lost", "size", "backlog", "heading"):
            problems.append(FieldProblem(f"line {each.line}", each.message.removesuffix(".")))
        elif "ignored " not in each.message:
            notes.append(f"Line {each.line}: {each.message}")
    if filled:
        notes.append(
            f"{filled} queues without a message size have the size of the settings, {settings.message_bytes} bytes."
        )
    structures: dict[str, dict[str, Any]] = {}
    places: _Places = {}
    for queue, named, line in zip(found.queues, found.structures, found.lines, strict=True):
        name = named or settings.structure
        if not name:
            problems.append(
                FieldProblem(f"line {line}, structure", "is missing: state it here or for the whole file")
            )
            continue
        structure = structures.setdefault(name, {"name": name, "queues": []})
        # Python keeps the order of insertion, which is the order of the document.
        places[list(structures).index(name), len(structure["queues"])] = line
        size = {} if "message_bytes" in queue else {"message_bytes": settings.message_bytes}
        structure["queues"].append({**queue, **size})
    if not found.queues and not problems:
        problems.append(FieldProblem("", "has a heading but no rows"))
    return list(structures.values()), places, problems, notes


def _add_structure_values(
    structures: list[dict[str, Any]], places: _Places, heading: _Heading, text: str
) -> tuple[_StatedPlaces, list[FieldProblem]]:
    """Add sizes and preference lists that rows state for their structures; return their lines, and the errors."""
    if not PLAN_KEYS.keys() & set(heading.fields):
        return {}, []
    lines = text.splitlines()
    problems: list[FieldProblem] = []
    stated: dict[tuple[int, str], tuple[PolicyValue, int]] = {}
    for (structure, _), line in places.items():
        cells = RowReader(heading.structure_cells(lines[line - 1]))
        for column, value in policy_values(cells).items():
            key = PLAN_KEYS[column]
            before, at = stated.setdefault((structure, key), (value, line))
            if not before.equals(value):
                cells.wrong(
                    column, f"is {value.words}, but line {at} states {before.words} for the same structure"
                )
            structures[structure][key] = before.in_plan
        problems += [FieldProblem(f"line {line}, {each.field}", each.message) for each in cells.problems]
    return {place: line for place, (_, line) in stated.items()}, problems


def _located(
    error: DocumentInvalid, places: _Places, stated: _StatedPlaces
) -> InputInvalid | DocumentInvalid:
    """Return errors of a document as errors of lines; those of the settings stay as they are."""
    found = tuple(_problems(error, places, stated))
    return InputInvalid(CSV_FILE, found) if found else error


def _problems(error: DocumentInvalid, places: _Places, stated: _StatedPlaces) -> Iterator[FieldProblem]:
    for each in error.problems:
        place = _PLACE.match(each.field)
        if place is None:
            continue
        structure, queue, key = int(place[1]), place[2], place[3] or ""
        line = places.get((structure, int(queue or 0)))
        if queue is None:
            line, key = stated.get((structure, key), line), column_of(key)
        yield FieldProblem(f"line {line}{f', {key}' if key else ''}", each.message)
