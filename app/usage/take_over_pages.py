"""The pages that update a plan with measured usage: preview of the changes, and the new version."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.errors import Conflict
from app.fits.kept import curves_for
from app.fits.resolve import evaluate
from app.plans import service as plans
from app.plans.changes_pages import ChangeRow, document_changes, queue_words
from app.plans.computed import canonical
from app.plans.errors import PlanNotFound
from app.plans.finding_groups import only_in
from app.plans.service import StoredVersion
from app.usage import plan_form, planning, service
from app.usage.observed import ComparedSize
from app.usage.periods import Period
from app.usage.plan_form import PlanForm
from app.usage.plan_pages import (
    Asking,
    MeasuredForm,
    StructureRows,
    asking_of,
    check,
    choices_of,
    into,
    queue_row,
    ticked_of,
)
from app.usage.planning import DraftPlan, MeasuredBasis
from app.web.body import DocumentFormDep
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from planner_core.document.model import PlanDocument
from planner_core.findings import Finding
from planner_core.wire import JsonObject

router = Router(include_in_schema=False)

MOST_CHANGES = 400


@dataclass(frozen=True, slots=True)
class TakeOverPreview:
    """The preview, shown next to the current values."""

    made: DraftPlan
    changes: tuple[ChangeRow, ...]
    omitted: int
    sizes: tuple[tuple[str, tuple[int | None, ...]], ...]
    """Each structure with its INITSIZE before and after and its SIZE before and after; None if the plan lacks the structure."""
    findings_new: tuple[Finding, ...]
    findings_gone: tuple[Finding, ...]
    compared: tuple[ComparedSize, ...]
    """The new sizes, compared with the current allocations."""


@dataclass(frozen=True, kw_only=True)
class TakeOverPage(MeasuredForm, Page):
    """An existing plan: its figures next to the measured ones."""

    plan: Annotated[StoredVersion, "The plan's latest version"]
    structures: Annotated[tuple[StructureRows, ...], "The plan's structures that were measured"]
    unmeasured: Annotated[tuple[str, ...], "The plan's structures without measured queues"]
    missing: Annotated[tuple[str, ...], "Measured structures that are not in the plan"]
    preview: Annotated[TakeOverPreview | None, "The preview; None until it is requested"]


@router.get("/usage/{qsg}/plan/into/{name}")
def ask(request: Request, session: SessionDep, qsg: str, name: str) -> Response:
    """Show the form; queues of the plan are selected, new ones are not."""
    plan = _plan(session, qsg, name)
    asking = _asking(session, qsg, plan, request.query_params)
    there = {(s["name"], q["name"]) for s in plan.document_object["structures"] for q in s["queues"]}
    measured = {(g.structure, each.queue) for g in asking.grounds for each in g.queues}
    # A queue that the plan does not have may have been left out on purpose.
    form = plan_form.blank("", frozenset(there & measured))
    if asking.error:
        form = replace(form, errors=(f"{asking.error} The usual period is shown.",))
    return _page(request, asking, plan, form)


@router.post("/usage/{qsg}/plan/into/{name}")
def take(request: Request, session: SessionDep, qsg: str, name: str, body: DocumentFormDep) -> Response:
    """Show a preview of the changes, or save them as the plan's next version."""
    form, parameters, _ = plan_form.read(body)
    plan = _plan(session, qsg, name)
    asking = _asking(session, qsg, plan, parameters)
    form, how = plan_form.reckoning_of(form, needs_outage=False)
    if how is None:
        return _page(request, asking, plan, form, status_code=422)
    period = asking.period
    made = planning.take_over(plan.document_object, ticked_of(asking, form), how, period=period)
    form, checked = check(
        form,
        made,
        nothing="None of the selected queues can be updated.",
        preview_of=lambda document: _preview(session, plan, made, document, period),
    )
    if checked is None:
        return _page(request, asking, plan, form, status_code=422)
    document, preview = checked
    if form.action != "save":
        return _page(request, asking, plan, form, preview=preview)
    try:
        outcome = plans.save_plan(
            session, name, document, if_match=parameters.get("etag") or "none", comment=made.comment
        )
    except Conflict:
        changed = "The plan was changed in the meantime. The changes below are compared with its latest version. Check them, and then save."
        form = form.with_problem("", changed)
        return _page(request, asking, plan, form, preview=preview, status_code=409)
    return RedirectResponse(f"{root_path(request)}/plans/{name}?saved={outcome.status}", status_code=303)


