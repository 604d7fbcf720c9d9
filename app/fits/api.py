"""Fitted curves with their points, and CFCC levels over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from app.database.session import SessionDep
from app.database.types import LARGEST_KEY
from app.fits import fits, levels
from app.fits.fits import FitDetails, FitPage, FitPoints
from app.fits.levels import HIGHEST, LOWEST, LevelChanged, Levels
from app.web.openapi import problems
from app.web.paging import PageParameters
from app.web.router import Router

CF_PATTERN = r"^[A-Za-z][A-Za-z0-9$#@_]{0,7}$"

CurveVersion = Annotated[int, Path(ge=1, le=LARGEST_KEY, description="Version of the curve.", examples=[1])]
Version = Annotated[
    int, Path(ge=1, le=LARGEST_KEY, description="Version of the fitted curve.", examples=[17])
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


CURVES_AND_FORECASTS = "fitted curves and forecasts"
router = Router(prefix="/api/v1")


@router.get("/curves", tags=[CURVES_AND_FORECASTS], summary="List fitted curves", responses=problems(422))
def list_curves(
    session: SessionDep,
    asked: PageParameters,
    current: Annotated[
        bool, Query(description="List only the latest accepted curve of each coupling facility.")
    ] = False,
) -> FitPage:
    """Return the fits of all runs, newest first; rejected fits include the reasons. Unchanged fits are stored once."""
    return fits.list_fits(session, asked, current_only=current)


@router.get(
    "/curves/{version}",
    tags=[CURVES_AND_FORECASTS],
    summary="Read a fitted curve",
    responses=problems(404, 422),
)
def read_curve(version: CurveVersion, session: SessionDep) -> FitDetails:
    """Return the cost of structures on a coupling facility, with intervals, the data used and the data excluded."""
    return fits.details(session, version)


@router.get(
    "/curves/{version}/points",
    tags=[CURVES_AND_FORECASTS],
    summary="Read the points of a fitted curve",
    responses=problems(404, 422),
)
def read_points(version: Version, session: SessionDep) -> FitPoints:
    """Return the allocations that the curve was fitted to, with sizes, totals and distances from the curve."""
    return fits.points(session, version)


@router.get(
    "/cf-levels",
    tags=[CURVES_AND_FORECASTS],
    summary="Read the CFCC levels of coupling facilities",
    responses=problems(),
)
def read_levels(session: SessionDep) -> Levels:
    """Return the levels that the site has set.

    For a coupling facility without a level, a nightly run uses the level on which all plans agree.
    """
    return Levels(tuple(levels.levels(session)))


@router.put(
    "/cf-levels/{coupling_facility}",
    tags=[CURVES_AND_FORECASTS],
    summary="Set the CFCC level of a coupling facility",
    responses=problems(413, 415, 422),
)
def put_level(coupling_facility: CouplingFacility, body: LevelBody, session: SessionDep) -> LevelChanged:
    """Set a level. Later fits use it; existing fits keep the level that they were made with."""
    return levels.put(session, coupling_facility, body.cfcc_level)


@router.delete(
    "/cf-levels/{coupling_facility}",
    tags=[CURVES_AND_FORECASTS],
    summary="Remove the CFCC level of a coupling facility",
    responses=problems(404, 422),
)
def delete_level(coupling_facility: CouplingFacility, session: SessionDep) -> Levels:
    """Remove an entry; return the remaining ones."""
    levels.remove(session, coupling_facility.upper())
    return Levels(tuple(levels.levels(session)))
