"""The page of the probability that a structure survives an outage: a form, a chart, tables, and a text for a manager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response

from app.database.session import SessionDep
from app.fits.kept import curves_for
from app.plans import service
from app.plans.stored import StoredVersion
from app.web.charts import Chart
from app.web.forms import FormField, to_fix
from app.web.question_forms import QuestionForm, question_fields, read_question
from app.web.rendering import Page, render
from app.web.router import Router
from app.whatif.answers import survive
from app.whatif.one_structure import path_of, plan_with
from app.whatif.survival_charts import survival_chart
from app.whatif.survival_usage import measurements_for
from planner_core.errors import InputInvalid, PlanRefused
from planner_core.findings import Finding
from planner_core.names import cfrm_structure_name
from planner_core.whatif.survival_answer import Survival, SurvivalQuestion, percent

router = Router(include_in_schema=False)
FIELDS = question_fields(SurvivalQuestion)
MOST_DAYS = 7
LONGEST_DAY = 4_000
LONGEST_SLIDER = 480


@dataclass(frozen=True, slots=True)
class SurvivalRow:
    """A row of the table: one length of the outage."""

    minutes: float
    survives: str
    interval: str
    without: str
    is_asked: bool


@dataclass(frozen=True, kw_only=True)
class SurvivalPage(Page):
    """The probability that one structure survives an outage."""

    version: Annotated[StoredVersion, "The version as stored"]
    structure_at: Annotated[str, "Path of the page of the structure"]
    cfrm_name: Annotated[str, "Name of the structure in the CFRM policy"]
    form: Annotated[QuestionForm[SurvivalQuestion], "The fields as typed"]
    days: Annotated[str, "Puts of typical days as typed, one day in each line"]
    days_error: Annotated[str, "The error in these lines; empty if there is none"]
    found: Annotated[Survival | None, "The answer; None if a field has an error"]
    chart: Annotated[Chart | None, "The chart; None without a probability"]
    rows: Annotated[tuple[SurvivalRow, ...], "The probabilities, as table rows"]
    chance: Annotated[str, "The probability of the requested outage; empty if not known"]
    chance_without: Annotated[str, "The same without offload; empty if the structure cannot offload"]
    interval: Annotated[str, "The interval of the probability; empty if there is none"]
    refused: Annotated[
        tuple[Finding, ...], "Reason why the plan is impossible; empty unless the core refused it"
    ]
    summary: Annotated[str, "Summary of the answer, read out when it changes"]


@router.get("/plans/{name}/versions/{number}/structures/{structure}/survival")
def show(request: Request, session: SessionDep, name: str, number: str, structure: str) -> Response:
    """Show the form and its answer; the fields are the parameters of the address."""
    stored = service.get_version_at(session, name, number)
    plan = plan_with(stored, structure)
    typed = request.query_params.get("days", "")
    form = _read(request.query_params, typed, structure)
    found, summary, refused = None, "", tuple[Finding, ...]()
    if form.question is not None:
        try:
            question = form.question.model_copy(update={"explain": True})
            found = survive(plan, question, curves_for(session), measurements_for(session))
            summary = found.sentences[0]
        except PlanRefused as error:
            refused = error.findings
        except InputInvalid as error:
            form = _with_problems(form, error)
    curve = found.curve if found else None
    without = (
        found.without_offload.requested if found and found.with_offload and found.without_offload else None
    )
    page = SurvivalPage(
        title=f"Survival of {cfrm_structure_name(qsg_name=plan.qsg, cfstruct_name=structure)}",
        section="plans",
        version=stored,
        structure_at=path_of(stored, structure),
        cfrm_name=cfrm_structure_name(qsg_name=plan.qsg, cfstruct_name=structure),
        form=form,
        days=typed,
        days_error=form["days"].error,
        found=found,
        chart=survival_chart(found) if found else None,
        rows=_rows(found) if found else (),
        chance=percent(curve.requested.probability) if curve else "",
        chance_without=percent(without.probability) if without else "",
        interval=curve.requested.bounds if curve else "",
        refused=refused,
        summary=summary or to_fix(len(form.wrong)),
    )
    return render(request, "whatif/survival.html", page, status_code=200 if found else 422)


def _read(given: Mapping[str, str], days: str, structure: str) -> QuestionForm[SurvivalQuestion]:
    """Read the form; each line of the text area is one day."""
    lines = [line for line in days.splitlines() if line.strip()][: MOST_DAYS + 1]
    texts = {f"day-{number}": line for number, line in enumerate(lines, start=1)}
    fields = {
        **FIELDS,
        "minutes": replace(FIELDS["minutes"], slider=("0", str(LONGEST_SLIDER), "5", "60")),
        **{name: FormField(name, f"Day {name.removeprefix('day-')}") for name in texts},
    }
    form = read_question(
        SurvivalQuestion, {**given, **texts}, fields, structure=structure, most_kept=LONGEST_DAY
    )
    if len(lines) > MOST_DAYS:
        return _with_days(replace(form, question=None), days, f"Enter at most {MOST_DAYS} days.")
    wrong = next((name for name in texts if form[name].error), "")
    return _with_days(form, days, f"Day {wrong.removeprefix('day-')}: {form[wrong].error}" if wrong else "")


def _with_days(form: QuestionForm[SurvivalQuestion], days: str, error: str) -> QuestionForm[SurvivalQuestion]:
    """Return the form with one field for all days, as the page shows them."""
    fields = {name: field for name, field in form.fields.items() if not name.startswith("day-")}
    fields["days"] = FormField("days", "Puts of typical days", value=days, error=error)
    return replace(form, fields=fields)


def _with_problems(
    form: QuestionForm[SurvivalQuestion], error: InputInvalid
) -> QuestionForm[SurvivalQuestion]:
    """Return the form with the problems that the core found."""
    fields = dict(form.fields)
    for problem in error.problems:
        name = "days" if problem.field == "day" else problem.field
        if name in fields:
            message = f"{problem.message[:1].upper()}{problem.message[1:]}."
            fields[name] = replace(fields[name], error=message)
    return replace(form, fields=fields, question=None)


def _rows(found: Survival) -> tuple[SurvivalRow, ...]:
    curve, without = found.curve, found.without_offload
    if curve is None or without is None:
        return ()
    others = {each.minutes: each.probability for each in without.series}
    return tuple(
        SurvivalRow(
            each.minutes,
            percent(each.probability),
            each.bounds,
            percent(others[each.minutes]) if found.with_offload else "",
            each.minutes == found.minutes,
        )
        for each in curve.round_points()
    )
