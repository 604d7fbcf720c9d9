"""The pages about forecasts: all structures by urgency, and one structure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import Response

from app.clock import utc_now
from app.database.session import SessionDep
from app.errors import NotFound
from app.forecasts import service as forecasts
from app.forecasts.charts import outlook_chart
from app.forecasts.lists import latest_forecasts
from app.forecasts.service import (
    Band,
    MeasuredDay,
    Outlook,
    StructureForecast,
)
from app.plans.stored import PlanReference
from app.settings import Settings
from app.usage import service as usage
from app.usage.pages import path_of
from app.web import chart_script
from app.web.chart_plotly import ZoomedChart
from app.web.chart_script import ChartScript
from app.web.csv_files import Table, csv_text
from app.web.file_names import file_name
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.tables import ListTable, ListView
from planner_core.contracts.forecasts import Resized
from planner_core.names import OWN_STRUCTURES, cfrm_structure_name

router = Router(include_in_schema=False)

SECTION = "forecasts"
SPAN_DAYS = 30
"""Number of days ahead in one row of the table; the CSV file lists every day."""
TIMES = re.compile(r"(\d+(?:\.\d+)?) times the size")


@dataclass(frozen=True, slots=True)
class OutlookView:
    """One measure on the page of its structure."""

    outlook: Outlook
    chart: ZoomedChart | None
    ahead: tuple[tuple[int, int, Band], ...]
    """First and last day of each span ahead, and its highest day by the median estimate."""
    last: MeasuredDay | None
    highest: MeasuredDay | None
    file: str


@dataclass(frozen=True, slots=True)
class ResizeAct:
    """A link that opens the plan editor with a larger size."""

    name: str
    href: str
    times: float


@dataclass(frozen=True, kw_only=True)
class ForecastsPage(Page):
    """The list of forecasts, or the steps to get started if there are none."""

    found: Annotated[ListView, "One page of forecasts"]
    newest: Annotated[date | None, "Day of the latest forecast on the page"]
    is_empty: Annotated[bool, "Whether there is no forecast yet"]


@dataclass(frozen=True, kw_only=True)
class StructureForecastPage(Page):
    """One structure: all its forecasts, and larger sizes."""

    qsg: Annotated[str, "Name of the group"]
    structure: Annotated[str, "Name of the structure, without that of the group"]
    cfrm_name: Annotated[str, "The structure's name in the CFRM policy"]
    outlooks: Annotated[tuple[OutlookView, ...], "Every measure with its charts and tables"]
    first: Annotated[StructureForecast | None, "The measure that runs out first, or None"]
    full: Annotated[
        tuple[StructureForecast, ...], "Each measure of the structure or of a data set that is or was full"
    ]
    is_simulated: Annotated[bool, "Whether the data is simulated"]
    has_forecast: Annotated[bool, "Whether any measure has enough days for a forecast"]
    made_on: Annotated[date, "Day of the latest forecast, or of the attempt to make one"]
    run_id: Annotated[int, "The nightly run that made it"]
    plans: Annotated[tuple[PlanReference, ...], "Plans whose latest version contains it"]
    acts: Annotated[
        tuple[tuple[PlanReference, tuple[ResizeAct, ...]], ...], "Ways to resize the structure, by plan"
    ]
    usage: Annotated[str, "Path of its hourly usage; empty if there is none"]
    new_plan: Annotated[
        str, "Path of the form that creates a plan from its usage; empty if there is no usage"
    ]
    script: Annotated[ChartScript, "The script that draws zoomable charts"]


@router.get("/forecasts")
def list_all(request: Request, session: SessionDep) -> Response:
    """Show all forecasts, most urgent first."""
    listed = _latest_forecasts(request)
    asked = listed.request(request)
    found = forecasts.list_forecasts(session, asked)
    page = ForecastsPage(
        title="Forecasts",
        section=SECTION,
        found=listed.view(found, asked),
        newest=max((each.made_on for each in found.items if each.has_forecast), default=None),
        is_empty=found.total == 0 and not asked.search,
    )
    return render(request, "forecasts/list.html", page)


@router.get("/forecasts.csv")
def list_file(request: Request, session: SessionDep) -> Response:
    """Return all forecasts that match the filter as a file."""
    listed = _latest_forecasts(request)
    return listed.file(forecasts.all_forecasts(session, listed.file_request(request)))


def _latest_forecasts(request: Request) -> ListTable[StructureForecast]:
    settings: Settings = request.app.state.settings
    return latest_forecasts(lead_time_days=settings.lead_time_days)


@router.get("/forecasts/{qsg}/{structure}")
def structure(request: Request, session: SessionDep, qsg: str, structure: str) -> Response:
    """Show the forecasts of one structure."""
    outlooks = forecasts.outlooks(session, qsg, structure)
    shown = tuple(map(_shown, outlooks))
    has_forecast = any(each.has_forecast for each in outlooks)
    plans = tuple(usage.plans_using(session, {qsg}).get((qsg, structure), ()))
    try:
        usage.span_of(session, qsg, structure)
        has_usage = True
    except NotFound:
        has_usage = False
    at = path_of(qsg, structure)
    page = StructureForecastPage(
        title=f"{'Forecast' if has_forecast else 'Daily peaks'} of {structure} of {qsg}",
        section=SECTION,
        qsg=qsg,
        structure=structure,
        cfrm_name=cfrm_structure_name(qsg_name=qsg, cfstruct_name=structure),
        outlooks=shown,
        first=_first(outlooks),
        full=_full(outlooks),
        is_simulated=any(each.is_simulated for each in outlooks),
        has_forecast=has_forecast,
        made_on=max(each.made_on for each in outlooks),
        run_id=max(each.run_id for each in outlooks),
        plans=plans,
        acts=tuple((plan, tuple(_acts(plan, structure, outlooks))) for plan in plans),
        usage=f"{at}?period=366d" if has_usage else "",
        new_plan=(
            f"/usage/{quote(qsg, safe='')}/plan?{urlencode({'structure': structure, 'period': '92d'})}"
            if has_usage and structure not in OWN_STRUCTURES
            else ""
        ),
        script=ChartScript(chart_script.address(), chart_script.guards()),
    )
    return render(request, "forecasts/structure.html", page)


@router.get("/forecasts/{qsg}/{structure}/forecast.csv")
def forecast_file(request: Request, session: SessionDep, qsg: str, structure: str) -> Response:
    """Return daily peaks and quantiles of one measure or all as a CSV file."""
    wanted = request.query_params.get("measure", "")
    found = [each for each in forecasts.outlooks(session, qsg, structure) if wanted in ("", each.key)]
    name = file_name(f"{qsg}-{structure}-{wanted or 'all'}").replace("-", "_")
    headers = {"content-disposition": f'attachment; filename="{name}-forecast.csv"'}
    return Response(csv_text(days_table(found)), media_type="text/csv", headers=headers)


def days_table(outlooks: Iterable[Outlook]) -> Table:
    """Return a row for each day: measured days with peak and total, days ahead with quantiles."""
    heading = ("measure", "queue_manager", "day", "peak", "total", "p10", "p50", "p90")
    rows: list[tuple[str | int | float | None, ...]] = []
    for each in outlooks:
        of = (each.measure, each.queue_manager)
        rows += [(*of, peak.day.isoformat(), peak.peak, peak.total, None, None, None) for peak in each.peaks]
        rows += [(*of, band.day.isoformat(), None, None, band.p10, band.p50, band.p90) for band in each.bands]
    return heading, list(rows)


def forecast_path(qsg: str, structure: str) -> str:
    """Return the path of the forecasts of a structure."""
    return f"/forecasts/{quote(qsg, safe='')}/{quote(structure, safe='')}"


# ---- views ---------------------------------------------------------------------------------------------------


def _shown(outlook: Outlook) -> OutlookView:
    measured = [each for each in outlook.peaks if each.peak is not None]
    path = f"{quote(outlook.qsg, safe='')}/{quote(outlook.structure, safe='')}"
    return OutlookView(
        outlook=outlook,
        chart=outlook_chart(outlook, utc_now().date()),
        ahead=tuple(_ahead(outlook.bands)),
        last=measured[-1] if measured else None,
        highest=max(measured, key=lambda each: each.peak or 0, default=None),
        file=f"/forecasts/{path}/forecast.csv?{urlencode({'measure': outlook.key})}",
    )


def _ahead(bands: Sequence[Band]) -> Iterable[tuple[int, int, Band]]:
    """Yield the highest day of each span, because weeks have high and low days."""
    for at in range(0, len(bands), SPAN_DAYS):
        span = bands[at : at + SPAN_DAYS]
        yield (at + 1, at + len(span), max(span, key=lambda band: band.p50))


def _times(resize: Resized) -> float:
    """Return the factor by which the size grows. Entries and elements grow by more, because the base stays the same."""
    found = TIMES.fullmatch(resize.name)
    if found is not None:
        return float(found[1])
    return 2.0 if resize.name == "twice the size" else resize.factor


def _first(outlooks: Iterable[Outlook]) -> StructureForecast | None:
    """Return the measure that passes a level first."""
    found = [
        (crossing.state != "already_crossed", crossing.dates.p50 or date.max, nth, each)
        for nth, each in enumerate(outlooks)
        if (crossing := each.first_crossing) is not None
    ]
    # Ties are broken by position, because forecasts cannot be compared.
    return min(found, key=lambda each: each[:3])[3] if found else None


def _full(outlooks: Iterable[Outlook]) -> tuple[StructureForecast, ...]:
    """Return one measure of the structure, if it is full, and each full data set."""
    found = {each.queue_manager: each for each in outlooks if each.fullness is not None}
    return tuple(found.values())


def _acts(plan: PlanReference, structure: str, outlooks: Iterable[Outlook]) -> Iterable[ResizeAct]:
    """Yield a link for each size in the forecasts of the structure."""
    seen: set[float] = set()
    for each in outlooks:
        if each.queue_manager:  # A larger structure does not make its data sets larger.
            continue
        for resize in each.resizes:
            times = _times(resize)
            # The forecasts of entries and of elements have the same sizes.
            if times not in seen and times > 1:
                seen.add(times)
                query = urlencode({"resize": structure, "times": f"{times:g}"})
                yield ResizeAct(resize.name, f"/plans/{plan.name}/edit?{query}", times)
