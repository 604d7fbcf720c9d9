"""The published tables as JSON."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from starlette.exceptions import HTTPException

from app.web.answers import Answer
from app.web.openapi import problems
from app.web.router import Router
from planner_core.findings import Finding
from planner_core.tables import PublishedTable, TableSummary, all_tables

PREFIX = "/api/v1/reference"
router = Router(prefix=PREFIX, tags=["reference"])
Url = Annotated[str, Field(description="Path of the whole table.")]


class ListedTable(TableSummary):
    """A published table without its rows."""

    url: Url


class TablesAnswer(Answer):
    """All published tables."""

    tables: list[ListedTable]
    findings: list[Finding]


class TableAnswer(PublishedTable):
    """A table as its source prints it."""

    url: Url
    findings: list[Finding]


@router.get("", summary="The published tables", responses=problems())
def list_tables() -> TablesAnswer:
    """List every table on which figures are based, with its source and basis."""
    tables = [
        ListedTable(
            **{name: getattr(table, name) for name in TableSummary.model_fields}, url=f"{PREFIX}/{table.id}"
        )
        for table in all_tables()
    ]
    return TablesAnswer(tables=tables, findings=[])


@router.get("/{table_id}", summary="One published table", responses=problems(404))
def show_table(table_id: str) -> TableAnswer:
    """Return a table as its source prints it: columns with units, rows, and notes on questionable figures."""
    table = next((table for table in all_tables() if table.id == table_id), None)
    if table is None:
        raise HTTPException(404, f"There is no published table with this name; GET {PREFIX} lists them.")
    return TableAnswer(**dict(table), url=f"{PREFIX}/{table.id}", findings=[])
