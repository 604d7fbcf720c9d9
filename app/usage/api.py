"""REST interface of measured usage. app/web/problems.py converts its errors to problem documents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime
from starlette.requests import Request

from app.database.session import SessionDep
from app.errors import FieldsInvalid
from app.fits.kept import curves_for
from app.fits.resolve import evaluate
from app.paging import ListRequest
from app.usage import answers, periods, service
from app.usage.answers import (
    MeasuredStructuresAnswer,
    PlanFromUsage,
    PlanFromUsageAnswer,
    QueuesAnswer,
    QueueUsageAnswer,
    StructureUsageAnswer,
)
from app.usage.health import SORT_KEYS as HEALTH_KEYS
from app.usage.health import HealthEntriesAnswer, StructureHealthAnswer, health_answer, list_health
from app.usage.history_state import damage_of
from app.usage.periods import Period, Step
from app.usage.planning import can_be_planned
from app.web.openapi import problems
from app.web.paging import PageParameters
from app.web.router import Router
from app.web.tables import sort_of
from planner_core.document.reading import read_object
from planner_core.errors import FieldProblem, PlanRefused
from planner_core.names import QUEUE_PATTERN
from planner_core.wire import copied

NAME = r"^[A-Za-z0-9$#@_]+$"

Qsg = Annotated[str, Path(pattern=NAME, max_length=4, description="Name of the group.", examples=["SQ03"])]
Structure = Annotated[
    str,
    Path(
        pattern=NAME,
        max_length=16,
        description="Name of the structure, without the group's.",
        examples=["APPLICATION1"],
    ),
]
# A parameter, not part of the path, because names of queues may contain slashes.
Queue = Annotated[
    str, Query(pattern=f"^{QUEUE_PATTERN}$", description="Name of the queue.", examples=["PAYMENTS.IN"])
]
Moment = Annotated[AwareDatetime, AfterValidator(lambda value: _in_range(value))]
From = Annotated[
    Moment | None,
    Query(alias="from", description="Start of the period. If omitted, seven days before its end."),
]
To = Annotated[
    Moment | None,
    Query(description="End of the period (exclusive). If omitted, the end of the last measured hour."),
]
SortParameter = Annotated[
    str,
    Query(
        max_length=40,
        description=f"One of {', '.join(service.SORT_KEYS)}; a minus sign in front reverses the order. `urgency` lists the most urgent structures first.",
        examples=["-entries_percent"],
    ),
]
By = Annotated[Step | None, Query(description="If omitted, by hour for up to 31 days, otherwise by day.")]

router = Router(prefix="/api/v1/usage", tags=["measured usage"])


@router.get("/structures", summary="List measured structures", responses=problems(422))
def list_structures(
    http: Request,
    session: SessionDep,
    asked: PageParameters,
    search: Annotated[
        str | None, Query(max_length=100, description="Part of the structure's or the group's name.")
    ] = None,
    sort: SortParameter = "",
) -> MeasuredStructuresAnswer:
    """Return a page of structures with their latest figures and the plans that use them.

    Without `sort`, they are sorted by group and name.
    """
    request = ListRequest(asked, sort_of(sort, service.SORT_KEYS), search or "")
    found = service.list_structures(session, request)
    return copied(MeasuredStructuresAnswer, found, history_damage=tuple(damage_of(http.app.state.settings)))


@router.get(
    "/structures/{qsg}/{structure}", summary="Read a structure over time", responses=problems(404, 422)
)
def read_structure(
    qsg: Qsg, structure: Structure, session: SessionDep, from_: From = None, to: To = None, by: By = None
) -> StructureUsageAnswer:
    """Return entries and elements in use with their limits, structure-full events, and shared message data sets."""
    period = _period(service.span_of(session, qsg, structure), from_, to, by)
    points = service.structure_usage(session, qsg, structure, period)
    before = service.last_limits(session, qsg, structure, period.first)
    smds = service.smds_figures(session, qsg, structure, period)
    return StructureUsageAnswer(qsg, structure, period, before, points, smds)


@router.get(
    "/structures/{qsg}/{structure}/queues",
    summary="List the queues of a structure",
    responses=problems(404, 422),
)
def list_queues(
    qsg: Qsg, structure: Structure, session: SessionDep, from_: From = None, to: To = None
) -> QueuesAnswer:
    """Return put rates, message sizes and highest depths over a period."""
    period = _period(service.span_of(session, qsg, structure), from_, to, None)
    return QueuesAnswer(qsg, structure, period, service.queue_figures(session, qsg, structure, period))


@router.get("/health", summary="List the health of all structures", responses=problems(422))
def list_all_health(
    session: SessionDep,
    asked: PageParameters,
    search: Annotated[
        str | None,
        Query(max_length=100, description="Part of the name of the structure, group or measure."),
    ] = None,
    sort: Annotated[
        str,
        Query(
            max_length=40,
            description=f"One of {', '.join(HEALTH_KEYS)}; a minus sign in front reverses the order.",
            examples=["-above_limit"],
        ),
    ] = "",
) -> HealthEntriesAnswer:
    """Return a page of measures that are not good, of all structures that the last nightly run judged.

    Without `sort`, the most urgent measures are first.
    """
    request = ListRequest(asked, sort_of(sort, HEALTH_KEYS), search or "")
    return copied(HealthEntriesAnswer, list_health(session, request))


@router.get(
    "/structures/{qsg}/{structure}/health",
    summary="Read the health of a structure",
    responses=problems(404, 422),
)
def read_health(qsg: Qsg, structure: Structure, session: SessionDep) -> StructureHealthAnswer:
    """Return redrives, service times, delayed requests and waits of the last days, compared with guidelines.

    The nightly run judges each interval; a measure without records states which records have its figures.
    """
    return health_answer(session, qsg, structure)


@router.get(
    "/structures/{qsg}/{structure}/queue", summary="Read a queue over time", responses=problems(404, 422)
)
def read_queue(
    qsg: Qsg,
    structure: Structure,
    name: Queue,
    session: SessionDep,
    from_: From = None,
    to: To = None,
    by: By = None,
) -> QueueUsageAnswer:
    """Return the put rate, message sizes and depth of one queue."""
    period = _period(service.queue_span(session, qsg, structure, name), from_, to, by)
    points, sizes = service.queue_usage(session, qsg, structure, name, period)
    return QueueUsageAnswer(qsg, structure, name, period, points, sizes)


@router.post("/plan-document", summary="Create a plan document from usage", responses=problems(404, 413, 422))
def make_plan_document(request: PlanFromUsage, session: SessionDep) -> PlanFromUsageAnswer:
    """Fill a plan document with measured rates, sizes and depths. Nothing is stored.

    The request contains the values that are not measured; the remarks list what was left out. SMF does not measure p95.
    """
    spans = service.structures_of_group(session, request.qsg)
    chosen = request.structures if request.structures is not None else [s for s in spans if can_be_planned(s)]
    for structure in chosen:
        if structure not in spans:
            raise service.not_measured(request.qsg, structure)
    last = max(span.last_hour for span in spans.values())
    period = periods.before(last, request.period, first_hour=min(span.first_hour for span in spans.values()))
    names = None if request.queues is None else {(s, queue) for s in chosen for queue in request.queues}
    grounds = service.grounds(session, request.qsg, chosen, period, queues=names)
    made = service.plan_from_usage(session, request.qsg, grounds, request.asked(chosen), period)
    if made.problems:
        message = "; ".join(f"{each.field} {each.message}" for each in made.problems) + "."
        raise FieldsInvalid(*made.problems, message=message)
    document = read_object(made.document)
    try:
        sizes = service.sizes_compared(
            session, evaluate(document, curves_for(session), compares=False, purpose="sizes"), period
        )
    # A document that cannot be calculated yet is still an answer, because it can be completed.
    except PlanRefused:
        sizes = ()
    return answers.plan_answer(
        made,
        document,
        period,
        grounds=grounds,
        sizes=sizes,
        queue_managers=service.observed_queue_managers(session, request.qsg),
    )


def _period(span: service.Span, first: datetime | None, past: datetime | None, by: Step | None) -> Period:
    """Return the requested period.

    Raises:
        FieldsInvalid: The period ends before it begins.
    """
    ends = span.last_hour + periods.HOUR if past is None else past
    starts = ends - periods.LENGTHS[periods.USUAL][1] * periods.DAY if first is None else first
    if starts >= ends:
        order = FieldProblem("from", "must be before the end of the period")
        raise FieldsInvalid(order, message=f"{order.field} {order.message}.")
    return periods.between(starts, ends, by)


def _in_range(value: datetime) -> datetime:
    if not periods.EARLIEST <= value.year <= periods.LATEST:
        message = f"must be in the years {periods.EARLIEST} to {periods.LATEST}"
        raise ValueError(message)
    return value
