"""Tables as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from planner_core.typed_numbers import unambiguous

Cell = str | int | float | None
Table = tuple[tuple[str, ...], Iterable[Sequence[Cell]]]

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters with which a text begins that spreadsheets evaluate as a formula."""


def csv_text(table: Table) -> str:
    """Return a table as CSV (RFC 4180)."""
    heading, rows = table
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(heading)
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return file.getvalue()


def safe_cell(cell: Cell) -> Cell:
    """Return a cell that no spreadsheet evaluates as a formula; the point of a number cannot be read as a thousands separator."""
    if isinstance(cell, float):
        return unambiguous(cell)
    # Without the apostrophe, spreadsheets would evaluate such a text as a formula.
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
