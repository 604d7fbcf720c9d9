"""Forecasts of structures over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.database.session import SessionDep
from app.fits.api import CURVES_AND_FORECASTS
from app.forecasts import service as forecasts
from app.forecasts.service import ForecastPage, StructureOutlook
from app.usage.api import Qsg, Structure
from app.web.openapi import problems
from app.web.paging import PageParameters

router = APIRouter(prefix="/api/v1")


@router.get("/forecasts", tags=[CURVES_AND_FORECASTS], summary="List forecasts", responses=problems(422))
def list_forecasts(session: SessionDep, asked: PageParameters) -> ForecastPage:
    """Return the latest forecast of each measure of each structure: full structures first, then by the day they run out."""
    return forecasts.list_forecasts(session, asked)


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
