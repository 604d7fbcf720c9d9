"""Pages of measured usage: structures, one structure, one queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import Response

from app.clock import utc_now
from app.database.session import SessionDep
from app.plans.stored import PlanReference
from app.settings import Settings
from app.usage import periods, service
from app.usage.charts import held_from, size_bars, time_chart
from app.usage.health import HealthView, health_answer, health_table, health_view, list_health
from app.usage.history_state import damage_of
from app.usage.lists import HEALTH, measured_structures
from app.usage.measured import (
    MeasuredStructure,
    ObservedTotals,
    QueueFigures,
    QueuePoint,
    SmdsFigures,
    UsagePoint,
)
from app.usage.observed import PlannedLevels
from app.usage.periods import Period
from app.usage.service import Span
from app.usage.tables import queue_table, queues_table, usage_table
from app.web import chart_script
from app.web.chart_plotly import ZoomedChart
from app.web.chart_script import ChartScript
from app.web.charts import BarChart, Chart, Origin
from app.web.csv_files import Table, csv_text
from app.web.file_names import file_name
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.tables import ListTable, ListView
from planner_core.contracts.rollup import SizeBucket
from planner_core.names import OWN_STRUCTURES, cfrm_structure_name
from planner_core.simulated import FILE_PREFIX, has_simulated_name

router = Router(include_in_schema=False)

MOST_QUEUES = 200
"""Maximum number of queues on a page; the file lists all of them."""


@dataclass(frozen=True, slots=True)
class PeriodChoice:
    """A length of time that the user can choose."""

    label: str
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class PeriodPicker:
    """The period of a page, and links to others."""

    chosen: Period
    choices: tuple[PeriodChoice, ...]
    earlier: str
    later: str
    first_day: str
    last_day: str
    hidden: Mapping[str, str]
    """Hidden parameters of the form for choosing days."""
    action: str
    error: str


@dataclass(frozen=True, slots=True)
class Highest:
    """The highest figure of a period, and its time."""

    label: str
    value: int | float
    of: int | None
    percent: float | None
    at: datetime


@dataclass(frozen=True, kw_only=True)
class UsageListPage(Page):
    """All measured structures, or an introduction if there are none."""

    structures: Annotated[ListView, "One page of structures"]
    groups: Annotated[tuple[str, ...], "The groups on this page, from which plans can be created"]
    is_empty: Annotated[bool, "Whether nothing has been measured yet"]
    damage: Annotated[tuple[str, ...], "Sentences about damage to the usage history"]


@dataclass(frozen=True, kw_only=True)
class HealthListPage(Page):
    """The measures of all structures that are not good."""

    measures: Annotated[ListView, "One page of measures"]
    is_empty: Annotated[bool, "Whether no measure needs attention"]


@dataclass(frozen=True, kw_only=True)
class UsagePage(Page):
    """One structure over time."""

    qsg: Annotated[str, "Name of the group"]
    structure: Annotated[str, "Name of the structure, without that of the group"]
    cfrm_name: Annotated[str, "The structure's name in the CFRM policy"]
    is_generated: Annotated[bool, "Whether every plan contains this structure"]
    span: Annotated[Span, "First and last hour in which it was measured"]
    period: Annotated[PeriodPicker, "The period that is shown"]
    highest: Annotated[tuple[Highest, ...], "The highest figures of the period"]
    limits: Annotated[ObservedTotals | None, "Its limits, as last observed up to the end of the period"]
    full: Annotated[tuple[UsagePoint, ...], "Hours or days in which it was found full, latest first"]
    charts: Annotated[ZoomedChart, "Entries and elements over time"]
    points: Annotated[tuple[UsagePoint, ...], "The same as a table"]
    has_scm: Annotated[bool, "Whether any of it was in storage-class memory"]
    queues: Annotated[tuple[QueueFigures, ...], "The queues in it"]
    queues_total: Annotated[int, "Number of queues"]
    smds: Annotated[tuple[SmdsFigures, ...], "Its shared message data sets"]
    health: Annotated[
        HealthView | None, "Its measures compared with guidelines; None before the first nightly run"
    ]
    planned: Annotated[PlannedLevels | None, "The thresholds drawn in the charts; None without a plan"]
    plans: Annotated[tuple[PlanReference, ...], "Plans whose latest version contains it"]
    script: Annotated[ChartScript, "The script that draws zoomable charts"]
    at: Annotated[str, "Path of this structure's pages"]
    query: Annotated[str, "The query parameters that select this period"]
    plan: Annotated[str, "Address at which a plan is created from this usage"]


@dataclass(frozen=True, kw_only=True)
class QueuePage(Page):
    """One queue over time."""

    qsg: Annotated[str, "Name of the group"]
    structure: Annotated[str, "The structure that it is in"]
    queue: Annotated[str, "Name of the queue"]
    span: Annotated[Span, "First and last hour in which it was measured"]
    period: Annotated[PeriodPicker, "The period that is shown"]
    figures: Annotated[QueueFigures | None, "Possible basis of a plan; None if nothing was measured"]
    charts: Annotated[ZoomedChart, "Rate and depth over time"]
    bars: Annotated[BarChart | None, "The sizes of its messages; None if they are unknown"]
    sizes: Annotated[tuple[SizeBucket, ...], "The same as a table"]
    points: Annotated[tuple[QueuePoint, ...], "Rate, sizes and depth as a table"]
    script: Annotated[ChartScript, "The script that draws zoomable charts"]
    at: Annotated[str, "Path of the structure's pages"]
    query: Annotated[str, "The query parameters that select this period"]


@router.get("/usage")
def structures(request: Request, session: SessionDep) -> Response:
    """Show all measured structures, most urgent first."""
    listed = _measured_structures(request)
    asked = listed.request(request)
    found = service.list_structures(session, asked, with_urgency=True)
    page = UsageListPage(
        damage=tuple(damage_of(request.app.state.settings)),
        title="Measured usage",
        section="usage",
        structures=listed.view(found, asked),
        groups=tuple(sorted({each.qsg for each in found.items})),
        is_empty=found.total == 0 and not asked.search,
    )
    return render(request, "usage/list.html", page)


@router.get("/usage.csv")
def structures_file(request: Request, session: SessionDep) -> Response:
    """Return all measured structures that match the filter as a file."""
    listed = _measured_structures(request)
    found = service.list_structures(session, listed.file_request(request), with_urgency=True)
    return listed.file(found.items)


@router.get("/usage/health")
def health_list(request: Request, session: SessionDep) -> Response:
    """Show the measures of all structures that are not good, most urgent first."""
    asked = HEALTH.request(request)
    found = list_health(session, asked)
    page = HealthListPage(
        title="Health of structures",
        section="usage",
        measures=HEALTH.view(found, asked),
        is_empty=found.total == 0 and not asked.search,
    )
    return render(request, "usage/health.html", page)


@router.get("/usage/health.csv")
def health_list_file(request: Request, session: SessionDep) -> Response:
    """Return all measures that match the filter as a file."""
    return HEALTH.file(list_health(session, HEALTH.file_request(request)).items)


def _measured_structures(request: Request) -> ListTable[MeasuredStructure]:
    settings: Settings = request.app.state.settings
    return measured_structures(lead_time_days=settings.lead_time_days)


@router.get("/usage/{qsg}/{structure}")
def structure(request: Request, session: SessionDep, qsg: str, structure: str) -> Response:
    """Show one structure over a period."""
    span = service.span_of(session, qsg, structure)
    period, error = _chosen(request, span)
    points = service.structure_usage(session, qsg, structure, period)
    before = service.last_limits(session, qsg, structure, period.first)
    planned = service.planned_levels(session, qsg, structure)
    queues = service.queue_figures(session, qsg, structure, period)
    at = path_of(qsg, structure)
    query = urlencode(period.query())
    page = UsagePage(
        title=f"{structure} of {qsg}",
        section="usage",
        qsg=qsg,
        structure=structure,
        cfrm_name=cfrm_structure_name(qsg_name=qsg, cfstruct_name=structure),
        is_generated=structure in OWN_STRUCTURES,
        span=span,
        period=_period_shown(at, period, span, {}, error=error),
        highest=tuple(_highest(points)),
        limits=service.last_limits(session, qsg, structure, period.past),
        full=tuple(point for point in reversed(points) if point.structure_full_count),
        charts=_usage_charts(points, before, period, planned, _origin(f"{structure} of {qsg}", period)),
        points=points[::-1],
        has_scm=any(point.scm_entries_in_use_max or point.scm_elements_in_use_max for point in points),
        queues=queues[:MOST_QUEUES],
        queues_total=len(queues),
        smds=service.smds_figures(session, qsg, structure, period),
        health=health_view(session, qsg, structure),
        planned=planned,
        plans=tuple(service.plans_using(session, {qsg}).get((qsg, structure), ())),
        script=chart_script.of_page(),
        at=at,
        query=query,
        plan=f"/usage/{_quoted(qsg)}/plan?{urlencode({**period.query(), 'structure': structure})}",
    )
    return render(request, "usage/structure.html", page)


@router.get("/usage/{qsg}/{structure}/usage.csv")
def structure_file(request: Request, session: SessionDep, qsg: str, structure: str) -> Response:
    """Return the table of a structure as a file."""
    period, _ = _chosen(request, service.span_of(session, qsg, structure))
    points = service.structure_usage(session, qsg, structure, period)
    return _csv(usage_table(points), qsg, f"{structure}-usage")


@router.get("/usage/{qsg}/{structure}/health.csv")
def health_file(session: SessionDep, qsg: str, structure: str) -> Response:
    """Return the table of a structure's health as a file."""
    return _csv(health_table(health_answer(session, qsg, structure)), qsg, f"{structure}-health")


