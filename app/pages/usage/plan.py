"""Making a plan from measured usage: the form, what it would give, and saving it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from app.db import SessionDep
from app.pages.plans.editor import BodyDep
from app.pages.usage import plan_form
from app.pages.usage.plan_form import PlanForm
from app.plans import service as plans
from app.plans.errors import PlanConflict, PlanNameInvalid
from app.templating import Page, render, root_path
from app.usage import periods, service
from app.usage.measured import QueueFigures
from app.usage.periods import Chosen, Period
from app.usage.planning import Grounds, Made, can_be_planned
from app.usage.service import Span
from planner_core.document import PlanDocument, read_object
from planner_core.errors import DocumentInvalid, PlanRefused
from planner_core.plan import evaluate

router = APIRouter(include_in_schema=False)

MOST_LISTED = 2_000
"""Queues on the page; of more, only those of the chosen structures are listed."""


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A queue that can be ticked."""

    key: str
    figures: QueueFigures
    is_ticked: bool
    p95: str
    p95_error: str


@dataclass(frozen=True, slots=True)
class StructureRows:
    """A structure with its queues."""

    structure: str
    entries_max: int | None
    rows: tuple[QueueRow, ...]
    is_open: bool


@dataclass(frozen=True, slots=True)
class SizeLine:
    """A structure of the plan, as the core sizes it."""

    cfrm_name: str
    initsize_kib: int
    size_kib: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be saved."""

    made: Made
    sizes: tuple[SizeLine, ...]


@dataclass(frozen=True, kw_only=True)
class PlanFromUsagePage(Page):
    """The form: measured figures to choose from, and what they do not say to be told."""

    qsg: Annotated[str, "Name of the group"]
    period: Annotated[Period, "The period that the figures are of"]
    hidden: Annotated[dict[str, str], "The parameters that choose it again"]
    choices: Annotated[
        tuple[tuple[str, str, bool], ...], "Other periods: label, address, whether it is this one"
    ]
    form: Annotated[PlanForm, "The fields as typed, and what is wrong with them"]
    structures: Annotated[tuple[StructureRows, ...], "Application structures and their queues"]
    not_listed: Annotated[
        tuple[str, ...], "Structures whose queues are not listed, because there are too many"
    ]
    queue_managers_seen: Annotated[int, "The most queue managers that spoke in one hour"]
    preview: Annotated[Preview | None, "What would be saved; None before it is asked for"]


@router.get("/usage/{qsg}/plan")
def ask(request: Request, session: SessionDep, qsg: str) -> Response:
    """The form, with the measured figures."""
    spans = _spans(session, qsg)
    whole = _whole(spans)
    chosen = periods.choose(request.query_params, first_hour=whole.first_hour, last_hour=whole.last_hour)
    wanted = request.query_params.getlist("structure") or list(spans)
    grounds = service.grounds(session, qsg, spans, chosen.period)
    ticked = frozenset(
        (g.structure, each.queue) for g in grounds if g.structure in wanted for each in g.queues
    )
    form = plan_form.blank(f"{qsg}-usage", ticked)
    if chosen.error:
        form = replace(form, errors=(f"{chosen.error} The usual period is shown.",))
    return _page(request, qsg, chosen, form, grounds)


@router.post("/usage/{qsg}/plan")
def make(request: Request, session: SessionDep, qsg: str, body: BodyDep) -> Response:
    """Show what would be saved, or save it and open it in the editor."""
    form, parameters = plan_form.read(body)
    spans = _spans(session, qsg)
    whole = _whole(spans)
    chosen = periods.choose(parameters, first_hour=whole.first_hour, last_hour=whole.last_hour)
    grounds = service.grounds(session, qsg, spans, chosen.period)
    form, asked = plan_form.asked_of(form)
    if asked is None:
        return _page(request, qsg, chosen, form, grounds, status_code=422)
    ticked = [
        replace(g, queues=[each for each in g.queues if (g.structure, each.queue) in form.queues])
        for g in grounds
    ]
    made = service.plan_from_usage(session, qsg, [g for g in ticked if g.queues], asked, chosen.period)
    for problem in made.problems:
        form = form.with_problem(problem.field, problem.message)
    document: PlanDocument | None = None
    preview: Preview | None = None
    if not form.has_errors:
        try:
            document = read_object(made.document)
            preview = _preview(made, document)
        except DocumentInvalid as error:
            form = plan_form.with_document_problems(form, error.problems, made.document["structures"])
        except PlanRefused as error:
            form = form.with_problem("", str(error))
    if document is None or preview is None:
        return _page(request, qsg, chosen, form, grounds, status_code=422)
    if form.action != "save":
        return _page(request, qsg, chosen, form, grounds, preview=preview)
    name = form["name"].value
    try:
        plans.save_plan(session, name, document, if_match=None, create_only=True, comment=made.comment)
    except (PlanNameInvalid, PlanConflict) as error:
        form = form.with_problem("name", str(error))
        return _page(request, qsg, chosen, form, grounds, preview=preview, status_code=422)
    return RedirectResponse(f"{root_path(request)}/plans/{name}/edit?made=usage", status_code=303)


def _spans(session: Session, qsg: str) -> dict[str, Span]:
    """When each application structure of a group was measured."""
    found = service.structures_of_group(session, qsg)
    return {name: span for name, span in found.items() if can_be_planned(name)} or found


def _whole(spans: dict[str, Span]) -> Span:
    return Span(
        min(span.first_hour for span in spans.values()), max(span.last_hour for span in spans.values())
    )


def _preview(made: Made, document: PlanDocument) -> Preview:
    structures: list[dict[str, Any]] = evaluate(document).as_json()["structures"]  # type: ignore[assignment]
    sizes = tuple(SizeLine(each["cfrm_name"], each["initsize_kib"], each["size_kib"]) for each in structures)
    return Preview(made, sizes)


def _page(
    request: Request,
    qsg: str,
    chosen: Chosen,
    form: PlanForm,
    grounds: list[Grounds],
    *,
    preview: Preview | None = None,
    status_code: int = 200,
) -> Response:
    listed, not_listed = _listed(grounds, form)
    path = f"/usage/{quote(qsg, safe='')}/plan"
    lengths = {word: label for word, (label, _) in periods.LENGTHS.items()} | {periods.ALL: "everything"}
    page = PlanFromUsagePage(
        title=f"A plan from the usage of {qsg}",
        section="usage",
        qsg=qsg,
        period=chosen.period,
        hidden=chosen.period.query(),
        choices=tuple(
            (label, f"{path}?{urlencode({'period': word})}", word == chosen.period.choice)
            for word, label in lengths.items()
        ),
        form=form,
        structures=listed,
        not_listed=not_listed,
        queue_managers_seen=max((g.queue_managers or 0 for g in grounds), default=0),
        preview=preview,
    )
    return render(request, "usage/plan.html", page, status_code=status_code)


def _listed(grounds: list[Grounds], form: PlanForm) -> tuple[tuple[StructureRows, ...], tuple[str, ...]]:
    """The structures with their queues; when there are very many, only those with a ticked one."""
    ticked = {structure for structure, _ in form.queues}
    are_many = sum(len(g.queues) for g in grounds) > MOST_LISTED
    shown = [g for g in grounds if not are_many or g.structure in ticked]
    rows = tuple(
        StructureRows(
            structure=g.structure,
            entries_max=g.entries_max,
            rows=tuple(_row(g.structure, each, form) for each in g.queues),
            is_open=g.structure in ticked,
        )
        for g in shown
    )
    return rows, tuple(g.structure for g in grounds if g not in shown)


def _row(structure: str, figures: QueueFigures, form: PlanForm) -> QueueRow:
    key = (structure, figures.queue)
    return QueueRow(
        key="/".join(key),
        figures=figures,
        is_ticked=key in form.queues,
        p95=form.p95.get(key, ""),
        p95_error=form.wrong_p95.get(key, ""),
    )
