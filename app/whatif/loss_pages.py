"""The page of lost coupling facilities: placement, the effects of each loss, and the white space to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, get_args

from fastapi import Request
from fastapi.responses import Response

from app.database.session import SessionDep
from app.fits.kept import curves_in
from app.web.charts import BarChart
from app.web.rendering import Page, render
from app.web.router import Router
from app.whatif.answers import losses
from app.whatif.asking import (
    PlanSelection,
    SentDep,
    answered,
    asked_by_name,
    asked_by_text,
    documents_of,
    status_of,
)
from app.whatif.placement_charts import chart_of
from planner_core.document.model import PlanDocument
from planner_core.errors import FieldProblem
from planner_core.findings import Finding
from planner_core.sizing.placement import ASSUMPTIONS, RULES, At, PlacementRule
from planner_core.whatif.loss import LOSS_ASSUMPTIONS, Loss, LossAnswer, WhiteSpace
from planner_core.whatif.scm import asked_of, usable_scm

router = Router(include_in_schema=False)
MOST_OTHERS = 40
Cell = tuple[str, str]
"""The coupling facilities of a structure, and their kind: same, moved, less (a copy lost) or nowhere."""
ACTIONS = {
    "moves": "moves",
    "switches": "the other copy takes over",
    "duplexed_again": "gets a new second copy",
    "loses_second_copy": "continues with one copy",
    "unplaced": "cannot be placed",
}


@dataclass(frozen=True, slots=True)
class StructureLossRow:
    """A structure in all losses."""

    structure: str
    is_other: bool
    """Whether it belongs to Db2 or others, and is counted but not in the policy of the plan."""
    plan: str
    size_bytes: int
    normal: Cell
    rule: PlacementRule
    reason: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class MoveRow:
    """A structure that a loss affects, with its location before and after."""

    structure: str
    is_other: bool
    """As in `StructureLossRow`."""
    size_bytes: int
    action: str
    places: str
    rule: str
    reason: str
    is_nowhere: bool
    scm_asked_bytes: int | None
    """Storage-class memory that the structure requests, or None."""
    scm_usable_bytes: int | None
    """The part of the storage-class memory that it can use at its new location; None if unknown."""


@dataclass(frozen=True, slots=True)
class LossView:
    """The loss of one coupling facility or site."""

    id: str
    heading: str
    column: str
    gone: str
    white_space_bytes: int
    missing_bytes: int
    second_copies_bytes: int
    moves: tuple[MoveRow, ...]
    has_scm: bool
    messages: tuple[tuple[str, int, str], ...]
    messages_gone: int
    endings: tuple[str, ...]
    """Sentences about queue managers that end."""
    order_matters: bool
    same_as: str
    """An earlier loss in the list that loses the same coupling facilities; empty if there is none."""


@dataclass(frozen=True, slots=True)
class LossesView:
    """The answer, arranged for the page."""

    at: str
    plans: tuple[str, ...]
    rows: tuple[StructureLossRow, ...]
    losses: tuple[LossView, ...]
    space: tuple[WhiteSpace, ...]
    chart: BarChart | None
    has_augmented: bool
    homeless: int
    worst_bytes: int
    gone: int
    findings: tuple[Finding, ...]
    rules: tuple[PlacementRule, ...]
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CfLossPage(Page):
    """A plan and its losses."""

    asked: Annotated[PlanSelection, "The chosen plan, and the other plans to choose from"]
    at: Annotated[str, "Whether structures are counted with INITSIZE or SIZE"]
    others: Annotated[tuple[str, ...], "Further stored plans that are counted as well"]
    problems: Annotated[tuple[FieldProblem, ...], "Errors in the plan or the fields"]
    answer: Annotated[LossesView | None, "The effects of the losses"]


@router.get("/whatif/cf-loss")
def show(request: Request, session: SessionDep) -> Response:
    """Show the answer for the plan that the address names, otherwise the form, or the example if nothing is stored."""
    query = request.query_params
    asked, document = asked_by_name(session, query.get("plan", "")[:64])
    return _page(request, session, asked, document, query.get("at", ""), query.getlist("with"))


@router.post("/whatif/cf-loss")
def ask(request: Request, session: SessionDep, sent: SentDep) -> Response:
    """Show the answer for a submitted plan document."""
    asked, document = asked_by_text(session, sent)
    return _page(request, session, asked, document, sent.value("at"), sent.values("with"))


def _page(
    request: Request,
    session: SessionDep,
    asked: PlanSelection,
    document: PlanDocument | None,
    at: str,
    names: Sequence[str],
) -> Response:
    # An unknown value in a bookmark means INITSIZE; REST refuses it.
    counted: At = next((each for each in get_args(At) if each == at), "initsize")
    others = documents_of(session, list(names)[:MOST_OTHERS], but=asked.name)
    curves = curves_in(request.app.state.database)
    answer, problems = answered(
        asked, document, lambda plan: arranged(losses(plan, others, curves, at=counted))
    )
    page = CfLossPage(
        title="Losing a coupling facility",
        section="whatif",
        asked=asked,
        at=counted,
        others=tuple(name for name, _ in others),
        problems=problems,
        answer=answer,
    )
    return render(request, "whatif/loss.html", page, status_code=status_of(asked, is_wrong=bool(problems)))


def arranged(answer: LossAnswer) -> LossesView:
    """Return the answer of the core, arranged for the page."""
    # A site with one coupling facility loses the same as that coupling facility, so the page shows the loss once.
    earlier: dict[frozenset[str], str] = {}
    losses = tuple(
        _loss(each, number, earlier.setdefault(frozenset(each.gone), each.name))
        for number, each in enumerate(answer.losses)
    )
    by_loss = [{each.wanted.structure: each for each in loss.placed} for loss in answer.losses]
    rows = []
    for each in answer.normal:
        first = each.first
        rows.append(
            StructureLossRow(
                structure=each.wanted.structure,
                is_other=each.wanted.result.role == "other",
                plan=each.wanted.plan,
                size_bytes=each.wanted.bytes_wanted,
                normal=(_places(each.now), "same" if each.now else "nowhere"),
                rule=RULES[first.rule if first is not None else "none"],
                reason=first.reason if first is not None else "",
                cells=tuple(_cell(each.now, played[each.wanted.structure].now) for played in by_loss),
            )
        )
    plans = tuple(dict.fromkeys(each.wanted.plan for each in answer.normal))
    single = [loss for loss in answer.losses if loss.kind == "coupling_facility"]
    return LossesView(
        at=answer.asked.at.upper(),
        plans=plans,
        rows=tuple(rows),
        losses=losses,
        space=answer.white_space,
        chart=chart_of(answer.white_space) if answer.white_space else None,
        has_augmented=any(each.wanted.augmented_bytes for each in answer.normal),
        homeless=len({each.wanted.structure for loss in answer.losses for each in loss.unplaced}),
        worst_bytes=max((loss.white_space_bytes for loss in single), default=0),
        gone=max((sum(lost.gone for lost in loss.lost) for loss in single), default=0),
        findings=answer.findings,
        rules=tuple(RULES.values()),
        assumptions=(*ASSUMPTIONS, *LOSS_ASSUMPTIONS),
    )


def _places(now: Sequence[str]) -> str:
    return " + ".join(now) if now else "no place"


def _cell(before: Sequence[str], now: Sequence[str]) -> Cell:
    if not now:
        return "no place", "nowhere"
    if tuple(now) == tuple(before):
        return _places(now), "same"
    # A proper subset means that one copy was lost and the other one stayed where it was.
    return _places(now), "less" if set(now) < set(before) else "moved"


def _loss(loss: Loss, number: int, same_as: str) -> LossView:
    what = {"coupling_facility": "", "machine": "machine ", "site": "site "}[loss.kind]
    touched = [each for each in loss.placed if each.before and each.action != "stays"]
    return LossView(
        id=f"loss-{number}",
        heading=f"Without {what}{loss.name}",
        column=loss.name,
        gone=", ".join(loss.gone),
        white_space_bytes=loss.white_space_bytes,
        missing_bytes=loss.missing_bytes,
        second_copies_bytes=loss.second_copies_bytes,
        moves=tuple(
            MoveRow(
                structure=each.wanted.structure,
                is_other=each.wanted.result.role == "other",
                size_bytes=each.wanted.bytes_wanted,
                action=ACTIONS[each.action],
                places=_places(each.now),
                rule=RULES[each.first.rule].words if each.first is not None else "",
                reason=(
                    each.first.reason
                    if each.first is not None
                    else each.second.reason
                    if each.second is not None
                    else ""
                ),
                is_nowhere=not each.now,
                scm_asked_bytes=asked_of(each.wanted) if each.now else None,
                scm_usable_bytes=usable_scm(each, loss.board.facilities),
            )
            for each in touched
        ),
        has_scm=any(asked_of(each.wanted) is not None for each in touched),
        messages=tuple((each.wanted.structure, each.gone, each.words) for each in loss.lost),
        messages_gone=sum(each.gone for each in loss.lost),
        endings=tuple(each.words for each in loss.endings),
        order_matters=loss.order_matters,
        same_as="" if same_as == loss.name else same_as,
    )
