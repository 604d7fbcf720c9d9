"""Forecasts of structures over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from app.database.session import SessionDep
from app.fits.api import CURVES_AND_FORECASTS
from app.forecasts import service as forecasts
from app.forecasts.service import ForecastPage, StructureOutlook
from app.nightly.urgency import FORECAST_SORT_KEYS
from app.paging import ListRequest
from app.usage.api import Qsg, Structure
from app.web.openapi import problems
from app.web.paging import PageParameters
from app.web.router import Router
from app.web.tables import search_text, sort_of

router = Router(prefix="/api/v1")


@router.get("/forecasts", tags=[CURVES_AND_FORECASTS], summary="List forecasts", responses=problems(422))
def list_forecasts(
    session: SessionDep,
    asked: PageParameters,
    search: Annotated[
        str, Query(max_length=100, description="Part of the structure's or the group's name.")
    ] = "",
    sort: Annotated[
        str,
        Query(
            max_length=40,
            description=f"One of {', '.join(FORECAST_SORT_KEYS)}; a minus sign in front reverses the order.",
            examples=["-used_percent"],
        ),
    ] = "",
) -> ForecastPage:
    """Return the latest forecast of each measure of each structure.

    Without `sort`, full structures are first, then the others by the day they run out.
    """
    order = sort_of(sort, FORECAST_SORT_KEYS)
    return forecasts.list_forecasts(session, ListRequest(asked, order, search_text(search)))


@router.get(
    "/forecasts/{qsg}/{structure}",
    tags=[CURVES_AND_FORECASTS],
    summary="Read the forecasts of a structure",
    responses=problems(404, 422),
)
def read_forecasts(
    qsg: Qsg,
    structure: Structure,
    session: SessionDep,
    measure: Annotated[
        str | None,
        Query(max_length=20, description="entries, elements or smds_blocks; if omitted, all of them."),
    ] = None,
    queue_manager: Annotated[
        str | None,
        Query(max_length=4, description="The owner of a shared message data set; if omitted, all owners."),
    ] = None,
) -> StructureOutlook:
    """Return daily peaks, quantiles for the days ahead, the day each level is passed at each size, and scores."""
    found = [
        each
        for each in forecasts.outlooks(session, qsg, structure)
        if measure in (None, each.measure) and queue_manager in (None, each.queue_manager or "")
    ]
    return StructureOutlook(qsg, structure, tuple(found))
