"""The pages that create a plan from measured usage: form, preview, saving."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.errors import Conflict
from app.fits.kept import curves_for
from app.fits.resolve import evaluate
from app.paging import MOST_PER_PAGE, PageRequest
from app.plans import service as plans
from app.plans.errors import PlanNameInvalid
from app.usage import periods, plan_form, repository, service
from app.usage.measured import QueueFigures
from app.usage.observed import ComparedSize
from app.usage.periods import Period
from app.usage.plan_form import PlanForm
from app.usage.planning import DraftPlan, MeasuredBasis, can_be_planned
from app.web.body import DocumentFormDep
from app.web.forms import FormField
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, PlanRefused

router = Router(include_in_schema=False)

Preview = TypeVar("Preview")

MOST_LISTED = 2_000
"""Maximum number of queues on the page; structures beyond it are links."""


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A queue to select."""

    key: str
    figures: QueueFigures
    is_ticked: bool
    p95: FormField
    planned: str = ""
    """The current values in the plan that is updated; empty if it does not contain the queue."""


@dataclass(frozen=True, slots=True)
class StructureRows:
    """A structure with its queues."""

    structure: str
    entries_max: int | None
    rows: tuple[QueueRow, ...]


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """The preview of a plan: its draft, and its sizes compared with the current allocations."""

    made: DraftPlan
    sizes: tuple[ComparedSize, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """The measurements behind the form: a group over a period, its listed structures, and the others."""

    qsg: str
    period: Period
    error: str
    """The error in the requested period; empty if there is none."""
    grounds: tuple[MeasuredBasis, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MeasuredForm:
    """Fields of pages with a form of measured figures."""

    qsg: Annotated[str, "Name of the group"]
    period: Annotated[Period, "The period of the figures"]
    hidden: Annotated[dict[str, str], "The query parameters that select the period"]
    choices: Annotated[
        tuple[tuple[str, str, bool], ...],
        "Periods to choose from: label, address, and whether it is the current one",
    ]
    form: Annotated[PlanForm, "The fields as typed, with their errors"]


@dataclass(frozen=True, kw_only=True)
class PlanFromUsagePage(MeasuredForm, Page):
    """A new plan: measured figures, and fields for values that measurements do not contain."""

    structures: Annotated[tuple[StructureRows, ...], "Application structures and their queues"]
    others: Annotated[
        tuple[tuple[str, str], ...],
        "Structures that are not listed, and the address that includes each of them",
    ]
    queue_managers_seen: Annotated[int, "The most queue managers that reported in one hour"]
    offered: Annotated[
        tuple[tuple[str, str], ...],
        "Plans of the group, and the address for copying the figures into each of them",
    ]
    preview: Annotated[PlanPreview | None, "The preview; None until it is requested"]


@router.get("/usage/{qsg}/plan")
def ask(request: Request, session: SessionDep, qsg: str) -> Response:
    """Show the form with the measured figures of the requested structures, or of all."""
    asking = asking_of(session, qsg, request.query_params, request.query_params.getlist("structure"))
    ticked = frozenset((g.structure, each.queue) for g in asking.grounds for each in g.queues)
    observed = service.observed_queue_managers(session, qsg)
    # PREFLIST is in order of preference, so the order in which the coupling facilities were observed is kept.
    facilities = dict.fromkeys(name for g in asking.grounds for name in g.observed.coupling_facilities)
    form = plan_form.blank(
        f"{qsg}-usage", ticked, queue_managers=" ".join(observed), coupling_facilities=" ".join(facilities)
    )
    if asking.error:
        form = replace(form, errors=(f"{asking.error} The usual period is shown.",))
    return _page(request, session, asking, form)


@router.post("/usage/{qsg}/plan")
def make(request: Request, session: SessionDep, qsg: str, body: DocumentFormDep) -> Response:
    """Show a preview of the plan, or save it and open it in the editor."""
    form, parameters, structures = plan_form.read(body)
    asking = asking_of(session, qsg, parameters, structures)
    form, asked = plan_form.asked_of(form)
    if asked is None:
        return _page(request, session, asking, form, status_code=422)
    period = asking.period
    made = service.plan_from_usage(session, qsg, ticked_of(asking, form), asked, period)
    form, checked = check(
        form,
        made,
        nothing="None of the selected queues can be planned.",
        preview_of=lambda document: _preview(session, made, document, period),
    )
    if checked is None:
        return _page(request, session, asking, form, status_code=422)
    document, preview = checked
    if form.action != "save":
        return _page(request, session, asking, form, preview=preview)
    name = form["name"].value
    try:
        # Existing plans are updated on their own page, which shows the changes first.
        plans.save_plan(session, name, document, if_match=None, create_only=True, comment=made.comment)
    except (PlanNameInvalid, Conflict) as error:
        form = form.with_problem("name", str(error))
        return _page(request, session, asking, form, preview=preview, status_code=422)
    return RedirectResponse(f"{root_path(request)}/plans/{name}/edit?made=usage", status_code=303)


def asking_of(session: Session, qsg: str, parameters: Mapping[str, str], structures: Sequence[str]) -> Asking:
    """Return the measurements of a group over the selected period: these structures, or all."""
    spans = service.structures_of_group(session, qsg)
    names = [name for name in spans if can_be_planned(name)]
    first = min(span.first_hour for span in spans.values())
    last = max(span.last_hour for span in spans.values())
    period, error = periods.choose(parameters, first_hour=first, last_hour=last)
    counts = repository.queue_counts(session, qsg)
    listed: list[str] = []
    # A page with tens of thousands of rows would be too slow to load and too long to read.
    for name in [each for each in names if each in structures] or names:
        if not listed or sum(counts.get(each, 0) for each in (*listed, name)) <= MOST_LISTED:
            listed.append(name)
    grounds = service.grounds(session, qsg, listed, period)
    return Asking(qsg, period, error, tuple(grounds), tuple(name for name in names if name not in listed))


def ticked_of(asking: Asking, form: PlanForm) -> list[MeasuredBasis]:
    """Return the structures with ticked queues, each with only those queues."""
    ticked = (
        replace(g, queues=[each for each in g.queues if (g.structure, each.queue) in form.queues])
        for g in asking.grounds
    )
    return [g for g in ticked if g.queues]


def check(
    form: PlanForm, made: DraftPlan, *, nothing: str, preview_of: Callable[[PlanDocument], Preview]
) -> tuple[PlanForm, tuple[PlanDocument, Preview] | None]:
    """Return the form with its errors, and the document with its preview, or None if there are errors.

    `nothing` is the error of a draft without any of the ticked queues.
    """
    for problem in made.problems:
        form = form.with_problem(problem.field, problem.message)
    if not made.planned:
        form = replace(form, errors=(nothing, *made.remarks))
    if not form.has_errors:
        try:
            document = read_object(made.document)
            return form, (document, preview_of(document))
        except DocumentInvalid as error:
            form = plan_form.with_document_problems(form, error.problems, made.document["structures"])
        except PlanRefused as error:
            form = form.with_problem("", str(error))
    return form, None


def _preview(session: Session, made: DraftPlan, document: PlanDocument, period: Period) -> PlanPreview:
    result = evaluate(document, curves_for(session), compares=False, purpose="sizes")
    return PlanPreview(made, service.sizes_compared(session, result, period))


def _page(
    request: Request,
    session: Session,
    asking: Asking,
    form: PlanForm,
    *,
    preview: PlanPreview | None = None,
    status_code: int = 200,
) -> Response:
    period, listed = asking.period, [g.structure for g in asking.grounds]
    path = f"/usage/{quote(asking.qsg, safe='')}/plan"

    def address(structures: Sequence[str], query: Mapping[str, str]) -> str:
        return f"{path}?{urlencode([*query.items(), *(('structure', name) for name in structures)])}"

    page = PlanFromUsagePage(
        title=f"A plan from the usage of {asking.qsg}",
        section="usage",
        qsg=asking.qsg,
        period=period,
        hidden=period.query(),
        choices=choices_of(period, lambda query: address(listed, query)),
        form=form,
        structures=tuple(
            StructureRows(
                g.structure, g.entries_max, tuple(queue_row(g.structure, each, form) for each in g.queues)
            )
            for g in asking.grounds
        ),
        others=tuple((name, address([*listed, name], period.query())) for name in asking.others),
        queue_managers_seen=max((g.queue_managers or 0 for g in asking.grounds), default=0),
        offered=_offered(session, asking.qsg, period),
        preview=preview,
    )
    return render(request, "usage/plan.html", page, status_code=status_code)


def into(qsg: str, plan: str) -> str:
    """Return the path of the page that updates a plan with measured figures."""
    return f"/usage/{quote(qsg, safe='')}/plan/into/{quote(plan, safe='')}"


def _offered(session: Session, qsg: str, period: Period) -> tuple[tuple[str, str], ...]:
    """Return the plans of the group on the first page of a search for its name."""
    found = plans.list_plans(session, PageRequest(per_page=MOST_PER_PAGE), search=qsg).items
    query = urlencode(period.query())
    return tuple((plan.name, f"{into(qsg, plan.name)}?{query}") for plan in found if plan.qsg == qsg)


def choices_of(
    period: Period, address: Callable[[Mapping[str, str]], str]
) -> tuple[tuple[str, str, bool], ...]:
    """Return the periods to choose from: label, address, and whether it is the current one."""
    return tuple(
        (label, address({"period": word}), word == period.choice) for word, label in periods.CHOICES.items()
    )


def queue_row(structure: str, figures: QueueFigures, form: PlanForm, *, planned: str = "") -> QueueRow:
    """Return the row of a measured queue."""
    key = f"{structure}/{figures.queue}"
    name = f"{plan_form.P95}{key}"
    return QueueRow(
        key=key,
        figures=figures,
        is_ticked=(structure, figures.queue) in form.queues,
        p95=form.fields.get(name, FormField(name, f"95th percentile of {figures.queue}", "whole")),
        planned=planned,
    )
