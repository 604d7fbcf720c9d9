"""The reference pages: every published table as its source prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import HTTPException, Path, Request
from fastapi.responses import HTMLResponse

from app.web.rendering import Page, render
from app.web.router import Router
from planner_core import tables
from planner_core.provenance import Basis, Source
from planner_core.tables import Column, Note, PublishedTable, all_tables

router = Router(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell to show: a number, a text, a basis or a source."""

    kind: Literal["number", "text", "basis", "source"]
    number: int | Decimal | None = None
    text: str = ""
    basis: Basis | None = None
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row, the number of its note, and whether its figure is probably a misprint."""

    cells: tuple[Cell, ...]
    mark: int | None
    is_doubted: bool


@dataclass(frozen=True, slots=True)
class Head:
    """One column heading."""

    title: str
    unit: str
    is_number: bool


@dataclass(frozen=True, kw_only=True)
class ReferenceContentsPage(Page):
    """The list of all published tables."""

    tables: Annotated[tuple[PublishedTable, ...], "All tables, in reading order"]


@dataclass(frozen=True, kw_only=True)
class TablePage(Page):
    """One published table."""

    tables: Annotated[tuple[PublishedTable, ...], "All tables, for the list in the sidebar"]
    table: Annotated[PublishedTable, "The table shown"]
    heads: Annotated[tuple[Head, ...], "The column headings"]
    rows: Annotated[tuple[Row, ...], "The rows as printed"]
    notes: Annotated[
        tuple[Note, ...], "Remarks on rows; the mark in a row is the number of its remark, from 1"
    ]


@router.get("/reference", response_class=HTMLResponse)
def contents(request: Request) -> HTMLResponse:
    """List all published tables."""
    page = ReferenceContentsPage(title="Published tables", section="reference", tables=all_tables())
    return render(request, "reference/contents.html", page)


@router.get("/reference/{table_id}", response_class=HTMLResponse)
def table(request: Request, table_id: Annotated[str, Path(max_length=80)]) -> HTMLResponse:
    """Show one published table."""
    found = next((each for each in all_tables() if each.id == table_id), None)
    if found is None:
        raise HTTPException(status_code=404, detail="There is no published table with that name.")
    shown = [at for at, column in enumerate(found.columns) if not _is_place(column)]
    rows = tuple(_row(found, row, shown) for row in found.rows)
    heads = tuple(
        Head(
            found.columns[at].title,
            found.columns[at].unit,
            all(row.cells[nth].kind == "number" or row.cells[nth].text == "" for row in rows)
            and any(row.cells[nth].kind == "number" for row in rows),
        )
        for nth, at in enumerate(shown)
    )
    page = TablePage(
        title=found.title,
        section="reference",
        tables=all_tables(),
        table=found,
        heads=heads,
        rows=rows,
        notes=found.notes,
    )
    return render(request, "reference/table.html", page)


def _is_place(column: Column) -> bool:
    # The place in a document is shown with the document, in the source column before it.
    return column.name == "section" or column.name.endswith("_section")


def _cell(table: PublishedTable, row: tuple[int | Decimal | str, ...], at: int) -> Cell:
    column, value = table.columns[at], row[at]
    if not isinstance(value, str):
        return Cell("number", number=value)
    if value and (column.name == "basis" or column.name.endswith("_basis")):
        return Cell("basis", basis=Basis(value))
    if value and (column.name == "source" or column.name.endswith("_source")):
        # The place in the source has its own column after it; the page shows both as one link.
        follows = table.columns[at + 1] if at + 1 < len(table.columns) else None
        place = str(row[at + 1]) if follows is not None and _is_place(follows) else ""
        return Cell("source", source=tables.source(value, place))
    return Cell("text", text=value)


def _row(table: PublishedTable, row: tuple[int | Decimal | str, ...], shown: Sequence[int]) -> Row:
    mark = next((at for at, note in enumerate(table.notes, start=1) if note.row == row[0]), None)
    is_doubted = mark is not None and table.notes[mark - 1].corrected is not None
    return Row(cells=tuple(_cell(table, row, at) for at in shown), mark=mark, is_doubted=is_doubted)