def _plan(session: Session, qsg: str, name: str) -> StoredVersion:
    """Return the plan if it belongs to this group.

    Raises:
        PlanNotFound: The plan does not exist, or belongs to another group.
    """
    found = plans.get_plan(session, name)
    if found.document_object["qsg"] != qsg:
        raise PlanNotFound(name)
    return found


def _asking(session: Session, qsg: str, plan: StoredVersion, parameters: Mapping[str, str]) -> Asking:
    return asking_of(
        session, qsg, parameters, [structure["name"] for structure in plan.document_object["structures"]]
    )


def _preview(
    session: Session, plan: StoredVersion, made: DraftPlan, document: PlanDocument, period: Period
) -> TakeOverPreview:
    evaluated = evaluate(document, curves_for(session), compares=False)
    result: JsonObject = evaluated.as_json()
    # Both documents have all defaults; otherwise, keys that the form does not change would be shown as changed.
    changes = document_changes(plan.comparable_object, json.loads(canonical(document)))
    return TakeOverPreview(
        made,
        changes[:MOST_CHANGES],
        max(len(changes) - MOST_CHANGES, 0),
        tuple(_size_changes(plan.result["structures"], result["structures"])),
        only_in(evaluated.findings, plan.findings),
        only_in(plan.findings, evaluated.findings),
        service.sizes_compared(session, evaluated, period),
    )


def _size_changes(
    before: Sequence[JsonObject], after: Sequence[JsonObject]
) -> list[tuple[str, tuple[int | None, ...]]]:
    old, new = ({each["cfrm_name"]: each for each in found} for found in (before, after))

    def both(name: str, key: str) -> tuple[int | None, int | None]:
        return old.get(name, {}).get(key), new.get(name, {}).get(key)

    return [
        (name, both(name, "initsize_kib") + both(name, "size_kib")) for name in dict.fromkeys((*old, *new))
    ]


def _page(
    request: Request,
    asking: Asking,
    plan: StoredVersion,
    form: PlanForm,
    *,
    preview: TakeOverPreview | None = None,
    status_code: int = 200,
) -> Response:
    path = into(asking.qsg, plan.name)
    structures = plan.document_object["structures"]
    names = [each["name"] for each in structures]
    planned = {(s["name"], q["name"]): queue_words(q) for s in structures for q in s["queues"]}
    grounds = [ground for ground in asking.grounds if ground.structure in names and ground.queues]
    page = TakeOverPage(
        title=f"Update {plan.name} with measured usage",
        section="usage",
        qsg=asking.qsg,
        plan=plan,
        period=asking.period,
        hidden=asking.period.query(),
        choices=choices_of(asking.period, lambda query: f"{path}?{urlencode(query)}"),
        form=form,
        structures=tuple(_structure(ground, form, planned) for ground in grounds),
        unmeasured=tuple(name for name in names if name not in {ground.structure for ground in grounds}),
        missing=tuple(
            name for name in (*asking.others, *(g.structure for g in asking.grounds)) if name not in names
        ),
        preview=preview,
    )
    return render(request, "usage/take_over.html", page, status_code=status_code)


def _structure(
    ground: MeasuredBasis, form: PlanForm, planned: Mapping[tuple[str, str], str]
) -> StructureRows:
    rows = tuple(
        queue_row(ground.structure, each, form, planned=planned.get((ground.structure, each.queue), ""))
        for each in ground.queues
    )
    return StructureRows(ground.structure, ground.entries_max, rows)
