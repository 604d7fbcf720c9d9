"""Single curves and forecasts over REST, and the CFCC levels of coupling facilities; the lists are in app/nightly."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from app.database.session import SessionDep
from app.fits import answers, fits, levels
from app.forecasts import service as forecasts
from app.usage.api import Qsg, Structure
from app.web.openapi import problems

CF_PATTERN = r"^[A-Za-z][A-Za-z0-9$#@_]{0,7}$"

Version = Annotated[
    int, Path(ge=1, le=fits.LARGEST_VERSION, description="Version of the fitted curve.", examples=[17])
]
CouplingFacility = Annotated[
    str, Path(pattern=CF_PATTERN, description="Name of the coupling facility.", examples=["CF01"])
]

router = APIRouter(prefix="/api/v1")


@router.get(
    "/curves/{version}/points",
    tags=["fitted curves and forecasts"],
    summary="Read the points of a fitted curve",
    responses=problems(404, 422),
)
def read_points(version: Version, session: SessionDep) -> answers.FitPointsAnswer:
    """What the curve was fitted to: each allocation with its size, its totals and how far it is from the curve."""
    return answers.points_answer(fits.get_fit(session, version))


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
) -> answers.OutlooksAnswer:
    """Daily peaks, the quantiles of those to come, when each level is passed, what resizing would buy, and scores."""
    found = [
        each
        for each in forecasts.outlooks(session, qsg, structure)
        if measure in (None, each.forecast.measure) and queue_manager in (None, each.forecast.queue_manager)
    ]
    return answers.outlooks_answer(qsg, structure, found)


@router.get(
    "/cf-levels",
    tags=["fitted curves and forecasts"],
    summary="Read the CFCC levels of coupling facilities",
    responses=problems(),
)
def read_levels(session: SessionDep) -> answers.LevelsAnswer:
    """What the site says. Where it says nothing, a night goes by what all plans that name the facility agree on."""
    return answers.levels_answer(levels.levels(session))


@router.put(
    "/cf-levels/{coupling_facility}",
    tags=["fitted curves and forecasts"],
    summary="Say which CFCC level a coupling facility has",
    responses=problems(413, 415, 422),
)
def put_level(
    coupling_facility: CouplingFacility, body: answers.LevelBody, session: SessionDep
) -> answers.LevelAnswer:
    """Later fits go by it. Those made already keep the level that they were made with."""
    kept = levels.put(session, coupling_facility, body.cfcc_level)
    return answers.LevelAnswer(**answers.level_members(kept), findings=[])


@router.delete(
    "/cf-levels/{coupling_facility}",
    tags=["fitted curves and forecasts"],
    summary="Forget the CFCC level of a coupling facility",
    responses=problems(404, 422),
)
def delete_level(coupling_facility: CouplingFacility, session: SessionDep) -> answers.LevelsAnswer:
    """Removes an entry from the map, and answers what is left of it."""
    levels.remove(session, coupling_facility.upper())
    return answers.levels_answer(levels.levels(session))
