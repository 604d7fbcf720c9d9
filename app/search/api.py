"""REST interface of the search."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from app.database.session import SessionDep
from app.search import service
from app.search.answers import Kind, SearchAnswer
from app.search.query import read_query
from app.web.openapi import problems
from app.web.paging import PageParameters
from app.web.rendering import MOST_SEARCHED
from app.web.router import Router

router = Router(prefix="/api/v1", tags=["search"])


@router.get("/search", summary="Search everything", responses=problems(422))
def search(
    session: SessionDep,
    asked: PageParameters,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=MOST_SEARCHED,
            description="Words that each result contains. A word with `*` matches whole names, as generic names in MQ do: `PAY*`. Case is ignored.",
            examples=["PAYMENTS.IN"],
        ),
    ],
    kind: Annotated[Kind | None, Query(description="Only results of this kind.")] = None,
) -> SearchAnswer:
    """Return matching plans, structures, queues, findings and pages, best first. `page` selects a page of each kind."""
    return service.search(session, read_query(q), asked, kind=kind)
