"""Sizing points, their fit and the sizings to run next over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from app.database.session import SessionDep
from app.database.types import LARGEST_KEY
from app.fits import points
from app.fits.api import CURVES_AND_FORECASTS
from app.fits.points import FitOfPoints, Point, PointPage, PointsAdded
from app.running.texts import LARGEST_FILE_BYTES
from app.web.openapi import problems
from app.web.paging import PageParameters
from app.web.router import Router
from planner_core.bounds import first_problems
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.sizing.sizing_advice import SizingAdvice
from planner_core.sizing.sizing_points import Kind
from planner_core.texts.sizing_answers import (
    HIGHEST_LEVEL,
    LONGEST_PERSON,
    LONGEST_RELEASE,
    LOWEST_LEVEL,
    MOST_ROWS,
    NamedPoint,
    read_details,
    read_point,
)

Level = Annotated[
    int,
    Query(ge=LOWEST_LEVEL, le=HIGHEST_LEVEL, description="The CFCC level of the points.", examples=[26]),
]
StructureKind = Annotated[
    Kind,
    Query(description="Application structures, which include CSQSYSAPPL, or CSQ_ADMIN.", alias="type"),
]
Number = Annotated[int, Path(ge=1, le=LARGEST_KEY, description="Number of the point.", examples=[1])]
_Size = Annotated[str | int, Field(description="In K, or with a unit.", examples=["512M"])]

router = Router(prefix="/api/v1", tags=[CURVES_AND_FORECASTS])


class PointBody(BaseModel):
    """One answer of a sizing service; its members are the columns of the CSV file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    cfcc_level: Annotated[int, Field(examples=[26])]
    structure_type: Annotated[
        str, Field(description="application, system or admin.", examples=["application"])
    ]
    ratio: Annotated[str, Field(examples=["1:6"])]
    size: _Size
    initsize: _Size
    entries: Annotated[int | None, Field(examples=[262144])] = None
    elements: Annotated[int | None, Field(examples=[1572864])] = None
    origin: Annotated[str, Field(description="zosmf, sizer, ixlcsp, cfsizer or display.", examples=["zosmf"])]
    release: Annotated[str, Field(examples=["z/OS 3.1"])] = ""
    measured_by: str = ""
    measured_on: Annotated[str, Field(description="A day.", examples=["2026-11-03"])] = ""
    structure: str = ""


class PointsBody(BaseModel):
    """Sizing points: a text, or a list."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: Annotated[
        str | None,
        Field(
            max_length=LARGEST_FILE_BYTES,
            description="A CSV file, or D XCF,STR,STRNAME=, IXC582I and DISPLAY CFSTATUS of structures without data.",
        ),
    ] = None
    points: Annotated[list[PointBody] | None, Field(max_length=MOST_ROWS)] = None
    cfcc_level: Annotated[
        int | None,
        Field(
            ge=LOWEST_LEVEL,
            le=HIGHEST_LEVEL,
            description="For displays: the level of coupling facilities without an entry.",
        ),
    ] = None
    ratio: Annotated[str | None, Field(description="For DISPLAY CFSTATUS: entries and elements.")] = None
    size: Annotated[
        str | None, Field(description="For DISPLAY CFSTATUS: SIZE in the policy, in K or with a unit.")
    ] = None
    release: Annotated[
        str, Field(max_length=LONGEST_RELEASE, description="For displays: release of z/OS.")
    ] = ""
    measured_by: Annotated[str, Field(max_length=LONGEST_PERSON, description="For displays.")] = ""
    measured_on: Annotated[str | None, Field(description="For displays: the day.")] = None


@router.get("/sizing-points", summary="List sizing points", responses=problems(422))
def list_points(session: SessionDep, asked: PageParameters) -> PointPage:
    """Return the answers of sizing services that the site entered, newest first."""
    return points.list_points(session, asked)


@router.post(
    "/sizing-points", summary="Add sizing points", status_code=201, responses=problems(413, 415, 422)
)
def add_points(body: PointsBody, session: SessionDep) -> PointsAdded:
    """Store sizing points. A text with an error is refused as a whole; points that are stored already are counted only."""
    if (body.text is None) == (body.points is None):
        raise InputInvalid(INPUT, (FieldProblem("text", "or points must be stated, and not both"),))
    if body.points is not None:
        return points.add(session, _listed(body.points))
    details = read_details(
        {
            name: "" if value is None else str(value)
            for name, value in body.model_dump(exclude={"text", "points"}).items()
        }
    )
    return points.add(session, *points.read_text(session, body.text or "", details))


@router.delete("/sizing-points/{number}", summary="Remove a sizing point", responses=problems(404, 422))
def remove_point(number: Number, session: SessionDep) -> Point:
    """Remove a point, and return it. Fitted curves keep a copy of their points."""
    return points.remove(session, number)


@router.get("/sizing-points/fit", summary="Fit sizing points", responses=problems(404, 422))
def read_fit(session: SessionDep, cfcc_level: Level, kind: StructureKind = "application") -> FitOfPoints:
    """Return base, costs and cost of SIZE with their intervals, and the figures that the points do not determine."""
    return points.fit(session, cfcc_level, kind)


@router.post(
    "/sizing-points/fit",
    summary="Store the fit of sizing points",
    status_code=201,
    responses=problems(404, 422),
)
def save_fit(session: SessionDep, cfcc_level: Level, kind: StructureKind = "application") -> FitOfPoints:
    """Store the fit as a fitted curve that plans can name by its version. An unchanged fit keeps its version."""
    return points.save(session, cfcc_level, kind)


@router.get("/sizing-points/advice", summary="List the sizings to run next", responses=problems(422))
def read_advice(session: SessionDep, cfcc_level: Level, kind: StructureKind = "application") -> SizingAdvice:
    """Return the sizings that narrow the intervals of the fit most, also as a text."""
    return points.advice(session, cfcc_level, kind)


INPUT = "The input"


def _listed(given: list[PointBody]) -> list[NamedPoint]:
    found, wrong = [], []
    for number, each in enumerate(given):
        texts = {name: "" if value is None else str(value) for name, value in each.model_dump().items()}
        try:
            found.append(read_point(texts))
        except InputInvalid as error:
            wrong += [FieldProblem(f"/points/{number}/{each.field}", each.message) for each in error.problems]
    if wrong:
        raise InputInvalid(INPUT, first_problems(wrong))
    return found
