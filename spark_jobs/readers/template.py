"""cfplan's own CSV: one row for each interval and structure (or structure and queue), in the history's columns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import pyarrow as pa

from planner_core.errors import SizeSyntax
from planner_core.names import cfrm_structure_name
from planner_core.typed_numbers import ambiguity, typed_size
from spark_jobs.history.schema import (
    IN_USE_KINDS,
    IN_USE_PAIRS,
    QUEUE_USAGE,
    STRUCTURE_USAGE,
    row_schema,
)
from spark_jobs.readers.names import QSG_NAME, SHORT_NAME, STRUCTURE_NAME
from spark_jobs.readers.result import Ask, Collector, Value
from spark_jobs.readers.tables import CsvTable
from spark_jobs.readers.text import TextFile
from spark_jobs.readers.values import (
    BadValue,
    NoZone,
    Zone,
    decimal,
    in_microseconds,
    instant_of,
    is_absent,
    plain,
    shown,
    whole,
)

REQUIRED: Final = ("qsg", "structure", "interval_end")
NOT_TAKEN: Final = frozenset(
    {
        "source",
        "origin",
        "file_offset",
        "file_record",
        "piece",
        "note",
        "written_at",
        "interval_us",
        "xcf_structure",
    }
)
"""Columns of the history that the template lacks, because they are derived from the others."""

_YES_NO: Final = {
    "yes": True,
    "true": True,
    "y": True,
    "1": True,
    "no": False,
    "false": False,
    "n": False,
    "0": False,
}

_LONGEST_TEXT: Final = 200


def template_columns(table: str) -> tuple[str, ...]:
    """Return the columns that the template of a table may have, in their order."""
    return tuple(name for name in row_schema(table).names if name not in NOT_TAKEN)


def read_template(file: TextFile, collector: Collector, *, zone: Zone) -> None:
    """Read a file in the template's form; with a column `queue`, its rows are about queues.

    Raises:
        NotReadable: A required column is missing.
    """
    rows = CsvTable(
        file,
        collector,
        is_heading=lambda cells: set(REQUIRED) <= {cell.strip().lower() for cell in cells},
        missing=f"No line with the headings {', '.join(REQUIRED)} was found among the first lines.",
    )
    headings = [cell.strip().lower() for cell in rows.headings]
    table = QUEUE_USAGE if "queue" in headings else STRUCTURE_USAGE
    known = template_columns(table)
    unknown = [name for name in headings if name and name not in known]
    if unknown:
        collector.note(f"Columns unknown to the template are ignored: {', '.join(map(shown, unknown))}.")
    types = {name: row_schema(table).field(name).type for name in headings if name in known}
    for line, cells in rows.rows():
        collector.count("rows")
        by_name: dict[str, str] = {}
        for name, cell in zip(headings, cells, strict=True):
            by_name.setdefault(name, cell)
        try:
            collector.add(table, _row(by_name, types, line, zone))
        except BadValue as error:
            collector.problem(line, f"{error}.")
        except NoZone:
            message = "In which time zone are the times without an offset? Add it, as in 2026-03-14T09:30:00Z, to avoid the question."
            collector.ask(Ask("zone", message))


def _row(
    cells: Mapping[str, str], types: Mapping[str, pa.DataType], line: int, zone: Zone
) -> dict[str, Value]:
    values = {name: _value(name, cells[name], kind, zone) for name, kind in types.items()}
    qsg, structure = str(values["qsg"] or ""), str(values["structure"] or "")
    _check(bool(QSG_NAME.fullmatch(qsg)), f"qsg {shown(qsg)} is not the name of a queue-sharing group")
    _check(
        bool(STRUCTURE_NAME.fullmatch(structure)),
        f"structure {shown(structure)} is not the name of a CFSTRUCT",
    )
    for name in ("system_id", "queue_manager"):
        text = values.get(name)
        _check(
            text is None or bool(SHORT_NAME.fullmatch(str(text))), f"{name} {shown(text)} is not a valid name"
        )
    if "queue" in types:
        _check(bool(values["queue"]), "queue is empty")
    start, end = values.get("interval_start"), values["interval_end"]
    _check(end is not None, "interval_end is empty")
    length = 0
    if isinstance(start, datetime) and isinstance(end, datetime):
        length = in_microseconds(end - start)
        _check(length >= 0, "interval_end is before interval_start")
    for in_use, total in IN_USE_PAIRS:
        used, of = values.get(in_use), values.get(total)
        if isinstance(used, int) and isinstance(of, int):
            _check(used <= of, f"{in_use} {used} is more than {total} {of}")
    entries, elements = values.get("entries_written"), values.get("elements_written")
    if isinstance(entries, int) and isinstance(elements, int):
        # Only entries with data elements are counted.
        _check(entries <= elements, f"entries_written {entries} is more than elements_written {elements}")
    if "queue" not in types:
        kind = values.get("in_use_kind") or ("interval_maximum" if length else "at_end")
        _check(kind in IN_USE_KINDS, f"in_use_kind {shown(kind)} is not one of {', '.join(IN_USE_KINDS)}")
        values["in_use_kind"] = kind
    return values | {
        "source": "template",
        "origin": "template",
        "file_record": line,
        "piece": 0,
        "interval_us": length,
        "xcf_structure": cfrm_structure_name(qsg_name=qsg, cfstruct_name=structure),
    }


def _check(is_right: bool, message: str) -> None:
    if not is_right:
        raise BadValue(message)


def _value(name: str, cell: str, kind: pa.DataType, zone: Zone) -> Value:
    text = plain(cell)
    if is_absent(text):
        return None
    try:
        if pa.types.is_timestamp(kind):
            return instant_of(text, zone)
        if pa.types.is_boolean(kind):
            _check(text.lower() in _YES_NO, f"{shown(text)} is neither yes nor no")
            return _YES_NO[text.lower()]
        if pa.types.is_floating(kind):
            return decimal(text)
        if pa.types.is_integer(kind):
            # Column names contain the unit; sizes may also be entered as 512M.
            return _bytes(text) if name.endswith("_bytes") else _count(text)
    except BadValue as error:
        message = f"{name}: {error}"
        raise BadValue(message) from None
    is_clean = text.isprintable() and len(text) <= _LONGEST_TEXT
    _check(is_clean, f"{name}: {shown(text)} is too long or contains characters that names cannot contain")
    return text


def _count(text: str) -> int | None:
    # People write this file with spreadsheets, in which 1.000 may be a thousand; `whole` would read 1.
    if problem := ambiguity(text, is_whole=True):
        message = f"{shown(text)} {problem}"
        raise BadValue(message)
    return whole(text)


def _bytes(text: str) -> int | None:
    if text.isdigit():
        return whole(text)
    try:
        return typed_size(text, default_unit="B")
    except SizeSyntax as error:
        raise BadValue(str(error).rstrip(".")) from None
