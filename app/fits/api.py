"""Points of curves, forecasts of structures, and CFCC levels over REST; the lists are in app/nightly."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from app.database.session import SessionDep
from app.fits import fits, levels
from app.fits.fits import FitPoints
from app.fits.levels import HIGHEST, LOWEST, LevelChanged, Levels
from app.forecasts import service as forecasts
from app.forecasts.service import StructureOutlook
from app.usage.api import Qsg, Structure
from app.web.openapi import problems

CF_PATTERN = r"^[A-Za-z][A-Za-z0-9$#@_]{0,7}$"

Version = Annotated[
    int, Path(ge=1, le=fits.LARGEST_VERSION, description="Version of the fitted curve.", examples=[17])
]
CouplingFacility = Annotated[
    str, Path(pattern=CF_PATTERN, description="Name of the coupling facility.", examples=["CF01"])
]


class LevelBody(BaseModel):
    """The CFCC level of a coupling facility."""

    model_config = ConfigDict(extra="forbid", strict=True)

    cfcc_level: Annotated[
        int,
        Field(ge=LOWEST, le=HIGHEST, description="As shown by D CF; not the CFLEVEL of MQ.", examples=[25]),
    ]


router = APIRouter(prefix="/api/v1")


@router.get(
    "/curves/{version}/points",
    tags=["fitted curves and forecasts"],
    summary="Read the points of a fitted curve",
    responses=problems(404, 422),
)
def read_points(version: Version, session: SessionDep) -> FitPoints:
    """Return the allocations that the curve was fitted to, with sizes, totals and distances from the curve."""
    return fits.points(session, version)


@router.get(
    "/forecasts/{qsg}/{structure}",
    tags=["fitted curves and forecasts"],
    summary="Read the forecasts of a structure",
    responses=problems(404, 422),
)
def read_forecasts(
    qsg: Qsg,
    structure: Structure,
    session: SessionDep,
    measure: Annotated[
        str | None, Query(max_length=20, description="entries, elements or smds_blocks; absent: all.")
    ] = None,
    queue_manager: Annotated[
        str | None, Query(max_length=4, description="The owner of a shared message data set; absent: all.")
    ] = None,
) -> StructureOutlook:
    """Return daily peaks, quantiles of the days ahead, when each level is passed at each size, and scores."""
    found = [
        each
        for each in forecasts.outlooks(session, qsg, structure)
        if measure in (None, each.measure) and queue_manager in (None, each.queue_manager or "")
    ]
    return StructureOutlook(qsg, structure, tuple(found))


@router.get(
    "/cf-levels",
    tags=["fitted curves and forecasts"],
    summary="Read the CFCC levels of coupling facilities",
    responses=problems(),
)
def read_levels(session: SessionDep) -> Levels:
    """Return the levels that the site has set. Without one, a nightly run uses the level on which all plans agree."""
    return Levels(tuple(levels.levels(session)))


@router.put(
    "/cf-levels/{coupling_facility}",
    tags=["fitted curves and forecasts"],
    summary="Set the CFCC level of a coupling facility",
    responses=problems(413, 415, 422),
)
def put_level(coupling_facility: CouplingFacility, body: LevelBody, session: SessionDep) -> LevelChanged:
    """Set a level. Later fits use it; existing fits keep the level that they were made with."""
    return levels.put(session, coupling_facility, body.cfcc_level)


@router.delete(
    "/cf-levels/{coupling_facility}",
    tags=["fitted curves and forecasts"],
    summary="Remove the CFCC level of a coupling facility",
    responses=problems(404, 422),
)
def delete_level(coupling_facility: CouplingFacility, session: SessionDep) -> Levels:
    """Remove an entry; return the remaining ones."""
    levels.remove(session, coupling_facility.upper())
    return Levels(tuple(levels.levels(session)))
