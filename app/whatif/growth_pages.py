"""The page of upgrades and growth: every structure before and after each change, with the statements for after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.database.session import SessionDep
from app.fits.kept import curves_in
from app.web.forms import FormField
from app.web.question_forms import question_fields, read_question
from app.web.rendering import Page, render
from app.whatif import answers
from app.whatif.asking import PlanSelection, SentDep, answered, asked_by_name, asked_by_text, status_of
from planner_core.document.model import PlanDocument
from planner_core.errors import FieldProblem
from planner_core.findings import Finding
from planner_core.units import kib_to_bytes
from planner_core.whatif.growth import UpgradeAnswer, UpgradeQuestion, UpgradeStep

router = APIRouter(include_in_schema=False)
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class StructureStep:
    """One structure before and after [bytes]."""

    structure: str
    role: str
    before_bytes: int
    after_bytes: int
    size_before_bytes: int
    size_after_bytes: int
    need_difference_bytes: int
    held_before: int | None
    held_after: int | None
    is_replaced: bool

    @property
    def difference_bytes(self) -> int:
        """The growth of INITSIZE."""
        return self.after_bytes - self.before_bytes


@dataclass(frozen=True, slots=True)
class StatementsView:
    """The CFRM statements after a step."""

    kind: str
    title: str
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class UpgradeStepView:
    """One step."""

    key: str
    title: str
    refused: str
    structures: tuple[StructureStep, ...]
    before_bytes: int
    after_bytes: int
    size_before_bytes: int
    size_after_bytes: int
    unplaced: tuple[str, ...]
    unplaced_after_loss: tuple[tuple[str, str], ...]
    fragment: StatementsView | None
    findings: tuple[Finding, ...]
    is_with_published: bool

    @property
    def difference_bytes(self) -> int:
        """The growth of INITSIZE of all structures."""
        return self.after_bytes - self.before_bytes


@dataclass(frozen=True, slots=True)
class UpgradeView:
    """The answer arranged for the page."""

    qsg: str
    cfcc_level: int
    queue_managers: int
    steps: tuple[UpgradeStepView, ...]
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class UpgradePage(Page):
    """A plan before and after changes."""

    asked: Annotated[PlanSelection, "The plan that is asked about, and others that could be"]
    fields: Annotated[tuple[FormField, ...], "What is changed, as it was typed"]
    problems: Annotated[tuple[FieldProblem, ...], "What keeps the question from being answered"]
    answer: Annotated[UpgradeView | None, "The plan before and after each change"]


@router.get("/whatif/upgrade")
def show(request: Request, session: SessionDep) -> Response:
    """The plan that the address names; without one, the form or, where nothing is stored, the example."""
    query = request.query_params
    asked, document = asked_by_name(session, query.get("plan", "")[:64])
    return _page(request, asked, document, query)


@router.post("/whatif/upgrade")
def ask(request: Request, session: SessionDep, sent: SentDep) -> Response:
    """A plan document that was sent."""
    asked, document = asked_by_text(session, sent)
    return _page(request, asked, document, sent.last)


def _page(
    request: Request, asked: PlanSelection, document: PlanDocument | None, given: Mapping[str, str]
) -> Response:
    # A field that was cleared asks for no growth; an address without it asks for the usual one.
    form = read_question(
        UpgradeQuestion,
        {name: text[:_SHOWN] for name, text in given.items()},
        question_fields(UpgradeQuestion),
        when_empty={"queue_managers": "0", "years": "0"},
    )
    question, curves = form.question, curves_in(request.app.state.database)
    answer, problems = answered(
        asked,
        None if question is None else document,
        lambda plan: arranged(answers.upgrade(plan, question or UpgradeQuestion(), curves)),
    )
    page = UpgradePage(
        title="Upgrades and growth",
        section="whatif",
        asked=asked,
        fields=tuple(form.fields.values()),
        problems=problems,
        answer=answer,
    )
    status = status_of(asked, is_wrong=bool(problems or form.wrong))
    return render(request, "whatif/upgrade.html", page, status_code=status)


def arranged(answer: UpgradeAnswer) -> UpgradeView:
    """The core's answer, arranged for people."""
    document = answer.before.document
    return UpgradeView(
        qsg=document.qsg,
        cfcc_level=document.cfcc_level,
        queue_managers=document.queue_manager_count,
        steps=tuple(_step(step, answer) for step in answer.steps),
        assumptions=answer.assumptions,
    )


def _step(step: UpgradeStep, answer: UpgradeAnswer) -> UpgradeStepView:
    before, after = step.totals.before, step.totals.after
    fragment = None
    if step.fragment:
        fragment = StatementsView(
            step.change.key,
            "CFRM statements after this step",
            "A fragment to merge into the whole policy.",
            step.fragment,
        )
    return UpgradeStepView(
        key=step.change.key,
        title=step.change.title,
        refused=step.refused or "",
        structures=tuple(
            StructureStep(
                structure=each.after.cfrm_name,
                role=each.after.role,
                before_bytes=each.before.sizes.initsize_bytes,
                after_bytes=each.after.sizes.initsize_bytes,
                size_before_bytes=each.before.sizes.size_bytes,
                size_after_bytes=each.after.sizes.size_bytes,
                need_difference_bytes=each.after.sizes.need_bytes - each.before.sizes.need_bytes,
                held_before=each.holds_before,
                held_after=each.old_holds_after,
                is_replaced=each.is_replaced,
            )
            for each in step.structures
        ),
        before_bytes=kib_to_bytes(before.initsize_kib),
        after_bytes=kib_to_bytes(after.initsize_kib),
        size_before_bytes=kib_to_bytes(before.size_kib),
        size_after_bytes=kib_to_bytes(after.size_kib),
        unplaced=step.unplaced,
        unplaced_after_loss=tuple(
            (each.lost, ", ".join(each.structures)) for each in step.unplaced_after_loss
        ),
        fragment=fragment,
        findings=step.findings,
        is_with_published=step.before is not answer.before,
    )
