"""The reference pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import HTMLResponse

from app.reference.contexts import ReferenceContentsPage, TablePage, contents_page, table_page
from app.web.rendering import render

router = APIRouter(include_in_schema=False)


@router.get("/reference", response_class=HTMLResponse)
def contents(request: Request) -> HTMLResponse:
    """All published tables."""
    page: ReferenceContentsPage = contents_page()
    return render(request, "reference/contents.html", page)


@router.get("/reference/{table_id}", response_class=HTMLResponse)
def table(request: Request, table_id: Annotated[str, Path(max_length=80)]) -> HTMLResponse:
    """One published table."""
    page: TablePage | None = table_page(table_id)
    if page is None:
        raise HTTPException(status_code=404, detail="There is no published table of that name.")
    return render(request, "reference/table.html", page)
