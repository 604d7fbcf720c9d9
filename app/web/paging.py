"""The requested page of a list: in the parameters of a REST endpoint, or in the address of a web page."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request

from app.paging import MOST_PAGES, MOST_PER_PAGE, USUAL_PER_PAGE, PageRequest
from app.web.field_values import digits_in


def page_of_address(request: Request, *, per_page: int = USUAL_PER_PAGE) -> PageRequest:
    """Return the request for the page whose number is in the address of a web page."""
    text = request.query_params.get("page", "")
    # A user who edits an address should see the list, not an error, so anything unreadable means the first page.
    number = digits_in(text, most=len(str(MOST_PAGES)) - 1)
    return PageRequest(number or 1, per_page)


def _parameters(
    page: Annotated[int, Query(ge=1, le=MOST_PAGES)] = 1,
    per_page: Annotated[int, Query(ge=1, le=MOST_PER_PAGE)] = USUAL_PER_PAGE,
) -> PageRequest:
    return PageRequest(page, per_page)


PageParameters = Annotated[PageRequest, Depends(_parameters)]