@router.get("/usage/{qsg}/{structure}/queues.csv")
def queues_file(request: Request, session: SessionDep, qsg: str, structure: str) -> Response:
    """Return the table of a structure's queues as a file."""
    period, _ = _chosen(request, service.span_of(session, qsg, structure))
    found = service.queue_figures(session, qsg, structure, period)
    return _csv(queues_table(found), qsg, f"{structure}-queues")


# Names of queues may contain slashes, so the name is a parameter and not part of the path.
@router.get("/usage/{qsg}/{structure}/queue")
def queue(request: Request, session: SessionDep, qsg: str, structure: str) -> Response:
    """Show one queue over a period."""
    name = request.query_params.get("name", "")
    span = service.queue_span(session, qsg, structure, name)
    period, error = _chosen(request, span)
    points, sizes = service.queue_usage(session, qsg, structure, name, period)
    origin = _origin(f"{name} in {structure} of {qsg}", period)
    at = path_of(qsg, structure)
    page = QueuePage(
        title=f"{name} in {structure} of {qsg}",
        section="usage",
        qsg=qsg,
        structure=structure,
        queue=name,
        span=span,
        period=_period_shown(f"{at}/queue", period, span, {"name": name}, error=error),
        figures=next(
            (f for f in service.queue_figures(session, qsg, structure, period) if f.queue == name), None
        ),
        charts=_queue_charts(points, period, origin),
        bars=size_bars(sizes, origin),
        sizes=sizes,
        points=points[::-1],
        script=chart_script.of_page(),
        at=at,
        query=urlencode(period.query()),
    )
    return render(request, "usage/queue.html", page)


