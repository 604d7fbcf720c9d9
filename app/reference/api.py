"""The published tables as JSON."""

from __future__ import annotations

from decimal import Decimal

from fastapi import APIRouter
from starlette.exceptions import HTTPException

from app.web.answers import ColumnAnswer, NoteAnswer, SourceAnswer, TableAnswer, TablesAnswer, TableSummary
from app.web.openapi import problems
from planner_core.tables import PublishedTable, all_tables

PREFIX = "/api/v1/reference"
router = APIRouter(prefix=PREFIX, tags=["reference"])


@router.get("", summary="The published tables", responses=problems())
def list_tables() -> TablesAnswer:
    """Every table a figure rests on, with its source and its basis."""
    return TablesAnswer(tables=[_summary(table) for table in all_tables()], findings=[])


@router.get("/{table_id}", summary="One published table", responses=problems(404))
def show_table(table_id: str) -> TableAnswer:
    """A table as its source prints it: columns with units, rows, and notes on what is odd about them."""
    table = next((table for table in all_tables() if table.id == table_id), None)
    if table is None:
        raise HTTPException(404, f"There is no published table of this name; GET {PREFIX} lists them.")
    return TableAnswer(
        **_summary(table).model_dump(),
        columns=[ColumnAnswer(name=c.name, title=c.title, unit=c.unit) for c in table.columns],
        rows=[[float(cell) if isinstance(cell, Decimal) else cell for cell in row] for row in table.rows],
        notes=[NoteAnswer(row=n.row, text=n.text, corrected=n.corrected) for n in table.notes],
        findings=[],
    )


def _summary(table: PublishedTable) -> TableSummary:
    source = SourceAnswer(document=table.source.document, section=table.source.section, url=table.source.url)
    return TableSummary(
        id=table.id,
        title=table.title,
        about=table.about,
        basis=table.basis.value,
        source=source,
        url=f"{PREFIX}/{table.id}",
    )
