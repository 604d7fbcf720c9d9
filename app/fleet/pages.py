"""The start page: the overview of everything that is stored, or the calculator of an empty installation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from app.database.engine import Database, DatabaseUnusable
from app.database.session import SessionDep
from app.fleet import service
from app.fleet.answers import Fleet, FleetAction, FleetFacility, FleetPlan, FleetRun
from app.fleet.charts import facilities_chart
from app.fleet.lists import STRUCTURES, chosen, page_of, rows_of
from app.fleet.structures import recent_use
from app.nightly.view import NewestNight, counts_of, newest_night
from app.paging import ResultPage
from app.settings import Settings
from app.sizing.calculator.pages import has_fields, moved, quick_page
from app.web.charts import BarChart
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.tables import ListView

router = Router(include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class OverviewPage(Page):
    """Everything that is stored, the most urgent first."""

    actions: Annotated[tuple[FleetAction, ...], "What to do first, in order"]
    facilities: Annotated[tuple[FleetFacility, ...], "All coupling facilities by name"]
    chart: Annotated[BarChart | None, "The same as bars; None if there are none"]
    structures: Annotated[ListView, "One page of the structures, most urgent first by default"]
    made_on: Annotated[date | None, "Day from which forecasts count; None if no structure has a limit ahead"]
    run: Annotated[FleetRun | None, "The latest nightly run; None before the first"]
    run_counts: Annotated[str, "Numbers of its findings in words; empty if there are none"]
    night: Annotated[NewestNight | None, "Findings of the latest successful run; None before the first"]
    plans: Annotated[tuple[FleetPlan, ...], "Plans with open errors or warnings, errors first"]
    plans_omitted: Annotated[int, "Number of such plans that are not listed"]


@router.get("/")
def start(request: Request) -> Response:
    """Show the overview, or the calculator if nothing is stored or the database does not answer."""
    if has_fields(request):
        # Earlier releases had the calculator here, and its addresses were bookmarked and shared.
        return moved(request, "/calculator")
    database: Database = request.app.state.database
    page = None
    is_empty = False
    try:
        with database.session(writes=False) as session:
            is_empty = service.is_empty(session)
            page = None if is_empty else _overview(request, session)
    # The calculator explains nothing about the database, but it works without one.
    except (DatabaseUnusable, OperationalError, PoolTimeout):
        page = None
    if page is None:
        calculator = replace(quick_page(request), is_first_visit=is_empty)
        return render(request, "sizing/calculator.html", calculator)
    return render(request, "fleet/overview.html", page)


@router.get("/fleet.csv")
def structures_file(request: Request, session: SessionDep) -> Response:
    """Return all structures that match the filter as a file."""
    asked = STRUCTURES.file_request(request)
    return STRUCTURES.file(rows_of(chosen(_fleet(request, session).structures, asked), {}))


def _fleet(request: Request, session: Session) -> Fleet:
    settings: Settings = request.app.state.settings
    return service.fleet(session, lead_time_days=settings.lead_time_days)


def _overview(request: Request, session: Session) -> OverviewPage:
    asked = STRUCTURES.request(request)
    found = _fleet(request, session)
    wanted = chosen(found.structures, asked)
    part = page_of(wanted, asked)
    rows = rows_of(part, recent_use(session, part))
    run = found.nightly_run
    return OverviewPage(
        title="Overview",
        section="overview",
        actions=found.actions,
        facilities=found.coupling_facilities,
        chart=facilities_chart(found.coupling_facilities) if found.coupling_facilities else None,
        structures=STRUCTURES.view(ResultPage.of(rows, len(wanted), asked.page), asked),
        made_on=max((each.next_limit.made_on for each in part if each.next_limit is not None), default=None),
        run=run,
        run_counts=counts_of(run.finding_counts) if run is not None else "",
        night=newest_night(session),
        plans=found.plans[: service.MOST_PLANS],
        plans_omitted=max(len(found.plans) - service.MOST_PLANS, 0),
    )