@router.get("/usage/{qsg}/{structure}/queue.csv")
def queue_file(request: Request, session: SessionDep, qsg: str, structure: str) -> Response:
    """Return the table of a queue as a file."""
    name = request.query_params.get("name", "")
    period, _ = _chosen(request, service.queue_span(session, qsg, structure, name))
    points, _ = service.queue_usage(session, qsg, structure, name, period)
    return _csv(queue_table(points), qsg, f"{structure}-{name}")


# ---- what is shown ---------------------------------------------------------------------------------------------------


def _usage_charts(
    points: tuple[UsagePoint, ...],
    before: ObservedTotals | None,
    period: Period,
    planned: PlannedLevels | None,
    origin: Origin,
) -> ZoomedChart:
    full = [(point.at, point.structure_full_count) for point in points if point.structure_full_count]
    found = []
    for name, limit_before in (
        ("entries", before.entries_total if before else None),
        ("elements", before.elements_total if before else None),
    ):
        title = f"List {name} in use"
        values = [(p.at, v) for p in points if (v := getattr(p, f"{name}_in_use_max")) is not None]
        shares = [(p.at, v) for p in points if (v := getattr(p, f"{name}_pct")) is not None]
        limit = held_from(((p.at, getattr(p, f"{name}_total")) for p in points), limit_before, period.first)
        if values or not shares:
            unit = name
        else:  # only a percentage was reported
            title, unit, values, limit = f"{title}, as reported", "%", shares, [(period.first, 100)]
        found.append(
            time_chart(
                name,
                title,
                unit=unit,
                period=period,
                values=values,
                limit=limit,
                full=full,
                planned=planned,
                today=utc_now(),
                origin=origin,
            )
        )
    return _zoomed(*found)


