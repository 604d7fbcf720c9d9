"""The audit trail as a file: CSV, or one JSON object on each line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC

from app.audit.service import Entry
from app.web.csv_files import Cell, safe_cell

COLUMNS = (
    "id", "at", "actor", "actor_kind", "user_id", "token_id", "address", "action", "object_kind", "object_id",
    "object_name", "version", "details", "digest",
)  # fmt: skip


def json_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield each entry as a line of JSON."""
    for entry in entries:
        yield entry.json_bytes().decode() + "\n"


def csv_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the heading and each entry as a line of CSV; no cell is a formula for spreadsheets."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for entry in entries:
        yield _taken(file)
        writer.writerow([safe_cell(_cell(entry, column)) for column in COLUMNS])
    yield _taken(file)


def _cell(entry: Entry, column: str) -> Cell:
    if column == "at":
        return entry.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if column == "details":
        return json.dumps(entry.details, separators=(",", ":"))
    value: Cell = getattr(entry, column)
    return value


def _taken(file: io.StringIO) -> str:
    text = file.getvalue()
    file.seek(0)
    file.truncate()
    return text
