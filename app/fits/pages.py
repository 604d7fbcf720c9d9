"""The pages about fitted curves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.errors import NotFound
from app.fits import fits
from app.fits.charts import fit_charts, published_in_words
from app.fits.fits import Fit
from app.fits.lists import CURRENT, VERSIONS
from app.plans import repository as plans
from app.plans.stored import PlanReference, reading_version, stored_object
from app.web import chart_script
from app.web.chart_plotly import ZoomedChart
from app.web.chart_script import ChartScript
from app.web.csv_files import Table, csv_text
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.tables import ListView
from planner_core.contracts.fits import FitPoint

router = Router(include_in_schema=False)

SECTION = "curves"
PER_PAGE = 30
MOST_POINTS = 400
"""Maximum number of rows in the table of points; the CSV file contains all of them."""
# Numbers of up to 18 digits are below 2^63, so the database accepts them.
_WHOLE = re.compile(r"[1-9]\d{0,17}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class CurvesPage(Page):
    """The list of fitted curves, or the steps to get started if there are none."""

    current: Annotated[ListView, "The last accepted fit of each coupling facility and CFCC level"]
    versions: Annotated[ListView, "One page of all fits"]
    without_level: Annotated[tuple[str, ...], "Coupling facilities whose CFCC level is not known"]
    is_empty: Annotated[bool, "Whether there are no fits yet"]


@dataclass(frozen=True, kw_only=True)
class CurvePage(Page):
    """One version of a fitted curve."""

    fit: Annotated[Fit, "The fit, with its columns and its figures"]
    charts: Annotated[ZoomedChart | None, "Entries by size, and the distance from the curve"]
    published: Annotated[str, "Sizes of the published curve for the same entries, as text; empty if unknown"]
    points: Annotated[tuple[FitPoint, ...], "The points by size, largest first"]
    points_total: Annotated[int, "Number of points"]
    cuts_total: Annotated[int, "Number of breaks in the series"]
    others: Annotated[tuple[Fit, ...], "Other fits of the same coupling facility and level"]
    plans: Annotated[tuple[PlanReference, ...], "Plans whose latest version names the curve"]
    script: Annotated[ChartScript, "The script that draws zoomable charts"]
    at: Annotated[str, "Path of this page"]


@router.get("/curves")
def curves(request: Request, session: SessionDep) -> Response:
    """Show the current curves and all versions."""
    asked = VERSIONS.request(request, per_page=PER_PAGE)
    found = fits.list_fits(session, asked.page, search=asked.search, sort=asked.sort)
    current = fits.current_fits(session)
    page = CurvesPage(
        title="Fitted curves",
        section=SECTION,
        current=CURRENT.view_all(current, request),
        versions=VERSIONS.view(found, asked, CURRENT.kept(request)),
        without_level=tuple(each.coupling_facility for each in current if each.cfcc_level is None),
        is_empty=found.total == 0 and not asked.search,
    )
    return render(request, "fits/list.html", page)


@router.get("/curves.csv")
def curves_file(request: Request, session: SessionDep) -> Response:
    """Return all versions that match the filter as a file."""
    asked = VERSIONS.file_request(request)
    return VERSIONS.file(fits.all_fits(session, search=asked.search, sort=asked.sort))


@router.get("/curves/{version}")
def curve(request: Request, session: SessionDep, version: str) -> Response:
    """Show one version: figures with their intervals, points, and excluded data."""
    fit = _fit(session, version)
    page = CurvePage(
        title=f"Curve {fit.version} of {fit.origin}",
        section=SECTION,
        fit=fit,
        charts=fit_charts(fit),
        published=published_in_words(fit),
        points=tuple(sorted(fit.points, key=lambda point: -point.size_bytes)[:MOST_POINTS]),
        points_total=len(fit.points),
        cuts_total=len(fit.cuts),
        others=fits.other_fits(session, fit),
        plans=_plans_naming(session, fit.version),
        script=chart_script.of_page(),
        at=f"/curves/{fit.version}",
    )
    return render(request, "fits/curve.html", page)


@router.get("/curves/{version}/points.csv")
def points_file(session: SessionDep, version: str) -> Response:
    """Return the points of a fit as a CSV file."""
    fit = _fit(session, version)
    headers = {"content-disposition": f'attachment; filename="curve-{fit.version}-points.csv"'}
    return Response(csv_text(points_table(fit)), media_type="text/csv", headers=headers)


def points_table(fit: Fit) -> Table:
    """Return a row for each point."""
    heading = (
        "qsg", "structure", "first_day", "last_day", "days", "observations", "size_bytes", "entries", "elements",
        "fitted_bytes", "residual_bytes", "left_out",
    )  # fmt: skip
    return heading, [
        (
            each.qsg, each.structure, each.first_day.isoformat(), each.last_day.isoformat(), each.days, each.observations, each.size_bytes,
            each.entries, each.elements, each.fitted_bytes, each.residual_bytes, each.left_out,
        )
        for each in fit.points
    ]  # fmt: skip


def _fit(session: Session, text: str) -> Fit:
    """Return the fit whose version is in the address."""
    if not _WHOLE.fullmatch(text):
        message = f"There is no fitted curve {text[:20]}."
        raise NotFound(message)
    return fits.get_fit(session, int(text))


def _plans_naming(session: Session, version: int) -> tuple[PlanReference, ...]:
    found = []
    for row in plans.latest_curves(session):
        with reading_version(row.name, row.number):
            if (stored_object(row.curve).get("fitted") or {}).get("version") == version:
                found.append(PlanReference(row.name, row.number))
    return tuple(found)