def _origin(subject: str, period: Period) -> Origin:
    """Return the subject, the period and the source of a chart for saved pictures."""
    words = f"{period.first:%Y-%m-%d %H:%M} to {period.past:%Y-%m-%d %H:%M} UTC"
    return Origin(subject, words, f"highest value of each {period.by} in the uploaded records")


def _queue_charts(points: Sequence[QueuePoint], period: Period, origin: Origin) -> ZoomedChart:
    rates = [(point.at, float(rate)) for point in points if (rate := point.puts_per_s) is not None]
    depths = [(point.at, point.depth_max) for point in points if point.depth_max is not None]
    title = "Puts a second" if period.by == "hour" else "Puts per second in the busiest hour"
    return _zoomed(
        time_chart("rate", title, unit="1/s", period=period, values=rates, today=utc_now(), origin=origin),
        time_chart(
            "depth",
            "Highest depth",
            unit="messages",
            period=period,
            values=depths,
            today=utc_now(),
            origin=origin,
        ),
    )


def _zoomed(*charts: Chart) -> ZoomedChart:
    return ZoomedChart(charts, whole="Whole period")


def _highest(points: Sequence[UsagePoint]) -> list[Highest]:
    found = []
    for label, count, total, percent in (
        ("Most list entries", "entries_in_use_max", "entries_total", "entries_percent"),
        ("Most list elements", "elements_in_use_max", "elements_total", "elements_percent"),
    ):
        measured = [point for point in points if getattr(point, count) is not None]
        if measured:
            most = max(measured, key=lambda point: getattr(point, count))
            share = getattr(most, percent)
            found.append(
                Highest(
                    label,
                    getattr(most, count),
                    getattr(most, total),
                    None if share is None else float(share),
                    most.at,
                )
            )
    return found


def _period_shown(
    path: str, period: Period, span: Span, hidden: Mapping[str, str], *, error: str
) -> PeriodPicker:
    def href(query: Mapping[str, str]) -> str:
        return f"{path}?{urlencode({**hidden, **query})}"

    earlier, later = period.moved(-1), period.moved(1)
    return PeriodPicker(
        chosen=period,
        choices=tuple(
            PeriodChoice(label, href({"period": word}), word == period.choice)
            for word, label in periods.CHOICES.items()
        ),
        earlier=href(earlier.query()) if earlier.past > span.first_hour else "",
        later=href(later.query()) if later.first <= span.last_hour else "",
        first_day=period.first.date().isoformat(),
        last_day=period.last_day.isoformat(),
        hidden=hidden,
        action=path,
        error=error,
    )


def _chosen(request: Request, span: Span) -> tuple[Period, str]:
    return periods.choose(request.query_params, first_hour=span.first_hour, last_hour=span.last_hour)


def path_of(qsg: str, structure: str) -> str:
    """Return the path of the pages of a structure."""
    return f"/usage/{_quoted(qsg)}/{_quoted(structure)}"


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _csv(table: Table, qsg: str, name: str) -> Response:
    label = FILE_PREFIX if has_simulated_name(qsg) else ""
    safe = file_name(f"{label}{qsg}-{name}.csv")
    headers = {"content-disposition": f'attachment; filename="{safe}"'}
    return Response(csv_text(table), media_type="text/csv", headers=headers)
