"""The page of upgrades and growth: every structure before and after each change, with the new statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response

from app.fits.kept import curves_in
from app.web.charts import BarChart, Origin
from app.web.forms import FormField
from app.web.question_forms import question_fields, read_question
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.size_charts import SizedBar, SizedGroup, sizes_chart
from app.whatif.answers import ask
from app.whatif.asking import PlanSelection, add_page, answered, status_of
from planner_core.document.model import PlanDocument
from planner_core.errors import FieldProblem
from planner_core.sizing.structure_result import Sizes
from planner_core.units import bytes_to_kib_ceil
from planner_core.whatif.growth import UpgradeAnswer, UpgradeQuestion, upgrades

router = Router(include_in_schema=False)
_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class UpgradePage(Page):
    """A plan before and after each change."""

    asked: Annotated[PlanSelection, "The chosen plan, and the other plans to choose from"]
    fields: Annotated[tuple[FormField, ...], "The changes, as typed"]
    problems: Annotated[tuple[FieldProblem, ...], "Errors that prevent an answer"]
    answer: Annotated[UpgradeAnswer | None, "The plan before and after each change"]
    chart: Annotated[BarChart | None, "The sizes before and after; None if no size changes"]


def _page(
    request: Request, asked: PlanSelection, document: PlanDocument | None, given: Mapping[str, str]
) -> Response:
    # An empty field means no growth; an address without the field means the default.
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
        lambda plan: ask(upgrades, plan, question or UpgradeQuestion(), curves),
    )
    page = UpgradePage(
        title="Upgrades and growth",
        section="whatif",
        asked=asked,
        fields=tuple(form.fields.values()),
        problems=problems,
        answer=answer,
        chart=None if answer is None else _chart(answer),
    )
    status = status_of(asked, is_wrong=bool(problems or form.wrong))
    return render(request, "whatif/upgrade.html", page, status_code=status)


def _chart(answer: UpgradeAnswer) -> BarChart | None:
    """Return the sizes of each structure as planned and after each step that is possible."""
    steps = [step for step in answer.steps if not step.refused]
    after = {
        (step.key, each.structure): _sized(step.title, each.after.sizes)
        for step in steps
        for each in step.structures
    }
    groups = []
    for name, before in {each.structure: each.before for step in steps for each in step.structures}.items():
        states = (after.get((step.key, name)) for step in steps)
        bars = (_sized("planned", before.sizes), *(state for state in states if state is not None))
        groups.append(SizedGroup(name, bars))
    origin = Origin(f"group {answer.before.document.qsg}", "", "sizes that cfplan calculated for each step")
    return sizes_chart("steps", "Structures as planned and after each step", groups, origin=origin)


def _sized(name: str, sizes: Sizes) -> SizedBar:
    return SizedBar(name, bytes_to_kib_ceil(sizes.initsize_bytes), bytes_to_kib_ceil(sizes.size_bytes))


add_page(router, "/whatif/upgrade", _page)
