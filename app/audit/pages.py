"""The page of the audit trail, for administrators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response

from app.audit import service
from app.audit.actions import WORDS
from app.audit.filters import AuditFilter, read_filter
from app.audit.lists import PATH, view_of
from app.audit.responses import csv_response
from app.database.session import DatabaseDep, SessionDep
from app.errors import FieldsInvalid
from app.paging import USUAL_PER_PAGE
from app.web.field_values import digits_in
from app.web.forms import FormField
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.tables import ListView

router = Router(include_in_schema=False)

_FILTERS = ("since", "until", "who", "action", "object")
_MOST_DIGITS = 18


@dataclass(frozen=True, kw_only=True)
class AuditPage(Page):
    """Entries of the audit trail, newest first."""

    entries: Annotated[ListView, "Some entries"]
    boxes: Annotated[tuple[FormField, ...], "The fields of the filter"]
    actions: Annotated[Mapping[str, str], "All actions in words, by code"]
    action: Annotated[str, "The action of the filter; empty for all"]
    is_filtered: Annotated[bool, "Whether the filter restricts the entries"]
    is_first: Annotated[bool, "Whether the entries are the newest"]
    newest: Annotated[str, "Address of the newest entries"]
    older: Annotated[str, "Address of older entries; empty if there are none"]
    file: Annotated[str, "Address of the file with all matching entries"]


@router.get(PATH)
def audit(request: Request, session: SessionDep) -> Response:
    """Show who did what, newest first."""
    given = {name: request.query_params.get(name, "").strip() for name in _FILTERS}
    before = digits_in(request.query_params.get("before", ""), most=_MOST_DIGITS)
    faults: dict[str, str] = {}
    asked = AuditFilter()
    try:
        asked = read_filter(given)
    except FieldsInvalid as error:
        faults = {each.field: each.message for each in error.problems}
    found = service.list_entries(session, asked, before=before, limit=USUAL_PER_PAGE)
    query = {name: text for name, text in given.items() if text}
    page = AuditPage(
        title="Audit trail",
        section="audit",
        entries=view_of(found.entries),
        boxes=(
            _box("since", "From", given, faults, hint="A day, or a time in UTC."),
            _box("until", "To", given, faults),
            _box("who", "User", given, faults),
            _box("object", "Object", given, faults),
        ),
        actions={code.value: words for code, words in sorted(WORDS.items(), key=lambda pair: pair[1])},
        action=given["action"],
        is_filtered=bool(query),
        is_first=before is None,
        newest=_address(PATH, query),
        older=_address(PATH, {**query, "before": str(found.next)}) if found.next is not None else "",
        file="" if faults else _address(f"{PATH}.csv", query),
    )
    return render(request, "audit/list.html", page, status_code=422 if faults else 200)


@router.get(f"{PATH}.csv")
def audit_file(request: Request, database: DatabaseDep) -> Response:
    """Return all matching entries as a file, oldest first."""
    asked = read_filter({name: request.query_params.get(name, "") for name in _FILTERS})
    return csv_response(service.each_entry(database, asked))


def _box(
    name: str, label: str, given: Mapping[str, str], faults: Mapping[str, str], *, hint: str = ""
) -> FormField:
    return FormField(name, label, "text", value=given[name], error=faults.get(name, ""), hint=hint)


def _address(path: str, query: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
