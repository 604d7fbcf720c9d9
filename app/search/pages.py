"""The page with the results of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, get_args

from fastapi import Request
from fastapi.responses import Response

from app.database.session import SessionDep
from app.paging import USUAL_PER_PAGE, PageRequest
from app.search import service
from app.search.answers import KINDS, Kind, SearchResults
from app.search.query import read_query
from app.web.paging import page_of_address
from app.web.rendering import MOST_SEARCHED, Page, render
from app.web.router import Router

router = Router(include_in_schema=False)

FIRST_RESULTS = 10
"""Results of each kind on the page that shows all kinds."""


@dataclass(frozen=True, kw_only=True)
class SearchPage(Page):
    """The results of a search, grouped by kind."""

    query: Annotated[str, "The search text"]
    error: Annotated[str, "Error in the search text; otherwise empty"]
    kind: Annotated[Kind | None, "The only kind that is shown; None for all kinds"]
    kinds: Annotated[Mapping[Kind, str], "Titles of the kinds"]
    groups: Annotated[tuple[SearchResults, ...], "The results, grouped by kind"]
    total: Annotated[int, "Number of results of all kinds that are shown"]


@router.get("/search")
def search(request: Request, session: SessionDep) -> Response:
    """Show the first results of each kind, or all results of one kind, page by page."""
    typed = request.query_params.get("q", "")
    kind = _kind(request.query_params.get("kind", ""))
    is_too_long = len(typed.strip()) > MOST_SEARCHED
    query = read_query("" if is_too_long else typed)
    asked = page_of_address(request, per_page=USUAL_PER_PAGE) if kind else PageRequest(per_page=FIRST_RESULTS)
    found = service.search(session, query, asked, kind=kind)
    if kind and found.groups and not found.groups[0].items:
        # The list has become shorter since the address was made: its last page is shown instead of an empty one.
        asked = asked._replace(page=found.groups[0].pages)
        found = service.search(session, query, asked, kind=kind)
    page = SearchPage(
        title=f"Search: {query.text}" if query else "Search",
        section="",
        query=typed.strip()[:MOST_SEARCHED] if is_too_long else query.text,
        error=f"Enter at most {MOST_SEARCHED} characters. The text was shortened; search again."
        if is_too_long
        else "",
        kind=kind,
        kinds=KINDS,
        groups=found.groups,
        total=found.total,
    )
    return render(request, "search/search.html", page, status_code=422 if is_too_long else 200)


def _kind(text: str) -> Kind | None:
    """Return the kind that an address names; None for all kinds."""
    return next((kind for kind in get_args(Kind) if kind == text), None)
